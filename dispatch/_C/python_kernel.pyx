"""Python callees of the dispatcher: functors, modes, subclasses with `__torch_dispatch__`.

The counterpart of PyTorch's PythonFallbackKernel and of the calling half of PyInterpreter. A callee is held by reference while it
runs, so that it may be unregistered meanwhile; thread-local state is put back in every case.
"""
from operator import index

from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.dispatcher cimport call_boxed, import_reference, need_entry, set_loader
from dispatch._C.dtypes cimport dtype, layout, memory_format
from dispatch._C.emitted cimport (
    AF_ELEM_OPTIONAL, AF_HAS_DEFAULT, AF_LIST, AF_OPTIONAL, AK_BOOL, AK_DTYPE, AK_FLOAT, AK_INT, AK_LAYOUT, AK_MEMORY_FORMAT,
    AK_OTHER, AK_SCALAR, AK_STR, AK_TENSOR, KK_PYTHON,
)
from dispatch._C.errors cimport not_several
from dispatch._C.keys cimport KS_Python, KS_PythonTLSSnapshot, new_key_set
from dispatch._C.naming cimport full_name
from dispatch._C.operator cimport (
    KF_WITH_KEYSET, KF_WITH_OP, Kernel, KernelObject, OperatorEntry, boxed_fn, qualified_name,
)
from dispatch._C.python_api cimport (
    PY_VECTORCALL_ARGUMENTS_OFFSET, PyFunction_Check_, PyList_Check_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyObject_TypeCheck_,
    PyObject_Vectorcall_, PySequence_Check_, PyTuple_New_, PyTuple_SET_ITEM_, Py_DECREF_, Py_INCREF_, Py_None_,
    Py_NotImplemented_, Py_TYPE_, try_vectorcall, try_vectorcall_method,
)
from dispatch._C.references cimport give, raised, set_error, take
from dispatch._C.stack cimport check_depth, leave_call, try_depth, try_enter
from dispatch._C.symbolic cimport NK_NONE, number_kind
from dispatch._C.tensor cimport TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_REQUIRES_GRAD, Tensor, needs_grad
from dispatch._C.tls cimport ThreadState, get_top_mode, pop_mode, restore_mode, tls
from dispatch._C.values cimport ArgSpec, RetSpec, Signature, describe_value, equals_default, is_number

from dispatch._C.derivatives import copied_for, kept_results
from dispatch._C.disabled import _disabled_torch_dispatch_impl as disabled_dispatch

cdef extern from *:
    """
    typedef struct { PyObject_HEAD PyObject* callable; } DispatchClassMethod;      /* the head of CPython's classmethod */
    /* The plain function under the class method `name` of a class, borrowed; NULL when it is anything else. */
    static inline PyObject* dispatch_class_function(PyObject* cls, PyObject* name) {
        PyObject* found = _PyType_Lookup((PyTypeObject*)cls, name);
        if (!found || !Py_IS_TYPE(found, &PyClassMethod_Type)) return NULL;
        found = ((DispatchClassMethod*)found)->callable;
        return found && PyFunction_Check(found) ? found : NULL;
    }
    """
    PyObject* class_function "dispatch_class_function"(PyObject* cls, PyObject* name) noexcept

cdef PyObject* TENSOR = <PyObject*>Tensor
cdef str HANDLER = "__torch_dispatch__"
cdef PyObject* fast_mode_class = NULL
cdef object pinned_mode_class = None
cdef mode_handler fast_handler = NULL
cdef object overload_maker = None
# Every functionality above Python but PythonDispatcher: off while a Python handler runs.
cdef uint64_t ABOVE_PYTHON = ((<uint64_t>1 << 61) - 1) & ~((KS_Python << 1) - 1)


cdef int set_mode_handler(type mode_class, mode_handler handler) except -1:
    global fast_mode_class, pinned_mode_class, fast_handler
    pinned_mode_class = mode_class
    fast_mode_class = <PyObject*>mode_class
    fast_handler = handler
    return 0


cdef int set_overload_maker(object maker) except -1:
    global overload_maker
    overload_maker = maker
    return 0


cdef object get_overload(OperatorEntry e):
    """The OpOverload object of an operator, made when first asked for."""
    if e.overload is None:
        e.overload = overload_maker(e)
    return e.overload


# ---- arguments -------------------------------------------------------------------------------------------------------

