"""What registration shares with inspection: names of operators, texts as the bindings take them, kernels of known signature."""
from dispatch._C.operator cimport KernelObject

cdef class UnboxedKernel(KernelObject):
    cdef str inferred                # its schema, without a name

cdef str text_of(object text, str what)              # str or bytes; RuntimeError for None, TypeError for else
cdef tuple split_operator_name(object name)          # (namespace::name, overload); RuntimeError
