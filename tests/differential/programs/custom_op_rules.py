"""What modes, subclasses and transforms have to say to custom operators."""

from tests.differential.helpers import doubling_op, multiplying_op


def torch_dispatch_rules(s, log):
    op = multiplying_op(s, "co21::f")

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func)
            return func(*args, **(kwargs or {}))

    class Other(Mode):
        pass

    def rule(mode, func, types, args, kwargs):
        log("rule", type(mode).__name__, func, types, len(args), kwargs)
        return func(*args, **kwargs)

    log(op.register_torch_dispatch(Mode, rule) is rule)
    with Mode():
        op(s.T.ones(1), 3)
    with Other():
        op(s.T.ones(1))
    op.register_torch_dispatch(Mode, lambda mode, func, types, args, kwargs: s.T.zeros(3))
    with Mode():
        log(op(s.T.ones(1)))


def torch_dispatch_rules_of_subclasses(s, log):
    lib = s.library.Library("co22", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("class", func)
            return s.T.zeros(1)

    @s.library.register_torch_dispatch("co22::f", Sub)
    def rule(cls, func, types, args, kwargs):
        log("rule", cls.__name__, func, [t.__name__ for t in types], kwargs)
        return s.T.zeros(2)

    x = s.T.ones(1).as_subclass(Sub)
    log(s.ops.co22.f(x))
    log.attempt("again", s.library.register_torch_dispatch, "co22::f", Sub, rule)
    log(s.T.add(x, 1))
    log.attempt("number", s.library.register_torch_dispatch, 3, Sub, rule)


def fake_mode_rules(s, log):
    op = multiplying_op(s, "co23::f")
    op.register_fake(lambda x, n=2: x.new_empty(1))

    def rule(mode, func, types, args, kwargs):
        log("rule", type(mode).__name__)
        with mode:
            return s.T.empty(9)

    s.library.register_torch_dispatch(op, s.fake.FakeTensorMode, rule)
    with s.fake.FakeTensorMode():
        log(op(s.T.ones(2)).shape)


def vmap_rules(s, log):
    op = multiplying_op(s, "co24::f")
    log(s.C._dispatch_has_kernel_for_dispatch_key("co24::f", "FuncTorchBatched"))
    log(op.register_vmap(lambda info, in_dims, x, n=2: (x * n, in_dims[0])))
    log(
        s.C._dispatch_has_kernel_for_dispatch_key("co24::f", "FuncTorchBatched"),
        callable(op._vmap_fn),
    )
    lib = s.library.Library("co24", "FRAGMENT")
    lib.define("kw(Tensor x, *, Tensor y) -> Tensor")
    lib.define("g(Tensor x) -> Tensor")
    log.attempt("keyword-only", s.library.register_vmap, "co24::kw", lambda info, in_dims, x: x)
    log.attempt("by name", s.library.register_vmap, "co24::g", lambda info, in_dims, x: x, lib=lib)
    log(s.C._dispatch_has_kernel_for_dispatch_key("co24::g", "FuncTorchBatched"))

    @op.register_vmap
    def rule(info, in_dims, x, n=2):
        return x, 0

    log(rule, op(s.T.ones(1)))


def autocast(s, log):
    op = multiplying_op(s, "co25::f")
    log.attempt("wrong device", op.register_autocast, "meta", s.T.float16)
    log.attempt("no device", op.register_autocast, "nothing", s.T.float16)
    log.attempt("number", op.register_autocast, 3, s.T.float16)
    log(callable(op.register_autocast("cpu", s.T.bfloat16)))
    log(s.C._dispatch_has_kernel_for_dispatch_key("co25::f", "AutocastCPU"))
    log(op(s.T.ones(2)).dtype)
    s.C._dispatch_tls_set_dispatch_key_excluded("AutocastCPU", False)
    log(
        op(s.T.ones(2)).dtype,
        op(s.T.ones(2, dtype=s.T.float64)).dtype,
        op(s.T.ones(2, dtype=s.T.int64)).dtype,
    )
    log(s.C._dispatch_tls_is_dispatch_key_excluded("AutocastCPU"))
    lib = s.library.Library("co25", "FRAGMENT")
    lib.define("g(Tensor x, Tensor[] ys, str t) -> (Tensor, Tensor)")
    lib.impl("g", lambda x, ys, t: (x.clone(), ys[0].clone()), "CPU")
    s.library.register_autocast("co25::g", "cpu", s.T.float16, lib=lib)
    log([t.dtype for t in s.ops.co25.g(s.T.ones(1), [s.T.ones(1)], "text")])
    s.C._dispatch_tls_set_dispatch_key_excluded("AutocastCPU", True)
    log([t.dtype for t in s.ops.co25.g(s.T.ones(1), [s.T.ones(1)], "text")])
    log.attempt("by name, wrong", s.library.register_autocast, "co25::g", "meta", s.T.float16)


def modes_see_it(s, log):
    op = multiplying_op(s, "co26::f")

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, len(args), kwargs)
            return func(*args, **(kwargs or {}))

    x, g = s.T.ones(1), s.T.ones(1, requires_grad=True)
    with Mode():
        op(x)
        op(x, 2)
        op(x, n=3)
        op(g)


