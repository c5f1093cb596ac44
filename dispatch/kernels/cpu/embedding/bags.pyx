"""Bodies of sums, means and maxima of bags of rows, and of their gradients.

The bag of each index is worked out first, checked with everything else, before a row is read: the
loops then only walk. 16-bit tables are not converted as a whole, only the rows that are read.
"""
from cython cimport floating
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport ST_bfloat16, ST_float16, ST_float64, ST_int64
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.runs cimport (
    address, are_in_range, check_dtype, finish, floating_code, loop, plain, run_floating, run_spans, written_as,
)
from dispatch.kernels.cpu.embedding.tables cimport new_counts
from dispatch.kernels.meta.embedding.bags cimport walks_offsets

cdef extern from "vectorised.h":
    pass

cdef extern from "embedding/sums.h" nogil:
    void add_rows_f32(float* to, const float* table, const int64_t* indices, int64_t n, int64_t more, int64_t columns)
    void add_rows_f64(double* to, const double* table, const int64_t* indices, int64_t n, int64_t more, int64_t columns)
    void divide_row_f32(float* to, float by, int64_t columns)
    void divide_row_f64(double* to, double by, int64_t columns)
    void add_rows_bf16(float* to, const uint16_t* table, const int64_t* indices, int64_t n, int64_t more, int64_t columns)
    void add_rows_f16(float* to, const uint16_t* table, const int64_t* indices, int64_t n, int64_t more, int64_t columns)
    ctypedef struct row_kind:
        int size
        const void* (*read)(const char* from_, Py_ssize_t step, int64_t n, void* buffer) noexcept nogil
    const row_kind ROW_KINDS[]

cdef enum:
    MODE_SUM, MODE_MEAN, MODE_MAX

cdef struct Bags:
    int64_t n, bags, rows, columns
    const int64_t* indices
    const int64_t* bag_of        # of each index; -1: before the first bag
    const char* table
    int kind                     # its ScalarType
    void* buffer                 # room for a row of it that is converted
    bint wide                    # it is computed in float64
    const void* factors          # by index; NULL: 1 each
    const int64_t* counts        # what a gradient is divided by, by row of the table; or NULL
    const int64_t* sizes         # of the bags without padding; NULL: no mean
    const void* grads            # of the bags
    int64_t padding
    int64_t* best                # index of each maximum
    void* out


cdef inline bint counts_in(Bags* j, int64_t i) noexcept nogil:
    return (j.indices[i] != j.padding and 0 <= j.indices[i] < j.rows
            and 0 <= j.bag_of[i] < j.bags)


cdef inline const void* row_of(Bags* j, int64_t i) noexcept nogil:
    """The row of an index; of 16-bit floats, as float32 in the buffer."""
    cdef int size = ROW_KINDS[j.kind].size
    return ROW_KINDS[j.kind].read(j.table + j.indices[i] * j.columns * size, size, j.columns, j.buffer)


cdef inline void add_rows(Bags* j, int64_t i, int64_t n, int64_t end, floating* to) noexcept nogil:
    """Those of `n` indices from `i` on; the rows of the next ones, before `end`, are on their way."""
    if floating is double:
        add_rows_f64(to, <const double*>j.table, j.indices + i, n, end - i - n, j.columns)
    elif j.kind == ST_bfloat16:
        add_rows_bf16(to, <const uint16_t*>j.table, j.indices + i, n, end - i - n, j.columns)
    elif j.kind == ST_float16:
        add_rows_f16(to, <const uint16_t*>j.table, j.indices + i, n, end - i - n, j.columns)
    else:
        add_rows_f32(to, <const float*>j.table, j.indices + i, n, end - i - n, j.columns)


cdef inline int64_t run_from(Bags* j, int64_t i, int64_t end) noexcept nogil:
    """How many indices from `i` on, which counts, are of its bag and count."""
    cdef int64_t k = i + 1
    while k < end and j.bag_of[k] == j.bag_of[i] and counts_in(j, k):
        k += 1
    return k - i


cdef int64_t first_index(Bags* j, int64_t bag) noexcept nogil:
    """Of those in this bag or a later one: bags never go down."""
    cdef int64_t low = 0, high = j.n, middle
    while low < high:
        middle = (low + high) // 2
        if j.bag_of[middle] < bag:
            low = middle + 1
        else:
            high = middle
    return low


