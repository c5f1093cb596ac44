"""What programs that trace keep beside symbols: tracked inputs, nodes of graphs, keys."""

from types import SimpleNamespace
from typing import Any

import pytest

from dispatch import FakeTensorMode, empty, ops
from dispatch.symbolic import (
    SYMPY_INTERP,
    IndicatorTypes,
    InnerTensorKey,
    LocalSource,
    ShapeEnv,
    SymInt,
    SymIntEqByExpr,
    TrackedFake,
    bind_symbols,
    cast_symbool_to_symint_guardless,
    check_consistent,
    create_contiguous,
    eval_guards,
    eval_is_non_overlapping_and_dense,
    find_symbol_binding_fx_nodes,
    fx_placeholder_targets,
    is_accessor_node,
)

from .making import size


def node(op: str, target: Any, val: Any = None, args: Any = (), **meta: Any) -> Any:
    return SimpleNamespace(op=op, target=target, args=args, meta={"val": val, **meta})


@pytest.mark.parametrize(
    "target, reads",
    [
        (ops.aten.sym_size, True),
        (ops.aten.sym_size.int, True),
        (ops.aten.sym_stride.int, True),
        (ops.aten.sym_numel.default, True),
        (ops.aten.sym_storage_offset.default, True),
        (ops.aten.size.int, False),
        (len, False),
    ],
)
def test_nodes_that_read_sizes_are_known(target: Any, reads: bool) -> None:
    assert is_accessor_node(node("call_function", target)) is reads


def test_methods_that_read_sizes_are_known_by_the_tensor() -> None:
    held = node("placeholder", "x", example_value=empty(2))
    assert is_accessor_node(node("call_method", "size", args=(held,)))
    assert not is_accessor_node(node("call_method", "add", args=(held,)))
    assert not is_accessor_node(node("call_method", "size", args=(node("placeholder", "y"),)))
    assert not is_accessor_node(node("get_attr", "size", args=(held,)))


def test_symbols_are_bound_by_inputs_and_by_data() -> None:
    env = ShapeEnv()
    a, u = size(env, 6, "a"), env.create_unbacked_symint()
    nodes = [
        node("placeholder", "a", a),
        node("placeholder", "b", a),
        node("call_function", "item", u),
        node("call_function", "size", a * 2),
    ]
    graph = SimpleNamespace(nodes=nodes)
    found = find_symbol_binding_fx_nodes(graph)
    assert found == {a.node.expr: nodes[0], u.node.expr: nodes[2]}
    assert a > 3
    gm = SimpleNamespace(graph=SimpleNamespace(nodes=nodes[:1]), shape_env=env)
    assert fx_placeholder_targets(gm) == ["a"]
    assert bind_symbols(gm, 9) == {a.node.expr: 9}
    assert eval_guards(gm, 9)
    assert not eval_guards(gm, 3)


def test_sizes_are_compared_by_their_expressions() -> None:
    env = ShapeEnv()
    a, b = size(env, 6, "a"), size(env, 6, "b")
    assert SymIntEqByExpr(a + b) == SymIntEqByExpr(b + a)
    assert SymIntEqByExpr(a) != SymIntEqByExpr(b)
    assert len({SymIntEqByExpr(a), SymIntEqByExpr(a), SymIntEqByExpr(6)}) == 2
    assert env.guards == []


def test_values_of_two_runs_must_agree() -> None:
    env = ShapeEnv()
    x = FakeTensorMode(shape_env=env).from_tensor(empty(6, 5), source=LocalSource("x"))
    check_consistent(x, x)
    check_consistent(3, 3)
    with pytest.raises(RuntimeError, match="old != new"):
        check_consistent(empty(2, 3), empty(2, 4))
    with pytest.raises(RuntimeError, match="4 != 3"):
        check_consistent(3, 4)
    with pytest.raises(AssertionError, match="True != 3"):
        check_consistent(3, True)


def test_density_of_sizes_and_strides() -> None:
    assert eval_is_non_overlapping_and_dense((2, 3), (3, 1)) == 1
    assert eval_is_non_overlapping_and_dense((2, 3), (1, 2)) == 1
    assert eval_is_non_overlapping_and_dense((1, 3), (7, 1)) == 1
    assert eval_is_non_overlapping_and_dense((2, 3), (4, 1)) == 0
    assert [eval_is_non_overlapping_and_dense((n,), (2,)) for n in (1, 2)] == [1, 0]
    assert SYMPY_INTERP["IsNonOverlappingAndDenseIndicator"](2, 3, 3, 1) == 1
    assert [kind.__name__ for kind in IndicatorTypes] == ["IsNonOverlappingAndDenseIndicator"]


def test_small_helpers() -> None:
    env = ShapeEnv()
    a = size(env, 6, "a")
    assert create_contiguous([2, 3, 4]) == [12, 4, 1]
    assert str(create_contiguous([2, a, 4])[0]) == "4*s99"
    number = cast_symbool_to_symint_guardless(a > 7)
    assert isinstance(number, SymInt)
    assert env.guards == []
    assert (number, cast_symbool_to_symint_guardless(True)) == (0, 1)
    one, other = (TrackedFake(a, LocalSource("x"), None) for _ in range(2))
    assert one == other
    assert one != TrackedFake(a, LocalSource("y"), None)
    assert InnerTensorKey("real").get(2 + 3j) == 2.0
