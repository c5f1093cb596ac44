"""References across the boxed calling convention, where a result is a bare `PyObject*`: new, or NULL with an exception set."""
from cpython.object cimport PyObject

cdef extern from *:
    """
    static inline PyObject* dispatch_give(PyObject* o) { Py_INCREF(o); return o; }
    static inline void dispatch_set_error(PyObject* e) { PyErr_SetObject((PyObject*)Py_TYPE(e), e); }
    static inline PyObject* dispatch_raised(void) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "a kernel returned NULL without setting an exception");
        return NULL;
    }
    static inline int dispatch_forbid_new(PyTypeObject* cls) {
        cls->tp_new = NULL;      /* Cython's own `X.__new__(X)` in the module of X does not read the slot */
        if (PyDict_DelItemString(cls->tp_dict, "__new__") < 0)
            return -1;
        PyType_Modified(cls);
        return 0;
    }
    static inline PyObject* dispatch_take(PyObject* o) { return o != NULL ? o : dispatch_raised(); }
    """
    # instances come from C alone: call it after the class of this module
    int forbid_new "dispatch_forbid_new"(type cls) except -1
    object take "dispatch_take"(PyObject* o)                     # a new reference becomes an object; NULL raises what is set
    PyObject* give "dispatch_give"(object o) noexcept            # an object as a new reference
    void set_error "dispatch_set_error"(object error) noexcept   # for a `noexcept` function that is about to return NULL
    PyObject* raised "dispatch_raised"() except NULL             # raises what a callee has set
