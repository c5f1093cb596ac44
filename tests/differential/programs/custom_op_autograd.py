"""Autograd formulas of custom operators."""

from tests.differential.helpers import doubling_op, multiplying_op


def autograd_context(s, log):
    op = multiplying_op(s, "co12::f")
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
    op = multiplying_op(s, "co13::f")
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


def autograd_registration(s, log):
    f = doubling_op(s, "mc_r")
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
