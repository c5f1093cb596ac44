"""What a custom operator's keys run, in C: its autograd layer, its version bumps, its backend kernel.

`CustomOpDef` registers these (torch._library.custom_ops, torch._library.autograd). None makes a Python frame of its own: a call
reaches the user's function from the dispatcher directly, and only a call that records a gradient formula goes through Python.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C.dispatcher cimport redispatch
from dispatch._C.emitted cimport AF_WRITE, AK_TENSOR
from dispatch._C.fallbacks cimport bump_written, requires_grad_somewhere
from dispatch._C.keys cimport KS_ADInplaceOrView, KS_AUTOGRAD, KS_AutogradOther, KS_PythonDispatcher, new_key_set
from dispatch._C.native_functor cimport NativeFunctor
from dispatch._C.operator cimport Kernel, OperatorEntry, boxed_fn, qualified_name
from dispatch._C.overload cimport OpOverload
from dispatch._C.python_kernel cimport call_functor, python_arguments
from dispatch._C.references cimport give, take
from dispatch._C.tensor cimport Tensor
from dispatch._C.tls cimport ThreadState, tls

import inspect

cdef uint64_t AFTER_AUTOGRAD = (KS_AutogradOther - 1) | KS_PythonDispatcher
cdef uint64_t AFTER_ADINPLACE = (KS_ADInplaceOrView - 1) | KS_PythonDispatcher


# ---- autograd --------------------------------------------------------------------------------------------------------

cdef class AutogradKernel(NativeFunctor):
    """The Autograd kernel of an operator with a formula (torch._library.autograd.make_autograd_impl)."""
    cdef object record               # record(keyset, args, kwargs): runs the forward and keeps what the formula needs
    cdef bint is_out


cdef PyObject* call_autograd(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef AutogradKernel self = <AutogradKernel>k.functor
    cdef OperatorEntry e = <OperatorEntry>op
    cdef ThreadState* ts = tls()
    cdef uint64_t excluded = ts.excluded
    cdef PyObject* r
    if ts.grad_mode and requires_grad_somewhere(e, args):
        if self.is_out:
            raise RuntimeError(f"{qualified_name(e)}: functions with out=... arguments don't support automatic differentiation, "
                               f"but one of the arguments requires grad\n  {e._schema_text}")
        a, kw = python_arguments(e, args)
        return give(self.record(new_key_set(ks & AFTER_AUTOGRAD), a, kw))
    ts.excluded |= KS_AUTOGRAD
    r = redispatch(e, ks & AFTER_AUTOGRAD, args)
    ts.excluded = excluded
    return give(take(r))


def new_autograd_kernel(OpOverload op not None, record, bint is_out):
    """A kernel for the Autograd key of `op`; `record` serves calls whose tensors require grad."""
    cdef AutogradKernel k = AutogradKernel.__new__(AutogradKernel)
    k.fn = <boxed_fn>call_autograd
    k.entry = op.entry
    k.record = record
    k.is_out = is_out
    return k


# ---- versions --------------------------------------------------------------------------------------------------------

cdef PyObject* call_versions(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Bump what the operator says that it writes, then run it: before it runs, as PyTorch does for custom operators."""
    bump_written(<OperatorEntry>op, args)
    return give(take(redispatch(<OperatorEntry>op, ks & AFTER_ADINPLACE, args)))


def new_version_kernel(OpOverload op not None):
    """A kernel for the ADInplaceOrView key of an operator that mutates."""
    cdef NativeFunctor k = NativeFunctor.__new__(NativeFunctor)
    k.fn = <boxed_fn>call_versions
    k.entry = op.entry
    return k


# ---- backends --------------------------------------------------------------------------------------------------------

cdef enum Promise:
    NEW_OUTPUTS              # no result shares memory with an argument or another result
    RETURNS_FIRST            # Tag.inplace: the result is the first argument
    RETURNS_OUT              # Tag.out: the results are the written keyword-only arguments
    VIEWS                    # the schema says what aliases what: nothing to check


