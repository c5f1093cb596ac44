"""CPU bodies of indexing by tensors: places of all indices together, then slices read or written there.

Called by the structured kernels, which have checked dtypes and sizes; whether indices are in range is checked here, before
anything is written. What the indices name is one block of dimensions in the result: where the first stood if they stand side by
side, else in front.
"""
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C.dtypes cimport DTYPES_WIDE_UNSIGNED, ST_bool, ST_uint8
from dispatch._C.errors cimport refused
from dispatch._C.size cimport new_size
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.copy.strided cimport itemsize_of, memory_meets
from dispatch.kernels.cpu.index.scatter cimport in_dtype
from dispatch.kernels.cpu.index.slices cimport (
    ADD, Numbers, check_numbers, check_supported, copy_unless_same, count_true, dispatch_slices, new_numbers, places_of, read_along,
    read_numbers, read_slices, reduce_slices, set_rest, true_places, write_slices,
)
from dispatch.kernels.meta.rules cimport broadcast_into

cdef extern from "../kernels/cpu/index/loops.h" nogil:
    void dispatch_add_places(int64_t* places, const int64_t* index, int64_t n, int64_t size, int64_t step) noexcept

cdef struct Named:
    bint named[64]               # dimensions of self that an index or a mask stands for
    int ndim                     # of the block: what all indices broadcast to
    int64_t sizes[64]
    int start                    # where the block begins in the result


cdef inline bint is_mask(Tensor t) noexcept:
    return t.c_dtype == ST_bool or t.c_dtype == ST_uint8


# ---- what is named -----------------------------------------------------------------------------

cdef int read_named(Named* x, Tensor self, list indices) except -1:
    cdef Tensor t
    cdef int64_t count
    cdef int d, k = 0, first = -1, last = -1, total = 0
    memset(x.named, 0, sizeof(x.named))
    x.ndim = 0
    for item in indices:
        if item is None:
            k += 1
            continue
        t = <Tensor>item
        if is_mask(t):
            if t.c_ndim:
                count = count_true(t.contiguous())
                add_block(x, &count, 1)
        else:
            add_block(x, t.c_sizes, t.c_ndim)
        for d in range(k, k + (t.c_ndim if is_mask(t) else 1)):
            x.named[d] = True
            first = d if first < 0 else first
            last = d
            total += 1
        k += t.c_ndim if is_mask(t) else 1
    x.start = first if total and last - first + 1 == total else 0
    return 0


cdef int add_block(Named* x, const int64_t* sizes, int ndim) except -1:
    try:
        x.ndim = broadcast_into(x.sizes, x.ndim, sizes, ndim)
    except RuntimeError as error:
        raise refused(f"shape mismatch: indexing tensors could not be broadcast: {error}", IndexError) from None
    return 0


cdef Numbers raise_changed():
    raise refused("a mask was changed while it was read", IndexError)


cdef bint is_one_mask(Tensor self, list indices) except -1:
    """One mask alone, in front."""
    return len(indices) == 1 and indices[0] is not None and is_mask(<Tensor>indices[0]) and (<Tensor>indices[0]).c_ndim > 0


cdef Numbers read_places(Named* x, Tensor self, list indices):
    """IndexError for an index out of range; those below 0 count from the end."""
    cdef Numbers places, part
    cdef Tensor t
    cdef int64_t steps[64]
    cdef int64_t n = 1, i = 0, size
    cdef int d, k = 0, item_size = itemsize_of(self)
    for d in range(x.ndim):
        n *= x.sizes[d]
    if is_one_mask(self, indices):
        for d in range((<Tensor>indices[0]).c_ndim):
            steps[d] = self.c_strides[d] * item_size
        part = true_places(<Tensor>indices[0], steps)
        return part if part.n == n else raise_changed()
    places = new_numbers(n)
    memset(places.data, 0, n * sizeof(int64_t))
    for item in indices:
        if item is None:
            k += 1
            continue
        t = <Tensor>item
        if not is_mask(t):
            part = read_numbers(t, x.ndim, x.sizes)
            size = self.c_sizes[k]
            check_numbers(part, -size, size, IndexError)
            dispatch_add_places(places.data, part.data, n, size, self.c_strides[k] * item_size)
            k += 1
            continue
        if t.c_ndim:
            for d in range(t.c_ndim):
                steps[d] = self.c_strides[k + d] * item_size
            part = true_places(t, steps)
            if n and (part.n == 0 or n % part.n):
                raise_changed()
            for i in range(0, n, max(part.n, 1)):
                dispatch_add_places(places.data + i, part.data, part.n, 0, 1)
        k += t.c_ndim
    return places


cdef Numbers set_slices(dispatch_slices* s, Named* x, Tensor self, const int64_t* dense):
    """`dense` are steps in bytes along the result -> where each place is, if the block's do not join; else None."""
    cdef Numbers offsets = None
    cdef int d, k = 0, size = itemsize_of(self)
    cdef int64_t step = 0, n = 1, i, rest, place
    cdef bint joined = True
    s.outer.ndim = 0
    for d in range(self.c_ndim):
        if x.named[d]:
            continue
        if k == x.start:
            k += x.ndim
        s.outer.sizes[s.outer.ndim] = self.c_sizes[d]
        s.outer.to[s.outer.ndim] = dense[k] if s.reads else self.c_strides[d] * size
        s.outer.from_[s.outer.ndim] = self.c_strides[d] * size if s.reads else dense[k]
        s.outer.ndim += 1
        k += 1
    for d in range(x.start + x.ndim - 1, x.start - 1, -1):
        if x.sizes[d - x.start] != 1:
            if n == 1:
                step = dense[d]
            elif dense[d] != step * n:
                joined = False
            n *= x.sizes[d - x.start]
    s.step, s.dense = step, NULL
    if not joined:
        offsets = new_numbers(n)
        for i in range(n):
            rest, place = i, 0
            for d in range(x.start + x.ndim - 1, x.start - 1, -1):
                place += rest % x.sizes[d - x.start] * dense[d]
                rest //= x.sizes[d - x.start]
            offsets.data[i] = place
        s.dense = offsets.data
    return offsets


