"""What users call: operator overloads and overload packets (functions and methods: `function`).

Each is a C vectorcall on the object itself: match the arguments against the schema, gather the keys, dispatch. Both raise
RuntimeError for arguments that do not fit.
"""
from cpython.object cimport PyObject, PyTypeObject

from dispatch._C cimport dispatcher, keys
from dispatch._C.dispatcher cimport find_entry, overload_names
from dispatch._C.keys cimport DispatchKeySet
from dispatch._C.operator cimport (
    OF_ALIASING, OF_MUTABLE, OperatorEntry, get_schema_room, qualified_name,
)
from dispatch._C.python_kernel cimport set_overload_maker
from dispatch._C.references cimport raised, set_error, take
from dispatch._C.values cimport Frame, match, match_given, raise_mismatch, release_frame

cdef extern from *:
    """
    static void dispatch_enable_vectorcall(PyTypeObject* tp, Py_ssize_t offset) {
        tp->tp_vectorcall_offset = offset;
        tp->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        tp->tp_call = PyVectorcall_Call;
        PyType_Modified(tp);
    }
    """
    void dispatch_enable_vectorcall(PyTypeObject* tp, Py_ssize_t offset)

cdef extern from "Python.h":
    PyObject* PyVectorcall_Call_ "PyVectorcall_Call"(PyObject*, PyObject*, PyObject*) except NULL
    Py_ssize_t PyList_GET_SIZE_ "PyList_GET_SIZE"(PyObject*) noexcept
    PyObject* PyList_GET_ITEM_ "PyList_GET_ITEM"(PyObject*, Py_ssize_t) noexcept


cdef object call_vector(object callee, tuple args, dict kwargs):
    """Slow way in, for Python subclasses: through the vectorcall slot all the same."""
    return take(PyVectorcall_Call_(<PyObject*>callee, <PyObject*>args, <PyObject*>kwargs if kwargs else NULL))


# ---- overloads -------------------------------------------------------------------------------------------------------

cdef PyObject* call_overload(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames) noexcept:
    cdef PyObject* entry = <PyObject*>(<OpOverload>self).entry
    cdef Frame f
    cdef PyObject* r
    cdef int code
    f.lone_ints = False
    code = match(&(<OperatorEntry>entry).sig, args, DISPATCH_NARGS(nargsf), kwnames, &f)
    if code != 0:
        refuse(entry, code, &f, args, DISPATCH_NARGS(nargsf), kwnames, <PyObject*>RuntimeError)
        return NULL
    r = dispatcher.call(<OperatorEntry>entry, f.ks, f.flags, f.args)
    release_frame(&f)
    return r


cdef int refuse(PyObject* entry, int code, Frame* f, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, PyObject* error) noexcept:
    """Set the exception of a mismatch."""
    try:
        if not (<OperatorEntry>entry).defined:
            release_frame(f)
            raise RuntimeError(f"{qualified_name(<OperatorEntry>entry)}: the operator has no schema any more: "
                               "its library was destroyed")
        raise_mismatch(&(<OperatorEntry>entry).sig, code, f, args, nargs, kwnames, <object>error)
    except Exception as e:
        set_error(e)
    return 0


cdef class OperatorBase:
    """Common base of overloads and higher-order operators: a name, and kernels written in Python by key (torch._ops.OperatorBase)."""

    def __cinit__(self, *args, **kwargs):
        self.py_kernels = {}
        self.python_key_table = {}
        self.functorch_table = {}

    def __call__(self, *args, **kwargs):
        raise NotImplementedError

    def has_kernel_for_dispatch_key(self, k):
        """Whether a Python kernel was given for exactly the key `k`."""
        return k in self.py_kernels

    def has_kernel_for_any_dispatch_key(self, ks):
        """Whether a Python kernel was given for a (non-alias) key of the set."""
        return any(not keys.is_alias_value(keys.key_value(k)) and ks.has(k) for k in self.py_kernels)


cdef class OpOverload(OperatorBase):
    """One operator overload: callable, hashable by identity, with its schema (torch._ops.OpOverload)."""

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = call_overload
        self.dispatch_cache = {}
        self.attributes = {}

    def __init__(self, *args, **kwargs):
        raise TypeError("OpOverload objects are reached through dispatch.ops")

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
        return f"{self._packet_name()}.{self._overloadname}"

    @property
    def __module__(self):
        return f"dispatch._ops.{self.namespace}"

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
    def _dispatch_cache(self):
        return self.dispatch_cache

    def name(self):
        """`namespace::name.overload`."""
        return qualified_name(self.entry)

    def redispatch(self, DispatchKeySet keyset not None, *args, **kwargs):
        """Call the kernel that `keyset` reaches: keys of arguments and of the thread play no part."""
        cdef Frame f
        cdef PyObject* r
        match_given(&self.entry.sig, args, kwargs, &f)
        r = dispatcher.redispatch(self.entry, keyset.ks, f.args)
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


cdef object schema_of(OperatorEntry e):
    if e.schema_object is None:
        if not e.defined:
            raise RuntimeError(f"{qualified_name(e)} has no schema: its library was destroyed, or it was never defined")
        e.schema_object = get_schema_room().parse_schema(e.schema_text)
    return e.schema_object


cdef object tag_maker = None


