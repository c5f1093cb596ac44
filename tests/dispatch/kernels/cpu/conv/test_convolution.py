"""Convolutions on the CPU against sums written out by hand, in every form and layout."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode

aten = dispatch.ops.aten
rng = np.random.default_rng(0)


def tensor(array: np.ndarray) -> dispatch.Tensor:
    return dispatch.from_numpy(np.ascontiguousarray(array))


def numbers(*sizes: int) -> np.ndarray:
    """Small whole numbers: every sum is exact in float32."""
    return rng.integers(-4, 5, sizes).astype(np.float32)


def convolved(x, w, stride, padding, dilation, groups):
    """The definition, one output element at a time."""
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    sizes = [
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(x.shape[2:], w.shape[2:], stride, dilation, strict=True)
    ]
    out = np.zeros((len(x), len(w), *sizes), x.dtype)
    width, per_group = w.shape[1], len(w) // groups
    for channel in range(len(w)):
        first = channel // per_group * width
        for at in itertools.product(*map(range, sizes)):
            window = tuple(
                slice(i * s, i * s + d * (k - 1) + 1, d)
                for i, s, d, k in zip(at, stride, dilation, w.shape[2:], strict=True)
            )
            seen = x[(slice(None), slice(first, first + width), *window)]
            out[(slice(None), channel, *at)] = (seen * w[channel]).reshape(len(x), -1).sum(axis=1)
    return out


# sizes of input and weight, stride, padding, dilation, groups
FORMS = {
    "line": ((2, 3, 9), (4, 3, 3), [2], [1], [1], 1),
    "plane": ((2, 3, 7, 8), (4, 3, 3, 2), [2, 1], [1, 2], [1, 2], 1),
    "volume": ((1, 2, 5, 4, 6), (3, 2, 2, 3, 1), [1, 2, 1], [0, 1, 0], [2, 1, 1], 1),
    "pointwise": ((2, 4, 5, 6), (6, 4, 1, 1), [1, 1], [0, 0], [1, 1], 1),
    "pointwise strided": ((2, 4, 5, 6), (6, 2, 1, 1), [2, 3], [0, 0], [1, 1], 2),
    "grouped": ((2, 6, 5, 6), (4, 3, 3, 3), [1, 1], [1, 1], [1, 1], 2),
    "depthwise": ((2, 5, 6, 7), (5, 1, 3, 3), [2, 1], [1, 1], [1, 1], 5),
    "depthwise wide": ((1, 3, 4, 40), (6, 1, 3, 3), [1, 1], [1, 1], [1, 2], 3),
    "depthwise side by side": ((2, 5, 9, 8), (5, 1, 3, 3), [1, 1], [1, 1], [1, 1], 5),
    "depthwise beyond": ((1, 2, 4, 3), (2, 1, 3, 3), [1, 1], [3, 4], [1, 1], 2),
    "depthwise inside": ((1, 2, 6, 20), (2, 1, 5, 3), [1, 1], [0, 0], [1, 1], 2),
    "depthwise volume": ((1, 3, 4, 5, 6), (3, 1, 3, 3, 3), [1, 2, 1], [1, 1, 1], [1, 1, 1], 3),
    "depthwise volume side by side": (
        (1, 3, 4, 5, 7),
        (3, 1, 3, 3, 3),
        [1, 1, 1],
        [1, 1, 1],
        [1, 1, 1],
        3,
    ),
    "depthwise of many": ((2, 87, 6, 7), (87, 1, 3, 2), [1, 1], [1, 1], [1, 2], 87),
    "depthwise by two": ((2, 3, 9, 20), (3, 1, 5, 3), [2, 2], [2, 1], [1, 1], 3),
    "depthwise large": ((1, 2, 67, 66), (2, 1, 3, 3), [1, 1], [1, 1], [1, 1], 2),
    "depthwise large by two": ((1, 2, 70, 66), (4, 1, 3, 3), [1, 2], [1, 1], [1, 1], 2),
    "depthwise long": ((1, 2, 90), (2, 1, 70), [1], [4], [1], 2),
    "as many as elements": ((2, 4, 6, 9), (3, 4, 3, 5), [1, 1], [1, 2], [1, 1], 1),
    "as many, one wide": ((1, 2, 3, 1), (2, 2, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "as many in a volume": ((1, 2, 4, 5, 6), (3, 2, 3, 3, 3), [1, 1, 1], [1, 1, 1], [1, 1, 1], 1),
    "shifted": ((2, 5, 14, 50), (11, 5, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "shifted by phases": ((1, 3, 25, 70), (13, 3, 7, 5), [2, 2], [3, 1], [1, 1], 1),
    "shifted by three": ((1, 4, 40, 61), (12, 4, 2, 4), [2, 3], [0, 2], [3, 2], 1),
    "shifted beyond": ((1, 4, 12, 30), (9, 4, 3, 3), [1, 1], [4, 3], [1, 1], 1),
    "shifted in groups": ((2, 12, 20, 33), (14, 6, 3, 3), [1, 1], [1, 1], [2, 1], 2),
    "shifted along a line": ((2, 6, 700), (9, 6, 5), [1], [2], [1], 1),
    "shifted in a volume": ((1, 4, 5, 9, 20), (8, 4, 3, 3, 3), [2, 1, 1], [1, 1, 1], [1, 1, 1], 1),
    "shifted in bands": ((1, 96, 12, 300), (4, 96, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "many single elements": ((2, 10, 20, 21), (22, 5, 1, 1), [1, 1], [0, 0], [1, 1], 2),
    "shifted pixels": ((1, 16, 40, 40), (40, 16, 1, 1), [2, 2], [0, 0], [1, 1], 1),
    "wide": ((2, 5, 9, 14), (32, 5, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "wide backwards": ((1, 32, 9, 14), (11, 32, 3, 3), [1, 1], [1, 0], [1, 1], 1),
    "wide by two in groups": ((2, 8, 13, 33), (64, 4, 3, 3), [1, 2], [1, 1], [1, 1], 2),
    "wide in blocks": ((1, 8, 6, 9), (160, 8, 3, 3), [1, 1], [1, 1], [1, 1], 1),
    "wide in blocks, of images": ((2, 160, 6, 9), (160, 160, 1, 3), [2, 1], [0, 1], [1, 1], 1),
    "wide and dilated": ((1, 6, 12, 30), (32, 6, 3, 3), [3, 2], [2, 2], [2, 3], 1),
    "wide along a line": ((1, 8, 300), (32, 8, 5), [2], [2], [1], 1),
    "wide in a volume": ((1, 4, 5, 9, 20), (32, 4, 3, 3, 3), [2, 1, 1], [1, 1, 1], [1, 1, 1], 1),
    "wide in bands": ((1, 1200, 24, 9), (32, 1200, 3, 3), [2, 1], [1, 1], [1, 1], 1),
    "several blocks": ((1, 64, 48, 48), (2, 64, 3, 3), [1, 1], [1, 1], [1, 1], 1),
}


@pytest.mark.parametrize("last", [False, True], ids=["channels_first", "channels_last"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_convolution_is_its_definition(form, last):
    sizes, weight, *rest = form
    x, w, b = numbers(*sizes), numbers(*weight), numbers(weight[0])
    given = tensor(x)
    if last and x.ndim == 4:
        given = given.contiguous(memory_format=dispatch.channels_last)
    stride, padding, dilation, groups = rest
    got = aten.convolution(
        given, tensor(w), tensor(b), stride, padding, dilation, False, [0] * len(stride), groups
    )
    want = convolved(x, w, *rest) + b.reshape(-1, *[1] * len(stride))
    np.testing.assert_array_equal(got.numpy(), want)


@pytest.mark.parametrize("last", [False, True], ids=["channels_first", "channels_last"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_gradients_are_adjoint_to_the_convolution(form, last):
    """<gy, conv(x, w)> = <gx, x> = <gw, w>: true of the right gradients only."""
    sizes, weight, stride, padding, dilation, groups = form
    x, w = numbers(*sizes), numbers(*weight)
    y = convolved(x, w, stride, padding, dilation, groups)
    gy = numbers(*y.shape)
    formats = {4: dispatch.channels_last, 5: dispatch.channels_last_3d}
    layout = formats.get(x.ndim, dispatch.contiguous_format) if last else dispatch.contiguous_format
    g, seen = (tensor(each).contiguous(memory_format=layout) for each in (gy, x))
    gx, gw, gb = aten.convolution_backward(
        g, seen, tensor(w), [len(w)], stride, padding, dilation, False,
        [0] * len(stride), groups, [True, True, True],
    )
    assert (gx.numpy() * x).sum() == (gw.numpy() * w).sum() == (gy * y).sum()
    np.testing.assert_array_equal(gb.numpy(), gy.sum(axis=(0, *range(2, gy.ndim))))


@pytest.mark.parametrize("last", [False, True], ids=["channels_first", "channels_last"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_bfloat16_is_summed_in_float32_and_rounded_once(form, last):
    sizes, weight, stride, padding, dilation, groups = form
    x, w = numbers(*sizes), numbers(*weight)
    y = convolved(x, w, stride, padding, dilation, groups)
    gy = numbers(*y.shape)
    a, b, g = (tensor(each).to(dispatch.bfloat16) for each in (x, w, gy))
    if last and x.ndim == 4:
        a = a.contiguous(memory_format=dispatch.channels_last)
    rest = (stride, padding, dilation, False, [0] * len(stride), groups)
    got = aten.convolution(a, b, None, *rest)
    assert got.tolist() == tensor(y).to(dispatch.bfloat16).tolist()
    got = aten.convolution_backward(g, a, b, None, *rest, [True, True, False])
    want = aten.convolution_backward(
        tensor(gy), tensor(x), tensor(w), None, *rest, [True, True, False]
    )
    for ours, exact in zip(got[:2], want[:2], strict=True):
        assert ours.tolist() == exact.to(dispatch.bfloat16).tolist()


def test_infinity_reaches_only_the_weights_that_see_it():
    """At the end of a row, behind which the next one begins."""
    x = np.zeros((1, 2, 4, 5), np.float32)
    x[0, 0, 0, 4] = np.inf
    gw = aten.convolution_backward(
        dispatch.ones(1, 2, 4, 5), tensor(x), dispatch.ones(2, 1, 3, 3), None,
        [1, 1], [1, 1], [1, 1], False, [0, 0], 2, [False, True, False],
    )[1].numpy()
    want = np.zeros((2, 1, 3, 3))
    want[0, 0, :2, 1:] = np.inf
    np.testing.assert_array_equal(gw, want)


def test_transposed_convolution_is_the_gradient_of_the_plain_one():
    x, w = numbers(2, 4, 5, 6), numbers(4, 3, 3, 2)
    numbers_of = ([2, 3], [1, 0], [1, 1])
    y = aten.convolution(tensor(x), tensor(w), None, *numbers_of, True, [1, 2], 1)
    other = numbers(*y.shape)
    back = convolved(other, w, *numbers_of, 1)
    assert (y.numpy() * other).sum() == (x * back[:, :, :5, :6]).sum()


def test_integers_wrap():
    x, w = np.full((1, 1, 2, 2), 100, np.int8), np.ones((1, 1, 2, 2), np.int8)
    got = aten.convolution(tensor(x), tensor(w), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    assert got.item() == 400 - 512


def test_half_is_rounded_once():
    x = np.full((1, 4096, 1, 1), 1.0, np.float16)
    w = np.full((1, 4096, 1, 1), 1.0, np.float16)
    got = aten.convolution(tensor(x), tensor(w), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    assert got.item() == 4096


@pytest.mark.parametrize(("dtype", "dilation"), [("bool", 1), ("complex64", 1), ("int32", 2)])
def test_dtype_without_a_kernel_is_not_implemented(dtype, dilation):
    x = dispatch.ones(1, 1, 5, 5, dtype=getattr(dispatch, dtype))
    w = dispatch.ones(1, 1, 2, 2, dtype=getattr(dispatch, dtype))
    with pytest.raises(NotImplementedError, match=f"convolution: .*{dtype}"):
        aten.convolution(x, w, None, [1, 1], [0, 0], [dilation] * 2, False, [0, 0], 1)


@pytest.mark.parametrize("transposed", [False, True])
def test_more_than_three_dimensions_are_refused(transposed):
    """Windows have three: more would be written beside them."""
    x, weight = dispatch.ones(1, 1, *[2] * 6), dispatch.ones(1, 1, *[1] * 6)
    given = [1] * 6, [0] * 6, [1] * 6, transposed, [0] * 6, 1
    with pytest.raises(RuntimeError, match="convolution: expected at most 3 dimensions beside"):
        aten.convolution(x, weight, None, *given)
    with pytest.raises(RuntimeError, match="convolution_backward: expected at most 3 dimensions"):
        aten.convolution_backward(x, x, weight, None, *given, [True, True, False])


def test_col2im_adds_up_where_windows_overlap():
    got = aten.col2im(dispatch.ones(1, 4, 4), [3, 3], [2, 2], [1, 1], [0, 0], [1, 1])
    assert got.tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("sizes", [(), (1, 4, 3, 2), (0, 4, 3, 3)])
def test_gradients_of_other_sizes_are_refused(sizes, transposed):
    """The body would read beyond them."""
    x, weight = dispatch.ones(1, 2, 5, 5), dispatch.ones(4, 2, 3, 3)
    if transposed:
        x, weight = dispatch.ones(1, 2, 1, 1), dispatch.ones(2, 4, 3, 3)
    args = (None, [1, 1], [0, 0], [1, 1], transposed, [0, 0], 1, [True, True, False])
    with pytest.raises(RuntimeError, match=r"convolution_backward: expected grad_output of shape"):
        aten.convolution_backward(dispatch.ones(sizes), x, weight, *args)


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_which_convolutions_convert_their_bias(dims, transposed, dtype):
    def call(bias):
        kind = getattr(dispatch, dtype)
        x, weight = (dispatch.ones(1, 1, *[n] * dims, dtype=kind) for n in (3, 2))
        rest = ([1] * dims, [0] * dims, [1] * dims, transposed, [0] * dims, 1)
        return aten.convolution(x, weight, dispatch.ones(1, dtype=bias or kind), *rest)

    assert call(None).dtype is getattr(dispatch, dtype)
    if dtype == "bfloat16" or (transposed and dims == 3):
        with pytest.raises(RuntimeError, match="bias"):
            call(dispatch.float64)
        with FakeTensorMode():
            call(dispatch.float64)
    else:
        assert dispatch.equal(call(dispatch.float64), call(None))


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_filter_for_each_channel_does_not_depend_on_the_layout(dtype, transposed):
    kind = getattr(dispatch, dtype)
    x = dispatch.arange(2 * 3 * 5 * 6, dtype=kind).reshape(2, 3, 5, 6)
    weight = (dispatch.arange(27, dtype=kind) - 13).reshape(3, 1, 3, 3)

    def call(layout):
        given = x.contiguous(memory_format=layout), weight.contiguous(memory_format=layout)
        rest = ([2, 1], [1, 1], [1, 1], transposed, [0, 0], 3)
        return aten.convolution(*given, None, *rest).contiguous()

    assert dispatch.equal(call(dispatch.channels_last), call(dispatch.contiguous_format))
    assert call(dispatch.contiguous_format).abs().sum().item() > 1000


@pytest.mark.parametrize("kernel", [(5, 4), (7, 7), (3, 3)])
@pytest.mark.parametrize(
    "stride, padding, dilation",
    [
        ((1, 1), (3, 2), (1, 1)),
        ((2, 2), (0, 0), (1, 1)),
        ((3, 1), (2, 0), (2, 3)),
        ((1, 2), (9, 9), (1, 1)),
    ],
)
def test_large_planes_of_single_channels_are_those_of_all(kernel, stride, padding, dilation):
    x, w = numbers(2, 2, 70, 90), numbers(2, 1, *kernel)
    whole = np.zeros((2, 2, *kernel), np.float32)
    whole[0, 0], whole[1, 1] = w[:, 0]
    rest = (None, stride, padding, dilation)
    found = aten.conv2d(tensor(x), tensor(w), *rest, 2)
    assert dispatch.equal(found, aten.conv2d(tensor(x), tensor(whole), *rest))


@pytest.mark.parametrize("transposed", [False, True])
def test_a_dilation_of_zero_is_refused_where_there_is_something_to_compute(transposed):
    weight = dispatch.ones(2, 2, 2, 2)
    convolve = dispatch.conv_transpose2d if transposed else dispatch.conv2d
    with pytest.raises(RuntimeError, match=r"dilation should be greater than zero, got \[0, 0\]"):
        convolve(dispatch.ones(1, 2, 5, 5), weight, dilation=0)
    assert convolve(dispatch.ones(0, 2, 5, 5), weight, dilation=0).shape == (0, 2, 5, 5)
    meta = convolve(dispatch.ones(1, 2, 5, 5, device="meta"), weight.to("meta"), dilation=0)
    assert meta.shape == (1, 2, 5, 5)


def test_output_padding_is_free_where_nothing_is_computed():
    x, weight = dispatch.ones(0, 2, 5, 5), dispatch.ones(2, 3, 2, 2)
    found = dispatch.conv_transpose2d(x, weight, output_padding=1)
    assert found.shape == (0, 3, 7, 7)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("plane", [(6, 7), (4, 5, 6)])
@pytest.mark.parametrize("kernel", [1, 3])
def test_weights_with_channels_last_are_those_with_channels_first(dtype, groups, plane, kernel):
    rng, kind = np.random.default_rng(0), getattr(dispatch, dtype)
    last = dispatch.channels_last if len(plane) == 2 else dispatch.channels_last_3d
    x = dispatch.from_numpy(rng.integers(-3, 4, (2, 8, *plane))).to(kind)
    w = dispatch.from_numpy(rng.integers(-3, 4, (6, 8 // groups, *[kernel] * len(plane)))).to(kind)
    conv = aten.conv2d if len(plane) == 2 else aten.conv3d
    ones = [1] * len(plane)
    call = [None, ones, [kernel // 2] * len(plane), ones, groups]
    want = conv(x, w, *call)
    for a in (x, x.to(memory_format=last)):
        for b in (w, w.to(memory_format=last)):
            assert dispatch.equal(conv(a, b, *call), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_what_is_converted_and_laid_out_anew_is_so_in_steps(dtype):
    rng, kind = np.random.default_rng(0), getattr(dispatch, dtype)
    x = dispatch.from_numpy(rng.integers(-3, 4, (2, 8, 24, 24))).to(kind)
    w = dispatch.from_numpy(rng.integers(-3, 4, (8, 6, 2, 2))).to(kind)
    last = x.to(memory_format=dispatch.channels_last)
    found = aten.conv_transpose2d(last, w, None, [2, 2])
    assert found.is_contiguous(memory_format=dispatch.channels_last)
    assert dispatch.equal(found, aten.conv_transpose2d(x, w, None, [2, 2]))
    assert dispatch.equal(found.float(), aten.conv_transpose2d(x.float(), w.float(), None, [2, 2]))
