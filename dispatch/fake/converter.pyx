"""Real tensors made fake (torch._subclasses.fake_tensor.FakeTensorConverter, meta_utils.MetaConverter).

The same tensor gives the same fake as long as somebody holds it; tensors that share storage, or are views, give fakes that do. The
memos are weak both ways: they keep neither originals nor fakes alive. Without a mode the counterparts are tensors on meta.
"""
import weakref

from cpython.object cimport PyObject
from cpython.weakref cimport PyWeakref_GetObject, PyWeakref_NewRef
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DEV_META, LAYOUT_strided, ST_float64, ST_int16, ST_int32, ST_int64, ST_int8
from dispatch._C.keys cimport KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_DEVICE_TYPE, KS_Conjugate, KS_Negative, KS_ZeroTensor
from dispatch._C.geometry cimport reach_of, read_ints
from dispatch._C.stack cimport enter_call, leave_call
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport size_from
from dispatch._C.tensor cimport (
    TF_HAS_TORCH_DISPATCH, TF_INFERENCE, TF_IS_VIEW, TF_REQUIRES_GRAD, TF_SYMBOLIC, TF_VIEW_MARKS, Tensor, bump_version, new_tensor,
    set_base, set_geometry, set_known_geometry, share_version,
)
from dispatch.fake.devices cimport normalized
from dispatch.fake.fake_tensor cimport FakeTensor, new_fake_like, new_fake_storage
from dispatch.fake.settings cimport FakeState

from dispatch._C.fallbacks import new_node
from dispatch._C.guards import _DisableTorchDispatch
from dispatch.fake.exceptions import UnsupportedFakeTensorException
from dispatch.modes.subclasses import is_traceable_wrapper_subclass

# ---- the memo --------------------------------------------------------------------------------------------------------

cdef class _Forget:
    """Weak-reference callback: what died leaves the memo. A fake that outlives its original stays under a number."""
    cdef dict held
    cdef object key
    cdef object number
    cdef object __weakref__

    def __call__(self, reference):
        entry = self.held.get(self.key)
        if entry is None or (entry[0] is not reference and entry[1] is not reference):
            return
        del self.held[self.key]
        if entry[0] is reference:
            self.key = ~self.number
            self.held[self.key] = (None, entry[1], self.number)


cdef class Memo:
    """The fake counterparts of tensors or storages, by identity; as a mapping, from numbers in order of conversion to what
    lives."""

    def __cinit__(self):
        self.held = {}
        self.next_number = 0

    cdef object find(self, object original):
        cdef object entry = self.held.get(id(original))
        cdef PyObject* fake
        if entry is None:
            return None
        fake = PyWeakref_GetObject((<tuple>entry)[1])
        return <object>fake

    cdef int remember(self, object original, object fake) except -1:
        cdef _Forget forget = _Forget.__new__(_Forget)
        forget.held = self.held
        forget.key = id(original)
        forget.number = self.next_number
        self.next_number += 1
        self.held[forget.key] = (PyWeakref_NewRef(original, forget), PyWeakref_NewRef(fake, forget), forget.number)
        return 0

    def living(self):
        """{number: fake counterpart}, a copy."""
        found = {number: fake() for _, fake, number in list(self.held.values())}
        return {number: fake for number, fake in found.items() if fake is not None}

    def numbers(self):
        """{original: number} of the originals that live."""
        found = [(original and original(), number) for original, _, number in list(self.held.values())]
        return {original: number for original, number in found if original is not None}

    def pairs(self):
        """(original, fake counterpart), of those where both live."""
        found = [(original and original(), fake()) for original, fake, _ in list(self.held.values())]
        return [pair for pair in found if pair[0] is not None and pair[1] is not None]

    def __len__(self):
        return len(self.living())

    def __iter__(self):
        return iter(self.living())

    def __contains__(self, number):
        try:
            return number in self.living()
        except TypeError:
            return False

    def __getitem__(self, number):
        return self.living()[number]

    def get(self, number, default=None):
        """The counterpart with a number, or `default`."""
        return self.living().get(number, default)

    def keys(self):
        return self.living().keys()

    def values(self):
        return self.living().values()

    def items(self):
        return self.living().items()


