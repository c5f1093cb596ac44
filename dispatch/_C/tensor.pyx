"""Tensor: one C struct with all metadata, the Python object itself being the tensor.

Kernels make tensors through the functions of the `.pxd`; `slots` completes the type with Python's operators, `dispatch/tensor`
enters what is written in Python and the methods of operators: attributes are looked up as any object's, so that calls of methods
make no bound method.
Sizes, strides, offset and storage change only through `set_geometry` and `set_storage`: all checks first, then the writes.
"""
cimport cython
cimport numpy as cnp
from cpython.buffer cimport PyObject_GetBuffer
from cpython.long cimport PyLong_FromVoidPtr
from cpython.object cimport PyObject, PyTypeObject
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    DEV_CPU, DEV_META, LAYOUT_sparse_coo, LAYOUT_strided, MF_channels_last, MF_channels_last_3d, MF_contiguous, ST_float32,
    is_complex_code, is_floating_code,
)
from dispatch._C.errors cimport checked_flag
from dispatch._C.expressed cimport Expressed, express, pin_numbers
from dispatch._C.geometry cimport (
    TF_CHANNELS_LAST, TF_CHANNELS_LAST_3D, TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE, bytes_of, check_steps, check_within,
    asked_channels_last, asked_contiguous, asked_dense, geometry_flags, mul_overflows, raise_numel_overflow, reach_of,
    wrapped_index,
)
from dispatch._C.keys cimport (
    KS_ADInplaceOrView, KS_AUTOGRAD, KS_BY_DEVICE_TYPE, KS_Conjugate, KS_Negative, KS_Python,
    KS_PythonTLSSnapshot, KS_ZeroTensor,
)
from dispatch._C.size cimport add_number_type, new_size, tuple_of
from dispatch._C.slots cimport complete_type, getitem_hook, hook, new_instance, setitem_hook
from dispatch._C.python_api cimport allocate_quietly
from dispatch._C.read_only cimport lent
from dispatch._C.storage cimport (
    Storage, check_pointer, grow_storage, has_bytes, new_storage, room_of, shared_owner,
)
from dispatch._C.symbolic cimport concrete, size_object
from dispatch._C.tls cimport ThreadState, n_dispatch_modes, tls

from dispatch._C.disabled import _disabled_torch_dispatch_impl, _disabled_torch_function_impl
from dispatch._C.size import Size
from dispatch._C.slots import _install_tensor_attribute

grad_flags = TF_REQUIRES_GRAD
cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyArray_Descr:
        pass
    object PyArray_NewFromDescr(PyTypeObject*, PyArray_Descr*, int, cnp.npy_intp*, cnp.npy_intp*, void*, int, PyObject*)
    PyTypeObject PyArray_Type

# ---- versions --------------------------------------------------------------------------------------------------------

cdef VersionCounter* get_counter(Tensor t) except NULL:
    if t.c_version == NULL:
        t.c_version = <VersionCounter*>malloc(sizeof(VersionCounter))
        if t.c_version == NULL:
            raise MemoryError()
        t.c_version.refs = 1
        t.c_version.value = 0
    return t.c_version


cdef inline void drop_counter(Tensor t) noexcept:
    if t.c_version != NULL:
        t.c_version.refs -= 1
        if t.c_version.refs == 0:
            free(t.c_version)
        t.c_version = NULL


cdef int bump_version(Tensor t) except -1:
    if t.c_flags & TF_INFERENCE:
        return 0
    get_counter(t).value += 1
    return 0


cdef int share_version(Tensor of_view, Tensor base) except -1:
    cdef VersionCounter* v
    if (base.c_flags | of_view.c_flags) & TF_INFERENCE:
        return 0
    v = get_counter(base)
    v.refs += 1
    drop_counter(of_view)
    of_view.c_version = v
    return 0


# ---- geometry --------------------------------------------------------------------------------------------------------

