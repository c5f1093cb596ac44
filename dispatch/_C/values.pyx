"""Argument conversion: the one matcher of boxed calls, and the texts of its errors.

Called by the vectorcall entries of operators, overload packets, functions and methods; calls nothing but the type rooms.
A mismatch is found without raising; `raise_mismatch` builds the text on the cold path.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.tensor cimport Storage, Tensor

cdef extern from *:
    """
    #define DISPATCH_ISINSTANCE(o, tp) PyObject_TypeCheck((o), (PyTypeObject*)(tp))
    static int dispatch_long_fits(PyObject* o) {       /* int64; two digits of 30 bits always do */
        int overflow;
        if (Py_ABS(Py_SIZE(o)) <= 2) return 1;
        PyLong_AsLongLongAndOverflow(o, &overflow);
        return !overflow;
    }
    """
    bint fits_int64 "dispatch_long_fits"(PyObject* o) noexcept

cdef extern from "Python.h":
    int PyTuple_Check_ "PyTuple_Check"(PyObject*) noexcept
    int PyList_Check_ "PyList_Check"(PyObject*) noexcept
    int PyLong_Check_ "PyLong_Check"(PyObject*) noexcept
    int PyLong_CheckExact_ "PyLong_CheckExact"(PyObject*) noexcept
    int PyFloat_Check_ "PyFloat_Check"(PyObject*) noexcept
    int PyFloat_CheckExact_ "PyFloat_CheckExact"(PyObject*) noexcept
    int PyComplex_Check_ "PyComplex_Check"(PyObject*) noexcept
    int PyBool_Check_ "PyBool_Check"(PyObject*) noexcept
    int PyUnicode_Check_ "PyUnicode_Check"(PyObject*) noexcept
    int PyDict_Check_ "PyDict_Check"(PyObject*) noexcept
    int PyIndex_Check_ "PyIndex_Check"(PyObject*) noexcept
    PyObject* PyNumber_Index_ "PyNumber_Index"(PyObject*) noexcept
    PyObject* PyNumber_Float_ "PyNumber_Float"(PyObject*) noexcept
    void PyErr_Clear_ "PyErr_Clear"() noexcept
    int PyUnicode_Compare_ "PyUnicode_Compare"(PyObject*, PyObject*) noexcept
    int PyObject_RichCompareBool_ "PyObject_RichCompareBool"(PyObject*, PyObject*, int) noexcept
    PyObject* PyList_New_ "PyList_New"(Py_ssize_t) noexcept
    void PyList_SET_ITEM_ "PyList_SET_ITEM"(PyObject*, Py_ssize_t, PyObject*) noexcept
    PyObject* PyList_GET_ITEM_ "PyList_GET_ITEM"(PyObject*, Py_ssize_t) noexcept
    PyObject* PyTuple_GET_ITEM_ "PyTuple_GET_ITEM"(PyObject*, Py_ssize_t) noexcept
    Py_ssize_t PyTuple_GET_SIZE_ "PyTuple_GET_SIZE"(PyObject*) noexcept
    Py_ssize_t PyList_GET_SIZE_ "PyList_GET_SIZE"(PyObject*) noexcept
    int PyObject_TypeCheck_ "DISPATCH_ISINSTANCE"(PyObject*, PyObject*) noexcept
    PyObject* Py_True_ "Py_True"
    PyObject* Py_False_ "Py_False"
    PyObject* Py_None_ "Py_None"
    PyObject* Py_TYPE_ "(PyObject*)Py_TYPE"(PyObject*) noexcept
    int PyObject_IsTrue_ "PyObject_IsTrue"(PyObject*) noexcept
    int Py_EQ

# Python-level Generator class, known once the room that defines it is imported.
cdef PyObject* generator_type = NULL
cdef object pinned_generator_type = None
cdef PyObject* TENSOR = <PyObject*>Tensor
cdef PyObject* STORAGE = <PyObject*>Storage
cdef PyObject* DTYPE = <PyObject*>dtypes.dtype
cdef PyObject* LAYOUT = <PyObject*>dtypes.layout
cdef PyObject* DEVICE = <PyObject*>dtypes.device
cdef PyObject* MEMORY_FORMAT = <PyObject*>dtypes.memory_format

cdef enum MatchError:
    MATCH_OK = 0
    MATCH_TOO_MANY = 1
    MATCH_MISSING = 2
    MATCH_BAD_TYPE = 3
    MATCH_UNKNOWN_KEYWORD = 4
    MATCH_TWICE = 5
    MATCH_RAISED = 6


def _set_generator_type(cls):
    """Register the class that Generator arguments take."""
    global generator_type, pinned_generator_type
    pinned_generator_type = cls
    generator_type = <PyObject*>cls


cdef inline bint is_tensor(PyObject* o) noexcept:
    return Py_TYPE_(o) == TENSOR or PyObject_TypeCheck_(o, TENSOR)


cdef bint is_number(PyObject* o) noexcept:
    return PyLong_Check_(o) or PyFloat_Check_(o) or PyComplex_Check_(o)


cdef inline PyObject* keep(Frame* f, PyObject* made) noexcept:
    """Hand a new reference to the frame; NULL stays NULL."""
    if made != NULL:
        f.owned[f.n_owned] = made
        f.n_owned += 1
    return made


cdef inline void note_tensor(Frame* f, PyObject* o) noexcept:
    f.ks |= (<Tensor>o).c_keys
    f.flags |= (<Tensor>o).c_flags


# Converters of one element: a new reference, or NULL: no match (nothing raised).

cdef PyObject* new_int(PyObject* o) noexcept:
    cdef PyObject* r
    if PyLong_CheckExact_(o):
        if not fits_int64(o):
            return NULL
        Py_INCREF_(o)
        return o
    if PyFloat_Check_(o) or not PyIndex_Check_(o):
        return NULL
    r = PyNumber_Index_(o)       # bool -> int, numpy integers, 0-d integer tensors
    if r == NULL:
        PyErr_Clear_()
    elif PyBool_Check_(r):
        Py_DECREF_(r)
        r = new_plain_int(o)
    elif not fits_int64(r):
        Py_DECREF_(r)
        r = NULL
    return r


cdef PyObject* new_plain_int(PyObject* b) noexcept:
    cdef object r = 1 if b == Py_True_ else 0
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_float(PyObject* o) noexcept:
    cdef PyObject* r
    if PyFloat_CheckExact_(o):
        Py_INCREF_(o)
        return o
    if PyComplex_Check_(o) or PyUnicode_Check_(o):
        return NULL
    r = PyNumber_Float_(o)
    if r == NULL:
        PyErr_Clear_()
    return r


cdef PyObject* new_bool(PyObject* o) noexcept:
    cdef int truth
    cdef PyObject* r
    if o == Py_True_ or o == Py_False_:
        Py_INCREF_(o)
        return o
    if o == Py_None_ or PyUnicode_Check_(o) or PyTuple_Check_(o) or PyList_Check_(o):
        return NULL
    truth = PyObject_IsTrue_(o)
    if truth < 0:
        PyErr_Clear_()
        return NULL
    r = Py_True_ if truth else Py_False_
    Py_INCREF_(r)
    return r


cdef PyObject* new_scalar(PyObject* o) noexcept:
    cdef PyObject* r = NULL
    if is_number(o):
        Py_INCREF_(o)
        return o
    if is_tensor(o):
        if (<Tensor>o).c_numel != 1 or (<Tensor>o).c_ndim != 0:
            return NULL
        return new_item(o)
    if PyIndex_Check_(o):
        r = PyNumber_Index_(o)
    elif hasattr(<object>o, "__float__") and not hasattr(<object>o, "__len__"):
        r = PyNumber_Float_(o)
    if r == NULL:
        PyErr_Clear_()
    return r


cdef PyObject* new_item(PyObject* o) noexcept:
    """The value of a 0-d tensor as a number; a fake tensor's may not be known: no match."""
    try:
        r = (<object>o).item()
    except (RuntimeError, TypeError):
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_device_object(PyObject* o) noexcept:
    if PyObject_TypeCheck_(o, DEVICE):
        Py_INCREF_(o)
        return o
    if not PyUnicode_Check_(o):
        return NULL
    try:
        r = dtypes.device_of(<object>o)
    except RuntimeError:
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* instance_of(PyObject* o, PyObject* cls) noexcept:
    if cls != NULL and PyObject_TypeCheck_(o, cls):
        Py_INCREF_(o)
        return o
    return NULL


