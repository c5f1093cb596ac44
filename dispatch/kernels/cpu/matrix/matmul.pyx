"""Bodies of matrix products on the CPU: loops for small ones, numpy's BLAS for large ones of floats.

Called by the structured kernels with an output of the right size and dtype. 16-bit floats are
multiplied in float32 and rounded once; bfloat16 as it is where the processor has instructions for
it (`bfloat.h`). `blas` has the rest, and whatever must be refused or is rare:
complex numbers and integers, lazily conjugated operands, outputs that share memory with an operand,
factors of other kinds than the dtype's.
"""
from libc.stdint cimport int64_t, uint16_t
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DTYPES_REDUCED_FLOATING, MF_contiguous, ST_bfloat16, ST_complex128, ST_complex64, ST_float32, ST_float64,
    ST_int64, ST_uint8, is_in, is_integral_code,
)
from dispatch._C.keys cimport KS_Conjugate
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.copy.copies cimport fill_values
from dispatch.kernels.cpu.dense cimport computed_in, dense, pinned, target
from dispatch.kernels.cpu.matrix.bfloat cimport bfloat_matrix, bfloat_product, bfloat_taker, has_bfloat_blocks, has_bfloat_product
from dispatch.kernels.cpu.matrix.gemm cimport is_made_here, product
from dispatch.kernels.cpu.threads cimport MAX_PARTS, blas_parts_for, in_blas_spans, in_parts, in_spans, parts_for, threads_for

cdef extern from "small.h" nogil:
    enum:
        SMALL_SIDE, SMALL_RIGHT, SMALL_WORK, SMALL_FOR_BLAS, SMALL_COMPLEX
    ctypedef struct row_kind:
        int size
    const row_kind ROW_KINDS[]
    ctypedef struct small_operand:
        char* data
        Py_ssize_t batch, row, column
    ctypedef struct small_product:
        int dtype
        int64_t batches, m, n, k
        small_operand a, b, added, out
        double alpha, beta
        int64_t whole_alpha, whole_beta
    void run_small(const small_product* p)
    bint is_tiny(const small_product* p, int code)
    void run_tiny(const small_product* p, int64_t first, int64_t end)
    void run_vector(const small_product* p, char* room)
    void finish_part(const small_product* p, char* sums, Py_ssize_t step, int64_t first, int64_t end, int64_t column, int64_t n)
    void finish_large(const small_product* p, char* sums, int64_t first, int64_t end)

cdef object BLAS = None


cdef object blas():
    """The module of the large ones, which imports operators: when one is first called."""
    global BLAS
    if BLAS is None:
        from dispatch.kernels.cpu.matrix import blas as BLAS
    return BLAS


# ---- small products ----------------------------------------------------------------------------

cdef bint has_loop(int code) noexcept:
    return (code == ST_float32 or code == ST_float64 or ST_uint8 <= code <= ST_int64
            or is_in(DTYPES_REDUCED_FLOATING, code) or code == ST_complex64
            or code == ST_complex128)


cdef bint set_factor(object given, int code, double* real, int64_t* whole) except -1:
    """Whether a factor is of the dtype's kind, and in every one's range."""
    if type(given) is int:
        if not (0 if code == ST_uint8 else -128) <= given < 128:
            return False
        whole[0] = given
        real[0] = <double>whole[0]
        return True
    if type(given) is float and not is_integral_code(code, True):
        real[0] = given
        return code == ST_float64 or -3e38 < real[0] < 3e38
    return False


cdef int place(small_operand* o, Tensor t, int size, int batch, int row, int column) except -1:
    """The dimensions that play these parts; -1: none does."""
    o.data = data_of(t, size)
    o.batch = t.c_strides[batch] * size if batch >= 0 else 0
    o.row = t.c_strides[row] * size if row >= 0 else 0
    o.column = t.c_strides[column] * size if column >= 0 else 0
    return 0


