"""Which kernel answers: computed tables, `resolve_key`, `py_impl`, redispatch."""

import re


def _op(s, ns, keys, schema="f(Tensor x) -> Tensor"):
    lib = s.library.Library(ns, "DEF")
    lib.define(schema)
    for k in keys:
        lib.impl("f", lambda x, k=k: _say(s, k, x), k)
    return lib, getattr(s.ops, ns).f


_said = []


def _say(s, k, x):
    _said.append(k)
    return x.clone()


def _places(text):
    """A dump without file names and addresses."""
    text = re.sub(r"registered at \S+", "registered at PLACE", text)
    return re.sub(r" \[ .* \]", "", text)


def table_of_composite(s, log):
    lib, f = _op(s, "mr_a", ["CompositeImplicitAutograd"])
    for line in s.C._dispatch_dump_table("mr_a::f").splitlines():
        log(_places(line))


def table_of_backend(s, log):
    lib, f = _op(s, "mr_b", ["CPU", "Autograd"])
    for line in s.C._dispatch_dump_table("mr_b::f").splitlines():
        if line.startswith(
            (
                "CPU",
                "CUDA",
                "AutogradCPU",
                "AutogradCUDA",
                "AutogradOther",
                "Meta",
                "Undefined",
                "Python",
                "ADInplaceOrView",
                "Tracer",
            )
        ):
            log(_places(line))
    for line in s.C._dispatch_dump("mr_b::f").splitlines():
        log(_places(line))


def table_of_explicit_and_fallthrough(s, log):
    lib, f = _op(s, "mr_c", ["CompositeExplicitAutograd", "AutogradCPU"])
    lib.impl("f", s.library.fallthrough_kernel, "AutogradCUDA")
    lib.impl("f", s.library.fallthrough_kernel, "Meta")
    for line in s.C._dispatch_dump_table("mr_c::f").splitlines():
        if "fallthrough" not in line or "Meta" in line or "CUDA" in line:
            log(_places(line))
    log.attempt("meta", f, s.T.empty(1, device="meta"))


def resolve_keys(s, log):
    K, r = s.DispatchKey, s._ops.resolve_key
    lib, f = _op(s, "mr_d", ["CPU", "CompositeImplicitAutograd", "Autograd"])
    for k in (
        K.CPU,
        K.CUDA,
        K.Meta,
        K.AutogradCPU,
        K.AutogradOther,
        K.AutogradCUDA,
        K.QuantizedCPU,
        K.SparseCPU,
        K.Undefined,
        K.Python,
        K.BackendSelect,
        K.FuncTorchBatched,
        K.NestedTensorCPU,
    ):
        log.attempt(k.name, r, f.default, k)


def resolve_keys_explicit(s, log):
    K, r = s.DispatchKey, s._ops.resolve_key
    lib, f = _op(s, "mr_e", ["CompositeExplicitAutograd"])
    lib2, g = _op(s, "mr_e2", ["CompositeExplicitAutogradNonFunctional"])
    lib3, h = _op(s, "mr_e3", ["CompositeImplicitAutogradNestedTensor"])
    lib4, e = _op(s, "mr_e4", [])
    for k in (
        K.CPU,
        K.Meta,
        K.AutogradCPU,
        K.AutogradOther,
        K.QuantizedCPU,
        K.SparseCPU,
        K.NestedTensorCPU,
        K.AutogradNestedTensor,
        K.Undefined,
        K.Functionalize,
        K.ZeroTensor,
    ):
        for op in (f, g, h, e):
            log.attempt(k.name, r, op.default, k)


def ambiguous_autogradother(s, log):
    K, r = s.DispatchKey, s._ops.resolve_key
    lib, f = _op(s, "mr_f", ["CompositeImplicitAutograd", "QuantizedCPU"])
    log.attempt("other", r, f.default, K.AutogradOther)
    log.attempt("quantized", r, f.default, K.QuantizedCPU)
    log.attempt("autograd cpu", r, f.default, K.AutogradCPU)
    for line in s.C._dispatch_dump_table("mr_f::f").splitlines():
        if line.startswith(("AutogradOther", "QuantizedCPU", "AutogradCPU", "QuantizedCUDA")):
            log(_places(line))
    lib.impl("f", lambda x: x, "Autograd")
    log.attempt("other", r, f.default, K.AutogradOther)
    for line in s.C._dispatch_dump_table("mr_f::f").splitlines():
        if line.startswith(("AutogradOther", "QuantizedCPU", "AutogradCPU", "QuantizedCUDA")):
            log(_places(line))
    log(s.C._dispatch_has_computed_kernel_for_dispatch_key("mr_f::f", "AutogradOther"))


