"""Operators as functions of the package and methods of Tensor: C vectorcalls over a packet.

Arguments that fit no overload are a TypeError here (a RuntimeError from `ops`), lone ints may stand for a list, lists come back as
tuples, and factories take `requires_grad`, as in PyTorch's functions and methods.
"""
cimport cython

from cpython.exc cimport PyErr_ExceptionMatches, PyErr_Occurred
from cpython.object cimport PyObject, PyTypeObject

from dispatch._C cimport dispatcher
from dispatch._C.dtypes cimport device_of
from dispatch._C.emitted cimport (
    AF_LIST, AF_LIST2, AF_OUT, AK_DIMNAME, AK_DTYPE, AK_INT, AK_TENSOR, OF_FUNCTION, OF_INPLACE, OF_METHOD,
)
from dispatch._C.function_handlers cimport any_function_handler, is_function_object
from dispatch._C.naming cimport full_name, package_name
from dispatch._C.operator cimport OperatorEntry
from dispatch._C.overload cimport (
    FIT_FUNCTION, FIT_SETTLED, FIT_TRIAL, FOUND_ANSWER, FOUND_NONE, FOUND_OVERLOAD, OpOverloadPacket, call_fitting,
    call_vector, find_packet, refuse_packet, schema_of, set_fit,
)
from dispatch._C.python_api cimport (
    PyBool_Check_, PyComplex_Check_, PyFloat_Check_, PyIndex_Check_, PyList_AsTuple_, PyList_CheckExact_, PyList_GET_ITEM_,
    PyList_GET_SIZE_, PyLong_Check_, PyMethod_New_, PyObject_TypeCheck_, PyTuple_CheckExact_, PyTuple_GET_ITEM_,
    PyTuple_GET_SIZE_, PyVectorcall_NARGS_, Py_DECREF_, Py_INCREF_, Py_None_, Py_TPFLAGS_METHOD_DESCRIPTOR, Py_TYPE_,
    Py_XDECREF_, enable_vectorcall,
)
from dispatch._C.references cimport give, set_error
from dispatch._C.signature_order cimport EVERY_OVERLOAD, ordered_entries
from dispatch._C.tensor cimport TF_HAS_TORCH_FUNCTION, Tensor
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.torch_function cimport ASK_SELF, ask_functions, n_function_modes
from dispatch._C.values cimport (
    ArgSpec, Frame, complete_options, end_list, match, match_ints, new_plain_ints, release_frame,
)

from dispatch._C.advice import advise_once
from dispatch._C.dispatcher import _emitted_methods
from dispatch._C.named_results import named
from dispatch._C.overload import _described

cdef PyObject* TENSOR = <PyObject*>Tensor


cdef PyObject* call_variadic(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int fit, int* found) noexcept:
    """Dispatch the first overload that fits, taking what only functions and methods take; `found` as in `call_fitting`."""
    cdef OpFunction f = <OpFunction>self
    cdef Py_ssize_t first = 1 if f.is_method else 0
    cdef bint spelled_out
    cdef PyObject* r
    cdef tuple names
    if f.moves_self:
        return call_moved(self, args, nargs, kwnames, fit, found)
    spelled_out = first < nargs and not PyBool_Check_(args[first]) and (
        PyIndex_Check_(args[first]) or fit == FIT_TRIAL and is_function_object(args[first]))
    if not (f.packs and spelled_out and PyLong_Check_(args[first])):
        r = call_fitting(<PyObject*>f.entries, self, args, nargs, kwnames, f.how, fit, found)
        if found[0]:
            return r
    if spelled_out:
        r = call_packed(self, args, nargs, kwnames, first, fit, found)
        if found[0]:
            return r
    if kwnames != NULL:
        names = tuple([str.__str__(name) for name in <tuple>kwnames])        # a subclass of str compares as it likes
        kwnames = <PyObject*>names
        r = call_marked(self, args, nargs, kwnames, fit, found)
        if not found[0]:
            r = call_with_out(self, args, nargs, kwnames, fit, found)
        if found[0]:
            return r
    if f.__name__ in older_forms:
        return call_older(self, args, nargs, kwnames, fit, found)
    return NULL