cdef int place_added(small_operand* o, Tensor t, int size, Tensor out, bint vector) except -1:
    """What is added, expanded to the output: steps of 0 where it is."""
    cdef Py_ssize_t steps[3]
    cdef int i, d, last = 1 if vector else 2
    for i in range(3):
        d = i - last + t.c_ndim - 1
        steps[i] = 0
        if 0 <= d < t.c_ndim and t.c_sizes[d] != 1:
            steps[i] = t.c_strides[d] * size
    o.data = data_of(t, size)
    o.batch, o.row, o.column = steps[0], steps[1], steps[2]
    return 0


cdef int read_sizes(small_product* p, Tensor a, Tensor b) noexcept:
    """Sizes of a and b, which have 3 dimensions, 2, 2 and 1, or 1."""
    p.batches = a.c_sizes[0] if a.c_ndim == 3 else 1
    p.m = a.c_sizes[a.c_ndim - 2] if a.c_ndim > 1 else 1
    p.k = a.c_sizes[a.c_ndim - 1]
    p.n = 1 if b.c_ndim == 1 else b.c_sizes[b.c_ndim - 1]
    return 0


cdef bint read_added(small_product* p, Tensor out, Tensor added, object beta, object alpha, bint vector) except -1:
    """Factors and what is added; False: something about them is rare."""
    cdef int code = out.c_dtype
    p.dtype = code
    p.alpha = p.beta = 1
    p.whole_alpha = p.whole_beta = 1
    p.added.data = NULL
    if added is None:
        return True
    if added.c_dtype != code or added.c_keys & KS_Conjugate or added.c_ndim > out.c_ndim \
            or not set_factor(beta, code, &p.beta, &p.whole_beta) \
            or not set_factor(alpha, code, &p.alpha, &p.whole_alpha) or p.alpha == 0:
        return False
    if p.beta != 0:
        if out.c_storage is added.c_storage and out is not added:
            return False
        place_added(&p.added, added, ROW_KINDS[code].size, out, vector)
    return True


cdef bint is_rare(Tensor out, Tensor a, Tensor b) noexcept:
    return (out.c_dtype != a.c_dtype or b.c_dtype != a.c_dtype or out.c_numel == 0 or a.c_numel == 0
            or (a.c_keys | b.c_keys | out.c_keys) & KS_Conjugate != 0
            or out.c_storage is a.c_storage or out.c_storage is b.c_storage)


cdef int place_all(small_product* p, Tensor out, Tensor a, Tensor b) except -1:
    """Each operand with the size of its own elements."""
    cdef int of_a = ROW_KINDS[a.c_dtype].size, of_b = ROW_KINDS[b.c_dtype].size, of_out = ROW_KINDS[out.c_dtype].size
    place(&p.a, a, of_a, 0 if a.c_ndim == 3 else -1, a.c_ndim - 2, a.c_ndim - 1)
    if b.c_ndim == 1:
        place(&p.b, b, of_b, -1, 0, -1)
        place(&p.out, out, of_out, -1, out.c_ndim - 1, -1)
    else:
        place(&p.b, b, of_b, 0 if b.c_ndim == 3 else -1, b.c_ndim - 2, b.c_ndim - 1)
        place(&p.out, out, of_out, 0 if out.c_ndim == 3 else -1, out.c_ndim - 2, out.c_ndim - 1)
    return 0


cdef inline int64_t work_without_blas(int code, int64_t columns) noexcept nogil:
    """Of complex vectors BLAS's threads make so few products much longer."""
    if code == ST_float32 or code == ST_float64:
        return SMALL_FOR_BLAS
    return SMALL_COMPLEX if (code == ST_complex64 or code == ST_complex128) and columns > 1 else SMALL_WORK


