# cython: nonecheck=True, boundscheck=True
"""SymInt, SymFloat and SymBool: numbers whose arithmetic makes expressions.

Programs compute with these; an operation on two of them looks up a node in the table (`expr`) and is done. Turning one into a
plain number, or a condition into a truth value, asks the ShapeEnv (`core`). A node that is not ours (any object with SymNode's
methods) works as well: then its methods are called.
"""
import math

from dispatch._C.symbolic cimport symbolic_calls
from dispatch.symbolic.core cimport Core, Q_GUARD
from dispatch.symbolic.expr cimport Expr, Table, sympify
from dispatch.symbolic.node cimport METHODS, SymNode, expr_of, new_node, remainder_of, result_kind
from dispatch.symbolic.operations cimport *


cdef object wrapped(Expr e, Core env, int kind):
    """As a program's number."""
    cdef SymNumber made
    if kind == K_INT:
        made = SymInt.__new__(SymInt)
    elif kind == K_FLOAT:
        made = SymFloat.__new__(SymFloat)
    else:
        made = SymBool.__new__(SymBool)
    made.node = new_node(e, env, kind)
    return made


def wrap_node(node):
    """A node as a program's number; a constant as itself."""
    cdef SymNumber made
    if type(node) is SymNode and (<SymNode>node).constant is not None:
        return (<SymNode>node).constant
    if node.is_int():
        made = SymInt.__new__(SymInt)
    elif node.is_float():
        made = SymFloat.__new__(SymFloat)
    elif node.is_bool():
        made = SymBool.__new__(SymBool)
    else:
        raise AssertionError(f"unrecognized return type {node}")
    made.node = node
    return made


def to_node(node, number):
    """A program's number as a node beside `node`; NotImplemented for anything else."""
    if isinstance(number, SymNumber):
        return (<SymNumber>number).node
    if type(number) is bool:
        return node.wrap_bool(number)
    if type(number) is int:
        return node.wrap_int(number)
    if type(number) is float:
        return node.wrap_float(number)
    return NotImplemented


def int_of(Expr e not None, Core env not None):
    """An int of a number, else a SymInt."""
    return e.value if e.op == OP_NUMBER else wrapped(e, env, K_INT)


# --- what programs compute with


cdef object watcher = None               # is told of each operation: its method's name, operands, result


def watch(who):
    """Let `who` be told of every operation from now on; None for nobody. Returns who was told before."""
    global watcher
    before, watcher = watcher, who
    return before


cdef object operate(int op, SymNumber self, object other, bint reflected):
    """self op other (reflected: other op self), with Python's promotions."""
    if watcher is None:
        return computed(op, self, other, reflected)
    if op <= OP_GE or op == OP_FLOATTRUEDIV or op == OP_FLOATPOW or op == OP_REMAINDER or op == OP_SUB:
        if isinstance(self, SymFloat) and type(other) is SymInt:
            other = sym_float(other)
        elif isinstance(self, SymInt) and isinstance(other, (float, SymFloat)):
            self = sym_float(self)           # an operation of its own
    found = computed(op, self, other, reflected)
    if found is not NotImplemented:
        watcher(METHODS[op], (other, self) if reflected else (self, other), found)
    return found


