"""Calls on fake tensors whose values are known."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tls cimport ThreadState
from dispatch.fake.settings cimport FakeState

cdef bint may_be_constant(object t) noexcept
# The operator on real tensors and numbers alone, as a constant; NotImplemented when it has no kernel or the result is too large.
cdef object from_numbers(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts)
# The operator on constants; NotImplemented when that has no kernel or gives more than one element.
cdef object constant_result(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts)
# A write makes the values of what shares the written storage unknown.
cdef int drop_written_constants(FakeState mode, OperatorEntry e, PyObject** args) except -1
cpdef int drop_constant(FakeState mode, object t) except -1
