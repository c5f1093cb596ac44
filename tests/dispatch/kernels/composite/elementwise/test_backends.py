"""Gradients on a backend that has no kernels for them: as the CPU's."""

import pytest

import dispatch
from dispatch.kernels.composite.elementwise import backends


@pytest.mark.parametrize("name", ["mish_backward", "silu_backward"])
def test_gradient_is_that_of_the_formula(name):
    grad, x = dispatch.randn(20), dispatch.randn(20) * 3
    want = getattr(dispatch.ops.aten, name)(grad, x)
    assert dispatch.allclose(getattr(backends, name)(grad, x), want, atol=1e-5)