cdef object computed(int op, SymNumber self, object other, bint reflected):
    cdef SymNode n
    cdef Expr a, b
    cdef Table t
    cdef int ka, kb
    if type(self.node) is not SymNode:
        return foreign(op, self, other, reflected)
    n = self.node
    a, ka = expr_of(n), n.c_kind
    t = a.table
    if type(other) is int:
        b, kb = t.number(other), K_INT
    elif isinstance(other, SymNumber):
        if type((<SymNumber>other).node) is not SymNode:
            return foreign(op, self, other, reflected)
        b, kb = expr_of((<SymNumber>other).node), (<SymNode>(<SymNumber>other).node).c_kind
    elif isinstance(other, (bool, float, int)):
        b = sympify(t, other)
        kb = b.kind
    else:
        return NotImplemented
    if ka != kb or ka == K_BOOL:
        if op == OP_ADD or op == OP_SUB or op == OP_MUL:
            # the truth values of arithmetic are numbers, as in Python
            if ka == K_BOOL:
                a, ka = t.number(int(bool(self))), K_INT
            if kb == K_BOOL:
                b, kb = t.number(int(bool(other))), K_INT
        elif ka != kb and (ka == K_BOOL or kb == K_BOOL):
            check_truths(op, self, other, reflected)
            if (op == OP_AND or op == OP_OR) and b.op == OP_NUMBER and (b.value == 0 or b.value == 1):
                b = t.boolean(b.value == 1)
        if (ka == K_FLOAT or kb == K_FLOAT) and (op in (OP_LSHIFT, OP_RSHIFT, OP_BITAND, OP_BITOR, OP_BITXOR)):
            return NotImplemented
        if (ka == K_FLOAT) != (kb == K_FLOAT) and (
                op <= OP_GE or op == OP_FLOATTRUEDIV or op == OP_FLOATPOW or op == OP_REMAINDER):
            if ka == K_FLOAT:
                b = t.binary(OP_TOFLOAT, b, b)
            else:
                a, ka = t.binary(OP_TOFLOAT, a, a), K_FLOAT
    if reflected:
        a, b = b, a
    return wrapped(t.binary(remainder_of(op, a, b), a, b), n.shape_env, result_kind(op, ka, ka if ka == K_FLOAT else kb))


cdef int check_truths(int op, SymNumber self, object other, bint reflected) except -1:
    """What PyTorch's expressions refuse of a condition and a number; TypeError."""
    cdef bint refused
    if op == OP_LSHIFT or op == OP_RSHIFT:
        refused = isinstance(other if reflected else self, (bool, SymBool))
    elif op == OP_INTTRUEDIV or op == OP_FLOATTRUEDIV:
        refused = not isinstance(other, bool)
    elif op == OP_REMAINDER:
        refused = not isinstance(self, SymFloat) and not isinstance(other, (float, SymFloat))
    else:
        refused = op == OP_FLOORDIV
    if refused and not ((op == OP_REMAINDER or other is False) and not reflected and hint_is_false(other)):
        raise TypeError(f"unsupported operand types: {type(self).__name__} and {type(other).__name__}")
    return 0


cdef bint hint_is_false(object other) except -1:
    """A division by it is one by 0 in this run."""
    return other is False or isinstance(other, SymBool) and (<SymNode>other.node).hint is False


cdef object operate_alone(int op, SymNumber self):
    found = computed_alone(op, self)
    if watcher is not None:
        watcher(METHODS[op], (self,), found)
    return found


cdef object computed_alone(int op, SymNumber self):
    cdef SymNode n
    cdef Expr a
    if type(self.node) is not SymNode:
        if is_constant(self):
            return value_of(op, [constant_of(self)])
        return wrap_node(getattr(self.node, METHODS[op])())
    n = self.node
    a = expr_of(n)
    return wrapped(a.table.binary(op, a, a), n.shape_env, result_kind(op, n.c_kind, n.c_kind))


def is_constant(x):
    """Whether it is a plain number, or a node that says it is one."""
    return x.node.is_constant() if isinstance(x, SymNumber) else isinstance(x, (int, float, bool))


def constant_of(x):
    """The plain number that a constant is: never another constant, for what is computed with it is computed anew."""
    if isinstance(x, SymInt):
        return int(x.node.guard_int("", 0))
    if isinstance(x, SymBool):
        return bool(x.node.guard_bool("", 0))
    return float(x.node.guard_float("", 0)) if isinstance(x, SymFloat) else x


