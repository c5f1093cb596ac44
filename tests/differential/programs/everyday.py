# ruff: noqa: B023, E501 (tables of short calls, made at once)
"""Operators of everyday programs: values, strides, Meta and fake metadata, errors, schemas."""

UNARY = "frac sgn signbit isneginf isposinf angle erfc lgamma digamma exp2 erfinv sinc logit mish hardsigmoid hardswish hardshrink softshrink selu relu6 log_sigmoid rad2deg deg2rad isreal positive arccos arccosh arcsin arcsinh arctan arctanh absolute negative fix".split()
INPLACE = "frac_ sgn_ erfc_ lgamma_ digamma_ exp2_ erfinv_ sinc_ logit_ mish_ hardsigmoid_ hardswish_ celu_ selu_ relu6_ rad2deg_ arccos_ arctan_ absolute_ negative_ fix_".split()
BINARY = "hypot logaddexp logaddexp2 nextafter fmax fmin gcd lcm heaviside copysign xlogy bitwise_left_shift bitwise_right_shift ldexp float_power arctan2 divide true_divide multiply subtract greater greater_equal less less_equal not_equal mse_loss smooth_l1_loss huber_loss l1_loss dist".split()
DTYPES = "bool uint8 int32 int64 float16 bfloat16 float32 float64 complex64".split()


def _inputs(T, dtype="float32", device="cpu"):
    x = T.arange(-3, 9, device=device).to(getattr(T, dtype))
    x = x / 4 if x.dtype.is_floating_point or x.dtype.is_complex else x
    return {
        "2d": x.view(3, 4), "t": x.view(3, 4).t(), "0d": x[5], "empty": x[:0].view(0, 3), "strided": x[::3], "cl": x.view(1, 3, 2, 2).to(memory_format=T.channels_last), "expanded": x[3:5].unsqueeze(1).expand(2, 3),
    }  # fmt: skip


def _try(log, label, call):
    try:
        return log(label, call())
    except Exception as error:
        log(label, "raises", type(error).__name__)


def _unary(s, log, device, values=("2d", "t", "0d", "empty", "strided", "cl", "expanded")):
    for name in UNARY:
        for label in values:
            x = _inputs(s.T, device=device)[label]
            _try(log, f"{name} {label}", lambda: getattr(s.ops.aten, name)(x))


def unary_layouts(s, log):
    _unary(s, log, "cpu")


def unary_layouts_meta(s, log):
    _unary(s, log, "meta")


def unary_layouts_fake(s, log):
    with s.fake.FakeTensorMode():
        _unary(s, log, "cpu")


def unary_dtypes(s, log):
    for name in UNARY:
        for dtype in DTYPES:
            x = s.T.ones(3, dtype=getattr(s.T, dtype))
            _try(log, f"{name} {dtype}", lambda: getattr(s.ops.aten, name)(x).dtype)


def unary_in_place_and_out(s, log):
    T = s.T
    for name in INPLACE:
        x = T.tensor([0.25, 0.5, 0.75])
        _try(log, name, lambda: (getattr(s.ops.aten, name)(x) is x, x, x._version))
        _try(log, name + " int", lambda: getattr(s.ops.aten, name)(T.tensor([1, 2])))
    for name in "frac sgn erfc lgamma digamma exp2 erfinv sinc logit mish hardswish arccos absolute fix signbit".split():
        for out in (T.empty(0), T.empty(3), T.empty(3, dtype=T.float64), T.empty(3, dtype=T.int64)):
            _try(
                log,
                f"{name} out {log.show(out.dtype)}",
                lambda: getattr(s.ops.aten, name).out(T.tensor([0.25, 0.5, 0.75]), out=out),
            )


def _binary(s, log, device):
    T = s.T
    v = _inputs(T, device=device)
    for name in BINARY:
        for a, b in (
            ("2d", "2d"),
            ("2d", "t"),
            ("t", "t"),
            ("2d", "0d"),
            ("0d", "0d"),
            ("empty", "empty"),
            ("cl", "cl"),
            ("strided", "2d"),
            ("expanded", "expanded"),
        ):
            _try(log, f"{name} {a} {b}", lambda: getattr(s.ops.aten, name)(v[a], v[b]))


def binary_layouts(s, log):
    _binary(s, log, "cpu")


def binary_layouts_meta(s, log):
    _binary(s, log, "meta")


