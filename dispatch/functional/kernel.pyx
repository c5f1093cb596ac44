"""The kernel of the Functionalize key: unwraps, calls the functional variant of an operator, wraps, and queues what was written.

The fallback of the key points here. A mutating operator becomes its functional one and a write to the wrapper (`wrappers`), a view
becomes its `*_copy` or itself with a ViewMeta that replays it; composites are decomposed first.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.dispatcher cimport find_entry, get_fallback, overload_names
from dispatch._C.dtypes cimport is_complex_code, is_floating_code, itemsize_table
from dispatch._C.emitted cimport AF_HAS_DEFAULT, AF_LIST, AF_OUT, AF_WRITE, AK_TENSOR, OF_ALIASING, OF_MUTABLE, OF_OUT
from dispatch.functional.wrappers cimport (
    IMPLICIT, FunctionalState, ViewMeta, below, bytes_of, call_below, commit, enter_below, is_functional, new_meta, replace,
    replays_views, state_of, sync, take_geometry, tensor_in, wrap_result, wrap_view,
)
from dispatch._C.keys cimport DK_INDEX_BY_VALUE, KS_Functionalize, key_value
from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry, boxed_fn, qualified_name
from dispatch._C.references cimport give, take
from dispatch._C.geometry cimport product
from dispatch._C.returned cimport items_of
from dispatch._C.symbolic cimport gt
from dispatch._C.tensor cimport Tensor, place_tensor
from dispatch._C.tls cimport ThreadState, tls

import dispatch.functional.inverses     # registers them

cdef dict variants = {}          # (generation, entry id) -> the entry without mutation or view, or None


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
    if e.name in lifts or (seen.functional and (e.name in specials or is_set_source(e))):
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
    meta = new_meta(replayed(e, replays_views()), e.name, arguments_of(e, args)[1:], replays_views())
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
    return [wrap_view(tensor_in(meta.op, t), base, meta.output(i)) for i, t in enumerate(result)]


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
        raise RuntimeError(f"{qualified_name(e)}: functionalization needs a variant of this operator that mutates nothing, and "
                           f"there is none\n  {e._schema_text}")
    plain = functional_arguments(e, f, unwrapped(e, args))
    point_at(plain, given)
    result = below(f, given, seen.transform)
    values = [result] if f.sig.n_rets == 1 else list(items_of(result, f.sig.n_rets, qualified_name(f), RuntimeError))
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
    cdef int first = <int>len(values) - <int>len(written)
    cdef int i, j
    cdef list outputs = []
    if first < 0:
        raise RuntimeError(f"{qualified_name(e)}: functionalization expected {len(written)} values to write, got {len(values)}\n"
                           f"  {e._schema_text}")
    for j in range(len(written)):
        i = written[j]
        target = <object>args[i]
        if isinstance(target, Tensor):
            check_fit(e, <Tensor>target, tensor_in(e, values[first + j]))
        elif isinstance(target, list):
            results = items_of(values[first + j], len(<list>target), qualified_name(e), RuntimeError)
            for a, b in zip(<list>target, results):
                check_fit(e, <Tensor>a, tensor_in(e, b))
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


cdef int check_fit(OperatorEntry e, Tensor target, Tensor v) except -1:
    """RuntimeError when an in-place operator could not have stored `value`; storing nothing yet."""
    cdef bint fits
    if state_of(target).storage.frozen:
        raise RuntimeError(f"{qualified_name(e)}: cannot mutate tensors with frozen storage")
    if e.flags & OF_OUT or e.name == "aten::set_":
        return 0
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

cdef set view_changers = {"aten::" + n for n in ("as_strided_", "detach_", "squeeze_", "t_", "transpose_", "unsqueeze_",
                                                 "swapaxes_")}


cdef bint has_inplace_view(OperatorEntry e):
    return e.name in view_changers


cdef object change_view(OperatorEntry e, PyObject** args):
    """`t_` and its kin: the same tensor, one view further."""
    cdef Tensor self_ = <Tensor>args[0]
    cdef OperatorEntry v = view_variant(e)
    if v is None:
        raise RuntimeError(f"{qualified_name(e)}: there is no view operator with its arguments\n  {e._schema_text}")
    change_by(self_, new_meta(replayed(v, replays_views()), v.name, arguments_of(e, args)[1:], replays_views()))
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

cdef object resize_in_place(OperatorEntry e, tuple args):
    """Growing makes a new storage; shrinking is a view of the old."""
    cdef Tensor t = <Tensor>args[0]
    cdef FunctionalState s = state_of(t)
    cdef OperatorEntry op
    cdef Tensor value
    sync(t)
    value = call_below("aten::resize", "", (s.value, args[1]), {"memory_format": args[2]}, s.transform)
    if gt(product(value.c_numel, itemsize_table()[value.c_dtype]), s.storage.size):
        return grown(e, t, s, value)
    op = find_entry("aten::as_strided", "")
    strides = []
    step = 1
    for n in reversed(args[1]):
        strides.insert(0, step)
        step *= max(n, 1)
    change_by(t, new_meta(replayed(op, replays_views()), "aten::as_strided", (args[1], strides, None), replays_views()))
    return t


cdef Tensor grown(OperatorEntry e, Tensor t, FunctionalState s, Tensor value):
    if s.metas:
        raise RuntimeError(f"{qualified_name(e)}: Attempted to resize a view tensor to a larger size. This is not "
                           f"allowed in the functionalization pass")
    place_tensor(t, t.c_storage, value.c_ndim, value.c_sizes, value.c_strides, value.c_offset)
    s.storage.base = value
    s.storage.updates.clear()
    s.storage.original_size = s.storage.size = bytes_of(value)
    s.value = value
    s.metadata_mutated = True
    return t


cdef object lift(OperatorEntry e, tuple args):
    """A new tensor becomes functional; of one that is already, an alias or, where the name says so, a copy."""
    cdef PyObject* given[64]
    if not is_functional(args[0]):
        point_at(list(args), given)
        return wrap_result(below(e, given, False), False)
    return args[0].clone() if e.name == "aten::lift_fresh_copy" else args[0].view_as(args[0])


cdef object unsafe_view(OperatorEntry e, tuple args):
    """Views memory after all."""
    return viewed(<Tensor>args[0], new_meta(replayed(e, replays_views()), "aten::_unsafe_view", args[1:], replays_views()))


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
    cdef Tensor value = other.value
    place_tensor(t, source.c_storage, value.c_ndim, value.c_sizes, value.c_strides, value.c_offset)
    s.storage.frozen = True
    s.value, s.storage, s.generation, s.metas = other.value, other.storage, other.generation, list(other.metas)
    s.storage_changes += 1
    return 0


cdef bint is_set_source(OperatorEntry e):
    """Another tensor's storage comes with its value and views; a storage alone makes a new value, as any write does."""
    return e.name == "aten::set_" and e.overload_name == "source_Tensor"


cdef set lifts = {"aten::lift", "aten::lift_fresh", "aten::lift_fresh_copy"}
cdef set specials = {"aten::_to_copy", "aten::_unsafe_view", "aten::resize_"}


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
