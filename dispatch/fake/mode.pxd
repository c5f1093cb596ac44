"""FakeTensorMode: what handles calls on fake tensors, and the converter that makes tensors fake."""
from libc.stdint cimport uint64_t

from dispatch._C.mode cimport TorchDispatchMode
from dispatch._C.tensor cimport Storage, Tensor
from dispatch.fake.cache cimport DispatchCache
from dispatch.fake.fake_tensor cimport FakeTensor

cdef class FakeTensorMode(TorchDispatchMode):
    cdef DispatchCache c_cache               # None: no cache
    cdef object c_policy                     # callable OpOverload -> bool for operators that are not this package's; None
    cdef dict policy_answers                 # entry id -> bool
    cdef dict tensor_memo                    # id(real tensor) -> (weak reference, FakeTensor)
    cdef dict storage_memo                   # id(real storage) -> (weak reference, fake Storage)
    cdef list enter_stack
    cdef public bint allow_fallback_kernels, allow_non_fake_inputs, allow_meta, static_shapes, export, in_kernel_invocation
    cdef public bint cache_enabled            # False: every call runs afresh
    cdef public bint cache_crosscheck_enabled # each hit is compared with a fresh run
    cdef public object shape_env
    cdef dict __dict__

    cdef FakeTensor convert(self, Tensor t)
    cdef Storage fake_storage(self, Storage s)
