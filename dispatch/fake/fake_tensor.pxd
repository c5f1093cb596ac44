"""FakeTensor: metadata on a device that need not exist, and the mode it belongs to.

The device is the tensor's own; its storage is one of the meta device, as PyTorch's.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.storage cimport Storage
from dispatch._C.tensor cimport Tensor

cdef class FakeTensor(Tensor):
    cdef object c_mode               # the FakeState it belongs to; None only in an instance that nobody has filled in
    cdef object c_constant           # a real tensor with the same (small) values, or None
    cdef object c_real               # the real tensor that runs along (propagate_real_tensors), or None

# A FakeTensor over `storage` on a device, without a geometry, which the caller sets. `keys`: bits beyond the device's own
# (conjugate, negative). `inference`: it is an inference tensor, which a view of a normal tensor is not, whatever the thread's mode.
cdef FakeTensor new_blank_fake(object mode, Storage storage, int devtype, int devindex, int dtype, uint64_t keys, bint inference)
# With t's dtype, layout, geometry, bits and inference.
cdef FakeTensor new_fake_like(object mode, Storage storage, Tensor t, dtypes.device dev)
cdef Storage new_fake_storage(int64_t nbytes)
cdef bint in_kernel(object mode) noexcept                # whether its fake tensors say that they are on meta
