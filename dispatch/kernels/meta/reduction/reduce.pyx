"""Shape functions of reductions: which dimensions go, and the dtype that is left.

Called by the structured kernels; results are contiguous. Where PyTorch's eager kernels check more
than its Meta kernels (an empty maximum, say), `is_eager` decides, so that a fake tensor behaves
like PyTorch's fake tensors and a real one like its real ones.
"""
from cpython.object cimport PyObject
from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, ST_NONE, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float16,
    ST_float32, ST_float64, ST_int64, ST_uint8, ST_uint64, is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.geometry cimport read_ints
from dispatch._C.symbolic cimport eq_or_false
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.meta cimport rules
from dispatch.kernels.meta.elementwise.pointwise cimport CAST_SAME
from dispatch._C.structured cimport CAST_ANY, CAST_EXACT, CAST_SAFE, OVERLAP_ANY, Spec


cdef inline bint is_inexact(int code) noexcept:
    return is_floating_code(code) or is_complex_code(code)


cdef int real_type(int code) noexcept:
    """The dtype of a complex number's parts; other dtypes stay."""
    if code == ST_complex64:
        return ST_float32
    if code == ST_complex128:
        return ST_float64
    return ST_float16 if code == ST_complex32 else code


cdef int wrap_all(int64_t* dims, int n, Tensor self) except -1:
    """All are checked for their range before any is found to be there twice."""
    cdef int i
    for i in range(n):
        dims[i] = rules.wrap_dim(dims[i], self.c_ndim, True)
    return rules.wrap_dims(dims, n, self.c_ndim, True)


cdef int read_dims(int64_t* out, Tensor self, object dim) except -1:
    """Wrapped dims -> how many (0: all). IndexError, RuntimeError for a dimension given twice."""
    cdef int n
    if dim is None:
        return 0
    n = read_ints(dim, out, "dim")
    wrap_all(out, n, self)
    return n


cdef int fill_reduction(Spec* s, Tensor self, const int64_t* dims, int n, bint keepdim, int code,
                        int cast) noexcept:
    s.ndim = rules.reduced_sizes(s.sizes, self.c_sizes, self.c_ndim, dims if n else NULL, n,
                                 keepdim)
    s.dtype = code
    s.cast = cast | OVERLAP_ANY
    s.handed[0] = n if n and self.c_ndim else ALL_DIMS
    if n:
        memcpy(&s.handed[1], dims, n * sizeof(int64_t))
    return 0


cdef int fill_one_dim(Spec* s, Tensor self, int64_t dim, bint keepdim, int code,
                      int cast) except -1:
    cdef int64_t wrapped = rules.wrap_dim(dim, self.c_ndim, True)
    return fill_reduction(s, self, &wrapped, 1, keepdim, code, cast)


cdef int fill_dims(Spec* s, Tensor self, object dim, bint keepdim, int code, int cast) except -1:
    cdef int64_t dims[64]
    cdef int n = read_dims(dims, self, dim)
    return fill_reduction(s, self, dims, n, keepdim, code, cast)


# ---- sums --------------------------------------------------------------------------------------

cdef inline int given_cast(int dtype) noexcept:
    """A given output decides the dtype unless the caller named one."""
    return CAST_ANY if dtype == ST_NONE else CAST_EXACT


cdef int sum(Spec* s, Tensor self, int dtype) except -1:
    return fill_reduction(s, self, NULL, 0, False, rules.sum_type(self.c_dtype, dtype),
                          given_cast(dtype))


cdef int sum_dim(Spec* s, Tensor self, object dim, bint keepdim, int dtype) except -1:
    return fill_dims(s, self, dim, keepdim, rules.sum_type(self.c_dtype, dtype),
                     given_cast(dtype))


cdef int prod_dim(Spec* s, Tensor self, int64_t dim, bint keepdim, int dtype) except -1:
    return fill_one_dim(s, self, dim, keepdim, rules.sum_type(self.c_dtype, dtype),
                        given_cast(dtype))


