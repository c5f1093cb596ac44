"""The Functionalize key: programs with views and in-place operators become programs without (FunctionalTensorWrapper).

A functional wrapper is a plain `Tensor` without memory whose state (`c_extra`) holds a value, the storage that it shares with its
aliases, and the views that lead there from the storage's base. A write replaces the value and is queued on the storage; an alias
works the queue into the base, and replays its views, when it is next used. `view_inverse` writes a view's value back.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.dispatcher cimport call_boxed, find_entry, get_fallback, need_entry, overload_names
from dispatch._C.dtypes cimport device, get_dtype, get_layout, is_complex_code, is_floating_code, itemsize_table
from dispatch._C.keys cimport (
    DK_INDEX_BY_VALUE, KS_ADInplaceOrView, KS_AUTOGRAD, KS_Functionalize, KS_Python, KS_PythonTLSSnapshot, key_value,
)
from dispatch._C.operator cimport (
    OF_ALIASING, OF_MUTABLE, OF_OUT, Kernel, KernelObject, OperatorEntry, boxed_fn, qualified_name,
)
from dispatch._C.fallbacks import Node
from dispatch._C.python_kernel cimport get_overload
from dispatch._C.references cimport forbid_new, give, take
from dispatch._C.tensor cimport (
    TF_FUNCTIONAL, TF_INFERENCE, TF_REQUIRES_GRAD, TF_WRAPPED_NUMBER, Storage, Tensor, set_geometry, set_requires_grad,
    set_storage, share_version, span_of,
)
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.values cimport (
    AF_HAS_DEFAULT, AF_KWARG_ONLY, AF_LIST, AF_OUT, AF_WRITE, AK_TENSOR, Frame, Signature, match_given, release_frame,
)

cdef extern from *:
    """
    static _Thread_local int dispatch_reapply_views = 0;
    """
    int replay_views "dispatch_reapply_views"

cdef uint64_t ABOVE = KS_AUTOGRAD | KS_ADInplaceOrView
cdef dict variants = {}          # (generation, entry id) -> the entry without mutation or view, or None
cdef dict inverses = {}          # name of a view operator -> function(base, mutated, meta), registered by view_inverse
cdef int IMPLICIT = key_value("CompositeImplicitAutograd")


# ---- state -----------------------------------------------------------------------------------------------------------

cdef class ViewMeta:
    """One view of a chain: how to replay it, and its place among the outputs."""
    cdef OperatorEntry op            # what is called to replay
    cdef readonly str name           # of the view: "aten::slice"
    cdef readonly tuple args         # all but the first
    cdef readonly int out_index
    cdef readonly bint is_multi_output
    cdef readonly bint reapply_views

    cdef object run(self, Tensor base):
        """The operator's whole result."""
        cdef PyObject* given[64]
        cdef int i
        given[0] = <PyObject*>base
        for i in range(len(self.args)):
            given[i + 1] = <PyObject*>self.args[i]
        return take(call_boxed(self.op, given))

    cdef Tensor forward(self, Tensor base):
        result = self.run(base)
        return <Tensor?>(result[self.out_index] if self.is_multi_output else result)

    cdef Tensor reverse(self, Tensor base, Tensor mutated):
        if not inverses:
            import dispatch.functional.inverses       # registers them
        inverse = inverses.get(self.name)
        if inverse is None:
            raise RuntimeError(f"{self.name}: functionalization cannot write through this view: it has no inverse")
        return <Tensor?>inverse(base, mutated, self)

    cdef ViewMeta output(self, int index):
        cdef ViewMeta m = ViewMeta.__new__(ViewMeta)
        m.op, m.name, m.args, m.reapply_views = self.op, self.name, self.args, self.reapply_views
        m.is_multi_output = True
        m.out_index = index
        return m


cdef ViewMeta new_meta(OperatorEntry op, str name, tuple args, bint reapply):
    cdef ViewMeta m = ViewMeta.__new__(ViewMeta)
    m.op, m.name, m.args, m.reapply_views = op, name, args, reapply
    return m


cdef class FunctionalStorage:
    """What aliases share: the base's value, and the writes that it has not seen."""
    cdef Tensor base
    cdef list updates                # (value, views that lead to it)
    cdef int64_t generation
    cdef int64_t mutations, hidden, no_grad
    cdef int64_t original_size, size
    cdef bint frozen

    cdef int add(self, Tensor value, list metas) except -1:
        if self.frozen:
            raise RuntimeError("cannot mutate tensors with frozen storage")
        self.updates.append((value, list(metas)))
        self.generation += 1
        return 0

    cdef int apply(self) except -1:
        """Work the queued writes into the base."""
        while self.updates:
            value, metas = self.updates[0]
            self.base = written_back(self.base, <Tensor>value, <list>metas)
            self.updates.pop(0)
        return 0


