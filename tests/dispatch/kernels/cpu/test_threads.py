"""How many threads make a result does not show in it."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dispatch
from dispatch import ops

ATEN = ops.aten
ROWS, WIDTH = 600, 700  # floats of more than a megabyte: three threads


@pytest.fixture(autouse=True)
def threads_as_before():
    before = dispatch.get_num_threads()
    yield
    dispatch.set_num_threads(before)


def numbers(*sizes):
    dispatch.manual_seed(5)
    return dispatch.randn(*sizes)


def places(n, below, *sizes):
    dispatch.manual_seed(7)
    return dispatch.randint(0, below, sizes or (n,))


def heads(x):
    """Query, and key and value whose heads two of query's share."""
    query = x.view(3, 4, 200, 175)
    return query, query[:, 1:3] * 2, query[:, 2:]


def last(x):
    """Two images whose channels are last."""
    return x.view(2, 30, 100, 70).to(memory_format=dispatch.channels_last)


ADAM = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 1e-8}
FLAGS = {"amsgrad": True, "maximize": False}


def adam(x):
    """The parameter and its state after a step."""
    tensors = [x, x + 1, x + 2, x.abs(), x.abs() * 2]
    ATEN._fused_adam_(*([t] for t in tensors), [dispatch.ones(())], **ADAM, **FLAGS)
    return tensors


def ctc(x):
    """The losses of seven targets, and their gradient."""
    logs = x.view(100, 7, 600).log_softmax(2)
    rest = places(7, 600, 7, 40), [100, 99, 50, 0, 100, 100, 90], [40, 3, 25, 0, 1, 0, 39]
    losses, table = ATEN._ctc_loss(logs, *rest)
    return losses, ATEN._ctc_loss_backward(losses, logs, *rest, losses, table, 0)