cdef PyObject* call_moved(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int fit, int* found) noexcept:
    """`x.where(condition, other)`: a method whose self is the schema's second argument."""
    cdef PyObject* vec[64]
    cdef OpFunction f = <OpFunction>self
    cdef Py_ssize_t i, n = nargs + (PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0)
    cdef bint asked = False
    cdef PyObject* r
    cdef object names
    if n > 60 or n < 2:
        return NULL
    if not fit & FIT_SETTLED and fit != FIT_TRIAL and any_function_handler(args, n):
        r = ask_functions(self, args, nargs, kwnames, f.how, &asked)
        if asked:
            found[0] = FOUND_ANSWER
            return r
    if nargs > 1:
        for i in range(n):
            vec[i] = args[i]
        vec[0] = args[1]
        vec[1] = args[0]
        return call_fitting(<PyObject*>f.entries, self, vec, nargs, kwnames, f.how, fit, found)
    for i in range(1, n):
        vec[i - 1] = args[i]
    vec[n - 1] = args[0]
    names = <tuple>kwnames + ("input",)      # as functions spell self
    return call_fitting(<PyObject*>f.entries, self, vec, 0, <PyObject*>names, f.how, fit, found)


# Deprecated orders of arguments, which PyTorch's parsers still take (tools/autograd/deprecated.yaml): numbers stand before tensors.
cdef dict older_forms = {}


cdef int enter_older_forms() except -1:
    for name, tensors in {"addbmm": "batch1 batch2", "addmm": "mat1 mat2", "addmv": "mat vec", "addr": "vec1 vec2",
                          "baddbmm": "batch1 batch2"}.items():
        a, b = tensors.split()
        older_forms[name] = older_forms[name + "_"] = (("beta", "self", "alpha", a, b), ("beta", "self", a, b))
    for name in ("addcdiv", "addcmul"):
        older_forms[name] = older_forms[name + "_"] = (("self", "value", "tensor1", "tensor2"),)
    for name in ("add", "sub"):
        older_forms[name] = older_forms[name + "_"] = (("self", "alpha", "other"),)
    return 0


enter_older_forms()


cdef PyObject* call_older(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int fit, int* found) noexcept:
    """`add(x, 2, y)` is `add(x, y, alpha=2)`."""
    cdef PyObject* vec[64]
    cdef PyObject* r
    cdef OpFunction f = <OpFunction>self
    cdef Py_ssize_t i, n = 0, given = PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0
    for form in older_forms[f.__name__]:
        if nargs != len(form) or given > 1 or given and "out" not in <tuple>kwnames:
            continue
        places = ["self", *[x for x in form if x != "self"]] if f.is_method else list(form)
        numbers = [i for i in range(nargs) if places[i] in ("alpha", "beta", "value")]
        n = 0
        for i in range(nargs):
            if i not in numbers:
                vec[n] = args[i]
                n += 1
        for i in range(len(numbers)):
            vec[n + i] = args[<Py_ssize_t>numbers[i]]
        for i in range(given):
            vec[nargs + i] = args[nargs + i]
        names = tuple([places[i] for i in numbers]) + (<tuple>kwnames if given else ())
        r = call_fitting(<PyObject*>f.entries, self, vec, n, <PyObject*>names, f.how, fit, found)
        if found[0]:
            if r == NULL or fit == FIT_TRIAL:
                return r
            try:
                advise_once("arguments", f"This overload of {f.__name__} is deprecated: it has numbers before tensors, "
                            "give them by keyword")
            except BaseException as e:
                Py_DECREF_(r)
                set_error(e)
                return NULL
            return r
    return NULL


cdef list names_of_outs(OperatorEntry e):
    cdef Py_ssize_t i
    return [<object>e.sig.args[i].name for i in range(e.sig.n_args) if e.sig.args[i].flags & AF_OUT]


