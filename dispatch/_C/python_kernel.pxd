"""Python callees of the dispatcher: functors, modes, subclasses with `__torch_dispatch__`.

Called through kernels of the row or as the fallback of the Python key; what they get leaves out the arguments that equal their
defaults.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.operator cimport Kernel, OperatorEntry
from dispatch._C.tls cimport ThreadState

# What an exact FakeTensorMode runs instead of its Python `__torch_dispatch__`: the mode is off the stack while it does.
ctypedef PyObject* (*mode_handler)(PyObject* mode, PyObject* op, uint64_t ks, PyObject** args) except NULL

cdef PyObject* call_functor(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL        # registered Python kernels
cdef PyObject* python_fallback(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL     # the Python key
cdef tuple python_arguments(OperatorEntry e, PyObject** args)         # (args tuple, kwargs dict) as Python callees get them
# result in the schema's types; RuntimeError when it does not fit
cdef object new_checked_result(OperatorEntry e, object result)
cdef int set_mode_handler(type mode_class, mode_handler handler) except -1    # for instances of exactly this class
cdef int set_overload_maker(object maker) except -1                   # OperatorEntry -> OpOverload
cdef object get_overload(OperatorEntry e)
# The innermost mode's answer to `op`, then the subclasses': a new reference, not checked; NotImplemented by all is a TypeError. The
# thread's key sets stay as they are.
cdef PyObject* ask_handlers(PyObject* op, PyObject** args, ThreadState* ts, bint with_modes) except NULL
# Modes and subclasses see the results that the derivative of `e` reads being detached (SavedVariable of an output).
cdef int keep_results(OperatorEntry e, PyObject** args, object result) except -1
# They see a tensor that is going to be written being cloned where that derivative reads what it was.
cdef int keep_self(OperatorEntry e, PyObject** args) except -1
# Whether the tensor argument called `name`, any where that is "", requires grad; of a list its element `i`.
cdef bint requires_grad_at(OperatorEntry e, PyObject** args, str name, Py_ssize_t i) except -1
