"""The cache's cross-check: each hit is compared with a fresh run."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tls cimport ThreadState
from dispatch.fake.cache cimport Entry
from dispatch.fake.settings cimport FakeState

# A hit's outputs, compared with those of a fresh run on stand-ins of the arguments; MetadataMismatchError when they differ.
cdef object checked_outputs(Entry* entry, FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts, PyObject* env)
