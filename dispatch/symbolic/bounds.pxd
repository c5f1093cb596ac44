"""Intervals: what an operation can give when its arguments lie between bounds."""

# Of an operation on arguments within (lower, upper) each: (lower, upper). An infinite bound is a float, also of whole numbers;
# what is unknown is (-inf, inf). Bounds of truth values are False and True.
cdef tuple bounds_of(int op, list of_arguments, bint whole)
cdef tuple intersection(tuple a, tuple b)
