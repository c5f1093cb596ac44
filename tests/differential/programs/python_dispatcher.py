"""`py_impl` tables while the Python dispatcher is on, their cache, and calls for one key."""

_KEPT = []  # a library that goes takes its operators along


def _op(s, ns, schema="f(Tensor x) -> Tensor", **kernels):
    lib = s.library.Library(ns, "DEF")
    _KEPT.append(lib)
    lib.define(schema)
    name = schema.partition("(")[0]
    for key, fn in kernels.items():
        lib.impl(name, fn, key)
    return lib, getattr(getattr(s.ops, ns), name.partition(".")[0]).default


def off_and_on(s, log):
    _lib, f = _op(s, "pd1", CPU=lambda x: x + 1)
    f.py_impl(s.DispatchKey.CPU)(lambda x: x + 10)
    x = s.T.zeros(2)
    log(f(x))
    with s.C._EnablePythonDispatcher():
        log(f(x))
        with s.C._DisablePythonDispatcher():
            log(f(x))
    log(f(x), s.C._dispatch_tls_is_dispatch_key_included("PythonDispatcher"))


def keys_visited(s, log):
    _lib, f = _op(s, "pd2", CPU=lambda x: x + 1)
    with s.C._EnablePythonDispatcher():
        log(f(s.T.zeros(2)))
        log(sorted((k.name, v.name) for k, v in f._dispatch_cache.items()))
        log(f(s.T.zeros(2, requires_grad=True)).shape)
        log(sorted((k.name, v.name) for k, v in f._dispatch_cache.items()))
    log(f in s._ops.get_cached_ops())


def composite(s, log):
    _lib, f = _op(s, "pd3", CompositeImplicitAutograd=lambda x: x * 2)
    with s.C._EnablePythonDispatcher():
        log(f(s.T.ones(2)))
    log(f._dispatch_cache)
    f.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda x: x * 5)
    log(f._dispatch_cache)
    with s.C._EnablePythonDispatcher():
        log(f(s.T.ones(2)))
    log([k.name for k in f._dispatch_cache], f(s.T.ones(2)), f.decompose(s.T.ones(2)))


def autograd_alias(s, log):
    seen = []
    _lib, f = _op(s, "pd4", CPU=lambda x: x + 1)

    @f.py_impl(s.DispatchKey.Autograd)
    def g(x):
        seen.append("autograd")
        with s.C._AutoDispatchBelowAutograd():
            return f(x) * 3

    @f.py_impl(s.DispatchKey.CPU)
    def h(x):
        seen.append("cpu")
        return x + 2

    with s.C._EnablePythonDispatcher():
        log(f(s.T.ones(2)), seen)
        with s.C._AutoDispatchBelowAutograd():
            log(f(s.T.ones(2)), seen)
    log(sorted(k.name for k in f._dispatch_cache))


def resolution(s, log):
    _lib, f = _op(s, "pd5", CPU=lambda x: x, CompositeExplicitAutograd=lambda x: x)
    K = s.DispatchKey
    for name in (
        "CPU",
        "CUDA",
        "Meta",
        "AutogradCPU",
        "Undefined",
        "BackendSelect",
        "ADInplaceOrView",
        "Functionalize",
        "PreDispatch",
        "AutocastCPU",
        "XLA",
        "SparseCPU",
        "PythonDispatcher",
        "PythonTLSSnapshot",
        "Python",
        "AutogradOther",
        "QuantizedCPU",
        "NestedTensorCPU",
    ):
        log.attempt(name, s._ops.resolve_key, f, getattr(K, name))


