"""What matrices must be: checks and strides that linear algebra's shape functions share.

Called from C by them, and from Python by composite kernels. PyTorch's are in LinearAlgebraUtils.h;
their names are in the doc strings.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_NONE, ST_bfloat16, ST_complex64, ST_complex128, ST_float32, ST_float64, ST_int32, is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport larger, ne, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.fft cimport transforms as fft
from dispatch.kernels.meta.rules.sizes cimport is_eager, same_sizes

cdef enum:
    MAX_DIMS = 64


cdef object shape_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


cdef object name_of(Tensor t):
    return dtypes.get_dtype(t.c_dtype)


cdef int real_of(int code) noexcept nogil:
    cdef int found = fft.real_of(code)
    return code if found == ST_NONE else found


cdef int complex_of(int code) except -1:
    cdef int found = code if is_complex_code(code) else ST_complex64 if code == ST_bfloat16 else fft.complex_of(code)
    if found == ST_NONE:
        raise refused(f"Unknown Complex ScalarType for {scalar_type(dtypes.get_dtype(code))}")
    return found


# ---- checks ------------------------------------------------------------------------------------

cdef int check_dimensions(str name, Tensor t, error) except -1:
    if t.c_ndim < 2:
        raise refused(f"The input tensor {name} must have at least 2 dimensions, got shape {shape_of(t)}", error)
    return 0


cpdef int check_matrix(str name, Tensor t) except -1:
    """checkIsMatrix."""
    return check_dimensions(name, t, RuntimeError)


cpdef int check_square(str name, Tensor t) except -1:
    """squareCheckInputs; the Meta kernels' one asserts."""
    check_dimensions(name, t, RuntimeError if is_eager(t) else AssertionError)
    if ne(t.c_sizes[t.c_ndim - 1], t.c_sizes[t.c_ndim - 2]):
        raise refused(f"{name} must be batches of square matrices, but they are "
                      f"{size_object(t.c_sizes[t.c_ndim - 2])} by {size_object(t.c_sizes[t.c_ndim - 1])} matrices")
    return 0


cpdef int check_floating(str name, Tensor t, bint narrow=True) except -1:
    """checkFloatingOrComplex; `narrow`: floats of 16 bits too."""
    cdef int code = t.c_dtype
    if code == ST_float32 or code == ST_float64 or code == ST_complex64 or code == ST_complex128:
        return 0
    if not (is_floating_code(code) or is_complex_code(code)):
        raise refused(f"Expected a floating point or complex tensor as input. Got {scalar_type(name_of(t))} for {name}")
    if not narrow:
        raise refused(f"Low precision dtypes not supported. Got {scalar_type(name_of(t))} for {name}")
    return 0


cpdef int check_same_dtype(str a_name, Tensor a, str b_name, Tensor b) except -1:
    """Both of one dtype."""
    if a.c_dtype != b.c_dtype:
        raise refused(f"expected {a_name} and {b_name} to have the same dtype, got {name_of(a)!r} and {name_of(b)!r}")
    return 0


cpdef int check_solver_sides(Tensor a, Tensor b) except -1:
    """linearSolveCheckInputs: b @ x = a with square matrices a."""
    check_same_dtype("self", b, "the coefficients", a)
    if a.c_ndim < 2:
        raise refused(f"expected matrices of coefficients, got shape {shape_of(a)}", IndexError)
    if ne(a.c_sizes[a.c_ndim - 1], a.c_sizes[a.c_ndim - 2]):
        raise refused(f"expected square matrices of coefficients, got {shape_of(a)}")
    if b.c_ndim < 2:
        raise refused(f"expected self to have at least 2 dimensions, got shape {shape_of(b)}", IndexError)
    if ne(a.c_sizes[a.c_ndim - 1], b.c_sizes[b.c_ndim - 2]):
        raise refused(f"Incompatible matrix sizes: each A matrix is {shape_of(a)} but each b matrix is {shape_of(b)}")
    return 0


cdef int check_solver(Tensor a, const int64_t* b_sizes, int b_ndim, bint left, str name) except -1:
    """checkInputsSolver: the sides of AX = B, or of XA = B."""
    check_square(name, a)
    if b_ndim < 2:
        raise refused(f"The input tensor B must have at least 2 dimensions, got shape {list(new_size(b_ndim, b_sizes))}")
    if ne(a.c_sizes[a.c_ndim - 1], b_sizes[b_ndim - 2 if left else b_ndim - 1]):
        raise refused(f"Incompatible shapes of {name} and B for the equation {'AX = B' if left else 'XA = B'}, "
                      f"got {shape_of(a)} and {list(new_size(b_ndim, b_sizes))}")
    return 0


cpdef bint is_vector_rhs(Tensor a, Tensor b) except? -1:
    """Whether b holds vectors, one for each matrix of a (linalg_solve_is_vector_rhs)."""
    return b.c_ndim == 1 or (a.c_ndim - 1 == b.c_ndim and same_sizes(a.c_sizes, b.c_sizes, b.c_ndim))


# ---- sizes and strides -------------------------------------------------------------------------

cdef int broadcast_batch(int64_t* a_out, int64_t* b_out, const int64_t* a, int a_ndim, const int64_t* b, int b_ndim) except -1:
    """_linalg_broadcast_batch_dims."""
    cdef int64_t batch[MAX_DIMS]
    cdef int n = a_ndim - 2
    memcpy(batch, a, n * sizeof(int64_t))
    n = rules.broadcast_into(batch, n, b, b_ndim - 2)
    if a_out != NULL:
        memcpy(a_out, batch, n * sizeof(int64_t))
        memcpy(a_out + n, a + a_ndim - 2, 2 * sizeof(int64_t))
    if b_out != NULL:
        memcpy(b_out, batch, n * sizeof(int64_t))
        memcpy(b_out + n, b + b_ndim - 2, 2 * sizeof(int64_t))
    return n + 2


cdef int set_sizes(Spec* s, const int64_t* sizes, int ndim, int dtype, int flags) except -1:
    s.ndim, s.dtype, s.cast = ndim, dtype, flags
    memcpy(s.sizes, sizes, ndim * sizeof(int64_t))
    return 0


cdef int set_columns(Spec* s, const int64_t* sizes, int ndim, int dtype, int flags) except -1:
    set_sizes(s, sizes, ndim, dtype, flags)
    rules.contiguous_strides(s.strides, sizes, ndim)
    s.has_strides = True
    if ndim >= 2:
        s.strides[ndim - 2] = 1
        s.strides[ndim - 1] = larger(sizes[ndim - 2], 1)
    return 0


cdef int set_info(Spec* s, Tensor a, int flags) except -1:
    return set_sizes(s, a.c_sizes, a.c_ndim - 2, ST_int32, flags)


cdef int set_none(Spec* s, int dtype, int flags) except -1:
    cdef int64_t size = 0
    return set_sizes(s, &size, 1, dtype, flags)