class _Describer:
    """The numbers of the originals that a converter knows, by tensor and by storage."""

    def __init__(self, lookup_tensor=(), lookup_storage=()):
        self.lookup_tensor = dict(lookup_tensor)
        self.lookup_storage = dict(lookup_storage)


cdef class MetaConverter:
    """The memos of a converter, and how many tensors it took and refused. Called, it gives counterparts on meta."""

    def __cinit__(self):
        self.tensor_memo = Memo()
        self.storage_memo = Memo()
        self.hit = 0
        self.miss = 0

    def __call__(self, t, shape_env=None, *, source=None, symbolic_context=None):
        """The counterpart of a tensor on meta, the same one for the same tensor; other values come back as they are.

        NotImplemented for a tensor that is not strided. `shape_env`, `source`, `symbolic_context`: as for `from_real_tensor`.
        """
        cdef FakeTensorConverter c
        if not isinstance(t, Tensor):
            return t
        c = FakeTensorConverter.__new__(FakeTensorConverter)
        c.meta_converter = self
        try:
            return c.convert(None, t, False, shape_env, source, symbolic_context)
        except UnsupportedFakeTensorException:
            return NotImplemented

    @property
    def describer(self):
        """What tells the originals apart."""
        return _Describer(self.tensor_memo.numbers(), self.storage_memo.numbers())

    def successful(self):
        """Whether tensors were converted, and none was refused."""
        return self.hit > 0 and self.miss == 0


# ---- the converter ---------------------------------------------------------------------------------------------------

