"""Size: what a tensor's sizes are in Python, a tuple of ints that knows its product.

Made by `Tensor.shape` and by whoever gives sizes to Python; knows nobody. Every item is an int, or a symbol that stands for one.
Two tensors of the same sizes may have the same object.
"""
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF, Py_XDECREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dispatch._C.naming cimport full_name
from dispatch._C.python_api cimport PyObject_GC_UnTrack_
from dispatch._C.symbolic cimport is_symbolic, size_object

cdef extern from *:
    """
    #define DISPATCH_ALLOC(tp, n) ((tp)->tp_alloc((tp), (n)))
    #define DISPATCH_TUPLE_SUBSCRIPT(o, key) (PyTuple_Type.tp_as_mapping->mp_subscript((o), (key)))
    /* The slot of a class written in Python looks a function up and calls it; who sets another function gets that slot again. */
    #define DISPATCH_SET_SUBSCRIPT(tp, f) ((tp)->tp_as_mapping->mp_subscript = (f))
    #define DISPATCH_TAKE_ADD(tp, old, f) ((old) = (tp)->tp_as_number->nb_add, (tp)->tp_as_number->nb_add = (f))
    #define DISPATCH_TUPLE_CONCAT(a, b) (PyTuple_Type.tp_as_sequence->sq_concat((a), (b)))
    """
    ctypedef object (*binaryfunc)(object, object)
    object DISPATCH_ALLOC(PyTypeObject* tp, Py_ssize_t n)
    object DISPATCH_TUPLE_SUBSCRIPT(object o, object key)
    object DISPATCH_TUPLE_CONCAT(object a, object b)
    void DISPATCH_SET_SUBSCRIPT(PyTypeObject* tp, binaryfunc f)
    void DISPATCH_TAKE_ADD(PyTypeObject* tp, binaryfunc old, binaryfunc f)

cdef tuple number_types = (int,)


cdef int add_number_type(type cls) except -1:
    global number_types
    number_types += (cls,)
    return 0


cdef object size_of(object n):
    """A size: an int, or a symbol that stands for one. TypeError for what is neither."""
    if isinstance(n, float) or not hasattr(n, "__index__"):
        raise TypeError(f"Size: expected integers, got {type(n).__name__}")
    return n.__index__() if isinstance(n, number_types) else n


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
        if not isinstance(self, Size):
            raise TypeError(f"Size.__getitem__: expected a Size, got {type(self).__name__}")
        return subscript(self, item)

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


cdef object subscript(object size, object item):
    """A number, or a Size for a slice: what was in one fits into another."""
    cdef object r = DISPATCH_TUPLE_SUBSCRIPT(size, item)
    return copied(<tuple>r) if PyTuple_CheckExact(r) else r


cdef object concatenated(object a, object b):
    """`a + b`, one of which is a Size."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return checked(<tuple>DISPATCH_TUPLE_CONCAT(a, b))
    return add_in_python(a, b)


cdef object checked(tuple items):
    cdef Py_ssize_t i
    for i in range(len(items)):
        if not PyLong_CheckExact(<object>PyTuple_GET_ITEM(items, i)):
            return Size(items)
    return copied(items)


cdef object copied(tuple items):
    cdef Py_ssize_t i, n = len(items)
    cdef object r = DISPATCH_ALLOC(size_type, n)
    for i in range(n):
        Py_INCREF(<object>PyTuple_GET_ITEM(items, i))
        PyTuple_SET_ITEM(r, i, <object>PyTuple_GET_ITEM(items, i))
    return r


cdef binaryfunc add_in_python = NULL

DISPATCH_TAKE_ADD(size_type, add_in_python, concatenated)
DISPATCH_SET_SUBSCRIPT(size_type, subscript)

# Sizes that were made before, by what is in them: sizes recur, and nobody can change one. The collector has nothing to find in
# tuples of ints, so that it does not look at them.
cdef enum:
    N_KEPT = 64
    KEPT_BITS = 6
    KEPT_DIMS = 6

cdef struct KeptSize:
    PyObject* size             # owned; NULL: none yet
    int n
    int64_t values[KEPT_DIMS]

cdef KeptSize kept_sizes[N_KEPT]


cdef object new_size(int n, const int64_t* values):
    cdef uint64_t h = <uint64_t>n
    cdef KeptSize* place
    cdef int i
    if n > KEPT_DIMS:
        return made_size(n, values)
    for i in range(n):
        h = (h ^ <uint64_t>values[i]) * <uint64_t>0x9E3779B97F4A7C15
        h ^= h >> 32
    place = &kept_sizes[h >> (64 - KEPT_BITS)]
    if place.size == NULL or place.n != n:
        return keep(place, n, values)
    for i in range(n):                   # calling memcmp costs more than the few numbers that there are
        if place.values[i] != values[i]:
            return keep(place, n, values)
    return <object>place.size


cdef object keep(KeptSize* place, int n, const int64_t* values):
    """A new size, which takes the place of another one if there are no symbols in it."""
    cdef object r = made_size(n, values)
    cdef PyObject* old = place.size
    cdef int i
    for i in range(n):
        if is_symbolic(values[i]):
            return r
    PyObject_GC_UnTrack_(<void*>r)
    Py_INCREF(r)
    place.size, place.n = <PyObject*>r, n
    memcpy(place.values, values, n * sizeof(int64_t))
    Py_XDECREF(old)
    return r


cdef object made_size(int n, const int64_t* values):
    return filled(DISPATCH_ALLOC(size_type, n), n, values)


cdef tuple tuple_of(int n, const int64_t* values):
    return <tuple>filled(PyTuple_New(n), n, values)


cdef object filled(object fresh, int n, const int64_t* values):
    cdef int i
    cdef object v
    for i in range(n):
        v = values[i] if not is_symbolic(values[i]) else size_object(values[i])
        Py_INCREF(v)
        PyTuple_SET_ITEM(fresh, i, v)
    return fresh
