"""Phrases that programs written for PyTorch look for where values do not do."""

import pytest

import dispatch
from dispatch import ones, ops, tensor

A = ops.aten


@pytest.mark.parametrize(
    "call, phrase",
    [
        (lambda: A.linspace(ones(2), 1, 3), "linspace only supports 0-dimensional start and end"),
        (lambda: A.hann_window(3, dtype=dispatch.int64), "expected floating point dtypes, got"),
        (lambda: A.normal(0.0, tensor([1j])), "expects standard deviation to be non-complex"),
        (lambda: A.multinomial(ones(2).int(), 1), "floating-point dtypes for input, got: Int"),
        (lambda: A.one_hot(tensor([-1])), "Class values must be non-negative."),
        (lambda: A.one_hot(tensor([5]), 3), "Class values must be smaller than num_classes."),
        (lambda: A.mvlgamma(ones(1), 0), "p has to be greater than or equal to 1"),
        (lambda: A.isclose(ones(1), ones(1).double()), "Float did not match Double"),
        (lambda: A.dropout(ones(1), 2, True), "has to be between 0 and 1, but got 2"),
        (lambda: ones(1, requires_grad=True).numpy(), r"on Tensor that requires grad. Use .*\(\)"),
        (lambda: tensor(object()), "Could not infer dtype of object"),
    ],
)
def test_the_text_has_the_phrase(call, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        call()
