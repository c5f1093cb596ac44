"""Values that user code gave back where several were expected."""

cdef tuple items_of(object value, Py_ssize_t n, str what, object error)      # `n` items of a list or tuple
cdef tuple ints_of(object value, Py_ssize_t n, str what, object error)       # the same, each a Python int