def resolution_implicit(s, log):
    lib, f = _op(s, "pd6", CompositeImplicitAutograd=lambda x: x)
    K = s.DispatchKey
    names = (
        "CPU",
        "CUDA",
        "AutogradCPU",
        "Undefined",
        "AutogradOther",
        "Python",
        "NestedTensorCPU",
        "XLA",
    )
    for name in names:
        log.attempt(name, s._ops.resolve_key, f, getattr(K, name))
    lib.impl("f", lambda x: x, "CPU")
    for name in names:
        log.attempt(name, s._ops.resolve_key, f, getattr(K, name))
    lib.impl("f", lambda x: x, "SparseCPU")
    log.attempt("other", s._ops.resolve_key, f, K.AutogradOther)
    lib.impl("f", lambda x: x, "FPGA") if hasattr(K, "FPGA") else None
    log.attempt("other", s._ops.resolve_key, f, K.AutogradOther)


def resolution_none(s, log):
    _lib, f = _op(s, "pd7")
    K = s.DispatchKey
    for name in (
        "CPU",
        "AutogradCPU",
        "Undefined",
        "Meta",
        "Python",
        "Autograd",
        "CompositeImplicitAutograd",
    ):
        log.attempt(name, s._ops.resolve_key, f, getattr(K, name))
    f.py_impl(K.CompositeExplicitAutograd)(lambda x: x)
    for name in (
        "CPU",
        "AutogradCPU",
        "Undefined",
        "Meta",
        "Python",
        "Autograd",
        "CompositeExplicitAutograd",
    ):
        log.attempt(name, s._ops.resolve_key, f, getattr(K, name))
    log(
        f.has_kernel_for_dispatch_key(K.CompositeExplicitAutograd),
        f.has_kernel_for_dispatch_key(K.CPU),
    )
    log(f.has_kernel_for_any_dispatch_key(s.DispatchKeySet(K.CPU)))
    f.py_impl(K.CPU)(lambda x: x)
    log(
        f.has_kernel_for_any_dispatch_key(s.DispatchKeySet(K.CPU)),
        f.has_kernel_for_dispatch_key(K.CPU),
    )


def errors_of_py_impl(s, log):
    _lib, f = _op(s, "pd8", CPU=lambda x: x)
    K = s.DispatchKey
    one = lambda x: x
    log(f.py_impl(K.CPU)(one) is one)
    for k in (K.CPU, K.Python, "CPU", 3, None, int, object):
        log.attempt(str(k).rpartition(".")[2], lambda k=k: f.py_impl(k)(one))
    log(f.py_impl(K.Python) is not None)

    class M(s.modes.TorchDispatchMode):
        pass

    log(f.py_impl(M)(one) is one, f.py_impl(s.Tensor)(one) is one)
    log.attempt("again", lambda: f.py_impl(M)(one))
    log.attempt("again", lambda: f.py_impl(s.Tensor)(one))
    log(
        sorted(c.__name__ for c in f.python_key_table),
        [k.name for k in f.py_kernels],
        f.functorch_table,
    )
    V = s._ops.TransformType.Vmap
    log(f.py_impl(V)(one) is one, [str(k) for k in f.functorch_table])
    log.attempt("again", lambda: f.py_impl(V)(one))


def rules_for_modes(s, log):
    seen = []
    _lib, f = _op(s, "pd9", CPU=lambda x: x + 1)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append("handler")
            return func(*args, **(kwargs or {}))

    class N(M):
        pass

    @f.py_impl(M)
    def rule(mode, x):
        seen.append((type(mode).__name__, len(s.modes._get_current_dispatch_mode_stack())))
        return x + 100

    x = s.T.ones(2)
    with M():
        log(f(x), seen)
        with s.C._EnablePythonDispatcher():
            log(f(x), seen)
    with N(), s.C._EnablePythonDispatcher():
        log(f(x), seen)
    with s.C._EnablePythonDispatcher():
        log(f(x), seen)
    log(sorted(k.name for k in f._dispatch_cache), s.C._len_torch_dispatch_stack())


def rule_raises(s, log):
    _lib, f = _op(s, "pd10", CPU=lambda x: x + 1)

    class M(s.modes.TorchDispatchMode):
        pass

    @f.py_impl(M)
    def rule(mode, x):
        raise ValueError("no")

    with M(), s.C._EnablePythonDispatcher():
        log.attempt("call", f, s.T.ones(1))
        log(s.C._len_torch_dispatch_stack())
    log(
        s.C._len_torch_dispatch_stack(),
        s.C._dispatch_tls_is_dispatch_key_included("PythonDispatcher"),
    )


