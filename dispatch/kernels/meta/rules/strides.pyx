# cython: embedsignature=False
"""Strides: of memory formats, dense ones in a given order, of views; and the bytes that sizes and strides reach.

The C functions are declared in `strides.pxd`; the faces for Python, `py_NAME`, are entered as NAME.
"""
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport MF_channels_last, MF_channels_last_3d, MF_contiguous
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport check_steps, check_within, read_ints
from dispatch._C.symbolic cimport (
    eq_or_false, floordiv, gt_or_false, gt_or_true, larger, lt_or_false, lt_or_true, mod, mul, ne_or_true,
)
from dispatch._C.tensor cimport Tensor, is_dense
from dispatch.kernels.meta.rules.sizes cimport MAX_DIMS, as_tuple, enter_faces, same_sizes


# ---- of a memory format ------------------------------------------------------------------------

cdef int contiguous_strides(int64_t* out, const int64_t* sizes, int ndim) except -1:
    cdef int64_t step = 1
    cdef int i
    for i in range(ndim - 1, -1, -1):
        out[i] = step
        if i and sizes[i] != 1:
            step = mul(step, larger(sizes[i], 1))
    return 0


cdef inline int channels_last_dim(int ndim, int k) noexcept nogil:
    """The k-th dimension from the innermost: C, then the spatial ones from the back, then N."""
    return 1 if k == 0 else (ndim - k if k < ndim - 1 else 0)


cdef int channels_last_strides(int64_t* out, const int64_t* sizes, int ndim) except -1:
    cdef int64_t step = 1
    cdef int k, d
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        out[d] = step
        if d:
            step = mul(step, sizes[d])       # a size of 0 gives strides of 0, unlike in contiguous tensors
    return 0


cdef int strides_for(int64_t* out, const int64_t* sizes, int ndim, int memory_format) except -1:
    cdef int rank = 4 if memory_format == MF_channels_last else 5
    if memory_format == MF_contiguous:
        contiguous_strides(out, sizes, ndim)
        return 0
    name = repr(dtypes.get_memory_format(memory_format))
    if memory_format != MF_channels_last and memory_format != MF_channels_last_3d:
        raise refused(f"{name} gives no strides without a tensor to follow")
    if ndim != rank:
        raise refused(f"{name} needs a tensor of {rank} dimensions, got {ndim}")
    check_steps(ndim, sizes)
    channels_last_strides(out, sizes, ndim)
    return 0


cdef bint is_contiguous(const int64_t* sizes, const int64_t* strides, int ndim) except -1:
    cdef int64_t step = 1, packed = 1        # a size of 0 is counted, and counted as 1
    cdef int i
    for i in range(ndim):
        if eq_or_false(sizes[i], 0):
            return True
    for i in range(ndim - 1, -1, -1):
        if eq_or_false(sizes[i], 1):
            continue
        if ne_or_true(strides[i], step) and (step == packed or ne_or_true(strides[i], packed)):
            return False
        if i:
            step = mul(step, sizes[i])
            packed = mul(packed, larger(sizes[i], 1))
    return True


cdef bint is_channels_last(const int64_t* sizes, const int64_t* strides, int ndim) except -1:
    cdef int64_t step = 1
    cdef int k, d
    if ndim != 4 and ndim != 5:
        return False
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        if eq_or_false(sizes[d], 1):
            continue
        if ne_or_true(strides[d], step):
            return False
        if d:
            step = mul(step, sizes[d])
    return True


cdef bint is_channels_last_like(const int64_t* sizes, const int64_t* strides, int ndim) except -1:
    """c10's is_channels_last_strides. Ambiguous strides (sizes N, C, 1, 1) count as contiguous."""
    cdef int64_t least = 0
    cdef int k, d
    if (ndim != 4 and ndim != 5) or eq_or_false(strides[1], 0):
        return False
    for k in range(ndim):
        d = channels_last_dim(ndim, k)
        if eq_or_false(sizes[d], 0) or lt_or_true(strides[d], least) or (d == 0 and eq_or_false(least, strides[1])):
            return False
        if d:
            least = mul(strides[d], larger(sizes[d], 1))
    return True