cdef Tensor written_back(Tensor base, Tensor value, list metas):
    cdef list steps = [base]
    cdef int i
    for i in range(len(metas) - 1):
        steps.append((<ViewMeta>metas[i]).forward(<Tensor>steps[i]))
    for i in range(len(metas) - 1, -1, -1):
        value = (<ViewMeta>metas[i]).reverse(<Tensor>steps[i], value)
    return value


cdef class FunctionalState:
    """What a wrapper knows: its value, and the way from the storage's base to it."""
    cdef Tensor value
    cdef FunctionalStorage storage
    cdef list metas
    cdef int64_t generation          # of the storage, when the value was worked out
    cdef bint multi_output
    cdef bint metadata_mutated
    cdef int64_t storage_changes
    cdef bint transform              # made by `functionalize`: autograd works below, on the values


for cls in (ViewMeta, FunctionalStorage, FunctionalState):
    forbid_new(cls)


cdef inline bint is_functional(object t) noexcept:
    return isinstance(t, Tensor) and (<Tensor>t).c_flags & TF_FUNCTIONAL and type((<Tensor>t).c_extra) is FunctionalState


cdef inline FunctionalState state_of(Tensor t):
    return <FunctionalState>t.c_extra


cdef int64_t bytes_of(Tensor t) except -1:
    return (t.c_offset + span_of(t.c_ndim, t.c_sizes, t.c_strides)) * itemsize_table()[t.c_dtype]


cdef Storage new_memory(Tensor value):
    """A storage with a size and no bytes."""
    cdef Storage s = Storage.__new__(Storage)
    cdef device d = value.device
    s.devtype = d.devtype
    s.devindex = d.devindex
    s.c_nbytes = bytes_of(value)
    s.c_resizable = True
    s.fake = True
    return s


cdef Tensor new_wrapper(Tensor value, FunctionalState state, Storage memory):
    cdef Tensor t = Tensor.__new__(Tensor)
    t.c_storage = memory
    t.c_devtype = memory.devtype
    t.c_devindex = memory.devindex
    t.c_dtype = value.c_dtype
    t.c_layout = value.c_layout
    t.c_keys = (value.c_keys | KS_Functionalize) & ~(KS_Python | KS_PythonTLSSnapshot)
    t.c_flags = TF_FUNCTIONAL | (value.c_flags & (TF_INFERENCE | TF_WRAPPED_NUMBER))
    set_geometry(t, value.c_ndim, value.c_sizes, value.c_strides, value.c_offset)
    t.c_extra = state
    return t


cdef FunctionalState fresh_state(Tensor value):
    cdef FunctionalState s = FunctionalState.__new__(FunctionalState)
    cdef FunctionalStorage storage = FunctionalStorage.__new__(FunctionalStorage)
    storage.base = value
    storage.updates = []
    storage.original_size = storage.size = bytes_of(value)
    s.value = value
    s.storage = storage
    s.metas = []
    return s


cdef Tensor wrap(Tensor value, bint transform):
    cdef FunctionalState s
    if is_functional(value):
        raise RuntimeError("_to_functional_tensor: the tensor is functional already")
    s = fresh_state(value)
    s.transform = transform
    return new_wrapper(value, s, new_memory(value))


cdef Tensor wrap_view(Tensor value, Tensor base, ViewMeta meta):
    """A wrapper that shares the storage of `base`, one view further."""
    cdef FunctionalState of_base = state_of(base)
    cdef FunctionalState s = FunctionalState.__new__(FunctionalState)
    cdef Tensor t
    s.value = value
    s.storage = of_base.storage
    s.metas = [*of_base.metas, meta]
    s.multi_output = of_base.multi_output or meta.is_multi_output
    s.storage_changes = of_base.storage_changes
    s.transform = of_base.transform
    t = new_wrapper(value, s, base.c_storage)
    share_version(t, base)
    return t


# ---- writing and reading ---------------------------------------------------------------------------------------------

cdef int take_geometry(Tensor t, Tensor value) except -1:
    set_geometry(t, value.c_ndim, value.c_sizes, value.c_strides, value.c_offset)
    return 0


cdef Tensor as_type_of(Tensor t, Tensor value):
    if t.c_dtype == value.c_dtype and t.c_layout == value.c_layout:
        return value
    to_copy = get_overload(find_entry("aten::_to_copy", ""))
    return <Tensor?>to_copy(value, dtype=get_dtype(t.c_dtype), layout=get_layout(t.c_layout))


cdef int replace(Tensor t, Tensor value) except -1:
    """Give a wrapper a new value, in its own dtype; its size may change."""
    cdef FunctionalState s = state_of(t)
    cdef ThreadState* ts = tls()
    if is_functional(value):
        raise RuntimeError("a functional tensor cannot be the value of another one")
    s.value = as_type_of(t, value)
    take_geometry(t, s.value)
    s.storage.mutations += 1
    if not ts.grad_mode or ts.inference_mode:
        s.storage.no_grad += 1
    return 0


