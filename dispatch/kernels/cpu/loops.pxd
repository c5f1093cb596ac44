"""numpy's ufuncs as bodies of elementwise CPU kernels: inner loops where they fit, else all of it.

Who calls: `unary` and `binary` beside this file, with an output of the right sizes. A raw loop runs
when operands and output have the loop's dtypes, whatever their strides; it neither allocates nor
warns. Everything else (conversions, half precision, overlapping memory) goes to the ufunc itself,
once, with numpy's warnings off.
"""
from libc.stdint cimport uint64_t

from dispatch._C.dtypes cimport ST_COUNT
from dispatch._C.tensor cimport Tensor

# numpy's PyUFuncGenericFunction: operands and output, count, steps in bytes, the loop's own data.
ctypedef void (*inner_loop)(char** pointers, const Py_ssize_t* count, const Py_ssize_t* steps,
                            void* data) noexcept nogil

cdef class Ufunc:
    """A numpy ufunc and its inner loops by ScalarType; a loop's operands share one dtype."""
    cdef object call             # the ufunc, or a function that stands for one
    cdef uint64_t missing        # bits by ScalarType: PyTorch has no kernel that computes in it
    cdef bint gives_bool
    cdef bint keeps_number       # a second operand of one element is not rounded to half precision
    cdef inner_loop loops[ST_COUNT]      # NULL: none
    cdef void* data[ST_COUNT]

cdef Ufunc new_ufunc(object call, uint64_t missing, bint keeps_number=*)     # missing: a mask DTYPES_
cdef int check_supported(Ufunc u, int code) except -1    # NotImplementedError names the dtype
cdef int compute_code(Ufunc u, int code) noexcept        # half precision is computed in float32
cdef object array_of(Tensor t, int code)                 # numpy's array, converted to a dtype
cdef object widened(Tensor t, int code, int wide)        # converted to `code`, then to a wider one
cdef object quietly(object function, tuple args)         # called with numpy's warnings off
# Rounded to the dtype `code` of the operator's result, then converted to that of the output.
cdef int store(Tensor out, object values, int code) except -1
# out = u(a) and out = u(a, b), computed in the dtype `code`.
cdef int run_unary(Ufunc u, Tensor out, Tensor a, int code) except -1
cdef int run_binary(Ufunc u, Tensor out, Tensor a, Tensor b, int code) except -1
# The same in raw loops; False: they do not fit, nothing was done. RuntimeError: no bytes.
cdef bint try_unary(Ufunc u, Tensor out, Tensor a, int code) except -1
cdef bint try_binary(Ufunc u, Tensor out, Tensor a, Tensor b, int code) except -1
