"""Kernels that are another operator: out variants of functional ones, second names, numbers in the place of tensors, and
what serves the backends that have no kernel of their own.

The YAML says `autogen_of`, `alias_of`, `number_of` or `elsewhere`, or has an out variant for a structured operator; codegen emits
the kind of kernel and the index of the operator that is meant, whose entry the loaders here look up when such a kernel is first
called. The other operator is called through the dispatcher, with arguments in the order of its schema and of its types.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dispatch._C.arrays cimport new_wrapped_number
from dispatch._C.dispatcher cimport call_boxed, entry_by_index, load_cython, load_kernel, set_loader
from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.emitted cimport (
    AF_OPTIONAL, AF_OUT, AF_WRITE, KK_ALIAS, KK_AUTOGEN_FUNCTIONAL, KK_AUTOGEN_OUT, KK_DEFAULT, KK_NUMBER, OF_INPLACE, OF_OUT,
    SV_FUNCTIONAL, SV_OUT,
)
from dispatch._C.errors cimport refused
from dispatch._C.operator cimport Kernel, KernelObject, OperatorEntry, boxed_fn, qualified_name
from dispatch._C.placement cimport check_mix
from dispatch._C.references cimport give, take
from dispatch._C.structured cimport (
    CAST_EXACT, CAST_SAFE, META_KEY, OVERLAP_ANY, Spec, check_out_device, check_output, device_tensor, init_spec, is_meta,
    load_structured,
)
from dispatch._C.tags cimport TAG_view_copy
from dispatch._C.tensor cimport Tensor


cdef PyObject* call_autogen_out(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Call the functional operator, then resize and copy into the out arguments."""
    cdef OperatorEntry functional = <OperatorEntry>(<KernelObject>k.owner).functor
    return give(copy_results(<OperatorEntry>op, functional, args, CAST_SAFE | OVERLAP_ANY if casts(k, functional) else CAST_EXACT))


cdef inline bint casts(Kernel* k, OperatorEntry functional) except -1:
    """Whether the kernel stands for a reference of PyTorch's that casts into what it is given; those with `exact_dtype` do not."""
    return (<KernelObject>k.owner).key == META_KEY and not functional.tags & TAG_view_copy and functional.name != "aten::norm"


cdef object copy_results(OperatorEntry e, OperatorEntry functional, PyObject** args, int cast):
    """`cast`: which dtypes the out arguments may have."""
    cdef PyObject* plain[64]
    cdef int i
    cdef list outs = [], keep = []
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_OUT:
            outs.append(<object>args[i])
    check_mix(e, args, <int>len(outs), False)
    place_arguments(e, functional, args, plain, keep)
    results = take(call_boxed(functional, plain))
    if len(outs) == 1 and not isinstance(results, tuple):
        results = results,
    for out, result in zip(outs, results):           # a functional form of what writes to more than its output has more results
        if result is not None:
            copy_result(e, out, result, cast)
    if e.sig.n_rets == 0:
        return None
    return outs[0] if len(outs) == 1 else tuple(outs)


cdef int place_arguments(OperatorEntry e, OperatorEntry functional, PyObject** args, PyObject** plain, list keep) except -1:
    """Arguments of `functional` by name out of those of `e`; the dtype, layout and device that only it has are the output's."""
    cdef int i, j
    for i in range(functional.sig.n_args):
        plain[i] = functional.sig.args[i].dflt
        for j in range(e.sig.n_args):
            if e.sig.args[j].name == functional.sig.args[i].name:
                plain[i] = args[j]
                break
        else:
            option = option_of_output(e, args, <object>functional.sig.args[i].name)
            if option is not None:
                keep.append(option)
                plain[i] = <PyObject*>option
        if plain[i] == NULL and functional.sig.args[i].flags & AF_OPTIONAL:
            plain[i] = <PyObject*>None
        if plain[i] == NULL:
            raise refused(f"has no argument '{<object>functional.sig.args[i].name}' for {qualified_name(functional)}")
    return 0


cdef object option_of_output(OperatorEntry e, PyObject** args, str name):
    """dtype, layout or device of the first out argument; None for any other name."""
    cdef int i
    if name != "dtype" and name != "layout" and name != "device":
        return None
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_OUT:
            return getattr(<object>args[i], name)
    return None


cdef int copy_result(OperatorEntry e, object out, object result, int cast) except -1:
    """Into a tensor, or into each of a list of tensors."""
    if not isinstance(out, list):
        return copy_tensor(e, out, <Tensor?>result, cast)
    if len(out) != len(result):
        raise refused(f"expected {len(result)} tensors to write to, got {len(out)}")
    for one, value in zip(<list>out, result):
        copy_tensor(e, one, <Tensor?>value, cast)
    return 0


cdef int copy_tensor(OperatorEntry e, Tensor out, Tensor r, int cast) except -1:
    cdef Spec s
    init_spec(&s)
    s.cast = cast
    s.ndim = r.c_ndim
    s.dtype = r.c_dtype
    memcpy(s.sizes, r.c_sizes, r.c_ndim * sizeof(int64_t))
    check_out_device(r.c_devtype, r.c_devindex, out)
    check_output(e, &s, out, True)
    out.copy_(r)
    return 0


