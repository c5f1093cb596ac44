"""Where new unbacked symbols stand in a result, and a call that is made again."""

from types import SimpleNamespace
from typing import Any

import pytest

import dispatch
from dispatch.fake import FakeTensorMode
from dispatch.symbolic import (
    PendingUnbackedSymbolNotFound,
    ShapeEnv,
    compute_unbacked_bindings,
    rebind_unbacked,
    resolve_unbacked_bindings,
)


def found_in(env: ShapeEnv, result: Any) -> dict[str, str]:
    found = compute_unbacked_bindings(env, result)
    assert found is not None
    for symbol, path in found.items():
        value = result
        for key in path:
            value = key.get(value)
        assert value.node.expr.free_symbols == {symbol}
    return {str(s): "".join(map(str, path)) for s, path in found.items()}


def test_way_to_each_new_symbol() -> None:
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env) as mode:
        x = dispatch.ones(5)
        assert compute_unbacked_bindings(env, x) is None
        assert found_in(env, {"k": [x, x.nonzero()]}) == {"u0": "['k'][1].size()[0]"}
        flag = mode.from_tensor(dispatch.tensor(True)).item()
        assert found_in(env, (flag,)) == {"u1": "[0].cast_symbool_to_symint_guardless()"}
    u = env.create_unbacked_symint()
    assert found_in(env, [u * 4]) == {"u2": "[0].__floordiv__(4)"}
    assert compute_unbacked_bindings(None, x) is None


def test_symbol_that_is_nowhere_is_told() -> None:
    env = ShapeEnv()
    env.create_unbacked_symint()
    assert compute_unbacked_bindings(env, 5, peek=True) == {}
    with pytest.raises(PendingUnbackedSymbolNotFound, match="u0"):
        compute_unbacked_bindings(env, 5)
    assert env.pending_fresh_unbacked_symbols == []


def test_call_made_again_gives_the_symbols_of_the_first_time() -> None:
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        first = dispatch.ones(5).nonzero()
        bindings = compute_unbacked_bindings(env, first)
        again = dispatch.ones(5).nonzero()
    node = SimpleNamespace(op="call_function", meta={"unbacked_bindings": bindings})
    rebind_unbacked(env, node, again)
    assert str(again.shape[0]) == str(first.shape[0]) == "u0"
    later = compute_unbacked_bindings(env, again)
    assert later is None or resolve_unbacked_bindings(env, later) is not None
    assert resolve_unbacked_bindings(env, None) is None
    renamed = resolve_unbacked_bindings(env, {next(iter(env.unbacked_renamings)): ()})
    assert [str(s) for s in renamed or ()] == ["u0"]
