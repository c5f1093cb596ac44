"""Argument conversion: the one matcher of boxed calls, and the texts of its errors.

Called by the vectorcall entries of operators, overload packets, functions and methods; calls nothing but the type rooms.
A mismatch is found without raising; `raise_mismatch` builds the text on the cold path.
"""
from cpython.object cimport Py_EQ, PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t, uint64_t

from types import GeneratorType

from dispatch._C cimport dtypes
from dispatch._C.arrays cimport new_wrapped_number
from dispatch._C.conversion cimport forget_error, is_parsed_int, new_number, new_value, no_match
from dispatch._C.emitted cimport (
    AF_ELEM_OPTIONAL, AF_LIST, AF_LIST2, AF_OPTIONAL, AF_SYM, AK_BOOL, AK_COMPLEX, AK_DEVICE, AK_DICT, AK_DIMNAME, AK_DTYPE,
    AK_FLOAT, AK_GENERATOR, AK_INT, AK_LAYOUT, AK_MEMORY_FORMAT, AK_OTHER, AK_QSCHEME, AK_SCALAR, AK_STORAGE, AK_STR,
    AK_STREAM, AK_TENSOR, DF_BOOL, DF_BOOLS, DF_DEVICE, DF_DTYPE, DF_FLOAT, DF_FLOATS, DF_INT, DF_INTS, DF_LAYOUT, DF_NONE,
    DF_STR,
)
from dispatch._C.function_handlers cimport any_function_handler, is_function_object
from dispatch._C.python_api cimport (
    PyBool_Check_, PyBytes_Check_, PyComplex_Check_, PyDict_Check_, PyErr_Clear_, PyErr_Occurred_, PyFloat_CheckExact_,
    PyFloat_Check_, PyList_Check_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyList_New_, PyList_SET_ITEM_, PyLong_CheckExact_,
    PyLong_Check_, PyObject_RichCompareBool_, PyObject_TypeCheck_, PySequence_Fast_ITEMS_, PyTuple_Check_, PyTuple_GET_ITEM_,
    PyTuple_GET_SIZE_, PyUnicode_Check_, PyUnicode_Compare_, Py_DECREF_, Py_False_, Py_INCREF_, Py_None_, Py_TYPE_, fits_int64,
)
from dispatch._C.naming cimport full_name
from dispatch._C.references cimport raised
from dispatch._C.symbolic cimport NK_INT, NK_NONE, number_kind
from dispatch._C.tensor cimport Tensor
from dispatch._C.keys cimport KS_ADInplaceOrView, KS_AUTOGRAD
from dispatch._C.tls cimport ThreadState, tls

from dispatch._C import dtypes as dtypes_by_name

cdef extern from *:
    Py_ssize_t Py_REFCNT_ "Py_REFCNT"(PyObject*) noexcept
    void Py_SET_SIZE_ "Py_SET_SIZE"(void*, Py_ssize_t) noexcept
    ctypedef struct PyListObject:
        Py_ssize_t allocated

cdef enum:
    ROOM = 8                 # ints in the list that is kept for the next call

cdef PyObject* spare_list = NULL              # empty, with room for `ROOM` ints: of a call that ended
cdef PyObject* TENSOR = <PyObject*>Tensor
cdef PyObject* DTYPE = <PyObject*>dtypes.dtype
cdef PyObject* DEVICE = <PyObject*>dtypes.device

cdef str SELF = "self"
cdef dict NAMES_OF_FUNCTIONS = {"input": "self", "x": "self", "a": "self", "x1": "self", "x2": "other", "axis": "dim",
                                "keepdims": "keepdim"}
cdef object CPU = dtypes.new_device(dtypes.DEV_CPU, -1)
cdef uint64_t NUMBER_KEYS = new_wrapped_number(0).c_keys      # a number in a Tensor slot is a tensor on the CPU
cdef uint64_t INFERENCE_NUMBER_KEYS = NUMBER_KEYS & ~(KS_AUTOGRAD | KS_ADInplaceOrView)

cdef inline bint is_tensor(PyObject* o) noexcept:
    return Py_TYPE_(o) == TENSOR or PyObject_TypeCheck_(o, TENSOR)


