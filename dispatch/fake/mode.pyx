"""FakeTensorMode: runs operators on metadata (torch._subclasses.fake_tensor.FakeTensorMode).

The Python-key handler enters `handle` through the slot that this module fills in, so a call makes no Python frame: a cached call copies
metadata; a fresh one runs the operator's Meta kernel on the fake tensors themselves and gives the outputs their device.
"""
import weakref
from _thread import get_ident

from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dispatcher cimport call_boxed
from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.keys cimport (
    KS_Conjugate, KS_Meta, KS_Negative, KS_Python, KS_PythonTLSSnapshot, KS_ZeroTensor,
)
from dispatch._C.operator cimport OperatorEntry, qualified_name
from dispatch._C.overload cimport OpOverload
from dispatch._C.python_kernel cimport get_overload, python_arguments, set_mode_handler
from dispatch._C.references cimport give, raised, take
from dispatch._C.tensor cimport (
    TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_REQUIRES_GRAD, TF_WRAPPED_NUMBER, Storage, Tensor,
)
from dispatch._C.tls cimport ThreadState, tls
from dispatch._C.values cimport AF_WRITE, AK_DEVICE, AK_TENSOR, Frame, match_given, release_frame
from dispatch.fake.cache cimport (
    BY_DATA_DEPENDENT, BY_DYNAMIC_SHAPE, BY_INPLACE_VIEW, BY_METADATA_CHANGED, BY_NONE, BY_NOT_BUILTIN, DispatchCache,
    Entry, Key, build_key, drop_entry, new_bypass, new_entry_of, new_outputs,
)
from dispatch.fake.fake_tensor cimport FakeTensor, new_fake, new_fake_storage

from dispatch.fake.cache import DispatchCacheInfo, clear_all, total_info
from dispatch._C.tls import _TorchDispatchModeKey, _set_dispatch_mode, _unset_dispatch_mode
from dispatch.fake.exceptions import (
    DataDependentOutputException, DynamicOutputShapeException, FakeTensorDeviceMismatchError, MetadataMismatchError,
    UnsupportedFakeTensorException, UnsupportedOperatorException,
)

cdef extern from "generated/tags.h":
    const uint64_t TAG_dynamic_output_shape
    const uint64_t TAG_data_dependent_output
    const uint64_t TAG_inplace_view
    const uint64_t TAG_nondeterministic_seeded


cdef uint64_t PYTHON_KEYS = KS_Python | KS_PythonTLSSnapshot


# ---- the handler -----------------------------------------------------------------------------------------------------

cdef uint64_t settings_of(FakeTensorMode mode, ThreadState* ts) noexcept:
    """What outside of the arguments a result may depend on."""
    cdef uint64_t s = <uint64_t>dtypes.default_dtype_code() | <uint64_t>(ts.inference_mode != 0) << 8
    cdef dtypes.device dev
    if ts.default_device != NULL:
        dev = <dtypes.device>(<object>ts.default_device)
        s |= <uint64_t>1 << 9 | <uint64_t><unsigned char>dev.devtype << 16 | <uint64_t><unsigned char>dev.devindex << 24
    return s | <uint64_t>mode.allow_non_fake_inputs << 10 | <uint64_t>mode.allow_meta << 11


cdef int operator_bypass(FakeTensorMode mode, OperatorEntry e, PyObject** args) except -1:
    """Why a call that ran is not cached; BY_NONE when it may be."""
    if e.tags & TAG_data_dependent_output:
        return BY_DATA_DEPENDENT
    if e.tags & TAG_dynamic_output_shape and is_dynamic(e, args):
        return BY_DYNAMIC_SHAPE
    if e.emitted == NULL and not allowed_by_policy(mode, e):
        return BY_NOT_BUILTIN
    return BY_NONE


cdef bint allowed_by_policy(FakeTensorMode mode, OperatorEntry e) except -1:
    """Operators of others are cached when the mode's policy says so."""
    if mode.c_policy is None:
        return False
    answer = mode.policy_answers.get(e.id)
    if answer is None:
        answer = mode.policy_answers[e.id] = bool(mode.c_policy(get_overload(e)))
    return answer


