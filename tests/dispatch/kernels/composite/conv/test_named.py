"""Convolutions by other names: the same values as `convolution`, and their own checks."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten


def random(*sizes: int, seed: int = 0) -> dispatch.Tensor:
    return dispatch.from_numpy(np.random.default_rng(seed).normal(size=sizes))


def test_slow_convolutions_are_convolutions():
    x, w, b = random(2, 3, 7, 6), random(4, 3, 3, 2, seed=1), random(4, seed=2)
    for given, dilation in (([2, 1], [1, 1]), ([1, 1], [1, 2])):
        want = aten.convolution(x, w, b, given, [1, 0], dilation, False, [0, 0], 1)
        if dilation == [1, 1]:
            got = aten.thnn_conv2d(x, w, [3, 2], b, given, [1, 0])
        else:
            got = aten.slow_conv_dilated2d(x, w, [3, 2], b, given, [1, 0], dilation)
        assert np.allclose(got.numpy(), want.numpy())


def test_slow_transposed_convolution_counts_an_unbatched_input_as_a_batch_of_one():
    x, w = random(3, 5, 5), random(3, 2, 3, 3, seed=1)
    got = aten.slow_conv_transpose2d(x, w, [3, 3], None, [2, 2])
    want = aten.conv_transpose2d(x, w, None, [2, 2])
    assert np.allclose(got.numpy()[0], want.numpy())
    assert got.shape == (1, 2, 11, 11)


def test_kernel_size_must_be_the_weight_s():
    with pytest.raises(RuntimeError, match="kernel_size"):
        aten.thnn_conv2d(random(1, 3, 5, 5), random(2, 3, 3, 3), [2, 2])


def test_output_padding_must_be_smaller_than_the_stride():
    x, w = random(1, 3, 5, 5), random(3, 2, 3, 3)
    with pytest.raises(RuntimeError, match="output_padding"):
        aten.conv_transpose2d(x, w, None, [1, 1], [0, 0], [1, 1])


@pytest.mark.parametrize("pad", [0, 1, 3])
def test_time_batch_channels(pad):
    x, w, b = random(5, 2, 3), random(2, 3, 4, seed=1), random(4, seed=2)
    want = aten.conv1d(x.permute(1, 2, 0), w.permute(2, 1, 0), b, [1], [pad]).permute(2, 0, 1)
    assert np.allclose(aten.conv_tbc(x, w, b, pad).numpy(), want.numpy())
    g = random(*want.shape, seed=3)
    grads = aten.conv_tbc_backward(g, x, w, b, pad)
    value = (aten.conv_tbc(x, w, dispatch.zeros_like(b), pad) * g).sum().item()
    assert value == pytest.approx((grads[0] * x).sum().item())
    assert value == pytest.approx((grads[1] * w).sum().item())
    assert np.allclose(grads[2].numpy(), g.numpy().sum((0, 1)))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_second_order_is_the_derivative_of_the_gradients(transposed, groups):
    """<ggI, gI> + <ggW, gW> is linear in gO: its gradient is ggO."""
    x, w = random(2, 4, 6), random(4, 4 // groups, 3, seed=1)
    geometry = [2], [1], [1], transposed, [0], groups
    y = aten.convolution(x, w, None, *geometry)
    g = random(*y.shape, seed=2)
    ggx, ggw = random(*x.shape, seed=3), random(*w.shape, seed=4)
    everything = [True, True, True]
    ggy, gx, gw = aten._convolution_double_backward(ggx, ggw, None, g, w, x, *geometry, everything)

    def value(x, w, g):
        gi, gw, _ = aten.convolution_backward(g, x, w, None, *geometry, [True, True, False])
        return (gi * ggx).sum().item() + (gw * ggw).sum().item()

    assert value(x, w, g) == pytest.approx((ggy * g).sum().item())
    for i, grad in enumerate((gx, gw)):
        moved = random(*grad.shape, seed=5)
        ends = []
        for step in (-1e-5, 1e-5):
            given = [x, w]
            given[i] = given[i] + moved * step
            ends.append(value(*given, g))
        assert (grad * moved).sum().item() == pytest.approx((ends[1] - ends[0]) / 2e-5, rel=1e-5)


def test_what_nothing_came_in_for_is_none():
    x, w = random(1, 2, 5), random(3, 2, 3)
    geometry = [1], [0], [1], False, [0], 1
    grads = aten._convolution_double_backward(
        None, None, None, random(1, 3, 3), w, x, *geometry, [True, True, True]
    )
    assert grads == (None, None, None)


@pytest.mark.parametrize("dims", [1, 3])
def test_padding_by_name(dims):
    x, w = random(1, 2, *(5,) * dims), random(3, 2, *(2,) * dims, seed=1)
    conv = getattr(aten, f"conv{dims}d")
    assert conv.padding(x, w, None, [1], "same").shape == (1, 3, *(5,) * dims)
    assert conv.padding(x, w, None, [1], "valid").shape == (1, 3, *(4,) * dims)
    with pytest.raises(RuntimeError, match="Invalid padding string"):
        conv.padding(x, w, None, [1], "full")


@pytest.mark.parametrize(
    ("of_input", "of_weight", "of_bias", "want"),
    [
        (None, None, [2.0], ([[[2, 2]]], None, None)),
        ([2.0] * 3, [3.0] * 2, [2.0], ([[[17, 26]]], [[[3, 6, 3]]], [[[4, 4]]])),
        ([2.0] * 3, None, None, ([[[6, 6]]], None, [[[4, 4]]])),
    ],
)
def test_each_gradient_of_gradients_adds_its_part(of_input, of_weight, of_bias, want):
    grads = (
        None if of_input is None else dispatch.tensor([[of_input]]),
        None if of_weight is None else dispatch.tensor([[of_weight]]),
        None if of_bias is None else dispatch.tensor(of_bias),
    )
    weight, x = dispatch.tensor([[[1.0, 2.0]]]), dispatch.tensor([[[1.0, 2.0, 4.0]]])
    given = dispatch.ones(1, 1, 2), weight, x
    found = aten._convolution_double_backward(
        *grads, *given, [1], [0], [1], False, [0], 1, [True, True, True]
    )
    assert tuple(None if t is None else t.tolist() for t in found) == want
