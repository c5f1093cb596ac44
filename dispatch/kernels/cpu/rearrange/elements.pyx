"""CPU bodies of rearranging: elements are moved as plain bits, by the loops of `copy/strided`.

Called by the structured kernels with outputs of the right size and dtype. Turning round is a negative step, repeating a step
of 0, rolling up to two moves a dimension; a triangle is rows copied in part.
"""
from libc.stdint cimport int32_t, int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_RARE, ST_complex32, ST_int32, ST_int64, is_in
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.copy.strided cimport (
    LONG_RUN, copier, dispatch_moves, dispatch_run, itemsize_of, memory_meets, move_between, owners, set_moves,
)
from dispatch.kernels.meta.rules cimport wrap_dim

from dispatch._ops import ops

__all__ = ["flip", "repeat", "repeat_interleave", "roll", "tril", "triu"]


cdef int check_supported(Tensor t, bint complex32) except -1:
    if is_in(DTYPES_RARE, t.c_dtype) or (complex32 and t.c_dtype == ST_complex32):
        raise unserved(dtypes.get_dtype(t.c_dtype))
    return 0


def repeat(Tensor out not None, Tensor self not None, repeats):
    """self, `repeats` times along each dimension; `out`, new, is contiguous."""
    cdef dispatch_moves m
    cdef int d, lead = out.c_ndim - self.c_ndim, size = itemsize_of(self)
    cdef int64_t n
    if out.c_numel == 0:
        return
    m.ndim = 0
    for d in range(out.c_ndim):
        n = self.c_sizes[d - lead] if d >= lead else 1
        add_dim(&m, out.c_sizes[d] // n, n * out.c_strides[d] * size, 0)
        add_dim(&m, n, out.c_strides[d] * size, self.c_strides[d - lead] * size if d >= lead else 0)
    move_between(&m, data_of(out, size), data_of(self, size), copier(size), out, self)


cdef inline void add_dim(dispatch_moves* m, int64_t size, int64_t to, int64_t from_) noexcept:
    if size != 1:                # there are 64 at most
        m.sizes[m.ndim], m.to[m.ndim], m.from_[m.ndim] = size, to, from_
        m.ndim += 1


def flip(Tensor out not None, Tensor self not None, dims, wrapped):
    """self backwards along `dims`."""
    cdef dispatch_moves m
    cdef int64_t start = 0
    cdef int d, size = itemsize_of(self)
    if out.c_numel == 0:
        return
    if dims:
        check_supported(self, True)
    set_moves(&m, out, self)
    if self.c_ndim:
        for d in wrapped:
            start += (self.c_sizes[d] - 1) * m.from_[d]
            m.from_[d] = -m.from_[d]
    move_between(&m, data_of(out, size), data_of(self, size) + start, copier(size), out, self)


# ---- roll --------------------------------------------------------------------------------------

cdef int64_t rolled(int64_t shift, int64_t n) noexcept:
    shift %= n
    return shift + n if shift < 0 else shift


def roll(Tensor out not None, Tensor self not None, shifts, dims, wrapped):
    """self moved by `shifts` along `dims`, or along all of it, row by row; ends come in again."""
    cdef dispatch_moves m
    cdef int64_t by[64]
    cdef int d, size = itemsize_of(self)
    if out.c_numel == 0:
        return
    set_moves(&m, out, self)
    for d in range(self.c_ndim):
        by[d] = 0
    if not dims and self.c_ndim:         # all of it, as one row; `out` is contiguous
        self = self.contiguous()
        m.ndim, m.sizes[0], m.to[0], m.from_[0] = 1, self.c_numel, size, size
        by[0] = rolled(shifts[0], self.c_numel)
    for d, shift in zip(wrapped, shifts):
        by[d] = rolled(by[d] + rolled(shift, self.c_sizes[d]), self.c_sizes[d])
    roll_part(out, self, &m, by, 0, data_of(out, size), data_of(self, size))


cdef int roll_part(Tensor out, Tensor self, const dispatch_moves* whole, const int64_t* by, int d, char* to,
                   const char* from_) except -1:
    """Along each dimension that is rolled, from the d-th on, two parts change places."""
    cdef dispatch_moves part = whole[0]
    while d < part.ndim and by[d] == 0:
        d += 1
    if d == part.ndim:
        return move_between(&part, to, from_, copier(itemsize_of(out)), out, self)
    part.sizes[d] = whole.sizes[d] - by[d]
    roll_part(out, self, &part, by, d + 1, to + by[d] * part.to[d], from_)
    part.sizes[d] = by[d]
    return roll_part(out, self, &part, by, d + 1, to, from_ + (whole.sizes[d] - by[d]) * part.from_[d])


# ---- triangles ---------------------------------------------------------------------------------

cdef int64_t clamped(int64_t x, int64_t most) noexcept nogil:
    return 0 if x < 0 else most if x > most else x


cdef void triangle_rows(const dispatch_moves* m, char* to, const char* from_, int64_t diagonal, bint lower,
                        dispatch_run run) noexcept nogil:
    """One matrix: what is kept of each row copied, unless it is there already, and the rest zero."""
    cdef int64_t zero[2]
    cdef int row = m.ndim - 2, column = m.ndim - 1
    cdef int64_t n = m.sizes[column], a = m.to[column], b = m.from_[column], i, first
    cdef bint moved = to != from_            # in place nothing is
    zero[0] = zero[1] = 0
    for i in range(m.sizes[row]):
        first = clamped(i + diagonal + (1 if lower else 0), n)
        if lower:
            if moved:
                run(from_, b, to, a, first)
            run(<char*>zero, 0, to + first * a, a, n - first)
        else:
            run(<char*>zero, 0, to, a, first)
            if moved:
                run(from_ + first * b, b, to + first * a, a, n - first)
        to += m.to[row]
        from_ += m.from_[row]


cdef void triangles(const dispatch_moves* m, char* to, const char* from_, int64_t diagonal, bint lower,
                    dispatch_run run) noexcept nogil:
    """All matrices."""
    cdef int64_t at[64]
    cdef int d, batch = m.ndim - 2
    for d in range(batch):
        at[d] = 0
    while True:
        triangle_rows(m, to, from_, diagonal, lower, run)
        d = batch - 1
        while d >= 0:
            at[d] += 1
            to += m.to[d]
            from_ += m.from_[d]
            if at[d] < m.sizes[d]:
                break
            to -= at[d] * m.to[d]
            from_ -= at[d] * m.from_[d]
            at[d] = 0
            d -= 1
        if d < 0:
            return


cdef int triangle(Tensor out, Tensor self, diagonal, bint lower) except -1:
    cdef dispatch_moves m
    cdef int size = itemsize_of(self)
    cdef int64_t wide, by
    cdef char* to
    cdef char* from_
    if out.c_numel == 0:
        return 0
    check_supported(self, False)
    wide = max(out.c_sizes[out.c_ndim - 2], out.c_sizes[out.c_ndim - 1])
    by = max(-wide - 1, min(wide + 1, diagonal))       # farther off it makes no difference
    if out is not self and memory_meets(out, self):
        self = self.clone()
    set_moves(&m, out, self)
    to, from_ = data_of(out, size), data_of(self, size)
    if out.c_numel < LONG_RUN:
        triangles(&m, to, from_, by, lower, copier(size))
        return 0
    kept = owners(out, self)
    with nogil:
        triangles(&m, to, from_, by, lower, copier(size))
    return 0


def tril(Tensor out not None, Tensor self not None, diagonal):
    """Matrices with zeros above a diagonal."""
    triangle(out, self, diagonal, True)


def triu(Tensor out not None, Tensor self not None, diagonal):
    """Matrices with zeros below a diagonal."""
    triangle(out, self, diagonal, False)


# ---- repeat_interleave -------------------------------------------------------------------------

cdef int64_t count_at(const char* p, int size) noexcept nogil:
    return (<const int64_t*>p)[0] if size == 8 else (<const int32_t*>p)[0]


cdef int64_t total_of(Tensor repeats) except -1:
    """Their sum. RuntimeError for a negative one, and when it does not fit."""
    cdef int size = itemsize_of(repeats)
    cdef const char* p = data_of(repeats, size)
    cdef int64_t total = 0, n, i
    for i in range(repeats.c_numel):
        n = count_at(p, size)
        if n < 0:
            raise refused(f"repeats can not be negative, got {n}")
        if n > (<int64_t>1 << 62) - total:
            raise refused("the sum of repeats is too large")
        total += n
        p += repeats.c_strides[0] * size
    return total


cdef void write_positions(char* to, const char* p, int64_t n, int64_t step, int size, int64_t room) noexcept nogil:
    """Each position as often as its count says; counts that changed since they were added up write no more than `room`."""
    cdef int64_t i, k
    for i in range(n):
        k = count_at(p + i * step, size)
        while k > 0 and room > 0:
            if size == 8:
                (<int64_t*>to)[0] = i
            else:
                (<int32_t*>to)[0] = <int32_t>i
            to += size
            k -= 1
            room -= 1


def repeat_interleave(Tensor repeats not None, *, output_size=None):
    """Each position as often as `repeats` says. It makes its output: sizes are in values."""
    cdef Tensor out
    cdef int64_t total, n, step
    cdef int size
    cdef char* to
    cdef const char* p
    if repeats.c_ndim != 1:
        raise refused(f"expected repeats to have 1 dimension, got {list(repeats.shape)}")
    if repeats.c_dtype != ST_int64 and repeats.c_dtype != ST_int32:
        raise refused(f"expected repeats to have dtype int32 or int64, got {repeats.dtype}", NotImplementedError)
    if repeats.c_numel == 0:
        return ops.aten.empty_like(repeats)
    total = total_of(repeats)
    if output_size is not None and output_size != total:
        raise refused(f"expected output_size {total}, got {output_size}")
    out = ops.aten.new_empty(repeats, [total])
    if total == 0:
        return out
    size = itemsize_of(out)
    n, step = repeats.c_numel, repeats.c_strides[0] * size
    kept = owners(out, repeats)
    to, p = data_of(out, size), data_of(repeats, size)
    with nogil:
        write_positions(to, p, n, step, size, total)
    return out