def kernel_raises(s, log):
    _lib, f = _op(s, "pd11", CPU=lambda x: x + 1)

    @f.py_impl(s.DispatchKey.CPU)
    def k(x):
        raise KeyError("no")

    with s.C._EnablePythonDispatcher():
        log.attempt("call", f, s.T.ones(1))
        log(s.C._dispatch_tls_is_dispatch_key_included("PythonDispatcher"))
    log(f(s.T.ones(1)))


def uncache(s, log):
    _lib, f = _op(s, "pd12", CPU=lambda x: x + 1)
    K = s.DispatchKey
    log(f._get_dispatch(K.CPU), f._dispatch_cache)
    log.attempt("again", f._get_dispatch, K.CPU)
    f._uncache_dispatch(K.CPU)
    f._uncache_dispatch(K.CPU)
    log(f._dispatch_cache)
    f._get_dispatch(K.AutogradCPU)
    f._get_dispatch(K.Python)
    log(
        f._dispatch_cache, f._get_dispatch(K.PreDispatch), sorted(k.name for k in f._dispatch_cache)
    )
    f.py_impl(K.Meta)(len)
    log(f._dispatch_cache, f._get_dispatch(K.Meta) is len)
    log.attempt("none", f._get_dispatch, K.XLA)
    s._ops.reset_cached_ops()
    log(
        f in s._ops.get_cached_ops(),
        len(s._ops.get_cached_ops()),
        s._ops.cached_ops is s._ops.get_cached_ops(),
    )
    s._ops.add_cached_op(f)
    log(f in s._ops.get_cached_ops())


def stale_cache(s, log):
    lib, f = _op(s, "pd13", CompositeImplicitAutograd=lambda x: x + 1)
    x = s.T.zeros(2)
    with s.C._EnablePythonDispatcher():
        log(f(x))
        lib.impl("f", lambda x: x + 50, "CPU")
        log(f(x), {k.name: v.name for k, v in f._dispatch_cache.items()})
        f._dispatch_cache.clear()
        log(f(x), sorted(k.name for k in f._dispatch_cache))
    log(f(x))


def call_for_one_key(s, log):
    _lib, f = _op(
        s,
        "pd14",
        CPU=lambda x: x + 1,
        CompositeExplicitAutograd=lambda x: x + 2,
        Meta=lambda x: x + 3,
    )
    x = s.T.zeros(2)
    K = s.DispatchKey
    for key in (K.CPU, K.CompositeExplicitAutograd, K.Meta):
        log(f._op_dk(key, x))
    log.attempt("fallthrough", f._op_dk, K.BackendSelect, x)
    log.attempt("by name", f._op_dk, "CPU", x)
    log.attempt("no key", f._op_dk)
    log.attempt("bad argument", f._op_dk, K.CPU, "a")
    log.attempt("not on", f._op_dk, K.PythonDispatcher, x)
    log(f._op(x), f.op is f._op)


def included_but_off(s, log):
    x = s.T.zeros(2)
    _lib, f = _op(s, "pd15", CPU=lambda x: x + 1)
    with s.C._IncludeDispatchKeyGuard(s.DispatchKey.PythonDispatcher):
        log.attempt("call", f, x)
    log(f(x))


def decompose(s, log):
    _lib, f = _op(s, "pd16", CPU=lambda x: x)
    log(f._can_decompose(), f.decompose(s.T.ones(1)))
    f.py_impl(s.DispatchKey.CompositeImplicitAutograd)(lambda x: x + 7)
    log(f._can_decompose(), f.decompose(s.T.ones(1)))
    log(
        s.ops.aten.reshape.default._can_decompose(),
        s.ops.aten.reshape.default.decompose(s.T.ones(2, 3), (3, 2)),
    )


