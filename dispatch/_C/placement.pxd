"""Where the tensors of a call lie: those on meta have no values, and what is made of them has none."""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry
from dispatch._C.python_api cimport PyObject_TypeCheck_, Py_TYPE_
from dispatch._C.tensor cimport Tensor

cdef enum:
    ON_META = 1
    ELSEWHERE = 2

cdef inline bint is_tensor(PyObject* o) noexcept:
    return Py_TYPE_(o) == <PyObject*>Tensor or PyObject_TypeCheck_(o, <PyObject*>Tensor)

cdef int places(OperatorEntry e, PyObject** args, int n) noexcept     # ON_META | ELSEWHERE: where there are tensors
cdef PyObject* first_listed(OperatorEntry e, PyObject** args, int n) noexcept
# Before a kernel without values writes or makes its outputs, of which the last `n_out` arguments are. `kept`: the first argument is
# one, element by element.
cdef int check_mix(OperatorEntry e, PyObject** args, int n_out, bint kept) except -1
