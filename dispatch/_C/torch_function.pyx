"""`__torch_function__`: who is asked before an operator, a method or a property of Tensor runs, and what the answer is.

Called by the vectorcall entries (`overload`, `function`) and by the attributes of Tensor that `_watch_*` wraps, when a function
mode is active or an argument has a handler; the rules are those of torch.overrides. A mode is off while it handles a call, and
comes back in every case.
"""
import warnings

cimport cython
from cpython.mem cimport PyMem_RawRealloc
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.type cimport PyType_Modified

from dispatch._C.function_handlers cimport any_function_handler, has_function_handler, holds_function_handler
from dispatch._C.naming cimport full_name, package_name
from dispatch._C.python_api cimport (
    PyList_Check_, PyMethod_New_, PyObject_TypeCheck_, PyTuple_Check_, PyTuple_GET_ITEM_, PyTuple_GET_SIZE_,
    PyVectorcall_Call_, PyVectorcall_NARGS_, Py_TPFLAGS_METHOD_DESCRIPTOR, Py_TYPE_, enable_vectorcall, try_vectorcall,
    vectorcall_fn,
)
from dispatch._C.references cimport give, set_error, take
from dispatch._C.stack cimport check_depth
from dispatch._C.tensor cimport TF_HAS_TORCH_FUNCTION, Tensor
from dispatch._C.tls cimport ThreadState, check_owner, tls

from dispatch._C.dtypes import _watch_devices, device
from dispatch._C.grad_mode import _watch_grad_mode
from dispatch._C.disabled import _disabled_torch_dispatch_impl, _disabled_torch_function_impl

cdef extern from *:
    """
    static inline PyObject* dispatch_descriptor_get(PyObject* d, PyObject* o, PyObject* cls) {
        return Py_TYPE(d)->tp_descr_get(d, o, cls);
    }
    /* How a property of a compiled class is read; NULL for another descriptor. */
    static inline getter dispatch_getter_of(PyObject* d, void** closure) {
        if (!Py_IS_TYPE(d, &PyGetSetDescr_Type)) return NULL;
        *closure = ((PyGetSetDescrObject*)d)->d_getset->closure;
        return ((PyGetSetDescrObject*)d)->d_getset->get;
    }
    static inline int dispatch_descriptor_set(PyObject* d, PyObject* o, PyObject* value) {
        descrsetfunc set = Py_TYPE(d)->tp_descr_set;
        if (set) return set(d, o, value);
        PyErr_Format(PyExc_AttributeError, "attribute of %.100s is read-only", Py_TYPE(o)->tp_name);
        return -1;
    }
    static __thread int dispatch_skip_function;      /* the next call asks nobody */
    static __thread int dispatch_skipped_function;   /* the last call asked nobody for that reason */
    static __thread PyObject* dispatch_handled_function;    /* what the innermost handler was asked about; only compared */
    """
    object dispatch_descriptor_get(PyObject* d, PyObject* o, PyObject* cls)
    ctypedef object (*getter)(PyObject* o, void* closure)
    getter getter_of "dispatch_getter_of"(PyObject* d, void** closure) noexcept
    int dispatch_descriptor_set(PyObject* d, PyObject* o, PyObject* value) except -1
    bint skip_next "dispatch_skip_function"
    bint skipped "dispatch_skipped_function"
    PyObject* handled "dispatch_handled_function"

__all__: list = []

cdef PyObject* TENSOR = <PyObject*>Tensor
cdef str HANDLER = "__torch_function__"


# ---- who is asked -----------------------------------------------------------------------------------------------------

cdef int collect(list found, object o, int depth) except -1:
    """Add `o`, or the items of a list or tuple, to the handlers: one for each class, subclasses before their bases."""
    if isinstance(o, (list, tuple)):
        if depth > 0:
            for item in list(o):
                collect(found, item, depth - 1)
    elif has_function_handler(<PyObject*>o):
        add_handler(found, o)
    return 0


cdef int add_handler(list found, object o) except -1:
    cdef Py_ssize_t i, place = len(found)
    cdef object cls = type(o)
    for i in range(len(found)):
        if type(found[i]) is cls:
            return 0
    for i in range(len(found)):
        if issubclass(cls, type(found[i])):
            place = i
            break
    found.insert(place, o)
    return 0


# ---- asking ----------------------------------------------------------------------------------------------------------

