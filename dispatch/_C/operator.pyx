"""OperatorEntry: registrations in, one computed row out.

`dispatcher` makes entries (from emitted records or run-time definitions) and calls through their rows; this room keeps what was
registered, applies PyTorch's resolution rules (c10 OperatorEntry::computeDispatchTableEntryWithDebug) and prints the dumps.
A row is always a function of the registrations alone: adding and removing a kernel gives back the row that was there before.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int16_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from dispatch._C cimport keys
from dispatch._C.emitted cimport AF_WRITE, OF_ALIASING, OF_MUTABLE, ROW_AMBIGUOUS, ROW_FALLBACK
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX, KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_VALUE, KS_FULL_BACKENDS, KS_Meta,
    is_alias_value,
)
from dispatch._C.python_api cimport Py_XDECREF_
from dispatch._C.values cimport MAX_ARGS, ArgSpec, RetSpec, default_object

from dispatch._C.keys import _dispatch_get_backend_keyset_from_autograd

cdef enum:
    MAX_RUNTIME = 240          # room for DK_NUM_RUNTIME
    MAX_VALUES = 256

cdef uint32_t next_id = 1
cdef dict python_modules = {}

# Enum values of the alias keys that the rules name, by their place in `alias_members`.
cdef enum:
    A_NON_FUNCTIONAL, A_EXPLICIT, A_NESTED, A_IMPLICIT, A_AUTOGRAD, A_BATCHED, N_ALIASES

cdef int ALIAS_VALUE[6]
cdef uint8_t alias_members[6][240]            # by runtime index: whether the alias stands for that key
cdef int16_t backends_of[240][64]             # by runtime index: row indices of the backends behind an autograd key, -1 ends
cdef int AUTOGRAD_OTHER = 0                   # row index


cdef int fill_alias_tables() except -1:
    cdef int a, i, n, j
    for a, name in enumerate(("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd",
                              "CompositeImplicitAutogradNestedTensor", "CompositeImplicitAutograd", "Autograd",
                              "FuncTorchBatchedDecomposition")):
        ALIAS_VALUE[a] = keys.key_value(name)
        for i in range(DK_NUM_RUNTIME):
            alias_members[a][i] = i != 0 and keys.in_alias(DK_VALUE_BY_INDEX[i], ALIAS_VALUE[a])
    global AUTOGRAD_OTHER
    AUTOGRAD_OTHER = DK_INDEX_BY_VALUE[keys.key_value("AutogradOther")]
    for i in range(DK_NUM_RUNTIME):
        n = 0
        if alias_members[A_AUTOGRAD][i]:
            backends = _dispatch_get_backend_keyset_from_autograd(keys.get_key(DK_VALUE_BY_INDEX[i]))
            for j in range(1, DK_NUM_RUNTIME):
                if backends.has(keys.get_key(DK_VALUE_BY_INDEX[j])):
                    backends_of[i][n] = <int16_t>j
                    n += 1
        backends_of[i][n] = -1
    return 0


fill_alias_tables()


cdef class KernelObject:
    def __cinit__(self):
        self.k.owner = <PyObject*>self

    @property
    def is_fallthrough(self):
        return self.k.flags & KF_FALLTHROUGH != 0

    @property
    def function(self):
        """The Python callable behind the kernel, or None."""
        return self.functor


cdef bint has_backend_bytes(int key) noexcept:
    """Whether kernels at this key read and write bytes: those of a backend, but for Meta's and autograd's."""
    cdef uint64_t ks = KS_BY_VALUE[key] if DK_INDEX_BY_VALUE[key] > 0 else 0
    return ks & KS_FULL_BACKENDS & ~KS_Meta != 0 and not ks & (KS_AUTOGRAD | KS_ADInplaceOrView)


cdef KernelObject new_kernel(object functor, int key, str where, uint32_t flags):
    cdef KernelObject k = KernelObject.__new__(KernelObject)
    if not flags & KF_PYTHON and has_backend_bytes(key):
        flags |= KF_BYTES
    k.functor = functor
    k.k.functor = <PyObject*>functor if functor is not None else NULL
    k.k.flags = flags
    k.key = key
    k.where = where
    return k


cdef class OperatorEntry:
    """Registrations of one operator overload. Made by the dispatcher, never by users."""

    def __dealloc__(self):
        free_signature(self)
        free(self.own_row)
        free(self.own_kernels)

    def __repr__(self):
        return f"<operator {qualified_name(self)}>"

    @property
    def _qualified_name(self):
        return qualified_name(self)

    @property
    def _schema_text(self):
        return self.schema_text or qualified_name(self)

    @property
    def _is_defined_in_python(self):
        return self.emitted == NULL


cdef OperatorEntry new_entry(str name, str overload_name):
    global next_id
    cdef OperatorEntry e = OperatorEntry.__new__(OperatorEntry)
    e.name = name
    e.overload_name = overload_name
    e.registrations = {}
    e.kernel_objects = []
    e.id = next_id
    next_id += 1
    e.sig.entry = <PyObject*>e
    update_row(e)
    return e


cdef int free_signature(OperatorEntry e) noexcept:
    cdef int i
    for i in range(e.sig.n_args):
        Py_XDECREF_(e.sig.args[i].name)
        Py_XDECREF_(e.sig.args[i].dflt)
    free(e.sig.args)
    free(e.sig.rets)
    e.sig.args = NULL
    e.sig.rets = NULL
    e.sig.n_args = e.sig.n_pos = e.sig.n_rets = 0
    return 0


# ---- schemas ---------------------------------------------------------------------------------------------------------

cdef object parser = None        # dispatch.codegen.parser: of a schema's text
cdef object encoding = None      # dispatch.codegen.encoding: of a schema's numbers


cdef object parse_schema(str text, bint allow_typevars):
    if parser is None:
        import_schema_language()
    return parser.parse_schema(text, allow_typevars)


cdef int import_schema_language() except -1:
    """When a schema is first looked at: most programs define none and ask for none."""
    global encoding, parser
    from dispatch._C.dtypes import device
    from dispatch.codegen import encoding, parser, schema
    schema.new_device = device
    return 0


def _schema_language():
    """The module that parses schemas, with this package's values as defaults."""
    if parser is None:
        import_schema_language()
    return parser