CALLS = {
    "sort": lambda x: dispatch.sort(x, 1),
    "stable sort of columns": lambda x: dispatch.sort(x, dim=0, stable=True),
    "topk": lambda x: dispatch.topk(x, 40, 1),
    "kthvalue": lambda x: dispatch.kthvalue(x, 9, 1),
    "median": lambda x: dispatch.median(x, 1),
    "rfft of a prime length": lambda x: ATEN._fft_r2c(x[:, :691], [1], 0, True).angle(),
    "fft of columns of a prime length": lambda x: ATEN._fft_r2c(x[:599], [0], 0, False).abs(),
    "product of a vector in 16 bits": lambda x: x.bfloat16().mv(x[0].bfloat16()),
    "grid_sampler": lambda x: ATEN.grid_sampler(
        x.view(4, 15, 70, 100), x.view(4, -1)[:, :12000].reshape(4, 60, 100, 2).sin(), 0, 0, True
    ),
    "grid_sampler of one image": lambda x: ATEN.grid_sampler(
        x.view(1, 60, 70, 100), x.view(1, -1)[:, :12000].reshape(1, 60, 100, 2).sin(), 1, 1, True
    ),
    "grid_sampler_backward": lambda x: ATEN.grid_sampler_2d_backward(
        *(x.view(4, 15, 70, 100)[:, :, :60], x.view(4, 15, 70, 100)),
        x.view(4, -1)[:, :12000].reshape(4, 60, 100, 2).sin(),
        *(0, 0, True, [True, True]),
    ),
    "group_norm of channels that are last": lambda x: ATEN.native_group_norm(
        x.view(6, 20, 100, 35).to(memory_format=dispatch.channels_last),
        *(x[0, :20], x[1, :20], 6, 20, 3500, 5, 1e-5),
    ),
    "extremes in 16 bits": lambda x: [
        *(x.half().max(), x.bfloat16().min(), x.half().amax(1), x.half().amax(0)),
        *x.half().aminmax(),
        *x.half().aminmax(dim=1),
    ],
    "extremes of whole numbers": lambda x: [
        *((x * 1e5).int().max(), (x * 1e3).short().min(), (x * 9).to(dispatch.int8).amin(1))
    ],
    "searchsorted": lambda x: [
        dispatch.searchsorted(x.sort(1)[0], x),
        dispatch.searchsorted(x, x, sorter=x.argsort(1), right=True),
        dispatch.bucketize(x, dispatch.arange(-3.0, 3.0)),
    ],
    "index_add, _copy and _reduce of rows that meet": lambda x: [
        dispatch.index_add(x, 0, places(500, ROWS), x[100:]),
        dispatch.index_copy(x.half(), 0, places(500, ROWS), x[100:].half()),
        dispatch.index_reduce(x, 0, places(500, ROWS), x[100:], "amax"),
        dispatch.index_add(x, 0, places(500, 3), x[100:]),
        dispatch.index_add(x.t().contiguous().t(), 1, places(650, WIDTH), x[:, 50:]),
    ],
    "logspace": lambda x: [
        dispatch.logspace(-2, 2, 50000, dtype=getattr(dispatch, name))
        for name in ("float32", "float64", "float16", "int32")
    ],
    "mode": lambda x: dispatch.mode((x * 3).to(dispatch.int64), 1),
    "layer_norm": lambda x: ATEN.native_layer_norm(x, [WIDTH], x[0], x[1], 1e-5),
    "layer_norm_backward, the input's": lambda x: ATEN.native_layer_norm_backward(
        x * 2, x, [WIDTH], x[:, :1], x[:, 1:2].abs(), x[0], x[1], [True, False, False]
    )[0],
    "layer_norm of halves": lambda x: ATEN.native_layer_norm(x.half(), [WIDTH], None, None, 1e-5),
    "batch_norm": lambda x: ATEN.native_batch_norm(
        x.view(6, 20, -1), x[0, :20], x[1, :20], x[2, :20].clone(), x[3, :20].abs(), True, 0.1, 1e-5
    ),
    "batch_norm of rows": lambda x: ATEN.native_batch_norm(
        x, x[0], x[1], x[2].clone(), x[3].abs(), False, 0.1, 1e-5
    ),
    "batch_norm_backward": lambda x: ATEN.native_batch_norm_backward(
        x.view(6, 20, -1) * 2,
        x.view(6, 20, -1),
        x[0, :20],
        None,
        None,
        x[1, :20],
        x[2, :20].abs(),
        True,
        1e-5,
        [True, True, True],
    ),
    "batch_norm_backward of rows": lambda x: ATEN.native_batch_norm_backward(
        x * 2, x, x[0], None, None, x[1], x[2].abs(), True, 1e-5, [True, True, True]
    ),
    "group_norm": lambda x: ATEN.native_group_norm(
        x.view(6, 20, -1), x[0, :20], x[1, :20], 6, 20, 3500, 5, 1e-5
    ),
    "bmm": lambda x: dispatch.bmm(x.view(12, 50, -1), x.view(12, -1, 50)),
    "attention": lambda x: ATEN._scaled_dot_product_flash_attention_for_cpu(*heads(x)),
    "attention_backward": lambda x: ATEN._scaled_dot_product_flash_attention_for_cpu_backward(
        heads(x)[0] + 1,
        *heads(x),
        *ATEN._scaled_dot_product_flash_attention_for_cpu(*heads(x)),
        0.0,
        False,
    ),
    "mse_loss": lambda x: ATEN.mse_loss(x, x * 2 + 1),
    "mse_loss of each": lambda x: ATEN.mse_loss(x.half(), x * 2 + 1, 0),
    "binary_cross_entropy of each": lambda x: ATEN.binary_cross_entropy(x.sigmoid(), x, x.abs(), 0),
    "binary_cross_entropy_backward": lambda x: ATEN.binary_cross_entropy_backward(
        x, x.sigmoid(), x * 2, x.abs()
    ),
    "arange": lambda x: dispatch.arange(3, 500_001, 0.7),
    "arange of integers": lambda x: dispatch.arange(-5, 3_000_000, 7, dtype=dispatch.int64),
    "channels_last": lambda x: x.view(20, 21, 50, 20).contiguous(
        memory_format=dispatch.channels_last
    ),
    "transposed": lambda x: x.t().contiguous(),
    "index_select of rows": lambda x: dispatch.index_select(x, 0, places(ROWS, ROWS)),
    "index_select of columns": lambda x: dispatch.index_select(x, 1, places(WIDTH, WIDTH)),
    "index of both": lambda x: x[places(0, ROWS, ROWS, 1), places(0, WIDTH, 1, WIDTH)],
    "index_copy, an index twice": lambda x: dispatch.index_copy(x, 0, places(ROWS, 9), x + 1),
    "index_fill of columns": lambda x: dispatch.index_fill(x, 1, places(WIDTH, 50), 2.0),
    "index_add": lambda x: dispatch.index_add(x, 0, places(ROWS, 9), x),
    "index_add of columns": lambda x: dispatch.index_add(x, 1, places(WIDTH, 9), x),
    "index_put added up": lambda x: x.index_put([places(ROWS, 5)], x, True),
    "index_put added up in one place": lambda x: dispatch.zeros(4).index_put(
        [places(0, 1, x.numel())], dispatch.ones(x.numel()), True
    ),
    "softmax of short rows": lambda x: dispatch.softmax(x[:300], 1),
    "distances within one set": lambda x: dispatch.pdist(x[:, :300]),
    "max_pool1d": lambda x: dispatch.max_pool1d(x, [3], [2], [1]),
    "max_pool2d, channels last": lambda x: ATEN.max_pool2d_with_indices(
        last(x), [3, 3], [2, 1], [1, 1]
    ),
    "max_pool3d, channels last": lambda x: ATEN.max_pool3d_with_indices(
        x.view(2, 3, 10, 100, 70).to(memory_format=dispatch.channels_last_3d), [2, 3, 2]
    ),
    "averages, channels last": lambda x: [
        ATEN.avg_pool2d(last(x), [3, 3], [2, 2], [1, 1]),
        ATEN._adaptive_avg_pool2d(last(x), [9, 7]),
    ],
    "adaptive_max_pool2d, channels last": lambda x: ATEN.adaptive_max_pool2d(last(x), [9, 7]),
    "upsampled, channels last": lambda x: [
        ATEN.upsample_nearest2d(last(x), [150, 80]),
        ATEN.upsample_bilinear2d(last(x), [150, 80], False),
    ],
    "smoothed": lambda x: [
        ATEN._upsample_bilinear2d_aa(last(x), [30, 40], False),
        ATEN._upsample_bicubic2d_aa((last(x) * 40).byte().repeat(4, 1, 1, 1), [30, 70], True),
        ATEN._upsample_bilinear2d_aa_backward(
            x.view(2, 30, 100, 70), [100, 70], [2, 30, 55, 90], False
        ),
    ],
    "reflected": lambda x: ATEN.reflection_pad1d(x, [3, 5]),
    "ends of a plane repeated": lambda x: ATEN.replication_pad2d(x[None], [3, 5, 2, 7]),
    "ends of a volume's planes": lambda x: ATEN.replication_pad3d(
        x.view(2, 2, 50, 30, 70), [3, 5, 2, 7, 1, 1]
    ),
    "reflected channels_last": lambda x: ATEN.reflection_pad2d(
        x.view(1, 30, 200, 70).to(memory_format=dispatch.channels_last), [3, 5, 2, 7]
    ),
    "reflected, the gradient": lambda x: ATEN.reflection_pad2d_backward(
        x.view(3, 2, 350, 200), x.view(3, 2, 350, 200)[:, :, 8:-7, 9:-6], [9, 6, 8, 7]
    ),
    "reflected, one plane's gradient": lambda x: ATEN.reflection_pad2d_backward(
        x[None], x[None, 8:-7, 9:-6], [9, 6, 8, 7]
    ),
    "side by side": lambda x: dispatch.cat([x, x * 2], 1),
    "any": lambda x: (x > 9).any(),
    "any, in the last part": lambda x: (dispatch.arange(x.numel()) == x.numel() - 1).any(),
    "all": lambda x: (x > -9).all(),
    "all, but in the last part": lambda x: (dispatch.arange(x.numel()) < x.numel() - 1).all(),
    "sum of bytes": lambda x: dispatch.cat([(x * 50).to(dispatch.uint8)] * 4).sum(),
    "count_nonzero": lambda x: x.round().count_nonzero(),
    "largest and smallest": lambda x: [x.amax(), x.amin(), (x * 100).to(dispatch.int64).amax()],
    "infinite norm": lambda x: [x.norm(float("inf")), x.norm(float("-inf"))],
    "norm 0": lambda x: x.round().norm(0),
    "product of integers": lambda x: ((x * 9).to(dispatch.int64) | 1).prod(),
    "product of halves": lambda x: [(x * 1e-2 + 1).half().prod(), (x * 0.1 + 1).bfloat16().prod()],
    "take": lambda x: dispatch.take(x, places(0, x.numel(), ROWS, WIDTH)),
    "zeros": lambda x: [dispatch.zeros(n) for n in (262_143, 300_000, 262_145 * 4)],
    "embedding_dense_backward": lambda x: ATEN.embedding_dense_backward(
        x[:9], places(9, 700), WIDTH, -1, False
    ),
    "embedding_bag, a bag empty": lambda x: ATEN.embedding_bag(
        x, places(900, ROWS), dispatch.tensor([0, 5, 5, 300, 301, 899, 900]), False, 0
    )[0],
    "embedding_bag of all, means": lambda x: ATEN.embedding_bag(
        x, places(900, ROWS), dispatch.tensor([0]), False, 1
    )[0],
    "embedding_bag with weights": lambda x: ATEN.embedding_bag(
        x.half(),
        places(900, ROWS),
        dispatch.arange(0, 900, 3),
        False,
        0,
        False,
        x.half().view(-1)[:900],
    )[0],
    "embedding": lambda x: ATEN.embedding(x, places(ROWS, ROWS)),
    "histc": lambda x: [ATEN.histc(x, 50), ATEN.histc(x.half(), 7, -1, 2), ATEN.histc(x.double())],
    "transforms of long lines": lambda x: [ATEN.fft_fft(x.view(2, -1)), ATEN.fft_rfft(x.view(-1))],
    "adam": adam,
    "ctc": ctc,
    "nll_loss": lambda x: [
        ATEN.nll_loss_nd(y, places(len(y), y.shape[1], *y.shape[:1], *y.shape[2:]), None, 0, 2)
        for y in (x.view(-1, 4), x.half().view(-1, 3), x.double().view(40, 3, 50, 70))
    ],
    "cdist": lambda x: [ATEN._cdist_forward(x[:, :40], x[:, 40:80], p, 2) for p in (1.0, 3.0)],
    "cdist backward": lambda x: ATEN._cdist_backward(x, x[:, :9], x.t()[:, :9], 1.0, x),
    "fractional pool": lambda x: ATEN.fractional_max_pool2d(
        x.view(10, 12, 70, 50), [2, 3], [30, 9], numbers(10, 12, 2).sigmoid()
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_two_threads_make_what_one_makes(name):
    made = []
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        out = CALLS[name](numbers(ROWS, WIDTH))
        made.append([out] if isinstance(out, dispatch.Tensor) else list(out))
    for one, many in zip(*made, strict=True):
        assert one.shape == many.shape
        assert dispatch.equal(one, many)


WHOLE = {
    "sum": (lambda x: x.sum(), lambda a: a.sum()),
    "mean": (lambda x: x.mean(), lambda a: a.mean()),
    "nansum": (lambda x: x.nansum(), lambda a: a.sum()),
    "norm 1": (lambda x: x.norm(1), lambda a: abs(a).sum()),
    "norm 2": (lambda x: x.norm(2), lambda a: (abs(a) ** 2).sum() ** 0.5),
    "norm 3": (lambda x: x.norm(3), lambda a: (abs(a) ** 3).sum() ** (1 / 3)),
    "norm 4": (lambda x: x.norm(4), lambda a: (abs(a) ** 4).sum() ** (1 / 4)),
    "norm 2.5": (lambda x: x.norm(2.5), lambda a: (abs(a) ** 2.5).sum() ** 0.4),
    "prod": (lambda x: (x * 1e-3 + 1).prod(), lambda a: (a * 1e-3 + 1).prod()),
}


DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize(
    "name, dtype", [(n, d) for n in WHOLE for d in DTYPES[: 2 if n == "nansum" else 4]]
)
def test_one_result_of_parts_is_that_of_the_whole(name, dtype):
    dispatch.set_num_threads(3)
    ours, theirs = WHOLE[name]
    x = numbers(ROWS, WIDTH).to(dispatch.float64)
    if "complex" in dtype:
        x = dispatch.complex(x, numbers(ROWS, WIDTH + 1)[:, 1:].to(dispatch.float64))
    x = x.to(getattr(dispatch, dtype))
    want = theirs(x.numpy().astype("complex128" if "complex" in dtype else "float64"))
    near = (1e-6 if dtype in ("float32", "complex64") else 1e-12) * (50 if name == "prod" else 1)
    assert ours(x).item() == pytest.approx(want, rel=near, abs=near)


def test_one_result_of_parts_of_halves_and_of_what_is_no_number():
    dispatch.set_num_threads(3)
    x = numbers(ROWS, WIDTH)
    for dtype, near in ((dispatch.float16, 1e-3), (dispatch.bfloat16, 1e-2)):
        narrow = x.abs().to(dtype)
        want = float(narrow.to(dispatch.float64).numpy().sum())
        assert (narrow.mean() * 100).item() == pytest.approx(want / x.numel() * 100, rel=near)
        factors = (narrow * 0 + 1).view(-1)
        factors[5] = 3
        assert factors.prod().item() == 3
    x[ROWS - 1, 5] = float("nan")
    assert all(r.isnan() for r in (x.sum(), x.amax(), x.amin(), x.norm(1), x.prod()))
    assert not x.nansum().isnan()
    z = dispatch.complex(x, x)
    assert z.all() and z.any()
    z[0, 0] = 0
    assert not z.all() and z.any()


@pytest.mark.parametrize("rows", [1, 45, 600, 601])
def test_gradients_of_a_layers_parameters_are_sums_over_the_rows_of_all_threads(rows):
    dispatch.set_num_threads(3)
    grad, x = numbers(rows, 900).double(), (numbers(rows + 1, 900)[1:] * 2).double()
    mean, rstd = x[:, :1] * 0.1, x[:, 1:2].abs() + 0.5
    weight = x[0]
    made = ATEN.native_layer_norm_backward(
        grad, x, [900], mean, rstd, weight, weight, [True, True, True]
    )
    g, a, m, r = (t.numpy() for t in (grad, x, mean, rstd))
    assert made[1].numpy() == pytest.approx((g * (a - m) * r).sum(0), rel=1e-11, abs=1e-11)
    assert made[2].numpy() == pytest.approx(g.sum(0), rel=1e-11, abs=1e-11)


IMAGES = {  # of what, weight, stride, groups
    "a strided one": ((1, 6, 70, 70), (9, 6, 3, 3), 2, 1),
    "three in groups": ((3, 6, 50, 41), (8, 3, 5, 3), 1, 2),
    "one element": ((2, 90, 40, 40), (80, 90, 1, 1), 1, 1),
    "a line": ((2, 30, 3000), (20, 30, 4), 3, 1),
    "a volume": ((1, 8, 20, 21, 22), (10, 4, 3, 3, 3), 1, 2),
    "many channels": ((2, 16, 12, 20), (160, 16, 3, 3), 1, 1),
    "depthwise": ((3, 40, 31, 30), (40, 1, 3, 3), 1, 40),
    "depthwise by two": ((2, 20, 61, 62), (20, 1, 5, 3), 2, 20),
    "large depthwise": ((2, 9, 70, 70), (9, 1, 3, 3), 1, 9),
    "small images": ((12, 3, 70, 70), (16, 3, 3, 3), 2, 1),
}


@pytest.mark.parametrize("way", ["", "transposed", "last", "bfloat16", "float32"])
@pytest.mark.parametrize("name", IMAGES)
def test_threads_that_share_a_convolution_make_what_one_makes(name, way):
    sizes, weight, stride, groups = IMAGES[name]
    n = len(sizes) - 2
    dtype = getattr(dispatch, way if "float" in way else "float64")
    w = numbers(*weight).to(dtype)
    made = []
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        if way == "transposed":
            x = numbers(sizes[0], weight[0], *sizes[2:]).to(dtype)
        else:
            x = numbers(*sizes).to(dtype)
        if way == "last" and n == 2:
            x = x.to(memory_format=dispatch.channels_last)
        bias = numbers(w.shape[1] * groups if way == "transposed" else w.shape[0]).to(dtype)
        rest = [[stride] * n, [1] * n, [1] * n, way == "transposed", [0] * n, groups]
        y = ATEN.convolution(x, w, bias, *rest)
        grads = ATEN.convolution_backward(y, x, w, [bias.numel()], *rest, [True, True, True])
        made.append([y, *grads])
    for one, many in zip(*made, strict=True):
        assert one.shape == many.shape and one.stride() == many.stride()
        scale = one.double().abs().max().item()
        near = {"bfloat16": 1e-2, "float32": 2e-6}.get(way, 1e-12)
        assert ((one - many).double().abs().max() / scale).item() <= near


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("step", [1, 3])
def test_a_long_dot_product_is_the_sum_of_its_parts(dtype, step):
    dispatch.set_num_threads(3)
    x = (numbers(3 * 400_001) + 1).to(getattr(dispatch, dtype))[::step]
    y = numbers(3 * 400_001 + 5).abs().to(getattr(dispatch, dtype))[5::step]
    want = (x.numpy().astype("float64") * y.numpy().astype("float64")).sum()
    near = 1e-5 if dtype == "float32" else 1e-12
    assert dispatch.dot(x, y).item() == pytest.approx(want, rel=near)
    assert dispatch.dot(x, y.fill_(0)).item() == 0


def test_an_index_that_is_out_of_range_is_named_by_several_threads_too():
    dispatch.set_num_threads(3)
    x, index = numbers(ROWS, WIDTH), places(0, 5, ROWS, WIDTH)
    index[ROWS - 1, 3] = x.numel()
    with pytest.raises(IndexError, match=f"index {x.numel()} is out of bounds"):
        dispatch.take(x, index)


def openblas(owner="numpy"):
    """What says how many threads OpenBLAS of numpy or scipy has; None: it has another library."""
    maps = Path("/proc/self/maps")
    lines = maps.read_text().splitlines() if maps.exists() else []
    for path in {line.split()[-1] for line in lines if "openblas" in line and owner in line}:
        for prefix in ("scipy_", ""):
            for suffix in ("64_", ""):
                name = f"{prefix}openblas_get_num_threads{suffix}"
                if hasattr(ctypes.CDLL(path), name):
                    return getattr(ctypes.CDLL(path), name)
    return None


def test_set_num_threads_is_for_numpys_products_too_and_parts_that_multiply_give_them_back():
    asked = openblas()
    if asked is None:
        pytest.skip("numpy's BLAS is not OpenBLAS")
    x = numbers(12, 300, 300)
    for threads in (3, 1, 2):
        dispatch.set_num_threads(threads)
        assert asked() == threads
        dispatch.bmm(x, x)
        assert asked() == threads


def test_scipys_blas_has_the_threads_too_and_gets_them_back_after_a_factorisation():
    pytest.importorskip("scipy")
    dispatch.set_num_threads(3)
    values = dispatch.eye(64) * 4
    dispatch.linalg.cholesky(values)
    asked = openblas("scipy.libs")
    if asked is None:
        pytest.skip("scipy's BLAS is not OpenBLAS")
    for threads in (3, 1, 2):
        dispatch.set_num_threads(threads)
        for factor in (dispatch.linalg.cholesky, dispatch.linalg.inv, dispatch.linalg.qr):
            factor(values)
            assert asked() == threads


def test_threads_are_for_a_blas_that_is_loaded_later():
    pytest.importorskip("scipy")
    program = """
import dispatch
from tests.dispatch.kernels.cpu.test_threads import openblas
dispatch.set_num_threads(1)
assert openblas("scipy.libs") is None
dispatch.linalg.cholesky(dispatch.eye(3))
print((openblas("scipy.libs") or dispatch.get_num_threads)())
"""
    root = Path(__file__).resolve().parents[4]
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )
    assert found.stdout == "1\n"


@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.complex64, dispatch.complex128])
def test_threads_that_share_small_matrices_make_what_one_makes(dtype):
    pytest.importorskip("scipy")
    x = numbers(ROWS, WIDTH).view(-1)[: 300 * 1024].view(300, 32, 32).to(dtype)
    found = []
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        inverse = dispatch.linalg.inv(x)
        found.append((inverse, dispatch.linalg.solve(x.mT, x), dispatch.linalg.det(x)))
    for one, three in zip(*found, strict=True):
        assert dispatch.equal(one, three)
    assert dispatch.allclose(x @ found[0][0], dispatch.eye(32, dtype=dtype), atol=1e-2)