cdef PyObject* handle(PyObject* self, PyObject* op, uint64_t ks, PyObject** args) except NULL:
    """One call under the mode, which is off the stack meanwhile."""
    cdef FakeTensorMode mode = <FakeTensorMode>self
    cdef OperatorEntry e = <OperatorEntry>op
    cdef DispatchCache cache = mode.c_cache
    cdef ThreadState* ts = tls()
    cdef Key key
    cdef Entry* entry
    cdef int why
    if cache is None or not mode.cache_enabled:
        return give(fresh(mode, e, args, ts))
    why = build_key(&key, mode, settings_of(mode, ts), e, args)
    if why != BY_NONE:
        cache.bypasses[why] += 1
        return give(fresh(mode, e, args, ts))
    entry = cache.find(&key)
    if entry == NULL:
        return give(fresh_cached(mode, e, args, ts, &key))
    if entry.why != BY_NONE:
        cache.bypasses[entry.why] += 1
        return give(fresh(mode, e, args, ts))
    cache.hits += 1
    entry.refs += 1
    try:
        if mode.cache_crosscheck_enabled:
            return give(checked_outputs(entry, mode, e, args, ts))
        return give(new_outputs(entry, mode, e, args))
    finally:
        drop_entry(entry)


cdef object fresh_cached(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts, Key* key):
    """A fresh run whose outputs are remembered, or why they are not."""
    cdef Key after
    cdef Entry* entry = NULL
    cdef int why
    cdef object storage = None
    cdef int64_t nbytes = 0
    cdef bint reshapes = e.tags & TAG_inplace_view != 0
    if reshapes:
        storage = (<Tensor>args[0]).c_storage
        nbytes = (<Storage>storage).c_nbytes
    result = fresh(mode, e, args, ts)
    if result is NotImplemented:
        return result
    why = operator_bypass(mode, e, args)
    if why == BY_NONE and reshapes:
        if (<Tensor>args[0]).c_storage is not storage or (<Storage>storage).c_nbytes != nbytes:
            why = BY_INPLACE_VIEW
    elif why == BY_NONE and (build_key(&after, mode, key.words[1], e, args) != BY_NONE or after.hash != key.hash or after.n != key.n):
        why = BY_METADATA_CHANGED
    if why == BY_NONE:
        entry = new_entry_of(key, e, args, result, &why)
    if entry != NULL:
        mode.c_cache.misses += 1
    else:
        mode.c_cache.bypasses[why] += 1
        entry = new_bypass(key, why)
    mode.c_cache.insert(entry)
    return result


# ---- cross-check: each hit against a fresh run -----------------------------------------------------------------------

cdef object checked_outputs(Entry* entry, FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """A hit's outputs, compared with those of a fresh run on stand-ins of the arguments; MetadataMismatchError when they differ."""
    cdef PyObject* twins[64]
    cdef dict made = {}
    cdef list keep = []
    cdef int i
    for i in range(e.sig.n_args):
        value = stand_in(mode, <object>args[i], made)
        keep.append(value)
        twins[i] = <PyObject*>value
    want = fresh(mode, e, twins, ts)
    got = new_outputs(entry, mode, e, args)
    compare(e, got, want, {id(twin): original for original, twin in made.values()})
    return got


cdef object stand_in(FakeTensorMode mode, object value, dict made):
    """A fake tensor over the same storage with the same metadata, one for each; lists of them; other values as they are."""
    cdef FakeTensor t, twin
    if type(value) is list:
        return [stand_in(mode, v, made) for v in value]
    if type(value) is not FakeTensor:
        return value
    held = made.get(id(value))
    if held is None:
        t = <FakeTensor>value
        twin = new_fake(mode, t.c_storage, t.c_dtype, t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor), t.c_ndim, t.c_sizes,
                        t.c_strides, t.c_offset)
        twin.c_layout = t.c_layout
        twin.c_flags |= t.c_flags & (TF_REQUIRES_GRAD | TF_WRAPPED_NUMBER)
        held = made[id(value)] = (value, twin)
    return held[1]


