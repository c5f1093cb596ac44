"""Registration from Python: the module object behind `Library` (torch._C._dispatch_library).

Registration writes `OperatorEntry` objects and the dispatcher's fallbacks; `reset` takes back exactly what was written, in any
order. What is registered can be asked of `inspection`.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

import sys

from dispatch._C.dispatcher cimport (
    define_entry, entry_for_registration, find_entry, forget_if_empty, get_fallback, remove_fallback, set_fallback,
    undefine_entry,
)
from dispatch._C.inspection cimport UnboxedKernel, split_operator_name, text_of
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX, KS_BY_VALUE, in_alias, is_alias_value,
    key_value, ks_index,
)
from dispatch._C.fallbacks cimport call_adinplace
from dispatch._C.native_functor cimport NativeFunctor, check_made
from dispatch._C.operator cimport (
    KF_FALLTHROUGH, KF_PYTHON, KF_WITH_KEYSET, KF_WITH_OP, Kernel, KernelObject, OperatorEntry, add_kernel, boxed_fn,
    new_kernel, parse_schema, python_modules, qualified_name, remove_kernel, update_row,
)
from dispatch._C.python_kernel cimport call_functor
from dispatch._C.references cimport give

from dispatch._C.inspection import (
    _dispatch_get_all_op_names,
    _dispatch_has_backend_fallback,
    _dispatch_has_kernel_for_any_dispatch_key,
    _dispatch_has_kernel_for_dispatch_key,
)
from dispatch._C.overload import _note_tags, _refresh_packet
from dispatch._C.tags import Tag


class _Fallthrough:
    """The kernel that passes every call on to the next key (torch.library.fallthrough_kernel)."""

    def __call__(self, *args, **kwargs):
        raise NotImplementedError("fallthrough_kernel() should never be called.")

    def __repr__(self):
        return "fallthrough_kernel"


fallthrough_kernel = _Fallthrough()

cdef frozenset KINDS = frozenset(("DEF", "IMPL", "FRAGMENT"))
# What a definition may say of aliasing; the empty text is the schema's own annotations.
cdef frozenset ALIAS_KINDS = frozenset(("", "FROM_SCHEMA", "CONSERVATIVE", "PURE_FUNCTION"))
cdef str TEST_SCHEMA = "(Tensor _0) -> Tensor _0"
cdef dict open_namespaces = {"aten": "dispatch schemas"}         # namespace -> where its DEF library is


cdef object is_finalizing = sys.is_finalizing


cdef class _DispatchModule:
    """One open registration session on a namespace: what `torch._C._dispatch_library` returns.

    What it registered lasts as long as the object, or until `reset`.
    The methods named `..._t_t` register a kernel in C that returns its one tensor, for tests of registration itself.
    """
    cdef str kind, ns, dispatch_key, where
    cdef str prefix                 # what names in the namespace begin with
    cdef bint holds_namespace
    cdef tuple python_module        # what further definitions are to name as the module with their Python kernels; None
    cdef list undo                  # what was done, two for each: the entry, None (a definition) or the kernel; a fallback's
                                    # runtime index, its kernel (no tuples: the collector would look at each)
    cdef object __weakref__

    def __init__(self, str kind not None, str ns not None, dispatch_key="", file="", int line=0):
        if kind not in KINDS:
            raise RuntimeError(f"a library of kind {kind!r}: expected one of {', '.join(sorted(KINDS))}")
        key = text_of(dispatch_key, "the dispatch key of a library")
        self.where = f"{text_of(file, 'the file of a library')}:{line}"
        if key:
            key_value(key)
        if kind != "IMPL":
            self.check_may_define(kind, ns, key)
        self.kind = kind
        self.ns = ns
        self.prefix = ns + "::"
        self.dispatch_key = key
        self.undo = []

    cdef int check_may_define(self, str kind, str ns, str key) except -1:
        if key:
            raise RuntimeError(f"a {kind} library of {ns} takes no dispatch key ({key}): give it to each impl, at {self.where}")
        if ns == "_":
            raise RuntimeError(f'a {kind} library cannot have the namespace "_", which is for fallbacks, at {self.where}')
        if kind == "DEF":
            if ns in open_namespaces:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}: "
                    f"the one at {open_namespaces[ns]} does, so that at {self.where} cannot; use FRAGMENT or IMPL")
            open_namespaces[ns] = self.where
            self.holds_namespace = True
        return 0

    cdef int note(self, object where, KernelObject k) except -1:
        self.undo.append(where)
        self.undo.append(k)
        return 0

    # ---- definitions

    cdef object new_definition(self, object text, object alias, tuple tags):
        """Define an operator; returns its parsed schema."""
        cdef str schema = text_of(text, "a schema")
        cdef uint64_t bits = 0
        cdef OperatorEntry e
        if self.kind == "IMPL":
            raise RuntimeError(f"{schema}: an IMPL library (at {self.where}) defines no operators: use DEF or FRAGMENT")
        for tag in tags:
            if type(tag) is not Tag or tag.name not in Tag.__members__:
                raise TypeError(f"{schema}: expected tags, got {tag!r} ({type(tag).__name__})")
            bits |= <uint64_t>1 << int(tag)
        if alias != "CONSERVATIVE (default)" and text_of(alias, "the alias analysis") not in ALIAS_KINDS:
            raise RuntimeError(f"{schema}: alias analysis {alias!r}: expected one of {', '.join(sorted(ALIAS_KINDS))}")
        parsed = parse_schema(schema, False, self.prefix)
        cdef str name = parsed.name
        check_namespace(self, name)
        e = entry_for_registration(name, parsed.overload_name)
        try:
            check_inferred(e, parsed, None, self.where)
            define_entry(e, parsed, self.where)
        except RuntimeError:
            forget_if_empty(e)
            raise
        e.alias_analysis = alias or "FROM_SCHEMA"
        e.tags = bits
        if tags:
            _note_tags(e, tags)
        self.note(e, None)
        if self.python_module is not None:
            python_modules[qualified_name(e)] = self.python_module
        _refresh_packet(name)
        return parsed

    def define(self, schema, alias_analysis="", tags=(), tuple noted=()):
        """Define an operator; returns its name without the overload. RuntimeError for a bad schema or a second definition.

        Sets in `noted` get its name with namespace and overload.
        """
        parsed = self.new_definition(schema, alias_analysis, tuple(tags))
        cdef str name = parsed.name
        for names in noted:
            (<set?>names).add(f"{name}.{parsed.overload_name}" if parsed.overload_name else name)
        return name if has_namespace(text_of(schema, "a schema")) else name[len(self.prefix):]

    def def_(self, schema, alias=""):
        """The same as `define`; returns this object."""
        self.new_definition(schema, alias, ())
        return self

    def def_legacy(self, schema):
        """Define an operator that says nothing of its aliases: they are taken to be any."""
        self.new_definition(schema, "CONSERVATIVE (default)", ())
        return self

    def def_name_t_t(self, name, dispatch="", debug="default_def_name_t_t"):
        """Define an operator by name: its schema is that of the kernel which comes with it."""
        self.new_definition(text_of(name, "an operator's name") + TEST_SCHEMA, "CONSERVATIVE", ())
        return self.impl_t_t(name, dispatch, debug)

    def def_schema_t_t(self, name, dispatch="", alias="", debug="default_def_schema_t_t"):
        """Define an operator with a kernel; a kernel that does not fit is a RuntimeError, and the definition stays."""
        parsed = self.new_definition(name, alias, ())
        full = f"{parsed.name}.{parsed.overload_name}" if parsed.overload_name else parsed.name
        return self.impl_t_t(full, dispatch, debug)

    def set_python_module(self, str pymodule not None, str context=""):
        """Definitions from here on name the module that has their Python kernels (torch::Library::set_python_module)."""
        self.python_module = (pymodule, context)

    # ---- kernels

    cdef int value_for(self, int value, str what) except -1:
        """Enum value for a kernel of this library: the one given, else (0) the library's own, else what serves everywhere."""
        if self.dispatch_key:
            if value and value != key_value(self.dispatch_key):
                raise RuntimeError(f"{what}: the key {DK_NAME_BY_VALUE[value].decode()} is inconsistent with the dispatch key of "
                                   f"its library, {self.dispatch_key} (at {self.where})")
            value = key_value(self.dispatch_key)
        return value if value else key_value("CompositeImplicitAutograd")

    cdef int add(self, str name, KernelObject k) except -1:
        cdef OperatorEntry e
        cdef bint is_whole = "::" in name
        full, overload = split_operator_name(name if is_whole else self.prefix + name)
        if is_whole:
            check_namespace(self, full)
        e = entry_for_registration(full, overload)
        try:
            if e.defined:
                check_inferred(e, None, k, e.schema_where)
            add_kernel(e, k)
        except RuntimeError:
            forget_if_empty(e)
            raise
        self.note(e, k)
        note_change(e)
        return 0

    def impl(self, name, dispatch, func, bint with_keyset=False):
        """Register `func` (or `fallthrough_kernel`) for an operator at a key; the operator may be defined later."""
        cdef int value = key_value(dispatch)
        cdef str text = text_of(name, "an operator's name")
        value = self.value_for(value, text)
        self.add(text, functor_kernel(func, value, self.where, KF_WITH_KEYSET if with_keyset else 0))

    def impl_t_t(self, name, dispatch="", debug="impl_t_t"):
        """Register a kernel of one tensor that returns it."""
        cdef str text = text_of(name, "an operator's name")
        cdef str key = text_of(dispatch, "a dispatch key")
        cdef int value = self.value_for(key_value(key) if key else 0, text)
        self.add(text, test_kernel(value, text_of(debug, "debug")))
        return self

    def impl_with_aoti_compile(self, ns, op_name_with_overload, dispatch):
        """Refused: there is no compiler to make a kernel with."""
        raise RuntimeError(f"{ns}::{op_name_with_overload}: no compiler that would make a kernel for {dispatch} is here")

    def register_ad_inplace_or_view_fallback(self, name):
        """Register the kernel that keeps versions and views for an operator that writes or aliases its arguments."""
        cdef KernelObject k = new_kernel(None, key_value("ADInplaceOrView"), self.where, 0)
        k.k.call = <boxed_fn>call_adinplace
        self.add(text_of(name, "an operator's name"), k)

    # ---- fallbacks

    cdef int add_fallbacks(self, object dispatch, object func, bint with_keyset) except -1:
        cdef int i, value = key_value(dispatch) if dispatch else key_value(self.dispatch_key) if self.dispatch_key else 0
        cdef list indices
        if self.kind != "IMPL" or self.ns != "_":
            raise RuntimeError(f'a fallback is registered with an IMPL library of the namespace "_", '
                               f"not with one of {self.ns} ({self.kind}, at {self.where})")
        if value == 0:
            raise RuntimeError(f"a fallback needs a key, at {self.where}")
        if is_alias_value(value):
            indices = [i for i in range(1, DK_NUM_RUNTIME) if in_alias(DK_VALUE_BY_INDEX[i], value)]
        else:
            indices = [ks_index(KS_BY_VALUE[value])]
        for i in indices:
            check_no_fallback(i, self.where)
        for i in indices:
            k = functor_kernel(func, DK_VALUE_BY_INDEX[i], self.where, KF_WITH_OP | (KF_WITH_KEYSET if with_keyset else 0))
            set_fallback(i, k)
            self.note(i, k)
        note_change(None)
        return 0

    def fallback(self, dispatch, func, bint with_keyset=False):
        """Register `func(op, *args, **kwargs)` (or `fallthrough_kernel`) for a key of every operator without a kernel of its own.

        RuntimeError when the key has a fallback.
        """
        self.add_fallbacks(dispatch, func, with_keyset)

    def fallback_fallthrough(self, dispatch=""):
        """Calls pass the key by wherever an operator has no kernel of its own."""
        self.add_fallbacks(text_of(dispatch, "a dispatch key"), fallthrough_kernel, False)
        return self

    # ---- the end

    def reset(self):
        """Take back everything that was registered through this object; it may register anew."""
        cdef list undo = self.undo
        self.undo = []
        while undo:
            k = undo.pop()
            e = undo.pop()
            if type(e) is int:
                remove_fallback(e, k)
                note_change(None)
            elif k is not None:
                remove_registration(e, k)
            else:
                python_modules.pop(qualified_name(e), None)
                _note_tags(e, None)
                undefine_entry(e)
                _refresh_packet((<OperatorEntry>e).name)
                note_change(e)
        if self.holds_namespace:
            self.holds_namespace = False
            open_namespaces.pop(self.ns, None)

    def __del__(self):
        if self.undo is not None and not is_finalizing():
            self.reset()

    def __repr__(self):
        return f"<registrations of {self.kind} {self.ns} from {self.where}>"


