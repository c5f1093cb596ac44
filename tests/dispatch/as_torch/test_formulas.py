"""Formulas of sizes: their functions on sympy's objects, numbers and tensors; conditions solved."""

import pickle

import pytest

sympy = pytest.importorskip("sympy")

import dispatch  # noqa: E402
from dispatch.as_torch.formulas.analyses import (  # noqa: E402
    PythonReferenceAnalysis,
    ReferenceAnalysis,
    TensorReferenceAnalysis,
)
from dispatch.as_torch.formulas.atoms import (  # noqa: E402
    Identity,
    SingletonInt,
    simple_floordiv_gcd,
)
from dispatch.as_torch.formulas.bounding import SymPyValueRangeAnalysis as Bounds  # noqa: E402
from dispatch.as_torch.formulas.interpreting import sympy_interp  # noqa: E402
from dispatch.as_torch.formulas.solving import mirror_rel_op, try_solve  # noqa: E402
from dispatch.as_torch.fx import symbolic_trace  # noqa: E402
from dispatch.symbolic import ShapeEnv, ValueRanges, functions  # noqa: E402
from dispatch.symbolic.ranges import NegativeIntInfinity, int_oo  # noqa: E402

x, y = sympy.symbols("x y", integer=True)
FORMULAS = [
    functions.FloorDiv(x, y) + functions.Mod(x, y),
    sympy.Max(x, y, 3) - 2 * x * y,
    sympy.And(x < y, sympy.Ne(x, 3)),
    functions.PowByNatural(x, 2),
    sympy.Piecewise((x, x > y), (y, True)),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_formula_is_worked_out_in_python(formula):
    expected = formula.subs({x: 7, y: 2})
    assert sympy_interp(PythonReferenceAnalysis, {x: 7, y: 2}, formula) == expected


@pytest.mark.parametrize("formula", FORMULAS[:4], ids=str)
def test_a_trace_holds_what_a_formula_does(formula):
    gm = symbolic_trace(lambda a, b: sympy_interp(PythonReferenceAnalysis, {x: a, y: b}, formula))
    assert gm(7, 2) == formula.subs({x: 7, y: 2})


def test_tensors_are_computed_by_operators():
    a, b = dispatch.tensor(7), dispatch.tensor(2)
    formula = sympy.Max(x, 3) - 2 * x * y
    found = sympy_interp(TensorReferenceAnalysis, {x: a, y: b}, formula)
    assert found.item() == 7 - 28 and found.dtype is dispatch.int64
    assert TensorReferenceAnalysis.floordiv(a, b).item() == 3
    with pytest.raises(NotImplementedError, match="mod"):
        TensorReferenceAnalysis.mod(a, b)


def test_expressions_of_this_package_are_read_too():
    env = ShapeEnv()
    s = env.create_unbacked_symint()
    symbol = s.node.expr
    formula = ((s + 1) // 2 * 3).node.expr
    assert sympy_interp(PythonReferenceAnalysis, {symbol: 7}, formula) == 12
    with pytest.raises(KeyError):
        sympy_interp(PythonReferenceAnalysis, {}, formula)
    given = sympy_interp(PythonReferenceAnalysis, {}, formula, missing_handler=lambda e: 7)
    assert given == 12


def test_floats_stay_floats():
    assert ReferenceAnalysis.add(sympy.Float(1), sympy.Integer(2)).is_Float
    assert ReferenceAnalysis.floor(sympy.Float(1.5)).is_Float and ReferenceAnalysis.floor(x) == x
    assert ReferenceAnalysis.exp(sympy.Integer(2**40)) == sympy.exp(2**40)


@pytest.mark.parametrize(
    ("name", "ranges", "low", "high"),
    [
        ("add", [(1, 2), (3, 4)], 4, 6), ("floordiv", [(7, 9), (2, 2)], 3, 4),
        ("mul", [(0, 0), (-int_oo, int_oo)], 0, 0), ("neg", [(1, 2)], -2, -1),
        ("minimum", [(1, 9), (3, 4)], 1, 4), ("lt", [(1, 2), (3, 4)], True, True),
    ],
)  # fmt: skip
def test_functions_of_ranges_are_bounded(name, ranges, low, high):
    found = getattr(Bounds, name)(*(ValueRanges(*pair) for pair in ranges))
    assert (found.lower, found.upper) == (low, high)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (sympy.Eq(x + 5, y - 5), sympy.Eq(x, y - 10)),
        (sympy.Lt(-2 * x, y), sympy.Gt(x, -y / 2)),
        (sympy.Lt(3, x), sympy.Gt(x, 3)),
        (sympy.Ge(functions.FloorDiv(x, 3), 2), sympy.Ge(x, 6)),
        (sympy.Le(functions.FloorDiv(x, 3), 2), sympy.Lt(x, 9)),
        (sympy.Lt(x * y, 1), None),
        (sympy.Eq(x, x * x + 1), None),
        (x + y, None),
    ],
    ids=str,
)
def test_conditions_are_solved_for_a_symbol(condition, expected):
    assert try_solve(condition, x) == (None if expected is None else (expected, expected.rhs))


def test_quotients_stay_where_that_is_asked():
    assert try_solve(sympy.Lt(functions.FloorDiv(x, 3), 2), x, floordiv_inequality=False) is None
    assert mirror_rel_op(sympy.Lt) is sympy.Gt and mirror_rel_op(sympy.Add) is None


def test_ragged_lengths_are_at_least_two():
    j = SingletonInt(1)
    assert sympy.Eq(j, SingletonInt(1)) == True and sympy.Eq(j, 2 * j) == False  # noqa: E712
    assert (j >= sympy.Integer(2)) == True and (j * 2 >= j) == True  # noqa: E712
    with pytest.raises(ValueError, match="indeterminate"):
        j >= sympy.Integer(3)  # noqa: B015
    with pytest.raises(ValueError, match="cannot be multiplied"):
        j * j
    with pytest.raises(NotImplementedError):
        j + 1


def test_nothing_opens_an_identity_but_its_own_hint():
    e = Identity(x + 1)
    assert e.is_integer and (2 * e).expand() == 2 * e and e.expand(identity=True) == x + 1
    assert Identity(sympy.Integer(3)) > 2 and int(Identity(sympy.Integer(3))) == 3


def test_common_divisors_without_factoring():
    assert simple_floordiv_gcd(128 * x + 64 * y, 96 * x) == 32
    assert simple_floordiv_gcd(384 * x * y, x * y) == x * y


def test_calls_of_functions_are_pickled():
    e = functions.OpaqueUnaryFn_cos(sympy.Symbol("a")) + functions.FloorDiv(x, y)
    assert pickle.loads(pickle.dumps(e)) == e


def test_infinities_of_whole_numbers():
    assert isinstance(-int_oo, NegativeIntInfinity) and int_oo.is_integer
    assert int_oo**2 is int_oo and (-int_oo) ** 2 is int_oo and (-int_oo) ** 3 is -int_oo
    assert int_oo**-1 == 0 and abs(-int_oo) is int_oo and int_oo / 2 == float("inf")
