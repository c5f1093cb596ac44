"""Fake kernels: who runs, under what, for whom."""

from typing import Any


def _lib(s, ns, schema="f(Tensor x) -> Tensor"):
    lib = s.library.Library(ns, "DEF")
    lib.define(schema)
    return lib


def on_fake_and_meta(s, log):
    lib = _lib(s, "fi1")
    log.attempt("nothing, meta", s.ops.fi1.f, s.T.ones(2, device="meta"))
    lib.impl("f", lambda x: x + 1, "CPU")

    def fake(x):
        log("fake", type(x).__name__, x.device, s.library.get_ctx() is not None)
        return x.new_empty(x.shape[0] + 1)

    log(s.library.register_fake("fi1::f", fake) is fake)
    with s.fake.FakeTensorMode() as mode:
        x = s.T.ones(2, device="cuda")
        y = s.ops.fi1.f(x)
        log(type(y).__name__, y.shape, y.device, y.fake_mode is mode)
    log(s.ops.fi1.f(s.T.ones(2)))
    log(s.library.get_ctx())


def meta_has_no_context(s, log):
    lib = _lib(s, "fi2")

    @s.library.register_fake("fi2::f")
    def fake(x):
        s.library.get_ctx()
        return x.new_empty(3)

    log.attempt("meta", s.ops.fi2.f, s.T.ones(2, device="meta"))
    with s.fake.FakeTensorMode():
        log.attempt("fake", lambda: s.ops.fi2.f(s.T.ones(2)).shape)
    log(s.library.get_ctx())


def dynamic_sizes(s, log):
    lib = _lib(s, "fi3")
    seen = []

    @s.library.register_fake("fi3::f")
    def fake(x):
        ctx = s.library.get_ctx()
        seen.append(type(ctx).__name__)
        return x.new_empty(ctx.new_dynamic_size())

    with s.fake.FakeTensorMode():
        log.attempt("no symbolic sizes", s.ops.fi3.f, s.T.ones(2))
    log(seen, s.library.get_ctx())


def newest_serves(s, log):
    base = _lib(s, "fi4")
    reg = s.library.register_fake
    lib = s.library.Library("fi4", "FRAGMENT")
    x = s.T.ones(2, device="meta")
    reg("fi4::f", lambda x: x.new_empty(1))
    log(s.ops.fi4.f(x))
    reg("fi4::f", lambda x: x.new_empty(2), lib=lib)
    log(s.ops.fi4.f(x))
    log.attempt("not allowed", reg, "fi4::f", lambda x: x.new_empty(3), allow_override=False)
    log(s.ops.fi4.f(x))
    lib._destroy()
    log(s.ops.fi4.f(x), len(base._op_defs))


def refused(s, log):
    lib = _lib(s, "fi5")
    reg = s.library.register_fake
    log.attempt("no operator", reg, "fi5::g", lambda x: x)
    log.attempt("no namespace", reg, "f", lambda x: x)
    log.attempt("packet", reg, s.ops.fi5.f, lambda x: x)
    log.attempt("number", reg, 3, lambda x: x)
    lib.impl("f", lambda x: x)
    log.attempt("decomposes", reg, "fi5::f", lambda x: x)
    lib.define("h(Tensor x) -> Tensor")
    lib.impl("h", lambda x: x.new_empty(1), "Meta")
    log.attempt("Meta there", reg, "fi5::h", lambda x: x.new_empty(2), allow_override=False)
    log.attempt("Meta there, may override", reg, "fi5::h", lambda x: x.new_empty(2))
    log(s.ops.fi5.h(s.T.ones(1, device="meta")))


def decorator_forms(s, log):
    lib = _lib(s, "fi6")

    @s.library.register_fake("fi6::f", lib=lib)
    def fake(x):
        return x.new_empty(4)

    log(fake.__name__, len(lib._registration_handles))

    @s.library.register_fake(s.ops.fi6.f.default)
    def fake2(x):
        return x.new_empty(5)

    log(s.ops.fi6.f(s.T.ones(1, device="meta")))
    lib._destroy()
    log(lib._registration_handles, hasattr(s.ops.fi6, "f"))


