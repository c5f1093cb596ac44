"""Factories on the CPU: memory that is not filled, and arange."""
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object empty(IntArray size, int dtype, int layout, object device, object pin_memory,
                  int memory_format)
cdef object empty_strided(IntArray size, IntArray stride, int dtype, int layout, object device,
                          object pin_memory)
cdef object arange_out(object start, object end, object step, Tensor out)
cdef object _efficientzerotensor(IntArray size, int dtype, int layout, object device,
                                 object pin_memory)
