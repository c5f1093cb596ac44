"""Fake tensors whose value is known: where they come from, what keeps and what loses the value."""

from typing import Any


class _Outside:
    """A log that writes with the fake mode off, so that constants show their values."""

    def __init__(self, s, log):
        self.s, self.log = s, log

    def __call__(self, *values):
        with self.s.fake.unset_fake_temporarily():
            self.log(*values)

    def attempt(self, label, call, *args):
        try:
            result = call(*args)
        except Exception as error:
            self(label, "raises", type(error).__name__)
            return None
        self(label, result)
        return result


def from_data(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        for value in (3, 2.5, True, 1j, [4.0], [1, 2], []):
            t = s.T.tensor(value)
            log(t, t.constant is None, t.constant)


def items(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        log(s.T.tensor(3).item(), s.T.tensor(2.5).item(), s.T.tensor(True).item())
        log(int(s.T.tensor(3)), bool(s.T.tensor(0)), float(s.T.tensor(2)), s.T.tensor([7]).item())
        log.attempt("two", s.T.tensor([1, 2]).item)
        log.attempt("index", [1, 2, 3].__getitem__, s.T.tensor(1))
        log(s.T.tensor(4).tolist())


def operators_on_constants(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a, b = s.T.tensor(3.0), s.T.tensor(4.0)
        for r in (a + b, a * 2, a.neg(), a.clone(), a.view(1), a.to(s.T.int64), a > b):
            log(r, r.constant is None, r.constant)
        log((a + b).item(), (a > b).item())


def several_outputs(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor([3.0])
        r = s.ops.aten.max.dim(a, 0)
        log(r[0].constant, r[1].constant, type(r))
        parts = s.ops.aten.split.Tensor(a, 1)
        log(len(parts), parts[0].constant)


def growing_loses(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0)
        b = a.expand(4)
        log(b, b.constant, a.constant)
        c = s.T.tensor([1.0])
        d = s.ops.aten.cat.default([c, c])
        log(d.constant, c.constant)
        e = s.ops.aten.unsqueeze.default(a, 0)
        log(e.constant, a.constant)


def writes_that_are_known(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0)
        b = a.add_(1)
        log(b is a, b.constant, a.constant, a._version)
        a.mul_(s.T.tensor(2.0))
        log(a.constant, a.item())
        a.zero_()
        log(a.constant)


def writes_that_are_not(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0)
        v = a.view(1)
        log(v.constant)
        a.add_(s.T.ones(()))
        log(a.constant, v.constant)
        log.attempt("item", a.item)
        log.attempt("item of the view", v.item)


def random_writes(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0)
        a.uniform_()
        log(a.constant)
        b = s.T.tensor(3.0)
        c = s.T.rand_like(b)
        log(b.constant, c.constant)


def with_unknown(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a, x = s.T.tensor(3.0), s.T.ones(())
        r = a + x
        log(r.constant, a.constant, x.constant)
        log.attempt("item", r.item)
        x.add_(a)
        log(x.constant, a.constant)


def out_arguments(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a, b, x = s.T.tensor(3.0), s.T.tensor(1.0), s.T.ones(())
        r = s.ops.aten.add.out(a, x, out=b)
        log(r is b, b.constant, a.constant)
        c, d = s.T.tensor(5.0), s.T.tensor(0.0)
        r = s.ops.aten.add.out(c, c, out=d)
        log(r is d, d.constant, r.constant)


def in_place_views(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor([[3.0]])
        log(a.constant)
        a.squeeze_()
        log(a.shape, a.constant)
        b = s.T.tensor(3.0)
        b.detach_()
        log(b.constant)
        c = s.T.tensor(3.0)
        log(c.detach().constant)


def factories_are_not_constants(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        for t in (s.T.ones(()), s.T.zeros(1), s.T.full((), 3), s.T.arange(1), s.T.empty(0)):
            log(t, t.constant)
        log(s.T.scalar_tensor(3.0).constant)


def dtypes_of_constants(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3, dtype=s.T.int8)
        log(a, a.constant.dtype, (a + 1).constant, a.to(s.T.float64).constant)
        b = a.to(s.T.int8)
        log(b is a)


def lifting_by_hand(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode() as m:
        _x, big = s.T.tensor(3.0).constant, None
    real, big = s.T.ones(()), s.T.ones(3)
    with m:
        f = s.ops.aten.lift_fresh.default(real)
        log(f, f.constant is real, f.constant)
        g = s.ops.aten.lift_fresh.default(big)
        log(g, g.constant, m.from_tensor(big) is g)
        h = s.ops.aten.lift_fresh_copy.default(real)
        log(h, h.constant)
        k = s.ops.aten.lift_fresh.default(f)
        log(k is f, k.constant)
        log.attempt("lift", s.ops.aten.lift.default, real)


def requires_grad_constants(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0, requires_grad=True)
        log(a, a.requires_grad, a.constant is not None, a.is_leaf)
        b = a * 2
        log(b.requires_grad, b.constant is not None)
        log(b.item())


def the_mapping(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode() as m:
        mapping = m.fake_tensor_converter.constant_storage_mapping
        log(len(mapping))
        a = s.T.tensor(3.0)
        log(len(mapping))
        v = a.view(1)
        log(len(mapping), sorted(len(r) for r in mapping.values()))
        a.add_(s.T.ones(()))
        log(a.constant, v.constant)


def may_turn_const(s, log):
    log = _Outside(s, log)
    m = s.fake.FakeTensorMode()
    for t in (s.T.ones(()), s.T.ones(1), s.T.ones(2), s.T.ones(0), s.T.empty((), device="meta")):
        log(t, m.may_turn_const(t))
    f = m.from_tensor(s.T.ones(()))
    log(m.may_turn_const(f), s.fake.CONSTANT_NUMEL_LIMIT)


def branching(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        log("yes" if s.T.tensor(1) > 0 else "no")
        x = s.T.ones(2)

        def branch():
            return "yes" if x.sum() > 0 else "no"

        log.attempt("unknown", branch)
        log(list(range(s.T.tensor(3))))


def wrapped_numbers(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3)
        log((a + 1.5).constant, (2**a).constant, (1 / a).constant, (a // 2).constant)
        log(s.ops.aten.add.Tensor(1, 2))
        log(s.ops.aten.mul.Tensor(2.0, 3).constant)
        log.attempt("sub", lambda: s.T.sub(1, 2))


def outside_of_the_mode(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        a = s.T.tensor(3.0)
    log(a.item(), (a + 1).constant, (a + 1).item())
    log(a.add_(1) is a, a.item())


def sharing_with_the_original(s, log):
    log = _Outside(s, log)
    m = s.fake.FakeTensorMode()
    real = s.T.ones(())
    c = m.fake_tensor_converter
    f = c.from_real_tensor(m, real, make_constant=True)
    with m:
        f.add_(1)
        log(f.item(), real)
        g = f.view(1)
        f.fill_(7)
        log(g.item(), real)


def set_by_hand(s, log):
    log = _Outside(s, log)
    with s.fake.FakeTensorMode():
        x = s.T.ones(())
        x.constant = s.C._DisableTorchDispatch and None
        log(x.constant)
    real = s.T.full((), 5.0)
    x.constant = real
    log(x.item(), (x + 1).constant)


def constants(s: Any, log: Any) -> None:
    T = s.T
    with s.fake.FakeTensorMode():
        t = T.tensor(3)
        has = lambda x: x.constant is not None
        log(has(t), t.item(), int(t), has(T.tensor([1.5])), type(t.constant).__name__)
        log(has(T.ones(2)), has(t + 1), has(t.view(1)), has(t.clone()), has(t.detach()))
        log.attempt("sum", (t + T.tensor(2)).item)
        t.add_(1)
        log(has(t))
        log.attempt("item", t.item)
        log.attempt("ones", T.ones(()).item)
        log.attempt("bool", bool, T.ones(()))
        u = T.tensor([1, 2])
        v = u[1:]
        log(has(u), has(v))
        v.zero_()
        log(has(u), has(v), has(T.tensor(range(2000))), bool(T.tensor(0)))
