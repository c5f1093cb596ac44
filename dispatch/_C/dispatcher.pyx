"""The registry of operators and fallbacks; call and redispatch in C.

Operators come from emitted sets (static records; an entry is made when the operator is first asked for) and from run-time
definitions. Fallbacks are one array by runtime key; rows say FALLBACK and read it, so that a new fallback touches no operator.
"""
import sys

from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport strcmp

from dispatch._C cimport dtypes
from dispatch._C.emitted cimport (
    AF_HAS_DEFAULT, AF_LIST, AF_WRITE, AK_DEVICE, KK_AD_INPLACE_OR_VIEW, KK_BACKEND_SELECT, KK_COUNT, KK_CYTHON, KK_DEFAULT,
    KK_FALLTHROUGH, KK_PYTHON, OF_METHOD, OF_MUTABLE, ROW_AMBIGUOUS, ROW_FALLBACK, ROW_SPECIAL, emitted_arg, emitted_default,
    emitted_kernel, emitted_op, emitted_set, emitted_slot,
)
from dispatch._C.errors cimport take_text
from dispatch._C.foreign cimport in_own_words
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_VALUE_BY_INDEX, KS_ADInplaceOrView, KS_AUTOGRAD, KS_BackendSelect,
    KS_BY_DEVICE_TYPE, KS_BY_VALUE, KS_FULL_BACKENDS, KS_Meta, KS_PythonDispatcher, key_value, ks_highest_functionality,
    ks_index, ks_remove,
)
from dispatch._C.operator cimport (
    KF_BELOW_AUTOGRAD, KF_BYTES, KF_ELEMENTS_BELOW, KF_FALLTHROUGH, KF_IDLE, KF_IDLE_NO_GRAD, KF_PENDING, OF_DETACH, Kernel,
    KernelObject, OperatorEntry, allocate_signature, boxed_fn, new_entry, new_kernel, qualified_name, retire, set_schema,
    update_row,
)
from dispatch._C.plain_arguments cimport needs_care, plain_arguments
from dispatch._C.python_api cimport (
    PyErr_Fetch_, PyErr_NormalizeException_, PyErr_Occurred_, PyErr_Restore_, PyUnicode_AsUTF8AndSize_, Py_DECREF_, Py_INCREF_,
    Py_None_,
)
from dispatch._C.references cimport give, raised, set_error, take
from dispatch._C.refusals cimport advice
from dispatch._C.symbolic cimport in_use
from dispatch._C.tensor cimport TF_MANY_DIMS, grad_flags
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.values cimport ArgSpec, default_object, gather

cdef extern from "generated/ops.h":
    const emitted_set EMITTED


# ---- fallbacks -------------------------------------------------------------------------------------------------------

cdef Kernel* fallbacks[256]          # by runtime index; NULL: none
cdef list fallback_stacks = [[] for _ in range(DK_NUM_RUNTIME)]     # KernelObjects, the newest last
# Functionality bits whose fallback has something to do: [no input requires grad, some does]. The Python dispatcher may put a kernel
# at any key, so that while it is on (2 more) only fallthroughs are skipped.
cdef uint64_t live_fallbacks[4]


cdef int update_live_fallbacks() except -1:
    """Recompute which functionalities a call can skip because their fallbacks only pass it on."""
    cdef uint64_t live[3]
    cdef uint64_t bit
    cdef int i
    cdef uint32_t flags
    live[0] = live[1] = live[2] = 0
    for i in range(DK_NUM_RUNTIME):
        bit = KS_BY_VALUE[DK_VALUE_BY_INDEX[i]] & ~<uint64_t>0xFFFF
        flags = fallbacks[i].flags if fallbacks[i] != NULL else 0
        if flags & KF_FALLTHROUGH:
            continue
        live[2] |= bit
        if flags & KF_IDLE:
            continue
        live[1] |= bit
        # without a fallback an autograd key has nothing to record: a kernel below it may serve
        if not flags & KF_IDLE_NO_GRAD and not (fallbacks[i] == NULL and bit & KS_AUTOGRAD):
            live[0] |= bit
    live_fallbacks[0], live_fallbacks[1] = live[0], live[1]
    live_fallbacks[2] = live_fallbacks[3] = live[2]
    return 0