cdef object foreign(int op, SymNumber self, object other, bint reflected):
    """An operation with a node that is not ours on some side: a call of its method."""
    if not isinstance(other, (int, float, bool, SymNumber)):
        return NotImplemented
    if is_constant(self):
        return _on_numbers(op, other, constant_of(self)) if reflected else _on_numbers(op, constant_of(self), other)
    if is_constant(other):
        other = constant_of(other)
    if isinstance(other, (float, SymFloat)) and not isinstance(self, SymFloat) and op <= OP_GE:
        self = wrap_node(self.node.sym_float())
    elif isinstance(self, SymFloat) and isinstance(other, (int, SymInt)) and op <= OP_GE:
        other = float(other) if isinstance(other, int) else wrap_node(other.node.sym_float())
    node = to_node(self.node, other)
    found = wrap_node(getattr(node, METHODS[op])(self.node) if reflected else getattr(self.node, METHODS[op])(node))
    return constant_of(found) if is_constant(found) else found


cdef object _on_numbers(int op, a, b):
    if isinstance(a, SymNumber):
        return operate(op, a, b, False)
    return operate(op, b, a, True) if isinstance(b, SymNumber) else value_of(op, [a, b])


cdef class SymNumber:
    """What SymInt, SymFloat and SymBool share: a node."""

    def __cinit__(self):
        symbolic_calls.in_use = True           # the node may be one without a ShapeEnv

    def __init__(self, node):
        self.node = node

    def __repr__(self):
        return self.node._graph_repr()

    def _sympy_(self):
        return self.node.expr

    def __reduce__(self):
        return type(self), (self.node,)

    def __add__(self, other):
        return operate(OP_ADD, self, other, False)

    def __radd__(self, other):
        return operate(OP_ADD, self, other, True)

    def __sub__(self, other):
        return operate(OP_SUB, self, other, False)

    def __rsub__(self, other):
        return operate(OP_SUB, self, other, True)

    def __mul__(self, other):
        return operate(OP_MUL, self, other, False)

    def __rmul__(self, other):
        return operate(OP_MUL, self, other, True)


cdef class SymReal(SymNumber):
    """What SymInt and SymFloat share: order, remainders, rounding. Python inherits comparisons together with `__hash__` only."""

    cdef Py_hash_t hashed(self) except? -1:
        raise TypeError("unhashable type: SymReal")

    def __hash__(self):
        return self.hashed()

    def __mod__(self, other):
        return operate(OP_REMAINDER, self, other, False)

    def __rmod__(self, other):
        return operate(OP_REMAINDER, self, other, True)

    def __eq__(self, other):
        return operate(OP_EQ, self, other, False)

    def __ne__(self, other):
        return operate(OP_NE, self, other, False)

    def __lt__(self, other):
        return operate(OP_LT, self, other, False)

    def __le__(self, other):
        return operate(OP_LE, self, other, False)

    def __gt__(self, other):
        return operate(OP_GT, self, other, False)

    def __ge__(self, other):
        return operate(OP_GE, self, other, False)

    def __sym_min__(self, other):
        return operate(OP_MIN, self, other, False)

    def __sym_max__(self, other):
        return operate(OP_MAX, self, other, False)

    def __neg__(self):
        return operate_alone(OP_NEG, self)

    def __abs__(self):
        return operate_alone(OP_ABS, self)

    def __ceil__(self):
        return operate_alone(OP_CEILTOINT, self)

    def __floor__(self):
        return operate_alone(OP_FLOORTOINT, self)

    def __trunc__(self):
        return operate_alone(OP_TRUNCTOINT, self)

    def __pos__(self):
        return self

    def conjugate(self):
        return self

    def __float_pow__(self, other):
        return operate(OP_FLOATPOW, self, other, False)

    def __rfloat_pow__(self, other):
        return operate(OP_FLOATPOW, self, other, True)

    def __float_truediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, False)

    def __rfloat_truediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, True)

    def __sym_sqrt__(self):
        return operate_alone(OP_SQRT, self)

    def __sym_cos__(self):
        return operate_alone(OP_COS, self)

    def __sym_cosh__(self):
        return operate_alone(OP_COSH, self)

    def __sym_sin__(self):
        return operate_alone(OP_SIN, self)

    def __sym_sinh__(self):
        return operate_alone(OP_SINH, self)

    def __sym_tan__(self):
        return operate_alone(OP_TAN, self)

    def __sym_tanh__(self):
        return operate_alone(OP_TANH, self)

    def __sym_asin__(self):
        return operate_alone(OP_ASIN, self)

    def __sym_acos__(self):
        return operate_alone(OP_ACOS, self)

    def __sym_atan__(self):
        return operate_alone(OP_ATAN, self)


