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
from dispatch._C.emitted cimport (
    AF_HAS_DEFAULT, AF_KWARG_ONLY, AF_WRITE, AK_DTYPE, AK_LAYOUT, AK_MEMORY_FORMAT, OF_ALIASING, OF_MUTABLE, ROW_AMBIGUOUS,
    ROW_FALLBACK,
)
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NUM_RUNTIME, DK_NUM_VALUES, DK_VALUE_BY_INDEX, KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_VALUE,
    KS_FULL_BACKENDS, KS_Meta, is_alias_value,
)
from dispatch._C.python_api cimport Py_XDECREF_
from dispatch._C.references cimport give
from dispatch._C.values cimport MAX_ARGS, ArgSpec, RetSpec, Signature, default_object

from dispatch._C.keys import _dispatch_get_backend_keyset_from_autograd

cdef enum:
    MAX_RUNTIME = 240          # room for DK_NUM_RUNTIME
    MAX_VALUES = 256

cdef uint32_t next_id = 1
cdef dict python_modules = {}
cdef tuple NUMBERS = (int, float, complex)

# Enum values of the alias keys that the rules name, by their place in `alias_members`.
cdef enum:
    A_NON_FUNCTIONAL, A_EXPLICIT, A_NESTED, A_IMPLICIT, A_AUTOGRAD, A_BATCHED, N_ALIASES

cdef int ALIAS_VALUE[N_ALIASES]
cdef uint8_t alias_members[N_ALIASES][MAX_VALUES]            # by enum value: whether the alias stands for that key
cdef int16_t backends_of[MAX_VALUES][64]             # by enum value: values of the backends behind an autograd key, -1 ends
cdef int AUTOGRAD_OTHER = 0                   # enum value
cdef uint64_t bit_at[MAX_RUNTIME]                     # by runtime index: its functionality bit
cdef uint8_t no_kernels[MAX_RUNTIME]                  # the row of operators without registrations, and its functionality bits
cdef uint64_t no_kernels_soft = 0
cdef bint is_lone[MAX_RUNTIME]                        # by runtime index: whether no other key has its functionality bit


cdef int fill_alias_tables() except -1:
    global AUTOGRAD_OTHER, no_kernels_soft
    cdef int a, i, n, value
    for a, name in enumerate(("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd",
                              "CompositeImplicitAutogradNestedTensor", "CompositeImplicitAutograd", "Autograd",
                              "FuncTorchBatchedDecomposition")):
        ALIAS_VALUE[a] = keys.key_value(name)
        for value in range(1, DK_NUM_VALUES):
            alias_members[a][value] = keys.in_alias(value, ALIAS_VALUE[a])
    AUTOGRAD_OTHER = keys.key_value("AutogradOther")
    for value in range(DK_NUM_VALUES):
        n = 0
        if alias_members[A_AUTOGRAD][value]:
            backends = _dispatch_get_backend_keyset_from_autograd(keys.get_key(value))
            for i in range(1, DK_NUM_RUNTIME):
                if backends.has(keys.get_key(DK_VALUE_BY_INDEX[i])):
                    backends_of[value][n] = <int16_t>DK_VALUE_BY_INDEX[i]
                    n += 1
        backends_of[value][n] = -1
    for i in range(DK_NUM_RUNTIME):
        bit_at[i] = KS_BY_VALUE[DK_VALUE_BY_INDEX[i]] & ~<uint64_t>0xFFFF
        no_kernels[i] = ROW_FALLBACK
        no_kernels_soft |= bit_at[i]
    for i in range(DK_NUM_RUNTIME):
        n = 0
        for value in range(DK_NUM_RUNTIME):
            n += bit_at[value] == bit_at[i]
        is_lone[i] = n == 1
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
        free_signature(&self.sig)
        free(self.own_row)
        free(self.own_kernels)

    def __repr__(self):
        return f"<operator {qualified_name(self)}>"

    @property
    def _qualified_name(self):
        return qualified_name(self)

    @property
    def _schema_text(self):
        if self.schema_text is None and self.schema_object is not None:
            self.schema_text = str(self.schema_object)
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
    e.id = next_id
    next_id += 1
    e.sig.entry = <PyObject*>e
    install_row(e, NULL, NULL, [], 0, no_kernels_soft)
    return e