cdef inline uint64_t live_mask(OperatorEntry e, uint64_t ks, bint record) noexcept:
    """What of `ks` is not skipped on the way through `e`; `record`: some input requires grad, and grad mode is on."""
    return e.hard | (e.soft & live_fallbacks[record | (2 if ks & KS_PythonDispatcher else 0)]) | 0xFFFF


cdef int install_fallback(int index) except -1:
    stack = fallback_stacks[index]
    fallbacks[index] = &(<KernelObject>stack[len(stack) - 1]).k if stack else NULL
    return update_live_fallbacks()


cdef int set_fallback(int index, KernelObject k) except -1:
    fallback_stacks[index].append(k)
    return install_fallback(index)


cdef int remove_fallback(int index, KernelObject k) except -1:
    fallback_stacks[index].remove(k)
    return install_fallback(index)


cdef KernelObject get_fallback(int index):
    stack = fallback_stacks[index]
    return stack[len(stack) - 1] if stack else None


update_live_fallbacks()


# ---- emitted sets ----------------------------------------------------------------------------------------------------

cdef enum:
    MAX_SETS = 64

cdef const emitted_set* sets[64]
cdef list set_packages = []          # package name of each set
cdef list set_names = []             # by set: interned argument names, made when first used
cdef list set_entries = []           # by set: dict op index -> OperatorEntry
cdef kernel_loader loaders[KK_COUNT]

cdef dict entries = {}               # "ns::name" or "ns::name.overload" -> OperatorEntry
cdef dict packets = {}               # "ns::name" -> overload names, in order of definition (emitted ones on first use)


cdef int set_loader(int kind, kernel_loader loader) except -1:
    loaders[kind] = loader
    return 0


cdef int register_set(const emitted_set* s, str package) except -1:
    """Make the operators of an emitted set known. RuntimeError when one of its names is defined already."""
    cdef int n = len(set_packages), i
    if n == MAX_SETS:
        raise RuntimeError(f"no more than {MAX_SETS} packages of operators can be registered")
    if s.n_runtime != DK_NUM_RUNTIME:
        raise RuntimeError(f"{package}: built for another set of dispatch keys: rebuild it against this version")
    if n:
        for i in range(<int>s.n_ops):
            name, overload = s.ops[i].name.decode(), s.ops[i].overload.decode()
            found = find_entry(name, overload)
            if found is not None and found.defined:
                raise RuntimeError(f"{package}: operator {qualified_name(found)} is registered already, "
                                   f"at {found.schema_where}")
    sets[n] = s
    set_names.append([None] * s.n_arg_names)
    set_entries.append({})
    set_packages.append(package)
    return 0


cdef int first_op(const emitted_set* s, const char* name) noexcept:
    """Index of the first operator called `name`; -1."""
    cdef int lo = 0, hi = s.n_ops, mid
    cdef const char* there
    while lo < hi:
        mid = (lo + hi) // 2
        there = s.ops[mid].name
        if there[0] < name[0] or there[0] == name[0] and strcmp(there, name) < 0:
            lo = mid + 1
        else:
            hi = mid
    return lo if lo < <int>s.n_ops and strcmp(s.ops[lo].name, name) == 0 else -1


cdef object argument_name(int which, int index):
    cdef list names = set_names[which]
    if names[index] is None:
        names[index] = sys.intern(sets[which].arg_names[index].decode())
    return names[index]


cdef int fill_signature(OperatorEntry e, int which, const emitted_op* op) except -1:
    cdef const emitted_set* s = sets[which]
    cdef const emitted_arg* a
    cdef const emitted_default* d
    cdef ArgSpec* spec
    cdef int i
    allocate_signature(e, op.n_args, op.n_rets)
    e.sig.n_pos = op.n_pos
    for i in range(op.n_args):
        a = &s.args[op.first_arg + i]
        spec = &e.sig.args[i]
        name = argument_name(which, a.name)
        Py_INCREF(name)
        spec.name = <PyObject*>name
        spec.kind = a.kind
        spec.flags = a.flags
        spec.alias = a.alias
        spec.size = a.size
        if a.flags & AF_HAS_DEFAULT:
            d = &s.defaults[a.dflt]
            dflt = default_object(d.kind, d.i, d.f, d.s, <const int64_t*>d.v)
            Py_INCREF(dflt)
            spec.dflt = <PyObject*>dflt
    for i in range(op.n_rets):
        e.sig.rets[i].kind = s.rets[op.first_ret + i].kind
        e.sig.rets[i].flags = s.rets[op.first_ret + i].flags
        e.sig.rets[i].alias = s.rets[op.first_ret + i].alias
    return 0