cdef int mean_dim(Spec* s, Tensor self, object dim, bint keepdim, int dtype) except -1:
    cdef int code = self.c_dtype if dtype == ST_NONE else dtype
    fill_dims(s, self, dim, keepdim, code, CAST_SAFE)
    if not is_inexact(code):
        which = "Input" if dtype == ST_NONE else "Optional"
        raise refused(f"mean(): could not infer output dtype. {which} dtype must be either a floating point or complex dtype. "
                      f"Got: {scalar_type(dtypes.get_dtype(code))}")
    return 0


# ---- any, all ----------------------------------------------------------------------------------

cdef inline int truth_type(Tensor self) noexcept:
    """bool, but uint8 stays: older masks are uint8."""
    return ST_uint8 if self.c_dtype == ST_uint8 else ST_bool


cdef inline int truth_cast(Tensor self) noexcept:
    """Eager kernels take outputs of bool and uint8 (their bodies check it)."""
    return CAST_ANY if rules.is_eager(self) else CAST_SAFE


cdef int any_all(Spec* s, Tensor self) except -1:
    return fill_reduction(s, self, NULL, 0, False, truth_type(self), truth_cast(self))


cdef int any_dim(Spec* s, Tensor self, int64_t dim, bint keepdim) except -1:
    return fill_one_dim(s, self, dim, keepdim, truth_type(self), truth_cast(self))


cdef int any_dims(Spec* s, Tensor self, object dim, bint keepdim) except -1:
    """Here alone an empty list of dimensions reduces nothing."""
    cdef PyObject* item = <PyObject*>self
    if dim is not None and len(dim) == 0:
        s.ndim = self.c_ndim
        memcpy(s.sizes, self.c_sizes, self.c_ndim * sizeof(int64_t))
        s.has_strides = not rules.is_eager(self) and not rules.elementwise_strides(
            s.strides, s.sizes, s.ndim, &item, 1, ST_NONE)
        s.dtype = truth_type(self)
        s.cast = truth_cast(self)
        s.handed[0] = 0
        return 0
    return fill_dims(s, self, dim, keepdim, truth_type(self), truth_cast(self))


# ---- extrema -----------------------------------------------------------------------------------

cdef int raise_empty(int64_t dim, error) except -1:
    raise refused(f"Expected reduction dim {dim} to have non-zero size, as a result without an "
                  "identity needs", error)


cdef int raise_empty_all(error=RuntimeError) except -1:
    raise refused("Expected reduction dim to be specified for input.numel() == 0, and to have non-zero size", error)


cdef int amax(Spec* s, Tensor self, IntArray dim, bint keepdim) except -1:
    cdef int n = <int>dim.len, i
    wrap_all(dim.data, n, self)
    if eq_or_false(self.c_numel, 0):
        if n == 0:
            raise_empty_all()
        for i in range(n):
            if self.c_ndim and eq_or_false(self.c_sizes[dim.data[i]], 0):
                raise_empty(dim.data[i],
                            IndexError if rules.is_eager(self) else RuntimeError)
    return fill_reduction(s, self, dim.data, n, keepdim, self.c_dtype, CAST_SAFE)


cdef int check_ordered(Tensor self, bint with_bool) except -1:
    """Whether eager kernels can compare self's values."""
    if rules.is_eager(self) and (is_complex_code(self.c_dtype)
                           or not with_bool and self.c_dtype == ST_bool):
        raise refused("expected self to have ordered numbers, got "
                      f"{dtypes.get_dtype(self.c_dtype)!r}")
    return 0


cdef int argmax(Spec* s, Tensor self, object dim, bint keepdim) except -1:
    cdef int64_t wrapped
    check_ordered(self, False)
    if dim is None:
        if eq_or_false(self.c_numel, 0):
            raise_empty_all(IndexError if rules.is_eager(self) else RuntimeError)
        return fill_reduction(s, self, NULL, 0, keepdim, ST_int64, CAST_EXACT)
    wrapped = rules.wrap_dim(dim, self.c_ndim, True)
    if self.c_ndim and eq_or_false(self.c_sizes[wrapped], 0):
        raise_empty(wrapped, IndexError)
    return fill_reduction(s, self, &wrapped, 1, keepdim, ST_int64, CAST_EXACT)