def missing_kernels(s, log):
    lib, f = _op(s, "mr_g", ["CUDA"])
    log.attempt("cpu", f, s.T.ones(1))
    log.attempt("overload", f.default, s.T.ones(1))
    log.attempt("meta", f, s.T.empty(1, device="meta"))
    lib.define("g(int x) -> int")
    log.attempt("no tensors", lambda: s.ops.mr_g.g(1))
    lib.impl("g", lambda x: x + 1, "CPU")
    log.attempt("cpu kernel", lambda: s.ops.mr_g.g(1))
    lib.impl("g", lambda x: x + 2, "CompositeExplicitAutograd")
    log.attempt("explicit", lambda: s.ops.mr_g.g(1))
    lib.define("h(Tensor[] x) -> Tensor")
    lib.impl("h", lambda x: s.T.ones(1), "CompositeExplicitAutograd")
    log.attempt("empty list", lambda: s.ops.mr_g.h([]))
    lib.define("o(Tensor? x=None) -> int")
    lib.impl("o", lambda x=None: 7, "CompositeImplicitAutograd")
    lib.impl("o", lambda x=None: 8, "CPU")
    log.attempt("none", lambda: s.ops.mr_g.o())
    log.attempt("one", lambda: s.ops.mr_g.o(s.T.ones(1)))


def who_is_called(s, log):
    x, y = s.T.ones(1), s.T.ones(1, requires_grad=True)
    for i, keys in enumerate(
        (
            ["CPU", "CompositeImplicitAutograd"],
            ["CPU", "Autograd"],
            ["CompositeImplicitAutograd", "Autograd"],
            ["CompositeExplicitAutograd", "CPU"],
            ["CompositeExplicitAutograd", "CompositeImplicitAutograd"],
            ["AutogradCPU", "Autograd", "CPU"],
            ["CompositeImplicitAutograd", "AutogradCPU"],
            ["CompositeExplicitAutogradNonFunctional", "CPU"],
            ["Meta", "CompositeImplicitAutograd"],
            ["BackendSelect", "CPU"],
            ["ADInplaceOrView", "CPU"],
        )
    ):
        lib, f = _op(s, f"mr_w{i}", keys)
        _said.clear()
        f(x)
        f(y)
        with s.T.no_grad():
            f(y)
        with s.T.inference_mode():
            f(s.T.ones(1))
        log.attempt("meta", lambda: f(s.T.empty(1, device="meta")).device.type)
        log(_said)


def tensors_decide_together(s, log):
    lib = s.library.Library("mr_multi", "DEF")
    lib.define("f(Tensor x, Tensor? y, Tensor[] z, *, Tensor? o=None) -> str")
    for k in ("CPU", "Meta", "AutogradCPU", "AutogradMeta"):
        lib.impl("f", lambda x, y, z, o=None, k=k: k, k)
    f = s.ops.mr_multi.f
    c, m, g = s.T.ones(1), s.T.empty(1, device="meta"), s.T.ones(1, requires_grad=True)
    log.attempt("c", lambda: f(c, None, []))
    with s.C._AutoDispatchBelowAutograd():
        log.attempt("c", lambda: f(c, None, []))
        log.attempt("cm", lambda: f(c, m, []))
        log.attempt("c[m]", lambda: f(c, None, [c, m]))
        log.attempt("c o=m", lambda: f(c, None, [], o=m))
        log.attempt("g", lambda: f(g, None, []))
    log.attempt("m", lambda: f(m, None, []))
    log.attempt("mg", lambda: f(m, g, []))