cdef inline int given_positional(Signature* sig, PyObject** args) noexcept:
    """How many positional arguments are left when trailing defaults go."""
    cdef int n = sig.n_pos
    while n > 0 and sig.args[n - 1].flags & AF_HAS_DEFAULT and equals_default(&sig.args[n - 1], args[n - 1]):
        n -= 1
    return n


cdef inline tuple new_positional(OperatorEntry e, PyObject** args):
    cdef Py_ssize_t i, n = given_positional(&e.sig, args)
    cdef tuple a = PyTuple_New_(n)
    for i in range(n):
        Py_INCREF_(args[i])
        PyTuple_SET_ITEM_(<PyObject*>a, i, args[i])
    return a


cdef inline dict new_keywords(OperatorEntry e, PyObject** args):
    cdef ArgSpec* spec
    cdef dict kwargs = {}
    cdef int i
    for i in range(e.sig.n_pos, e.sig.n_args):
        spec = &e.sig.args[i]
        if not (spec.flags & AF_HAS_DEFAULT and equals_default(spec, args[i])):
            kwargs[<object>spec.name] = <object>args[i]
    return kwargs


cdef tuple python_arguments(OperatorEntry e, PyObject** args):
    return new_positional(e, args), new_keywords(e, args)


cdef PyObject* call_functor(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef Signature* sig = &(<OperatorEntry>op).sig
    cdef PyObject* vec[65]
    cdef int i, n
    if sig.n_pos < sig.n_args or k.flags & (KF_WITH_KEYSET | KF_WITH_OP):
        return call_functor_with(k, op, ks, args)
    n = given_positional(sig, args)
    for i in range(n):
        vec[1 + i] = args[i]
    return give(checked(<OperatorEntry>op, take(call_held(k.functor, vec + 1, <size_t>n, NULL))))


cdef PyObject* call_functor_with(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """With keyword arguments, the key set or the operator."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef Signature* sig = &e.sig
    cdef PyObject* vec[68]
    cdef PyObject** first = vec + 1
    cdef int i, m = 0, n = given_positional(sig, args), nkw = 0
    cdef object names = None, keyset = None, overload = None
    cdef list kw = None
    if k.flags & KF_WITH_KEYSET:
        keyset = new_key_set(ks)
        first[0] = <PyObject*>keyset
        m = 1
    if k.flags & KF_WITH_OP:
        overload = get_overload(e)
        first[m] = <PyObject*>overload
        m += 1
    for i in range(n):
        first[m + i] = args[i]
    m += n
    for i in range(sig.n_pos, sig.n_args):
        if not (sig.args[i].flags & AF_HAS_DEFAULT and equals_default(&sig.args[i], args[i])):
            if kw is None:
                kw = []
            kw.append(<object>sig.args[i].name)
            first[m + nkw] = args[i]
            nkw += 1
    if nkw:
        names = tuple(kw)
    return give(checked(e, take(call_held(k.functor, first, <size_t>m, <PyObject*>names if nkw else NULL))))


cdef inline PyObject* call_held(PyObject* functor, PyObject** vec, size_t n, PyObject* names) noexcept:
    """The functor, held while it runs; there is room before `vec`. NULL: an exception is set."""
    cdef PyObject* r = NULL
    Py_INCREF_(functor)
    if PyFunction_Check_(functor):                    # which counts its own depth; an operator as its own kernel would not end
        if not try_depth(" in a kernel"):
            r = try_vectorcall(functor, vec, n | PY_VECTORCALL_ARGUMENTS_OFFSET, names)
    elif not try_enter(" in a kernel"):
        r = try_vectorcall(functor, vec, n | PY_VECTORCALL_ARGUMENTS_OFFSET, names)
        leave_call()
    Py_DECREF_(functor)
    return r


cdef tuple keyword_names(OperatorEntry e):
    cdef int i
    if e.kwnames is None:
        e.kwnames = tuple([<object>e.sig.args[i].name for i in range(e.sig.n_pos, e.sig.n_args)])
    return e.kwnames


cdef PyObject* call_own_python(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Our own Python kernels get every argument, defaults too."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef object functor = <object>k.functor
    cdef tuple names = keyword_names(e)
    return PyObject_Vectorcall_(<PyObject*>functor, args, <size_t>e.sig.n_pos, <PyObject*>names if names else NULL)


cdef int load_python(OperatorEntry e, KernelObject k) except -1:
    k.functor = import_reference(k.ref)
    k.k.functor = <PyObject*>k.functor
    k.k.call = <boxed_fn>call_own_python
    return 0


set_loader(KK_PYTHON, load_python)


# ---- results ---------------------------------------------------------------------------------------------------------

cdef inline object checked(OperatorEntry e, object result):
    if e.sig.n_rets == 1 and e.sig.rets[0].kind == AK_TENSOR and not e.sig.rets[0].flags and \
            (Py_TYPE_(<PyObject*>result) == TENSOR or PyObject_TypeCheck_(<PyObject*>result, TENSOR)):
        return result
    return new_checked_result(e, result)


cdef object new_checked_result(OperatorEntry e, object result):
    cdef int i, n = e.sig.n_rets
    if not e.defined:
        return result
    if n == 0:
        if result is not None:
            raise RuntimeError(f"{qualified_name(e)}: a kernel must return None, got {describe_value(<PyObject*>result)}"
                               f"\n  {e._schema_text}")
        return None
    if n == 1:
        return checked_value(e, &e.sig.rets[0], result)
    if type(result) is tuple and len(<tuple>result) == n:
        for i in range(n):
            if e.sig.rets[i].kind != AK_TENSOR or e.sig.rets[i].flags or not isinstance((<tuple>result)[i], Tensor):
                return tuple([checked_value(e, &e.sig.rets[i], (<tuple>result)[i]) for i in range(n)])
        return result
    return checked_sequence(e, result)


cdef object checked_sequence(OperatorEntry e, object result):
    """Several values out of any sequence. Too few are taken as they are from operators without emitted kernels (None, one value,
    a shorter tuple), as PyTorch's stack of values makes it; too many, which crash PyTorch, are an error."""
    cdef int i, n = e.sig.n_rets
    if isinstance(result, (Tensor, dict)) or not PySequence_Check_(<PyObject*>result):
        raise not_several(f"{qualified_name(e)}: a kernel must return {n} values, got {describe_value(<PyObject*>result)}"
                          f"\n  {e._schema_text}")
    values = list(result)
    if len(values) > n or (len(values) < n and e.emitted != NULL):
        raise RuntimeError(f"{qualified_name(e)}: a kernel must return {n} values, got {len(values)}\n  {e._schema_text}")
    values = [checked_value(e, &e.sig.rets[i], values[i]) for i in range(<int>len(values))]
    if len(values) < 2:
        return values[0] if values else None
    return tuple(values)


cdef object checked_value(OperatorEntry e, RetSpec* spec, object value):
    """A value in its return type. None is a tensor that is not there; a list must be a list or a tuple of the right elements."""
    cdef object r = NotImplemented
    if value is None and (spec.flags & AF_OPTIONAL or spec.kind == AK_OTHER
                          or (spec.kind == AK_TENSOR and not spec.flags & AF_LIST)):
        return value
    if not spec.flags & AF_LIST:
        r = checked_element(e, spec, value)
    elif isinstance(value, (list, tuple)):
        r = [x if x is None and spec.flags & AF_ELEM_OPTIONAL else checked_element(e, spec, x) for x in value]
        if any([x is NotImplemented for x in r]):
            r = NotImplemented
    if r is not NotImplemented:
        return r
    raise RuntimeError(f"{qualified_name(e)}: Unable to cast {describe_value(<PyObject*>value)}, which a kernel returned, to "
                       f"what its schema says\n  {e._schema_text}")


# What comes out as an int: on its way out a dtype, a layout or a memory format is its number (toIValue).
cdef tuple INTEGERS = (AK_INT, AK_DTYPE, AK_LAYOUT, AK_MEMORY_FORMAT)


cdef object as_number(object value):
    """The number of a dtype, a layout or a memory format; any other value as it is."""
    if isinstance(value, dtype):
        return (<dtype>value).code
    if isinstance(value, layout):
        return (<layout>value).code
    return (<memory_format>value).code if isinstance(value, memory_format) else value


cdef object checked_element(OperatorEntry e, RetSpec* spec, object value):
    """One value as its return type has it; NotImplemented when it is none."""
    cdef int kind = spec.kind
    cdef bint number = is_number(<PyObject*>value)
    if kind == AK_TENSOR:
        return value if isinstance(value, Tensor) or (number and e.sig.numbers_as_tensors) else NotImplemented
    if number_kind(<PyObject*>value) != NK_NONE:
        return value
    if isinstance(value, Tensor):
        return NotImplemented if kind in INTEGERS or kind in (AK_FLOAT, AK_BOOL, AK_SCALAR, AK_STR) else value
    if kind == AK_SCALAR or kind in INTEGERS:
        value = as_number(value)
    if kind in INTEGERS:
        if isinstance(value, (float, complex)) or not hasattr(value, "__index__"):
            return NotImplemented
        value = index(value)
        return value if -(1 << 63) <= value < 1 << 63 else NotImplemented
    if kind == AK_FLOAT:
        return float(value) if number and not isinstance(value, complex) else NotImplemented
    if kind == AK_BOOL:
        return bool(value) if value is None or hasattr(type(value), "__bool__") else NotImplemented
    if kind == AK_SCALAR:
        return value if is_number(<PyObject*>value) else NotImplemented
    if kind == AK_STR and not isinstance(value, str):
        return value.decode() if isinstance(value, bytes) else NotImplemented
    return value


# ---- the Python key --------------------------------------------------------------------------------------------------

cdef inline bint has_handler(PyObject* o) noexcept:
    return (Py_TYPE_(o) == TENSOR or PyObject_TypeCheck_(o, TENSOR)) and (<Tensor>o).c_flags & TF_HAS_TORCH_DISPATCH


cdef inline void note_handler(PyObject* o, PyObject** first, bint* several) noexcept:
    if has_handler(o):
        if first[0] == NULL:
            first[0] = o
        elif Py_TYPE_(o) != Py_TYPE_(first[0]):
            several[0] = True


cdef inline PyObject* find_overloaded(Signature* sig, PyObject** args, bint* several) noexcept:
    """The first argument whose class has a handler, borrowed; NULL: none. Whether arguments of other such classes follow."""
    cdef PyObject* first = NULL
    cdef Py_ssize_t j
    cdef int i
    for i in range(sig.n_args):
        if sig.args[i].kind != AK_TENSOR:
            continue
        if not sig.args[i].flags & AF_LIST:
            note_handler(args[i], &first, several)
        elif PyList_Check_(args[i]):
            for j in range(PyList_GET_SIZE_(args[i])):
                note_handler(PyList_GET_ITEM_(args[i], j), &first, several)
    return first


cdef list all_overloaded(Signature* sig, PyObject** args):
    """One argument for each class with a handler: subclasses before their bases, else in order."""
    cdef list found = []
    cdef int i
    for i in range(sig.n_args):
        if sig.args[i].kind == AK_TENSOR:
            values = <object>args[i] if isinstance(<object>args[i], list) else [<object>args[i]]
            for t in values:
                if has_handler(<PyObject*>t) and not any([type(t) is type(other) for other in found]):
                    found.insert(place_of(<type>type(t), found), t)
    return found


cdef Py_ssize_t place_of(type cls, list found) except -1:
    cdef Py_ssize_t i
    for i in range(len(found)):
        if issubclass(cls, type(found[i])):
            return i
    return len(found)


cdef dict rules = {}
_torch_dispatch_rules = rules       # qualified name -> {class: rule}; `registry/entries` writes it


cdef PyObject* find_rule(PyObject* func, PyObject* cls) except? NULL:
    """What was registered for instances of a class to run instead of their `__torch_dispatch__`, borrowed; NULL: nothing."""
    if not rules:
        return NULL
    rule = rules.get((<object>func).name(), {}).get(<object>cls)
    return <PyObject*>rule if rule is not None else NULL


cdef bint has_rule_for_fast_mode(OperatorEntry e) except -1:
    cdef object func = get_overload(e)
    return find_rule(<PyObject*>func, fast_mode_class) != NULL


cdef PyObject* ask_mode(PyObject** vec) noexcept:
    """What the mode `vec[0]`, or a rule for its class, answers; NULL with an exception set."""
    cdef PyObject* rule
    try:
        rule = find_rule(vec[1], Py_TYPE_(vec[0]))
    except BaseException as error:
        set_error(error)
        return NULL
    if try_depth(" in a mode"):
        return NULL
    if rule != NULL:
        return try_vectorcall(rule, vec, 5, NULL)
    return try_vectorcall_method(<PyObject*>HANDLER, vec, 5 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef PyObject* call_handler(PyObject* tensor, PyObject** vec) except NULL:
    """`tensor.__torch_dispatch__(func, types, args, kwargs)`: `vec[1:5]` are the arguments, `vec[0]` is ours to use.

    A class method that is a plain function is called with its class in front, without a bound method in between; an attribute
    of the instance comes before it, as everywhere in Python.
    """
    cdef PyObject* cls = Py_TYPE_(tensor)
    cdef PyObject* function = find_rule(vec[1], cls)
    cdef object handler
    check_depth(" in __torch_dispatch__")
    if function != NULL:
        handler = <object>function
        vec[0] = cls
        return PyObject_Vectorcall_(function, vec, 5, NULL)
    function = class_function(cls, <PyObject*>HANDLER)
    if function != NULL and ((<Tensor>tensor).c_dict == NULL or HANDLER not in <dict>(<Tensor>tensor).c_dict):
        handler = <object>function             # held: the handler may be taken off its class while it runs
        vec[0] = cls
        return PyObject_Vectorcall_(function, vec, 5, NULL)
    handler = (<object>tensor).__torch_dispatch__
    if handler is disabled_dispatch:
        raise RuntimeError(f"{(<object>Py_TYPE_(tensor)).__name__} has no __torch_dispatch__ any more, but the tensor was made "
                           "when it had")
    return PyObject_Vectorcall_(<PyObject*>handler, vec + 1, 4 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL)


cdef PyObject* ask_handlers(PyObject* op, PyObject** args, ThreadState* ts, bint with_modes) except NULL:
    return ask(op, args, ts, with_modes, False)


cdef PyObject* ask(PyObject* op, PyObject** args, ThreadState* ts, bint with_modes, bint naming) except NULL:
    """What the innermost mode answers, with itself off; without modes, or when it declines, the subclasses' answer. Not checked.

    `naming`: the class of the first argument is among the types, with a handler or without (torchDispatchFromTensorImpl).
    """
    cdef OperatorEntry e = <OperatorEntry>op
    cdef PyObject* vec[6]
    cdef PyObject* first
    cdef PyObject* mode = NULL
    cdef PyObject* r
    cdef int slot = -1
    cdef bint several = False
    cdef list overloaded
    cdef object types, a, kw, func = get_overload(e)
    first = find_overloaded(&e.sig, args, &several)
    overloaded = all_overloaded(&e.sig, args) if several else None
    if first == NULL and naming:
        types = (<object>Py_TYPE_(args[0]),)
    else:
        types = () if first == NULL else (<object>Py_TYPE_(first),) if not several else tuple([type(t) for t in overloaded])
    a = new_positional(e, args)
    kw = new_keywords(e, args)
    vec[1] = <PyObject*>func
    vec[2] = <PyObject*>types
    vec[3] = <PyObject*>a
    vec[4] = <PyObject*>kw
    if with_modes:
        mode = pop_mode(ts, &slot)             # ours until restore_mode takes it back
    if mode != NULL:
        vec[0] = mode
        r = ask_mode(vec)
        restore_mode(ts, mode, slot)
        if r != Py_NotImplemented_:
            return r if r != NULL else raised()
        Py_DECREF_(r)
    if several:
        for t in overloaded:
            r = call_handler(<PyObject*>t, vec)
            if r != Py_NotImplemented_:
                return r
            Py_DECREF_(r)
    elif first != NULL:
        r = call_handler(first, vec)
        if r != Py_NotImplemented_:
            return r
        Py_DECREF_(r)
    if not types and get_top_mode(ts) == NULL and sig_has_tensor(&e.sig, args):
        return call_below(e, args, ts)
    return raise_declined(e, types, get_top_mode(ts))


cdef bint sig_has_tensor(Signature* sig, PyObject** args) noexcept:
    cdef int i
    for i in range(sig.n_args):
        if PyObject_TypeCheck_(args[i], TENSOR):
            return True
    return False


cdef PyObject* call_below(OperatorEntry e, PyObject** args, ThreadState* ts) except NULL:
    """A call of plain tensors with nobody to ask: a handler brought back the key sets with which its own call came in
    (`enable_reentrant_dispatch`), and the modes that were on then are its callers."""
    ts.excluded |= KS_Python | KS_PythonTLSSnapshot            # `python_fallback` puts it back
    cdef PyObject* r = call_boxed(e, args)
    return r if r != NULL else raised()


cdef PyObject* raise_declined(OperatorEntry e, tuple types, PyObject* mode) except NULL:
    who = ", ".join([t.__name__ for t in types]) or "none"
    what = f"the mode {type(<object>mode).__name__} and the" if mode != NULL else "the"
    name = qualified_name(e).replace("::", ".")
    raise TypeError(f"Multiple dispatch failed for '{full_name('ops.' + name)}'; all __torch_dispatch__ handlers returned "
                    f"NotImplemented: {what} classes among the arguments ({who})\n  {e._schema_text}")


cdef PyObject* call_fast_mode(PyObject* mode, PyObject* op, uint64_t ks, PyObject** args, ThreadState* ts) except NULL:
    cdef PyObject* r
    cdef int slot = -1
    pop_mode(ts, &slot)
    try:
        r = fast_handler(mode, op, ks, args)
    finally:
        restore_mode(ts, mode, slot)
    return r


cdef PyObject* python_fallback(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    return give(answer(op, ks, args, False))


cdef inline object answer(PyObject* op, uint64_t ks, PyObject** args, bint naming):
    """The Python key: modes, then subclasses, with every functionality above this key off."""
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* mode = get_top_mode(ts)
    cdef PyObject* r
    cdef object result
    ts.excluded |= ABOVE_PYTHON
    try:
        if mode == NULL or Py_TYPE_(mode) != fast_mode_class or (rules and has_rule_for_fast_mode(<OperatorEntry>op)):
            r = ask(op, args, ts, True, naming)
        else:
            r = call_fast_mode(mode, op, ks, args, ts)
            if r != Py_NotImplemented_:
                return take(r)
            Py_DECREF_(r)
            r = ask(op, args, ts, False, naming)
    finally:
        ts.excluded = excluded
    result = take(r)
    return checked(<OperatorEntry>op, result)


cdef OperatorEntry clone = None, detach = None


def _seen_detach(Tensor t not None):
    """`t` detached by modes and its handler (PyInterpreter's `detach`): the class is among the types."""
    global detach
    cdef PyObject* args[1]
    if detach is None:
        detach = need_entry("aten::detach", "")
    args[0] = <PyObject*>t
    return answer(<PyObject*>detach, 0, args, True)


cdef int keep_self(OperatorEntry e, PyObject** args) except -1:
    global clone
    cdef ThreadState* ts = tls()
    cdef PyObject* given[2]
    cdef object selves = <object>args[0]
    cdef Py_ssize_t i
    if not is_watched(ts, selves):
        return 0
    name = copied_for(qualified_name(e).partition("::")[2])
    if name is None:
        return 0
    if clone is None:
        clone = need_entry("aten::clone", "")
    given[1] = Py_None_
    for i, t in enumerate(selves if isinstance(selves, list) else [selves]):
        if (get_top_mode(ts) != NULL or handles_calls(t)) and requires_grad_at(e, args, name, i):
            given[0] = <PyObject*>t
            take(python_fallback(NULL, <PyObject*>clone, 0, given))
    return 0


cdef bint requires_grad_at(OperatorEntry e, PyObject** args, str name, Py_ssize_t i) except -1:
    cdef int place
    for place in range(e.sig.n_args):
        if e.sig.args[place].kind == AK_TENSOR and (not name or <object>e.sig.args[place].name == name):
            t = <object>args[place]
            if isinstance(t, list):
                t = (<list>t)[i] if i < len(<list>t) else None
            if isinstance(t, Tensor) and needs_grad(<Tensor>t):
                return True
    return False


cdef int keep_results(OperatorEntry e, PyObject** args, object result) except -1:
    cdef ThreadState* ts = tls()
    if result is None and e.sig.n_args:
        result = <object>args[0]                  # lists that were written
    if not is_watched(ts, result):
        return 0
    for place in kept_results(qualified_name(e).partition("::")[2]):
        t = (<tuple>result)[place] if isinstance(result, tuple) else result
        for kept in t if isinstance(t, list) else [t]:
            if (<Tensor?>kept).c_flags & TF_REQUIRES_GRAD and (get_top_mode(ts) != NULL or handles_calls(kept)):
                _seen_detach(kept)
    return 0


cdef inline bint is_watched(ThreadState* ts, object value) except -1:
    """Whether a mode or the subclass of the first tensor in `value` sees what is kept; a plain FakeTensorMode or fake tensor sees
    nothing that anybody could tell."""
    cdef PyObject* mode = get_top_mode(ts)
    if ts.excluded & KS_Python or mode != NULL:
        return not ts.excluded & KS_Python and Py_TYPE_(mode) != fast_mode_class
    while isinstance(value, (tuple, list)) and value:
        value = value[0]
    return handles_calls(value)


cdef inline bint handles_calls(object t) noexcept:
    return isinstance(t, Tensor) and (<Tensor>t).c_keys & KS_Python != 0 and not (<Tensor>t).c_flags & TF_FAKE
