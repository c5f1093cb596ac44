"""FakeTensor: metadata on a device that need not exist, and the mode it belongs to (torch._subclasses.fake_tensor.FakeTensor).

The device of a fake tensor is in the Tensor struct itself; our kernels see it as it is, Meta kernels of others see meta, as in
PyTorch, and `meta_in_include` of the thread's state makes the dispatcher serve fake tensors with Meta kernels.
"""
from cpython.object cimport PyTypeObject
from libc.stdint cimport uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DEV_META, is_complex_code, is_floating_code
from dispatch._C.keys cimport (
    KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_DEVICE_TYPE, KS_Conjugate, KS_Negative, KS_Python, KS_PythonTLSSnapshot, KS_ZeroTensor,
)
from dispatch._C.storage cimport Storage
from dispatch._C.symbolic cimport mul, size_object
from dispatch._C.tensor cimport (
    TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_INFERENCE, TF_WRAPPED_NUMBER, Tensor, needs_grad, set_geometry, set_known_geometry,
    set_requires_grad, share_version,
)
from dispatch.fake.devices cimport normalized
from dispatch.fake.settings cimport FakeState

from dispatch._C.tls import _get_dispatch_mode, _TorchDispatchModeKey
from dispatch.fake.devices import find_common_device
from dispatch.fake.number_memos import SymNumberMemoDescriptor

cdef extern from *:
    """
    /* Blocks of fake tensors that have ended, for the next ones (row `model_gpt2`: 6 %): Cython keeps those of classes without base
       only. A class in Python below ours has CPython's own allocator. */
    #define DISPATCH_N_BLOCKS 256
    static PyTypeObject* dispatch_block_type;
    static allocfunc dispatch_other_alloc;
    static freefunc dispatch_other_free;
    static PyObject* dispatch_blocks[DISPATCH_N_BLOCKS];
    static int dispatch_n_blocks;
    static PyObject* dispatch_alloc_block(PyTypeObject* tp, Py_ssize_t n) {
        PyObject* o;
        if (!dispatch_n_blocks || tp != dispatch_block_type) return dispatch_other_alloc(tp, n);
        o = dispatch_blocks[--dispatch_n_blocks];
        memset(o, 0, tp->tp_basicsize);
        (void)PyObject_Init(o, tp);
        PyObject_GC_Track(o);
        return o;
    }
    static void dispatch_free_block(void* o) {
        if (dispatch_n_blocks < DISPATCH_N_BLOCKS && Py_IS_TYPE((PyObject*)o, dispatch_block_type))
            dispatch_blocks[dispatch_n_blocks++] = (PyObject*)o;
        else dispatch_other_free(o);
    }
    static void dispatch_keep_blocks(PyTypeObject* tp) {
    #if CYTHON_USE_FREELISTS
        dispatch_block_type = tp;
        dispatch_other_alloc = tp->tp_alloc;
        dispatch_other_free = tp->tp_free;
        tp->tp_alloc = dispatch_alloc_block;
        tp->tp_free = dispatch_free_block;
    #endif
    }
    """
    void keep_blocks "dispatch_keep_blocks"(PyTypeObject* tp) noexcept

cdef object FAKE_KEY = _TorchDispatchModeKey.FAKE