cdef PyObject* call_with_out(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int fit, int* found) noexcept:
    """`max(x, 1, out=(values, indices))`: one tuple for an operator's several out arguments; `out=None` is no argument at all."""
    cdef PyObject* vec[64]
    cdef PyObject* r
    cdef Py_ssize_t i, given = PyTuple_GET_SIZE_(kwnames), n = nargs
    cdef bint asked = False
    cdef list names = []
    cdef object out = False
    if nargs + given > 56:
        return NULL
    for i in range(nargs):
        vec[i] = args[i]
    for i in range(given):
        name = <object>PyTuple_GET_ITEM_(kwnames, i)
        if name == "out":
            out = <object>args[nargs + i]
        else:
            names.append(name)
            vec[n] = args[nargs + i]
            n += 1
    if out is None:
        left = tuple(names)
        return call_variadic(self, vec, nargs, <PyObject*>left if names else NULL, fit, found)
    try:
        out = tuple(out) if isinstance(out, (tuple, list)) else ()       # a list could change while the arguments are read
    except BaseException:                     # of a subclass
        return NULL
    several = [outs for outs in [names_of_outs(<OperatorEntry>item) for item in (<OpFunction>self).entries] if len(outs) > 1]
    if not several or not 0 < len(out) <= 8:
        return NULL
    if not fit & FIT_SETTLED and fit != FIT_TRIAL and any_function_handler(args, nargs + given):
        r = ask_functions(self, args, nargs, kwnames, (<OpFunction>self).how, &asked)     # handlers get the tuple
        if asked:
            found[0] = FOUND_ANSWER
            return r
    for i in range(<Py_ssize_t>len(out)):
        vec[n + i] = <PyObject*>(<tuple>out)[i]
    for outs in several:
        if len(outs) != len(out):
            continue
        left = tuple(names + outs)
        r = call_fitting(<PyObject*>(<OpFunction>self).entries, self, vec, nargs, <PyObject*>left, (<OpFunction>self).how, fit,
                         found)
        if found[0]:
            return r
    return NULL


cdef PyObject* call_marked(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int fit, int* found) noexcept:
    """`zeros(2, requires_grad=True)`, `zeros(2, out=x, dtype=float32)`: factories as functions take what no schema has."""
    cdef PyObject* vec[64]
    cdef Py_ssize_t i, given = PyTuple_GET_SIZE_(kwnames), n = nargs
    cdef PyObject* mark = NULL
    cdef PyObject* r
    cdef list names = []
    cdef dict options = {}
    if nargs + given > 64 or not is_factory(<OpFunction>self):
        return NULL
    out = given_out(args + nargs, kwnames)
    for i in range(nargs):
        vec[i] = args[i]
    for i in range(given):
        name = <object>PyTuple_GET_ITEM_(kwnames, i)
        if name == "requires_grad":
            mark = args[nargs + i]
        elif out is not None and name in ("dtype", "layout", "device", "pin_memory"):
            options[name] = <object>args[nargs + i]
        else:
            names.append(name)
            vec[n] = args[nargs + i]
            n += 1
    if mark == NULL and not options or mark != NULL and not PyBool_Check_(mark) and mark != Py_None_:
        return NULL
    if options and fit != FIT_TRIAL:
        try:
            check_options((<OpFunction>self).__name__, out, options)
        except BaseException as e:
            found[0] = FOUND_OVERLOAD
            set_error(e)
            return NULL
    left = tuple(names)
    r = call_variadic(self, vec, nargs, <PyObject*>left if names else NULL, fit, found)
    if r != NULL and mark != NULL and fit != FIT_TRIAL and found[0] == FOUND_OVERLOAD and <object>mark:
        try:
            (<object>r).requires_grad_(True)
        except BaseException as e:
            Py_DECREF_(r)
            set_error(e)
            return NULL
    return r


