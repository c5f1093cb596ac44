"""Views, indexing and arithmetic of symbolic sizes: at other sizes what a plain call gives there.

Each call is run once with symbolic sizes; its results' sizes, strides and offsets are evaluated at
other sizes and compared with a run on plain ones. No guard may exclude these.
"""

from typing import Any

import pytest

import dispatch
from dispatch import FakeTensorMode, Tensor, symbolic
from dispatch.kernels.meta import rules

SIZES = {"x": (5, 6, 8), "y": (6, 8), "v": (5,), "index": (7,)}
OTHERS = [(3, 8, 10), (6, 6, 4), (9, 7, 6)]

FREE = """
x.view(x.size(0) * x.size(1), x.size(2))
x.view(-1, x.size(2))
x.transpose(0, 1).reshape(x.size(1), -1)
x.permute(2, 0, 1).reshape(x.size(2) * x.size(0), x.size(1))
x[:, :1].expand(-1, x.size(1), -1)
v.unsqueeze(1).expand(v.size(0), x.size(1))
x[:, ::2]
x[..., -1]
x[:, x.size(1) // 2:]
x.narrow(1, 1, x.size(1) - 2)
x.split([2, x.size(1) - 2], 1)
x.flatten(1)
x.unflatten(2, (2, -1))
x.diagonal(1, 1, 2)
x.unfold(2, 3, 2)
x.as_strided((x.size(0), x.size(1)), (x.size(1), 1))
x.view(dispatch.int16)
x.select_scatter(y, 0, 1)
x.sum((0, 2), keepdim=True)
x.max(1)
x.cumsum(1)
x.topk(2, 1)
x.softmax(-1)
x @ y.t()
y @ x.transpose(1, 2)
dispatch.einsum("bij,kj->bik", x, y)
dispatch.addmm(y[:, :1], y, y.t())
x.transpose(0, 1) + x.transpose(0, 1)
x.permute(1, 2, 0).exp()
x[:, ::2].clone()
x.transpose(1, 2).to(dispatch.float16)
x[:, index]
x[index, :, index]
x.index_select(1, index)
dispatch.cat([x, x[:, 1:]], 1)
dispatch.stack([y, y], -1)
dispatch.arange(1, x.size(0), 2)
dispatch.zeros(x.size(0), x.size(1) + 1)
x.new_full((x.size(0),), 1.0)
dispatch.diag_embed(v)
""".strip().splitlines()

GUARDED = """
x.split(x.size(1) // 2, 1)
x.chunk(2, 2)
x.unflatten(1, (x.size(1) // 2, 2))
x + y
dispatch.where(x > 0, x, y)
""".strip().splitlines()


def _shapes(a: int, b: int, c: int) -> dict[str, tuple[int, ...]]:
    return {"x": (a, b, c), "y": (b, c), "v": (a,), "index": (7,)}


def _geometry(result: Any) -> list[Any]:
    """Sizes, strides and offsets of all tensors in a result."""
    if isinstance(result, (list, tuple)):
        return [n for item in result for n in _geometry(item)]
    return [*result.shape, *result.stride(), result.storage_offset()]


def _call(text: str, tensors: dict[str, Tensor], mode: FakeTensorMode) -> list[Any]:
    with mode:
        return _geometry(eval(text, {"dispatch": dispatch}, dict(tensors)))


def _concrete(text: str, shapes: dict[str, tuple[int, ...]]) -> list[int]:
    mode = FakeTensorMode()
    return _call(text, {n: mode.from_tensor(_tensor(n, s)) for n, s in shapes.items()}, mode)


def _tensor(name: str, shape: tuple[int, ...]) -> Tensor:
    return dispatch.zeros(*shape, dtype=dispatch.int64 if name == "index" else dispatch.float32)


def _symbolic(text: str) -> tuple[list[Any], symbolic.ShapeEnv, dict[str, tuple[str, int]]]:
    """The geometry as expressions, their ShapeEnv, and each symbol's place in SIZES."""
    env = symbolic.ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    tensors: dict[str, Tensor] = {}
    names: dict[str, tuple[str, int]] = {}
    for name, shape in SIZES.items():
        dynamic = [symbolic.DimDynamic.DYNAMIC] * len(shape)
        context = symbolic.StatelessSymbolicContext(dynamic_sizes=dynamic)
        tensors[name] = mode.from_tensor(_tensor(name, shape), symbolic_context=context)
        names.update({str(n): (name, d) for d, n in enumerate(tensors[name].shape)})
    return _call(text, tensors, mode), env, names