cdef object numbers_allowed = frozenset((
    "aten::_conj", "aten::_to_copy", "aten::add", "aten::add_", "aten::copy", "aten::copy_", "aten::div", "aten::div_",
    "aten::divide", "aten::divide_", "aten::floor_divide", "aten::floor_divide_", "aten::mul", "aten::mul_",
    "aten::multiply", "aten::multiply_", "aten::sub", "aten::sub_", "aten::subtract", "aten::subtract_", "aten::to",
    "aten::true_divide", "aten::true_divide_"))
# Names of functions in C++ that PyTorch's list has beside those of operators.
cdef object numbers_allowed_too = frozenset((
    "add_out", "div_out", "divide_out", "floor_divide_out", "mul_out", "multiply_out", "sub_out", "subtract_out",
    "true_divide_out"))


def _should_allow_numbers_as_tensors(str name):
    """Whether the aten packet of that bare name takes Python numbers in Tensor slots
    (torch._C._should_allow_numbers_as_tensors)."""
    return "aten::" + name in numbers_allowed or name in numbers_allowed_too


cdef int allocate_signature(OperatorEntry e, int n_args, int n_rets) except -1:
    if n_args > MAX_ARGS:
        raise RuntimeError(f"{qualified_name(e)}: an operator has at most {MAX_ARGS} arguments, got {n_args}")
    free_signature(e)
    e.sig.args = <ArgSpec*>calloc(n_args if n_args else 1, sizeof(ArgSpec))
    e.sig.rets = <RetSpec*>calloc(n_rets if n_rets else 1, sizeof(RetSpec))
    if e.sig.args == NULL or e.sig.rets == NULL:
        raise MemoryError()
    e.sig.n_args = n_args
    e.sig.n_rets = n_rets
    e.sig.numbers_as_tensors = e.name in numbers_allowed or e.name.startswith("prims::")
    return 0


cdef int set_schema(OperatorEntry e, object schema, str where) except -1:
    """Take over a parsed FunctionSchema as the operator's own. An entry gets one once: calls that run rely on it."""
    cdef OperatorEntry made = OperatorEntry.__new__(OperatorEntry)
    made.name = e.name
    made.overload_name = e.overload_name
    fill_signature(made, schema)
    text = str(schema)
    flags = schema_flags(made)
    if e.defined or e.sig.args != NULL:                # another thread was quicker
        raise RuntimeError(f"{qualified_name(e)}: defined more than once, now at {where}, before at {e.schema_where}")
    made.sig.entry = e.sig.entry
    e.sig = made.sig
    made.sig.args = NULL
    made.sig.rets = NULL
    made.sig.n_args = 0
    e.schema_object = schema
    e.schema_text = text
    e.schema_where = where
    e.flags = flags
    e.defined = True
    e.kwnames = None
    e.generation += 1
    return 0


