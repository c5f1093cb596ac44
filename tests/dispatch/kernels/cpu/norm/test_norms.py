"""Normalisation on the CPU: values against their definition, running statistics, dtypes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
RNG = np.random.default_rng(0)


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


def normalised(x: np.ndarray, axes: tuple[int, ...], eps: float) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + eps)


@pytest.mark.parametrize("shape", [(2, 3, 5), (400, 600)])
def test_layer_norm(shape: tuple[int, ...]) -> None:
    x, w, b = RNG.normal(size=shape), RNG.normal(size=shape[-1]), RNG.normal(size=shape[-1])
    out, mean, rstd = aten.native_layer_norm(tensor(x), [shape[-1]], tensor(w), tensor(b), 1e-5)
    axis = (len(shape) - 1,)
    np.testing.assert_allclose(out.numpy(), normalised(x, axis, 1e-5) * w + b, atol=1e-4)
    np.testing.assert_allclose(mean.numpy(), x.mean(axis, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(rstd.numpy() ** -2, x.var(axis, keepdims=True), rtol=1e-3)


def test_layer_norm_of_half_precision_takes_float32_weights() -> None:
    out, mean, _ = aten.native_layer_norm(
        tensor([[1, 3]], "float16"), [2], tensor([2, 2]), None, 0.0
    )
    assert (out.dtype, out.tolist()) == (dispatch.float16, [[-2, 2]])
    assert mean.dtype is dispatch.float32
    with pytest.raises(RuntimeError, match=r"native_layer_norm.*float64"):
        aten.native_layer_norm(tensor([[1, 3]], "float64"), [2], tensor([2, 2]), None, 0.0)


def test_layer_norm_without_elements() -> None:
    out, mean, rstd = aten.native_layer_norm(tensor(np.zeros((2, 0))), [0], None, None, 1e-5)
    assert out.shape == (2, 0)
    assert mean.tolist() == [[0], [0]]
    assert np.isnan(rstd.numpy()).all()


@pytest.mark.parametrize("dtype", [dispatch.float16, dispatch.bfloat16])
@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "sizes", [(2, 3, 700, 3), (5, 4, 1, 1), (6, 7), (2, 600, 3, 2), (3, 21, 2, 2)]
)
def test_batch_norm_rounds_16_bits_once(
    dtype: dispatch.dtype, training: bool, last: bool, sizes: tuple[int, ...]
) -> None:
    x = tensor(RNG.normal(size=sizes)).to(dtype)
    if last and len(sizes) == 4:
        x = x.to(memory_format=dispatch.channels_last)
    scale, shift, mean = (tensor(RNG.normal(size=sizes[1])) for _ in range(3))
    variance = tensor(RNG.uniform(0.5, 2, size=sizes[1]))
    given = scale, shift, mean, variance, training, 0.1, 1e-5
    exact = aten.native_batch_norm(x.float(), *given)[0].to(dtype)
    out = aten.native_batch_norm(x, *given)[0]
    assert dispatch.equal(out, exact)
    assert out.stride() == x.stride()


@pytest.mark.parametrize("order", ["C", "channels_last"])
def test_group_norm(order: str) -> None:
    x, w = RNG.normal(size=(2, 4, 3, 3)), RNG.normal(size=4)
    given = tensor(x)
    if order != "C":
        given = given.contiguous(memory_format=dispatch.channels_last)
    out, mean, _ = aten.native_group_norm(given, tensor(w), None, 2, 4, 9, 2, 1e-5)
    want = normalised(x.reshape(2, 2, 18), (2,), 1e-5).reshape(x.shape) * w[:, None, None]
    np.testing.assert_allclose(out.numpy(), want, atol=1e-4)
    np.testing.assert_allclose(mean.numpy(), x.reshape(2, 2, 18).mean(2), atol=1e-5)
    assert out.stride() == given.stride()


@pytest.mark.parametrize("counts", [(7, 4, 7), (2, 4, 4), (-2, 4, -3), (2, -4, -3)])
def test_group_norm_refuses_counts_that_are_not_those_of_input(counts: tuple[int, ...]) -> None:
    """The loops believe them."""
    x = dispatch.ones(2, 4, 3)
    with pytest.raises(RuntimeError, match=r"N \* C \* HxW = .* elements, got shape \[2, 4, 3\]"):
        aten.native_group_norm(x, None, None, *counts, 2, 1e-5)
    stat = dispatch.ones(max(counts[0], 0), 2)
    with pytest.raises(RuntimeError, match=r"N \* C \* HxW"):
        aten.native_group_norm_backward(x, x, stat, stat, None, *counts, 2, [True] * 3)


def test_group_norm_backward_refuses_groups_that_channels_do_not_make() -> None:
    x, stat = dispatch.ones(2, 4, 3), dispatch.ones(2, 0)
    with pytest.raises(RuntimeError, match="multiple of group"):
        aten.native_group_norm_backward(x, x, stat, stat, None, 2, 4, 3, 0, [True] * 3)


def test_batch_norm_trains_running_statistics_by_the_unbiased_variance() -> None:
    x = RNG.normal(size=(4, 2, 3))
    mean, var = tensor([5, 6]), tensor([2, 3])
    out, saved, rstd = aten.native_batch_norm(tensor(x), None, None, mean, var, True, 0.5, 1e-5)
    np.testing.assert_allclose(out.numpy(), normalised(x, (0, 2), 1e-5), atol=1e-4)
    np.testing.assert_allclose(saved.numpy(), x.mean((0, 2)), atol=1e-5)
    np.testing.assert_allclose(rstd.numpy(), (x.var((0, 2)) + 1e-5) ** -0.5, rtol=1e-4)
    np.testing.assert_allclose(mean.numpy(), 0.5 * x.mean((0, 2)) + [2.5, 3], atol=1e-5)
    want = 0.5 * x.var((0, 2), ddof=1) + [1, 1.5]
    np.testing.assert_allclose(var.numpy(), want, rtol=1e-4)


def test_batch_norm_by_running_statistics_leaves_them_and_saves_nothing() -> None:
    mean, var = tensor([1, 2]), tensor([4, 9])
    out, saved, rstd = aten._native_batch_norm_legit_no_training(
        tensor([[3, 5]]), tensor([1, 2]), tensor([0, 1]), mean, var, 0.1, 0.0
    )
    np.testing.assert_allclose(out.numpy(), [[1, 3]], rtol=1e-6)
    assert (saved.shape, rstd.shape) == ((0,), (0,))
    assert (mean.tolist(), var.tolist()) == ([1, 2], [4, 9])


@pytest.mark.parametrize("sizes", [(2, 1100), (1, 600, 2, 3), (3, 5, 2, 3)])
def test_batch_norm_of_channels_last(sizes: tuple[int, ...]) -> None:
    x, channels = RNG.normal(size=sizes).astype("float32"), sizes[1]
    given = tensor(x)
    if len(sizes) == 4:
        given = given.to(memory_format=dispatch.channels_last)
    mean, var, weight, bias = RNG.uniform(0.5, 2, size=(4, channels)).astype("float32")
    out = aten.batch_norm(given, *map(tensor, (weight, bias, mean, var)), False, 0.1, 1e-5, True)
    of = (1, channels) + (1,) * (len(sizes) - 2)
    mean, var, weight, bias = (p.reshape(of) for p in (mean, var, weight, bias))
    want = (x - mean) / np.sqrt(var + 1e-5) * weight + bias
    np.testing.assert_allclose(out.numpy(), want, atol=1e-5)
    assert out.stride() == given.stride()


def test_batch_norm_out_leaves_saved_statistics_unless_training() -> None:
    out, saved, rstd = tensor([[0, 0]]), tensor([7]), tensor([8])
    aten.native_batch_norm.out(
        tensor([[3, 5]]), None, None, tensor([1, 2]), tensor([4, 9]), False, 0.1, 0.0,
        out=out, save_mean=saved, save_invstd=rstd,
    )  # fmt: skip
    assert (out.tolist(), saved.tolist(), rstd.tolist()) == ([[1, 1]], [7], [8])


def test_batch_norm_refuses_before_it_writes() -> None:
    mean = tensor([1, 2])
    with pytest.raises(ValueError, match="running_mean and running_var"):
        aten.native_batch_norm(tensor([[3, 5]]), None, None, mean, None, True, 0.1, 1e-5)
    with pytest.raises(NotImplementedError, match=r"native_batch_norm.*int64"):
        aten.native_batch_norm(tensor([[3, 5]], "int64"), None, None, None, None, True, 0.1, 1e-5)
    assert mean.tolist() == [1, 2]


def numeric_gradient(f: object, x: np.ndarray) -> np.ndarray:
    result = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-5
        result[i] = (f(x + step) - f(x - step)) / 2e-5
    return result


def test_layer_norm_backward() -> None:
    x, w, g = RNG.normal(size=(2, 3)), RNG.normal(size=3), RNG.normal(size=(2, 3))
    _, mean, rstd = aten.native_layer_norm(tensor(x, "float64"), [3], None, None, 1e-5)
    given = [tensor(a, "float64") for a in (g, x)]
    weight = tensor(w, "float64")
    dx, dw, db = aten.native_layer_norm_backward(
        *given, [3], mean, rstd, weight, weight, [True, True, True]
    )
    loss = lambda v: (normalised(v, (1,), 1e-5) * w * g).sum()  # noqa: E731
    np.testing.assert_allclose(dx.numpy(), numeric_gradient(loss, x), atol=1e-6)
    np.testing.assert_allclose(dw.numpy(), (normalised(x, (1,), 1e-5) * g).sum(0), atol=1e-8)
    np.testing.assert_allclose(db.numpy(), g.sum(0))


def test_group_norm_backward_gives_only_what_is_asked() -> None:
    x, w, g = RNG.normal(size=(2, 4, 3)), RNG.normal(size=4), RNG.normal(size=(2, 4, 3))
    given = [tensor(a, "float64") for a in (g, x)]
    _, mean, rstd = aten.native_group_norm(given[1], None, None, 2, 4, 3, 2, 1e-5)
    dx, dw, db = aten.native_group_norm_backward(
        *given, mean, rstd, tensor(w, "float64"), 2, 4, 3, 2, [True, False, True]
    )

    def loss(v: np.ndarray) -> float:
        normal = normalised(v.reshape(2, 2, 6), (2,), 1e-5).reshape(v.shape)
        return float((normal * w[:, None] * g).sum())

    np.testing.assert_allclose(dx.numpy(), numeric_gradient(loss, x), atol=1e-6)
    np.testing.assert_allclose(db.numpy(), g.sum((0, 2)))
    assert dw is None


def test_weight_norm() -> None:
    out, norm = aten._weight_norm_interface(tensor([[3, 4], [6, 8]]), tensor([[1], [5]]))
    assert norm.tolist() == [[5], [10]]
    np.testing.assert_allclose(out.numpy(), [[0.6, 0.8], [3, 4]], rtol=1e-6)
    with pytest.raises(RuntimeError, match="dim"):
        aten._weight_norm_interface(tensor(np.ones((2, 3, 4))), tensor(np.ones((1, 3, 1))), 1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("plane", [(25, 41), (1, 1)])
def test_groups_of_16_bit_floats_are_rounded_once(
    plane: tuple[int, int], dtype: str, last: bool, threads: int
) -> None:
    kind, before = getattr(dispatch, dtype), dispatch.get_num_threads()
    x = tensor(RNG.normal(3, 2, size=(3, 12, *plane))).to(kind)
    w, b = (tensor(RNG.normal(size=12)).to(kind) for _ in range(2))
    if last:
        x = x.to(memory_format=dispatch.channels_last)
    try:
        dispatch.set_num_threads(threads)
        found, mean, _ = aten.native_group_norm(x, w, b, 3, 12, math.prod(plane), 4, 1e-5)
        wide = [t.float() for t in (x, w, b)]
        want, means, _ = aten.native_group_norm(*wide, 3, 12, math.prod(plane), 4, 1e-5)
    finally:
        dispatch.set_num_threads(before)
    step = 2**-7 if dtype == "bfloat16" else 2**-10
    np.testing.assert_allclose(found.float().numpy(), want.numpy(), rtol=step, atol=step / 8)
    np.testing.assert_allclose(mean.float().numpy(), means.numpy(), rtol=step)