def binary_layouts_fake(s, log):
    with s.fake.FakeTensorMode():
        _binary(s, log, "cpu")


def binary_dtypes(s, log):
    for name in BINARY:
        for a in DTYPES:
            for b in ("bool", "int32", "float32", "bfloat16"):
                x, y = (s.T.ones(2, dtype=getattr(s.T, d)) for d in (a, b))
                _try(log, f"{name} {a} {b}", lambda: getattr(s.ops.aten, name)(x, y).dtype)


def binary_numbers(s, log):
    T = s.T
    for x in (T.tensor([1, 2, -3]), T.tensor([1.0, -2.0]), T.tensor([True, False])):
        for n in (2, 2.5, True):
            for name in "copysign xlogy bitwise_left_shift bitwise_right_shift float_power divide multiply subtract greater less_equal clip floor_divide lerp".split():
                _try(log, f"{name} {log.show(x.dtype)} {n}", lambda: getattr(T, name)(x, n))
                _try(log, f"Tensor.{name} {log.show(x.dtype)} {n}", lambda: getattr(x, name)(n))


def shifts(s, log):
    T = s.T
    for dtype in ("int64", "int8", "uint8", "int32"):
        x = T.tensor([1, 2, 100], dtype=getattr(T, dtype))
        for n in (0, 1, 3, 7, 8, 63, 64, -1):
            log(dtype, n, x << n, x >> n)
        log(x << x, x >> x, 1 << x, 100 >> x)
        y = x
        y <<= 1
        log(y is x, x, x._version)
        y >>= T.tensor(2)
        log(y is x, x, x._version)
    for bad in (T.ones(1), T.tensor([True]), T.ones(1, dtype=T.complex64)):
        for f in (
            lambda: bad << 1,
            lambda: bad >> bad,
            lambda: 1 << bad,
            lambda: bad << "a",
            lambda: bad << None,
        ):
            _try(log, f"bad {log.show(bad.dtype)}", f)
    _try(log, "left str", lambda: "a" << T.tensor([1]))
    log(T.Tensor.__lshift__(T.tensor([1]), 2), T.tensor([-8]) >> 1, T.tensor([-8]).__rshift__(70))


def shifts_seen_by_modes(s, log):
    seen = []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x = s.T.tensor([1, 2])
    with Mode():
        x << 1, x >> x, 1 << x, 2 >> x
        x <<= 1
        x >>= 1
    log(*seen)


def lerp(s, log):
    T = s.T
    a, b = T.tensor([0.0, 1.0, 2.0]), T.tensor([10.0, 20.0, 30.0])
    for w in (
        0,
        0.25,
        0.5,
        0.75,
        1,
        2.0,
        T.tensor(0.5),
        T.tensor([0.0, 0.5, 1.0]),
        T.tensor([[0.1], [0.9]]),
        T.tensor(0.5, dtype=T.float64),
        True,
        1j,
        "a",
        None,
    ):
        _try(log, f"lerp {log.show(w)}", lambda: T.lerp(a, b, w))
        _try(log, f"lerp_ {log.show(w)}", lambda: a.clone().lerp_(b, w))
    for dtype in DTYPES:
        x = T.ones(2, dtype=getattr(T, dtype))
        _try(log, "lerp " + dtype, lambda: T.lerp(x, x, 0.5))
        _try(log, "lerp mixed " + dtype, lambda: T.lerp(x, T.ones(2), 0.5))
    log(T.lerp(a, b, 0.5, out=T.empty(0)))


def foreach_of_new_ones(s, log):
    T, aten = s.T, s.ops.aten
    xs = [T.tensor([0.25, 1.5]), T.tensor([[2.75]])]
    for name in ("frac", "erfc", "lgamma"):
        log(name, getattr(aten, "_foreach_" + name)(xs))
        ys = [x.clone() for x in xs]
        log(name, getattr(aten, f"_foreach_{name}_")(ys), ys)
        outs = [T.empty(0), T.empty(0)]
        getattr(aten, "_foreach_" + name).out(xs, out=outs)
        log(outs)
    for w in (0.5, [0.25, 0.75], xs):
        log(aten._foreach_lerp(xs, [x + 1 for x in xs], w))
    _try(log, "lengths", lambda: aten._foreach_lerp(xs, xs[:1], 0.5))