cdef class FakeTensor(Tensor):
    """A tensor that has metadata and no values. Made by `FakeTensorMode.from_tensor` and by operators under the mode.

    `FakeTensor(fake_mode, elem, device)` gives a meta tensor `elem` a device; `FakeTensor(elem, fake_mode=..., fake_device=...)`
    does the same. Source of the semantics: torch._subclasses.fake_tensor.FakeTensor.

    TypeError: an argument is missing, unknown or of another kind. ValueError: two devices that differ. AssertionError: `elem` is
    not on meta, the device is meta and the mode does not allow that, or `real_tensor` is a fake one.
    """

    _mode_key = FAKE_KEY
    pytype = None                    # class of the tensor that it stands for, where that is known
    dispatch_keys = None             # key set of the tensor that it stands for, where that is known
    nonzero_memo = SymNumberMemoDescriptor("nonzero_memo")
    item_memo = SymNumberMemoDescriptor("item_memo")
    unique_memo = SymNumberMemoDescriptor("unique_memo")
    unique_consecutive_memo = SymNumberMemoDescriptor("unique_consecutive_memo")
    nested_int_memo = SymNumberMemoDescriptor("nested_int_memo", is_nested_int=True)
    _nonzero_memo = _item_memo = _unique_memo = _unique_consecutive_memo = _nested_int_memo = None     # until one is remembered

    def __cinit__(self, *args, **kwargs):          # neither is looked at, so that none is made
        self.c_flags |= TF_FAKE | TF_HAS_TORCH_DISPATCH
        self.c_keys = KS_Python | KS_PythonTLSSnapshot       # no kernel of a backend serves one without a mode

    def __init__(self, *args, **kwargs):
        if self.c_mode is None:
            raise TypeError("FakeTensor(fake_mode, elem, device): needs a mode, a meta tensor and a device")

    @property
    def fake_mode(self):
        """The FakeTensorMode that the tensor belongs to."""
        return self.c_mode

    @fake_mode.setter
    def fake_mode(self, FakeState value not None):
        self.c_mode = value

    @property
    def fake_device(self):
        """The device that the tensor stands for."""
        return dtypes.new_device(self.c_devtype, self.c_devindex)

    @fake_device.setter
    def fake_device(self, value):
        cdef dtypes.device dev = normalized(dtypes.device_of(value))
        self.c_devtype = dev.devtype
        self.c_devindex = dev.devindex

    @property
    def _fake_device(self):
        return self.fake_device

    @property
    def device(self):
        """The fake device; meta while a kernel runs."""
        return dtypes.new_device(DEV_META, -1) if in_kernel(self.c_mode) else dtypes.new_device(self.c_devtype, self.c_devindex)

    @device.setter
    def device(self, value):
        raise NotImplementedError("device: a fake tensor stays where it is; `fake_device` may be set")

    @property
    def is_meta(self):
        return in_kernel(self.c_mode) or self.c_devtype == DEV_META

    @property
    def is_cpu(self):
        return not in_kernel(self.c_mode) and self.c_devtype == DEV_CPU

    @property
    def constant(self):
        """A real tensor with the same values, or None."""
        return self.c_constant

    @constant.setter
    def constant(self, value):
        if value is not None and (not isinstance(value, Tensor) or isinstance(value, FakeTensor)):
            raise TypeError(f"constant: expected a real tensor or None, got {type(value).__name__}")
        self.c_constant = value

    @property
    def real_tensor(self):
        """The real tensor that runs along (`propagate_real_tensors`), or None."""
        return self.c_real

    @real_tensor.setter
    def real_tensor(self, value):
        if value is not None and (not isinstance(value, Tensor) or isinstance(value, FakeTensor)):
            raise TypeError(f"real_tensor: expected a real tensor or None, got {type(value).__name__}")
        self.c_real = value

    @property
    def names(self):
        raise AttributeError("names: fake tensors have no named dimensions")

    @property
    def data(self):
        """The same storage without autograd's relations, and with a version counter of its own."""
        return alias_of(self)

    @data.setter
    def data(self, value):
        """Take sizes, dtype and storage of another fake tensor; device and mode stay."""
        cdef FakeTensor t
        if not isinstance(value, FakeTensor):
            raise TypeError(f"FakeTensor.data: expected a fake tensor, got {type(value).__name__}")
        t = <FakeTensor>value
        if needs_grad(self) and not (is_floating_code(t.c_dtype) or is_complex_code(t.c_dtype)):
            raise RuntimeError(f"FakeTensor.data: {t.dtype} cannot stand in a tensor that requires grad")
        set_geometry(self, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)
        self.c_storage = t.c_storage
        self.c_dtype = t.c_dtype
        self.c_keys = (self.c_keys & ~KEPT_KEYS) | (t.c_keys & KEPT_KEYS)

    def data_ptr(self):
        """The first element's address if the storage began at 0; RuntimeError unless `_allow_unsafe_data_ptr_access`."""
        if self.c_mode is not None and not self.c_mode._allow_unsafe_data_ptr_access:
            raise RuntimeError("data_ptr: a fake tensor has no memory")
        return size_object(mul(self.c_offset, dtypes.itemsize_table()[self.c_dtype])) if self.c_numel else 0

    def __copy__(self):
        cdef FakeTensor t = alias_of(self)
        set_requires_grad(t, needs_grad(self))
        t.c_constant = self.c_constant
        t.c_real = self.c_real
        return t

    @staticmethod
    def from_tensor(t, fake_mode):
        """`fake_mode.from_tensor(t)`."""
        return fake_mode.from_tensor(t)

    @staticmethod
    def _find_common_device(func, flat_args):
        """(device of the fake tensors among `flat_args`, whether only numbers were given); see `devices.find_common_device`."""
        return find_common_device(func, flat_args)

    @staticmethod
    def _normalize_fake_device(device):
        """The device with an index, for those that have one."""
        return normalized(dtypes.device_of(device))

    def get_nested_int(self, *, coeff=1):
        """Refused: nested ints are symbolic sizes."""
        if self.nested_int_memo is None:
            self.nested_int_memo = self.c_mode.create_symbolic_nested_int(nt_tensor_id=None)
        return self.nested_int_memo * coeff

    def tolist(self):
        """Nested lists of `item()`: DataDependentOutputException unless there is no element or the value is known."""
        if self.dim() == 0:
            return self.item()
        return [row.tolist() for row in self]

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        """Without an active mode, the mode of the arguments handles the call; other subclasses must handle theirs first."""
        if any([not issubclass(t, FakeTensor) and t is not Tensor for t in types]):
            return NotImplemented
        mode = find_mode(args, kwargs or {})
        if mode is None:
            raise AssertionError(f"{func}: no fake tensor among the arguments")
        if _get_dispatch_mode(FAKE_KEY) is not None:
            return NotImplemented
        with mode:
            return func(*args, **(kwargs or {}))

    def __reduce_ex__(self, protocol):
        raise RuntimeError("a fake tensor has no values to pickle")