cdef int fill_signature(OperatorEntry e, object schema) except -1:
    cdef list args = list(schema.arguments)
    cdef list rets = list(schema.returns)
    cdef int i
    cdef ArgSpec* spec
    if encoding is None:
        import_schema_language()
    allocate_signature(e, len(args), len(rets))
    for i, a in enumerate(args):
        spec = &e.sig.args[i]
        spec.kind, spec.flags, spec.alias, spec.size = encoding.arg_spec(a)
        name = intern_text(a.name)
        Py_INCREF(name)
        spec.name = <PyObject*>name
        if not a.kwarg_only:
            e.sig.n_pos += 1
        if a.has_default_value():
            dflt = run_time_default(spec, encoding.default_spec(a))
            Py_INCREF(dflt)
            spec.dflt = <PyObject*>dflt
    for i, a in enumerate(rets):
        e.sig.rets[i].kind, e.sig.rets[i].flags, e.sig.rets[i].alias, _ = encoding.arg_spec(a)
    return 0


cdef object intern_text(str text):
    import sys
    return sys.intern(text)


cdef object run_time_default(ArgSpec* spec, object descriptor):
    """The default object of an argument, from the descriptor (kind, i, f, s, v) that the generator would emit."""
    kind, i, f, s, v = descriptor
    cdef list values = list(v or ())
    cdef int64_t* ints = <int64_t*>malloc((len(values) + 1) * sizeof(int64_t))
    cdef int n
    if ints == NULL:
        raise MemoryError()
    try:
        for n in range(len(values)):
            ints[n] = values[n]
        text = s.encode() if s is not None else b""
        return default_object(kind, i, f, text, ints)
    finally:
        free(ints)


cdef uint16_t schema_flags(OperatorEntry e) noexcept:
    cdef uint16_t flags = 0
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE:
            flags |= OF_MUTABLE
        elif e.sig.args[i].alias:
            flags |= OF_ALIASING
    return flags


cdef int retire(OperatorEntry e) except -1:
    """The operator is gone: calls that run may end, new ones find no kernel. What was registered is not the entry's any more."""
    e.defined = False
    e.registrations = {}
    update_row(e)
    e.hard = e.soft = 0
    return 0


# ---- resolution ------------------------------------------------------------------------------------------------------

cdef inline KernelObject registered(OperatorEntry e, int value):
    cdef object stack = e.registrations.get(value)
    return <KernelObject>(<list>stack)[0] if stack else None


cdef class Resolver:
    """One pass of the rules over the registrations of an entry: everything that rows ask more than once is looked up here."""
    cdef OperatorEntry e
    cdef uint8_t has[256]              # by enum value
    cdef bint aliased                  # some registration is at an alias key: without one, each key serves itself alone
    cdef PyObject* kernel[256]         # borrowed KernelObject by enum value

    cdef int load(self, OperatorEntry e) except -1:
        cdef int value
        self.e = e
        self.aliased = False
        memset(self.has, 0, sizeof(self.has))
        for value, stack in e.registrations.items():
            if stack:
                self.has[value] = 1
                self.aliased |= is_alias_value(value)
                self.kernel[value] = <PyObject*>(<list>stack)[0]
        return 0

    cdef bint any_backend(self, int idx) noexcept:
        """Whether some backend behind the autograd key at `idx` has a kernel of its own."""
        cdef int j = 0
        while backends_of[idx][j] >= 0:
            if self.has[DK_VALUE_BY_INDEX[backends_of[idx][j]]]:
                return True
            j += 1
        return False

    cdef PyObject* resolve(self, int idx, int* special, const char** why) noexcept:
        """The kernel for the runtime key at `idx` (borrowed); NULL: `special` says FALLBACK or AMBIGUOUS."""
        cdef int value = DK_VALUE_BY_INDEX[idx]
        cdef bint has_backend
        if self.has[value]:
            why[0] = "kernel"
            return self.kernel[value]
        special[0] = ROW_FALLBACK
        why[0] = "backend fallback"
        if not self.aliased:
            return NULL
        if (idx == 0 or alias_members[A_NON_FUNCTIONAL][idx]) and self.has[ALIAS_VALUE[A_NON_FUNCTIONAL]]:
            why[0] = "default backend kernel"
            return self.kernel[ALIAS_VALUE[A_NON_FUNCTIONAL]]
        if (idx == 0 or alias_members[A_EXPLICIT][idx]) and self.has[ALIAS_VALUE[A_EXPLICIT]]:
            why[0] = "default backend kernel"
            return self.kernel[ALIAS_VALUE[A_EXPLICIT]]
        has_backend = self.has[ALIAS_VALUE[A_EXPLICIT]] or self.any_backend(idx)
        if alias_members[A_NESTED][idx] and self.has[ALIAS_VALUE[A_NESTED]]:      # whatever the backends have
            why[0] = "nested kernel"
            return self.kernel[ALIAS_VALUE[A_NESTED]]
        if (idx == 0 or alias_members[A_IMPLICIT][idx]) and self.has[ALIAS_VALUE[A_IMPLICIT]]:
            if idx == AUTOGRAD_OTHER and self.any_backend(idx):
                special[0] = ROW_AMBIGUOUS
                why[0] = "ambiguous autogradother"
                return NULL
            if not has_backend:
                why[0] = "math kernel"
                return self.kernel[ALIAS_VALUE[A_IMPLICIT]]
        if alias_members[A_AUTOGRAD][idx] and self.has[ALIAS_VALUE[A_AUTOGRAD]]:
            why[0] = "autograd kernel"
            return self.kernel[ALIAS_VALUE[A_AUTOGRAD]]
        if alias_members[A_BATCHED][idx] and self.has[ALIAS_VALUE[A_BATCHED]]:
            why[0] = "batched kernel"
            return self.kernel[ALIAS_VALUE[A_BATCHED]]
        return NULL