cdef int commit(Tensor t) except -1:
    cdef FunctionalState s = state_of(t)
    return s.storage.add(s.value, s.metas)


cdef int sync(Tensor t) except -1:
    """Bring a wrapper's value up to date with what was written through its aliases."""
    cdef FunctionalState s = state_of(t)
    cdef uint64_t excluded
    cdef ThreadState* ts
    cdef Tensor value
    if s.generation == s.storage.generation:
        return 0
    ts = tls()
    excluded = enter_below(ts, s.transform)
    try:
        s.storage.apply()
        value = s.storage.base
        for meta in s.metas:
            value = (<ViewMeta>meta).forward(value)
        s.value = as_type_of(t, value)
    finally:
        ts.excluded = excluded
    take_geometry(t, s.value)
    s.generation = s.storage.generation
    return 0


cdef uint64_t enter_below(ThreadState* ts, bint transform) noexcept:
    """Functionalize is off until the returned exclude set is put back."""
    cdef uint64_t excluded = ts.excluded
    ts.excluded |= KS_Functionalize
    if transform:
        ts.excluded &= ~ABOVE
    return excluded


cdef object below(OperatorEntry e, PyObject** args, bint transform):
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = enter_below(ts, transform)
    cdef PyObject* r = call_boxed(e, args)
    ts.excluded = excluded
    return take(r)


cdef object wrap_result(object result, bint transform):
    if isinstance(result, Tensor):
        return wrap(<Tensor>result, transform)
    if isinstance(result, tuple):
        return tuple([wrap_result(r, transform) for r in <tuple>result])
    if isinstance(result, list):
        return [wrap_result(r, transform) for r in <list>result]
    return result


# ---- arguments -------------------------------------------------------------------------------------------------------

cdef struct Seen:
    bint tensors
    bint functional
    bint transform
    bint written_functional
    bint written_plain
    bint read_functional


cdef object look_at(object value, bint written, Seen* seen):
    cdef bint functional = is_functional(value)
    seen.tensors = True
    if functional:
        seen.functional = True
        seen.transform |= state_of(<Tensor>value).transform
    if written:
        if functional:
            seen.written_functional = True
        else:
            seen.written_plain = True
    elif functional:
        seen.read_functional = True
    return value


cdef int look(OperatorEntry e, PyObject** args, Seen* seen) except -1:
    """What kinds of tensors there are among the arguments."""
    cdef int i
    cdef bint written
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        written = e.sig.args[i].flags & AF_WRITE
        value = <object>args[i]
        if isinstance(value, Tensor):
            look_at(value, written, seen)
        elif isinstance(value, list):
            for t in <list>value:
                if isinstance(t, Tensor):
                    look_at(t, written, seen)
    return 0


cdef object value_in(object t):
    if is_functional(t):
        sync(<Tensor>t)
        return state_of(<Tensor>t).value
    return t


cdef list unwrapped(OperatorEntry e, PyObject** args):
    """The arguments with functional tensors' values in their places."""
    cdef int i
    cdef list plain = []
    for i in range(e.sig.n_args):
        value = <object>args[i]
        if e.sig.args[i].kind == AK_TENSOR:
            value = [value_in(t) for t in <list>value] if isinstance(value, list) else value_in(value)
        plain.append(value)
    return plain


cdef int point_at(list values, PyObject** given) except -1:
    cdef int i
    for i in range(len(values)):
        given[i] = <PyObject*>values[i]
    return 0


# ---- variants --------------------------------------------------------------------------------------------------------

cdef bint same_inputs(OperatorEntry e, OperatorEntry other) noexcept:
    """Whether two operators take the same arguments but for those that `e` only writes (out=)."""
    cdef int i, j = 0
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_OUT:
            continue
        if j == other.sig.n_args or e.sig.args[i].name != other.sig.args[j].name or e.sig.args[i].kind != other.sig.args[j].kind:
            return False
        if (e.sig.args[i].flags ^ other.sig.args[j].flags) & AF_LIST:
            return False
        j += 1
    while j < other.sig.n_args:
        if not (e.flags & OF_OUT and other.sig.args[j].flags & AF_HAS_DEFAULT):
            return False
        j += 1
    return True


cdef OperatorEntry search(OperatorEntry e, tuple names, bint view):
    cdef OperatorEntry other
    for name in names:
        for overload in overload_names(name):
            other = find_entry(name, overload)
            if other is not None and other.defined and not other.flags & OF_MUTABLE and same_inputs(e, other) and \
                    (view or not other.flags & OF_ALIASING):
                return other
    return None


cdef object without_underscore(object name):
    return name.removesuffix("_")


