"""The fused attention of the CPU: softmax(query * scale @ key + mask) @ value, head by head, and its gradients.

Called by the structured kernels; where the output is laid out as the query is, BLAS writes it in
place. Rows of a head are taken in blocks whose scores fit in a cache; under `is_causal` keys that no
row of a block may see are left out. A row that sees nothing gives 0, not NaN. On the way back
weights are made again from the logarithms of their sums. The products are numpy's inner loops,
called without the lock, but for those of bfloat16 (`bfloat.h`), whose weights are rounded to it.
"""
from libc.math cimport INFINITY, log, sqrt
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, MF_contiguous, ST_bfloat16, ST_float32, is_floating_code
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.dense cimport check_kernel, computed_in, dense, finish, pinned, target
from dispatch.kernels.cpu.matrix.bfloat cimport bfloat_matrix, bfloat_product, has_bfloat_product
from dispatch.kernels.cpu.matrix.gemm cimport find_loop, inner_loop, product
from dispatch.kernels.cpu.threads cimport blas_parts_for, in_blas_spans
from dispatch.kernels.meta.rules.sizes cimport sizes_of

cdef extern from "vectorised.h":
    pass

cdef extern from "scores.h" nogil:
    void weigh_scores_f32(float* x, int64_t last, int64_t n, float factor, const float* mask, Py_ssize_t step, float* top,
                          float* sum)
    void weigh_scores_f64(double* x, int64_t last, int64_t n, double factor, const double* mask, Py_ssize_t step, double* top,
                          double* sum)
    void divide_weighted_f32(float* x, float by, int64_t n)
    void divide_weighted_f64(double* x, double by, int64_t n)
    void row_write_bf16(const void* row, char* to, Py_ssize_t step, int64_t n)

cdef inner_loop exp_loops[2]                  # float32, float64
cdef void* exp_data[2]

find_loop(numpy.exp, numpy.dtype(numpy.float32).num, &exp_loops[0], &exp_data[0])
find_loop(numpy.exp, numpy.dtype(numpy.float64).num, &exp_loops[1], &exp_data[1])

cdef enum:
    BLOCK = 1 << 16              # scores that are computed at a time, at least one row

ctypedef fused real:
    float
    double

cdef struct Operand:
    char* data                   # NULL: no mask
    int64_t step[4]              # in elements; 0 where a mask is broadcast

cdef struct Job:
    Operand q, k, v, mask, out, total
    Operand grad, of_q, of_k, of_v    # on the way back: the output's gradient, and the three that it leads to
    int64_t batch, groups, shared, rows, keys, width, block    # groups: key heads, each shared by so many of query's
    double factor
    int code
    bint causal
    bint halves                  # bfloat16 is multiplied as it is
    bint failed
    char* room                   # of each part in turn, `room_of_part` bytes
    int64_t room_of_part


# ---- checks ------------------------------------------------------------------------------------

cdef int check_mask(Tensor mask, int code) except -1:
    if mask.c_dtype != code and mask.c_dtype != ST_float32:
        raise refused(f"expected attn_mask to be {dtypes.get_dtype(code)!r} or float32, got "
                      f"{dtypes.get_dtype(mask.c_dtype)!r}")
    if mask.c_ndim != 2 and mask.c_ndim != 4:
        raise refused(f"expected attn_mask to have 2 or 4 dimensions, got {sizes_of(mask)}")
    return 0


cdef int check(Tensor query, Tensor key, Tensor value, double dropout_p) except -1:
    cdef int i
    cdef bint same = True
    if not is_floating_code(query.c_dtype):
        raise refused(f"expected query to be floating point, got {dtypes.get_dtype(query.c_dtype)!r}")
    for name, t in (("query", query), ("key", key), ("value", value)):
        if (<Tensor>t).c_ndim != 4:
            raise refused(f"expected {name} to have 4 dimensions, got {sizes_of(<Tensor>t)}")
    if dropout_p != 0.0:
        raise refused(f"expected dropout_p to be 0, got {dropout_p}")
    if query.c_sizes[3] != key.c_sizes[3] or key.c_sizes[3] != value.c_sizes[3]:
        raise refused("expected query, key and value to have one head size")
    if query.c_dtype != key.c_dtype or key.c_dtype != value.c_dtype:
        raise refused("expected query, key and value to have one dtype")
    for i in range(4):
        same = same and key.c_sizes[i] == value.c_sizes[i] and (i > 0 or key.c_sizes[0] == query.c_sizes[0])
    if not same or key.c_sizes[1] == 0 or query.c_sizes[1] % key.c_sizes[1]:
        raise refused("expected key and value of one shape whose heads divide query's, got "
                      f"{sizes_of(key)}, {sizes_of(value)} and {sizes_of(query)}")
    return check_kernel(query.c_dtype, DTYPES_FLOATING)


