"""Custom operators: what `custom_op` makes and what may be registered on it."""

import logging
import warnings


def _make(s, name, mutates_args=(), **kw):
    def f(x: s.Tensor, n: int = 2) -> s.Tensor:
        return x * n

    return s.library.custom_op(name, f, mutates_args=mutates_args, **kw)


def making_one(s, log):
    @s.library.custom_op("co1::f", mutates_args=())
    def f(x: s.Tensor, n: int = 2) -> s.Tensor:
        return x * n

    log(
        f,
        type(f).__name__,
        f._opoverload,
        f._opoverload._schema,
        f._qualname,
        f._namespace,
        f._name,
    )
    log(f(s.T.ones(2)), f(s.T.ones(2), 3), f(x=s.T.ones(2), n=4), s.ops.co1.f(s.T.ones(2)))
    log([t.name for t in f._opoverload.tags], f._schema)
    log(isinstance(f, s.library.CustomOpDef), f._backend_fns.keys(), f._abstract_fn, f._backward_fn)
    for args in ((), (3,), (s.T.ones(1), "x"), (s.T.ones(1), 1, 2)):
        log.attempt(str(len(args)), f, *args)
    log.attempt("keyword", f, s.T.ones(1), m=3)


def refused(s, log):
    op = s.library.custom_op
    Tn = s.Tensor

    def f(x: Tn) -> Tn:
        return x.clone()

    def kwonly(x: Tn, *, y: Tn) -> Tn:
        return x.clone()

    def untyped(x):
        return x

    def no_tensor(n: int) -> Tn:
        return s.T.ones(n)

    log.attempt("no namespace", op, "f", f, mutates_args=())
    log.attempt("two", op, "a::b::c", f, mutates_args=())
    log.attempt("keyword-only tensor", op, "co2::f", kwonly, mutates_args=())
    log.attempt("untyped", op, "co2::f", untyped, mutates_args=())
    log.attempt(
        "no tensor and a device", op, "co2::f", no_tensor, mutates_args=(), device_types="cpu"
    )
    log.attempt("mutates nothing there", op, "co2::f", f, mutates_args=("y",))
    log.attempt("no mutates_args", op, "co2::f", f)
    log.attempt("wrong device", op, "co2::g", f, mutates_args=(), device_types="nothing")
    log.attempt(
        "schema and mutates_args",
        op,
        "co2::h",
        f,
        mutates_args=(),
        schema="(Tensor(a!) x) -> Tensor",
    )
    log.attempt("bad schema", op, "co2::i", f, mutates_args=(), schema="(Tensr x) -> Tensor")
    log.attempt("no function", op, "co2::j", 3, mutates_args=())
    log.attempt("reserved", op, "prim::j", f, mutates_args=())