cdef int free_signature(Signature* sig) noexcept:
    cdef int i
    for i in range(sig.n_args):
        Py_XDECREF_(sig.args[i].name)
        Py_XDECREF_(sig.args[i].dflt)
    free(sig.args)
    free(sig.rets)
    sig.args = NULL
    sig.rets = NULL
    sig.n_args = sig.n_pos = sig.n_rets = 0
    return 0


# ---- schemas ---------------------------------------------------------------------------------------------------------

cdef object parser = None        # dispatch.codegen.parser: of a schema's text
cdef object encoding = None      # dispatch.codegen.encoding: of a schema's numbers


cdef object parse_schema(str text, bint allow_typevars, str prefix=""):
    if parser is None:
        import_schema_language()
    return parser.parse_schema(text, allow_typevars, prefix)


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
    free_signature(&e.sig)
    return allocate(&e.sig, e, n_args, n_rets)


cdef int allocate(Signature* sig, OperatorEntry e, int n_args, int n_rets) except -1:
    """Make room in an empty signature, which may come to be the entry's."""
    if n_args > MAX_ARGS:
        raise RuntimeError(f"{qualified_name(e)}: an operator has at most {MAX_ARGS} arguments, got {n_args}")
    sig.args = <ArgSpec*>calloc(n_args if n_args else 1, sizeof(ArgSpec))
    sig.rets = <RetSpec*>calloc(n_rets if n_rets else 1, sizeof(RetSpec))
    if sig.args == NULL or sig.rets == NULL:
        raise MemoryError()
    sig.n_args = n_args
    sig.n_rets = n_rets
    sig.numbers_as_tensors = e.name in numbers_allowed or e.name.startswith("prims::")
    return 0


cdef int set_schema(OperatorEntry e, object schema, str where) except -1:
    """Take over a parsed FunctionSchema as the operator's own. An entry gets one once: calls that run rely on it."""
    cdef Signature made
    memset(&made, 0, sizeof(Signature))
    made.entry = e.sig.entry
    try:
        fill_signature(&made, e, schema)
        if e.defined or e.sig.args != NULL:                # another thread was quicker
            raise RuntimeError(f"{qualified_name(e)}: defined more than once, now at {where}, before at {e.schema_where}")
    except BaseException:
        free_signature(&made)
        raise
    e.sig = made
    e.schema_object = schema
    e.schema_where = where
    e.flags = schema_flags(&made)
    e.defined = True
    e.kwnames = None
    return 0


cdef dict specs = {}             # (text of a type, keyword-only, has a default) -> its numbers without an alias annotation
cdef enum:
    MOST_SPECS = 4096


cdef tuple spec_of(object a):
    """What `encoding.arg_spec` says of an argument or a result: one that recurs knows it, and so do its types."""
    cdef object found = a._numbers
    if found is None:
        found = a._numbers = arg_spec(a)
    return <tuple>found


cdef object arg_spec(object a):
    if a.alias_info is not None:
        return encoding.arg_spec(a)
    cdef tuple place = (a.real_type.text, a.kwarg_only, a._has_default)
    cdef object found = specs.get(place)
    if found is None:
        found = encoding.arg_spec(a)
        if len(specs) >= MOST_SPECS:
            specs.clear()
        specs[place] = found
    return found


cdef int fill_signature(Signature* sig, OperatorEntry e, object schema) except -1:
    cdef tuple args = schema._arguments
    cdef tuple rets = schema._returns
    cdef int i
    cdef ArgSpec* spec
    if encoding is None:
        import_schema_language()
    allocate(sig, e, len(args), len(rets))
    for i, a in enumerate(args):
        spec = &sig.args[i]
        spec.kind, spec.flags, spec.alias, spec.size = spec_of(a)
        spec.name = give(a.name)             # interned: the parser sees to it
        if not spec.flags & AF_KWARG_ONLY:
            sig.n_pos += 1
        if spec.flags & AF_HAS_DEFAULT:
            dflt = default_of(spec, a)
            Py_INCREF(dflt)
            spec.dflt = <PyObject*>dflt
    for i, a in enumerate(rets):
        sig.rets[i].kind, sig.rets[i].flags, sig.rets[i].alias, _ = spec_of(a)
    return 0


cdef object default_of(ArgSpec* spec, object a):
    """The default object of an argument: the value itself, where it is not the code or the name of something else."""
    cdef object value = a.default_value
    if value is None or type(value) is bool or (
            type(value) in NUMBERS and spec.kind not in (AK_DTYPE, AK_LAYOUT, AK_MEMORY_FORMAT)):
        return value
    return run_time_default(spec, encoding.default_spec(a))


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