cdef Resolver resolver_of(OperatorEntry e):
    cdef Resolver r = Resolver.__new__(Resolver)
    r.load(e)
    return r


cdef tuple resolve_key_debug(OperatorEntry e, int value):
    """(KernelObject or None, reason, ROW_* code) of one runtime key."""
    cdef Resolver r = resolver_of(e)
    cdef int special = 0
    cdef const char* why = NULL
    cdef PyObject* k = r.resolve(DK_INDEX_BY_VALUE[value], &special, &why)
    return (<object>k, why.decode(), 0) if k != NULL else (None, why.decode(), special)


cdef int update_row(OperatorEntry e) except -1:
    """Compute the row anew from the registrations and swap it in."""
    cdef Resolver r = resolver_of(e)
    cdef uint8_t* row = <uint8_t*>malloc(DK_NUM_RUNTIME)
    cdef Kernel** kernels = <Kernel**>malloc(256 * sizeof(Kernel*))
    cdef list objects = []
    cdef int i, j, special, n = 0
    cdef const char* why
    cdef PyObject* k
    cdef PyObject* last = NULL
    cdef int last_number = 0
    cdef uint64_t hard = 0, soft = 0, bit
    if row == NULL or kernels == NULL:
        free(row)
        free(kernels)
        raise MemoryError()
    for i in range(DK_NUM_RUNTIME):
        bit = KS_BY_VALUE[DK_VALUE_BY_INDEX[i]] & ~<uint64_t>0xFFFF
        special = 0
        k = r.resolve(i, &special, &why)
        if k == NULL:
            row[i] = <uint8_t>special
            if special == ROW_FALLBACK:
                soft |= bit
            else:
                hard |= bit
            continue
        if k != last:
            last_number = -1
            for j in range(n):
                if kernels[j].owner == k:
                    last_number = j
            if last_number < 0:
                last_number = n
                kernels[n] = &(<KernelObject>k).k
                objects.append(<object>k)
                n += 1
            last = k
        row[i] = <uint8_t>last_number
        if not kernels[last_number].flags & KF_FALLTHROUGH:
            hard |= bit
    install_row(e, row, kernels, objects, hard, soft)
    return 0


cdef int install_row(OperatorEntry e, uint8_t* row, Kernel** kernels, list objects, uint64_t hard, uint64_t soft) except -1:
    cdef uint8_t* old_row = e.own_row
    cdef Kernel** old_kernels = e.own_kernels
    cdef list old_objects = e.kernel_objects
    e.own_row = row
    e.own_kernels = kernels
    e.row = row
    e.kernels = kernels
    e.kernel_objects = objects
    e.hard = hard
    e.soft = soft
    e.generation += 1
    free(old_row)
    free(old_kernels)
    return 0


cdef int add_kernel(OperatorEntry e, KernelObject kernel) except -1:
    """Put a kernel on top of those registered for its key."""
    cdef object stack = e.registrations.get(kernel.key)
    if stack is None:
        stack = e.registrations[kernel.key] = []
    (<list>stack).insert(0, kernel)
    return update_row(e)


cdef int remove_kernel(OperatorEntry e, KernelObject kernel) except -1:
    """Take one registration away; what was registered before it shows again."""
    cdef object stack = e.registrations.get(kernel.key)
    if stack is None or kernel not in stack:
        return 0
    (<list>stack).remove(kernel)
    if not stack:
        del e.registrations[kernel.key]
    return update_row(e)
