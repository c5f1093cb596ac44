# cython: nonecheck=True, boundscheck=True
"""SymNode: an expression, its ShapeEnv and the Python type that it stands for, with the methods that PyTorch's nodes have.

Below `numbers`, whose SymInt, SymFloat and SymBool hold one. An operation on two nodes is a look-up in the table; a question
goes to the ShapeEnv. A node of another class is met through its methods.
"""
cimport cython

from dispatch.symbolic.core cimport Core, Q_KNOWN, Q_OR_FALSE, Q_OR_TRUE
from dispatch.symbolic.expr cimport Expr, H_KNOWN, Table, hint_of, range_of, sympify
from dispatch.symbolic.operations cimport *
from dispatch.symbolic.rules cimport replaced

cdef tuple _TYPES = (int, float, bool)


cdef Expr expr_of(SymNode n):
    return n.c_expr if n.c_expr.table.replacements == 0 else replaced(n.c_expr)


cdef SymNode new_node(Expr e, Core env, int kind):
    cdef SymNode n = SymNode.__new__(SymNode)
    n.c_expr, n.shape_env, n.c_kind = e, env, kind
    return n


@cython.freelist(64)
cdef class SymNode:
    """An expression, its ShapeEnv and the Python type that it stands for. Programs hold a SymInt, SymFloat or SymBool instead."""

    def __init__(self, expr, shape_env, pytype, hint=None, constant=None, fx_node=None, optimized_summation=False):
        cdef Core env = shape_env
        self.c_expr, self.shape_env, self.c_kind = sympify(env.table, expr), env, _TYPES.index(pytype)
        if self.c_kind == K_BOOL and self.c_expr.op == OP_NUMBER:
            self.c_expr = env.table.boolean(self.c_expr.value != 0)
        if hint is not None and type(hint) is not pytype and not hasattr(hint, "node"):
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
        if self.c_expr.unbacked and any([(<Expr>s).hinted != H_KNOWN for s in self.c_expr.free_symbols]):
            return None              # what data decide stays so, also when a check has said the number
        found = hint_of(self.c_expr)
        return found if found is None or hasattr(found, "node") else _TYPES[self.c_kind](found)

    @property
    def _hint(self):
        return self.hint

    def has_hint(self):
        return self.hint is not None

    def __reduce__(self):
        return SymNode, (self.c_expr, self.shape_env, self.pytype, self.c_hint, self.constant)

    def with_shape_env(self, shape_env):
        return SymNode(self.c_expr, shape_env, self.pytype, self.c_hint, self.constant, self.fx_node)

    def _value_eq(self, SymNode other not None):
        same = self.c_expr == other.c_expr and self.c_kind == other.c_kind
        return same and self.hint == other.hint and self.constant == other.constant

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
        return hasattr(self.c_hint, "node") and self.c_hint.node.is_nested_int()

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

    def sym_ite(self, SymNode then_node not None, SymNode else_node not None):
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
                found = t.build(OP_AND, [found, t.build(OP_OR, [t.build(OP_EQ, [size, t.number(1)]), t.build(OP_EQ,
                        [expr_of(strides[d]), expected])])])
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


cdef int result_kind(int op, int a, int b) noexcept:
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
        return getattr(other, METHODS[mirrored(op) if is_relation(op) else op])(a)
    b = other
    x, y = expr_of(a), expr_of(b)
    return new_node(x.table.binary(remainder_of(op, x, y), x, y), a.shape_env, result_kind(op, a.c_kind, b.c_kind))


cdef object node_unary(int op, SymNode a):
    cdef Expr x = expr_of(a)
    return new_node(x.table.binary(op, x, x), a.shape_env, result_kind(op, a.c_kind, a.c_kind))


# What an operation is called on a node that is not ours.
METHODS = {
    OP_ADD: "add", OP_SUB: "sub", OP_MUL: "mul", OP_REMAINDER: "mod", OP_FLOORDIV: "int_floordiv", OP_INTTRUEDIV: "int_truediv",
    OP_FLOATTRUEDIV: "float_truediv", OP_POWBYNATURAL: "pow_by_natural", OP_FLOATPOW: "float_pow", OP_LSHIFT: "lshift",
    OP_RSHIFT: "rshift", OP_AND: "and_", OP_OR: "or_", OP_BITAND: "bitwise_and", OP_BITOR: "bitwise_or", OP_BITXOR: "bitwise_xor",
    OP_EQ: "eq", OP_NE: "ne", OP_LT: "lt", OP_LE: "le", OP_GT: "gt", OP_GE: "ge", OP_MIN: "sym_min", OP_MAX: "sym_max",
    OP_ABS: "abs", OP_NEG: "neg", OP_CEILTOINT: "ceil", OP_FLOORTOINT: "floor", OP_TRUNCTOINT: "trunc", OP_NOT: "sym_not",
    OP_TOFLOAT: "sym_float", OP_SQRT: "sym_sqrt", OP_COS: "sym_cos", OP_COSH: "sym_cosh", OP_SIN: "sym_sin", OP_SINH: "sym_sinh",
    OP_TAN: "sym_tan", OP_TANH: "sym_tanh", OP_ASIN: "sym_asin", OP_ACOS: "sym_acos", OP_ATAN: "sym_atan", OP_LOG2: "sym_log2",
}  # fmt: skip
