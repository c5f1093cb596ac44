"""Hands tensors to the reduction loops of `fold.h`.

Called by the bodies of this folder with outputs of the right sizes and dtypes. Here are the dimensions of a tensor sorted into
those that are kept and those that go; a long loop gives up the interpreter's lock and pins the storages.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_bfloat16, ST_bool, ST_complex64, ST_float16, ST_float64, is_complex_code,
)
from dispatch._C.errors cimport refused
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch.kernels.cpu.copy.copies cimport copy_values

cdef extern from "fold.h" nogil:
    ctypedef const void* (*row_reader)(const char* from_, Py_ssize_t step, int64_t n, void* buffer)
    ctypedef void (*row_writer)(const void* row, char* to, Py_ssize_t step, int64_t n)
    enum:
        ROW_NONE, ROW_F32, ROW_F64, ROW_I64, ROW_B8
    ctypedef struct row_kind:
        int size, row
        row_reader read
        row_writer write
    const row_kind ROW_KINDS[]
    row_reader row_read_bytes, row_read_abs_c64, row_read_abs_c128
    enum:
        FOLD_OPS
    ctypedef struct fold_rule:
        void* row
    const fold_rule FOLD_RULES[FOLD_OPS][7]
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
    raise refused(f"no CPU kernel for {dtypes.get_dtype(code)!r}", NotImplementedError)


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


cdef int fold_into(int op, Tensor out, Tensor second, Tensor self, const int64_t* dims, int n, double order) except -1:
    cdef fold f
    cdef int code = self.c_dtype
    cdef row_kind kind
    cdef object kept = None
    kind = ROW_KINDS[code]
    f.row, f.read, f.itemsize = kind.row, kind.read, kind.size
    if is_complex_code(code) and (FOLD_NORM0 <= op <= FOLD_POWER or op == FOLD_ABSMAX or op == FOLD_ABSMIN):
        f.row = ROW_F32 if code == ST_complex64 else ROW_F64
        f.read = row_read_abs_c64 if code == ST_complex64 else row_read_abs_c128
    elif code == ST_bool and (op == FOLD_ANY or op == FOLD_ALL):
        f.row, f.read = ROW_B8, row_read_bytes
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
    with nogil:
        run_fold(&f)
    return 0