cdef PyObject* ask_functions(PyObject* func, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int how, bint* asked) noexcept:
    global skip_next, skipped
    cdef ThreadState* ts = tls()
    cdef bint with_mode = ts.n_function_modes > 0
    if skip_next:
        skip_next = False
        skipped = True
        return NULL
    if ts.torch_function_off == 2 or (ts.torch_function_off == 1 and not with_mode):
        return NULL
    try:
        return give(answered(<object>func, args, nargs, kwnames, how, ts, asked))
    except BaseException as error:
        if not asked[0]:
            asked[0] = True
        set_error(error)
        return NULL


cdef object answered(object func, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int how, ThreadState* ts, bint* asked):
    """The handlers' answer; None with `asked` False when there is none to ask."""
    cdef Py_ssize_t i, nkw = PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0
    cdef Py_ssize_t asking = min(1, nargs) if how & ASK_OWN else nargs + nkw
    cdef list found = []
    cdef tuple positional
    cdef dict keywords = None
    if ts.torch_function_off == 0:
        for i in range(asking):
            collect(found, <object>args[i], 2 if how & ASK_NESTED else 1)
    if not found and ts.n_function_modes == 0:
        return None
    asked[0] = True
    if how & ASK_TENSORS and ts.torch_function_off == 0:
        found = _overloaded_arguments([<object>args[i] for i in range(asking)])
    elif how & ASK_SELF and nargs > 0 and isinstance(<object>args[0], Tensor):
        add_handler(found, <object>args[0])
    positional = tuple([<object>args[i] for i in range(nargs)])
    if nkw or how & ASK_KEYWORDS or (how == 0 and <PyObject*>func == handled):     # a handler says `func(*args, **kwargs)`
        keywords = {}
        for i in range(nkw):
            keywords[<object>PyTuple_GET_ITEM_(kwnames, i)] = <object>args[nargs + i]
    return answer_of(func, found, positional, keywords, ts, UserWarning)


cdef object answer_of(object func, list found, tuple args, dict kwargs, ThreadState* ts, object warning):
    """`warning`: the category for a handler that is no classmethod; functions written in Python have another one in PyTorch."""
    global handled
    cdef PyObject* before = handled
    handled = <PyObject*>func
    try:
        return first_answer(func, found, args, kwargs, ts, warning)
    finally:
        handled = before


cdef object first_answer(object func, list found, tuple args, dict kwargs, ThreadState* ts, object warning):
    cdef tuple types = tuple([type(o) for o in found])
    cdef tuple given = (func, types, args) if kwargs is None else (func, types, args, kwargs)
    check_depth(" in __torch_function__")
    if ts.torch_function_off != 2 and ts.n_function_modes > 0:
        result = ask_mode(given, ts)
        if result is not NotImplemented:
            return result
    for o in found:
        result = handler_of(o, warning)(*given)
        if result is not NotImplemented:
            return result
    raise_declined(func, types)


cdef object ask_mode(tuple given, ThreadState* ts):
    """What the innermost mode answers, with itself off."""
    cdef object mode
    ts.n_function_modes -= 1
    mode = <object>ts.function_modes[ts.n_function_modes]
    Py_DECREF(mode)                                   # the stack's reference; `mode` holds one of its own
    try:
        handler = mode.__torch_function__
        if getattr(handler, "__self__", None) is not mode:
            raise RuntimeError(f"{type(mode).__name__}.__torch_function__ of a mode: classmethod is not supported, please make it "
                               "a plain method; a static one is not either")
        return handler(*given)
    finally:
        push_function_mode(ts, mode)


cdef object handler_of(object o, object warning):
    handler = o.__torch_function__
    if getattr(handler, "__self__", None) is o:
        warnings.warn("`__torch_function__` as a plain method is deprecated, define it as a classmethod", warning, stacklevel=2)
    return handler


cdef object raise_declined(object func, tuple types):
    cdef ThreadState* ts = tls()
    mode = ""
    if ts.n_function_modes:
        mode = f" and mode object {<object>ts.function_modes[ts.n_function_modes - 1]!r}"
    name = getattr(func, "__qualname__", getattr(func, "__name__", str(func))).rpartition(".")
    named = full_name(f"{'Tensor.' if name[0] in ('Tensor', 'TensorBase') else ''}{name[2]}")
    raise TypeError(f"Multiple dispatch failed for '{named}'; all __torch_function__ handlers returned NotImplemented: those of "
                    f"{[t.__name__ for t in types]}{mode}")