cdef class FakeTensorConverter:
    """Makes real tensors fake and remembers them."""

    def __cinit__(self, *args, **kwargs):
        self.meta_converter = MetaConverter()
        self.constant_storage_mapping = weakref.WeakKeyDictionary()

    def __init__(self, *, bint copy_data=False, bint export=False):
        self.export = export
        self.copy_data = copy_data

    @property
    def tensor_memo(self):
        """The fake tensors that live, as a mapping."""
        return self.meta_converter.tensor_memo

    def _get_memo(self, Tensor t not None):
        """The fake counterpart of `t`, or None."""
        return self.meta_converter.tensor_memo.find(t)

    def set_tensor_memo(self, Tensor t not None, Tensor v not None):
        """From now on `v` is the fake counterpart of `t`."""
        self.meta_converter.tensor_memo.remember(t, v)

    def from_real_tensor(self, FakeState fake_mode not None, Tensor t not None, bint make_constant=False, shape_env=None, *,
                         source=None, symbolic_context=None, trace=True):
        """The fake counterpart of `t` in `fake_mode`; with `make_constant` a new one keeps `t` as its value.

        With `shape_env` its sizes become symbols, as `symbolic_context` says; `source` names the tensor in guards.

        UnsupportedFakeTensorException: a tensor that is not strided.
        """
        return self.convert(fake_mode, t, make_constant, shape_env, source, symbolic_context)

    def from_meta_and_device(self, FakeState fake_mode not None, Tensor t not None, device, pytype=None, dispatch_keys=None):
        """A fake tensor on `device` over a meta tensor: the same one for the same tensor.

        AssertionError: `t` is not on meta, or the mode does not allow meta as a fake device.
        """
        cdef dtypes.device dev
        held = self.meta_converter.tensor_memo.find(t)
        if held is not None:
            return held
        if t.c_devtype != DEV_META:
            raise AssertionError(f"from_meta_and_device: expected a tensor on meta, got {t.device}")
        dev = normalized(dtypes.device_of(device))
        f = self.wrap_meta(fake_mode, t, dev.devtype, dev.devindex)
        share_version(f, t)
        f.c_flags |= t.c_flags & TF_REQUIRES_GRAD
        if pytype is not None:
            f.pytype = pytype
        if dispatch_keys is not None:
            f.dispatch_keys = dispatch_keys
        self.meta_converter.tensor_memo.remember(t, f)
        return f

    cdef FakeTensor wrap_meta(self, FakeState mode, Tensor t, int devtype, int devindex):
        if devtype == DEV_META and not mode.allow_meta:
            raise AssertionError("this mode does not allow meta as a fake device")
        return new_fake_like(mode, t.c_storage, t, dtypes.new_device(devtype, devindex))

    cdef object convert(self, FakeState mode, Tensor t, bint make_constant, object env=None, object source=None,
                        object context=None):
        cdef Memo memo = self.meta_converter.tensor_memo
        cdef object held = memo.find(t)
        if held is not None:
            return held
        if t.c_layout != LAYOUT_strided:
            self.meta_converter.miss += 1
            raise UnsupportedFakeTensorException(f"a tensor of layout {t.layout} has no fake counterpart here")
        if t.c_flags & TF_HAS_TORCH_DISPATCH and not isinstance(t, FakeTensor) and is_traceable_wrapper_subclass(t):
            made = converted_wrapper(self, mode, t, env, source, context)
        elif t.c_flags & TF_IS_VIEW and t.c_base is not None:
            made = converted_view(self, mode, t, env, source, context)
        else:
            made = converted_plain(self, mode, t, env, source, context)
            if self.copy_data and not isinstance(t, FakeTensor):
                with _DisableTorchDispatch():
                    (<FakeTensor>made).c_real = t.detach().clone()
        self.meta_converter.hit += 1
        if type(t) is not Tensor and getattr(t, "_is_param", False):
            made._is_param = True                 # a parameter's counterpart says that it is one (torch.nn.Parameter)
        memo.remember(t, made)
        if type(t) is Tensor and source is not None and env is not None and t.c_ndim == 0 and t.c_devtype == DEV_CPU \
                and not self.export and mode is not None:
            remember_number(<FakeTensor?>made, t, env, source, context)
        if t.c_dict != NULL and "grad" in <dict><object>t.c_dict:
            made.grad = self.convert(mode, <Tensor?>t.grad, False, env, part_of(self, source, "grad") if env is not None else None)
        if make_constant:
            (<FakeTensor?>made).c_constant = t
            self.add_constant_storage_mapping(made)
        return made

    # -- constants
    def add_constant_storage_mapping(self, fake_tensor):
        """Note that `fake_tensor` has a constant, so that writes to its storage can be followed.

        AssertionError: not a fake tensor with a constant.
        """
        if not isinstance(fake_tensor, FakeTensor) or (<FakeTensor>fake_tensor).c_constant is None:
            raise AssertionError("add_constant_storage_mapping: expected a fake tensor with a constant")
        storage = (<Tensor>(<FakeTensor>fake_tensor).c_constant).c_storage
        known = self.constant_storage_mapping.get(storage)
        if known is None:
            known = self.constant_storage_mapping[storage] = []
        known[:] = [r for r in known if r() is not None]
        known.append(weakref.ref(fake_tensor))

    def invalidate_constant_aliases(self, Tensor tensor not None):
        """Forget the values of all fake tensors whose constant shares the storage of the real `tensor`."""
        if isinstance(tensor, FakeTensor):
            raise AssertionError("invalidate_constant_aliases: expected a real tensor")
        for reference in self.constant_storage_mapping.pop(tensor.c_storage, ()):
            f = reference()
            if f is not None:
                (<FakeTensor>f).c_constant = None

    def clear_non_cpu_constants(self):
        """Forget constants that do not lie on the CPU."""
        for references in list(self.constant_storage_mapping.values()):
            for reference in references:
                f = reference()
                if f is not None and f.constant is not None and f.constant.device.type != "cpu":
                    self.invalidate_constant_aliases(f.constant)


