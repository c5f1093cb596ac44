"""The device of factories that are given none (torch.set_default_device): one for each thread, the CPU unless set."""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU
from dispatch._C.tls cimport ThreadState, check_owner, tls
from dispatch._C.values cimport Py_XDECREF_

__all__ = ["get_default_device", "set_default_device"]


def set_default_device(device):
    """Make `device` (a device, a string, an index, or None for the CPU) this thread's default.

    Raises:
        RuntimeError: no such device.
    """
    cdef ThreadState* ts = tls()
    cdef PyObject* old = ts.default_device
    cdef object chosen = None if device is None else dtypes.device_of(device)
    check_owner(ts)
    if chosen is None:
        ts.default_device = NULL
    else:
        Py_INCREF(chosen)
        ts.default_device = <PyObject*>chosen
    Py_XDECREF_(old)


def get_default_device():
    """This thread's default device."""
    cdef ThreadState* ts = tls()
    if ts.default_device == NULL:
        return dtypes.new_device(DEV_CPU, -1)
    return <object>ts.default_device


def _get_default_device():
    """The default device's name, as torch._C._get_default_device gives it."""
    return str(get_default_device())