cdef KernelObject pending_kernel(int which, const emitted_kernel* ek):
    cdef KernelObject k
    where = (ek.ref.decode() if ek.ref != NULL else sets[which].shards[ek.shard].decode() if ek.kind == KK_CYTHON
             else set_packages[which])
    k = new_kernel(None, ek.key, where, 0)
    if ek.kind == KK_FALLTHROUGH:
        k.k.flags = KF_FALLTHROUGH
        return k
    k.k.flags = KF_PENDING | (k.k.flags & KF_BYTES) | (KF_BYTES if ek.kind == KK_DEFAULT else 0)
    k.k.call = <boxed_fn>call_pending
    k.k.variant = ek.variant
    k.k.n_out = ek.n_out
    k.ref = ek.ref.decode() if ek.ref != NULL else None
    k.ref2 = ek.ref2.decode() if ek.ref2 != NULL else None
    if ek.elsewhere != NULL:
        k.elsewhere = new_kernel(None, ek.key, where, 0)
        k.elsewhere.ref = ek.elsewhere.decode()
        k.elsewhere.kind = KK_PYTHON
    k.shard = ek.shard
    k.slot = ek.slot
    k.target = ek.target
    k.kind = ek.kind
    k.set_index = which
    if DK_INDEX_BY_VALUE[ek.key] >= 0:
        if ek.key < ADINPLACE_VALUE or KS_BY_VALUE[ek.key] < KS_ADInplaceOrView:
            k.k.flags |= KF_BELOW_AUTOGRAD
    elif ek.key in explicit_values:
        k.k.flags |= KF_BELOW_AUTOGRAD
    return k


cdef int ADINPLACE_VALUE = key_value("ADInplaceOrView")
cdef set explicit_values = {key_value("CompositeExplicitAutograd"), key_value("CompositeExplicitAutogradNonFunctional")}


cdef bint writes_elements(OperatorEntry e):
    """By operators on each tensor of a list; fused optimisers write bytes, and count no version."""
    return not e.name.startswith("aten::_fused_") and any(
        [e.sig.args[i].flags & (AF_LIST | AF_WRITE) == AF_LIST | AF_WRITE for i in range(e.sig.n_args)])


cdef OperatorEntry make_entry(int which, int index):
    """Build the entry of an emitted operator: its row is the emitted one until something is registered at run time."""
    cdef const emitted_set* s = sets[which]
    cdef const emitted_op* op = &s.ops[index]
    cdef OperatorEntry e = new_entry(op.name.decode(), op.overload.decode())
    cdef Kernel** kernels
    cdef KernelObject k
    cdef list objects = []
    cdef int i
    cdef uint64_t soft = 0
    fill_signature(e, which, op)
    kernels = <Kernel**>malloc(256 * sizeof(Kernel*))
    if kernels == NULL:
        raise MemoryError()
    for i in range(op.n_kernels):
        k = pending_kernel(which, &s.kernels[op.first_kernel + i])
        objects.append(k)
        kernels[i] = &k.k
        e.registrations[k.key] = [k]
        if op.flags & OF_MUTABLE and writes_elements(e):
            k.k.flags |= KF_ELEMENTS_BELOW
    free(e.own_row)
    free(e.own_kernels)
    e.own_row = NULL
    e.own_kernels = kernels
    e.kernels = kernels
    e.kernel_objects = objects
    e.row = s.rows + <size_t>op.row * s.n_runtime
    e.hard = s.row_hard[op.row]
    for i in range(DK_NUM_RUNTIME):
        if e.row[i] == ROW_FALLBACK:
            soft |= KS_BY_VALUE[DK_VALUE_BY_INDEX[i]] & ~<uint64_t>0xFFFF
    e.soft = soft
    e.emitted = op
    e.schema_text = op.schema.decode()
    e.schema_where = f"{set_packages[which]} schemas"
    e.flags = op.flags | (OF_DETACH if e.name == "aten::detach" else 0)
    e.tags = op.tags
    e.defined = True
    return e


