"""A size is an int64 until it isn't: arithmetic and questions over sizes that may be expressions.

A size, stride or offset is a plain number, or, below `SYMBOLIC_LIMIT`, the handle of an expression of `dispatch.symbolic` (as
c10::SymInt does with a bit). Shape functions use the functions below in place of operators, once for both; a concrete call takes
one branch that the processor foresees. What a user gives as a number is refused below the limit (`plain_size`), and a sum or
product that does not fit is a RuntimeError, so that no number becomes a handle.
"""
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

cdef extern from *:
    """
    #define DISPATCH_SYMBOLIC_LIMIT (-((int64_t)1 << 62))
    #define DISPATCH_SIZE_ERROR INT64_MIN
    #define DISPATCH_MARK(v) __builtin_expect((v) < DISPATCH_SYMBOLIC_LIMIT, 0)
    #define DISPATCH_MARK2(a, b) (DISPATCH_MARK(a) | DISPATCH_MARK(b))
    /* a * b and a + b into *result; whether they do not fit. */
    static inline int dispatch_mul_overflows(int64_t a, int64_t b, int64_t* result) {
        return __builtin_mul_overflow(a, b, result);
    }
    static inline int dispatch_add_overflows(int64_t a, int64_t b, int64_t* result) {
        return __builtin_add_overflow(a, b, result);
    }
    """
    const int64_t SYMBOLIC_LIMIT "DISPATCH_SYMBOLIC_LIMIT"
    const int64_t SIZE_ERROR "DISPATCH_SIZE_ERROR"           # what a function of sizes returns when it raised
    bint is_symbolic "DISPATCH_MARK"(int64_t v) noexcept nogil
    bint any_symbolic "DISPATCH_MARK2"(int64_t a, int64_t b) noexcept nogil
    bint mul_overflows "dispatch_mul_overflows"(int64_t a, int64_t b, int64_t* result) noexcept nogil
    bint add_overflows "dispatch_add_overflows"(int64_t a, int64_t b, int64_t* result) noexcept nogil

cdef enum SizeOperation:
    SZ_ADD, SZ_SUB, SZ_MUL, SZ_FLOORDIV, SZ_MOD, SZ_MIN, SZ_MAX    # // and % as Python's

cdef enum SizeComparison:
    SZ_EQ, SZ_NE, SZ_LT, SZ_LE, SZ_GT, SZ_GE

# What a question that cannot be decided from ranges does.
cdef enum SizeQuestion:
    ASK_GUARD                    # decides by the hint and records a guard; GuardOnDataDependentSymNode without a hint
    ASK_OR_FALSE                 # guards when there is a hint, else False (guard_or_false)
    ASK_OR_TRUE                  # likewise, else True
    ASK_KNOWN                    # never guards: True only when it holds for every value (statically_known_true)
    ASK_EXPECT                   # it must hold: guards, without a hint a deferred runtime assert (expect_true); False: it does not

cdef enum NumberKind:
    NK_NONE = 0, NK_INT, NK_FLOAT, NK_BOOL                     # no symbolic number; SymInt, SymFloat, SymBool

# What `dispatch.symbolic` enters when it is loaded. A function that raises returns SIZE_ERROR, -1 or NULL.
cdef struct SymbolicCalls:
    int64_t (*binary)(int operation, int64_t a, int64_t b)
    int (*compare)(int question, int comparison, int64_t a, int64_t b)
    int64_t (*guard_int)(int64_t v)                          # the hint, with a guard that pins it
    int64_t (*hint)(int64_t v, int64_t otherwise)            # no guard; `otherwise` when there is none
    PyObject* (*to_object)(int64_t v)                        # new reference: a SymInt, or an int for a constant
    int64_t (*from_object)(PyObject* o)                      # of a SymInt: its handle, or a number that it is known to be
    bint (*is_number)(PyObject* o) noexcept                  # whether it is a SymInt
    PyObject* (*env_of)(int64_t v)                           # borrowed: the ShapeEnv whose life is the handle's
    int (*number_kind)(PyObject* o) noexcept                 # NumberKind
    bint in_use                                              # whether there was ever a symbolic number or a ShapeEnv