def _set_tag_maker(maker):
    """Register what turns a bit mask of tags into the list of Tag members."""
    global tag_maker
    tag_maker = maker


cdef list tags_of(OperatorEntry e):
    return tag_maker(e.tags)


cdef object new_overload(OperatorEntry e):
    cdef OpOverload op = OpOverload.__new__(OpOverload)
    op.entry = e
    return op


cdef class OverloadMaker:
    def __call__(self, OperatorEntry e):
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
    cdef bint found = False
    cdef PyObject* r = call_fitting(self, args, DISPATCH_NARGS(nargsf), kwnames, False, &found)
    if not found:
        refuse_packet(self, args, DISPATCH_NARGS(nargsf), kwnames, <PyObject*>RuntimeError)
    return r


cdef PyObject* call_fitting(PyObject* packet, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, bint lone_ints, bint* found) noexcept:
    """Dispatch the first overload whose schema the arguments fit; `found` stays False, without an exception, when none does."""
    cdef Frame f
    cdef PyObject* r
    cdef PyObject* entry
    cdef PyObject* all_entries = <PyObject*>(<OpOverloadPacket>packet).overload_entries
    cdef Py_ssize_t i, n = PyList_GET_SIZE_(all_entries)
    for i in range(n):
        entry = PyList_GET_ITEM_(all_entries, i)
        f.lone_ints = lone_ints
        if match(&(<OperatorEntry>entry).sig, args, nargs, kwnames, &f) == 0:
            found[0] = True
            r = dispatcher.call(<OperatorEntry>entry, f.ks, f.flags, f.args)
            release_frame(&f)
            return r
        release_frame(&f)
    return NULL


cdef int refuse_packet(PyObject* self, PyObject** args, Py_ssize_t nargs, PyObject* kwnames, PyObject* error) noexcept:
    """Set the exception: the one overload's reason, or every overload's."""
    cdef OpOverloadPacket p = <OpOverloadPacket>self
    cdef list reasons = []
    cdef Frame f
    cdef int code
    try:
        if not p.overload_entries:
            raise RuntimeError(f"{p._qualified_op_name}: no overload is defined any more")
        for e in p.overload_entries:
            f.lone_ints = error == <PyObject*>TypeError
            code = match(&(<OperatorEntry>e).sig, args, nargs, kwnames, &f)
            try:
                raise_mismatch(&(<OperatorEntry>e).sig, code, &f, args, nargs, kwnames, <object>error)
            except (RuntimeError, TypeError) as reason:
                if len(p.overload_entries) == 1:
                    raise
                reasons.append(str(reason))
        raise (<object>error)(f"{p._qualified_op_name}: the arguments fit none of the overloads\n" + "\n".join(reasons))
    except Exception as e2:
        set_error(e2)
    return 0


cdef class OpOverloadPacket:
    """All overloads of one operator name: calling it picks the first whose schema fits (torch._ops.OpOverloadPacket)."""

    def __cinit__(self, *args, **kwargs):
        self.vectorcall = call_packet
        self.cached = {}
        self.overload_entries = []

    def __init__(self, *args, **kwargs):
        raise TypeError("OpOverloadPacket objects are reached through dispatch.ops")

    def __call__(self, *args, **kwargs):
        return call_vector(self, args, kwargs)

    def __deepcopy__(self, memo=None):
        return self

    def __reduce__(self):
        return find_packet_of, (self._qualified_op_name,)

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
        return f"dispatch.ops.{self._qualified_op_name.partition('::')[0]}"

    @property
    def _overload_names(self):
        return [o for o in overload_names(self._qualified_op_name)]

    @property
    def _schemas(self):
        return {(<OperatorEntry>e).overload_name: schema_of(e) for e in entries_of(self)}

    def overloads(self):
        """Names of the overloads; the default one is called "default"."""
        return [o or "default" for o in overload_names(self._qualified_op_name)]

    def __iter__(self):
        return iter(self.overloads())

    def __dir__(self):
        return list(object.__dir__(self)) + self.overloads()

    def __getattr__(self, str key):
        op = self.cached.get(key)
        if op is not None and (<OpOverload>op).entry.defined:
            return op
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
        p = OpOverloadPacket.__new__(OpOverloadPacket)
        p._qualified_op_name = name
        p.name = name.partition("::")[2]
        packets[name] = p
    p.overload_entries = entries_of(p)
    return p


def _find_packet(str name):
    """The OpOverloadPacket of `namespace::name`, or None."""
    return find_packet(name)


find_packet_of = _find_packet


def _refresh_packet(str name):
    """Look the overloads of a packet up again: one was defined or went away."""
    cdef OpOverloadPacket p = packets.get(name)
    if p is not None:
        p.overload_entries = entries_of(p)


cdef void enable_vectorcalls():
    cdef OpOverload o = OpOverload.__new__(OpOverload)
    cdef OpOverloadPacket p = OpOverloadPacket.__new__(OpOverloadPacket)
    dispatch_enable_vectorcall(<PyTypeObject*>OpOverload, <char*>&o.vectorcall - <char*><void*>o)
    dispatch_enable_vectorcall(<PyTypeObject*>OpOverloadPacket, <char*>&p.vectorcall - <char*><void*>p)


enable_vectorcalls()
