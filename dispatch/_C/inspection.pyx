"""What is registered: questions, dumps, invariants, handles (torch._C._dispatch_...).

Reads `OperatorEntry` objects and the dispatcher's fallbacks; `registration` writes them. The texts of the dumps are PyTorch's,
line by line, with places of their own.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C cimport dispatcher
from dispatch._C.dispatcher cimport all_entries, find_entry, get_fallback, name_operator, need_entry, set_error_callback
from dispatch._C.emitted cimport ROW_AMBIGUOUS, ROW_SPECIAL
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX, KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_VALUE,
    KS_FULL_BACKENDS, KS_Meta, KS_Python, DispatchKeySet, get_key, is_alias_value, key_bits, key_value, ks_index, new_key_set,
)
from dispatch._C.operator cimport (
    KF_BELOW_AUTOGRAD, KF_FALLTHROUGH, KernelObject, OperatorEntry, qualified_name, resolve_key_debug,
)
from dispatch._C.references cimport forbid_new, take
from dispatch._C.tensor cimport Tensor
from dispatch._C.tls cimport ThreadState, n_dispatch_modes, tls
from dispatch._C.values cimport Frame, match_given, release_frame

from dispatch._C.overload import _find_overload, _set_overload_hooks


cdef str text_of(object text, str what):
    """A text as PyTorch's bindings take it: str or bytes; RuntimeError for None, TypeError for anything else."""
    if isinstance(text, str):
        return text
    if isinstance(text, bytes):
        return (<bytes>text).decode("utf-8", "replace")
    if text is None:
        raise RuntimeError(f"{what}: expected a text, got None")
    raise TypeError(f"{what}: expected a str, got {text!r} ({type(text).__name__})")


cdef tuple split_operator_name(object name):
    """(namespace::name, overload) of an operator's whole name; RuntimeError for what is no such name."""
    cdef str full = text_of(name, "an operator's name")
    if full and "." not in full and not full.endswith("::"):
        return full, ""
    base, dot, overload = full.partition(".")
    if not base or base.endswith("::") or "." in overload or (dot and not overload):
        raise RuntimeError(f"{name!r} is no operator's name: expected namespace::name or namespace::name.overload")
    return base, overload


cdef OperatorEntry find_named(object name):
    base, overload = split_operator_name(name)
    return find_entry(base, overload)


cdef OperatorEntry need_named(object name):
    e = find_named(name)
    if e is None:
        raise RuntimeError(f"operator {name} does not exist")
    return e


cdef str key_name(int value):
    return DK_NAME_BY_VALUE[value].decode()


cdef bint has_own(OperatorEntry e, int value):
    return bool(e.registrations.get(value))


cdef str place_of(KernelObject k):
    """How a dump names the place of a registration."""
    return k.where if type(k) is UnboxedKernel else f"registered at {k.where}"


cdef class UnboxedKernel(KernelObject):
    """A kernel whose signature in C is known: `inferred` is its schema, `where` what a dump calls it."""


def _dispatch_has_kernel(name):
    """Whether the operator is known, be it by its definition or by a kernel."""
    return find_named(name) is not None


def _dispatch_has_kernel_for_dispatch_key(name, key):
    """Whether a kernel is registered for exactly this key (alias keys too); RuntimeError for an unknown operator."""
    cdef int value = key_value(key)
    return has_own(need_named(name), value)


def _dispatch_has_kernel_for_any_dispatch_key(name, DispatchKeySet ks not None):
    """Whether a kernel is registered for some runtime key of the set."""
    cdef OperatorEntry e = need_named(name)
    return any([not is_alias_value(v) and ks.has(get_key(v)) for v in e.registrations])


def _dispatch_kernel_for_dispatch_key_is_fallthrough(name, key):
    """Whether the kernel registered for this key is a fallthrough; RuntimeError when there is none."""
    cdef int value = key_value(key)
    stack = need_named(name).registrations.get(value)
    if not stack:
        raise RuntimeError(f"{name}: no kernel is registered for {key_name(value)}")
    return stack[0].is_fallthrough


cdef int runtime_value(object key) except -1:
    cdef int value = key_value(key)
    if is_alias_value(value):
        raise RuntimeError(f"{key_name(value)} is an alias key: a computed kernel is that of one runtime key")
    return value