cdef int compare(OperatorEntry e, object got, object want, dict originals) except -1:
    cdef FakeTensor a, b
    if isinstance(got, (list, tuple)):
        if type(got) is not type(want) or len(got) != len(want):
            mismatch(e, f"{len(got)} outputs", f"{type(want).__name__} of {len(want) if isinstance(want, (list, tuple)) else 1}")
        for g, w in zip(got, want):
            compare(e, g, w, originals)
        return 0
    if not isinstance(got, FakeTensor) or not isinstance(want, FakeTensor):
        if type(got) is not type(want) or got != want:
            mismatch(e, got, want)
        return 0
    a, b = <FakeTensor>got, <FakeTensor>want
    for name in ("dtype", "layout", "device", "shape"):
        if getattr(a, name) != getattr(b, name):
            mismatch(e, f"{name} {getattr(a, name)}", getattr(b, name))
    if a.stride() != b.stride() or a.c_offset != b.c_offset:
        mismatch(e, f"strides {a.stride()} at {a.c_offset}", f"{b.stride()} at {b.c_offset}")
    if (a.c_keys ^ b.c_keys) & (KS_Conjugate | KS_Negative | KS_ZeroTensor):
        mismatch(e, f"keys {a.c_keys:#x}", f"{b.c_keys:#x}")
    if id(b) in originals and originals[id(b)] is not a:
        mismatch(e, "a new tensor", "an argument itself")
    if a.c_storage.c_nbytes != b.c_storage.c_nbytes:
        mismatch(e, f"a storage of {a.c_storage.c_nbytes} bytes", f"{b.c_storage.c_nbytes}")
    return 0


cdef int mismatch(OperatorEntry e, object got, object want) except -1:
    raise MetadataMismatchError(f"{qualified_name(e)}: the cache gives {got}, a fresh run {want}\n  {e._schema_text}")


# ---- fresh runs ------------------------------------------------------------------------------------------------------

cdef struct Survey:
    bint unknown                 # a subclass that is not ours
    bint real                    # a tensor that is not fake
    bint fake
    bint constants               # every fake tensor is a constant


cdef int survey_tensor(FakeTensorMode mode, OperatorEntry e, object t, Survey* s) except -1:
    if type(t) is FakeTensor or isinstance(t, FakeTensor):
        if (<FakeTensor>t).c_mode is not mode:
            raise AssertionError(f"Mixing fake modes NYI: {qualified_name(e)} got a fake tensor of another mode")
        s.fake = True
        if (<FakeTensor>t).c_constant is None:
            s.constants = False
    elif (<Tensor>t).c_flags & TF_HAS_TORCH_DISPATCH:
        s.unknown = True
    elif not (<Tensor>t).c_flags & TF_WRAPPED_NUMBER:
        s.real = True
    return 0


cdef int survey(FakeTensorMode mode, OperatorEntry e, PyObject** args, Survey* s) except -1:
    """What kinds of tensors the call got; AssertionError for another mode's."""
    cdef int i
    s.unknown = s.real = s.fake = False
    s.constants = True
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        if isinstance(<object>args[i], Tensor):
            survey_tensor(mode, e, <object>args[i], s)
        elif isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    survey_tensor(mode, e, t, s)
    return 0