def activations(s, log):
    T, aten = s.T, s.ops.aten
    x = T.tensor([[-4.0, -1.0, -0.5, 0.0], [0.25, 1.0, 3.0, 7.0]])
    for label, f in {
        "celu": lambda: aten.celu(x), "celu 2": lambda: aten.celu(x, 2), "celu 0": lambda: aten.celu(x, 0), "hardshrink": lambda: aten.hardshrink(x, 1), "softshrink": lambda: aten.softshrink(x, 1), "softshrink -1": lambda: aten.softshrink(x, -1), "threshold": lambda: aten.threshold(x, 0.5, -1), "threshold_": lambda: aten.threshold_(x.clone(), 0.5, -1), "prelu": lambda: aten.prelu(x, T.tensor([0.5])), "prelu 4": lambda: aten.prelu(x, T.ones(4)), "prelu 3": lambda: aten.prelu(x, T.ones(3)), "prelu 2d": lambda: aten.prelu(x, T.ones(1, 1)), "prelu dtype": lambda: aten.prelu(x, T.ones(1, dtype=T.float64)), "glu": lambda: aten.glu(x), "glu 0": lambda: aten.glu(x, 0), "glu odd": lambda: aten.glu(x[:, :3]), "glu 0d": lambda: aten.glu(T.tensor(1.0)), "log_sigmoid": lambda: aten.log_sigmoid_forward(x), "relu6 bool": lambda: aten.relu6(T.tensor([True])), "selu": lambda: aten.selu(x), "logit eps": lambda: aten.logit(x, 0.1), "round": lambda: T.round(x / 3, decimals=2), "round -1": lambda: T.round(x * 7, decimals=-1),
    }.items():  # fmt: skip
        _try(log, label, f)


def sequences(s, log):
    T = s.T
    for device in ("cpu", "meta"):
        for label, f in {
            "eye": lambda: T.eye(3, device=device), "eye m": lambda: T.eye(2, 4, device=device), "eye dtype": lambda: T.eye(2, dtype=T.bool, device=device), "eye 0": lambda: T.eye(0, device=device), "eye neg": lambda: T.eye(-1, device=device), "eye float": lambda: T.eye(2.0, device=device), "eye grad": lambda: T.eye(1, requires_grad=True, device=device),
            "lin": lambda: T.linspace(0, 1, 5, device=device), "lin 1": lambda: T.linspace(3, 10, steps=1, device=device), "lin 0": lambda: T.linspace(0, 1, 0, device=device), "lin neg": lambda: T.linspace(0, 1, -1, device=device), "lin int": lambda: T.linspace(0, 10, 4, dtype=T.int64, device=device), "lin back": lambda: T.linspace(5, -5, 11, device=device), "lin f64": lambda: T.linspace(0, 1, 3, dtype=T.float64, device=device), "lin c": lambda: T.linspace(0, 1j, 3, device=device), "lin tensor": lambda: T.linspace(T.tensor(0.0), T.tensor(2.0), 3), "lin bool": lambda: T.linspace(0, 1, 2, dtype=T.bool), "lin none": lambda: T.linspace(0, 1),
            "log": lambda: T.logspace(0, 2, 3, device=device), "log 2": lambda: T.logspace(0, 4, 5, base=2, device=device), "log int": lambda: T.logspace(0, 3, 4, dtype=T.int64, device=device), "range": lambda: T.ops.aten.range(1, 4, device=device), "range step": lambda: T.ops.aten.range(0, 1, 0.25, device=device),
            "tril": lambda: T.tril_indices(3, 3, device=device), "tril off": lambda: T.tril_indices(3, 4, -1, device=device), "triu": lambda: T.triu_indices(3, 4, 1, device=device), "triu 32": lambda: T.triu_indices(2, 2, dtype=T.int32, device=device), "tril neg": lambda: T.tril_indices(-1, 2, device=device), "tril float": lambda: T.tril_indices(2, 2, dtype=T.float32, device=device), "tril 0": lambda: T.tril_indices(0, 3, device=device),
        }.items():  # fmt: skip
            _try(log, f"{device} {label}", f)
    log(
        T.eye(2, out=T.empty(0)),
        T.linspace(0, 1, 3, out=T.empty(3)),
        T.logspace(0, 1, 2, out=T.empty(0, dtype=T.float64)),
    )
    log(
        T.randint_like(T.ones(2, 3).t(), 1),
        T.randint_like(T.ones(2), 3, 4),
        T.randint_like(T.ones(2), 1, dtype=T.int32),
    )
    _try(log, "randint_like", lambda: T.randint_like(T.ones(2), 0))


