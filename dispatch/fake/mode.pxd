"""FakeTensorMode: what handles calls on fake tensors."""
from dispatch.fake.cache cimport DispatchCache
from dispatch.fake.settings cimport FakeState

cdef class FakeTensorMode(FakeState):
    cdef DispatchCache c_cache               # None: no cache
    cdef object c_policy                     # callable OpOverload -> bool for operators that are not this package's; None
    cdef dict policy_answers                 # entry id -> bool
    cdef readonly list enter_stack           # (thread, mode that was active before) for each block
    cdef list made_at                        # frames that made the mode
    cdef dict __dict__
