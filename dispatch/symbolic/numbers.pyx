"""SymInt, SymFloat and SymBool: numbers whose arithmetic makes expressions, and SymNode, what they hold.

Programs compute with these; an operation on two of them looks up a node in the table (`expr`) and is done. Turning one into a plain
number, or a condition into a truth value, asks the ShapeEnv (`core`). A node that is not ours (any object with SymNode's methods) works
as well: then its methods are called.
"""
import math

cimport cython

from dispatch.symbolic.core cimport Core, Q_GUARD, Q_KNOWN, Q_OR_FALSE, Q_OR_TRUE, decide
from dispatch.symbolic.expr cimport Expr, H_KNOWN, Table, always, hint_of, range_of, sympify
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.rules cimport replaced

cdef tuple _TYPES = (int, float, bool)


cdef Expr expr_of(SymNode n):
    return n.c_expr if n.c_expr.table.replacements == 0 else replaced(n.c_expr)


cdef SymNode new_node(Expr e, Core env, int kind):
    cdef SymNode n = SymNode.__new__(SymNode)
    n.c_expr, n.shape_env, n.c_kind = e, env, kind
    return n


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


def int_of(Expr e, Core env):
    """An int of a number, else a SymInt."""
    return e.value if e.op == OP_NUMBER else wrapped(e, env, K_INT)


# --- nodes