cdef int push_function_mode(ThreadState* ts, object mode) except -1:
    cdef PyObject** grown
    cdef int wanted = 2 * ts.cap_function_modes if ts.cap_function_modes else 8
    if ts.n_function_modes == ts.cap_function_modes:
        grown = <PyObject**>PyMem_RawRealloc(ts.function_modes, wanted * sizeof(PyObject*))
        if grown == NULL:
            raise MemoryError()
        ts.function_modes = grown
        ts.cap_function_modes = wanted
    Py_INCREF(mode)
    ts.function_modes[ts.n_function_modes] = <PyObject*>mode
    ts.n_function_modes += 1
    return 0


# ---- the stack of function modes -------------------------------------------------------------------------------------

def _push_on_torch_function_stack(mode):
    """Makes `mode` the innermost function mode. None does nothing."""
    global n_function_modes, watching
    cdef ThreadState* ts = tls()
    if mode is None:
        return
    check_owner(ts)
    push_function_mode(ts, mode)
    n_function_modes += 1
    if not watching:
        watching = True
        _watch_devices(ask_for_device)
        _watch_grad_mode(ask_for_grad_mode)


cdef bint watching = False               # what is no function asks modes too, once there was one


def ask_for_device(tuple args, dict kwargs):
    """What the function modes answer to `device(*args, **kwargs)`; None without one."""
    cdef ThreadState* ts = tls()
    if ts.n_function_modes == 0 or ts.torch_function_off == 2:
        return None
    return answer_of(device, [], args, kwargs if kwargs else None, ts, UserWarning)


def ask_for_grad_mode(func, bint enabled):
    """Whether there are function modes, which `func(enabled)` is left to."""
    cdef ThreadState* ts = tls()
    if ts.n_function_modes == 0 or ts.torch_function_off == 2:
        return False
    answer_of(func, [], (enabled,), None, ts, UserWarning)
    return True


def _pop_torch_function_stack():
    """Takes the innermost function mode off and returns it; RuntimeError when there is none."""
    global n_function_modes
    cdef ThreadState* ts = tls()
    if ts.n_function_modes == 0:
        raise RuntimeError("cannot pop a mode: the stack is empty")
    ts.n_function_modes -= 1
    mode = <object>ts.function_modes[ts.n_function_modes]
    Py_DECREF(mode)
    n_function_modes -= 1
    return mode


def _len_torch_function_stack():
    """How many function modes are active."""
    return tls().n_function_modes


def _get_function_stack_at(int index):
    """The function mode at this place, outermost first; RuntimeError outside of the stack."""
    cdef ThreadState* ts = tls()
    if 0 <= index < ts.n_function_modes:
        return <object>ts.function_modes[index]
    raise RuntimeError(f"no function mode at {index}: there are {ts.n_function_modes}")


# ---- for functions written in Python ---------------------------------------------------------------------------------

cdef bint is_anyone_there(object values) except -1:
    global skip_next
    cdef ThreadState* ts = tls()
    if ts.torch_function_off == 2:
        return False
    if ts.n_function_modes == 0 and ts.torch_function_off == 1:
        return False
    for o in values:
        if ts.n_function_modes > 0 or has_function_handler(<PyObject*>o):
            if skip_next:
                break
            return True
    skip_next = False
    return False


def _has_torch_function(values):
    """Whether a function mode is active, or an item of `values` has a `__torch_function__` (torch.overrides.has_torch_function)."""
    if not isinstance(values, (tuple, list)):
        try:
            values = tuple(values)
        except TypeError:
            raise TypeError("has_torch_function: expected a sequence") from None
    return is_anyone_there(values)


def _has_torch_function_unary(value):
    """`_has_torch_function((value,))`."""
    return is_anyone_there((value,))


def _has_torch_function_variadic(*values):
    """`_has_torch_function(values)`."""
    return is_anyone_there(values)


def _asks_nobody(tuple args not None, dict kwargs not None):
    """Whether no function mode is on and no argument, nor an item of one, has a handler: then a function asks nobody, whichever
    of its arguments it would ask."""
    cdef Py_ssize_t i
    cdef PyObject* o
    if n_function_modes != 0 or skip_next:
        return False
    for i in range(len(args)):
        o = PyTuple_GET_ITEM_(<PyObject*>args, i)
        if any_function_handler(&o, 1):
            return False
    for value in kwargs.values():
        o = <PyObject*>value
        if any_function_handler(&o, 1):
            return False
    return True