STRIPS = [(700, 300, 333), (333, 300, 700), (9000, 130, 17), (17, 130, 9000)]


@pytest.mark.parametrize("sizes", STRIPS)
def test_threads_that_share_the_strips_of_a_product_make_what_one_makes(sizes):
    m, k, n = sizes
    a, b = numbers(m, k), numbers(n, k).t()
    dispatch.set_num_threads(1)
    wanted = a @ b, a.mv(b[:, 0]), a.t().contiguous().t() @ b.contiguous()
    dispatch.set_num_threads(3)
    found = a @ b, a.mv(b[:, 0]), a.t().contiguous().t() @ b.contiguous()
    for one, three in zip(wanted, found, strict=True):
        assert dispatch.allclose(one, three, rtol=1e-5, atol=1e-4)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no thread is tied to a processor")
def test_a_thread_that_wakes_where_its_caller_runs_goes_elsewhere():
    program = """
import os, threading
import dispatch
before, everywhere = set(os.listdir("/proc/self/task")), os.sched_getaffinity(0)
here = min(everywhere)

def others():
    return set(map(int, set(os.listdir("/proc/self/task")) - before)) - {threading.get_native_id()}

def work():
    os.sched_setaffinity(threading.get_native_id(), {here})     # its threads begin there too
    dispatch.set_num_threads(2)
    x = dispatch.ones(1000, 1000)
    while not others() or here in set.union(*map(os.sched_getaffinity, others())):
        x.sum()

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("there is one processor")
    root = Path(__file__).resolve().parents[4]
    subprocess.run([sys.executable, "-c", program], cwd=root, check=True, timeout=60)


@pytest.mark.parametrize("rows", [2, 16])
@pytest.mark.parametrize("columns", [1024, 4099])
def test_threads_that_share_the_columns_of_a_thin_product_make_what_one_makes(rows, columns):
    x, weight, bias = numbers(rows, 768), numbers(columns, 768), numbers(columns)
    dispatch.set_num_threads(1)
    wanted = ATEN.linear(x, weight, bias), dispatch.mm(x, weight.t())
    dispatch.set_num_threads(3)
    assert dispatch.equal(ATEN.linear(x, weight, bias), wanted[0])
    assert dispatch.equal(dispatch.mm(x, weight.t()), wanted[1])


@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.float64])
def test_threads_that_share_the_steps_of_a_layer_make_what_one_makes(dtype):
    size = 137
    weights = [numbers(4 * size, size).mul(0.05).to(dtype) for _ in range(2)]
    x, states = numbers(3, 60, size).to(dtype), [dispatch.zeros(1, 60, size, dtype=dtype)] * 2
    found = []
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        found.append(ATEN.lstm(x, states, weights, False, 1, 0.0, False, False, False))
    assert all(dispatch.allclose(a, b, atol=1e-6) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_behind_the_last_number_of_a_range_is_written(threads):
    dispatch.set_num_threads(threads)
    room = dispatch.zeros(500_009)
    dispatch.arange(500_001, out=room[:500_001])
    assert room[500_000] == 500_000
    assert not room[500_001:].any()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("sizes", [(7, 600, 11, 13), (5, 24, 64, 67), (2, 3, 1, 1)])
def test_statistics_of_channels_last_are_those_of_planes(threads, sizes):
    """Rows are shared by threads there, and what each found of a channel is put together."""
    dispatch.set_num_threads(threads)
    x = numbers(*sizes).double() + 1000
    x[:, 1] = 3
    grad, weight = numbers(*sizes).double(), numbers(sizes[1]).double()
    last = [t.to(memory_format=dispatch.channels_last) for t in (x, grad)]
    rest = (weight, weight, None, None, True, 0.1, 0.5)
    made, want = (ATEN.native_batch_norm(t, *rest) for t in (last[0], x))
    slopes = [
        ATEN.native_batch_norm_backward(g, t, weight, None, None, *want[1:], True, 0.5, [True] * 3)
        for t, g in (last, (x, grad))
    ]
    for a, b in [*zip(made, want, strict=True), *zip(*slopes, strict=True)]:
        assert a.numpy() == pytest.approx(b.numpy(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("threads", [1, 3])
def test_squares_are_those_of_distances_from_a_mean_that_is_given(threads):
    """Into outputs, of an input with gaps, what is in save_mean counts."""
    dispatch.set_num_threads(threads)
    x = numbers(40, 9, 64, 67).double().to(memory_format=dispatch.channels_last)[..., :66]
    mean, rstd = dispatch.arange(9.0).double(), dispatch.zeros(9).double()
    outs = {"out": dispatch.empty_like(x), "save_mean": mean, "save_invstd": rstd}
    ATEN.native_batch_norm.out(x, None, None, None, None, True, 0.1, 0.5, **outs)
    assert mean.tolist() == [*range(9)]
    squares = ((x - mean.view(1, 9, 1, 1)) ** 2).mean([0, 2, 3])
    assert rstd.numpy() == pytest.approx(1 / (squares.numpy() + 0.5) ** 0.5, rel=1e-9)


def test_a_channel_that_begins_with_infinity_has_an_infinite_mean():
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        x = numbers(30, 7, 64, 67).to(memory_format=dispatch.channels_last)
        x[0, 2, 0, 0] = float("inf")
        _, mean, rstd = ATEN.native_batch_norm(x, None, None, None, None, True, 0.1, 0.5)
        assert mean.isinf().nonzero().view(-1).tolist() == [2]
        assert rstd.isnan().nonzero().view(-1).tolist() == [2]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "bool", "complex128"])
def test_long_pieces_are_joined_in_the_order_of_the_output(threads, dtype):
    dispatch.set_num_threads(threads)
    kind = getattr(dispatch, dtype)
    parts = [(numbers(9, n, 700) * 3).to(kind) for n in (2, 1, 40)]
    out = ATEN.cat(parts, 1)
    assert [p.equal(q) for p, q in zip(out.split([2, 1, 40], 1), parts, strict=True)] == [True] * 3
    for dim in (1, 2, 3, -2):
        same = [parts[2], parts[2].flip(0), parts[2][:, :, :]]
        stacked = ATEN.stack(same, dim)
        assert all(p.equal(q) for p, q in zip(stacked.unbind(dim), same, strict=True))
    gaps = [parts[2][:, ::2], parts[2][:, 1::2].contiguous()]
    assert ATEN.cat(gaps, 2)[..., :700].equal(gaps[0])