cdef int suggest_memory_format(Tensor t) except -1:
    if not is_channels_last_like(t.c_sizes, t.c_strides, t.c_ndim):
        return MF_contiguous
    return MF_channels_last if t.c_ndim == 4 else MF_channels_last_3d


# ---- the order of dimensions in memory ---------------------------------------------------------

cdef bint exceeds(int64_t a, int64_t b) except -1:
    """Whether one positive stride is larger than another; a multiple is, where nothing else decides."""
    if not gt_or_true(a, b):
        return False
    return gt_or_false(a, b) or eq_or_false(mod(a, b), 0)


cdef int compare_dims(Operands* ops, int inner, int outer) except -2:
    """Whether `inner`, now the inner one, changes places with `outer`: 1 yes, -1 no, 0 undecided.

    The first operand with an opinion decides. A stride of 0 decides nothing; of equal strides the
    smaller size belongs inside.
    """
    cdef int64_t a, b
    cdef int i
    for i in range(ops.n):
        a, b = ops.strides[i][inner], ops.strides[i][outer]
        if eq_or_false(a, 0) or eq_or_false(b, 0):
            continue
        if ne_or_true(a, b):
            return 1 if exceeds(a, b) else -1
        if gt_or_false(ops.sizes[inner], ops.sizes[outer]):
            return 1
    return 0


cdef bint sort_dims(int* perm, Operands* ops) except -1:
    """Dimensions from the innermost to the outermost; returns whether they are row-major.

    TensorIterator's insertion sort (reorder_dimensions), swap by swap: it goes on past an undecided
    comparison, so another sort would end elsewhere.
    """
    cdef int i, inner, at, verdict
    for i in range(ops.ndim):
        perm[i] = ops.ndim - 1 - i
    for i in range(1, ops.ndim):
        at = i
        for inner in range(i - 1, -1, -1):
            verdict = compare_dims(ops, perm[inner], perm[at])
            if verdict < 0:
                break
            if verdict > 0:
                perm[inner], perm[at] = perm[at], perm[inner]
                at = inner
    for i in range(ops.ndim):
        if perm[i] != ops.ndim - 1 - i:
            return False
    return True


cdef int packed_strides(int64_t* out, Operands* ops) except -1:
    """Strides without gaps in the operands' order; a size of 0 counts as 1."""
    cdef int perm[MAX_DIMS]
    cdef int64_t step = 1
    cdef int i
    sort_dims(perm, ops)
    for i in range(ops.ndim):
        out[perm[i]] = step
        if i + 1 < ops.ndim:
            step = mul(step, larger(ops.sizes[perm[i]], 1))
    return 0


cdef int dense_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim) except -1:
    """at::infer_dense_strides."""
    cdef Operands ops
    ops.sizes, ops.ndim, ops.n = sizes, ndim, 1
    memcpy(ops.strides[0], strides, ndim * sizeof(int64_t))
    return packed_strides(out, &ops)


cdef bint non_overlapping_dense(const int64_t* sizes, const int64_t* strides, int ndim) except -1:
    """Whether some order of the dimensions makes the strides contiguous; always for no elements."""
    cdef int64_t dense[MAX_DIMS]
    cdef int i
    if is_contiguous(sizes, strides, ndim):
        return True
    dense_strides(dense, sizes, strides, ndim)
    for i in range(ndim):
        if ne_or_true(strides[i], dense[i]) and gt_or_true(sizes[i], 1):
            return False
    return True


cdef int dense_like_strides(int64_t* out, Tensor t) except -1:
    if is_dense(t):
        memcpy(out, t.c_strides, t.c_ndim * sizeof(int64_t))
        return 0
    return dense_strides(out, t.c_sizes, t.c_strides, t.c_ndim)


# ---- views -------------------------------------------------------------------------------------