cdef class BackendKernel(NativeFunctor):
    """The kernel of a device type: the user's function, and a check of what its schema promises of the results."""
    cdef dict functions              # device type -> function: the newest registration serves
    cdef set disabled                # device types whose function is switched off
    cdef object initial              # what runs instead
    cdef object device_type          # None: every device
    cdef int promise


cdef PyObject* call_backend(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    cdef BackendKernel self = <BackendKernel>k.functor
    cdef OperatorEntry e = <OperatorEntry>op
    cdef Kernel plain
    cdef object function = self.initial if self.device_type in self.disabled else self.functions[self.device_type]
    plain.functor = <PyObject*>function
    plain.flags = 0
    result = take(call_functor(&plain, op, ks, args))
    if e.sig.n_rets > 1 and (type(result) is not tuple or len(<tuple>result) != e.sig.n_rets):
        got = len(<tuple>result) if type(result) is tuple else 0 if result is None else 1
        raise TypeError(f"{qualified_name(e)} (implemented in {inspect.getmodule(function)}): must return "
                        f"{e.sig.n_rets} values, got {got}\n  {e._schema_text}")
    if self.promise == NEW_OUTPUTS:
        check_new(e, args, result, function)
    elif self.promise == RETURNS_FIRST:
        if <PyObject*>result != args[0]:
            break_promise(e, function, "an operator tagged with Tag.inplace must return its first argument")
    elif self.promise == RETURNS_OUT:
        check_out(e, args, result, function)
    return give(result)


def new_backend_kernel(OpOverload op not None, dict functions not None, set disabled not None, initial, device_type,
                       bint is_inplace, bint is_out, bint is_view):
    """A kernel that runs `functions[device_type]`, or `initial` while the type is in `disabled`."""
    cdef BackendKernel k = BackendKernel.__new__(BackendKernel)
    k.fn = <boxed_fn>call_backend
    k.entry = op.entry
    k.functions = functions
    k.disabled = disabled
    k.initial = initial
    k.device_type = device_type
    k.promise = RETURNS_FIRST if is_inplace else RETURNS_OUT if is_out else VIEWS if is_view else NEW_OUTPUTS
    return k


cdef int break_promise(OperatorEntry e, object function, str what) except -1:
    raise RuntimeError(f"{qualified_name(e)} (implemented in {inspect.getmodule(function)}): {what}\n  {e._schema_text}")


cdef int check_out(OperatorEntry e, PyObject** args, object result, object function) except -1:
    cdef int i, n = 0
    cdef tuple results = result if type(result) is tuple else (result,)
    for i in range(e.sig.n_pos, e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE:
            if n >= len(results) or results[n] is not <object>args[i]:
                break_promise(e, function, "an operator tagged with Tag.out must return its mutable keyword-only arguments")
            n += 1
    return 0


cdef bint holds(object value, Tensor t) except -1:
    """Whether `value` is, or lists, a tensor with the storage of `t`."""
    if isinstance(value, Tensor):
        return (<Tensor>value).c_storage is t.c_storage
    if isinstance(value, (list, tuple)):
        for v in value:
            if holds(v, t):
                return True
    return False


cdef int check_new_tensor(OperatorEntry e, PyObject** args, Tensor t, list seen, object function) except -1:
    cdef int i
    if t.c_storage is None:
        return 0
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_TENSOR and holds(<object>args[i], t):
            break_promise(e, function, f"a result may not alias an argument, and shares memory with "
                          f"'{<object>e.sig.args[i].name}': return a clone of it")
    if holds(seen, t):
        break_promise(e, function, "results may not alias each other, and two share memory: return a clone of one")
    seen.append(t)
    return 0


cdef int check_new(OperatorEntry e, PyObject** args, object result, object function) except -1:
    """RuntimeError when a result aliases an argument or another result (torch._library.utils.check_aliasing_constraint)."""
    cdef list seen = []
    for r in result if type(result) is tuple else (result,):
        if isinstance(r, Tensor):
            check_new_tensor(e, args, <Tensor>r, seen, function)
        elif isinstance(r, list):
            for t in <list>r:
                if isinstance(t, Tensor):
                    check_new_tensor(e, args, <Tensor>t, seen, function)
    return 0
