"""Bodies of products by weights of 8 and 4 bits, and of bytes by bytes, on the CPU.

Called by the structured kernels with checked operands. Where the processor has instructions for
bytes (`packed.h`) weights become floats inside the loop; elsewhere a block of their rows at a time,
which BLAS multiplies. Sums are float32 and rounded once; those of bytes are exact.
"""
from libc.stdint cimport int32_t, int64_t, int8_t, uint8_t
from libc.stdlib cimport free, malloc

from dispatch._C.dtypes cimport DEV_CPU, MF_contiguous, ST_float32, ST_float64, ST_int32, ST_int8, ST_uint8
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.dense cimport dense, finish, pinned, target
from dispatch.kernels.cpu.matrix.gemm cimport product
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef extern from "packed.h" nogil:
    enum:
        PACKED_ROWS, THIN_ROWS
    bint has_byte_products()
    void multiply_mixed(int64_t m, int64_t k, int64_t n, const float* a, Py_ssize_t a_row, const int8_t* b, Py_ssize_t b_column,
                        float* out, Py_ssize_t out_row)
    void multiply_bytes(int64_t m, int64_t k, int64_t n, const uint8_t* a, Py_ssize_t a_row, const int8_t* b, Py_ssize_t b_column,
                        int32_t* out, Py_ssize_t out_row)
    void take_columns(int64_t m, int64_t k, int64_t n, const int8_t* b, Py_ssize_t b_column, int32_t* out, Py_ssize_t out_row)
    void multiply_block(int64_t m, int64_t k, int64_t group, const float* a, const uint8_t* b, const float* scales, float* out,
                        Py_ssize_t out_row)

cdef enum:
    EXACT = 512                  # terms of at most 2 ** 15 whose sum float32 holds

cdef struct Weights:
    int64_t m, k, n, group       # a (m, k) times the transposed weights (n, k), which have 64 rows or fewer in a part
    const float* a
    const void* b
    const float* scales          # of 8 bits: n; of 4 bits: (k / group, n, 2), each with its zero
    float* out
    bint failed


# ---- bytes by bytes ----------------------------------------------------------------------------

cdef Tensor in_columns(Tensor t):
    """A matrix whose columns lie without gaps."""
    cdef int64_t strides[2]
    cdef Tensor made
    if t.c_strides[0] == 1 and t.c_strides[1] >= t.c_sizes[0]:
        return t
    strides[0], strides[1] = 1, max(<int64_t>1, t.c_sizes[0])
    made = new_empty(t.c_dtype, DEV_CPU, -1, 2, t.c_sizes, strides)
    copy_values(made, t)
    return made


cdef int multiply_exactly(Tensor out, Tensor self, Tensor mat2) except -1:
    """By BLAS: sums are exact in float64, in float32 as long as there are few."""
    cdef int code = ST_float32 if self.c_sizes[1] < EXACT else ST_float64
    cdef int size = 4 if code == ST_float32 else 8
    cdef Tensor a = dense(self, code, MF_contiguous), b = dense(mat2, code, MF_contiguous)
    cdef Tensor made = target(out, code, MF_contiguous)
    product(code, self.c_sizes[0], self.c_sizes[1], mat2.c_sizes[1], data_of(a, size), self.c_sizes[1], 1,
            data_of(b, size), mat2.c_sizes[1], 1, data_of(made, size), mat2.c_sizes[1])
    return finish(out, made)


def int_mm(Tensor out not None, Tensor self not None, Tensor mat2 not None):
    """Bytes, summed in int32."""
    cdef int64_t m = self.c_sizes[0], k = self.c_sizes[1], n = mat2.c_sizes[1], column, i
    cdef bint signed = self.c_dtype == ST_int8
    cdef Tensor a, b, made
    cdef uint8_t* left
    cdef uint8_t* positive = NULL
    cdef int8_t* right
    cdef int32_t* sums
    if out.c_numel == 0 or k == 0 or not has_byte_products():
        multiply_exactly(out, self, mat2)
        return
    a, b, made = dense(self, self.c_dtype, MF_contiguous), in_columns(mat2), target(out, ST_int32, MF_contiguous)
    left, right, sums = <uint8_t*>data_of(a, 1), <int8_t*>data_of(b, 1), <int32_t*>data_of(made, 4)
    column = b.c_strides[1]
    if signed:
        positive = <uint8_t*>malloc(m * k)
        if positive == NULL:
            raise MemoryError
    kept = pinned(1 << 20, a, b, made)
    with nogil:
        if signed:
            for i in range(m * k):
                positive[i] = left[i] ^ 128
            left = positive
        multiply_bytes(m, k, n, left, k, right, column, sums, n)
        if signed:
            take_columns(m, k, n, right, column, sums, n)
        free(positive)
    finish(out, made)


# ---- weights of 8 bits -------------------------------------------------------------------------

