"""Modes that come with the library: logging, counting, schema checks."""

import types
from typing import Any


def _stock(s):
    """The stock modes of the side under one set of names."""
    if s.name == "torch":
        from torch._subclasses import schema_check_mode
        from torch.testing._internal import logging_tensor
        from torch.utils import flop_counter

        return types.SimpleNamespace(
            **{**vars(schema_check_mode), **vars(logging_tensor), **vars(flop_counter)}
        )
    from dispatch.tools import flops, logging, schema_check

    return types.SimpleNamespace(**{**vars(schema_check), **vars(logging), **vars(flops)})


def _plain(lines):
    return [line.replace("torch.", "").replace("dispatch.", "") for line in lines]


def logged_calls(s, log):
    m = _stock(s)
    with m.LoggingTensorMode(), m.capture_logs(is_mode=True) as logs:
        x = s.T.empty(2, 3)
        m.log_input("x", x)
        y = x.neg()
        z = y + x
        z.add_(1)
        s.T.cat([x, y], dim=1)
        z.view(6)
        z.sum(0)
    for line in _plain(logs):
        log(line.split("empty")[0])
    log(len(logs))


def logged_wrappers(s, log):
    m = _stock(s)
    with m.capture_logs() as logs:
        x = m.LoggingTensor(s.T.ones(2))
        m.log_input("x", x)
        y = x * 2 + x
        y.neg()
    for line in _plain(logs):
        log(line)
    log(type(y).__name__, type(y.elem).__name__, y.elem, y.shape)


def logs_stop_after_the_block(s, log):
    m = _stock(s)
    with m.capture_logs_with_logging_tensor_mode() as logs:
        s.T.ones(2).neg()
    n = len(logs)
    with m.LoggingTensorMode():
        s.T.ones(2).neg()
    log(len(logs) == n, n, s.C._len_torch_dispatch_stack())


def flops_of_products(s, log):
    m = _stock(s)
    c = m.FlopCounterMode(display=False)
    a, b, v = s.T.ones(4, 5), s.T.ones(5, 6), s.T.ones(5)
    for name, call in {
        "mm": lambda: a @ b, "addmm": lambda: s.T.addmm(s.T.ones(6), a, b), "bmm": lambda: s.T.bmm(s.T.ones(2, 4, 5), s.T.ones(2, 5, 6)),
        "matmul": lambda: s.T.matmul(s.T.ones(3, 4, 5), b), "add": lambda: a + a, "two": lambda: (a @ b, a @ b), "baddbmm": lambda: s.T.baddbmm(s.T.ones(2, 4, 6), s.T.ones(2, 4, 5), s.T.ones(2, 5, 6)),
    }.items():  # fmt: skip
        with c:
            call()
        log(
            name,
            c.get_total_flops(),
            {k: {str(op): n for op, n in v.items()} for k, v in c.get_flop_counts().items()},
        )


def flop_counters_start_anew(s, log):
    m = _stock(s)
    c = m.FlopCounterMode(display=False)
    log(c.get_total_flops(), c.get_flop_counts())
    with c as entered:
        s.T.ones(40, 50) @ s.T.ones(50, 60)
        log(entered is c, c.get_total_flops())
    log(c.get_total_flops())
    with c:
        pass
    log(c.get_total_flops())


def flop_formulas(s, log):
    m = _stock(s)
    lib = s.library.Library("smflops", "DEF")
    lib.define("f(Tensor a, Tensor b, int n=1) -> Tensor")
    lib.impl("f", lambda a, b, n=1: a + b, "CompositeExplicitAutograd")

    @m.register_flop_formula(s.ops.smflops.f)
    def formula(a_shape, b_shape, n=1, out_shape=None, **kwargs):
        log(type(a_shape).__name__, tuple(a_shape), tuple(b_shape), n, tuple(out_shape))
        return 100 * n

    a = s.T.ones(2, 3)
    with m.FlopCounterMode(display=False) as c:
        s.ops.smflops.f(a, a, 3)
        s.ops.smflops.f.default(a, a)
    log(c.get_total_flops(), {str(k): v for k, v in c.get_flop_counts()["Global"].items()})
    log.attempt("twice", lambda: m.register_flop_formula(s.ops.smflops.f)(formula) and None)
    log.attempt(
        "overload", lambda: m.register_flop_formula(s.ops.smflops.f.default)(formula) and None
    )
    with m.FlopCounterMode(
        display=False, custom_mapping={s.ops.aten.add: lambda *a, out_shape=None, **k: 7}
    ) as c:
        a + a
    log(c.get_total_flops())


def schema_checks_record(s, log):
    m = _stock(s)
    c = m.SchemaCheckMode()
    x = s.T.ones(2, 3)
    with c:
        y = x.add(1)
        y.add_(1)
        x.view(6)
        s.T.add(x, x, out=y)
        y.t()
    log(c.ops)
    log([tuple(r) for r in c.mutated], [tuple(r) for r in c.aliasing])
    c.reset_cache()
    log(
        c.ops,
        c.mutated,
        c.aliasing,
        type(m.Mutation("a", "b")).__name__,
        m.Aliasing("a", "b", "output_0").output_number,
    )


def schema_checks_catch(s, log):
    m = _stock(s)
    lib = s.library.Library("smcheck", "DEF")

    def define(schema, f):
        lib.define(schema)
        lib.impl(schema.partition("(")[0], f, "CompositeExplicitAutograd")

    def write(a):
        a.add_(1)
        return a.clone()

    define("writes(Tensor a) -> Tensor", write)
    define("views(Tensor a) -> Tensor", lambda a: a.view(-1))
    define("returns(Tensor a) -> Tensor", lambda a: a)
    define("declared(Tensor(a!) a) -> Tensor(a!)", lambda a: a.add_(1))
    define("viewing(Tensor(a) a) -> Tensor(a)", lambda a: a.view(-1))
    define("fine(Tensor a, Tensor b) -> Tensor", lambda a, b: a + b)

    def twice(a):
        r = a.clone()
        return r, r

    define("twins(Tensor a) -> (Tensor, Tensor)", twice)
    for name in ("writes", "views", "returns", "declared", "viewing", "twins"):
        x = s.T.ones(2)
        with m.SchemaCheckMode() as c:
            try:
                getattr(s.ops.smcheck, name)(x)
                log(name, "passes")
            except Exception as e:
                log(name, type(e).__name__)
        log(c.ops[:1], len(c.mutated), len(c.aliasing), s.C._len_torch_dispatch_stack())
    with m.SchemaCheckMode() as c:
        log(s.ops.smcheck.fine(s.T.ones(2), s.T.ones(2)))


def stock_modes_in_a_row(s: Any, log: Any) -> None:
    base = s.modes.BaseTorchDispatchMode if hasattr(s.modes, "BaseTorchDispatchMode") else None
    log(base is not None)
    x = s.T.ones(2)
    with base():
        log(x + 1)
        log(len(s.modes._get_current_dispatch_mode_stack()))
    log(issubclass(base, s.modes.TorchDispatchMode))
    F = s.overrides.BaseTorchFunctionMode
    with F():
        log(x.sum())
    log(F.inner if hasattr(F, "inner") else "no inner")
    log(hasattr(s.modes.TorchDispatchMode, "push"), s.modes.TorchDispatchMode.is_infra_mode())
    log(s.fake.FakeTensorMode.is_infra_mode())
