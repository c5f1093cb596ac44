"""Operators that numpy computes (torch.testing._internal.custom_op_db), for tests of custom ones.

Importing the module registers them in the namespace `_torch_testing`, with fake kernels, gradients
where a formula is short; `custom_op_db` has sample arguments for them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

import dispatch
from dispatch import Tensor
from dispatch.library import custom_op, get_ctx

__all__ = [
    "numpy_cat", "numpy_cube", "numpy_mul", "numpy_mul_scalar", "numpy_nms", "numpy_nonzero",
    "numpy_sort", "numpy_split_copy", "numpy_split_copy_with_int", "numpy_take",
    "numpy_view_copy", "to_numpy",
]  # fmt: skip


def to_numpy(tensor: Tensor) -> Any:
    """The values, on the CPU."""
    return tensor.cpu().numpy()


def _like(values: Any, tensor: Tensor) -> Tensor:
    return dispatch.tensor(values, device=tensor.device)


# ---- arithmetic


@custom_op("_torch_testing::numpy_cube", mutates_args=())
def numpy_cube(x: Tensor) -> tuple[Tensor, Tensor]:
    """The cubes of `x` and their derivatives."""
    values = to_numpy(x)
    return _like(values**3, x), _like(3 * values**2, x)


@numpy_cube.register_fake
def _fake_cube(x: Any) -> Any:
    return x.clone(), x.clone()


@custom_op("_torch_testing::numpy_mul", mutates_args=())
def numpy_mul(x: Tensor, y: Tensor) -> Tensor:
    """The products."""
    return _like(to_numpy(x) * to_numpy(y), x)


@numpy_mul.register_fake
def _fake_mul(x: Any, y: Any) -> Any:
    if x.device != y.device:
        raise AssertionError(f"numpy_mul: {x.device} and {y.device}")
    return (x * y).contiguous()


@custom_op("_torch_testing::numpy_mul_scalar", mutates_args=())
def numpy_mul_scalar(x: Tensor, *, scalar: float) -> Tensor:
    """The products with a number."""
    return _like(to_numpy(x) * scalar, x)


@numpy_mul_scalar.register_fake
def _fake_mul_scalar(x: Any, *, scalar: float) -> Any:
    return (x * scalar).contiguous()


def _keep_both(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(*inputs)


def _mul_backward(ctx: Any, grad: Any) -> Any:
    x, y = ctx.saved_tensors
    wanted = ctx.needs_input_grad
    return grad * y if wanted[0] else None, grad * x if wanted[1] else None


def _keep_cube(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[0], output[1])


def _cube_backward(ctx: Any, grad: Any, grad_derivative: Any) -> Any:
    x, derivative = ctx.saved_tensors
    return numpy_mul(grad, derivative) + 6 * numpy_mul(grad_derivative, x)


def _keep_scalar(ctx: Any, inputs: Any, keyword_only_inputs: Any, output: Any) -> None:
    ctx.scalar = keyword_only_inputs["scalar"]


numpy_mul.register_autograd(_mul_backward, setup_context=_keep_both)
numpy_cube.register_autograd(_cube_backward, setup_context=_keep_cube)
numpy_mul_scalar.register_autograd(lambda ctx, grad: grad * ctx.scalar, setup_context=_keep_scalar)

# ---- order and places


@custom_op("_torch_testing::numpy_sort", mutates_args=())
def numpy_sort(x: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    """`x` sorted, the places that its values come from, and those that they go to."""
    values = to_numpy(x)
    order = np.argsort(values, axis=dim)
    sorted_values = np.take_along_axis(values, order, axis=dim)
    return _like(sorted_values, x), _like(order, x), _like(np.argsort(order, axis=dim), x)


@numpy_sort.register_fake
def _fake_sort(x: Any, dim: int) -> Any:
    places = [dispatch.empty_like(x, dtype=dispatch.int64) for _ in range(2)]
    return dispatch.empty_like(x), *places


@custom_op("_torch_testing::numpy_take", mutates_args=())
def numpy_take(x: Tensor, ind: Tensor, ind_inv: Tensor, dim: int) -> Tensor:
    """The values of `x` at the places `ind` along `dim`."""
    return _like(np.take_along_axis(to_numpy(x), to_numpy(ind), dim), x)


@numpy_take.register_fake
def _fake_take(x: Any, ind: Any, ind_inv: Any, dim: int) -> Any:
    if not x.device == ind.device == ind_inv.device:
        raise AssertionError("numpy_take: the devices differ")
    if ind.dtype != dispatch.int64 or ind_inv.dtype != dispatch.int64:
        raise AssertionError("numpy_take: the places are to be int64")
    return dispatch.empty_like(x)


def _keep_order(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.dim = inputs[1]
    ctx.save_for_backward(*output[1:])
    ctx.mark_non_differentiable(*output[1:])


def _sort_backward(ctx: Any, grad: Any, *of_places: Any) -> Any:
    order, inverse = ctx.saved_tensors
    return numpy_take(grad, inverse, order, ctx.dim), None


def _keep_places(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.dim = inputs[3]
    ctx.save_for_backward(*inputs[1:3])


def _take_backward(ctx: Any, grad: Any) -> Any:
    places, inverse = ctx.saved_tensors
    return numpy_take(grad, inverse, places, ctx.dim), None, None, None


numpy_sort.register_autograd(_sort_backward, setup_context=_keep_order)
numpy_take.register_autograd(_take_backward, setup_context=_keep_places)


@custom_op("_torch_testing::numpy_nonzero", mutates_args=())
def numpy_nonzero(x: Tensor) -> Tensor:
    """The places of values other than zero, a row for each."""
    values = to_numpy(x)
    if values.ndim == 0:
        raise RuntimeError("numpy_nonzero: expected a dimension")
    return _like(np.stack(np.nonzero(values), axis=1), x)


@numpy_nonzero.register_fake
def _fake_nonzero(x: Any) -> Any:
    return x.new_empty([get_ctx().new_dynamic_size(), x.dim()], dtype=dispatch.int64)


@custom_op("_torch_testing::numpy_nms", mutates_args=())
def numpy_nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    """Which boxes stay when those that lie on one of a higher score are left out."""
    if boxes.device != scores.device or boxes.shape != (len(scores), 4):
        raise AssertionError(f"numpy_nms: {boxes.shape} boxes for {scores.shape} scores")
    corners = to_numpy(boxes)
    areas = np.prod(corners[:, 2:] - corners[:, :2] + 1, axis=1)
    left, kept = np.argsort(-to_numpy(scores), kind="stable"), []
    while left.size:
        first, rest = left[0], left[1:]
        kept.append(first)
        low = np.maximum(corners[first, :2], corners[rest, :2])
        high = np.minimum(corners[first, 2:], corners[rest, 2:])
        shared = np.prod(np.maximum(0.0, high - low + 1), axis=1)
        left = rest[shared / (areas[first] + areas[rest] - shared) <= iou_threshold]
    return _like(np.array(kept, dtype=np.int64), boxes)


@numpy_nms.register_fake
def _fake_nms(boxes: Any, scores: Any, iou_threshold: float) -> Any:
    if boxes.device != scores.device:
        raise AssertionError(f"numpy_nms: {boxes.device} and {scores.device}")
    return boxes.new_empty([get_ctx().new_dynamic_size()], dtype=dispatch.int64)


# ---- shapes


@custom_op("_torch_testing::numpy_view_copy", mutates_args=())
def numpy_view_copy(x: Tensor, shape: Sequence[int]) -> Tensor:
    """A copy of `x` in another shape."""
    return _like(np.copy(to_numpy(x).reshape(shape)), x)


@numpy_view_copy.register_fake
def _fake_view_copy(x: Any, shape: Any) -> Any:
    return x.clone().view(shape).clone()


def _keep_shape(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.x_shape = inputs[0].shape


numpy_view_copy.register_autograd(
    lambda ctx, grad: (numpy_view_copy(grad, ctx.x_shape), None), setup_context=_keep_shape
)


@custom_op("_torch_testing::numpy_cat", mutates_args=())
def numpy_cat(xs: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors one behind the other along `dim`."""
    if not xs or any(x.device != xs[0].device or x.dtype != xs[0].dtype for x in xs):
        raise AssertionError("numpy_cat: expected tensors of one device and dtype")
    return _like(np.concatenate([to_numpy(x) for x in xs], axis=dim), xs[0])