cdef SymbolicCalls symbolic_calls

cdef int64_t binary_slowly(int operation, int64_t a, int64_t b) except? SIZE_ERROR
cdef int compare_slowly(int question, int comparison, int64_t a, int64_t b) except -1
cdef int64_t guard_slowly(int64_t v) except? SIZE_ERROR
cdef int64_t raise_does_not_fit(int64_t a, int64_t b) except? SIZE_ERROR
cdef object size_object(int64_t v)                           # int or SymInt, for Python
cdef int64_t size_from(object o) except? SIZE_ERROR          # of an int or SymInt; RuntimeError for a number out of range
# Of what stands in an argument: as `size_from`, but the smallest int64, which is no handle, passes (`random_` draws from there).
cdef int64_t unboxed_size(PyObject* o) except? SIZE_ERROR
cdef object plain_number(object o)                           # int, float or bool of a symbolic number, by a guard
cdef object env_of_size(int64_t v)                           # the ShapeEnv of a handle
cdef int64_t hint_of(int64_t v, int64_t otherwise) except? SIZE_ERROR         # never guards; `otherwise` without a hint
cdef int kind_of_number(PyObject* o) noexcept
# The first handle among `n` numbers; 0.
cdef int64_t first_symbolic(int n, const int64_t* values) noexcept nogil


cdef inline int number_kind(PyObject* o) noexcept:
    """Whether `o` is a symbolic number, and which."""
    return NK_NONE if symbolic_calls.binary == NULL else kind_of_number(o)


cdef inline bint in_use() noexcept:
    """Whether an argument may be an expression: until one was made, nobody looks."""
    return symbolic_calls.in_use


cdef inline int64_t plain_size(int64_t v) except? SIZE_ERROR:
    """A number that came from outside: RuntimeError when it could be taken for a handle."""
    return v if v >= SYMBOLIC_LIMIT else raise_does_not_fit(v, 0)


cdef inline int64_t add(int64_t a, int64_t b) except? SIZE_ERROR:
    cdef int64_t r
    if any_symbolic(a, b):
        return binary_slowly(SZ_ADD, a, b)
    return r if not add_overflows(a, b, &r) and not is_symbolic(r) else raise_does_not_fit(a, b)


cdef inline int64_t sub(int64_t a, int64_t b) except? SIZE_ERROR:
    cdef int64_t r
    if any_symbolic(a, b):
        return binary_slowly(SZ_SUB, a, b)
    return r if not add_overflows(a, -b, &r) and not is_symbolic(r) else raise_does_not_fit(a, b)


cdef inline int64_t mul(int64_t a, int64_t b) except? SIZE_ERROR:
    cdef int64_t r
    if any_symbolic(a, b):
        return binary_slowly(SZ_MUL, a, b)
    return r if not mul_overflows(a, b, &r) and not is_symbolic(r) else raise_does_not_fit(a, b)


cdef inline int64_t floored(int64_t a, int64_t b) noexcept nogil:
    cdef int64_t q = a / b
    return q - 1 if a - q * b != 0 and (a < 0) != (b < 0) else q


cdef inline int64_t floordiv(int64_t a, int64_t b) except? SIZE_ERROR:
    """Rounds down, as Python. ZeroDivisionError."""
    return binary_slowly(SZ_FLOORDIV, a, b) if any_symbolic(a, b) or b == 0 else floored(a, b)


cdef inline int64_t mod(int64_t a, int64_t b) except? SIZE_ERROR:
    """Of the divisor's sign, as Python. ZeroDivisionError."""
    if any_symbolic(a, b) or b == 0:
        return binary_slowly(SZ_MOD, a, b)
    return a - floored(a, b) * b


