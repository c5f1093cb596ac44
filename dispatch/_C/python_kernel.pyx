"""Python callees of the dispatcher: functors, modes, subclasses with `__torch_dispatch__`.

The counterpart of PyTorch's PythonFallbackKernel and of the calling half of PyInterpreter. A callee is held by reference while it
runs, so that it may be unregistered meanwhile; thread-local state is put back in every case.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.keys cimport KS_Python, new_key_set
from dispatch._C.operator cimport KF_WITH_KEYSET, KF_WITH_OP, Kernel, OperatorEntry, qualified_name
from dispatch._C.references cimport give, take
from dispatch._C.tensor cimport TF_HAS_TORCH_DISPATCH, Tensor
from dispatch._C.tls cimport ThreadState, pop_mode, restore_mode, tls
from dispatch._C.values cimport (
    AF_HAS_DEFAULT, AF_LIST, AF_OPTIONAL, AK_BOOL, AK_FLOAT, AK_INT, AK_OTHER, AK_SCALAR, AK_TENSOR, Py_DECREF_,
    RetSpec, Signature, describe_value, equals_default, is_number,
)

cdef extern from *:
    """
    #define DISPATCH_ISINSTANCE(o, tp) PyObject_TypeCheck((o), (PyTypeObject*)(tp))
    """

cdef extern from "Python.h":
    PyObject* PyObject_Vectorcall_ "PyObject_Vectorcall"(PyObject*, PyObject**, size_t, PyObject*) except NULL
    PyObject* Py_NotImplemented_ "Py_NotImplemented"
    PyObject* Py_TYPE_ "(PyObject*)Py_TYPE"(PyObject*) noexcept
    size_t PY_VECTORCALL_ARGUMENTS_OFFSET
    int PyObject_TypeCheck_ "DISPATCH_ISINSTANCE"(PyObject*, PyObject*) noexcept

cdef PyObject* TENSOR = <PyObject*>Tensor
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


cdef tuple python_arguments(OperatorEntry e, PyObject** args):
    cdef Signature* sig = &e.sig
    cdef int i, n = given_positional(sig, args)
    cdef dict kwargs = {}
    for i in range(sig.n_pos, sig.n_args):
        if not (sig.args[i].flags & AF_HAS_DEFAULT and equals_default(&sig.args[i], args[i])):
            kwargs[<object>sig.args[i].name] = <object>args[i]
    return tuple([<object>args[i] for i in range(n)]), kwargs


cdef PyObject* call_functor(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef OperatorEntry e = <OperatorEntry>op
    cdef Signature* sig = &e.sig
    cdef PyObject* vec[68]
    cdef PyObject** first = vec + 1
    cdef int i, m = 0, n = given_positional(sig, args), nkw = 0
    cdef object names = None, keyset = None, overload = None, functor = <object>k.functor, result
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
    result = take(PyObject_Vectorcall_(<PyObject*>functor, first, <size_t>m | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                       <PyObject*>names if nkw else NULL))
    return give(checked(e, result))


cdef tuple keyword_names(OperatorEntry e):
    cdef int i
    if e.kwnames is None:
        e.kwnames = tuple([<object>e.sig.args[i].name for i in range(e.sig.n_pos, e.sig.n_args)])
    return e.kwnames


cdef PyObject* call_own_python(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef OperatorEntry e = <OperatorEntry>op
    cdef object functor = <object>k.functor
    cdef tuple names = keyword_names(e)
    return PyObject_Vectorcall_(<PyObject*>functor, args, <size_t>e.sig.n_pos, <PyObject*>names if names else NULL)


# ---- results ---------------------------------------------------------------------------------------------------------

cdef inline object checked(OperatorEntry e, object result):
    if e.sig.n_rets == 1 and e.sig.rets[0].kind == AK_TENSOR and not e.sig.rets[0].flags and \
            (Py_TYPE_(<PyObject*>result) == TENSOR or PyObject_TypeCheck_(<PyObject*>result, TENSOR)):
        return result
    return new_checked_result(e, result)


cdef object new_checked_result(OperatorEntry e, object result):
    cdef int n = e.sig.n_rets
    if not e.defined:
        return result
    if n == 0:
        if result is not None:
            raise RuntimeError(f"{qualified_name(e)}: a kernel must return None, got {describe_value(<PyObject*>result)}"
                               f"\n  {e._schema_text}")
        return None
    if n == 1:
        return checked_value(e, &e.sig.rets[0], result)
    if not isinstance(result, (tuple, list)):
        raise RuntimeError(f"{qualified_name(e)}: a kernel must return {n} values, got {describe_value(<PyObject*>result)}"
                           f"\n  {e._schema_text}")
    if len(result) != n:
        raise RuntimeError(f"{qualified_name(e)}: a kernel must return {n} values, got {len(result)}\n  {e._schema_text}")
    return tuple([checked_value(e, &e.sig.rets[i], result[i]) for i in range(n)])


cdef object checked_value(OperatorEntry e, RetSpec* spec, object value):
    cdef int kind = spec.kind
    if value is None and (spec.flags & AF_OPTIONAL or kind == AK_OTHER or (kind == AK_TENSOR and not spec.flags & AF_LIST)):
        return value
    if spec.flags & AF_LIST:
        if isinstance(value, (list, tuple)):
            return list(value)
    elif kind == AK_TENSOR:
        if isinstance(value, Tensor) or is_number(<PyObject*>value):
            return value
    elif kind == AK_INT:
        if isinstance(value, int):
            return value
    elif kind == AK_FLOAT:
        if isinstance(value, (int, float)):
            return value
    elif kind == AK_BOOL:
        if isinstance(value, bool):
            return value
    elif kind == AK_SCALAR:
        if is_number(<PyObject*>value):
            return value
    else:
        return value
    raise RuntimeError(f"{qualified_name(e)}: a kernel returned {describe_value(<PyObject*>value)}, which is not what "
                       f"its schema says\n  {e._schema_text}")


# ---- the Python key --------------------------------------------------------------------------------------------------

cdef list overloaded_arguments(OperatorEntry e, PyObject** args):
    """Tensors whose class has a `__torch_dispatch__`, one for each class: subclasses before their bases, else in order."""
    cdef list found = []
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if isinstance(<object>args[i], Tensor):
            note_overloaded(found, <Tensor>args[i])
        elif e.sig.args[i].flags & AF_LIST and isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    note_overloaded(found, <Tensor>t)
    return found


cdef int note_overloaded(list found, Tensor t) except -1:
    cdef int at
    if not t.c_flags & TF_HAS_TORCH_DISPATCH:
        return 0
    cls = type(t)
    at = len(found)
    for i, other in enumerate(found):
        if type(other) is cls:
            return 0
        if issubclass(cls, type(other)) and i < at:
            at = i
    found.insert(at, t)
    return 0


cdef PyObject* python_fallback(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """The innermost mode handles the call, with itself off; without modes, or when it declines, the subclasses do."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* result = NULL
    cdef PyObject* mode
    cdef int slot = -1
    mode = pop_mode(ts, &slot)                 # ours until restore_mode takes it back
    ts.excluded |= ABOVE_PYTHON
    try:
        if mode != NULL and Py_TYPE_(mode) == fast_mode_class:
            result = fast_handler(mode, op, ks, args)
            if result == Py_NotImplemented_:
                Py_DECREF_(result)
                result = give(call_handlers(e, None, False, args))
        else:
            result = give(call_handlers(e, <object>mode if mode != NULL else None, mode != NULL, args))
    finally:
        ts.excluded = excluded
        if mode != NULL:
            restore_mode(ts, mode, slot)
    return result


cdef object call_handlers(OperatorEntry e, object mode, bint has_mode, PyObject** args):
    cdef list overloaded = overloaded_arguments(e, args)
    cdef object func = get_overload(e), a, kw, result
    cdef tuple types = tuple([type(t) for t in overloaded])
    cdef PyObject* vec[4]
    a, kw = python_arguments(e, args)
    if has_mode:
        vec[0] = <PyObject*>func
        vec[1] = <PyObject*>types
        vec[2] = <PyObject*>a
        vec[3] = <PyObject*>kw
        handler = mode.__torch_dispatch__
        result = take(PyObject_Vectorcall_(<PyObject*>handler, vec, 4, NULL))
        if result is not NotImplemented:
            return new_checked_result(e, result)
    for t in overloaded:
        result = type(t).__torch_dispatch__(func, types, a, kw)
        if result is not NotImplemented:
            return new_checked_result(e, result)
    who = ", ".join(sorted(t.__name__ for t in types)) or "none"
    what = f"the mode {type(mode).__name__} and the" if has_mode else "the"
    raise TypeError(f"{qualified_name(e)}: no implementation found: {what} classes with __torch_dispatch__ among the "
                    f"arguments ({who}) returned NotImplemented\n  {e._schema_text}")
