"""Registration and inspection from Python: the module object behind `Library`, dumps, invariants (torch._C._dispatch_*).

Registration writes `OperatorEntry` objects and the dispatcher's fallbacks; `reset` takes back exactly what was written, in any order.
"""
from libc.stdint cimport uint64_t

from dispatch._C cimport dispatcher, keys
from dispatch._C.dispatcher cimport (
    all_entries, define_entry, entry_for_registration, find_entry, get_fallback, need_entry, remove_fallback,
    set_fallback, undefine_entry,
)
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX, DispatchKeySet, KS_BY_VALUE, get_key,
    is_alias_value, key_value, ks_index,
)
from dispatch._C.operator cimport (
    KF_FALLTHROUGH, KF_PYTHON, KF_WITH_KEYSET, KF_WITH_OP, ROW_AMBIGUOUS, ROW_SPECIAL, KernelObject, OperatorEntry,
    add_kernel, boxed_fn, get_schema_room, new_kernel, qualified_name, remove_kernel, resolve_key_debug,
)
from dispatch._C.overload import _find_overload, _refresh_packet
from dispatch._C.python_kernel cimport call_functor


class _Fallthrough:
    """The kernel that passes every call on to the next key (torch.library.fallthrough_kernel)."""

    def __call__(self, *args, **kwargs):
        raise NotImplementedError("fallthrough_kernel() should never be called.")

    def __repr__(self):
        return "fallthrough_kernel"


fallthrough_kernel = _Fallthrough()


cdef tuple split_name(str ns, str name):
    """(namespace::name, overload) of an operator name that may carry its namespace."""
    if "::" not in name:
        name = f"{ns}::{name}"
    elif ns != "_" and name.partition("::")[0] != ns:
        raise RuntimeError(f"{name}: cannot register an operator of another namespace from a library of {ns}")
    base, _, overload = name.partition(".")
    return base, overload