cdef bint in_kernel(object mode) noexcept:
    return mode is not None and (<FakeState>mode).in_kernel()


cdef object find_mode(object args, dict kwargs):
    for value in list(args) + list(kwargs.values()):
        if isinstance(value, FakeTensor):
            return (<FakeTensor>value).c_mode
        if isinstance(value, (list, tuple)):
            mode = find_mode(value, {})
            if mode is not None:
                return mode
    return None


# ---- the constructor -------------------------------------------------------------------------------------------------

# State of a fake tensor's `__dict__` that the constructor takes and leaves out: a new tensor has no memos.
cdef frozenset ignored_state = frozenset(["_debug_trace"] + [
    f"_{name}{part}" for name in ("nonzero_memo", "item_memo", "unique_memo", "unique_consecutive_memo", "nested_int_memo")
    for part in ("", "_vc", "_epoch")])


cdef dtypes.device one_device(dict given):
    """The device of the arguments in `given`, which must agree."""
    cdef dtypes.device dev = None, other
    for name, value in given.items():
        if value is None:
            continue
        other = normalized(dtypes.device_of(value))
        if dev is not None and dev != other:
            raise ValueError(f"FakeTensor: conflicting devices {dev} and {name}={other}")
        if dev is None:
            dev = other
    if dev is None:
        raise TypeError("FakeTensor: missing argument 'device' (or 'fake_device')")
    return dev


def construct(FakeTensor self not None, fake_mode_or_elem=None, elem=None, device=None, constant=None, real_tensor=None,
              pytype=None, dispatch_keys=None, *, fake_mode=None, fake_device=None, _fake_device=None, requires_grad=None,
              bint _is_param=False,
              **state):
    """Fill in a blank fake tensor from the arguments of `FakeTensor(...)`."""
    cdef Tensor meta
    cdef dtypes.device dev
    for name in state:
        if name not in ignored_state:
            raise TypeError(f"FakeTensor: unexpected keyword argument {name!r}")
    if isinstance(fake_mode_or_elem, FakeState):
        if fake_mode is not None and fake_mode is not fake_mode_or_elem:
            raise TypeError("FakeTensor: two modes were given")
        fake_mode = fake_mode_or_elem
    elif fake_mode_or_elem is not None:
        if not isinstance(fake_mode_or_elem, Tensor) or elem is not None:
            raise TypeError("FakeTensor: expected (fake_mode, elem, ...) or (elem, fake_mode=..., ...), "
                            f"got {type(fake_mode_or_elem).__name__} first")
        elem = fake_mode_or_elem
    if not isinstance(fake_mode, FakeState):
        raise TypeError("FakeTensor: missing argument 'fake_mode'")
    if not isinstance(elem, Tensor):
        raise TypeError("FakeTensor: missing argument 'elem'")
    dev = one_device({"device": device, "fake_device": fake_device, "_fake_device": _fake_device})
    meta = <Tensor>elem
    if meta.c_devtype != DEV_META and not (meta.c_flags & TF_FAKE and in_kernel(fake_mode)):
        raise AssertionError(f"FakeTensor: elem must be on the meta device, got {meta.device}")
    if dev.devtype == DEV_META and not (<FakeState>fake_mode).allow_meta:
        raise AssertionError("FakeTensor: this mode does not allow meta as a fake device")
    if isinstance(real_tensor, FakeTensor):
        raise AssertionError("FakeTensor: real_tensor must be a real tensor")
    begin(self, fake_mode, meta.c_storage, dev.devtype, dev.devindex, meta.c_dtype, meta.c_keys & KEPT_KEYS,
          meta.c_flags & TF_INFERENCE != 0)
    copy_geometry(self, meta)
    self.c_layout = meta.c_layout
    share_version(self, meta)
    set_requires_grad(self, needs_grad(meta) if requires_grad is None else requires_grad)
    self.constant = constant
    self.real_tensor = real_tensor
    if pytype is not None:
        self.pytype = pytype
    if dispatch_keys is not None:
        self.dispatch_keys = dispatch_keys
    if _is_param:
        self._is_param = True