@cython.freelist(64)
cdef class SymNode:
    """An expression, its ShapeEnv and the Python type that it stands for. Programs hold a SymInt, SymFloat or SymBool instead."""

    def __init__(self, expr, shape_env, pytype, hint=None, constant=None, fx_node=None, optimized_summation=False):
        cdef Core env = shape_env
        self.c_expr, self.shape_env, self.c_kind = sympify(env.table, expr), env, _TYPES.index(pytype)
        if hint is not None and type(hint) is not pytype and not isinstance(hint, SymNumber):
            raise AssertionError(f"Cannot create SymNode of type {pytype} with incompatible hint of type {type(hint)}")
        self.c_hint, self.constant, self.fx_node = hint, constant, fx_node

    @property
    def expr(self):
        return expr_of(self)

    @property
    def _expr(self):
        return self.c_expr

    @property
    def pytype(self):
        return _TYPES[self.c_kind]

    @property
    def hint(self):
        if self.c_hint is not None:
            return self.c_hint
        found = hint_of(expr_of(self))
        return None if found is None or isinstance(found, SymNumber) else _TYPES[self.c_kind](found)

    @property
    def _hint(self):
        return self.hint

    def has_hint(self):
        return self.hint is not None

    def with_shape_env(self, shape_env):
        return SymNode(self.c_expr, shape_env, self.pytype, self.c_hint, self.constant, self.fx_node)

    def _value_eq(self, SymNode other):
        return self.c_expr == other.c_expr and self.c_kind == other.c_kind and self.hint == other.hint and self.constant == other.constant

    def _value_hash(self):
        return hash((self.c_expr, self.c_kind, self.hint, self.constant))

    def maybe_as_int(self):
        e = expr_of(self)
        return int(e.value) if e.op == OP_NUMBER else None

    def maybe_as_float(self):
        e = expr_of(self)
        return e.value if e.op == OP_NUMBER and e.kind == K_FLOAT else None

    def maybe_as_bool(self):
        e = expr_of(self)
        return e.value if e.op == OP_BOOL else None

    def is_int(self):
        return self.c_kind == K_INT

    def is_float(self):
        return self.c_kind == K_FLOAT

    def is_bool(self):
        return self.c_kind == K_BOOL

    def is_symbolic(self):
        return True

    def is_constant(self):
        return False

    def is_nested_int(self):
        return isinstance(self.c_hint, SymInt) and self.c_hint.node.is_nested_int()

    def nested_int(self):
        return None

    def wrap_int(self, num):
        return self._literal(num, int, K_INT)

    def wrap_float(self, num):
        return self._literal(num, float, K_FLOAT)

    def wrap_bool(self, num):
        return self._literal(num, bool, K_BOOL)

    def _literal(self, num, pytype, kind):
        cdef SymNode n
        if type(num) is not pytype:
            raise AssertionError(f"Expected {pytype.__name__}, got {type(num)}")
        n = new_node(sympify(self.c_expr.table, num), self.shape_env, kind)
        n.constant = n.fx_node = num
        return n

    def clone(self):
        return self

    def str(self):
        return str(expr_of(self))

    def __str__(self):
        return str(expr_of(self))

    def _graph_repr(self):
        return str(expr_of(self))

    def __repr__(self):
        return f"SymNode({self.c_expr}, shape_env={object.__repr__(self.shape_env)}, pytype={self.pytype}, hint={self.hint})"

    def sym_sum(self, args):
        cdef SymNode a
        return new_node(self.c_expr.table.sum_of([expr_of(a) for a in args]), self.shape_env, K_INT)

    def round(self, ndigits=None):
        cdef Table t = self.c_expr.table
        if ndigits is None:
            return new_node(t.build(OP_ROUNDTOINT, [expr_of(self)]), self.shape_env, K_INT)
        return new_node(t.build(OP_ROUNDDECIMAL, [expr_of(self), t.number(ndigits)]), self.shape_env, self.c_kind)

    def sym_ite(self, SymNode then_node, SymNode else_node):
        made = self.c_expr.table.build(OP_PIECEWISE, [expr_of(then_node), expr_of(self), expr_of(else_node)])
        return new_node(made, self.shape_env, then_node.c_kind)

    def is_integer(self):
        cdef Table t = self.c_expr.table
        e = expr_of(self)
        return new_node(t.build(OP_EQ, [t.build(OP_TOFLOAT, [t.build(OP_FLOOR, [e])]), e]), self.shape_env, K_BOOL)

    def sym_int(self):
        return self.trunc()

    def pow(self, other):
        return self.float_pow(other)

    # --- questions

    def evaluate(self, size_oblivious=False):
        return (<Core>self.shape_env).value(expr_of(self), None, size_oblivious)

    def guard_int(self, file, line):
        return int((<Core>self.shape_env).value(expr_of(self), None, False))

    def guard_float(self, file, line):
        return float((<Core>self.shape_env).value(expr_of(self), None, False))

    def guard_bool(self, file, line):
        return bool((<Core>self.shape_env).value(expr_of(self), None, False))

    def int_(self):
        return int((<Core>self.shape_env).value(expr_of(self), None, False))

    def bool_(self):
        return bool((<Core>self.shape_env).value(expr_of(self), None, False))

    def expect_true(self, file, line):
        return bool((<Core>self.shape_env).expect(expr_of(self), f"{file}:{line}"))

    def guard_size_oblivious(self, file, line):
        return bool((<Core>self.shape_env).value(expr_of(self), None, True))

    def guard_or_false(self, file, line):
        return bool((<Core>self._condition()).ask(Q_OR_FALSE, expr_of(self)))

    def guard_or_true(self, file, line):
        return bool((<Core>self._condition()).ask(Q_OR_TRUE, expr_of(self)))

    def statically_known_true(self, file, line):
        return bool((<Core>self._condition()).ask(Q_KNOWN, expr_of(self)))

    def _condition(self):
        if self.c_kind != K_BOOL:
            raise AssertionError("Expected bool type")
        return self.shape_env

    # --- operations

    def pos(self):
        return self

    def add(self, other):
        return node_binary(OP_ADD, self, other)

    def sub(self, other):
        return node_binary(OP_SUB, self, other)

    def mul(self, other):
        return node_binary(OP_MUL, self, other)

    def mod(self, other):
        return node_binary(OP_REMAINDER, self, other)

    def int_floordiv(self, other):
        return node_binary(OP_FLOORDIV, self, other)

    def floordiv(self, other):
        return node_binary(OP_FLOORDIV, self, other)

    def int_truediv(self, other):
        return node_binary(OP_INTTRUEDIV, self, other)

    def float_truediv(self, other):
        return node_binary(OP_FLOATTRUEDIV, self, other)

    def truediv(self, other):
        return node_binary(OP_FLOATTRUEDIV, self, other)

    def pow_by_natural(self, other):
        return node_binary(OP_POWBYNATURAL, self, other)

    def float_pow(self, other):
        return node_binary(OP_FLOATPOW, self, other)

    def lshift(self, other):
        return node_binary(OP_LSHIFT, self, other)

    def rshift(self, other):
        return node_binary(OP_RSHIFT, self, other)

    def and_(self, other):
        return node_binary(OP_AND, self, other)

    def sym_and(self, other):
        return node_binary(OP_AND, self, other)

    def or_(self, other):
        return node_binary(OP_OR, self, other)

    def sym_or(self, other):
        return node_binary(OP_OR, self, other)

    def bitwise_and(self, other):
        return node_binary(OP_BITAND, self, other)

    def bitwise_or(self, other):
        return node_binary(OP_BITOR, self, other)

    def bitwise_xor(self, other):
        return node_binary(OP_BITXOR, self, other)

    def eq(self, other):
        return node_binary(OP_EQ, self, other)

    def ne(self, other):
        return node_binary(OP_NE, self, other)

    def lt(self, other):
        return node_binary(OP_LT, self, other)

    def le(self, other):
        return node_binary(OP_LE, self, other)

    def gt(self, other):
        return node_binary(OP_GT, self, other)

    def ge(self, other):
        return node_binary(OP_GE, self, other)

    def sym_min(self, other):
        return node_binary(OP_MIN, self, other)

    def sym_max(self, other):
        return node_binary(OP_MAX, self, other)

    def abs(self):
        return node_unary(OP_ABS, self)

    def neg(self):
        return node_unary(OP_NEG, self)

    def ceil(self):
        return node_unary(OP_CEILTOINT, self)

    def floor(self):
        return node_unary(OP_FLOORTOINT, self)

    def trunc(self):
        return node_unary(OP_TRUNCTOINT, self)

    def sym_not(self):
        return node_unary(OP_NOT, self)

    def sym_float(self):
        return node_unary(OP_TOFLOAT, self)

    def sym_sqrt(self):
        return node_unary(OP_SQRT, self)

    def sym_cos(self):
        return node_unary(OP_COS, self)

    def sym_cosh(self):
        return node_unary(OP_COSH, self)

    def sym_sin(self):
        return node_unary(OP_SIN, self)

    def sym_sinh(self):
        return node_unary(OP_SINH, self)

    def sym_tan(self):
        return node_unary(OP_TAN, self)

    def sym_tanh(self):
        return node_unary(OP_TANH, self)

    def sym_asin(self):
        return node_unary(OP_ASIN, self)

    def sym_acos(self):
        return node_unary(OP_ACOS, self)

    def sym_atan(self):
        return node_unary(OP_ATAN, self)

    def sym_log2(self):
        return node_unary(OP_LOG2, self)

    # --- contiguity

    def is_contiguous(self, sizes, strides):
        return self._in_order(sizes, strides, range(len(sizes) - 1, -1, -1))

    def is_channels_last_contiguous_2d(self, sizes, strides):
        return self._in_order(sizes, strides, (1, 3, 2, 0))

    def is_channels_last_contiguous_3d(self, sizes, strides):
        return self._in_order(sizes, strides, (1, 4, 3, 2, 0))

    def is_channels_last_strides_2d(self, sizes, strides):
        return self._strided(sizes, strides, (1, 3, 2, 0))

    def is_channels_last_strides_3d(self, sizes, strides):
        return self._strided(sizes, strides, (1, 4, 3, 2, 0))

    def is_non_overlapping_and_dense_indicator(self, sizes, strides):
        cdef SymNode n
        return new_node(self.c_expr.table.build(OP_INDICATOR, [expr_of(n) for n in [*sizes, *strides]]), self.shape_env, K_INT)

    def is_non_overlapping_and_dense(self, sizes, strides):
        return self.is_non_overlapping_and_dense_indicator(sizes, strides).eq(self.wrap_int(1))

    def _in_order(self, list sizes, list strides, order):
        """Each stride is the product of the sizes after it, or its size is 1, or some size is 0."""
        cdef Table t = self.c_expr.table
        cdef Expr found = t.boolean(len(order) == len(sizes)), expected = t.number(1), size
        if len(order) == len(sizes):
            for d in order:
                size = expr_of(sizes[d])
                found = t.build(OP_AND, [found, t.build(OP_OR, [t.build(OP_EQ, [size, t.number(1)]), t.build(OP_EQ, [expr_of(strides[d]), expected])])])
                expected = t.product_of([expected, size])
            for n in sizes:
                found = t.build(OP_OR, [found, t.build(OP_EQ, [expr_of(n), t.number(0)])])
        return new_node(found, self.shape_env, K_BOOL)

    def _strided(self, list sizes, list strides, order):
        """Strides grow in this order; a single channel counts as not."""
        cdef Table t = self.c_expr.table
        cdef Expr found = t.boolean(len(order) == len(sizes)), least = t.number(0), size, stride
        if len(order) == len(sizes):
            channel = expr_of(strides[1])
            found = t.build(OP_NE, [channel, t.number(0)])
            for d in order:
                size, stride = expr_of(sizes[d]), expr_of(strides[d])
                found = t.build(OP_AND, [found, t.build(OP_NE, [size, t.number(0)]), t.build(OP_GE, [stride, least])])
                if d == 0:
                    found = t.build(OP_AND, [found, t.build(OP_NE, [least, channel])])
                least = t.product_of([stride, t.build(OP_MAX, [size, t.number(1)])])
        return new_node(found, self.shape_env, K_BOOL)