def operators_within_operators(s, log):
    inner = multiplying_op(s, "co28::inner")

    def outer(x: s.Tensor) -> s.Tensor:
        log("outer", x.requires_grad, s.T.is_grad_enabled())
        return inner(x, 5)

    op = s.library.custom_op("co28::outer", outer, mutates_args=())
    log(op(s.T.ones(1)))
    y = op(s.T.ones(1, requires_grad=True))
    log(y.requires_grad, y.grad_fn.name())
    op.register_fake(lambda x: inner(x))
    inner.register_fake(lambda x, n=2: x.new_empty(n))
    with s.fake.FakeTensorMode():
        log(op(s.T.ones(3)).shape)
    log(op(s.T.ones(3, device="meta")).shape)


def in_inference_mode(s, log):
    op = multiplying_op(s, "co29::f")
    with s.T.inference_mode():
        y = op(s.T.ones(2))
        log(y.is_inference(), y.requires_grad)

    def writes(x: s.Tensor) -> None:
        x.mul_(3)

    w = s.library.custom_op("co29::w", writes, mutates_args={"x"})
    with s.T.inference_mode():
        z = s.T.ones(2)
        log(w(z), z)
    with s.T.no_grad():
        log(op(s.T.ones(2, requires_grad=True)).requires_grad)


def keys_of_an_operator(s, log):
    op = multiplying_op(s, "co30::f", device_types="cpu")
    has = s.C._dispatch_has_kernel_for_dispatch_key
    for key in (
        "CPU",
        "CUDA",
        "Meta",
        "Autograd",
        "AutogradCPU",
        "ADInplaceOrView",
        "CompositeExplicitAutograd",
        "CompositeImplicitAutograd",
        "BackendSelect",
        "FuncTorchBatched",
        "AutocastCPU",
    ):
        log(key, has("co30::f", key))
    log(op._lib._op_defs, sorted(op._lib._op_impls), op._lib.kind, op._lib.ns)

    def writes(x: s.Tensor) -> None:
        pass

    s.library.custom_op("co30::w", writes, mutates_args={"x"})
    log(has("co30::w", "ADInplaceOrView"), has("co30::w", "CompositeExplicitAutograd"))
    s.library.custom_op(
        "co30::v", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    log(has("co30::v", "ADInplaceOrView"))


def kernels_on_top_of_a_custom_operator(s, log):
    op = multiplying_op(s, "co31::f")
    lib = s.library.Library("co31", "IMPL")

    def autograd(keys, x, *rest):
        log("mine", len(rest))
        return op._opoverload.redispatch(keys & s.C._after_autograd_keyset, x, *rest)

    lib.impl("f", autograd, "AutogradCPU", with_keyset=True)
    log(op(s.T.ones(1), 7), op(s.T.ones(1)))
    lib._destroy()
    log(op(s.T.ones(1), 7))


def subclasses_see_it(s, log):
    op = multiplying_op(s, "co33::f")

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("sub", func, [t.__name__ for t in types], len(args), kwargs)
            return s.T.zeros(2)

    x = s.T.ones(1).as_subclass(Sub)
    log(op(x), op(x, 3))
    x.requires_grad_()
    y = op(x)
    log(y.requires_grad)


def torch_dispatch_rules_are_found(s, log):
    f = doubling_op(s, "mc_h")

    class Sub(s.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return "class"

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    class N(M):
        pass

    @s.library.register_torch_dispatch("mc_h::sin", Sub)
    def _(func, types, args=(), kwargs=None):
        log("rule", str(func), [t.__name__ for t in types], len(args))
        return args[0].as_subclass(s.Tensor) if False else s.T.zeros(1)

    @f.register_torch_dispatch(M)
    def _(mode, func, types, args=(), kwargs=None):
        log("mode rule", type(mode).__name__, str(func), kwargs)
        return func(*args)

    x = s.T.ones(1).as_subclass(Sub)
    log.attempt("sub", f, x)
    with M():
        log.attempt("mode", f, s.T.ones(1))
    with N():
        log.attempt("other mode", f, s.T.ones(1))
    log.attempt("not a class", lambda: s.library.register_torch_dispatch("mc_h::sin", 3))
    log.attempt(
        "no dispatch",
        lambda: s.library.register_torch_dispatch("mc_h::sin", int, lambda *a: a) and None,
    )


def called_in_modes(s, log):
    f = doubling_op(s, "mc_q")

    class M(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", str(func))
            return func(*args, **(kwargs or {}))

    class F(s.modes.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            log("function", str(func))
            return func(*args, **(kwargs or {}))

    with M():
        f(s.T.ones(1))
    x = s.T.ones(1)
    with F():
        f(x)
    x.requires_grad_()
    y = f(x)
    log(y.requires_grad, f(x.detach()).requires_grad)
    with s.T.no_grad():
        log(f(x).requires_grad)
