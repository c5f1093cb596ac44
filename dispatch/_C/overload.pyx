"""What users call: operator overloads and overload packets (functions and methods: `function`).

Each is a C vectorcall on the object itself: match the arguments against the schema, gather the keys, dispatch. Both raise
RuntimeError for arguments that do not fit.
"""
from types import ModuleType

from cpython.exc cimport PyErr_Occurred
from cpython.object cimport PyObject, PyTypeObject

from dispatch._C cimport dispatcher, keys
from dispatch._C.dispatcher cimport find_entry, overload_names
from dispatch._C.emitted cimport OF_ALIASING, OF_MUTABLE
from dispatch._C.keys cimport DispatchKeySet
from dispatch._C.naming cimport full_name
from dispatch._C.operator cimport OperatorEntry, parse_schema, qualified_name
from dispatch._C.python_api cimport (
    PyDict_GetItem_, PyList_GET_ITEM_, PyList_GET_SIZE_, PyObject_GetDictPtr_, PyVectorcall_Call_, PyVectorcall_NARGS_, Py_DECREF_,
    Py_INCREF_, enable_vectorcall, getattrofunc, look_up_by,
)
from dispatch._C.python_kernel cimport set_overload_maker
from dispatch._C.references cimport give, raised, set_error, take
from dispatch._C.refusals cimport overloads_meant, refuse_overload
from dispatch._C.tensor cimport TF_HAS_TORCH_FUNCTION, Tensor
from dispatch._C.torch_function cimport ASK_KEYWORDS, ask_functions, n_function_modes
from dispatch._C.values cimport MATCH_RAISED, Frame, complete_options, match, match_given, raise_mismatch, release_frame

from dispatch._C._functorch import TransformType
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tags import Tag, _tags_of_bits


cdef object call_vector(object callee, tuple args, dict kwargs):
    """Slow way in, for Python subclasses: through the vectorcall slot all the same."""
    return take(PyVectorcall_Call_(<PyObject*>callee, <PyObject*>args, <PyObject*>kwargs if kwargs else NULL))


# ---- overloads -------------------------------------------------------------------------------------------------------

