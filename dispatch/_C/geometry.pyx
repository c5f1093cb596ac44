"""Sizes and strides as numbers: the parts that are too rare or too long to stand in the callers (see the `.pxd`)."""
from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.size cimport tuple_of
from dispatch._C.symbolic cimport (
    ASK_OR_TRUE, SZ_LE, add, compare_slowly, eq_or_false, first_symbolic, hint_of, larger, mul, size_from, size_object,
    sub,
)


cdef int64_t numel_of_signed(int ndim, const int64_t* sizes) except -1:
    cdef int64_t numel = 1
    cdef int i
    for i in range(ndim):
        if sizes[i] < 0 and not is_symbolic(sizes[i]):
            raise refused(f"Trying to create tensor with negative dimension {sizes[i]}: {list(tuple_of(ndim, sizes))}, "
                          "sizes must not be negative")
    for i in range(ndim - 1, -1, -1):        # as strides are made: the products are known then
        numel = mul(numel, sizes[i])
    return numel


cdef int64_t expressed_bytes(int64_t offset, int64_t span, int64_t itemsize) except -1:
    return mul(span if offset == 0 else add(offset, span), itemsize)


cdef int raise_numel_overflow(int ndim, const int64_t* sizes) except -1:
    raise refused("Storage size calculation overflowed, an integer multiplication overflow, "
                  f"with sizes={list(tuple_of(ndim, sizes))}")


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
    if first_symbolic(ndim, sizes) or first_symbolic(ndim, strides):
        return expressed_span(ndim, sizes, strides)
    for i in range(ndim):
        if sizes[i] == 0:
            return 0
        if mul_overflows(sizes[i] - 1, strides[i], &reach) or add_overflows(span, reach, &span):
            raise_storage_overflow(ndim, sizes, strides)
    return span


cdef int64_t expressed_span(int ndim, const int64_t* sizes, const int64_t* strides) except -1:
    cdef int64_t span = 1
    cdef int i
    for i in range(ndim - 1, -1, -1):        # contiguous, as nearly all are: numel
        if strides[i] != span:
            break
        span = mul(span, sizes[i])
    else:
        return span
    span = 1
    for i in range(ndim):
        if eq_or_false(sizes[i], 0):
            return 0
        span = add(span, sub(mul(sizes[i], strides[i]), strides[i]))     # so that sums cancel: contiguous ones give numel
    return span