def _shapes(s, log, device):
    T = s.T
    x, v, z = (
        T.arange(24.0, device=device).view(2, 3, 4),
        T.arange(4.0, device=device),
        T.tensor(1.5, device=device),
    )
    A = x[0]
    for label, f in {
        "at1": lambda: T.atleast_1d(z), "at2": lambda: T.atleast_2d(v), "at3": lambda: T.atleast_3d(v), "at3 A": lambda: T.atleast_3d(A), "at many": lambda: T.atleast_2d(z, v, A), "at list": lambda: T.atleast_1d([z, v]),
        "hstack": lambda: T.hstack((v, z)), "hstack 2": lambda: T.hstack([A, A]), "vstack": lambda: T.vstack((v, v, A)), "dstack": lambda: T.dstack((v, v)), "column_stack": lambda: T.column_stack((v, x[0].t())), "row_stack": lambda: T.row_stack((v, v)), "hstack bad": lambda: T.hstack((v, A)), "hstack none": lambda: T.hstack(()), "vstack none": lambda: T.vstack([]), "hstack str": lambda: T.hstack("a"), "hstack out": lambda: T.hstack((v, v), out=T.empty(0, device=device)),
        "hsplit": lambda: T.hsplit(A, 2), "hsplit at": lambda: A.hsplit([1, 3]), "hsplit bad": lambda: T.hsplit(A, 3), "hsplit 0d": lambda: T.hsplit(z, 1), "vsplit": lambda: T.vsplit(A, 3), "vsplit 1d": lambda: T.vsplit(v, 2), "dsplit": lambda: T.dsplit(x, 2), "dsplit 2d": lambda: T.dsplit(A, 2), "tensor_split": lambda: T.tensor_split(v, 3), "tensor_split at": lambda: v.tensor_split((1, 3)), "tensor_split dim": lambda: T.tensor_split(A, 2, dim=-1), "tensor_split 0": lambda: T.tensor_split(v, 0), "tensor_split out": lambda: T.tensor_split(v, [10, 2]), "tensor_split t": lambda: T.tensor_split(v, T.tensor([1, 2])), "tensor_split dim 5": lambda: T.tensor_split(v, 2, 5),
        "unsafe_chunk": lambda: T.unsafe_chunk(A, 2), "unsafe_split": lambda: T.unsafe_split(A, 2, 1), "unsafe sizes": lambda: T.unsafe_split_with_sizes(v, [1, 3]),
        "meshgrid": lambda: T.meshgrid(v, v[:2], indexing="ij"), "mesh xy": lambda: T.meshgrid(v, v[:2], v[:1], indexing="xy"), "mesh bad": lambda: T.meshgrid(v, v, indexing="ab"), "mesh list": lambda: T.meshgrid([v, v[:1]], indexing="ij"), "cartesian": lambda: T.cartesian_prod(v, v[:2]), "cartesian 1": lambda: T.cartesian_prod(v), "cartesian 2d": lambda: T.cartesian_prod(A), "block_diag": lambda: T.block_diag(v, A, z), "block_diag 3d": lambda: T.block_diag(x),
        "diag": lambda: T.diag(v[:2]), "diag k": lambda: T.diag(v[:2], 1), "diag 2d": lambda: T.diag(A), "diag 2d k": lambda: A.diag(-1), "diag 3d": lambda: T.diag(x), "diagflat": lambda: T.diagflat(x[0, :1, :3], 1), "diag_embed": lambda: T.diag_embed(A, 1, 0, 2), "diag_embed bad": lambda: T.diag_embed(A, dim1=0, dim2=0), "diag_embed 0d": lambda: T.diag_embed(z), "fill_diagonal": lambda: T.zeros(3, 4, device=device).fill_diagonal_(2), "fill wrap": lambda: T.zeros(7, 2, device=device).fill_diagonal_(2, True).sum(0), "fill 1d": lambda: v.clone().fill_diagonal_(1), "fill 3d": lambda: T.zeros(2, 3, 2, device=device).fill_diagonal_(1),
        "outer": lambda: T.outer(v, v[:2]), "ger": lambda: T.ger(v, v), "outer 2d": lambda: T.outer(A, v), "inner": lambda: T.inner(v, v), "inner 2d": lambda: T.inner(A, A), "inner bad": lambda: T.inner(A, v[:2]), "inner 0d": lambda: T.inner(z, v), "kron": lambda: T.kron(A[:1, :2], A[:2, :1]), "cross": lambda: T.cross(A.t(), A.t(), dim=1), "cross bad": lambda: T.cross(v, v, dim=0), "tensordot": lambda: T.tensordot(A, A, dims=([1], [1])), "tensordot 1": lambda: T.tensordot(A.t(), A, 1), "tensordot bad": lambda: T.tensordot(A, A, 1), "trace": lambda: T.trace(A), "trace 1d": lambda: T.trace(v), "vdot": lambda: T.vdot(v, v), "vdot bad": lambda: T.vdot(v, v[:2]), "addr": lambda: T.addr(A.t(), v, v[:3]), "addr beta": lambda: T.addr(A.t(), v, v[:3], beta=2, alpha=3), "addbmm": lambda: T.addbmm(A[:, :3], x[:1, :, :], x[:1].transpose(1, 2)),
        "fliplr": lambda: T.fliplr(A), "flipud": lambda: T.flipud(A), "fliplr 1d": lambda: T.fliplr(v), "rot90": lambda: T.rot90(A), "rot90 2": lambda: T.rot90(A, 2), "rot90 3": lambda: T.rot90(A, -1, [1, 0]), "rot90 4": lambda: T.rot90(A, 4), "rot90 bad": lambda: T.rot90(A, 1, [0, 0]), "mT": lambda: x.mT, "mH": lambda: x.mH, "adjoint": lambda: x.adjoint(), "adjoint 1d": lambda: v.adjoint(), "sum_to_size": lambda: x.sum_to_size(3, 1), "sum_to_size ()": lambda: v.sum_to_size(()), "sum_to_size bad": lambda: v.sum_to_size(2), "swapaxes_": lambda: A.clone().swapaxes_(0, 1), "pixel_shuffle": lambda: s.ops.aten.pixel_shuffle(x.view(1, 4, 2, 3), 2), "pixel_unshuffle": lambda: s.ops.aten.pixel_unshuffle(x.view(1, 1, 4, 6), 2), "pixel bad": lambda: s.ops.aten.pixel_shuffle(x, 2),
        "trapezoid": lambda: T.trapezoid(A), "trapezoid dx": lambda: T.trapezoid(A, dx=2, dim=0), "trapezoid x": lambda: T.trapezoid(A, v), "trapz": lambda: T.trapz(A), "cumulative": lambda: T.cumulative_trapezoid(A), "cumulative x": lambda: T.cumulative_trapezoid(A, v), "trapezoid bad": lambda: T.trapezoid(A, v[:2]),
    }.items():  # fmt: skip
        _try(log, label, f)