cdef OperatorEntry functional_variant(OperatorEntry e):
    """`aten::add.Tensor` for `aten::add_.Tensor` and `aten::add.out`; None when there is none."""
    found = variants.get(e.id, e)
    if found is e:
        base = e.name if e.flags & OF_OUT else without_underscore(e.name)
        found = search(e, (base, base + "_functional"), False)
        variants[e.id] = found
    return found


cdef OperatorEntry view_variant(OperatorEntry e):
    """`aten::squeeze.dim` for `aten::squeeze_.dim`."""
    found = variants.get(e.id, e)
    if found is e:
        found = search(e, (without_underscore(e.name),), True)
        variants[e.id] = found
    return found


cdef OperatorEntry replayed(OperatorEntry e, bint reapply):
    """What replays a view: the view itself, or the variant that copies."""
    if reapply:
        return e
    name = "aten::view_copy" if e.name == "aten::_unsafe_view" else e.name + "_copy"
    found = find_entry(name, e.overload_name)
    if found is None:
        raise RuntimeError(f"{qualified_name(e)}: functionalization without views needs the operator {name}, which does not exist")
    return found


# ---- the kernel ------------------------------------------------------------------------------------------------------

cdef PyObject* call_functionalize(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef OperatorEntry e = <OperatorEntry>op
    cdef Seen seen = Seen(False, False, False, False, False, False)
    look(e, args, &seen)
    if e.name in lifts or (seen.functional and e.name in specials):
        return give(call_special(e, arguments_of(e, args)))
    if e.flags & (OF_MUTABLE | OF_ALIASING):
        if e.emitted == NULL:
            raise RuntimeError(
                f"{qualified_name(e)}: functionalization serves operators of the library's own with alias annotations, and none of "
                f"others': register a functional operator\n  {e._schema_text}")
        if IMPLICIT in e.registrations:
            return decompose(e, ks, args)
        if e.flags & OF_MUTABLE:
            return give(mutate(e, args, &seen))
        return give(view(e, args, &seen))
    result = functional(e, args, &seen)
    return give(result)


cdef tuple arguments_of(OperatorEntry e, PyObject** args):
    return tuple([<object>args[i] for i in range(e.sig.n_args)])


cdef PyObject* decompose(OperatorEntry e, uint64_t ks, PyObject** args) except NULL:
    cdef KernelObject owner = e.registrations[IMPLICIT][0]
    return give(take(owner.k.call(&owner.k, <PyObject*>e, ks, args)))


cdef object functional(OperatorEntry e, PyObject** args, Seen* seen):
    cdef PyObject* given[64]
    cdef list plain
    if seen.tensors and not seen.functional:
        return below(e, args, False)
    plain = unwrapped(e, args)
    point_at(plain, given)
    return wrap_result(below(e, given, seen.transform), seen.transform)


cdef object view(OperatorEntry e, PyObject** args, Seen* seen):
    cdef Tensor self_, t
    cdef ViewMeta meta
    cdef int i
    if not is_functional(<object>args[0]):
        return functional(e, args, seen)
    self_ = <Tensor>args[0]
    meta = new_meta(replayed(e, replay_views), e.name, arguments_of(e, args)[1:], replay_views)
    return viewed(self_, meta)


cdef object viewed(Tensor base, ViewMeta meta):
    """The wrapper, or the list of wrappers, of a view's result; what is not written yet waits."""
    cdef FunctionalState s = state_of(base)
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = enter_below(ts, s.transform)
    cdef int i
    try:
        result = meta.run(s.value)
    finally:
        ts.excluded = excluded
    if isinstance(result, Tensor):
        return wrap_view(<Tensor>result, base, meta)
    return [wrap_view(<Tensor?>result[i], base, meta.output(i)) for i in range(len(result))]


cdef object mutate(OperatorEntry e, PyObject** args, Seen* seen):
    """Compute what the functional variant computes, and write that."""
    cdef OperatorEntry f
    cdef PyObject* given[64]
    cdef list plain, values
    if not seen.functional:
        return below(e, args, False)
    if not seen.written_functional or seen.written_plain:
        if not seen.read_functional and not seen.written_functional:
            return below(e, args, False)
        raise RuntimeError(f"{qualified_name(e)}: mutating a non-functional tensor with a functional tensor is not allowed\n"
                           f"  {e._schema_text}")
    if e.name.endswith("_") and has_inplace_view(e):
        return change_view(e, args)
    f = functional_variant(e)
    if f is None:
        raise RuntimeError(f"{qualified_name(e)}: functionalization needs a variant of this operator that mutates nothing, and there "
                           f"is none\n  {e._schema_text}")
    plain = functional_arguments(e, f, unwrapped(e, args))
    point_at(plain, given)
    result = below(f, given, seen.transform)
    values = [result] if f.sig.n_rets == 1 else list(result)
    return written_result(e, args, values)


cdef list functional_arguments(OperatorEntry e, OperatorEntry f, list plain):
    """The variant's arguments: those of `e` that are not out=, then defaults."""
    cdef list given = [plain[i] for i in range(e.sig.n_args) if not e.sig.args[i].flags & AF_OUT]
    cdef int i
    for i in range(len(given), f.sig.n_args):
        given.append(<object>f.sig.args[i].dflt)
    return given


cdef object written_result(OperatorEntry e, PyObject** args, list values):
    """Write the last of `values` to the written arguments; what `e` returns."""
    cdef list written = [i for i in range(e.sig.n_args) if e.sig.args[i].flags & AF_WRITE and e.sig.args[i].kind == AK_TENSOR]
    cdef int first = len(values) - len(written)
    cdef int i, j
    cdef list outputs = []
    for j in range(len(written)):
        i = written[j]
        target = <object>args[i]
        if isinstance(target, Tensor):
            check_fit(e, <Tensor>target, values[first + j])
        elif isinstance(target, list):
            for a, b in zip(<list>target, values[first + j]):
                check_fit(e, <Tensor>a, b)
    for j in range(len(written)):
        i = written[j]
        target = <object>args[i]
        if isinstance(target, Tensor):
            write(<Tensor>target, <Tensor>values[first + j])
        elif isinstance(target, list):
            for a, b in zip(<list>target, values[first + j]):
                write(<Tensor>a, <Tensor>b)
    for i in range(e.sig.n_rets):
        outputs.append(returned(e, args, i, values))
    return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)