cdef int64_t reach_of(int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int64_t numel = numel_of(ndim, sizes)
    cdef int i
    if offset < 0 and not is_symbolic(offset):
        raise refused(f"Tensor: invalid storage offset {offset}")
    if strides != NULL:
        for i in range(ndim):
            if strides[i] < 0 and not is_symbolic(strides[i]):
                raise refused("as_strided: Negative strides are not supported at the moment, "
                                   f"got strides: {list(tuple_of(ndim, strides))}")
    if numel == 0:
        return 0
    if strides != NULL:
        numel = span_of(ndim, sizes, strides)
    return bytes_of(offset, numel, itemsize, ndim, sizes, strides)


cdef int check_within(int64_t room, int itemsize, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int64_t reach = reach_of(itemsize, ndim, sizes, strides, offset)
    cdef bint beyond = reach > room
    if any_symbolic(reach, room):
        beyond = not compare_slowly(ASK_OR_TRUE, SZ_LE, reach, room)
    if beyond:
        raise refused(
            f"setStorage: sizes {list(tuple_of(ndim, sizes))}, strides {list(tuple_of(ndim, strides))}, storage offset "
            f"{size_object(offset)}, and itemsize {itemsize} requiring a storage size of {size_object(reach)} are out of bounds "
            f"for storage of size {size_object(room)}")
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
        out[n] = size_from(v)
        n += 1
    return n


# ---- expressions -----------------------------------------------------------------------------------------------------

cdef int contiguous_steps(int ndim, const int64_t* sizes, int64_t* strides) except -1:
    cdef int64_t step = 1
    cdef int i
    for i in range(ndim - 1, -1, -1):
        strides[i] = step
        step = mul(step, larger(sizes[i], 1))
    return 0


cdef bint known_in_order(int ndim, const int64_t* sizes, const int64_t* strides, const int* order) except -1:
    """Whether the strides are the products of the sizes in `order`, from the first on: equal expressions, nothing is asked. A size
    that may be 0 counts as 1, as in strides that PyTorch makes: with it there are no elements."""
    cdef int64_t want = 1
    cdef int i, d
    for i in range(ndim):
        d = order[i]
        if sizes[d] == 1:
            continue
        if strides[d] != want:
            return False
        if i < ndim - 1:
            want = mul(want, larger(sizes[d], 1))
    return True


cdef inline void channels_last_order(int ndim, int* order) noexcept nogil:
    cdef int k
    for k in range(ndim):
        order[k] = 1 if k == 0 else (ndim - k if k < ndim - 1 else 0)


cdef uint32_t known_flags(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except? 0xFFFFFFFF:
    cdef int order[128]
    cdef bint taken[128]
    cdef int i, n = 0
    cdef int64_t want = 1
    cdef uint32_t flags = 0
    for i in range(ndim):
        order[i] = ndim - 1 - i
    if numel == 0 or known_in_order(ndim, sizes, strides, order):
        flags = TF_CONTIGUOUS | TF_NON_OVERLAPPING_DENSE
    if ndim == 4 or ndim == 5:
        channels_last_order(ndim, order)
        if known_in_order(ndim, sizes, strides, order):
            flags |= TF_NON_OVERLAPPING_DENSE | (TF_CHANNELS_LAST if ndim == 4 else TF_CHANNELS_LAST_3D)
    if flags:
        return flags
    for i in range(ndim):
        taken[i] = sizes[i] == 1
        n += taken[i]
    while n < ndim:                        # dense: each stride is the product of the sizes taken before it
        for i in range(ndim):
            if strides[i] == want and not taken[i]:
                break
        else:
            return 0
        taken[i] = True
        n += 1
        want = mul(want, larger(sizes[i], 1))
    return TF_NON_OVERLAPPING_DENSE


cdef bint asked_in_order(int ndim, const int64_t* sizes, const int64_t* strides, const int* order) except -1:
    cdef int64_t want = 1
    cdef int i, d
    for i in range(ndim):
        d = order[i]
        if strides[d] != want and not eq_or_false(sizes[d], 1) and not eq_or_false(strides[d], want):
            return False
        want = mul(want, larger(sizes[d], 1))
    return True


cdef bint asked_contiguous(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except -1:
    cdef int order[128]
    cdef int i
    for i in range(ndim):
        order[i] = ndim - 1 - i
    return eq_or_false(numel, 0) or asked_in_order(ndim, sizes, strides, order)


cdef bint asked_channels_last(int ndim, const int64_t* sizes, const int64_t* strides) except -1:
    cdef int order[128]
    channels_last_order(ndim, order)
    return asked_in_order(ndim, sizes, strides, order)


cdef bint asked_dense(int ndim, const int64_t* sizes, const int64_t* strides, int64_t numel) except -1:
    """Whether the strides are dense in the order that the hints give."""
    cdef int order[128]
    cdef int64_t steps[128]
    cdef int i, j
    for i in range(ndim):
        steps[i] = hint_of(strides[i], 4096)
        j = i
        while j > 0 and steps[order[j - 1]] > steps[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    return eq_or_false(numel, 0) or asked_in_order(ndim, sizes, strides, order)


cdef int wrapped_index(object dim, int64_t n) except -1:
    if isinstance(dim, (bool, float)):
        raise TypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    cdef int64_t d = dim
    if n == 0:
        raise IndexError(f"Dimension specified as {d} but tensor has no dimensions")
    if d < -n or d >= n:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
    return <int>(d if d >= 0 else d + n)