def shapes(s, log):
    _shapes(s, log, "cpu")


def shapes_meta(s, log):
    _shapes(s, log, "meta")


def shapes_fake(s, log):
    with s.fake.FakeTensorMode():
        _shapes(s, log, "cpu")


def combinations(s, log):
    T = s.T
    v = T.tensor([1, 2, 3])
    for r in (0, 1, 2, 3, 4, -1):
        for again in (False, True):
            _try(log, f"{r} {again}", lambda: T.combinations(v, r, again))
    _try(log, "2d", lambda: T.combinations(v.view(1, 3)))
    _try(log, "empty", lambda: T.combinations(v[:0]))


def _summaries(s, log, device, dtype="float32"):
    T = s.T
    x = T.tensor([[3, 1, 2, 2], [0, 5, 5, 1], [4, 4, 0, 7]], device=device).to(getattr(T, dtype))
    for label, f in {
        "nansum": lambda: T.nansum(x), "nansum 1": lambda: T.nansum(x, 1, True), "nanmean": lambda: T.nanmean(x), "nanmean 0": lambda: x.nanmean(0), "aminmax": lambda: T.aminmax(x), "aminmax 1": lambda: T.aminmax(x, dim=1, keepdim=True), "aminmax e": lambda: T.aminmax(x[:0]), "std_mean": lambda: T.std_mean(x), "std_mean 1": lambda: T.std_mean(x, 1), "std_mean u": lambda: T.std_mean(x, 1, unbiased=False, keepdim=True), "count_nonzero": lambda: T.count_nonzero(x), "count 0": lambda: T.count_nonzero(x, 0), "count 01": lambda: T.count_nonzero(x, (0, 1)), "cummax": lambda: T.cummax(x, 1), "cummin": lambda: T.cummin(x, 0), "cummax bad": lambda: T.cummax(x, 3), "cumprod": lambda: T.cumprod(x, 1), "cumprod_": lambda: x.clone().cumprod_(0), "cumprod dtype": lambda: T.cumprod(x, 0, dtype=T.float64), "logcumsumexp": lambda: T.logcumsumexp(x, 1), "logsumexp": lambda: T.logsumexp(x, 1), "logsumexp keep": lambda: T.logsumexp(x, (0, 1), keepdim=True),
        "median": lambda: T.median(x), "median 1": lambda: T.median(x, 1).values, "nanmedian": lambda: T.nanmedian(x), "nanmedian 0": lambda: T.nanmedian(x, 0, True).values, "kthvalue": lambda: T.kthvalue(x, 2, 1).values, "kthvalue 9": lambda: T.kthvalue(x, 9), "mode": lambda: T.mode(x), "argsort": lambda: T.argsort(x, stable=True), "argsort d": lambda: x.argsort(0, descending=True).shape, "msort": lambda: T.msort(x), "argwhere": lambda: T.argwhere(x), "norm": lambda: T.norm(x), "norm 1": lambda: x.norm(1, 0), "norm inf": lambda: T.norm(x, float("inf"), dim=(0, 1), keepdim=True), "aten norm": lambda: s.ops.aten.norm(x, 3), "diff": lambda: T.diff(x), "var_mean": lambda: T.var_mean(x, 1),
        "max 0d": lambda: T.cummax(x[0, 0], 0), "median 0d": lambda: T.median(x[0, 0], 0), "kthvalue 0d": lambda: T.kthvalue(x[0, 0], 1), "mode 0d": lambda: T.mode(x[0, 0]), "median e": lambda: T.median(x[:0]), "median e dim": lambda: T.median(x[:0], 0), "msort 0d": lambda: T.msort(x[0, 0]),
    }.items():  # fmt: skip
        _try(log, f"{dtype} {label}", f)


