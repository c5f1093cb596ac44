"""Layers, transforms and factorizations of symbolic sizes tell what other sizes give.

Every dimension of 2 and more is a symbol of its own. The expressions of a result are evaluated at
other sizes that the guards let through, and compared with the call on plain fake tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext

aten = ops.aten
Shape = tuple[int, ...]
Call = Callable[..., Any]

CASES: dict[str, tuple[Call, Sequence[Shape], Sequence[Shape]]] = {
    "convolution": (
        lambda x, w, b: aten.conv2d(x, w, b, [2, 2], [1, 1]),
        [(2, 3, 8, 9), (4, 3, 3, 3), (4,)],
        [(5, 7, 12, 6), (6, 7, 5, 2), (6,)],
    ),
    "transposed": (
        lambda x, w: aten.conv_transpose2d(x, w, None, [2, 2]),
        [(2, 3, 4, 4), (3, 4, 3, 3)],
        [(5, 2, 6, 7), (2, 9, 2, 5)],
    ),
    "max_pool": (lambda x: aten.max_pool2d(x, [3, 3], [2, 2]), [(2, 3, 9, 9)], [(4, 5, 12, 7)]),
    "avg_pool": (
        lambda x: aten.avg_pool2d(x, [2, 2], [2, 2], [0, 0], True),
        [(2, 3, 9, 9)],
        [(4, 5, 11, 7)],
    ),
    "adaptive": (lambda x: aten.adaptive_avg_pool2d(x, [2, 3]), [(2, 3, 9, 9)], [(4, 5, 12, 7)]),
    "layer_norm": (
        lambda x, w: aten.native_layer_norm(x, [w.shape[0]], w, None, 1e-5),
        [(2, 3, 4), (4,)],
        [(5, 7, 9), (9,)],
    ),
    "batch_norm": (
        lambda x, m: aten.native_batch_norm(x, m, m, m, m, True, 0.1, 1e-5),
        [(2, 3, 4), (3,)],
        [(5, 7, 9), (7,)],
    ),
    "group_norm": (
        lambda x: aten.group_norm(x, 2),
        [(2, 4, 5)],
        [(3, 6, 7)],
    ),
    "attention": (
        lambda q, k: aten.scaled_dot_product_attention(q, k, k),
        [(2, 4, 5, 8), (2, 4, 7, 8)],
        [(3, 2, 9, 16), (3, 2, 4, 16)],
    ),
    "upsample": (
        lambda x: aten.upsample_nearest2d.vec(x, None, [2.0, 1.5]),
        [(2, 3, 4, 5)],
        [(3, 2, 7, 8)],
    ),
    "cross_entropy": (
        lambda x, y: aten.cross_entropy_loss(x, aten.to.dtype(y, dispatch.int64), None, 0),
        [(4, 3), (4,)],
        [(7, 9), (7,)],
    ),
    "rfft": (lambda x: aten.fft_rfft(x), [(3, 8)], [(4, 11)]),
    "fftn": (lambda x: aten.fft_ifftn(x), [(3, 8)], [(4, 11)]),
    "stft": (
        lambda x: aten.stft(x, 4, 2, window=dispatch.ones(4), return_complex=True),
        [(2, 20)],
        [(3, 31)],
    ),
    "svd": (lambda x: aten.linalg_svd(x, False), [(2, 3, 4)], [(5, 9, 6)]),
    "lu": (lambda x: aten.linalg_lu_factor_ex(x), [(3, 4)], [(9, 6)]),
    "solve": (lambda a, b: aten.linalg_solve_ex(a, b), [(3, 3), (3, 4)], [(5, 5), (5, 2)]),
    "reflection_pad": (lambda x: aten.reflection_pad1d(x, [1, 2]), [(3, 8)], [(4, 5)]),
    "grid": (
        lambda x, g: aten.grid_sampler(x, g, 0, 0, False),
        [(2, 3, 4, 5), (2, 6, 7, 2)],
        [(4, 5, 8, 9), (4, 3, 2, 2)],
    ),
    "im2col": (
        lambda x: aten.im2col(x, [2, 2], [1, 1], [0, 0], [1, 1]),
        [(2, 3, 5, 6)],
        [(4, 2, 8, 7)],
    ),
}

# As PyTorch prints them.
FUNCTIONS: dict[str, Any] = {
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "ToFloat": float,
    "TruncToInt": int,
}

# What must stay free: PyTorch gives these symbols numbers.
FREE = ("rfft", "fftn", "stft", "svd", "lu", "upsample")


def run(call: Call, shapes: Sequence[Shape], env: ShapeEnv | None) -> tuple[list[Any], list[Any]]:
    mode = FakeTensorMode(shape_env=env)
    given = []
    for shape in shapes:
        sizes = [DimDynamic.DYNAMIC] * len(shape)
        context = StatelessSymbolicContext(dynamic_sizes=sizes) if env is not None else None
        given.append(mode.from_tensor(dispatch.empty(shape), symbolic_context=context))
    with mode:
        result = call(*given)
    return given, list(result) if isinstance(result, (list, tuple)) else [result]


def value(size: Any, symbols: dict[str, int]) -> int:
    if isinstance(size, int):
        return size
    return int(eval(str(size.node.expr), dict(FUNCTIONS), symbols))


@pytest.mark.parametrize("name", CASES)
def test_expressions_give_the_sizes_of_calls_on_other_numbers(name: str) -> None:
    call, shapes, others = CASES[name]
    env = ShapeEnv()
    given, results = run(call, shapes, env)
    for sizes in (shapes, others):
        _, wanted = run(call, sizes, None)
        symbols = {}
        for t, shape in zip(given, sizes, strict=True):
            symbols |= {
                str(s.node._expr): n
                for s, n in zip(t.shape, shape, strict=True)
                if not isinstance(s, int)
            }
        for result, plain in zip(results, wanted, strict=True):
            assert [value(s, symbols) for s in result.shape] == list(plain.shape)
            assert [value(s, symbols) for s in result.stride()] == list(plain.stride())


@pytest.mark.parametrize("name", FREE)
def test_symbols_that_need_no_number_get_none(name: str) -> None:
    call, shapes, _ = CASES[name]
    env = ShapeEnv()
    run(call, shapes, env)
    assert not env.replacements


def test_a_batch_that_nobody_knows_goes_through_a_network() -> None:
    env = ShapeEnv()
    with FakeTensorMode(shape_env=env):
        n = aten.nonzero(dispatch.ones(7)).shape[0]
        x = aten.conv2d(dispatch.empty(n, 3, 8, 8), dispatch.empty(4, 3, 3, 3))
        x = aten.max_pool2d(aten.group_norm(x, 2), [2, 2])
        assert tuple(x.shape) == (n, 4, 3, 3)
    assert not env.guards