cdef bint small(Tensor out, Tensor a, Tensor b, Tensor added, object beta, object alpha) except -1:
    """Make the product here, if it is small and nothing about it is rare; False: it is not made."""
    cdef small_product p
    if not has_loop(a.c_dtype) or is_rare(out, a, b):
        return False
    read_sizes(&p, a, b)
    if p.k > SMALL_SIDE or p.n > SMALL_SIDE or p.k * p.n > SMALL_RIGHT or p.m > SMALL_WORK or p.batches > SMALL_WORK \
            or p.m * p.n * p.k * p.batches > SMALL_WORK or p.m * p.n * p.k > work_without_blas(a.c_dtype, p.n):
        return False
    if not read_added(&p, out, added, beta, alpha, b.c_ndim == 1):
        return False
    place_all(&p, out, a, b)
    run_small(&p)
    return True


cdef void tiny_span(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    run_tiny(<const small_product*>context, first, end)


cdef bint tiny(Tensor out, Tensor a, Tensor b) except -1:
    """The same of many products of a few numbers each."""
    cdef small_product p
    read_sizes(&p, a, b)
    if not is_tiny(&p, a.c_dtype) or is_rare(out, a, b):
        return False
    p.dtype = a.c_dtype
    place_all(&p, out, a, b)
    kept = pinned(a.c_numel, a, b, out)
    with nogil:
        in_spans(tiny_span, &p, p.batches, parts_for(p.batches, 4 * p.batches * p.m * p.k * p.n))
    return True


cdef struct Vectors:
    const small_product* p
    bint failed


cdef void vector_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Vectors* j = <Vectors*>context
    cdef small_product p = j.p[0]
    cdef char* room = <char*>malloc((p.k + end - first) * 8)
    if room == NULL:
        j.failed = True
        return
    p.m = end - first
    p.a.data += first * p.a.row
    p.out.data += first * p.out.row
    if p.added.data != NULL:
        p.added.data += first * p.added.row
    run_vector(&p, room)
    free(room)


cdef bint vector(Tensor out, Tensor a, Tensor b, Tensor added, object beta, object alpha) except -1:
    """The same for a vector of any length, or a matrix of one row or column, where there is no BLAS, or a call of it costs more."""
    cdef small_product p
    cdef small_operand row
    cdef Vectors j
    cdef int code = a.c_dtype
    if not has_loop(code) or code == ST_complex64 or code == ST_complex128 or is_rare(out, a, b):
        return False
    read_sizes(&p, a, b)
    if p.batches != 1 or p.m > 1 and p.n > 1 or (code == ST_float32 or code == ST_float64) and p.m * p.k * p.n > SMALL_WORK:
        return False
    if not read_added(&p, out, added, beta, alpha, b.c_ndim == 1):
        return False
    place_all(&p, out, a, b)
    if p.n > 1:                    # one row: columns of the other, transposed
        row = p.a
        p.a.data, p.a.row, p.a.column = p.b.data, p.b.column, p.b.row
        p.b.data, p.b.row = row.data, row.column
        p.out.row, p.added.row, p.m, p.n = p.out.column, p.added.column, p.n, 1
    kept = pinned(a.c_numel, a, b, out, added)
    j.p, j.failed = &p, False
    if kept is None:
        vector_rows(&j, 0, 0, p.m)
    else:
        with nogil:
            in_spans(vector_rows, &j, p.m, parts_for(p.m // 8, 2 * p.m * p.k * ROW_KINDS[code].size))     # one row is another loop
    if j.failed:
        raise MemoryError
    return True


# ---- large products ----------------------------------------------------------------------------

cdef Tensor readable(Tensor t, int code):
    """A matrix, or a batch of them, that BLAS takes as it is: rows or columns lie without gaps. A vector may have gaps."""
    cdef int64_t row, column, n_row, n_column
    if t.c_dtype == code:
        if t.c_ndim == 1:
            return t
        row, column = t.c_strides[t.c_ndim - 2], t.c_strides[t.c_ndim - 1]
        n_row, n_column = t.c_sizes[t.c_ndim - 2], t.c_sizes[t.c_ndim - 1]
        if column == 1 and row >= n_column or row == 1 and column >= n_row:
            return t
    return dense(t, code, MF_contiguous)


cdef enum:
    BFLOAT_UNIT = 96               # rows or columns that are not cut

cdef struct Bfloats:               # products of bfloat16, in parts of so many rows or columns
    const small_product* p
    float* sums                    # NULL: they are finished in blocks
    int64_t length
    bint by_rows
    bint failed

cdef struct Corner:                # where a part of a product begins
    const small_product* p
    int64_t row, column


cdef void finish_block(void* context, float* sums, Py_ssize_t row, int64_t i, int64_t m, int64_t j, int64_t n) noexcept nogil:
    cdef Corner* at = <Corner*>context
    finish_part(at.p, <char*>sums, row * sizeof(float), at.row + i, at.row + i + m, at.column + j, n)


cdef void multiply_bfloat_part(void* context, int64_t part) noexcept nogil:
    cdef Bfloats* j = <Bfloats*>context
    cdef const small_product* p = j.p
    cdef bfloat_matrix a, b
    cdef Corner at
    cdef int64_t m = p.m, n = p.n
    cdef bint done
    at.p, at.row, at.column = p, part * j.length if j.by_rows else 0, 0 if j.by_rows else part * j.length
    if j.by_rows:
        m = min(j.length, m - at.row)
    else:
        n = min(j.length, n - at.column)
    a.row, a.column, b.row, b.column = p.a.row // 2, p.a.column // 2, p.b.row // 2, p.b.column // 2
    a.data = <const uint16_t*>(p.a.data + at.row * p.a.row)
    b.data = <const uint16_t*>(p.b.data + at.column * p.b.column)
    if j.sums == NULL:
        done = bfloat_product(m, p.k, n, a, b, NULL, 0, finish_block, &at)
    else:
        done = bfloat_product(m, p.k, n, a, b, j.sums + at.row * p.n + at.column, p.n, NULL, NULL)
    if not done:
        j.failed = True


cdef bint multiply_bfloats(const small_product* p, char* sums) noexcept nogil:
    """One product, by parts of the longer side. False: there is no memory for it."""
    cdef Bfloats j
    cdef int parts = threads_for(p.m * p.k * p.n // 8)
    cdef int64_t longer = max(p.m, p.n)
    j.p, j.sums, j.failed, j.by_rows = p, <float*>sums, False, p.m > p.n
    j.length = (longer + parts - 1) // parts if parts > 1 else longer
    j.length = (j.length + BFLOAT_UNIT - 1) // BFLOAT_UNIT * BFLOAT_UNIT
    in_parts(multiply_bfloat_part, &j, (longer + j.length - 1) // j.length)
    return not j.failed


cdef void multiply_whole(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Products of a batch, each finished while it is in the cache."""
    cdef Bfloats* j = <Bfloats*>context
    cdef const small_product* p = j.p
    cdef bfloat_matrix a, b
    cdef int64_t i
    cdef float* sums = <float*>malloc(p.m * p.n * sizeof(float))
    a.row, a.column, b.row, b.column = p.a.row // 2, p.a.column // 2, p.b.row // 2, p.b.column // 2
    for i in range(first, end):
        a.data, b.data = <const uint16_t*>(p.a.data + i * p.a.batch), <const uint16_t*>(p.b.data + i * p.b.batch)
        if sums == NULL or not bfloat_product(p.m, p.k, p.n, a, b, sums, p.n, NULL, NULL):
            j.failed = True
            break
        finish_large(p, <char*>sums, i * p.m, (i + 1) * p.m)
    free(sums)


cdef bint multiply_bfloat_batch(const small_product* p) noexcept nogil:
    """The same for many products, which are finished too."""
    cdef Bfloats j
    j.p, j.failed = p, False
    in_spans(multiply_whole, &j, p.batches, parts_for(p.batches, p.batches * p.m * p.k * p.n // 8))
    return not j.failed


cdef enum:
    COLUMNS = 16                   # that threads take together of a product of few rows

cdef struct Floats:                # products by BLAS, one for each of a batch
    const small_product* p
    char* sums
    int code, size


cdef void multiply_batch(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Floats* j = <Floats*>context
    cdef const small_product* p = j.p
    cdef int64_t i
    for i in range(first, end):
        product(j.code, p.m, p.k, p.n, p.a.data + i * p.a.batch, p.a.row // j.size, p.a.column // j.size,
                p.b.data + i * p.b.batch, p.b.row // j.size, p.b.column // j.size, j.sums + i * p.m * p.n * j.size, p.n)


cdef void multiply_thin(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Blocks of columns of a single product of few rows."""
    cdef Floats* j = <Floats*>context
    cdef const small_product* p = j.p
    cdef int64_t start = first * COLUMNS
    product(j.code, p.m, p.k, min(end * COLUMNS, p.n) - start, p.a.data, p.a.row // j.size, 1, p.b.data + start * p.b.column,
            1, p.b.column // j.size, j.sums + start * j.size, p.n)


cdef void multiply_floats(Floats* j) noexcept nogil:
    cdef const small_product* p = j.p
    cdef int64_t work = p.batches * p.m * p.k * p.n, blocks = (p.n + COLUMNS - 1) // COLUMNS
    if p.batches == 1 and j.code == ST_float32 and is_made_here(p.m, p.k, p.a.column // j.size, p.b.row // j.size):
        in_spans(multiply_thin, j, blocks, parts_for(blocks, work // 4))
    else:
        in_blas_spans(multiply_batch, j, p.batches, blas_parts_for(p.batches, work))


cdef void finish_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Floats* j = <Floats*>context
    finish_large(j.p, j.sums + first * j.p.n * j.size, first, end)


cdef bint large(Tensor out, Tensor a, Tensor b, Tensor added, object beta, object alpha) except -1:
    """The same for products of floats, by BLAS."""
    cdef small_product p
    cdef int code = computed_in(a.c_dtype), size
    cdef Floats j
    cdef bint halves, done
    cdef Tensor made
    if code != ST_float32 and code != ST_float64 or is_rare(out, a, b):
        return False
    read_sizes(&p, a, b)
    if not read_added(&p, out, added, beta, alpha, b.c_ndim == 1):
        return False
    halves = a.c_dtype == ST_bfloat16 and has_bfloat_product(p.m * p.k * p.n)
    if not halves:
        a, b = readable(a, code), readable(b, code)
    if halves and p.batches > 1:
        place_all(&p, out, a, b)
        kept = pinned(1 << 20, a, b, out, added)
        with nogil:
            done = multiply_bfloat_batch(&p)
        if not done:
            raise MemoryError("no memory for the panels of a product")
        return True
    if halves and has_bfloat_blocks(p.m, p.k):
        place_all(&p, out, a, b)
        kept = pinned(1 << 20, a, b, out, added)
        with nogil:
            done = multiply_bfloats(&p, NULL)
        if not done:
            raise MemoryError("no memory for the panels of a product")
        return True
    made = target(out, code, MF_contiguous)
    if made is out and added is out and p.added.data != NULL:          # which the product would spoil
        made = new_empty(code, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)
    place_all(&p, out, a, b)
    size = dtypes.itemsize_table()[code]
    kept = pinned(1 << 20, a, b, out, added), pinned(1 << 20, made, made)
    sums = <char*>data_of(made, size)
    done = True
    with nogil:
        if halves:
            done = multiply_bfloats(&p, sums)
        else:
            j.p, j.sums, j.code, j.size = &p, sums, code, size
            multiply_floats(&j)
        if done and (sums != p.out.data or p.added.data != NULL or p.alpha != 1):
            j.p, j.sums = &p, sums
            in_spans(finish_rows, &j, p.batches * p.m, parts_for(p.batches * p.m, 2 * p.batches * p.m * p.n * size))
    if not done:
        raise MemoryError("no memory for the panels of a product")
    return True


# ---- long vectors ------------------------------------------------------------------------------

cdef struct Dots:
    char* a
    char* b
    int64_t a_step, b_step       # in elements
    int code, size
    double sums[MAX_PARTS]


cdef void dot_part(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Dots* j = <Dots*>context
    cdef float sum = 0
    cdef void* to = &sum if j.code == ST_float32 else <void*>&j.sums[part]
    product(j.code, 1, end - first, 1, j.a + first * j.a_step * j.size, end - first, j.a_step,
            j.b + first * j.b_step * j.size, j.b_step, 1, to, 1)
    if j.code == ST_float32:
        j.sums[part] = sum


cdef bint long_dot(Tensor out, Tensor a, Tensor b) except -1:
    """Parts by BLAS, each on a thread; False: one would do, or it is no product of floats."""
    cdef Dots j
    cdef int64_t parts, i
    cdef double sum = 0
    if a.c_dtype != ST_float32 and a.c_dtype != ST_float64 or b.c_dtype != a.c_dtype or out.c_dtype != a.c_dtype \
            or is_rare(out, a, b):
        return False
    j.code, j.size = a.c_dtype, dtypes.itemsize_table()[a.c_dtype]
    parts = parts_for(a.c_numel, 2 * a.c_numel * j.size)
    if parts < 2:
        return False
    j.a, j.b, j.a_step, j.b_step = data_of(a, j.size), data_of(b, j.size), a.c_strides[0], b.c_strides[0]
    for i in range(parts):
        j.sums[i] = 0
    kept = pinned(1 << 20, a, b, out)
    with nogil:
        in_blas_spans(dot_part, &j, a.c_numel, parts)
    for i in range(parts):
        sum += j.sums[i]
    if j.code == ST_float32:
        (<float*>data_of(out, 4))[0] = <float>sum
    else:
        (<double*>data_of(out, 8))[0] = sum
    return True


# ---- bodies ------------------------------------------------------------------------------------

cdef int mm(Tensor out, Tensor self, Tensor mat2) except -1:
    if not small(out, self, mat2, None, 1, 1) and not vector(out, self, mat2, None, 1, 1) \
            and not large(out, self, mat2, None, 1, 1):
        blas().mm(out, self, mat2)
    return 0


cdef int bmm(Tensor out, Tensor self, Tensor mat2) except -1:
    if not small(out, self, mat2, None, 1, 1) and not tiny(out, self, mat2) and not large(out, self, mat2, None, 1, 1):
        blas().bmm(out, self, mat2)
    return 0


cdef int mv(Tensor out, Tensor self, Tensor vec) except -1:
    if not small(out, self, vec, None, 1, 1) and not vector(out, self, vec, None, 1, 1) \
            and not large(out, self, vec, None, 1, 1):
        blas().mv(out, self, vec)
    return 0


cdef int dot(Tensor out, Tensor self, Tensor tensor) except -1:
    if self.c_numel == 0 and has_loop(out.c_dtype):
        return fill_values(out, 0)
    if not long_dot(out, self, tensor) and not small(out, self, tensor, None, 1, 1) \
            and not vector(out, self, tensor, None, 1, 1):
        blas().dot(out, self, tensor)
    return 0


cdef int addmm(Tensor out, Tensor self, Tensor mat1, Tensor mat2, object beta,
               object alpha) except -1:
    if not small(out, mat1, mat2, self, beta, alpha) and not vector(out, mat1, mat2, self, beta, alpha) \
            and not large(out, mat1, mat2, self, beta, alpha):
        blas().addmm(out, self, mat1, mat2, beta, alpha)
    return 0


cdef int addmv(Tensor out, Tensor self, Tensor mat, Tensor vec, object beta,
               object alpha) except -1:
    if not small(out, mat, vec, self, beta, alpha) and not vector(out, mat, vec, self, beta, alpha) \
            and not large(out, mat, vec, self, beta, alpha):
        blas().addmv(out, self, mat, vec, beta, alpha)
    return 0


cdef int baddbmm(Tensor out, Tensor self, Tensor batch1, Tensor batch2, object beta,
                 object alpha) except -1:
    if not small(out, batch1, batch2, self, beta, alpha) and not large(out, batch1, batch2, self, beta, alpha):
        blas().baddbmm(out, self, batch1, batch2, beta, alpha)
    return 0
