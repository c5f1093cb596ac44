"""What is known of an expression without a guard."""
from dispatch.symbolic.expr cimport Expr
from dispatch.symbolic.rules cimport Condition

cdef int decide(Expr e) except -2                # 1, 0, or -1: neither is known
cdef object known_value(Expr e)                  # the number that an expression can only be; None
cdef Condition condition(Expr e)                 # of a relation of whole numbers, remembered
cdef bint shared_symbols(Expr f) except -1       # whether a symbol is in two terms of a sum
cdef Expr shifted(Expr f)                        # over symbols that begin at 0
