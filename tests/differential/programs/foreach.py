"""Operators on lists of tensors."""

_UNARY = (
    "abs ceil cos erf exp floor log1p neg reciprocal round sigmoid sign sqrt tanh trunc".split()
)


def _lists(s, **options):
    T = s.T
    a = [T.tensor([1.0, -2.0, 3.5], **options), T.tensor([[0.5], [4.0]], **options)]
    b = [T.tensor([2.0, 2.0, -1.0], **options), T.tensor([[1.5], [-3.0]], **options)]
    return a, b


def unary(s, log):
    for name in _UNARY:
        a, _ = _lists(s)
        log(name, getattr(s.ops.aten, "_foreach_" + name).default(a))
        log.attempt(name + "_", getattr(s.ops.aten, f"_foreach_{name}_").default, a)
        log(a)


def binary(s, log):
    A = s.ops.aten
    for name in ("add", "sub", "mul", "div", "maximum", "minimum", "clamp_min", "clamp_max"):
        op, in_place = getattr(A, "_foreach_" + name), getattr(A, f"_foreach_{name}_")
        a, b = _lists(s)
        log(name, op.List(a, b))
        log(op.Scalar(a, 2), op.Scalar(a, 0.5))
        log(op.ScalarList(a, [1, 2.5]))
        log(in_place.List(a, b), a)
        log(in_place.ScalarList(a, [3, 1]), a)
        log(in_place.Scalar(a, 2), a)
    a, b = _lists(s)
    log(A._foreach_add.List(a, b, alpha=3), A._foreach_sub.List(a, b, alpha=0.5))
    log(A._foreach_add.Tensor(a, s.T.tensor(2.0)), A._foreach_mul.Tensor(a, s.T.tensor(3)))
    log(A._foreach_pow.Scalar(a, 2), A._foreach_pow.ScalarAndTensor(2, a))
    log(A._foreach_pow.List(a, [b[0] * 0 + 2, b[1] * 0 + 1]))


def ternary(s, log):
    A = s.ops.aten
    for name in ("addcmul", "addcdiv"):
        op, in_place = getattr(A, "_foreach_" + name), getattr(A, f"_foreach_{name}_")
        a, b = _lists(s)
        log(op.Scalar(a, b, b), op.Scalar(a, b, b, 2), op.Scalar(a, b, b, value=0.5))
        log(op.ScalarList(a, b, b, [1, 2]))
        log(op.Tensor(a, b, b, s.T.tensor([1.0, 2.0])))
        log.attempt("too many scalars", op.Tensor, a, b, b, s.T.tensor([1.0, 2.0, 3.0]))
        log(in_place.Scalar(a, b, b), a)


def others(s, log):
    A = s.ops.aten
    a, b = _lists(s)
    log(A._foreach_norm.Scalar(a), A._foreach_norm.Scalar(a, 1))
    log(A._foreach_norm.Scalar(a, 2, s.T.float64))
    log(A._foreach_max.default(a))
    log(A._foreach_zero.default(a), A._foreach_zero_.default(a), a)
    log(A._foreach_copy_.default(a, b), a)
    c = A._foreach_clone.default(b)
    log(c, [x.data_ptr() != y.data_ptr() for x, y in zip(b, c)])
    out = [s.T.empty(0), s.T.empty(0)]
    log(A._foreach_exp.out(a, out=out), [tuple(t.shape) for t in out])


def versions_and_types(s, log):
    A = s.ops.aten
    a, b = _lists(s, dtype=s.T.float16)
    A._foreach_add_.List(a, b)
    log([t._version for t in a], A._foreach_add.Scalar(a, 1.5))
    ints = [s.T.tensor([1, 2]), s.T.tensor([True])]
    log(A._foreach_add.Scalar(ints, 1), A._foreach_mul.Scalar(ints, 1.5))
    log(A._foreach_div.List(ints, ints))
    log.attempt("float into ints", A._foreach_mul_.Scalar, ints, 1.5)


def refused(s, log):
    A = s.ops.aten
    a, b = _lists(s)
    log.attempt("empty", A._foreach_add.Scalar, [], 1)
    log.attempt("lengths", A._foreach_add.List, a, b[:1])
    log.attempt("scalars", A._foreach_add.ScalarList, a, [1])
    log.attempt("shapes", A._foreach_add.List, a, [b[0], s.T.ones(5, 5)])
    log.attempt("not a list", A._foreach_abs.default, a[0])
    log.attempt("packet", A._foreach_add, a, b)
    log.attempt("packet, numbers", A._foreach_add, a, [1, 2])


def fake(s, log):
    A = s.ops.aten
    with s.fake.FakeTensorMode():
        a = [s.T.empty(2, 3), s.T.empty(4, dtype=s.T.float16)]
        log(A._foreach_add.Scalar(a, 1), A._foreach_norm.Scalar(a))
        log(A._foreach_mul_.List(a, a), a)
        out = A._foreach_mul.List(a, a)
        log([type(t) for t in out])
        mixed = [s.T.empty(2), s.T.empty(3, device="cuda")]
        log.attempt("devices", A._foreach_neg.default, mixed)
        log.attempt("devices, in place", A._foreach_add_.Scalar, mixed, 1)
        meta = s.T.empty(2, device="meta")
        log.attempt("meta", A._foreach_exp.default, [meta])


def modes(s, log):
    class Names(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log(str(func), len(args), sorted(kwargs or {}))
            return func(*args, **(kwargs or {}))

    a, b = _lists(s)
    with Names():
        s.ops.aten._foreach_add.List(a, b)
        s.ops.aten._foreach_add_.Scalar(a, 1)
        s.ops.aten._foreach_add.List(a, b, alpha=2)