def overloads(s, log):
    lib = _lib(s, "fi7")
    lib.define("f.two(Tensor x, Tensor y) -> Tensor")
    s.library.register_fake("fi7::f.two", lambda x, y: x.new_empty(2))
    m = s.T.ones(1, device="meta")
    log(s.ops.fi7.f(m, m))
    log.attempt("the other", s.ops.fi7.f, m)
    with s.fake.FakeTensorMode():
        log.attempt("the other on fake", s.ops.fi7.f, s.T.ones(1))


def before_meta_kernel(s, log):
    lib = _lib(s, "fi8")
    lib.impl("f", lambda x: (log("meta kernel", type(x).__name__), x.new_empty(1))[1], "Meta")
    with s.fake.FakeTensorMode():
        log(s.ops.fi8.f(s.T.ones(3)).shape)
    s.library.register_fake("fi8::f", lambda x: (log("fake", type(x).__name__), x.new_empty(2))[1])
    with s.fake.FakeTensorMode():
        log(s.ops.fi8.f(s.T.ones(3)).shape)
    log(s.ops.fi8.f(s.T.ones(3, device="meta")).shape)


def no_kernel_at_all(s, log):
    lib = _lib(s, "fi9")
    lib.impl("f", lambda x: x + 1, "CPU")
    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        try:
            s.ops.fi9.f(x)
        except Exception as error:
            log(type(error).__name__, isinstance(error, RuntimeError), getattr(error, "func", None))
        log(s.T.add(x, 1).shape)
    lib.define("mut(Tensor(a!) x) -> ()")
    lib.impl("mut", lambda x: None, "CPU")
    lib.define("none(Tensor x) -> ()")
    lib.define("both(Tensor(a!) x) -> Tensor")
    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        for n in ("mut", "none", "both"):
            log.attempt(n, getattr(s.ops.fi9, n), x)


def composite_explicit(s, log):
    lib = _lib(s, "fi10")
    lib.impl("f", lambda x: s.T.add(x, 1), "CompositeExplicitAutograd")
    with s.fake.FakeTensorMode():
        y = s.ops.fi10.f(s.T.ones(2, device="cuda"))
        log(type(y).__name__, y.device, y.shape)
    log(s.ops.fi10.f(s.T.ones(2, device="meta")).device)
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: s.T.add(x, 1).sum(), "CompositeImplicitAutograd")
    with s.fake.FakeTensorMode():
        y = s.ops.fi10.g(s.T.ones(2, device="cuda"))
        log(type(y).__name__, y.device, y.shape)


