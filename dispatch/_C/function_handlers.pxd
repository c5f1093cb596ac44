"""Who has a `__torch_function__`: asked by the matcher for arguments that fit nothing, and before handlers are called."""
from cpython.object cimport PyObject

from dispatch._C.python_api cimport PyObject_TypeCheck_
from dispatch._C.tensor cimport TF_HAS_TORCH_FUNCTION, Tensor

# Whether the class of `o` has a __torch_function__ that is switched on.
cdef bint has_function_attribute(PyObject* o) noexcept
# Whether an argument has one; lists and tuples are looked into.
cdef bint any_function_handler(PyObject** args, Py_ssize_t n) noexcept
# Whether an item of a list or tuple has one; those of its lists too for a depth of 1.
cdef bint holds_function_handler(PyObject* items, int depth) noexcept
# Whether `o`, not a Tensor, has one.
cdef bint is_function_object(PyObject* o) noexcept

cdef inline bint has_function_handler(PyObject* o) noexcept:
    if PyObject_TypeCheck_(o, <PyObject*>Tensor):
        return (<Tensor>o).c_flags & TF_HAS_TORCH_FUNCTION and has_function_attribute(o)
    return has_function_attribute(o)