cdef int place(Operand* o, Tensor t, int code) except -1:
    """Steps along four dimensions; those that a mask has not, or has of size 1, are 0."""
    cdef int i, lead = 4 - t.c_ndim
    o.data = data_of(t, dtypes.itemsize_table()[code])
    for i in range(4):
        o.step[i] = 0
        if i >= lead:
            o.step[i] = t.c_strides[i - lead]
    return 0


# ---- the loop ----------------------------------------------------------------------------------

cdef inline real* start(const Operand* o, int64_t b, int64_t h, int64_t row, real like) noexcept nogil:
    return <real*>o.data + b * o.step[0] + h * o.step[1] + row * o.step[2]


cdef void shift_rows(Job* j, real* scores, real* top, real* sums, const real* mask, int64_t first, int64_t rows,
                     int64_t seen) noexcept nogil:
    """Scores become weights; the largest of a row and the sum of its weights (`top` 0 and the sum 1 where it sees nothing)."""
    cdef int64_t r, last
    cdef real factor = <real>j.factor
    for r in range(rows):
        last = min(seen, first + r + 1) if j.causal else seen
        if real is float:
            weigh_scores_f32(scores + r * seen, last, seen, factor, mask, j.mask.step[3], top + r, sums + r)
        else:
            weigh_scores_f64(scores + r * seen, last, seen, factor, mask, j.mask.step[3], top + r, sums + r)
        if mask != NULL:
            mask += j.mask.step[2]
        if top[r] == <real>-INFINITY and sums[r] == 0:
            top[r], sums[r] = 0, 1


cdef bfloat_matrix halves_of(const Operand* o, int64_t b, int64_t h, int64_t row) noexcept nogil:
    cdef bfloat_matrix m
    m.data, m.row, m.column = <const uint16_t*>o.data + b * o.step[0] + h * o.step[1] + row * o.step[2], o.step[2], o.step[3]
    return m


cdef void score(Job* j, real* scores, int64_t b, int64_t g, int64_t h, int64_t first, int64_t rows, int64_t seen) noexcept nogil:
    cdef bfloat_matrix q, k
    if j.halves:
        q, k = halves_of(&j.q, b, h, first), halves_of(&j.k, b, g, 0)
        k.row, k.column = k.column, k.row
        if not bfloat_product(rows, j.width, seen, q, k, <float*>scores, seen, NULL, NULL):
            j.failed = True
        return
    product(j.code, rows, j.width, seen, start(&j.q, b, h, first, <real>0), j.q.step[2], j.q.step[3],
            start(&j.k, b, g, 0, <real>0), j.k.step[3], j.k.step[2], scores, seen)


cdef void mix(Job* j, real* out, real* weights, int64_t b, int64_t g, int64_t rows, int64_t seen) noexcept nogil:
    """The values by their weights, which are bfloat16 where the values are."""
    cdef bfloat_matrix w, v
    if j.halves:
        w.data, w.row, w.column = <const uint16_t*>(weights + j.block * (j.keys + 2)), seen, 1
        row_write_bf16(weights, <char*>w.data, 2, rows * seen)
        v = halves_of(&j.v, b, g, 0)
        if not bfloat_product(rows, seen, j.width, w, v, <float*>out, j.out.step[2], NULL, NULL):
            j.failed = True
        return
    product(j.code, rows, seen, j.width, weights, seen, 1, start(&j.v, b, g, 0, <real>0), j.v.step[2], j.v.step[3], out,
            j.out.step[2])