cdef object fresh(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """Run the operator on metadata."""
    cdef Survey s
    cdef PyObject* made[64]
    cdef list keep = []
    survey(mode, e, args, &s)
    if s.unknown:
        return NotImplemented
    if e.name == "aten::lift_fresh" or e.name == "aten::lift":
        if s.real and not s.fake:
            return lifted(mode, <Tensor>args[0])
    if s.fake and s.constants and not s.real and not e.tags & (TAG_nondeterministic_seeded | TAG_inplace_view):
        result = constant_result(mode, e, args, ts)
        if result is not NotImplemented:
            return result
    if s.real:
        make_fake(mode, e, args, made, keep)
        args = made
    if e.tags & TAG_data_dependent_output:
        return data_dependent(mode, e, args, &s)
    if e.flags & 4:              # OF_MUTABLE
        drop_written_constants(mode, e, args)
    if e.tags & TAG_dynamic_output_shape:
        if is_dynamic(e, args):
            raise DynamicOutputShapeException(get_overload(e))
    elif e.name == "aten::index" and is_dynamic(e, args):
        return <object>args[e.sig.n_args - 1]        # index.Tensor_out: PyTorch's fallback leaves `out` as it is
    return run_meta(mode, e, args, ts)


cdef object lifted(FakeTensorMode mode, Tensor t):
    """A tensor made from data in the block: small ones keep their values."""
    return new_constant(mode, t) if may_be_constant(t) else mode.convert(t)


cdef int make_fake(FakeTensorMode mode, OperatorEntry e, PyObject** args, PyObject** made, list keep) except -1:
    """Replace real tensors by fake ones where the mode allows them; AssertionError where it does not."""
    cdef int i
    for i in range(e.sig.n_args):
        made[i] = args[i]
        if e.sig.args[i].kind != AK_TENSOR:
            continue
        value = converted(mode, e, <object>args[i])
        keep.append(value)
        made[i] = <PyObject*>value
    return 0


cdef object converted(FakeTensorMode mode, OperatorEntry e, object value):
    if isinstance(value, list):
        return [converted(mode, e, v) for v in value]
    if not isinstance(value, Tensor) or (<Tensor>value).c_flags & (TF_FAKE | TF_WRAPPED_NUMBER):
        return value
    if not mode.allow_non_fake_inputs and not e.tags & TAG_inplace_view:
        raise AssertionError(
            f"{qualified_name(e)}: Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with "
            f"'allow_non_fake_inputs'. Found a real tensor of {value.dtype}{list(value.shape)}\n  {e._schema_text}")
    return mode.convert(<Tensor>value)


cdef object data_dependent(FakeTensorMode mode, OperatorEntry e, PyObject** args, Survey* s):
    """A Python value out of a tensor: known for constants."""
    if s.fake and s.constants:
        a, kw = python_arguments(e, args)
        return get_overload(e)(*[t.constant if isinstance(t, FakeTensor) else t for t in a], **kw)
    raise DataDependentOutputException(get_overload(e))


cdef bint is_dynamic(OperatorEntry e, PyObject** args) except -1:
    """Whether the sizes of this call's output depend on values: for indexing, only boolean indices do."""
    if e.name == "aten::index":
        return any([isinstance(t, Tensor) and t.dtype.name in ("bool", "uint8") for t in <list>args[1]])
    if e.name == "aten::repeat_interleave":
        return <object>args[e.sig.n_args - 1] is None
    return True


# ---- constants: fake tensors of one element whose value is known -----------------------------------------------------

cdef bint may_be_constant(object t) noexcept:
    return type(t) is Tensor and (<Tensor>t).c_numel <= 1 and (<Tensor>t).c_devtype == DEV_CPU


cdef FakeTensor new_constant(FakeTensorMode mode, Tensor t):
    """A fake tensor that knows its value. The converter does not remember it: its constant would keep the entry alive."""
    cdef FakeTensor f = new_fake(mode, mode.fake_storage(t.c_storage), t.c_dtype, t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor),
                                 t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)
    f.c_constant = t
    known = mode.constants.get(t.c_storage)
    if known is None:
        known = mode.constants[t.c_storage] = []
    known[:] = [r for r in known if r() is not None]
    known.append(weakref.ref(f))
    return f


