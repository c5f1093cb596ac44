"""The one driver of elementwise loops: operands of any strides and dtypes, converted in blocks, in memory order, on threads.

Who calls: the bodies that the generator makes of formulas (`formulas_FAMILY_N.pyx`), with outputs of the right sizes. A
`formula` is a table of loops by dtype of computation; what a loop reads and writes beside that stands in it (`loops.h`).
"""
from cpython.object cimport PyObject
from libc.stdint cimport int8_t, int64_t, uint64_t

from dispatch._C.dtypes cimport ST_COUNT, category_of_code
from dispatch._C.tensor cimport TF_WRAPPED_NUMBER, Tensor
from dispatch.kernels.meta cimport rules

cdef extern from "loops.h" nogil:
    ctypedef void (*inner_loop)(char** pointers, const Py_ssize_t* count, const Py_ssize_t* steps, void* data) noexcept nogil
    enum:
        MAX_OPERANDS
        OF_COMPUTE
        OF_REAL
    ctypedef union number:
        float f32
        double f64
        int64_t i64
    ctypedef struct formula:         # the head of loops.h explains each
        inner_loop* loops
        void** data
        inner_loop* halves
        uint64_t narrow
        uint64_t needs
        int8_t n_in
        int8_t n_out
        int8_t exact
        int8_t* dtypes

# `f` over operands and then outputs (borrowed Tensors), computed in the dtype `code`. NotImplementedError: no loop for it.
cdef int run(formula* f, int code, PyObject** operands, number* numbers) except -1
# A loop without outputs over one operand: RuntimeError with `text` if it refuses an element.
cdef int check(formula* f, int code, PyObject** operands, str text) except -1
cdef enum:                   # how a number argument comes to the dtype of computation
    EXACT = 0                # to a narrow one's wider dtype, without rounding
    ROUNDED = 1              # rounded to the narrow dtype
    WRAPPED = 2              # as an element of a tensor would: integers wrap around

# A number argument in the dtype of computation. RuntimeError if it does not fit, unless it is WRAPPED: negative integers go into
# unsigned dtypes.
cdef int load_scalar(number* to, object value, int code, str name, int way) except -1

# Whether a dtype holds a number at all, by the name of the argument; infinities and nan are held by every float.
cdef int check_fits(object value, int code, str name) except -1
# The dtype of computation of two operands.
cdef inline int common_of(Tensor a, Tensor b) except -1:
    cdef PyObject* items[2]
    if not a.c_flags & TF_WRAPPED_NUMBER:
        if b.c_flags & TF_WRAPPED_NUMBER:
            if category_of_code(b.c_dtype) <= category_of_code(a.c_dtype):
                return a.c_dtype
        elif a.c_dtype == b.c_dtype:
            return a.c_dtype
    items[0], items[1] = <PyObject*>a, <PyObject*>b
    return rules.result_type(items, 2)
# Whether an argument is this number.
cdef inline bint equals(object value, object wanted) except -1:
    return value is wanted or value == wanted
# numpy's own inner loop of a ufunc for a dtype of computation.
cdef int take_loop(formula* f, int code, str ufunc) except -1