cdef bint compute_view_strides(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                               const int64_t* new_sizes, int new_ndim) except -1:
    """at::detail::computeStride.

    Old dimensions fall into chunks that lie evenly in memory; a new one must not span two of them.
    """
    cdef int old, new = new_ndim - 1
    cdef int64_t base, old_count = 1, new_count = 1
    for old in range(ndim):
        if eq_or_false(sizes[old], 0):
            if ndim == new_ndim and same_sizes(sizes, new_sizes, ndim):
                memcpy(out, strides, ndim * sizeof(int64_t))
            else:
                contiguous_strides(out, new_sizes, new_ndim)
            return True
    if ndim == 0:
        for new in range(new_ndim):
            out[new] = 1
        return True
    base = strides[ndim - 1]
    for old in range(ndim - 1, -1, -1):
        old_count = mul(old_count, sizes[old])
        if old > 0 and (eq_or_false(sizes[old - 1], 1) or not ne_or_true(strides[old - 1], mul(old_count, base))):
            continue                         # the chunk goes on
        while new >= 0 and (lt_or_true(new_count, old_count) or eq_or_false(new_sizes[new], 1)):
            out[new] = mul(new_count, base)
            new_count = mul(new_count, new_sizes[new])
            new -= 1
        if ne_or_true(new_count, old_count):
            return False
        if old > 0:
            base = strides[old - 1]
            old_count = new_count = 1
    return new == -1


cdef bint collapse(int64_t* sizes, int64_t* strides, int* ndim, int start, int end) except -1:
    """Merge the dimensions start..end into one, in place; False when they do not lie evenly in memory."""
    cdef int i
    cdef int64_t length = sizes[end], step = strides[end]
    for i in range(end - 1, start - 1, -1):
        if eq_or_false(sizes[i], 1) or eq_or_false(sizes[i + 1], 1):
            continue
        if ne_or_true(strides[i], mul(strides[i + 1], sizes[i + 1])):
            return False
    for i in range(end - 1, start - 1, -1):
        length = mul(length, sizes[i])
        if ne_or_true(sizes[i], 1) and lt_or_false(strides[i], step):
            step = strides[i]
    sizes[start] = length
    strides[start] = step
    for i in range(end + 1, ndim[0]):
        sizes[i - end + start] = sizes[i]
        strides[i - end + start] = strides[i]
    ndim[0] -= end - start
    return True


cdef int split(int64_t* sizes, int64_t* strides, int* ndim, int dim, int64_t outer) except -1:
    """Make two dimensions, of `outer` and the rest, out of one, in place."""
    cdef int i
    cdef int64_t inner = floordiv(sizes[dim], outer)
    for i in range(ndim[0] - 1, dim, -1):
        sizes[i + 1] = sizes[i]
        strides[i + 1] = strides[i]
    sizes[dim] = outer
    sizes[dim + 1] = inner
    strides[dim + 1] = strides[dim]
    strides[dim] = mul(strides[dim], inner)
    ndim[0] += 1
    return 0


cdef bint is_empty(const int64_t* sizes, int ndim) except -1:
    cdef int i
    for i in range(ndim):
        if eq_or_false(sizes[i], 0):
            return True
    return False


cdef bint compute_view_strides_meta(int64_t* out, const int64_t* sizes, const int64_t* strides, int ndim,
                                    const int64_t* new_sizes, int new_ndim) except -1:
    """torch._refs._reshape_view_helper: dimensions are merged and split from the left.

    It takes the same views as `compute_view_strides`; strides of dimensions of size 1 can differ.
    """
    cdef int64_t size[192]
    cdef int64_t step[192]
    cdef int64_t length, count
    cdef int i, end, at = 0, n = ndim
    if is_empty(sizes, ndim) or ndim == 0 or (
            ((new_ndim == 1 and ndim > 1) or (new_ndim == 2 and ndim == 1)) and is_contiguous(sizes, strides, ndim)):
        contiguous_strides(out, new_sizes, new_ndim)
        return True
    if new_ndim == 0:
        return True
    memcpy(size, sizes, ndim * sizeof(int64_t))
    memcpy(step, strides, ndim * sizeof(int64_t))
    for i in range(new_ndim):
        length = new_sizes[i]
        if at >= n:
            split(size, step, &n, n - 1, size[n - 1])
        elif not eq_or_false(length, size[at]):
            end = at
            count = size[at]
            while end + 1 < n and ne_or_true(mod(count, length), 0):
                end += 1
                count = mul(count, size[end])
            if end != at and not collapse(size, step, &n, at, end):
                return False
            if ne_or_true(count, length):
                split(size, step, &n, at, length)
        at += 1
    for i in range(new_ndim):
        out[i] = step[i]
    return True