cdef object returned(OperatorEntry e, PyObject** args, int which, list values):
    cdef int i
    if e.sig.rets[which].alias:
        for i in range(e.sig.n_args):
            if e.sig.args[i].alias == e.sig.rets[which].alias:
                return <object>args[i]
    return wrap_result(values[which], False)


cdef int check_fit(OperatorEntry e, Tensor target, object value) except -1:
    """RuntimeError when an in-place operator could not have stored `value`; storing nothing yet."""
    cdef Tensor v
    cdef bint fits
    if state_of(target).storage.frozen:
        raise RuntimeError(f"{qualified_name(e)}: cannot mutate tensors with frozen storage")
    if e.flags & OF_OUT or not isinstance(value, Tensor):
        return 0
    v = <Tensor>value
    if tuple(v.shape) != tuple(target.shape):
        raise RuntimeError(f"{qualified_name(e)}: output with shape {tuple(target.shape)} doesn't match the broadcast shape "
                           f"{tuple(v.shape)}\n  {e._schema_text}")
    fits = is_complex_code(target.c_dtype) or (is_floating_code(target.c_dtype) and not is_complex_code(v.c_dtype)) or \
        not (is_complex_code(v.c_dtype) or is_floating_code(v.c_dtype))
    if not fits:
        raise RuntimeError(f"{qualified_name(e)}: a result of {v.dtype} cannot be stored in a tensor of {target.dtype}\n"
                           f"  {e._schema_text}")
    return 0


cdef int write(Tensor target, Tensor value) except -1:
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = enter_below(ts, state_of(target).transform)
    try:
        replace(target, value)
    finally:
        ts.excluded = excluded
    commit(target)
    return sync(target)


# ---- views in place --------------------------------------------------------------------------------------------------

cdef set view_changers = {"aten::" + n for n in ("as_strided_", "detach_", "squeeze_", "t_", "transpose_", "unsqueeze_", "swapaxes_")}


cdef bint has_inplace_view(OperatorEntry e):
    return e.name in view_changers


cdef object change_view(OperatorEntry e, PyObject** args):
    """`t_` and its kin: the same tensor, one view further."""
    cdef Tensor self_ = <Tensor>args[0]
    cdef OperatorEntry v = view_variant(e)
    if v is None:
        raise RuntimeError(f"{qualified_name(e)}: there is no view operator with its arguments\n  {e._schema_text}")
    change_by(self_, new_meta(replayed(v, replay_views), v.name, arguments_of(e, args)[1:], replay_views))
    return self_


cdef int change_by(Tensor t, ViewMeta meta) except -1:
    cdef FunctionalState s = state_of(t)
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = enter_below(ts, s.transform)
    try:
        value = meta.forward(s.value)
    finally:
        ts.excluded = excluded
    s.value = value
    s.metas.append(meta)
    s.metadata_mutated = True
    return take_geometry(t, value)


# ---- operators with rules of their own -------------------------------------------------------------------------------

cdef object call_below(str name, str overload, tuple args, dict kwargs, bint transform):
    cdef ThreadState* ts = tls()
    op = get_overload(find_entry(name, overload))
    excluded = enter_below(ts, transform)
    try:
        return op(*args, **kwargs)
    finally:
        ts.excluded = excluded


