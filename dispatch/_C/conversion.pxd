"""One element of an argument out of what a caller gave: the casters of the two tongues.

Operators (`ops`) convert as TorchScript's casters do, functions and methods as PyTorch's argument parser: stricter on numbers,
looser on types. Called by the matcher only.
"""
from cpython.object cimport PyObject
from libc.stdint cimport uint16_t

# An element of kind `kind` (not AK_TENSOR); `function` is `Frame.lone_ints`, 0 for operators. A new reference, or NULL: no match;
# an exception is set by the guard of a symbolic number, by data that nobody knows, and by what is no `Exception` (an interrupt).
cdef PyObject* new_value(int kind, uint16_t flags, int function, PyObject* o) noexcept
# What stands for a tensor where numbers may: Python's numbers as they are, numpy's as Python's. The same contract.
cdef PyObject* new_number(PyObject* o) noexcept
# NULL, for what user code raised: an error means that the value does not fit, an exit or an interrupt is raised on.
cdef PyObject* no_match(object error) noexcept
# The same for what is set already.
cdef void forget_error() noexcept
# Whether the argument parser takes `o` for an int: no bool, no array, no class with an __index__ of its own.
cdef bint is_parsed_int(PyObject* o) noexcept
