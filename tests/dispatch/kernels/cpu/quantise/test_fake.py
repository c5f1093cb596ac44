"""Fake quantisation: values, masks and gradients; scales by channel; what is refused."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten


@pytest.mark.parametrize("name", ["float64", "float32", "float16", "bfloat16"])
def test_values_are_rounded_to_steps_and_cut_to_the_range(name):
    x = tensor([-9.0, -0.75, 0.25, 0.5, 1.1, 9.0], dtype=getattr(dispatch, name))
    found, mask = aten.fake_quantize_per_tensor_affine_cachemask(x, 0.5, 1, -2, 4)
    assert found.dtype is x.dtype
    assert found.tolist() == [-1.5, -1.0, 0.0, 0.5, 1.0, 1.5]
    assert mask.tolist() == [False, True, True, True, True, False]
    assert aten.fake_quantize_per_tensor_affine(x, 0.5, 1, -2, 4).tolist() == found.tolist()


def test_each_channel_has_its_scale():
    x = tensor([[1.0, 1.0, 1.0]] * 2).t()
    scale, zeros = tensor([1.0, 0.25, 4.0]), tensor([0, 0, 1], dtype=dispatch.int32)
    found = aten.fake_quantize_per_channel_affine(x, scale, zeros, 0, 0, 2)
    assert found.tolist() == [[1, 1], [0.5, 0.5], [0, 0]]
    assert found.stride() == x.stride()


def test_zero_points_of_floats_are_added_before_rounding():
    x, scale = tensor([[0.75]]), tensor([1.0])
    half = aten.fake_quantize_per_channel_affine(x, scale, tensor([0.5]), 0, -8, 7)
    assert half.tolist() == [[0.5]]


def test_scales_in_tensors_may_be_switched_off():
    x = tensor([0.3, 9.0])
    for enabled, want in ((0, x.tolist()), (1, [0.5, 1.5])):
        found = aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            x, tensor([0.5]), tensor([0]), tensor([enabled]), -4, 3
        )
        assert found[0].tolist() == want
    assert aten.fake_quantize_per_tensor_affine.tensor_qparams(
        x, tensor([0.5]), tensor([0]), -4, 3
    ).tolist() == [0.5, 1.5]


def test_learnable_zero_points_are_rounded_into_the_range():
    x = tensor([-99.0, 99.0])
    for zero, want in ((0.5, [-8, 7]), (1.5, [-10, 5]), (99.0, [-15, 0])):
        found = aten._fake_quantize_learnable_per_tensor_affine(
            x, tensor([1.0]), tensor([zero]), -8, 7
        )
        assert found.tolist() == want
    by_channel = aten._fake_quantize_learnable_per_channel_affine(
        dispatch.stack([x, x]), tensor([1.0, 2.0]), tensor([0.5, 1.5]), 0, -8, 7
    )
    assert by_channel.tolist() == [[-8, 7], [-20, 10]]


def test_gradients_of_scale_and_zero_point():
    """In range the rounding's error over the scale, outside the range's end; summed."""
    x, grad = tensor([0.3, 9.0, -9.0]), tensor([1.0, 10.0, 100.0])
    found = aten._fake_quantize_learnable_per_tensor_affine_backward(
        grad, x, tensor([0.5]), tensor([0.0]), -4, 3, 1.0
    )
    assert found[0].tolist() == [1, 0, 0]
    np.testing.assert_allclose(found[1].numpy(), [(0.5 - 0.3) / 0.5 + 10 * 3 - 100 * 4], rtol=1e-6)
    np.testing.assert_allclose(found[2].numpy(), [-110 * 0.5])
    rows = aten._fake_quantize_learnable_per_channel_affine_backward(
        grad.reshape(3, 1), x.reshape(3, 1), tensor([0.5] * 3), tensor([0.0] * 3), 0, -4, 3, 2.0
    )
    np.testing.assert_allclose(rows[1].numpy(), [0.8, 60, -800], rtol=1e-6)
    vector = aten._fake_quantize_learnable_per_channel_affine_backward(
        grad, x, tensor([0.5] * 3), tensor([0.0] * 3), 0, -4, 3, 2.0
    )
    np.testing.assert_allclose(vector[1].numpy(), -739.2, rtol=1e-6)  # a number: PyTorch's


def test_masks_let_gradients_through():
    grad, mask = tensor([1.0, 2.0]), tensor([True, False])
    assert aten.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask).tolist() == [1, 0]
    with pytest.raises(RuntimeError, match="mask of bool"):
        aten.fake_quantize_per_channel_affine_cachemask_backward(grad, grad)


@pytest.mark.parametrize(
    ("zero", "low", "high", "text"), [(9, -8, 7, "zero_point"), (0, 8, 7, "quant_min")]
)
def test_ranges_are_checked(zero, low, high, text):
    with pytest.raises(RuntimeError, match=text):
        aten.fake_quantize_per_tensor_affine(dispatch.ones(2), 0.5, zero, low, high)


@pytest.mark.parametrize(
    ("scale", "zeros", "axis", "text"),
    [
        (tensor([1.0]), tensor([0, 0], dtype=dispatch.int32), 0, r"scale of shape \[2\]"),
        (tensor([1.0, 1.0]), tensor([0], dtype=dispatch.int32), 0, r"zero_point of shape \[2\]"),
        (tensor([1.0, 1.0]), tensor([0, 9], dtype=dispatch.int32), 0, "zero_point from"),
        (tensor([1.0, 1.0]), tensor([0, 0]), 0, "zero_point to have one of"),
        (tensor([1.0, 1.0], dtype=dispatch.float64), tensor([0.0, 0.0]), 0, "scale of float32"),
        (tensor([1.0, 1.0]), tensor([0.0, 0.0]), -1, "axis"),
    ],
)
def test_channels_are_checked(scale, zeros, axis, text):
    with pytest.raises(RuntimeError, match=text):
        aten.fake_quantize_per_channel_affine(dispatch.ones(2, 2), scale, zeros, axis, -8, 7)
