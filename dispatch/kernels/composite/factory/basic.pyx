"""Factories made of `empty` and `fill_`; what a `like` tensor's options become.

They run below every mode. On CPU and Meta the memory is made and filled here without another
dispatch; on any other device by the kernels that somebody registered for it.
"""
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_META, MF_NONE, MF_preserve, ST_NONE, ST_bool, ST_complex64, ST_complex128, ST_float16, ST_float64,
    ST_complex32, ST_int64,
)
from dispatch._C.errors cimport refused
from dispatch._C.symbolic cimport larger, mul
from dispatch._C.tensor cimport Tensor
from dispatch._C.tls cimport tls
from dispatch._C.values cimport IntArray
from dispatch.kernels.composite.callee cimport Callee, callee, ints
from dispatch.kernels.cpu.copy cimport copies as cpu_copy
from dispatch.kernels.cpu.runs cimport clear_bytes
from dispatch.kernels.meta.factory cimport basic as meta_factories
from dispatch.kernels.meta cimport rules

cdef Callee ARANGE_OUT = callee("arange", "start_out")
cdef Callee EMPTY = callee("empty", "memory_format")
cdef Callee EMPTY_STRIDED = callee("empty_strided")
cdef Callee FILL = callee("fill_", "Scalar")
cdef Callee RESIZE = callee("resize_")
cdef Callee ZERO = callee("zero_")


# ---- options -----------------------------------------------------------------------------------

cdef dtypes.device chosen_device(object device):
    """The device argument's, else the default one; Meta while a fake kernel runs."""
    if tls().meta_in_include:
        return dtypes.new_device(DEV_META, -1)
    if device is not None:
        return <dtypes.device>device
    if tls().default_device != NULL:
        return <dtypes.device>tls().default_device
    return dtypes.new_device(DEV_CPU, -1)


cdef inline int dtype_of(int dtype, Tensor like) noexcept:
    return like.c_dtype if dtype == ST_NONE else dtype


cdef dtypes.device device_of(object device, Tensor like):
    if device is None and not tls().meta_in_include:
        return dtypes.new_device(like.c_devtype, like.c_devindex)
    return chosen_device(device)


cdef inline bint is_ours(dtypes.device device) noexcept:
    return device.devtype == DEV_CPU or device.devtype == DEV_META


cdef int check_pin(dtypes.device device, object pin_memory) except -1:
    if pin_memory and device.devtype == DEV_CPU:
        raise refused("pin_memory needs an accelerator, and there is none")
    return 0


cdef IntArray sizes_of(Tensor t) noexcept:
    cdef IntArray r
    r.data = t.c_sizes
    r.len = t.c_ndim
    return r


# ---- memory ------------------------------------------------------------------------------------

cdef Tensor made(IntArray size, int dtype, int layout, dtypes.device device,
                 object pin_memory, int memory_format):
    meta_factories.check_layout(layout)
    if is_ours(device):
        check_pin(device, pin_memory)
        return meta_factories.new_formatted(size, dtype, device.devtype, memory_format)
    mf = None if memory_format == MF_NONE else dtypes.get_memory_format(memory_format)
    dt = None if dtype == ST_NONE else dtypes.get_dtype(dtype)
    return <Tensor?>EMPTY.call((ints(size), dt, None, device, pin_memory, mf))


cdef Tensor made_strided(IntArray size, IntArray stride, int dtype, int layout,
                         dtypes.device device, object pin_memory):
    meta_factories.check_layout(layout)
    if is_ours(device):
        check_pin(device, pin_memory)
        return meta_factories.new_strided(size, stride, dtype, device.devtype)
    dt = None if dtype == ST_NONE else dtypes.get_dtype(dtype)
    return <Tensor?>EMPTY_STRIDED.call((ints(size), ints(stride), dt, None, device, pin_memory))


cdef Tensor made_like(Tensor self, int dtype, int layout, object device,
                      object pin_memory, int memory_format):
    """at::empty_like: preserve_format keeps dense strides, and packs others in their order."""
    cdef int64_t strides[64]
    cdef IntArray stride
    cdef dtypes.device dev = device_of(device, self)
    if memory_format != MF_NONE and memory_format != MF_preserve:
        return made(sizes_of(self), dtype_of(dtype, self), layout, dev, pin_memory,
                    memory_format)
    rules.empty_like_strides(strides, self)
    stride.data = strides
    stride.len = self.c_ndim
    return made_strided(sizes_of(self), stride, dtype_of(dtype, self), layout, dev, pin_memory)


cdef Tensor filled(Tensor t, object value):
    if t.c_devtype == DEV_CPU:
        cpu_copy.fill_(t, value)
    elif t.c_devtype != DEV_META:
        FILL.call((t, value))
    return t


cdef Tensor zeroed(Tensor t):
    if t.c_devtype == DEV_CPU:
        clear_bytes(t, t.c_storage.data, t.c_storage.c_nbytes)
    elif t.c_devtype != DEV_META:
        ZERO.call((t,))
    return t


cdef int dtype_of_number(object value) noexcept:
    """What full() makes of a number: floats and complex numbers go by the default dtype."""
    cdef int code = dtypes.default_dtype_code()
    if isinstance(value, bool):
        return ST_bool
    if isinstance(value, complex):
        return (ST_complex128 if code == ST_float64 else
                ST_complex32 if code == ST_float16 else ST_complex64)
    return ST_int64 if isinstance(value, int) or hasattr(value, "__index__") else code


# ---- empty -------------------------------------------------------------------------------------

cdef object empty_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                       int memory_format):
    return made_like(self, dtype, layout, device, pin_memory, memory_format)


