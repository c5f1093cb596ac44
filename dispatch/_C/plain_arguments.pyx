"""Arguments of kernels that read and write bytes: no expression reaches them.

Called by the dispatcher before a kernel of a backend with bytes runs, in a process that has expressions.
"""
from cpython.object cimport PyObject

from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.symbolic cimport NK_NONE, number_kind, plain_number
from dispatch._C.tensor cimport TF_SYMBOLIC, Tensor


cdef int plain_arguments(OperatorEntry e, PyObject** args, PyObject** plain, list keep) except -1:
    cdef int i
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