cdef class SymInt(SymReal):
    """Like an int, and its arithmetic makes expressions."""

    def __bool__(self):
        return bool(self != 0)

    def __int__(self):
        return self.node.int_()

    def __index__(self):
        return self.node.int_()

    def __round__(self, ndigits=None):
        return self

    cdef Py_hash_t hashed(self) except? -1:
        if self.node.is_nested_int():
            return hash(self.node.nested_int())
        raise TypeError("unhashable type: non-nested SymInt")

    def __truediv__(self, other):
        return operate(OP_FLOATTRUEDIV if isinstance(other, (float, SymFloat)) else OP_INTTRUEDIV, self, other, False)

    def __rtruediv__(self, other):
        return operate(OP_FLOATTRUEDIV if isinstance(other, (float, SymFloat)) else OP_INTTRUEDIV, self, other, True)

    def __floordiv__(self, other):
        if isinstance(other, (float, SymFloat)):
            return sym_float(math.floor(sym_float(self) / other))
        return operate(OP_FLOORDIV, self, other, False)

    def __rfloordiv__(self, other):
        if isinstance(other, (float, SymFloat)):
            return sym_float(math.floor(other / sym_float(self)))
        return operate(OP_FLOORDIV, self, other, True)

    def __pow__(self, other, modulo):
        if modulo is not None:       # which can be the only one of ours: self is any object then
            return NotImplemented
        if isinstance(other, (float, SymFloat)):
            return sym_float(self) ** other
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        # the sign of the exponent decides the type of the result
        return operate(OP_POWBYNATURAL, self, other, False) if other >= 0 else sym_float(self) ** sym_float(other)

    def __rpow__(self, other, modulo):
        if modulo is not None:
            return NotImplemented
        if isinstance(other, (float, SymFloat)):
            return other ** sym_float(self)
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        return operate(OP_POWBYNATURAL, self, other, True) if self >= 0 else sym_float(other) ** sym_float(self)

    def as_integer_ratio(self):
        """Represent this int as an exact integer ratio"""
        return self, 1

    def bit_length(self):
        return int(self).bit_length()

    def __lshift__(self, other):
        return operate(OP_LSHIFT, self, other, False)

    def __rlshift__(self, other):
        return operate(OP_LSHIFT, self, other, True)

    def __rshift__(self, other):
        return operate(OP_RSHIFT, self, other, False)

    def __rrshift__(self, other):
        return operate(OP_RSHIFT, self, other, True)

    def __and__(self, other):
        return operate(OP_BITAND, self, other, False)

    def __rand__(self, other):
        return operate(OP_BITAND, self, other, True)

    def __or__(self, other):
        return operate(OP_BITOR, self, other, False)

    def __ror__(self, other):
        return operate(OP_BITOR, self, other, True)

    def __xor__(self, other):
        return operate(OP_BITXOR, self, other, False)

    def __rxor__(self, other):
        return operate(OP_BITXOR, self, other, True)

    def __pow_by_natural__(self, other):
        return operate(OP_POWBYNATURAL, self, other, False)

    def __rpow_by_natural__(self, other):
        return operate(OP_POWBYNATURAL, self, other, True)

    def __int_truediv__(self, other):
        return operate(OP_INTTRUEDIV, self, other, False)

    def __rint_truediv__(self, other):
        return operate(OP_INTTRUEDIV, self, other, True)

    def __int_floordiv__(self, other):
        return operate(OP_FLOORDIV, self, other, False)

    def __rint_floordiv__(self, other):
        return operate(OP_FLOORDIV, self, other, True)

    def __sym_float__(self):
        return operate_alone(OP_TOFLOAT, self)