cdef int copy_marks(Tensor f, Tensor t) except -1:
    """What autograd, inference mode and `torch.nn.Parameter` say of the original."""
    f.c_flags = (f.c_flags & ~TF_INFERENCE) | (t.c_flags & (TF_REQUIRES_GRAD | TF_INFERENCE | TF_VIEW_MARKS))
    f.c_keys |= KS_BY_DEVICE_TYPE[f.c_devtype]
    if t.c_flags & TF_INFERENCE:
        f.c_keys &= ~(KS_AUTOGRAD | KS_ADInplaceOrView)
    if t.c_autograd is not None:            # nothing goes backward through an example (meta_utils' DelayedError)
        f.c_autograd = new_node("torch::autograd::Error" if t.c_base is None else "AsStridedBackward0")
    if t.c_dict != NULL and (<dict><object>t.c_dict).get("_is_param"):
        f._is_param = True
    return 0


cdef inline dtypes.device device_of_original(Tensor t):
    return normalized(dtypes.new_device(t.c_devtype, t.c_devindex))


cdef Tensor new_counterpart(FakeState mode, Storage storage, Tensor t):
    """A tensor like `t` over a storage of meta, without its marks."""
    cdef Tensor f
    if mode is not None:
        return new_fake_like(mode, storage, t, device_of_original(t))
    f = new_tensor(storage, t.c_dtype, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)
    set_known_geometry(f, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset, t.c_numel, t.c_flags, t.c_symbols)
    f.c_keys |= t.c_keys & (KS_Conjugate | KS_Negative | KS_ZeroTensor)
    return f


cdef object constant_source = None


cdef object source_of(FakeTensorConverter c, object source):
    """The name of a tensor in guards; one that nobody named is told by its number (PyTorch's name for it)."""
    global constant_source
    if source is not None:
        return source
    if constant_source is None:
        from dispatch.symbolic import ConstantSource       # loaded by whoever made the ShapeEnv

        constant_source = ConstantSource
    return constant_source(f"__meta_utils_unknown_tensor{c.meta_converter.tensor_memo.next_number}")


cdef tuple symbols_of(FakeTensorConverter c, Tensor t, object env, object source, object context):
    """Sizes, strides and offset as the ShapeEnv wants them. A fake tensor's own symbols stay, or are brought over from its env."""
    cdef FakeState of_fake = <FakeState>(<FakeTensor>t).c_mode if isinstance(t, FakeTensor) else None
    if of_fake is not None and (of_fake.shape_env is env or (context is None and not t.c_flags & TF_SYMBOLIC)):
        return t.shape, t.stride(), t.storage_offset()
    source = source_of(c, source)
    if of_fake is not None:
        return env.transfer_symbols_from_foreign_shape_env(t.shape, t.stride(), t.storage_offset(), source,
                                                           symbolic_context=context)
    return env.create_symbolic_sizes_strides_storage_offset(t, source, symbolic_context=context)


cdef int take_symbols(FakeTensorConverter c, Tensor f, Tensor t, object env, object source, object context) except -1:
    cdef int64_t sizes[64]
    cdef int64_t strides[64]
    cdef tuple made = symbols_of(c, t, env, source, context)
    cdef int n = read_ints(made[0], sizes, "sizes")
    if read_ints(made[1], strides, "strides") != n or n != t.c_ndim:
        raise RuntimeError(f"the ShapeEnv gave {made[0]} and {made[1]} for a tensor of sizes {t.shape}")
    return set_geometry(f, n, sizes, strides, size_from(made[2]))


cdef object part_of(FakeTensorConverter c, object source, str name):
    """The name of an attribute of a tensor that has one."""
    from dispatch.symbolic import AttrSource           # loaded by whoever made the ShapeEnv

    return AttrSource(source_of(c, source), name)