cdef object given_out(PyObject** values, PyObject* kwnames):
    """The tensor that is given as `out`, or None."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE_(kwnames)):
        if <object>PyTuple_GET_ITEM_(kwnames, i) == "out" and PyObject_TypeCheck_(values[i], TENSOR):
            return <object>values[i]
    return None


cdef int check_options(str name, Tensor out, dict options) except -1:
    """Options beside `out=` make nothing: they say what it is, or are refused."""
    for option, value in options.items():
        if value is None or option == "pin_memory":
            continue
        is_this = device_of(value).type == out.device.type if option == "device" else value is getattr(out, option)
        if not is_this:
            wrong = TypeError if option != "device" and type(value) is not type(getattr(out, option)) else RuntimeError
            raise wrong(f"aten::{name}: argument {option!r}: expected that of out, {getattr(out, option)}, got {value!r:.80}")
    return 0


cdef bint is_factory(OpFunction f) noexcept:
    """Whether the operators make tensors from options: one has an argument `pin_memory`."""
    cdef OperatorEntry e
    cdef int i
    for item in f.entries:
        e = <OperatorEntry>item
        for i in range(e.sig.n_args):
            if <object>e.sig.args[i].name == "pin_memory":
                return True
    return False


cdef PyObject* call_packed(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, Py_ssize_t first, int fit,
                           int* found) noexcept:
    """`x.view(2, 3)`, `zeros(2, 3)`: the ints from `first` on stand for one int list."""
    cdef PyObject* vec[64]
    cdef Frame f
    cdef PyObject* r
    cdef PyObject* ints
    cdef PyObject* packed = NULL
    cdef Py_ssize_t i, nkw = PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0
    cdef bint asked = False
    if nkw > 60:
        return NULL
    ints = new_plain_ints(args + first, nargs - first) if nkw == 0 else NULL
    if ints == NULL:
        packed = pack_ints(args + first, nargs - first, fit == FIT_TRIAL)
        if packed == NULL:
            return NULL
        vec[0] = args[0]
        vec[first] = packed
        for i in range(nkw):
            vec[first + 1 + i] = args[nargs + i]
    for e in (<OpFunction>self).entries:
        if (<OperatorEntry>e).sig.n_pos != first + 1 or not takes_ints(&(<OperatorEntry>e).sig.args[first]):
            continue
        set_fit(&f, fit)
        if (match(&(<OperatorEntry>e).sig, vec, first + 1, kwnames, &f) if ints == NULL else
                match_ints(&(<OperatorEntry>e).sig, args, first, ints, &f)) == 0:
            found[0] = FOUND_OVERLOAD
            r = NULL
            if f.flags & TF_HAS_TORCH_FUNCTION and fit == FIT_FUNCTION:
                r = ask_functions(self, args, nargs, kwnames, (<OpFunction>self).how, &asked)
            if asked:
                found[0] = FOUND_ANSWER
            elif fit == FIT_TRIAL:
                r = give(True)
            else:
                complete_options(&(<OperatorEntry>e).sig, &f)
                r = dispatcher.call(<OperatorEntry>e, f.ks, f.flags, f.args)
            release_frame(&f)
            break
        release_frame(&f)
        if PyErr_Occurred() != NULL:             # MATCH_RAISED
            found[0] = FOUND_OVERLOAD
            r = NULL
            break
    else:
        r = NULL
    if ints != NULL:
        end_list(ints)
    Py_XDECREF_(packed)
    return r


cdef inline bint takes_ints(ArgSpec* spec) noexcept:
    """A list that may be spelled out; where the schema gives its length, one int stands for all of it."""
    return spec.kind == AK_INT and spec.flags & AF_LIST and not spec.flags & AF_LIST2 and not spec.size


cdef PyObject* pack_ints(PyObject** values, Py_ssize_t n, bint anything) noexcept:
    """A tuple of what may be ints; NULL when something may not, unless anything does, for handlers."""
    cdef Py_ssize_t i
    for i in range(n):
        if not anything and not PyIndex_Check_(values[i]):
            return NULL
    return give(tuple([<object>values[i] for i in range(n)]))


cdef PyObject* call_function(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef Py_ssize_t nargs = PyVectorcall_NARGS_(nargsf)
    cdef int found = FOUND_NONE
    cdef PyObject* r = NULL
    cdef PyObject* fixed
    if <PyObject*>(<OpFunction>self).packet == Py_None_ and find_now(self) < 0:
        return NULL
    if (<OpFunction>self).is_method and (nargs == 0 or not PyObject_TypeCheck_(args[0], TENSOR)):
        return refuse_self(<OpFunction>self, args, nargs)
    if n_function_modes != 0:
        r = call_asking(self, args, nargs, kwnames, &found)
    if found == FOUND_NONE:
        r = call_variadic(self, args, nargs, kwnames, FIT_FUNCTION | (FIT_SETTLED if n_function_modes != 0 else 0), &found)
    if found == FOUND_NONE and n_function_modes == 0:
        r = call_asking(self, args, nargs, kwnames, &found)
    if found == FOUND_NONE:
        if kwnames != NULL and refuse_device(args + nargs, kwnames):
            return NULL
        refuse_packet(<PyObject*>(<OpFunction>self).packet, (<OpFunction>self).entries, args, nargs, kwnames, <PyObject*>TypeError)
        return NULL
    if found == FOUND_ANSWER:
        return r
    if r == NULL:
        return name_failure()
    if Py_TYPE_(r) != TENSOR:
        if PyList_CheckExact_(r):
            fixed = PyList_AsTuple_(r)      # functions and methods give tuples where operators give lists
            Py_DECREF_(r)
            return fixed
        if PyTuple_CheckExact_(r):
            return with_names(self, r, args, nargs, kwnames)
        if (PyLong_Check_(r) or PyFloat_Check_(r) or PyComplex_Check_(r)) and gives_tensors(<OpFunction>self):
            Py_DECREF_(r)
            return refuse_number((<OpFunction>self).packet)
    if nargs != 0 and r != args[0] and writes_first((<OpFunction>self).packet):
        Py_INCREF_(args[0])                 # `x.add_(1)` is x, whatever a mode gave back
        Py_DECREF_(r)
        return args[0]
    return r


cdef PyObject* name_failure() noexcept:
    """The exception that is set, as functions and methods raise it."""
    if PyErr_ExceptionMatches(TypeError):
        try:
            raise_failure()
        except TypeError as e:
            set_error(RuntimeError(str(e)) if type(e) is TypeError and hasattr(e, "_not_several") else e)
    return NULL


cdef int raise_failure() except -1:
    """Raise what is set."""
    return -1


cdef dict named_classes = {}             # (name, number of results, out=) -> class of the results, or None


cdef PyObject* with_names(PyObject* self, PyObject* r, PyObject** args, Py_ssize_t nargs, PyObject* kwnames) noexcept:
    """Several results in a tuple with the schema's names, if it has names. Steals `r`."""
    cdef object plain
    cdef OpFunction f = <OpFunction>self
    cdef PyObject* made
    cdef bint out = False
    try:
        plain = tuple([tuple(x) if type(x) is list else x for x in <tuple>r]) if holds_list(<tuple>r) else <object>r
        if kwnames != NULL and "out" in <tuple>kwnames:
            out = args[nargs + (<tuple>kwnames).index("out")] != Py_None_
        key = (f.__name__, len(plain), out)
        cls = named_classes.get(key, False)
        if cls is False:
            cls = named_classes[key] = class_of_results(f.packet, len(plain), f.__name__ + ("_out" if out else ""))
        made = give(plain if cls is None else cls(plain))
    except BaseException as e:
        set_error(e)
        made = NULL
    Py_DECREF_(r)
    return made


