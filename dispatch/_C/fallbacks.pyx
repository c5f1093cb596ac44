"""The dispatcher's own fallbacks, and the one ADInplaceOrView kernel.

Which keys have one, and which of these only pass calls on, follows PyTorch's registrations; `docs/fallbacks.md` says what each
does. There is no autograd engine: the autograd fallback marks outputs with `requires_grad` and a placeholder `grad_fn`.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint32_t, uint64_t

from dispatch._C.dispatcher cimport redispatch, set_fallback, set_loader
from dispatch._C.dtypes cimport is_complex_code, is_floating_code
from dispatch._C.emitted cimport AF_WRITE, AK_TENSOR, KK_AD_INPLACE_OR_VIEW, OF_ALIASING, OF_MUTABLE, OF_OUT
from dispatch._C.errors cimport refused
from dispatch._C.keys cimport (
    DK_FALLBACK_BY_INDEX, DK_INDEX_BY_VALUE, DK_NAME_BY_VALUE, DK_NUM_RUNTIME, DK_NUM_VALUES, DK_VALUE_BY_INDEX,
    KS_ADInplaceOrView, KS_AUTOGRAD, KS_AutogradOther, KS_BY_VALUE, KS_Functionalize, KS_Python, KS_PythonDispatcher,
    KS_PythonTLSSnapshot, KS_ZeroTensor,
)
from dispatch._C.operator cimport (
    KF_FALLTHROUGH, KF_IDLE, KF_IDLE_NO_GRAD, OF_DETACH, Kernel, KernelObject, OperatorEntry, boxed_fn, new_kernel,
    python_modules, qualified_name,
)
from dispatch._C.python_dispatcher cimport call_python_dispatcher
from dispatch._C.python_kernel cimport keep_results, keep_self, python_fallback, requires_grad_at
from dispatch._C.python_api cimport PyObject_TypeCheck_
from dispatch._C.references cimport give, take
from dispatch._C.stack cimport check_depth
from dispatch._C.tags cimport TAG_generated, TAG_inplace_view
from dispatch._C.tensor cimport (
    TF_INFERENCE, TF_IS_VIEW, TF_REQUIRES_GRAD, TF_VIEW_INFERENCE, TF_VIEW_MARKS, TF_VIEW_NO_GRAD, TF_VIEW_OF_MANY,
    Tensor, begin_grad,
    bump_version, get_version, needs_grad, set_base, share_version,
)
from dispatch._C.tls cimport ThreadState, n_dispatch_modes, tls
from dispatch._C.values cimport is_number

from dispatch._C.derivatives import (
    NOT_DIFFERENTIABLE, OUTS_WITHOUT_FORMULA, UNFOLLOWED, WITHOUT_DERIVATIVE, backward_name, kept_arguments, plain_results,
)
from dispatch._C.slots import _set_tensor_hook


cdef uint64_t BELOW_AUTOGRAD_KEYS = KS_AUTOGRAD | KS_ADInplaceOrView
# Keys of lower priority, and PythonDispatcher, which stays for the rest of a call.
cdef uint64_t AFTER_AUTOGRAD = (KS_AutogradOther - 1) | KS_PythonDispatcher
cdef uint64_t AFTER_ADINPLACE = (KS_ADInplaceOrView - 1) | KS_PythonDispatcher
cdef uint64_t ZERO_BIT = KS_ZeroTensor & ~<uint64_t>0xFFFF
cdef uint64_t AFTER_SNAPSHOT = (KS_PythonTLSSnapshot - 1) | KS_PythonDispatcher


cdef inline uint64_t own_bit(Kernel* k) noexcept:
    """The functionality that a fallback stands at; what it is called with may have higher ones
    (Dispatcher::callBoxedForDispatchKey)."""
    return KS_BY_VALUE[(<KernelObject>k.owner).key] & ~<uint64_t>0xFFFF


# ---- ADInplaceOrView -------------------------------------------------------------------------------------------------

cdef PyObject* call_adinplace(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Redispatch below; then bump the versions of what was written and relate views to their base."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* r
    if e.flags & OF_MUTABLE and not ts.inference_mode:
        check_no_inference(e, args)
    ts.excluded |= BELOW_AUTOGRAD_KEYS
    r = redispatch(e, ks & AFTER_ADINPLACE, args)
    ts.excluded = excluded
    result = take(r)
    if e.flags & OF_MUTABLE:
        bump_written(e, args)
        if e.emitted != NULL:
            result = written_results(e, args, result)
    elif e.flags & OF_ALIASING:
        relate_views(e, args, result)
    return give(result)


cdef PyObject* call_keeping_version(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """detach_, and resize_ and resize_as_ to the sizes that the tensor has: nothing is written."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* r
    if e.name != "aten::detach_" and tuple((<Tensor>args[0]).shape) != tuple(getattr(<object>args[1], "shape", <object>args[1])):
        return call_adinplace(k, op, ks, args)
    ts.excluded |= BELOW_AUTOGRAD_KEYS
    r = redispatch(e, ks & AFTER_ADINPLACE, args)
    ts.excluded = excluded
    return give(written_results(e, args, take(r)))


