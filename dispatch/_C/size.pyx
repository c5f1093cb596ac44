"""Size: what a tensor's sizes are in Python, a tuple of ints that knows its product.

Made by `Tensor.shape` and by whoever gives sizes to Python; knows nobody. Every item is an int, or a symbol that stands for one.
"""
from cpython.object cimport PyTypeObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_SET_ITEM
from libc.stdint cimport int64_t

from dispatch._C.naming cimport full_name
from dispatch._C.symbolic cimport is_symbolic, size_object

cdef extern from *:
    """
    #define DISPATCH_ALLOC(tp, n) ((tp)->tp_alloc((tp), (n)))
    """
    object DISPATCH_ALLOC(PyTypeObject* tp, Py_ssize_t n)

cdef tuple number_types = (int,)


cdef int add_number_type(type cls) except -1:
    global number_types
    number_types += (cls,)
    return 0


cdef object size_of(object n):
    """A size: an int, or a symbol that stands for one. TypeError for what is neither."""
    if isinstance(n, float) or not hasattr(n, "__index__"):
        raise TypeError(f"Size: expected integers, got {type(n).__name__}")
    return int(n) if isinstance(n, number_types) else n


class Size(tuple):
    """The sizes of a tensor: a tuple of ints with `numel()` (torch.Size)."""

    __slots__ = ()

    def __new__(cls, sizes=()):
        r = tuple.__new__(cls, sizes)
        for n in r:
            if type(n) is not int:
                return tuple.__new__(cls, [size_of(n) for n in r])
        return r

    def numel(self):
        """Product of the sizes."""
        n = 1
        for s in self:
            n *= s
        return n

    def __repr__(self):
        return f"{full_name('Size')}([{', '.join(map(repr, self))}])"

    def __getitem__(self, item):
        r = tuple.__getitem__(self, item)
        return Size(r) if type(r) is tuple else r

    def __add__(self, other):
        r = tuple.__add__(self, other)
        return Size(r)

    def __radd__(self, other):
        return Size(tuple(other) + tuple(self)) if isinstance(other, tuple) else NotImplemented

    def __mul__(self, other):
        return Size(tuple.__mul__(self, other))

    def __rmul__(self, other):
        return Size(tuple.__mul__(self, other))

    def __reduce__(self):
        return Size, (tuple(self),)


cdef PyTypeObject* size_type = <PyTypeObject*>Size

cdef object new_size(int n, const int64_t* values):
    cdef object r = DISPATCH_ALLOC(size_type, n)
    cdef int i
    cdef object v
    for i in range(n):
        v = values[i] if not is_symbolic(values[i]) else size_object(values[i])
        Py_INCREF(v)
        PyTuple_SET_ITEM(r, i, v)
    return r


cdef tuple tuple_of(int n, const int64_t* values):
    return tuple([values[i] if not is_symbolic(values[i]) else size_object(values[i]) for i in range(n)])
