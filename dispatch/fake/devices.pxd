"""Devices of fake calls: one rule for what goes together, for calls in C and for arguments in a list."""
from cpython.object cimport PyObject

from dispatch._C cimport dtypes
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tls cimport ThreadState

cdef dtypes.device normalized(dtypes.device dev)         # an accelerator without an index is its first one
# The device of a call's new outputs: its device argument, else the tensors' common device, else the default device.
cdef dtypes.device output_device(OperatorEntry e, PyObject** args, ThreadState* ts)
cdef dtypes.device device_at(OperatorEntry e, PyObject** args, Py_ssize_t at)      # of place `at` of a foreach operator's lists
