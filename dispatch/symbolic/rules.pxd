"""What `rules` says of expressions beyond their making: sums of products, and conditions in one form."""
from dispatch.symbolic.expr cimport Expr, Table

cdef Expr expand(Expr e)                 # products of sums become sums of products, everywhere inside
cdef Expr replaced(Expr e)               # with the replacements of its symbols, expanded where there are any
cdef Expr target_of(Expr symbol)         # what takes a symbol's place, in the end; itself

# A condition on whole numbers is: `form` (a sum without a number, its coefficients without a common factor, the oldest positive)
# stands in `relation` (OP_LE, OP_GE, OP_EQ or OP_NE) to `bound`. `form` is None: the condition is `relation` == OP_EQ.
cdef class Condition:
    cdef Expr form
    cdef int relation
    cdef object bound

cdef Condition condition_of(Expr e)      # of a relation of whole numbers
cdef tuple form_of(Expr sum)             # (form, factor, number): sum == factor * form + number