def _overloaded_arguments(values):
    """Of `values` those whose handlers are asked, in that order; exact Tensors count."""
    cdef list found = []
    if tls().torch_function_off != 0:
        return found
    for o in values:
        handler = getattr(type(o), HANDLER, None)
        if handler is not None and handler is not _disabled_torch_function_impl:
            add_handler(found, o)
    return found


def _ask_torch_function(func, values, tuple args, dict kwargs):
    """What torch.overrides.handle_torch_function returns or raises."""
    return answer_of(func, _overloaded_arguments(values), args, kwargs, tls(), DeprecationWarning)


def _maybe_call_torch_function_for_op_packet(packet, /, *args, **kwargs):
    """(whether somebody was asked, the answer) for a call of an operator packet."""
    cdef list found = []
    cdef ThreadState* ts = tls()
    if ts.torch_function_off == 0:
        for o in (*args, *kwargs.values()):
            collect(found, o, 1)
    if found or (ts.n_function_modes > 0 and ts.torch_function_off != 2):
        return True, answer_of(packet, found, args, kwargs, ts, UserWarning)
    return False, None


def _set_skip_next_torch_function(bint value):
    """Whether the next call that would ask handlers runs without them."""
    global skip_next
    skip_next = value


def _peek_should_skip_torch_function():
    """Whether the next call runs without its handlers."""
    return skip_next


def _skip_one_hop_torch_function(func, types, args=(), kwargs=None):
    """`func(*args, **kwargs)` without asking for this call; calls inside of it ask again (torch.overrides.redispatch_function)."""
    global skip_next
    cdef bint before = skip_next
    skip_next = True
    try:
        return func(*args, **(kwargs or {}))
    finally:
        skip_next = before


# ---- Tensor's own handler --------------------------------------------------------------------------------------------

cdef object nowrap = None


def _nowrap_functions():
    """Functions whose results stay what they are under the default handler."""
    global nowrap
    if nowrap is None:
        nowrap = {Tensor._base.__get__, Tensor.grad.__get__}
    return nowrap


def _convert(result, cls):
    """`result` with the tensors in it as instances of `cls`, in lists and tuples too."""
    if cls is Tensor:
        return result
    if isinstance(result, Tensor) and not isinstance(result, cls):
        result = result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        kind = type(result)
        items = [_convert(item, cls) for item in result]
        return kind(items) if kind is list or kind is tuple or not hasattr(kind, "_make") else kind._make(items)
    return result


def __torch_function__(cls, func, types, args=(), kwargs=None):
    """`Tensor.__torch_function__`: runs `func`; tensors in the result become instances of `cls`.

    NotImplemented when some class among `types` is no base of `cls`.
    """
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    for t in types:
        if not issubclass(cls, t):
            return NotImplemented
    if off == 0:
        ts.torch_function_off = 1
    try:
        result = func(*args, **(kwargs or {}))
        return result if func in _nowrap_functions() else _convert(result, cls)
    finally:
        ts.torch_function_off = off


tensor_handler = __torch_function__


