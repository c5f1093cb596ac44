"""CPU bodies of asking whether elements are in a set: a loop over a small set, a table of integers that are near each other, a
search in others, which are sorted.

Both sides are promoted to one dtype, and compared in int64 or float64, which hold all of its values
apart. NaN is in no set.
"""
from cpython.object cimport PyObject
from libc.math cimport isnan
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from dispatch._C.arrays cimport new_wrapped_number
from dispatch._C.dtypes cimport MF_contiguous, ST_bool, ST_float64, ST_int64, is_floating_code
from dispatch._C.tensor cimport Tensor, new_empty
from dispatch.kernels.cpu.dense cimport dense, finish, target
from dispatch.kernels.cpu.runs cimport address, run_spans
from dispatch.kernels.meta cimport rules

from dispatch._ops import ops

ctypedef fused number:
    int64_t
    double

cdef enum:
    FEW = 16                     # elements of a set that are looked at one by one
    TABLE = 1 << 20              # from the least to the largest integer that a table is made for

cdef struct Members:
    const void* values
    const void* set              # sorted, if it has more than a few
    int64_t m
    const char* table            # whether low + i is in the set; NULL: there is none
    int64_t low
    uint64_t span                # the last place of the table
    bint invert
    char* out


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


cdef inline void look_up(Members* j, const number* values, int64_t first, int64_t end) noexcept nogil:
    cdef int64_t i, m = j.m
    cdef const number* set = <const number*>j.set
    for i in range(first, end):
        j.out[i] = (is_in_few(set, m, values[i]) if m <= FEW else is_in_sorted(set, m, values[i])) != j.invert


cdef void look_up_table(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    cdef Members* j = <Members*>job
    cdef const int64_t* values = <const int64_t*>j.values
    cdef uint64_t place
    cdef int64_t i
    for i in range(first, end):
        place = <uint64_t>values[i] - <uint64_t>j.low
        j.out[i] = (place <= j.span and j.table[place] != 0) != j.invert


cdef void look_up_integers(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    look_up(<Members*>job, <const int64_t*>(<Members*>job).values, first, end)


cdef void look_up_floats(void* job, int64_t part, int64_t first, int64_t end) noexcept nogil:
    look_up(<Members*>job, <const double*>(<Members*>job).values, first, end)


cdef Tensor table_of(Members* j, Tensor set, int64_t n):
    """Of a set of integers that lie close together, for `n` look-ups; None where there is none."""
    cdef const int64_t* numbers = <const int64_t*>address(set)
    cdef int64_t i, low = numbers[0], high = numbers[0]
    cdef int64_t size
    cdef Tensor made
    cdef char* table
    for i in range(j.m):
        low, high = min(low, numbers[i]), max(high, numbers[i])
    j.low, j.span = low, <uint64_t>high - <uint64_t>low
    if j.span >= TABLE or j.span > 4 * <uint64_t>n:
        return None
    size = <int64_t>j.span + 1
    made = new_empty(ST_bool, 0, -1, 1, &size, NULL)
    table = <char*>address(made)
    memset(table, 0, size)
    for i in range(j.m):
        table[numbers[i] - low] = 1
    j.table = table
    return made


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
    cdef Tensor values, set, table = None, answers = target(out, ST_bool, MF_contiguous)
    cdef Members j
    cdef int64_t n
    items[0], items[1] = <PyObject*>elements, <PyObject*>tested
    cdef int kind = rules.result_type(items, 2)
    values, set = comparable(elements, kind), comparable(tested, kind)
    cdef bint whole = set.c_dtype == ST_int64
    n, j.m, j.table, j.invert = values.c_numel, set.c_numel, NULL, invert
    if whole and j.m > FEW:
        table = table_of(&j, set, n)
    if table is None and j.m > FEW:
        set = ops.aten.sort(ops.aten.view(set, [j.m]))[0]
        j.m = j.m if whole else count_numbers(set)
    j.values, j.set, j.out = address(values), address(set), <char*>address(answers)
    run_spans(look_up_table if table is not None else look_up_integers if whole else look_up_floats, &j, n,
              n * (1 if table is not None else 8), 8 * n, (values, set, table, answers))
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
