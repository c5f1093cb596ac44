"""Bodies of look-ups in tables, and of their gradients: rows copied, added up and scaled.

Indices are checked before anything is written. A loop that runs without the interpreter's lock
reads each index once and passes over those that another thread spoils meanwhile.
"""
from cython cimport floating
from libc.math cimport INFINITY, fabs, hypot, pow, sqrt
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DTYPES_RARE, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float32, ST_float64, ST_int64,
    is_complex_code, is_floating_code, is_in, is_integral_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.runs cimport (
    address, are_in_range, clear_bytes, finish, floating_code, loop, plain, run, run_spans, written_as,
)
from dispatch.kernels.meta.embedding cimport tables as meta

cdef extern from "vectorised.h":
    pass

ctypedef fused number:
    int64_t
    float
    double

cdef struct Rows:
    int64_t n, rows, size        # indices; rows of the table, and their elements (bytes for a copy)
    const int64_t* indices
    const void* given            # a row for each index, or the table
    void* out
    int64_t padding              # the index that counts for nothing
    const int64_t* counts        # what a row is divided by, by index; NULL: nothing


# ---- rows of the table -------------------------------------------------------------------------

cdef void copy_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Rows* j = <Rows*>context
    cdef int64_t i, index
    for i in range(first, end):
        index = j.indices[i]
        if 0 <= index < j.rows:
            memcpy(<char*>j.out + i * j.size, <const char*>j.given + index * j.size, j.size)


cdef int take_rows(Tensor out, Tensor weight, Tensor indices, object error) except -1:
    cdef Rows j
    cdef int64_t wrong
    cdef Tensor table = plain(weight, weight.c_dtype), made = written_as(out, weight.c_dtype)
    cdef Tensor positions = plain(indices, ST_int64)
    j.n, j.rows = positions.c_numel, weight.c_sizes[0]
    j.indices = <const int64_t*>address(positions)
    if not are_in_range(j.indices, j.n, 0, j.rows, &wrong):
        raise refused(f"index out of range in self: {wrong} for a table of {j.rows} rows", error)
    if out.c_numel == 0:
        return 0
    j.size = weight.c_sizes[1] * dtypes.itemsize_table()[weight.c_dtype]
    j.given, j.out = address(table), address(made)
    run_spans(copy_rows, &j, j.n, out.c_numel, j.n * j.size, (table, made, positions))
    return finish(out, made)


cdef int embedding(Tensor out, Tensor weight, Tensor indices, int64_t padding_idx,
                   bint scale_grad_by_freq, bint sparse) except -1:
    return take_rows(out, weight, indices, IndexError)


# ---- gradients added up ------------------------------------------------------------------------

cdef int64_t* new_counts(const int64_t* indices, int64_t n, int64_t rows) except NULL:
    cdef int64_t* counts = <int64_t*>calloc(rows + 1, sizeof(int64_t))
    cdef int64_t i
    if counts == NULL:
        raise MemoryError
    for i in range(n):
        if 0 <= indices[i] < rows:
            counts[indices[i]] += 1
    return counts


cdef int64_t add_rows(Rows* j, number* out) noexcept nogil:
    cdef int64_t i, k, index
    cdef number* to
    cdef const number* row
    cdef double factor
    for i in range(j.n):
        index = j.indices[i]
        if index == j.padding or not 0 <= index < j.rows:
            continue
        row, to = <const number*>j.given + i * j.size, out + index * j.size
        if j.counts == NULL:
            for k in range(j.size):
                to[k] += row[k]
        else:
            factor = 1 / <double>j.counts[index] if number is not int64_t else 1
            for k in range(j.size):
                if number is int64_t:
                    to[k] += row[k] // j.counts[index]
                else:
                    to[k] += row[k] * <number>factor
    return 0


cdef int sum_code(Tensor t) except -1:
    """The dtype that rows are added in: integers wrap around when they are stored."""
    if is_in(DTYPES_RARE, t.c_dtype) or t.c_dtype == ST_complex32:
        raise unserved(dtypes.get_dtype(t.c_dtype))
    if is_integral_code(t.c_dtype, True):
        return ST_int64
    return floating_code(t) if is_floating_code(t.c_dtype) else t.c_dtype


