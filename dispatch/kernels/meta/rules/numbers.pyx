# cython: embedsignature=False
"""Numbers that may be expressions, for Python: what its own operators would settle with a guard.

Called by Python kernels as `rules.NAME`; those in Cython cimport the functions of `_C/symbolic`. Plain numbers give plain
numbers, expressions (SymInt) expressions.
"""
import math

from libc.stdint cimport int64_t

from dispatch._C.errors cimport refused
from dispatch._C.keys cimport KS_PythonDispatcher
from dispatch._C.symbolic cimport (
    ASK_EXPECT, SZ_GE, any_symbolic, compare_slowly, eq_or_false, expect_eq, is_symbolic, larger, size_from, size_object, smaller,
    symbolic_calls,
)
from dispatch._C.tls cimport tls
from dispatch.kernels.meta.rules.sizes cimport enter_faces


cdef int64_t example(int64_t size):
    return symbolic_calls.hint(size, -1) if is_symbolic(size) else size


cdef bint expect_ge(int64_t a, int64_t b) except -1:
    return compare_slowly(ASK_EXPECT, SZ_GE, a, b) if any_symbolic(a, b) else a >= b


cdef bint agree(int64_t a, int64_t b, bint exactly) except -1:
    cdef int64_t one, other
    if exactly or not any_symbolic(a, b):
        return expect_eq(a, b)
    one, other = example(a), example(b)
    return one == other or one < 0 or other < 0


def py_smaller(a, b):
    """The minimum, without asking which one it is."""
    return size_object(smaller(size_from(a), size_from(b)))


def py_larger(a, b):
    """The maximum, without asking which one it is."""
    return size_object(larger(size_from(a), size_from(b)))


def py_same_sizes(a, b):
    """Whether two sequences of sizes agree, for a check that must hold: sizes without a hint are asserted at run time."""
    if len(a) != len(b):
        return False
    for one, other in zip(a, b):
        if one is not other and not expect_eq(size_from(one), size_from(other)):
            return False
    return True


def py_sizes_may_agree(a, b):
    """Whether they are equal now, or nobody knows; without a guard."""
    if len(a) != len(b):
        return False
    for one, other in zip(a, b):
        if not agree(size_from(one), size_from(other), False):
            return False
    return True


def py_has_zero(sizes):
    """Whether a size is 0; one that nobody knows is not."""
    for size in sizes:
        if eq_or_false(size_from(size), 0):
            return True
    return False


def py_are_numbers(*shapes):
    """Whether no size of them is an expression."""
    for shape in shapes:
        for size in shape:
            if is_symbolic(size_from(size)):
                return False
    return True


def py_root(n):
    """The square root of a size."""
    if is_symbolic(size_from(n)):
        return n ** 0.5
    return math.sqrt(n)


def py_example(n):
    """The number that a size stands for now, without a guard: for a choice that no result shows. RuntimeError without one."""
    cdef int64_t hint = example(size_from(n))
    if hint < 0:
        raise RuntimeError(f"size {n} has no hint to choose by")
    return hint


def py_need_tracing(str message):
    """RuntimeError: an operator asks for values that are not there. Not while sizes are traced, with the Python dispatcher on: what
    PyTorch has in Python of such operators does not ask."""
    if not tls().included & KS_PythonDispatcher:
        raise refused(message)


__all__ = enter_faces(globals())