cdef KernelObject computed_kernel(OperatorEntry e, int value):
    """What the row has for a runtime key: an own kernel or the fallback; None."""
    cdef int index = ks_index(KS_BY_VALUE[value])
    k, _, special = resolve_key_debug(e, DK_VALUE_BY_INDEX[index])
    if k is None and special != ROW_AMBIGUOUS:
        k = get_fallback(index)
    return k


def _dispatch_has_computed_kernel_for_dispatch_key(name, str key not None):
    """Whether the computed table has a kernel for this runtime key: its own, an alias key's or a fallback."""
    cdef int value = runtime_value(key)
    cdef OperatorEntry e = need_named(name)
    _, _, special = resolve_key_debug(e, DK_VALUE_BY_INDEX[ks_index(KS_BY_VALUE[value])])
    return special == ROW_AMBIGUOUS or computed_kernel(e, value) is not None


def _dispatch_has_backend_fallback(key):
    """Whether the dispatcher has a fallback for this key."""
    cdef int value = key_value(key)
    if is_alias_value(value):
        return False
    # a per-backend functionality without a backend counts as its first one, as its key set does
    return get_fallback(ks_index(KS_BY_VALUE[value])) is not None


def _dispatch_dump_table(name):
    """The computed table, one runtime key a line: its kernel, and by which rule it serves; "" for an unknown operator."""
    e = find_named(name)
    return "" if e is None else dump_table(e)


def _dispatch_table(name):
    """The computed table as a list of (key name, where, rule, is fallthrough)."""
    return table_rows(need_named(name))


cdef list table_rows(OperatorEntry e):
    cdef list rows = []
    cdef int i, value
    for i in range(DK_NUM_RUNTIME):
        value = DK_VALUE_BY_INDEX[i]
        k, why, special = resolve_key_debug(e, value)
        if k is None and special == ROW_AMBIGUOUS:
            rows.append((key_name(value), "ambiguous_autogradother", why, False))
            continue
        if k is None:
            k = get_fallback(i)
        if k is not None:
            rows.append((key_name(value), place_of(k), why, k.is_fallthrough))
    return rows


cdef str dump_table(OperatorEntry e):
    return "".join([f"{key}: {'fallthrough ' if fall else ''}{where} [{why}]\n" for key, where, why, fall in table_rows(e)])


cdef str kernel_text(KernelObject k):
    """A kernel's line in a dump, behind its key."""
    if type(k) is UnboxedKernel:
        return f"{k.where} :: {(<UnboxedKernel>k).inferred} [ boxed unboxed ]"
    return f"{place_of(k)} :: (none) [ {'fallthrough ' if k.is_fallthrough else ''}boxed ]"


def _dispatch_dump(name):
    """What is registered for an operator: name, schema, place, kernels by key; "" for an unknown operator."""
    e = find_named(name)
    return "" if e is None else dump_entry(e)


cdef str dump_entry(OperatorEntry e):
    cdef list lines = [f"name: {qualified_name(e)}"]
    if e.defined:
        lines += [f"schema: {e._schema_text}", f"debug: registered at {e.schema_where}",
                  f"alias analysis kind: {e.alias_analysis or 'FROM_SCHEMA'}"]
    else:
        lines.append("schema: (none)")
    for value in sorted(e.registrations):
        for n, k in enumerate(e.registrations[value]):
            label = key_name(value) + ("[alias]" if is_alias_value(value) else "") + (" (inactive)" if n else "")
            lines.append(f"{label}: {kernel_text(k)}")
    return "\n".join(lines) + "\n"


def _dispatch_check_invariants(name):
    """Raise RuntimeError when the operator's row is not what its registrations give."""
    e = find_named(name)
    if e is not None:
        check_entry(e)


def _dispatch_check_all_invariants():
    """Check every operator."""
    for e in all_entries():
        check_entry(e)


cdef int check_entry(OperatorEntry e) except -1:
    cdef int i, slot
    for i in range(DK_NUM_RUNTIME):
        k, why, special = resolve_key_debug(e, DK_VALUE_BY_INDEX[i])
        slot = e.row[i]
        if k is None:
            if slot != special:
                raise RuntimeError(f"{qualified_name(e)}: row entry of {key_name(DK_VALUE_BY_INDEX[i])} is {slot}, the rules "
                                   f"give {why}")
        elif slot >= ROW_SPECIAL or e.kernels[slot] != &(<KernelObject>k).k:
            raise RuntimeError(f"{qualified_name(e)}: row entry of {key_name(DK_VALUE_BY_INDEX[i])} is not the {why} that the "
                               "rules give")
    if e.defined and e.sig.n_pos > e.sig.n_args:
        raise RuntimeError(f"{qualified_name(e)}: more positional arguments than arguments")
    return 0


