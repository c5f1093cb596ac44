"""Factories on the CPU: memory that is not filled, and arange.

The rules are those of `meta/factory/basic`; while a fake kernel runs, the results are Meta tensors.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, ST_bfloat16, ST_float32, ST_float64, ST_uint8, category_of_code
from dispatch._C.errors cimport refused
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray
from dispatch.kernels.cpu.copy cimport copies as cpu_copy
from dispatch.kernels.meta.factory cimport basic as meta_factories

import numpy as np


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


cdef object float_range(object start, object step, int64_t n, int code):
    """PyTorch's vectorised loop: the first value of each 8 lanes is rounded to float32 by itself."""
    whole = np.arange(n, dtype=np.float64) * float(step) + float(start)
    if code != ST_float32:
        return whole
    blocks = n // 8 * 8
    lanes = np.arange(blocks) % 8
    bases = (np.arange(blocks) - lanes) * float(step) + float(start)
    whole[:blocks] = bases.astype(np.float32).astype(np.float64) + lanes * float(step)
    return whole


cdef object arange_out(object start, object end, object step, Tensor out):
    cdef int64_t n = meta_factories.arange_size(start, end, step, out.c_dtype)
    if not has_arange(out.c_dtype):
        raise refused(f"has no CPU kernel for {out.dtype}", NotImplementedError)
    meta_factories.resized_for_arange(out, n)
    if n == 0:
        return out
    if category_of_code(out.c_dtype) == 1:
        values = np.arange(n, dtype=np.int64) * int(step) + int(start)
    else:
        values = float_range(start, step, n, out.c_dtype)
    cpu_copy.copy_array(out, values.reshape(tuple(out.shape)))
    return out
