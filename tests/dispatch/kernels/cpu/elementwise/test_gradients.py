"""Gradients of pointwise operators and losses, against differences of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
POINTS = [-7.0, -3.5, -2.0, -0.75, -0.3, 0.2, 0.45, 0.8, 1.7, 2.6, 4.0, 9.0]
Op = Callable[..., Any]
CASES: dict[str, tuple[Op, Op]] = {
    "elu": (
        lambda x: aten.elu(x, 1.3, 1.1, 0.7),
        lambda g, x: aten.elu_backward(g, 1.3, 1.1, 0.7, False, x),
    ),
    "elu of its result": (
        lambda x: aten.elu(x, 1.3, 1.1, 0.7),
        lambda g, x: aten.elu_backward(g, 1.3, 1.1, 0.7, True, aten.elu(x, 1.3, 1.1, 0.7)),
    ),
    "gelu": (aten.gelu, aten.gelu_backward),
    "gelu by tanh": (
        lambda x: aten.gelu(x, approximate="tanh"),
        lambda g, x: aten.gelu_backward(g, x, approximate="tanh"),
    ),
    "gelu, differentiable": (aten.gelu, aten.infinitely_differentiable_gelu_backward),
    "hardshrink": (aten.hardshrink, lambda g, x: aten.hardshrink_backward(g, x, 0.5)),
    "softshrink": (aten.softshrink, lambda g, x: aten.softshrink_backward(g, x, 0.5)),
    "hardsigmoid": (aten.hardsigmoid, aten.hardsigmoid_backward),
    "hardswish": (aten.hardswish, aten.hardswish_backward),
    "hardtanh": (aten.hardtanh, lambda g, x: aten.hardtanh_backward(g, x, -1, 1)),
    "leaky_relu": (aten.leaky_relu, lambda g, x: aten.leaky_relu_backward(g, x, 0.01, False)),
    "log_sigmoid": (
        aten.log_sigmoid,
        lambda g, x: aten.log_sigmoid_backward(g, x, aten.log_sigmoid_forward(x)[1]),
    ),
    "mish": (aten.mish, aten.mish_backward),
    "sigmoid": (aten.sigmoid, lambda g, x: aten.sigmoid_backward(g, aten.sigmoid(x))),
    "silu": (aten.silu, aten.silu_backward),
    "softplus": (
        lambda x: aten.softplus(x, 2, 6),
        lambda g, x: aten.softplus_backward(g, x, 2, 6),
    ),
    "tanh": (aten.tanh, lambda g, x: aten.tanh_backward(g, aten.tanh(x))),
    "threshold": (
        lambda x: aten.threshold(x, 0.5, 7),
        lambda g, x: aten.threshold_backward(g, x, 0.5),
    ),
    "glu": (lambda x: aten.glu(aten.cat([x, x * 2])), lambda g, x: _glu_gradient(g, x)),
}


def _glu_gradient(grad: Any, x: Any) -> Any:
    both = aten.glu_backward(grad, aten.cat([x, x * 2]), 0)
    return both[: len(POINTS)] + 2 * both[len(POINTS) :]


def _slope(function: Op, x: Any) -> Any:
    step = 1e-6
    return (function(x + step) - function(x - step)).numpy() / (2 * step)


@pytest.mark.parametrize("name", CASES)
def test_gradient_is_the_slope(name: str) -> None:
    forward, backward = CASES[name]
    x = dispatch.tensor(POINTS, dtype=dispatch.float64)
    grad = dispatch.arange(1.0, len(POINTS) + 1, dtype=dispatch.float64)
    got = backward(grad, x)
    assert np.allclose(got.numpy(), grad.numpy() * _slope(forward, x), rtol=1e-5, atol=1e-7)


LOSSES: dict[str, tuple[Op, Op]] = {
    "mse": (aten.mse_loss, aten.mse_loss_backward),
    "smooth_l1": (
        lambda x, t, r: aten.smooth_l1_loss(x, t, r, 0.7),
        lambda g, x, t, r: aten.smooth_l1_loss_backward(g, x, t, r, 0.7),
    ),
    "huber": (
        lambda x, t, r: aten.huber_loss(x, t, r, 0.7),
        lambda g, x, t, r: aten.huber_loss_backward(g, x, t, r, 0.7),
    ),
    "soft_margin": (aten.soft_margin_loss, aten.soft_margin_loss_backward),
}


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_gradient_of_a_loss_is_the_slope_of_its_share(name: str, reduction: int) -> None:
    forward, backward = LOSSES[name]
    x = dispatch.tensor(POINTS, dtype=dispatch.float64)
    target = dispatch.tensor([1.0, -1.0] * 6, dtype=dispatch.float64)
    got = backward(dispatch.tensor(2.0, dtype=dispatch.float64), x, target, reduction)
    want = 2 * _slope(lambda y: forward(y, target, 0), x) / (12 if reduction == 1 else 1)
    assert np.allclose(got.numpy(), want, rtol=1e-5, atol=1e-7)


def test_logit_has_no_gradient_outside() -> None:
    x = dispatch.tensor([-0.5, 0.05, 0.5, 2.0])
    grad = dispatch.ones(4)
    assert np.isnan(aten.logit_backward(grad, x).numpy()).tolist() == [True, False, False, True]
    assert aten.logit_backward(grad, x, 0.1).tolist() == [0.0, 0.0, 4.0, 0.0]


def test_prelu_has_two_gradients() -> None:
    x, grad = dispatch.tensor([-2.0, 3.0]), dispatch.tensor([5.0, 7.0])
    to_x, to_weight = aten._prelu_kernel_backward(grad, x, dispatch.tensor([0.5, 0.5]))
    assert to_x.tolist() == [2.5, 7.0]
    assert to_weight.tolist() == [-10.0, 0.0]


def test_dropout_scales_what_was_kept() -> None:
    grad = dispatch.tensor([1.0, 2.0, 3.0])
    mask = dispatch.tensor([True, False, True])
    assert aten.native_dropout_backward(grad, mask, 2.0).tolist() == [2.0, 0.0, 6.0]
    with pytest.raises(RuntimeError, match="native_dropout_backward: mask must be a bool tensor"):
        aten.native_dropout_backward(grad, grad, 2.0)


def test_negative_factors_have_no_gradient_by_their_result() -> None:
    x = dispatch.ones(2)
    with pytest.raises(RuntimeError, match="elu_backward: alpha must not be negative"):
        aten.elu_backward(x, -1, 1, 1, True, x)
    with pytest.raises(RuntimeError, match="leaky_relu_backward: negative_slope must not be"):
        aten.leaky_relu_backward(x, x, -0.5, True)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_frexp_of_what_is_hardly_a_number_and_of_what_is_none(kind: str) -> None:
    least, most = np.finfo(kind).smallest_subnormal, np.finfo(kind).max
    edges = [0.0, -0.0, 0.5, 1.0, -1.0, 3.0, -1e-3, np.finfo(kind).tiny, least, -7 * least, most]
    values = np.array([*edges, -most, np.inf, -np.inf, np.nan] * 3, kind)
    mantissa, exponent = dispatch.frexp(dispatch.from_numpy(values))
    wanted, powers = np.frexp(values)
    np.testing.assert_array_equal(mantissa.numpy(), wanted)
    assert (np.signbit(mantissa.numpy()) == np.signbit(wanted)).all()
    assert exponent.tolist() == np.where(np.isfinite(values), powers, 0).tolist()


def test_frexp_splits_numbers() -> None:
    x = dispatch.tensor([8.0, -0.3, 0.0, float("inf")])
    mantissa, exponent = dispatch.frexp(x)
    assert mantissa.tolist() == [0.5, dispatch.tensor(-0.6).item(), 0.0, float("inf")]
    assert exponent.tolist() == [4, -1, 0, 0] and exponent.dtype is dispatch.int32
    with pytest.raises(RuntimeError, match="frexp"):
        dispatch.frexp(dispatch.tensor([1]))


def test_sum_that_is_never_negative() -> None:
    x = dispatch.tensor([-4.0, 1.0])
    assert dispatch._add_relu(x, dispatch.ones(2), alpha=2).tolist() == [0.0, 3.0]
    assert dispatch._add_relu_(x, 3).tolist() == [0.0, 4.0] == x.tolist()


def test_gradients_are_written_to_a_given_output() -> None:
    x = dispatch.tensor([1.0, -1.0])
    out = dispatch.empty(0)
    assert aten.threshold_backward.grad_input(x, x, 0, grad_input=out) is out
    assert out.tolist() == [1.0, 0.0]
    assert aten.glu_backward.grad_input(x[:1], x, 0, grad_input=dispatch.empty(2)).shape == (2,)
    with pytest.raises(
        RuntimeError, match=r"glu_backward.*expected grad_output of the shape \[1\]"
    ):
        aten.glu_backward(x, x, 0)


@pytest.mark.parametrize(
    ("reduction", "want"), [(0, [0, 2, 4, 8]), (1, [0, 0, 0, 0]), (2, [0, 2, 4, 8])]
)
def test_the_gradient_of_squares_of_integers_takes_a_share_cut_to_an_integer(reduction, want):
    x, ones = dispatch.tensor([1, 2, 3, 5]), dispatch.ones(4, dtype=dispatch.int64)
    assert aten.mse_loss_backward(ones, x, ones, reduction).tolist() == want


@pytest.mark.parametrize("op", [aten.mse_loss_backward, aten.smooth_l1_loss_backward])
def test_gradients_of_losses_have_the_dtype_of_self(op):
    more = (1.0,) if op is aten.smooth_l1_loss_backward else ()
    x, wide = dispatch.ones(3), dispatch.ones(3, dtype=dispatch.float64)
    assert op(wide, x, x, 0, *more).dtype is dispatch.float32
    assert op(x.to("meta"), x.to("meta"), wide.to("meta"), 0, *more).dtype is dispatch.float64
    with pytest.raises(RuntimeError, match=r"result type Float can't be cast.*Long"):
        op(x, dispatch.ones(3, dtype=dispatch.int64), x, 0, *more)


@pytest.mark.parametrize("dtype", [dispatch.bfloat16, dispatch.uint8, dispatch.bool])
def test_sums_cut_at_zero_are_of_few_dtypes(dtype):
    with pytest.raises(RuntimeError, match="Unsupported datatype for add_relu"):
        aten._add_relu.Scalar(dispatch.ones(3, dtype=dtype), 1)