cdef void multiply_rows(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Rows from `first` to `end` of the weights: columns of the output."""
    cdef Weights* j = <Weights*>context
    cdef const int8_t* b = <const int8_t*>j.b + first * j.k
    cdef int64_t n = end - first, i, c, done, count
    cdef float* room
    if has_byte_products() and j.m <= THIN_ROWS:
        multiply_mixed(j.m, j.k, n, j.a, j.k, b, j.k, j.out + first, j.n)
    else:
        room = <float*>malloc(PACKED_ROWS * j.k * sizeof(float))
        if room == NULL:
            j.failed = True
            return
        done = 0
        while done < n:
            count = min(<int64_t>PACKED_ROWS, n - done)
            for i in range(count * j.k):
                room[i] = b[done * j.k + i]
            product(ST_float32, j.m, j.k, count, j.a, j.k, 1, room, 1, j.k, j.out + first + done, j.n)
            done += count
        free(room)
    for i in range(j.m):
        for c in range(first, end):
            j.out[i * j.n + c] *= j.scales[c]


def int8pack_mm(Tensor out not None, Tensor self not None, Tensor mat2 not None, Tensor scales not None):
    """self times the transposed rows, scaled."""
    cdef Tensor a = dense(self, ST_float32, MF_contiguous), b = dense(mat2, ST_int8, MF_contiguous)
    cdef Tensor factors = dense(scales, ST_float32, MF_contiguous), made = target(out, ST_float32, MF_contiguous)
    cdef Weights j
    j.m, j.k, j.n = self.c_sizes[0], self.c_sizes[1], mat2.c_sizes[0]
    j.a, j.b, j.scales = <float*>data_of(a, 4), data_of(b, 1), <float*>data_of(factors, 4)
    j.out, j.failed = <float*>data_of(made, 4), False
    if out.c_numel:
        kept = pinned(1 << 20, a, b, factors, made)
        with nogil:
            in_spans(multiply_rows, &j, j.n, parts_for(j.n, j.m * j.n * j.k))
        if j.failed:
            raise MemoryError
    finish(out, made)


# ---- weights of 4 bits, packed by `_convert_weight_to_int4pack_for_cpu` --------------------------

cdef inline int number_at(const uint8_t* block, int64_t count, int64_t row, int64_t column) noexcept nogil:
    """Of a block of `count` rows: 64 of them have half in the low bits, fewer lie in pairs."""
    cdef int64_t half = count // 2
    cdef int64_t at = column * half + (row % half if count == PACKED_ROWS else row // 2)
    cdef bint high = row >= half if count == PACKED_ROWS else row % 2
    return block[at] >> 4 if high else block[at] & 15


cdef void set_floats(Weights* j, const uint8_t* block, int64_t count, const float* scales, float* room) noexcept nogil:
    """The weights of a block as rows of floats. `scales`: of its first row."""
    cdef int64_t row, column
    cdef const float* pair
    for row in range(count):
        for column in range(j.k):
            pair = scales + (column // j.group * j.n + row) * 2
            room[row * j.k + column] = (number_at(block, count, row, column) - 8) * pair[0] + pair[1]


cdef void multiply_blocks(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Blocks from `first` to `end` of the weights."""
    cdef Weights* j = <Weights*>context
    cdef int64_t block, at, count, g, i
    cdef const uint8_t* b
    cdef const float* pair
    cdef float* room = <float*>malloc(PACKED_ROWS * j.k * sizeof(float))
    if room == NULL:
        j.failed = True
        return
    for block in range(first, end):
        at = block * PACKED_ROWS
        count = min(<int64_t>PACKED_ROWS, j.n - at)
        b = <const uint8_t*>j.b + at * j.k // 2
        if count == PACKED_ROWS and has_byte_products():
            for g in range(j.k // j.group):
                pair = j.scales + (g * j.n + at) * 2
                for i in range(PACKED_ROWS):
                    room[2 * PACKED_ROWS * g + i] = pair[2 * i]
                    room[2 * PACKED_ROWS * g + PACKED_ROWS + i] = pair[2 * i + 1]
            multiply_block(j.m, j.k, j.group, j.a, b, room, j.out + at, j.n)
        else:
            set_floats(j, b, count, j.scales + 2 * at, room)
            product(ST_float32, j.m, j.k, count, j.a, j.k, 1, room, 1, j.k, j.out + at, j.n)
    free(room)


def int4pack_mm_for_cpu(Tensor out not None, Tensor self not None, Tensor mat2 not None, int64_t qGroupSize,
                        Tensor qScaleAndZeros not None):
    """self @ weight.T; a weight is its number less 8 times the group's scale, plus its zero."""
    cdef Tensor a = dense(self, ST_float32, MF_contiguous), b = dense(mat2, ST_uint8, MF_contiguous)
    cdef Tensor factors = dense(qScaleAndZeros, ST_float32, MF_contiguous), made = target(out, ST_float32, MF_contiguous)
    cdef Weights j
    cdef int64_t blocks
    j.m, j.k, j.n, j.group = self.c_sizes[0], self.c_sizes[1], mat2.c_sizes[0], qGroupSize
    j.a, j.b, j.scales = <float*>data_of(a, 4), data_of(b, 1), <float*>data_of(factors, 4)
    j.out, j.failed = <float*>data_of(made, 4), False
    if out.c_numel:
        kept = pinned(1 << 20, a, b, factors, made)
        blocks = (j.n + PACKED_ROWS - 1) // PACKED_ROWS
        with nogil:
            in_spans(multiply_blocks, &j, blocks, parts_for(blocks, j.m * j.n * j.k))
        if j.failed:
            raise MemoryError
    finish(out, made)