def _dispatch_find_dangling_impls():
    """Dumps of the operators that have kernels and no schema."""
    return [dump_entry(e) for e in dispatcher.made_entries() if not (<OperatorEntry>e).defined]


def _dispatch_get_all_op_names():
    """Names of all operators, `namespace::name.overload`."""
    names = set(dispatcher_names())
    names.update(qualified_name(e) for e in dispatcher.made_entries())
    return sorted(names)


cdef list dispatcher_names():
    from dispatch._C.dispatcher import _emitted_names
    return _emitted_names()


def _dispatch_get_registrations_for_dispatch_key(dispatch_key=""):
    """Names of the operators that have a kernel registered for exactly this key; with "" for any."""
    cdef str text = text_of(dispatch_key, "a dispatch key")
    value = key_value(text) if text else -1
    return sorted(qualified_name(e) for e in all_entries()
                  if (any((<OperatorEntry>e).registrations.values()) if value < 0 else has_own(e, value)))


def _dispatch_print_registrations_for_dispatch_key(dispatch_key=""):
    """Print what `_dispatch_get_registrations_for_dispatch_key` returns, one a line."""
    for name in _dispatch_get_registrations_for_dispatch_key(dispatch_key):
        print(name)


# ---- tensors ---------------------------------------------------------------------------------------------------------

# A tensor with one of these is not a plain one: other keys may be behind it (isTensorSubclassLike).
cdef uint64_t SUBCLASS_LIKE = (key_bits("Python") | key_bits("FuncTorchBatched") | key_bits("FuncTorchGradWrapper")
                               | key_bits("Batched") | key_bits("Functionalize") | key_bits("Sparse") | key_bits("SparseCsr")
                               | (KS_Meta & KS_FULL_BACKENDS))


def _dispatch_isTensorSubclassLike(Tensor tensor not None):
    """Whether the tensor is something else than a plain one with data: a subclass, a meta or a sparse tensor, ..., or any
    under a dispatch mode."""
    return tensor.c_keys & SUBCLASS_LIKE != 0 or (n_dispatch_modes(tls()) != 0 and tls().excluded & KS_Python == 0)


def _dispatch_key_set(Tensor tensor not None):
    """A tensor's key set as a text."""
    return repr(new_key_set(tensor.c_keys))


# ---- handles ---------------------------------------------------------------------------------------------------------

cdef class _DispatchOperatorHandle:
    """An operator as `_dispatch_find_schema_or_throw` gives it: its schema, its place, boxed redispatch."""
    cdef OperatorEntry entry

    def __init__(self):
        raise TypeError("_DispatchOperatorHandle: handles come from _dispatch_find_schema_or_throw")

    def schema(self):
        """The operator's FunctionSchema."""
        return live_overload(self.entry)._schema

    def debug(self):
        """Where it was defined."""
        return f"registered at {need_entry(self.entry.name, self.entry.overload_name).schema_where}"

    def redispatch_boxed(self, DispatchKeySet keyset not None, *args, **kwargs):
        """Call the kernel that `keyset` reaches."""
        return live_overload(self.entry).redispatch(keyset, *args, **kwargs)

    def __repr__(self):
        return f"<handle of {qualified_name(self.entry)}>"


forbid_new(_DispatchOperatorHandle)


cdef object live_overload(OperatorEntry entry):
    """An operator's overload; RuntimeError when its library was destroyed."""
    need_entry(entry.name, entry.overload_name)
    return _find_overload(entry.name, entry.overload_name)


cdef _DispatchOperatorHandle new_handle(OperatorEntry entry):
    cdef _DispatchOperatorHandle h = _DispatchOperatorHandle.__new__(_DispatchOperatorHandle)
    h.entry = entry
    return h


def _dispatch_find_schema_or_throw(name, overload_name):
    """The handle of a defined operator; RuntimeError when there is none."""
    return new_handle(need_entry(text_of(name, "an operator's name"), text_of(overload_name, "an overload's name")))