cdef inline int result_kind(int op, int a, int b) noexcept:
    return a if a == b and OP_ADD <= op <= OP_ABS else kind_of(op, a, b)


cdef int remainder_of(int op, Expr a, Expr b) except -1:
    """% of numbers that are known not to be negative is Mod."""
    if op != OP_REMAINDER:
        return op
    return OP_MOD if range_of(a)[0] >= 0 and range_of(b)[0] >= 0 else OP_REMAINDER


cdef object node_binary(int op, SymNode a, other):
    cdef SymNode b
    cdef Expr x, y
    if type(other) is not SymNode:
        return getattr(other, _METHODS[mirrored(op) if is_relation(op) else op])(a)
    b = other
    x, y = expr_of(a), expr_of(b)
    return new_node(x.table.binary(remainder_of(op, x, y), x, y), a.shape_env, result_kind(op, a.c_kind, b.c_kind))


cdef object node_unary(int op, SymNode a):
    cdef Expr x = expr_of(a)
    return new_node(x.table.binary(op, x, x), a.shape_env, result_kind(op, a.c_kind, a.c_kind))


# What an operation is called on a node that is not ours.
_METHODS = {
    OP_ADD: "add", OP_SUB: "sub", OP_MUL: "mul", OP_REMAINDER: "mod", OP_FLOORDIV: "int_floordiv", OP_INTTRUEDIV: "int_truediv",
    OP_FLOATTRUEDIV: "float_truediv", OP_POWBYNATURAL: "pow_by_natural", OP_FLOATPOW: "float_pow", OP_LSHIFT: "lshift",
    OP_RSHIFT: "rshift", OP_AND: "and_", OP_OR: "or_", OP_BITAND: "bitwise_and", OP_BITOR: "bitwise_or", OP_BITXOR: "bitwise_xor",
    OP_EQ: "eq", OP_NE: "ne", OP_LT: "lt", OP_LE: "le", OP_GT: "gt", OP_GE: "ge", OP_MIN: "sym_min", OP_MAX: "sym_max",
    OP_ABS: "abs", OP_NEG: "neg", OP_CEILTOINT: "ceil", OP_FLOORTOINT: "floor", OP_TRUNCTOINT: "trunc", OP_NOT: "sym_not",
    OP_TOFLOAT: "sym_float", OP_SQRT: "sym_sqrt", OP_COS: "sym_cos", OP_COSH: "sym_cosh", OP_SIN: "sym_sin", OP_SINH: "sym_sinh",
    OP_TAN: "sym_tan", OP_TANH: "sym_tanh", OP_ASIN: "sym_asin", OP_ACOS: "sym_acos", OP_ATAN: "sym_atan", OP_LOG2: "sym_log2",
}  # fmt: skip


