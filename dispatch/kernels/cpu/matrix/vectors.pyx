"""Bodies of products of vectors on the CPU: cross products of real and complex numbers and integers.

16-bit floats are computed in float32 and rounded once, integers in 64 bits, which wrap as they do.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_RARE, MF_contiguous, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float32, ST_float64,
    get_dtype, is_in,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, new_empty, new_view
from dispatch.kernels.cpu.copy.strided cimport memory_meets
from dispatch.kernels.cpu.dense cimport computed_in, dense, finish, held, target
from dispatch.kernels.cpu.runs cimport address

ctypedef float complex singles
ctypedef double complex doubles

ctypedef fused value:
    float
    double
    uint64_t
    singles
    doubles


cdef void cross_products(const value* a, const value* b, value* to, int64_t outer, int64_t inner) noexcept nogil:
    """Of [outer, 3, inner]."""
    cdef int64_t i, k
    for i in range(outer):
        for k in range(inner):
            to[k] = a[inner + k] * b[2 * inner + k] - a[2 * inner + k] * b[inner + k]
            to[inner + k] = a[2 * inner + k] * b[k] - a[k] * b[2 * inner + k]
            to[2 * inner + k] = a[k] * b[inner + k] - a[inner + k] * b[k]
        a += 3 * inner
        b += 3 * inner
        to += 3 * inner


cdef Tensor expanded(Tensor t, Tensor like):
    cdef int64_t strides[64]
    cdef int d
    cdef bint same = True
    for d in range(t.c_ndim):
        strides[d] = t.c_strides[d] if t.c_sizes[d] == like.c_sizes[d] else 0
        same = same and t.c_sizes[d] == like.c_sizes[d]
    return t if same else new_view(t, like.c_ndim, like.c_sizes, strides, t.c_offset)


cdef int cross(Tensor out, Tensor self, Tensor other, int64_t dim, const int64_t* handed) except -1:
    """The vector at right angles to both."""
    cdef int code = computed_in(self.c_dtype)
    cdef Tensor a, b, made
    cdef int64_t inner = 1, outer
    cdef object kept
    cdef int d
    if is_in(DTYPES_RARE, self.c_dtype) or self.c_dtype == ST_complex32 or self.c_dtype == ST_bool:
        raise unserved(get_dtype(self.c_dtype))
    if self.c_dtype != other.c_dtype:
        raise refused(f"expected one dtype, got {get_dtype(self.c_dtype)!r} and {get_dtype(other.c_dtype)!r}")
    if out.c_numel == 0:
        return 0
    for d in range(<int>handed[0] + 1, out.c_ndim):
        inner *= out.c_sizes[d]
    outer = out.c_numel // (3 * inner)
    a, b = dense(expanded(self, out), code, MF_contiguous), dense(expanded(other, out), code, MF_contiguous)
    made = target(out, code, MF_contiguous)
    if memory_meets(made, a) or memory_meets(made, b):
        made = new_empty(code, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)
    cdef void* x = address(a)
    cdef void* y = address(b)
    cdef void* to = address(made)
    kept = held(a, b, made)
    with nogil:
        if code == ST_float32:
            cross_products[float](<float*>x, <float*>y, <float*>to, outer, inner)
        elif code == ST_float64:
            cross_products[double](<double*>x, <double*>y, <double*>to, outer, inner)
        elif code == ST_complex64:
            cross_products[singles](<singles*>x, <singles*>y, <singles*>to, outer, inner)
        elif code == ST_complex128:
            cross_products[doubles](<doubles*>x, <doubles*>y, <doubles*>to, outer, inner)
        else:
            cross_products[uint64_t](<uint64_t*>x, <uint64_t*>y, <uint64_t*>to, outer, inner)
    return finish(out, made)
