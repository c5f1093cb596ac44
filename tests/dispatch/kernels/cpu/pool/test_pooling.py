"""Pooling on the CPU: ties, NaN, padding, gradients (values recorded from PyTorch 2.13)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
nan, inf = math.nan, math.inf


def row(*values: float) -> dispatch.Tensor:
    return dispatch.tensor([[list(values)]])


def test_max_pool_takes_the_first_of_equals():
    values, indices = aten.max_pool2d_with_indices(row(1.0, 3.0, 3.0, 2.0), [1, 4])
    assert (values.item(), indices.item()) == (3, 1)


def test_max_pool_takes_the_last_nan():
    x = dispatch.tensor([[[1, nan, 3], [nan, 5, nan], [7, 8, 9.0]]])
    values, indices = aten.max_pool2d_with_indices(x, [2, 2], [1, 1])
    assert values.isnan().all()
    assert indices.tolist() == [[[3, 5], [3, 5]]]


def test_window_of_minus_infinity_points_at_its_first_element():
    x = dispatch.full([1, 3, 3], -inf)
    indices = aten.max_pool2d_with_indices(x, [2, 2], [1, 1], [1, 1])[1]
    assert indices.tolist() == [[[0, 0, 1, 2], [0, 0, 1, 2], [3, 3, 4, 5], [6, 6, 7, 8]]]


@pytest.mark.parametrize("dims", [2, 3])
def test_max_pool_is_the_maximum_of_windows(dims):
    x = np.random.default_rng(0).standard_normal((2, 3, *[6] * dims)).astype(np.float32)
    op = getattr(aten, f"max_pool{dims}d_with_indices")
    values, indices = op(dispatch.from_numpy(x), [2] * dims)
    parts = x.reshape(2, 3, *[3, 2] * dims)
    np.testing.assert_array_equal(values.numpy(), parts.max(axis=tuple(range(3, 3 + 2 * dims, 2))))
    at = indices.numpy().reshape(2, 3, -1)
    np.testing.assert_array_equal(
        np.take_along_axis(x.reshape(2, 3, -1), at, axis=2), values.numpy().reshape(2, 3, -1)
    )


def test_max_pool_backward_adds_up_and_passes_over_bad_indices():
    indices = dispatch.tensor([[[0, 0, 99, -1]]])
    got = aten.max_pool2d_with_indices_backward(
        row(1.0, 2.0, 4.0, 8.0), row(0.0, 0, 0, 0), [1, 1], [1, 1], [0, 0], [1, 1], False, indices
    )
    assert got.tolist() == [[[3, 0, 0, 0]]]


@pytest.mark.parametrize(
    ("include_pad", "override", "want"),
    [
        (True, None, [1 / 3, 5 / 3, 5 / 3]),
        (False, None, [1 / 2, 5 / 3, 5 / 2]),
        (True, 2, [0.5, 2.5, 2.5]),
    ],
)
def test_avg_pool_divides_by_what_its_options_say(include_pad, override, want):
    x = row(0.0, 1.0, 2.0, 2.0, 3.0)
    got = aten.avg_pool2d(x, [1, 3], [1, 2], [0, 1], False, include_pad, override)
    assert got.flatten().tolist() == pytest.approx(want)


def test_avg_pool_of_integers_rounds_towards_zero():
    x = dispatch.tensor([[[-3, 2], [-4, 0]]])
    assert aten.avg_pool2d(x, [2, 2]).item() == -1
    assert aten.avg_pool2d(x, [2, 2], [], [0, 0], False, True, -2).item() == 2


@pytest.mark.parametrize("dtype", ["uint8", "int32", "bool"])
def test_avg_pool_without_a_kernel_is_not_implemented(dtype):
    with pytest.raises(NotImplementedError, match=f"avg_pool2d: .*{dtype}"):
        aten.avg_pool2d(dispatch.ones(1, 2, 2, dtype=getattr(dispatch, dtype)), [2, 2])


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7])
def test_adaptive_pool_covers_the_input(size):
    x = np.random.default_rng(1).standard_normal((2, 3, 5, 4))
    got = aten._adaptive_avg_pool2d(dispatch.from_numpy(x), [size, 2]).numpy()
    for i in range(size):
        a, b = i * 5 // size, -(-(i + 1) * 5 // size)
        np.testing.assert_allclose(got[:, :, i, 0], x[:, :, a:b, :2].mean(axis=(2, 3)))


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (7, 9)])
def test_adaptive_backward_is_adjoint(size):
    rng = np.random.default_rng(2)
    x, gy = rng.standard_normal((2, 3, 5, 4)), rng.standard_normal((2, 3, *size))
    y = aten._adaptive_avg_pool2d(dispatch.from_numpy(x), list(size)).numpy()
    gx = aten._adaptive_avg_pool2d_backward(dispatch.from_numpy(gy), dispatch.from_numpy(x))
    assert (gx.numpy() * x).sum() == pytest.approx((gy * y).sum())


def test_small_integers_in_channels_last_have_few_positions():
    x = dispatch.zeros(1, 2, 128, 1, dtype=dispatch.int8)
    assert aten.max_pool2d_with_indices(x, [1, 1])[0].shape == x.shape
    with pytest.raises(RuntimeError, match=r"max_pool2d_with_indices.*127"):
        aten.max_pool2d_with_indices(x.contiguous(memory_format=dispatch.channels_last), [1, 1])


# ---- other pools: against what they mean --------------------------------------------------------


def planes(dims, seed=0):
    sizes = (2, 3, 7, 6, 5)[: dims + 2]
    return np.random.default_rng(seed).normal(size=sizes)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("kind", ["average", "largest"])
def test_adaptive_bins_cover_the_input(dims, kind):
    x = planes(dims)
    given = dispatch.from_numpy(x)
    if kind == "average":
        got = getattr(aten, f"_adaptive_avg_pool{dims}d")(given, [3] * dims)
    else:
        got = getattr(aten, f"adaptive_max_pool{dims}d")(given, [3] * dims)[0]
    reduce = np.mean if kind == "average" else np.max
    for at in np.ndindex(*(3,) * dims):
        ends = [(i * n // 3, -((i + 1) * -n // 3)) for i, n in zip(at, x.shape[2:], strict=True)]
        window = x[(..., *(slice(a, b) for a, b in ends))]
        want = reduce(window, axis=tuple(range(2, dims + 2)))
        assert np.allclose(got.numpy()[(..., *at)], want)


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("last", [False, True])
def test_unpooling_puts_maxima_back(dims, last):
    layout = dispatch.channels_last if dims == 2 else dispatch.channels_last_3d
    x = dispatch.from_numpy(planes(dims))
    x = x.contiguous(memory_format=layout) if last else x
    values, at = getattr(aten, f"max_pool{dims}d_with_indices")(x, [2] * dims)
    more = ([1] * 3, [0] * 3) if dims == 3 else ()
    back = getattr(aten, f"max_unpool{dims}d")(values, at, list(x.shape[2:]), *more)
    kept = back.numpy() != 0
    assert (back.numpy()[kept] == x.numpy()[kept]).all() and kept.sum() == values.numel()


def test_unpooling_refuses_an_index_outside():
    x = dispatch.ones(1, 1, 1, 1)
    with pytest.raises(RuntimeError, match=r"max_unpool2d.*indices.*4"):
        aten.max_unpool2d(x, dispatch.full([1, 1, 1, 1], 4), [2, 2])


@pytest.mark.parametrize("dims", [2, 3])
def test_gradients_go_where_the_maxima_came_from(dims):
    x = dispatch.from_numpy(planes(dims))
    cases = {
        "max_pool": ([2] * dims, [1] * dims, [0] * dims, [1] * dims, False),
        "fractional_max_pool": ([2] * dims, [2] * dims),
        "adaptive_max_pool": (),
    }
    for name, options in cases.items():
        if name == "max_pool":
            values, at = getattr(aten, f"max_pool{dims}d_with_indices")(x, *options)
            back = getattr(aten, f"max_pool{dims}d_with_indices_backward")
            grad = back(dispatch.ones_like(values), x, *options, at)
        elif name == "adaptive_max_pool":
            values, at = getattr(aten, f"{name}{dims}d")(x, [2] * dims)
            grad = getattr(aten, f"{name}{dims}d_backward")(dispatch.ones_like(values), x, at)
        else:
            samples = dispatch.full([2, 3, dims], 0.5, dtype=dispatch.float64)
            values, at = getattr(aten, f"{name}{dims}d")(x, *options, samples)
            back = getattr(aten, f"{name}{dims}d_backward")
            grad = back(dispatch.ones_like(values), x, *options, at)
        assert (grad * x).sum().item() == pytest.approx(values.sum().item())


@pytest.mark.parametrize("dims", [2, 3])
@pytest.mark.parametrize("last", [False, True])
def test_gradient_of_an_average_is_the_transposed_map(dims, last):
    layout = dispatch.channels_last if dims == 2 else dispatch.channels_last_3d
    x = dispatch.from_numpy(planes(dims))
    x = x.contiguous(memory_format=layout) if last else x
    options = ([3] * dims, [2] * dims, [1] * dims, True, False, None)
    y = getattr(aten, f"avg_pool{dims}d")(x, *options)
    g = dispatch.from_numpy(planes(dims, 1)[tuple(slice(n) for n in y.shape)].copy())
    back = getattr(aten, f"avg_pool{dims}d_backward")(g, x, *options)
    assert (y * g).sum().item() == pytest.approx((back * x).sum().item())


def test_one_dimension_is_a_plane_of_height_one():
    x = dispatch.tensor([[1.0, 5.0, 2.0, 4.0, 3.0]])
    values, at = aten.max_pool1d_with_indices(x, [2], [2], [0], [1], True)
    assert (values.tolist(), at.tolist()) == ([[5, 4, 3]], [[1, 3, 4]])
    assert aten.adaptive_max_pool1d(x, [1])[1].tolist() == [[1]]
    with pytest.raises(NotImplementedError, match="max_pool1d"):
        aten.max_pool1d(x.to(dispatch.int64), [2])


@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.int64])
def test_windows_with_gaps_that_begin_in_the_padding_keep_steps(dtype: dispatch.dtype) -> None:
    """The first window is at -1 and 1: it does not see what is at 0."""
    x = dispatch.tensor([[[9, 1, 2, 3, 4]]]).to(dtype)
    flat = aten.max_pool2d(x.unsqueeze(0), (1, 2), 1, (0, 1), (1, 2))
    assert flat.tolist() == [[[[1, 9, 3, 4, 3]]]]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("stride", "padding", "dilation"), [(1, 0, 1), (2, 1, 1), (3, 1, 2)])
def test_max_pool_is_the_largest_of_each_window(stride, padding, dilation, last):
    values = np.random.default_rng(0).integers(0, 9, size=(2, 20, 11, 12)).astype(np.float32)
    values[0, 3, 4, 5] = nan
    x = dispatch.from_numpy(values)
    if last:
        x = x.contiguous(memory_format=dispatch.channels_last)
    geometry = [3, 3], [stride, stride], [padding, padding], [dilation, dilation]
    found, places = (t.numpy() for t in aten.max_pool2d_with_indices(x, *geometry))
    for h, w in np.ndindex(found.shape[2:]):
        rows = [r for k in range(3) if 0 <= (r := h * stride - padding + k * dilation) < 11]
        columns = [c for k in range(3) if 0 <= (c := w * stride - padding + k * dilation) < 12]
        window = values[:, :, rows][:, :, :, columns]
        np.testing.assert_array_equal(found[:, :, h, w], window.max(axis=(2, 3)))
        first = window.reshape(2, 20, -1).argmax(2)
        at = np.array([r * 12 + c for r in rows for c in columns])[first]
        plain = ~np.isnan(found[:, :, h, w])
        np.testing.assert_array_equal(places[:, :, h, w][plain], at[plain])


@pytest.mark.parametrize("size", [[2, 2], [5, 3]])
def test_averages_with_channels_last_are_those_with_channels_first(size):
    values = np.random.default_rng(0).normal(size=(2, 20, 11, 12)).astype(np.float32)
    x = dispatch.from_numpy(values)
    last = x.contiguous(memory_format=dispatch.channels_last)
    for call in (lambda t: aten.avg_pool2d(t, size), lambda t: aten._adaptive_avg_pool2d(t, size)):
        np.testing.assert_allclose(call(last).numpy(), call(x).numpy(), rtol=1e-5, atol=1e-6)


def test_a_window_far_larger_than_the_input_is_walked_where_the_input_is():
    x = dispatch.arange(6.0).view(1, 2, 3)
    found, at = aten.max_pool1d_with_indices(x, [2**31], [2**31], [1], [1], True)
    assert found.tolist() == [[[2.0], [5.0]]] and at.tolist() == [[[2], [2]]]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("channels", [3, 40])
def test_averages_with_channels_last_are_those_of_channels_first(dtype, channels):
    x = aten.arange(2 * channels * 30).remainder(17).view(2, channels, 5, 6)
    x = x.to(getattr(dispatch, dtype))
    last = x.to(memory_format=dispatch.channels_last)
    for call in (
        lambda t: aten._adaptive_avg_pool2d(t, [1, 1]),
        lambda t: aten._adaptive_avg_pool2d(t, [2, 4]),
        lambda t: aten.avg_pool2d(t, [3, 2], [2, 1], [1, 1], True, False),
    ):
        assert np.allclose(call(last).to(dispatch.float64), call(x).to(dispatch.float64), 1e-2)


@pytest.mark.parametrize("channels", [3, 9, 47])
@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.float64, dispatch.int64])
def test_maxima_with_channels_last_are_those_of_channels_first(dtype, channels):
    dispatch.manual_seed(4)
    x = (dispatch.randn(2, channels, 9, 11) * 3).round().to(dtype)  # many are equal
    if dtype.is_floating_point:
        x[x == 5], x[x == 4] = nan, -inf
        x[0, :, :4, :4] = -inf
    last = x.to(memory_format=dispatch.channels_last)
    calls = [lambda x: aten.max_pool2d_with_indices(x, [3, 2], [2, 1], [1, 1], [1, 2])]
    if dtype.is_floating_point:
        calls.append(lambda x: aten.adaptive_max_pool2d(x, [4, 3]))
    for call in calls:
        for want, got in zip(call(x), call(last), strict=True):
            assert got.is_contiguous(memory_format=dispatch.channels_last)
            np.testing.assert_array_equal(got.numpy(), want.numpy())



@pytest.mark.parametrize("stride", [1, 2, 5])
@pytest.mark.parametrize("dilation", [1, 3])
def test_maxima_of_lines_alone_are_those_with_indices(stride, dilation):
    numbers = np.arange(2 * 3 * 40.0) * 7 % 23
    numbers[[5, 90]] = nan
    x = dispatch.tensor(numbers).view(2, 3, 40)
    want = aten.max_pool1d_with_indices(x, [4], [stride], [0], [dilation])[0]
    found = aten.max_pool1d(x, [4], [stride], [0], [dilation])
    assert np.array_equal(found.numpy(), want.numpy(), equal_nan=True)
    negated = aten.max_pool1d(dispatch._neg_view(x.neg()), [4], [stride], [0], [dilation])
    assert np.array_equal(negated.numpy(), want.numpy(), equal_nan=True)
    with pytest.raises(RuntimeError):
        aten.max_pool1d(x, [41])


def test_maxima_below_a_mode_are_asked_for_with_indices():
    class Log(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **kwargs or {})

    seen: list[object] = []
    with Log():
        aten.max_pool1d(dispatch.zeros(1, 1, 4), [2])
    assert aten.max_pool2d_with_indices.default in seen


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding", "dilation"),
    [(3, 1, 1, 1), (3, 2, 1, 1), (5, 3, 2, 1), (3, 1, 1, 2), (7, 2, 3, 1), (2, 1, 0, 3)],
)
def test_max_pool1d_gives_what_it_gives_with_places(kernel, stride, padding, dilation, dtype):
    x = dispatch.from_numpy(np.random.default_rng(0).standard_normal((2, 3, 11)))
    x[0, 1, 4] = nan
    x = x.to(getattr(dispatch, dtype))
    args = ([kernel], [stride], [padding], [dilation])
    got, want = aten.max_pool1d(x, *args), aten.max_pool1d_with_indices(x, *args)[0]
    assert dispatch.equal(got.nan_to_num(), want.nan_to_num())
    assert got.isnan().tolist() == want.isnan().tolist()


@pytest.mark.parametrize("last", [False, True], ids=["channels_first", "channels_last"])
def test_planes_are_the_same_on_two_threads(last):
    """Enough of them that they are shared out: pools, interpolation and their gradients."""
    x = dispatch.from_numpy(np.random.default_rng(0).standard_normal((5, 7, 90, 80)))
    if last:
        x = x.contiguous(memory_format=dispatch.channels_last)
    small = x[..., ::2, ::2]

    def results() -> list[dispatch.Tensor]:
        most, at = aten.max_pool2d_with_indices(x, [2, 2])
        windows = ([2, 2], [2, 2], [0, 0])
        return [
            most,
            at,
            aten.max_pool2d_with_indices_backward(most, x, *windows, [1, 1], False, at),
            aten.avg_pool2d(x, *windows),
            aten.avg_pool2d_backward(most, x, *windows, False, True, None),
            *aten.adaptive_max_pool2d(x, [7, 9]),
            aten._adaptive_avg_pool2d(x, [45, 40]),
            aten._adaptive_avg_pool2d_backward(small, x),
            aten.upsample_nearest2d(small, [90, 80]),
            aten.upsample_bilinear2d(small, [90, 80], False),
            aten.upsample_nearest2d_backward(x, [90, 80], small.shape),
            aten.upsample_bilinear2d_backward(x, [90, 80], small.shape, True),
        ]

    before = dispatch.get_num_threads()
    try:
        dispatch.set_num_threads(1)
        alone = results()
        dispatch.set_num_threads(2)
        for one, two in zip(alone, results(), strict=True):
            assert dispatch.equal(one, two)
    finally:
        dispatch.set_num_threads(before)


@pytest.mark.parametrize(
    ("batch", "dtype", "match"), [(2, "int64", "first size"), (1, "int32", "int64")]
)
def test_the_gradient_of_the_largest_looks_at_places_where_there_is_data(batch, dtype, match):
    x, grad = dispatch.ones(batch, 1, 4, 4), dispatch.ones(1, 1, 2, 2)
    places = dispatch.zeros(1, 1, 2, 2, dtype=getattr(dispatch, dtype))
    rest = ([2, 2], [2, 2], [0, 0], [1, 1], False)
    with pytest.raises(RuntimeError, match=match):
        aten.max_pool2d_with_indices_backward(grad, x, *rest, places)
    with dispatch.FakeTensorMode() as mode:
        grad, x, places = (mode.from_tensor(t) for t in (grad, x, places))
        assert aten.max_pool2d_with_indices_backward(grad, x, *rest, places).shape == x.shape


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_gradients_of_means_do_not_depend_on_the_layout(dtype):
    grad = dispatch.arange(96, dtype=getattr(dispatch, dtype)).reshape(2, 2, 4, 6)

    def back(layout):
        x = aten.zeros([2, 2, 8, 12], dtype=grad.dtype).contiguous(memory_format=layout)
        window = ([3, 2], [2, 2], [1, 0], False, True, None)
        given = grad.contiguous(memory_format=layout)
        return aten.avg_pool2d_backward(given, x, *window).contiguous()

    last, contiguous = back(dispatch.channels_last), back(dispatch.contiguous_format)
    np.testing.assert_allclose(last.numpy(), contiguous.numpy(), rtol=1e-6)


@pytest.mark.parametrize("channels", [1, 7, 16, 90])
@pytest.mark.parametrize("dtype", [dispatch.bfloat16, dispatch.float16])
def test_averages_of_16_bit_images_with_channels_last_are_rounded_once(dtype, channels):
    values = np.random.default_rng(0).standard_normal((2, channels, 9, 11), dtype=np.float32)
    x = dispatch.from_numpy(values).to(dtype).to(memory_format=dispatch.channels_last)
    wide = x.float().contiguous()
    for pool in (
        lambda t: aten.avg_pool2d(t, [3, 2], [2, 2], [1, 1]),
        lambda t: aten.avg_pool2d(t, [2, 2], [3, 3], [0, 0], True, False, 5),
        lambda t: aten._adaptive_avg_pool2d(t, [4, 3]),
    ):
        found = pool(x)
        assert found.is_contiguous(memory_format=dispatch.channels_last)
        assert dispatch.equal(found, pool(wide).to(dtype))


@pytest.mark.parametrize("size", [[2, 3], [1, 1], [0, 2]])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("given", ["same", "other", "empty"])
def test_adaptive_avg_pool2d_gives_out_the_format_of_self(
    size: list[int], last: bool, given: str
) -> None:
    layout = dispatch.channels_last if last else dispatch.contiguous_format
    x = dispatch.arange(120.0).reshape(2, 3, 4, 5).contiguous(memory_format=layout)
    want = aten._adaptive_avg_pool2d(x, size).contiguous()
    out = dispatch.zeros(2, 3, *size)
    if (given == "other") is not last:
        out = out.contiguous(memory_format=dispatch.channels_last)
    if given == "empty":
        out = dispatch.zeros(0)
    assert aten.adaptive_avg_pool2d.out(x, size, out=out) is out
    assert out.is_contiguous(memory_format=layout)
    assert out.tolist() == want.tolist()
    with pytest.raises(RuntimeError, match="dtype"):
        aten.adaptive_avg_pool2d.out(x, size, out=dispatch.zeros(0, dtype=dispatch.float64))
