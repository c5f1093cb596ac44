"""ShapeEnv: symbols, guards and what they teach, runtime asserts, constraints, text and pickles."""

import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dispatch.symbolic import (
    ConstantSource,
    ConstraintViolationError,
    DimDynamic,
    GuardOnDataDependentSymNode,
    RelaxedUnspecConstraint,
    ShapeEnv,
    StatefulSymbolicContext,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
    SymBool,
    SymInt,
    SymIntSymbolicContext,
    ValueRanges,
    _check,
    guard_int,
    guard_or_false,
    guard_or_true,
    guard_size_oblivious,
    int_oo,
    statically_known_true,
    sym_max,
    sym_min,
)
from dispatch.symbolic.errors import ShapeEnvGuardError

from .making import size


def guards(env: ShapeEnv) -> list[str]:
    return [str(g.expr) for g in env.guards]


def tensor(env: ShapeEnv, shape: Any, stride: Any, dims: Any, **kw: Any) -> Any:
    context = StatelessSymbolicContext(dims, **kw)
    return env._create_symbolic_sizes_strides_storage_offset(
        shape, stride, 0, [False] * len(shape), ConstantSource("t"), symbolic_context=context
    )


def test_a_condition_is_guarded_by_the_hint_once() -> None:
    env = ShapeEnv()
    a = size(env, 4, "a")
    assert [bool(a > 3), bool(a > 3), bool(a <= 3)] == [True, True, False]
    assert guards(env) == ["s99 > 3"]
    assert env.var_to_range[a.node.expr] == ValueRanges(4, int_oo)


def test_a_guard_names_the_line_of_the_program() -> None:
    env = ShapeEnv()
    assert size(env, 4, "a") != 5
    sloc = env.guards[0].sloc
    assert sloc.filename == __file__
    assert "test_a_guard_names_the_line" in str(sloc)
    assert str(sloc) in str(env)


def test_sizes_are_known_to_be_at_least_two() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 5, "b")
    assert (a != 1) and (a * b >= 4) and (a * b != b) and (a * b - b > 0)
    assert not env.guards
    assert size(env, 1, "c") == 1
    assert not isinstance(size(env, 0, "d"), SymInt)


def test_without_specialising_zero_and_one_are_symbols() -> None:
    env = ShapeEnv(specialize_zero_one=False)
    a = size(env, 1, "a")
    assert isinstance(a, SymInt)
    assert a == 1
    assert guards(env) == ["Eq(s99, 1)"]


@pytest.mark.parametrize(("of", "number"), [(sym_min, 0.5), (sym_min, 1.0), (sym_max, 0.5)])
def test_a_possible_zero_stays_in_float_min_max(of: Callable[..., Any], number: float) -> None:
    env = ShapeEnv(specialize_zero_one=False)
    a = size(env, 0, "a")
    assert str(of(number, a)) == f"{'Min' if of is sym_min else 'Max'}({number}, ToFloat(s99))"
    assert float(of(number, a)) == (0.0 if of is sym_min else number)


def test_duck_sizes_share_a_symbol() -> None:
    duck = [DimDynamic.DUCK] * 2
    sizes, _, _ = tensor(ShapeEnv(), (3, 3), (3, 1), duck)
    assert sizes[0].node.expr == sizes[1].node.expr
    sizes, _, _ = tensor(ShapeEnv(duck_shape=False), (3, 3), (3, 1), duck)
    assert sizes[0].node.expr != sizes[1].node.expr


def test_strides_are_products_of_sizes() -> None:
    sizes, strides, offset = tensor(ShapeEnv(), (2, 3, 4), (12, 4, 1), [DimDynamic.DYNAMIC] * 3)
    assert strides[0].node.expr == (sizes[1] * sizes[2]).node.expr
    assert (strides[1].node.expr, strides[2], offset) == (sizes[2].node.expr, 1, 0)
    assert tensor(ShapeEnv(), (2, 3), (3, 1), [DimDynamic.STATIC] * 2) == ((2, 3), (3, 1), 0)


def test_an_equality_replaces_the_larger_symbol() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 6, "b")
    assert a + 2 == b
    assert str(b) == "s99 + 2"
    assert statically_known_true(b - a == 2)
    assert guard_int(a) == 4
    assert (str(b), {str(k): str(v) for k, v in env.replacements.items()}) == (
        "6",
        {"s65": "6", "s99": "4"},
    )