cdef OperatorEntry entry_by_index(int which, int index):
    cdef dict made = set_entries[which]
    e = made.get(index)
    if e is None:
        name, overload = sets[which].ops[index].name.decode(), sets[which].ops[index].overload.decode()
        full = name + "." + overload if overload else name
        e = entries.get(full)
        if e is None:
            e = entries[full] = make_entry(which, index)
        made[index] = e
    return e


cdef inline const char* utf8(str text) except NULL:                  # the text's own bytes, which live as long as it does
    return PyUnicode_AsUTF8AndSize_(<PyObject*>text, NULL)


cdef OperatorEntry find_entry(str name, str overload_name):
    cdef str full = name + "." + overload_name if overload_name else name
    cdef const char* n
    cdef const char* o
    cdef int which, i
    e = entries.get(full)
    if e is not None:
        return e
    n = utf8(name)
    o = utf8(overload_name)
    for which in range(len(set_packages)):
        i = first_op(sets[which], n)
        while 0 <= i < <int>sets[which].n_ops and strcmp(sets[which].ops[i].name, n) == 0:
            if strcmp(sets[which].ops[i].overload, o) == 0:
                return entry_by_index(which, i)
            i += 1
    return None


cdef OperatorEntry need_entry(str name, str overload_name):
    e = find_entry(name, overload_name)
    if e is None or not e.defined:
        full = name + "." + overload_name if overload_name else name
        raise RuntimeError(f"Could not find schema for {full}: no operator of that name is registered")
    return e


cdef OperatorEntry entry_for_registration(str name, str overload_name):
    e = find_entry(name, overload_name)
    if e is None:
        e = new_entry(name, overload_name)
        entries[qualified_name(e)] = e
    return e


cdef list emitted_overloads(str name):
    cdef list out = []
    cdef const char* n = utf8(name)
    cdef int which, i
    for which in range(len(set_packages)):
        i = first_op(sets[which], n)
        while 0 <= i < <int>sets[which].n_ops and strcmp(sets[which].ops[i].name, n) == 0:
            out.append(sets[which].ops[i].overload.decode())
            i += 1
    return out


cdef list overload_names(str name):
    r = packets.get(name)
    if r is None:
        r = emitted_overloads(name)
        if r:
            packets[name] = r
    return list(r)


cdef int define_entry(OperatorEntry e, object schema, str where) except -1:
    """Give an entry its schema; RuntimeError when it has one."""
    if e.defined:
        raise RuntimeError(
            f"Tried to register an operator ({schema}) with the same name and overload name multiple times. "
            f"Each overload's schema should only be registered with a single call to def(). "
            f"Duplicate registration: registered at {where}. Original registration: registered at {e.schema_where}")
    set_schema(e, schema, where)
    names = packets.get(e.name)
    if names is None:
        names = packets[e.name] = emitted_overloads(e.name)
    if e.overload_name not in names:
        names.append(e.overload_name)
    return 0


cdef int undefine_entry(OperatorEntry e) except -1:
    """Take an operator away. Its entry serves the calls that run; what others registered waits for the next definition."""
    cdef OperatorEntry heir
    cdef object registrations = e.registrations
    if not e.defined:
        return 0
    retire(e)
    names = packets.get(e.name)
    if names is not None and e.overload_name in names:
        names.remove(e.overload_name)
        if not names:
            del packets[e.name]
    if registrations:
        heir = new_entry(e.name, e.overload_name)
        heir.registrations = registrations
        update_row(heir)
        entries[qualified_name(e)] = heir
    else:
        entries.pop(qualified_name(e), None)
    return 0


cdef int forget_if_empty(OperatorEntry e) except -1:
    """An entry without a schema and without kernels is forgotten."""
    if not e.defined and not e.registrations and entries.get(qualified_name(e)) is e:
        del entries[qualified_name(e)]
        error_callbacks.pop(e, None)
    return 0


