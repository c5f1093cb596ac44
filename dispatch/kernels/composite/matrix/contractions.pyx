"""Products summed over dimensions, written with views and one matrix product; the product of all pairs of elements.

Called for tensors of all kinds; the operators underneath are those of PyTorch, in its order. Sizes
are Python objects, which may be symbolic.
"""
from dispatch._C.dtypes cimport get_dtype
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport eq_or_false, size_from
from dispatch._C.tensor cimport Tensor, is_contiguous
from dispatch.kernels.composite.callee cimport Callee, callee
from dispatch.kernels.meta cimport rules

from dispatch._C.dtypes import can_cast
from dispatch._C.structured import check_placed
from dispatch.kernels.meta import rules as rules_of
from dispatch.kernels.meta.outputs import resize_out

cdef Callee COPY = callee("copy_")
cdef Callee DOT = callee("dot")
cdef Callee FLATTEN = callee("flatten", "using_ints")
cdef Callee MM = callee("mm")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee MUL_OUT = callee("mul", "out")
cdef Callee PERMUTE = callee("permute")
cdef Callee RESHAPE = callee("reshape")
cdef Callee SQUEEZE = callee("squeeze")
cdef Callee SUM_ALL = callee("sum")
cdef Callee SUM = callee("sum", "dim_IntList")
cdef Callee TENSORDOT = callee("tensordot")
cdef Callee UNSAFE_VIEW = callee("_unsafe_view")


cdef Tensor into(Tensor out, Tensor result):
    """`out`, resized to the result and filled with it."""
    if out.c_dtype != result.c_dtype:
        raise refused(f"expected out to have dtype {get_dtype(result.c_dtype)!r}, got {get_dtype(out.c_dtype)!r}")
    check_placed(result, out)
    return COPY.call((resize_out(out, result.shape), result))


# ---- summed over pairs of dimensions -----------------------------------------------------------

cdef int check_contracted(Tensor self, Tensor other, object a, object b) except -1:
    if self.shape[a] != other.shape[b] and self.shape[a] != 1 and other.shape[b] != 1:
        raise refused(f"contracted dimensions need to match, but first has size {self.shape[a]} in dim {a} and second has size "
                      f"{other.shape[b]} in dim {b}")
    return 0


cdef object product_of(list sizes):
    result = 1
    for n in sizes:
        result = result * n
    return result


cdef object sum_of_products(Tensor a, Tensor b):
    """Of all elements; what is not contiguous is not copied for it."""
    if is_contiguous(a) and is_contiguous(b):
        b = FLATTEN.call((b, 0, -1))
        return DOT.call((FLATTEN.call((a, 0, -1)), b))
    b = SQUEEZE.call((b,))
    return SUM_ALL.call((MUL.call((SQUEEZE.call((a,)), b)), get_dtype(a.c_dtype)))


def tensordot(Tensor self not None, Tensor other not None, dims_self, dims_other):
    """Products summed over pairs of dimensions, as one matrix product."""
    cdef Tensor t1 = self, t2 = other
    cdef list left, right, kept1, kept2, sizes1, sizes2
    cdef Py_ssize_t i, count = len(dims_self)
    if count != len(dims_other):
        raise refused("both dimension lists should have same length")
    left = [rules.wrap_dim(d, self.c_ndim, True) for d in dims_self]
    right = [rules.wrap_dim(d, other.c_ndim, True) for d in dims_other]
    for i in range(count):
        check_contracted(self, other, left[i], right[i])
    size = 1
    for i in range(count):
        a, b = self.shape[left[i]], other.shape[right[i]]
        if eq_or_false(size_from(b), 1):
            t1 = SUM.call((t1, [dims_self[i]], True, get_dtype(t1.c_dtype)))
        elif eq_or_false(size_from(a), 1):
            t2 = SUM.call((t2, [dims_other[i]], True, get_dtype(t2.c_dtype)))
        else:
            size = size * a
    kept1 = [d for d in range(self.c_ndim) if d not in left]
    kept2 = [d for d in range(other.c_ndim) if d not in right]
    sizes1, sizes2 = [t1.shape[d] for d in kept1], [t2.shape[d] for d in kept2]
    rows, columns = product_of(sizes1), product_of(sizes2)
    t1 = PERMUTE.call((t1, kept1 + list(dims_self)))
    if eq_or_false(size_from(rows), 1) and eq_or_false(size_from(columns), 1):
        return RESHAPE.call((sum_of_products(t1, PERMUTE.call((t2, list(dims_other) + kept2))), sizes1 + sizes2))
    t1 = RESHAPE.call((t1, [rows, size]))
    t2 = RESHAPE.call((PERMUTE.call((t2, list(dims_other) + kept2)), [size, columns]))
    return RESHAPE.call((MM.call((t1, t2)), sizes1 + sizes2))


def tensordot_out(Tensor self not None, Tensor other not None, dims_self, dims_other, *, Tensor out not None):
    """The same into `out`."""
    return into(out, TENSORDOT.call((self, other, list(dims_self), list(dims_other))))


cdef Tensor inner_of(Tensor self, Tensor other):
    if self.c_ndim == 0 or other.c_ndim == 0:
        return MUL.call((self, other))
    if self.shape[self.c_ndim - 1] != other.shape[other.c_ndim - 1]:
        raise refused("inner() the last dimension must match on both input tensors but got shapes "
                      f"{list(self.shape)} and {list(other.shape)}")
    return TENSORDOT.call((self, other, [-1], [-1]))


def inner(Tensor self not None, Tensor other not None):
    """Products summed over the last dimensions."""
    return inner_of(self, other)


def inner_out(Tensor self not None, Tensor other not None, *, Tensor out not None):
    """The same into `out`."""
    if self.c_ndim == 0 or other.c_ndim == 0:
        return MUL_OUT.call((self, other, out))
    return into(out, inner_of(self, other))


# ---- all pairs ---------------------------------------------------------------------------------

cdef tuple kron_views(Tensor self, Tensor other):
    """Both with dimensions of size 1 between theirs, and the sizes of the result."""
    cdef int n = max(self.c_ndim, other.c_ndim), i
    cdef list a = [1] * (n - self.c_ndim) + list(self.shape), b = [1] * (n - other.c_ndim) + list(other.shape)
    cdef list left = [], right = [], sizes = []
    for i in range(n):
        left += [a[i], 1]
        right += [1, b[i]]
        sizes.append(a[i] * b[i])
    return UNSAFE_VIEW.call((self, left)), UNSAFE_VIEW.call((other, right)), sizes


def kron(Tensor self not None, Tensor other not None):
    """Every element of self replaced by its product with other."""
    left, right, sizes = kron_views(self, other)
    return UNSAFE_VIEW.call((MUL.call((left, right)), sizes))


def kron_out(Tensor self not None, Tensor other not None, *, Tensor out not None):
    """The same into `out`."""
    left, right, sizes = kron_views(self, other)
    kind = rules_of.result_type(self, other)
    if not can_cast(kind, out.dtype):
        raise refused(f"result type {kind} can't be cast to the desired output type {out.dtype}")
    resize_out(out, sizes)
    shape = [x * y for x, y in zip(left.shape, right.shape)]
    MUL_OUT.call((left, right, UNSAFE_VIEW.call((out, shape))))
    return out
