"""Sizes and strides as numbers: the parts that are too rare or too long to stand in the callers (see the `.pxd`)."""
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.size cimport tuple_of


cdef int raise_negative(int ndim, const int64_t* sizes) except -1:
    raise refused(f"sizes must not be negative, got {tuple_of(ndim, sizes)}")


cdef int raise_numel_overflow(int ndim, const int64_t* sizes) except -1:
    raise refused(f"numel: integer multiplication overflow with sizes={list(tuple_of(ndim, sizes))}")


cdef int raise_storage_overflow(int ndim, const int64_t* sizes, const int64_t* strides) except -1:
    steps = "" if strides == NULL else f" and strides={list(tuple_of(ndim, strides))}"
    raise refused(f"Storage size calculation overflowed with sizes={list(tuple_of(ndim, sizes))}{steps}")


cdef int check_steps(int ndim, const int64_t* sizes) except -1:
    cdef int64_t step = 1
    cdef int i
    for i in range(ndim - 1, 0, -1):
        if sizes[i] > 1 and mul_overflows(step, sizes[i], &step):
            raise refused(f"Stride calculation overflowed with sizes={list(tuple_of(ndim, sizes))}")
    return 0


cdef int64_t span_of(int ndim, const int64_t* sizes, const int64_t* strides) except -1:
    cdef int64_t span = 1, reach = 0
    cdef int i
    for i in range(ndim):
        if sizes[i] == 0:
            return 0
        if mul_overflows(sizes[i] - 1, strides[i], &reach) or add_overflows(span, reach, &span):
            raise_storage_overflow(ndim, sizes, strides)
    return span


cdef int64_t reach_of(int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int64_t numel = numel_of(ndim, sizes)
    cdef int i
    if offset < 0:
        raise refused(f"Tensor: invalid storage offset {offset}")
    if strides != NULL:
        for i in range(ndim):
            if strides[i] < 0:
                raise refused("as_strided: Negative strides are not supported at the moment, "
                                   f"got strides: {list(tuple_of(ndim, strides))}")
    if numel == 0:
        return 0
    if strides != NULL:
        numel = span_of(ndim, sizes, strides)
    return bytes_of(offset, numel, itemsize, ndim, sizes, strides)


cdef int check_within(int64_t room, int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int64_t reach = reach_of(itemsize, ndim, sizes, strides, offset)
    if reach > room:
        raise refused(
            f"setStorage: sizes {list(tuple_of(ndim, sizes))}, strides {list(tuple_of(ndim, strides))}, storage offset "
            f"{offset}, and itemsize {itemsize} requiring a storage size of {reach} are out of bounds for storage of size {room}")
    return 0


cdef int raise_step_overflow(int64_t a, int64_t b) except -1:
    raise refused(f"strides and offsets are numbers of 64 bits: {a} and {b} give a larger one")


cdef bint is_dense_permutation(int ndim, const int64_t* sizes, const int64_t* strides) noexcept nogil:
    """Whether some order of the dimensions makes the strides contiguous (no gaps, no overlap)."""
    cdef int perm[128]
    cdef int i, j, d
    cdef int64_t want = 1
    for i in range(ndim):          # insertion sort by stride, dimensions of size < 2 last
        j = i
        while j > 0 and (sizes[perm[j - 1]] < 2 or (sizes[i] >= 2 and strides[perm[j - 1]] > strides[i])):
            if sizes[perm[j - 1]] < 2 and sizes[i] < 2:
                break
            perm[j] = perm[j - 1]
            j -= 1
        perm[j] = i
    for i in range(ndim):
        d = perm[i]
        if sizes[d] < 2:
            return True
        if strides[d] != want:
            return False
        want *= sizes[d]
    return True


cdef int read_ints(object values, int64_t* out, str what) except -1:
    cdef int n = 0
    for v in values:
        if n == 64:
            raise refused(f"{what} has more than 64 elements")
        out[n] = v
        n += 1
    return n


cdef int wrapped_index(object dim, int64_t n) except -1:
    cdef int64_t d = dim
    if n == 0:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if d < -n or d >= n:
        raise IndexError(f"dimension {d} is out of range: expected [{-n}, {n - 1}]")
    return <int>(d if d >= 0 else d + n)