cdef int max(Spec* s, Tensor self) except -1:
    if eq_or_false(self.c_numel, 0) and rules.is_eager(self):
        raise_empty_all()
    return fill_reduction(s, self, NULL, 0, False, self.c_dtype, CAST_SAFE)


cdef int max_dim(Spec* s, Tensor self, int64_t dim, bint keepdim) except -1:
    cdef int64_t wrapped = rules.wrap_dim(dim, self.c_ndim, True)
    if self.c_ndim and eq_or_false(self.c_sizes[wrapped], 0) and rules.is_eager(self):
        raise_empty(wrapped, IndexError)
    check_ordered(self, True)
    fill_reduction(&s[0], self, &wrapped, 1, keepdim, self.c_dtype, CAST_EXACT)
    fill_reduction(&s[1], self, &wrapped, 1, keepdim, ST_int64, CAST_EXACT)
    if rules.is_eager(self):
        s[0].cast = s[1].cast = CAST_SAME       # PyTorch's kernel looks for shared memory
    return 0


cdef int aminmax(Spec* s, Tensor self, object dim, bint keepdim) except -1:
    cdef int64_t wrapped
    cdef int cast = CAST_EXACT if rules.is_eager(self) else CAST_SAFE      # the references cast into what they are given
    if dim is None:
        if eq_or_false(self.c_numel, 0):
            raise refused("cannot compute aminmax over an empty dimension as the operation has no identity")
        fill_reduction(&s[0], self, NULL, 0, keepdim, self.c_dtype, cast)
        return fill_reduction(&s[1], self, NULL, 0, keepdim, self.c_dtype, cast)
    wrapped = rules.wrap_dim(dim, self.c_ndim, True)
    if self.c_ndim and eq_or_false(self.c_sizes[wrapped], 0):
        raise_empty(wrapped, IndexError if rules.is_eager(self) else RuntimeError)
    fill_reduction(&s[0], self, &wrapped, 1, keepdim, self.c_dtype, cast)
    return fill_reduction(&s[1], self, &wrapped, 1, keepdim, self.c_dtype, cast)


# ---- moments, norms, histograms ----------------------------------------------------------------

cdef int check_moment_input(Tensor self) except -1:
    if not is_inexact(self.c_dtype):
        raise refused(f"Expected a floating point or complex tensor as input. Got {scalar_type(self.dtype)}")
    return 0


cdef int var(Spec* s, Tensor self, object dim, object correction, bint keepdim) except -1:
    if rules.is_eager(self):
        check_moment_input(self)
    return fill_dims(s, self, dim, keepdim, real_type(self.c_dtype), CAST_SAFE)


cdef int var_mean(Spec* s, Tensor self, object dim, object correction, bint keepdim) except -1:
    fill_dims(&s[0], self, dim, keepdim, real_type(self.c_dtype), CAST_SAFE)
    fill_dims(&s[1], self, dim, keepdim, self.c_dtype, CAST_SAFE)
    return check_moment_input(self)


cdef int check_norm_dtype(Tensor self, int dtype) except -1:
    cdef int code = self.c_dtype
    if not is_inexact(dtype) or is_complex_code(dtype) != is_complex_code(code):
        kinds = "complex for complex" if is_complex_code(code) else "floating point for real"
        raise refused(f"dtype should be {kinds} inputs, but got {scalar_type(dtypes.get_dtype(dtype))}")
    if rules.promoted(dtype, code) != dtype:
        raise refused(f"the dtype of the input ({scalar_type(dtypes.get_dtype(code))}) should be convertible without narrowing to "
                      f"the specified dtype ({scalar_type(dtypes.get_dtype(dtype))})")
    return 0


cdef int check_norm_extent(Tensor self, object ord, object given, const int64_t* dims,
                           int n) except -1:
    """Norms without a value for no elements (negative or infinite order).

    PyTorch's Meta kernel finds a dimension counted from the back empty too.
    """
    cdef int i
    cdef bint counts_back = not rules.is_eager(self)
    cdef double order
    if not eq_or_false(self.c_numel, 0) or isinstance(ord, complex):
        return 0
    order = ord
    if order >= 0.0 and order != INFINITY:
        return 0
    if n == 0:
        raise refused(f"linalg.vector_norm cannot compute the {ord} norm on an empty tensor, which has none")
    for i in range(n):
        if self.c_ndim and (eq_or_false(self.c_sizes[dims[i]], 0) or counts_back and given[i] < 0):
            raise refused(f"linalg.vector_norm cannot compute the {ord} norm on the dimension {dims[i]}, which is empty")
    return 0