def test_divisibility_is_remembered() -> None:
    env = ShapeEnv()
    a = size(env, 12, "a")
    assert a % 4 == 0
    before = len(env.guards)
    assert (a // 4) * 4 == a
    assert a % 4 == 0
    assert len(env.guards) == before


@pytest.mark.parametrize("question", [guard_or_false, guard_or_true])
def test_a_condition_on_data_has_a_fallback(question: Any) -> None:
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    with pytest.raises(GuardOnDataDependentSymNode, match="u0 > 3"):
        bool(u > 3)
    assert question(u > 3) is (question is guard_or_true)
    _check(u > 3)
    assert u > 3
    asserts = [str(a.expr) for each in env.deferred_runtime_asserts.values() for a in each]
    assert (asserts, guards(env)) == (["3 < u0"], [])


def test_size_oblivious_questions_take_sizes_for_at_least_two() -> None:
    env = ShapeEnv()
    u = env.create_unbacked_symint()
    env._constrain_range_for_size(u.node.expr)
    assert not guard_size_oblivious(u == 1)
    with pytest.raises(GuardOnDataDependentSymNode):
        bool(u == 1)


def test_suppressed_guards_are_not_recorded() -> None:
    env = ShapeEnv()
    a = size(env, 4, "a")
    with env.suppress_guards():
        assert a == 4
    assert (guards(env), str(a)) == ([], "s99")
    with env.error_on_new_guards(), pytest.raises(ShapeEnvGuardError):
        bool(a == 4)
    assert guards(env) == []


def test_constraints_set_the_range_and_refuse_other_sizes() -> None:
    between = StrictMinMaxConstraint(warn_only=False, vr=ValueRanges(3, 9))
    dims = [DimDynamic.DYNAMIC]
    env = ShapeEnv()
    (a,), _, _ = tensor(env, (4,), (1,), dims, constraint_sizes=[between])
    assert env.bound_sympy((a * 2).node.expr) == ValueRanges(6, 18)
    with pytest.raises(ConstraintViolationError):
        tensor(ShapeEnv(), (12,), (1,), dims, constraint_sizes=[between])


def test_a_stateful_context_gives_the_same_symbol_again() -> None:
    env, source = ShapeEnv(), ConstantSource("t")
    context = StatefulSymbolicContext([DimDynamic.DYNAMIC], tensor_source=source)
    made = [
        env._create_symbolic_sizes_strides_storage_offset(
            (4,), (1,), 0, [False], source, symbolic_context=context
        )[0][0].node.expr
        for _ in range(2)
    ]
    assert made[0] is made[1]


def test_produced_guards_hold_for_what_the_run_holds_for() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 5, "b")
    assert a * 2 > b
    assert b % 5 == 0
    code = env.produce_guards_expression([a, b])
    assert env.evaluate_guards_expression(code, [4, 5])
    assert not env.evaluate_guards_expression(code, [2, 5])
    assert not env.evaluate_guards_expression(code, [4, 6])
    assert env.bind_symbols([a, b], [7, 8]) == {a.node.expr: 7, b.node.expr: 8}


# What PyTorch 2.13 writes of conditions on sizes 5, 7 and 9.
_WRITTEN = {
    "a * b > 20": ["b*a > 20"],
    "c * a > b": ["c*a > b"],
    "10 - a >= 0": ["a <= 10"],
    "-a < -3": ["4 <= a"],
    "a + b == 12": ["a <= 10"],
    "a % 2 == 1": ["(a % 2) == 1"],
    "b + c > a * 2 + 3": ["c + b > 3 + 2*a"],
    "a * a >= 20": ["a*a >= 20"],
    "a - b < 0": ["a + ((-1)*b) < 0", "3 <= b"],
    "a / 2 > 1.5": ["(a / 2) > 1.5"],
    "(a + 1) * (b - 1) == 36": ["((-1) + b + ((-1)*a) + b*a) == 36"],
    "(a > 3) | (b > 100)": ["b > 100 or a > 3"],
    "(a > 3) & (b * c > 8)": ["a > 3 and c*b > 8", "4 <= a"],
    "sym_max(a, b) * c > a": ["c*max(b, a) > a"],
    "(a // 2) * (b % 4) != c": ["((a // 2)*(b % 4)) != c"],
}


@pytest.mark.parametrize("condition", _WRITTEN)
def test_guards_are_written_with_few_brackets(condition: str) -> None:
    env = ShapeEnv()
    a, b, c = (size(env, value, name) for value, name in ((5, "a"), (7, "b"), (9, "c")))
    assert bool(eval(condition, {"a": a, "b": b, "c": c, "sym_max": sym_max}))
    sources = [ConstantSource(name) for name in "abc"]
    assert env.produce_guards([a, b, c], sources, _simplified=True) == _WRITTEN[condition]


@pytest.mark.parametrize("condition", ["a // 3 <= 1", "(a > 3) & (b > 3)", "sym_max(a, b) <= 8"])
def test_guards_that_ranges_say_are_not_written_twice(condition: str) -> None:
    env = ShapeEnv()
    a, b = size(env, 5, "a"), size(env, 7, "b")
    assert bool(eval(condition, {"a": a, "b": b, "sym_max": sym_max}))
    texts = env.produce_guards([a, b], [ConstantSource(name) for name in "ab"])
    assert texts and all(text.count(" <= ") for text in texts)
    assert not any("//" in text or ">" in text or "max" in text for text in texts)


