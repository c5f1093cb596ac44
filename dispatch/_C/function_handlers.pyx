"""Which objects have a `__torch_function__`: tensors say it by a flag, of others the class is looked at.

Below the matcher, which lets such objects stand for anything, and below `torch_function`, which asks them. No Python code of a
handler runs here; an attribute that raises counts as none.
"""
from cpython.object cimport PyObject

from dispatch._C.python_api cimport (
    PyErr_Clear_, PyList_Check_, PyList_GET_ITEM_, PyObject_LookupAttr_, PyObject_TypeCheck_, PyTuple_Check_, PyTuple_GET_ITEM_,
    Py_DECREF_, Py_INCREF_, Py_SIZE_, Py_TYPE_,
)
from dispatch._C.tensor cimport Tensor

from dispatch._C.disabled import _disabled_torch_function_impl

cdef PyObject* TENSOR = <PyObject*>Tensor
cdef str HANDLER = "__torch_function__"
cdef PyObject* DISABLED = <PyObject*>_disabled_torch_function_impl
# Types that never have a handler: looking an attribute up in vain takes longer than all the rest.
cdef frozenset PLAIN = frozenset((int, float, complex, bool, str, bytes, list, tuple, dict, set, frozenset, slice, type(None),
                                  type(Ellipsis), type))


cdef bint is_function_object(PyObject* o) noexcept:
    return not PyObject_TypeCheck_(o, TENSOR) and has_function_attribute(o)


cdef bint has_function_attribute(PyObject* o) noexcept:
    cdef PyObject* found = NULL
    if <object>Py_TYPE_(o) in PLAIN:
        return False
    if PyObject_LookupAttr_(o, <PyObject*>HANDLER, &found) < 0:
        PyErr_Clear_()
        return False
    if found == NULL:
        return False
    Py_DECREF_(found)
    return found != DISABLED


cdef bint any_function_handler(PyObject** args, Py_ssize_t n) noexcept:
    cdef Py_ssize_t i
    for i in range(n):
        if PyList_Check_(args[i]) or PyTuple_Check_(args[i]):
            if holds_function_handler(args[i], 0):
                return True
        elif has_function_handler(args[i]):
            return True
    return False


cdef bint holds_function_handler(PyObject* items, int depth) noexcept:
    """Whether an item of a list or tuple has one, or, for a depth of 1, an item of an item. An item's own code may change the
    list."""
    cdef Py_ssize_t j = 0
    cdef PyObject* o
    cdef bint found = False
    while not found and j < Py_SIZE_(items):
        o = PyList_GET_ITEM_(items, j) if PyList_Check_(items) else PyTuple_GET_ITEM_(items, j)
        Py_INCREF_(o)
        if depth > 0 and (PyList_Check_(o) or PyTuple_Check_(o)):
            found = holds_function_handler(o, depth - 1)
        else:
            found = has_function_handler(o)
        Py_DECREF_(o)
        j += 1
    return found
