"""Factories made of `empty` and `fill_`; what a `like` tensor's options become."""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef object arange(object end, int dtype, int layout, object device, object pin_memory)
cdef object arange_start(object start, object end, int dtype, int layout, object device,
                         object pin_memory)
cdef object arange_start_step(object start, object end, object step, int dtype, int layout,
                              object device, object pin_memory)
cdef object arange_end_out(object end, Tensor out)
cdef object empty_out(IntArray size, int memory_format, Tensor out)
cdef object empty_permuted(IntArray size, IntArray physical_layout, int dtype, int layout,
                           object device, object pin_memory)
cdef object empty_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                       int memory_format)
cdef object full(IntArray size, object fill_value, int dtype, int layout, object device,
                 object pin_memory)
cdef object full_out(IntArray size, object fill_value, Tensor out)
cdef object full_like(Tensor self, object fill_value, int dtype, int layout, object device,
                      object pin_memory, int memory_format)
cdef object new_empty(Tensor self, IntArray size, int dtype, int layout, object device,
                      object pin_memory)
cdef object new_empty_strided(Tensor self, IntArray size, IntArray stride, int dtype, int layout,
                              object device, object pin_memory)
cdef object new_full(Tensor self, IntArray size, object fill_value, int dtype, int layout,
                     object device, object pin_memory)
cdef object new_ones(Tensor self, IntArray size, int dtype, int layout, object device,
                     object pin_memory)
cdef object new_zeros(Tensor self, IntArray size, int dtype, int layout, object device,
                      object pin_memory)
cdef object ones(IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object ones_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                      int memory_format)
cdef object ones_out(IntArray size, Tensor out)
cdef object scalar_tensor(object s, int dtype, int layout, object device, object pin_memory)
cdef object zeros(IntArray size, int dtype, int layout, object device, object pin_memory)
cdef object zeros_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                       int memory_format)
cdef object zeros_out(IntArray size, Tensor out)

# ---- shared
# Every element `value` (a number), on the device where `t` is; `t` itself.
cdef Tensor filled(Tensor t, object value)
# Memory on a device: of ours without another dispatch, of another by its own `empty`. `chosen_device` is the device argument's,
# else the default one, and Meta while a fake kernel runs; `made_like` is at::empty_like.
cdef dtypes.device chosen_device(object device)
cdef Tensor made(IntArray size, int dtype, int layout, dtypes.device device, object pin_memory, int memory_format)
cdef Tensor made_like(Tensor self, int dtype, int layout, object device, object pin_memory, int memory_format)
