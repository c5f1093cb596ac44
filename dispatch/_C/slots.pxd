"""Hooks of upper rooms, and what the type Tensor gets at run time beyond its class body."""
from cpython.object cimport PyTypeObject

cdef object hook(str name)                 # what an upper room registered; NotImplementedError when it has not
cdef object getitem_hook, setitem_hook     # the hooks that run most, without a look into the table; None: not registered
cdef object new_instance(PyTypeObject* cls)     # blank, of a compiled class or one made below it in Python
# Once, after the class exists: operators, the instance dictionary whose field is at `dict_offset`, and
# `fill(instance, args, kwargs)` for instances of Python subclasses.
cdef int complete_type(PyTypeObject* tp, Py_ssize_t dict_offset, object fill) except -1
