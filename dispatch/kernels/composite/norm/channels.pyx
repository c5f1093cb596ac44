"""Normalisation by channels: batch_norm and group_norm, made of their native operators.

Called for tensors of all kinds; the operators underneath are those of PyTorch, in its order. `batch_norm` goes through
`_batch_norm_impl_index`, which picks the implementation: here always the native one.
"""
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_CUDA, MF_contiguous, ST_bfloat16, ST_float16, ST_float32, ST_float64, ST_uint8, get_dtype, get_layout,
    get_memory_format, new_device,
)
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport eq_or_false, expect_eq, mod, mul, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee, sizes_of
from dispatch.kernels.meta cimport rules

cdef Callee ADD = callee("add", "Tensor")
cdef Callee CLONE = callee("clone")
cdef Callee CONTIGUOUS = callee("contiguous")
cdef Callee EMPTY = callee("empty", "memory_format")
cdef Callee IMPL_INDEX = callee("_batch_norm_impl_index")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee NATIVE_BATCH_NORM = callee("native_batch_norm")
cdef Callee NATIVE_GROUP_NORM = callee("native_group_norm")
cdef Callee SELECT = callee("select", "int")


# ---- batch normalisation -----------------------------------------------------------------------

cdef object batch_norm(Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var, bint training,
                       double momentum, double eps, bint cudnn_enabled):
    return IMPL_INDEX.call((input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled))[0]


cdef int check_features(str name, Tensor t, int64_t features, bint needed) except -1:
    if t is None:
        if needed:
            raise refused(f"expected {name} unless training, got None")
    elif not expect_eq(t.c_numel, features):
        raise refused(f"{name} should contain {size_object(features)} elements not {size_object(t.c_numel)}: "
                      "as many as input has channels")
    return 0


cdef Tensor empty(Tensor input, list sizes, int code):
    return EMPTY.call((sizes, get_dtype(code), get_layout(input.c_layout), new_device(input.c_devtype, input.c_devindex)))


cdef int accumulation(Tensor input):
    """The dtype that sums of input are kept in: wider on the CPU."""
    if input.c_dtype == ST_float16 or input.c_dtype == ST_bfloat16:
        return ST_float32
    return ST_float64 if input.c_dtype == ST_float32 and input.c_devtype != DEV_CUDA else input.c_dtype


cdef tuple without_elements(Tensor input, Tensor weight, Tensor bias, int64_t features):
    """Weight and bias are kept in the graph of gradients."""
    reserve = empty(input, [0], ST_uint8)
    mean, deviation = [empty(input, [size_object(features)], accumulation(input)) for _ in range(2)]
    out = CLONE.call((input,))
    if weight is not None:
        out = MUL.call((out, SELECT.call((weight, 0, 0))))
    if bias is not None:
        out = ADD.call((out, SELECT.call((bias, 0, 0))))
    return out, mean, deviation, reserve, 0


cdef object _batch_norm_impl_index(Tensor input, Tensor weight, Tensor bias, Tensor running_mean, Tensor running_var,
                                   bint training, double momentum, double eps, bint cudnn_enabled):
    """(out, saved mean, saved 1/deviation, reserve, 0): 0 is the native implementation."""
    cdef int64_t features = input.c_sizes[1] if input.c_ndim > 1 else 0
    if eq_or_false(input.c_numel, 0):
        return without_elements(input, weight, bias, features)
    check_features("running_mean", running_mean, features, not training)
    check_features("running_var", running_var, features, not training)
    check_features("weight", weight, features, False)
    check_features("bias", bias, features, False)
    reserve = empty(input, [0], ST_uint8)
    out, mean, deviation = NATIVE_BATCH_NORM.call((input, weight, bias, running_mean, running_var, training, momentum, eps))
    return out, mean, deviation, reserve, 0


# ---- group normalisation -----------------------------------------------------------------------

cdef int check_channels(str name, Tensor t, int64_t channels) except -1:
    if t is not None and (t.c_ndim != 1 or not expect_eq(t.c_numel, channels)):
        raise refused(f"expected {name} to be a vector of {size_object(channels)} elements, as many as input has channels, got "
                      f"shape {sizes_of(t)}")
    return 0


cdef object group_norm(Tensor input, int64_t num_groups, Tensor weight, Tensor bias, double eps, bint cudnn_enabled):
    """native_group_norm of contiguous tensors; on the CPU channels_last stays."""
    cdef int64_t channels = input.c_sizes[rules.wrap_dim(1, input.c_ndim, True)], extent = 1
    cdef int d, kept
    for d in range(2, input.c_ndim):
        extent = mul(extent, input.c_sizes[d])
    if num_groups <= 0:
        raise refused(f"expected num_groups to be greater than 0, got {num_groups}")
    if not expect_eq(mod(channels, num_groups), 0):
        raise refused("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                      f"{sizes_of(input)} and num_groups {num_groups}")
    check_channels("weight", weight, channels)
    check_channels("bias", bias, channels)
    kept = rules.suggest_memory_format(input) if input.c_devtype == DEV_CPU else MF_contiguous
    input = CONTIGUOUS.call((input, get_memory_format(kept)))
    weight = None if weight is None else CONTIGUOUS.call((weight,))
    bias = None if bias is None else CONTIGUOUS.call((bias,))
    return NATIVE_GROUP_NORM.call((input, weight, bias, size_object(input.c_sizes[0]), size_object(channels),
                                   size_object(extent), num_groups, eps))[0]