cdef void add_bags(Bags* j, floating* out, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t i, b, k, n, last
    cdef const floating* row
    cdef const floating* factors = <const floating*>j.factors
    cdef floating* to
    cdef floating factor
    memset(out + first * j.columns, 0, (end - first) * j.columns * sizeof(floating))
    i, last = first_index(j, first), first_index(j, end)
    while i < last:
        n = 1
        if counts_in(j, i):
            to = out + j.bag_of[i] * j.columns
            if factors == NULL:
                n = run_from(j, i, last)
                add_rows(j, i, n, last, to)
            else:
                factor = factors[i]
                row = <const floating*>row_of(j, i)
                for k in range(j.columns):
                    to[k] += row[k] * factor
        i += n
        b = j.bag_of[i - 1]
        if j.sizes != NULL and j.sizes[b] > 1 and (i == last or j.bag_of[i] != b):       # while it is in a cache
            if floating is float:
                divide_row_f32(out + b * j.columns, <float>j.sizes[b], j.columns)
            else:
                divide_row_f64(out + b * j.columns, <double>j.sizes[b], j.columns)


cdef void take_bags(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Bags* j = <Bags*>job
    if j.wide:
        add_bags(j, <double*>j.out, first, end)
    else:
        add_bags(j, <float*>j.out, first, end)


cdef int64_t max_bags(Bags* j, floating* out) noexcept nogil:
    """The largest of each column and its index; the first of equal ones; 0 for an empty bag.

    NaN is larger than nothing, and nothing than NaN: it counts where it comes first in its bag.
    """
    cdef int64_t i, k, b, last = -1
    cdef const floating* row
    cdef floating* to
    cdef int64_t* best
    memset(out, 0, j.bags * j.columns * sizeof(floating))
    memset(j.best, 0, j.bags * j.columns * sizeof(int64_t))
    for i in range(j.n):
        if not counts_in(j, i):
            continue
        b = j.bag_of[i]
        row = <const floating*>row_of(j, i)
        to, best = out + b * j.columns, j.best + b * j.columns
        for k in range(j.columns):
            if b != last or row[k] > to[k]:
                to[k], best[k] = row[k], j.indices[i]
        last = b
    return 0


# ---- which bag each index is in ----------------------------------------------------------------

cdef Tensor new_vector(int64_t n):
    return new_empty(ST_int64, 0, -1, 1, &n, NULL)


cdef Tensor bags_of(Tensor offsets, int64_t n):
    """How many bags have begun at each of `n` indices, less one."""
    cdef Tensor made = new_vector(n)
    cdef int64_t* bag_of = <int64_t*>address(made)
    cdef const int64_t* starts = <const int64_t*>address(offsets)
    cdef int64_t i, wrong, begun = -1
    if not are_in_range(starts, offsets.c_numel, 0, n + 1, &wrong):
        raise refused(f"expected offsets from 0 to the number of indices {n}, got {wrong}")
    if n:
        memset(bag_of, 0, n * sizeof(int64_t))
    for i in range(offsets.c_numel):
        if starts[i] < n:
            bag_of[starts[i]] += 1
    for i in range(n):
        begun += bag_of[i]
        bag_of[i] = begun
    return made


cdef int check_offsets(Tensor offsets, int64_t n) except -1:
    cdef const int64_t* starts = <const int64_t*>address(offsets)
    cdef int64_t count = offsets.c_numel
    if count and starts[0] != 0:
        raise refused(f"expected the first offset to be 0, got {starts[0]}")
    if count and starts[count - 1] > n:
        raise refused(f"expected the last offset to be at most the number of indices {n}, "
                      f"got {starts[count - 1]}")
    return 0


cdef Tensor sizes_of_bags(Bags* j, Tensor offsets, int64_t n):
    """Without padding."""
    cdef Tensor made = new_vector(j.bags)
    cdef int64_t* sizes = <int64_t*>address(made)
    cdef const int64_t* starts = <const int64_t*>address(offsets)
    cdef int64_t b, i
    for b in range(j.bags):
        sizes[b] = (starts[b + 1] if b + 1 < offsets.c_numel and b + 1 < j.bags else n) - starts[b]
    if j.padding >= 0:
        for i in range(n):
            if j.indices[i] == j.padding and 0 <= j.bag_of[i] < j.bags:
                sizes[j.bag_of[i]] -= 1
    return made


cdef int store_numbers(Tensor out, Tensor numbers) except -1:
    """As much of `numbers` as there is room for, zeros behind."""
    cdef Tensor made = written_as(out, ST_int64)
    cdef int64_t* to = <int64_t*>address(made)
    cdef int64_t n = min(out.c_numel, numbers.c_numel)
    if n:
        memcpy(to, address(numbers), n * sizeof(int64_t))
    if out.c_numel > n:
        memset(to + n, 0, (out.c_numel - n) * sizeof(int64_t))
    return finish(out, made)


# ---- forward -----------------------------------------------------------------------------------

cdef int embedding_bag(Tensor out, Tensor offset2bag, Tensor bag_size, Tensor max_indices,
                       Tensor weight, Tensor indices, Tensor offsets, bint scale_grad_by_freq,
                       int64_t mode, bint sparse, Tensor per_sample_weights,
                       bint include_last_offset, int64_t padding_idx) except -1:
    """Rows of `weight` summed, averaged or maximised by bag.

    Also which bag an index is in (if noted), the bags' sizes without padding (unless summed), and
    the rows that the maxima are from (of means, the sizes again).
    """
    cdef Bags j
    cdef int code = floating_code(weight)
    cdef int64_t wrong, nbytes
    cdef Tensor positions = plain(indices, ST_int64), starts = plain(offsets, ST_int64)
    cdef Tensor table, buffer, made = written_as(out, code), factors, bag_of, sizes, best = None
    if per_sample_weights is not None:
        check_dtype("per_sample_weights", per_sample_weights, weight.c_dtype)
    j.n, j.bags = positions.c_numel, out.c_sizes[0]
    j.rows, j.columns, j.padding = weight.c_sizes[0], weight.c_sizes[1], padding_idx
    j.indices = <const int64_t*>address(positions)
    check_offsets(starts, j.n)
    if not are_in_range(j.indices, j.n, 0, j.rows, &wrong):
        raise refused(f"index out of range in self: {wrong} of {j.rows} rows")
    if include_last_offset and mode != MODE_MAX and walks_offsets(weight, per_sample_weights, padding_idx):
        j.n = (<const int64_t*>address(starts))[starts.c_numel - 1]      # what is behind is left out
    table, buffer = set_table(&j, weight)
    factors = plain(per_sample_weights, code)
    bag_of = bags_of(first_of(starts, j.bags), positions.c_numel)
    j.bag_of = <const int64_t*>address(bag_of)
    sizes = sizes_of_bags(&j, starts, positions.c_numel)
    store_numbers(offset2bag, bag_of)
    store_numbers(bag_size, sizes if mode != MODE_SUM else new_vector(0))
    if mode == MODE_MAX:
        best = written_as(max_indices, ST_int64)
    else:
        store_numbers(max_indices, sizes if mode == MODE_MEAN else new_vector(0))
    j.factors, j.out = address(factors), address(made)
    j.best = <int64_t*>address(best)
    j.sizes = <const int64_t*>address(sizes) if mode == MODE_MEAN else NULL
    if made.c_numel and mode == MODE_MAX:
        run_floating(<loop>max_bags[float], <loop>max_bags[double], &j, made, j.n * j.columns,
                     (positions, table, made, best))
        finish(max_indices, best)
    elif made.c_numel:
        j.wide = made.c_dtype == ST_float64
        nbytes = 2 * j.n * j.columns * ROW_KINDS[j.kind].size if factors is None else 0    # with those there is one buffer
        run_spans(take_bags, &j, j.bags, j.n * j.columns, nbytes, (positions, table, made, factors))
    return finish(out, made)


cdef Tensor first_of(Tensor offsets, int64_t n):
    """The first `n`: those that begin a bag."""
    cdef Tensor made
    cdef int64_t i
    if offsets.c_numel == n:
        return offsets
    made = new_vector(n)
    for i in range(n):
        (<int64_t*>address(made))[i] = (<const int64_t*>address(offsets))[i]
    return made


cdef tuple set_table(Bags* j, Tensor weight):
    """What must stay alive: the table as it is, and room for a row of it."""
    cdef Tensor table = plain(weight, weight.c_dtype)
    cdef Tensor buffer = new_empty(floating_code(weight), 0, -1, 1, &j.columns, NULL)
    j.table, j.kind, j.buffer = <const char*>address(table), weight.c_dtype, address(buffer)
    return table, buffer


cdef int embedding_bag_forward_only(Tensor out, Tensor offset2bag, Tensor bag_size,
                                    Tensor max_indices, Tensor weight, Tensor indices,
                                    Tensor offsets, bint scale_grad_by_freq, int64_t mode,
                                    bint sparse, Tensor per_sample_weights,
                                    bint include_last_offset, int64_t padding_idx) except -1:
    """The same into outputs of other sizes."""
    return embedding_bag(out, offset2bag, bag_size, max_indices, weight, indices, offsets,
                         scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset,
                         padding_idx)


# ---- backward ----------------------------------------------------------------------------------

cdef int64_t add_grads(Bags* j, floating* out) noexcept nogil:
    cdef int64_t i, k, index, b
    cdef const floating* grad
    cdef const floating* factors = <const floating*>j.factors
    cdef floating factor
    cdef floating* to
    for i in range(j.n):
        if not counts_in(j, i):
            continue
        index, b, factor = j.indices[i], j.bag_of[i], 1
        if factors != NULL:
            factor = factors[i]
        if j.counts != NULL:
            factor /= <floating>j.counts[index]
        if j.sizes != NULL and j.sizes[b] > 0:
            factor /= <floating>j.sizes[b]
        grad, to = <const floating*>j.grads + b * j.columns, out + index * j.columns
        for k in range(j.columns):
            to[k] += grad[k] * factor
    return 0


cdef int64_t add_max_grads(Bags* j, floating* out) noexcept nogil:
    """To the rows that the maxima are from."""
    cdef int64_t b, k, index
    for b in range(j.bags):
        if j.sizes[b] == 0:
            continue
        for k in range(j.columns):
            index = j.best[b * j.columns + k]
            if 0 <= index < j.rows:
                out[index * j.columns + k] += (<const floating*>j.grads)[b * j.columns + k]
    return 0


cdef int place_bags(Bags* j, Tensor grads, Tensor positions, Tensor bag_of, int64_t rows,
                    int64_t padding_idx) except -1:
    """Checks the indices, and the bags that they are in."""
    cdef int64_t wrong
    j.bags, j.columns, j.rows, j.padding = grads.c_sizes[0], grads.c_sizes[1], rows, padding_idx
    j.n, j.indices = positions.c_numel, <const int64_t*>address(positions)
    j.bag_of, j.grads = <const int64_t*>address(bag_of), address(grads)
    j.factors = j.counts = j.sizes = NULL
    if not are_in_range(j.indices, j.n, 0, rows, &wrong):
        raise refused(f"index out of range in self: {wrong} of {rows} rows")
    if not are_in_range(j.bag_of, j.n, -1, j.bags, &wrong):
        raise refused(f"offset2bag names bag {wrong} of {j.bags}")
    return 0


cdef int64_t* new_divisors(const int64_t* indices, int64_t n, int64_t rows) except NULL:
    """What PyTorch divides by for scale_grad_by_freq: malloc'ed, by row.

    For the row that is number u of those that occur, in order, it takes the count of the index that
    is number u of all indices, in order: the row's own count where none before it occurs twice.
    """
    cdef int64_t* counts = new_counts(indices, n, rows)
    cdef int64_t* divisors = <int64_t*>calloc(rows + 1, sizeof(int64_t))
    cdef int64_t row, u = 0, at = 0, below
    if divisors == NULL:
        free(counts)
        raise MemoryError
    below = counts[0]                        # indices of `at` or less
    for row in range(rows):
        if counts[row]:
            while below <= u:
                at += 1
                below += counts[at]
            divisors[row] = counts[at]
            u += 1
    free(counts)
    return divisors


cdef int check_sizes(Tensor bag_size, int64_t bags) except -1:
    if bag_size.c_numel < bags:
        raise refused(f"expected bag_size to have {bags} elements, got {bag_size.c_numel}")
    return 0


cdef int dense_backward(Tensor out, Tensor grad, Tensor indices, Tensor offset2bag, Tensor bag_size,
                        Tensor maximum_indices, int64_t num_weights, bint scale_grad_by_freq,
                        int64_t mode, Tensor per_sample_weights, int64_t padding_idx) except -1:
    """The gradient of the table."""
    cdef Bags j
    cdef int code = floating_code(grad)
    cdef int64_t* counts = NULL
    cdef int64_t wrong
    cdef Tensor grads = plain(grad, code), positions = plain(indices, ST_int64), made, factors
    cdef Tensor bag_of = plain(offset2bag, ST_int64), sizes = plain(bag_size, ST_int64), best
    if mode == MODE_MAX:
        positions = bag_of = new_vector(0)
    place_bags(&j, grads, positions, bag_of, num_weights, padding_idx)
    best = plain(maximum_indices, ST_int64)
    if mode != MODE_SUM:
        check_sizes(sizes, j.bags)
        j.sizes = <const int64_t*>address(sizes)
    if mode == MODE_MAX:
        j.best = <int64_t*>address(best)
        if not are_in_range(j.best, best.c_numel, 0, num_weights, &wrong):
            raise refused(f"maximum_indices names row {wrong} of {num_weights}", IndexError)
    elif per_sample_weights is not None:
        check_dtype("per_sample_weights", per_sample_weights, grad.c_dtype)
        if per_sample_weights.c_numel != j.n:
            raise refused(f"expected {j.n} per_sample_weights, got {per_sample_weights.c_numel}", IndexError)
    factors = plain(per_sample_weights, code)
    j.factors = address(factors)
    fill_values(out, 0)
    made = plain(out, code)
    if made.c_numel == 0:
        return 0
    if mode == MODE_MAX:
        run_floating(<loop>add_max_grads[float], <loop>add_max_grads[double], &j, made,
                     grads.c_numel, (grads, best, sizes, made))
        return finish(out, made)
    if scale_grad_by_freq:
        counts = new_divisors(j.indices, j.n, num_weights)
    j.counts = counts
    try:
        run_floating(<loop>add_grads[float], <loop>add_grads[double], &j, made, j.n * j.columns,
                     (grads, positions, bag_of, sizes, factors, made))
    finally:
        free(counts)
    return finish(out, made)


cdef int64_t dot_grads(Bags* j, floating* out) noexcept nogil:
    cdef int64_t i, k
    cdef const floating* row
    cdef const floating* grad
    cdef floating sum
    for i in range(j.n):
        sum = 0
        if counts_in(j, i):
            row = <const floating*>row_of(j, i)
            grad = <const floating*>j.grads + j.bag_of[i] * j.columns
            for k in range(j.columns):
                sum += row[k] * grad[k]
        out[i] = sum
    return 0


cdef int per_sample_weights_backward(Tensor out, Tensor grad, Tensor weight, Tensor indices,
                                     Tensor offsets, Tensor offset2bag, int64_t mode,
                                     int64_t padding_idx) except -1:
    """The product of each index's row with the gradient of its bag."""
    cdef Bags j
    cdef int code = floating_code(grad)
    cdef Tensor grads = plain(grad, code), positions = plain(indices, ST_int64), table, buffer
    cdef Tensor bag_of = plain(offset2bag, ST_int64), made = written_as(out, code)
    check_dtype("weight", weight, grad.c_dtype)
    if not offset2bag.c_numel:
        bag_of = bags_of(plain(offsets, ST_int64), positions.c_numel)
    place_bags(&j, grads, positions, bag_of, weight.c_sizes[0], padding_idx)
    if out.c_numel == 0:
        return 0
    table, buffer = set_table(&j, weight)
    run_floating(<loop>dot_grads[float], <loop>dot_grads[double], &j, made, j.n * j.columns,
                 (grads, positions, bag_of, table, made))
    return finish(out, made)
