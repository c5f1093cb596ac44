"""Functional tensors, the Functionalize key, FunctionalTensorMode, functionalize."""

from typing import Any


def _logger(s, log):
    class Logger(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("  ", func, [tuple(a.shape) for a in args if isinstance(a, s.Tensor)])
            return func(*args, **(kwargs or {}))

    return Logger()


def _wrap(s, *shape):
    return s.T._to_functional_tensor(s.T.ones(*shape))


def _value(s, t):
    s.T._sync(t)
    return s.T._from_functional_tensor(t)


def _both(s, log, program):
    """The calls below a program with views replayed as views, then as copies."""
    for views in (True, False):
        log("views" if views else "copies")
        before = s.T._functionalize_enable_reapply_views(views)
        with _logger(s, log):
            log.attempt("end", program)
        s.T._functionalize_enable_reapply_views(before)


def wrappers(s, log):
    x = s.T.ones(2, 3)
    w = s.T._to_functional_tensor(x)
    log(type(w) is s.Tensor, s.T._is_functional_tensor(w), s.T._is_functional_tensor(x))
    log(s.C._dispatch_keys(w), w.shape, w.stride(), w.dtype, w.device, w.requires_grad, w.is_leaf)
    log(s.T._from_functional_tensor(w) is x, s.T._is_functional_tensor_base(w), w.data_ptr())
    log(repr(w), repr(w.view(-1)), w.double())
    log.attempt("twice", s.T._to_functional_tensor, w)
    for name in ("_from_functional_tensor", "_sync", "_freeze_functional_tensor"):
        log.attempt("of a plain tensor", getattr(s.T, name), x)
        log.attempt("of no tensor", getattr(s.T, name), 3)
    log.attempt("of no tensor", s.T._is_functional_tensor, 3)
    log.attempt("base of plain", s.T._is_functional_tensor_base, x)
    log.attempt("tolist", w.tolist)


def leaf_wrappers(s, log):
    x = s.T.ones(2, requires_grad=True)
    w = s.T._to_functional_tensor(x)
    log(w.requires_grad, (w * 2).requires_grad)
    s.T._mirror_autograd_meta_to(x, w)
    log(w.requires_grad, w.is_leaf, (w * 2).requires_grad)


def view_then_write(s, log):
    def program():
        w = _wrap(s, 2, 3)
        v = w.view(6)
        v.add_(1)
        log("use")
        return _value(s, w * 2)

    _both(s, log, program)


def write_then_view(s, log):
    def program():
        w = _wrap(s, 2, 3)
        w.add_(1)
        v = w.view(6)
        log("use")
        return _value(s, v + 1)

    _both(s, log, program)


def two_views(s, log):
    def program():
        w = _wrap(s, 2, 3)
        row, turned = w[0], w.t()
        row.mul_(3)
        turned.add_(1)
        log("use")
        return _value(s, row + 1), _value(s, w)

    _both(s, log, program)


def every_inverse(s, log):
    cases = {
        "select": lambda w: w.select(0, 1),
        "slice": lambda w: w[1:],
        "narrow": lambda w: w.narrow(1, 1, 2),
        "diagonal": lambda w: w.diagonal(),
        "t": lambda w: w.t(),
        "transpose": lambda w: w.transpose(0, 1),
        "permute": lambda w: w.permute(1, 0),
        "unsqueeze": lambda w: w.unsqueeze(1),
        "squeeze": lambda w: w.unsqueeze(0).squeeze(),
        "squeeze dim": lambda w: w.unsqueeze(0).squeeze(0),
        "split": lambda w: w.split(1)[1],
        "split sizes": lambda w: w.split_with_sizes([1, 2])[1],
        "unbind": lambda w: w.unbind(1)[2],
        "chunk": lambda w: w.chunk(2)[0],
        "as_strided": lambda w: w.as_strided((2,), (3,), 1),
        "view": lambda w: w.view(9),
        "flatten": lambda w: w.flatten(),
        "detach": lambda w: w.detach(),
        "dtype": lambda w: w.view(s.T.int32),
        "expand": lambda w: w.expand(2, 3, 3)[0],
    }
    for name, view in cases.items():

        def program(view=view):
            w = _wrap(s, 3, 3)
            v = view(w)
            v.zero_()
            return _value(s, w), v.shape, s.T._functionalize_is_multi_output_view(v)

        log(name)
        _both(s, log, program)


def views_in_place(s, log):
    def program():
        w = _wrap(s, 2, 3)
        log(w.transpose_(0, 1) is w, w.shape, w.stride())
        w.add_(1)
        w.unsqueeze_(0)
        w.squeeze_(0)
        w.t_()
        log(w.shape, s.T._functionalize_has_metadata_mutation(w))
        return _value(s, w)

    _both(s, log, program)


def resize(s, log):
    def program():
        w = _wrap(s, 4)
        w.resize_(2)
        log(w.shape, s.T._functionalize_get_storage_size(w, False))
        w.add_(1)
        big = _wrap(s, 2)
        big.resize_(6)
        log(big.shape, s.T._functionalize_get_storage_size(big, False))
        return _value(s, w)

    _both(s, log, program)


def out_arguments(s, log):
    def program():
        w, out = _wrap(s, 2), _wrap(s, 2)
        r = s.T.add(w, 1, out=out)
        log(r is out)
        s.T.mul(w, 3, out=out)
        return _value(s, out)

    _both(s, log, program)


def foreach(s, log):
    def program():
        w = _wrap(s, 4)
        r = s.T._foreach_add_([w, w[:2]], 1)
        log(type(r).__name__)
        return _value(s, w)

    _both(s, log, program)


def copies_and_fills(s, log):
    def program():
        w = _wrap(s, 3)
        w.copy_(_wrap(s, 1))
        w.fill_(2)
        w[0] = 5
        w[1:].zero_()
        w.clamp_(max=4)
        return _value(s, w)

    _both(s, log, program)


def dtype_changes(s, log):
    w = s.T._to_functional_tensor(s.T.ones(2))
    w.add_(s.T.ones(2, dtype=s.T.float64))
    log(w.dtype, _value(s, w))
    ints = s.T._to_functional_tensor(s.T.ones(2, dtype=s.T.int32))
    log.attempt("int += float", ints.add_, 1.5)
    log(_value(s, ints))
    log.attempt("too large", w.add_, s.T.ones(3, 2))
    log(_value(s, w), w.shape)


def mixed_with_plain(s, log):
    w = _wrap(s, 2)
    x = s.T.zeros(2)
    log(_value(s, w + x), _value(s, x + w), _value(s, s.T.cat([x, w])))
    log.attempt("plain written", x.add_, w)
    log.attempt("plain copied", x.copy_, w)
    w.add_(x)
    log(x, _value(s, w))
    log(w[0].item(), float(w.sum()), bool(w[1] == 1))


def counters(s, log):
    names = sorted(
        n
        for n in dir(s.T)
        if n.startswith("_functionalize_")
        and n.split("_")[2] in ("are", "has", "is", "was", "mutation", "storage")
    )
    log(names)

    def state(what, t):
        log(what, [getattr(s.T, n)(t) for n in names])

    w = _wrap(s, 4)
    v = w[:2]
    state("new", w)
    v.add_(1)
    state("written", w)
    s.T._functionalize_mark_mutation_hidden_from_autograd(w)
    state("hidden", v)
    with s.T.no_grad():
        w.mul_(2)
    state("no grad", w)
    w.unsqueeze_(0)
    state("shape", w)
    s.T._functionalize_mark_storage_changed(w)
    state("storage", w)
    log(w._version, v._version, v._is_view(), s.T._functionalize_get_storage_size(w, True))


def replacing(s, log):
    w = _wrap(s, 2)
    v = w.view(2)
    log(s.T._functionalize_replace(w, s.T.zeros(2)), s.T._functionalize_commit_update(w))
    log(s.T._functionalize_sync(v), s.T._from_functional_tensor(v))
    log(s.C._replace_(w, s.T.ones(2) * 7), s.C._commit_update(w), _value(s, v))
    log(s.C._unsafe_reset_storage(w), s.C._propagate_xla_data(w, w))
    w.add_(1)
    log(_value(s, w), _value(s, v))


def freezing(s, log):
    w = _wrap(s, 2)
    s.T._freeze_functional_tensor(w)
    log.attempt("write", w.add_, 1)
    log.attempt("write a view", w.view(2).add_, 1)


def setting(s, log):
    w, other = _wrap(s, 2), s.T._to_functional_tensor(s.T.zeros(3))
    w.set_(other)
    log(w.shape, s.T._functionalize_was_storage_changed(w), _value(s, w))
    other.add_(1)
    log(_value(s, w))
    log.attempt("plain source", w.set_, s.T.ones(1))


def thread_state(s, log):
    key = s.DispatchKey.Functionalize
    log(s.C._functionalization_reapply_views_tls())
    s.T._enable_functionalization(reapply_views=True)
    try:
        log(s.C._functionalization_reapply_views_tls())
        log(s.C._dispatch_tls_is_dispatch_key_included(key))
        x = s.T.ones(2)
        log(s.T._is_functional_tensor(x), s.T._is_functional_tensor(x.add_(1)))
        log.attempt("again", s.T._enable_functionalization)
        log.attempt("wrap", s.T._to_functional_tensor, x)
    finally:
        s.T._disable_functionalization()
    log(s.C._functionalization_reapply_views_tls())
    log(s.C._dispatch_tls_is_dispatch_key_included(key), s.T._is_functional_tensor(s.T.ones(1)))
    log.attempt("positional", s.T._enable_functionalization, True)
    log(
        s.T._functionalize_enable_reapply_views(True),
        s.T._functionalize_enable_reapply_views(False),
    )
    s.T._disable_functionalization()


def custom_operators(s, log):
    lib = s.library.Library("functionalization_custom", "DEF")
    lib.define("mut(Tensor(a!) x) -> ()")
    lib.define("view(Tensor(a) x) -> Tensor(a)")
    lib.define("pure(Tensor x) -> Tensor")
    lib.define("twice(Tensor x, int n) -> (Tensor, Tensor[])")
    lib.define("composite(Tensor x) -> Tensor")
    lib.define("composite_mut(Tensor(a!) x) -> ()")
    lib.impl("mut", lambda x: None, "CPU")
    lib.impl("view", lambda x: x.view(-1), "CPU")
    lib.impl("pure", lambda x: x * 2, "CPU")
    lib.impl("twice", lambda x, n: (x + n, [x * n, x - n]), "CPU")
    lib.impl("composite", lambda x: x.sin().add_(1), "CompositeImplicitAutograd")
    lib.impl("composite_mut", lambda x: (x.add_(1), None)[1], "CompositeImplicitAutograd")
    ops = s.ops.functionalization_custom
    for inference in (False, True):
        for name in ("mut", "view", "pure", "composite", "composite_mut"):
            w = _wrap(s, 2)
            with s.T.inference_mode(inference), _logger(s, log):
                log.attempt(name, lambda op, w: repr(op(w)), getattr(ops, name), w)
            log(_value(s, w))
    out, listed = ops.twice(_wrap(s, 2), 3)
    log(s.T._is_functional_tensor(out), [s.T._is_functional_tensor(t) for t in listed])


def own_functionalize_kernel(s, log):
    lib = s.library.Library("functionalization_own", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")

    def kernel(x):
        log("kernel", s.T._is_functional_tensor(x))
        s.T._sync(x)
        below = s.DispatchKeySet(s.DispatchKey.Functionalize)
        with s.C._ExcludeDispatchKeyGuard(below):
            r = s.ops.functionalization_own.f(s.T._from_functional_tensor(x))
        return s.T._to_functional_tensor(r)

    lib.impl("f", kernel, "Functionalize")
    f = s.ops.functionalization_own.f
    log(_value(s, f(_wrap(s, 2))), f(s.T.ones(1)))


def composites_in_inference_mode(s, log):
    with s.T.inference_mode(), _logger(s, log):
        w = _wrap(s, 2, 2)
        product = _value(s, s.T.matmul(w, w))
        flat = _value(s, w.reshape(4).add_(1))
    log(product, flat)


def functionalize(s, log):
    def f(x):
        log(type(x) is s.Tensor, s.T._is_functional_tensor(x), x.requires_grad)
        y = x.view(-1)
        y[0].mul_(3)
        return y + 1, x.t()

    for remove in ("mutations", "mutations_and_views"):
        x = s.T.ones(2, 2)
        with _logger(s, log):
            r = s.functional.functionalize(f, remove=remove)(x)
        log(r, x, s.T._is_functional_tensor(r[0]), s.C._functionalization_reapply_views_tls())
    log.attempt("remove nothing", s.functional.functionalize, f, remove="nothing")


def functionalize_trees(s, log):
    F = s.functional.functionalize
    x = s.T.ones(2)
    log(F(lambda a: a)(x) is x, F(lambda a: a.add_(1))(x) is x, x)
    log(F(lambda a, k=None: {"a": [a[0], 3], "k": k})(x, k={"z": x}))
    log(F(lambda: s.T.ones(2))(), s.T._is_functional_tensor(F(lambda: s.T.ones(2))()))
    y = s.T.ones(2, 3)
    log(F(lambda a: a.t_())(y), y.shape)
    z = s.T.ones(2, requires_grad=True)
    out = F(lambda a: a * 2)(z)
    log(out.requires_grad, out.is_leaf)
    outside = s.T.zeros(2)
    log.attempt("outside", F(lambda a: outside.add_(a)), x)
    log.attempt("raises", F(lambda a: a.view(7)), x)
    log(s.T._is_functional_tensor(s.T.ones(1)), F(s.T.sin).__name__)


def mode_basics(s, log):
    F = s.functional
    x = s.T.ones(2, 2)
    with F.FunctionalTensorMode() as m:
        t = F.FunctionalTensor.to_functional(x)
        log(type(t), t.shape, t.is_base_tensor(), s.T._is_functional_tensor(t))
        log(s.T._is_functional_tensor(t.elem), s.C._dispatch_keys(t), type(m))
        y = t.view(4)
        log(y.add_(1) is y, type(y), y.is_base_tensor(), y._version)
        log(t.from_functional(), x)
        log(type(s.T.ones(2)), t.sum().item(), bool(t[0, 0] > 1), t[0].tolist())
        log(type(s.T.matmul(t, t)), t.double().dtype, t.to(s.T.float64).dtype, t.layout)
        log(t.t_() is t, t.shape, repr(t[0, 0]))
        log(F.mb_unwrap_functional_tensor(t), F.mb_unwrap_functional_tensor(x) is x)
        log.attempt("twice", F.FunctionalTensor.to_functional, t.elem)
    log(t.shape, t.detach() is t)
    log.attempt("alone", lambda: t + 1)
    log.attempt("no mode", F.FunctionalTensor.to_functional, x)
    log.attempt("not functional", F.FunctionalTensor, x, m)


def mode_stack(s, log):
    F = s.functional
    key = s.C._TorchDispatchModeKey.FUNCTIONAL
    m, other = F.FunctionalTensorMode(), F.FunctionalTensorMode(export=True)
    log(m.export, other.export, m.pre_dispatch, m.enter_stack, m._mode_key == key, m._tokens)
    log(F.FunctionalTensorMode.is_infra_mode(), m.is_on_stack, m._allow_token_discovery)
    with m:
        log(s.C._get_dispatch_mode(key) is m, m.enter_stack)
        with other:
            log(s.C._get_dispatch_mode(key) is m, other.enter_stack)
            with F.disable_functional_mode():
                log(s.C._get_dispatch_mode(key) is None, type(s.T.ones(1)))
        log(s.C._get_dispatch_mode(key) is m)
    log(s.C._get_dispatch_mode(key) is None, m.enter_stack, other.enter_stack)


def mode_over_fake(s, log):
    F = s.functional
    with s.fake.FakeTensorMode() as fake:
        x = s.T.ones(2, 3)
        with F.FunctionalTensorMode():
            t = F.FunctionalTensor.to_functional(x)
            y = t.t()
            y.mul_(2)
            log(type(t), type(t.elem), type(s.T._from_functional_tensor(t.elem)))
            log(y.shape, t.device, type(t.from_functional()), t.from_functional().shape)
    log(fake is x.fake_mode)


def functionalize_with_mode(s, log):
    F = s.functional
    x = s.T.ones(2)

    def f(a):
        log(type(a))
        b = a.view(2)
        b.add_(1)
        return a, [b * 2, 3]

    log(F.dispatch_functionalize(f)(x), x)
    log(F.dispatch_functionalize(f, F.FunctionalTensorMode())(x))
    api = F.PythonFunctionalizeAPI()
    wrapped = api.wrap_tensors((x, 2))
    log(type(wrapped), type(wrapped[0]), wrapped[1])
    api.replace(wrapped[0], s.T.zeros(2))
    api.commit_update(wrapped[0])
    api.sync(wrapped[0])
    api.mark_mutation_hidden_from_autograd(wrapped[0])
    log(api.unwrap_tensors(wrapped), type(api.mode), api.pre_dispatch)
    log.attempt("plain", api.sync, x)
    with api.redispatch_to_next():
        log(s.C._dispatch_tls_is_dispatch_key_excluded(s.DispatchKey.Functionalize))


def cpp_api(s, log):
    api = s.functional.CppFunctionalizeAPI()
    log(isinstance(api, s.functional.BaseFunctionalizeAPI))
    w = _wrap(s, 2)
    api.replace(w, s.T.zeros(2))
    api.commit_update(w)
    api.sync(w)
    log(s.T._from_functional_tensor(w))
    with api.redispatch_to_next():
        log(s.C._dispatch_tls_is_dispatch_key_excluded(s.DispatchKey.Functionalize))
    log(s.C._dispatch_tls_is_dispatch_key_excluded(s.DispatchKey.Functionalize))
    log.attempt("abstract", s.functional.BaseFunctionalizeAPI)


def functionalized(s: Any, log: Any) -> None:
    T = s.T

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(func)
            return func(*args, **(kwargs or {}))

    def f(x):
        y = x.view(4)
        y.add_(1)
        z = x.t()
        z[0] = 5
        return y, x

    x = T.zeros(2, 2)
    with M():
        out = s.functional.functionalize(f)(x)
    log(out[0], out[1], x)
    log(out[0]._is_view(), x._version)
    g = s.functional.functionalize(f, remove="mutations_and_views")
    log(g(T.ones(2, 2))[0])
    t = T._to_functional_tensor(T.ones(2))
    log(
        T._is_functional_tensor(t),
        T._is_functional_tensor(T.ones(1)),
        type(T._from_functional_tensor(t)).__name__,
    )