cdef inline int64_t smaller(int64_t a, int64_t b) except? SIZE_ERROR:
    if any_symbolic(a, b):
        return binary_slowly(SZ_MIN, a, b)
    return a if a < b else b


cdef inline int64_t larger(int64_t a, int64_t b) except? SIZE_ERROR:
    if any_symbolic(a, b):
        return binary_slowly(SZ_MAX, a, b)
    return a if a > b else b


cdef inline bint eq(int64_t a, int64_t b) except -1:
    """Whether they are equal; guards when that depends on a symbol. So do the others."""
    if a == b:
        return True
    return compare_slowly(ASK_GUARD, SZ_EQ, a, b) if any_symbolic(a, b) else False


cdef inline bint ne(int64_t a, int64_t b) except -1:
    if a == b:
        return False
    return compare_slowly(ASK_GUARD, SZ_NE, a, b) if any_symbolic(a, b) else True


cdef inline bint lt(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_GUARD, SZ_LT, a, b) if any_symbolic(a, b) else a < b


cdef inline bint le(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_GUARD, SZ_LE, a, b) if any_symbolic(a, b) else a <= b


cdef inline bint gt(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_GUARD, SZ_GT, a, b) if any_symbolic(a, b) else a > b


cdef inline bint ge(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_GUARD, SZ_GE, a, b) if any_symbolic(a, b) else a >= b


cdef inline bint eq_or_false(int64_t a, int64_t b) except -1:
    """`eq`, and False where no hint decides (TORCH_GUARD_OR_FALSE(sym_eq))."""
    if a == b:
        return True
    return compare_slowly(ASK_OR_FALSE, SZ_EQ, a, b) if any_symbolic(a, b) else False


cdef inline bint ne_or_true(int64_t a, int64_t b) except -1:
    if a == b:
        return False
    return compare_slowly(ASK_OR_TRUE, SZ_NE, a, b) if any_symbolic(a, b) else True


cdef inline bint gt_or_false(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_OR_FALSE, SZ_GT, a, b) if any_symbolic(a, b) else a > b


cdef inline bint gt_or_true(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_OR_TRUE, SZ_GT, a, b) if any_symbolic(a, b) else a > b


cdef inline bint lt_or_false(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_OR_FALSE, SZ_LT, a, b) if any_symbolic(a, b) else a < b


cdef inline bint lt_or_true(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_OR_TRUE, SZ_LT, a, b) if any_symbolic(a, b) else a < b


cdef inline bint known_eq(int64_t a, int64_t b) except -1:
    """Whether they are equal for every value of the symbols; never guards."""
    if a == b:
        return True
    return compare_slowly(ASK_KNOWN, SZ_EQ, a, b) if any_symbolic(a, b) else False


cdef inline bint known_le(int64_t a, int64_t b) except -1:
    """Whether a <= b for every value of the symbols; never guards."""
    return compare_slowly(ASK_KNOWN, SZ_LE, a, b) if any_symbolic(a, b) else a <= b


cdef inline bint expect_eq(int64_t a, int64_t b) except -1:
    """A check that they are equal: False when they are not; without a hint it becomes a deferred runtime assert."""
    if a == b:
        return True
    return compare_slowly(ASK_EXPECT, SZ_EQ, a, b) if any_symbolic(a, b) else False


cdef inline int64_t neg(int64_t v) except? SIZE_ERROR:
    return binary_slowly(SZ_SUB, 0, v) if is_symbolic(v) else -v


cdef inline bint expect_ge(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_EXPECT, SZ_GE, a, b) if any_symbolic(a, b) else a >= b


cdef inline bint expect_gt(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_EXPECT, SZ_GT, a, b) if any_symbolic(a, b) else a > b


cdef inline bint expect_le(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_EXPECT, SZ_LE, a, b) if any_symbolic(a, b) else a <= b


cdef inline int64_t concrete(int64_t v) except? SIZE_ERROR:
    """The number itself; a symbol is pinned to its hint by a guard."""
    return guard_slowly(v) if is_symbolic(v) else v
