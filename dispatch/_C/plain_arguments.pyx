"""Arguments of kernels that read and write bytes: no expression reaches them, and no read-only memory where they write.

Called by the dispatcher before a kernel of a backend with bytes runs, in a process that has expressions or such memory.
"""
from cpython.object cimport PyObject

from dispatch._C.emitted cimport AF_WRITE, OF_MUTABLE
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.python_api cimport (
    PyList_CheckExact_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyLong_CheckExact_, PyObject_TypeCheck_, Py_None_, Py_TYPE_,
)
from dispatch._C.read_only cimport WHY, is_read_only
from dispatch._C.symbolic cimport NK_NONE, number_kind, plain_number, symbolic_calls
from dispatch._C.tensor cimport TF_SYMBOLIC, Tensor


cdef inline bint symbols_loaded() noexcept:
    return symbolic_calls.binary != NULL


cdef bint needs_care(OperatorEntry e, PyObject** args) noexcept:
    return symbols_loaded() and has_symbols(e, args) or e.flags & OF_MUTABLE and writes_read_only(e, args)


cdef bint writes_read_only(OperatorEntry e, PyObject** args) noexcept:
    cdef int i
    cdef Py_ssize_t j
    for i in range(e.sig.n_args):
        if not e.sig.args[i].flags & AF_WRITE:
            continue
        if PyList_CheckExact_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if is_locked(PyList_GET_ITEM_(args[i], j)):
                    return True
        elif is_locked(args[i]):
            return True
    return False


cdef inline bint is_locked(PyObject* o) noexcept:
    return PyObject_TypeCheck_(o, <PyObject*>Tensor) and is_read_only((<Tensor>o).c_storage)


cdef bint has_symbols(OperatorEntry e, PyObject** args) noexcept:
    cdef int i
    cdef Py_ssize_t j
    for i in range(e.sig.n_args):
        if PyList_CheckExact_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                if is_symbol(PyList_GET_ITEM_(args[i], j)):
                    return True
        elif is_symbol(args[i]):
            return True
    return False


cdef inline bint is_symbol(PyObject* o) noexcept:
    """A symbolic number, a tensor with symbolic sizes; of lists in lists nobody looks, so they are taken for one."""
    if o == Py_None_ or PyLong_CheckExact_(o):
        return False
    if Py_TYPE_(o) == <PyObject*>Tensor or PyObject_TypeCheck_(o, <PyObject*>Tensor):
        return (<Tensor>o).c_flags & TF_SYMBOLIC != 0
    return PyList_CheckExact_(o) or number_kind(o) != NK_NONE


cdef int plain_arguments(OperatorEntry e, PyObject** args, PyObject** plain, list keep) except -1:
    cdef int i
    if e.flags & OF_MUTABLE and writes_read_only(e, args):
        raise RuntimeError(f"{qualified_name(e)}: {WHY}\n  {e._schema_text}")
    for i in range(e.sig.n_args):
        plain[i] = args[i]
        value = plain_argument(e, <object>args[i])
        if <PyObject*>value != args[i]:
            keep.append(value)
            plain[i] = <PyObject*>value
    return 0


cdef object plain_argument(OperatorEntry e, object value):
    if isinstance(value, Tensor):
        if (<Tensor>value).c_flags & TF_SYMBOLIC:
            raise RuntimeError(f"{qualified_name(e)}: a tensor with symbolic sizes {value.shape} has no bytes, which this kernel "
                               f"reads\n  {e._schema_text}")
        return value
    if number_kind(<PyObject*>value) != NK_NONE:
        return plain_number(value)
    if isinstance(value, list):
        plain = [plain_argument(e, v) for v in <list>value]
        for given, made in zip(<list>value, plain):
            if given is not made:
                return plain
    return value