# ---- index -------------------------------------------------------------------------------------

cdef int index(Tensor out, Tensor self, list indices) except -1:
    """What `indices` name."""
    cdef Named x
    cdef dispatch_slices s
    cdef Numbers places, kept
    cdef int64_t steps[64]
    cdef int d, size = itemsize_of(out)
    if out.c_numel == 0:
        return 0
    read_named(&x, self, indices)
    for d in range(x.ndim):
        if out.c_sizes[x.start + d] != x.sizes[d]:
            raise_changed()
    places = read_places(&x, self, indices)
    for d in range(out.c_ndim):
        steps[d] = out.c_strides[d] * size
    s.reads = True
    kept = set_slices(&s, &x, self, steps)
    return read_slices(&s, self, out, places)


# ---- index_put ---------------------------------------------------------------------------------

cdef int check_named(Tensor self, list indices) except -1:
    """No index fits a dimension of size 0, though there be nothing to write."""
    cdef Tensor t
    cdef int k = 0
    cdef bint none_fits = False
    for item in indices:
        t = <Tensor?>item if item is not None else None
        if t is not None and not is_mask(t):
            if t.c_numel == 0:
                return 0
            none_fits = none_fits or self.c_sizes[k] == 0
        k += t.c_ndim if t is not None and is_mask(t) else 1
    if none_fits:
        raise refused("an index is out of bounds for a dimension of size 0", IndexError)
    return 0


cdef int check_mask(list indices) except -1:
    """Under a single mask, PyTorch fills with one value as masked_fill does: no mask of uint8."""
    given = [t for t in indices if t is not None]
    if len(given) == 1 and (<Tensor>given[0]).c_dtype == ST_uint8:
        raise refused("one value under a mask needs a mask of dtype bool, got uint8")
    return 0


cdef int64_t broadcast_steps(int64_t* steps, Named* x, Tensor self, Tensor values) except -1:
    """Steps of `values` along what is indexed -> how many elements that has. RuntimeError: they do not broadcast."""
    cdef int64_t sizes[64]
    cdef int64_t n = 1
    cdef int d, k = 0, ndim = 0, lead, size = itemsize_of(values)
    for d in range(self.c_ndim + 1):
        if ndim == x.start and k == 0:
            for k in range(x.ndim):
                sizes[ndim] = x.sizes[k]
                ndim += 1
            k = 1
        if d < self.c_ndim and not x.named[d]:
            sizes[ndim] = self.c_sizes[d]
            ndim += 1
    lead = ndim - values.c_ndim
    for d in range(ndim):
        steps[d] = 0
        n *= sizes[d]
    for d in range(values.c_ndim):
        if values.c_sizes[d] == 1:
            continue
        if d + lead < 0 or values.c_sizes[d] != sizes[d + lead]:
            raise refused(f"shape mismatch: value tensor of shape {list(values.shape)} cannot be broadcast to "
                          f"indexing result of shape {list(new_size(ndim, sizes))}")
        steps[d + lead] = values.c_strides[d] * size
    return n


cdef int index_put(Tensor out, Tensor self, list indices, Tensor values, bint accumulate) except -1:
    """self with `values` at `indices`; of equal indices the last counts, or all, if accumulated."""
    cdef Named x
    cdef dispatch_slices s
    cdef Numbers places, kept
    cdef int64_t steps[64]
    check_named(self, indices)
    if values.c_numel == 1 and not accumulate:
        check_mask(indices)
    values = in_dtype(values, self.c_dtype)            # of another one: one value for a mask
    if memory_meets(values, out):
        values = values.clone()
    read_named(&x, self, indices)
    if broadcast_steps(steps, &x, self, values) == 0:
        return copy_unless_same(out, self)
    check_supported(self, DTYPES_WIDE_UNSIGNED, False)
    places = read_places(&x, out, indices)       # of the output, which has self's sizes
    s.reads = False
    kept = set_slices(&s, &x, out, steps)
    copy_unless_same(out, self)
    return reduce_slices(&s, out, values, places, ADD) if accumulate else write_slices(&s, out, values, places)


# ---- along one dimension -----------------------------------------------------------------------

cdef int index_select(Tensor out, Tensor self, int64_t dim, Tensor index, const int64_t* handed) except -1:
    """Slices along `dim`. PyTorch's kernel for dimension 1 has an exception type of its own."""
    cdef dispatch_slices s
    cdef Numbers places
    cdef bint batched
    if self.c_ndim == 0:
        places_of(index, 0, 1, 0, IndexError)
        return copy_unless_same(out, self)
    dim = handed[0]
    if self.c_ndim == 1:
        check_supported(self, DTYPES_WIDE_UNSIGNED, False)
        return read_along(out, self, 0, index, IndexError)
    elif index.c_numel and self.c_sizes[dim] == 0:
        raise refused(f"self indexing axis dim should be positive: dimension {dim} of self is empty")
    batched = self.c_ndim > 1 and (dim == 1 or self.c_numel == 0)
    places = places_of(index, 0, self.c_sizes[dim], self.c_strides[dim] * itemsize_of(self),
                       RuntimeError if batched else IndexError)
    if out.c_numel == 0:
        return 0
    s.reads = True
    set_rest(&s, self, out, <int>dim)
    return read_slices(&s, self, out, places)