cdef PyObject* new_dtype_object(PyObject* o) noexcept:
    """A dtype; the Python types float, int, bool, complex stand for theirs."""
    if PyObject_TypeCheck_(o, DTYPE):
        Py_INCREF_(o)
        return o
    if <object>o is float or <object>o is int or <object>o is bool or <object>o is complex:
        r = dtypes.get_dtype(dtypes.dtype_code(<object>o))
        Py_INCREF(r)
        return <PyObject*>r
    return NULL


cdef PyObject* new_complex(PyObject* o) noexcept:
    if not is_number(o):
        return NULL
    try:
        r = complex(<object>o)
    except (OverflowError, TypeError, ValueError):
        return NULL
    Py_INCREF(r)
    return <PyObject*>r


cdef PyObject* new_element(Signature* sig, int kind, PyObject* o, Frame* f) noexcept:
    """One element of kind `kind`: a new reference, NULL when `o` does not fit."""
    if kind == AK_TENSOR:
        if is_tensor(o):
            note_tensor(f, o)
        elif not (sig != NULL and sig.numbers_as_tensors and is_number(o)):
            return NULL
        Py_INCREF_(o)
        return o
    if kind == AK_INT:
        return new_int(o)
    if kind == AK_FLOAT:
        return new_float(o)
    if kind == AK_BOOL:
        return new_bool(o)
    if kind == AK_SCALAR:
        return new_scalar(o)
    if kind == AK_STR:
        if not PyUnicode_Check_(o):
            return NULL
        Py_INCREF_(o)
        return o
    if kind == AK_DTYPE:
        return new_dtype_object(o)
    if kind == AK_DEVICE:
        return new_device_object(o)
    if kind == AK_LAYOUT:
        return instance_of(o, LAYOUT)
    if kind == AK_MEMORY_FORMAT:
        return instance_of(o, MEMORY_FORMAT)
    if kind == AK_GENERATOR:
        return instance_of(o, generator_type)
    if kind == AK_STORAGE:
        return instance_of(o, STORAGE)
    if kind == AK_COMPLEX:
        return new_complex(o)
    if kind == AK_DICT and not PyDict_Check_(o):
        return NULL
    Py_INCREF_(o)
    return o


