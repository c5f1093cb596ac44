"""The shape and dtype rules that operators share: a C function each, over plain arrays or tensors.

Who calls: shape functions, views, factories, bodies, as `rules.NAME`. A module for each subject.
"""
from dispatch.kernels.meta.rules.elementwise cimport elementwise_strides, elementwise_strides_meta, empty_like_strides
from dispatch.kernels.meta.rules.promotion cimport float_type, promoted, result_type, sum_type
from dispatch.kernels.meta.rules.sizes cimport (
    MAX_DIMS, broadcast, broadcast_into, infer_size, is_eager, numel, reduced_sizes, wrap_dim, wrap_dims,
)
from dispatch.kernels.meta.rules.strides cimport (
    channels_last_strides, compute_view_strides, compute_view_strides_meta, contiguous_strides,
    dense_like_strides, dense_strides, is_channels_last, is_channels_last_like, is_contiguous, non_overlapping_dense,
    strides_for, suggest_memory_format,
)
