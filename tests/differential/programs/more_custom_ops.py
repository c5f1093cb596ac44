"""torch.library's own operators, by a second author (after test_custom_ops)."""

import typing


def _sin(s, ns, name="sin", **kwargs):
    @s.library.custom_op(f"{ns}::{name}", mutates_args=kwargs.pop("mutates_args", ()), **kwargs)
    def f(x: s.Tensor) -> s.Tensor:
        return x * 2

    return f


def basic(s, log):
    f = _sin(s, "mc_a")
    log(type(f).__name__, f(s.T.ones(2)), f._name, f._qualname, f._opoverload)
    log(repr(f))
    log(f._opoverload._schema, f._opoverload.tags)
    log(s.ops.mc_a.sin(s.T.ones(1)), s.ops.mc_a.sin.default is f._opoverload)
    log.attempt("str", f, "a")
    log.attempt("two", f, s.T.ones(1), 2)
    log.attempt("kw", lambda: f(x=s.T.ones(1)))
    log.attempt("bad kw", lambda: f(y=s.T.ones(1)))
    log.attempt("none", f)


def schema_given(s, log):
    op = s.library.custom_op

    @op("mc_b::f", mutates_args={"x"}, schema="(Tensor(a!) x, int y) -> ()")
    def f(x, y):
        x.add_(y)

    x = s.T.zeros(1)
    log(f(x, 3), x, x._version)
    log(f._opoverload._schema, f._opoverload._schema.is_mutable)
    log.attempt("no annot", lambda: op("mc_b::g", mutates_args=())(lambda x: x))
    log.attempt("no name", lambda: op("g", mutates_args=()))
    log.attempt("no mutates", lambda: op("mc_b::h"))
    log.attempt(
        "alias out",
        lambda: op("mc_b::i", mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)")(len),
    )
    log.attempt(
        "schema name", lambda: op("mc_b::j", mutates_args=(), schema="j(Tensor x) -> Tensor")(len)
    )
    log.attempt(
        "mutates wrong",
        lambda: op("mc_b::k", mutates_args=("z",), schema="(Tensor x) -> Tensor")(len),
    )


def direct_form(s, log):
    def g(x: s.Tensor, y: float = 1.0) -> s.Tensor:
        return x * y

    f = s.library.custom_op("mc_c::g", g, mutates_args=())
    log(type(f).__name__, f(s.T.ones(1), 3.0), f(s.T.ones(1)))
    log(f._opoverload._schema)
    log(f._init_fn is g, f.__name__ if hasattr(f, "__name__") else "no name")
    log.attempt("redefine", lambda: s.library.custom_op("mc_c::g", g, mutates_args=()) and "made")
    log.attempt(
        "tags",
        lambda: (
            s.library.custom_op(
                "mc_c::t", g, mutates_args=(), tags=(s.T.Tag.pointwise,)
            )._opoverload.tags
        ),
    )


def device_types(s, log):
    f = _sin(s, "mc_d", device_types="cpu")
    log(f(s.T.ones(1)))
    log.attempt("meta", f, s.T.ones(1, device="meta"))

    @f.register_kernel("meta") if False else f.register_fake
    def _(x):
        return s.T.empty_like(x)

    log.attempt("meta", f, s.T.ones(1, device="meta"))
    log(
        [
            k
            for k in (
                "CPU",
                "CUDA",
                "Meta",
                "CompositeExplicitAutograd",
                "AutogradCPU",
                "Autograd",
                "ADInplaceOrView",
            )
            if s.C._dispatch_has_kernel_for_dispatch_key("mc_d::sin", k)
        ]
    )

    @f.register_kernel("cuda")
    def cu(x):
        return x

    log(s.C._dispatch_has_kernel_for_dispatch_key("mc_d::sin", "CUDA"), type(cu).__name__)
    log.attempt("bad device", lambda: f.register_kernel("gpuuu")(lambda x: x))
    log.attempt("override cpu", lambda: f.register_kernel("cpu")(lambda x: x + 7) and None)
    log(f(s.T.ones(1)))
    log.attempt("no tensors", lambda: _no_tensor(s))