cdef PyObject* call_overload(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* entry = <PyObject*>(<OpOverload>self).entry
    cdef Frame f
    cdef PyObject* r = NULL
    cdef int code
    cdef bint asked = False
    f.lone_ints = False
    if n_function_modes != 0:
        r = ask_functions(self, args, PyVectorcall_NARGS_(nargsf), kwnames, ASK_KEYWORDS, &asked)
        if asked:
            return r
    code = match(&(<OperatorEntry>entry).sig, args, PyVectorcall_NARGS_(nargsf), kwnames, &f)
    if code != 0 or f.flags & TF_HAS_TORCH_FUNCTION:
        if n_function_modes == 0 and code != MATCH_RAISED:       # else they were asked above
            r = ask_functions(self, args, PyVectorcall_NARGS_(nargsf), kwnames, ASK_KEYWORDS, &asked)
        if asked:
            release_frame(&f)
            return r
        if code != 0:
            refuse(entry, code, &f, args, PyVectorcall_NARGS_(nargsf), kwnames, <PyObject*>RuntimeError)
            return NULL
    r = dispatcher.call(<OperatorEntry>entry, f.ks, f.flags, f.args)
    release_frame(&f)
    return r


cdef int refuse(PyObject* entry, int code, Frame* f, PyObject** args, Py_ssize_t nargs, PyObject* kwnames,
                PyObject* error) noexcept:
    """Set the exception of a mismatch."""
    try:
        if not (<OperatorEntry>entry).defined:
            release_frame(f)
            raise RuntimeError(f"{qualified_name(<OperatorEntry>entry)}: the operator has no schema any more: "
                               "its library was destroyed")
        raise_mismatch(&(<OperatorEntry>entry).sig, code, f, args, nargs, kwnames, <object>error)
    except BaseException as e:
        set_error(e)
    return 0


cdef class OperatorBase:
    """Common base of overloads and higher-order operators: a name, and kernels written in Python by key
    (torch._ops.OperatorBase)."""

    def __cinit__(self, *args, **kwargs):
        self.py_kernels = {}
        self.python_key_table = {}
        self.functorch_table = {}
        self.dispatch_cache = {}

    def __init__(self):
        pass

    @property
    def _dispatch_cache(self):
        return self.dispatch_cache

    def __call__(self, *args, **kwargs):
        raise NotImplementedError

    def name(self):
        """The operator's name; operators say theirs."""
        raise NotImplementedError

    def py_impl(self, k):
        """A decorator: the function runs at the key `k`, under a mode of class `k`, for the tensor class or the transform `k`.

        Overloads ask this table only while the Python dispatcher is on. What cannot be registered is found when the decorator is
        applied: AssertionError for something else, the key Python, or a class that has a rule; RuntimeError for a key that has
        one. Source: torch._ops.OperatorBase.py_impl.
        """
        def register(fn):
            return add_rule(self, k, fn)
        return register

    def py_functionalize_impl(self, fn):
        """Register `fn(context, *args, **kwargs)` for all three ways to functionalize: the key, the mode, and the transform."""
        return hooks["py_functionalize"](self, fn)

    def has_kernel_for_dispatch_key(self, k):
        """Whether a Python kernel was given for exactly the key `k`."""
        return k in self.py_kernels

    def _registered_keys(self):
        """The keys, alias keys too, that a kernel was given for."""
        return list(self.py_kernels)

    def has_kernel_for_any_dispatch_key(self, ks):
        """Whether a Python kernel was given for a (non-alias) key of the set."""
        return any(not keys.is_alias_value(keys.key_value(k)) and ks.has(k) for k in self.py_kernels)


cdef object MAKER = object()


cdef int check_maker(tuple args, str what) except -1:
    """Only this module makes these: an operator without its entry could not be called."""
    if len(args) != 1 or args[0] is not MAKER:
        raise TypeError(f"{what} objects are reached through {full_name('ops')}")
    return 0


cdef dict hooks = {}      # what overloads do in Python, by name: the rooms above enter it


def _set_overload_hooks(**functions):
    """Enter what overloads call: `decompose`, `get_dispatch`, `py_functionalize`, `find_handle`, `find_table`, script objects'."""
    hooks.update(functions)


def _described(subject, str what="describe"):
    """The text, or with "signature" the arguments, of an overload, a packet or a function: the room that makes them loads now."""
    if what not in hooks:
        hooks["load_descriptions"]()
    return hooks[what](subject)


cdef object add_rule(OperatorBase op, object k, object fn):
    if isinstance(k, type) and issubclass(k, (TorchDispatchMode, Tensor)):
        if k in op.python_key_table:
            raise AssertionError(f"{op}: {k} has a rule already")
        op.python_key_table[k] = fn
        op.dispatch_cache.clear()
    elif isinstance(k, TransformType):
        if k in op.functorch_table:
            raise AssertionError(f"{op}: {k} has a rule already")
        op.functorch_table[k] = fn
    elif not isinstance(k, keys.DispatchKey):
        raise AssertionError(f"{op}: a rule is for a DispatchKey, a mode or tensor class, or a TransformType, not for {k!r}")
    elif (<keys.DispatchKey>k).value == PYTHON:
        raise AssertionError(f"{op}: the key Python has no kernel of its own: register a rule for a mode's class")
    elif k in op.py_kernels:
        raise RuntimeError(f"{op.name()}: trying to override the Python kernel for {k}")
    else:
        op.py_kernels[k] = fn
        op.dispatch_cache.clear()
    return fn


cdef int PYTHON = keys.key_value("Python")
cdef object COMPOSITE_IMPLICIT = keys.get_key(keys.key_value("CompositeImplicitAutograd"))


cdef class OpOverload(OperatorBase):
    """One operator overload: callable, hashable by identity, with its schema (torch._ops.OpOverload)."""

    def __cinit__(self, *args, **kwargs):
        check_maker(args, "OpOverload")
        self.vectorcall = call_overload
        self.attributes = {}

    def __init__(self, *args, **kwargs):
        raise TypeError(f"OpOverload objects are reached through {full_name('ops')}")

    def __call__(self, *args, **kwargs):
        return call_vector(self, args, kwargs)

    def __hash__(self):
        return <Py_ssize_t><void*>self >> 4

    def __eq__(self, other):
        return self is other

    def __repr__(self):
        return f"<OpOverload(op='{self.namespace}.{self._packet_name()}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"{self.namespace}.{self._packet_name()}.{self._overloadname}"

    def _repr_html_(self):
        """For notebooks: the schema, and the computed table with the reason for each entry."""
        from dispatch._C.markup import table

        rows = [(key, f"fallthrough {where}" if fall else where, why) for key, where, why, fall in hooks["find_table"](self.name())]
        return table(self._schema, ("key", "kernel", "reason"), rows)

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return _find_overload, (self.entry.name, self.entry.overload_name)

    def _packet_name(self):
        return self.entry.name.partition("::")[2]

    @property
    def namespace(self):
        return self.entry.name.partition("::")[0]

    @property
    def __name__(self):
        return f"{self._packet_name()}.{self._overloadname}"

    @property
    def __qualname__(self):
        return qualified_name(self.entry)

    @property
    def __annotations__(self):
        return {}

    @property
    def __doc__(self):
        return _described(self)

    @property
    def __signature__(self):
        return _described(self, "signature")

    @property
    def __module__(self):
        return full_name(f"_ops.{self.namespace}")

    @property
    def _overloadname(self):
        return self.entry.overload_name or "default"

    @property
    def _name(self):
        return qualified_name(self.entry)

    @property
    def _qualified_op_name(self):
        return self.entry.name

    @property
    def _schema(self):
        """The parsed FunctionSchema."""
        return schema_of(self.entry)

    @property
    def _overloadpacket(self):
        if self.packet is None:
            self.packet = find_packet(self.entry.name)
        return self.packet

    @property
    def overloadpacket(self):
        return self._overloadpacket

    @property
    def _defined_in_python(self):
        return self.entry.emitted == NULL

    @property
    def is_view(self):
        """Whether an output aliases an input that is not written."""
        return self.entry.flags & OF_ALIASING != 0 and self.entry.flags & OF_MUTABLE == 0

    @property
    def tags(self):
        return tags_of(self.entry)

    @property
    def _tags(self):
        return tags_of(self.entry)

    @property
    def _namespace(self):
        return self.namespace

    @property
    def _opname(self):
        return self._packet_name()

    @property
    def _nondeterministic_seeded(self):
        if not self.tags:
            raise AttributeError("'OpOverload' object has no attribute '_nondeterministic_seeded'")
        return Tag.nondeterministic_seeded in self.tags

    @property
    def _handle(self):
        """The operator as `_dispatch_find_schema_or_throw` gives it."""
        if "_handle" not in self.attributes:
            self.attributes["_handle"] = hooks["find_handle"](self.entry.name, self.entry.overload_name)
        return self.attributes["_handle"]

    @property
    def _op(self):
        """The call itself, without what a subclass puts in front of it."""
        return entry_point(self, self.attributes, CALL_OVERLOAD)

    @property
    def op(self):
        return self._op

    @property
    def _op_dk(self):
        """`_op_dk(key, *args, **kwargs)` calls what is registered for exactly this key, alias keys too, or its fallback."""
        return entry_point(self, self.attributes, CALL_FOR_KEY)

    def name(self):
        """`namespace::name.overload`."""
        return qualified_name(self.entry)

    def has_kernel_for_dispatch_key(self, k):
        """Whether a kernel is registered for exactly the key `k`, in Python or with the dispatcher."""
        return k in self.py_kernels or bool(self.entry.registrations.get(keys.key_value(k)))

    def _registered_keys(self):
        """The keys, alias keys too, with a kernel, in Python or with the dispatcher."""
        return [*self.py_kernels, *[keys.get_key(value) for value in self.entry.registrations]]

    def has_kernel_for_any_dispatch_key(self, ks):
        """Whether a kernel is registered for some runtime key of the set."""
        return (any(not keys.is_alias_value(value) and ks.has(keys.get_key(value)) for value in self.entry.registrations)
                or OperatorBase.has_kernel_for_any_dispatch_key(self, ks))

    def _can_decompose(self):
        return self.has_kernel_for_dispatch_key(COMPOSITE_IMPLICIT)

    def decompose(self, *args, **kwargs):
        """Call the CompositeImplicitAutograd kernel, or another decomposition; NotImplemented when there is none."""
        return hooks["decompose"](self, args, kwargs)

    def _get_dispatch(self, key):
        """What runs at `key` while the Python dispatcher is on, which is not in the cache: a callable, or a key."""
        return hooks["get_dispatch"](self, key)

    def _uncache_dispatch(self, key):
        self.dispatch_cache.pop(key, None)

    def redispatch(self, keyset, *args, **kwargs):
        """Call the kernel that `keyset` reaches: keys of arguments and of the thread play no part."""
        cdef Frame f
        cdef PyObject* r
        if type(keyset) is not DispatchKeySet:
            raise TypeError(f"{qualified_name(self.entry)}.redispatch: expected a DispatchKeySet before the operator's arguments, "
                            f"got {type(keyset).__name__}")
        match_given(&self.entry.sig, args, kwargs, &f)
        r = dispatcher.redispatch(self.entry, (<DispatchKeySet>keyset).ks, f.args)
        release_frame(&f)
        if r == NULL:
            raised()
        return take(r)

    def __getattr__(self, str name):
        try:
            return self.attributes[name]
        except KeyError:
            raise AttributeError(f"'OpOverload' object has no attribute '{name}'") from None

    def __setattr__(self, str name, value):
        self.attributes[name] = value

    def __delattr__(self, str name):
        if name not in self.attributes:
            raise AttributeError(f"'OpOverload' object has no attribute '{name}'")
        del self.attributes[name]


cdef enum EntryKind:
    CALL_OVERLOAD
    CALL_FOR_KEY
    CALL_PACKET


cdef class EntryPoint:
    """What `_op` and `_op_dk` of an overload, and `_op` of a packet, are."""
    cdef object owner
    cdef int kind

    def __cinit__(self, *args):
        check_maker(args, "an entry point")

    def __call__(self, *args, **kwargs):
        if self.kind == CALL_FOR_KEY:
            if not args:
                raise TypeError(f"{self.owner}: the key of the kernel to call is missing")
            return call_registered(self.owner, args[0], args[1:], kwargs)
        return call_vector(self.owner, args, kwargs)

    @property
    def __name__(self):
        return self.owner.__name__ if self.kind == CALL_PACKET else ""

    @property
    def __module__(self):
        return None if self.kind == CALL_FOR_KEY else self.owner.__module__

    def __repr__(self):
        return f"<entry point of {self.owner}>"


cdef object entry_point(object owner, dict attributes, EntryKind kind):
    cdef EntryPoint made
    name = "_op_dk" if kind == CALL_FOR_KEY else "_op"
    if name not in attributes:
        made = EntryPoint.__new__(EntryPoint, MAKER)
        made.owner, made.kind = owner, kind
        attributes[name] = made
    return attributes[name]


cdef object call_registered(OpOverload op, object key, tuple args, dict kwargs):
    cdef Frame f
    cdef PyObject* r
    cdef int value = keys.key_value(key)
    match_given(&op.entry.sig, args, kwargs, &f)
    r = dispatcher.call_for_key(op.entry, value, f.args)
    release_frame(&f)
    return take(r)


cdef object schema_of(OperatorEntry e):
    if e.schema_object is None:
        if not e.defined:
            raise RuntimeError(f"{qualified_name(e)} has no schema: its library was destroyed, or it was never defined")
        e.schema_object = parse_schema(e.schema_text, True)
    return e.schema_object


cdef dict given_tags = {}        # entry id -> tags of a library's operator, as they were given


def _note_tags(OperatorEntry e not None, tuple tags):
    """Keep the order, and repetitions, in which tags were given; None forgets them."""
    given_tags.pop(e.id, None)
    if tags:
        given_tags[e.id] = tags


cdef list tags_of(OperatorEntry e):
    given = given_tags.get(e.id) if given_tags else None
    return list(given) if given is not None else _tags_of_bits(e.tags)


cdef bint takes_script_objects(OperatorEntry e):
    return e.emitted == NULL and "__torch__." in e._schema_text


cdef object new_overload(OperatorEntry e):
    cdef object cls = hooks["TorchBindOpOverload"] if takes_script_objects(e) else OpOverload
    cdef OpOverload op = cls.__new__(cls, MAKER)
    op.entry = e
    return op


cdef class OverloadMaker:
    def __call__(self, OperatorEntry e not None):
        return new_overload(e)


set_overload_maker(OverloadMaker())


cdef OpOverload overload_of(OperatorEntry e):
    if e.overload is None:
        e.overload = new_overload(e)
    return e.overload


def _find_overload(str name, str overload_name):
    """The OpOverload of `namespace::name` and overload name ("" or "default": the default one); None when there is none."""
    e = find_entry(name, "" if overload_name == "default" else overload_name)
    return overload_of(e) if e is not None and e.defined else None


# ---- packets ---------------------------------------------------------------------------------------------------------

cdef list entries_of(OpOverloadPacket p):
    cdef list out = [find_entry(p._qualified_op_name, o) for o in overload_names(p._qualified_op_name)]
    return [e for e in out if e is not None and (<OperatorEntry>e).defined]


cdef PyObject* call_packet(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef int found = FOUND_NONE
    cdef bint asked = False
    cdef PyObject* r
    if n_function_modes != 0:
        r = ask_functions(self, args, PyVectorcall_NARGS_(nargsf), kwnames, ASK_KEYWORDS, &asked)
        if asked:
            return r
    r = call_fitting(<PyObject*>(<OpOverloadPacket>self).overload_entries, self, args, PyVectorcall_NARGS_(nargsf), kwnames,
                     ASK_KEYWORDS, FIT_OPERATOR | (FIT_SETTLED if n_function_modes != 0 else 0), &found)
    if not found:
        r = ask_functions(self, args, PyVectorcall_NARGS_(nargsf), kwnames, ASK_KEYWORDS, &asked)
        if not asked:
            refuse_packet(self, (<OpOverloadPacket>self).overload_entries, args, PyVectorcall_NARGS_(nargsf), kwnames,
                          <PyObject*>RuntimeError)
            return NULL
    return r


cdef PyObject* call_fitting(PyObject* entries, PyObject* callee, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, int how,
                            int fit, int* found) noexcept:
    """Dispatch the first entry of a list whose schema the arguments fit; `found` stays FOUND_NONE, without an exception, when
    none does. The list is held: an argument or a kernel that deregisters puts another one in its place."""
    cdef Frame f
    cdef PyObject* r = NULL
    cdef PyObject* entry
    cdef Py_ssize_t i, n = PyList_GET_SIZE_(entries)
    cdef bint asked = False
    Py_INCREF_(entries)
    for i in range(n):
        entry = PyList_GET_ITEM_(entries, i)
        set_fit(&f, fit)
        if match(&(<OperatorEntry>entry).sig, args, nargs, kwnames, &f) == 0:
            found[0] = FOUND_OVERLOAD
            if f.flags & TF_HAS_TORCH_FUNCTION and not fit & FIT_SETTLED and fit != FIT_TRIAL:
                r = ask_functions(callee, args, nargs, kwnames, how, &asked)
            if asked:
                found[0] = FOUND_ANSWER
            elif fit == FIT_TRIAL:
                r = give(True)
            else:
                if fit & FIT_FUNCTION and (<OperatorEntry>entry).sig.n_args > 2:
                    complete_options(&(<OperatorEntry>entry).sig, &f)
                r = dispatcher.call(<OperatorEntry>entry, f.ks, f.flags, f.args)
            release_frame(&f)
            break
        release_frame(&f)
        if PyErr_Occurred() != NULL:             # MATCH_RAISED
            found[0] = FOUND_OVERLOAD
            break
    Py_DECREF_(entries)
    return r


cdef int refuse_packet(PyObject* self, list tried, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, PyObject* error) noexcept:
    """Set the exception: the one overload's reason, or that of every overload that was tried."""
    cdef OpOverloadPacket p = <OpOverloadPacket>self
    cdef list reasons = [], entries
    try:
        if not tried:
            raise RuntimeError(f"{p._qualified_op_name}: no overload is defined any more")
        entries = overloads_meant(tried, args, nargs, <object>kwnames if kwnames != NULL else ())
        for e in entries:
            try:
                refuse_overload(<OperatorEntry>e, args, nargs, kwnames, <object>error)
            except (RuntimeError, TypeError) as reason:
                if len(entries) == 1:
                    raise
                reasons.append(str(reason))
        what = ("received an invalid combination of arguments, which" if <object>error is TypeError else
                "the arguments failed to match any schema, and")
        raise (<object>error)(f"{p._qualified_op_name}: {what} fit none of the overloads\n" + "\n".join(reasons))
    except BaseException as e2:
        set_error(e2)
    return 0


cdef class OpOverloadPacket:
    """All overloads of one operator name: calling it picks the first whose schema fits (torch._ops.OpOverloadPacket)."""

    def __cinit__(self, *args, **kwargs):
        check_maker(args, "OpOverloadPacket")
        self.vectorcall = call_packet
        self.cached = {}
        self.attributes = {}
        self.overload_entries = []

    def __init__(self, *args, **kwargs):
        raise TypeError(f"OpOverloadPacket objects are reached through {full_name('ops')}")

    def __call__(self, *args, **kwargs):
        return call_vector(self, args, kwargs)

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return _find_packet, (self._qualified_op_name,)

    def __repr__(self):
        ns, _, name = self._qualified_op_name.partition("::")
        return f"<OpOverloadPacket(op='{ns}.{name}')>"

    def __str__(self):
        return self._qualified_op_name.replace("::", ".")

    def __hash__(self):
        return <Py_ssize_t><void*>self >> 4

    def __eq__(self, other):
        return self is other

    @property
    def __name__(self):
        return self.name

    @property
    def __module__(self):
        return full_name(f"_ops.{self._qualified_op_name.partition('::')[0]}")

    @property
    def __doc__(self):
        return _described(self)

    @property
    def __signature__(self):
        return _described(self, "signature")

    __file__ = "dispatch.ops"

    @property
    def _op(self):
        """The call itself."""
        return entry_point(self, self.attributes, CALL_PACKET)

    @property
    def op(self):
        return self._op

    @property
    def _dir(self):
        return list(self.cached)

    @property
    def _has_torchbind_op_overload(self):
        return any([takes_script_objects(e) for e in self.overload_entries])

    @property
    def _overload_names(self):
        return [o for o in overload_names(self._qualified_op_name)]

    @property
    def _schemas(self):
        return {(<OperatorEntry>e).overload_name: schema_of(e) for e in entries_of(self)}

    def overloads(self):
        """Names of the overloads; the default one is called "default"."""
        return [o or "default" for o in overload_names(self._qualified_op_name)]

    def op_overloads(self):
        """All overloads."""
        return [getattr(self, name) for name in self.overloads()]

    def __iter__(self):
        """The names of the overloads that were asked for, as PyTorch's packets have it."""
        return iter(list(self.cached))

    def __dir__(self):
        return list(object.__dir__(self)) + self.overloads()

    def __setattr__(self, str name, value):
        self.attributes[name] = value

    def __delattr__(self, str name):
        if name not in self.attributes:
            raise AttributeError(f"'{self}' has no attribute '{name}' of its own")
        del self.attributes[name]

    def __getattr__(self, str key):
        if key in self.attributes:
            return self.attributes[key]
        if key == "__qualname__":
            return full_name(f"ops.{self}")
        if key.startswith("__"):
            raise AttributeError(f"'{self}' can't have an overload name beginning with '__' and the underlying op "
                                 f"has no attribute {key} either.")
        op = _find_overload(self._qualified_op_name, key)
        if op is None:
            raise AttributeError(f"The underlying op of '{self}' has no overload name '{key}'")
        self.cached[key] = op
        return op


cdef object packets = {}


cdef OpOverloadPacket find_packet(str name):
    """The packet of `namespace::name`; None when nothing of that name is defined."""
    cdef OpOverloadPacket p = packets.get(name)
    if p is not None and p.overload_entries:
        return p
    if not overload_names(name):
        return None
    if p is None:
        p = OpOverloadPacket.__new__(OpOverloadPacket, MAKER)
        p._qualified_op_name = name
        p.name = name.partition("::")[2]
        packets[name] = p
    look_again(p)
    return p


cdef int look_again(OpOverloadPacket p) except -1:
    p.overload_entries = entries_of(p)
    p.vectorcall = call_script_packet if p._has_torchbind_op_overload else call_packet
    return 0


cdef PyObject* call_script_packet(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    """A packet with overloads that take script objects: what stands for one is dispatched in Python."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS_(nargsf)
    try:
        names = <tuple>kwnames if kwnames != NULL else ()
        positional = tuple([<object>args[i] for i in range(n)])
        keywords = {names[i]: <object>args[n + i] for i in range(len(names))}
        if hooks["must_dispatch_in_python"](positional, keywords):
            return give(hooks["call_script_packet"](<object>self, *positional, **keywords))
    except BaseException as error:
        set_error(error)
        return NULL
    return call_packet(self, args, nargsf, kwnames)


def _find_packet(str name):
    """The OpOverloadPacket of `namespace::name`, or None."""
    return find_packet(name)


def _refresh_packet(str name):
    """Look the overloads of a packet up again: one was defined or went away."""
    cdef OpOverloadPacket p = packets.get(name)
    if p is not None:
        look_again(p)


# ---- attributes ------------------------------------------------------------------------------------------------------
# `dispatch.ops.aten.add.Tensor` is three of them, and users write it out: what was asked for before is one look into a dict.

cdef getattrofunc any_attribute_of_packet, any_attribute_of_module


cdef PyObject* attribute_of_packet(PyObject* self, PyObject* name) noexcept:
    """An overload that was found before and is still defined; else whatever any object has."""
    cdef PyObject* op = PyDict_GetItem_(<PyObject*>(<OpOverloadPacket>self).cached, name)
    if op != NULL and (<OpOverload>op).entry.defined:
        Py_INCREF_(op)
        return op
    return NULL if op == NULL and PyErr_Occurred() != NULL else any_attribute_of_packet(self, name)


cdef PyObject* attribute_of_module(PyObject* self, PyObject* name) noexcept:
    """What the instance holds, before anything that its class has."""
    cdef PyObject** held = PyObject_GetDictPtr_(self)
    cdef PyObject* found = PyDict_GetItem_(held[0], name) if held != NULL and held[0] != NULL else NULL
    if found != NULL:
        Py_INCREF_(found)
        return found
    return NULL if PyErr_Occurred() != NULL else any_attribute_of_module(self, name)


def _instance_first(type cls not None):
    """Class decorator: attributes of a module's instance come before those of `cls`, a direct subclass of ModuleType."""
    global any_attribute_of_module
    if cls.__base__ is not ModuleType:
        raise TypeError(f"expected a direct subclass of ModuleType, got {cls.__name__}")
    cdef getattrofunc before = look_up_by(<PyTypeObject*>cls, attribute_of_module)
    if before != attribute_of_module:            # not decorated before
        any_attribute_of_module = before
    return cls


cdef void enable_attributes():
    global any_attribute_of_packet
    any_attribute_of_packet = look_up_by(<PyTypeObject*>OpOverloadPacket, attribute_of_packet)


cdef void enable_vectorcalls():
    cdef OpOverload o = OpOverload.__new__(OpOverload, MAKER)
    cdef OpOverloadPacket p = OpOverloadPacket.__new__(OpOverloadPacket, MAKER)
    enable_vectorcall(<PyTypeObject*>OpOverload, <char*>&o.vectorcall - <char*><void*>o, 0)
    enable_vectorcall(<PyTypeObject*>OpOverloadPacket, <char*>&p.vectorcall - <char*><void*>p, 0)


enable_vectorcalls()
enable_attributes()
