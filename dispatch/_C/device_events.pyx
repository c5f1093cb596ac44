"""The C face of `dispatch.device_trace`: backends report what devices do, and a listener written in Python hears it.

Nothing is heard before somebody registers a callback; an error in the listener is reported as unraisable and changes nothing.
"""
from cpython.exc cimport PyErr_WriteUnraisable
from cpython.object cimport PyObject
from libc.stdint cimport uintptr_t

from dispatch._C cimport dtypes
from dispatch._C.python_api cimport PyErr_Fetch_, PyErr_Restore_

__all__: list = []

cdef object listener = None
# Which of the two values each kind of event carries: their number.
cdef int[10] N_VALUES = [1, 1, 2, 2, 1, 1, 1, 0, 1, 1]


def _set_listener(function):
    """`function(device_type, kind, values)` hears events from now on; None: nobody does."""
    global listener, listening
    listener = function
    listening = function is not None


cdef void fire_device_event(int devtype, int kind, int n_values, uintptr_t a, uintptr_t b) noexcept:
    cdef PyObject* error[3]
    cdef tuple values = (a, b)
    PyErr_Fetch_(&error[0], &error[1], &error[2])          # the backend may report while an exception is on its way
    try:
        if listener is not None:
            listener(dtypes.new_device(devtype, -1).type, kind, values[:n_values])
    except BaseException:
        PyErr_WriteUnraisable(listener)
    PyErr_Restore_(error[0], error[1], error[2])


def _fire_device_event(device, int kind, *values):
    """Report an event as a backend does: kind is an index into `dispatch.device_trace.EVENT_KINDS`.

    Raises: ValueError for an unknown kind or the wrong number of values.
    """
    cdef dtypes.device dev = dtypes.device_of(device)
    if not 0 <= kind < 10 or len(values) != N_VALUES[kind]:
        raise ValueError(f"_fire_device_event: kind {kind} does not take {len(values)} value(s)")
    if listening:
        fire_device_event(dev.devtype, kind, <int>len(values), values[0] if len(values) > 0 else 0,
                          values[1] if len(values) > 1 else 0)
