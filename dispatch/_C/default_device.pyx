"""The device of factories that are given none (torch.set_default_device): one for each thread, the CPU unless set."""
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.type cimport PyType_Modified

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU
from dispatch._C.python_api cimport Py_XDECREF_
from dispatch._C.tls cimport ThreadState, check_owner, tls

from dispatch._C.tls import _get_obj_in_tls, _is_key_in_tls, _stash_obj_in_tls

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


# ---- `with device("meta"):` ------------------------------------------------------------------------------------------

cdef str OUTER = "dispatch._C.default_device.outer"
cdef object enter_mode = None            # a block that is a function mode instead: called with the device
cdef object exit_mode = None             # called at its end


def _set_block(enter, exit):
    """Blocks call these from now on: `enter(device)` and `exit()`. The thread's default stays what it is."""
    global enter_mode, exit_mode
    enter_mode, exit_mode = enter, exit


cdef list outer_devices():
    """What ends this thread's `with` blocks, the innermost last: the default that one took the place of, or `exit`."""
    if not _is_key_in_tls(OUTER):
        _stash_obj_in_tls(OUTER, [])
    return _get_obj_in_tls(OUTER)


def enter_device(self):
    """Make this the thread's default device for a block (torch.device as a context manager)."""
    cdef ThreadState* ts = tls()
    if enter_mode is not None:
        enter_mode(self)
        outer_devices().append(exit_mode)
        return self
    outer_devices().append(None if ts.default_device == NULL else <object>ts.default_device)
    set_default_device(self)
    return self


def exit_device(self, exc_type, exc_value, traceback):
    """Bring back the default that the block found; RuntimeError without a block."""
    cdef list outer = outer_devices()
    if not outer:
        raise RuntimeError("device.__exit__: no block is entered")
    cdef object before = outer.pop()
    if callable(before):
        before()
    else:
        set_default_device(before)


cdef int install() except -1:
    cdef dict attributes = <dict>(<PyTypeObject*>dtypes.device).tp_dict
    attributes["__enter__"] = enter_device
    attributes["__exit__"] = exit_device
    PyType_Modified(dtypes.device)
    return 0


install()