def _value(expression: Any, values: dict[str, int]) -> Any:
    functions = {"Max": max, "Min": min, "Mod": lambda a, b: a % b, "Eq": lambda a, b: a == b}
    functions["Ne"] = lambda a, b: a != b
    return eval(str(expression), {"__builtins__": {}, **functions}, values)


def _at(names: dict[str, tuple[str, int]], shapes: dict[str, tuple[int, ...]]) -> dict[str, int]:
    return {symbol: shapes[name][d] for symbol, (name, d) in names.items()}


def _holds(env: symbolic.ShapeEnv, values: dict[str, int]) -> bool:
    equal = (values[str(k)] == _value(v, values) for k, v in env.replacements.items())
    return all(equal) and all(_value(g.expr, values) for g in env.guards)


@pytest.mark.parametrize("text", FREE + GUARDED)
def test_geometry_at_other_sizes_is_that_of_a_concrete_call(text: str) -> None:
    geometry, env, names = _symbolic(text)
    seen = 0
    for sizes in [(5, 6, 8), *OTHERS]:
        shapes = _shapes(*sizes)
        values = _at(names, shapes)
        if not _holds(env, values):
            continue
        seen += 1
        assert [_value(n, values) for n in geometry] == _concrete(text, shapes)
    assert seen >= (2 if text in GUARDED else 1 + len(OTHERS))


def test_permutation_asks_nothing() -> None:
    _, env, _ = _symbolic("x.permute(2, 0, 1).unsqueeze(0).transpose(1, 3)")
    assert env.guards == []


def test_sizes_that_differ_do_not_broadcast() -> None:
    with pytest.raises(RuntimeError, match="broadcast"):
        _symbolic("x + y[:, :3]")


def test_slice_from_an_unknown_place_has_an_offset_of_its_own() -> None:
    mode = FakeTensorMode(shape_env=symbolic.ShapeEnv())
    with mode:
        x = dispatch.zeros(8, 4)
        at = dispatch.zeros((), dtype=dispatch.int64)
        part = dispatch.narrow(x, 0, at, 2)
    assert tuple(part.shape) == (2, 4)
    assert str(part.storage_offset()).startswith("u")


def test_an_index_counts_from_the_front_where_data_cannot_make_it_negative() -> None:
    mode = FakeTensorMode(shape_env=symbolic.ShapeEnv())
    env = mode.shape_env
    either, front = env.create_unbacked_symint(), env.create_unbacked_symint()
    with mode:
        dispatch._check(front >= 0)
        x = dispatch.zeros(8, 4)
        offsets = [str(x.select(0, at).storage_offset()) for at in (either, front)]
    assert offsets[0] not in ("u0", "4*u0") and offsets[0].startswith("u")
    assert offsets[1] == "4*u1"


def test_a_slice_between_places_in_an_unknown_order_may_be_empty() -> None:
    mode = FakeTensorMode(shape_env=symbolic.ShapeEnv())
    first, last = (mode.shape_env.create_unbacked_symint() for _ in range(2))
    with mode:
        for at in (first, last):
            dispatch._check(at >= 0)
            dispatch._check(at <= 8)
        part = dispatch.zeros(8, 4)[first:last]
    assert str(part.shape[0]) == "Max(0, -u0 + u1)"
    assert str(part.storage_offset()) == "4*u0"


def test_a_layout_is_seen_whether_sizes_that_data_decide_count_as_1_or_not() -> None:
    mode = FakeTensorMode(shape_env=symbolic.ShapeEnv())
    h, w = (mode.shape_env.create_unbacked_symint() for _ in range(2))
    with mode:
        for size in (h, w):
            dispatch._check(size >= 0)
        one_h, one_w = dispatch.sym_max(1, h), dispatch.sym_max(1, w)
        assert rules.is_contiguous((2, h, w), (one_h * one_w, one_w, 1))
        assert rules.is_contiguous((2, h, w), (h * w, w, 1))
        steps = (3 * one_h * one_w, 1, 3 * one_w, 3)
        image = dispatch.empty_strided((2, 3, h, w), steps)
    assert rules.suggest_memory_format(image) is dispatch.channels_last