def _no_tensor(s):
    @s.library.custom_op("mc_d::nt", mutates_args=(), device_types="cpu")
    def nt(x: int) -> int:
        return x

    return nt(3)


def fake_and_meta(s, log):
    f = _sin(s, "mc_e")
    mode = s.fake.FakeTensorMode()
    with mode:
        log.attempt("no fake", lambda: f(s.T.ones(3)))
    f.register_fake(lambda x: s.T.empty_like(x))
    with mode:
        r = f(s.T.ones(3))
        log(type(r).__name__, tuple(r.shape), r.device.type)
    log.attempt("meta", lambda: f(s.T.ones(3, device="meta")))
    log.attempt("twice", lambda: f.register_fake(lambda x: x) and None)
    log(s.C._dispatch_has_kernel_for_dispatch_key("mc_e::sin", "Meta"))


def register_fake_function(s, log):
    lib = s.library.Library("mc_f", "FRAGMENT")
    lib.define("f(Tensor x, int n) -> Tensor")
    lib.impl("f", lambda x, n: x.repeat(n), "CPU")
    r = s.library.register_fake("mc_f::f", lambda x, n: x.new_empty(x.shape[0] * n), lib=lib)
    log(callable(r) or r)
    with s.fake.FakeTensorMode():
        log.attempt("fake", lambda: tuple(s.ops.mc_f.f(s.T.ones(2), 3).shape))
    log.attempt("again", lambda: s.library.register_fake("mc_f::f", len, lib=lib))
    log.attempt(
        "override",
        lambda: (
            s.library.register_fake("mc_f::f", lambda x, n: x, lib=lib, allow_override=True)
            and None
        ),
    )
    log.attempt("bad name", lambda: s.library.register_fake("f", len))
    log.attempt(
        "no op yet", lambda: s.library.register_fake("mc_f::zz", lambda x: x, lib=lib) and None
    )
    log.attempt("int", lambda: s.library.register_fake(3, len))
    log.attempt("ctx", s.library.get_ctx)
    log.attempt("meta", lambda: s.ops.mc_f.f(s.T.ones(2, device="meta"), 3))


def composite_has_no_fake(s, log):
    lib = s.library.Library("mc_g", "FRAGMENT")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    log.attempt(
        "fake over composite",
        lambda: s.library.register_fake("mc_g::f", lambda x: x, lib=lib) and None,
    )
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: x + 1, "Meta")
    log.attempt(
        "fake over meta", lambda: s.library.register_fake("mc_g::g", lambda x: x, lib=lib) and None
    )
    with s.fake.FakeTensorMode():
        log.attempt("f", lambda: tuple(s.ops.mc_g.f(s.T.ones(2)).shape))
        log.attempt("g", lambda: tuple(s.ops.mc_g.g(s.T.ones(2)).shape))


def torch_dispatch_rules(s, log):
    f = _sin(s, "mc_h")

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


def mutating_ops(s, log):
    @s.library.custom_op("mc_i::f", mutates_args=("x", "zs"))
    def f(x: s.Tensor, y: s.Tensor, zs: typing.Sequence[s.Tensor]) -> None:
        x.add_(1)
        for z in zs:
            z.mul_(2)

    a, b, c = s.T.ones(1), s.T.ones(1), s.T.ones(1)
    log(f._opoverload._schema)
    log(f(a, b, [c]), a, c)
    log(a._version, b._version, c._version)
    view = s.T.ones(4)[:2]
    f(view, b, [])
    log(view._version, view._base._version)

    @s.library.custom_op("mc_i::u", mutates_args="unknown")
    def u(x: s.Tensor, y: int) -> s.Tensor:
        return x + y

    log(u._opoverload._schema)
    log.attempt("returns input", lambda: _returns(s, "mc_i::r")(a))


def _returns(s, name):
    @s.library.custom_op(name, mutates_args=())
    def r(x: s.Tensor) -> s.Tensor:
        return x

    return r


