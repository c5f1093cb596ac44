"""How many threads a loop may use, and the pool that they come from (`threads.h`).

`set_num_threads` is for the whole process, as PyTorch's; the default is the number of processors that this process may use.
Work below a megabyte stays on the caller's thread: waking another one takes longer.
"""
import os

cdef extern from "threads.h" nogil:
    enum:
        MAX_THREADS
    void run_parts(part_fn fn, void* context, int64_t parts, int threads)
    bint is_in_part()
    void look_for_new_blas()
    void set_blas_threads(int n)
    bint begin_blas_parts()
    void end_blas_parts()

cdef enum:
    BYTES_OF_A_THREAD = 1 << 19      # below twice this, one thread

cdef int n_threads = min(MAX_THREADS, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)

cdef bint chosen = False         # by set_num_threads


def set_num_threads(n):
    """How many threads a loop over large tensors uses, and the BLAS library that numpy brings.

    Raises RuntimeError unless it is a positive int.
    """
    global chosen, n_threads
    cdef int count
    try:
        count = n
    except (TypeError, OverflowError):
        raise RuntimeError(f"set_num_threads: expected an int, got {n!r}") from None
    if count < 1:
        raise RuntimeError(f"set_num_threads: expected a positive number, got {n}")
    n_threads = min(count, <int>MAX_THREADS)
    chosen = True
    set_blas_threads(n_threads)


def get_num_threads():
    """How many threads a loop over large tensors uses."""
    return n_threads


cdef void in_parts(part_fn fn, void* context, int64_t parts) noexcept nogil:
    run_parts(fn, context, parts, n_threads)


cdef bint is_in_a_part() noexcept nogil:
    return is_in_part()


cdef int threads_for(int64_t nbytes) noexcept nogil:
    cdef int64_t n = nbytes // BYTES_OF_A_THREAD
    return <int>n if n < n_threads else n_threads


cdef struct Spans:
    span_fn fn
    void* context
    int64_t n, parts


cdef void take_span(void* context, int64_t part) noexcept nogil:
    cdef Spans* s = <Spans*>context
    s.fn(s.context, part, part * s.n // s.parts, (part + 1) * s.n // s.parts)


cdef void in_spans(span_fn fn, void* context, int64_t n, int64_t parts) noexcept nogil:
    cdef Spans s
    s.fn, s.context, s.n, s.parts = fn, context, n, parts
    in_parts(take_span, &s, parts)


cdef int64_t blas_parts_for(int64_t n, int64_t work) noexcept nogil:
    return parts_for(n, work // 4) if n >= n_threads else 1


cdef void in_blas_spans(span_fn fn, void* context, int64_t n, int64_t parts) noexcept nogil:
    cdef bint told = parts > 1 and begin_blas_parts()
    in_spans(fn, context, n, parts if told else 1)
    if told:
        end_blas_parts()


cdef void meet_blas() noexcept:
    if chosen:
        set_blas_threads(n_threads)
    else:
        look_for_new_blas()


cdef bint begin_one_blas_thread() noexcept nogil:
    return n_threads > 1 and begin_blas_parts()


cdef void end_one_blas_thread() noexcept nogil:
    end_blas_parts()


cdef int64_t parts_for(int64_t n, int64_t nbytes) noexcept nogil:
    return max(min(n, <int64_t>threads_for(nbytes)), 1)