cdef object resize_in_place(OperatorEntry e, tuple args):
    """Growing makes a new storage; shrinking is a view of the old."""
    cdef Tensor t = <Tensor>args[0]
    cdef FunctionalState s = state_of(t)
    cdef OperatorEntry op
    cdef Tensor value
    sync(t)
    value = call_below("aten::resize", "", (s.value, args[1]), {"memory_format": args[2]}, s.transform)
    if value.c_numel * itemsize_table()[value.c_dtype] > s.storage.size:
        return grown(t, s, value)
    op = find_entry("aten::as_strided", "")
    strides = []
    step = 1
    for n in reversed(args[1]):
        strides.insert(0, step)
        step *= max(n, 1)
    change_by(t, new_meta(replayed(op, replay_views), "aten::as_strided", (args[1], strides, None), replay_views))
    return t


cdef Tensor grown(Tensor t, FunctionalState s, Tensor value):
    if s.metas:
        raise RuntimeError("aten::resize_: functionalization cannot make a view larger")
    s.storage.base = value
    s.storage.updates.clear()
    s.storage.original_size = s.storage.size = bytes_of(value)
    s.value = value
    s.metadata_mutated = True
    t.c_storage.c_nbytes = s.storage.size
    take_geometry(t, value)
    return t


cdef object lift(OperatorEntry e, tuple args):
    """A new tensor becomes functional; of one that is already, `lift_fresh` gives an alias."""
    cdef PyObject* given[64]
    if not is_functional(args[0]):
        point_at(list(args), given)
        return wrap_result(below(e, given, False), False)
    if e.name == "aten::lift_fresh":
        return args[0].view_as(args[0])
    raise RuntimeError(f"{qualified_name(e)}: the tensor is functional already")


cdef object unsafe_view(OperatorEntry e, tuple args):
    """Views memory after all."""
    return viewed(<Tensor>args[0], new_meta(replayed(e, replay_views), "aten::_unsafe_view", args[1:], replay_views))


cdef object to_copy(OperatorEntry e, tuple args):
    """The copy is functional only where functionalization is enabled for the thread."""
    cdef ThreadState* ts = tls()
    cdef Tensor t = <Tensor>args[0]
    cdef list plain = unwrapped_list(e, args)
    cdef PyObject* given[64]
    cdef bint transform = state_of(t).transform
    point_at(plain, given)
    result = below(e, given, transform)
    return wrap_result(result, transform) if ts.included & KS_Functionalize else result


cdef list unwrapped_list(OperatorEntry e, tuple args):
    cdef PyObject* given[64]
    cdef int i
    for i in range(len(args)):
        given[i] = <PyObject*>args[i]
    return unwrapped(e, given)


cdef object set_source(OperatorEntry e, tuple args):
    """The tensor takes over the value, views and storage of another."""
    if len(args) != 2 or not is_functional(args[0]) or not is_functional(args[1]):
        raise RuntimeError(f"{qualified_name(e)}: either both tensors are functional or none")
    take_over(<Tensor>args[0], <Tensor>args[1])
    return args[0]


cdef int take_over(Tensor t, Tensor source) except -1:
    cdef FunctionalState s = state_of(t), other = state_of(source)
    s.storage.frozen = True
    s.value, s.storage, s.generation, s.metas = other.value, other.storage, other.generation, list(other.metas)
    s.storage_changes += 1
    set_storage(t, source.c_storage)
    return take_geometry(t, other.value)


cdef set lifts = {"aten::lift", "aten::lift_fresh", "aten::lift_fresh_copy"}
cdef set specials = {"aten::_to_copy", "aten::_unsafe_view", "aten::resize_", "aten::set_"}


cdef object call_special(OperatorEntry e, tuple args):
    if e.name in lifts:
        return lift(e, args)
    if e.name == "aten::_to_copy":
        return to_copy(e, args)
    if e.name == "aten::_unsafe_view":
        return unsafe_view(e, args)
    if e.name == "aten::resize_":
        return resize_in_place(e, args)
    return set_source(e, args)


cdef int install() except -1:
    get_fallback(DK_INDEX_BY_VALUE[key_value("Functionalize")]).k.call = <boxed_fn>call_functionalize
    return 0


install()


# ---- what programs call ----------------------------------------------------------------------------------------------

cdef Tensor checked(str function, object t):
    if not isinstance(t, Tensor):
        raise TypeError(f"{function}: expected a Tensor, got {type(t).__name__}")
    if not is_functional(t):
        raise RuntimeError(f"{function}: the tensor is not functional")
    return <Tensor>t


cdef Tensor any_tensor(str function, object t):
    if not isinstance(t, Tensor):
        raise TypeError(f"{function}: expected a Tensor, got {type(t).__name__}")
    return <Tensor>t