def aliasing_checked(s, log):
    x = s.T.ones(2)
    log.attempt("same", lambda: _returns(s, "mc_j::r")(x))

    @s.library.custom_op("mc_j::v", mutates_args=())
    def v(x: s.Tensor) -> s.Tensor:
        return x.view(-1)

    @s.library.custom_op("mc_j::w", mutates_args=())
    def w(x: s.Tensor) -> tuple[s.Tensor, s.Tensor]:
        y = x + 1
        return y, y

    @s.library.custom_op("mc_j::l", mutates_args=())
    def lst(x: s.Tensor) -> list[s.Tensor]:
        return [x + 1, x]

    log.attempt("view", v, x)
    log.attempt("pair", w, x)
    log.attempt("list", lst, x)


def many_types(s, log):
    @s.library.custom_op("mc_k::f", mutates_args=())
    def f(
        x: s.Tensor,
        a: int,
        b: float = 2.0,
        c: bool = True,
        d: str = "q",
        e: typing.Optional[int] = None,
        g: typing.Optional[typing.Sequence[int]] = None,
        h: typing.Optional[s.Tensor] = None,
    ) -> s.Tensor:
        log(a, b, c, d, e, g, h is None)
        return x.clone()

    x = s.T.ones(1)
    log(f._opoverload._schema)
    f(x, 1)
    f(x, 1, 3, False, "z", 5, [4])
    f(x, a=2, h=x)
    f(x, True)
    log.attempt("float as int", f, x, 1.5)
    log.attempt("none", f, x, None)
    log.attempt("str", f, x, "1")
    log.attempt("all positional", lambda: f(x, 1, 2.0, True, "q", None, [1], x))


def return_types(s, log):
    def make(i, ann, value):
        def fn(x):
            return value() if callable(value) else value

        fn.__annotations__ = {"x": s.Tensor, "return": ann}
        return s.library.custom_op(f"mc_l::f{i}", fn, mutates_args=())

    T = s.Tensor
    x = s.T.ones(1)
    for i, (ann, v) in enumerate(
        (
            (int, 3),
            (float, 2.5),
            (bool, True),
            (None, None),
            (tuple[T, T], lambda: (s.T.ones(1), s.T.zeros(1))),
            (list[T], lambda: [s.T.ones(1)]),
            (T, 3),
            (int, "a"),
            (None, 4),
            (tuple[T, int], lambda: [s.T.ones(1), 2]),
        )
    ):
        log.attempt(
            str(i),
            lambda i=i, ann=ann, v=v: (lambda op: (str(op._opoverload._schema), op(x)))(
                make(i, ann, v)
            ),
        )


def set_kernel_enabled(s, log):
    f = _sin(s, "mc_m")

    @f.register_kernel("cpu")
    def cpu(x):
        return x * 10

    x = s.T.ones(1)
    log(f(x))
    with f.set_kernel_enabled("cpu", enabled=False):
        log(f(x))
        with f.set_kernel_enabled("cpu", enabled=True):
            log(f(x))
        log(f(x))
    log(f(x))
    log(sorted(f._disabled_kernel))
    log.attempt("unknown", lambda: f.set_kernel_enabled("xpu").__enter__())


def infer_and_opcheck(s, log):
    f = _sin(s, "mc_n")
    f.register_fake(lambda x: s.T.empty_like(x))
    r = s.library.opcheck(f, (s.T.ones(3),), test_utils=("test_schema", "test_faketensor"))
    log(r)
    bad = _sin(s, "mc_n", "bad")
    bad.register_fake(lambda x: x.new_empty(7))
    log(
        s.library.opcheck(
            bad, (s.T.ones(3),), test_utils="test_faketensor", raise_exception=False
        ).keys()
    )
    log.attempt(
        "raises", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="test_faketensor")
    )
    log.attempt("schema", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="test_schema"))
    log.attempt("junk", lambda: s.library.opcheck(bad, (s.T.ones(3),), test_utils="junk"))
    log.attempt("not an op", lambda: s.library.opcheck(len, (s.T.ones(3),)))


