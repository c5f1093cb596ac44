# ruff: noqa: E501 (tables of short calls)
"""What modes and subclasses see of results that derivatives read: `detach` behind the call."""

UNARY = "exp exp2 expm1 sqrt rsqrt reciprocal sigmoid tanh tan relu sgn sin log abs neg erf gelu silu".split()
REDUCTIONS = "max min amax amin median prod std var sum mean norm aminmax".split()
IN_PLACE = "exp_ sqrt_ tanh_ sigmoid_ relu_ elu_ celu_ leaky_relu_ neg_".split()
LINEAR = "linalg_qr linalg_svd linalg_eigh linalg_inv linalg_cholesky linalg_det linalg_slogdet".split()


def _mode(s, log):
    class Names(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("  ", func)
            return func(*args, **(kwargs or {}))

    return Names()


def _logged(s, log, label, call):
    log(label)
    with _mode(s, log):
        out = call()
    outs = out if isinstance(out, tuple) else (out,)
    log("  gives", [t.requires_grad for t in outs])


def _input(s):
    return s.T.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)


def pointwise(s, log):
    x = _input(s)
    for name in UNARY:
        _logged(s, log, name, lambda n=name: getattr(s.ops.aten, n)(x))
        _logged(s, log, f"{name} without grad", lambda n=name: getattr(s.ops.aten, n)(x.detach()))


def in_place(s, log):
    x = _input(s)
    for name in IN_PLACE:
        _logged(s, log, name, lambda n=name: getattr(s.ops.aten, n)(x * 1))


def written_over(s, log):
    x, y, z = _input(s), _input(s), s.T.ones(2, 2)
    for name in "sin_ cos_ log_ abs_ sgn_ erf_ square_ digamma_ silu_ hardswish_ atan_".split():
        _logged(s, log, name, lambda n=name: getattr(s.ops.aten, n)(x * 1))
    for name in "mul_ div_ pow_ copysign_ hypot_ atan2_ fmod_ add_ xlogy_ clamp_min_".split():
        for label, a, b in (("both", x, y), ("self", x, z), ("other", z, y)):
            _logged(s, log, f"{name} {label}", lambda n=name, a=a, b=b: getattr(a * 1, n)(b))


def lists(s, log):
    x, z = _input(s), s.T.ones(2, 2)
    foreach = lambda name: getattr(s.T, f"_foreach_{name}")  # noqa: E731
    for name in "exp tanh sqrt reciprocal max norm sin".split():
        _logged(s, log, name, lambda n=name: foreach(n)([x, z]) and x)
    for name in "exp_ tanh_ sin_ abs_".split():
        _logged(s, log, name, lambda n=name: (foreach(n)([x * 1, z * 1]), x)[1])
    for name in "mul_ div_ pow_ add_ maximum_".split():
        _logged(s, log, name, lambda n=name: (foreach(n)([x * 1, z * 1], [z, x]), x)[1])


def reductions(s, log):
    x = _input(s)
    for name in REDUCTIONS:
        _logged(s, log, name, lambda n=name: getattr(s.ops.aten, n)(x))
    for name in ("max", "min", "amax", "prod", "logsumexp", "_softmax", "_log_softmax", "cumprod", "logcumsumexp", "sort"):
        more = (0, False) if "softmax" in name else ([0],) if name == "logsumexp" else (0,)
        _logged(s, log, f"{name} of a dimension", lambda n=name, m=more: getattr(s.ops.aten, n)(x, *m))


def linear_algebra(s, log):
    x = _input(s)
    for name in LINEAR:
        _logged(s, log, name, lambda n=name: getattr(s.ops.aten, n)(x))


def with_grad_off(s, log):
    x = _input(s)
    with s.T.no_grad():
        _logged(s, log, "no_grad", lambda: x.exp())
    with s.T.inference_mode():
        _logged(s, log, "inference_mode", lambda: x.exp())


def two_modes(s, log):
    x = _input(s)
    with _mode(s, log):
        _logged(s, log, "two", lambda: x.exp())


def of_a_subclass(s, log):
    class Named(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            made = s.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, requires_grad=True)
            made.inner = inner
            return made

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log("  ", func, [type(a).__name__ for a in args])
            plain = [a.inner if isinstance(a, Named) else a for a in args]
            return Named(func(*plain, **(kwargs or {})))

    x = Named(s.T.ones(2))
    for name in ("exp", "sin", "relu"):
        log(name)
        log(getattr(s.ops.aten, name)(x).requires_grad)