cdef extern from *:
    """
    /* `FakeTensor.__new__` with arguments fills the blank one in, so that classes below need not call `__init__`. Makers in C
       give no arguments. */
    static newfunc dispatch_blank_fake;
    static PyObject* dispatch_construct_fake;
    static PyObject* dispatch_new_fake(PyTypeObject* tp, PyObject* args, PyObject* kwargs) {
        PyObject *o = dispatch_blank_fake(tp, args, kwargs), *r;
        if (!o || (!PyTuple_GET_SIZE(args) && (!kwargs || !PyDict_GET_SIZE(kwargs)))) return o;
        r = PyObject_CallFunctionObjArgs(dispatch_construct_fake, o, args, kwargs ? kwargs : Py_None, NULL);
        if (!r) { Py_DECREF(o); return NULL; }
        Py_DECREF(r);
        return o;
    }
    static inline void dispatch_construct_by(PyTypeObject* tp, PyObject* construct) {
        Py_INCREF(construct);
        dispatch_construct_fake = construct;
        dispatch_blank_fake = tp->tp_new;
        tp->tp_new = dispatch_new_fake;
        PyType_Modified(tp);
    }
    """
    void construct_by "dispatch_construct_by"(PyTypeObject* tp, object construct) noexcept


construct_by(<PyTypeObject*>FakeTensor, lambda self, args, kwargs: construct(self, *args, **(kwargs or {})))


# ---- made in C -------------------------------------------------------------------------------------------------------

cdef uint64_t KEPT_KEYS = KS_Conjugate | KS_Negative | KS_ZeroTensor


cdef Storage new_fake_storage(int64_t nbytes):
    cdef Storage s = Storage.__new__(Storage)
    s.c_nbytes = nbytes
    s.devtype = DEV_META
    s.devindex = -1
    s.c_resizable = True
    return s


cdef inline int begin(FakeTensor t, object mode, Storage storage, int devtype, int devindex, int dtype, uint64_t keys,
                      bint inference) except -1:
    """All but the geometry."""
    t.c_storage = storage
    t.c_devtype = devtype
    t.c_devindex = devindex
    t.c_dtype = dtype
    t.c_keys = KS_BY_DEVICE_TYPE[devtype] | KS_Python | KS_PythonTLSSnapshot | keys
    if inference:
        t.c_keys &= ~(KS_AUTOGRAD | KS_ADInplaceOrView)
        t.c_flags |= TF_INFERENCE
    t.c_mode = mode
    return 0


cdef inline int copy_geometry(FakeTensor f, Tensor t) except -1:
    return set_known_geometry(f, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset, t.c_numel, t.c_flags, t.c_symbols)


cdef FakeTensor new_blank_fake(object mode, Storage storage, int devtype, int devindex, int dtype, uint64_t keys, bint inference):
    cdef FakeTensor t = FakeTensor.__new__(FakeTensor)
    begin(t, mode, storage, devtype, devindex, dtype, keys, inference)
    return t


cdef FakeTensor new_fake_like(object mode, Storage storage, Tensor t, dtypes.device dev):
    cdef FakeTensor f = FakeTensor.__new__(FakeTensor)
    begin(f, mode, storage, dev.devtype, dev.devindex, t.c_dtype, t.c_keys & KEPT_KEYS, t.c_flags & TF_INFERENCE != 0)
    copy_geometry(f, t)
    f.c_layout = t.c_layout
    f.c_flags |= t.c_flags & TF_WRAPPED_NUMBER
    return f


cdef FakeTensor alias_of(FakeTensor t):
    """A fake tensor over the same storage, with nothing of autograd's and no values."""
    if t.c_mode is None:
        raise RuntimeError("this fake tensor was made without a mode")
    return new_fake_like(t.c_mode, t.c_storage, t, dtypes.new_device(t.c_devtype, t.c_devindex))


keep_blocks(<PyTypeObject*>FakeTensor)