def op_fields(s, log):
    add = s.ops.aten.add.Tensor
    log(str(add), repr(add), add.name(), add.namespace)
    log(add.overloadpacket is s.ops.aten.add, add._overloadname, add._opname)
    log(add.is_view, s.ops.aten.view.default.is_view, s.ops.aten.add_.Tensor.is_view)
    log(add._schema)
    log(add._schema.name, add._schema.overload_name)
    log(
        add.has_kernel_for_dispatch_key(s.DispatchKey.CPU),
        add.has_kernel_for_dispatch_key(s.DispatchKey.CompositeImplicitAutograd),
    )
    log(add.has_kernel_for_any_dispatch_key(s.DispatchKeySet(s.DispatchKey.CUDA)))
    log(add.__name__, type(add).__mro__[1].__name__)
    log(sorted(str(t) for t in add.tags))
    log(add._can_decompose(), s.ops.aten.linear.default._can_decompose())
    log(
        sorted(
            n
            for n in (
                "py_kernels",
                "python_key_table",
                "functorch_table",
                "_dispatch_cache",
                "_name",
                "_op",
                "_op_dk",
                "_tags",
                "_defined_in_python",
                "_lazy_handle",
            )
            if hasattr(add, n)
        )
    )
    log.attempt("handle", lambda: type(add._handle).__name__)


def py_impl_keys(s, log):
    K = s.DispatchKey
    lib, f = _op(s, "mr_py", ["CPU"])
    op = f.default

    @op.py_impl(K.CPU)
    def cpu(x):
        log("py cpu")
        return x + 1

    log(op.py_kernels.keys() == {K.CPU}, cpu is op.py_kernels[K.CPU])
    x = s.T.zeros(1)
    log(op(x))
    with s.C._EnablePythonDispatcher():
        log(op(x))
    log(op(x))
    log.attempt("twice", lambda: op.py_impl(K.CPU)(cpu))
    log.attempt("alias", lambda: op.py_impl(K.CompositeImplicitAutograd)(cpu))
    log.attempt("not a key", lambda: op.py_impl(3)(cpu))
    log.attempt("resolved", s._ops.resolve_key, op, K.CPU)


def py_impl_composite(s, log):
    K = s.DispatchKey
    lib, f = _op(s, "mr_pc", ["CompositeImplicitAutograd"])
    op = f.default

    @op.py_impl(K.CompositeImplicitAutograd)
    def comp(x):
        log("py composite")
        return x + 1

    @op.py_impl(K.AutogradCPU)
    def auto(x):
        log("py autograd")
        return x + 2

    _said.clear()
    log(op(s.T.zeros(1)), _said)
    with s.C._EnablePythonDispatcher():
        log(op(s.T.zeros(1)))
        log(op(s.T.zeros(1, device="meta")))
        with s.C._DisablePythonDispatcher():
            log(op(s.T.zeros(1)))
    log(_said)
    log(sorted(k.name for k in op.py_kernels))
    log.attempt("decompose", lambda: op.decompose(s.T.zeros(1)))


def py_impl_mode(s, log):
    lib, f = _op(s, "mr_pm", ["CPU"])
    op = f.default

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("dispatch", str(func))
            return func(*args, **(kwargs or {}))

    @op.py_impl(M)
    def m(mode, x):
        log("py", type(mode).__name__)
        return x + 5

    x = s.T.zeros(1)
    with M():
        log(op(x))
        with s.C._EnablePythonDispatcher():
            log(op(x))
    with s.C._EnablePythonDispatcher():
        log(op(x))
    log(len(op.python_key_table), list(op.py_kernels))


def py_impl_subclass(s, log):
    lib, f = _op(s, "mr_ps", ["CPU"])
    op = f.default

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("class", str(func))
            return 1

    @op.py_impl(Sub)
    def m(x):
        log("py")
        return 2

    x = s.T.zeros(1).as_subclass(Sub)
    log.attempt("off", op, x)
    with s.C._EnablePythonDispatcher():
        log.attempt("on", op, x)
    log([k.__name__ for k in op.python_key_table])


def py_functionalize_table(s, log):
    lib, f = _op(s, "mr_pf", ["CPU"])
    op = f.default
    log(type(op.py_functionalize_impl(lambda ctx, x: x)).__name__)
    log(
        op.has_kernel_for_dispatch_key(s.DispatchKey.Functionalize),
        op.has_kernel_for_dispatch_key(s.DispatchKey.CPU),
    )
    log(len(op.functorch_table), [k.name for k in op.py_kernels])
    log.attempt("transform", lambda: op.py_impl(s.C._functorch.TransformType.Vmap)(len))
    log(len(op.functorch_table))