def given_schema(s, log):
    f = s.library.custom_op(
        "co3::f",
        lambda x, *, k: (x * k, x + k),
        mutates_args=(),
        schema="(Tensor x, *, float k) -> (Tensor, Tensor)",
    )
    log(f._opoverload._schema, f._schema)
    log(f(s.T.ones(2), k=3.0))
    g = s.library.custom_op(
        "co3::g", lambda x: x.add_(1), mutates_args={"x"}, schema="(Tensor(a!) x) -> ()"
    )
    log.attempt("returns something", g, s.T.ones(2))
    v = s.library.custom_op(
        "co3::v", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    x = s.T.ones(2, 2)
    y = v(x)
    log(y, y._base is x, v._opoverload.is_view)


def results_may_not_alias(s, log):
    Tn = s.Tensor

    def same(x: Tn) -> Tn:
        return x

    def view(x: Tn) -> Tn:
        return x[:1]

    def twice(x: Tn) -> tuple[Tn, Tn]:
        y = x.clone()
        return y, y

    def listed(x: Tn) -> list[Tn]:
        return [x.clone(), x]

    def of_list(xs: list[Tn]) -> Tn:
        return xs[1]

    def fine(x: Tn) -> tuple[Tn, Tn]:
        return x.clone(), x + 1

    x = s.T.ones(3)
    for f in (same, view, twice, listed, fine):
        log.attempt(f.__name__, s.library.custom_op(f"co4::{f.__name__}", f, mutates_args=()), x)
    log.attempt(
        "of_list", s.library.custom_op("co4::of_list", of_list, mutates_args=()), [x, x + 1]
    )
    log.attempt("empty", s.ops.co4.same, s.T.empty(0))
    log.attempt(
        "wrong type",
        s.library.custom_op(
            "co4::w", lambda x: 3, mutates_args=(), schema="(Tensor x) -> Tensor[]"
        ),
        x,
    )


def mutation(s, log):
    def f(x: s.Tensor, y: s.Tensor) -> None:
        log("version inside", x._version)
        x.add_(y)

    op = s.library.custom_op("co5::f", f, mutates_args={"x"})
    x = s.T.ones(2)
    log(op._opoverload._schema, op(x, s.T.ones(2)), x, x._version)
    view = x[:1]
    op(view, s.T.ones(1))
    log(x, x._version, view._version)
    with s.fake.FakeTensorMode():
        a = s.T.ones(2)
        log.attempt("fake", op, a, a)
        log(a._version)
    leaf = s.T.ones(2, requires_grad=True)
    log.attempt("leaf", op, leaf, s.T.ones(2))
    log(leaf._version)


def unknown_mutation(s, log):
    def f(x: s.Tensor, ys: list[s.Tensor], n: int) -> s.Tensor:
        return x + n

    op = s.library.custom_op("co6::f", f, mutates_args="unknown")
    x, y = s.T.ones(1), s.T.ones(1)
    log(op._opoverload._schema, op(x, [y], 3), x._version, y._version)
    log(op._opoverload._schema.is_mutable)


def kernels_by_device(s, log):
    op = _make(s, "co7::f", device_types="cpu")
    log(op._backend_fns.keys(), op(s.T.ones(1)))
    log.attempt("meta", op, s.T.ones(1, device="meta"))

    @op.register_kernel("cuda")
    def cuda(x, n=2):
        return x

    log(
        cuda.__name__,
        op._backend_fns.keys(),
        s.C._dispatch_has_kernel_for_dispatch_key("co7::f", "CUDA"),
    )
    op.register_kernel("cpu")(lambda x, n=2: x + 100)
    log(op(s.T.ones(1)))
    log(op.register_kernel(("cpu", "xpu"), lambda x, n=2: x + 200)(1), op(s.T.ones(1)))
    op.register_kernel(None, lambda x, n=2: x + 300)
    log(op(s.T.ones(1)), sorted(map(str, op._backend_fns)))
    log.attempt("wrong device", op.register_kernel, "nothing", lambda x, n=2: x)


def kernel_of_all_devices(s, log):
    op = _make(s, "co8::f")
    log(s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "CompositeExplicitAutograd"))
    log(
        s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "Autograd"),
        s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "Meta"),
    )
    log(s.C._dispatch_has_kernel_for_dispatch_key("co8::f", "ADInplaceOrView"))
    s.library.register_kernel("co8::f", "cpu", lambda x, n=2: x + 100)
    log(op(s.T.ones(1)))
    s.library.register_kernel(op, "cpu", lambda x, n=2: x + 200)
    log(op(s.T.ones(1)))
    s.library.register_kernel(op._opoverload, None, lambda x, n=2: x + 300)
    log(op(s.T.ones(1)), op._lib._op_impls)


def switching_kernels(s, log):
    logging.getLogger("torch._library.custom_ops").disabled = True
    logging.getLogger("dispatch.library.custom_ops").disabled = True
    op = _make(s, "co9::f")
    op.register_kernel("cpu", lambda x, n=2: x + 100)
    x = s.T.ones(1)
    log(op(x))
    with op.set_kernel_enabled("cpu", enabled=False):
        log(op(x), op._disabled_kernel)
        with op.set_kernel_enabled("cpu"):
            log(op(x))
        log(op(x))
        with op.set_kernel_enabled("cpu", False):
            log(op(x))
        log(op(x))
    log(op(x), op._disabled_kernel)
    with op.set_kernel_enabled("cuda", False):
        log(op(x), op._disabled_kernel)
        op.register_kernel("cuda", lambda x, n=2: x)
    with op.set_kernel_enabled("cpu", True):
        log(op(x))
    log(op._disabled_kernel)


def factories(s, log):
    def make(n: int, device: s.T.device) -> s.Tensor:
        return s.T.ones(n)

    op = s.library.custom_op("co10::make", make, mutates_args=(), device_types="cpu")
    log(op._opoverload._schema)
    log.attempt("cpu", op, 3, s.T.device("cpu"))
    log.attempt("as text", op, 3, "cpu")
    log.attempt("cuda", op, 3, "cuda")
    log.attempt("by keyword", op, 3, device=s.T.device("cpu"))

    def plain(n: int) -> s.Tensor:
        return s.T.ones(n)

    op = s.library.custom_op("co10::plain", plain, mutates_args=())
    log.attempt("no device", op, 2)
    log.attempt("kernel by device", op.register_kernel, "cpu", plain)


