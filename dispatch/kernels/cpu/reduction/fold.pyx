"""Hands tensors to the reduction loops of `fold.h`.

Called by the bodies of this folder with outputs of the right sizes and dtypes. Here are the dimensions of a tensor sorted into
those that are kept and those that go; a long loop gives up the interpreter's lock and pins the storages. Large tensors are split
over threads: along a dimension that is kept, or, where one result is left of a dense tensor, into parts whose results are reduced
once more.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_bfloat16, ST_complex64, ST_complex128, ST_float16, ST_float32, ST_float64, ST_int64, is_complex_code,
)
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_NON_OVERLAPPING_DENSE
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values
from dispatch.kernels.cpu.threads cimport dim_to_cut, in_parts, length_of_part, threads_for

cdef extern from "fold.h" nogil:
    ctypedef const void* (*row_reader)(const char* from_, Py_ssize_t step, int64_t n, void* buffer)
    ctypedef void (*row_writer)(const void* row, char* to, Py_ssize_t step, int64_t n)
    enum:
        ROW_NONE, ROW_F64, ROW_I64, ROW_B8, ROW_F16, ROW_BF16, ROW_C64, ROW_C128, ROW_F32, ROW_TYPES
    ctypedef struct row_kind:
        int size, row
        row_reader read
        row_writer write
    const row_kind ROW_KINDS[]
    row_reader row_read_bytes, row_read_halves, row_read_abs_c64, row_read_abs_c128
    enum:
        FOLD_OPS
    ctypedef struct fold_rule:
        void* row
    const fold_rule FOLD_RULES[FOLD_OPS][ROW_TYPES]
    ctypedef struct fold_context:
        int64_t count
        double order
        int64_t position
        bint narrow_f16, narrow_bf16
    ctypedef struct fold:
        const fold_rule* rule
        row_reader read
        row_writer write, write_second
        int row, itemsize
        bint in_order
        fold_context context
        const char* from_ "from"
        char* to
        char* second
        int kept, reduced
        int64_t kept_sizes[64]
        int64_t reduced_sizes[64]
        Py_ssize_t kept_steps[64]
        Py_ssize_t to_steps[64]
        Py_ssize_t second_steps[64]
        Py_ssize_t reduced_steps[64]
    void run_fold(fold* f)

cdef enum:
    LONG_RUN = 1 << 15           # elements from which the interpreter's lock is given up


cdef Tensor converted(Tensor self, int code):
    cdef Tensor copy
    if self.c_dtype == code:
        return self
    copy = new_empty(code, 0, -1, self.c_ndim, self.c_sizes, NULL)
    copy_values(copy, self)
    return copy


cdef int64_t reduced_count(Tensor self, const int64_t* dims, int n) noexcept:
    cdef int64_t count = 1
    cdef int i
    if n == ALL_DIMS:
        return self.c_numel
    for i in range(n):
        count *= self.c_sizes[dims[i]]
    return count


cdef int raise_no_kernel(int code) except -1:
    raise unserved(dtypes.get_dtype(code))


cdef int place_dims(fold* f, Tensor out, Tensor second, Tensor self, const int64_t* dims, int n) noexcept:
    """Dimensions of size 1 are left out."""
    cdef uint64_t gone = 0
    cdef int d, i = 0
    cdef int out_size = dtypes.itemsize_table()[out.c_dtype], second_size = 0
    cdef bint kept_all = out.c_ndim == self.c_ndim
    if second is not None:
        second_size = dtypes.itemsize_table()[second.c_dtype]
    for d in range(n):
        gone |= <uint64_t>1 << dims[d]
    if n == ALL_DIMS:
        gone = ~<uint64_t>0
    f.kept = f.reduced = 0
    for d in range(self.c_ndim):
        if gone >> d & 1:
            if self.c_sizes[d] != 1:
                f.reduced_sizes[f.reduced] = self.c_sizes[d]
                f.reduced_steps[f.reduced] = self.c_strides[d] * f.itemsize
                f.reduced += 1
            i += kept_all
            continue
        if self.c_sizes[d] != 1:
            f.kept_sizes[f.kept] = self.c_sizes[d]
            f.kept_steps[f.kept] = self.c_strides[d] * f.itemsize
            f.to_steps[f.kept] = out.c_strides[i] * out_size
            f.second_steps[f.kept] = second.c_strides[i] * second_size if second is not None else 0
            f.kept += 1
        i += 1
    return 0


# ---- threads -------------------------------------------------------------------------------------

cdef struct Split:
    fold* whole
    int dim                      # of those that are kept; -1: one dimension is left, and it goes
    int64_t length
    int code                     # of the parts' results
    double complex results[64]


cdef void run_part(void* context, int64_t part) noexcept nogil:
    cdef Split* s = <Split*>context
    cdef fold f = s.whole[0]
    cdef int64_t first = part * s.length
    if s.dim < 0:
        f.reduced_sizes[0] = min(s.length, f.reduced_sizes[0] - first)
        f.from_ += first * f.reduced_steps[0]
        f.to = <char*>(s.results + part)
        f.write = ROW_KINDS[s.code].write
    else:
        f.kept_sizes[s.dim] = min(s.length, f.kept_sizes[s.dim] - first)
        f.from_ += first * f.kept_steps[s.dim]
        f.to += first * f.to_steps[s.dim]
        f.second += first * f.second_steps[s.dim]
    run_fold(&f)


cdef inline int code_of_results(int op, int row) noexcept nogil:
    """The dtype that results of parts are kept in: of truth and numbers of elements int64, else the widest of the row."""
    if op == FOLD_COUNT or op == FOLD_ANY or op == FOLD_ALL or op == FOLD_XOR or row == ROW_I64 or row == ROW_B8:
        return ST_int64
    if row == ROW_F64:
        return ST_float64
    return ST_complex64 if row == ROW_C64 else ST_complex128 if row == ROW_C128 else ST_float32


cdef inline int joining(int op) noexcept nogil:
    """The operator that makes one result of those of parts, -1: none does. A mean's are divided already, places and moments
    are more than results."""
    if op == FOLD_SUM or op == FOLD_NANSUM or op == FOLD_MEAN or op == FOLD_COUNT or op == FOLD_NORM0 or op == FOLD_NORM1:
        return FOLD_SUM
    if op == FOLD_ABSMAX or op == FOLD_ABSMIN:
        return FOLD_MAX if op == FOLD_ABSMAX else FOLD_MIN
    if (op == FOLD_MAX or op == FOLD_MIN or op == FOLD_PROD or op == FOLD_NORM2 or op == FOLD_POWER or op == FOLD_ANY
            or op == FOLD_ALL or op == FOLD_XOR):
        return op
    return -1


cdef bint has_parts(int op, const fold* f, Tensor self) noexcept:
    """Whether the one result may be made of results of parts. `all` of complex numbers counts to the end."""
    return (joining(op) >= 0 and f.kept == 0 and f.reduced > 0 and self.c_flags & TF_NON_OVERLAPPING_DENSE != 0
            and f.write_second == NULL and not (op == FOLD_ALL and (f.row == ROW_C64 or f.row == ROW_C128)))


cdef void run_split(int op, fold* f, int64_t numel, int threads) noexcept nogil:
    """`numel`: of a whole that may be reduced in parts, else 0. The tensor itself is not looked at: it may change by now."""
    cdef Split s
    cdef row_kind kind
    cdef int64_t parts
    s.whole, s.dim, s.code = f, 0, code_of_results(op, f.row)
    if numel:
        s.dim, f.reduced, f.reduced_sizes[0], f.reduced_steps[0] = -1, 1, numel, f.itemsize
        s.length = length_of_part(numel, threads)
        parts = (numel + s.length - 1) // s.length
        in_parts(run_part, &s, parts)
        kind = ROW_KINDS[s.code]
        f.row, f.read, f.itemsize = kind.row, kind.read, kind.size
        f.from_, f.reduced_sizes[0], f.reduced_steps[0] = <const char*>s.results, parts, sizeof(double complex)
        f.rule = &FOLD_RULES[joining(op)][f.row]
        run_fold(f)
        return
    s.dim = dim_to_cut(f.kept_sizes, f.kept, threads)
    s.length = length_of_part(f.kept_sizes[s.dim], threads)
    in_parts(run_part, &s, (f.kept_sizes[s.dim] + s.length - 1) // s.length)


cdef int fold_into(int op, Tensor out, Tensor second, Tensor self, const int64_t* dims, int n, double order) except -1:
    cdef fold f
    cdef int code = self.c_dtype, threads
    cdef int64_t whole
    cdef row_kind kind
    cdef object kept = None
    kind = ROW_KINDS[code]
    f.row, f.read, f.itemsize = kind.row, kind.read, kind.size
    if is_complex_code(code) and (FOLD_NORM0 <= op <= FOLD_POWER or op == FOLD_ABSMAX or op == FOLD_ABSMIN):
        f.row = ROW_F32 if code == ST_complex64 else ROW_F64
        f.read = row_read_abs_c64 if code == ST_complex64 else row_read_abs_c128
    elif f.itemsize == 1 and f.row == ROW_I64 and (op == FOLD_ANY or op == FOLD_ALL):
        f.row, f.read = ROW_B8, row_read_bytes
    elif code == ST_float16 and FOLD_RULES[op][ROW_F16].row != NULL:
        f.row, f.read = ROW_F16, row_read_halves
    elif code == ST_bfloat16 and FOLD_RULES[op][ROW_BF16].row != NULL:
        f.row, f.read = ROW_BF16, row_read_halves
    elif code == ST_float64 and op == FOLD_XOR:
        f.row = ROW_I64
    if f.row == ROW_NONE or FOLD_RULES[op][f.row].row == NULL:
        raise_no_kernel(code)
    f.rule = &FOLD_RULES[op][f.row]
    f.in_order = op == FOLD_ARGMAX or op == FOLD_ARGMIN
    f.context.count = reduced_count(self, dims, n)
    f.context.order = order
    f.context.narrow_f16, f.context.narrow_bf16 = code == ST_float16, code == ST_bfloat16
    f.from_ = data_of(self, f.itemsize)
    f.to = f.second = NULL
    f.write = f.write_second = NULL
    if out is not None:
        f.write = ROW_KINDS[out.c_dtype].write
        f.to = data_of(out, dtypes.itemsize_table()[out.c_dtype])
    if second is not None:
        f.write_second = ROW_KINDS[second.c_dtype].write
        f.second = data_of(second, dtypes.itemsize_table()[second.c_dtype])
    place_dims(&f, out if out is not None else second, second, self, dims, n)
    if self.c_numel < LONG_RUN:
        run_fold(&f)
        return 0
    kept = (shared_owner(self.c_storage), None if out is None else shared_owner(out.c_storage),
            None if second is None else shared_owner(second.c_storage))
    threads = threads_for(self.c_numel * max(f.itemsize, 4))       # bytes take as long as what they are computed in
    whole = self.c_numel if has_parts(op, &f, self) else 0
    if threads > 1 and (f.kept > 0 or whole):
        with nogil:
            run_split(op, &f, whole, threads)
        return 0
    with nogil:
        run_fold(&f)
    return 0
