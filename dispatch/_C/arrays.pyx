"""numpy arrays as tensors: the memory stays the array's, and the storage keeps the array alive. Plain numbers as tensors.

`dispatch.from_numpy` is the way in; `get_numpy` in `tensor` is the way back. Here too is who may not have an address at all, and
what Python asks below the tensor's own methods.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport DEV_CPU
from dispatch._C.errors cimport refused
from dispatch._C.geometry cimport bytes_of, read_ints, span_of
from dispatch._C.keys cimport KS_Conjugate, KS_Negative, new_key_set
from dispatch._C.python_api cimport PyLong_AsLongLongAndOverflow_
from dispatch._C.read_only cimport lent, read_only
from dispatch._C.storage cimport POINTER_THROWS, POINTER_WARNS, Storage, new_borrowed_storage
from dispatch._C.symbolic cimport NK_BOOL, NK_INT, NK_NONE, number_kind, size_from
from dispatch._C.tensor cimport (
    TF_WRAPPED_NUMBER, Tensor, data_of, get_numpy, new_empty, new_tensor, new_tensor_within,
)

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


# ---- plain numbers

cdef enum:
    HAS_BOOL = 1
    HAS_INT = 2
    HAS_FLOAT = 4
    MOST_DIMS = 64
    MOST_NUMBERS = 10_000_000            # more are asked for by their sizes first: lists of one list may stand for any number

cdef struct Survey:
    int ndim                             # -1: no number was seen yet
    int kinds
    int64_t sizes[64]                    # -1: no list was seen yet
    int64_t numel


cdef bint survey(object data, int depth, Survey* s):
    """Whether `data` is a bool, int or float, or lists or tuples of such, each dimension of one size; no code of a class is run."""
    cdef object kind = type(data)
    cdef Py_ssize_t i, n
    cdef int d
    if kind is float or kind is int or kind is bool:
        s.kinds |= HAS_FLOAT if kind is float else HAS_INT if kind is int else HAS_BOOL
        if s.ndim < 0:
            s.ndim = depth
            for d in range(depth):
                s.numel *= s.sizes[d]
                if s.numel > MOST_NUMBERS:
                    return False
        return depth == s.ndim
    if kind is not list and kind is not tuple or depth == MOST_DIMS or depth == s.ndim:
        return False
    n = len(<list>data) if kind is list else len(<tuple>data)
    if s.sizes[depth] < 0:
        s.sizes[depth] = n
    if n == 0 or s.sizes[depth] != n:
        return False
    for i in range(n):
        if not survey((<list>data)[i] if kind is list else (<tuple>data)[i], depth + 1, s):
            return False
    return True


cdef bint fill(object data, int depth, Survey* s, int code, char** place):
    """Write the numbers one after the other; False for one that the dtype does not hold, and where the collector's work since the
    survey has changed a list."""
    cdef object kind = type(data)
    cdef Py_ssize_t i
    cdef int overflow = 0
    cdef double number
    cdef int64_t whole
    if depth < s.ndim:
        if kind is list and len(<list>data) == s.sizes[depth]:
            for i in range(s.sizes[depth]):
                if not fill((<list>data)[i], depth + 1, s, code, place):
                    return False
            return True
        if kind is tuple and len(<tuple>data) == s.sizes[depth]:
            for i in range(s.sizes[depth]):
                if not fill((<tuple>data)[i], depth + 1, s, code, place):
                    return False
            return True
        return False
    if not (kind is float or kind is int or kind is bool) or (kind is float and code == dtypes.ST_int64):
        return False
    if code == dtypes.ST_bool:
        place[0][0] = data is True
        place[0] += 1
    elif code == dtypes.ST_int64:
        whole = PyLong_AsLongLongAndOverflow_(<PyObject*>data, &overflow)
        if overflow:
            return False
        (<int64_t*>place[0])[0] = whole
        place[0] += sizeof(int64_t)
    else:
        try:
            number = <double>data
        except OverflowError:
            return False
        if code == dtypes.ST_float32:
            (<float*>place[0])[0] = <float>number
            place[0] += sizeof(float)
        else:
            (<double*>place[0])[0] = number
            place[0] += sizeof(double)
    return True


def _numbers_tensor(data, dtype=None):
    """A new CPU tensor of a number, or of lists and tuples of numbers that are nothing but such.

    None for all else (other classes, ragged or empty lists, numbers that the dtype does not hold): `data` says what is wrong.
    """
    cdef Survey s
    cdef Tensor out
    cdef char* place
    cdef int d, code
    s.ndim, s.kinds, s.numel = -1, 0, 1
    for d in range(MOST_DIMS):
        s.sizes[d] = -1
    if not survey(data, 0, &s):
        return None
    if dtype is not None:
        code = dtypes.dtype_code(dtype)
    else:
        code = dtypes.default_dtype_code() if s.kinds & HAS_FLOAT else dtypes.ST_int64 if s.kinds & HAS_INT else dtypes.ST_bool
    if not (code == dtypes.ST_float32 or code == dtypes.ST_float64 or (code == dtypes.ST_int64 and not s.kinds & HAS_FLOAT)
            or (code == dtypes.ST_bool and s.kinds == HAS_BOOL)):
        return None
    out = new_empty(code, DEV_CPU, -1, s.ndim, s.sizes, NULL)
    place = data_of(out, dtypes.itemsize_table()[code])
    return out if fill(data, 0, &s, code, &place) else None


cdef Tensor new_wrapped_number(object number):
    cdef int dtype, beyond = 0
    cdef Tensor t
    cdef int64_t element[2]
    cdef int kind = number_kind(<PyObject*>number)
    if kind != NK_NONE:                # only metadata is ever read of it: kernels that read values get plain numbers
        number = False if kind == NK_BOOL else 0 if kind == NK_INT else 0.0
    if isinstance(number, bool):
        dtype = dtypes.ST_bool
        element[0] = number
    elif isinstance(number, int):
        element[0] = PyLong_AsLongLongAndOverflow_(<PyObject*>number, &beyond)
        dtype = dtypes.ST_uint64 if beyond else dtypes.ST_int64
        if beyond and not 0 <= number < 1 << 64:
            raise refused("a number does not fit in 64 bits", OverflowError)
        if beyond:
            element[0] = <int64_t><uint64_t>number
    elif isinstance(number, float):
        dtype = dtypes.ST_float64
        (<double*>element)[0] = number
    else:
        dtype = dtypes.ST_complex128
        (<double complex*>element)[0] = number
    t = new_empty(dtype, DEV_CPU, -1, 0, NULL, NULL)
    t.c_flags |= TF_WRAPPED_NUMBER
    memcpy(t.c_storage.data, element, dtypes.itemsize_table()[dtype])
    return t