cdef PyObject* new_list(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f, int level) noexcept:
    """A fresh list with converted elements; NULL when `o` or an element does not fit."""
    cdef Py_ssize_t n, i
    cdef PyObject* out
    cdef PyObject* item
    cdef PyObject* made
    cdef bint is_list = PyList_Check_(o)
    if not is_list and not PyTuple_Check_(o):
        return new_list_of_iterable(sig, spec, o, f, level)
    n = PyList_GET_SIZE_(o) if is_list else PyTuple_GET_SIZE_(o)
    out = PyList_New_(n)
    if out == NULL:
        PyErr_Clear_()
        return NULL
    for i in range(n):
        if is_list and i >= PyList_GET_SIZE_(o):      # shrunk by an element's own code
            Py_DECREF_(out)
            return NULL
        item = PyList_GET_ITEM_(o, i) if is_list else PyTuple_GET_ITEM_(o, i)
        if level > 1:
            made = new_list(sig, spec, item, f, level - 1)
        elif item == Py_None_ and spec.flags & AF_ELEM_OPTIONAL:
            Py_INCREF_(item)
            made = item
        else:
            Py_INCREF_(item)
            made = new_element(sig, spec.kind, item, f)
            Py_DECREF_(item)
        if made == NULL:
            Py_DECREF_(out)
            return NULL
        PyList_SET_ITEM_(out, i, made)
    return out


