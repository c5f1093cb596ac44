"""FakeTensor: metadata on a device that need not exist, and the mode it belongs to."""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.tensor cimport Storage, Tensor

cdef class FakeTensor(Tensor):
    cdef object c_mode               # the FakeTensorMode
    cdef object c_constant           # a real tensor with the same (small) values, or None
    cdef object c_real               # the real tensor that runs along (propagate_real_tensors), or None

# A FakeTensor over `storage`, on the storage's device. `keys`: bits beyond the device's own (conjugate, negative).
cdef FakeTensor new_fake(object mode, Storage storage, int dtype, uint64_t keys, int ndim, const int64_t* sizes,
                         const int64_t* strides, int64_t offset)
cdef Storage new_fake_storage(int64_t nbytes, int devtype, int devindex)