cdef void attend(Job* j, real like, int64_t lead, real* scores) noexcept nogil:
    """Query heads that share a key head, the lead-th of a batch's."""
    cdef int64_t b = lead // j.groups, g = lead % j.groups, h, first, rows, seen, r
    cdef real* top = scores + j.block * max(j.keys, 1)
    cdef real* sums = top + j.block
    cdef real* out
    for h in range(g * j.shared, (g + 1) * j.shared):
        first = 0
        while first < j.rows:
            rows = min(j.block, j.rows - first)
            seen = min(j.keys, first + rows) if j.causal else j.keys
            score(j, scores, b, g, h, first, rows, seen)
            shift_rows(j, scores, top, sums, NULL if j.mask.data == NULL else start(&j.mask, b, h, first, like), first, rows,
                       seen)
            out = start(&j.out, b, h, first, like)
            mix(j, out, scores, b, g, rows, seen)
            for r in range(rows):
                start(&j.total, b, h, first + r, like)[0] = top[r] + <real>log(sums[r])
                if real is float:
                    divide_weighted_f32(out + r * j.out.step[2], sums[r], j.width)
                else:
                    divide_weighted_f64(out + r * j.out.step[2], sums[r], j.width)
            first += rows


# ---- the way back ------------------------------------------------------------------------------

cdef void weigh_rows(Job* j, real* weights, const real* mask, const real* total, int64_t first, int64_t rows,
                     int64_t seen) noexcept nogil:
    """exp(score - the logarithm of its row's sum)."""
    cdef int64_t r, i, last
    cdef Py_ssize_t count = rows * seen
    cdef Py_ssize_t steps[2]
    cdef char* pointers[2]
    cdef int slot = 0 if real is float else 1
    cdef real factor = <real>j.factor
    cdef real* row
    for r in range(rows):
        row = weights + r * seen
        last = min(seen, first + r + 1) if j.causal else seen
        for i in range(last):
            row[i] = row[i] * factor - total[r * j.total.step[2]]
        if mask != NULL:
            for i in range(last):
                row[i] += mask[r * j.mask.step[2] + i * j.mask.step[3]]
        for i in range(last, seen):
            row[i] = <real>-INFINITY
    steps[0] = steps[1] = sizeof(real)
    pointers[0] = pointers[1] = <char*>weights
    exp_loops[slot](pointers, &count, steps, exp_data[slot])


cdef void change_rows(Job* j, real* change, const real* weights, const real* grad, const real* out, int64_t rows,
                      int64_t seen) noexcept nogil:
    """weights * (change - the row's product of gradient and output) * factor."""
    cdef int64_t r, i
    cdef real whole, factor = <real>j.factor
    for r in range(rows):
        whole = 0
        for i in range(j.width):
            whole += grad[r * j.grad.step[2] + i * j.grad.step[3]] * out[r * j.out.step[2] + i * j.out.step[3]]
        for i in range(r * seen, (r + 1) * seen):
            change[i] = weights[i] * (change[i] - whole) * factor


cdef void add_rows(real* to, int64_t step, const real* part, int64_t rows, int64_t width) noexcept nogil:
    cdef int64_t r, i
    for r in range(rows):
        for i in range(width):
            to[r * step + i] += part[r * width + i]