cdef inline bint holds_list(tuple results) noexcept:
    """Whether a list is among several results: functions and methods give a tuple for it too."""
    for x in results:
        if type(x) is list:
            return True
    return False


cdef object class_of_results(OpOverloadPacket p, Py_ssize_t n, str name):
    for item in p.overload_entries:
        if (<OperatorEntry>item).sig.n_rets == n and n > 1:
            fields = tuple([x.name for x in schema_of(<OperatorEntry>item).returns])
            if all(fields):
                return named(name, fields)
    return None


def _named_results(str name):
    """The class of the aten operator's named results; None when it has none."""
    cdef OpOverloadPacket p = find_packet("aten::" + name.removesuffix("_out"))
    cdef int n
    if p is not None:
        for n in range(2, 8):
            found = class_of_results(p, n, name)
            if found is not None:
                return found
    return None


cdef bint refuse_device(PyObject** values, PyObject* kwnames) noexcept:
    """Set a RuntimeError when `device` is a text that names no device: the text is read after the arguments have fitted."""
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE_(kwnames)):
        try:
            if str.__str__(<object>PyTuple_GET_ITEM_(kwnames, i)) == "device" and isinstance(<object>values[i], str):
                device_of(<object>values[i])
        except BaseException as e:
            set_error(e)
            return True
    return False