cdef object empty_out(IntArray size, int memory_format, Tensor out):
    mf = None if memory_format == MF_NONE else dtypes.get_memory_format(memory_format)
    return RESIZE.call((out, ints(size), mf))


cdef object empty_permuted(IntArray size, IntArray physical_layout, int dtype, int layout,
                           object device, object pin_memory):
    """Contiguous memory with the dimensions in the order `physical_layout`."""
    cdef int64_t strides[64]
    cdef int64_t step = 1, d
    cdef unsigned long long seen = 0
    cdef IntArray stride
    cdef int i
    if physical_layout.len != size.len:
        raise refused("Number of dimensions in size does not match the length of the physical_layout, "
                      f"{size.len} and {ints(physical_layout)}")
    for i in range(<int>size.len):
        d = physical_layout.data[i]
        if d < 0 or d >= size.len:
            raise refused(f"Dimension out of range (expected to be between 0 and {size.len - 1}, but got {d} at index {i} of "
                          "physical_layout)")
        if (seen >> d) & 1:
            raise refused(f"Duplicate dim not allowed, got {d} more than once")
        seen |= <unsigned long long>1 << d
    rules.numel(size.data, <int>size.len)
    for i in range(<int>size.len - 1, -1, -1):
        d = physical_layout.data[i]
        strides[d] = step
        if i:
            step = mul(step, larger(size.data[d], 1))
    stride.data = strides
    stride.len = size.len
    return made_strided(size, stride, dtype, layout, chosen_device(device),
                        pin_memory)


cdef object new_empty(Tensor self, IntArray size, int dtype, int layout, object device,
                      object pin_memory):
    return made(size, dtype_of(dtype, self), layout, device_of(device, self),
                pin_memory, MF_NONE)


cdef object new_empty_strided(Tensor self, IntArray size, IntArray stride, int dtype, int layout,
                              object device, object pin_memory):
    return made_strided(size, stride, dtype_of(dtype, self), layout,
                        device_of(device, self), pin_memory)


# ---- one value everywhere ----------------------------------------------------------------------

cdef object full(IntArray size, object fill_value, int dtype, int layout, object device,
                 object pin_memory):
    cdef int code = dtype_of_number(fill_value) if dtype == ST_NONE else dtype
    return filled(made(size, code, layout, chosen_device(device), pin_memory, MF_NONE),
                  fill_value)


cdef object full_like(Tensor self, object fill_value, int dtype, int layout, object device,
                      object pin_memory, int memory_format):
    return filled(made_like(self, dtype, layout, device, pin_memory, memory_format),
                  fill_value)


cdef object new_full(Tensor self, IntArray size, object fill_value, int dtype, int layout,
                     object device, object pin_memory):
    return filled(new_empty(self, size, dtype, layout, device, pin_memory), fill_value)


cdef object ones(IntArray size, int dtype, int layout, object device, object pin_memory):
    return filled(made(size, dtype, layout, chosen_device(device), pin_memory, MF_NONE), 1)


cdef object ones_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                      int memory_format):
    return filled(made_like(self, dtype, layout, device, pin_memory, memory_format), 1)


cdef object new_ones(Tensor self, IntArray size, int dtype, int layout, object device,
                     object pin_memory):
    return filled(new_empty(self, size, dtype, layout, device, pin_memory), 1)


cdef object zeros(IntArray size, int dtype, int layout, object device, object pin_memory):
    return zeroed(made(size, dtype, layout, chosen_device(device), pin_memory, MF_NONE))


cdef object zeros_like(Tensor self, int dtype, int layout, object device, object pin_memory,
                       int memory_format):
    return zeroed(made_like(self, dtype, layout, device, pin_memory, memory_format))


cdef object new_zeros(Tensor self, IntArray size, int dtype, int layout, object device,
                      object pin_memory):
    return zeroed(new_empty(self, size, dtype, layout, device, pin_memory))


cdef object scalar_tensor(object s, int dtype, int layout, object device, object pin_memory):
    cdef IntArray size
    size.data = NULL
    size.len = 0
    return filled(made(size, dtype, layout, chosen_device(device), pin_memory,
                       MF_NONE), s)


# ---- into a given tensor -----------------------------------------------------------------------

cdef object full_out(IntArray size, object fill_value, Tensor out):
    return FILL.call((RESIZE.call((out, ints(size))), fill_value))


cdef object ones_out(IntArray size, Tensor out):
    return FILL.call((RESIZE.call((out, ints(size))), 1))


cdef object zeros_out(IntArray size, Tensor out):
    return ZERO.call((RESIZE.call((out, ints(size))),))


# ---- arange ------------------------------------------------------------------------------------

cdef object arange(object end, int dtype, int layout, object device, object pin_memory):
    return arange_start_step(0, end, 1, dtype, layout, device, pin_memory)


cdef object arange_start(object start, object end, int dtype, int layout, object device,
                         object pin_memory):
    return arange_start_step(start, end, 1, dtype, layout, device, pin_memory)


cdef object arange_start_step(object start, object end, object step, int dtype, int layout,
                              object device, object pin_memory):
    cdef int64_t n = 0
    cdef IntArray size
    cdef Tensor out
    cdef int code = dtype
    size.data = &n
    size.len = 1
    if code == ST_NONE:
        code = ST_int64
        for value in (start, end, step):
            if not isinstance(value, int) and not hasattr(value, "__index__"):
                code = dtypes.default_dtype_code()
    out = made(size, code, layout, chosen_device(device), pin_memory, MF_NONE)
    return ARANGE_OUT.call((start, end, step, out))


cdef object arange_end_out(object end, Tensor out):
    return ARANGE_OUT.call((0, end, 1, out))
