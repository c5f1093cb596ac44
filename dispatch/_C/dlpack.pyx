"""DLPack: CPU tensors lend their memory to other array libraries, and borrow theirs.

`tensor/methods.py` enters `to_dlpack` and `dlpack_device` as `Tensor.__dlpack__` and `__dlpack_device__`;
`dispatch.from_dlpack` is the way in. A capsule holds the object that keeps the bytes alive, not the
tensor, so either side may be dropped, or resized, first. Nothing is copied unless `copy=True` asks
for it, and a capsule that is refused stays unused: its own destructor frees it.
"""
import enum

from cpython.object cimport PyObject
from cpython.pycapsule cimport (
    PyCapsule_CheckExact, PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New, PyCapsule_SetName,
)
from cpython.ref cimport Py_INCREF, Py_XDECREF
from libc.stdint cimport int64_t, INT64_MAX
from libc.stdlib cimport free, malloc

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU, DEV_PRIVATEUSEONE, DTYPES, LAYOUT_strided, ST_COUNT, ST_uint8
from dispatch._C.keys cimport KS_Conjugate, KS_Negative
from dispatch._C.geometry cimport reach_of, span_of
from dispatch._C.returned cimport ints_of
from dispatch._C.read_only cimport is_read_only, read_only
from dispatch._C.storage cimport new_borrowed_storage
from dispatch._C.tensor cimport TF_FAKE, TF_SYMBOLIC, Tensor, data_of, get_numpy, needs_grad, new_tensor

__all__ = ["DLDeviceType", "dlpack_device", "from_dlpack", "to_dlpack"]

cdef enum:
    MAX_DIMS = 64

cdef const char* OLD = b"dltensor"
cdef const char* NEW = b"dltensor_versioned"


class DLDeviceType(enum.IntEnum):
    """DLPack's numbers of devices; tensors here can be on those that have a name above."""

    kDLCPU = DL_CPU
    kDLCUDA = DL_CUDA
    kDLCUDAHost = DL_CUDA_HOST
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = DL_METAL
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = DL_EXT_DEV
    kDLCUDAManaged = 13
    kDLOneAPI = DL_ONE_API
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


# ---- dtypes ----------------------------------------------------------------------------------------------------------

cdef int dtype_of(DLDataType wanted) except -1:
    cdef int i
    if wanted.lanes != 1:
        raise RuntimeError(f"from_dlpack: elements of {wanted.lanes} lanes are not supported")
    for i in range(ST_COUNT):
        if DTYPES[i].dlpack == wanted.code and 8 * DTYPES[i].size == wanted.bits:
            return i
    raise RuntimeError(f"from_dlpack: no dtype for DLPack's type code {wanted.code} of {wanted.bits} bits")


# ---- lending ---------------------------------------------------------------------------------------------------------

cdef struct Loan:
    DLManagedTensor old                  # one of the two is handed out
    DLManagedTensorVersioned versioned
    int64_t geometry[1]                  # sizes, then strides


cdef void end_loan(Loan* loan, PyObject* owner) noexcept with gil:
    Py_XDECREF(owner)
    free(loan)


cdef void delete_old(DLManagedTensor* managed) noexcept nogil:
    if managed != NULL:
        end_loan(<Loan*>(<char*>managed - <size_t>&(<Loan*>NULL).old), <PyObject*>managed.manager_ctx)


cdef void delete_versioned(DLManagedTensorVersioned* managed) noexcept nogil:
    if managed != NULL:
        end_loan(<Loan*>(<char*>managed - <size_t>&(<Loan*>NULL).versioned), <PyObject*>managed.manager_ctx)


cdef void drop_old(object capsule) noexcept:
    """A capsule that nobody took."""
    cdef DLManagedTensor* managed
    if PyCapsule_IsValid(capsule, OLD):
        managed = <DLManagedTensor*>PyCapsule_GetPointer(capsule, OLD)
        managed.deleter(managed)


