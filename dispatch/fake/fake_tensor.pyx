"""FakeTensor: metadata on a device that need not exist, and the mode it belongs to (torch._subclasses.fake_tensor.FakeTensor).

The device of a fake tensor is in the Tensor struct itself; kernels see it as it is, and `meta_in_include` of the thread's state makes the
dispatcher serve it with Meta kernels.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DEV_META
from dispatch._C.keys cimport (
    KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_DEVICE_TYPE, KS_Python, KS_PythonTLSSnapshot,
)
from dispatch._C.tensor cimport TF_FAKE, TF_HAS_TORCH_DISPATCH, TF_INFERENCE, Storage, Tensor, set_geometry
from dispatch._C.tls cimport tls

from dispatch._C.tls import _get_dispatch_mode, _TorchDispatchModeKey


cdef class FakeTensor(Tensor):
    """A tensor that has metadata and no values. Made by `FakeTensorMode.from_tensor` and by operators under the mode.

    `FakeTensor(fake_mode, elem, device)` gives the metadata of a meta tensor `elem` a device.
    """

    def __cinit__(self, *args, **kwargs):
        self.c_flags |= TF_FAKE | TF_HAS_TORCH_DISPATCH

    def __init__(self, fake_mode=None, elem=None, device=None, constant=None, *args, **kwargs):
        cdef Tensor meta
        cdef dtypes.device dev
        if self.c_mode is not None:
            return
        if fake_mode is None or not isinstance(elem, Tensor):
            raise TypeError("FakeTensor(fake_mode, elem, device): needs a mode, a meta tensor and a device")
        meta = <Tensor>elem
        if meta.c_devtype != DEV_META:
            raise AssertionError(f"FakeTensor: elem must be on the meta device, got {meta.device}")
        dev = normalized(dtypes.device_of(device))
        if dev.devtype == DEV_META and not fake_mode.allow_meta:
            raise AssertionError("FakeTensor: the meta device is not allowed as a fake device")
        fill(self, fake_mode, new_fake_storage(meta.c_storage.c_nbytes, dev.devtype, dev.devindex), meta.c_dtype, 0,
             meta.c_ndim, meta.c_sizes, meta.c_strides, meta.c_offset)
        self.c_constant = constant

    @property
    def fake_mode(self):
        return self.c_mode

    @property
    def fake_device(self):
        return dtypes.new_device(self.c_devtype, self.c_devindex)

    @property
    def constant(self):
        """A real tensor with the same values, or None."""
        return self.c_constant

    @constant.setter
    def constant(self, value):
        self.c_constant = value

    @property
    def names(self):
        raise NotImplementedError("FakeTensor doesn't support named tensors")

    @staticmethod
    def __torch_dispatch__(func, types, args=(), kwargs=None):
        """Without an active mode, the mode of the arguments handles the call; other subclasses must handle theirs first."""
        if not all([issubclass(t, FakeTensor) for t in types]):
            return NotImplemented
        mode = find_mode(args, kwargs or {})
        if mode is None or mode is _get_dispatch_mode(_TorchDispatchModeKey.FAKE):
            return NotImplemented
        with mode:
            return func(*args, **(kwargs or {}))

    def __reduce_ex__(self, protocol):
        raise RuntimeError("a fake tensor has no values to pickle")


cdef object find_mode(object args, dict kwargs):
    for value in list(args) + list(kwargs.values()):
        if isinstance(value, FakeTensor):
            return (<FakeTensor>value).c_mode
        if isinstance(value, (list, tuple)):
            mode = find_mode(value, {})
            if mode is not None:
                return mode
    return None


cdef dtypes.device normalized(dtypes.device dev):
    """An accelerator without an index is its first one."""
    if dev.devindex >= 0 or dev.devtype == DEV_CPU or dev.devtype == DEV_META:
        return dev
    return dtypes.new_device(dev.devtype, 0)


cdef Storage new_fake_storage(int64_t nbytes, int devtype, int devindex):
    cdef Storage s = Storage.__new__(Storage)
    s.c_nbytes = nbytes
    s.devtype = devtype
    s.devindex = devindex
    s.c_resizable = True
    s.fake = True
    return s


cdef int fill(FakeTensor t, object mode, Storage storage, int dtype, uint64_t keys, int ndim, const int64_t* sizes,
              const int64_t* strides, int64_t offset) except -1:
    t.c_storage = storage
    t.c_devtype = storage.devtype
    t.c_devindex = storage.devindex
    t.c_dtype = dtype
    t.c_keys = KS_BY_DEVICE_TYPE[storage.devtype] | KS_Python | KS_PythonTLSSnapshot | keys
    if tls().inference_mode:
        t.c_keys &= ~(KS_AUTOGRAD | KS_ADInplaceOrView)
        t.c_flags |= TF_INFERENCE
    t.c_mode = mode
    return set_geometry(t, ndim, sizes, strides, offset)


cdef FakeTensor new_fake(object mode, Storage storage, int dtype, uint64_t keys, int ndim, const int64_t* sizes,
                         const int64_t* strides, int64_t offset):
    cdef FakeTensor t = FakeTensor.__new__(FakeTensor)
    fill(t, mode, storage, dtype, keys, ndim, sizes, strides, offset)
    return t