cdef int remember_number(FakeTensor f, Tensor t, object env, object source, object context) except -1:
    """Let `item()` of the counterpart be a symbol that has the number in `t`, not one without a value."""
    cdef int code = t.c_dtype
    if code not in (ST_int64, ST_int32, ST_int16, ST_int8, ST_float64):
        return 0                                      # others may overflow, or lose digits, where Python's numbers do not
    from dispatch.symbolic import CallMethodItemSource, DimDynamic       # loaded by whoever made the ShapeEnv

    with _DisableTorchDispatch():
        value = t.item()
    if code == ST_float64 and not isfinite(value):
        return 0
    named = CallMethodItemSource(source)
    symbol = env.create_unspecified_symbol(value, named, DimDynamic.DYNAMIC, None, context)
    if code == ST_int64:
        f.item_memo = env.create_symintnode(symbol, hint=value, source=named)
    elif code == ST_float64:
        f.item_memo = env.create_symfloatnode(symbol, hint=value, source=named)
    return 0


cdef Tensor converted_plain(FakeTensorConverter c, FakeState mode, Tensor t, object env, object source, object context):
    cdef Storage s = t.c_storage, made = c.meta_converter.storage_memo.find(t.c_storage)
    cdef bint known = made is not None
    cdef int64_t nbytes = s.c_nbytes
    cdef Tensor f
    if not known:
        made = new_fake_storage(nbytes)
    f = new_counterpart(mode, made, t)
    if env is not None:
        take_symbols(c, f, t, env, source, context)
    if not known:
        if t.c_offset == 0 and nbytes:            # PyTorch makes a storage of just the size that the sizes need
            (<Storage>made).c_nbytes = reach_of(dtypes.itemsize_table()[f.c_dtype], f.c_ndim, f.c_sizes, f.c_strides, 0)
        c.meta_converter.storage_memo.remember(s, made)
    if mode is not None and f.c_devtype == DEV_META and not mode.allow_meta:
        raise AssertionError("this mode does not allow meta as a fake device")
    if known or t.c_offset:                       # as PyTorch, which gives the storage with `set_`, a write
        bump_version(f)
    copy_marks(f, t)
    return f


cdef Tensor converted_view(FakeTensorConverter c, FakeState mode, Tensor t, object env, object source, object context):
    """A view of the base's counterpart."""
    cdef object base, of_base = None
    cdef Tensor f
    if env is not None:
        of_base = context.view_base_context if context is not None else None
        base = c.convert(mode, <Tensor>t.c_base, False, env, part_of(c, source, "_base"), of_base)
    else:
        base = c.convert(mode, <Tensor>t.c_base, False)
    if type(base) is not (Tensor if mode is None else FakeTensor):          # a wrapper: it has no storage to be a view of
        return converted_plain(c, mode, t, env, source, context)
    f = new_counterpart(mode, (<Tensor>base).c_storage, t)
    if env is not None:
        take_symbols(c, f, t, env, source, context)
    share_version(f, base)
    copy_marks(f, t)
    set_base(f, base)
    return f


cdef object converted_wrapper(FakeTensorConverter c, FakeState mode, Tensor t, object env, object source, object symbols):
    """The wrapper around the counterparts of what it wraps."""
    names, context = t.__tensor_flatten__()
    cdef dict contexts = {} if symbols is None else symbols.inner_contexts
    cdef object sizes = t.size(), strides = t.stride()
    inner = {}
    if env is not None:
        sizes, strides, _ = symbols_of(c, t, env, source, symbols)
    enter_call(" while a wrapper of tensors is made fake")
    try:
        for name in names:
            part = getattr(t, name)
            if not isinstance(part, Tensor):
                inner[name] = part
            elif env is None:
                inner[name] = c.convert(mode, <Tensor>part, False)
            else:
                inner[name] = c.convert(mode, <Tensor>part, False, env, part_of(c, source, name), contexts.get(name))
    finally:
        leave_call()
    made = type(t).__tensor_unflatten__(inner, context, sizes, strides)
    if not isinstance(made, Tensor):
        raise TypeError(f"{type(t).__name__}.__tensor_unflatten__ must return a tensor, got {type(made).__name__}")
    return made