def init_subclass(cls, **kwargs):
    """A class with a `__torch_dispatch__` of its own sees calls there only, unless it has its own `__torch_function__` as well."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    if cls.__torch_dispatch__ is not _disabled_torch_dispatch_impl and \
            getattr(cls.__torch_function__, "__func__", None) is tensor_handler:
        cls.__torch_function__ = _disabled_torch_function_impl


# ---- attributes of Tensor that ask first -----------------------------------------------------------------------------

cdef PyObject* call_watched(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    global skipped
    cdef Watched w = <Watched>self
    cdef Py_ssize_t n = PyVectorcall_NARGS_(nargsf)
    cdef bint asked = False
    cdef PyObject* r
    if w.of_tensor and (n == 0 or not PyObject_TypeCheck_(args[0], TENSOR)):
        return call_foreign(w, args, n, kwnames)
    if n_function_modes != 0 or (not w.only_modes and is_anyone_given(w, args, n, kwnames)):
        skipped = False
        r = ask_watched(w, args, n, kwnames, &asked)
        if asked:
            return r
        if skipped:
            return call_quietly(w, args, n, kwnames)
    if w.only_modes:
        return call_quietly(w, args, n, kwnames)
    return try_vectorcall(<PyObject*>w.function, args, <size_t>n, kwnames)


cdef PyObject* ask_watched(Watched w, PyObject** args, Py_ssize_t n, PyObject* kwnames, bint* asked) noexcept:
    cdef PyObject* shown = <PyObject*>(w if w.shown is None else w.shown)
    cdef PyObject* vec[16]                # no layout has as many
    cdef tuple positional, given, names = ()
    cdef Py_ssize_t i
    if w.layout is None:
        return ask_functions(shown, args, n, kwnames, w.how, asked)
    try:
        if kwnames != NULL:
            names = <tuple><object>kwnames
        positional, keywords = w.layout(*[<object>args[i] for i in range(n)],
                                        **{names[i]: <object>args[n + i] for i in range(len(names))})
        names = tuple(keywords)
        given = positional + tuple(keywords.values())
        assert len(given) <= 16
    except BaseException as error:
        asked[0] = True
        set_error(error)
        return NULL
    for i in range(len(given)):
        vec[i] = PyTuple_GET_ITEM_(<PyObject*>given, i)
    return ask_functions(shown, vec, len(positional), <PyObject*>names, w.how, asked)


cdef PyObject* call_foreign(Watched w, PyObject** args, Py_ssize_t n, PyObject* kwnames) noexcept:
    """A method by the class on something else: what is Python in PyTorch asks any object's handler, all else is an error."""
    cdef bint asked = False
    cdef PyObject* r
    if n > 0 and w.how & ASK_KEYWORDS and has_function_handler(args[0]):
        r = ask_watched(w, args, n, kwnames, &asked)
        if asked:
            return r
    return refuse_self(w, args, n)


cdef PyObject* call_quietly(Watched w, PyObject** args, Py_ssize_t n, PyObject* kwnames) noexcept:
    """What runs after `_skip_one_hop_torch_function`: of functions that PyTorch has in C++, handlers see nothing inside."""
    global skipped
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    cdef PyObject* r
    skipped = False
    if not w.how & ASK_KEYWORDS:
        ts.torch_function_off = 2
    r = try_vectorcall(<PyObject*>w.function, args, <size_t>n, kwnames)
    ts.torch_function_off = off
    return r


cdef PyObject* refuse_self(Watched w, PyObject** args, Py_ssize_t n) noexcept:
    what = "needs an argument" if n == 0 else f"doesn't apply to a '{type(<object>args[0]).__name__}' object"
    set_error(TypeError(f"Tensor.{w.__name__} {what}"))
    return NULL


cdef inline bint is_anyone_given(Watched w, PyObject** args, Py_ssize_t n, PyObject* kwnames) noexcept:
    if w.of_tensor:
        return carries_handler(args, min(1, n) if w.how & ASK_OWN else n, w.how & ASK_NESTED)
    return any_function_handler(args, n + (PyTuple_GET_SIZE_(kwnames) if kwnames != NULL else 0))


cdef inline bint carries_handler(PyObject** args, Py_ssize_t n, int nested) noexcept:
    """A quick look: the tensor itself, or an argument that is not plain."""
    cdef Py_ssize_t i
    if n > 0 and PyObject_TypeCheck_(args[0], TENSOR) and (<Tensor>args[0]).c_flags & TF_HAS_TORCH_FUNCTION:
        return True
    for i in range(1, n):
        if PyTuple_Check_(args[i]) or PyList_Check_(args[i]):
            if holds_function_handler(args[i], 1 if nested else 0):
                return True
        elif has_function_handler(args[i]):
            return True
    return False


