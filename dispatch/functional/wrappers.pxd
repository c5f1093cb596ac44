"""Functional wrappers: their state, and how it is read and written."""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.tensor cimport TF_FUNCTIONAL, Tensor
from dispatch._C.tls cimport ThreadState

cdef int IMPLICIT                # the number of CompositeImplicitAutograd

cdef class ViewMeta:
    cdef OperatorEntry op            # what is called to replay
    cdef readonly str name           # of the view: "aten::slice"
    cdef readonly tuple args         # all but the first
    cdef readonly int out_index
    cdef readonly bint is_multi_output
    cdef readonly bint reapply_views
    cdef object run(self, Tensor base)
    cdef Tensor forward(self, Tensor base)
    cdef Tensor reverse(self, Tensor base, Tensor mutated)
    cdef ViewMeta output(self, int index)

cdef class FunctionalStorage:
    cdef Tensor base
    cdef list updates                # (value, views that lead to it)
    cdef int64_t generation
    cdef int64_t mutations, hidden, no_grad
    cdef int64_t original_size, size
    cdef bint frozen
    cdef int add(self, Tensor value, list metas) except -1
    cdef int apply(self) except -1

cdef class FunctionalState:
    cdef Tensor value
    cdef FunctionalStorage storage
    cdef list metas
    cdef int64_t generation          # of the storage, when the value was worked out
    cdef bint multi_output
    cdef bint metadata_mutated
    cdef int64_t storage_changes
    cdef bint transform              # made by `functionalize`: autograd works below, on the values

cdef inline bint is_functional(object t) noexcept:
    return isinstance(t, Tensor) and (<Tensor>t).c_flags & TF_FUNCTIONAL and type((<Tensor>t).c_extra) is FunctionalState

cdef inline FunctionalState state_of(Tensor t):
    return <FunctionalState>t.c_extra

cdef ViewMeta new_meta(OperatorEntry op, str name, tuple args, bint reapply)
cdef int64_t bytes_of(Tensor t) except -1                             # of the storage that the geometry needs
cdef Tensor wrap_view(Tensor value, Tensor base, ViewMeta meta)       # shares the storage of `base`, one view further
cdef Tensor tensor_in(OperatorEntry e, object value)                    # checked; RuntimeError: it is none
cdef object wrap_result(object result, bint transform)                # all tensors in it become wrappers
cdef int take_geometry(Tensor t, Tensor value) except -1
cdef int replace(Tensor t, Tensor value) except -1                    # a new value, in the wrapper's own dtype
cdef int commit(Tensor t) except -1                                   # queues the value as a write
cdef int sync(Tensor t) except -1                                     # works in what was written through aliases
cdef uint64_t enter_below(ThreadState* ts, bint transform) noexcept   # gives the exclude set to put back
cdef object below(OperatorEntry e, PyObject** args, bint transform)   # a call with Functionalize off
cdef object call_below(str name, str overload, tuple args, dict kwargs, bint transform)
cdef bint replays_views() noexcept                                    # views stay views (else `*_copy` operators)