cdef void go_back(Job* j, real like, int64_t lead, real* weights) noexcept nogil:
    """The gradients of these heads, in blocks of rows."""
    cdef int64_t b = lead // j.groups, g = lead % j.groups, h, first, rows, seen, size = j.block * max(j.keys, 1)
    cdef real* change = weights + size
    cdef real* part = change + size
    cdef real* q
    cdef real* grad
    cdef const real* mask
    for h in range(g * j.shared, (g + 1) * j.shared):
        first = 0
        while first < j.rows:
            rows = min(j.block, j.rows - first)
            seen = min(j.keys, first + rows) if j.causal else j.keys
            q, grad = start(&j.q, b, h, first, like), start(&j.grad, b, h, first, like)
            mask = NULL if j.mask.data == NULL else start(&j.mask, b, h, first, like)
            product(j.code, rows, j.width, seen, q, j.q.step[2], j.q.step[3], start(&j.k, b, g, 0, like), j.k.step[3],
                    j.k.step[2], weights, seen)
            weigh_rows(j, weights, mask, start(&j.total, b, h, first, like), first, rows, seen)
            product(j.code, seen, rows, j.width, weights, 1, seen, grad, j.grad.step[2], j.grad.step[3], part, j.width)
            add_rows(start(&j.of_v, b, g, 0, like), j.of_v.step[2], part, seen, j.width)
            product(j.code, rows, j.width, seen, grad, j.grad.step[2], j.grad.step[3], start(&j.v, b, g, 0, like),
                    j.v.step[3], j.v.step[2], change, seen)
            change_rows(j, change, weights, grad, start(&j.out, b, h, first, like), rows, seen)
            product(j.code, rows, seen, j.width, change, seen, 1, start(&j.k, b, g, 0, like), j.k.step[2], j.k.step[3],
                    start(&j.of_q, b, h, first, like), j.of_q.step[2])
            product(j.code, seen, rows, j.width, change, 1, seen, q, j.q.step[2], j.q.step[3], part, j.width)
            add_rows(start(&j.of_k, b, g, 0, like), j.of_k.step[2], part, seen, j.width)
            first += rows


# ---- operators ---------------------------------------------------------------------------------