cdef list all_entries():
    cdef int which, i
    for which in range(len(set_packages)):
        for i in range(<int>sets[which].n_ops):
            entry_by_index(which, i)
    return list(entries.values())


cdef list made_entries():
    return list(entries.values())


def _emitted_methods():
    """Names, without name space, of the emitted aten operators that have a method variant; their entries are not made."""
    cdef const emitted_set* s = sets[0]
    cdef uint32_t i
    cdef list names = []
    cdef str name
    for i in range(s.n_ops):
        if s.ops[i].flags & OF_METHOD and s.ops[i].name[:6] == b"aten::":
            name = (s.ops[i].name + 6).decode()
            if not names or names[len(names) - 1] != name:
                names.append(name)
    return names


def _emitted_names():
    """Names of all emitted operators, without making their entries."""
    cdef int which, i
    out = []
    for which in range(len(set_packages)):
        for i in range(<int>sets[which].n_ops):
            n, o = sets[which].ops[i].name.decode(), sets[which].ops[i].overload.decode()
            out.append(n + "." + o if o else n)
    return out


# ---- pending kernels -------------------------------------------------------------------------------------------------

cdef PyObject* call_pending(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """First call of an emitted kernel: load it, then call it."""
    cdef KernelObject owner = <KernelObject>k.owner
    cdef PyObject* r
    if k.flags & KF_PENDING:
        load_kernel(<OperatorEntry>op, owner)
    r = k.call(k, op, ks, args)
    if r == NULL:
        raised()
    return r


cdef int load_kernel(OperatorEntry e, KernelObject k) except -1:
    if loaders[k.kind] == NULL:
        raise RuntimeError(f"{qualified_name(e)}: no loader for kernels of kind {k.kind}")
    loaders[k.kind](e, k)
    k.k.flags &= ~<uint32_t>KF_PENDING
    return 0


cdef object import_reference(str ref):
    """The object that "package.module:name" means."""
    module, _, name = ref.partition(":")
    __import__(module)
    return getattr(sys.modules[module], name)


cdef int load_cython(OperatorEntry e, KernelObject k) except -1:
    cdef const emitted_slot* table
    name = sets[k.set_index].shards[k.shard].decode()
    __import__(name)
    k.functor = sys.modules[name]
    table = <const emitted_slot*>PyCapsule_GetPointer(k.functor.TABLE, NULL)
    k.k.fn = table[k.slot].fn
    k.k.body = table[k.slot].body
    k.k.call = <boxed_fn>table[k.slot].adapter
    return 0


cdef PyObject* call_backend_select(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """What is below decides; without a tensor, the device argument, if there is one."""
    cdef uint64_t python = ks & KS_PythonDispatcher
    ks &= KS_BackendSelect - 1
    if ks >> 16 or device_place(<OperatorEntry>op) < 0:
        return give(take(redispatch(<OperatorEntry>op, ks | python, args)))
    return give(take(select_backend(<OperatorEntry>op, ks, args)))


cdef int load_backend_select(OperatorEntry e, KernelObject k) except -1:
    k.k.call = <boxed_fn>call_backend_select
    return 0


loaders[KK_CYTHON] = load_cython
loaders[KK_BACKEND_SELECT] = load_backend_select
register_set(&EMITTED, "dispatch")


# ---- calls -----------------------------------------------------------------------------------------------------------

cdef Kernel* lookup(OperatorEntry e, uint64_t* ks) noexcept:
    cdef int index, slot
    cdef Kernel* k
    while True:
        index = ks_index(ks[0])
        slot = e.row[index]
        if slot < ROW_SPECIAL:
            k = e.kernels[slot]
        elif slot == ROW_FALLBACK:
            k = fallbacks[index]
        else:
            k = NULL
        if k == NULL:
            fail_lookup(e, ks[0], index, slot)
            return NULL
        if not k.flags & KF_FALLTHROUGH:
            return k
        if index == 0:
            fail_all_fall_through(e)
            return NULL
        ks[0] &= ~(<uint64_t>1 << (15 + ks_highest_functionality(ks[0])))


cdef inline PyObject* run(OperatorEntry e, uint64_t ks, PyObject** args, ThreadState* ts) noexcept:
    """Look `ks` up and call what is there."""
    cdef Kernel* k = lookup_fast(e, &ks)
    if k == NULL:
        if PyErr_Occurred_() != NULL:
            return NULL
        return select_backend(e, ks, args)
    return run_kernel(e, k, ks, args, ts)


cdef inline PyObject* run_kernel(OperatorEntry e, Kernel* k, uint64_t ks, PyObject** args, ThreadState* ts) noexcept:
    if k.flags & KF_BYTES and in_use() and needs_care(e, args):
        return run_on_bytes(e, k, ks, args, ts)
    return run_given(e, k, ks, args, ts)


cdef PyObject* run_on_bytes(OperatorEntry e, Kernel* k, uint64_t ks, PyObject** args, ThreadState* ts) noexcept:
    """A kernel that reads and writes bytes, in a process that may have symbolic sizes: it never sees them. Numbers become plain by
    guards; a tensor with symbolic sizes is refused, and one in read-only memory that would be written to. The kernels for all
    devices (KK_DEFAULT) serve Meta too, where both pass."""
    cdef PyObject* plain[64]
    cdef list keep
    if (<KernelObject>k.owner).kind == KK_DEFAULT and (ks & KS_FULL_BACKENDS == KS_Meta & KS_FULL_BACKENDS or ts.meta_in_include):
        return run_given(e, k, ks, args, ts)
    try:
        keep = []
        plain_arguments(e, args, plain, keep)
    except BaseException as error:
        set_error(error)
        return NULL
    return run_given(e, k, ks, plain, ts)


cdef inline PyObject* run_given(OperatorEntry e, Kernel* k, uint64_t ks, PyObject** args, ThreadState* ts) noexcept:
    cdef PyObject* r
    cdef PyObject* owner = k.owner
    cdef uint64_t excluded
    Py_INCREF_(owner)
    if k.flags & KF_BELOW_AUTOGRAD:
        excluded = ts.excluded
        ts.excluded |= BELOW_AUTOGRAD if not k.flags & KF_ELEMENTS_BELOW else KS_AUTOGRAD
        r = k.call(k, <PyObject*>e, ks, args)
        ts.excluded = excluded
    else:
        r = k.call(k, <PyObject*>e, ks, args)
    if r == NULL:
        if (<KernelObject>owner).kind and (<KernelObject>owner).kind != KK_AD_INPLACE_OR_VIEW:
            use_own_words()
        name_operator(e)
    Py_DECREF_(owner)
    return r


cdef int use_own_words() noexcept:
    """A kernel of the package failed in numpy or CPython: their words become a refusal."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    PyErr_Fetch_(&kind, &value, &trace)
    if kind == NULL:
        return 0
    PyErr_NormalizeException_(&kind, &value, &trace)
    cdef object refusal = None, refusal_type
    try:
        refusal = in_own_words(<object>value, <object>trace if trace != NULL else None)
    except BaseException:
        pass                              # a text that cannot be made: whoever prints the error will see
    if refusal is not None:
        Py_DECREF_(kind)
        Py_DECREF_(value)
        refusal_type = type(refusal)
        kind = <PyObject*>refusal_type
        value = <PyObject*>refusal
        Py_INCREF_(kind)
        Py_INCREF_(value)
    PyErr_Restore_(kind, value, trace)
    return 0


cdef int name_operator(OperatorEntry e) noexcept:
    """Put operator and schema into the text of what a kernel `refused`; other errors, and those named already, stay as they are."""
    cdef PyObject* kind
    cdef PyObject* value
    cdef PyObject* trace
    PyErr_Fetch_(&kind, &value, &trace)
    if kind == NULL:                      # a kernel that returned NULL and set nothing
        return 0
    PyErr_NormalizeException_(&kind, &value, &trace)
    text = take_text(<object>value)
    if text is not None:
        (<object>value).args = (f"{qualified_name(e)}: {text}\n  {e._schema_text}",)
    PyErr_Restore_(kind, value, trace)
    return 0


cdef uint64_t BELOW_AUTOGRAD = KS_AUTOGRAD | KS_ADInplaceOrView


cdef inline Kernel* lookup_fast(OperatorEntry e, uint64_t* ks) noexcept:
    cdef int index = ks_index(ks[0]), slot = e.row[index]
    cdef Kernel* k = e.kernels[slot] if slot < ROW_SPECIAL else fallbacks[index] if slot == ROW_FALLBACK else NULL
    if k == NULL and ks[0] >> 16 == 0:
        return NULL                       # no tensor and no mode decides: the device argument may
    return k if k != NULL and not k.flags & KF_FALLTHROUGH else lookup(e, ks)


cdef PyObject* call(OperatorEntry e, uint64_t ks, uint32_t flags, PyObject** args) noexcept:
    cdef ThreadState* ts = tls()
    if flags & TF_MANY_DIMS and refuse_many_dims(e):
        return NULL
    ks = ks_remove(ks | ts.included, ts.excluded)
    ks &= live_mask(e, ks, (flags & grad_flags) != 0 and ts.grad_mode)
    return run(e, ks, args, ts)


cdef PyObject* call_boxed(OperatorEntry e, PyObject** args) noexcept:
    cdef uint64_t ks
    cdef uint32_t flags
    gather(&e.sig, args, &ks, &flags)
    return call(e, ks, flags, args)


cdef PyObject* redispatch(OperatorEntry e, uint64_t ks, PyObject** args) noexcept:
    ks &= live_mask(e, ks, True)
    return run(e, ks, args, tls())


cdef PyObject* call_for_key(OperatorEntry e, int value, PyObject** args) noexcept:
    """Call what is registered for exactly the key `value`, alias keys too, or its fallback, with the keys that a call would have.

    PyTorch's Dispatcher::callBoxedForDispatchKey, which ends the process where nothing is registered; this sets an exception.
    """
    cdef ThreadState* ts = tls()
    cdef Kernel* k
    cdef uint64_t ks
    cdef uint32_t flags
    gather(&e.sig, args, &ks, &flags)
    ks = ks_remove(ks | ts.included, ts.excluded)
    ks &= live_mask(e, ks | KS_PythonDispatcher, True)
    k = kernel_for_key(e, value)
    if k == NULL:
        return NULL
    if k.flags & KF_FALLTHROUGH and value == BACKEND_SELECT and has_device(e):
        return select_backend(e, ks, args)
    if k.flags & KF_FALLTHROUGH:
        set_error(RuntimeError(f"{qualified_name(e)}: what is registered at {DK_NAME_BY_VALUE[value].decode()} is a fallthrough, "
                               "which cannot be called"))
        return NULL
    return run_kernel(e, k, ks, args, ts)


cdef int BACKEND_SELECT = key_value("BackendSelect")


cdef Kernel* kernel_for_key(OperatorEntry e, int value) noexcept:
    """What is registered for the key, or its fallback; NULL: an exception is set."""
    cdef int index = DK_INDEX_BY_VALUE[value]
    cdef KernelObject own
    try:
        kernels = e.registrations.get(value)
        if kernels:
            own = kernels[0]
            return &own.k
        if index >= 0 and fallbacks[index] != NULL:
            return fallbacks[index]
        raise NotImplementedError(f"{qualified_name(e)}: nothing is registered at {DK_NAME_BY_VALUE[value].decode()}"
                                  f"\n  {e._schema_text}")
    except BaseException as error:
        set_error(error)
    return NULL


cdef inline int device_place(OperatorEntry e) noexcept:
    """Which argument is the device; -1."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_DEVICE:
            return i
    return -1


cdef bint has_device(OperatorEntry e) noexcept:
    return device_place(e) >= 0


cdef PyObject* select_backend(OperatorEntry e, uint64_t ks, PyObject** args) noexcept:
    """A call without tensors: the device argument says which backend runs (PyTorch's BackendSelect kernels)."""
    cdef int i = device_place(e)
    cdef PyObject* dev
    cdef ThreadState* ts = tls()
    cdef uint64_t chosen
    if i < 0:
        fail_lookup(e, ks, 0, ROW_FALLBACK)
        return NULL
    dev = args[i] if args[i] != Py_None_ or ts.default_device == NULL else ts.default_device
    chosen = KS_BY_DEVICE_TYPE[(<dtypes.device>dev).devtype if dev != Py_None_ else 0]
    chosen = ks_remove(chosen, BELOW_AUTOGRAD | ts.excluded) & (e.hard | (e.soft & live_fallbacks[0]) | 0xFFFF)
    if chosen >> 16 == 0:                 # all of the device's keys are excluded or fall through
        fail_lookup(e, chosen, 0, ROW_FALLBACK)
        return NULL
    return run(e, chosen, args, ts)


cdef frozenset any_dims = frozenset(("aten::alias", "aten::as_strided", "aten::detach"))


cdef bint refuse_many_dims(OperatorEntry e) noexcept:
    """Set the exception for a tensor of more dimensions than kernels take; False where it does not matter."""
    if e.emitted == NULL or e.name in any_dims:
        return False
    set_error(RuntimeError(f"{qualified_name(e)}: only tensors with up to 64 dims are supported\n  {e._schema_text}"))
    return True


# ---- errors of the call path -----------------------------------------------------------------------------------------

cdef int fail_lookup(OperatorEntry e, uint64_t ks, int index, int slot) noexcept:
    """Set the exception for a key without a kernel."""
    try:
        raise_no_kernel(e, index, slot)
    except BaseException as error:
        set_error(error)
    return 0


cdef int fail_all_fall_through(OperatorEntry e) noexcept:
    """Set the exception for a call whose every key falls through, the one for no key too: PyTorch runs the fallthrough, which
    raises."""
    set_error(RuntimeError(f"{qualified_name(e)}: every key of these arguments falls through, and no kernel is below"
                           f"\n  {e._schema_text}"))
    return 0


cdef dict error_callbacks = {}       # OperatorEntry -> what it is to call where there is no kernel


cdef int set_error_callback(OperatorEntry e, object callback) except -1:
    error_callbacks[e] = callback
    return 0


cdef str available_keys(OperatorEntry e):
    """The keys with a kernel of the operator itself; those of autograd as one where it is the same for all backends."""
    cdef list found = [DK_NAME_BY_VALUE[DK_VALUE_BY_INDEX[i]].decode() for i in range(DK_NUM_RUNTIME) if serves(e, i)]
    cdef list gradients = [name for name in found if name.startswith("Autograd")]
    if len(gradients) > 8:
        found = [name for name in found if name not in gradients] + ["Autograd"]
    return ", ".join(found) if found else "no key"


cdef bint serves(OperatorEntry e, int i) noexcept:
    """Whether the operator itself has a kernel for this key, and not a fallthrough: fallbacks that serve all are no help."""
    cdef Kernel* k = e.kernels[e.row[i]] if e.row[i] < ROW_SPECIAL else NULL
    return k != NULL and not k.flags & KF_FALLTHROUGH


cdef int raise_no_kernel(OperatorEntry e, int index, int slot) except -1:
    name = DK_NAME_BY_VALUE[DK_VALUE_BY_INDEX[index]].decode() if index else "Undefined"
    if e in error_callbacks:
        error_callbacks[e](name)
        raise RuntimeError(f"{qualified_name(e)}: no kernel for {name}, and the callback for this error raised none")
    if slot == ROW_AMBIGUOUS:
        raise RuntimeError(
            f"{qualified_name(e)}: has kernels for CompositeImplicitAutograd and for a backend that maps to AutogradOther: "
            f"which one serves AutogradOther is ambiguous; register a kernel for AutogradOther\n  {e._schema_text}")
    if not e.defined:
        raise RuntimeError(f"{qualified_name(e)}: the operator has no schema: it was never defined, or its library was destroyed")
    if index == 0:
        raise NotImplementedError(
            f"{qualified_name(e)}: there were no tensor arguments to this function, and no kernel is registered for "
            f"that case; kernels exist for: {available_keys(e)}\n  {e._schema_text}")
    raise NotImplementedError(
        f"{qualified_name(e)}: no kernel for the key {name} of these arguments; kernels exist for: "
        f"{available_keys(e)}\n  {e._schema_text}{advice(name)}")
