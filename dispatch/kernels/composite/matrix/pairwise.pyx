"""Products of several tensors, summed over dimensions: einsum, and the product of two that others are made of.

Called for tensors of all kinds; written with permute, bmm, mul and sum in PyTorch's order. Every operand becomes one with the same
dimensions: those of the output, then those that are summed away, of size 1 where it has none. Then pairs are contracted. What an
equation says is read in `einsum`.
"""
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport expect_eq, mul, ne_or_true, size_object
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.composite.callee cimport Callee, callee

from dispatch.kernels.composite.matrix.einsum import planned, unfolded

cdef Callee BMM = callee("bmm")
cdef Callee DIAGONAL = callee("diagonal")
cdef Callee MUL = callee("mul", "Tensor")
cdef Callee PERMUTE = callee("permute")
cdef Callee RESHAPE = callee("reshape")
cdef Callee SUM = callee("sum", "dim_IntList")
cdef Callee UNSQUEEZE = callee("unsqueeze")


# ---- operands ----------------------------------------------------------------------------------

cdef Tensor with_diagonals(int i, Tensor t, list labels, list seen):
    """Dimensions of one label become their diagonal, at the place of the first; fills `seen`."""
    cdef int first, last
    for label in labels:
        if label not in seen:
            seen.append(label)
            continue
        first = <int>seen.index(label)
        if t.c_sizes[first] != t.c_sizes[len(seen)]:
            raise refused(f"einsum(): subscript {label[0]} is repeated for operand {i} but the sizes don't match, "
                          f"{size_object(t.c_sizes[len(seen)])} != {size_object(t.c_sizes[first])}")
        t = DIAGONAL.call((t, 0, first, <int>len(seen)))
        last = t.c_ndim - 1
        t = PERMUTE.call((t, [*range(first), last, *range(first, last)]))
    return t


cdef Tensor aligned(int i, Tensor t, list labels, int n_ellipsis, list every):
    """An operand with the dimensions `every` in their order."""
    cdef list found = []
    t = with_diagonals(i, t, unfolded(labels, n_ellipsis), found)
    for label in every:
        if label not in found:
            t = UNSQUEEZE.call((t, <int>len(found)))
            found.append(label)
    return PERMUTE.call((t, [found.index(label) for label in every]))


cdef int check_sizes(list operands, list every) except -1:
    cdef Tensor t
    cdef Py_ssize_t d, i
    cdef Tensor first
    for d in range(len(every)):
        first = None
        for i, t in enumerate(operands):
            if not ne_or_true(t.c_sizes[d], 1):
                continue
            if first is None:
                first = t
            elif not expect_eq(t.c_sizes[d], first.c_sizes[d]):
                raise refused(f"einsum(): subscript {every[d][0]} has size {size_object(t.c_sizes[d])} for operand {i} which "
                              f"does not broadcast with previously seen size {size_object(first.c_sizes[d])}")
    return 0


# ---- contraction -------------------------------------------------------------------------------

cdef Tensor flat(Tensor t, tuple groups):
    """The dimensions of each group as one."""
    cdef list sizes = [], order = []
    cdef int64_t size
    cdef unsigned long long taken = 0
    cdef int d
    for group in groups:
        size = 1
        for d in <list>group:
            size = mul(size, t.c_sizes[d])
            order.append(d)
            taken |= <unsigned long long>1 << d
        sizes.append(size_object(size))
    for d in range(t.c_ndim):
        if not taken >> d & 1:
            order.append(d)
    return RESHAPE.call((PERMUTE.call((t, order)), sizes))


