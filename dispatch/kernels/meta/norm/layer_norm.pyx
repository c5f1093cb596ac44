"""Shape function of layer normalisation: the result, contiguous, and the mean and 1/deviation.

Called by the structured kernels of `native_layer_norm`. The statistics keep the normalised
dimensions with size 1; for half precision they are float32, but on CPU they have input's dtype.
The body is handed how many elements are normalised together.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DTYPES_REDUCED_FLOATING, ST_float32, is_floating_code, is_in
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport CAST_SAFE, Spec
from dispatch._C.symbolic cimport expect_eq
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules


cdef int raise_shape(str name, Tensor t, IntArray shape) except -1:
    wanted, got = list(new_size(<int>shape.len, shape.data)), list(new_size(t.c_ndim, t.c_sizes))
    if name == "input":
        raise refused(f"Given normalized_shape={wanted}, expected input with shape [*, {str(wanted)[1:]}, "
                      f"but got input of size{got}")
    raise refused(f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {got} and "
                  f"normalized_shape = {wanted}")


cdef bint ends_with(Tensor t, IntArray shape) except -1:
    cdef int i, n = <int>shape.len
    if t.c_ndim < n:
        return False
    for i in range(n):
        if not expect_eq(t.c_sizes[t.c_ndim - n + i], shape.data[i]):
            return False
    return True


cdef int check_arguments(Tensor input, IntArray shape, Tensor weight, Tensor bias) except -1:
    if shape.len == 0:
        raise refused("Expected normalized_shape to be at least 1-dimensional, got []")
    if weight is not None and not (weight.c_ndim == shape.len and ends_with(weight, shape)):
        raise_shape("weight", weight, shape)
    if bias is not None and not (bias.c_ndim == shape.len and ends_with(bias, shape)):
        raise_shape("bias", bias, shape)
    if not ends_with(input, shape):
        raise_shape("input", input, shape)
    if not is_floating_code(input.c_dtype) and not rules.is_eager(input):
        raise refused("expected input to be floating point, got "
                      f"{dtypes.get_dtype(input.c_dtype)!r}")
    return 0


cdef int statistics_type(Tensor input, Tensor weight, Tensor bias) noexcept:
    """input's dtype; float32 for half precision off the CPU, and on it beside float32 weights."""
    cdef int code = input.c_dtype
    cdef Tensor given = bias if weight is None else weight
    if given is not None and given.c_dtype == ST_float32 and rules.is_eager(input) and \
            is_in(DTYPES_REDUCED_FLOATING, code):
        return ST_float32
    if input.c_devtype != DEV_CPU and is_in(DTYPES_REDUCED_FLOATING, code):
        return ST_float32
    return code


cdef int layer_norm(Spec* s, Tensor input, IntArray normalized_shape, Tensor weight, Tensor bias,
                    double eps) except -1:
    cdef int i, ndim = input.c_ndim
    check_arguments(input, normalized_shape, weight, bias)
    for i in range(3):
        s[i].ndim = ndim
        s[i].cast = CAST_SAFE
        memcpy(s[i].sizes, input.c_sizes, ndim * sizeof(int64_t))
    for i in range(ndim - <int>normalized_shape.len, ndim):
        s[1].sizes[i] = s[2].sizes[i] = 1
    if rules.is_eager(input):
        s.handed[0] = rules.numel(normalized_shape.data, <int>normalized_shape.len)
    s[0].dtype = input.c_dtype
    s[1].dtype = s[2].dtype = statistics_type(input, weight, bias)
    return 0
