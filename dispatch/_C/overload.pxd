"""What users call: operator overloads, and overload packets, each a C vectorcall on the object itself."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.python_api cimport vectorcall_fn
from dispatch._C.values cimport Frame

cdef class OperatorBase:
    cdef vectorcall_fn vectorcall
    cdef readonly dict py_kernels
    cdef readonly dict python_key_table
    cdef readonly dict functorch_table
    cdef dict dispatch_cache           # DispatchKey -> what runs there while the Python dispatcher is on: a callable, or a key
    cdef object __weakref__

cdef class OpOverload(OperatorBase):
    cdef OperatorEntry entry
    cdef object packet                 # OpOverloadPacket, or None until asked for
    cdef dict attributes               # what programs set, and what is made when it is first asked for

cdef class OpOverloadPacket:
    cdef vectorcall_fn vectorcall
    cdef readonly str _qualified_op_name
    cdef str name                      # "add"
    cdef list overload_entries         # OperatorEntry of each overload, in order; None: look again
    cdef dict cached                   # overload attribute -> OpOverload, in order of first use
    cdef dict attributes               # what programs set, and what is made when it is first asked for
    cdef object __weakref__

cdef enum Fit:               # what `Frame.lone_ints` is set to
    FIT_OPERATOR = 0
    FIT_FUNCTION = 1         # lone ints stand for lists
    FIT_SETTLED = 4          # added to one of these two: handlers were asked already
    # and an object with a __torch_function__ stands for anything; nothing is dispatched, the result is True
    FIT_TRIAL = 2

cdef enum Found:
    FOUND_NONE = 0
    FOUND_OVERLOAD = 1       # it was dispatched, or fits in a trial
    FOUND_ANSWER = 2         # a __torch_function__ answered: the result is its own affair

cdef inline void set_fit(Frame* f, int fit) noexcept:
    (<int*>&f.lone_ints)[0] = fit if fit < 0 else fit & ~<int>FIT_SETTLED        # a C int by another name

# Dispatch the first overload whose schema the arguments fit, or let the arguments' __torch_function__ answer for `callee`;
# `found` stays FOUND_NONE, without an exception, when none fits.
cdef PyObject* call_fitting(PyObject* entries, PyObject* callee, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int how,
                            int fit, int* found) noexcept
# Set the exception, of class `error`: the one overload's reason, or every overload's.
cdef int refuse_packet(PyObject* packet, list tried, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, PyObject* error) noexcept
cdef OpOverloadPacket find_packet(str name)
cdef object call_vector(object callee, tuple args, dict kwargs)
cdef object schema_of(OperatorEntry e)