cdef PyObject* call_reinterpreted(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """view.dtype: the result shares the version and is no view, for autograd follows nothing through other types."""
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* r
    ts.excluded |= BELOW_AUTOGRAD_KEYS
    r = redispatch(<OperatorEntry>op, ks & AFTER_ADINPLACE, args)
    ts.excluded = excluded
    result = take(r)
    if isinstance(result, Tensor) and result is not <object>args[0]:
        if not (excluded & KS_Python or (<Tensor>result).c_keys & KS_Functionalize) and (
                (<Tensor>result).c_keys & KS_Python or n_dispatch_modes(ts)):
            result = (<Tensor>result).data                  # PyTorch detaches it, which handlers see
        if isinstance(result, Tensor):
            share_version(<Tensor>result, <Tensor>args[0])
    return give(result)


cdef int check_no_inference(OperatorEntry e, PyObject** args) except -1:
    """RuntimeError when a tensor of inference mode is about to be written outside of the mode; PyTorch finds out after the
    write."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE and isinstance(<object>args[i], Tensor) and (<Tensor>args[i]).c_flags & TF_INFERENCE:
            raise RuntimeError(
                f"{qualified_name(e)}: Inplace update to inference tensor outside InferenceMode is not allowed: argument "
                f"'{<object>e.sig.args[i].name}'; clone it first\n  {e._schema_text}")
    return 0


cdef int bump_written(OperatorEntry e, PyObject** args) except -1:
    cdef int i
    for i in range(e.sig.n_args):
        if not e.sig.args[i].flags & AF_WRITE or e.sig.args[i].kind != AK_TENSOR:
            continue
        if isinstance(<object>args[i], Tensor):
            bump_version(<Tensor>args[i])
        elif isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    bump_version(<Tensor>t)
    return 0


cdef object written_results(OperatorEntry e, PyObject** args, object result):
    """A result that is a written argument is that very object, whatever a mode or a subclass gave back."""
    cdef int i
    cdef PyObject* written
    cdef list own
    if e.sig.n_rets == 0 or e.sig.rets[0].alias == 0 or result is <object>args[0]:
        return result
    own = []
    for i in range(e.sig.n_rets):
        written = aliased_argument(e, args, e.sig.rets[i].alias)
        if written == NULL:
            return result
        own.append(<object>written)
    if is_number(<PyObject*>result):
        raise RuntimeError(f"{qualified_name(e)}: Unable to cast {result}, which a mode or a subclass returned, to Tensor"
                           f"\n  {e._schema_text}")
    return own[0] if e.sig.n_rets == 1 else tuple(own)


cdef PyObject* aliased_argument(OperatorEntry e, PyObject** args, int alias) noexcept:
    """The tensor argument that shares the alias set of an output, borrowed; NULL."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_TENSOR and e.sig.args[i].alias == alias and PyObject_TypeCheck_(args[i], <PyObject*>Tensor):
            return args[i]
    return NULL


cdef int relate_views(OperatorEntry e, PyObject** args, object result) except -1:
    cdef int i
    cdef PyObject* found
    cdef Tensor base
    if e.sig.n_rets == 1 and e.sig.n_args and e.sig.args[0].alias == e.sig.rets[0].alias != 0 and isinstance(result, Tensor) and (
            e.sig.args[0].kind == AK_TENSOR and PyObject_TypeCheck_(args[0], <PyObject*>Tensor)):
        return relate_view(e, <Tensor>args[0], result, 0)         # what most views are (row `detach`)
    for i in range(e.sig.n_rets):
        if e.sig.rets[i].alias == 0:
            continue
        found = aliased_argument(e, args, e.sig.rets[i].alias)
        if found == NULL:
            continue
        base = <Tensor>found
        if e.sig.n_rets > 1 and not (isinstance(result, tuple) and i < len(<tuple>result)):
            break                             # a kernel of a program's operator may return fewer (`python_kernel.checked_sequence`)
        out = result if e.sig.n_rets == 1 else (<tuple>result)[i]
        if isinstance(out, (list, tuple)):
            for t in out:
                relate_view(e, base, t, TF_VIEW_OF_MANY)
        else:
            relate_view(e, base, out, 0)
    return 0


cdef int check_fresh(OperatorEntry e, Tensor base, Tensor view) except -1:
    """RuntimeError when a mode or a subclass answered a view operator with a tensor that has autograd's facts already (as_view)."""
    if view is base or view is base.c_base:
        raise RuntimeError(f"{qualified_name(e)}: View operation returned a tensor that is the same as the input base tensor; "
                           f"return a new one, with detach() for instance\n  {e._schema_text}")
    if view.c_flags & (TF_IS_VIEW | TF_REQUIRES_GRAD | TF_INFERENCE):
        what = ("is a view already" if view.c_flags & TF_IS_VIEW else
                "requires grad already" if view.c_flags & TF_REQUIRES_GRAD else "is an inference tensor")
        raise RuntimeError(f"{qualified_name(e)}: the result {what}, and cannot become a view of the argument; return a new "
                           f"tensor\n  {e._schema_text}")
    return 0


cdef int relate_view(OperatorEntry e, Tensor base, object out, uint32_t mark) except -1:
    """`out` shares the version of `base` and is its view; out of aten::detach it loses what autograd knew of it (as_view).

    `mark`: 0, or TF_VIEW_OF_MANY.
    """
    cdef ThreadState* ts = tls()
    cdef Tensor view
    if not isinstance(out, Tensor) or (out is base and e.name == "aten::lift_fresh") or base.c_flags & TF_INFERENCE:
        return 0
    view = <Tensor>out
    if e.flags & OF_DETACH:
        if not view.c_flags & TF_INFERENCE:
            share_version(view, base)
            forget_autograd(view)
        return 0
    check_fresh(e, base, view)
    share_version(view, base)
    if ts.inference_mode:
        mark = TF_VIEW_INFERENCE
    elif not ts.grad_mode:
        mark = TF_VIEW_NO_GRAD
    view.c_flags |= mark if mark else base.c_flags & TF_VIEW_MARKS
    set_base(view, base if base.c_base is None else base.c_base)
    if not ts.grad_mode and needs_grad(view):
        begin_grad(<Tensor>view.c_base)          # from now on views are looked at
    return 0


cdef inline bint is_differentiable(Tensor t) noexcept:
    return is_floating_code(t.c_dtype) or is_complex_code(t.c_dtype)


cdef inline void forget_autograd(Tensor t) noexcept:
    t.c_base = None
    t.c_autograd = None
    t.c_flags &= ~<uint32_t>(TF_IS_VIEW | TF_REQUIRES_GRAD | TF_VIEW_MARKS)


cdef int load_adinplace(OperatorEntry e, KernelObject k) except -1:
    if e.name in ("aten::detach_", "aten::resize_", "aten::resize_as_"):
        k.k.call = <boxed_fn>call_keeping_version
    elif qualified_name(e) == "aten::view.dtype":
        k.k.call = <boxed_fn>call_reinterpreted
    else:
        k.k.call = <boxed_fn>call_adinplace
    return 0


set_loader(KK_AD_INPLACE_OR_VIEW, load_adinplace)


# ---- autograd --------------------------------------------------------------------------------------------------------

class Node:
    """Placeholder of a backward function: a class for each name, and nothing behind it."""

    __slots__ = ("__weakref__",)
    next_functions = ()
    _name = ""                       # where it is not the class's

    def name(self):
        """`AddBackward0` for aten::add."""
        return self._name or type(self).__name__

    def __call__(self, *args):
        raise RuntimeError("there is no autograd engine in this library")

    def __repr__(self):
        return f"<{type(self).__name__} object at {hex(id(self))}>"


cdef dict node_types = {}            # an operator's or a node's name -> the class of its nodes


def new_node(str name not None):
    """A node of that name: each has a class of its own, as in PyTorch."""
    kind = node_types.get(name)
    if kind is None:
        own = {"__slots__": (), "__module__": "builtins", "_name": name}
        kind = node_types[name] = type(name.rpartition(":")[2], (Node,), own)
    return kind()


cdef object node_of(OperatorEntry e):
    """A node of an operator, whose name is made once."""
    operator = qualified_name(e)
    kind = node_types.get(operator)
    if kind is None:
        node = new_node(backward_name(operator.partition("::")[2]))
        node_types[operator] = type(node)
        return node
    return kind()


cdef frozenset not_differentiable = NOT_DIFFERENTIABLE
cdef frozenset without_derivative = WITHOUT_DERIVATIVE
cdef frozenset outs_without_formula = OUTS_WITHOUT_FORMULA
cdef dict unfollowed = UNFOLLOWED
cdef bint marks_operators_of_others = True


def _get_autograd_fallback_mode():
    """What happens to outputs of library operators without an autograd kernel: "warn" or "nothing"."""
    return "warn" if marks_operators_of_others else "nothing"


def _set_autograd_fallback_mode(str mode not None):
    """Set it: "warn" (they require grad, and backward() raises) or "nothing" (they stay as they are). RuntimeError for another."""
    global marks_operators_of_others
    if mode not in ("warn", "nothing"):
        raise RuntimeError(f"autograd fallback mode {mode!r}: expected 'warn' or 'nothing'")
    marks_operators_of_others = mode == "warn"


cdef int check_read(OperatorEntry e, PyObject** args) except -1:
    """RuntimeError when the derivative would keep a tensor of inference mode (SavedVariable), or when that of an argument is
    unknown."""
    cdef int i
    cdef bint inference
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        inference = False
        for t in <list>args[i] if isinstance(<object>args[i], list) else [<object>args[i]]:
            if isinstance(t, Tensor):
                inference = is_of_inference(<Tensor>t) or inference
        if inference:
            refuse_kept(e, args, kept_arguments(e.name.partition("::")[2]), <object>e.sig.args[i].name)
    return 0


cdef int check_followed(OperatorEntry e, PyObject** args, tuple names) except -1:
    cdef int i
    for i in range(e.sig.n_args):
        if <object>e.sig.args[i].name in names and any_requires_grad(<object>args[i]):
            raise RuntimeError(f"{qualified_name(e)}: is not differentiable with respect to argument "
                               f"'{<object>e.sig.args[i].name}', which requires grad\n  {e._schema_text}")
    return 0


cdef bint is_of_inference(Tensor t) except -1:
    if t.c_base is not None and t.c_flags & TF_VIEW_MARKS and needs_grad(t):
        grad_fn_of(t)
    return t.c_flags & TF_INFERENCE != 0


cdef int refuse_kept(OperatorEntry e, PyObject** args, tuple kept, object name) except -1:
    """Of several, one is kept for the gradients of the others."""
    cdef int i
    cdef bint read = len(kept) == 1
    if name not in kept:
        return 0
    for i in range(e.sig.n_args):
        other = <object>e.sig.args[i].name
        if other != name and other in kept and any_requires_grad(<object>args[i]):
            read = True
    if read:
        raise RuntimeError(f"{qualified_name(e)}: Inference tensors cannot be saved for backward: argument '{name}'; clone it "
                           f"first\n  {e._schema_text}")
    return 0


cdef PyObject* call_autograd(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Redispatch below autograd; differentiable outputs of inputs that require grad require grad too."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef bint record = ts.grad_mode and requires_grad_somewhere(e, args) and e.name not in without_derivative
    cdef PyObject* r
    if record and e.flags & OF_OUT:
        record = records_out(e, args)
    elif record and e.flags & OF_MUTABLE:
        if e.name == "aten::detach_":
            cut_off(<Tensor>args[0])              # at this key alone: neither modes nor subclasses see it
            return give(<object>args[0])
        check_writable(e, args)
        if e.emitted != NULL:
            check_read(e, args)
            keep_self(e, args)
    if record and e.name in unfollowed:
        check_followed(e, args, <tuple>unfollowed[e.name])
    if e.emitted != NULL:
        ts.excluded |= KS_AUTOGRAD
    r = redispatch(e, ks & AFTER_AUTOGRAD, args)
    ts.excluded = excluded
    result = take(r)
    if record and (e.emitted != NULL or marks_operators_of_others) and e.name not in not_differentiable:
        if e.emitted != NULL and not e.flags & OF_MUTABLE and has_differentiable(result):
            check_read(e, args)
        mark_outputs(e, result)
        if e.sig.n_rets == 0 and e.flags & OF_MUTABLE:
            mark_written(e, args)
        if e.emitted != NULL:
            keep_results(e, args, result)
    return give(result)


cdef int cut_off(Tensor t) except -1:
    if t.c_flags & TF_IS_VIEW:
        raise refused("a view cannot be detached in place: use detach()")
    if not tls().inference_mode:
        t.c_flags &= ~<uint32_t>TF_REQUIRES_GRAD
        t.c_autograd = None
    return 0


cdef bint records_out(OperatorEntry e, PyObject** args) except -1:
    """Whether an out variant marks what it writes: one that no formula knows does (autogradNotImplementedFallback).

    RuntimeError for one whose operator has a derivative.
    """
    cdef bint known = e.emitted == NULL or not (e.tags & TAG_generated or qualified_name(e) in outs_without_formula)
    if (e.emitted == NULL or e.name not in not_differentiable and writes_differentiable(e, args)) and known:
        raise RuntimeError(f"{qualified_name(e)}: functions with out=... arguments don't support automatic differentiation, "
                           f"but one of the arguments requires grad\n  {e._schema_text}")
    if not known and e.sig.n_rets > 0 and e.name not in not_differentiable:
        check_writable(e, args)
    return not known and e.sig.n_rets > 0


cdef bint writes_differentiable(OperatorEntry e, PyObject** args) except -1:
    """Whether a tensor that is written to could have a gradient; lists count as if one could."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE and not (isinstance(<object>args[i], Tensor) and not is_differentiable(<Tensor>args[i])):
            return True
    return False


cdef bint requires_grad_somewhere(OperatorEntry e, PyObject** args) except -1:
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_TENSOR and any_requires_grad(<object>args[i]):
            return True
    return False


cdef bint any_requires_grad(object value) except -1:
    """Whether a tensor, or one in a list of tensors, does."""
    if isinstance(value, list):
        for t in <list>value:
            if isinstance(t, Tensor) and needs_grad(<Tensor>t):
                return True
        return False
    return isinstance(value, Tensor) and needs_grad(<Tensor>value)


def _any_requires_grad(*args, **kwargs):
    """Whether an argument requires grad; lists of tensors are looked into, no other containers."""
    for value in (*args, *kwargs.values()):
        if any_requires_grad(value):
            return True
    return False


cdef int gather_storages(object value, set found) except -1:
    if isinstance(value, Tensor):
        if (<Tensor>value).c_storage is not None:
            found.add((<Tensor>value).c_storage)
    elif isinstance(value, (list, tuple)):
        for v in value:
            gather_storages(v, found)
    return 0


cdef bint shares_storage(object value, set found) except -1:
    """Whether a tensor in `value` has one of the storages found; its own is one from now on."""
    if isinstance(value, (list, tuple)):
        return any([shares_storage(v, found) for v in value])
    if isinstance(value, Tensor) and (<Tensor>value).c_storage is not None:
        if (<Tensor>value).c_storage in found:
            return True
        found.add((<Tensor>value).c_storage)
    return False


def _any_output_is_alias_to_input_or_output(args, kwargs, outs):
    """Whether a result shares its storage with an argument or another result; lists and tuples are looked into."""
    cdef set found = set()
    if not isinstance(outs, tuple):
        return False
    if isinstance(args, tuple):
        gather_storages(args, found)
    if isinstance(kwargs, dict):
        gather_storages(list((<dict>kwargs).values()), found)
    return shares_storage(outs, found)


def follow_view(Tensor view not None):
    """Let gradients follow writes to a view: whoever made it below autograd answers for its formula."""
    view.c_flags &= ~<uint32_t>TF_VIEW_MARKS


cdef int check_writable(OperatorEntry e, PyObject** args) except -1:
    """RuntimeError for leaves, and for views through which autograd could not follow the write (check_inplace)."""
    cdef int i
    if e.name == "aten::resize_" or e.name == "aten::resize_as_":
        if needs_grad(<object>args[0]):
            raise RuntimeError(f"{qualified_name(e)}: cannot resize variables that require grad\n  {e._schema_text}")
        return 0
    if e.emitted == NULL:
        return 0
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE and e.sig.args[i].kind == AK_TENSOR:
            for written in <list>args[i] if isinstance(<object>args[i], list) else [<object>args[i]]:
                if isinstance(written, Tensor):
                    check_written(e, <Tensor>written)
    return 0


cdef int check_written(OperatorEntry e, Tensor t) except -1:
    if t.c_flags & TF_VIEW_MARKS:
        raise RuntimeError(f"{qualified_name(e)}: A view was created {origin_of(t)} and is being modified inplace while "
                           f"gradients are recorded; write to a copy\n  {e._schema_text}")
    if needs_grad(t) and (grad_fn_of(t) is None or (t.c_base is not None and (<Tensor>t.c_base).c_autograd is None)):
        what = "a leaf Variable" if t.c_base is None else "a view of a leaf Variable"
        raise RuntimeError(f"{qualified_name(e)}: {what} that requires grad is being used in an in-place operation.\n"
                           f"  {e._schema_text}")
    return 0


cdef str origin_of(Tensor t):
    if t.c_flags & TF_VIEW_INFERENCE:
        return "in inference mode"
    return "in no_grad mode" if t.c_flags & TF_VIEW_NO_GRAD else "by a function that returns several views"


def grad_fn_of(Tensor t not None):
    """The node that made `t`. A view's is made anew after a write to its memory, unless autograd could not follow that.

    RuntimeError for such a view (handle_view_on_rebase).
    """
    if t.c_base is None or t.c_seen_version == get_version(t):
        return t.c_autograd
    if t.c_autograd is None and not (<Tensor>t.c_base).c_flags & TF_REQUIRES_GRAD:
        return t.c_autograd
    if t.c_flags & TF_VIEW_MARKS:
        raise RuntimeError(f"A view was created {origin_of(t)} and its base or another view was modified: no gradient is known. "
                           f"Make the view and write to it both with gradients recorded, or both without")
    set_grad_fn(t, new_node("AsStridedBackward0"))
    return t.c_autograd


def set_grad_fn(Tensor t not None, node):
    """Make a tensor of floating or complex type an output of `node`; others stay as they are."""
    if is_differentiable(t):
        begin_grad(t)
        t.c_autograd = node
        t.c_seen_version = get_version(t)


cdef bint has_differentiable(object result) except -1:
    if isinstance(result, (tuple, list)):
        return any([has_differentiable(t) for t in result])
    return isinstance(result, Tensor) and is_differentiable(<Tensor>result)


cdef int mark_written(OperatorEntry e, PyObject** args) except -1:
    """What has no results marks what it wrote: of lists each tensor that gradients reach (_foreach_add_)."""
    cdef int i
    for i in range(e.sig.n_args):
        if not e.sig.args[i].flags & AF_WRITE:
            continue
        if e.emitted == NULL or not isinstance(<object>args[i], list):
            mark_outputs(e, <object>args[i])
            continue
        for place, t in enumerate(<list>args[i]):
            if requires_grad_at(e, args, "", place):
                mark_outputs(e, t)
    return 0


cdef int mark_outputs(OperatorEntry e, object result, object node=None) except -1:
    if isinstance(result, (tuple, list)):
        node = node_of(e)               # one for all
        formula = e.emitted != NULL and isinstance(result, tuple) and not e.flags & OF_OUT
        plain = plain_results(e.name.partition("::")[2]) if formula else ()
        for place, t in enumerate(result):
            if place not in plain:
                mark_outputs(e, t, node)
    elif isinstance(result, Tensor):
        mark_output(e, <Tensor>result, node)
    return 0


cdef int mark_output(OperatorEntry e, Tensor t, object node) except -1:
    if e.emitted == NULL and t.c_flags & TF_REQUIRES_GRAD:
        return 0                 # what runs below recorded gradients itself
    if e.emitted != NULL and t.c_base is None and e.flags & (OF_ALIASING | OF_MUTABLE) == OF_ALIASING:
        return 0                 # the same memory and no view: view.dtype
    if is_differentiable(t):
        if t.c_base is not None and e.flags & OF_MUTABLE:
            set_grad_fn(t.c_base, new_node("torch::autograd::CopySlices"))
            node = new_node("AsStridedBackward0")           # it views what was written so
        set_grad_fn(t, node_of(e) if node is None else node)
    return 0


# ---- conjugate, negative, zero tensors -------------------------------------------------------------------------------

# These read or carry the bit themselves.
cdef frozenset bit_aware = frozenset("aten::" + n for n in (
    "copy_", "clone", "_conj", "conj", "resolve_conj", "resolve_neg", "_neg_view", "empty_like", "zeros_like", "ones_like",
    "full_like", "rand_like", "randn_like", "new_empty", "new_empty_strided", "new_zeros", "new_ones", "new_full", "zero_",
    "fill_", "_to_copy", "view_as_real", "is_same_size"))


cdef PyObject* call_math_bit(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Views, in place too, and bit-aware operators see the bit; others get inputs with their values worked out."""
    cdef OperatorEntry e = <OperatorEntry>op
    cdef uint64_t bit = own_bit(k)
    cdef PyObject* plain[64]
    cdef list made = []
    cdef list written = []
    cdef int i
    ks &= (bit - 1) | KS_PythonDispatcher
    if bit == ZERO_BIT and e.flags & OF_MUTABLE:
        check_written_zeros(e, args)
    if e.name in bit_aware or e.tags & TAG_inplace_view or (e.flags & OF_ALIASING and not e.flags & OF_MUTABLE):
        return give(take(redispatch(e, ks, args)))
    for i in range(e.sig.n_args):
        value = <object>args[i]
        if e.sig.args[i].kind == AK_TENSOR:
            value = plain_values(value, bit)
            if value is not <object>args[i]:
                made.append(value)
                if e.sig.args[i].flags & AF_WRITE:
                    written.append((<object>args[i], value))
        plain[i] = <PyObject*>value if value is not <object>args[i] else args[i]
    result = take(redispatch(e, ks, plain))
    for original, stand_in in written:
        write_back(original, stand_in)
        if result is stand_in:
            result = original
        elif isinstance(result, tuple):
            result = tuple([original if r is stand_in else r for r in <tuple>result])
    return give(result)


cdef int check_written_zeros(OperatorEntry e, PyObject** args) except -1:
    """Zeros without memory are not written."""
    cdef int i
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE:
            for t in <object>args[i] if isinstance(<object>args[i], list) else [<object>args[i]]:
                if isinstance(t, Tensor) and (<Tensor>t).c_keys & ZERO_BIT:
                    raise RuntimeError(f"{qualified_name(e)}: zeros without memory cannot be written: clone() them first\n"
                                       f"  {e._schema_text}")
    return 0


cdef int write_back(object original, object stand_in) except -1:
    """What was computed for a written argument, into it; a list has stand-ins only for the tensors with the bit."""
    if isinstance(original, list):
        for t, plain in zip(<list>original, <list>stand_in):
            if t is not plain:
                write_back(t, plain)
        return 0
    if original.shape != stand_in.shape:
        original.resize_(stand_in.shape)        # an out that did not fit: the call warned of it
    original.copy_(stand_in)
    return 0


cdef object plain_values(object value, uint64_t bit):
    if isinstance(value, Tensor):
        if not (<Tensor>value).c_keys & bit:
            return value
        copy = value.clone()            # a handler's may keep the bits
        return copy.resolve_conj().resolve_neg() if copy.is_conj() or copy.is_neg() else copy
    if isinstance(value, list) and any([isinstance(t, Tensor) and (<Tensor>t).c_keys & bit for t in value]):
        return [plain_values(t, bit) for t in value]
    return value


# ---- the others ------------------------------------------------------------------------------------------------------

cdef PyObject* pass_on(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Nothing to do at this key: the next one serves."""
    cdef uint64_t bit = own_bit(k)
    return give(take(redispatch(<OperatorEntry>op, ks & ((bit - 1) | KS_PythonDispatcher), args)))


cdef PyObject* keep_snapshot(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Note the thread's sets for `_RestorePythonTLSSnapshot` in the handler that this call is on its way to.

    What an outer call noted is overwritten, and nothing is noted afterwards (pythonTLSSnapshotFallback).
    """
    cdef ThreadState* ts = tls()
    cdef PyObject* r
    ts.has_snapshot = True
    ts.snapshot_included = ts.included
    ts.snapshot_excluded = ts.excluded
    r = redispatch(<OperatorEntry>op, ks & AFTER_SNAPSHOT, args)
    ts.has_snapshot = False
    return give(take(r))


cdef PyObject* no_meta_kernel(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef OperatorEntry e = <OperatorEntry>op
    raise NotImplementedError(
        f"{qualified_name(e)}: called with Meta tensors, but there is no fake impl or Meta kernel registered for "
        f"this operator{module_to_import(e)}\n  {e._schema_text}")


cdef str module_to_import(OperatorEntry e):
    """What the operator's definition says of the module that has its Python kernels (`set_python_module`)."""
    named = python_modules.get(qualified_name(e))
    return f"; import {named[0]}, which its definition names ({named[1]})" if named is not None else ""


cdef PyObject* no_transform(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef OperatorEntry e = <OperatorEntry>op
    raise NotImplementedError(
        f"{qualified_name(e)}: the key {k_name(k)} belongs to function transforms, which this library does not have\n"
        f"  {e._schema_text}")


cdef str k_name(Kernel* k):
    return DK_NAME_BY_VALUE[(<KernelObject>k.owner).key].decode()


cdef dict value_by_name = {DK_NAME_BY_VALUE[value].decode(): value for value in range(DK_NUM_VALUES)
                           if DK_NAME_BY_VALUE[value] != NULL}       # those too that no registration can name


# The files of ATen that register these fallbacks, by how the key's name begins: programs look for them in tables.
cdef tuple ATEN_SOURCES = (
    ("Autograd", "VariableFallbackKernel"), ("ADInplaceOrView", "VariableFallbackKernel"),
    ("BackendSelect", "BackendSelectFallbackKernel"), ("Python", "PythonFallbackKernel"),
    ("PreDispatch", "PythonFallbackKernel"), ("Meta", "MetaFallbackKernel"),
    ("Functionalize", "FunctionalizeFallbackKernel"), ("Conjugate", "ConjugateFallback"), ("Negative", "NegateFallback"),
    ("ZeroTensor", "ZeroTensorFallback"), ("Autocast", "autocast_mode"), ("Tracer", "TraceTypeManual"),
    ("FuncTorchDynamicLayer", "DynamicLayer"), ("FuncTorchGradWrapper", "TensorWrapper"),
    ("FuncTorchVmapMode", "VmapModeRegistrations"), ("FuncTorchBatched", "LegacyBatchingRegistrations"),
    ("BatchedNestedTensor", "LegacyBatchingRegistrations"), ("Batched", "LegacyBatchingRegistrations"),
    ("VmapMode", "VmapModeRegistrations"))


cdef str place_of(str key):
    """Where tables say that a key's fallback was registered; a key that is not PyTorch's has no file of ATen."""
    here = "dispatch/_C/fallbacks.pyx"
    for start, source in ATEN_SOURCES:
        if key.startswith(start):
            return f"{here}/{source}.cpp"
    return here


cdef int add_fallback(str key, boxed_fn call, uint32_t flags) except -1:
    cdef int value = value_by_name[key]
    cdef KernelObject k = new_kernel(None, value, place_of(key), flags)
    k.k.call = call
    set_fallback(DK_INDEX_BY_VALUE[value], k)
    return 0


cdef object functionalize_loader = None


def _set_functionalize_loader(loader):
    """Register what loads the kernel of the Functionalize key, which takes this fallback's place (`functional`)."""
    global functionalize_loader
    functionalize_loader = loader


cdef PyObject* load_functionalize(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """The first call that reaches the key. RuntimeError where the loader leaves this in place."""
    check_depth(" while functionalization is loaded")
    functionalize_loader()
    if k.call == <boxed_fn>load_functionalize:
        raise RuntimeError("functionalization was not loaded: _set_functionalize_loader was given something else")
    return k.call(k, op, ks, args)


cdef int add_all() except -1:
    for index in range(DK_NUM_RUNTIME):
        if DK_FALLBACK_BY_INDEX[index] == 2:
            add_fallback(DK_NAME_BY_VALUE[DK_VALUE_BY_INDEX[index]].decode(), NULL, KF_FALLTHROUGH)
    for key in ("AutogradOther", "AutogradCPU", "AutogradCUDA", "AutogradXLA", "AutogradMPS", "AutogradXPU", "AutogradHPU",
                "AutogradLazy", "AutogradMTIA", "AutogradMAIA", "AutogradPrivateUse1", "AutogradMeta"):
        add_fallback(key, <boxed_fn>call_autograd, KF_IDLE_NO_GRAD)
    for key in ("Conjugate", "Negative", "ZeroTensor"):
        add_fallback(key, <boxed_fn>call_math_bit, 0)
    for key in ("PreDispatch", "Tracer"):
        add_fallback(key, <boxed_fn>pass_on, KF_IDLE)
    add_fallback("PythonTLSSnapshot", <boxed_fn>keep_snapshot, 0)
    for key in ("FuncTorchDynamicLayerBackMode", "FuncTorchDynamicLayerFrontMode", "FuncTorchGradWrapper", "FuncTorchBatched",
                "BatchedNestedTensor", "Batched"):
        add_fallback(key, <boxed_fn>no_transform, 0)
    add_fallback("Functionalize", <boxed_fn>load_functionalize, 0)
    add_fallback("PythonDispatcher", <boxed_fn>call_python_dispatcher, 0)
    add_fallback("Meta", <boxed_fn>no_meta_kernel, 0)
    add_fallback("Python", <boxed_fn>python_fallback, 0)
    return 0


add_all()
_set_tensor_hook("grad_fn", grad_fn_of)