cdef int embedding_dense_backward(Tensor out, Tensor grad_output, Tensor indices, int64_t num_weights,
                                  int64_t padding_idx, bint scale_grad_by_freq) except -1:
    """Rows of the gradient added up by index; indices out of range count for nothing."""
    cdef Rows j
    cdef int code
    cdef int64_t* counts = NULL
    cdef Tensor positions = plain(indices, ST_int64), given, made
    cdef loop f
    if out.c_numel == 0:
        return 0
    code = sum_code(grad_output)
    given, made = plain(grad_output, code), written_as(out, code)
    clear_bytes(made, <char*>address(made), made.c_numel * dtypes.itemsize_table()[code])
    j.n, j.rows, j.size, j.padding = positions.c_numel, num_weights, out.c_sizes[1], padding_idx
    if given.c_numel != j.n * j.size:
        raise refused(f"grad_output has {given.c_numel} elements, expected {j.size} for each of "
                      f"{j.n} indices")
    j.indices, j.given, j.out = <const int64_t*>address(positions), address(given), address(made)
    if code == ST_complex64 or code == ST_complex128:
        j.size *= 2
    if code == ST_int64:
        f = <loop>add_rows[int64_t]
    elif code == ST_float32 or code == ST_complex64:
        f = <loop>add_rows[float]
    else:
        f = <loop>add_rows[double]
    if scale_grad_by_freq:
        counts = new_counts(j.indices, j.n, j.rows)
    j.counts = counts
    try:
        run(f, &j, j.out, j.n * j.size, (positions, given, made))
    finally:
        free(counts)
    return finish(out, made)


# ---- lengths of rows ---------------------------------------------------------------------------

cdef struct Lengths:
    int64_t n, rows, size
    const int64_t* indices
    void* table
    char* seen                   # by row
    double longest, p
    bint paired                  # complex: `size` real and imaginary parts


cdef double length(const floating* row, int64_t size, double p, bint paired) noexcept nogil:
    cdef int64_t k, n = size >> 1 if paired else size
    cdef double sum = INFINITY if p == -INFINITY else 0, x
    for k in range(n):
        x = hypot(row[2 * k], row[2 * k + 1]) if paired else fabs(row[k])
        if p == 2:
            sum += x * x
        elif p == 1:
            sum += x
        elif p == 0:
            sum += x != 0
        elif p == INFINITY:
            sum = x if x > sum or x != x else sum
        elif p == -INFINITY:
            sum = x if x < sum or x != x else sum
        else:
            sum += pow(x, p)
    if p == 2:
        return sqrt(sum)
    return sum if p == 0 or p == 1 or fabs(p) == INFINITY else pow(sum, 1 / p)


cdef int64_t shorten(Lengths* j, floating* table) noexcept nogil:
    """Rows that are longer than `longest` made that long, each once."""
    cdef int64_t i, k, index
    cdef double norm
    cdef floating* row
    cdef floating factor
    for i in range(j.n):
        index = j.indices[i]
        index += j.rows if index < 0 else 0
        if not 0 <= index < j.rows or j.seen[index]:
            continue
        j.seen[index] = 1
        row = table + index * j.size
        norm = <floating>length(<const floating*>row, j.size, j.p, j.paired)
        if norm > j.longest:
            factor = <floating>(j.longest / (norm + 1e-7))
            for k in range(j.size):
                row[k] *= factor
    return 0


cdef object embedding_renorm_(Tensor self, Tensor indices, double max_norm, double norm_type):
    """Rows that `indices` name made no longer than `max_norm`."""
    cdef Lengths j
    cdef int64_t wrong
    cdef int code
    cdef Tensor positions, table
    meta.check_renorm(self, indices)
    positions = plain(indices, ST_int64)
    j.n, j.rows, j.size = positions.c_numel, self.c_sizes[0], self.c_sizes[1]
    j.indices, j.longest, j.p = <const int64_t*>address(positions), max_norm, norm_type
    if not are_in_range(j.indices, j.n, -j.rows, j.rows, &wrong):
        raise refused(f"index out of range in self: {wrong} for a table of {j.rows} rows", IndexError)
    if j.n == 0 or self.c_numel == 0:
        return self
    j.paired = is_complex_code(self.c_dtype)
    code = ST_complex128 if self.c_dtype == ST_complex128 else ST_complex64 if j.paired else floating_code(self)
    table = plain(self, code)
    if j.paired:
        j.size *= 2
    j.table, j.seen = address(table), <char*>calloc(j.rows, 1)
    if j.seen == NULL:
        raise MemoryError
    try:
        run(<loop>shorten[double] if code == ST_float64 or code == ST_complex128 else <loop>shorten[float],
            &j, j.table, 2 * j.n * j.size, (positions, table))
    finally:
        free(j.seen)
    finish(self, table)
    return self
