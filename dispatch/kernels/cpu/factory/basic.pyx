"""Factories on the CPU: memory that is not filled, and arange.

The rules are those of `meta/factory/basic`; while a fake kernel runs, the results are Meta tensors.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, ST_bfloat16, ST_float64, ST_uint8, category_of_code
from dispatch._C.errors cimport refused
from dispatch._C.errors import unserved
from dispatch._C.geometry cimport TF_CONTIGUOUS
from dispatch._C.tensor cimport Tensor, data_of, new_empty
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy cimport copies as cpu_copy
from dispatch.kernels.cpu.copy.strided cimport itemsize_of
from dispatch.kernels.cpu.runs cimport run_spans
from dispatch.kernels.meta.factory cimport basic as meta_factories

from dispatch._C.structured import check_written

cdef extern from "../kernels/cpu/factory/sequences.h" nogil:
    void dispatch_whole_range(char* to, int code, int64_t start, int64_t step, int64_t first, int64_t end) noexcept
    void dispatch_float_range(char* to, int code, double start, double step, int64_t first, int64_t end) noexcept


cdef int check_options(int layout, object pin_memory) except -1:
    meta_factories.check_layout(layout)
    if pin_memory:
        raise refused("pin_memory needs an accelerator, and there is none")
    return 0


cdef object empty(IntArray size, int dtype, int layout, object device, object pin_memory,
                  int memory_format):
    check_options(layout, pin_memory)
    return meta_factories.new_formatted(size, dtype,
                                        meta_factories.kernel_device(DEV_CPU), memory_format)


cdef object empty_strided(IntArray size, IntArray stride, int dtype, int layout, object device,
                          object pin_memory):
    check_options(layout, pin_memory)
    return meta_factories.new_strided(size, stride, dtype,
                                      meta_factories.kernel_device(DEV_CPU))


cdef object _efficientzerotensor(IntArray size, int dtype, int layout, object device, object pin_memory):
    check_options(layout, pin_memory)
    return meta_factories.new_zero(size, dtype, meta_factories.kernel_device(DEV_CPU))


cdef bint has_arange(int code) noexcept:
    return ST_uint8 <= code <= ST_float64 or code == ST_bfloat16


cdef struct Range:
    char* to
    int code
    bint whole                   # of integers
    int64_t start, step, n
    double from_, by             # of floats


cdef void fill_range(void* context, int64_t part, int64_t first, int64_t end) noexcept nogil:
    """Of eights."""
    cdef Range* r = <Range*>context
    first, end = first * 8, min(end * 8, r.n)
    if r.whole:
        dispatch_whole_range(r.to, r.code, r.start, r.step, first, end)
    else:
        dispatch_float_range(r.to, r.code, r.from_, r.by, first, end)


cdef object arange_out(object start, object end, object step, Tensor out):
    cdef int64_t n = meta_factories.arange_size(start, end, step, out.c_dtype)
    cdef Tensor row = out
    cdef Range r
    if not has_arange(out.c_dtype):
        raise unserved(out.dtype)
    meta_factories.resized_for_arange(out, n)
    if n == 0:
        return out
    if not out.c_flags & TF_CONTIGUOUS:
        check_written(out)
        row = new_empty(out.c_dtype, DEV_CPU, -1, out.c_ndim, out.c_sizes, NULL)
    r.to, r.code, r.n = data_of(row, itemsize_of(row)), out.c_dtype, n
    r.whole = category_of_code(out.c_dtype) == 1
    if r.whole:
        r.start, r.step = int(start), int(step)
    else:
        r.from_, r.by = start, step
    run_spans(fill_range, &r, (n + 7) // 8, n, n * itemsize_of(row), (row,))
    if row is not out:
        cpu_copy.copy_values(out, row)
    return out
