"""CPU bodies of asking whether elements are in a set: a loop over a small set, a search in a large one, which is sorted.

Both sides are promoted to one dtype, and compared in int64 or float64, which hold all of its values
apart. NaN is in no set.
"""
from cpython.object cimport PyObject
from libc.math cimport isnan
from libc.stdint cimport int64_t

from dispatch._C.dtypes cimport MF_contiguous, ST_bool, ST_float64, ST_int64, is_floating_code
from dispatch._C.tensor cimport Tensor, new_wrapped_number
from dispatch.kernels.cpu.dense cimport dense, finish, held, target
from dispatch.kernels.cpu.runs cimport address
from dispatch.kernels.meta cimport rules

from dispatch._ops import ops

ctypedef fused number:
    int64_t
    double

cdef enum:
    FEW = 16                     # elements of a set that are looked at one by one


cdef inline bint is_in_few(const number* set, int64_t m, number v) noexcept nogil:
    cdef int64_t j
    for j in range(m):
        if set[j] == v:
            return True
    return False


cdef inline bint is_in_sorted(const number* set, int64_t m, number v) noexcept nogil:
    """Steps are chosen, not branched to: which half a value is in cannot be guessed."""
    cdef int64_t low = 0, left = m, half
    while left > 1:
        half = left // 2
        low += half & -<int64_t>(set[low + half] <= v)
        left -= half
    return m > 0 and set[low] == v


cdef void look_up(const number* values, int64_t n, const number* set, int64_t m, bint invert, char* out) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = (is_in_few(set, m, values[i]) if m <= FEW else is_in_sorted(set, m, values[i])) != invert


cdef int64_t count_numbers(Tensor sorted) noexcept:
    """How many there are before NaNs, which are last."""
    cdef int64_t m = sorted.c_numel
    cdef const double* values = <const double*>address(sorted)
    while m and isnan(values[m - 1]):
        m -= 1
    return m


cdef Tensor comparable(Tensor t, int kind):
    """In the promoted dtype, then in the one that is compared in."""
    return dense(dense(t, kind, MF_contiguous), ST_float64 if is_floating_code(kind) else ST_int64, MF_contiguous)


cdef int members(Tensor out, Tensor elements, Tensor tested, bint invert) except -1:
    cdef PyObject* items[2]
    cdef Tensor values, set, answers = target(out, ST_bool, MF_contiguous)
    cdef int64_t m
    cdef object kept
    items[0], items[1] = <PyObject*>elements, <PyObject*>tested
    cdef int kind = rules.result_type(items, 2)
    values, set = comparable(elements, kind), comparable(tested, kind)
    m = set.c_numel
    if m > FEW:
        set = ops.aten.sort(ops.aten.view(set, [m]))[0]
        if set.c_dtype == ST_float64:
            m = count_numbers(set)
    cdef int64_t n = values.c_numel
    cdef void* from_ = address(values)
    cdef void* among = address(set)
    cdef char* to = <char*>address(answers)
    cdef bint whole = set.c_dtype == ST_int64
    kept = held(values, set, answers)
    with nogil:
        if whole:
            look_up[int64_t](<int64_t*>from_, n, <int64_t*>among, m, invert, to)
        else:
            look_up[double](<double*>from_, n, <double*>among, m, invert, to)
    return finish(out, answers)


cdef int isin_tensor_tensor(Tensor out, Tensor elements, Tensor test_elements, bint assume_unique, bint invert) except -1:
    """Whether each element is among others."""
    return members(out, elements, test_elements, invert)


cdef int isin_tensor_scalar(Tensor out, Tensor elements, object test_element, bint assume_unique, bint invert) except -1:
    """Whether each element is a number."""
    return members(out, elements, new_wrapped_number(test_element), invert)


cdef int isin_scalar_tensor(Tensor out, object element, Tensor test_elements, bint assume_unique, bint invert) except -1:
    """Whether a number is among others."""
    return members(out, new_wrapped_number(element), test_elements, invert)