cdef PyObject* new_list_of_iterable(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f, int level) noexcept:
    """As PyTorch's casters do: any iterable but text and mappings; of tensors only those of one dimension, as numbers."""
    cdef object seen = <object>o
    if PyUnicode_Check_(o) or PyDict_Check_(o) or isinstance(seen, bytes) or not hasattr(type(seen), "__iter__"):
        return NULL
    if is_tensor(o) and (spec.kind == AK_TENSOR or (<Tensor>o).c_ndim != 1):
        return NULL
    try:
        seen = list(seen)
    except Exception:
        return NULL
    return new_list(sig, spec, <PyObject*>seen, f, level)


cdef PyObject* new_repeated(ArgSpec* spec, PyObject* o) noexcept:
    """`[o] * N` for a lone number where the schema says `T[N]`."""
    cdef PyObject* one
    cdef PyObject* out
    cdef int i
    if spec.kind == AK_INT:
        one = new_int(o)
    elif spec.kind == AK_FLOAT:
        one = new_float(o)
    elif spec.kind == AK_BOOL and PyBool_Check_(o):
        one = new_bool(o)
    else:
        return NULL
    if one == NULL:
        return NULL
    out = PyList_New_(spec.size)
    for i in range(spec.size):
        Py_INCREF_(one)
        PyList_SET_ITEM_(out, i, one)
    Py_DECREF_(one)
    return out