def impl_by_name(s, log):
    f = _sin(s, "mc_o", device_types="cuda")
    log.attempt("cpu", f, s.T.ones(1))
    s.library.register_kernel("mc_o::sin", "cpu", lambda x: x + 1)
    log.attempt("cpu", f, s.T.ones(1))
    s.library.register_kernel(f, None, lambda x: x + 2)
    log.attempt("cpu", f, s.T.ones(1))
    log.attempt("meta", f, s.T.ones(1, device="meta"))
    log.attempt(
        "overload",
        lambda: (
            s.library.register_kernel(s.ops.aten.add.Tensor, "xpu", lambda x, y, alpha=1: x)
            and None
        ),
    )
    log.attempt("packet", lambda: s.library.register_kernel(s.ops.aten.add, "cpu", len))
    log.attempt("unknown", lambda: s.library.register_kernel("mc_o::zz", "cpu", len))
    log.attempt("int", lambda: s.library.register_kernel(3, "cpu", len))


def registrations_of_custom(s, log):
    f = _sin(s, "mc_p")
    names = (
        "CPU",
        "CompositeExplicitAutograd",
        "CompositeImplicitAutograd",
        "Autograd",
        "AutogradCPU",
        "ADInplaceOrView",
        "Meta",
        "BackendSelect",
        "Python",
    )
    log([k for k in names if s.C._dispatch_has_kernel_for_dispatch_key("mc_p::sin", k)])
    g = _sin(s, "mc_p", "cos", device_types=("cpu", "cuda"))
    log([k for k in names if s.C._dispatch_has_kernel_for_dispatch_key("mc_p::cos", k)])
    log(f._opoverload.has_kernel_for_dispatch_key(s.DispatchKey.CompositeExplicitAutograd))
    log([x.split(":")[0] for x in s.C._dispatch_dump("mc_p::sin").splitlines()][:1])
    log(f._opoverload._defined_in_python, f._opoverload.is_view)
    lib = f._lib
    log(type(lib).__name__, lib.ns, lib.kind)


def called_in_modes(s, log):
    f = _sin(s, "mc_q")

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


def autograd_registration(s, log):
    f = _sin(s, "mc_r")
    log.attempt("register", lambda: f.register_autograd(lambda ctx, g: g))
    log.attempt(
        "function",
        lambda: s.library.register_autograd(
            "mc_r::sin", lambda ctx, g: g, setup_context=lambda ctx, inputs, output: None
        ),
    )
    x = s.T.ones(1, requires_grad=True)
    log(f(x).requires_grad, f(s.T.ones(1)).requires_grad)
    m = s.library.custom_op(
        "mc_r::m", lambda x: x.add_(1), mutates_args=("x",), schema="(Tensor(a!) x) -> ()"
    )
    log.attempt("mutable", lambda: m.register_autograd(lambda ctx: None))
    log.attempt("unknown", lambda: s.library.register_autograd("mc_r::zz", len))
    log.attempt(
        "vmap", lambda: s.library.register_vmap("mc_r::sin", lambda info, dims, x: (x, dims))
    )


def decorators_on_define(s, log):
    L = s.library
    lib = L.Library("mc_s", "FRAGMENT")
    L.define("mc_s::f", "(Tensor x) -> Tensor", lib=lib, tags=(s.T.Tag.needs_fixed_stride_order,))
    log([str(t) for t in s.ops.mc_s.f.default.tags])

    @L.impl("mc_s::f", "default", lib=lib)
    def f(x):
        return x + 1

    @L.register_fake("mc_s::f", lib=lib)
    def g(x):
        return s.T.empty_like(x)

    log(s.ops.mc_s.f(s.T.ones(1)), g is not None)
    log.attempt("impl_abstract", lambda: L.impl_abstract)
    with s.fake.FakeTensorMode():
        log(type(s.ops.mc_s.f(s.T.ones(1))).__name__)
    log(
        L.opcheck(
            s.ops.mc_s.f.default, (s.T.ones(2),), test_utils=("test_schema", "test_faketensor")
        )
    )