cdef object constant_result(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """The operator on the constants themselves; NotImplemented when that has no kernel or gives more than one element."""
    cdef uint64_t excluded = ts.excluded
    cdef list fakes = []
    a, kw = python_arguments(e, args)
    a = [constant_of(v, fakes) for v in a]
    kw = {k: constant_of(v, fakes) for k, v in kw.items()}
    ts.excluded |= PYTHON_KEYS
    try:
        r = get_overload(e)(*a, **kw)
    except NotImplementedError:
        return NotImplemented
    finally:
        ts.excluded = excluded
    outs = list(r) if type(r) is tuple or type(r) is list else [r]
    if not all([may_be_constant(t) for t in outs if isinstance(t, Tensor)]):
        for t in outs:
            if isinstance(t, Tensor):
                forget_values(mode, (<Tensor>t).c_storage)
        return NotImplemented
    outs = [as_constant(mode, t, fakes) if isinstance(t, Tensor) else t for t in outs]
    return outs[0] if not isinstance(r, (tuple, list)) else type(r)(outs)


cdef object constant_of(object value, list fakes):
    if isinstance(value, FakeTensor):
        fakes.append(value)
        return (<FakeTensor>value).c_constant
    return [constant_of(v, fakes) for v in value] if type(value) is list else value


cdef object as_constant(FakeTensorMode mode, object t, list fakes):
    """The argument whose constant `t` is (an in-place operator), else a new fake tensor."""
    for f in fakes:
        if (<FakeTensor>f).c_constant is t:
            return f
    return new_constant(mode, <Tensor>t)


cdef int forget_values(FakeTensorMode mode, Storage s) except -1:
    """The bytes of these constants are not known any more."""
    for r in mode.constants.pop(s, ()):
        f = r()
        if f is not None:
            (<FakeTensor>f).c_constant = None
    return 0


cdef int drop_written_constants(FakeTensorMode mode, OperatorEntry e, PyObject** args) except -1:
    """A write makes the values of the tensor, and of what shares its storage, unknown."""
    cdef int i
    cdef object constant
    for i in range(e.sig.n_args):
        if e.sig.args[i].flags & AF_WRITE and isinstance(<object>args[i], FakeTensor):
            constant = (<FakeTensor>args[i]).c_constant
            if constant is not None:
                forget_values(mode, (<Tensor>constant).c_storage)
                (<FakeTensor>args[i]).c_constant = None
    return 0


cdef object run_meta(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """The operator's Meta kernel on fake tensors; its outputs get their device."""
    cdef uint64_t included = ts.included, excluded = ts.excluded
    cdef bint was = ts.meta_in_include
    cdef dtypes.device dev = output_device(mode, e, args, ts)
    cdef PyObject* r
    ts.included |= KS_Meta
    ts.excluded |= PYTHON_KEYS
    ts.meta_in_include = True
    mode.in_kernel_invocation = True
    r = call_boxed(e, args)
    mode.in_kernel_invocation = was
    ts.meta_in_include = was
    ts.included = included
    ts.excluded = excluded
    if r == NULL:
        translate_failure(e)
    return wrap(mode, take(r), dev)


cdef int translate_failure(OperatorEntry e) except -1:
    """No Meta kernel: the operator is not supported on fake tensors."""
    try:
        raised()
    except NotImplementedError as error:
        if e.emitted == NULL:
            raise UnsupportedOperatorException(get_overload(e)) from error
        raise
    return 0


cdef object wrap(FakeTensorMode mode, object r, dtypes.device dev):
    if isinstance(r, Tensor):
        return wrap_tensor(mode, <Tensor>r, dev)
    if type(r) is tuple:
        return tuple([wrap(mode, x, dev) for x in <tuple>r])
    if type(r) is list:
        return [wrap(mode, x, dev) for x in <list>r]
    return r


cdef Tensor wrap_tensor(FakeTensorMode mode, Tensor t, dtypes.device dev):
    cdef Storage s
    cdef FakeTensor f
    if t.c_flags & TF_FAKE:
        return t
    s = t.c_storage
    if not s.fake:                           # fresh memory of the meta device: it becomes the fake device's
        s.fake = True
        s.devtype = dev.devtype
        s.devindex = dev.devindex
    f = new_fake(mode, s, t.c_dtype, t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor), t.c_ndim, t.c_sizes,
                 t.c_strides, t.c_offset)
    f.c_layout = t.c_layout
    f.c_flags |= t.c_flags & TF_WRAPPED_NUMBER
    return f


# ---- devices ---------------------------------------------------------------------------------------------------------

cdef dtypes.device normalized(dtypes.device dev):
    if dev.devindex >= 0 or dev.devtype == DEV_CPU or dev.devtype == DEV_META:
        return dev
    return dtypes.new_device(dev.devtype, 0)


# Arguments of these may lie on other devices than the result, which is on the first one's.
cdef frozenset multi_device = frozenset("aten::" + n for n in (
    "copy_", "copy", "slice_scatter", "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index", "embedding_bag", "index.out"))


cdef struct CommonDevice:
    int devtype
    int devindex
    bint found
    bint zero_dim_cpu


cdef int merge_device(OperatorEntry e, Tensor t, CommonDevice* c) except -1:
    cdef bint zero = t.c_devtype == DEV_CPU and t.c_ndim == 0
    if not c.found or (c.zero_dim_cpu and not (zero and c.found)):
        if c.found and c.devtype == t.c_devtype and c.devindex == t.c_devindex:
            c.zero_dim_cpu = c.zero_dim_cpu and zero
            return 0
        c.devtype = t.c_devtype
        c.devindex = t.c_devindex
        c.zero_dim_cpu = zero
        c.found = True
        return 0
    if c.devtype == t.c_devtype and c.devindex == t.c_devindex:
        return 0
    if zero:
        return 0
    raise FakeTensorDeviceMismatchError(
        f"{qualified_name(e)}: the tensors of a call must be on one device, got "
        f"{dtypes.new_device(c.devtype, c.devindex)} and {t.device}\n  {e._schema_text}")


cdef dtypes.device output_device(FakeTensorMode mode, OperatorEntry e, PyObject** args, ThreadState* ts):
    """The device of new outputs: the device argument, else the tensors' common device, else the default device."""
    cdef CommonDevice c
    cdef int i
    cdef object given = None
    cdef bint many = e.name in multi_device
    c.found = False
    c.zero_dim_cpu = False
    c.devtype = DEV_CPU
    c.devindex = -1
    for i in range(e.sig.n_args):
        if e.sig.args[i].kind == AK_DEVICE and given is None:
            given = <object>args[i]
        if e.sig.args[i].kind != AK_TENSOR or (many and c.found):
            continue
        if isinstance(<object>args[i], Tensor):
            if not (<Tensor>args[i]).c_flags & TF_WRAPPED_NUMBER:
                merge_device(e, <Tensor>args[i], &c)
        elif isinstance(<object>args[i], list):
            for t in <list>args[i]:
                if isinstance(t, Tensor):
                    merge_device(e, <Tensor>t, &c)
    if given is not None:
        return normalized(<dtypes.device>given)
    if c.found:
        return dtypes.new_device(c.devtype, c.devindex)
    if ts.default_device != NULL:
        return normalized(<dtypes.device>(<object>ts.default_device))
    return dtypes.new_device(DEV_CPU, -1)


# ---- counters --------------------------------------------------------------------------------------------------------

def own_info(FakeTensorMode mode not None):
    return mode.c_cache.info() if mode.c_cache is not None else DispatchCacheInfo(0, 0, {}, 0)


def own_clear(FakeTensorMode mode not None):
    if mode.c_cache is not None:
        mode.c_cache.clear()


class OfModeOrAll:
    """A method that answers for one mode, and, as PyTorch's class method of the name, for all when it is called on the class."""

    def __init__(self, of_mode, of_all, doc):
        self.of_mode = of_mode
        self.of_all = of_all
        self.__doc__ = doc

    def __get__(self, mode, owner=None):
        return self.of_all if mode is None else self.of_mode.__get__(mode, owner)


# ---- the mode --------------------------------------------------------------------------------------------------------

cdef class _Forget:
    """Weak-reference callback: the original is gone, its fake counterpart goes from the memo."""
    cdef dict memo
    cdef object key
    cdef object __weakref__

    def __call__(self, reference):
        held = self.memo.get(self.key)
        if held is not None and held[0] is reference:
            del self.memo[self.key]


cdef object remember(dict memo, object original, object fake):
    cdef _Forget forget = _Forget.__new__(_Forget)
    forget.memo = memo
    forget.key = id(original)
    memo[forget.key] = (weakref.ref(original, forget), fake)
    return fake


cdef class FakeTensorMode(TorchDispatchMode):
    """In its block every operator runs on metadata: results are `FakeTensor` objects, devices need not exist.

    Args:
        allow_fallback_kernels: accepted; an operator without a Meta kernel is refused either way, its real kernel is never run.
        allow_non_fake_inputs: real tensors among the arguments are made fake.
        static_shapes, shape_env, export: accepted for symbolic shapes, which are not here yet.
        cache: True for a cache of the mode's own, None or False for none, or a `DispatchCache` to share.
        cache_policy: `policy(op) -> bool`: which operators of other packages may be cached (default: none).

    Source of the semantics: torch._subclasses.fake_tensor.FakeTensorMode.

    Example:
        >>> import dispatch
        >>> with dispatch.FakeTensorMode():
        ...     dispatch.empty(2, 3, device="cuda").shape
        dispatch.Size([2, 3])
    """

    _mode_key = _TorchDispatchModeKey.FAKE

    def __init__(self, *, bint allow_fallback_kernels=True, bint allow_non_fake_inputs=False, shape_env=None,
                 static_shapes=None, bint export=False, cache=True, cache_policy=None):
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = shape_env
        self.static_shapes = shape_env is None if static_shapes is None else bool(static_shapes)
        self.export = export
        self.allow_meta = True
        self.c_policy = cache_policy
        self.policy_answers = {}
        self.tensor_memo = {}
        self.storage_memo = {}
        self.constants = weakref.WeakKeyDictionary()       # storage of real constants -> weak references to their fakes
        self.enter_stack = []
        self.cache_enabled = True
        if isinstance(cache, DispatchCache):
            self.c_cache = cache
        elif cache:
            self.c_cache = DispatchCache()

    @classmethod
    def is_infra_mode(cls):
        return True

    def __enter__(self):
        previous = _unset_dispatch_mode(self._mode_key)
        self.enter_stack.append((get_ident(), previous))
        _set_dispatch_mode(self)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        previous = self.left()
        _unset_dispatch_mode(self._mode_key)
        if previous is not None:
            _set_dispatch_mode(previous)

    def left(self):
        """Take this thread's newest entry off the stack of entries; the mode that was active before, or None."""
        cdef int i
        cdef object me = get_ident()
        for i in range(len(self.enter_stack) - 1, -1, -1):
            if self.enter_stack[i][0] == me:
                return self.enter_stack.pop(i)[1]
        raise RuntimeError("FakeTensorMode: left in a thread that did not enter it")

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Handle one call; a subclass may override this and call it."""
        return self.dispatch(func, types, args, kwargs)

    def dispatch(self, func, types, args=(), kwargs=None):
        """Run `func` on fake tensors, as the compiled handler does."""
        cdef Frame f
        cdef OpOverload op
        if not isinstance(func, OpOverload):
            raise UnsupportedOperatorException(func)
        op = <OpOverload>func
        args, kwargs = tuple(args), dict(kwargs or ())        # ours: a conversion may run code that changes the caller's
        match_given(&op.entry.sig, args, kwargs, &f)
        try:
            return take(handle(<PyObject*>self, <PyObject*>op.entry, 0, f.args))
        finally:
            release_frame(&f)

    @property
    def cache(self):
        """The DispatchCache in use, or None."""
        return self.c_cache

    cache_info = OfModeOrAll(own_info, total_info, "The counters: of a mode's cache, or, on the class, of all caches together.")
    cache_clear = OfModeOrAll(own_clear, clear_all, "Empty a mode's cache and its counters; on the class, those of all caches.")

    def is_our_fake(self, t):
        """Whether `t` is a FakeTensor of this mode."""
        return isinstance(t, FakeTensor) and (<FakeTensor>t).c_mode is self

    def from_tensor(self, tensor, *, static_shapes=None, source=None, symbolic_context=None, trace=True):
        """The fake counterpart of a real tensor: the same object for the same tensor, aliases stay aliases.

        Raises:
            AssertionError: a fake tensor of another mode.
            UnsupportedFakeTensorException: a kind of tensor that has no fake counterpart.
        """
        if not isinstance(tensor, Tensor):
            raise TypeError(f"from_tensor: expected a Tensor, got {type(tensor).__name__}")
        return self.convert(<Tensor>tensor)

    cdef FakeTensor convert(self, Tensor t):
        cdef FakeTensor f
        cdef Storage s
        held = self.tensor_memo.get(id(t))
        if held is not None:
            return <FakeTensor>held[1]
        if t.c_flags & TF_FAKE:
            if (<FakeTensor>t).c_mode is not self:
                raise AssertionError("Mixing fake modes NYI: from_tensor got a fake tensor of another mode")
            return <FakeTensor>t
        if t.c_flags & TF_HAS_TORCH_DISPATCH:
            raise UnsupportedFakeTensorException(f"subclass {type(t).__name__} cannot be made fake")
        s = self.fake_storage(t.c_storage)
        f = new_fake(self, s, t.c_dtype, t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor), t.c_ndim, t.c_sizes,
                     t.c_strides, t.c_offset)
        f.c_layout = t.c_layout
        f.c_flags |= t.c_flags & TF_REQUIRES_GRAD
        return <FakeTensor>remember(self.tensor_memo, t, f)

    cdef Storage fake_storage(self, Storage s):
        cdef dtypes.device dev
        held = self.storage_memo.get(id(s))
        if held is not None:
            return <Storage>held[1]
        dev = normalized(dtypes.new_device(s.devtype, s.devindex))
        return <Storage>remember(self.storage_memo, s, new_fake_storage(s.c_nbytes, dev.devtype, dev.devindex))


set_mode_handler(FakeTensorMode, handle)
