"""The Functionalize key: programs with views and in-place operators become programs without (FunctionalTensorWrapper).

A functional wrapper is a plain `Tensor` without memory whose state (`c_extra`) holds a value, the storage that it shares with its
aliases, and the views that lead there from the storage's base. A write replaces the value and is queued on the storage; an alias
works the queue into the base, and replays its views, when it is next used. `view_inverse` writes a view's value back.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from dispatch._C.dispatcher cimport call_boxed, find_entry, need_entry
from dispatch._C.dtypes cimport device, get_dtype, get_layout, itemsize_table
from dispatch._C.keys cimport KS_ADInplaceOrView, KS_AUTOGRAD, KS_Functionalize, KS_Python, KS_PythonTLSSnapshot, key_value
from dispatch._C.operator cimport KernelObject, OperatorEntry, qualified_name
from dispatch._C.fallbacks import new_node, set_grad_fn
from dispatch._C.python_kernel cimport get_overload
from dispatch._C.references cimport forbid_new, take
from dispatch._C.geometry cimport reach_of
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport NK_NONE, number_kind
from dispatch._C.tensor cimport (
    TF_FUNCTIONAL, TF_INFERENCE, TF_WRAPPED_NUMBER, Tensor, needs_grad, set_geometry, set_requires_grad, set_storage,
    share_version,
)
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.values cimport Frame, match_given, release_frame

from dispatch.tensor.text import print_as_wrapper

cdef extern from *:
    """
    static _Thread_local int dispatch_reapply_views = 0;
    """
    int replay_views "dispatch_reapply_views"

cdef uint64_t ABOVE = KS_AUTOGRAD | KS_ADInplaceOrView
cdef dict inverses = {}          # name of a view operator -> function(base, mutated, meta), registered by view_inverse
IMPLICIT = key_value("CompositeImplicitAutograd")


# ---- state -----------------------------------------------------------------------------------------------------------

cdef class ViewMeta:
    """One view of a chain: how to replay it, and its place among the outputs."""

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
        if self.is_multi_output:
            if not isinstance(result, (list, tuple)) or self.out_index >= len(result):
                raise RuntimeError(f"{self.name}: a view is replayed, and there is no output {self.out_index} any more")
            result = result[self.out_index]
        return tensor_in(self.op, result)

    cdef Tensor reverse(self, Tensor base, Tensor mutated):
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


for cls in (ViewMeta, FunctionalStorage, FunctionalState):
    forbid_new(cls)


cdef int64_t bytes_of(Tensor t) except -1:
    return reach_of(itemsize_table()[t.c_dtype], t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)


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


cdef Tensor tensor_in(OperatorEntry e, object value):
    """What a kernel returned where functionalization needs a tensor. RuntimeError: it is none."""
    if not isinstance(value, Tensor):
        raise RuntimeError(f"{qualified_name(e)}: functionalization expected a tensor from a kernel, got "
                           f"{type(value).__name__}\n  {e._schema_text}")
    return <Tensor>value


cdef object wrap_result(object result, bint transform):
    if isinstance(result, Tensor):
        return wrap(<Tensor>result, transform)
    if isinstance(result, tuple):
        return tuple([wrap_result(r, transform) for r in <tuple>result])
    if isinstance(result, list):
        return [wrap_result(r, transform) for r in <list>result]
    return result


cdef object call_below(str name, str overload, tuple args, dict kwargs, bint transform):
    cdef ThreadState* ts = tls()
    op = get_overload(find_entry(name, overload))
    excluded = enter_below(ts, transform)
    try:
        return op(*args, **kwargs)
    finally:
        ts.excluded = excluded


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


def _set_view_inverse(str name not None, inverse):
    """Give the view operator `name` its inverse: function(base, mutated, meta) -> the base with the mutated view written."""
    inverses[name] = inverse


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
    """Whether some view on the way from the base was given an expression: a slice up to one, an expand to one."""
    for meta in state_of(checked("_functionalize_is_symbolic", t)).metas:
        if has_expression((<ViewMeta>meta).args):
            return True
    return False


cdef bint has_expression(object args) except -1:
    for a in args:
        if has_expression(a) if isinstance(a, (list, tuple)) else number_kind(<PyObject*>a) != NK_NONE:
            return True
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


cdef bint replays_views() noexcept:
    return replay_views


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
    if needs_grad(source):
        set_requires_grad(target, True)
        set_grad_fn(target, new_node("Error"))


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


def _is_of_transform(t):
    """Whether `functionalize` wraps `t`."""
    return is_functional(t) and state_of(<Tensor>t).transform


print_as_wrapper("FunctionalTensor(lvl=1, value=\\\n", _is_of_transform, _from_functional_tensor, marked=False)
print_as_wrapper("_to_functional_tensor(", _is_functional_tensor, _from_functional_tensor)