def summaries(s, log):
    for dtype in ("float32", "int64", "bfloat16", "bool"):
        _summaries(s, log, "cpu", dtype)


def summaries_meta(s, log):
    _summaries(s, log, "meta")


def summaries_fake(s, log):
    with s.fake.FakeTensorMode():
        _summaries(s, log, "cpu")


def nan_in_scans(s, log):
    T = s.T
    x = T.tensor([1.0, float("nan"), 3.0, float("inf"), 0.0])
    log(
        T.cummax(x, 0),
        T.cummin(x, 0),
        T.median(x),
        T.nanmedian(x),
        T.median(x, 0),
        T.nanmedian(x, 0),
        T.nansum(x),
        T.nanmean(x),
        T.aminmax(x),
        T.logcumsumexp(x, 0),
        T.fmax(x, T.ones(5)),
        T.fmin(x, T.ones(5)),
        T.xlogy(x, x),
        T.sgn(x),
        T.angle(x),
        T.isposinf(x),
        T.count_nonzero(x),
    )


def _lookups(s, log, device):
    T = s.T
    x = T.arange(12.0, device=device).view(3, 4)
    i = T.tensor([0, 2, 2], device=device)
    for label, f in {
        "take": lambda: T.take(x, i), "take -1": lambda: x.take(T.tensor([[-1, 5]], device=device)), "take i32": lambda: T.take(x, i.int()), "take e": lambda: T.take(x[:0], i), "take_along": lambda: T.take_along_dim(x, T.zeros(1, 4, dtype=T.int64, device=device), 0), "take_along none": lambda: T.take_along_dim(x, i), "take_along float": lambda: T.take_along_dim(x, x, 0), "put": lambda: T.ops.aten.put(x, i, T.ones(3, device=device)), "put_ acc": lambda: x.clone().put_(i, T.ones(3, device=device), accumulate=True), "put bad": lambda: x.clone().put_(i, T.ones(2, device=device)),
        "index_add": lambda: T.index_add(x, 0, i, T.ones(3, 4, device=device)), "index_add a": lambda: x.clone().index_add_(1, i, T.ones(3, 3, device=device), alpha=2), "index_add bad": lambda: T.index_add(x, 0, i, T.ones(2, 4, device=device)), "index_copy": lambda: T.index_copy(x, 0, i[:2], T.ones(2, 4, device=device)), "index_copy_": lambda: x.clone().index_copy_(1, i[:1], T.ones(3, 1, device=device)), "index_copy bad": lambda: T.index_copy(x, 0, i, x[:2]), "index_fill": lambda: T.index_fill(x, 0, i, 9), "index_fill t": lambda: x.clone().index_fill_(1, i, T.tensor(9.0, device=device)), "index_fill -1": lambda: T.index_fill(x, 1, T.tensor([-1], device=device), 1.5), "index_fill i32": lambda: T.index_fill(x, 0, i.int(), 9),
        "searchsorted": lambda: T.searchsorted(x[0], x[1] - 2.5), "searchsorted r": lambda: T.searchsorted(x[0], T.tensor([1.0, 2.0], device=device), right=True), "searchsorted side": lambda: T.searchsorted(x[0], x[0], side="right", out_int32=True), "searchsorted n": lambda: T.searchsorted(x[0], 2), "searchsorted 2d": lambda: T.searchsorted(x, x[:, :2] + 0.5), "searchsorted bad": lambda: T.searchsorted(x, x[0]), "searchsorted side bad": lambda: T.searchsorted(x[0], x[0], right=True, side="left"), "bucketize": lambda: T.bucketize(x, x[0]), "bucketize n": lambda: T.bucketize(2, x[0]), "bucketize 2d": lambda: T.bucketize(x[0], x), "isin": lambda: T.isin(x, x[1]), "isin n": lambda: T.isin(x, 3.0), "n isin": lambda: T.isin(3.0, x), "isin inv": lambda: T.isin(x, x[1], invert=True), "one_hot": lambda: s.ops.aten.one_hot(i, 4), "one_hot -1": lambda: s.ops.aten.one_hot(i), "one_hot 2": lambda: s.ops.aten.one_hot(i + 10, 2), "one_hot f": lambda: s.ops.aten.one_hot(x, 2),
        "masked_select": lambda: T.masked_select(x, x > 5), "masked_select b": lambda: x.masked_select((x > 5)[0]), "masked_select f": lambda: T.masked_select(x, x), "bincount": lambda: T.bincount(i), "bincount w": lambda: T.bincount(i, x[0, :3], 5), "bincount f": lambda: T.bincount(x), "unique": lambda: T.unique(x % 3), "unique all": lambda: T.unique(i, return_inverse=True, return_counts=True), "unique dim": lambda: T.unique(x % 2, dim=1, return_inverse=True, return_counts=True), "unique c": lambda: T.unique_consecutive(i, return_counts=True), "unique c dim": lambda: i.view(1, 3).unique_consecutive(dim=1, return_inverse=True), "method": lambda: i.unique(), "aten": lambda: s.ops.aten._unique2(i), "nonzero": lambda: T.nonzero(x),
    }.items():  # fmt: skip
        _try(log, label, f)


