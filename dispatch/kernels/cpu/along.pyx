"""Operators along one dimension on the CPU: hands tensors to the walk over rows of `row_walk.h`.

Called by the bodies of softmax, scans and orders. A long walk gives up the interpreter's lock and
pins what it reads and writes; a longer one is split over threads, each with rows of its own.
"""
from libc.stdint cimport int64_t

from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor, data_of
from dispatch.kernels.cpu.threads cimport dim_to_cut, in_parts, length_of_part, threads_for

cdef extern from "row_walk.h" nogil:
    ctypedef const void* (*row_reader)(const char* from_, Py_ssize_t step, int64_t n, void* buffer)
    ctypedef void (*row_writer)(const void* row, char* to, Py_ssize_t step, int64_t n)
    enum:
        ROW_NONE, ROW_F32, ROW_F64, ROW_I64, ROW_C64, ROW_C128
    const int ROW_SIZE[]
    ctypedef struct row_kind:
        int size, row
        row_reader read
        row_writer write
    const row_kind ROW_KINDS[]
    ctypedef struct walk_operand:
        char* data
        int64_t n
        Py_ssize_t step
        int size, row_size
        row_reader read
        row_writer write
        bint as_it_is
        Py_ssize_t steps[64]
    ctypedef struct row_walk:
        row_step_fn step
        row_cols_fn cols
        const void* context
        int64_t scratch
        int n_in, n_out, ndim
        int64_t sizes[64]
        walk_operand operands[4]
    bint run_row_walk(row_walk* w)
    bint is_row_itself(int code)

cdef enum:
    LONG_RUN = 1 << 15           # elements from which the interpreter's lock is given up
    WORK = 4                     # what is done to an element here takes as long as copying so many


cdef int row_of(int code) noexcept:
    cdef int row = ROW_KINDS[code].row
    if row == ROW_F32:
        return IN_FLOAT32
    if row == ROW_F64:
        return IN_FLOAT64
    if row == ROW_I64:
        return IN_INT64
    if row == ROW_C64:
        return IN_COMPLEX64
    return IN_COMPLEX128 if row == ROW_C128 else IN_NONE


cdef int place(row_walk* w, walk_operand* o, Tensor t, int ndim, int64_t dim) except -1:
    """Strides of one operand; `dim` is along the rows."""
    cdef row_kind kind = ROW_KINDS[t.c_dtype]
    cdef int d, at = 0, kept = 0
    o.size, o.row_size = kind.size, ROW_SIZE[kind.row]
    o.read, o.write = kind.read, kind.write
    o.as_it_is = is_row_itself(t.c_dtype)
    o.data = data_of(t, kind.size)
    o.n, o.step = 1, kind.size
    for d in range(ndim):
        if d == dim:
            if t.c_ndim == ndim:
                o.n, o.step = t.c_sizes[d], t.c_strides[d] * kind.size
                at += 1
            continue
        o.steps[kept] = t.c_strides[at] * kind.size
        kept += 1
        at += 1
    return 0


cdef int rows_threads(int64_t nbytes) noexcept nogil:
    return threads_for(WORK * nbytes)


cdef struct Split:
    row_walk* walk
    int dim
    int64_t length
    const void** contexts        # of parts; NULL: the walk's
    bint done[64]                # by part


cdef bint run_split(row_walk* w, int threads, const void** contexts, int64_t part) noexcept nogil:
    """One of the other dimensions in parts; a part that had no memory makes the answer False."""
    cdef Split s
    cdef int64_t parts, i
    s.walk, s.dim, s.contexts = w, dim_to_cut(w.sizes, w.ndim, threads), contexts
    s.length = part if contexts != NULL else length_of_part(w.sizes[s.dim], threads)
    parts = (w.sizes[s.dim] + s.length - 1) // s.length
    in_parts(run_part, &s, parts)
    for i in range(parts):
        if not s.done[i]:
            return False
    return True


cdef void run_part(void* context, int64_t part) noexcept nogil:
    cdef Split* s = <Split*>context
    cdef row_walk w = s.walk[0]
    cdef int64_t first = part * s.length
    cdef int i
    w.sizes[s.dim] = min(s.length, w.sizes[s.dim] - first)
    if s.contexts != NULL:
        w.context = s.contexts[part]
    for i in range(w.n_in + w.n_out):
        w.operands[i].data += first * w.operands[i].steps[s.dim]
    s.done[part] = run_row_walk(&w)


cdef int walk_along(row_step_fn step, row_cols_fn cols, const void* context, int64_t dim, Tensor first, Tensor second,
                    Tensor out, Tensor second_out=None, Tensor third_out=None, int64_t scratch=0,
                    const void** contexts=NULL, int64_t part=0) except -1:
    cdef row_walk w
    cdef int d, kept = 0, n = 0, threads
    cdef bint done
    cdef object pinned
    w.step, w.cols, w.context, w.scratch = step, cols, context, scratch
    for d in range(first.c_ndim):
        if d != dim:
            w.sizes[kept] = first.c_sizes[d]
            kept += 1
    w.ndim = kept
    w.n_in = 1 if second is None else 2
    w.n_out = 1 if second_out is None else 2 if third_out is None else 3
    for t in (first, second, out, second_out, third_out):
        if t is not None:
            place(&w, &w.operands[n], t, first.c_ndim, dim)
            n += 1
    if first.c_numel < LONG_RUN:
        done = run_row_walk(&w) if contexts == NULL else run_split(&w, 1, contexts, part)
    else:
        pinned = [shared_owner((<Tensor>t).c_storage) for t in (first, second, out, second_out, third_out) if t is not None]
        with nogil:
            threads = 1 if w.ndim == 0 else rows_threads(first.c_numel * w.operands[0].row_size)
            done = run_row_walk(&w) if threads < 2 and contexts == NULL else run_split(&w, threads, contexts, part)
    if not done:
        raise MemoryError
    return 0