@numpy_cat.register_fake
def _fake_cat(xs: Any, dim: int) -> Any:
    if not xs or any(x.device != xs[0].device or x.dtype != xs[0].dtype for x in xs):
        raise AssertionError("numpy_cat: expected tensors of one device and dtype")
    return dispatch.cat(xs, dim=dim)


def _keep_sizes(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.sizes, ctx.dim = [x.shape[inputs[1]] for x in inputs[0]], inputs[1]


def _cat_backward(ctx: Any, grad: Any) -> Any:
    ends = list(np.cumsum(ctx.sizes)[:-1])
    return dispatch.ops._torch_testing.numpy_split_copy(grad, ends, ctx.dim), None


numpy_cat.register_autograd(_cat_backward, setup_context=_keep_sizes)


@custom_op("_torch_testing::numpy_split_copy", mutates_args=())
def numpy_split_copy(x: Tensor, splits: Sequence[int], dim: int) -> list[Tensor]:
    """Copies of the parts of `x` that end at `splits` along `dim`."""
    return [_like(np.copy(part), x) for part in np.split(to_numpy(x), splits, dim)]


@numpy_split_copy.register_fake
def _fake_split_copy(x: Any, splits: Any, dim: int) -> Any:
    return [part.clone() for part in dispatch.tensor_split(x, splits, dim)]


@custom_op("_torch_testing::numpy_split_copy_with_int", mutates_args=())
def numpy_split_copy_with_int(
    x: Tensor, splits: Sequence[int], dim: int
) -> tuple[list[Tensor], int]:
    """The same, and how many ends there are."""
    return numpy_split_copy._init_fn(x, splits, dim), len(splits)


@numpy_split_copy_with_int.register_fake
def _fake_split_copy_with_int(x: Any, splits: Any, dim: int) -> Any:
    return _fake_split_copy(x, splits, dim), len(splits)


def _keep_dim(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.dim = inputs[2]


def _split_backward(ctx: Any, grads: Any, of_count: Any = None) -> Any:
    return dispatch.ops._torch_testing.numpy_cat(grads, dim=ctx.dim), None, None


numpy_split_copy.register_autograd(_split_backward, setup_context=_keep_dim)
numpy_split_copy_with_int.register_autograd(_split_backward, setup_context=_keep_dim)
