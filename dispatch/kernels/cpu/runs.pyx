"""Loops over tensors as plain C arrays: what bodies that are such loops share (see the `.pxd`)."""
from libc.stdint cimport int64_t
from libc.string cimport memset

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DTYPES_FLOATING, ST_float64
from dispatch._C.errors cimport refused
from dispatch._C.errors import scalar_type
from dispatch._C.storage cimport shared_owner
from dispatch._C.tensor cimport Tensor
from dispatch.kernels.cpu.dense cimport LONG_RUN, check_kernel, computed_in
from dispatch.kernels.cpu.threads cimport in_spans, parts_for

cdef enum:
    PAGE = 4096


cdef int floating_code(Tensor t) except -1:
    check_kernel(t.c_dtype, DTYPES_FLOATING)
    return computed_in(t.c_dtype)


cdef int64_t run(loop f, void* job, void* typed, int64_t work, tuple tensors) except? -1:
    cdef int64_t result
    if work < LONG_RUN:
        return f(job, typed)
    kept = [shared_owner((<Tensor>t).c_storage) for t in tensors if t is not None]
    with nogil:
        result = f(job, typed)
    return result


cdef int64_t run_floating(loop f32, loop f64, void* job, Tensor typed, int64_t work,
                          tuple tensors) except? -1:
    return run(f64 if typed.c_dtype == ST_float64 else f32, job, address(typed), work, tensors)


cdef int run_spans(span_fn f, void* job, int64_t n, int64_t work, int64_t nbytes, tuple tensors) except -1:
    if work < LONG_RUN:
        f(job, 0, 0, n)
        return 0
    kept = [shared_owner((<Tensor>t).c_storage) for t in tensors if t is not None]
    with nogil:
        in_spans(f, job, n, parts_for(n, nbytes))
    return 0


cdef struct Bytes:
    char* data
    int64_t n


cdef void clear_pages(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Bytes* b = <Bytes*>job
    memset(b.data + first * PAGE, 0, min(end * PAGE, b.n) - first * PAGE)


cdef int clear_bytes(Tensor t, char* data, int64_t nbytes) except -1:
    cdef Bytes b
    if nbytes == 0:
        return 0
    b.data, b.n = data, nbytes
    return run_spans(clear_pages, &b, (nbytes + PAGE - 1) // PAGE, nbytes // sizeof(float), nbytes, (t,))


cdef int check_dtype(str name, Tensor t, int code) except -1:
    if t.c_dtype != code:
        raise refused(f"expected scalar type {scalar_type(dtypes.get_dtype(code))} but found "
                      f"{scalar_type(dtypes.get_dtype(t.c_dtype))} for {name}")
    return 0


cdef bint are_in_range(const int64_t* indices, int64_t n, int64_t low, int64_t high,
                       int64_t* wrong) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        if indices[i] < low or indices[i] >= high:
            wrong[0] = indices[i]
            return False
    return True
