"""CPython's C API on bare `PyObject*`, which Cython does not count: arguments are borrowed, results as CPython's pages say.

A name is CPython's with an underscore behind it. What returns NULL or -1 with an exception set is `noexcept` here where callers
on the call path hand the NULL on or clear the exception; `except` where they raise. Over objects, Cython's own `cpython.*`
serves.
"""
from cpython.object cimport PyObject, PyTypeObject

cdef extern from *:
    """
    #define DISPATCH_ISINSTANCE(o, tp) PyObject_TypeCheck((o), (PyTypeObject*)(tp))
    /* Instances of a class with a vectorcall at `offset` are called through it; `flags` are further ones. */
    static inline void dispatch_enable_vectorcall(PyTypeObject* tp, Py_ssize_t offset, unsigned long flags) {
        tp->tp_vectorcall_offset = offset;
        tp->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL | flags;
        tp->tp_call = PyVectorcall_Call;
        PyType_Modified(tp);
    }
    /* Attributes of a class's instances are found by `look`; answers what found them. */
    static inline getattrofunc dispatch_look_up_by(PyTypeObject* tp, getattrofunc look) {
        getattrofunc before = tp->tp_getattro;
        tp->tp_getattro = look;
        PyType_Modified(tp);
        return before;
    }
    static PyObject* dispatch_quiet_alloc(PyTypeObject* tp, Py_ssize_t n) {
        int on = PyGC_Disable();
        PyObject* made = PyType_GenericAlloc(tp, n);
        if (on) PyGC_Enable();
        return made;
    }
    static inline void dispatch_allocate_quietly(PyTypeObject* tp) { tp->tp_alloc = dispatch_quiet_alloc; }
    #if PY_VERSION_HEX >= 0x030D0000
    #define DISPATCH_OPTIONAL_ATTR PyObject_GetOptionalAttr
    #else
    #define DISPATCH_OPTIONAL_ATTR _PyObject_LookupAttr
    #endif
    #if PY_VERSION_HEX >= 0x030C0000                   /* an int has no size any more */
    #define DISPATCH_SHORT(o) PyUnstable_Long_IsCompact((PyLongObject*)(o))
    #else
    #define DISPATCH_SHORT(o) (Py_ABS(Py_SIZE(o)) <= 2)
    #endif
    /* Whether an int fits in 64 bits: a short one always does. */
    static inline int dispatch_fits_int64(PyObject* o) {
        int overflow;
        if (DISPATCH_SHORT(o)) return 1;
        PyLong_AsLongLongAndOverflow(o, &overflow);
        return !overflow;
    }
    """
    bint fits_int64 "dispatch_fits_int64"(PyObject* o) noexcept
    ctypedef PyObject* (*getattrofunc)(PyObject*, PyObject*) noexcept
    getattrofunc look_up_by "dispatch_look_up_by"(PyTypeObject* tp, getattrofunc look) noexcept
    void enable_vectorcall "dispatch_enable_vectorcall"(PyTypeObject* tp, Py_ssize_t offset, unsigned long flags) noexcept
    int PyObject_TypeCheck_ "DISPATCH_ISINSTANCE"(PyObject* o, PyObject* cls) noexcept

# ---- collection
cdef extern from *:
    int PyGC_Disable() noexcept                  # whether it was on; nothing between the two may give up the interpreter's lock
    int PyGC_Enable() noexcept
    # To make an instance starts no collection: no finalizer runs in the midst of a kernel that makes tensors.
    void allocate_quietly "dispatch_allocate_quietly"(PyTypeObject* tp) noexcept

# ---- references and constants
cdef extern from *:
    void Py_INCREF_ "Py_INCREF"(PyObject*) noexcept
    void Py_DECREF_ "Py_DECREF"(PyObject*) noexcept
    void Py_XDECREF_ "Py_XDECREF"(PyObject*) noexcept
    void PyObject_GC_UnTrack_ "PyObject_GC_UnTrack"(void*) noexcept
    PyObject* Py_None_ "Py_None"
    PyObject* Py_True_ "Py_True"
    PyObject* Py_False_ "Py_False"
    PyObject* Py_NotImplemented_ "Py_NotImplemented"

# ---- types
cdef extern from *:
    PyObject* Py_TYPE_ "(PyObject*)Py_TYPE"(PyObject*) noexcept
    Py_ssize_t Py_SIZE_ "Py_SIZE"(PyObject*) noexcept
    int PyLong_Check_ "PyLong_Check"(PyObject*) noexcept
    int PyLong_CheckExact_ "PyLong_CheckExact"(PyObject*) noexcept
    int PyFloat_Check_ "PyFloat_Check"(PyObject*) noexcept
    int PyFloat_CheckExact_ "PyFloat_CheckExact"(PyObject*) noexcept
    int PyComplex_Check_ "PyComplex_Check"(PyObject*) noexcept
    int PyComplex_CheckExact_ "PyComplex_CheckExact"(PyObject*) noexcept
    int PyBool_Check_ "PyBool_Check"(PyObject*) noexcept
    int PyUnicode_Check_ "PyUnicode_Check"(PyObject*) noexcept
    int PyUnicode_CheckExact_ "PyUnicode_CheckExact"(PyObject*) noexcept
    int PyBytes_Check_ "PyBytes_Check"(PyObject*) noexcept
    int PyList_Check_ "PyList_Check"(PyObject*) noexcept
    int PyList_CheckExact_ "PyList_CheckExact"(PyObject*) noexcept
    int PyTuple_Check_ "PyTuple_Check"(PyObject*) noexcept
    int PyTuple_CheckExact_ "PyTuple_CheckExact"(PyObject*) noexcept
    int PyDict_Check_ "PyDict_Check"(PyObject*) noexcept
    int PyFunction_Check_ "PyFunction_Check"(PyObject*) noexcept
    int PyCallable_Check_ "PyCallable_Check"(PyObject*) noexcept
    int PyIndex_Check_ "PyIndex_Check"(PyObject*) noexcept
    int PyNumber_Check_ "PyNumber_Check"(PyObject*) noexcept
    int PySequence_Check_ "PySequence_Check"(PyObject*) noexcept