def _decompose(func, tuple args not None, dict kwargs not None):
    """What the operator's CompositeImplicitAutograd kernel returns; NotImplemented when it has none."""
    cdef OperatorEntry e = need_entry(func._schema.name, func._schema.overload_name)
    cdef KernelObject owner
    cdef Frame f
    cdef PyObject* r
    if IMPLICIT not in e.registrations:
        return NotImplemented
    owner = e.registrations[IMPLICIT][0]
    match_given(&e.sig, args, kwargs, &f)
    r = owner.k.call(&owner.k, <PyObject*>e, f.ks, f.args)
    release_frame(&f)
    return take(r)


def _set_view_inverse(str name not None, inverse):
    """Give the view operator `name` its inverse: function(base, mutated, meta) -> the base with the mutated view written."""
    inverses[name] = inverse


def _share_memory_of(Tensor t not None, Tensor source not None):
    """Storage and geometry of `source` become those of `t` (aten::set_.source_Tensor)."""
    if t.c_dtype != source.c_dtype or t.c_devtype != source.c_devtype:
        raise RuntimeError(f"aten::set_: expected a source of {t.dtype} on {t.device}, got {source.dtype} on {source.device}")
    set_storage(t, source.c_storage)
    take_geometry(t, source)


def _to_functional_tensor(t):
    """A functional wrapper of `t` (torch._to_functional_tensor). RuntimeError when it is one already."""
    return wrap(any_tensor("_to_functional_tensor", t), False)


def _wrap_functional_tensor(t, level):
    """A functional wrapper for a transform: autograd works on the values below (torch._C._functorch)."""
    return wrap(any_tensor("_wrap_functional_tensor", t), True)


def _is_functional_tensor(t):
    """Whether `t` is a functional wrapper."""
    return is_functional(any_tensor("_is_functional_tensor", t))


def _is_functional_tensor_base(t):
    """Whether no view leads from the wrapper's storage to it."""
    return not state_of(checked("_is_functional_tensor_base", t)).metas


def _from_functional_tensor(t):
    """The value that a wrapper has now; `_sync` first, to see what its aliases wrote."""
    return state_of(checked("_from_functional_tensor", t)).value


def _functionalize_sync(t):
    """Bring the wrapper's value up to date with what was written through its aliases."""
    sync(checked("_functionalize_sync", t))


def _sync(t):
    """`_functionalize_sync` that takes a FunctionalTensor too: its mode is off meanwhile (torch._sync)."""
    from dispatch._C.tls import _set_dispatch_mode, _unset_dispatch_mode
    key = getattr(type(t), "_mode_key", None)
    if not isinstance(t, Tensor) or key is None or is_functional(t):
        return _functionalize_sync(t)
    mode = _unset_dispatch_mode(key)
    try:
        _functionalize_sync(t.elem)
    finally:
        if mode is not None:
            _set_dispatch_mode(mode)


def _freeze_functional_tensor(t):
    """Writes to the wrapper's storage are errors from now on."""
    state_of(checked("_freeze_functional_tensor", t)).storage.frozen = True


def _functionalize_replace(t, other):
    """Give the wrapper the value `other`; `_functionalize_commit_update` tells its aliases."""
    replace(checked("_functionalize_replace", t), any_tensor("_functionalize_replace", other))


def _functionalize_commit_update(t):
    """Queue the wrapper's value for its aliases. RuntimeError when the storage is frozen."""
    commit(checked("_functionalize_commit_update", t))


def _functionalize_unsafe_set(dst, src):
    """The wrapper `dst` shares the storage of `src` from now on; its value stays."""
    cdef Tensor t = checked("_functionalize_unsafe_set", dst)
    cdef Tensor other = checked("_functionalize_unsafe_set", src)
    state_of(t).storage = state_of(other).storage
    set_storage(t, other.c_storage)


def _functionalize_mark_mutation_hidden_from_autograd(t):
    """The last write is none that autograd should see."""
    cdef FunctionalStorage s = state_of(checked("_functionalize_mark_mutation_hidden_from_autograd", t)).storage
    s.hidden += 1


def _functionalize_are_all_mutations_hidden_from_autograd(t):
    """Whether each write was marked hidden."""
    cdef FunctionalStorage s = state_of(checked("_functionalize_are_all_mutations_hidden_from_autograd", t)).storage
    return s.hidden >= s.mutations


def _functionalize_are_all_mutations_under_no_grad_or_inference_mode(t):
    """Whether each write was marked hidden or done without gradients."""
    cdef FunctionalStorage s = state_of(checked("_functionalize_are_all_mutations_under_no_grad_or_inference_mode", t)).storage
    return s.hidden + s.no_grad >= s.mutations


def _functionalize_is_multi_output_view(t):
    """Whether a view with several outputs is among the wrapper's."""
    return state_of(checked("_functionalize_is_multi_output_view", t)).multi_output