cdef class LibraryModule:
    """One open registration session on a namespace: what `torch._C._dispatch_library` returns."""
    cdef readonly str kind, ns, dispatch_key, where
    cdef list undo                  # (entry or None, kernel or None, runtime index)
    cdef object __weakref__

    def __init__(self, str kind, str ns, str dispatch_key="", str file="", int line=0):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if kind == "DEF":
            if ns in open_namespaces:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all of your "
                    f"definitions in a single TORCH_LIBRARY block. If you were trying to specify implementations, "
                    f"consider using TORCH_LIBRARY_IMPL. Previous registration of TORCH_LIBRARY was registered at "
                    f"{open_namespaces[ns]}; latest registration was registered at {file}:{line}")
            open_namespaces[ns] = f"{file}:{line}"
        if dispatch_key:
            key_value(dispatch_key)
        self.kind = kind
        self.ns = ns
        self.dispatch_key = dispatch_key
        self.where = f"{file}:{line}"
        self.undo = []

    def define(self, str schema, str alias_analysis="", tags=()):
        """Define an operator; returns its name. RuntimeError for a bad schema or a second definition."""
        parsed = get_schema_room().parse_schema(schema if "::" in schema.partition("(")[0] else f"{self.ns}::{schema}")
        name, overload = split_name(self.ns, f"{parsed.name}.{parsed.overload_name}" if parsed.overload_name else parsed.name)
        cdef uint64_t bits = sum({1 << int(t) for t in tags})
        cdef OperatorEntry e = entry_for_registration(name, overload)
        try:
            define_entry(e, parsed, self.where)
        except RuntimeError:
            forget(e)
            raise
        e.alias_analysis = alias_analysis or "FROM_SCHEMA"
        e.tags = bits
        self.undo.append((e, None, -1))
        _refresh_packet(name)
        return schema.partition("(")[0]

    def impl(self, str name, str dispatch_key, func, bint with_keyset=False):
        """Register `func` (or `fallthrough_kernel`) for an operator at a key; the operator may be defined later."""
        cdef OperatorEntry e
        cdef KernelObject k
        cdef int value = key_value(dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")
        full, overload = split_name(self.ns, name)
        k = functor_kernel(func, value, self.where, KF_WITH_KEYSET if with_keyset else 0)
        e = entry_for_registration(full, overload)
        add_kernel(e, k)
        self.undo.append((e, k, -1))
        note_change(e)

    def fallback(self, str dispatch_key, func, bint with_keyset=False):
        """Register `func(op, *args, **kwargs)` (or `fallthrough_kernel`) for a key of every operator without a kernel of its own."""
        cdef int value = key_value(dispatch_key or self.dispatch_key)
        cdef int index = DK_INDEX_BY_VALUE[value]
        cdef KernelObject k
        if self.ns != "_":
            raise RuntimeError(f"a fallback can only be registered with the namespace \"_\", not with {self.ns}")
        if index <= 0:
            raise RuntimeError(f"{dispatch_key}: a fallback is for one runtime key, not for an alias key")
        k = functor_kernel(func, value, self.where, KF_WITH_OP | (KF_WITH_KEYSET if with_keyset else 0))
        set_fallback(index, k)
        self.undo.append((None, k, index))
        note_change(None)

    def reset(self):
        """Take back everything that was registered through this object."""
        cdef list undo = self.undo
        self.undo = []
        for e, k, index in reversed(undo):
            if e is None:
                remove_fallback(index, k)
                note_change(None)
            elif k is not None:
                remove_kernel(e, k)
                note_change(e)
                forget(e)
            else:
                undefine_entry(e)
                _refresh_packet((<OperatorEntry>e).name)
                note_change(e)
        if self.kind == "DEF":
            open_namespaces.pop(self.ns, None)
            self.kind = "CLOSED"

    def __repr__(self):
        return f"<registrations of {self.kind} {self.ns} from {self.where}>"


cdef dict open_namespaces = {"aten": "dispatch schemas"}
cdef list change_listeners = []


def _on_registration_change(listener):
    """Call `listener(qualified name or None)` after every registration: caches that depend on kernels drop what they hold."""
    change_listeners.append(listener)


cdef int note_change(OperatorEntry e) except -1:
    for listener in change_listeners:
        listener(qualified_name(e) if e is not None else None)
    return 0


cdef int forget(OperatorEntry e) except -1:
    if not e.defined:
        undefine_entry(e)
    return 0


cdef KernelObject functor_kernel(object func, int value, str where, int flags):
    cdef KernelObject k
    if func is fallthrough_kernel:
        return new_kernel(None, value, where, KF_FALLTHROUGH)
    if not callable(func):
        raise TypeError(f"Input function is required to be a callable but found type {type(func)}")
    k = new_kernel(func, value, where, KF_PYTHON | flags)
    k.k.call = <boxed_fn>call_functor
    return k


def _dispatch_library(str kind, str ns, str key="", str file="/dev/null", int line=0):
    """A module object for registrations (torch._C._dispatch_library)."""
    return LibraryModule(kind, ns, key, file, line)


# ---- inspection ------------------------------------------------------------------------------------------------------

cdef OperatorEntry need_named(str name):
    base, _, overload = name.partition(".")
    e = find_entry(base, overload)
    if e is None:
        raise RuntimeError(f"operator {name} does not exist")
    return e


cdef str key_name(int value):
    return DK_NAME_BY_VALUE[value].decode()


cdef bint has_own(OperatorEntry e, int value):
    return bool(e.registrations.get(value))


def _dispatch_has_kernel(str name):
    """Whether any kernel is registered for the operator."""
    cdef OperatorEntry e = need_named(name)
    return any(e.registrations.values())


def _dispatch_has_kernel_for_dispatch_key(str name, key):
    """Whether a kernel is registered for exactly this key (alias keys too)."""
    return has_own(need_named(name), key_value(key))


def _dispatch_has_kernel_for_any_dispatch_key(str name, DispatchKeySet ks not None):
    """Whether a kernel is registered for some runtime key of the set."""
    cdef OperatorEntry e = need_named(name)
    return any([not is_alias_value(v) and ks.has(get_key(v)) for v in e.registrations])


def _dispatch_kernel_for_dispatch_key_is_fallthrough(str name, key):
    """Whether the kernel registered for this key is a fallthrough."""
    cdef OperatorEntry e = need_named(name)
    stack = e.registrations.get(key_value(key))
    return bool(stack) and stack[0].is_fallthrough


def _dispatch_has_computed_kernel_for_dispatch_key(str name, key):
    """Whether the computed table has a kernel for this runtime key: its own, an alias key's or a fallback."""
    cdef OperatorEntry e = need_named(name)
    cdef int value = key_value(key)
    if is_alias_value(value) or DK_INDEX_BY_VALUE[value] < 0:
        raise RuntimeError(f"{key} is not a runtime key")
    k, _, special = resolve_key_debug(e, value)
    return k is not None or special == ROW_AMBIGUOUS or get_fallback(DK_INDEX_BY_VALUE[value]) is not None


def _dispatch_has_backend_fallback(key):
    """Whether the dispatcher has a fallback for this key."""
    cdef int value = key_value(key)
    if is_alias_value(value):
        return False
    # a per-backend functionality without a backend counts as its first one, as its key set does
    return get_fallback(ks_index(KS_BY_VALUE[value])) is not None


def _dispatch_dump_table(str name):
    """The computed table, one runtime key a line: where its kernel was registered, and by which rule it serves."""
    return dump_table(need_named(name))


def _dispatch_table(str name):
    """The computed table as a list of (key name, where, rule, is fallthrough)."""
    return table_rows(need_named(name))


cdef list table_rows(OperatorEntry e):
    cdef list rows = []
    cdef int i, value
    for i in range(DK_NUM_RUNTIME):
        value = DK_VALUE_BY_INDEX[i]
        k, why, special = resolve_key_debug(e, value)
        if k is None and special == ROW_AMBIGUOUS:
            rows.append((key_name(value), "ambiguous", why, False))
            continue
        if k is None:
            k = get_fallback(i)
        if k is not None:
            rows.append((key_name(value), k.where, why, k.is_fallthrough))
    return rows


cdef str dump_table(OperatorEntry e):
    return "".join([f"{key}: {'fallthrough ' if fall else ''}{where if where == 'ambiguous' else 'registered at ' + where} [{why}]\n"
                    for key, where, why, fall in table_rows(e)])


def _dispatch_dump(str name):
    """What is registered for an operator: name, schema, place, kernels by key."""
    cdef OperatorEntry e = need_named(name)
    cdef list lines = [f"name: {qualified_name(e)}"]
    if e.defined:
        lines += [f"schema: {e.schema_text}", f"debug: registered at {e.schema_where}", f"alias analysis kind: {e.alias_analysis or 'FROM_SCHEMA'}"]
    else:
        lines.append("schema: (none)")
    for value in sorted(e.registrations, key=dump_order):
        for n, k in enumerate(e.registrations[value]):
            label = key_name(value) + ("[alias]" if is_alias_value(value) else "") + (" (inactive)" if n else "")
            lines.append(f"{label}: {'fallthrough ' if k.is_fallthrough else ''}registered at {k.where} :: (none) [ boxed ]")
    return "\n".join(lines) + "\n"


cdef object dump_order(int value):
    return (1, value) if is_alias_value(value) else (0, <int>DK_INDEX_BY_VALUE[value])


def _dispatch_check_invariants(str name):
    """Raise RuntimeError when the operator's row is not what its registrations give."""
    base, _, overload = name.partition(".")
    cdef OperatorEntry e = find_entry(base, overload)
    if e is not None:
        check_entry(e)


def _dispatch_check_all_invariants():
    """Check every operator that has been made."""
    for e in all_entries():
        check_entry(e)


cdef int check_entry(OperatorEntry e) except -1:
    cdef int i, slot
    for i in range(DK_NUM_RUNTIME):
        k, why, special = resolve_key_debug(e, DK_VALUE_BY_INDEX[i])
        slot = e.row[i]
        if k is None:
            if slot != special:
                raise RuntimeError(f"{qualified_name(e)}: row entry of {key_name(DK_VALUE_BY_INDEX[i])} is {slot}, the rules give {why}")
        elif slot >= ROW_SPECIAL or e.kernels[slot] != &(<KernelObject>k).k:
            raise RuntimeError(f"{qualified_name(e)}: row entry of {key_name(DK_VALUE_BY_INDEX[i])} is not the {why} that the rules give")
    if e.defined and e.sig.n_pos > e.sig.n_args:
        raise RuntimeError(f"{qualified_name(e)}: more positional arguments than arguments")
    return 0


def _dispatch_find_dangling_impls():
    """Dumps of the operators that have kernels and no schema."""
    return [_dispatch_dump(qualified_name(e)) for e in dispatcher.all_entries() if not (<OperatorEntry>e).defined]


def _dispatch_get_all_op_names():
    """Names of all operators, `namespace::name.overload`."""
    names = set(dispatcher_names())
    names.update(qualified_name(e) for e in dispatcher_entries())
    return sorted(names)


cdef list dispatcher_entries():
    return dispatcher.made_entries()


cdef list dispatcher_names():
    from dispatch._C.dispatcher import _emitted_names
    return _emitted_names()


def _dispatch_get_registrations_for_dispatch_key(str key=""):
    """Names of the operators that have a kernel registered for exactly this key; with "" for any."""
    value = key_value(key) if key else -1
    return sorted(qualified_name(e) for e in all_entries()
                  if (any((<OperatorEntry>e).registrations.values()) if value < 0 else has_own(e, value)))


def _dispatch_print_registrations_for_dispatch_key(str key=""):
    """Print what `_dispatch_get_registrations_for_dispatch_key` returns, one a line."""
    for name in _dispatch_get_registrations_for_dispatch_key(key):
        print(name)


cdef class OperatorHandle:
    """An operator as `_dispatch_find_schema_or_throw` gives it: its schema, its place, boxed redispatch."""
    cdef OperatorEntry entry

    @property
    def schema(self):
        return live_overload(self)._schema

    @property
    def debug(self):
        return f"registered at {self.entry.schema_where}"

    def redispatch_boxed(self, keyset, *args, **kwargs):
        """Call the kernel that `keyset` reaches."""
        return live_overload(self).redispatch(keyset, *args, **kwargs)

    def __repr__(self):
        return f"<handle of {qualified_name(self.entry)}>"


cdef object live_overload(OperatorHandle handle):
    """The handle's overload; RuntimeError when its library was destroyed."""
    need_entry(handle.entry.name, handle.entry.overload_name)
    return _find_overload(handle.entry.name, handle.entry.overload_name)


def _dispatch_find_schema_or_throw(str name, str overload_name):
    """The handle of a defined operator; RuntimeError when there is none."""
    cdef OperatorHandle h = OperatorHandle.__new__(OperatorHandle)
    h.entry = need_entry(name, overload_name)
    return h


def _dispatch_call_boxed(OperatorHandle handle not None, *args, **kwargs):
    """Call an operator through its handle."""
    return live_overload(handle)(*args, **kwargs)


def _get_schema(str name, str overload_name):
    """The FunctionSchema of a defined operator."""
    return _find_overload(need_entry(name, overload_name).name, overload_name)._schema
