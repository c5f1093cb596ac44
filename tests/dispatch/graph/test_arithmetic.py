"""`arithmetic`: what is computed on sizes, within bounds."""

import pytest

from dispatch.graph.arithmetic import NUMBER_OPERATORS
from dispatch.graph.cases import new_symbols
from dispatch.graph.sizes import OpenSize


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("_operator.mul", (6, 7), 42),
        ("_operator.floordiv", (-7, 2), -4),
        ("_operator.ge", (3, 3), True),
        ("_operator.pow", (2, 10), 1024),
        ("torch.sym_float", (3,), 3.0),
        ("torch.sym_max", (1, 2.5), 2.5),
        ("torch.sym_max", (3, 2.5), 3.0),
        ("torch.sym_ite", (False, 1, 2), 2),
        ("torch.sym_not", (True,), False),
        ("math.trunc", (2.7,), 2),
        ("round", (2.5,), 2),
        ("round", (25, -1), 20),
        ("round", (1234, -(2**62)), 0),
        ("_operator.lshift", (0, 2**62), 0),
    ],
)
def test_values(name, args, value):
    result = NUMBER_OPERATORS[name](*args)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("_operator.mul", (2**40, 2**40)),
        ("_operator.pow", (10, 10**9)),
        ("_operator.lshift", (1, 10**9)),
        ("_operator.lshift", (1, 64)),
        ("_operator.pow", (3, 64)),
        ("math.floor", (1e300,)),
        ("math.ceil", (float("inf"),)),
        ("torch.sym_sum", (2**63, 2**63)),
    ],
)
def test_results_fit_64_bits(name, args):
    with pytest.raises(OverflowError, match="64 bits"):
        NUMBER_OPERATORS[name](*args)


def test_only_numbers_are_taken():
    with pytest.raises(TypeError, match="expected numbers, got str"):
        NUMBER_OPERATORS["_operator.mul"]("a", 10**9)


@pytest.mark.parametrize(
    ("name", "args", "kind", "text"),
    [
        ("_operator.mod", (1, 0), ZeroDivisionError, "_operator.mod(1, 0): division by zero"),
        ("_operator.lshift", (1, -1), ValueError, "not defined for these numbers"),
        ("_operator.and_", (1.5, 1), TypeError, "_operator.and_(1.5, 1): no operation"),
        ("_operator.add", (1,), TypeError, "_operator.add(1): no operation"),
        ("_operator.pow", (-8, 0.5), ArithmeticError, "the result is no real number"),
    ],
)
def test_a_mistake_names_the_operator_and_its_numbers(name, args, kind, text):
    with pytest.raises(kind) as error:
        NUMBER_OPERATORS[name](*args)
    assert text in str(error.value)


@pytest.fixture
def size():
    """A symbolic number, 9 in this run."""
    return new_symbols([OpenSize("a", ("a",), 2, None, 9, ())], {"a": 9}).numbers["a"]


@pytest.mark.parametrize(
    ("name", "args", "text"),
    [
        ("_operator.mul", (3,), "3*a"),
        ("_operator.pow", (2,), "a**2"),
        ("_operator.lshift", (3,), "8*a"),
        ("_operator.truediv", (2,), "IntTrueDiv(a, 2)"),
        ("_operator.ge", (3,), "a >= 3"),
        ("torch.sym_max", (3,), "Max(3, a)"),
        ("torch.sym_float", (), "ToFloat(a)"),
        ("torch.sym_sum", (1, 2), "a + 3"),
    ],
)
def test_symbolic_numbers_make_expressions(size, name, args, text):
    assert str(NUMBER_OPERATORS[name](size, *args)) == text


def test_conditions_stay_conditions(size):
    """None of them asks for a guard."""
    large, env = size > 20, size.node.shape_env
    assert str(NUMBER_OPERATORS["_operator.not_"](large)) == "a <= 20"
    chosen = NUMBER_OPERATORS["torch.sym_ite"](large, size, size + 1)
    assert chosen.node.hint == 10 and env.guards == []
    assert NUMBER_OPERATORS["torch.sym_ite"](large, size, 3) == 3 and len(env.guards) == 1


@pytest.mark.parametrize(("name", "by"), [("_operator.pow", 65), ("_operator.lshift", 10**9)])
def test_a_symbolic_number_cannot_run_away(size, name, by):
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        NUMBER_OPERATORS[name](size, by)
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        NUMBER_OPERATORS[name](2, size.node.shape_env.create_unbacked_symint())
