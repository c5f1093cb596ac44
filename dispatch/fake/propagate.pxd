"""Fresh runs: an operator on metadata, nothing remembered."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tls cimport ThreadState
from dispatch.fake.converter cimport FakeTensorConverter
from dispatch.fake.settings cimport FakeState

# NotImplemented: a subclass must handle it
cdef object fresh(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts)
cdef bint is_dynamic(OperatorEntry e, PyObject** args) except -1      # whether the sizes of this call's output depend on values
# What `caller` (an entry, or a function) got, with real tensors made fake; AssertionError where the mode does not allow them.
cpdef object as_fake(FakeState mode, FakeTensorConverter converter, object caller, bint changes_metadata, object value)