def dispatch_cache(s, log):
    K = s.DispatchKey
    lib, f = _op(s, "mr_dc", ["CPU"])
    op = f.default
    log(dict(op._dispatch_cache))
    with s.C._EnablePythonDispatcher():
        op(s.T.ones(1))
    log(sorted(k.name for k in op._dispatch_cache))
    op.py_impl(K.Meta)(lambda x: x)
    log(sorted(k.name for k in op._dispatch_cache))
    with s.C._EnablePythonDispatcher():
        op(s.T.ones(1))
        op(s.T.ones(1, requires_grad=True))
        op(s.T.ones(1, device="meta"))
    log(sorted(k.name for k in op._dispatch_cache))
    lib.impl("f", lambda x: x, "AutogradCPU")
    log(sorted(k.name for k in op._dispatch_cache))


def computed_kernels(s, log):
    C, K, S = s.C, s.DispatchKey, s.DispatchKeySet
    lib, f = _op(s, "mr_ck", ["CPU", "CompositeExplicitAutograd"])
    k = C._dispatch_get_computed_kernel_for_dispatch_key("mr_ck::f", "CPU")
    log(type(k).__name__)
    _said.clear()
    log.attempt("call", lambda: k.call_boxed(S(K.CPU), s.T.ones(1)))
    log(_said)
    log.attempt("none", C._dispatch_get_computed_kernel_for_dispatch_key, "mr_ck::zz", "CPU")
    e = C._dispatch_get_computed_kernel_for_dispatch_key("mr_ck::f", "Meta")
    log.attempt("explicit", lambda: e.call_boxed(S(K.Meta), s.T.ones(1)))
    log(_said)
    g = s.library.get_kernel("mr_ck::f", "CPU")
    log(type(g).__name__)
    log.attempt("bad", s.library.get_kernel, "mr_ck::f", "Nope")
    log.attempt("bad op", s.library.get_kernel, "mr_ck::zz", "CPU")
    log.attempt("int", s.library.get_kernel, 3, "CPU")


def redispatch_and_direct(s, log):
    K, S = s.DispatchKey, s.DispatchKeySet
    lib, f = _op(s, "mr_rd", ["CPU", "AutogradCPU", "Meta"])
    op, x = f.default, s.T.ones(1)
    _said.clear()
    op(x)
    op.redispatch(S(K.CPU), x)
    op.redispatch(S(K.Meta), x)
    op.redispatch(S(K.AutogradCPU) | S(K.CPU), x)
    log(_said)
    log.attempt("no kernel", op.redispatch, S(K.CUDA), x)
    log.attempt("key", op.redispatch, K.CPU, x)
    log.attempt("empty", op.redispatch, S.from_raw_repr(0), x)
    log.attempt("few", op.redispatch, S(K.CPU))
    log.attempt("decompose", op.decompose, x)


def fallbacks_in_tables(s, log):
    lib, f = _op(s, "mr_fb", ["CPU"])
    any_ = s.library.Library("_", "IMPL")

    def here():
        return [
            _places(x)
            for x in s.C._dispatch_dump_table("mr_fb::f").splitlines()
            if x.startswith(("PrivateUse2", "XLA", "AutogradXLA"))
        ]

    log(here())
    any_.fallback(lambda op, *a, **k: a[0], "PrivateUse2")
    any_.impl if False else None
    log(here())
    log.attempt("resolve", s._ops.resolve_key, f.default, s.DispatchKey.PrivateUse2)
    any_._destroy()
    log(here())


def autocast_and_tracer_keys(s, log):
    lib, f = _op(s, "mr_at", ["AutocastCPU", "CPU"])
    K, S, C = s.DispatchKey, s.DispatchKeySet, s.C
    _said.clear()
    f(s.T.ones(1))
    log(_said)
    C._dispatch_tls_set_dispatch_key_excluded(K.AutocastCPU, False)
    C._dispatch_tls_set_dispatch_key_included(K.AutocastCPU, True)
    f(s.T.ones(1))
    C._dispatch_tls_set_dispatch_key_included(K.AutocastCPU, False)
    C._dispatch_tls_set_dispatch_key_excluded(K.AutocastCPU, True)
    f(s.T.ones(1))
    log(_said)