def fake_kernels(s, log):
    op = _make(s, "co11::f")
    m = s.T.ones(2, device="meta")
    log.attempt("meta without", op, m)
    with s.fake.FakeTensorMode():
        log.attempt("fake without", op, s.T.ones(2))
    fn = op.register_fake(lambda x, n=2: x.new_empty(n))
    log(op._abstract_fn is fn, op(m), op(m, 5))
    with s.fake.FakeTensorMode() as mode:
        y = op(s.T.ones(2, device="cuda"), 7)
        log(y.shape, y.device, y.fake_mode is mode)
    s.library.register_fake(op, lambda x, n=2: x.new_empty(1))
    log(op(m))
    s.library.register_fake("co11::f", lambda x, n=2: x.new_empty(8))
    log(op(m), s.library.register_fake(op).__name__)
    op.register_fake(lambda x, n=2: x)
    log.attempt("an argument", op, m)


def autograd_context(s, log):
    op = _make(s, "co12::f")
    op.register_fake(lambda x, n=2: s.T.empty_like(x))

    def setup(ctx, inputs, output):
        log(
            "setup",
            type(inputs).__name__,
            inputs[1],
            output.requires_grad,
            s.T.is_grad_enabled(),
            ctx.needs_input_grad,
        )
        ctx.save_for_backward(inputs[0], None)
        ctx.n = inputs[1]
        ctx.set_materialize_grads(False)
        log("saved", ctx.saved_tensors)

    log(op.register_autograd(lambda ctx, g: (g * ctx.n, None), setup_context=setup))
    x = s.T.ones(2, requires_grad=True)
    y = op(x)
    log(
        y.requires_grad,
        y.is_leaf,
        type(y.grad_fn).__name__,
        y.grad_fn.name(),
        y.grad_fn.n,
        y.grad_fn.needs_input_grad,
    )
    log(y.grad_fn.saved_tensors, y.grad_fn.saved_tensors[0] is x, y.grad_fn.apply(s.T.ones(2)))
    y = op(x, 5)
    log(y.grad_fn.n, y.grad_fn.needs_input_grad, y.grad_fn.apply(s.T.ones(2)))
    with s.T.no_grad():
        log(op(x).requires_grad)
    log(op(s.T.ones(2)).grad_fn)
    with s.fake.FakeTensorMode():
        z = op(s.T.ones(2, requires_grad=True))
        log(z.requires_grad, z.grad_fn.name())


def autograd_without_formula(s, log):
    op = _make(s, "co13::f")
    x = s.T.ones(2, requires_grad=True)
    y = op(x)
    log(y.requires_grad, y.grad_fn.name())
    log.attempt("backward", y.grad_fn.apply, s.T.ones(2))
    log.attempt("engine", y.sum().backward)

    def whole(x: s.Tensor) -> s.Tensor:
        return x.long()

    log(s.library.custom_op("co13::g", whole, mutates_args=())(x).requires_grad)


def autograd_refused(s, log):
    Tn = s.Tensor

    def writes(x: Tn) -> None:
        x.add_(1)

    def nothing(x: Tn) -> None:
        pass

    op = s.library.custom_op("co14::writes", writes, mutates_args={"x"})
    log.attempt("mutates", op.register_autograd, lambda ctx, g: g)
    log.attempt(
        "returns nothing",
        s.library.custom_op("co14::n", nothing, mutates_args=()).register_autograd,
        lambda ctx, g: g,
    )
    lib = s.library.Library("co14", "FRAGMENT")
    lib.define("kw(Tensor x, *, Tensor y) -> Tensor")
    lib.define("view(Tensor(a) x) -> Tensor(a)")
    log.attempt("keyword-only", s.library.register_autograd, "co14::kw", lambda ctx, g: g)
    log.attempt("view", s.library.register_autograd, "co14::view", lambda ctx, g: g)
    log.attempt("no operator", s.library.register_autograd, "co14::nothing_there", lambda ctx, g: g)
    log.attempt("packet", s.library.register_autograd, s.ops.co14.kw, lambda ctx, g: g)
    log.attempt("number", s.library.register_autograd, 3, lambda ctx, g: g)