def test_density_is_asked_of_other_inputs() -> None:
    env = ShapeEnv()
    a, b = size(env, 5, "a"), size(env, 4, "b")
    node = a.node
    assert SymBool(node.is_non_overlapping_and_dense([a.node, b.node], [b.node, node.wrap_int(1)]))
    code = env.produce_guards_expression([a, b])
    assert code is not None and "IsNonOverlappingAndDenseIndicator" in code
    assert env.evaluate_guards_expression(code, [7, 3])


def test_guards_are_told_with_their_lines() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 5, "b")
    assert a * b > 9
    assert b > 3
    sources = [ConstantSource(name) for name in "ab"]
    plain, verbose = env.produce_guards_verbose([a, b], sources)
    assert plain.exprs == env.produce_guards([a, b], sources)
    assert [text.partition("  # ")[0] for text in verbose.exprs] == plain.exprs
    assert a < 20
    plain, verbose = env.produce_guards_verbose([a, b], sources)
    assert "2 <= a and a <= 19" in plain.exprs, "each end by itself"
    assert any(text.startswith("2 <= a <= 19  # ") for text in verbose.exprs)
    (asked,) = [text for text in verbose.exprs if "> 9" in text]
    assert "test_shape_env.py" in asked
    with pytest.raises(NotImplementedError, match="cpp"):
        env.produce_guards_verbose([a, b], sources, langs=("cpp",))


def test_axioms_are_guards_and_asserts_on_symbols() -> None:
    env = ShapeEnv()
    a, u, v = size(env, 6, "a"), env.create_unbacked_symint(), env.create_unbacked_symint()
    assert a > 4
    _check(u > a)
    _check(v > 2)
    texts = [str(e) for e in env.get_axioms()]
    assert texts == [f"{a} > 4", f"{a} < {u}", f"2 < {v}"]
    assert [str(e) for e in env.get_axioms([u.node.expr])] == texts[:2]
    assert [str(e) for e in env.get_axioms([u.node.expr], compute_hint=True)][1] == f"6 < {u}"


def test_a_symbol_that_must_stay_free_and_does_not_is_reported() -> None:
    env = ShapeEnv()
    a = size(env, 4, "a")
    assert guard_int(a) == 4
    context = SymIntSymbolicContext(RelaxedUnspecConstraint(warn_only=False))
    with pytest.raises(ConstraintViolationError, match=r"a constant \(4\)"):
        env.produce_guards([a], [ConstantSource("a")], input_contexts=[context])


def test_pickled_environment_knows_the_same() -> None:
    env = ShapeEnv()
    a, b = size(env, 4, "a"), size(env, 6, "b")
    assert a + 2 == b
    assert sym_max(a, 3) == a
    copy = pickle.loads(pickle.dumps(env))
    assert guards(copy) == guards(env)
    assert copy.parse("s65 - s99").has("Symbol")
    assert copy.simplify(copy.parse("s65 - s99")) == 2


def test_a_thousand_symbols_have_names_of_their_own() -> None:
    env = ShapeEnv()
    assert len({str(size(env, 4, f"x{i}")) for i in range(1000)}) == 1000


def test_a_condition_that_is_false_is_recorded_as_its_opposite() -> None:
    env = ShapeEnv()
    a = size(env, 4, "a")
    assert not a > 9
    assert [str(g.expr) for g in env.guards] == [f"{a} <= 9"]


def test_order_of_arguments_decides_remainders_and_extremes() -> None:
    env = ShapeEnv()
    a, b = size(env, 5, "a"), size(env, 7, "b")
    for known in (
        a % (a * b) == a, a % (a * b) != 0, sym_min(a, a * b) == a, sym_max(a, a * b) == a * b,
        sym_min(a * b + 1, a * b) + a <= a * b + b * a,
    ):  # fmt: skip
        assert statically_known_true(known)
    for unknown in (a % b == a, sym_min(a, b) == a, sym_max(a * 2, b) == b):
        assert not statically_known_true(unknown)
    assert env.guards == []


def test_older_conditions_hold_of_what_takes_a_symbols_place() -> None:
    env = ShapeEnv()
    a, b, c = size(env, 11, "a"), size(env, 9, "b"), size(env, 30, "c")
    assert a >= b
    assert a + b + 10 <= c
    assert int(b) == 9
    assert env.var_to_range[a.node.expr] == ValueRanges(9, int_oo)
    assert statically_known_true(c >= 28)
    before = guards(env)
    assert a >= 9
    assert guards(env) == before


def test_ranges_of_replaced_symbols_are_those_of_what_replaced_them() -> None:
    env = ShapeEnv()
    a, b = size(env, 13, "a"), size(env, 13, "b")
    symbols = a.node.expr, b.node.expr
    assert a == b
    assert int(a) == 13
    assert [env.var_to_range[s] for s in symbols] == [ValueRanges(13, 13)] * 2


def test_runtime_asserts_may_contradict_the_runs_own_numbers() -> None:
    env = ShapeEnv()
    a, u = size(env, 11, "a"), env.create_unbacked_symint()
    _check(a <= u)
    _check(u == 4)
    assert env.var_to_range[a.node.expr] == ValueRanges(2, int_oo)
