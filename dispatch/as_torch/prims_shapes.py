"""Dimensions, permutations and strides as `torch._prims_common` works them out in Python.

`compute_elementwise_output_strides` are those that a function of elements gives its result: the
order of memory that the arguments agree on, the first one before the others.
"""

import itertools
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.prims_common import (
    compute_required_storage_length,
    is_non_overlapping_and_dense_or_false,
)
from dispatch.kernels.meta.rules import elementwise_strides_meta, wrap_dim

__all__ = [
    "apply_perm", "canonicalize_device", "canonicalize_dim", "canonicalize_dims", "check",
    "check_all_strides", "check_same_device", "check_same_shape", "clone_preserve_strides",
    "compute_elementwise_output_logical_to_physical_perm", "compute_elementwise_output_strides",
    "compute_reduction_output_shape", "device_or_default", "extract_dims_from_varargs",
    "extract_shape", "extract_shape_from_varargs", "invert_perm", "is_cpu_scalar_tensor",
    "is_same_shape", "is_valid_permutation", "prod", "reduction_dims", "same_shape",
    "set_correction", "validate_dim_length", "validate_no_repeating_dims", "validate_shape",
]  # fmt: skip


def check(b: Any, s: Callable[[], Any], exc_type: type[Exception] = RuntimeError) -> None:
    """The older `torch._check_with`: the error with the text unless `b` holds."""
    text = "torch._prims_common.check will be removed in the future: use torch._check*"
    warnings.warn(text, FutureWarning, 2)
    if not b:
        raise exc_type(s())


# ---- shapes and dimensions


def prod(xs: Sequence[Any]) -> Any:
    """The product, 1 of none."""
    return math.prod(xs)


def is_cpu_scalar_tensor(a: Any) -> bool:
    """Whether it is a tensor without dimensions on the CPU."""
    return isinstance(a, Tensor) and a.ndim == 0 and a.device.type == "cpu"


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dimension counted from the front; IndexError if there is none of this number."""
    if rank == 0 and not wrap_scalar:
        raise IndexError(f"dimension specified as {idx} but tensor has no dimensions")
    return wrap_dim(idx, rank)


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """The same of one, or of each."""
    if isinstance(indices, Sequence):
        return tuple(canonicalize_dim(rank, i, wrap_scalar) for i in indices)
    return canonicalize_dim(rank, indices, wrap_scalar)


def reduction_dims(shape: Sequence[Any], dims: Sequence[int] | None) -> tuple[int, ...]:
    """The dimensions to fold, all for None; RuntimeError for one twice."""
    if dims is None:
        return tuple(range(len(shape)))
    found = tuple(wrap_dim(dim, len(shape)) for dim in dims)
    validate_no_repeating_dims(found)
    return found


def compute_reduction_output_shape(
    shape: Sequence[Any], dimensions: Sequence[int]
) -> tuple[Any, ...]:
    """The sizes without those that are folded."""
    return tuple(n for dim, n in enumerate(shape) if dim not in dimensions)


def validate_no_repeating_dims(dims: Sequence[int]) -> None:
    """RuntimeError if one is named twice."""
    if len(set(dims)) != len(dims):
        raise RuntimeError("duplicate value in the list of dims")


def validate_dim_length(length: int) -> None:
    """RuntimeError for a negative size."""
    if length < 0:
        raise RuntimeError(f"a size is not negative: {length}")


def validate_shape(shape: Sequence[int]) -> None:
    """RuntimeError for a negative size."""
    for n in shape:
        validate_dim_length(n)


def is_same_shape(a: Sequence[Any], b: Sequence[Any]) -> bool:
    """Whether the sizes are equal."""
    return tuple(a) == tuple(b)


def same_shape(a: Sequence[Any], b: Sequence[Any], *, allow_rhs_unbacked: bool = False) -> bool:
    """Whether the sizes are equal."""
    return is_same_shape(a, b)


def extract_shape(*args: Any, allow_cpu_scalar_tensors: bool) -> Any:
    """The sizes that the tensors have together; None if they differ, or there are none."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    counted = [a for a in tensors if not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(a))]
    shapes = {a.shape for a in counted or tensors}
    return shapes.pop() if len(shapes) == 1 else None


def check_same_shape(*args: Any, allow_cpu_scalar_tensors: bool) -> None:
    """RuntimeError unless the tensors are of one shape."""
    tensors = [a for a in args if isinstance(a, Tensor)]
    shape = extract_shape(*tensors, allow_cpu_scalar_tensors=allow_cpu_scalar_tensors)
    if tensors and shape is None:
        raise RuntimeError(f"shapes are not the same: {[tuple(t.shape) for t in tensors]}")


def extract_dims_from_varargs(dims: Any) -> Any:
    """`(2, 3)` of `f(2, 3)` and of `f((2, 3))`."""
    return dims[0] if dims and isinstance(dims[0], Sequence) else dims


