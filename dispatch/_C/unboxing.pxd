"""Crossing one argument between a boxed array and C: what the emitted adapters are made of.

A boxed argument has been through the matcher: tensors as given, exact numbers, lists, the value objects of dtypes and their
kind, None. Hence nothing is checked here but what the matcher lets through on purpose: a number in a Tensor slot becomes a
0-d tensor, owned by the adapter for the call; a SymInt becomes the handle of its expression, and no int does.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.arrays cimport new_wrapped_number
from dispatch._C.dtypes cimport (
    LAYOUT_strided, MF_NONE, ST_NONE, dtype, get_dtype, get_layout, get_memory_format, layout, memory_format,
)
from dispatch._C.python_api cimport (
    PyFloat_AsDouble_, PyList_Check_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyLong_AsLongLong_, PyLong_CheckExact_,
    PyObject_TypeCheck_, Py_None_, Py_TYPE_, Py_True_,
)
from dispatch._C.references cimport give
from dispatch._C.steady cimport has_long, steady_items
from dispatch._C.symbolic cimport SYMBOLIC_LIMIT, size_object, unboxed_size
from dispatch._C.tensor cimport Tensor
from dispatch._C.values cimport IntArray

cdef enum:
    MAX_INTS = 64            # elements of an int[] that an adapter takes

cdef inline Tensor unbox_tensor(PyObject* a):
    """Tensor, None, or a number made into a wrapped number."""
    if Py_TYPE_(a) == <PyObject*>Tensor or a == Py_None_ or PyObject_TypeCheck_(a, <PyObject*>Tensor):
        return <Tensor>a
    return new_wrapped_number(<object>a)

cdef inline bint is_long_any(PyObject* a) noexcept:
    """Of an argument of any kind; tensors that are optional stand in lists."""
    return PyList_Check_(a) and has_long(<list>a)

cdef inline object steady_any(PyObject* a):
    return steady_items(<list>a) if PyList_Check_(a) else <object>a

cdef inline object steady_object(PyObject* a, Tensor taken):
    """What a body in Python gets for a tensor: a number as it was given."""
    return taken if PyObject_TypeCheck_(a, <PyObject*>Tensor) else <object>a

cdef inline int64_t unbox_int(PyObject* a) except? -1:
    """A number, or the handle of a SymInt's expression. RuntimeError for an int that could be taken for one."""
    cdef int64_t v
    if PyLong_CheckExact_(a):
        v = PyLong_AsLongLong_(a)
        if v >= SYMBOLIC_LIMIT:
            return v
    return unboxed_size(a)

cdef inline double unbox_float(PyObject* a) except? -1.0:
    return PyFloat_AsDouble_(a)

cdef inline bint unbox_bool(PyObject* a) noexcept:
    return a == Py_True_

cdef inline IntArray unbox_ints(PyObject* a, int64_t* buffer) except *:
    """A view of `buffer` (MAX_INTS long), filled from a list of ints; RuntimeError for a longer list."""
    cdef IntArray r
    cdef Py_ssize_t i
    r.data = buffer
    r.len = PyList_GET_SIZE_(a)
    if r.len > MAX_INTS:
        raise RuntimeError(f"expected at most {<int>MAX_INTS} integers in a list, got {r.len}")
    for i in range(r.len):
        buffer[i] = unbox_int(PyList_GET_ITEM_(a, i))
    return r

cdef inline int unbox_dtype(PyObject* a) noexcept:
    return ST_NONE if a == Py_None_ else (<dtype>a).code

cdef inline int unbox_layout(PyObject* a) noexcept:
    return -1 if a == Py_None_ else (<layout>a).code

cdef inline int unbox_memory_format(PyObject* a) noexcept:
    return MF_NONE if a == Py_None_ else (<memory_format>a).code

cdef inline list box_ints(IntArray a):
    return [size_object(a.data[i]) for i in range(a.len)]

cdef inline object box_dtype(int code):
    return None if code == ST_NONE else get_dtype(code)

cdef inline object box_layout(int code):
    return None if code < 0 else get_layout(code)

cdef inline object box_memory_format(int code):
    return None if code == MF_NONE else get_memory_format(code)

cdef inline object python_body(void** body):
    """The Python function in `body`: until it is first called, the text "package.module:function" stands there."""
    cdef object found = <object>body[0]
    if type(found) is str:
        module, _, name = (<str>found).partition(":")
        found = getattr(__import__(module, None, None, (name,)), name)
        body[0] = <void*>give(found)   # kept for good, as the kernel is
    return found
