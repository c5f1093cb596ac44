"""numpy arrays as tensors: the memory stays the array's, and the storage keeps the array alive.

`dispatch.from_numpy` is the way in; `get_numpy` in `tensor` is the way back. Here too is who may not have an address at all, and
what Python asks below the tensor's own methods.
"""
cimport numpy as cnp
from libc.stdint cimport int64_t

from dispatch._C cimport dtypes
from dispatch._C.geometry cimport bytes_of, read_ints, span_of
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, new_key_set
from dispatch._C.read_only cimport lent, read_only
from dispatch._C.storage cimport POINTER_THROWS, POINTER_WARNS, Storage, new_borrowed_storage
from dispatch._C.symbolic cimport size_from
from dispatch._C.tensor cimport Tensor, get_numpy, new_tensor, new_tensor_within

cnp.import_array()


def from_numpy(array):
    """A CPU tensor that shares the memory of `array` (torch.from_numpy; ml_dtypes arrays are taken too).

    TypeError: not an ndarray, or a dtype without a counterpart. ValueError: negative strides, or strides that are no
    multiple of the item size. What writes to the memory of an array that is not writeable is refused.
    """
    cdef int64_t sizes[64]
    cdef int64_t steps[64]
    cdef int i, n, code, itemsize
    cdef int64_t nbytes
    cdef Storage s
    cdef object owner = array
    if not isinstance(array, cnp.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    if not cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>array):
        raise ValueError("given numpy array has byte order different from the native byte order")
    code = dtypes.code_of_numpy(<object>cnp.PyArray_DESCR(<cnp.ndarray>array))       # a subclass may say anything
    itemsize = cnp.PyArray_ITEMSIZE(<cnp.ndarray>array)
    n = cnp.PyArray_NDIM(<cnp.ndarray>array)
    for i in range(n):
        sizes[i] = cnp.PyArray_DIM(<cnp.ndarray>array, i)
        if cnp.PyArray_STRIDE(<cnp.ndarray>array, i) < 0:
            raise ValueError("at least one of the array's strides is negative: make a copy first")
        if cnp.PyArray_STRIDE(<cnp.ndarray>array, i) % itemsize:
            raise ValueError("given numpy array strides are not a multiple of the element byte size")
        steps[i] = cnp.PyArray_STRIDE(<cnp.ndarray>array, i) // itemsize
    nbytes = bytes_of(0, span_of(n, sizes, steps), itemsize, n, sizes, steps)
    if not cnp.PyArray_ISWRITEABLE(<cnp.ndarray>array):
        owner = read_only(array)
    s = new_borrowed_storage(<char*>cnp.PyArray_DATA(<cnp.ndarray>array), nbytes, owner)
    return new_tensor(s, code, n, sizes, steps, 0)


def _numpy_view(Tensor t not None):
    """The ndarray over a CPU tensor's memory, as kernels see it (conjugate and negative bits not applied)."""
    return get_numpy(t)


def _lent_array(Tensor t not None):
    """The same for others, who may not write to memory that is read-only."""
    return lent(get_numpy(t), t.c_storage)


def _new_strided(Storage storage not None, dtype, sizes, strides, offset):
    """A tensor over `storage` with the given geometry; the bytes must reach."""
    cdef int64_t sz[64]
    cdef int64_t st[64]
    cdef int n = read_ints(sizes, sz, "sizes"), code = dtypes.dtype_code(dtype)
    if read_ints(strides, st, "strides") != n:
        raise RuntimeError(f"mismatch in length of strides and shape: {strides} and {sizes}")
    return new_tensor_within(storage, code, n, sz, st, size_from(offset))


# ---- addresses -------------------------------------------------------------------------------------------------------

def _set_throw_on_mutable_data_ptr(Tensor t not None):
    """From now on asking for an address that one may write to is a RuntimeError, for every tensor of `t`'s storage."""
    t.c_storage.pointer_rule = POINTER_THROWS


def _set_warn_deprecated_on_mutable_data_ptr(Tensor t not None):
    """The next time that somebody asks for an address that one may write to, there is a UserWarning."""
    t.c_storage.pointer_rule = POINTER_WARNS


# ---- bits ------------------------------------------------------------------------------------------------------------

def _dispatch_keys(Tensor tensor not None):
    """The key set of a tensor (torch._C._dispatch_keys)."""
    return new_key_set(tensor.c_keys)


def _set_conj(Tensor tensor not None, bint value):
    """Set or clear the conjugate bit."""
    tensor.c_keys = (tensor.c_keys | KS_Conjugate) if value else (tensor.c_keys & ~KS_Conjugate)


def _set_neg(Tensor tensor not None, bint value):
    """Set or clear the negative bit."""
    tensor.c_keys = (tensor.c_keys | KS_Negative) if value else (tensor.c_keys & ~KS_Negative)