cdef inline bint writes_first(OpOverloadPacket p) noexcept:
    return PyList_GET_SIZE_(<PyObject*>p.overload_entries) and \
        (<OperatorEntry>PyList_GET_ITEM_(<PyObject*>p.overload_entries, 0)).flags & OF_INPLACE


cdef bint gives_tensors(OpFunction f) noexcept:
    """Whether every overload returns one tensor."""
    cdef OperatorEntry e
    for item in f.entries:
        e = <OperatorEntry>item
        if e.sig.n_rets != 1 or e.sig.rets[0].kind != AK_TENSOR or e.sig.rets[0].flags & AF_LIST:
            return False
    return True


cdef PyObject* refuse_number(OpOverloadPacket p) noexcept:
    """A mode may answer some operators with a number (`ops.aten.add`), but not functions and methods."""
    set_error(RuntimeError(f"{p._qualified_op_name}: Unable to cast to Tensor the number that a mode or a subclass returned"))
    return NULL


cdef PyObject* refuse_self(OpFunction f, PyObject** args, Py_ssize_t nargs) noexcept:
    what = "needs an argument" if nargs == 0 else f"doesn't apply to a '{type(<object>args[0]).__name__}' object"
    set_error(TypeError(f"Tensor.{f.__name__} {what}"))
    return NULL


cdef int find_now(PyObject* self) noexcept:
    try:
        packet_of(<OpFunction>self)
    except BaseException as e:
        set_error(e)
        return -1
    return 0


cdef PyObject* call_asking(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int* found) noexcept:
    """The answer of handlers to arguments that fit some overload when objects with a handler stand for anything."""
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off, fits = FOUND_NONE
    cdef bint asked = False
    cdef PyObject* r
    cdef Py_ssize_t n = nargs + (PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0)
    if off == 2 or (ts.n_function_modes == 0 and not any_function_handler(args, n)):
        return NULL
    ts.torch_function_off = 2               # looking at the arguments' values is no call
    r = call_variadic(self, args, nargs, kwnames, FIT_TRIAL, &fits)
    ts.torch_function_off = off
    if r != NULL:
        Py_DECREF_(r)
    if fits == FOUND_NONE:
        return NULL
    r = ask_functions(self, args, nargs, kwnames, (<OpFunction>self).how, &asked)
    if asked:
        found[0] = FOUND_ANSWER
    return r


cdef str room_of(str name):
    """The module of the package that has this function, being none of the package itself."""
    start = name.partition("_")[0]
    return start if start in ("fft", "linalg", "special") else "nn"


