"""Operators as functions of the package and methods of Tensor: C vectorcalls over a packet.

Arguments that fit no overload are a TypeError here (a RuntimeError from `ops`), lone ints may stand for a list, lists come back as
tuples, and factories take `requires_grad`, as in PyTorch's functions and methods.
"""
cimport cython
from cpython.object cimport PyObject, PyTypeObject

from dispatch._C cimport dispatcher
from dispatch._C.operator cimport OF_FUNCTION, OF_METHOD, OperatorEntry
from dispatch._C.overload cimport (
    DISPATCH_NARGS, OpOverloadPacket, call_fitting, call_vector, find_packet, refuse_packet,
)
from dispatch._C.references cimport set_error
from dispatch._C.values cimport AF_LIST, AK_INT, Frame, Py_DECREF_, match, release_frame

cdef extern from *:
    """
    static void dispatch_enable_method(PyTypeObject* tp, Py_ssize_t offset) {
        tp->tp_vectorcall_offset = offset;
        tp->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR;
        tp->tp_call = PyVectorcall_Call;
        PyType_Modified(tp);
    }
    """
    void dispatch_enable_method(PyTypeObject* tp, Py_ssize_t offset)

cdef extern from "Python.h":
    PyObject* PyErr_Occurred_ "PyErr_Occurred"() noexcept
    PyObject* PyTuple_GET_ITEM_ "PyTuple_GET_ITEM"(PyObject*, Py_ssize_t) noexcept
    int PyLong_Check_ "PyLong_Check"(PyObject*) noexcept
    int PyIndex_Check_ "PyIndex_Check"(PyObject*) noexcept
    Py_ssize_t PyTuple_GET_SIZE_ "PyTuple_GET_SIZE"(PyObject*) noexcept
    int PyList_CheckExact_ "PyList_CheckExact"(PyObject*) noexcept
    PyObject* PyList_AsTuple_ "PyList_AsTuple"(PyObject*) noexcept


cdef PyObject* call_variadic(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames) noexcept:
    """Dispatch the first overload that fits, taking what only functions and methods take."""
    cdef bint found = False
    cdef Py_ssize_t i
    cdef PyObject* r = call_fitting(self, args, nargs, kwnames, True, &found)
    if found:
        return r
    if nargs >= 1:
        i = 0 if PyLong_Check_(args[0]) else 1
        if i < nargs and PyIndex_Check_(args[i]):
            r = call_packed(self, args, nargs, kwnames, i)
            if r != NULL or PyErr_Occurred_() != NULL:
                return r
    if kwnames != NULL:
        r = call_marked(self, args, nargs, kwnames)
        if r != NULL or PyErr_Occurred_() != NULL:
            return r
    refuse_packet(self, args, nargs, kwnames, <PyObject*>TypeError)
    return NULL


cdef PyObject* call_marked(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames) noexcept:
    """`zeros(2, requires_grad=True)`: factories as functions take what no schema has. NULL without an exception: not so here."""
    cdef PyObject* vec[64]
    cdef Py_ssize_t i, given = PyTuple_GET_SIZE_(kwnames), n = nargs
    cdef PyObject* mark = NULL
    cdef PyObject* r
    cdef list names = []
    if nargs + given > 64 or not is_factory(<OpOverloadPacket>self):
        return NULL
    for i in range(nargs):
        vec[i] = args[i]
    for i in range(given):
        name = <object>PyTuple_GET_ITEM_(kwnames, i)
        if name == "requires_grad":
            mark = args[nargs + i]
        else:
            names.append(name)
            vec[n] = args[nargs + i]
            n += 1
    if mark == NULL:
        return NULL
    left = tuple(names)
    r = call_variadic(self, vec, nargs, <PyObject*>left if names else NULL)
    if r != NULL and <object>mark:
        try:
            (<object>r).requires_grad_(True)
        except Exception as e:
            Py_DECREF_(r)
            set_error(e)
            return NULL
    return r


cdef bint is_factory(OpOverloadPacket p) noexcept:
    """Whether the operators make tensors from options: one has an argument `pin_memory`."""
    cdef OperatorEntry e
    cdef int i
    for item in p.overload_entries:
        e = <OperatorEntry>item
        for i in range(e.sig.n_args):
            if <object>e.sig.args[i].name == "pin_memory":
                return True
    return False