cdef class Watched:
    """A function or method that asks `__torch_function__` before it runs."""
    cdef vectorcall_fn vectorcall
    cdef object function             # what runs
    cdef object shown                # what handlers are shown; None: this object
    cdef readonly object layout      # arguments as handlers are shown them; None: as given
    cdef object twin                 # the slot of Tensor that it is in PyTorch, under another name, and equal to here; or None
    cdef readonly str __name__
    cdef int how
    cdef bint of_tensor              # a method: binds, and refuses to ask for others than tensors
    cdef bint only_modes             # arguments are not asked

    def __cinit__(self, function, str name, shown, int how, bint of_tensor, bint only_modes):
        self.vectorcall = call_watched
        self.function = function
        self.__name__ = name
        self.shown = shown
        self.how = how
        self.of_tensor = of_tensor
        self.only_modes = only_modes

    def __call__(self, *args, **kwargs):
        return take(PyVectorcall_Call_(<PyObject*>self, <PyObject*>args, <PyObject*>kwargs))

    def __get__(self, instance, owner):
        return self if instance is None or not self.of_tensor else PyMethod_New_(self, instance)

    def __eq__(self, other):
        return self is other or (self.twin is not None and self.twin is other)

    def __hash__(self):
        return hash(self.twin) if self.twin is not None else object.__hash__(self)

    def __reduce__(self):
        if self.twin is not None:
            return getattr, (Tensor, self.twin.__name__)
        return (getattr, (Tensor, self.__name__)) if self.of_tensor else self.__name__      # a name of the package `__module__`

    def __repr__(self):
        return f"<method '{self.__name__}' of '{full_name('Tensor')}' objects>" if self.of_tensor else f"<function {self.__name__}>"

    @property
    def __wrapped__(self):
        """The function that runs when nobody answers."""
        return self.function

    @property
    def __doc__(self):
        return self.function.__doc__

    @property
    def __module__(self):
        return package_name()

    @property
    def __qualname__(self):
        return f"Tensor.{self.__name__}" if self.of_tensor else self.__name__


@cython.final
cdef class WatchedMethod(Watched):
    """A method. What looks it up and calls it in one passes the instance first, which a function in a class does not get."""

    @property
    def __doc__(self):                   # else the text of this class
        return self.function.__doc__


@cython.final
cdef class WatchedProperty:
    """A property of Tensor that asks `__torch_function__` before it is read, written or deleted."""
    cdef object inner                # the descriptor below
    cdef getter get                  # what reads it, where that is C and takes any tensor; NULL
    cdef void* closure
    cdef readonly str __name__
    cdef bint setter_asks

    def __cinit__(self, inner, str name, bint setter_asks):
        if not hasattr(type(inner), "__get__") or not hasattr(type(inner), "__set__"):
            raise TypeError(f"expected a property, got {type(inner).__name__}")
        self.inner = inner
        if getattr(inner, "__objclass__", None) is Tensor:
            self.get = getter_of(<PyObject*>inner, &self.closure)
        self.__name__ = name
        self.setter_asks = setter_asks

    def __get__(self, instance, owner):
        global skipped
        cdef PyObject* o = <PyObject*>instance
        cdef bint asked = False
        if instance is None:
            return self
        if PyObject_TypeCheck_(o, TENSOR):
            if n_function_modes != 0 or (<Tensor>o).c_flags & TF_HAS_TORCH_FUNCTION:
                skipped = False
                r = asked_for(self.__get__, (instance,), &asked)
                if asked:
                    return r
                if skipped:
                    return get_quietly(self.inner, o)
            if self.get != NULL:
                return self.get(o, self.closure)
        return dispatch_descriptor_get(<PyObject*>self.inner, o, Py_TYPE_(o))

    def __set__(self, instance, value):
        cdef bint asked = False
        if self.setter_asks and is_asked(instance):
            asked_for(self.__set__, (instance, value), &asked)
            if asked:
                return
        dispatch_descriptor_set(<PyObject*>self.inner, <PyObject*>instance, <PyObject*>value)

    def __delete__(self, instance):
        cdef bint asked = False
        if self.setter_asks and is_asked(instance):
            asked_for(self.__delete__, (instance,), &asked)
            if asked:
                return
        try:
            dispatch_descriptor_set(<PyObject*>self.inner, <PyObject*>instance, NULL)
        except NotImplementedError:          # of a compiled property that knows no deleting
            raise RuntimeError(f"Tensor.{self.__name__} cannot be deleted: delete the tensor instead") from None

    def __repr__(self):
        return f"<attribute '{self.__name__}' of '{full_name('_C.TensorBase')}' objects>"

    @property
    def __qualname__(self):
        return f"TensorBase.{self.__name__}"

    @property
    def __objclass__(self):
        return Tensor

    @property
    def __wrapped__(self):
        """The descriptor that answers when nobody else does."""
        return self.inner

    @property
    def __doc__(self):
        return self.inner.__doc__


cdef object get_quietly(object inner, PyObject* o):
    global skipped
    cdef ThreadState* ts = tls()
    cdef int off = ts.torch_function_off
    skipped = False
    ts.torch_function_off = 2
    try:
        return dispatch_descriptor_get(<PyObject*>inner, o, Py_TYPE_(o))
    finally:
        ts.torch_function_off = off


cdef inline bint is_asked(object instance) noexcept:
    return isinstance(instance, Tensor) and (n_function_modes != 0 or (<Tensor>instance).c_flags & TF_HAS_TORCH_FUNCTION)