def with_fake_mode(s, log):
    _lib, f = _op(s, "pd17", CPU=lambda x: x + 1, Meta=lambda x: x.new_empty(x.shape))
    with s.fake.FakeTensorMode() as mode:
        x = mode.from_tensor(s.T.ones(2, 3))
        with s.C._EnablePythonDispatcher():
            log(f(x))
            log(s.ops.aten.add.Tensor(x, 1))
    log(sorted(k.name for k in f._dispatch_cache))


def under_mode_order(s, log):
    seen = []
    _lib, f = _op(s, "pd18", CPU=lambda x: seen.append("cpu") or x + 1)

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            seen.append(s.C._dispatch_tls_is_dispatch_key_included("PythonDispatcher"))
            return func(*args, **(kwargs or {}))

    @f.py_impl(s.DispatchKey.CPU)
    def k(x):
        seen.append("py cpu")
        return x

    with s.C._EnablePythonDispatcher(), M():
        log(f(s.T.ones(1)), seen)
    log(sorted(k.name for k in f._dispatch_cache))


def arguments(s, log):
    _lib, f = _op(
        s,
        "pd19",
        "f(Tensor x, int a=1, float b=2., *, int? c=None, int[] d=[]) -> Tensor",
        CPU=lambda x, *a, **k: x,
    )
    f.py_impl(s.DispatchKey.CPU)(lambda *a, **k: log(len(a), a[1:], k) or a[0])
    x = s.T.ones(1)
    with s.C._EnablePythonDispatcher():
        f(x)
        f(x, 1, 2.0)
        f(x, 3)
        f(x, b=4)
        f(x, c=None, d=(1, 2))
        f(x, 1, 5.5, c=2)
        log.attempt("bad", f, x, "a")


def results(s, log):
    _lib, f = _op(s, "pd20", "f(Tensor x) -> (Tensor, int)", CPU=lambda x: (x, 1))
    f.py_impl(s.DispatchKey.CPU)(lambda x: [x, 2])
    with s.C._EnablePythonDispatcher():
        log(f(s.T.ones(1)))
    _lib2, g = _op(s, "pd21", CPU=lambda x: x)
    g.py_impl(s.DispatchKey.CPU)(lambda x: "text")
    with s.C._EnablePythonDispatcher():
        log.attempt("wrong type", g, s.T.ones(1))


def no_tensors(s, log):
    _, f = _op(s, "pd22", "f(int x) -> int", CompositeExplicitAutograd=lambda x: x + 1)
    f.py_impl(s.DispatchKey.CompositeExplicitAutograd)(lambda x: x + 10)
    with s.C._EnablePythonDispatcher():
        log(f(1))
    log(f(1), [k.name for k in f._dispatch_cache])
    _lib, g = _op(s, "pd23", "f(int x) -> int", CPU=lambda x: x + 1)
    with s.C._EnablePythonDispatcher():
        log.attempt("cpu only", g, 1)


def factories(s, log):
    with s.C._EnablePythonDispatcher():
        log(s.T.zeros(2), s.T.ones(2, 2).sum(), s.T.full((2,), 3.0))
        log(s.T.empty(2, 3).shape, (s.T.ones(2) + 1) * 2)
        x = s.T.ones(2, 3)
        log(x.t().shape, x.reshape(3, 2).shape, x.view(6).add_(1))


def inplace(s, log):
    with s.C._EnablePythonDispatcher():
        x = s.T.zeros(2)
        v = x._version
        x.add_(1)
        log(x, x._version - v)
        y = x.view(2)
        y.mul_(3)
        log(x, y._base is x, x._version - v)


def nested_enable(s, log):
    inc = lambda: s.C._dispatch_tls_is_dispatch_key_included("PythonDispatcher")
    with s.C._EnablePythonDispatcher():
        with s.C._EnablePythonDispatcher():
            log(inc())
        log(inc())
        with s.C._DisablePythonDispatcher():
            log(inc())
            with s.C._EnablePythonDispatcher():
                log(inc())
            log(inc())
        log(inc())
    log(inc())
