"""Tensor: all metadata inline in one C struct; the Python object is the tensor.

Sizes, strides, offset and storage change only through `set_geometry` and `set_storage`, which check first and write then, drop the
cached numpy view and recompute `c_numel` and the flags of geometry. Any of these numbers may be the handle of an expression
(`symbolic`): then TF_SYMBOLIC is set, the tensor has no bytes, and the flags of geometry say only what holds for every value of the
symbols: ask `is_contiguous`, `is_dense` and `is_contiguous_as`, which guard.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t, uintptr_t

from dispatch._C.geometry cimport TF_CONTIGUOUS, TF_NON_OVERLAPPING_DENSE
from dispatch._C.storage cimport Storage

cdef enum TensorFlag:             # 8, 16, 32 and 64 are geometry's: GeometryFlag
    TF_REQUIRES_GRAD = 1
    TF_WRAPPED_NUMBER = 2
    TF_INFERENCE = 4
    TF_HEAP_GEOMETRY = 128       # c_sizes/c_strides are malloc'ed (ndim > 5)
    TF_HAS_TORCH_DISPATCH = 256  # a subclass with __torch_dispatch__ of its own
    TF_IS_VIEW = 512
    TF_FAKE = 1024               # a FakeTensor
    TF_HAS_VIEWS = 2048          # is the base of some view
    TF_PARAMETER = 4096
    TF_MANY_DIMS = 8192          # more than 64 dimensions: may exist, but kernels refuse it
    TF_CUSTOM_STRIDES = 1 << 14  # a wrapper subclass: is_contiguous, stride ... are answered by __torch_dispatch__
    TF_CUSTOM_SIZES = 1 << 15    # likewise, and size, dim, numel too
    TF_CUSTOM_DEVICE = 1 << 16   # device is answered by __torch_dispatch__
    TF_CUSTOM_LAYOUT = 1 << 17   # layout is
    TF_FUNCTIONAL = 1 << 18      # a functional wrapper: c_extra holds its state
    TF_HAS_TORCH_FUNCTION = 1 << 19   # a subclass whose __torch_function__ is not switched off
    TF_SYMBOLIC = 1 << 20        # a size, stride, the offset or numel is an expression: no bytes, and c_symbols is a ShapeEnv
    TF_VIEW_NO_GRAD = 1 << 22    # a view made while grad mode was off
    TF_VIEW_INFERENCE = 1 << 23  # a view made in inference mode
    TF_VIEW_OF_MANY = 1 << 24    # one of several views that one call made
    TF_VIEW_MARKS = 7 << 22      # what autograd refuses to follow a write through
    TF_GEOMETRY_KEPT = 8 | 16 | 32 | 64 | 128 | 8192 | 1 << 20   # what set_geometry decides

cdef struct VersionCounter:
    int64_t refs                 # tensors that share it
    int64_t value

cdef class Tensor:
    cdef uint64_t c_keys         # raw DispatchKeySet
    cdef uint32_t c_flags        # TensorFlag bits
    cdef int8_t c_dtype          # ScalarType
    cdef int8_t c_layout
    cdef int8_t c_devtype        # DeviceType
    cdef int8_t c_devindex       # -1: none
    cdef int32_t c_ndim
    cdef int64_t* c_sizes        # points at c_inline or the heap
    cdef int64_t* c_strides      # in elements
    cdef int64_t c_inline[10]
    cdef int64_t c_offset        # in elements
    cdef int64_t c_numel
    cdef VersionCounter* c_version   # NULL: version 0, shared with nobody yet
    cdef Storage c_storage
    cdef object c_base           # the base of a view, else None
    cdef object c_array          # cached numpy view, else None
    cdef object c_autograd       # grad_fn placeholder or None
    cdef int64_t c_seen_version  # of a view: the version for which c_autograd holds
    cdef object c_symbols        # the ShapeEnv whose expressions the sizes are, else None
    cdef object c_extra          # state of an upper room (a functional wrapper's value), else None
    cdef PyObject* c_dict        # instance dictionary, made when the first attribute is set (tp_dictoffset points here); owned
    cdef object __weakref__

# New tensors. Sizes and strides are copied; strides NULL means contiguous.
cdef Tensor new_tensor(Storage storage, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset)
cdef Tensor new_empty(int dtype, int devtype, int devindex, int ndim, const int64_t* sizes, const int64_t* strides)
# Same storage and keys; no version or view relation (those are ADInplaceOrView's).
cdef Tensor new_view(Tensor base, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset)
cdef Tensor new_view_dtype(Tensor base, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset)
# Fills a blank tensor (of a subclass).
cdef int init_tensor(Tensor t, Storage storage, int dtype, uint64_t keys, int ndim, const int64_t* sizes, const int64_t* strides,
                     int64_t offset) except -1
# Every change of sizes, strides and offset, and of the storage: all checks first, then the writes. Strides NULL means contiguous.
# Geometry that somebody else chose over a storage: the span lies within it, or it grows first. RuntimeError: it cannot, or a number
# is negative or does not fit in 64 bits.
cdef int place_tensor(Tensor t, Storage storage, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1
cdef Tensor new_tensor_within(Storage storage, int dtype, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset)
# The same geometry over another storage, which must hold it.
cdef int set_storage(Tensor t, Storage storage) except -1
# Geometry that follows from that of a tensor over the same storage.
cdef int set_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset) except -1
# The same of geometry that another tensor had: what `set_geometry` worked out then is given (`flags`: TF_GEOMETRY_KEPT).
cdef int set_known_geometry(Tensor t, int ndim, const int64_t* sizes, const int64_t* strides, int64_t offset, int64_t numel,
                            uint32_t flags, object symbols) except -1
cdef object get_numpy(Tensor t)                        # numpy view of a CPU tensor's memory (cached); else RuntimeError
cdef uint64_t keys_for(int devtype, int layout) except? 0   # PyTorch's key set of a new tensor on that device
cdef bint is_contiguous_as(Tensor t, int memory_format) except -1
cdef bint ask_contiguous(Tensor t) except -1
cdef bint ask_dense(Tensor t) except -1
cdef inline bint is_contiguous(Tensor t) except -1:              # guards; False where no hint decides
    return t.c_flags & TF_CONTIGUOUS != 0 or (t.c_flags & TF_SYMBOLIC != 0 and ask_contiguous(t))
cdef inline bint is_dense(Tensor t) except -1:                   # no gaps, no overlap; guards likewise
    return t.c_flags & TF_NON_OVERLAPPING_DENSE != 0 or (t.c_flags & TF_SYMBOLIC != 0 and ask_dense(t))
cdef Tensor alias_as(Tensor base, type cls)              # the same tensor as an instance of `cls`
cdef Tensor blank_of(type cls)                           # an uninitialised one, made without running its `__new__`
cdef int set_class_flags(Tensor t, type cls) except -1
cdef int set_requires_grad(Tensor t, bint value) except -1
# Flags of an argument that autograd must look at: TF_REQUIRES_GRAD, and TF_IS_VIEW once there is a view whose base alone
# requires grad.
cdef uint32_t grad_flags
cdef inline bint needs_grad(Tensor t) noexcept:  # a view requires grad if its base does
    return t.c_flags & TF_REQUIRES_GRAD != 0 or (t.c_base is not None and (<Tensor>t.c_base).c_flags & TF_REQUIRES_GRAD != 0)
cdef inline void begin_grad(Tensor t) noexcept:
    global grad_flags
    t.c_flags |= TF_REQUIRES_GRAD
    if t.c_flags & TF_HAS_VIEWS:
        grad_flags |= TF_IS_VIEW
cdef int bump_version(Tensor t) except -1
cdef int share_version(Tensor of_view, Tensor base) except -1
cdef inline int64_t get_version(Tensor t) noexcept:
    return t.c_version.value if t.c_version != NULL else 0
cdef inline void set_base(Tensor view, Tensor base) noexcept:    # of tensors that share a version
    view.c_base = base
    view.c_flags |= TF_IS_VIEW
    view.c_seen_version = get_version(base)
    base.c_flags |= TF_HAS_VIEWS
cdef int raise_no_bytes(Tensor t) except -1      # RuntimeError; the dispatcher puts the operator that it passes into its text
cdef inline char* data_of(Tensor t, int itemsize) except? NULL:
    """Address of the first element; NULL for an empty tensor. RuntimeError when there are elements and no bytes."""
    if t.c_storage.data != NULL:    # as numbers: an empty tensor may begin anywhere, and a pointer may not
        return <char*>(<uintptr_t>t.c_storage.data + <uintptr_t>(t.c_offset * itemsize))
    if t.c_numel:
        raise_no_bytes(t)
    return NULL