cdef object asked_for(object func, tuple args, bint* asked):
    """The answer to an access of a property."""
    cdef PyObject* vec[2]
    cdef PyObject* r
    vec[0] = <PyObject*>args[0]
    if len(args) > 1:
        vec[1] = <PyObject*>args[1]
    r = ask_functions(<PyObject*>func, vec, len(args), NULL, ASK_SELF, asked)
    return take(r) if asked[0] else None


cdef dict tensor_attributes():
    return <dict>(<PyTypeObject*>Tensor).tp_dict


def _watch_function(function, bint arguments=False):
    """`function` of the package as one that function modes see, and with `arguments` the handlers of its arguments too."""
    return Watched(function, function.__name__, None, 0, False, not arguments)


cdef class Quiet:
    cdef object function

    def __call__(self, *args, **kwargs):
        cdef ThreadState* ts = tls()
        cdef int off = ts.torch_function_off
        ts.torch_function_off = 2
        try:
            return self.function(*args, **kwargs)
        finally:
            ts.torch_function_off = off


def _quiet(function):
    """`function` in which handlers see nothing: written in Python here, in C++ in PyTorch."""
    cdef Quiet q = Quiet()
    q.function = function
    return q


def _watch_slot(function, str name, shown=None, bint counts_self=True, bint keywords=False, bint own=False):
    """What a slot of Tensor runs, shown to handlers as `shown` (the slot called `name`); `own`: only to self's."""
    if shown is None:
        shown = tensor_attributes()[name]
    how = ASK_KEYWORDS | ASK_TENSORS if keywords else ASK_OWN if own else ASK_SELF if counts_self else ASK_NESTED
    return WatchedMethod(function, name, shown, how, True, False)


def _watch_twin(function, str name, str slot):
    """A method that handlers are shown for a slot, and know as either: in PyTorch both are one function, of that name."""
    cdef Watched w = WatchedMethod(function, name, None, ASK_KEYWORDS | ASK_TENSORS, True, False)
    w.twin = tensor_attributes()[slot]
    return w


def _watch_method(function, str name, bint keywords=False, bint own=False):
    """A special method that handlers are shown (`own`: only self's), and that may return what a slot would refuse."""
    how = (ASK_KEYWORDS | ASK_TENSORS if keywords else ASK_SELF) | (ASK_OWN if own else 0)
    return WatchedMethod(function, name, None, how, True, False)


def _watch_tensor(parsed, python, layouts, aliases, settable, unseen, enter_methods):
    """Wrap what stands in Tensor's dictionary: methods and properties ask from now on. `enter_methods` then adds what asks anyway.

    Args: names of the methods that do not count a plain `self` (`parsed`), that always give keywords (`python`), how some of these
    show their arguments, other names of methods, properties whose setters ask, and what nobody is asked about.
    """
    cdef dict attributes = tensor_attributes()
    for name, value in list(attributes.items()):
        if name in unseen or isinstance(value, (Watched, WatchedProperty, staticmethod, classmethod)):
            continue
        if callable(value):
            if not name.startswith("__") or name in python:
                how = 0 if name in parsed else ASK_TENSORS | ASK_KEYWORDS if name in python else ASK_SELF
                attributes[name] = WatchedMethod(value, name, None, how, True, False)
                (<Watched>attributes[name]).layout = layouts.get(name)
        elif hasattr(type(value), "__get__") and (not name.startswith("__") or name in python):
            attributes[name] = WatchedProperty(value, name, name in settable)
    for name, known in aliases.items():
        value = attributes[name]
        attributes[name] = WatchedMethod((<Watched>value).function, name, attributes[known], (<Watched>value).how, True, False)
    attributes["__torch_function__"] = classmethod(tensor_handler)
    attributes["__init_subclass__"] = classmethod(init_subclass)
    enter_methods(attributes)
    PyType_Modified(Tensor)


cdef int enable_calls() except -1:
    cdef Watched w = Watched(None, "", None, 0, False, False)
    cdef Py_ssize_t offset = <char*>&w.vectorcall - <char*><void*>w
    enable_vectorcall(<PyTypeObject*>Watched, offset, 0)
    enable_vectorcall(<PyTypeObject*>WatchedMethod, offset, Py_TPFLAGS_METHOD_DESCRIPTOR)
    return 0


enable_calls()
