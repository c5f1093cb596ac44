"""The settings of a mode, which every module of `fake` knows. `FakeTensorMode` is the one class below `FakeState`."""
from libc.stdint cimport int64_t

from dispatch._C.mode cimport TorchDispatchMode

cdef class FakeState(TorchDispatchMode):
    cdef public bint allow_fallback_kernels, allow_non_fake_inputs, allow_meta, static_shapes, export
    cdef public bint cache_enabled            # False: every call runs afresh
    cdef public bint cache_crosscheck_enabled # each hit is compared with a fresh run
    cdef public bint propagate_real_tensors   # real tensors run along where all arguments have one
    cdef public bint allow_scalar_outputs
    cdef bint c_in_kernel                     # said by hand, for all threads
    cdef dict in_kernel_threads               # thread -> how deep, while it runs a kernel of others; None until one did
    cdef public object shape_env
    cdef public int64_t unbacked_made         # how often a call has made symbols of its own
    cdef public object epoch                  # memos of numbers hold within one
    cdef object c_converter                   # FakeTensorConverter
    cdef bint in_kernel(self) noexcept        # whether fake tensors say that they are on meta
    cdef int enter_kernel(self, int step) except -1       # 1: this thread enters a kernel of others, -1: it leaves
