"""Division without a remainder."""
from dispatch.symbolic.expr cimport Expr

cdef object divided_exactly(Expr e, Expr by)               # the quotient, or None
