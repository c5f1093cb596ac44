"""The shape and dtype rules that operators share, as Python kernels call them: `rules.NAME`.

A module for each subject; Cython kernels cimport functions of the same names. Nothing
here makes a tensor or keeps state. The rules are PyTorch's: each names its source there.
"""

from dispatch._C.dtypes import promote_types
from dispatch.kernels.meta.rules.elementwise import (
    elementwise_strides,
    elementwise_strides_meta,
    empty_like_strides,
)
from dispatch.kernels.meta.rules.numbers import (
    are_numbers,
    example,
    has_zero,
    larger,
    need_tracing,
    root,
    same_sizes,
    sizes_may_agree,
    smaller,
)
from dispatch.kernels.meta.rules.promotion import float_type, result_type, sum_type
from dispatch.kernels.meta.rules.sizes import (
    broadcast_shapes,
    device_type,
    holds,
    infer_size,
    is_eager,
    may_hold,
    numel,
    reduced_sizes,
    wrap_dim,
    wrap_dims,
)
from dispatch.kernels.meta.rules.strides import (
    channels_last_strides,
    check_bounds,
    compute_view_strides,
    contiguous_strides,
    dense_like_strides,
    dense_strides,
    is_contiguous,
    is_non_overlapping_and_dense,
    strides_for,
    suggest_memory_format,
)

__all__ = [
    "are_numbers",
    "broadcast_shapes",
    "channels_last_strides",
    "check_bounds",
    "compute_view_strides",
    "contiguous_strides",
    "dense_like_strides",
    "dense_strides",
    "device_type",
    "elementwise_strides",
    "elementwise_strides_meta",
    "empty_like_strides",
    "example",
    "float_type",
    "has_zero",
    "holds",
    "infer_size",
    "is_contiguous",
    "is_eager",
    "is_non_overlapping_and_dense",
    "larger",
    "may_hold",
    "need_tracing",
    "numel",
    "promote_types",
    "reduced_sizes",
    "result_type",
    "root",
    "same_sizes",
    "sizes_may_agree",
    "smaller",
    "strides_for",
    "suggest_memory_format",
    "sum_type",
    "wrap_dim",
    "wrap_dims",
]