LibraryModule = _DispatchModule
cdef list change_listeners = []


def _on_registration_change(listener):
    """Call `listener(everywhere)` after every registration: caches that depend on kernels drop what they hold.

    `everywhere`: it was a fallback, or at an operator of the package, which others may call.
    """
    if not callable(listener):
        raise TypeError(f"a listener is called with a bool, got {listener!r}")
    change_listeners.append(listener)


cdef int note_change(OperatorEntry e) except -1:
    for listener in change_listeners:
        listener(e is None or e.emitted != NULL)
    return 0


cdef int remove_registration(OperatorEntry e, KernelObject k) except -1:
    """Take a kernel away from the operator; its entry may be another one since its definition came or went."""
    cdef OperatorEntry now = find_entry(e.name, e.overload_name)
    if now is not None:
        remove_kernel(now, k)
        note_change(now)
        forget_if_empty(now)
    return 0


cdef bint has_namespace(str schema) except -1:
    """Whether the name that a schema begins with says its namespace."""
    cdef Py_ssize_t colons = schema.find("::")
    return colons >= 0 and not 0 <= schema.find("(") < colons


cdef int check_namespace(_DispatchModule module, str full) except -1:
    if not full.startswith(module.prefix):
        raise RuntimeError(f"{full}: operator name does not match namespace of the library, {module.ns} (at {module.where})")
    return 0