def _dispatch_call_boxed(_DispatchOperatorHandle handle not None, *args, **kwargs):
    """Call an operator through its handle."""
    return live_overload(handle.entry)(*args, **kwargs)


def _dispatch_set_report_error_callback(_DispatchOperatorHandle handle not None, callback):
    """Call `callback(key name)`, which is to raise, where a call of the operator finds no kernel."""
    set_error_callback(handle.entry, callback)


cdef class _SafeKernelFunction:
    """One kernel of an operator, as the table had it: callable for as long as it is registered (`torch.library.get_kernel`)."""
    cdef OperatorEntry entry
    cdef KernelObject kernel

    def __init__(self):
        raise TypeError("_SafeKernelFunction: kernels come from _dispatch_get_computed_kernel_for_dispatch_key")

    @property
    def op_handle(self):
        """The operator's handle."""
        return new_handle(self.entry)

    def call_boxed(self, DispatchKeySet keyset not None, *args, **kwargs):
        """Run this kernel on arguments of the schema, `keyset` being what it sees as the call's keys."""
        cdef Frame f
        cdef KernelObject k = self.kernel
        cdef ThreadState* ts = tls()
        cdef uint64_t excluded = ts.excluded
        cdef PyObject* r
        self.check_registered()
        match_given(&self.entry.sig, args, kwargs, &f)
        if k.k.flags & KF_BELOW_AUTOGRAD:
            ts.excluded |= KS_AUTOGRAD | KS_ADInplaceOrView
        try:
            r = k.k.call(&k.k, <PyObject*>self.entry, keyset.ks, f.args)
            if r == NULL:
                name_operator(self.entry)
            return take(r)
        finally:
            ts.excluded = excluded
            release_frame(&f)

    cdef int check_registered(self) except -1:
        cdef OperatorEntry e = self.entry
        if not e.defined or not (self.kernel in e.registrations.get(self.kernel.key, ())
                                 or get_fallback(DK_INDEX_BY_VALUE[self.kernel.key]) is self.kernel):
            raise RuntimeError(f"{qualified_name(e)}: the kernel of {key_name(self.kernel.key)} has been invalidated: "
                               f"it is not registered any more")
        if self.kernel.k.flags & KF_FALLTHROUGH:
            raise RuntimeError(f"{qualified_name(e)}: the kernel of {key_name(self.kernel.key)} is a fallthrough: "
                               f"there is nothing to call")
        return 0

    def __repr__(self):
        return f"SafeKernelFunction(debug='{place_of(self.kernel)}')"


forbid_new(_SafeKernelFunction)


def _dispatch_get_computed_kernel_for_dispatch_key(name, key):
    """The kernel that serves a runtime key; RuntimeError for an alias key and where there is none."""
    cdef int value = runtime_value(key)
    cdef _SafeKernelFunction f = _SafeKernelFunction.__new__(_SafeKernelFunction)
    f.entry = need_named(name)
    f.kernel = computed_kernel(f.entry, value)
    if f.kernel is None:
        raise RuntimeError(f"no kernel for {key_name(value)} for {name}")
    return f


def _overload_names(str name not None):
    """The names of an operator's overloads, in order of definition."""
    return dispatcher.overload_names(name)


def _resolve_overload(str name not None, tuple args not None, dict kwargs not None):
    """The first overload whose schema the arguments fit, "default" for the nameless; RuntimeError when none does."""
    cdef OperatorEntry e
    cdef Frame f
    cdef list reasons = []
    for overload in dispatcher.overload_names(name):
        e = need_entry(name, overload)
        try:
            match_given(&e.sig, args, kwargs, &f)
        except RuntimeError as error:
            reasons.append(str(error))
            continue
        release_frame(&f)
        return overload or "default"
    reasons = reasons or ["there is no such operator"]
    raise RuntimeError(f"{name}: the arguments failed to match any schema\n" + "\n".join(reasons))


def _get_schema(name, overload_name):
    """The FunctionSchema of a defined operator."""
    return live_overload(need_entry(text_of(name, "an operator's name"), text_of(overload_name, "an overload's name")))._schema


_set_overload_hooks(find_handle=_dispatch_find_schema_or_throw, find_table=_dispatch_table)