# ---- numbers and texts
cdef extern from *:
    long long PyLong_AsLongLong_ "PyLong_AsLongLong"(PyObject*) except? -1
    long long PyLong_AsLongLongAndOverflow_ "PyLong_AsLongLongAndOverflow"(PyObject*, int*) noexcept
    double PyFloat_AS_DOUBLE_ "PyFloat_AS_DOUBLE"(PyObject*) noexcept
    double PyComplex_RealAsDouble_ "PyComplex_RealAsDouble"(PyObject*) noexcept
    double PyComplex_ImagAsDouble_ "PyComplex_ImagAsDouble"(PyObject*) noexcept
    double PyFloat_AsDouble_ "PyFloat_AsDouble"(PyObject*) except? -1.0
    PyObject* PyNumber_Index_ "PyNumber_Index"(PyObject*) noexcept
    PyObject* PyNumber_Long_ "PyNumber_Long"(PyObject*) noexcept
    PyObject* PyNumber_Float_ "PyNumber_Float"(PyObject*) noexcept
    int PyUnicode_Compare_ "PyUnicode_Compare"(PyObject*, PyObject*) noexcept
    const char* PyUnicode_AsUTF8AndSize_ "PyUnicode_AsUTF8AndSize"(PyObject*, Py_ssize_t*) noexcept

# ---- lists, tuples and attributes
cdef extern from *:
    PyObject* PyList_New_ "PyList_New"(Py_ssize_t) noexcept
    Py_ssize_t PyList_GET_SIZE_ "PyList_GET_SIZE"(PyObject*) noexcept
    PyObject* PyList_GET_ITEM_ "PyList_GET_ITEM"(PyObject*, Py_ssize_t) noexcept
    void PyList_SET_ITEM_ "PyList_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept          # steals
    PyObject* PyList_AsTuple_ "PyList_AsTuple"(PyObject*) noexcept
    PyObject** PySequence_Fast_ITEMS_ "PySequence_Fast_ITEMS"(PyObject*) noexcept
    tuple PyTuple_New_ "PyTuple_New"(Py_ssize_t)
    Py_ssize_t PyTuple_GET_SIZE_ "PyTuple_GET_SIZE"(PyObject*) noexcept
    PyObject* PyTuple_GET_ITEM_ "PyTuple_GET_ITEM"(PyObject*, Py_ssize_t) noexcept
    void PyTuple_SET_ITEM_ "PyTuple_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept        # steals
    PyObject** PyObject_GetDictPtr_ "_PyObject_GetDictPtr"(PyObject*) noexcept
    PyObject* PyDict_GetItem_ "PyDict_GetItemWithError"(PyObject*, PyObject*) noexcept        # borrowed; NULL may have raised
    int PyObject_IsTrue_ "PyObject_IsTrue"(PyObject*) noexcept
    int PyObject_RichCompareBool_ "PyObject_RichCompareBool"(PyObject*, PyObject*, int) noexcept
    int PyObject_LookupAttr_ "DISPATCH_OPTIONAL_ATTR"(PyObject*, PyObject*, PyObject**) noexcept  # 0: none, and nothing raised

# ---- calls
ctypedef PyObject* (*vectorcall_fn)(PyObject*, PyObject**, size_t, PyObject*) noexcept

cdef extern from *:
    size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    unsigned long Py_TPFLAGS_METHOD_DESCRIPTOR
    Py_ssize_t PyVectorcall_NARGS_ "PyVectorcall_NARGS"(size_t) noexcept
    PyObject* PyVectorcall_Call_ "PyVectorcall_Call"(PyObject*, PyObject*, PyObject*) except NULL
    PyObject* PyObject_Vectorcall_ "PyObject_Vectorcall"(PyObject*, PyObject**, size_t, PyObject*) except NULL
    PyObject* try_vectorcall "PyObject_Vectorcall"(PyObject*, PyObject**, size_t, PyObject*) noexcept
    PyObject* try_vectorcall_method "PyObject_VectorcallMethod"(PyObject*, PyObject**, size_t, PyObject*) noexcept
    object PyMethod_New_ "PyMethod_New"(object function, object instance)

# ---- exceptions
cdef extern from *:
    PyObject* PyErr_Occurred_ "PyErr_Occurred"() noexcept
    void PyErr_Clear_ "PyErr_Clear"() noexcept
    void PyErr_Fetch_ "PyErr_Fetch"(PyObject**, PyObject**, PyObject**) noexcept
    void PyErr_NormalizeException_ "PyErr_NormalizeException"(PyObject**, PyObject**, PyObject**) noexcept
    void PyErr_Restore_ "PyErr_Restore"(PyObject*, PyObject*, PyObject*) noexcept

# ---- struct sequences
cdef extern from *:
    ctypedef struct PyStructSequence_Field:
        const char* name
        const char* doc
    ctypedef struct PyStructSequence_Desc:
        const char* name
        const char* doc
        PyStructSequence_Field* fields
        int n_in_sequence
    object PyStructSequence_NewType_ "(PyObject*)PyStructSequence_NewType"(PyStructSequence_Desc*)