cdef PyObject* call_autogen_functional(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Call the operator that writes to its arguments on clones of them."""
    return give(write_copy(<OperatorEntry>op, <OperatorEntry>(<KernelObject>k.owner).functor, args))


cdef object write_copy(OperatorEntry e, OperatorEntry inplace, PyObject** args):
    """Its results, then the clones that are none of them."""
    cdef PyObject* plain[64]
    cdef list copies = []
    cdef int i
    memcpy(plain, args, e.sig.n_args * sizeof(PyObject*))
    for i in range(e.sig.n_args):
        if inplace.sig.args[i].flags & AF_WRITE:
            copies.append(clone_of(<object>args[i]))
            plain[i] = <PyObject*>copies[len(copies) - 1]
    results = take(call_boxed(inplace, plain))
    if len(copies) == 1 and results is copies[0]:
        return results
    if results is None:
        results = ()
    elif not isinstance(results, tuple):
        results = results,
    copies = [*results, *[c for c in copies if not any([c is r for r in results])]]
    return copies[0] if len(copies) == 1 else tuple(copies)


cdef object clone_of(object given):
    return [t.clone() for t in <list>given] if isinstance(given, list) else given.clone()


cdef PyObject* call_alias(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) noexcept:
    """Call the operator whose second name this is. (The types of the two schemas are the same.)"""
    return call_boxed(<OperatorEntry>(<KernelObject>k.owner).functor, args)


cdef PyObject* call_number(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """Call the operator of tensors with the number as a wrapped one, which has no say in the dtype but by its category."""
    cdef KernelObject owner = <KernelObject>k.owner
    cdef PyObject* plain[64]
    cdef Tensor number = new_wrapped_number(<object>args[owner.slot])
    memcpy(plain, args, (<OperatorEntry>op).sig.n_args * sizeof(PyObject*))
    plain[owner.slot] = <PyObject*>number
    return give(take(call_boxed(<OperatorEntry>owner.functor, plain)))


# ---- kernels for every backend ---------------------------------------------------------------------------------------

cdef PyObject* call_default(Kernel* k, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """On the CPU and on meta the structured kernel; for the tensors of another backend, operators that it can be expected to have.

    As PyTorch's default_backend kernels of structured operators, and its hand-written CompositeExplicitAutograd ones.
    """
    cdef OperatorEntry e = <OperatorEntry>op
    cdef KernelObject owner = <KernelObject>k.owner
    cdef PyObject* like = device_tensor(e, args, e.sig.n_args)
    cdef Kernel shape_only
    if is_meta(k) or like != NULL and (<Tensor>like).c_devtype == DEV_META:
        shape_only = k[0]
        shape_only.body = NULL
        return owner.inner(&shape_only, op, ks, args)
    if k.body != NULL and (like == NULL or (<Tensor>like).c_devtype == DEV_CPU):
        return owner.inner(k, op, ks, args)
    if owner.elsewhere is None:
        return call_target(k, e, ks, args)
    return give(take(owner.elsewhere.k.call(&owner.elsewhere.k, op, ks, args)))


cdef PyObject* call_target(Kernel* k, OperatorEntry e, uint64_t ks, PyObject** args) except NULL:
    """The operator that `target` names: by its own variant and that of `e`, with outputs made here, a copy of self, or as it is."""
    cdef KernelObject owner = <KernelObject>k.owner
    cdef OperatorEntry target = entry_by_index(owner.set_index, owner.target)
    cdef PyObject* plain[64]
    cdef list keep = []
    if target.flags & OF_OUT and k.variant != SV_OUT:
        return fill_by_target(k, e, target, ks, args)
    if k.variant == SV_OUT and not target.flags & OF_OUT:
        return give(copy_results(e, target, args, CAST_EXACT))
    if target.flags & OF_INPLACE and k.variant == SV_FUNCTIONAL:
        return give(write_copy(e, target, args))
    place_arguments(e, target, args, plain, keep)
    return give(take(call_boxed(target, plain)))


cdef PyObject* fill_by_target(Kernel* k, OperatorEntry e, OperatorEntry target, uint64_t ks, PyObject** args) except NULL:
    """Outputs by the shape function, filled by the out variant, which has the same arguments before them."""
    cdef Kernel shape_only = k[0]
    cdef PyObject* plain[64]
    cdef int i, n = e.sig.n_args
    cdef object outputs
    shape_only.body = NULL
    outputs = take((<KernelObject>k.owner).inner(&shape_only, <PyObject*>e, ks, args))
    memcpy(plain, args, n * sizeof(PyObject*))
    if k.n_out == 1:
        plain[n] = <PyObject*>outputs
    else:
        for i in range(k.n_out):
            plain[n + i] = <PyObject*>(<tuple>outputs)[i]
    take(call_boxed(target, plain))
    return give(outputs)


# ---- loaders ---------------------------------------------------------------------------------------------------------

cdef int bind(KernelObject k, boxed_fn call) except -1:
    k.functor = entry_by_index(k.set_index, k.target)
    k.k.call = call
    return 0


cdef int load_autogen_out(OperatorEntry e, KernelObject k) except -1:
    return bind(k, <boxed_fn>call_autogen_out)


cdef int load_autogen_functional(OperatorEntry e, KernelObject k) except -1:
    return bind(k, <boxed_fn>call_autogen_functional)


cdef int load_alias(OperatorEntry e, KernelObject k) except -1:
    return bind(k, call_alias)


cdef int load_number(OperatorEntry e, KernelObject k) except -1:
    return bind(k, <boxed_fn>call_number)


cdef int load_default(OperatorEntry e, KernelObject k) except -1:
    if k.elsewhere is not None:
        load_kernel(e, k.elsewhere)
    if k.ref is None:
        load_cython(e, k)
    else:
        load_structured(e, k)
    k.inner = k.k.call           # at once: what imports lets other threads load the same kernel
    k.k.call = <boxed_fn>call_default
    return 0


set_loader(KK_AUTOGEN_OUT, load_autogen_out)
set_loader(KK_AUTOGEN_FUNCTIONAL, load_autogen_functional)
set_loader(KK_ALIAS, load_alias)
set_loader(KK_NUMBER, load_number)
set_loader(KK_DEFAULT, load_default)