cdef int set_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef int64_t numel = 1, signs = offset
    cdef bint overflows = False
    cdef int i
    if ndim > 128:
        raise RuntimeError(f"a tensor has at most 128 dimensions, got {ndim}")
    for i in range(ndim):
        signs |= sizes[i]
        overflows |= mul_overflows(numel, sizes[i], &numel)
    if strides != NULL:
        for i in range(ndim):
            signs |= strides[i]
    if signs < 0:
        return set_signed_geometry(t, ndim, sizes, strides, offset)
    if overflows:
        raise_numel_overflow(ndim, sizes)
    if numel == 0 and strides == NULL:
        check_steps(ndim, sizes)
    write_geometry(t, ndim, sizes, strides, offset, numel)
    if t.c_symbols is not None:
        t.c_symbols = None
    if strides == NULL and ndim < 4:
        t.c_flags |= TF_CONTIGUOUS | TF_NON_OVERLAPPING_DENSE
    else:
        t.c_flags |= geometry_flags(ndim, t.c_sizes, t.c_strides, numel)
    return 0


cdef inline int write_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset,
                               int64_t numel) except -1:
    """The numbers, all checked; the flags of geometry are the caller's."""
    cdef int64_t* mem = t.c_inline
    cdef int64_t step = 1, size
    cdef uint32_t flags = t.c_flags & ~<uint32_t>TF_GEOMETRY_KEPT
    cdef int i
    if ndim > 5:
        mem = <int64_t*>malloc(2 * ndim * sizeof(int64_t))
        if mem == NULL:
            raise MemoryError()
        flags |= TF_HEAP_GEOMETRY | (TF_MANY_DIMS if ndim > 64 else 0)
    # loops, not memcpy: calling it costs more than the few numbers that there mostly are
    if strides == NULL:
        for i in range(ndim - 1, -1, -1):
            size = sizes[i]
            mem[i] = size
            mem[ndim + i] = step
            if i:                        # past the outermost it may overflow, and nobody reads it
                step *= size if size > 1 else 1
    else:
        for i in range(ndim):
            mem[i] = sizes[i]
            mem[ndim + i] = strides[i]
    if t.c_flags & TF_HEAP_GEOMETRY:
        free(t.c_sizes)
    t.c_sizes = mem
    t.c_strides = mem + ndim
    t.c_ndim = ndim
    t.c_numel = numel
    t.c_offset = offset
    t.c_flags = flags
    if t.c_array is not None:
        t.c_array = None
    return 0


cdef int set_signed_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    """Some number is negative: the handle of an expression, or a mistake. Where there are bytes, expressions are pinned."""
    cdef Expressed e
    express(&e, ndim, sizes, strides, offset,
            t.c_devtype == DEV_CPU and has_bytes(t.c_storage) and not t.c_flags & (TF_FAKE | TF_FUNCTIONAL))
    if e.pinned and t.c_storage is not blank_storage:
        check_within(room_of(t.c_storage), dtypes.itemsize_table()[t.c_dtype], ndim, e.sizes, e.strides, e.offset)
    write_geometry(t, ndim, e.sizes, e.strides, e.offset, e.numel)
    t.c_flags |= e.flags | (TF_SYMBOLIC if e.symbols != NULL else 0)
    t.c_symbols = <object>e.symbols if e.symbols != NULL else None
    return 0


cdef int set_known_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, int64_t numel,
                            uint32_t flags, object symbols) except -1:
    write_geometry(t, ndim, sizes, strides, offset, numel)
    t.c_flags |= flags & TF_GEOMETRY_KEPT
    t.c_symbols = symbols
    return 0


cdef inline int copy_geometry(Tensor t, Tensor b) except -1:        # over the same storage
    return set_known_geometry(t, b.c_ndim, b.c_sizes, b.c_strides, b.c_offset, b.c_numel, b.c_flags, b.c_symbols)


