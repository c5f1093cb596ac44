"""Fresh runs of an operator on fake tensors (torch._subclasses.fake_tensor.FakeTensorMode._dispatch_impl).

The order is PyTorch's: subclasses that are not ours decline; numbers and constants are worked out; real tensors are made fake or
refused; then the user's fake kernel, an implementation registered for the operator, what depends on values, the Meta kernel, and
where there is none the fallback. Outputs of the Meta kernel get their device here.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dispatcher cimport call_boxed, need_entry
from dispatch._C.dtypes cimport DEV_META
from dispatch._C.emitted cimport AK_TENSOR, OF_MUTABLE, OF_OUT
from dispatch._C.keys cimport KS_Meta, KS_Python, KS_PythonTLSSnapshot
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.python_kernel cimport get_overload, new_checked_result, python_arguments
from dispatch._C.references cimport raised, take
from dispatch._C.tags cimport (
    TAG_data_dependent_output, TAG_dynamic_output_shape, TAG_inplace_view, TAG_nondeterministic_seeded,
)
from dispatch._C.tensor cimport TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_WRAPPED_NUMBER, Tensor
from dispatch._C.tls cimport ThreadState
from dispatch.fake.constants cimport constant_result, drop_written_constants, from_numbers, may_be_constant
from dispatch.fake.converter cimport FakeTensorConverter
from dispatch.fake.devices cimport device_at, output_device
from dispatch.fake.fake_tensor cimport FakeTensor
from dispatch.fake.settings cimport FakeState

from dispatch._C.keys import DispatchKey
from dispatch.fake.exceptions import (
    DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException,
)
from dispatch.fake.fallback import fall_back
from dispatch.fake.implementations import op_implementations_checks, op_implementations_dict
from dispatch.fake.real_tensors import attach, forget, real_results
from dispatch.fake.registered import run_fake_kernel, trivial_result
from dispatch.fake.settings import fake_tensor_tls
from dispatch.registry.fake_kernels import fake_kernels as all_fake_kernels

cdef uint64_t PYTHON_KEYS = KS_Python | KS_PythonTLSSnapshot
cdef dict fake_kernels = all_fake_kernels       # qualified name -> holder of the newest fake kernel; mostly empty
cdef object DECOMPOSED = DispatchKey.CompositeImplicitAutograd
cdef int COMPOSITE_IMPLICIT = int(DECOMPOSED)
cdef dict own_implementations = op_implementations_dict      # OpOverload -> function; mostly empty
cdef list chosen_implementations = op_implementations_checks # (which operators, function); mostly empty

cdef struct Survey:
    bint unknown                 # a subclass that is not ours
    bint real                    # a tensor that is not fake, or another mode's
    bint large                   # a real one of more than one element
    bint fake
    bint constants               # every fake tensor is a constant


cdef int survey_tensor(FakeState mode, object t, Survey* s) except -1:
    if type(t) is FakeTensor or isinstance(t, FakeTensor):
        if (<FakeTensor>t).c_mode is not mode:
            s.real = s.large = True
            return 0
        s.fake = True
        if (<FakeTensor>t).c_constant is None:
            s.constants = False
    elif (<Tensor>t).c_flags & TF_HAS_TORCH_DISPATCH:
        s.unknown = True
    elif not (<Tensor>t).c_flags & TF_WRAPPED_NUMBER:
        s.real = True
        if not may_be_constant(t):
            s.large = True
    return 0


cdef int survey(FakeState mode, OperatorEntry e, PyObject** args, Survey* s) except -1:
    """What kinds of tensors the call got."""
    cdef int i
    s.unknown = s.real = s.fake = s.large = False
    s.constants = True
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if isinstance(<object>args[i], Tensor):
            survey_tensor(mode, <object>args[i], s)
        elif isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    survey_tensor(mode, t, s)
    return 0


cdef inline bint is_lift(OperatorEntry e) except -1:
    return e.name == "aten::lift_fresh" or e.name == "aten::lift_fresh_copy"


cdef object fresh(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    if not mode.propagate_real_tensors:
        return run_afresh(mode, e, args, ts)
    a, kw = python_arguments(e, args)
    real = real_results(get_overload(e), a, kw)
    result = run_afresh(mode, e, args, ts)
    if result is not NotImplemented:
        if real is NotImplemented:
            forget(result)
        else:
            attach(get_overload(e), result, real)
    return result


cdef object run_afresh(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    cdef Survey s
    cdef PyObject* made[64]
    cdef list keep = []
    cdef bint lift
    survey(mode, e, args, &s)
    if s.unknown:
        return NotImplemented
    if not s.fake:
        lift = is_lift(e)
        if (lift or e.sig.numbers_as_tensors) and not s.large:
            result = from_numbers(mode, e, args, ts)
            if result is not NotImplemented:
                return result
        if lift and type(<object>args[0]) is Tensor:
            return (<FakeTensorConverter>mode.c_converter).convert(mode, <Tensor>args[0], False)
    elif s.constants and not s.real and not e.tags & TAG_nondeterministic_seeded and \
            (not e.tags & TAG_inplace_view or e.name == "aten::detach_"):
        result = constant_result(mode, e, args, ts)
        if result is not NotImplemented:
            return result
    if s.real:
        make_fake(mode, e, args, made, keep)
        args = made
    if e.flags & OF_MUTABLE:
        drop_written_constants(mode, e, args)
    if e.emitted == NULL or fake_kernels or own_implementations or chosen_implementations:
        result = registered_result(mode, e, args)
        if result is not NotImplemented:
            return result
    if e.tags & (TAG_data_dependent_output | TAG_dynamic_output_shape) or e.name in watched:
        result = by_value(mode, e, args)
        if result is not NotImplemented:
            return result
    return run_meta(mode, e, args, ts)


cdef object registered_result(FakeState mode, OperatorEntry e, PyObject** args):
    """What a user registered for the operator gives: a decomposition, a fake kernel, an implementation; NotImplemented without
    one."""
    cdef object holder = fake_kernels.get(qualified_name(e))
    cdef object op = get_overload(e)
    if e.emitted == NULL and (COMPOSITE_IMPLICIT in e.registrations or DECOMPOSED in op.py_kernels):
        a, kw = python_arguments(e, args)
        with mode:
            return op.decompose(*a, **kw)
    if holder is not None:
        a, kw = python_arguments(e, args)
        return new_checked_result(e, run_fake_kernel(mode, op, holder.kernel, a, kw))
    for implementation in implementations_of(op):
        a, kw = python_arguments(e, args)
        result = implementation(mode, op, *a, **kw)
        if result is not NotImplemented:
            return new_checked_result(e, result)
    return NotImplemented


cdef list implementations_of(object op):
    """What was registered for the operator: by name, then by functions that choose operators."""
    cdef list found = [own_implementations[op]] if op in own_implementations else []
    for chooses, implementation in chosen_implementations:
        if chooses(op):
            found.append(implementation)
    return found


# ---- real tensors ----------------------------------------------------------------------------------------------------

cdef int make_fake(FakeState mode, OperatorEntry e, PyObject** args, PyObject** made, list keep) except -1:
    """Replace real tensors by fake ones where the mode allows them; AssertionError where it does not."""
    cdef int i
    for i in range(e.sig.n_args):
        made[i] = args[i]
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        value = as_fake(mode, <FakeTensorConverter>mode.c_converter, e, e.tags & TAG_inplace_view != 0, <object>args[i])
        keep.append(value)
        made[i] = <PyObject*>value
    return 0


cpdef object as_fake(FakeState mode, FakeTensorConverter converter, object caller, bint changes_metadata, object value):
    if isinstance(value, list):
        return [as_fake(mode, converter, caller, changes_metadata, v) for v in value]
    if not isinstance(value, Tensor) or (<Tensor>value).c_flags & TF_WRAPPED_NUMBER:
        return value
    if isinstance(value, FakeTensor) and (<FakeTensor>value).c_mode is mode:
        return value
    if changes_metadata:
        raise not_fake(caller, "changes the metadata of its argument, which is no fake tensor of this mode")
    allowed = fake_tensor_tls.allow_non_fake_inputs_override
    if not (mode.allow_non_fake_inputs if allowed is None else allowed):
        if isinstance(value, FakeTensor):
            raise not_fake(caller, "Mixing fake modes NYI: got a fake tensor of another mode")
        raise not_fake(caller, "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
                       f"'allow_non_fake_inputs'. Found a real tensor of {value.dtype}{list(value.shape)}")
    return converter.convert(mode, <Tensor>value, False)


cdef object not_fake(object caller, str text):
    if not isinstance(caller, OperatorEntry):
        return AssertionError(f"{caller}: {text}")
    return AssertionError(f"{qualified_name(<OperatorEntry>caller)}: {text}\n  {(<OperatorEntry>caller)._schema_text}")


# ---- what depends on values ------------------------------------------------------------------------------------------

# Operators whose out= variants PyTorch's fake tensors refuse, and how: factories are called with a device, which these variants
# do not take; of the others, the Meta kernel in Python takes no `out`.
cdef frozenset FACTORIES = frozenset((
    "aten::empty_like", "aten::full_like", "aten::ones_like", "aten::rand_like", "aten::randint_like", "aten::randn_like",
    "aten::zeros_like", "aten::new_empty", "aten::new_empty_strided", "aten::new_full", "aten::new_ones", "aten::new_zeros",
))
cdef frozenset WITHOUT_OUT = frozenset((
    "aten::_adaptive_avg_pool3d_backward.out", "aten::_embedding_bag_dense_backward.out",
    "aten::_embedding_bag_per_sample_weights_backward.out", "aten::_weight_norm_interface.out", "aten::bucketize.Scalar_out",
    "aten::embedding_dense_backward.out", "aten::grid_sampler_3d_backward.out", "aten::quantize_per_tensor.out",
    "aten::quantize_per_tensor.tensor_qparams_out", "aten::quantize_per_tensor.tensors_out", "aten::resize_as.out",
))
# Kernels for the CPU alone, which PyTorch's fake tensors do not reach.
cdef frozenset CPU_ONLY = frozenset((
    "aten::_grid_sampler_2d_cpu_fallback", "aten::_grid_sampler_2d_cpu_fallback_backward",
))

# Not tagged, but of sizes that lengths decide: the second is, unless it is told its length.
cdef frozenset BY_LENGTHS = frozenset(("aten::_pack_padded_sequence", "aten::_padded_dense_to_jagged_forward"))

# Operators whose calls depend on values, or mix devices, only in some cases: looked at before they run.
cdef frozenset watched = frozenset(("aten::index", "aten::item", "aten::index_put", "aten::index_put_", "prim::device")) | \
    FACTORIES | CPU_ONLY | BY_LENGTHS | {name.partition(".")[0] for name in WITHOUT_OUT}


cdef object by_value(FakeState mode, OperatorEntry e, PyObject** args):
    """Raises for a call that depends on values that nobody knows; NotImplemented when metadata is enough."""
    cdef object first
    if e.name == "aten::_local_scalar_dense" or e.name == "aten::item":
        first = <object>args[0]
        value = first.item_memo if isinstance(first, FakeTensor) else None
        if value is not None:
            return value
        return by_symbol(mode, e, args, DataDependentOutputException)
    if e.name == "prim::device":
        return (<object>args[0]).device
    if e.flags & OF_OUT or e.name in CPU_ONLY:
        check_variant(e)
    if e.tags & TAG_data_dependent_output:
        return by_symbol(mode, e, args, DataDependentOutputException)
    if e.name == "aten::index_put" or e.name == "aten::index_put_":
        check_put_device(e, <Tensor>args[0], <Tensor>args[2])
    elif e.name == "aten::index" and is_dynamic(e, args):
        if e.sig.n_args > 2:                         # index.Tensor_out: PyTorch's fallback leaves `out` as it is
            return <object>args[e.sig.n_args - 1]
        if mode.shape_env is not None:
            return by_symbol(mode, e, args, DynamicOutputShapeException)
        raise DynamicOutputShapeException(get_overload(need_entry("aten::nonzero", "")))       # a mask is expanded into its indices
    elif (e.tags & TAG_dynamic_output_shape or e.name in BY_LENGTHS) and is_dynamic(e, args):
        return by_symbol(mode, e, args, DynamicOutputShapeException)
    return NotImplemented


cdef int check_variant(OperatorEntry e) except -1:
    cdef str name = qualified_name(e)
    if e.name in FACTORIES or e.name in CPU_ONLY or name in WITHOUT_OUT:
        error = TypeError if name in WITHOUT_OUT else RuntimeError
        raise error(f"{name}: PyTorch runs it on no fake tensor\n  {e._schema_text}")
    return 0


cdef object by_symbol(FakeState mode, OperatorEntry e, PyObject** args, error):
    """An unbacked symbol for what nobody knows, where the mode has a ShapeEnv and `unbacked` a rule; else `error`."""
    cdef object op = get_overload(e), result = NotImplemented
    if mode.shape_env is not None:
        from dispatch.fake.unbacked import unbacked_result     # needs `dispatch.symbolic`, which the ShapeEnv is of

        a, kw = python_arguments(e, args)
        result = unbacked_result(mode, op, a, kw)
    if result is NotImplemented:
        raise error(op)
    return result


cdef int check_put_device(OperatorEntry e, Tensor self, Tensor values) except -1:
    if (self.c_devtype != values.c_devtype or self.c_devindex != values.c_devindex) and values.c_ndim:
        raise RuntimeError(f"{qualified_name(e)}: values are on {values.device}, self on {self.device}\n  {e._schema_text}")
    return 0


cdef bint is_dynamic(OperatorEntry e, PyObject** args) except -1:
    """For indexing, only boolean indices depend on values; repeat_interleave and jagged tensors do not when told their size."""
    if e.name == "aten::index":
        return any([isinstance(t, Tensor) and t.dtype.name in ("bool", "uint8") for t in <list>args[1]])
    if e.name == "aten::repeat_interleave" or e.name == "aten::_padded_dense_to_jagged_forward":
        return <object>args[e.sig.n_args - 1] is None
    return True


# ---- the Meta kernel -------------------------------------------------------------------------------------------------

cdef object run_meta(FakeState mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """The operator's Meta kernel on fake tensors; its outputs get their device."""
    cdef uint64_t included = ts.included, excluded = ts.excluded
    cdef bint was = ts.meta_in_include
    cdef bint others = e.emitted == NULL or e.own_row != NULL         # a kernel that somebody registered may run
    cdef bint each = e.name.startswith("aten::_foreach_")
    cdef dtypes.device dev = None if each else output_device(e, args, ts)
    cdef PyObject* r
    ts.included |= KS_Meta
    ts.excluded |= PYTHON_KEYS
    ts.meta_in_include = True
    if others:
        mode.enter_kernel(1)
    r = call_boxed(e, args)
    if others:
        mode.enter_kernel(-1)
    ts.meta_in_include = was
    ts.included = included
    ts.excluded = excluded
    if r == NULL:
        return without_kernel(mode, e, args)
    result = take(r)
    if e.emitted == NULL:
        check_on_meta(e, result)
    if each and isinstance(result, list):
        return [wrap(mode, t, device_at(e, args, i)) for i, t in enumerate(result)]
    return wrap(mode, result, dev)