def lookups(s, log):
    _lookups(s, log, "cpu")


def lookups_meta(s, log):
    _lookups(s, log, "meta")


def lookups_fake(s, log):
    with s.fake.FakeTensorMode():
        _lookups(s, log, "cpu")


def losses(s, log):
    T, aten = s.T, s.ops.aten
    x = T.tensor([[0.1, 0.7, 0.2], [0.5, 0.25, 0.25]])
    y = T.tensor([[0.2, 0.5, 0.3], [0.1, 0.9, 0.0]])
    t, w = T.tensor([1, 0]), T.tensor([1.0, 2.0, 3.0])
    for r in (0, 1, 2):
        for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "kl_div"):
            log(name, r, getattr(aten, name)(x, y, r))
        log("bce", aten.binary_cross_entropy(x, y, None, r), aten.binary_cross_entropy(x, y, w, r))
        log(
            "bcel",
            aten.binary_cross_entropy_with_logits(x, y, None, None, r),
            aten.binary_cross_entropy_with_logits(x, y, w, w, r),
        )
        log(
            "nll",
            aten.nll_loss(x, t, None, r),
            aten.nll_loss(x, t, w, r),
            aten.nll_loss_forward(x, t, w, r, 0),
        )
        log(
            "ce",
            aten.cross_entropy_loss(x, t, None, r),
            aten.cross_entropy_loss(x, t, w, r),
            aten.cross_entropy_loss(x, y, w, r),
            aten.cross_entropy_loss(x, t, w, r, 0, 0.1),
            aten.cross_entropy_loss(x, y, None, r, -100, 0.2),
        )
    log(
        aten.cosine_similarity(x, y),
        aten.pairwise_distance(x, y),
        aten.pairwise_distance(x, y, 1.0, 1e-6, True),
        T.dist(x, y),
        T.dist(x, y, 1),
    )
    for label, f in {
        "out": lambda: aten.nll_loss(x, T.tensor([5, 0])), "size": lambda: aten.nll_loss(x, T.tensor([1])), "float": lambda: aten.nll_loss(x, y[:, 0]), "weights": lambda: aten.nll_loss(x, t, w[:2]), "huber": lambda: aten.huber_loss(x, y, 1, 0.0), "smooth": lambda: aten.smooth_l1_loss(x, y, 1, -1.0), "bce": lambda: aten.binary_cross_entropy(x + 1, y), "cos": lambda: aten.cosine_similarity(t, t), "kl": lambda: aten.kl_div(t, t),
    }.items():  # fmt: skip
        _try(log, label, f)


