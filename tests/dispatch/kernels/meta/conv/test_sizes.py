"""Sizes that gradients of bias and transposed convolutions have."""

import pytest

from tests.dispatch.refused import A, check_refused, o


def gradient(bias_sizes, device):
    grad, data, weight = (o(1, 1, n, device=device) for n in (2, 3, 2))
    return A.convolution_backward(
        grad, data, weight, bias_sizes, [1], [0], [1], False, [0], 1, [False, False, True]
    )[2]


@pytest.mark.parametrize("bias_sizes", [None, [1], [3], [1, 1]])
def test_the_gradient_of_bias_has_a_number_for_each_channel(bias_sizes):
    assert gradient(bias_sizes, "cpu").tolist() == [2]


def test_without_data_its_sizes_are_the_given_ones():
    assert tuple(gradient([3], "meta").shape) == (3,)
    check_refused(lambda: gradient(None, "meta"), TypeError, "needs bias_sizes")


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_a_transposed_convolution_keeps_the_batch(device):
    made = A.slow_conv_transpose2d(
        o(3, 2, 2, 2, device=device), o(2, 5, 2, 2, device=device), [2, 2]
    )
    assert tuple(made.shape) == (3, 5, 3, 3)