cdef int vector_norm(Spec* s, Tensor self, object ord, object dim, bint keepdim,
                     int dtype) except -1:
    cdef int64_t dims[64]
    cdef int n
    check_moment_input(self)
    n = read_dims(dims, self, dim)
    check_norm_extent(self, ord, dim, dims, n)
    if dtype != ST_NONE:
        check_norm_dtype(self, dtype)
    return fill_reduction(s, self, dims, n, keepdim,
                          real_type(self.c_dtype if dtype == ST_NONE else dtype), CAST_EXACT)


cdef int fill_norm(Spec* s, Tensor self, IntArray dim, bint keepdim, int code) except -1:
    cdef int n = <int>dim.len
    if not is_inexact(code):
        raise refused("expected a floating or complex dtype, got "
                      f"{dtypes.get_dtype(code)!r}")
    wrap_all(dim.data, n, self)
    return fill_reduction(s, self, dim.data, n, keepdim, real_type(code), CAST_EXACT)


cdef int check_order(Tensor self, object p, IntArray dim) except -1:
    """Of a norm that has none, 2; dimensions are wrapped."""
    cdef int i, n = <int>dim.len
    given = [dim.data[i] for i in range(n)]
    wrap_all(dim.data, n, self)
    return check_norm_extent(self, 2.0 if p is None else p, given, dim.data, n)


cdef int norm(Spec* s, Tensor self, object p, IntArray dim, bint keepdim) except -1:
    check_order(self, p, dim)
    return fill_norm(s, self, dim, keepdim, self.c_dtype)


cdef int norm_dtype(Spec* s, Tensor self, object p, IntArray dim, bint keepdim,
                    int dtype) except -1:
    check_moment_input(self)
    check_norm_dtype(self, dtype)
    check_order(self, p, dim)
    return fill_norm(s, self, dim, keepdim, dtype)


cdef int count_nonzero(Spec* s, Tensor self, IntArray dim) except -1:
    wrap_all(dim.data, <int>dim.len, self)
    return fill_reduction(s, self, dim.data, <int>dim.len, False, ST_int64, CAST_EXACT)


cdef int hash_tensor(Spec* s, Tensor self, IntArray dim, bint keepdim, int64_t mode) except -1:
    cdef int n = <int>dim.len, i
    if mode != 0:
        raise refused(f"expected mode to be 0, got {mode}")
    wrap_all(dim.data, n, self)
    if eq_or_false(self.c_numel, 0):
        if n == 0:
            raise_empty_all()
        for i in range(n):
            if self.c_ndim and eq_or_false(self.c_sizes[dim.data[i]], 0):
                raise_empty(dim.data[i], IndexError)
    return fill_reduction(s, self, dim.data, n, keepdim, ST_uint64, CAST_EXACT)


cdef int histc(Spec* s, Tensor self, int64_t bins, object min, object max) except -1:
    if bins <= 0:
        raise refused(f"bins must be > 0, got {bins}")
    if max < min:
        raise refused(f"max must be larger than min, got {max} and {min}")
    if self.c_devtype == DEV_CPU and not is_floating_code(self.c_dtype):
        # of uint8 PyTorch refuses a range that begins below 0 first, as that of no elements does
        negative = self.c_dtype == ST_uint8 and (min < 0 or min == max and eq_or_false(self.c_numel, 0))
        error = NotImplementedError if rules.is_eager(self) and not negative else RuntimeError
        raise refused("expected self to be floating point, got "
                      f"{dtypes.get_dtype(self.c_dtype)!r}", error)
    s.ndim = 1
    s.sizes[0] = bins
    s.dtype = self.c_dtype
    s.cast = CAST_SAFE
    return 0
