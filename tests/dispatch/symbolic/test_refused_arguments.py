"""Expressions, symbolic numbers and ShapeEnv refuse what they cannot take, as PyTorch does."""

import pytest
import sympy

import dispatch
from dispatch import FakeTensorMode as FM, symbolic as S
from dispatch.symbolic import ConstantSource as Const, DimDynamic as DD, SymNode, ValueRanges as VR
from tests.dispatch.refused import (
    check_refused,
    i64,
    o,
    z,
)  # fmt: skip


def sym():
    """A symbolic 5 in a ShapeEnv of its own."""
    env = S.ShapeEnv()
    return env.create_unspecified_symint_and_symbol(5, Const("a"), DD.DYNAMIC)


CALLS = [
    (
        lambda: S.StatelessSymbolicContext([DD.DUCK], dynamic_strides=[DD.STATIC]),
        AssertionError,
        "dynamic_strides must only contain INFER_STRIDE, DYNAMIC, or",
    ),
    (lambda: bool(sym().node.expr > 7), TypeError, "cannot determine truth value of Relational"),
    (lambda: int(sym().node.expr), TypeError, "cannot convert expression s99 to int"),
    (lambda: float(sym().node.expr), TypeError, "cannot convert expression s99 to float"),
    (lambda: (sym().node.expr + 1).name, AttributeError, "s99 + 1 has no name: it is no symbol"),
    (lambda: sym().node.expr.lhs, AttributeError, "s99 has no sides"),
    (lambda: sym().node.expr.rhs, AttributeError, "s99 has no sides"),
    (
        lambda: S.ShapeEnv().produce_guards([o(2)], []),
        AssertionError,
        "len([tensor([1., 1.])]) != len([])",
    ),
    (
        lambda: SymNode(sym().node.expr, sym().node.shape_env, int, "a"),
        AssertionError,
        "Cannot create SymNode of type <class 'int'> with incompatible",
    ),
    (
        lambda: SymNode(sym().node.expr, sym().node.shape_env, int, 2.5),
        AssertionError,
        "Cannot create SymNode of type <class 'int'> with incompatible",
    ),
    (
        lambda: dispatch.sym_ite(sym() > 2, sym(), 2.5),
        AssertionError,
        "type mismatch: <class 'dispatch.symbolic.numbers.SymInt'> vs",
    ),
    (
        lambda: dispatch.sym_ite(3, 1, 2),
        AssertionError,
        "expected SymBool or bool, got <class 'int'>",
    ),
    (
        lambda: dispatch.sym_ite(True, 1, 2.0),
        AssertionError,
        "type mismatch: <class 'int'> vs <class 'float'>",
    ),
    (
        lambda: dispatch.sym_ite(sym() > 2, 1, 2.0),
        AssertionError,
        "type mismatch: <class 'int'> vs <class 'float'>",
    ),
    (lambda: dispatch.sym_max("a", 1), AssertionError, "expected a number, got <class 'str'>"),
    (
        lambda: dispatch.sym_min(1, None),
        AssertionError,
        "expected a number, got <class 'NoneType'>",
    ),
    (lambda: S.guard_scalar("a"), AssertionError, "unrecognized scalar a"),
    (lambda: S.guard_scalar(None), AssertionError, "unrecognized scalar None"),
    (lambda: VR(None, 3), AssertionError, "not accepted type <class 'NoneType'>"),
    (lambda: VR("a", 3), AssertionError, "not accepted type <class 'str'>"),
    (lambda: VR(3, 2), S.ValueRangeError, "Invalid ranges [3:2]"),
    (
        lambda: S.ShapeEnv().create_symintnode(sympy.Integer(3), hint=4),
        AssertionError,
        "int(sym)=3 != hint=4",
    ),
    (
        lambda: S.ShapeEnv()._constrain_unify(sym(), sym()),
        AssertionError,
        "a.node.shape_env must be self",
    ),
    (
        lambda: S.ShapeEnv()._constrain_unify(sym() + 1, 2),
        AssertionError,
        "constraining non-Symbols NYI",
    ),
    (
        lambda: S.ShapeEnv().create_symbol(-3, Const("a")),
        AssertionError,
        "positive set for negative value: -3",
    ),
    (
        lambda: S.ShapeEnv().create_symbol(3, Const("a"), dynamic_dim=3),
        AssertionError,
        "unhandled dynamic_dim 3",
    ),
    (
        lambda: S.ShapeEnv().create_symbol(
            3, Const("a"), constraint_dim=S.StrictMinMaxConstraint(vr=VR(4, 4), warn_only=False)
        ),
        S.ConstraintViolationError,
        "Static shape constraint of 4 does not match input size of 3",
    ),
    (
        lambda: S.ShapeEnv().create_symbolic_sizes_strides_storage_offset(
            o(2), Const("a"), symbolic_context=3
        ),
        AssertionError,
        "Invalid symbolic_context object",
    ),
    (
        lambda: S.ShapeEnv().create_symbolic_sizes_strides_storage_offset(
            o(2), Const("a"), symbolic_context=S.SymbolicContext()
        ),
        AssertionError,
        "Invalid symbolic_context object",
    ),
    (
        lambda: S.SymIntEqByExpr(sym()) == 3,
        AssertionError,
        "Expected SymIntEqByExpr, got <class 'int'>",
    ),
    (
        lambda: S.rebind_unbacked(S.ShapeEnv(), 3, None),
        AttributeError,
        "'int' object has no attribute 'op'",
    ),
    (lambda: sym() << -1, ValueError, "negative shift count"),
    (lambda: 7 >> (sym() - 6), ValueError, "negative shift count"),
    (
        lambda: S.ShapeEnv().create_symfloatnode(sympy.Float(1.5), hint=2.5),
        AssertionError,
        "float(sym)=1.5 != hint=2.5",
    ),
    *(
        (lambda f=f: pow(*f(sym())), TypeError, r"unsupported operand type(s) for ** or pow()")
        for f in (
            lambda a: (2, 3, a),
            lambda a: (a, 2, 3),
            lambda a: (2, a, a),
            lambda a: (2, 3, dispatch.sym_float(a)),
            lambda a: (dispatch.sym_float(a), 2, 3),
        )
    ),
    (lambda: (sym() > 2) < (sym() > 1), TypeError, "'<' not supported between instances of"),
    (lambda: sym().node.expr < (sym().node.expr > 2), TypeError, "conditions have no order"),
    (
        lambda: FM(allow_non_fake_inputs=True).from_tensor(3),
        TypeError,
        "from_tensor: expected a Tensor, got int",
    ),
    (
        lambda: FM(shape_env=S.ShapeEnv()).from_tensor(
            o(2), static_shapes=True, symbolic_context=S.StatelessSymbolicContext([DD.DUCK])
        ),
        AssertionError,
        "from_tensor: static_shapes and symbolic_context exclude each",
    ),
    (
        lambda: FM(shape_env=S.ShapeEnv(), static_shapes=True).from_tensor(
            o(2), symbolic_context=S.StatelessSymbolicContext([DD.DUCK])
        ),
        AssertionError,
        "from_tensor: static_shapes and symbolic_context exclude each",
    ),
    (
        lambda: FM().create_symbolic_nested_int(),
        AssertionError,
        "create_symbolic_nested_int: only while the mode is active",
    ),
    (
        lambda: setattr(FM().from_tensor(o(2)), "data", 3),
        TypeError,
        "FakeTensor.data: expected a fake tensor, got int",
    ),
    (
        lambda: (
            lambda m: setattr(
                m.from_tensor(o(2, requires_grad=True)), "data", m.from_tensor(z(2, dtype=i64))
            )
        )(FM()),
        RuntimeError,
        "FakeTensor.data: dispatch.int64 cannot stand in a tensor that",
    ),
    (lambda: S.ShapeEnv().deserialize_symexpr("s9 + 1"), NameError, "name 's9' is not defined"),
    (lambda: S.ShapeEnv().evaluate_symexpr("s9 + 1"), NameError, "name 's9' is not defined"),
    (lambda: S.ShapeEnv().evaluate_symexpr("foo(3)"), NameError, "name 'foo' is not defined"),
    (lambda: S.ShapeEnv().evaluate_symexpr("2 @ 3"), ValueError, "no expression: 2 @ 3"),
    (lambda: S.ShapeEnv().deserialize_symexpr("lambda: 1"), ValueError, "no expression: lambda: 1"),
    (lambda: S.ShapeEnv().create_symintnode("a"), TypeError, "no expression: 'a'"),
    (lambda: S.ShapeEnv().create_symintnode(None), TypeError, "no expression: None"),
    (lambda: S.ShapeEnv().bound_sympy("a"), TypeError, "no expression: 'a'"),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