def autograd_of_library_operators(s, log):
    lib = s.library.Library("co15", "DEF")
    lib.define("f(Tensor x, Tensor y, *, float k=1.0) -> Tensor")
    lib.impl("f", lambda x, y, *, k=1.0: x + y * k, "CPU")

    def setup(ctx, inputs, keyword_only_inputs, output):
        log("setup", len(inputs), keyword_only_inputs, ctx.needs_input_grad)

    log(s.library.register_autograd("co15::f", lambda ctx, g: (g, g), setup_context=setup, lib=lib))
    log(sorted(lib._op_impls))
    x, y = s.T.ones(2, requires_grad=True), s.T.ones(2)
    z = s.ops.co15.f(x, y, k=3.0)
    log(z.requires_grad, z.grad_fn.name(), z.detach())
    log(s.ops.co15.f(y, x).grad_fn.needs_input_grad)
    log(s.ops.co15.f(y, y).requires_grad)


def autograd_lists(s, log):
    def f(xs: list[s.Tensor], y: s.Tensor) -> tuple[list[s.Tensor], s.Tensor]:
        return [x * 2 for x in xs], y * 3

    op = s.library.custom_op("co16::f", f, mutates_args=())
    op.register_autograd(
        lambda ctx, gs, g: (
            log("backward", ctx.needs_input_grad, [type(v).__name__ for v in gs]),
            ([v * 2 for v in gs], g * 3),
        )[1],
        setup_context=lambda ctx, inputs, output: log(
            "setup", ctx.needs_input_grad, len(inputs[0]), len(output[0])
        ),
    )
    x, y = s.T.ones(1, requires_grad=True), s.T.ones(1)
    a, b = op([x, y], y)
    log([t.requires_grad for t in a], b.requires_grad, a[0].grad_fn is b.grad_fn, type(a).__name__)


def marks_of_the_context(s, log):
    def f(x: s.Tensor) -> tuple[s.Tensor, s.Tensor]:
        return x * 2, x * 3

    op = s.library.custom_op("co17::f", f, mutates_args=())
    op.register_autograd(
        lambda ctx, a, b: a,
        setup_context=lambda ctx, inputs, output: ctx.mark_non_differentiable(output[1]),
    )
    a, b = op(s.T.ones(1, requires_grad=True))
    log(a.requires_grad, b.requires_grad, b.grad_fn)
    op.register_autograd(
        lambda ctx, a, b: a, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(3)
    )
    log.attempt("saves a number", op, s.T.ones(1, requires_grad=True))

    def bad(ctx, inputs, output):
        raise KeyError("mine")

    op.register_autograd(lambda ctx, a, b: a, setup_context=bad)
    log.attempt("setup raises", op, s.T.ones(1, requires_grad=True))
    log(s.T.is_grad_enabled(), s.C._dispatch_tls_local_exclude_set().has(s.DispatchKey.AutogradCPU))
    op.register_autograd(lambda ctx, a, b: a)
    log(op(s.T.ones(1, requires_grad=True))[0].requires_grad)


def defined_again(s, log):
    a = _make(s, "co18::f")
    log(a(s.T.ones(1)))

    def f(x: s.Tensor) -> s.Tensor:
        return x + 10

    b = s.library.custom_op("co18::f", f, mutates_args=())
    log(b(s.T.ones(1)), s.ops.co18.f(s.T.ones(1)), s.ops.co18.f.default._schema)
    log.attempt("with the old argument", a, s.T.ones(1), 3)
    log(a._opoverload is b._opoverload)


