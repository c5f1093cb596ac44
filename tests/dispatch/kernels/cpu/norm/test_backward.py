"""Gradients of normalisation against differences, and what a batch's statistics become."""

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def slope(function, values, grad, step=1e-6):
    """The gradient of sum(function * grad), by differences."""
    found = np.zeros_like(values)
    for at in np.ndindex(*values.shape):
        more, less = values.copy(), values.copy()
        more[at] += step
        less[at] -= step
        found[at] = ((function(more) - function(less)) * grad).sum() / (2 * step)
    return found


def batch_norm(x, weight, bias):
    axes = (0, *range(2, x.ndim))
    sizes = [1, -1, *[1] * (x.ndim - 2)]
    mean = x.mean(axes, keepdims=True)
    spread = np.sqrt(x.var(axes, keepdims=True) + 0.1)
    return (x - mean) / spread * weight.reshape(sizes) + bias.reshape(sizes)


@pytest.mark.parametrize("sizes", [(3, 2, 4), (5, 3)])
def test_batch_norm_backward_is_the_slope(sizes):
    rng = np.random.default_rng(0)
    x, grad = rng.standard_normal(sizes), rng.standard_normal(sizes)
    w, b = rng.standard_normal(sizes[1]), rng.standard_normal(sizes[1])
    t = dispatch.tensor
    _, mean, rstd = aten.native_batch_norm(t(x), t(w), t(b), None, None, True, 0.1, 0.1)
    found = aten.native_batch_norm_backward(
        t(grad), t(x), t(w), None, None, mean, rstd, True, 0.1, [True] * 3
    )
    np.testing.assert_allclose(found[0], slope(lambda v: batch_norm(v, w, b), x, grad), atol=1e-6)
    np.testing.assert_allclose(found[1], slope(lambda v: batch_norm(x, v, b), w, grad), atol=1e-6)
    axes = (0, *range(2, x.ndim))
    np.testing.assert_allclose(found[2], grad.sum(axes), atol=1e-9)


def test_batch_norm_backward_by_running_statistics_scales():
    grad = dispatch.ones(2, 2)
    x = dispatch.tensor([[1.0, 2.0], [3.0, 4.0]])
    mean, var = dispatch.zeros(2), dispatch.tensor([1.0, 4.0])
    of_input, of_weight, of_bias = aten.native_batch_norm_backward(
        grad, x, None, mean, var, None, None, False, 0.0, [True, True, True]
    )
    assert of_input.tolist() == [[1.0, 0.5], [1.0, 0.5]]
    assert of_weight.tolist() == [4.0, 3.0]
    assert of_bias.tolist() == [2.0, 2.0]
    only = aten.native_batch_norm_backward(
        grad, x, None, mean, var, None, None, False, 0.0, [True, False, False]
    )
    assert only[1] is None
    assert only[2] is None


def test_weight_norm_backward_is_the_slope():
    rng = np.random.default_rng(1)
    v, grad, g = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), rng.random((3, 1))
    t = dispatch.tensor

    def scaled(values):
        return values * (g / np.sqrt((values**2).sum(1, keepdims=True)))

    _, norms = aten._weight_norm_interface(t(v), t(g), 0)
    of_v, of_g = aten._weight_norm_interface_backward(t(grad), t(v), t(g), norms, 0)
    np.testing.assert_allclose(of_v, slope(scaled, v, grad), atol=1e-6)
    lengths = np.sqrt((v**2).sum(1, keepdims=True))
    np.testing.assert_allclose(of_g, (grad * v / lengths).sum(1, keepdims=True), atol=1e-9)
    with pytest.raises(RuntimeError, match="saved_v to be contiguous"):
        aten._weight_norm_interface_backward(t(grad), t(v.T).t(), t(g), norms, 0)


def test_statistics_of_a_batch_move_the_running_ones():
    x = dispatch.tensor([[[1.0, 2.0, 4.0]]])
    running_mean, running_var = dispatch.zeros(1), dispatch.ones(1)
    mean, var = aten.batch_norm_update_stats(x, running_mean, running_var, 0.5)
    assert mean.item() == pytest.approx(7 / 3)
    assert var.item() == pytest.approx(14 / 9)
    assert running_mean.item() == pytest.approx(7 / 6)
    assert running_var.item() == pytest.approx(5 / 3)


@pytest.mark.parametrize(
    ("grad", "sizes"), [((2,), [6]), ((6,), [0]), ((6,), [2]), ((6, 1), [6]), ((6,), [1, 6])]
)
def test_a_gradient_of_other_sizes_is_refused(grad, sizes):
    with pytest.raises(RuntimeError, match=r"expected (grad_out to have|input to end in)"):
        aten.native_layer_norm_backward(
            dispatch.ones(grad), dispatch.ones(6), sizes, dispatch.ones(1), dispatch.ones(1),
            None, None, [True, False, False],
        )  # fmt: skip


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("last", [False, True], ids=["first", "last"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
@pytest.mark.parametrize("sizes", [(3, 12, 25, 41), (2, 4, 50, 51), (3, 2100, 1, 2), (5, 6, 1, 1)])
def test_gradients_are_rounded_once_in_any_layout(sizes, dtype, last, threads):
    """Blocks are some planes, a part of one, or rows of all channels; samples have own groups."""
    rng = np.random.default_rng(0)
    kind, before = getattr(dispatch, dtype), dispatch.get_num_threads()
    n, c, h, w = sizes
    x, grad = (dispatch.from_numpy(rng.standard_normal(sizes) + 0.5).to(kind) for _ in range(2))
    given = [dispatch.from_numpy(rng.random(m) + 0.5).to(kind) for m in (c, c, c, 2 * n, 2 * n)]
    if last:
        x, grad = (t.to(memory_format=dispatch.channels_last) for t in (x, grad))

    def gradients(x, grad, given, mask=(True, True, True)):
        weight, mean, rstd = given[:3]
        of_groups = [t.view(n, 2) for t in given[3:]]
        return (
            *aten.native_group_norm_backward(grad, x, *of_groups, weight, n, c, h * w, 2, mask),
            *aten.native_batch_norm_backward(
                grad, x, weight, None, None, mean, rstd, True, 1e-5, mask
            ),
        )

    try:
        dispatch.set_num_threads(threads)
        found = gradients(x, grad, given)
        parameters = gradients(x, grad, given, (False, True, True))
        wide = [t.double().contiguous() for t in (x, grad, *given)]
        want = gradients(*wide[:2], wide[2:])
    finally:
        dispatch.set_num_threads(before)
    step = {"bfloat16": 2**-8, "float16": 2**-11, "float32": 2**-20}[dtype]
    for a, b in zip(found, want, strict=True):
        size = max(1.0, b.abs().max().item())
        np.testing.assert_allclose(a.double().numpy(), b.numpy(), atol=step * size)
    for which in (1, 2, 4, 5):
        assert dispatch.equal(parameters[which], found[which])