def schemas_and_tags(s, log):
    names = "frac lerp.Scalar bitwise_left_shift.Tensor __lshift__.Scalar masked_select unique_dim _unique2 bincount eye linspace clip greater.Tensor hstack diag trace one_hot argwhere nanmean aminmax std_mean.correction take index_add masked_select.out celu positive".split()
    for name in names:
        base, _, overload = name.partition(".")
        op = getattr(getattr(s.ops.aten, base), overload or "default")
        log(name, str(op._schema), sorted(log.show(t) for t in op.tags))


def registered_keys(s, log):
    has = s.C._dispatch_has_kernel_for_dispatch_key
    for name in "frac lerp.Scalar __lshift__.Scalar masked_select unique_dim eye linspace linspace.out clip greater.Tensor hstack diag diag_embed trace one_hot nanmean std_mean count_nonzero cummax take take.out celu hardswish block_diag rot90 cross linalg_cross is_same_size".split():
        log(
            name,
            [
                k
                for k in ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
                if has("aten::" + name, k)
            ],
        )


def decompositions(s, log):
    T, aten, seen = s.T, s.ops.aten, []

    class Mode(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    x, v, t = T.rand(3, 4), T.rand(3), T.tensor([0, 1, 2])
    for label, f in {
        "diag": lambda: T.diag(v), "outer": lambda: T.outer(v, v), "inner": lambda: T.inner(x, x), "kron": lambda: T.kron(x, x), "tensordot": lambda: T.tensordot(x, x, ([0], [0])), "hstack": lambda: T.hstack((v, v)), "vstack": lambda: T.vstack((v, v)), "column_stack": lambda: T.column_stack((v, x)), "meshgrid": lambda: T.meshgrid(v, v, indexing="xy"), "cartesian": lambda: T.cartesian_prod(v, v), "combinations": lambda: T.combinations(v), "trapezoid": lambda: T.trapezoid(x), "nanmean": lambda: T.nanmean(x), "std_mean": lambda: T.std_mean(x), "argsort": lambda: T.argsort(x), "take_along": lambda: T.take_along_dim(x, t.view(3, 1), 1), "one_hot": lambda: aten.one_hot(t), "ce": lambda: aten.cross_entropy_loss(x, t), "cos": lambda: aten.cosine_similarity(x, x), "pd": lambda: aten.pairwise_distance(x, x), "selu": lambda: aten.selu(x), "relu6": lambda: aten.relu6(x), "prelu": lambda: aten.prelu(x, v[:1]), "float_power": lambda: T.float_power(x, 2), "clip": lambda: T.clip(x, 0, 1), "greater": lambda: T.greater(x, 1), "divide": lambda: T.divide(x, 2), "unique": lambda: T.unique(t), "norm": lambda: T.norm(x), "tensor_split": lambda: T.tensor_split(v, 2), "fill_diagonal_": lambda: x.fill_diagonal_(1), "isreal": lambda: T.isreal(x), "celu": lambda: aten.celu(x), "eye": lambda: T.eye(2), "linspace": lambda: T.linspace(0, 1, 2),
    }.items():  # fmt: skip
        seen.clear()
        with Mode():
            f()
        log(label, *seen)
