"""softmax and log_softmax in terms of `_softmax` and `_log_softmax`, after conversion to a dtype.

Called for the composite operators; call operators through the dispatcher. float16 on CUDA to
float32 is one fused operator, every other dtype a conversion first.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport (
    DEV_CUDA, MF_contiguous, ST_NONE, ST_float16, ST_float32, dtype_code, get_dtype,
)
from dispatch._C.size cimport new_size
from dispatch._C.tensor cimport Tensor, is_contiguous_as
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.composite.matrix.matmul cimport call_array, call_one, call_two

cdef Callee ALL = callee("all", "dim")
cdef Callee COPY = callee("copy_")
cdef Callee EMPTY_LIKE = callee("empty_like")
cdef Callee EQ = callee("eq", "Scalar")
cdef Callee LOG_SOFTMAX = callee("_log_softmax")
cdef Callee LOG_SOFTMAX_OUT = callee("_log_softmax", "out")
cdef Callee RESIZE = callee("resize_")
cdef Callee SOFTMAX = callee("_softmax")
cdef Callee SOFTMAX_INT = callee("softmax", "int")
cdef Callee SOFTMAX_OUT = callee("_softmax", "out")
cdef Callee TO = callee("to", "dtype_layout")
cdef Callee WHERE = callee("where", "self")
cdef Callee ZEROS_LIKE = callee("zeros_like")


cdef inline bint is_fused(Tensor t, int dtype) noexcept:
    return t.c_devtype == DEV_CUDA and t.c_dtype == ST_float16 and dtype == ST_float32


cdef object converted(Tensor t, int dtype):
    """With the tensor's own layout and device written out, as PyTorch converts here."""
    cdef PyObject* args[8]
    if dtype == ST_NONE or dtype == t.c_dtype:
        return t
    given, layout, device = get_dtype(dtype), t.layout, t.device
    args[0], args[1], args[2], args[3] = <PyObject*>t, <PyObject*>given, <PyObject*>layout, <PyObject*>device
    return call_array(TO, args, 4)


cdef object normalized(Callee op, Tensor self, int64_t dim, int dtype):
    cdef PyObject* args[8]
    cdef bint fused = is_fused(self, dtype)
    cdef object given = self if fused else converted(self, dtype)
    cdef object boxed_dim = dim, half_to_float = fused
    args[0], args[1], args[2] = <PyObject*>given, <PyObject*>boxed_dim, <PyObject*>half_to_float
    return call_array(op, args, 3)


cdef object softmax(Tensor self, int64_t dim, int dtype):
    return normalized(SOFTMAX, self, dim, dtype)


cdef object log_softmax(Tensor self, int64_t dim, int dtype):
    return normalized(LOG_SOFTMAX, self, dim, dtype)


cdef object normalize_into(Callee op, Tensor self, int64_t dim, object dtype, Tensor out):
    """The operator writes only to a contiguous output: another is filled from a fresh one."""
    cdef int code = ST_NONE if dtype is None else dtype_code(dtype)
    cdef bint fused = is_fused(self, code)
    cdef Tensor given = self if fused else converted(self, code), target = out
    if not is_contiguous_as(out, MF_contiguous):
        target = call_one(EMPTY_LIKE, out)
    op.call((given, dim, fused, target))
    if target is not out:
        call_two(RESIZE, out, list(new_size(target.c_ndim, target.c_sizes)))
        call_two(COPY, out, target)
    return out


def softmax_out(Tensor self not None, int64_t dim, dtype=None, *, Tensor out not None):
    """softmax.int into `out`, which is resized."""
    return normalize_into(SOFTMAX_OUT, self, dim, dtype, out)


def log_softmax_out(Tensor self not None, int64_t dim, dtype=None, *, Tensor out not None):
    """log_softmax.int into `out`, which is resized."""
    return normalize_into(LOG_SOFTMAX_OUT, self, dim, dtype, out)


def _safe_softmax(Tensor self not None, int64_t dim, dtype=None):
    """softmax in which rows of -inf give zeros instead of nan."""
    result = SOFTMAX_INT.call((self, dim, dtype))
    masked = ALL.call((call_two(EQ, self, float("-inf")), dim, True))
    return WHERE.call((masked, call_one(ZEROS_LIKE, result), result))
