# cython: embedsignature=False
"""Which dtype operands are promoted to: tensors with dimensions, 0-d tensors and numbers in three ranks.

The C functions are declared in `promotion.pxd`; the faces for Python, `py_NAME`, are entered as NAME.
"""
from cpython.bool cimport PyBool_Check
from cpython.complex cimport PyComplex_Check
from cpython.float cimport PyFloat_Check
from cpython.long cimport PyLong_Check
from cpython.object cimport PyObject
from libc.stdint cimport int8_t

from dispatch._C cimport dtypes
from dispatch._C.dtypes cimport (
    ST_COUNT, ST_NONE, ST_bool, ST_complex32, ST_complex64, ST_complex128, ST_float16, ST_float64, ST_int64, is_complex_code,
    is_floating_code, is_integral_code,
)
from dispatch._C.python_api cimport PySequence_Fast_ITEMS_
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor
from dispatch.kernels.meta.rules.sizes cimport enter_faces, is_tensor

cdef int8_t* PROMOTE = dtypes.promote_table()


cdef int promoted(int a, int b) except -1:
    cdef int result = PROMOTE[a * ST_COUNT + b]
    if result < 0:
        raise RuntimeError("no type promotion is defined between "
                           f"{dtypes.get_dtype(a)!r} and {dtypes.get_dtype(b)!r}")
    return result


cdef inline int default_complex_code() noexcept:
    cdef int code = dtypes.default_dtype_code()
    if code == ST_float64:
        return ST_complex128
    return ST_complex32 if code == ST_float16 else ST_complex64


cdef inline int number_code(int code) noexcept:
    """The dtype that a number of dtype `code` promotes as: floats count as the default dtype."""
    if is_floating_code(code):
        return dtypes.default_dtype_code()
    return default_complex_code() if is_complex_code(code) else code


cdef int code_of_number(PyObject* item) except -2:
    """The dtype of a Python number. TypeError for anything else."""
    cdef object o = <object>item
    if PyBool_Check(o):
        return ST_bool
    if PyFloat_Check(o):
        return ST_float64
    if PyLong_Check(o) or hasattr(o, "__index__"):
        return ST_int64
    if PyComplex_Check(o):
        return ST_complex128
    if hasattr(o, "__float__"):
        return ST_float64
    raise TypeError(f"result_type: expected tensors and numbers, got {type(o).__name__}")


cdef inline int promote_into(int* slot, int code) except -1:
    slot[0] = code if slot[0] == ST_NONE or slot[0] == code else promoted(slot[0], code)
    return 0


cdef int combine_ranks(int higher, int lower) except -2:
    """A rank's type beside a lower rank's: its own, unless the lower one's category is higher."""
    if higher == ST_NONE or lower == ST_NONE:
        return lower if higher == ST_NONE else higher
    if is_complex_code(higher):
        return higher
    if is_floating_code(higher):
        return promoted(higher, ST_complex32) if is_complex_code(lower) else higher
    if is_complex_code(lower):
        return lower             # also for uint16 and the like, which no complex type promotes
    if higher == ST_bool or is_floating_code(lower):
        return promoted(higher, lower)
    return higher


cdef int result_type(PyObject** items, int n) except -2:
    """at::result_type. Operands have three ranks: tensors with dimensions, 0-d tensors, numbers."""
    cdef int ranks[3]
    cdef int i, code
    cdef Tensor t
    ranks[0] = ranks[1] = ranks[2] = ST_NONE
    for i in range(n):
        if items[i] == <PyObject*>None:
            continue
        if is_tensor(items[i]):
            t = <Tensor>items[i]
            if not t.c_flags & TF_WRAPPED_NUMBER:
                promote_into(&ranks[0 if t.c_ndim else 1], t.c_dtype)
                continue
            code = t.c_dtype
        else:
            code = code_of_number(items[i])
        promote_into(&ranks[2], number_code(code))
    return combine_ranks(ranks[0], combine_ranks(ranks[1], ranks[2]))


cdef int float_type(int code) noexcept:
    return dtypes.default_dtype_code() if is_integral_code(code, True) else code


cdef int sum_type(int code, int given) noexcept:
    if given != ST_NONE:
        return given
    return ST_int64 if is_integral_code(code, True) else code


# ---- for Python ---------------------------------------------------------------------------------

def py_result_type(*tensors_or_numbers):
    """The dtype that operands are promoted to (torch.result_type, for any number of them)."""
    cdef int n = <int>len(tensors_or_numbers)
    cdef int code = result_type(PySequence_Fast_ITEMS_(<PyObject*>tensors_or_numbers), n)
    if code == ST_NONE:
        raise ValueError("result_type: expected at least one tensor or number")
    return dtypes.get_dtype(code)


def py_float_type(dtype):
    """The dtype of an operator that gives floats: the default dtype for integers and bool."""
    return dtypes.get_dtype(float_type(dtypes.dtype_code(dtype)))


def py_sum_type(dtype, given=None):
    """The dtype of a sum over `dtype`: `given` if there is one, int64 for integers and bool."""
    cdef int named = ST_NONE if given is None else dtypes.dtype_code(given)
    return dtypes.get_dtype(sum_type(dtypes.dtype_code(dtype), named))


__all__ = enter_faces(globals())
