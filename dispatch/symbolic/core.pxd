"""Core, what a ShapeEnv has compiled: its table, its guards, and what it can say of a condition without and with a guard."""
from libc.stdint cimport int64_t

from dispatch.symbolic.expr cimport Expr, Table
from dispatch.symbolic.rules cimport Condition

# What a question that ranges do not decide does; the numbers are those of `dispatch._C.symbolic`.
cdef enum Question:
    Q_GUARD, Q_OR_FALSE, Q_OR_TRUE, Q_KNOWN, Q_EXPECT

cdef class Core:
    cdef object __weakref__
    cdef Table table
    cdef object sloc                     # of the symbols that are being made; None: that of the running line
    cdef readonly list guards
    cdef dict targets                    # symbol -> what took its place, when it did
    cdef readonly dict replacements_slocs, deferred_runtime_asserts, backed_var_to_val
    cdef object ranges                   # what `var_to_range` gives
    cdef int64_t ranges_state            # of the table, when replaced symbols' ranges were looked at
    cdef dict facts                      # symbol -> composed nodes of which a guard said bounds
    cdef list replaced_now               # symbols with such nodes that were replaced while something is learnt
    cdef readonly dict var_to_range_sloc, var_to_sources
    cdef readonly set size_like, unbacked_inputs
    cdef readonly dict real_tensor_prop_unbacked_vals, unbacked_renamings
    cdef public bint frozen, runtime_asserts_frozen, _error_on_new_guards
    cdef public bint prefer_deferred_runtime_asserts_over_guards
    cdef public int num_deferred_runtime_asserts
    cdef readonly object symbol_guard_counter  # symbol -> guards that name it
    cdef public object recorder          # told of every new guard and runtime assert: (method, its arguments...); or None

    cdef Expr new_symbol(self, str name, int symbol_type, object hint, bint positive, object low, object high)
    cdef int ask(self, int question, Expr e) except -1
    cdef object value(self, Expr e, object fallback, bint size_oblivious)
    cdef int expect(self, Expr e, str msg) except -1
    cdef int count_guard(self, Expr g) except -1
    cdef Expr backed_form(self, Expr e)
    cdef object last_resort(self, Expr e)
    cdef Expr oblivious(self, Expr e)
    cdef Expr canonical(self, Expr e)
    cdef int learn(self, Expr g, object sloc) except -1
    cdef int take_in(self, Expr g, object sloc) except -1
    cdef int narrow(self, Expr e, object low, object high, object sloc, int depth) except -1
    cdef int set_range(self, Expr s, object low, object high, object sloc) except -1
    cdef int intersect_range(self, Expr s, object low, object high, object sloc) except -1
    cdef int set_replacement(self, Expr s, Expr target, object sloc) except -1
    cdef bint replace_by(self, Expr s, Expr target) except -1
    cdef int solve(self, Expr g, object sloc) except -1
    cdef bint trivially(self, Expr a, Expr b) except -1
    cdef int eliminate(self, Condition c, Expr s, object sloc) except -1