cdef int check_on_meta(OperatorEntry e, object result) except -1:
    """AssertionError when a Meta kernel of others made tensors with memory. Views of fake tensors have their storage, on meta."""
    if isinstance(result, (tuple, list)):
        for r in result:
            check_on_meta(e, r)
    elif isinstance(result, Tensor) and (<Tensor>result).c_storage.devtype != DEV_META:
        raise AssertionError(f"{qualified_name(e)}: its Meta kernel must make tensors on meta, got one on {result.device}"
                             f"\n  {e._schema_text}")
    return 0


cdef object without_kernel(FakeState mode, OperatorEntry e, PyObject** args):
    """No Meta kernel: what the operator returns may be known all the same, the fallback may run its real kernel, or it is
    refused."""
    error = None
    try:
        raised()
    except NotImplementedError as caught:
        error = caught
    a, kw = python_arguments(e, args)
    op = get_overload(e)
    result = trivial_result(op, a, kw)
    if result is not NotImplemented:
        return result
    if not mode.can_run_unsafe_fallback(op):
        raise UnsupportedOperatorException(op)
    return new_checked_result(e, fall_back(mode, op, a, kw, error))


cdef object wrap(FakeState mode, object r, dtypes.device dev):
    """What a Meta kernel made, on the device; what is fake already stays as it is."""
    if isinstance(r, Tensor):
        if (<Tensor>r).c_flags & TF_FAKE:
            return r
        return (<FakeTensorConverter>mode.c_converter).wrap_meta(mode, <Tensor>r, dev.devtype, dev.devindex)
    if type(r) is tuple:
        return tuple([wrap(mode, x, dev) for x in <tuple>r])
    if type(r) is list:
        return [wrap(mode, x, dev) for x in <list>r]
    return r
