"""Shapes of pairwise distances: cdist between two sets of points, pdist within one."""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C.dtypes cimport get_dtype, is_floating_code
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.structured cimport Spec
from dispatch._C.symbolic cimport SIZE_ERROR, eq, floordiv, mul, ne, sub
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.meta cimport rules


cdef list shape_of(Tensor t):
    return list(new_size(t.c_ndim, t.c_sizes))


cdef inline int64_t last(Tensor t, int back) noexcept:
    """The last size, or the one before it: `back` is 1 or 2."""
    return t.c_sizes[t.c_ndim - back]


cdef int set_batch(Spec* s, Tensor x1, Tensor x2) except -1:
    """The batch dimensions of both, broadcast."""
    s.dtype, s.ndim = x1.c_dtype, x1.c_ndim - 2
    memcpy(s.sizes, x1.c_sizes, s.ndim * sizeof(int64_t))
    s.ndim = rules.broadcast_into(s.sizes, s.ndim, x2.c_sizes, x2.c_ndim - 2)
    return 0


cdef void add_matrix(Spec* s, int64_t rows, int64_t columns) noexcept:
    s.sizes[s.ndim], s.sizes[s.ndim + 1] = rows, columns
    s.ndim += 2


# ---- between two sets --------------------------------------------------------------------------

cdef int check_points(str name, Tensor points, object error=RuntimeError) except -1:
    if points.c_ndim < 2:
        raise refused(f"only supports at least 2D tensors, {name.upper()} got: {points.c_ndim}D", error)
    return 0


cpdef int check_real(str name, Tensor points) except -1:
    if not is_floating_code(points.c_dtype):
        raise refused(f"{name} must be of a float dtype, got {get_dtype(points.c_dtype)!r}")
    return 0


cpdef int check_sets(Tensor x1, Tensor x2, double p, object compute_mode) except -1:
    check_points("x1", x1)
    check_points("x2", x2)
    if ne(last(x1, 1), last(x2, 1)):
        raise refused(f"X1 and X2 must have the same number of columns, got {shape_of(x1)} and {shape_of(x2)}")
    check_real("x1", x1)
    check_real("x2", x2)
    if not p >= 0:
        raise refused(f"only supports non-negative p values, got {p}")
    if compute_mode is not None and compute_mode not in (0, 1, 2):
        raise refused(f"compute_mode must be 0, 1 or 2, got {compute_mode}")
    return 0


cdef int cdist(Spec* s, Tensor x1, Tensor x2, double p, object compute_mode) except -1:
    check_sets(x1, x2, p, compute_mode)
    set_batch(s, x1, x2)
    add_matrix(s, last(x1, 2), last(x2, 2))
    return 0


cdef int check_matrix(str name, Tensor given, const Spec* batch, int64_t rows, int64_t columns) except -1:
    """`given` has the batch's sizes, and those."""
    cdef Spec want = batch[0]
    cdef int d
    cdef bint good = given.c_ndim == batch.ndim + 2
    add_matrix(&want, rows, columns)
    for d in range(want.ndim):
        good = good and not ne(given.c_sizes[d], want.sizes[d])
    if not good:
        raise refused(f"expected {name} of shape {list(new_size(want.ndim, want.sizes))}, got {shape_of(given)}")
    return 0


cdef int cdist_backward(Spec* s, Tensor grad, Tensor x1, Tensor x2, double p, Tensor cdist) except -1:
    """x1's sizes, with all batches."""
    cdef int64_t n, m, columns
    cdef bint empty
    cdef int d
    check_points("x1", x1, IndexError)
    check_points("x2", x2, IndexError)
    n, m, columns = last(x1, 2), last(x2, 2), last(x1, 1)
    set_batch(s, x1, x2)
    empty = eq(n, 0) or eq(m, 0) or eq(columns, 0)
    for d in range(s.ndim):
        empty = empty or eq(s.sizes[d], 0)
    if empty:
        s.ndim = x1.c_ndim
        memcpy(s.sizes, x1.c_sizes, s.ndim * sizeof(int64_t))
        if rules.is_eager(x1):
            rules.dense_like_strides(s.strides, x1)
            s.has_strides = True
        return 0
    if rules.is_eager(x1):
        if last(x2, 1) != columns:
            raise refused(f"expected x2 to have {columns} columns as x1, got {shape_of(x2)}")
        check_matrix("grad", grad, s, n, m)
        check_matrix("cdist", cdist, s, n, m)
    add_matrix(s, n, columns)
    return 0


# ---- within one set ----------------------------------------------------------------------------

cdef int check_contiguous(str name, Tensor t) except -1:
    if not rules.is_contiguous(t.c_sizes, t.c_strides, t.c_ndim):
        raise refused(f"{name} must be contiguous, got strides {list(t.stride())}")
    return 0


cdef int64_t pairs_of(int64_t n) except? SIZE_ERROR:
    return floordiv(mul(n, sub(n, 1)), 2)


cdef int pdist(Spec* s, Tensor self, double p) except -1:
    check_contiguous("self", self)
    if self.c_ndim < (2 if rules.is_eager(self) else 1):
        raise refused(f"expected self to have 2 dimensions, got {shape_of(self)}", IndexError)
    s.ndim, s.dtype = 1, self.c_dtype
    s.sizes[0] = pairs_of(self.c_sizes[0])
    return 0


cdef int check_vector(str name, Tensor given, int64_t count) except -1:
    if given.c_ndim != 1 or given.c_sizes[0] != count:
        raise refused(f"expected {name} of shape {[count]}, got {shape_of(given)}")
    return 0


cdef int pdist_backward(Spec* s, Tensor grad, Tensor self, double p, Tensor pdist) except -1:
    """self's sizes."""
    cdef int64_t count
    check_contiguous("self", self)
    check_contiguous("pdist", pdist)
    if rules.is_eager(self) and self.c_numel:
        count = pairs_of(self.c_sizes[0]) if self.c_ndim else 0
        check_vector("grad", grad, count)
        check_vector("pdist", pdist, count)
    s.ndim, s.dtype = self.c_ndim, self.c_dtype
    memcpy(s.sizes, self.c_sizes, s.ndim * sizeof(int64_t))
    return 0