cdef int check_no_fallback(int index, str where) except -1:
    cdef KernelObject found = get_fallback(index)
    # PyTorch lets programs that were there before its own fallback replace this one (its issue 163979)
    if found is not None and DK_VALUE_BY_INDEX[index] != key_value("AutogradPrivateUse1"):
        name = DK_NAME_BY_VALUE[DK_VALUE_BY_INDEX[index]].decode()
        raise RuntimeError(f"Tried to register multiple backend fallbacks for the same dispatch key {name}; previous registration "
                           f"registered at {found.where}, new registration registered at {where}")
    return 0


cdef KernelObject functor_kernel(object func, int value, str where, int flags):
    cdef KernelObject k
    if func is fallthrough_kernel:
        return new_kernel(None, value, where, KF_FALLTHROUGH)
    if isinstance(func, NativeFunctor):
        check_made(func)
        k = new_kernel(func, value, where, 0)
        k.k.call = (<NativeFunctor>func).fn
        return k
    k = new_kernel(func, value, where, KF_PYTHON | flags)
    k.k.call = <boxed_fn>call_functor
    return k


# ---- kernels for tests of registration -------------------------------------------------------------------------------

cdef PyObject* return_tensor(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    return give(<object>args[0])


cdef KernelObject test_kernel(int value, str debug):
    cdef UnboxedKernel k = UnboxedKernel.__new__(UnboxedKernel)
    k.key = value
    k.where = debug
    k.inferred = TEST_SCHEMA
    k.k.call = <boxed_fn>return_tensor
    return k


cdef int check_inferred(OperatorEntry e, object schema, KernelObject new, str where) except -1:
    """Refuse a schema that a kernel in C (the new one, or one that is registered) does not fit, naming both places."""
    cdef list found
    if not e.registrations if new is None else type(new) is not UnboxedKernel:
        return 0
    found = [new] if new is not None else [k for stack in e.registrations.values() for k in stack]
    if schema is None:
        schema = parse_schema(e._schema_text, True)
    for k in found:
        if type(k) is not UnboxedKernel:
            continue
        reason = tensor_to_tensor_difference("argument", schema.arguments) or tensor_to_tensor_difference("return", schema.returns)
        if reason is not None:
            raise RuntimeError(
                "Inferred operator schema for a C++ kernel function doesn't match the expected function schema.\n"
                f"  operator: {qualified_name(e)}\n  expected schema: {schema}\n    registered at {where}\n"
                f"  inferred schema: {(<UnboxedKernel>k).inferred}\n    {(<UnboxedKernel>k).where}\n  reason: {reason}")
    return 0


cdef object tensor_to_tensor_difference(str what, declared):
    """What keeps these arguments (or returns) from being one Tensor; None: nothing."""
    if len(declared) != 1:
        return f"The number of {what}s is different. {len(declared)} vs 1."
    text = declared[0].real_type.text
    return None if text == "Tensor" else f"Type mismatch in {what} 1: {text} vs Tensor."


def _dispatch_library(str kind not None, str name not None, dispatch, file="/dev/null", int linenum=0):
    """A module object for registrations (torch._C._dispatch_library).

    RuntimeError for an unknown kind or key, a key with DEF or FRAGMENT, a second DEF of a namespace.
    """
    return _DispatchModule(kind, name, dispatch, file, linenum)


def _register_beneath(str name not None, str overload not None, str key not None, func not None):
    """Register a kernel of a built-in operator beneath those that programs registered for the key: it is made late, and counts as
    one that was there before theirs."""
    cdef OperatorEntry e = find_entry(name, overload)
    cdef KernelObject k
    if e is None:
        raise RuntimeError(f"_register_beneath: there is no operator {name}.{overload}")
    k = functor_kernel(func, key_value(key), "dispatch/library/autocast.py", 0)
    (<list>e.registrations.setdefault(k.key, [])).append(k)
    update_row(e)


def _dispatch_pystub(name, overload):
    """(module, context) that a definition named for its Python kernels (`set_python_module`), or None."""
    cdef str full = text_of(name, "an operator's name"), over = text_of(overload, "an overload's name")
    return python_modules.get(full + "." + over if over else full)