def multiply_sum(Tensor a not None, Tensor b not None, list dims not None):
    """(a * b).sum(dims, keepdim=True) as a batched matrix product (at::native sumproduct_pair)."""
    cdef list both = [], left = [], right = [], inner = [], order, sizes
    cdef int d, n = a.c_ndim
    cdef bint in_a, in_b
    if n > 64 or b.c_ndim != n:
        raise refused(f"expected two tensors of the same dimensions, 64 at most, got {n} and {b.c_ndim}")
    for d in range(n):
        in_a, in_b = ne_or_true(a.c_sizes[d], 1), ne_or_true(b.c_sizes[d], 1)
        if d not in dims:
            (both if in_a and in_b else left if in_a else right).append(d)
        elif in_a and in_b:
            inner.append(d)
        elif in_a:
            a = SUM.call((a, [d], True))
        elif in_b:
            b = SUM.call((b, [d], True))
    if left and right and right[len(right) - 1] < left[0]:      # the product's dimensions come in their order
        a, b, left, right = b, a, right, left
    product = BMM.call((flat(a, (both, left, inner)), flat(b, (both, inner, right))))
    order = both + left + dims + right
    sizes = [1 if d in dims else size_object((b if d in right else a).c_sizes[d]) for d in order]
    product = RESHAPE.call((product, sizes))
    return PERMUTE.call((product, [order.index(d) for d in range(n)]))


cdef list pairs(int n, list path):
    """Which two of the operands left are contracted next."""
    cdef list found = []
    cdef int step
    if path is None:
        return [(0, 1)] * (n - 1)
    if len(path) != 2 * (n - 1):
        raise refused(f"expected path to have {2 * (n - 1)} numbers, got {path}")
    for step in range(n - 1):
        i, j = sorted(path[2 * step:2 * step + 2])
        if not 0 <= i < j < n - step:
            raise refused(f"path has the pair ({i}, {j}), but {n - step} operands are left")
        found.append((i, j))
    return found


cdef Tensor contracted(list operands, int n_out, list path):
    """The product of all; a dimension is summed with the last two operands that have it.

    Where only one of a pair has it, that one is summed first: integers get wider by it. A pair's product goes to the end for the
    next one of a `path`; without one it is the next's first.
    """
    cdef int ndim = (<Tensor>operands[0]).c_ndim, d, i, j
    cdef list counts, shared, of_a, of_b
    cdef Tensor a, b, t
    cdef bint in_a, in_b
    counts = [0] * ndim
    for t in operands:
        for d in range(ndim):
            counts[d] += ne_or_true(t.c_sizes[d], 1)
    for i, j in pairs(<int>len(operands), path):
        b, a = operands.pop(j), operands.pop(i)
        shared, of_a, of_b = [], [], []
        for d in range(n_out, ndim):
            in_a, in_b = ne_or_true(a.c_sizes[d], 1), ne_or_true(b.c_sizes[d], 1)
            counts[d] -= in_a and in_b
            if counts[d] == 1 and (in_a or in_b):
                (shared if in_a and in_b else of_a if in_a else of_b).append(d)
        if of_a:
            a = SUM.call((a, of_a, True))
        if of_b:
            b = SUM.call((b, of_b, True))
        product = multiply_sum(a, b, shared) if shared else MUL.call((a, b))
        operands.insert(0 if path is None else len(operands), product)
    return operands[0]


def einsum(str equation not None, list tensors not None, *, list path=None):
    """Products of elements summed over the subscripts that the output has not.

    `path`: pairs of operands to contract, by place among those left; None: the first with the next.
    """
    cdef list operands = [], inputs, every, summed
    cdef Tensor t
    cdef int i, n_out, n_all
    if not tensors:
        raise refused("expected at least one operand")
    inputs, every, n_out = planned(equation, tuple([(<Tensor?>x).c_ndim for x in tensors]))
    n_all = <int>len(every)
    for i in range(<int>len(tensors)):
        t = tensors[i]
        operands.append(aligned(i, t, inputs[i], t.c_ndim - <int>len(<list>inputs[i]) + 1, every))
    if len(operands) == 1:
        if path is not None and len(path) != 1:
            raise refused(f"expected path to have 1 number, got {path}")
        summed = list(range(n_out, n_all))
        return SUM.call((operands[0], summed)) if summed else operands[0]
    check_sizes(operands, every)
    t = contracted(operands, n_out, path)
    return t if n_out == n_all else RESHAPE.call((t, [size_object(t.c_sizes[i]) for i in range(n_out)]))
