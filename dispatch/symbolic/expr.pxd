"""Expr, the node of an expression, and Table, which holds the nodes of one ShapeEnv, each once.

Nodes of one table are equal only when they are the same object, so a node's handle (see `dispatch._C.symbolic`) names its
value. What is known of a node stands in it: the bounds that hold always (`assumed`), those that guards have taught
(`range_of`), its hint, its replacement. Each is remembered with the number of the table's state that it was computed from.
"""
from libc.stdint cimport int64_t, uint64_t

from dispatch.symbolic.operations cimport *

cdef extern from *:
    """
    #define DISPATCH_FIRST_HANDLE (INT64_MIN + 1)
    """
    const int64_t FIRST_HANDLE "DISPATCH_FIRST_HANDLE"

cdef enum Hinted:
    H_UNASKED, H_KNOWN, H_NONE

cdef enum Symbol:
    S_SIZE, S_UNBACKED, S_FLOAT, S_UNBACKED_FLOAT, S_OTHER, S_NESTED


cdef struct MemoEntry:
    uint64_t operation
    int64_t a
    int64_t b
    void* node                           # borrowed from `nodes`


cdef class Expr:
    cdef readonly Table table
    cdef readonly int op, kind
    cdef readonly tuple args             # nodes; of a sum and a product the number, if any, is the first
    cdef readonly object value           # of a number or truth value; the name of a symbol
    cdef object coeff                    # of a product its number, else 1: the node is coeff * rest
    cdef Expr rest                       # NULL-like None: itself
    cdef Py_hash_t hashed
    cdef int depth                       # of the nodes below it: at most DEEPEST
    cdef readonly int64_t handle
    cdef readonly frozenset free_symbols
    cdef readonly bint unbacked          # has a symbol without a hint
    cdef int symbol_type
    cdef tuple assumed                   # bounds that never change
    cdef tuple bounds                    # as of `bounds_state`
    cdef int64_t bounds_state
    cdef object lower, upper             # what guards say of this node itself; None: nothing
    cdef set excluded                    # numbers that it is not; None: none
    cdef object hint
    cdef int hinted
    cdef Expr target                     # of a symbol: what takes its place; None: nothing
    cdef Expr replaced                   # as of `replaced_state`
    cdef int64_t replaced_state
    cdef Expr expanded
    cdef object condition                # of a relation of whole numbers: its `Condition`
    cdef signed char answer              # of a truth value: what a guard said (-1: nothing)
    cdef signed char static_answer       # as of `static_state`: 0, 1, or -1 when it is undecided
    cdef int64_t static_state
    cdef object text
    cdef tuple order                     # sympy's sort key; None: not asked yet


cdef class Table:
    cdef object __weakref__
    cdef void* owner                     # borrowed: the ShapeEnv; NULL once it is gone
    cdef dict nodes                      # (op, *arguments) -> node
    cdef dict ints, floats, symbols      # value -> node; name -> symbol
    cdef Expr true, false
    cdef list small                      # nodes of the numbers -8 .. 127
    cdef MemoEntry* memo                      # (op, handle, handle) -> node, open addressing
    cdef uint64_t memo_mask, memo_used
    cdef int64_t* pages                  # the numbers of its pages of handles: no list, which the collector would empty first
    cdef Py_ssize_t page_count
    cdef int64_t next_slot, last_slot
    cdef int64_t state                   # grows with whatever is learnt
    cdef int64_t replacements            # grows with each replacement
    cdef bint facts_differ               # some node has a `lower`, `upper` or `excluded`

    cdef Expr number(self, object value)
    cdef Expr boolean(self, bint value)
    cdef Expr symbol(self, str name, int kind, int symbol_type, bint positive)
    cdef Expr intern(self, int op, tuple args, int kind, frozenset symbols=*)
    cdef Expr sum_of(self, list parts)
    cdef Expr product_of(self, list parts)
    cdef Expr scaled(self, Expr e, object by)
    cdef Expr power(self, Expr base, object exponent)
    cdef Expr build(self, int op, list args)               # any operation, in normal form
    cdef Expr binary(self, int op, Expr a, Expr b)         # the same, remembered
    cdef Expr difference(self, Expr a, Expr b)             # a - b, remembered; its hint is not asked
    cdef Expr negate(self, Expr condition)
    cdef close(self)
    cdef int _empty_memo(self, uint64_t room) except -1
    cdef int64_t _new_handle(self, Expr e) except 0
    cdef void _free_pages(self) noexcept
    cdef Expr _node(self, int op, tuple args, object value, int kind)
    cdef Expr _constant(self, int op, object value, int kind)
    cdef Expr _known(self, int op, Expr a, Expr b)
    cdef int _remember(self, int op, Expr a, Expr b, Expr made) except -1
    cdef void _enter(self, MemoEntry entry) noexcept

cdef Expr get_node(int64_t handle)                         # RuntimeError for a handle of nothing
cdef tuple range_of(Expr e)
cdef object hint_of(Expr e)                                # None: there is none
cdef tuple always(Expr e)                                  # bounds that no state changes
cdef bint is_positive(Expr symbol) noexcept                # whether it was made so
cdef Expr sympify(Table table, object o)                   # a number or any node, as a node of this table
cdef Expr substituted(Expr e, dict rule, dict done)
cdef list ordered(list nodes)
cdef object value_at(Expr e, dict values, dict done)
cdef dict hooks
cdef Expr (*rules)(Table table, int op, list args)         # entered by `rules`: the normal form of the other operations