cdef uint16_t schema_flags(const Signature* sig) noexcept:
    cdef uint16_t flags = 0
    cdef int i
    for i in range(sig.n_args):
        if sig.args[i].flags & AF_WRITE:
            flags |= OF_MUTABLE
        elif sig.args[i].alias:
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

cdef enum:
    BY_FALLBACK = -1
    AMBIGUOUS = -2

cdef struct Registered:
    uint8_t has[MAX_VALUES]           # by enum value
    bint aliased               # some registration is at an alias key: without one, each key serves itself alone
    bint backends_first        # a backend's kernel goes before a nested one, as in the rules in Python


cdef inline KernelObject registered(OperatorEntry e, int value):
    """The newest registration at a key."""
    return <KernelObject>(<list>e.registrations[value])[0]


cdef int load(Registered* r, dict values) except -1:
    """Note which keys (enum values) have a registration."""
    cdef int value
    memset(r, 0, sizeof(Registered))
    for value in values:
        r.has[value] = 1
        r.aliased |= is_alias_value(value)
    return 0


cdef bint any_backend(const Registered* r, int value) noexcept:
    """Whether some backend behind the autograd key `value` has a kernel of its own."""
    cdef int j = 0
    while backends_of[value][j] >= 0:
        if r.has[backends_of[value][j]]:
            return True
        j += 1
    return False


cdef int serving(const Registered* r, int value, const char** why) noexcept:
    """The enum value of the registration that serves the key `value`; BY_FALLBACK or AMBIGUOUS when none does."""
    cdef bint has_backend
    if r.has[value]:
        why[0] = "kernel"
        return value
    why[0] = "backend fallback"
    if not r.aliased:
        return BY_FALLBACK
    if (value == 0 or alias_members[A_NON_FUNCTIONAL][value]) and r.has[ALIAS_VALUE[A_NON_FUNCTIONAL]]:
        why[0] = "default backend kernel"
        return ALIAS_VALUE[A_NON_FUNCTIONAL]
    if (value == 0 or alias_members[A_EXPLICIT][value]) and r.has[ALIAS_VALUE[A_EXPLICIT]]:
        why[0] = "default backend kernel"
        return ALIAS_VALUE[A_EXPLICIT]
    has_backend = r.has[ALIAS_VALUE[A_EXPLICIT]] or any_backend(r, value)
    if alias_members[A_NESTED][value] and r.has[ALIAS_VALUE[A_NESTED]] and not (r.backends_first and has_backend):
        why[0] = "nested kernel"
        return ALIAS_VALUE[A_NESTED]
    if (value == 0 or alias_members[A_IMPLICIT][value]) and r.has[ALIAS_VALUE[A_IMPLICIT]]:
        if value == AUTOGRAD_OTHER and any_backend(r, value):
            why[0] = "ambiguous autogradother"
            return AMBIGUOUS
        if not has_backend:
            why[0] = "math kernel"
            return ALIAS_VALUE[A_IMPLICIT]
    if alias_members[A_AUTOGRAD][value] and r.has[ALIAS_VALUE[A_AUTOGRAD]]:
        why[0] = "autograd kernel"
        return ALIAS_VALUE[A_AUTOGRAD]
    if alias_members[A_BATCHED][value] and r.has[ALIAS_VALUE[A_BATCHED]]:
        why[0] = "batched kernel"
        return ALIAS_VALUE[A_BATCHED]
    return BY_FALLBACK


cdef tuple resolve_key_debug(OperatorEntry e, int value):
    """(KernelObject or None, reason, ROW_* code) of one runtime key."""
    cdef Registered r
    cdef const char* why = NULL
    load(&r, e.registrations)
    value = serving(&r, value, &why)
    if value >= 0:
        return registered(e, value), why.decode(), 0
    return None, why.decode(), ROW_FALLBACK if value == BY_FALLBACK else ROW_AMBIGUOUS