def extract_shape_from_varargs(shape: Any, validate: bool = True) -> Any:
    """The same of sizes; RuntimeError for a negative one."""
    found = extract_dims_from_varargs(shape)
    if validate:
        validate_shape(found)
    return found


def set_correction(unbiased: bool | None = None, correction: float | None = None) -> Any:
    """What is subtracted from the count of a variance: 1 by default, 0 for `unbiased=False`."""
    if correction is not None and unbiased is not None:
        raise RuntimeError("cannot specify both correction and unbiased arguments")
    return float(unbiased is not False if correction is None else correction)


# ---- devices


def canonicalize_device(device: Any) -> dispatch.device:
    """A device of a name."""
    return dispatch.device(device)


def device_or_default(device: Any) -> dispatch.device:
    """The device, or the CPU for None."""
    return dispatch.device("cpu" if device is None else device)


def check_same_device(*args: Any, allow_cpu_scalar_tensors: bool) -> None:
    """RuntimeError unless the tensors are on one device."""
    counted = [
        a for a in args
        if isinstance(a, Tensor) and not (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(a))
    ]  # fmt: skip
    if len({a.device for a in counted}) > 1:
        raise RuntimeError(f"tensors are on different devices: {[str(a.device) for a in counted]}")


# ---- strides


def is_valid_permutation(rank: int, perm: Any) -> bool:
    """Whether it names each dimension once."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def apply_perm(inp: Sequence[Any], perm: Sequence[int]) -> list[Any]:
    """The elements in the order that `perm` has them."""
    return [inp[place] for place in perm]


def invert_perm(perm: Sequence[int]) -> list[int]:
    """The permutation that undoes this one."""
    return sorted(range(len(perm)), key=lambda place: perm[place])


def check_all_strides(a: Any, b: Any, *, only_cuda: bool = True) -> tuple[bool, int | None]:
    """(True, None), or (False, the first dimension of another stride)."""
    if (only_cuda and "cuda" not in (a.device.type, b.device.type)) or a.numel() == 0:
        return True, None
    pairs = enumerate(zip(a.stride(), b.stride(), strict=True))
    differing = next((dim for dim, (one, other) in pairs if one != other), None)
    return differing is None, differing


def clone_preserve_strides(x: Tensor) -> Tensor:
    """A copy with the same strides and offset, gaps and overlaps among them."""
    needed = compute_required_storage_length(x.shape, x.stride(), x.storage_offset())
    buffer = dispatch.as_strided(x, (needed,), (1,), 0).clone()
    return dispatch.as_strided(buffer, x.size(), x.stride(), x.storage_offset())


def _before(tensors: Sequence[Tensor], a: int, b: int) -> int:
    """1: dimension `a` lies further out in memory than `b`; -1: not; 0: nobody says."""
    for t in tensors:
        one, other = t.stride(a), t.stride(b)
        if one == 0 or other == 0:
            continue
        if one != other:
            return -1 if one < other else 1
        if t.shape[a] > t.shape[b]:
            return 1
    return 0


def compute_elementwise_output_logical_to_physical_perm(
    *tensors: Any, _skip_checks: bool = False, ambiguity_check: bool = False
) -> tuple[list[int], bool]:
    """(the dimensions from the outermost in memory on, whether their order was open)."""
    if not tensors and not _skip_checks:
        raise ValueError("strides of a result need a tensor")
    if not _skip_checks:
        check_same_shape(*tensors, allow_cpu_scalar_tensors=True)
        tensors = tuple(t for t in tensors if isinstance(t, Tensor) and not is_cpu_scalar_tensor(t))
    if not tensors:
        return [], False
    ndim = tensors[0].ndim
    in_order = all(t.is_contiguous() for t in tensors)
    last = ndim == 4 and all(t.is_contiguous(memory_format=dispatch.channels_last) for t in tensors)
    if ndim < 2 or (in_order and not last):
        return list(range(ndim)), False
    if last and not in_order:
        return [0, 2, 3, 1], False
    perm = list(reversed(range(ndim)))  # the innermost first
    for start in range(1, ndim):
        at = start
        for place in reversed(range(start)):
            order = _before(tensors, perm[place], perm[at])
            if order < 0:
                break
            if order > 0:
                perm[place], perm[at] = perm[at], perm[place]
                at = place
    pairs = itertools.pairwise(perm)
    is_open = ambiguity_check and any(_before(tensors, a, b) != -1 for a, b in pairs)
    return perm[::-1], is_open


def compute_elementwise_output_strides(*tensors: Any) -> tuple[int, ...]:
    """Strides without gaps, in the order of memory that the arguments agree on."""
    check_same_shape(*tensors, allow_cpu_scalar_tensors=True)
    kept = [t for t in tensors if isinstance(t, Tensor) and not is_cpu_scalar_tensor(t)]
    if not kept:
        return ()
    if len(kept) == 1 and is_non_overlapping_and_dense_or_false(kept[0]):
        return tuple(kept[0].stride())
    return elementwise_strides_meta(kept[0].shape, kept)