# --- what programs compute with


cdef object operate(int op, SymNumber self, object other, bint reflected):
    """self op other (reflected: other op self), with Python's promotions."""
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
        if (ka == K_FLOAT) != (kb == K_FLOAT) and (op <= OP_GE or op == OP_FLOATTRUEDIV or op == OP_FLOATPOW):
            if ka == K_FLOAT:
                b = t.binary(OP_TOFLOAT, b, b)
            else:
                a, ka = t.binary(OP_TOFLOAT, a, a), K_FLOAT
    if reflected:
        a, b = b, a
    return wrapped(t.binary(remainder_of(op, a, b), a, b), n.shape_env, result_kind(op, ka, ka if ka == K_FLOAT else kb))


cdef object operate_alone(int op, SymNumber self):
    cdef SymNode n
    cdef Expr a
    if type(self.node) is not SymNode:
        if is_constant(self):
            return value_of(op, [constant_of(self)])
        return wrap_node(getattr(self.node, _METHODS[op])())
    n = self.node
    a = expr_of(n)
    return wrapped(a.table.binary(op, a, a), n.shape_env, result_kind(op, n.c_kind, n.c_kind))


def is_constant(x):
    """Whether it is a plain number, or a node that says it is one."""
    return x.node.is_constant() if isinstance(x, SymNumber) else isinstance(x, (int, float, bool))


def constant_of(x):
    if isinstance(x, SymInt):
        return x.node.guard_int("", 0)
    return x.node.guard_bool("", 0) if isinstance(x, SymBool) else x


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
    found = wrap_node(getattr(node, _METHODS[op])(self.node) if reflected else getattr(self.node, _METHODS[op])(node))
    return constant_of(found) if is_constant(found) else found


cdef object _on_numbers(int op, a, b):
    if isinstance(a, SymNumber):
        return operate(op, a, b, False)
    return operate(op, b, a, True) if isinstance(b, SymNumber) else value_of(op, [a, b])