cdef void drop_versioned(object capsule) noexcept:
    cdef DLManagedTensorVersioned* managed
    if PyCapsule_IsValid(capsule, NEW):
        managed = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, NEW)
        managed.deleter(managed)


cdef object keeper_of(Tensor t):
    """The object that keeps the bytes of `t` alive; None when it has none."""
    cdef int64_t nbytes = t.c_storage.c_nbytes
    cdef int64_t need = reach_of(dtypes.itemsize_table()[t.c_dtype], t.c_ndim, t.c_sizes, t.c_strides, t.c_offset)
    if need > nbytes or (need and t.c_storage.data == NULL):
        raise BufferError(f"__dlpack__: the storage of {nbytes} bytes is too small for the tensor")
    if t.c_storage.data != NULL:
        get_numpy(new_tensor(t.c_storage, ST_uint8, 1, &nbytes, NULL, 0))     # from now on the bytes have an owner
    return t.c_storage.owner


cdef int check_lendable(Tensor t) except -1:
    if needs_grad(t):
        raise BufferError("__dlpack__: tensors that require gradient are not lent, use detach() first")
    if t.c_keys & KS_Conjugate:
        raise BufferError("__dlpack__: the conjugate bit is set, use resolve_conj() first")
    if t.c_keys & KS_Negative:
        raise BufferError("__dlpack__: the negative bit is set, use resolve_neg() first")
    if t.c_layout != LAYOUT_strided:
        raise BufferError(f"__dlpack__: a tensor of layout {t.layout}, expected dispatch.strided")
    if t.c_flags & (TF_FAKE | TF_SYMBOLIC):
        raise BufferError("__dlpack__: a fake tensor has no memory")
    if t.c_devtype != DEV_CPU:
        raise BufferError(f"__dlpack__: a tensor on {t.device} has no memory here")
    if DTYPES[t.c_dtype].dlpack < 0:
        raise BufferError(f"__dlpack__: DLPack has no type for {t.dtype}")
    return 0


cdef int fill(DLTensor* target, Tensor t, int64_t* geometry) except -1:
    cdef int i
    target.data = data_of(t, dtypes.itemsize_table()[t.c_dtype]) if t.c_numel else t.c_storage.data
    target.device.device_type = DL_CPU
    target.device.device_id = 0
    target.ndim = t.c_ndim
    target.dtype.code = DTYPES[t.c_dtype].dlpack
    target.dtype.bits = 8 * DTYPES[t.c_dtype].size
    target.dtype.lanes = 1
    target.shape = geometry
    target.strides = geometry + t.c_ndim
    target.byte_offset = 0
    for i in range(t.c_ndim):
        target.shape[i] = t.c_sizes[i]
        target.strides[i] = t.c_strides[i]
    return 0


cdef object new_capsule(Tensor t, bint versioned, bint copied):
    cdef object owner = keeper_of(t)
    cdef Loan* loan = <Loan*>malloc(sizeof(Loan) + 2 * sizeof(int64_t) * t.c_ndim)
    if loan == NULL:
        raise MemoryError()
    Py_INCREF(owner)
    if versioned:
        fill(&loan.versioned.dl_tensor, t, loan.geometry)
        loan.versioned.version.major = 1
        loan.versioned.version.minor = 0
        loan.versioned.flags = (DL_IS_COPIED if copied else 0) | (DL_READ_ONLY if is_read_only(t.c_storage) else 0)
        loan.versioned.manager_ctx = <void*>owner
        loan.versioned.deleter = delete_versioned
        return PyCapsule_New(&loan.versioned, NEW, drop_versioned)
    fill(&loan.old.dl_tensor, t, loan.geometry)
    loan.old.manager_ctx = <void*>owner
    loan.old.deleter = delete_old
    return PyCapsule_New(&loan.old, OLD, drop_old)