cdef bint is_number(PyObject* o) noexcept:
    return PyLong_Check_(o) or PyFloat_Check_(o) or PyComplex_Check_(o) or number_kind(o) != NK_NONE


def wrapped_number(number):
    """A Python number as a 0-d CPU tensor that promotes as the number does."""
    return new_wrapped_number(number)


cdef inline PyObject* keep(Frame* f, PyObject* made) noexcept:
    """Hand a new reference to the frame; NULL stays NULL."""
    if made != NULL:
        f.owned[f.n_owned] = made
        f.n_owned += 1
    return made


cdef inline void note_tensor(Frame* f, PyObject* o) noexcept:
    f.ks |= (<Tensor>o).c_keys
    f.flags |= (<Tensor>o).c_flags


cdef PyObject* new_element(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    """One element: a new reference, NULL when `o` does not fit."""
    if spec.kind != AK_TENSOR:
        return new_value(spec.kind, spec.flags, f.lone_ints, o)
    if is_tensor(o):
        note_tensor(f, o)
    elif not sig.numbers_as_tensors:
        return NULL
    else:
        f.ks |= INFERENCE_NUMBER_KEYS if tls().inference_mode else NUMBER_KEYS
        return new_number(o)
    Py_INCREF_(o)
    return o


cdef PyObject* new_later_int(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    """An int of a list after the first, by which alone functions and methods tell a list of ints: bools are taken here, and
    handlers see whatever there is."""
    if f.lone_ints > 1:
        Py_INCREF_(o)
        return o
    if PyBool_Check_(o):
        return new_value(AK_INT, spec.flags, False, o)
    return new_element(sig, spec, o, f)


cdef PyObject* new_plain_ints(PyObject** values, Py_ssize_t n) noexcept:
    global spare_list
    cdef Py_ssize_t i
    cdef PyObject* r = spare_list
    for i in range(n):
        if not PyLong_CheckExact_(values[i]) or not fits_int64(values[i]):
            return NULL
    if r != NULL and n <= ROOM:
        spare_list = NULL
        if Py_REFCNT_(r) != 1 or PyList_GET_SIZE_(r) != 0 or (<PyListObject*>r).allocated < n:     # somebody found it
            Py_DECREF_(r)
            r = NULL
    else:
        r = NULL
    if r == NULL:
        r = PyList_New_(max(n, ROOM))
        if r == NULL:
            PyErr_Clear_()
            return NULL
    Py_SET_SIZE_(r, n)
    for i in range(n):
        Py_INCREF_(values[i])
        PyList_SET_ITEM_(r, i, values[i])
    return r


cdef void end_list(PyObject* made) noexcept:
    """Give up a list that was made for a call: one of ints that nobody else has is the next call's."""
    global spare_list
    cdef Py_ssize_t i, n = PyList_GET_SIZE_(made)
    cdef PyObject** items = PySequence_Fast_ITEMS_(made)
    if spare_list != NULL or Py_REFCNT_(made) != 1 or n > ROOM:
        Py_DECREF_(made)
        return
    for i in range(n):
        if not PyLong_CheckExact_(items[i]):
            Py_DECREF_(made)
            return
    for i in range(n):
        Py_DECREF_(items[i])
        items[i] = NULL
    Py_SET_SIZE_(made, 0)
    spare_list = made


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
    if level == 1 and spec.kind == AK_INT:
        out = new_plain_ints(PySequence_Fast_ITEMS_(o), n)
        if out != NULL:
            return out
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
            made = new_later_int(sig, spec, item, f) if i and f.lone_ints and spec.kind == AK_INT else new_element(
                sig, spec, item, f)
            Py_DECREF_(item)
        if made == NULL:
            Py_DECREF_(out)
            return NULL
        PyList_SET_ITEM_(out, i, made)
    return out


cdef PyObject* new_list_of_iterable(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f, int level) noexcept:
    """Other iterables, for operators: ints, floats, bools and tensors out of sequences and sets, the rest out of whatever
    iterates."""
    cdef object seen = <object>o
    cdef bint plain = level == 1 and not spec.flags & (AF_SYM | AF_ELEM_OPTIONAL) and (
        spec.kind == AK_INT or spec.kind == AK_FLOAT or spec.kind == AK_BOOL or spec.kind == AK_TENSOR)
    if f.lone_ints or (PyUnicode_Check_(o) and spec.kind != AK_STR):
        return NULL
    if plain and (PyBytes_Check_(o) or PyDict_Check_(o) or is_tensor(o) or not is_vector(seen)):
        return NULL
    if is_tensor(o) and spec.flags & AF_SYM and (<Tensor>o).c_dtype >= dtypes.ST_float16:
        return NULL
    try:
        seen = list(seen)
    except BaseException as error:
        return no_match(error)
    return new_list(sig, spec, <PyObject*>seen, f, level)


cdef bint is_vector(object o) noexcept:
    """What pybind11 turns into a std::vector: it has items by number, or is a set or a generator."""
    try:
        return hasattr(type(o), "__getitem__") or hasattr(type(o), "isdisjoint") or isinstance(o, GeneratorType)
    except BaseException:                 # of a metaclass
        return False


cdef PyObject* new_repeated(ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    """`[o] * N` for a lone number where the schema says `T[N]`."""
    cdef PyObject* one
    cdef PyObject* out
    cdef int i
    if spec.kind == AK_INT:
        if not (is_parsed_int(o) or is_tensor(o) and spec.flags & AF_SYM if f.lone_ints else
                PyLong_Check_(o) or number_kind(o) == NK_INT):
            return NULL
    elif spec.kind != AK_FLOAT or PyLong_Check_(o) or is_tensor(o):
        return NULL
    one = new_value(spec.kind, spec.flags, f.lone_ints, o)
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
        if spec.flags & AF_OPTIONAL or spec.kind == AK_OTHER:
            return o
        if f.lone_ints and is_empty_default(spec):       # functions declare `int[] dim=[]` as dim=None
            return spec.dflt
        if f.lone_ints or spec.flags & AF_LIST:
            return NULL
        if spec.kind == AK_BOOL:
            return Py_False_
        return o if spec.kind == AK_TENSOR and is_from_python(sig) else NULL
    if spec.flags & (AF_LIST | AF_LIST2):
        made = new_list(sig, spec, o, f, 2 if spec.flags & AF_LIST2 else 1)
        if made == NULL and spec.size and (f.lone_ints or not spec.flags & AF_SYM) and not spec.flags & AF_LIST2 and (
                PyErr_Occurred_() == NULL):
            made = new_repeated(spec, o, f)
        if made != NULL and spec.kind == AK_BOOL and spec.size and PyList_GET_SIZE_(made) != spec.size and (
                not is_from_python(sig)):
            Py_DECREF_(made)
            return NULL
        return keep(f, made)
    return keep(f, new_element(sig, spec, o, f))


cdef inline bint is_empty_default(ArgSpec* spec) noexcept:
    return spec.dflt != NULL and PyList_Check_(spec.dflt) and PyList_GET_SIZE_(spec.dflt) == 0


cdef bint is_from_python(Signature* sig) noexcept:
    """Operators that Python defined get None for a Tensor, and other than N bools for `bool[N]`, as they are; kernels written in
    C do not expect it."""
    return (<object>sig.entry)._is_defined_in_python


cdef inline PyObject* convert(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    if spec.kind == AK_TENSOR and not spec.flags & AF_LIST:
        if Py_TYPE_(o) == TENSOR or PyObject_TypeCheck_(o, TENSOR):
            note_tensor(f, o)
            return o
    elif spec.kind == AK_INT and PyLong_CheckExact_(o) and not spec.flags & AF_LIST and fits_int64(o):
        return o
    elif spec.kind == AK_SCALAR and not spec.flags & AF_LIST and (
            PyFloat_CheckExact_(o) or PyLong_CheckExact_(o) and fits_int64(o)):
        return o
    return convert_slow(sig, spec, o, f) if f.lone_ints < 2 else convert_trial(sig, spec, o, f)


cdef PyObject* convert_trial(Signature* sig, ArgSpec* spec, PyObject* o, Frame* f) noexcept:
    """As `convert_slow`, but what has a __torch_function__, alone or in a list, stands for anything, and every text for a
    device: the handlers that are asked may know it."""
    cdef PyObject* made
    if is_function_object(o) or (spec.kind == AK_DEVICE and PyUnicode_Check_(o)):
        return o
    made = convert_slow(sig, spec, o, f)
    if made == NULL and (PyList_Check_(o) or PyTuple_Check_(o)) and any_function_handler(&o, 1):
        forget_error()
        return o if PyErr_Occurred_() == NULL else NULL
    return made


cdef int find_keyword(Signature* sig, PyObject* name, bint function) noexcept:
    """Index of the argument called `name`; -1 when there is none. Functions say `input` for `self`, and know numpy's names."""
    cdef int i
    for i in range(sig.n_args):
        if sig.args[i].name == name:
            return i if not function or name != <PyObject*>SELF else -1
    for i in range(sig.n_args):
        if PyUnicode_Compare_(sig.args[i].name, name) == 0:
            return i if not function or PyUnicode_Compare_(name, <PyObject*>SELF) != 0 else -1
    if function:
        other = NAMES_OF_FUNCTIONS.get(str.__str__(<object>name))      # a subclass compares as it likes
        if other is not None:
            for i in range(sig.n_args):
                if PyUnicode_Compare_(sig.args[i].name, <PyObject*>other) == 0:
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
            return MATCH_BAD_TYPE if PyErr_Occurred_() == NULL else MATCH_RAISED
        f.args[i] = v
    if nargs == n:
        return MATCH_OK if kwnames == NULL or PyTuple_GET_SIZE_(kwnames) == 0 else unplaced_keyword(sig, kwnames, f)
    for i in range(<int>nargs, n):
        f.args[i] = NULL
    if kwnames != NULL:
        nkw = PyTuple_GET_SIZE_(kwnames)
        for k in range(<int>nkw):
            i = find_keyword(sig, PyTuple_GET_ITEM_(kwnames, k), f.lone_ints)
            f.bad_arg = k
            if i < 0:
                return MATCH_UNKNOWN_KEYWORD
            if f.args[i] != NULL:
                return MATCH_TWICE
            v = convert(sig, &sig.args[i], args[nargs + k], f)
            if v == NULL:
                f.bad_arg = i
                f.bad_value = args[nargs + k]
                return MATCH_BAD_TYPE if PyErr_Occurred_() == NULL else MATCH_RAISED
            f.args[i] = v
    for i in range(<int>nargs, n):
        if f.args[i] == NULL:
            if sig.args[i].dflt == NULL:
                f.bad_arg = i
                return MATCH_MISSING
            f.args[i] = sig.args[i].dflt
    return MATCH_OK


cdef int match_ints(Signature* sig, PyObject** args, Py_ssize_t place, PyObject* ints, Frame* f) noexcept:
    cdef int i
    f.ks = 0
    f.flags = 0
    f.n_owned = 0
    if place == 1:
        note_tensor(f, args[0])
        f.args[0] = args[0]
    Py_INCREF_(ints)
    f.args[place] = keep(f, ints)
    for i in range(<int>place + 1, sig.n_args):
        f.args[i] = sig.args[i].dflt
        if f.args[i] == NULL:
            f.bad_arg = i
            return MATCH_MISSING
    return MATCH_OK


cdef int unplaced_keyword(Signature* sig, PyObject* kwnames, Frame* f) noexcept:
    f.bad_arg = 0
    return MATCH_TWICE if find_keyword(sig, PyTuple_GET_ITEM_(kwnames, 0), f.lone_ints) >= 0 else MATCH_UNKNOWN_KEYWORD


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


cdef int complete_options(Signature* sig, Frame* f) noexcept:
    cdef int i
    cdef PyObject* chosen
    cdef bint has_tensor = sig.n_args and sig.args[0].kind == AK_TENSOR
    for i in range(sig.n_args - 2):
        if sig.args[i].kind != AK_LAYOUT or sig.args[i + 1].kind != AK_DEVICE or sig.args[i + 2].kind != AK_BOOL:
            continue
        if f.args[i + 2] == Py_None_:
            f.args[i + 2] = Py_False_
        if f.args[i + 1] == Py_None_ and not has_tensor:
            chosen = tls().default_device
            f.args[i + 1] = chosen if chosen != NULL else <PyObject*>CPU
            if chosen != NULL:               # the frame keeps it: the default may change meanwhile
                Py_INCREF_(chosen)
                f.owned[f.n_owned] = chosen
                f.n_owned += 1
        break
    return 0


# ---- defaults --------------------------------------------------------------------------------------------------------


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
    cdef ThreadState* ts
    cdef int off
    if is_tensor(value):
        ts = tls()
        off = ts.torch_function_off
        ts.torch_function_off = 2            # describing is no call that handlers see
        try:
            return f"{type(v).__name__} of {v.dtype}{list(v.shape)}"
        finally:
            ts.torch_function_off = off
    if isinstance(v, (list, tuple)):
        kinds = sorted({type(x).__name__ for x in v})
        return f"{type(v).__name__} of {len(v)} ({', '.join(kinds)})"
    text = repr(v)
    return f"{type(v).__name__} {text if len(text) <= 60 else text[:57] + '...'}"


cdef str meant(ArgSpec* spec, object value):
    """`dtype="float32"`: how the dtype of this name is written."""
    if spec.kind == AK_DTYPE and isinstance(value, str) and isinstance(getattr(dtypes_by_name, value, None), dtypes.dtype):
        return f"; write {full_name(value)}"
    return ""


cdef object raise_mismatch(Signature* sig, int code, Frame* f, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, error):
    """Raise `error` with what was expected, what came and the schema. The frame is released."""
    cdef object entry = <object>sig.entry
    cdef str name = entry._qualified_name
    cdef str schema = entry._schema_text
    cdef str why
    cdef ArgSpec* spec
    release_frame(f)
    f.n_owned = 0
    if code == MATCH_RAISED:
        raised()
    if code == MATCH_OK:         # a second look at arguments that Python code changes while they are read
        why = f"{name}: the arguments changed while they were matched"
    elif code == MATCH_TOO_MANY:
        why = f"{name}: expected at most {sig.n_pos} positional argument(s), got {nargs}"
    elif code == MATCH_MISSING:
        why = f"{name}: missing value for argument '{<object>sig.args[f.bad_arg].name}'"
    elif code == MATCH_BAD_TYPE:
        spec = &sig.args[f.bad_arg]
        wanted, but, got = describe_type(spec), "got", describe_value(f.bad_value)
        if wanted == "List[Tensor]" and is_tensor(f.bad_value) and error is TypeError:
            wanted, but = "tuple of Tensors", "not"
        elif wanted == "List[Tensor]" and isinstance(<object>f.bad_value, (list, tuple)):
            got = next((f"{type(x).__name__} as element {i}" for i, x in enumerate(<object>f.bad_value)
                        if not is_tensor(<PyObject*>x)), got)
        error = error_of_value(spec, f, error)
        wanted = "must be " + wanted if error is not OverflowError else "does not fit in 64 bits"
        why = (f"{name}: argument '{<object>spec.name}' (position {f.bad_arg}) {wanted}, "
               f"{but} {got}{meant(spec, <object>f.bad_value)}")
    elif code == MATCH_UNKNOWN_KEYWORD:
        why = f"{name}: unknown keyword argument '{(<tuple>kwnames)[f.bad_arg]}'"
    else:
        why = f"{name}: argument '{(<tuple>kwnames)[f.bad_arg]}' was given twice"
    raise error(f"{why}\n  {schema}")


cdef object error_of_value(ArgSpec* spec, Frame* f, error):
    """The exception's class where it is not that of all mismatches: numbers that are too big, names of no device, None for a
    Dict."""
    cdef object value = <object>f.bad_value
    if spec.kind == AK_DEVICE and isinstance(value, str):
        return RuntimeError
    if spec.kind == AK_DICT and value is None and not f.lone_ints:
        return TypeError
    if spec.kind == AK_SCALAR and spec.flags & AF_LIST and isinstance(value, (list, tuple)):
        for one in value:
            if not is_number(<PyObject*>one):
                return error
            if isinstance(one, int) and not -(1 << 63) <= one < 1 << 64:
                return OverflowError
    if not PyLong_Check_(f.bad_value) or PyBool_Check_(f.bad_value) or fits_int64(f.bad_value):
        return error
    if spec.kind == AK_SCALAR and not spec.flags & AF_LIST:
        return OverflowError
    if spec.kind == AK_INT and f.lone_ints and (spec.size or not spec.flags & AF_LIST):
        return ValueError
    return error