cdef class OpFunction:
    """An operator as a function of the package or a method of Tensor: arguments that fit no overload are a TypeError."""

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = call_function

    def __call__(self, *args, **kwargs):
        return call_vector(self, args, kwargs)

    def __get__(self, instance, owner):
        if instance is None or not self.is_method:
            return self
        return PyMethod_New_(self, instance)

    def __reduce__(self):
        return (_find_room_function, (self.__name__,)) if self.in_room else (_find_function, (self.__name__, self.is_method))

    def __repr__(self):
        if self.is_method:
            return f"<method '{self.__name__}' of '{full_name('_C.TensorBase')}' objects>"
        if self.in_room:
            return f"<built-in function {self.__name__}>"
        return f"<built-in method {self.__name__} of type object at {<Py_ssize_t><void*>self:#x}>"

    @property
    def __qualname__(self):
        if self.in_room:
            return self.__name__
        return f"{'TensorBase' if self.is_method else '_VariableFunctionsClass'}.{self.__name__}"

    @property
    def __module__(self):
        if self.in_room:
            return full_name("_C._" + room_of(self.__name__))
        return None if self.is_method else package_name()

    @property
    def __doc__(self):
        return _described(packet_of(self))

    @property
    def __signature__(self):
        return _described(packet_of(self), "signature")


@cython.final
cdef class OpMethod(OpFunction):
    """A method of Tensor. What looks it up and calls it in one passes the instance first, which a function in a class does not
    get."""

    @property
    def __doc__(self):                   # else the text of this class
        return _described(packet_of(self))


cdef dict functions = {}


cdef bint takes_only_self(OpOverloadPacket p) noexcept:
    """Whether the method has one overload and that no argument but self: PyTorch does not parse for it, and counts `self` in."""
    cdef int n = 0
    for e in p.overload_entries:
        if (<OperatorEntry>e).flags & OF_METHOD:
            n += 1
            if (<OperatorEntry>e).sig.n_args != 1:
                return False
    return n == 1


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
    return new_function(name, is_method)


cdef OpFunction new_function(str name, bint is_method):
    """Its packet is looked up at the first call."""
    cdef OpFunction f = OpMethod.__new__(OpMethod) if is_method else OpFunction.__new__(OpFunction)
    f.__name__ = name
    f.is_method = is_method
    functions[(name, is_method)] = f
    return f


cdef dict room_functions = {}            # name -> OpFunction


def _find_room_function(str name):
    """The aten operator `name` as a function of a module of its own (`linalg_det`): all of its overloads; None without one."""
    cdef OpFunction f = room_functions.get(name)
    if f is None and find_packet("aten::" + name) is not None:
        f = new_function(name, False)
        del functions[(name, False)]
        f.in_room = True
        room_functions[name] = f
    return f


cdef bint refuses_int(OperatorEntry e, int place):
    """Whether no int is taken at this place, where it may still be the first of a list that is spelled out."""
    if place >= e.sig.n_pos:
        return True
    cdef ArgSpec* spec = &e.sig.args[place]
    return takes_ints(spec) or spec.kind == AK_DTYPE or spec.kind == AK_DIMNAME


cdef OpOverloadPacket packet_of(OpFunction f):
    cdef OpOverloadPacket p
    if f.packet is None:
        p = find_packet("aten::" + f.__name__)
        f.entries = ordered_entries(p, EVERY_OVERLOAD if f.in_room else OF_METHOD if f.is_method else OF_FUNCTION)
        f.moves_self = f.is_method and bool(f.entries) and <object>(<OperatorEntry>f.entries[0]).sig.args[0].name != "self"
        f.packs = all([refuses_int(<OperatorEntry>e, 1 if f.is_method else 0) for e in f.entries])
        f.how = ASK_SELF if f.is_method and takes_only_self(p) else 0
        f.packet = p                         # last: calls look at it for the rest
    return f.packet


def _enter_methods(dict attributes):
    """Give a class dictionary the methods of all operators that have one, but for names that it has."""
    for name in _emitted_methods():
        if name not in attributes:
            attributes[name] = new_function(name, True)


cdef int enable_calls() except -1:
    cdef OpFunction f = OpFunction.__new__(OpFunction)
    cdef Py_ssize_t offset = <char*>&f.vectorcall - <char*><void*>f
    enable_vectorcall(<PyTypeObject*>OpFunction, offset, 0)
    enable_vectorcall(<PyTypeObject*>OpMethod, offset, Py_TPFLAGS_METHOD_DESCRIPTOR)
    return 0


enable_calls()