def _serving_key(registered_keys, key):
    """The key among those registered that serves `key` where dispatch is in Python (torch._ops.resolve_key); None: none does.

    There a backend's kernel goes before a nested one. RuntimeError when AutogradOther is ambiguous.
    """
    cdef Registered r
    cdef const char* why = NULL
    cdef int found
    load(&r, dict.fromkeys([keys.key_value(k) for k in registered_keys]))
    r.backends_first = True
    found = serving(&r, keys.key_value(key), &why)
    if found == AMBIGUOUS:
        raise RuntimeError(f"which kernel serves {key} is ambiguous")
    return None if found == BY_FALLBACK else keys.get_key(found)


cdef int update_row(OperatorEntry e) except -1:
    """Compute the row anew from the registrations and swap it in."""
    cdef Registered r
    cdef uint8_t* row
    cdef Kernel** kernels
    cdef list objects = []
    cdef int16_t numbers[MAX_VALUES]        # enum value -> number of its kernel in the row, -1: none yet
    cdef int i, value
    cdef const char* why
    cdef uint64_t hard = 0, soft = 0
    if not e.registrations:
        return install_row(e, NULL, NULL, objects, 0, no_kernels_soft)
    load(&r, e.registrations)
    row = <uint8_t*>malloc(DK_NUM_RUNTIME)
    kernels = <Kernel**>malloc(len(e.registrations) * sizeof(Kernel*))
    if row == NULL or kernels == NULL:
        free(row)
        free(kernels)
        raise MemoryError()
    memset(row, ROW_FALLBACK, DK_NUM_RUNTIME)
    if not r.aliased:                       # each kernel serves its own key
        soft = no_kernels_soft
        for value in e.registrations:
            i = DK_INDEX_BY_VALUE[value]
            if i < 0:                       # a functionality without a backend, Dense itself: it serves nobody
                continue
            hard |= place_kernel(e, row, kernels, objects, i, value, len(objects))
            if is_lone[i]:                  # else another backend's key has the bit, and no kernel
                soft &= ~bit_at[i]
        return install_row(e, row, kernels, objects, hard, soft)
    memset(numbers, 0xFF, sizeof(numbers))
    for i in range(DK_NUM_RUNTIME):
        value = DK_VALUE_BY_INDEX[i]
        if not r.has[value]:
            value = serving(&r, value, &why)
        if value == BY_FALLBACK:
            soft |= bit_at[i]
        elif value == AMBIGUOUS:
            row[i] = ROW_AMBIGUOUS
            hard |= bit_at[i]
        else:
            if numbers[value] < 0:
                numbers[value] = <int16_t>len(objects)
            hard |= place_kernel(e, row, kernels, objects, i, value, numbers[value])
    return install_row(e, row, kernels, objects, hard, soft)


cdef uint64_t place_kernel(OperatorEntry e, uint8_t* row, Kernel** kernels, list objects, int i, int value, int number) except? 1:
    """The kernel registered at `value`, kernel `number` of the row, serves the key at `i`: its bit, 0 where that is passed over."""
    cdef KernelObject kernel = registered(e, value)
    if number == len(objects):
        kernels[number] = &kernel.k
        objects.append(kernel)
    row[i] = <uint8_t>number
    return 0 if kernel.k.flags & KF_FALLTHROUGH else bit_at[i]


cdef int install_row(OperatorEntry e, uint8_t* row, Kernel** kernels, list objects, uint64_t hard, uint64_t soft) except -1:
    """Swap a row in, with its kernels, which the entry owns from here on; NULL: that of operators without kernels."""
    cdef uint8_t* old_row = e.own_row
    cdef Kernel** old_kernels = e.own_kernels
    cdef list old_objects = e.kernel_objects
    e.own_row = row
    e.own_kernels = kernels
    e.row = row if row != NULL else no_kernels
    e.kernels = kernels
    e.kernel_objects = objects
    e.hard = hard
    e.soft = soft
    free(old_row)
    free(old_kernels)
    return 0


cdef int add_kernel(OperatorEntry e, KernelObject kernel) except -1:
    """Put a kernel on top of those registered for its key."""
    cdef object stack = e.registrations.get(kernel.key)
    if stack is None:
        e.registrations[kernel.key] = [kernel]
    else:
        (<list>stack).insert(0, kernel)
    return update_row(e)


cdef int remove_kernel(OperatorEntry e, KernelObject kernel) except -1:
    """Take one registration away; what was registered before it shows again."""
    cdef object stack = e.registrations[kernel.key]
    (<list>stack).remove(kernel)
    if not stack:
        del e.registrations[kernel.key]
    return update_row(e)
