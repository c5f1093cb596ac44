"""Sizes that are expressions: the table that `dispatch.symbolic` fills in, and what the inline functions of the `.pxd` fall to.

Only `dispatch.symbolic` makes handles, so before it is imported there are none.
"""
from cpython.long cimport PyLong_AsLongLong, PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject
from libc.stdint cimport int64_t

from dispatch._C.references cimport take

cdef int need_symbolic() except -1:
    """A handle exists only once the table is filled in."""
    if symbolic_calls.binary == NULL:
        raise RuntimeError("a size is out of range: it is no number, and no expression was ever made")
    return 0


cdef int64_t binary_slowly(int operation, int64_t a, int64_t b) except? SIZE_ERROR:
    if not any_symbolic(a, b):
        raise ZeroDivisionError("integer division or modulo by zero")
    need_symbolic()
    return symbolic_calls.binary(operation, a, b)


cdef inline bint is_handle(int64_t v) noexcept:
    return is_symbolic(v) and v != SIZE_ERROR    # the least number of 64 bits is itself, and is let through (`unboxed_size`)


cdef int compare_slowly(int question, int comparison, int64_t a, int64_t b) except -1:
    if not is_handle(a) and not is_handle(b):
        return compare_numbers(comparison, a, b)
    need_symbolic()
    return symbolic_calls.compare(question, comparison, a, b)


cdef bint compare_numbers(int comparison, int64_t a, int64_t b) noexcept:
    if comparison == SZ_EQ or comparison == SZ_NE:
        return (a == b) == (comparison == SZ_EQ)
    if comparison == SZ_LT or comparison == SZ_GE:
        return (a < b) == (comparison == SZ_LT)
    return (a <= b) == (comparison == SZ_LE)


cdef int64_t guard_slowly(int64_t v) except? SIZE_ERROR:
    need_symbolic()
    return plain_size(symbolic_calls.guard_int(v))          # what an expression is here may be any number


cdef int64_t raise_does_not_fit(int64_t a, int64_t b) except? SIZE_ERROR:
    raise RuntimeError(f"overflow: a size computed from {a} and {b} is out of range")


cdef object size_object(int64_t v):
    if not is_handle(v):
        return v
    need_symbolic()
    return take(symbolic_calls.to_object(v))


cdef int64_t size_of_int(object o) except? SIZE_ERROR:
    cdef int overflow = 0
    cdef int64_t v = PyLong_AsLongLongAndOverflow(o, &overflow)
    if overflow:
        raise ValueError("expected an integer of 64 bits, got a larger one")
    return plain_size(v)


cdef int64_t size_from(object o) except? SIZE_ERROR:
    if not PyLong_CheckExact(o) and symbolic_calls.is_number != NULL and symbolic_calls.is_number(<PyObject*>o):
        return symbolic_calls.from_object(<PyObject*>o)
    return size_of_int(o)


cdef int64_t unboxed_size(PyObject* o) except? SIZE_ERROR:
    if PyLong_CheckExact(<object>o) and PyLong_AsLongLong(<object>o) == SIZE_ERROR:
        return SIZE_ERROR
    return size_from(<object>o)


cdef object plain_number(object o):
    cdef int kind = number_kind(<PyObject*>o)
    if kind == NK_INT:
        return concrete(symbolic_calls.from_object(<PyObject*>o))
    return float(o) if kind == NK_FLOAT else bool(o)


cdef object env_of_size(int64_t v):
    cdef PyObject* env
    need_symbolic()
    env = symbolic_calls.env_of(v)
    if env == NULL:
        take(env)
    return <object>env


cdef int64_t hint_of(int64_t v, int64_t otherwise) except? SIZE_ERROR:
    if not is_symbolic(v):
        return v
    need_symbolic()
    return symbolic_calls.hint(v, otherwise)


cdef int64_t first_symbolic(int n, const int64_t* values) noexcept nogil:
    cdef int i
    for i in range(n):
        if is_symbolic(values[i]):
            return values[i]
    return 0


cdef int kind_of_number(PyObject* o) noexcept:
    if symbolic_calls.is_number(o):
        return NK_INT
    return symbolic_calls.number_kind(o) if symbolic_calls.number_kind != NULL else NK_NONE