def to_dlpack(Tensor self not None, *, stream=-1, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule over the tensor's memory (torch.Tensor.__dlpack__).

    `max_version` (1, 0) or above gives a versioned capsule; `copy=True` one over a copy.
    Raises BufferError for what has no memory that could be lent (fake, meta, other devices), for a
    tensor that requires grad, and for one whose conjugate or negative bit is set.
    """
    check_lendable(self)
    if stream is not None and type(stream) is not int:
        raise TypeError(f"__dlpack__: stream must be an int or None, got {type(stream).__name__}")
    if stream is not None and stream != -1:
        raise AssertionError(f"__dlpack__: stream should be None on cpu, got {stream}")
    place = None if dl_device is None else ints_of(dl_device, 2, "__dlpack__: dl_device", TypeError)
    if place is not None and place[0] != DL_CPU:
        raise BufferError(f"__dlpack__: Unsupported device_type: {place[0]}, for a tensor on cpu")
    version = None if max_version is None else ints_of(max_version, 2, "__dlpack__: max_version", TypeError)
    cdef bint copied = copy is not None and bool(copy), versioned = version is not None and version[0] >= 1
    if is_read_only(self.c_storage) and not copied and not versioned:
        raise BufferError("__dlpack__: a capsule without a version cannot say that the memory is read-only, use clone() first")
    return new_capsule(self.clone() if copied else self, versioned, copied)


def dlpack_device(Tensor self not None):
    """DLPack's (device type, index) of the tensor (torch.Tensor.__dlpack_device__); ValueError: it has none."""
    cdef object codes = {
        "cpu": DL_CPU, "cuda": DL_CUDA, "xpu": DL_ONE_API, "mps": DL_METAL, "privateuseone": DL_EXT_DEV,
    }
    cdef object kind = codes.get(self.device.type)
    if self.c_devtype == DEV_PRIVATEUSEONE:
        kind = DL_EXT_DEV
    if kind is None:
        raise ValueError(f"__dlpack_device__: DLPack has no device type for {self.device.type}")
    return DLDeviceType(kind), max(self.c_devindex, 0)


# ---- borrowing -------------------------------------------------------------------------------------------------------

cdef class Borrowed:
    """Holds a lender's struct; its deleter is called once."""
    cdef DLManagedTensor* old
    cdef DLManagedTensorVersioned* versioned

    def __dealloc__(self):
        if self.old != NULL and self.old.deleter != NULL:
            self.old.deleter(self.old)
        if self.versioned != NULL and self.versioned.deleter != NULL:
            self.versioned.deleter(self.versioned)


cdef int read_geometry(const DLTensor* given, int64_t* sizes, int64_t* strides) except -1:
    cdef int64_t numel = 1
    cdef int i
    if not 0 <= given.ndim <= MAX_DIMS or (given.ndim and given.shape == NULL):
        raise BufferError(f"from_dlpack: a tensor of {given.ndim} dimensions")
    for i in range(given.ndim - 1, -1, -1):
        sizes[i] = given.shape[i]
        if sizes[i] < 0:
            raise BufferError(f"from_dlpack: size {sizes[i]} in dimension {i}")
        strides[i] = numel if given.strides == NULL else given.strides[i]
        if strides[i] < 0:
            raise ValueError(f"from_dlpack: negative stride in dimension {i}: make a copy first")
        if sizes[i] > 1 and numel > (INT64_MAX >> 5) // sizes[i]:
            raise BufferError("from_dlpack: a tensor of more than 2**58 elements")
        if sizes[i] > 1 and strides[i] > (INT64_MAX >> 12) // sizes[i]:
            raise BufferError(f"from_dlpack: stride {strides[i]} in dimension {i}")
        numel *= max(sizes[i], 1)
    return 0


cdef Tensor tensor_over(const DLTensor* given, Borrowed owner, uint64_t flags):
    """A tensor on the lender's memory; `owner` holds nothing yet when this raises."""
    cdef int64_t sizes[MAX_DIMS]
    cdef int64_t strides[MAX_DIMS]
    cdef int dtype = dtype_of(given.dtype)
    cdef int64_t nbytes
    cdef char* data
    cdef object keeper
    if given.device.device_type not in (DL_CPU, DL_CUDA_HOST):
        raise BufferError(f"from_dlpack: memory on DLPack's device type {given.device.device_type}, expected cpu (1)")
    read_geometry(given, sizes, strides)
    nbytes = span_of(given.ndim, sizes, strides) * dtypes.itemsize_table()[dtype]
    if nbytes and given.data == NULL:
        raise BufferError(f"from_dlpack: no data where {nbytes} bytes were expected")
    data = <char*>given.data + given.byte_offset if nbytes else NULL
    keeper = read_only(owner) if flags & DL_READ_ONLY else owner
    return new_tensor(new_borrowed_storage(data, nbytes, keeper), dtype, given.ndim, sizes, strides, 0)


cdef Tensor take(object capsule):
    """The tensor in a capsule, which is used up."""
    cdef Borrowed owner = Borrowed.__new__(Borrowed)
    cdef DLManagedTensorVersioned* versioned
    cdef DLManagedTensor* old
    cdef Tensor result
    if PyCapsule_IsValid(capsule, NEW):
        versioned = <DLManagedTensorVersioned*>PyCapsule_GetPointer(capsule, NEW)
        if versioned.version.major != 1:
            raise BufferError(f"from_dlpack: DLPack version {versioned.version.major}.{versioned.version.minor}, "
                              "expected 1.x")
        result = tensor_over(&versioned.dl_tensor, owner, versioned.flags)
        PyCapsule_SetName(capsule, b"used_dltensor_versioned")
        owner.versioned = versioned
    elif PyCapsule_IsValid(capsule, OLD):
        old = <DLManagedTensor*>PyCapsule_GetPointer(capsule, OLD)
        result = tensor_over(&old.dl_tensor, owner, 0)
        PyCapsule_SetName(capsule, b"used_dltensor")
        owner.old = old
    else:
        raise RuntimeError("from_dlpack: an invalid capsule; a DLPack capsule can be used only once")
    return result


cdef object tensor_of(object lender, object copy):
    """Ask for a versioned capsule; libraries from before DLPack 1.0 know no arguments, and some make no copies."""
    cdef object kind = ints_of(lender.__dlpack_device__(), 2, "from_dlpack: __dlpack_device__()", BufferError)[0]
    if kind not in (DL_CPU, DL_CUDA_HOST):
        raise BufferError(f"from_dlpack: memory on DLPack's device type {kind}, expected cpu (1)")
    cdef dict wanted = {} if copy is None else {"copy": copy}
    for known in ({"max_version": (1, 0), **wanted}, wanted):
        if known:
            try:
                capsule = lender.__dlpack__(**known)
            except TypeError:
                continue
            return take(capsule)
    found = take(lender.__dlpack__())
    return found.clone() if copy else found


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A CPU tensor on the memory of another library's array, or of a DLPack capsule (torch.from_dlpack).

    `copy=True` asks the lender for a copy, or makes one. Raises: RuntimeError for what is no capsule, for one that was used
    before, and for elements without a dtype here; BufferError for memory on other devices; ValueError for
    negative strides.
    """
    cdef object place = dtypes.device_of(device) if device is not None else None
    if place is not None and place.type != "cpu":
        raise BufferError(f"from_dlpack: the memory is on cpu, and cannot be lent to {place}")
    if PyCapsule_CheckExact(ext_tensor):
        return take(ext_tensor)
    if not hasattr(ext_tensor, "__dlpack__"):
        raise RuntimeError(f"from_dlpack: expected an array with __dlpack__ or a capsule, got {type(ext_tensor).__name__}")
    return tensor_of(ext_tensor, copy)
