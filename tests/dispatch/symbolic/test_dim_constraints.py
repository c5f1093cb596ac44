"""Guards solved for dimensions: numbers, ranges, multiples, and what would have held."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from dispatch import FakeTensorMode, empty
from dispatch.symbolic import (
    ConstantSource,
    DimConstraints,
    DimDynamic,
    DynamicDimConstraintPrinter,
    LocalSource,
    RelaxedUnspecConstraint,
    ShapeEnv,
    StatelessSymbolicContext,
    TensorProperty,
    TensorPropertySource,
)
from dispatch.symbolic.functions import FloorDiv, Mod

sympy = pytest.importorskip("sympy")
S0, S1 = (sympy.Symbol(name, integer=True, positive=True) for name in ("s0", "s1"))
X0, X1, Y0 = (
    TensorPropertySource(LocalSource(name), TensorProperty.SIZE, i)
    for name, i in (("x", 0), ("x", 1), ("y", 0))
)
NAMES = {X0.name: "dx", X1.name: "dy"}


def constraints(*guards: Any, names: Any = None, values: Any = (8, 9)) -> DimConstraints:
    found = DimConstraints(
        {S0: [X0], S1: [X1]}, dict(zip((S0, S1), values, strict=True)), {S0}, names or {}
    )
    for guard in (S0 >= 2, S1 >= 2, *guards):
        found.add(guard)
    return found


def dim(name: str, low: int, high: int | None, **derived: Any) -> Any:
    return SimpleNamespace(__name__=name, min=low, max=high, **derived)


def solved(*guards: Any, **kw: Any) -> tuple[set[str], set[str]]:
    found = constraints(*guards, **kw)
    found.solve()
    return found._static_results, found._dynamic_results


@pytest.mark.parametrize(
    "guard, static, dynamic",
    [
        (S0 <= 10, set(), {"2 <= L['x'].size()[0]", "L['x'].size()[0] <= 10"}),
        (sympy.Eq(FloorDiv(S0, 2), 4), {"L['x'].size()[0] == 8"}, set()),
        (
            sympy.Eq(Mod(S0, 4), 0),
            set(),
            {"2 <= L['x'].size()[0]", "L['x'].size()[0] == 4*_L['x'].size()[0]"},
        ),
        (FloorDiv(S0 - 2, 3) >= 2, set(), {"8 <= L['x'].size()[0]"}),
    ],
)
def test_guards_of_one_symbol_are_solved_for_it(guard: Any, static: Any, dynamic: Any) -> None:
    found = solved(guard)
    assert found[0] == static
    assert dynamic | {"2 <= L['x'].size()[1]"} <= found[1]


def test_a_number_found_makes_guards_of_two_symbols_guards_of_one() -> None:
    static, dynamic = solved(sympy.Eq(S0, 8), sympy.Eq(9 * S0, 8 * S1))
    assert static == {"L['x'].size()[0] == 8", "L['x'].size()[1] == 9"}
    assert dynamic == set()


def test_congruences_of_a_symbol_become_one() -> None:
    found = constraints()
    found._congruences[S0] = {S0 % 4, (S0 / 2) % 3, (S0 + 12) % 8}
    assert found._reduce_congruences()[S0] == {(S0 - 12) % 24}


def test_sources_that_are_equal_to_a_symbol_follow_it() -> None:
    found = constraints(sympy.Eq(S1, 9))
    found.add_equality(Y0, S0)
    found.add_equality(ConstantSource("z"), S1 + 1)
    found.solve()
    assert "L['y'].size()[0] == L['x'].size()[0]" in found._dynamic_results
    assert "z == 10" in found._static_results


def test_a_guard_that_does_not_hold_for_the_run_is_an_error() -> None:
    with pytest.raises(ValueError, match="s0 > 20 is inconsistent"):
        solved(S0 > 20)


def test_guards_of_which_nothing_is_solved_are_left_out() -> None:
    found = constraints()
    assert not found.add(sympy.Ne(S0, 5))
    assert not found.add(sympy.Le(sympy.Max(S0, 3), 9))
    assert found.add(sympy.true)
    assert not any(e.has(sympy.Max) for e in found._univariate_inequalities[S0])


def test_a_symbol_without_a_source_is_not_printed() -> None:
    printer = DynamicDimConstraintPrinter({S0: [X0]}, {})
    assert printer.doprint(sympy.Eq(Mod(S0, 3), 0)) == "(L['x'].size()[0]) % (3) == 0"
    with pytest.raises(AssertionError, match="Unknown symbol s1 created by constraints solver"):
        printer.doprint(S1 <= 3)


@pytest.mark.parametrize(
    "guards, lines",
    [
        ([S0 <= 12], ["dx = Dim('dx', max=12)", "dy = Dim('dy')"]),
        ([S0 >= 3, S1 <= 9], ["dx = Dim('dx', min=3)", "dy = Dim('dy', max=9)"]),
        (
            [sympy.Eq(Mod(S0, 4), 0)],
            ["dy = Dim('dy')", "_dx = Dim('_dx', min=1)", "dx = 4*_dx"],
        ),
        ([S0 <= 32], ["dy = Dim('dy')"]),
    ],
)
def test_declarations_that_would_have_held_are_suggested(guards: Any, lines: Any) -> None:
    found = constraints(*guards, names=NAMES)
    found.solve()
    dims = {"x": {0: dim("dx", 2, 32), 1: dim("dy", 0, 100)}}
    assert found.prettify_results(None, dims, None, {}).splitlines()[2:] == [
        f"  {line}" for line in lines
    ]


def test_of_a_computed_dimension_the_root_is_suggested() -> None:
    root = dim("dx", 2, 64)
    computed = dim("2*dx", 4, 128, root=root, fn=lambda x: 2 * x)
    found = DimConstraints({S1: [X1]}, {S1: 9}, {S1}, {X0.name: "dx", X1.name: "2*dx"})
    for guard in (S1 >= 4, S1 <= 40):
        found.add(guard)
    found.solve()
    assert found.prettify_results(None, [root, computed], None, {}).splitlines()[2:] == [
        "  dx = Dim('dx', max=20)"
    ]


def test_a_dimension_that_became_a_number_is_said_to_be_forced() -> None:
    found = constraints(sympy.Eq(S0, 8), names=NAMES)
    found.solve()
    forced = found.forced_specializations()
    assert forced == {"dx = L['x'].size()[0]": 8}
    text = found.prettify_results(None, [dim("dx", 2, 32), dim("dy", 2, None)], None, forced)
    assert text.startswith("Specializations unexpectedly required (dx)!\n  - solving the guards")
    assert text.endswith("\n  dx = 8")


def test_a_run_leaves_its_guards_to_be_solved() -> None:
    env = ShapeEnv()
    assert env.dim_constraints is None
    context = StatelessSymbolicContext(
        [DimDynamic.DYNAMIC] * 2, constraint_sizes=[RelaxedUnspecConstraint(False)] * 2
    )
    source = LocalSource("x")
    t = FakeTensorMode(shape_env=env).from_tensor(
        empty(6, 8), source=source, symbolic_context=context
    )
    assert t.shape[1] % 4 == 0
    assert t.shape[0] <= 7
    env.source_name_to_debug_name = NAMES
    env.produce_guards([t], [source], input_contexts=[context])
    found = env.dim_constraints
    found.solve()
    text = found.prettify_results(None, [dim("dx", 2, None), dim("dy", 2, None)], None, {})
    lines = [line.strip() for line in text.splitlines()[2:]]
    assert lines == ["dx = Dim('dx', max=7)", "_dy = Dim('_dy', min=1)", "dy = 4*_dy"]


def test_sympy_is_not_imported_before_it_is_asked_for() -> None:
    code = (
        "import sys, dispatch.symbolic as s; s.ShapeEnv(); assert 'sympy' not in sys.modules; "
        "s.DimConstraints; assert 'sympy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