def _functionalize_is_symbolic(t):
    """Whether some view has symbolic sizes: never here."""
    checked("_functionalize_is_symbolic", t)
    return False


def _functionalize_has_metadata_mutation(t):
    """Whether the wrapper itself changed its shape in place (`t_`, `resize_`)."""
    return state_of(checked("_functionalize_has_metadata_mutation", t)).metadata_mutated


def _functionalize_has_data_mutation(t):
    """Whether the storage saw a write."""
    return state_of(checked("_functionalize_has_data_mutation", t)).storage.generation > 0


def _functionalize_mutation_counter(t):
    """How often values of the storage were replaced."""
    return state_of(checked("_functionalize_mutation_counter", t)).storage.mutations


def _functionalize_mark_storage_changed(t):
    """Count a change of the wrapper's storage."""
    cdef FunctionalState s = state_of(checked("_functionalize_mark_storage_changed", t))
    s.storage_changes += 1


def _functionalize_was_storage_changed(t):
    """Whether `set_` gave the wrapper another storage."""
    return state_of(checked("_functionalize_was_storage_changed", t)).storage_changes > 0


def _functionalize_storage_changed_counter(t):
    """How often `set_` gave the wrapper another storage."""
    return state_of(checked("_functionalize_storage_changed_counter", t)).storage_changes


def _functionalize_was_inductor_storage_resized(t):
    """Whether a compiler's own operators resized the storage: never here."""
    checked("_functionalize_was_inductor_storage_resized", t)
    return False


def _functionalize_inductor_storage_resized_counter(t):
    """Likewise."""
    checked("_functionalize_inductor_storage_resized_counter", t)
    return False


def _functionalize_get_storage_size(t, bint before):
    """Bytes of the storage, when it was made (`before`) or now."""
    cdef FunctionalStorage s = state_of(checked("_functionalize_get_storage_size", t)).storage
    return s.original_size if before else s.size


def _functionalize_enable_reapply_views(bint reapply_views=False):
    """Whether this thread replays views as views, not as copies; returns what held before."""
    return set_reapply(reapply_views)


cdef bint set_reapply(bint value) noexcept:
    global replay_views
    cdef bint before = replay_views
    replay_views = value
    return before


def _functionalization_reapply_views_tls():
    """Whether this thread replays views as views."""
    return <bint>replay_views


def _enable_functionalization(bint reapply_views=False):
    """Functionalize every call of this thread. RuntimeError when it does so already."""
    cdef ThreadState* ts = tls()
    if ts.included & KS_Functionalize:
        raise RuntimeError("functionalization is enabled already: its layers do not nest")
    ts.included |= KS_Functionalize
    if reapply_views:
        set_reapply(True)


def _disable_functionalization():
    """Undo `_enable_functionalization`."""
    tls().included &= ~<uint64_t>KS_Functionalize
    set_reapply(False)


def _replace_(t, other):
    """As `_functionalize_replace`."""
    replace(checked("_replace_", t), any_tensor("_replace_", other))


def _commit_update(t):
    """As `_functionalize_commit_update`."""
    commit(checked("_commit_update", t))


def _unsafe_reset_storage(t):
    """Cut the wrapper off from its aliases: its value is the base of a storage of its own."""
    cdef Tensor w = checked("_unsafe_reset_storage", t)
    cdef FunctionalState old = state_of(w), s = fresh_state(old.value)
    old.storage, old.metas, old.generation = s.storage, s.metas, 0
    set_storage(w, new_memory(old.value))


def _propagate_xla_data(a, b):
    """Nothing to do: there are no XLA tensors."""
    any_tensor("_propagate_xla_data", a)
    any_tensor("_propagate_xla_data", b)


def _mirror_autograd_meta_to(a, b):
    """Make `b` require grad, as no leaf, when `a` requires grad."""
    cdef Tensor source = any_tensor("_mirror_autograd_meta_to", a)
    cdef Tensor target = any_tensor("_mirror_autograd_meta_to", b)
    if source.c_flags & TF_REQUIRES_GRAD:
        set_requires_grad(target, True)
        target.c_autograd = Node("Error")


def _propagate_functional_input_mutation(Tensor unwrapped_ not None, wrapped):
    """Write to a transform's input what the function wrote to its wrapper (torch._C._functorch)."""
    cdef Tensor w = checked("_propagate_functional_input_mutation", wrapped)
    cdef Tensor value
    sync(w)
    value = state_of(w).value
    if value is unwrapped_:
        return
    if bytes_of(value) != bytes_of(unwrapped_):
        call_below("aten::resize_", "", (unwrapped_, list(value.shape)), {}, True)
    if tuple(value.shape) != tuple(unwrapped_.shape):
        call_below("aten::as_strided_", "", (unwrapped_, list(value.shape), list(value.stride())), {}, True)
    call_below("aten::copy_", "", (unwrapped_, value), {}, True)