cdef class SymNumber:
    """What SymInt, SymFloat and SymBool share: a node."""

    def __init__(self, node):
        self.node = node

    def __repr__(self):
        return self.node._graph_repr()

    def _sympy_(self):
        return self.node.expr

    def __reduce__(self):
        return type(self), (self.node,)


@cython.freelist(64)
cdef class SymInt(SymNumber):
    """Like an int, and its arithmetic makes expressions."""

    def __bool__(self):
        return bool(self != 0)

    def __int__(self):
        return self.node.int_()

    def __index__(self):
        return self.node.int_()

    def __round__(self, ndigits=None):
        return self

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
        if isinstance(other, (float, SymFloat)):
            return sym_float(self) ** other
        if not isinstance(other, (int, SymInt)) or modulo is not None:
            return NotImplemented
        # the sign of the exponent decides the type of the result
        return operate(OP_POWBYNATURAL, self, other, False) if other >= 0 else sym_float(self) ** sym_float(other)

    def __rpow__(self, other, modulo):
        if isinstance(other, (float, SymFloat)):
            return other ** sym_float(self)
        if not isinstance(other, (int, SymInt)):
            return NotImplemented
        return operate(OP_POWBYNATURAL, self, other, True) if self >= 0 else sym_float(other) ** sym_float(self)

    def __hash__(self):
        if self.node.is_nested_int():
            return hash(self.node.nested_int())
        raise TypeError("unhashable type: non-nested SymInt")

    def as_integer_ratio(self):
        """Represent this int as an exact integer ratio"""
        return self, 1

    def bit_length(self):
        return int(self).bit_length()

    def conjugate(self):
        return self

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

    def __mod__(self, other):
        return operate(OP_REMAINDER, self, other, False)

    def __rmod__(self, other):
        return operate(OP_REMAINDER, self, other, True)

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

    def __sym_float__(self):
        return operate_alone(OP_TOFLOAT, self)

    def __pos__(self):
        return self


@cython.freelist(16)
cdef class SymFloat(SymNumber):
    """Like a float, and its arithmetic makes expressions."""

    def __bool__(self):
        return self.node.bool_()

    def __float__(self):
        return self.node.guard_float("", 0)

    def __int__(self):
        return self.__trunc__().__int__()

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
        if not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        must_hold(self >= 0)
        return self.__float_pow__(other)

    def __rpow__(self, other, modulo):
        if not isinstance(other, (int, float, SymInt, SymFloat)):
            return NotImplemented
        must_hold(other >= 0)
        return self.__rfloat_pow__(other)

    def __round__(self, ndigits=None):
        return wrap_node(self.node.round(ndigits))

    def __sym_int__(self):
        return self.__trunc__()

    def __sym_float__(self):
        return self

    def __hash__(self):
        return hash(float(self))

    def is_integer(self):
        """Return True if the float is an integer."""
        return wrap_node(self.node.is_integer())

    def as_integer_ratio(self):
        """Represent this float as an exact integer ratio"""
        return float(self).as_integer_ratio()

    def conjugate(self):
        """Returns the complex conjugate of the float."""
        return self

    def hex(self):
        """Returns the hexadecimal representation of the float."""
        return self.node.guard_float("", 0).hex()

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

    def __mod__(self, other):
        return operate(OP_REMAINDER, self, other, False)

    def __rmod__(self, other):
        return operate(OP_REMAINDER, self, other, True)

    def __float_pow__(self, other):
        return operate(OP_FLOATPOW, self, other, False)

    def __rfloat_pow__(self, other):
        return operate(OP_FLOATPOW, self, other, True)

    def __float_truediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, False)

    def __rfloat_truediv__(self, other):
        return operate(OP_FLOATTRUEDIV, self, other, True)

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

    def __sym_log2__(self):
        return operate_alone(OP_LOG2, self)

    def __pos__(self):
        return self


@cython.freelist(16)
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
        return constant_of(found) if is_constant(found) else found

    def __sym_float__(self):
        return wrap_node(self.node.sym_float())

    def __hash__(self):
        return hash(self.node.bool_() if self.node.is_constant() else bool(self))

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
        raise RuntimeError(
            "Expected cond to be True, but got False. (Could this error message be improved? If so, please report an enhancement request "
            "to PyTorch.)")
    return 0


def sym_float(a):
    """A SymFloat of a SymInt; float() of anything else."""
    if isinstance(a, SymFloat):
        return a
    return a.__sym_float__() if hasattr(a, "__sym_float__") else float(a)