# ---- for Python ---------------------------------------------------------------------------------

def py_contiguous_strides(sizes):
    """Row-major strides, in elements."""
    return strides_tuple(sizes, MF_contiguous)


def py_channels_last_strides(sizes):
    """Strides of channels_last (4 dimensions) or channels_last_3d (5)."""
    return strides_tuple(sizes, MF_channels_last_3d if len(sizes) == 5 else MF_channels_last)


def py_strides_for(sizes, memory_format):
    """Strides of a new tensor in `memory_format`. RuntimeError when that needs other dimensions."""
    return strides_tuple(sizes, (<dtypes.memory_format?>memory_format).code)


def py_suggest_memory_format(Tensor tensor not None):
    """The format that a tensor's strides suggest: contiguous, channels_last, channels_last_3d."""
    return dtypes.get_memory_format(suggest_memory_format(tensor))


def py_is_contiguous(sizes, strides):
    """Whether strides are row-major without gaps; always for no elements."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    return is_contiguous(shape, steps, ndim)


def py_is_non_overlapping_and_dense(sizes, strides):
    """Whether the elements fill their memory, each place once, in whatever order of dimensions."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    return non_overlapping_dense(shape, steps, ndim)


def py_dense_like_strides(Tensor tensor not None):
    """Strides of `empty_like(tensor)`: its own if dense, else packed in the order of its own."""
    cdef int64_t out[MAX_DIMS]
    dense_like_strides(out, tensor)
    return as_tuple(out, tensor.c_ndim)


def py_dense_strides(sizes, strides):
    """Strides of a clone of a tensor of `sizes` and `strides`: those if dense, else packed in their order."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    if non_overlapping_dense(shape, steps, ndim):
        return as_tuple(steps, ndim)
    dense_strides(out, shape, steps, ndim)
    return as_tuple(out, ndim)


def py_compute_view_strides(sizes, strides, new_sizes):
    """Strides that show a tensor of `sizes` and `strides` as `new_sizes`; None: only a copy can.

    `new_sizes` must have as many elements (see infer_size).
    """
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int64_t wanted[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    cdef int n = read_ints(new_sizes, wanted, "new_sizes")
    return as_tuple(out, n) if compute_view_strides(out, shape, steps, ndim, wanted, n) else None


def py_check_bounds(sizes, strides, offset, itemsize, nbytes):
    """RuntimeError unless sizes, strides and offset (in elements) stay within `nbytes` bytes."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int ndim = read_geometry(sizes, strides, shape, steps)
    check_within(nbytes, itemsize, ndim, shape, steps, offset)


cdef tuple strides_tuple(object sizes, int memory_format):
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t out[MAX_DIMS]
    cdef int ndim = read_ints(sizes, shape, "sizes")
    strides_for(out, shape, ndim, memory_format)
    return as_tuple(out, ndim)


cdef int read_geometry(object sizes, object strides, int64_t* shape, int64_t* steps) except -1:
    cdef int ndim = read_ints(sizes, shape, "sizes")
    if read_ints(strides, steps, "strides") != ndim:
        raise refused(f"sizes {tuple(sizes)} and strides {tuple(strides)} differ in length")
    return ndim


__all__ = enter_faces(globals())