cdef void take_heads(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Job* j = <Job*>context
    cdef char* room = j.room + part * j.room_of_part
    cdef int64_t lead
    for lead in range(first, end):
        if j.code == ST_float32:
            work[float](j, 0, lead, <float*>room)
        else:
            work[double](j, 0, lead, <double*>room)


cdef void work(Job* j, real like, int64_t lead, real* room) noexcept nogil:
    if j.of_q.data == NULL:
        attend(j, like, lead, room)
    else:
        go_back(j, like, lead, room)


cdef int run(Job* j) except -1:
    """Each thread takes key heads of its own, and has room for a block of scores."""
    cdef int64_t scores, rest, leads = j.batch * j.groups
    cdef int64_t parts = blas_parts_for(leads, 2 * leads * j.shared * j.rows * j.keys * j.width)
    j.block = max(min(j.rows, BLOCK // max(j.keys, 1)), 1)
    if j.causal:
        j.block = min(j.block, max(64, j.rows // 8))
    scores, rest = j.block * max(j.keys, 1), 2 * j.block
    if j.halves:
        rest += scores
    if j.of_q.data != NULL:
        rest = scores + j.keys * j.width
    j.room_of_part = (scores + rest) * <int64_t>dtypes.itemsize_table()[j.code]
    j.room = <char*>malloc(parts * j.room_of_part)
    if j.room == NULL:
        raise MemoryError
    with nogil:
        in_blas_spans(take_heads, j, leads, parts)
    free(j.room)
    if j.failed:
        raise MemoryError("no memory for the panels of a product")
    return 0


cdef int set_up(Job* j, Tensor query, Tensor key, bint is_causal, object scale) except -1:
    memset(j, 0, sizeof(Job))
    j.code = computed_in(query.c_dtype)
    j.batch, j.groups, j.rows, j.width = query.c_sizes[0], key.c_sizes[1], query.c_sizes[2], query.c_sizes[3]
    j.keys, j.shared, j.causal = key.c_sizes[2], query.c_sizes[1] // key.c_sizes[1], is_causal
    j.factor = 1 / sqrt(<double>j.width) if scale is None else scale
    return 0


cdef inline Tensor readable(Tensor t, int code):
    return t if t.c_dtype == code else dense(t, code, MF_contiguous)


cdef inline Tensor writable(Tensor t, int code):
    """BLAS writes rows without gaps."""
    return t if t.c_dtype == code and t.c_strides[3] == 1 else target(t, code, MF_contiguous)


cdef Tensor place_mask(Job* j, Tensor mask):
    """The mask, expanded to the scores; whoever calls keeps it."""
    mask = readable(mask.expand([j.batch, j.groups * j.shared, j.rows, j.keys]), j.code)
    place(&j.mask, mask, j.code)
    return mask


cdef int place_rows(Operand* o, Tensor t, int code) except -1:
    """The logarithms of the sums: a number for each row."""
    cdef int i
    o.data = data_of(t, dtypes.itemsize_table()[code])
    for i in range(3):
        o.step[i] = t.c_strides[i]
    return 0


def flash_attention_for_cpu(Tensor out not None, Tensor logsumexp not None, Tensor query not None, Tensor key not None,
                            Tensor value not None, double dropout_p, bint is_causal, Tensor attn_mask or None, scale):
    """Output and the logarithm of each row's sum of exponentials."""
    cdef int code, given
    cdef Tensor q, k, v, y, total, mask = None
    cdef Job j
    check(query, key, value, dropout_p)
    if attn_mask is not None:
        check_mask(attn_mask, query.c_dtype)
    if out.c_numel == 0:
        return
    set_up(&j, query, key, is_causal, scale)
    code = j.code
    j.halves = query.c_dtype == ST_bfloat16 and has_bfloat_product(j.rows * j.width * j.keys)
    given = ST_bfloat16 if j.halves else code
    q, k, v = (readable(<Tensor>t, given) for t in (query, key, value))
    if attn_mask is not None:
        mask = place_mask(&j, attn_mask)
    y = writable(out, code)
    total = logsumexp if logsumexp.c_dtype == code else target(logsumexp, code, MF_contiguous)
    place(&j.q, q, given)
    place(&j.k, k, given)
    place(&j.v, v, given)
    place(&j.out, y, code)
    place_rows(&j.total, total, code)
    kept = pinned(1 << 20, q, k, v, y), pinned(1 << 20, total, total, mask)
    run(&j)
    finish(logsumexp, total)
    finish(out, y)


def flash_attention_for_cpu_backward(
        Tensor grad_query not None, Tensor grad_key not None, Tensor grad_value not None, Tensor grad_out not None,
        Tensor query not None, Tensor key not None, Tensor value not None, Tensor out not None, Tensor logsumexp not None,
        double dropout_p, bint is_causal, Tensor attn_mask or None, scale):
    """From the output and the logarithms of the sums, without the weights."""
    cdef int code
    cdef Tensor q, k, v, y, g, of_q, of_k, of_v, mask = None
    cdef Job j
    code = computed_in(query.c_dtype)
    check(query, key, value, 0.0)
    for name, t in (("grad_out", grad_out), ("out", out)):
        if sizes_of(<Tensor>t) != sizes_of(query):
            raise refused(f"expected {name} to have query's sizes {sizes_of(query)}, got {sizes_of(<Tensor>t)}")
    if logsumexp.c_dtype != code:
        raise refused(f"expected logsumexp to be {dtypes.get_dtype(code)!r}, got {dtypes.get_dtype(logsumexp.c_dtype)!r}")
    if sizes_of(logsumexp) != sizes_of(query)[:3]:
        raise refused(f"expected logsumexp of {sizes_of(query)[:3]}, got {sizes_of(logsumexp)}")
    if attn_mask is not None:
        check_mask(attn_mask, query.c_dtype)
    set_up(&j, query, key, is_causal, scale)
    q, k, v, y, g = (readable(<Tensor>t, code) for t in (query, key, value, out, grad_out))
    of_q, of_k, of_v = (writable(<Tensor>t, code) for t in (grad_query, grad_key, grad_value))
    for made in (of_q, of_k, of_v):
        fill_values(<Tensor>made, 0)
    if attn_mask is not None:
        mask = place_mask(&j, attn_mask)
    place(&j.q, q, code)
    place(&j.k, k, code)
    place(&j.v, v, code)
    place(&j.out, y, code)
    place(&j.grad, g, code)
    place(&j.of_q, of_q, code)
    place(&j.of_k, of_k, code)
    place(&j.of_v, of_v, code)
    place_rows(&j.total, logsumexp, code)
    kept = pinned(1 << 20, q, k, v, y), pinned(1 << 20, g, of_q, of_k, of_v), pinned(1 << 20, logsumexp, logsumexp, mask)
    run(&j)
    finish(grad_query, of_q)
    finish(grad_key, of_k)
    finish(grad_value, of_v)