def inplace_tag(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        x.add_(1)
        return x

    op = s.library.custom_op("co19::f_", f, mutates_args={"x"}, tags=s.T.Tag.inplace)
    x = s.T.ones(2)
    log(
        op._opoverload._schema,
        sorted(t.name for t in op._opoverload.tags),
        op(x) is x,
        x,
        x._version,
    )
    bad = s.library.custom_op(
        "co19::bad_",
        lambda x: x.clone(),
        mutates_args={"x"},
        tags=s.T.Tag.inplace,
        schema="(Tensor(a!) x) -> Tensor(a!)",
    )
    log.attempt("another tensor", bad, x)
    with s.fake.FakeTensorMode():
        y = s.T.ones(2)
        log(op(y) is y)
    m = s.T.ones(2, device="meta")
    log.attempt("meta", lambda: op(m) is m)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        op.register_fake(lambda x: x)
    log([w.category.__name__ for w in seen])
    log.attempt("autograd", op.register_autograd, lambda ctx, g: g)


def out_tag(s, log):
    def f(x: s.Tensor, *, out: s.Tensor) -> s.Tensor:
        out.copy_(x * 2)
        return out

    op = s.library.custom_op("co20::f", f, mutates_args={"out"}, tags=s.T.Tag.out)
    x, out = s.T.ones(2), s.T.zeros(2)
    log(op._opoverload._schema, op(x, out=out) is out, out, out._version, op._out_kwarg_names)
    bad = s.library.custom_op(
        "co20::bad",
        lambda x, *, out: x.clone(),
        mutates_args={"out"},
        tags=s.T.Tag.out,
        schema="(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    )
    log.attempt("another tensor", bad, x, out=out)
    with s.fake.FakeTensorMode():
        o = s.T.ones(2)
        log(op(s.T.ones(2), out=o) is o)
    log.attempt("requires grad", op, s.T.ones(2, requires_grad=True), out=out)
    log.attempt("formula", op.register_autograd, lambda ctx, g: g)

    def two(x: s.Tensor, *, a: s.Tensor, b: s.Tensor) -> tuple[s.Tensor, s.Tensor]:
        return a, b

    op = s.library.custom_op("co20::two", two, mutates_args=("a", "b"), tags=(s.T.Tag.out,))
    r = op(x, a=out, b=x)
    log(r[0] is out, r[1] is x)


def torch_dispatch_rules(s, log):
    op = _make(s, "co21::f")

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
    op = _make(s, "co23::f")
    op.register_fake(lambda x, n=2: x.new_empty(1))

    def rule(mode, func, types, args, kwargs):
        log("rule", type(mode).__name__)
        with mode:
            return s.T.empty(9)

    s.library.register_torch_dispatch(op, s.fake.FakeTensorMode, rule)
    with s.fake.FakeTensorMode():
        log(op(s.T.ones(2)).shape)


def vmap_rules(s, log):
    op = _make(s, "co24::f")
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
    op = _make(s, "co25::f")
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
    op = _make(s, "co26::f")

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


def sizes_and_scalars(s, log):
    def f(
        x: s.Tensor,
        ints: list[int],
        number: float,
        flag: bool,
        text: str,
        maybe: s.Tensor | None = None,
    ) -> tuple[s.Tensor, int, float, bool]:
        log(type(ints).__name__, ints, number, flag, text, maybe is None)
        return x.clone(), len(ints), number, flag

    op = s.library.custom_op("co27::f", f, mutates_args=())
    log(op._opoverload._schema)
    log(op(s.T.ones(1), (1, 2), 3, True, "hi"))
    log(op(s.T.ones(1), [], 2.5, False, "", s.T.ones(1)))
    log.attempt("float for int", op, s.T.ones(1), [1.5], 1.0, True, "")
    log.attempt("number for bool", op, s.T.ones(1), [1], 1.0, 1, "")
    log.attempt("None for text", op, s.T.ones(1), [1], 1.0, True, None)


def helpers(s, log):
    utils = s._library.utils
    parse = s.C.parse_schema
    for text in (
        "a::f(Tensor x) -> Tensor",
        "a::f(Tensor(a!) x) -> ()",
        "a::f(Tensor(a) x) -> Tensor(a)",
        "a::f(Tensor x) -> ()",
        "a::f(Tensor(a) x, Tensor y) -> Tensor(a)",
    ):
        log(
            text,
            utils.is_functional_schema(parse(text)),
            utils.is_functional_schema(parse(text), allow_valid_view=True),
        )
    log(
        [
            utils.mutates_and_returns_first_arg(op)
            for op in (
                s.ops.aten.add_.Tensor,
                s.ops.aten.add.Tensor,
                s.ops.aten.add.out,
                s.ops.aten.t_.default,
            )
        ]
    )
    schema = parse("a::f(Tensor x, int n=3, *, float k=1.5, Tensor? y=None) -> Tensor")
    log(utils.fill_defaults(schema, (1,), {}), utils.fill_defaults(schema, (1, 2), {"y": 5}))
    log([(a.name, v) for a, v in utils.zip_schema(schema, (1,), {"k": 2, "n": 4})])
    log(
        utils.has_kwarg_only_args(schema),
        utils.has_kwarg_only_tensors(schema),
        utils.has_tensor_arg(schema),
        utils.get_device_arg_index(schema),
    )
    log(
        utils.get_device_arg_index(parse("a::f(int n, Device device) -> Tensor")),
        utils.mutated_args_kwargs(parse("a::f(Tensor x, Tensor(a!) y, *, Tensor(b!) z) -> ()")),
    )
    log(
        utils.parse_namespace("a::b"),
        utils.lookup_op("aten::add.Tensor"),
        utils.lookup_op("aten::sin"),
    )
    log.attempt("parse", utils.parse_namespace, "a")
    log.attempt("lookup", utils.lookup_op, "aten::nothing_there")
    log(
        [
            utils.is_tensor_like_type(a.type)
            for a in parse("a::f(Tensor x, Tensor? y, Tensor[] z, int n) -> ()").arguments
        ]
    )
    log(
        [
            utils.is_tensorlist_like_type(a.type)
            for a in parse(
                "a::f(Tensor x, Tensor[] y, Tensor?[] z, Tensor[]? w, int[] n) -> ()"
            ).arguments
        ]
    )
    log(utils.is_builtin(s.ops.aten.sin.default), utils.requires_set_python_module())
    log(utils.get_layout_constraint_tag(s.ops.aten.sin.default).name)


def operators_within_operators(s, log):
    inner = _make(s, "co28::inner")

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
    op = _make(s, "co29::f")
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
    op = _make(s, "co30::f", device_types="cpu")
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
    op = _make(s, "co31::f")
    lib = s.library.Library("co31", "IMPL")

    def autograd(keys, x, *rest):
        log("mine", len(rest))
        return op._opoverload.redispatch(keys & s.C._after_autograd_keyset, x, *rest)

    lib.impl("f", autograd, "AutogradCPU", with_keyset=True)
    log(op(s.T.ones(1), 7), op(s.T.ones(1)))
    lib._destroy()
    log(op(s.T.ones(1), 7))


def many_arguments(s, log):
    def f(
        x: s.Tensor,
        a: int = 1,
        b: float = 2.0,
        c: bool = False,
        d: str = "d",
        *,
        e: int = 5,
        g: float = 6.0,
    ) -> s.Tensor:
        log(a, b, c, d, e, g)
        return x.clone()

    op = s.library.custom_op("co32::f", f, mutates_args=())
    x = s.T.ones(1)
    op(x)
    op(x, 1, 2.0, False, "d", e=5, g=6.0)
    op(x, 3, e=7)
    op(x, d="other", g=1)
    op(x, c=True)
    for bad in ((x, 1, 2, 3, 4), (x, 1.5), (x, 1, "b"), (x, 1, 2, True, 5)):
        log.attempt("bad", op, *bad)
    log.attempt("positional e", op, x, 1, 2.0, False, "d", 5)


def subclasses_see_it(s, log):
    op = _make(s, "co33::f")

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


def weak_names(s, log):
    custom_ops = s._library.custom_ops
    op = _make(s, "co34::f")
    log(custom_ops._maybe_get_opdef("co34::f") is op, custom_ops._maybe_get_opdef(op) is op)
    log(
        custom_ops._maybe_get_opdef(op._opoverload) is op,
        custom_ops._maybe_get_opdef("co34::nothing"),
    )
    log("co34::f" in custom_ops.OPDEFS, custom_ops.OPDEF_TO_LIB["co34::f"] is op._lib)
    log.attempt("number", custom_ops._maybe_get_opdef, 3)
    log(
        op._is_inplace,
        op._is_out,
        op._tags,
        op._disabled_kernel,
        op._torch_dispatch_fns,
        op._vmap_fn,
        op._autocast_dtype,
    )


def arguments_that_are_returned(s, log):
    def f(x: s.Tensor) -> s.Tensor:
        x.add_(1)
        return x

    op = s.library.custom_op("co35::f_", f, mutates_args={"x"}, tags=s.T.Tag.inplace)
    leaf = s.T.ones(2, requires_grad=True)
    y = op(leaf)
    log(y is leaf, y.requires_grad, y.grad_fn.name(), leaf.is_leaf, leaf.grad_fn)
    log(leaf._version, y._version, y._base is leaf, y._is_view())
    inner = s.T.ones(2, requires_grad=True) * 2
    y = op(inner)
    log(y is inner, y._base is inner, y.grad_fn is inner.grad_fn)
    with s.T.no_grad():
        log(op(leaf) is leaf)
    v = s.library.custom_op(
        "co35::v", lambda x: x.view(-1), mutates_args=(), schema="(Tensor(a) x) -> Tensor(a)"
    )
    y = v(leaf)
    log(y.requires_grad, y._is_view(), y._base is leaf)
