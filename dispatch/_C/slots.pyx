"""What the static type Tensor gets at run time beyond its class body: operators, an instance dictionary, hooks of upper rooms.

`tensor` calls `complete_type` once. Python's operators are one table, `DISPATCH_BINARY` and its like: each special method is a
number, and the C function in the type's slot runs the callable that stands there. A callable is made when its slot first runs, by
the function that an upper room registers (`_set_slot_maker`; the rows are in `dispatch/tensor/operators.py`), so that `x + y`
is a call from C to C. A TypeError of a binary callable means that the other operand is to be asked.
"""
from cpython.object cimport PyObject, PyTypeObject
from cpython.type cimport PyType_Modified

from dispatch._C.python_api cimport PyVectorcall_NARGS_
from dispatch._C.references cimport give
from dispatch._C.tls cimport n_dispatch_modes, tls

cdef extern from *:          # Cython's own declaration of a class leaves its vectorcall out
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject* const*, size_t, PyObject*) except NULL
    ctypedef struct TypeWithVectorcall "PyTypeObject":
        vectorcallfunc tp_vectorcall

cdef extern from *:
    """
    /* special method without underscores, slot */
    #define DISPATCH_BINARY(X) \\
        X(add, add) X(sub, subtract) X(mul, multiply) X(truediv, true_divide) X(floordiv, floor_divide) X(mod, remainder) \\
        X(and, and) X(or, or) X(xor, xor) X(lshift, lshift) X(rshift, rshift)
    #define DISPATCH_UNARY(X) \\
        X(neg, negative) X(pos, positive) X(abs, absolute) X(invert, invert) X(int, int) X(float, float) X(index, index)

    /* Numbers of the special methods: a binary one is followed by the reflected and the in-place one; comparisons are in
       CPython's order. */
    enum {
    #define DISPATCH_ROW(name, slot) DISPATCH_##name, DISPATCH_r##name, DISPATCH_i##name,
        DISPATCH_BINARY(DISPATCH_ROW) DISPATCH_ROW(pow, power) DISPATCH_ROW(matmul, matrix_multiply)
    #undef DISPATCH_ROW
    #define DISPATCH_ROW(name, slot) DISPATCH_##name,
        DISPATCH_UNARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
        DISPATCH_lt, DISPATCH_le, DISPATCH_eq, DISPATCH_ne, DISPATCH_gt, DISPATCH_ge, DISPATCH_eq_array, DISPATCH_N_SLOTS
    };
    static const char* const dispatch_slot_names[] = {
    #define DISPATCH_ROW(name, slot) "__" #name "__", "__r" #name "__", "__i" #name "__",
        DISPATCH_BINARY(DISPATCH_ROW) DISPATCH_ROW(pow, power) DISPATCH_ROW(matmul, matrix_multiply)
    #undef DISPATCH_ROW
    #define DISPATCH_ROW(name, slot) "__" #name "__",
        DISPATCH_UNARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
        "__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__", "__eq__(ndarray)",
    };
    static PyObject* dispatch_slot_callables[DISPATCH_N_SLOTS];      /* owned; NULL: not asked for yet */
    static PyObject* dispatch_slot_maker;                            /* owned; name -> callable */
    static PyTypeObject* dispatch_slot_type;                         /* Tensor */

    /* Borrowed. */
    static PyObject* dispatch_find_slot(int n) {
        PyObject* found;
        if (!dispatch_slot_maker)
            return PyErr_Format(PyExc_NotImplementedError, "Tensor.%s needs `import dispatch`", dispatch_slot_names[n]);
        found = PyObject_CallFunction(dispatch_slot_maker, "s", dispatch_slot_names[n]);
        if (dispatch_slot_callables[n]) Py_XDECREF(found);           /* made by the maker's own operators, or by another thread */
        else dispatch_slot_callables[n] = found;
        return dispatch_slot_callables[n];
    }
    static PyObject* dispatch_run_slot(int n, PyObject* self, PyObject* other) {
        PyObject* args[3] = {NULL, self, other};
        PyObject* callable = dispatch_slot_callables[n];
        if (!callable && !(callable = dispatch_find_slot(n))) return NULL;
        return PyObject_Vectorcall(callable, args + 1, (other ? 2 : 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    }
    static PyObject* dispatch_try_slot(int n, PyObject* self, PyObject* other) {
        PyObject* r = dispatch_run_slot(n, self, other);
        if (r || !PyErr_ExceptionMatches(PyExc_TypeError)) return r;
        PyErr_Clear();
        Py_RETURN_NOTIMPLEMENTED;
    }
    /* left OP right, where one of them is a tensor at least. */
    static PyObject* dispatch_binary_slot(int n, PyObject* left, PyObject* right) {
        if (PyObject_TypeCheck(left, dispatch_slot_type)) {
            PyObject* r = dispatch_try_slot(n, left, right);
            if (r != Py_NotImplemented || Py_IS_TYPE(right, Py_TYPE(left))) return r;
            Py_DECREF(r);
        }
        if (PyObject_TypeCheck(right, dispatch_slot_type)) return dispatch_try_slot(n + 1, right, left);
        Py_RETURN_NOTIMPLEMENTED;
    }

    #define DISPATCH_ROW(name, slot) \\
        static PyObject* dispatch_nb_##slot(PyObject* l, PyObject* r) { return dispatch_binary_slot(DISPATCH_##name, l, r); } \\
        static PyObject* dispatch_nb_inplace_##slot(PyObject* l, PyObject* r) { return dispatch_try_slot(DISPATCH_i##name, l, r); }
    DISPATCH_BINARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
    #define DISPATCH_ROW(name, slot) \\
        static PyObject* dispatch_nb_##slot(PyObject* self) { return dispatch_run_slot(DISPATCH_##name, self, NULL); }
    DISPATCH_UNARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
    static PyObject* dispatch_nb_power(PyObject* l, PyObject* r, PyObject* m) { return dispatch_binary_slot(DISPATCH_pow, l, r); }
    static PyObject* dispatch_nb_inplace_power(PyObject* l, PyObject* r, PyObject* m) {
        return dispatch_try_slot(DISPATCH_ipow, l, r);
    }
    static PyObject* dispatch_nb_matrix_multiply(PyObject* l, PyObject* r) { return dispatch_binary_slot(DISPATCH_matmul, l, r); }
    /* `==` alone takes arrays, once nothing else has fitted. */
    static PyObject* dispatch_compare(PyObject* l, PyObject* r, int op) {
        PyObject* found = dispatch_try_slot(DISPATCH_lt + op, l, r);
        if (op != Py_EQ || found != Py_NotImplemented || r == Py_None) return found;
        Py_DECREF(found);
        return dispatch_run_slot(DISPATCH_eq_array, l, r);
    }

    static PyNumberMethods dispatch_numbers = {
    #define DISPATCH_ROW(name, slot) .nb_##slot = dispatch_nb_##slot, .nb_inplace_##slot = dispatch_nb_inplace_##slot,
        DISPATCH_BINARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
    #define DISPATCH_ROW(name, slot) .nb_##slot = dispatch_nb_##slot,
        DISPATCH_UNARY(DISPATCH_ROW)
    #undef DISPATCH_ROW
        .nb_power = dispatch_nb_power, .nb_inplace_power = dispatch_nb_inplace_power,
        .nb_matrix_multiply = dispatch_nb_matrix_multiply,
    };
    /* Nobody has instances of it: CPython makes the slots' descriptors (`__add__` ...) for it, and Tensor
       gets its own like them. */
    static PyTypeObject dispatch_carrier = {
        PyVarObject_HEAD_INIT(NULL, 0)
        .tp_name = "dispatch._C.slots.carrier", .tp_basicsize = sizeof(PyObject), .tp_flags = Py_TPFLAGS_DEFAULT,
        .tp_as_number = &dispatch_numbers, .tp_richcompare = dispatch_compare,
    };
    static int dispatch_add_operators(PyTypeObject* tp) {
        void **to = (void**)tp->tp_as_number, **from = (void**)&dispatch_numbers;
        PyObject *name, *value, *own;
        Py_ssize_t pos = 0;
        size_t i;
        if (PyType_Ready(&dispatch_carrier) < 0) return -1;
        for (i = 0; i < sizeof(PyNumberMethods) / sizeof(void*); i++) if (from[i]) to[i] = from[i];
        tp->tp_richcompare = dispatch_compare;
        while (PyDict_Next(dispatch_carrier.tp_dict, &pos, &name, &value)) {
            if (!Py_IS_TYPE(value, &PyWrapperDescr_Type)) continue;
            own = PyDescr_NewWrapper(tp, ((PyWrapperDescrObject*)value)->d_base, ((PyWrapperDescrObject*)value)->d_wrapped);
            if (!own || PyDict_SetItem(tp->tp_dict, name, own) < 0) { Py_XDECREF(own); return -1; }
            Py_DECREF(own);
        }
        dispatch_slot_type = tp;
        return 0;
    }

    static traverseproc dispatch_old_traverse;
    static inquiry dispatch_old_clear;
    static Py_ssize_t dispatch_dict_field;
    static int dispatch_tensor_traverse(PyObject* o, visitproc visit, void* arg) {
        int r = dispatch_old_traverse(o, visit, arg);
        if (r) return r;
        Py_VISIT(*(PyObject**)((char*)o + dispatch_dict_field));
        return 0;
    }
    static int dispatch_tensor_clear(PyObject* o) {
        int r = dispatch_old_clear(o);
        Py_CLEAR(*(PyObject**)((char*)o + dispatch_dict_field));
        return r;
    }
    static void dispatch_add_dict(PyTypeObject* tp, Py_ssize_t offset) {
        dispatch_dict_field = offset;
        dispatch_old_traverse = tp->tp_traverse;
        dispatch_old_clear = tp->tp_clear;
        tp->tp_traverse = dispatch_tensor_traverse;
        tp->tp_clear = dispatch_tensor_clear;
        tp->tp_dictoffset = offset;
    }

    /* A class made in Python directly below Tensor may have an `__init__` that does not call ours: it is filled in by `tp_new`,
       as in PyTorch. Makers in C call the old function, without arguments. */
    static newfunc dispatch_old_new;
    static PyObject* dispatch_fill_instance;
    static PyObject* dispatch_tensor_new(PyTypeObject* tp, PyObject* args, PyObject* kwargs) {
        PyObject *o = dispatch_old_new(tp, args, kwargs), *r;
        PyTypeObject* base = tp;
        if (!o || (!PyTuple_GET_SIZE(args) && (!kwargs || !PyDict_GET_SIZE(kwargs)))) return o;
        while (base != dispatch_slot_type && base->tp_flags & Py_TPFLAGS_HEAPTYPE) base = base->tp_base;
        if (base != dispatch_slot_type || tp == base) return o;
        r = PyObject_CallFunctionObjArgs(dispatch_fill_instance, o, args, kwargs ? kwargs : Py_None, NULL);
        if (!r) { Py_DECREF(o); return NULL; }
        Py_DECREF(r);
        return o;
    }
    static void dispatch_add_new(PyTypeObject* tp, PyObject* fill) {
        Py_INCREF(fill);
        dispatch_fill_instance = fill;
        dispatch_old_new = tp->tp_new;
        tp->tp_new = dispatch_tensor_new;
    }

    /* Through the nearest compiled class, which sets up its fields: no `__new__` written in Python runs. */
    static PyObject* dispatch_new_instance(PyTypeObject* cls) {
        PyObject *empty = PyTuple_New(0), *r;
        PyTypeObject* base = cls;
        if (!empty) return NULL;
        while (base->tp_flags & Py_TPFLAGS_HEAPTYPE) base = base->tp_base;
        r = base->tp_new(cls, empty, NULL);
        Py_DECREF(empty);
        return r;
    }

    static void dispatch_set_slot_maker(PyObject* maker) {
        Py_INCREF(maker);
        Py_XSETREF(dispatch_slot_maker, maker);
    }
    #define DISPATCH_TP_DICT(tp) ((PyObject*)((tp)->tp_dict))
    """
    PyTypeObject* dispatch_slot_type
    int dispatch_add_operators(PyTypeObject* tp) except -1
    void dispatch_add_dict(PyTypeObject* tp, Py_ssize_t offset)
    void dispatch_add_new(PyTypeObject* tp, object fill)
    object dispatch_new_instance(PyTypeObject* cls)
    void dispatch_set_slot_maker(object maker)
    PyObject* DISPATCH_TP_DICT(PyTypeObject* tp)              # borrowed

