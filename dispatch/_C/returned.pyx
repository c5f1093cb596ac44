"""Values that user code gave back where several were expected: their type and their number are looked at here.

Compiled code indexes lists and tuples without a check of the bounds, so whatever a program's kernel, protocol method or
attribute answers goes through `items_of` before anybody indexes it. What comes out is a tuple of exactly as many items as were
asked for, which nobody else can change.
"""
from operator import index


cdef tuple items_of(object value, Py_ssize_t n, str what, object error):
    """The `n` items of a list or tuple. `error` (a class): it is neither, or has another length; `what` opens the text."""
    cdef tuple items
    if not isinstance(value, (tuple, list)):
        raise error(f"{what}: expected a tuple of {n}, got {type(value).__name__}")
    items = tuple(value)
    if len(items) != n:
        raise error(f"{what}: expected a tuple of {n}, got one of {len(items)}")
    return items


cdef tuple ints_of(object value, Py_ssize_t n, str what, object error):
    """The `n` ints of a list or tuple. `error`: `items_of`, or one is no int."""
    cdef tuple items = items_of(value, n, what, error)
    for item in items:
        if not hasattr(item, "__index__"):
            raise error(f"{what}: expected a tuple of {n} ints, got one with {type(item).__name__}")
    return tuple([index(item) for item in items])