def modes_inside(s, log):
    lib = _lib(s, "fi11")

    class Logging(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", func, [t.__name__ for t in types])
            return func(*args, **(kwargs or {}))

    @s.library.register_fake("fi11::f")
    def fake(x):
        log("fake", len(s.modes._get_current_dispatch_mode_stack()))
        return s.T.empty_like(x)

    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        with Logging():
            log(type(s.ops.fi11.f(x)).__name__)
        s.ops.fi11.f(x)
    with Logging(), s.fake.FakeTensorMode():
        s.ops.fi11.f(s.T.ones(1))


def wrong_results(s, log):
    lib = _lib(s, "fi12")
    s.library.register_fake("fi12::f", lambda x: None)
    m = s.T.ones(1, device="meta")
    log.attempt("None", s.ops.fi12.f, m)
    with s.fake.FakeTensorMode():
        x = s.T.ones(1)
        log.attempt("None on fake", s.ops.fi12.f, x)
        s.library.register_fake("fi12::f", lambda x: "text")
        log.attempt("text on fake", s.ops.fi12.f, x)
    log.attempt("text", s.ops.fi12.f, m)

    def bad(x):
        raise KeyError("mine")

    s.library.register_fake("fi12::f", bad)
    log.attempt("raises, meta", s.ops.fi12.f, m)
    with s.fake.FakeTensorMode():
        log.attempt("raises, fake", s.ops.fi12.f, x)
    log(s.library.get_ctx(), s.modes._get_current_dispatch_mode())


def several_results(s, log):
    lib = _lib(s, "fi13", "f(Tensor x, int n=2, *, bool flag=False) -> (Tensor, Tensor[], int)")
    seen = []

    @s.library.register_fake("fi13::f")
    def fake(*args, **kwargs):
        seen.append((len(args), sorted(kwargs)))
        x = args[0]
        return x.new_empty(1), [x.new_empty(2), x.new_empty(3)], 7

    with s.fake.FakeTensorMode():
        x = s.T.ones(2)
        a, b, c = s.ops.fi13.f(x)
        log(a.shape, [t.shape for t in b], c)
        s.ops.fi13.f(x, 2, flag=True)
        s.ops.fi13.f(x, 3, flag=False)
    log(seen)
    lib._destroy()


def real_tensors(s, log):
    lib = _lib(s, "fi14", "f(Tensor x, Tensor y) -> Tensor")
    s.library.register_fake(
        "fi14::f", lambda x, y: (log(type(x).__name__, type(y).__name__), x.new_empty(2))[1]
    )
    real = s.T.ones(2)
    with s.fake.FakeTensorMode():
        fake = s.T.ones(2)
        log.attempt("mixed", s.ops.fi14.f, real, fake)
    with s.fake.FakeTensorMode(allow_non_fake_inputs=True):
        log(type(s.ops.fi14.f(real, s.T.ones(2))).__name__)
    log(type(s.ops.fi14.f(fake, fake)).__name__)


def registry(s, log):
    lib = _lib(s, "fi15")
    fake_impl, utils = s._library.fake_impl, s._library.utils
    simple_registry = s._library.simple_registry
    entry = simple_registry.singleton.find("fi15::f")
    log(
        simple_registry.singleton.find("fi15::f") is entry,
        simple_registry.singleton.get("fi15::nothing"),
        entry.qualname,
    )
    log(entry.fake_impl.kernel, entry.fake_impl.kernels, entry.abstract_impl is entry.fake_impl)

    def fake(x):
        return x.new_empty(1)

    s.library.register_fake("fi15::f", fake, lib=lib)
    kernel = entry.fake_impl.kernel
    log(
        type(kernel).__name__,
        len(entry.fake_impl.kernels),
        kernel.source.endswith(".py:" + kernel.source.rpartition(":")[2]),
    )
    log.attempt("set", setattr, entry.fake_impl, "kernel", fake)
    log(
        utils.has_fake_kernel(s.ops.fi15.f.default),
        utils.can_generate_trivial_fake_impl(s.ops.fi15.f.default),
    )
    lib._destroy()
    log(entry.fake_impl.kernel, fake_impl.global_ctx_getter())


def fake_kernel_of_builtin(s, log):
    lib = s.library.Library("aten", "FRAGMENT")
    x = s.T.ones(2)
    log.attempt("register", s.library.register_fake, "aten::sin", lambda x: x.new_empty(7), lib=lib)
    with s.fake.FakeTensorMode():
        log(s.T.sin(s.T.ones(2)).shape)
    log(s.T.sin(s.T.ones(2, device="meta")).shape, s.T.sin(x).shape)
    lib._destroy()
    log(s.T.sin(s.T.ones(2, device="meta")).shape)


def requires_grad_in_fake(s, log):
    lib = _lib(s, "fi16")
    lib.impl("f", lambda x: x + 1, "CPU")
    s.library.register_fake(
        "fi16::f", lambda x: (log(x.requires_grad, s.T.is_grad_enabled()), s.T.empty_like(x))[1]
    )
    with s.fake.FakeTensorMode():
        x = s.T.ones(2, requires_grad=True)
        y = s.ops.fi16.f(x)
        log(y.requires_grad, y.grad_fn is None)


def custom_ops_and_fake(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake", "DEF")
    for name in ("plain", "meta", "reg", "comp"):
        lib.define(f"{name}(Tensor x) -> Tensor")
        if name != "comp":
            lib.impl(name, lambda x: x.clone(), "CPU")
    lib.impl("meta", lambda x: T.empty(3, device="meta"), "Meta")
    lib.impl("comp", lambda x: x * 2, "CompositeImplicitAutograd")

    @s.library.register_fake("more_fake::reg", lib=lib)
    def _(x):
        log("fake impl", x)
        return x.new_empty(7)

    ns = s.ops.more_fake
    with s.fake.FakeTensorMode():
        for x in (T.ones(2), T.ones(2, device="cuda")):
            for name in ("plain", "meta", "reg", "comp"):
                log.attempt(name, getattr(ns, name), x)


def fake_impl_context(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake_ctx", "DEF")
    lib.define("nz(Tensor x) -> Tensor")

    @s.library.register_fake("more_fake_ctx::nz", lib=lib)
    def _(x):
        ctx = s.library.get_ctx()
        log(type(ctx).__name__)
        n = ctx.new_dynamic_size()
        return x.new_empty(n)

    log.attempt("outside", s.library.get_ctx)
    with s.fake.FakeTensorMode():
        log.attempt("inside", s.ops.more_fake_ctx.nz, T.ones(1))
    log.attempt("meta", s.ops.more_fake_ctx.nz, T.ones(1, device="meta"))
    log.attempt("again", lambda: s.library.register_fake("more_fake_ctx::nz", lambda x: x, lib=lib))
    log.attempt(
        "unknown", lambda: s.library.register_fake("more_fake_ctx::zz", lambda x: x, lib=lib)
    )


def real_run_of_unknown_ops(s: Any, log: Any) -> None:
    T = s.T
    lib = s.library.Library("more_fake_fb", "DEF")
    lib.define("k(Tensor x) -> Tensor")
    lib.impl("k", lambda x: x + 1, "CPU")
    m = s.fake.FakeTensorMode(allow_fallback_kernels=True)
    log(m.allow_fallback_kernels, s.fake.FakeTensorMode().allow_fallback_kernels)
    with m:
        log.attempt("cpu", s.ops.more_fake_fb.k, T.ones(2))
        log.attempt("cuda", s.ops.more_fake_fb.k, T.ones(2, device="cuda"))
    with s.fake.FakeTensorMode(allow_fallback_kernels=False):
        log.attempt("off", s.ops.more_fake_fb.k, T.ones(2))


def custom_operator(s, log):
    seen = []

    @s.library.custom_op("dfx1::scale", mutates_args=())
    def scale(x: s.Tensor, k: float) -> s.Tensor:
        seen.append("real")
        return x * k

    @scale.register_fake
    def _(x, k):
        seen.append(type(x).__name__)
        return s.T.empty_like(x)

    with s.fake.FakeTensorMode():
        log(scale(s.T.empty(2, device="cuda"), 2.0), seen)
    log(scale(s.T.ones(2), 3.0), seen)


def custom_operator_without_fake(s, log):
    @s.library.custom_op("dfx2::twice", mutates_args=())
    def twice(x: s.Tensor) -> s.Tensor:
        return x * 2

    with s.fake.FakeTensorMode():
        log.attempt("no fake", twice, s.T.empty(2))

    @s.library.custom_op("dfx2::write", mutates_args=("x",))
    def write(x: s.Tensor) -> None:
        x.zero_()

    with s.fake.FakeTensorMode():
        x = s.T.empty(2)
        log.attempt("mutable", write, x)
        log(x._version)


def fake_kernels_and_contexts(s, log):
    lib = s.library.Library("dfx3", "DEF")
    lib.define("pick(Tensor x) -> Tensor")
    lib.impl("pick", lambda x: x[x > 0], "CPU")

    def fake(x):
        ctx = s.library.get_ctx()
        return x.new_empty(ctx.new_dynamic_size())

    s.library.register_fake("dfx3::pick", fake, lib=lib)
    with s.fake.FakeTensorMode():
        log.attempt("dynamic", s.ops.dfx3.pick, s.T.empty(3))
    log.attempt("outside", s.library.get_ctx)


def fake_kernel_with_wrong_device(s, log):
    lib = s.library.Library("dfx4", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    s.library.register_fake("dfx4::f", lambda x: s.T.empty(2, device="cpu"), lib=lib)
    with s.fake.FakeTensorMode():
        log(s.ops.dfx4.f(s.T.empty(2, device="cuda")))


def fake_kernel_that_raises(s, log):
    lib = s.library.Library("dfx5", "DEF")
    lib.define("f(Tensor x) -> Tensor")

    def fake(x):
        raise KeyError("x")

    s.library.register_fake("dfx5::f", fake, lib=lib)
    with s.fake.FakeTensorMode() as m:
        log.attempt("call", s.ops.dfx5.f, s.T.empty(2))
        log(s.T.empty(1).fake_mode is m, len(s.modes._get_current_dispatch_mode_stack()))