cdef PyObject* convert_slow(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    """Everything but the common cases; borrowed from the frame or the caller, NULL: does not fit."""
    cdef PyObject* made
    if o == Py_None_:
        if spec.kind == AK_BOOL and not spec.flags & (AF_OPTIONAL | AF_LIST):
            return Py_False_
        return o if spec.flags & AF_OPTIONAL or spec.kind == AK_OTHER else NULL
    if spec.flags & (AF_LIST | AF_LIST2):
        made = new_list(sig, spec, o, f, 2 if spec.flags & AF_LIST2 else 1)
        if made == NULL and spec.size and (f.lone_ints or not spec.flags & AF_SYM) and not spec.flags & AF_LIST2:
            made = new_repeated(spec, o)
        return keep(f, made)
    return keep(f, new_element(sig, spec.kind, o, f))


cdef inline PyObject* convert(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    if spec.kind == AK_TENSOR and not spec.flags & AF_LIST:
        if Py_TYPE_(o) == TENSOR or PyObject_TypeCheck_(o, TENSOR):
            note_tensor(f, o)
            return o
    elif spec.kind == AK_INT and PyLong_CheckExact_(o) and not spec.flags & AF_LIST and fits_int64(o):
        return o
    elif spec.kind == AK_SCALAR and (PyLong_CheckExact_(o) or PyFloat_CheckExact_(o)) and not spec.flags & AF_LIST:
        return o
    return convert_slow(sig, spec, o, f)


cdef int find_keyword(Signature* sig, PyObject* name) noexcept:
    """Index of the argument called `name`; -1 when there is none."""
    cdef int i
    for i in range(sig.n_args):
        if sig.args[i].name == name:
            return i
    for i in range(sig.n_args):
        if PyUnicode_Compare_(sig.args[i].name, name) == 0:
            return i
    return -1


cdef int match(Signature* sig, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, Frame* f) noexcept:
    cdef int i, k, n = sig.n_args
    cdef Py_ssize_t nkw = 0
    cdef PyObject* v
    f.ks = 0
    f.flags = 0
    f.n_owned = 0
    if nargs > sig.n_pos:
        return MATCH_TOO_MANY
    for i in range(<int>nargs):
        v = convert(sig, &sig.args[i], args[i], f)
        if v == NULL:
            f.bad_arg = i
            f.bad_value = args[i]
            return MATCH_BAD_TYPE
        f.args[i] = v
    if nargs == n:
        return MATCH_OK if kwnames == NULL or PyTuple_GET_SIZE_(kwnames) == 0 else unplaced_keyword(sig, kwnames, f)
    for i in range(<int>nargs, n):
        f.args[i] = NULL
    if kwnames != NULL:
        nkw = PyTuple_GET_SIZE_(kwnames)
        for k in range(<int>nkw):
            i = find_keyword(sig, PyTuple_GET_ITEM_(kwnames, k))
            f.bad_arg = k
            if i < 0:
                return MATCH_UNKNOWN_KEYWORD
            if f.args[i] != NULL:
                return MATCH_TWICE
            v = convert(sig, &sig.args[i], args[nargs + k], f)
            if v == NULL:
                f.bad_arg = i
                f.bad_value = args[nargs + k]
                return MATCH_BAD_TYPE
            f.args[i] = v
    for i in range(<int>nargs, n):
        if f.args[i] == NULL:
            if sig.args[i].dflt == NULL:
                f.bad_arg = i
                return MATCH_MISSING
            f.args[i] = sig.args[i].dflt
    return MATCH_OK


cdef int unplaced_keyword(Signature* sig, PyObject* kwnames, Frame* f) noexcept:
    f.bad_arg = 0
    return MATCH_TWICE if find_keyword(sig, PyTuple_GET_ITEM_(kwnames, 0)) >= 0 else MATCH_UNKNOWN_KEYWORD


cdef int match_given(Signature* sig, object args, dict kwargs, Frame* f) except -1:
    cdef PyObject* vec[128]
    cdef tuple names = tuple(kwargs)
    cdef int n = 0, code
    if len(args) + len(names) > 128:
        raise RuntimeError(f"{(<object>sig.entry)._qualified_name}: too many arguments\n  {(<object>sig.entry)._schema_text}")
    for value in args:
        vec[n] = <PyObject*>value
        n += 1
    for value in kwargs.values():
        vec[n] = <PyObject*>value
        n += 1
    f.lone_ints = False
    code = match(sig, vec, len(args), <PyObject*>names if names else NULL, f)
    if code != MATCH_OK:
        raise_mismatch(sig, code, f, vec, len(args), <PyObject*>names, RuntimeError)
    return 0


cdef int gather(Signature* sig, PyObject** args, uint64_t* ks, uint32_t* flags) noexcept:
    cdef int i
    cdef Py_ssize_t j
    cdef PyObject* o
    ks[0] = 0
    flags[0] = 0
    for i in range(sig.n_args):
        if sig.args[i].kind != AK_TENSOR:
            continue
        o = args[i]
        if sig.args[i].flags & AF_LIST:
            if PyList_Check_(o):
                for j in range(PyList_GET_SIZE_(o)):
                    if is_tensor(PyList_GET_ITEM_(o, j)):
                        ks[0] |= (<Tensor>PyList_GET_ITEM_(o, j)).c_keys
                        flags[0] |= (<Tensor>PyList_GET_ITEM_(o, j)).c_flags
        elif is_tensor(o):
            ks[0] |= (<Tensor>o).c_keys
            flags[0] |= (<Tensor>o).c_flags
    return 0


cdef bint equals_default(ArgSpec* spec, PyObject* value) noexcept:
    cdef int same
    if spec.dflt == NULL:
        return False
    if value == spec.dflt:
        return True
    if Py_TYPE_(value) != Py_TYPE_(spec.dflt) or value == Py_None_:
        return False
    if not (PyLong_Check_(value) or PyFloat_Check_(value) or PyUnicode_Check_(value) or PyList_Check_(value)
            or Py_TYPE_(value) == DTYPE or Py_TYPE_(value) == DEVICE):
        return False
    same = PyObject_RichCompareBool_(value, spec.dflt, Py_EQ)
    if same < 0:
        PyErr_Clear_()
        return False
    return same == 1


cdef object convert_one(ArgSpec* spec, object value):
    cdef Frame f
    cdef PyObject* v
    f.lone_ints = True
    f.n_owned = 0
    f.ks = 0
    f.flags = 0
    v = convert_slow(NULL, spec, <PyObject*>value, &f)
    if v == NULL:
        release_frame(&f)
        raise TypeError(f"expected {describe_type(spec)}, got {describe_value(<PyObject*>value)}")
    r = <object>v
    release_frame(&f)
    return r


# ---- defaults --------------------------------------------------------------------------------------------------------

cdef extern from "emitted.h" nogil:
    enum:
        DF_NONE, DF_BOOL, DF_INT, DF_FLOAT, DF_STR, DF_INTS, DF_BOOLS, DF_FLOATS, DF_DTYPE, DF_LAYOUT, DF_DEVICE, DF_MEMORY_FORMAT


cdef object default_object(int kind, int64_t i, double f, const char* s, const int64_t* v):
    """The Python object of an emitted default."""
    cdef int64_t j
    if kind == DF_NONE:
        return None
    if kind == DF_BOOL:
        return bool(i)
    if kind == DF_INT:
        return i
    if kind == DF_FLOAT:
        return f
    if kind == DF_STR:
        return s.decode()
    if kind == DF_INTS:
        return [v[j] for j in range(i)]
    if kind == DF_BOOLS:
        return [bool(v[j]) for j in range(i)]
    if kind == DF_FLOATS:
        return [float(x) for x in s.decode().strip("[] ").split(",") if x.strip()]
    if kind == DF_DTYPE:
        return dtypes.get_dtype(<int>i)
    if kind == DF_LAYOUT:
        return dtypes.get_layout(<int>i)
    if kind == DF_DEVICE:
        return dtypes.device_of(s.decode())
    return dtypes.get_memory_format(<int>i)


# ---- texts -----------------------------------------------------------------------------------------------------------

cdef dict KIND_NAMES = {
    AK_OTHER: "object", AK_TENSOR: "Tensor", AK_INT: "int", AK_FLOAT: "float", AK_BOOL: "bool", AK_COMPLEX: "complex",
    AK_SCALAR: "number", AK_STR: "str", AK_DTYPE: "dtype", AK_LAYOUT: "layout", AK_DEVICE: "device",
    AK_MEMORY_FORMAT: "memory_format", AK_GENERATOR: "Generator", AK_STORAGE: "Storage", AK_STREAM: "Stream",
    AK_DICT: "Dict", AK_DIMNAME: "Dimname", AK_QSCHEME: "QScheme",
}


cdef str describe_type(ArgSpec* spec):
    cdef str r = KIND_NAMES.get(<int>spec.kind, "object")
    if spec.flags & AF_ELEM_OPTIONAL:
        r = f"Optional[{r}]"
    if spec.flags & (AF_LIST | AF_LIST2):
        r = f"List[{r}]"
    if spec.flags & AF_LIST2:
        r = f"List[{r}]"
    return f"Optional[{r}]" if spec.flags & AF_OPTIONAL else r


cdef str describe_value(PyObject* value):
    """Type and, cut short, the value: tensors by dtype and shape."""
    cdef object v = <object>value
    if is_tensor(value):
        return f"{type(v).__name__} of {v.dtype}{list(v.shape)}"
    if isinstance(v, (list, tuple)):
        kinds = sorted({type(x).__name__ for x in v})
        return f"{type(v).__name__} of {len(v)} ({', '.join(kinds)})"
    text = repr(v)
    return f"{type(v).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


cdef object raise_mismatch(Signature* sig, int code, Frame* f, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, error):
    """Raise `error` with what was expected, what came and the schema. The frame is released."""
    cdef object entry = <object>sig.entry
    cdef str name = entry._qualified_name
    cdef str schema = entry._schema_text
    cdef str why
    cdef ArgSpec* spec
    release_frame(f)
    f.n_owned = 0
    if code == MATCH_OK:         # a second look at arguments that Python code changes while they are read
        why = f"{name}: the arguments changed while they were matched"
    elif code == MATCH_TOO_MANY:
        why = f"{name}: expected at most {sig.n_pos} positional argument(s), got {nargs}"
    elif code == MATCH_MISSING:
        why = f"{name}: missing value for argument '{<object>sig.args[f.bad_arg].name}'"
    elif code == MATCH_BAD_TYPE:
        spec = &sig.args[f.bad_arg]
        why = (f"{name}: argument '{<object>spec.name}' (position {f.bad_arg}) must be {describe_type(spec)}, "
               f"got {describe_value(f.bad_value)}")
    elif code == MATCH_UNKNOWN_KEYWORD:
        why = f"{name}: unknown keyword argument '{(<tuple>kwnames)[f.bad_arg]}'"
    else:
        why = f"{name}: argument '{(<tuple>kwnames)[f.bad_arg]}' was given twice"
    raise error(f"{why}\n  {schema}")