cdef dict hooks = {}


def _set_tensor_hook(str name, function):
    """Give the method `name` (such as "__repr__", "__getitem__") its implementation."""
    global getitem_hook, setitem_hook
    hooks[name] = function
    getitem_hook, setitem_hook = hooks.get("__getitem__"), hooks.get("__setitem__")


cdef object hook(str name):
    try:
        return hooks[name]
    except KeyError:
        raise NotImplementedError(f"Tensor.{name} needs `import dispatch`") from None


def _set_slot_maker(function):
    """`function("__add__")` returns what the slot runs; it is asked once for each."""
    dispatch_set_slot_maker(function)


def _install_tensor_attribute(str name, value):
    """Enter an attribute into the static type Tensor (methods of operators, methods written in Python)."""
    (<dict><object>DISPATCH_TP_DICT(dispatch_slot_type))[name] = value
    PyType_Modified(<type><object>dispatch_slot_type)


cdef object new_instance(PyTypeObject* cls):
    return dispatch_new_instance(cls)


cdef PyObject* new_tensor_or_shown(PyObject* cls, PyObject* const* args, size_t n_args, PyObject* names) except NULL:
    """`Tensor(...)`: what active modes make of it may be an instance of a subclass, which no `__init__` could give."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS_(n_args)
    given = tuple([<object>args[i] for i in range(n)])
    named = {} if names == NULL else {name: <object>args[n + i] for i, name in enumerate(<tuple>names)}
    if n_dispatch_modes(tls()):
        return give(hook("constructed")(*given, **named))
    return give(type.__call__(<object>cls, *given, **named))


cdef int complete_type(PyTypeObject* tp, Py_ssize_t dict_offset, object fill) except -1:
    dispatch_add_operators(tp)
    dispatch_add_dict(tp, dict_offset)
    dispatch_add_new(tp, fill)
    (<TypeWithVectorcall*>tp).tp_vectorcall = new_tensor_or_shown
    PyType_Modified(<type><object>tp)
    return 0