cdef int place_tensor(Tensor t, Storage storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1:
    cdef Expressed e
    cdef int64_t reach
    if has_bytes(storage):
        pin_numbers(&e, ndim, sizes, strides, offset)
        sizes = e.sizes
        strides = e.strides if strides != NULL else NULL
        offset = e.offset
    reach = reach_of(dtypes.itemsize_table()[t.c_dtype], ndim, sizes, strides, offset)
    check_kind(t, storage)
    if storage.c_resizable or has_bytes(storage):
        grow_storage(storage, reach)
    set_geometry(t, ndim, sizes, strides, offset)
    if storage is not t.c_storage:
        write_storage(t, storage)
    return 0


cdef int check_kind(Tensor t, Storage storage) except -1:
    """Fake tensors and functional wrappers change their geometry freely, so they never have bytes; nor have symbolic sizes."""
    if t.c_flags & (TF_FAKE | TF_FUNCTIONAL | TF_SYMBOLIC) and has_bytes(storage):
        kind = "functional" if t.c_flags & TF_FUNCTIONAL else "fake" if t.c_flags & TF_FAKE else "symbolic"
        raise RuntimeError(f"a {kind} tensor cannot take over a storage with bytes")
    return 0


cdef int set_storage(Tensor t, Storage storage) except -1:
    check_kind(t, storage)
    if has_bytes(storage):
        check_within(room_of(storage), dtypes.itemsize_table()[t.c_dtype], t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)
    return write_storage(t, storage)


cdef int write_storage(Tensor t, Storage storage) except -1:
    t.c_storage = storage
    if not t.c_flags & TF_FAKE:                # a fake tensor has a device of its own, its storage is on meta
        t.c_devtype = storage.devtype
        t.c_devindex = storage.devindex
    if t.c_array is not None:
        t.c_array = None
    return 0


cdef uint64_t keys_for(int devtype, int layout) except? 0:
    cdef uint64_t ks = KS_BY_DEVICE_TYPE[devtype]
    if layout != LAYOUT_strided:
        raise RuntimeError(f"tensors of layout {dtypes.get_layout(layout)} have no storage here")
    if tls().inference_mode:
        ks &= ~(KS_AUTOGRAD | KS_ADInplaceOrView)
    return ks


cdef int init_tensor(Tensor t, Storage storage, int dtype, uint64_t keys, int ndim, const int64_t* sizes,
                     const int64_t* strides, int64_t offset) except -1:
    t.c_storage = storage
    t.c_devtype = storage.devtype
    t.c_devindex = storage.devindex
    t.c_dtype = dtype
    t.c_keys = keys
    if tls().inference_mode:
        t.c_flags |= TF_INFERENCE
    return set_geometry(t, ndim, sizes, strides, offset)


cdef Tensor new_tensor(Storage storage, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset):
    cdef Tensor t = Tensor.__new__(Tensor)
    init_tensor(t, storage, dtype, keys_for(storage.devtype, LAYOUT_strided), ndim, sizes, strides, offset)
    return t


cdef Tensor new_tensor_within(Storage storage, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset):
    check_within(storage.c_nbytes, dtypes.itemsize_table()[dtype], ndim, sizes, strides, offset)
    return new_tensor(storage, dtype, ndim, sizes, strides, offset)


cdef Tensor new_empty(int dtype, int devtype, int devindex, int ndim, const int64_t* sizes, const int64_t* strides):
    cdef Tensor t = Tensor.__new__(Tensor)
    cdef ThreadState* ts = tls()
    cdef int64_t n
    t.c_dtype = dtype
    t.c_devtype = devtype
    t.c_devindex = devindex
    t.c_keys = KS_BY_DEVICE_TYPE[devtype]
    if ts.inference_mode:
        t.c_keys &= ~(KS_AUTOGRAD | KS_ADInplaceOrView)
        t.c_flags |= TF_INFERENCE
    set_geometry(t, ndim, sizes, strides, 0)
    if strides == NULL or t.c_flags & TF_NON_OVERLAPPING_DENSE:
        n = bytes_of(0, t.c_numel, dtypes.itemsize_table()[dtype], ndim, sizes, strides)
    else:
        n = reach_of(dtypes.itemsize_table()[dtype], ndim, t.c_sizes, t.c_strides, 0)
    t.c_storage = new_storage(n, devtype, devindex)
    return t


cdef inline int begin_alias(Tensor t, Tensor base, int dtype) except -1:
    """What each tensor over the storage of `base` has of it; the geometry is still to come."""
    t.c_storage = base.c_storage
    t.c_devtype = base.c_devtype
    t.c_devindex = base.c_devindex
    t.c_dtype = dtype
    t.c_layout = base.c_layout
    t.c_keys = base.c_keys & ~(KS_Python | KS_PythonTLSSnapshot)
    t.c_flags = base.c_flags & TF_INFERENCE
    return 0


cdef Tensor new_view_dtype(Tensor base, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset):
    cdef Tensor t = Tensor.__new__(Tensor)
    begin_alias(t, base, dtype)
    if sizes == base.c_sizes and strides == base.c_strides and offset == base.c_offset and ndim == base.c_ndim:
        copy_geometry(t, base)
    else:
        set_geometry(t, ndim, sizes, strides, offset)
    return t


cdef Tensor new_view(Tensor base, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset):
    return new_view_dtype(base, base.c_dtype, ndim, sizes, strides, offset)


cdef int raise_no_bytes(Tensor t) except -1:
    kind = "functional tensor" if t.c_flags & TF_FUNCTIONAL else "tensor"
    error = RuntimeError(f"a {kind} of type {type(t).__name__} with sizes {tuple_of(t.c_ndim, t.c_sizes)} on "
                         f"{dtypes.new_device(t.c_devtype, t.c_devindex)} has no bytes that could be read or written")
    error._unnamed = True
    raise error


cdef object get_numpy(Tensor t):
    cdef cnp.npy_intp dims[64]
    cdef cnp.npy_intp steps[64]
    cdef int i, itemsize = dtypes.itemsize_table()[t.c_dtype]
    cdef char* data
    cdef object owner
    if t.c_devtype != DEV_CPU or t.c_flags & (TF_FAKE | TF_SYMBOLIC):
        raise_no_bytes(t)
    if t.c_ndim > 64:
        raise ValueError(f"numpy arrays have at most 64 dimensions, the tensor has {t.c_ndim}")
    data = data_of(t, itemsize) if t.c_numel else t.c_storage.data
    if t.c_array is not None and cnp.PyArray_DATA(t.c_array) == <void*>data:
        return t.c_array
    if t.c_storage.c_nbytes < reach_of(itemsize, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset):
        raise RuntimeError(
            f"the storage of {t.c_storage.c_nbytes} bytes is too small for sizes {tuple_of(t.c_ndim, t.c_sizes)}")
    bytes_of(0, t.c_numel, itemsize, t.c_ndim, t.c_sizes, t.c_strides)         # numpy counts those of a view too
    for i in range(t.c_ndim):
        dims[i] = t.c_sizes[i]
        if mul_overflows(t.c_strides[i], itemsize, &steps[i]):                 # of a dimension that nobody steps along
            steps[i] = 0
    descr = dtypes.numpy_descr(t.c_dtype)
    Py_INCREF(descr)
    arr = PyArray_NewFromDescr(&PyArray_Type, <PyArray_Descr*>descr, t.c_ndim, dims, steps, data, cnp.NPY_ARRAY_WRITEABLE, NULL)
    owner = shared_owner(t.c_storage)
    if owner is not None and data != NULL:
        cnp.set_array_base(<cnp.ndarray>arr, owner)
    t.c_array = arr
    return arr


# ---- the tensor ------------------------------------------------------------------------------------------------------

cdef object disabled_dispatch = _disabled_torch_dispatch_impl
cdef object disabled_function = _disabled_torch_function_impl


cdef int set_class_flags(Tensor t, type cls) except -1:
    """Mark an instance of a subclass: Python keys for a `__torch_dispatch__` of its own, a flag for a `__torch_function__`."""
    if cls is Tensor:
        return 0
    if getattr(cls, "__torch_function__", disabled_function) is not disabled_function:
        t.c_flags |= TF_HAS_TORCH_FUNCTION
    if getattr(cls, "__torch_dispatch__", disabled_dispatch) is disabled_dispatch:
        return 0
    t.c_flags |= TF_HAS_TORCH_DISPATCH
    t.c_keys |= KS_Python | KS_PythonTLSSnapshot
    return 0


cdef Tensor alias_as(Tensor base, type cls):
    """A tensor of class `cls` over the same storage, with the same geometry and keys."""
    cdef Tensor t = cls.__new__(cls) if cls is Tensor else blank_of(cls)
    begin_alias(t, base, base.c_dtype)
    t.c_flags |= base.c_flags & (TF_WRAPPED_NUMBER | TF_FUNCTIONAL)
    t.c_extra = base.c_extra if base.c_flags & TF_FUNCTIONAL else None
    copy_geometry(t, base)
    set_class_flags(t, cls)
    return t


cdef Tensor blank_of(type cls):
    if not issubclass(cls, Tensor):
        raise TypeError(f"cls must be a subclass of Tensor, got {cls!r}")
    return <Tensor>new_instance(<PyTypeObject*>cls)


cdef Storage blank_storage = new_storage(0, DEV_CPU, -1)     # of every tensor that no maker has filled in
blank_storage.c_resizable = False
cdef uint64_t CPU_KEYS = KS_BY_DEVICE_TYPE[<int>DEV_CPU]

def _is_blank(Tensor tensor not None):
    """Whether no maker has given the tensor a storage yet."""
    return tensor.c_storage is blank_storage


cdef object address_of(Tensor t):
    """Where the first element is; 0 when there is none."""
    if t.c_flags & TF_CUSTOM_SIZES:
        answer(t, "numel")
    if t.c_storage.data == NULL or t.c_storage.c_nbytes == 0 or t.c_numel == 0:
        return 0
    return PyLong_FromVoidPtr(data_of(t, dtypes.itemsize_table()[t.c_dtype]))


@cython.freelist(256)
cdef class Tensor:
    """A multi-dimensional array with dtype, device and layout, on which operators are dispatched (torch.Tensor).

    `Tensor(data)` and `Tensor(*sizes)` make a tensor of the default dtype, as PyTorch's legacy constructor does.
    """

    def __cinit__(self, *args, **kwargs):
        # an empty CPU tensor until its maker fills it in: nobody reads bytes that are not there
        self.c_sizes = self.c_inline
        self.c_strides = self.c_inline + 1
        self.c_inline[1] = 1
        self.c_ndim = 1
        self.c_devindex = -1
        self.c_dtype = ST_float32
        self.c_keys = CPU_KEYS
        self.c_storage = blank_storage
        self.c_flags = TF_CONTIGUOUS | TF_NON_OVERLAPPING_DENSE

    def __init__(self, *args, **kwargs):
        if self.c_storage is blank_storage:
            hook("__init__")(self, *args, **kwargs)

    def __getbuffer__(self, Py_buffer* view, int flags):
        """The memory as `memoryview` and numpy see it; the view belongs to the array, which keeps the bytes alive."""
        if n_dispatch_modes(tls()) or tls().n_function_modes or self.c_flags & TF_HAS_TORCH_FUNCTION:
            raise BufferError("a mode or handler looks on: arrays come from __array__, which it sees")
        if needs_grad(self) or self.c_flags & TF_HAS_TORCH_DISPATCH or self.c_keys & (KS_Conjugate | KS_Negative):
            raise BufferError("memory of what requires grad, has a bit or a __torch_dispatch__ is not shared: detach or resolve it")
        try:
            PyObject_GetBuffer(lent(get_numpy(self), self.c_storage), view, flags)
        except BufferError:
            raise
        except (RuntimeError, TypeError, ValueError) as error:
            raise BufferError(str(error)) from None

    # -- metadata
    @property
    def shape(self):
        """Sizes, as a `Size`."""
        if self.c_flags & TF_CUSTOM_SIZES:
            return Size(answer(self, "sym_size"))
        return new_size(self.c_ndim, self.c_sizes)

    def size(self, dim=None):
        """All sizes as a `Size`, or that of dimension `dim` (IndexError when out of range)."""
        if dim is None:
            return Size(answer(self, "sym_size")) if self.c_flags & TF_CUSTOM_SIZES else new_size(self.c_ndim, self.c_sizes)
        if self.c_flags & TF_CUSTOM_SIZES:
            return answered_size(self, dim)
        return size_object(self.c_sizes[wrapped_index(dim, self.c_ndim)])

    def stride(self, dim=None):
        """All strides in elements as a tuple, or that of dimension `dim`."""
        if self.c_flags & TF_CUSTOM_STRIDES:
            steps = answer(self, "sym_stride")
            return steps if dim is None else steps[wrapped_index(dim, len(steps))]
        if dim is None:
            return tuple_of(self.c_ndim, self.c_strides)
        return size_object(self.c_strides[wrapped_index(dim, self.c_ndim)])

    def storage_offset(self):
        """Offset of the first element in the storage, in elements."""
        if self.c_flags & TF_CUSTOM_SIZES:
            return answer(self, "sym_storage_offset")
        return size_object(self.c_offset)

    @property
    def dtype(self):
        return dtypes.get_dtype(self.c_dtype)

    @property
    def device(self):
        return device_seen(self)

    @property
    def layout(self):
        if self.c_flags & TF_CUSTOM_LAYOUT:
            return answer(self, "layout")
        return dtypes.get_layout(self.c_layout)

    @property
    def ndim(self):
        return answer(self, "dim") if self.c_flags & TF_CUSTOM_SIZES else self.c_ndim

    def dim(self):
        """Number of dimensions."""
        if self.c_flags & TF_CUSTOM_SIZES:
            return answer(self, "dim")
        return self.c_ndim

    def numel(self):
        """Number of elements."""
        if self.c_flags & TF_CUSTOM_SIZES:
            return answer(self, "sym_numel")
        return size_object(self.c_numel)

    def element_size(self):
        """Bytes of one element."""
        return dtypes.itemsize_table()[self.c_dtype]

    @property
    def itemsize(self):
        return dtypes.itemsize_table()[self.c_dtype]

    @property
    def nbytes(self):
        if self.c_flags & (TF_CUSTOM_SIZES | TF_CUSTOM_LAYOUT):
            return answered_nbytes(self)
        return size_object(self.c_numel) * dtypes.itemsize_table()[self.c_dtype]     # a view's may not fit in 64 bits

    def get_device(self):
        """Device index; -1 on the CPU."""
        return device_seen(self).devindex

    def is_contiguous(self, *, memory_format=None):
        """Whether the elements lie in memory in the order of that format (contiguous_format by default)."""
        cdef int mf = MF_contiguous if memory_format is None else (<dtypes.memory_format?>memory_format).code
        if self.c_flags & TF_CUSTOM_STRIDES:
            return hook("answer")(self, "is_contiguous", memory_format)
        return is_contiguous_as(self, mf)

    def is_floating_point(self):
        return dtypes.is_floating_code(self.c_dtype)

    def is_complex(self):
        return dtypes.is_complex_code(self.c_dtype)

    def is_signed(self):
        return dtypes.get_dtype(self.c_dtype).is_signed

    def is_conj(self):
        """Whether the conjugate bit is set: values are read conjugated."""
        return self.c_keys & KS_Conjugate == KS_Conjugate

    def is_neg(self):
        """Whether the negative bit is set: values are read negated."""
        return self.c_keys & KS_Negative == KS_Negative

    def _is_zerotensor(self):
        return self.c_keys & KS_ZeroTensor == KS_ZeroTensor

    def is_inference(self):
        """Whether the tensor was made in inference mode."""
        return self.c_flags & TF_INFERENCE != 0

    @property
    def is_meta(self):
        return device_seen(self).devtype == DEV_META

    @property
    def is_cpu(self):
        return device_seen(self).devtype == DEV_CPU

    @property
    def is_cuda(self):
        return device_seen(self).devtype == dtypes.DEV_CUDA

    @property
    def is_sparse(self):
        return self.c_layout == LAYOUT_sparse_coo

    def untyped_storage(self):
        """The storage, shared by all views."""
        return self.c_storage

    def data_ptr(self):
        """Address of the first element; 0 when there is none. RuntimeError where `_set_throw_on_mutable_data_ptr` forbids it."""
        check_pointer(self.c_storage)
        return address_of(self)

    def const_data_ptr(self):
        """`data_ptr` for reading: `_set_throw_on_mutable_data_ptr` does not forbid it."""
        return address_of(self)

    @property
    def requires_grad(self):
        return needs_grad(self)

    @requires_grad.setter
    def requires_grad(self, value):
        if self.grad_fn is not None:
            raise RuntimeError("you can only change requires_grad flags of leaf variables: use .detach()")
        allow_grad(self, checked_flag("requires_grad", value, RuntimeError), "only")

    def requires_grad_(self, requires_grad=True):
        """Set `requires_grad` in place; RuntimeError for integer tensors."""
        set_requires_grad(self, checked_flag("requires_grad", requires_grad, TypeError))
        return self

    @property
    def is_leaf(self):
        return self.grad_fn is None

    @property
    def grad_fn(self):
        return self.c_autograd if self.c_base is None else hook("grad_fn")(self)

    def backward(self, *args, **kwargs):
        raise RuntimeError("backward() is not possible: this library has no autograd engine" if self.requires_grad else
                           "element 0 of tensors does not require grad and does not have a grad_fn")

    @property
    def _version(self):
        if self.c_flags & TF_INFERENCE:
            raise RuntimeError("Inference tensors do not track version counter.")
        return get_version(self)

    @property
    def _base(self):
        return self.c_base

    def _is_view(self):
        return self.c_flags & TF_IS_VIEW != 0

    @property
    def is_view(self):
        return self.c_flags & TF_IS_VIEW != 0

    @property
    def data(self):
        """The same values without autograd's relations, and with a version counter of its own."""
        cdef ThreadState* ts = tls()
        if not ts.excluded & KS_Python and (self.c_keys & KS_Python or n_dispatch_modes(ts) and not self.c_flags & TF_FUNCTIONAL):
            found = hook("data")(self)       # PyTorch detaches, which handlers see
            if isinstance(found, Tensor) and found is not self:      # this object: a mode that traces knows it by identity
                if type(found) is Tensor:
                    (<Tensor>found).c_base = (<Tensor>found).c_autograd = None
                    (<Tensor>found).c_flags &= ~<uint32_t>(TF_IS_VIEW | TF_REQUIRES_GRAD | TF_VIEW_MARKS)
                if not (<Tensor>found).c_flags & TF_IS_VIEW:
                    drop_counter(<Tensor>found)
            return found
        return alias_as(self, <type>type(self) if self.c_keys & KS_Python else Tensor)

    @data.setter
    def data(self, value):
        """Take memory, sizes and dtype of another tensor; class, version and autograd's marks stay."""
        cdef Tensor t
        if not isinstance(value, Tensor):
            raise TypeError(f"Tensor.data: expected a tensor, got {type(value).__name__}")
        t = <Tensor>value
        if t.c_devtype != self.c_devtype or t.c_keys & KS_Python & ~self.c_keys:       # a wrapper has no memory to give
            raise RuntimeError(f"Tensor.data: a tensor on {t.device} cannot take the place of one on {self.device}")
        if needs_grad(self) and not (is_floating_code(t.c_dtype) or is_complex_code(t.c_dtype)):
            raise RuntimeError(f"Tensor.data: {t.dtype} cannot stand in a tensor that requires grad")
        check_kind(self, t.c_storage)
        set_geometry(self, t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)       # as sound as it was there
        self.c_storage = t.c_storage
        self.c_dtype = t.c_dtype

    @property
    def __dict__(self):
        if self.c_dict == NULL:
            d = {}
            Py_INCREF(d)
            self.c_dict = <PyObject*>d
        return <object>self.c_dict

    # -- Python protocol
    def __hash__(self):
        return <Py_ssize_t><void*>self           # id(x), as PyTorch has it

    def __len__(self):
        if self.c_flags & (TF_CUSTOM_SIZES | TF_HAS_TORCH_FUNCTION) or tls().n_function_modes:
            return hook("__len__")(self)
        if self.c_ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return concrete(self.c_sizes[0])

    def __repr__(self):
        return hook("__repr__")(self)

    def __getitem__(self, index):
        return (hook("__getitem__") if getitem_hook is None else getitem_hook)(self, index)

    def __setitem__(self, index, value):
        (hook("__setitem__") if setitem_hook is None else setitem_hook)(self, index, value)

    def __delitem__(self, index):
        raise TypeError(f"'{type(self).__name__}' object does not support item deletion")

    def __iter__(self):
        return hook("__iter__")(self)

    def __contains__(self, element):
        return hook("__contains__")(self, element)

    def __bool__(self):
        r = hook("__bool__")(self)
        if type(r) is not bool:          # the slot of a compiled class asks any object for its truth
            raise TypeError(f"__bool__ should return bool, returned {type(r).__name__}")
        return r

    def __complex__(self):
        return hook("__complex__")(self)


# ---- metadata that a subclass answers itself (`wrapper`) ----------------------------------------------------------------

cdef object answer(Tensor t, str question):
    return hook("answer")(t, question)


cdef object answered_size(Tensor t, object dim):
    d, sizes = wrapped_index(dim, answer(t, "dim")), answer(t, "sym_size")
    return sizes[wrapped_index(d, len(sizes))]     # two answers need not fit together


cdef object answered_nbytes(Tensor t):
    if t.c_flags & TF_CUSTOM_LAYOUT and answer(t, "layout") != dtypes.get_layout(LAYOUT_strided):
        raise RuntimeError("nbytes: only strided tensors have a number of bytes")
    n = answer(t, "numel") if t.c_flags & TF_CUSTOM_SIZES else size_object(t.c_numel)
    return n * dtypes.itemsize_table()[t.c_dtype]


cdef inline dtypes.device device_seen(Tensor t):
    if t.c_flags & TF_CUSTOM_DEVICE:
        return answer(t, "device")
    return dtypes.new_device(t.c_devtype, t.c_devindex)


cdef bint is_contiguous_as(Tensor t, int mf) except -1:
    """Whether `t` is contiguous in memory format `mf`; preserve asks for the contiguous one."""
    if mf == MF_channels_last or mf == MF_channels_last_3d:
        if t.c_flags & (TF_CHANNELS_LAST if mf == MF_channels_last else TF_CHANNELS_LAST_3D):
            return True
        return (t.c_flags & TF_SYMBOLIC and t.c_ndim == (4 if mf == MF_channels_last else 5)
                and asked_channels_last(t.c_ndim, t.c_sizes, t.c_strides))
    return is_contiguous(t)


cdef bint ask_contiguous(Tensor t) except -1:
    return asked_contiguous(t.c_ndim, t.c_sizes, t.c_strides, t.c_numel)


cdef bint ask_dense(Tensor t) except -1:
    return asked_dense(t.c_ndim, t.c_sizes, t.c_strides, t.c_numel)


cdef int set_requires_grad(Tensor t, bint value) except -1: return allow_grad(t, value, "Only")

cdef int allow_grad(Tensor t, bint value, str only) except -1:     # PyTorch writes "only" where the attribute is set
    if value:
        if not (dtypes.is_floating_code(t.c_dtype) or dtypes.is_complex_code(t.c_dtype)):
            raise RuntimeError(f"{only} Tensors of floating point and complex dtype can require gradients")
        if t.c_flags & TF_INFERENCE and not tls().inference_mode:
            raise RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        begin_grad(t)
    else:
        if t.c_autograd is not None and t.c_flags & TF_REQUIRES_GRAD:
            raise RuntimeError("you can only change requires_grad flags of leaf variables: use .detach()")
        t.c_flags &= ~<uint32_t>TF_REQUIRES_GRAD
    return 0


# ---- the type, completed ---------------------------------------------------------------------------------------------

def fill_instance(Tensor tensor not None, tuple args, kwargs):
    """What `Tensor(*args, **kwargs)` makes, put into an instance of a Python subclass."""
    hook("__init__")(tensor, *args, **(kwargs or {}))


cdef int complete() except -1:
    cdef Tensor probe = Tensor.__new__(Tensor)
    allocate_quietly(<PyTypeObject*>Tensor)
    add_number_type(Tensor)
    complete_type(<PyTypeObject*>Tensor, <char*>&probe.c_dict - <char*><void*>probe, fill_instance)
    _install_tensor_attribute("__torch_dispatch__", disabled_dispatch)
    return 0


complete()
