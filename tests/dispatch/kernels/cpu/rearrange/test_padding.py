"""Padding is numpy's, its gradient the transpose of it; memory formats stay."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten
MODES = {"reflection": "reflect", "replication": "edge"}


def padded(kind: str, n: int):
    return getattr(aten, f"{kind}_pad{n}d"), getattr(aten, f"{kind}_pad{n}d_backward")


@given(st.sampled_from(sorted(MODES)), st.integers(1, 3), st.data())
def test_values_are_numpys_and_gradients_the_transpose(kind: str, n: int, data: st.DataObject):
    sizes = data.draw(st.lists(st.integers(2, 4), min_size=n + 1, max_size=n + 2))
    pad = data.draw(st.lists(st.integers(0, 1), min_size=2 * n, max_size=2 * n))
    x = dispatch.arange(float(np.prod(sizes))).reshape(sizes)
    if data.draw(st.booleans()):
        x = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    forward, backward = padded(kind, n)
    got = forward(x, pad)
    width = [(0, 0)] * (x.ndim - n) + [
        (pad[2 * i], pad[2 * i + 1]) for i in reversed(range(n))
    ]
    np.testing.assert_array_equal(got.numpy(), np.pad(x.numpy(), width, MODES[kind]))
    weights = dispatch.arange(float(got.numel())).reshape(list(got.shape))
    grad = backward(weights, x, pad)
    assert (grad * x).sum().item() == pytest.approx((weights * got).sum().item())


@pytest.mark.parametrize("kind", sorted(MODES))
@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "f8", "c8", "c16"])
def test_elements_of_every_width_are_padded(kind: str, dtype: str) -> None:
    """Rows that lie without gaps, with some, and where an element of a packed file does."""
    whole = np.arange(2 * 5 * 18).astype(dtype).reshape(2, 5, 18)
    packed = np.frombuffer(b"\0" + whole.tobytes(), np.uint8)[1:].view(dtype).reshape(whole.shape)
    forward, _ = padded(kind, 2)
    for x in (whole, whole[:, :, ::2], whole[:, ::2], packed):
        got = forward(dispatch.from_numpy(x), [4, 3, 2, 1]).numpy()
        want = np.pad(x, [(0, 0), (2, 1), (4, 3)], MODES[kind])
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("kind", sorted(MODES))
def test_negative_padding_cuts(kind: str) -> None:
    x = dispatch.arange(5.0).reshape(1, 5)
    forward, backward = padded(kind, 1)
    assert forward(x, [-2, 1]).tolist() == [[2, 3, 4, 3 if kind == "reflection" else 4]]
    assert backward(dispatch.ones(1, 4), x, [-2, 1]).sum().item() == 4


@given(st.lists(st.integers(-2, 3), min_size=4, max_size=4))
def test_constant_padding_and_cutting(pad: list[int]) -> None:
    x = dispatch.arange(1.0, 26.0).reshape(5, 5)
    a, b, c, d = pad
    whole = np.full((15, 15), 9.0)
    whole[5:10, 5:10] = x.numpy()
    expected = whole[5 - c : 10 + d, 5 - a : 10 + b]
    np.testing.assert_array_equal(aten.constant_pad_nd(x, pad, 9).numpy(), expected)


def test_channels_last_is_walked_channel_by_channel() -> None:
    x = dispatch.arange(36.0).reshape(1, 4, 3, 3)
    last = x.contiguous(memory_format=dispatch.channels_last)
    got = aten.reflection_pad2d(last, [1, 1, 1, 1])
    assert got.is_contiguous(memory_format=dispatch.channels_last)
    assert got.tolist() == aten.reflection_pad2d(x, [1, 1, 1, 1]).tolist()


@pytest.mark.parametrize("kind", sorted(MODES))
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize(("channels", "width"), [(3, 5), (37, 5), (2, 40)])
def test_gradients_add_runs_of_elements_or_of_channels(
    kind: str, dtype: str, last: bool, channels: int, width: int
) -> None:
    """Small whole numbers, whose sums no dtype rounds."""
    sizes, pad = (2, channels, 4, width), [2, 1, 1, 3]
    forward, backward = padded(kind, 2)
    x = dispatch.arange(float(np.prod(sizes))).reshape(sizes)
    grad = forward(x, pad).remainder(7)
    want = np.zeros(sizes)
    for at, place in enumerate(forward(x, pad).flatten().long().tolist()):
        want.flat[place] += grad.flatten()[at].item()
    grad, x = (t.to(getattr(dispatch, dtype)) for t in (grad, x))
    if last:
        grad, x = (t.contiguous(memory_format=dispatch.channels_last) for t in (grad, x))
    np.testing.assert_array_equal(backward(grad, x, pad).to(dispatch.complex128).numpy(), want)


def test_gradients_of_another_size_or_dtype_are_refused() -> None:
    x = dispatch.ones(2, 3)
    with pytest.raises(RuntimeError, match="grad_output of shape"):
        aten.reflection_pad1d_backward(dispatch.ones(2, 6), x, [1, 1])
    with pytest.raises(NotImplementedError, match="no CPU kernel"):
        aten.replication_pad1d_backward(dispatch.ones(2, 5).int(), x.int(), [1, 1])


# ---- channels ----------------------------------------------------------------------------------


@given(st.integers(1, 3), st.integers(1, 3), st.booleans())
def test_channels_are_shuffled_as_views_would(groups: int, each: int, last: bool) -> None:
    x = dispatch.arange(2.0 * groups * each * 4).reshape(2, groups * each, 2, 2)
    expected = x.reshape(2, groups, each, 4).permute(0, 2, 1, 3).reshape(x.shape)
    given_x = x.contiguous(memory_format=dispatch.channels_last) if last else x
    got = aten.channel_shuffle(given_x, groups)
    assert got.tolist() == expected.tolist() and got.stride() == given_x.stride()


@given(st.lists(st.integers(1, 3), min_size=6, max_size=6), st.integers(0, 2))
def test_columns_added_up_are_col2im(numbers: list[int], pad: int) -> None:
    """im2col and col2im are each other's transpose."""
    kernel, dilation, stride = numbers[:2], numbers[2:4], numbers[4:]
    x = dispatch.arange(2.0 * 8 * 9).reshape(1, 2, 8, 9)
    columns = aten.im2col(x, kernel, dilation, [pad, pad], stride)
    weights = dispatch.arange(float(columns.numel())).reshape(list(columns.shape))
    back = aten.col2im(weights, [8, 9], kernel, dilation, [pad, pad], stride)
    assert (back * x).sum().item() == pytest.approx((weights * columns).sum().item())


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(("gap", "pad", "stride"), [(1, 0, 1), (2, 1, 3), (1, 5, 1), (3, 2, 2)])
def test_columns_are_the_windows_of_the_padded_image(step, gap, pad, stride):
    """Of strided images, into strided outputs; windows that lie wholly in the padding are zeros."""
    x = dispatch.arange(1.0, 2 * 3 * 9 * 8 * step + 1).reshape(2, 3, 9, 8 * step)[..., ::step]
    padded = np.pad(x.numpy(), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    high, wide = ((n + 2 * pad - gap - 1) // stride + 1 for n in (9, 8))
    rows = [
        padded[:, :, i::stride, j::stride][:, :, :high, :wide].reshape(2, 3, -1)
        for i in (0, gap)
        for j in (0, gap)
    ]
    want = np.stack(rows, 2).reshape(2, 12, -1)
    args = [2, 2], [gap, gap], [pad, pad], [stride, stride]
    assert np.array_equal(aten.im2col(x, *args).numpy(), want)
    assert np.array_equal(aten.im2col(x[1], *args).numpy(), want[1])
    out = dispatch.full((2, want.shape[2], 24), 7.0).transpose(1, 2)[:, ::2]
    assert np.array_equal(aten.im2col.out(x, *args, out=out).numpy(), want)
    assert out._base is None or (out._base[:, :, 1::2] == 7).all()


@pytest.mark.parametrize(("n", "kind"), [(1, "reflection"), (3, "reflection"), (3, "replication")])
def test_gradients_of_another_batch_are_refused(n, kind):
    """The body would read beyond them."""
    x, grad = dispatch.ones(2, 3, *[3] * n), dispatch.ones(0, 3, *[5] * n)
    with pytest.raises(RuntimeError, match=f"{kind}_pad{n}d_backward.*grad_output"):
        getattr(aten, f"{kind}_pad{n}d_backward")(grad, x, [1] * 2 * n)