cdef PyObject* call_packed(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, Py_ssize_t first) noexcept:
    """`x.view(2, 3)`, `zeros(2, 3)`: the ints from `first` on stand for one int list. NULL without an exception: no fit."""
    cdef PyObject* vec[64]
    cdef Frame f
    cdef PyObject* r
    cdef Py_ssize_t i, nkw = PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0
    cdef object packed = pack_ints(args, nargs, first)
    if packed is None or nkw > 60:
        return NULL
    vec[0] = args[0]
    vec[first] = <PyObject*>packed
    for i in range(nkw):
        vec[first + 1 + i] = args[nargs + i]
    for e in (<OpOverloadPacket>self).overload_entries:
        if (<OperatorEntry>e).sig.n_pos <= first or (<OperatorEntry>e).sig.args[first].kind != AK_INT or \
                not (<OperatorEntry>e).sig.args[first].flags & AF_LIST:
            continue
        f.lone_ints = True
        if match(&(<OperatorEntry>e).sig, vec, first + 1, kwnames, &f) == 0:
            r = dispatcher.call(<OperatorEntry>e, f.ks, f.flags, f.args)
            release_frame(&f)
            return r
        release_frame(&f)
    return NULL


cdef object pack_ints(PyObject** args, Py_ssize_t nargs, Py_ssize_t first):
    cdef Py_ssize_t i
    for i in range(first, nargs):
        if not PyIndex_Check_(args[i]):
            return None
    return tuple([<object>args[i] for i in range(first, nargs)])


cdef PyObject* call_function(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* r = call_variadic(<PyObject*>(<OpFunction>self).packet, args, DISPATCH_NARGS(nargsf), kwnames)
    cdef PyObject* fixed
    if r != NULL and PyList_CheckExact_(r):
        fixed = PyList_AsTuple_(r)          # functions and methods give tuples where operators give lists
        Py_DECREF_(r)
        return fixed
    return r


cdef class OpFunction:
    """An operator as a function of the package or a method of Tensor: arguments that fit no overload are a TypeError."""

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = call_function

    def __call__(self, *args, **kwargs):
        return call_vector(self, args, kwargs)

    def __get__(self, instance, owner):
        if instance is None or not self.is_method:
            return self
        return BoundOp.__new__(BoundOp, self, instance)

    def __reduce__(self):
        return _find_function, (self.__name__, self.is_method)

    def __repr__(self):
        return f"<operator {'method' if self.is_method else 'function'} {self.__name__}>"

    @property
    def __doc__(self):
        return "\n".join([e._schema_text for e in self.packet.overload_entries])


@cython.final
cdef class BoundOp:
    """A method of an operator bound to its tensor."""
    cdef OpFunction function
    cdef object instance

    def __cinit__(self, OpFunction function, instance):
        self.function = function
        self.instance = instance

    def __call__(self, *args, **kwargs):
        return self.function(self.instance, *args, **kwargs)

    def __repr__(self):
        return f"<bound operator method {self.function.__name__}>"

    @property
    def __self__(self):
        return self.instance

    @property
    def __name__(self):
        return self.function.__name__


cdef dict functions = {}


def _find_function(str name, bint is_method):
    """The OpFunction of the aten operator `name` among functions or methods; None when the schemas have none."""
    cdef OpFunction f = functions.get((name, is_method))
    cdef OpOverloadPacket p
    cdef int flag = OF_METHOD if is_method else OF_FUNCTION
    if f is not None:
        return f
    p = find_packet("aten::" + name)
    if p is None or not any([(<OperatorEntry>e).flags & flag for e in p.overload_entries]):
        return None
    f = OpFunction.__new__(OpFunction)
    f.__name__ = name
    f.packet = p
    f.is_method = is_method
    functions[(name, is_method)] = f
    return f


cdef int enable_vectorcall() except -1:
    cdef OpFunction f = OpFunction.__new__(OpFunction)
    dispatch_enable_method(<PyTypeObject*>OpFunction, <char*>&f.vectorcall - <char*><void*>f)
    return 0


enable_vectorcall()
