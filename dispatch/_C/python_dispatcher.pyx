"""The Python dispatcher: while `_EnablePythonDispatcher` is on, every key of a call is looked up in its overload first.

The overload's `_dispatch_cache` says what runs at a key: a Python callable (`py_impl`), or a key whose registration is called,
with all keys that the arguments have, so that its own redispatch comes here again. What is not cached `OpOverload._get_dispatch`
decides (`_ops/python_dispatcher`). Source: ConcretePyInterpreterVTable::python_dispatcher and pythonDispatcherFallback.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.dispatcher cimport call_for_key, has_device
from dispatch._C.emitted cimport ROW_SPECIAL
from dispatch._C.keys cimport (
    DispatchKey, KS_PythonDispatcher, get_key, key_value, ks_highest_functionality, ks_index, new_key_set,
)
from dispatch._C.operator cimport KF_FALLTHROUGH, Kernel, OperatorEntry, qualified_name
from dispatch._C.python_kernel cimport get_overload, new_checked_result, python_arguments
from dispatch._C.references cimport give, take
from dispatch._C.tls cimport tls

cdef DispatchKey BACKEND_SELECT = get_key(key_value("BackendSelect"))


cdef inline DispatchKey next_key(OperatorEntry e, uint64_t ks):
    """The highest key whose kernel is no fallthrough; a factory without one for no key at all goes by its device argument, at
    BackendSelect."""
    cdef int index = ks_index(ks)
    while index and e.row[index] < ROW_SPECIAL and e.kernels[e.row[index]].flags & KF_FALLTHROUGH:
        ks &= ~(<uint64_t>1 << (15 + ks_highest_functionality(ks)))
        index = ks_index(ks)
    if ks >> 16 == 0 and e.row[0] >= ROW_SPECIAL and has_device(e):
        return BACKEND_SELECT
    return new_key_set(ks).highestPriorityTypeId()


cdef PyObject* call_python_dispatcher(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """What the overload's table says for the highest key below PythonDispatcher."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef object overload = get_overload(e)
    cdef DispatchKey key
    if tls().python_dispatcher == NULL:
        raise RuntimeError(f"{qualified_name(e)}: the key PythonDispatcher is included, but the Python dispatcher is off: it is "
                           "switched on by _EnablePythonDispatcher")
    key = next_key(e, ks & ~KS_PythonDispatcher)
    handler = overload._dispatch_cache.get(key)
    if handler is None:
        handler = overload._get_dispatch(key)
    if isinstance(handler, DispatchKey):
        return give(take(call_for_key(e, (<DispatchKey>handler).value, args)))
    positional, keywords = python_arguments(e, args)
    return give(new_checked_result(e, handler(*positional, **keywords)))