cdef class SymFloat(SymReal):
    """Like a float, and its arithmetic makes expressions."""

    def __bool__(self):
        return self.node.bool_()

    def __float__(self):
        return self.node.guard_float("", 0)

    def __int__(self):
        return self.__trunc__().__int__()

    cdef Py_hash_t hashed(self) except? -1:
        return hash(float(self))

    def __truediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, False)

    def __rtruediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, True)

    def __floordiv__(self, other):
        if not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        return sym_float(math.floor(self / sym_float(other)))

    def __rfloordiv__(self, other):
        if not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        return sym_float(math.floor(sym_float(other) / self))

    def __pow__(self, other, modulo):
        if modulo is not None or not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        must_hold(self >= 0)
        return self.__float_pow__(other)

    def __rpow__(self, other, modulo):
        if modulo is not None or not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        must_hold(other >= 0)
        return self.__rfloat_pow__(other)

    def __round__(self, ndigits=None):
        found = wrap_node(self.node.round(ndigits))
        if watcher is not None:
            watcher("round", (self,) if ndigits is None else (self, ndigits), found)
        return found

    def __sym_int__(self):
        return self.__trunc__()

    def __sym_float__(self):
        return self

    def is_integer(self):
        """Return True if the float is an integer."""
        return wrap_node(self.node.is_integer())

    def as_integer_ratio(self):
        """Represent this float as an exact integer ratio"""
        return float(self).as_integer_ratio()

    def hex(self):
        """Returns the hexadecimal representation of the float."""
        return self.node.guard_float("", 0).hex()

    def __sym_log2__(self):
        return operate_alone(OP_LOG2, self)


cdef class SymBool(SymNumber):
    """Like a bool; `&`, `|` and `sym_not` make conditions, where `and`, `or` and `not` guard."""

    def __bool__(self):
        cdef SymNode n
        if type(self.node) is not SymNode:
            return self.node.bool_()
        n = self.node
        if n.c_expr.answer >= 0:
            return n.c_expr.answer
        return (<Core>n.shape_env).ask(Q_GUARD, n.c_expr)

    def __int__(self):
        return int(bool(self))

    def __sym_not__(self):
        return operate_alone(OP_NOT, self)

    def __sym_ite__(self, then_val, else_val):
        then_node, else_node = to_node(self.node, then_val), to_node(self.node, else_val)
        if then_node is NotImplemented or else_node is NotImplemented:
            return NotImplemented
        if then_node.is_int() != else_node.is_int() or then_node.is_float() != else_node.is_float():
            raise AssertionError("then_node and else_node must be SymNodes with same pytype")
        found = wrap_node(self.node.sym_ite(then_node, else_node))
        if watcher is not None:
            watcher("sym_ite", (self, then_val, else_val), found)
        return constant_of(found) if is_constant(found) else found

    def __sym_float__(self):
        return wrap_node(self.node.sym_float())

    def __hash__(self):
        return hash(self.node.bool_() if self.node.is_constant() else bool(self))

    def __and__(self, other):
        return operate(OP_AND, self, other, False)

    def __rand__(self, other):
        return operate(OP_AND, self, other, True)

    def __or__(self, other):
        return operate(OP_OR, self, other, False)

    def __ror__(self, other):
        return operate(OP_OR, self, other, True)

    def __eq__(self, other):
        return operate(OP_EQ, self, other, False)

    def __ne__(self, other):
        return not self == other


cdef int must_hold(condition) except -1:
    """A guard, or a runtime assert; RuntimeError where it does not hold."""
    if not (condition.node.expect_true("", 0) if isinstance(condition, SymBool) else condition):
        raise RuntimeError("Expected cond to be True, but got False")
    return 0


def sym_float(a):
    """A SymFloat of a SymInt; float() of anything else."""
    if isinstance(a, SymFloat):
        return a
    return a.__sym_float__() if hasattr(a, "__sym_float__") else float(a)
