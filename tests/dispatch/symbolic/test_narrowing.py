"""What a condition that holds says of its symbols: nothing wrong, and as much as here."""

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

import dispatch
from dispatch.symbolic import ShapeEnv, sym_max, sym_min

BOXES = [((-3, 6), (1, 4)), ((0, 6), (1, 4)), ((0, 6), (0, 4)), ((-6, -1), (-4, 3))]
CONDITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "u * v <= 10": lambda u, v: u * v <= 10,
    "u * v >= 4": lambda u, v: u * v >= 4,
    "u * v >= 9": lambda u, v: u * v >= 9,
    "u * v >= -4": lambda u, v: u * v >= -4,
    "u + v <= 3": lambda u, v: u + v <= 3,
    "u + v >= 8": lambda u, v: u + v >= 8,
    "u - v >= 4": lambda u, v: u - v >= 4,
    "u + 2 * v <= 4": lambda u, v: u + 2 * v <= 4,
    "2 * u <= 7": lambda u, v: 2 * u <= 7,
    "2 * u >= 7": lambda u, v: 2 * u >= 7,
    "-2 * u <= 3": lambda u, v: -2 * u <= 3,
    "u // 3 >= 1": lambda u, v: u // 3 >= 1,
    "u // 3 <= 0": lambda u, v: u // 3 <= 0,
    "max(u, v) <= 4": lambda u, v: sym_max(u, v) <= 4,
    "min(u, v) >= 2": lambda u, v: sym_min(u, v) >= 2,
    "u != -3": lambda u, v: u != -3,
    "u == v": lambda u, v: u == v,
    "u == 2 * v": lambda u, v: u == 2 * v,
    "u > v": lambda u, v: u > v,
    "u < v": lambda u, v: u < v,
}  # fmt: skip


def narrowed(box: Any, condition: Callable[[Any, Any], Any]) -> Any:
    """The ranges of two symbols in `box` after `condition` was found to hold."""
    env = ShapeEnv()
    symbols = [env.create_unbacked_symint() for _ in box]
    for symbol, (low, high) in zip(symbols, box, strict=True):
        dispatch._check(symbol >= low)
        dispatch._check(symbol <= high)
    dispatch._check(condition(*symbols))
    found = [env.bound_sympy(symbol.node.expr) for symbol in symbols]
    return tuple((int(r.lower), int(r.upper)) for r in found)


@pytest.mark.parametrize("name", CONDITIONS)
def test_no_number_that_fits_is_ruled_out(name: str) -> None:
    condition = CONDITIONS[name]
    for box in BOXES:
        fitting = [p for p in product(*(range(a, b + 1) for a, b in box)) if condition(*p)]
        if fitting:
            for symbol, (low, high) in enumerate(narrowed(box, condition)):
                assert low <= min(p[symbol] for p in fitting), box
                assert high >= max(p[symbol] for p in fitting), box


@pytest.mark.parametrize(
    ("name", "box", "ranges"),
    [
        ("u * v >= 9", 1, ((3, 6), (2, 4))),
        ("u * v >= 4", 1, ((1, 6), (1, 4))),
        ("u + v <= 3", 0, ((-3, 2), (1, 4))),
        ("u + v >= 8", 0, ((4, 6), (2, 4))),
        ("u - v >= 4", 0, ((5, 6), (1, 2))),
        ("u + 2 * v <= 4", 1, ((0, 2), (1, 2))),
        ("2 * u <= 7", 0, ((-3, 3), (1, 4))),
        ("2 * u >= 7", 0, ((4, 6), (1, 4))),
        ("-2 * u <= 3", 0, ((-1, 6), (1, 4))),
        ("u // 3 >= 1", 0, ((3, 6), (1, 4))),
        ("u // 3 <= 0", 0, ((-3, 2), (1, 4))),
        ("max(u, v) <= 4", 0, ((-3, 4), (1, 4))),
        ("min(u, v) >= 2", 0, ((2, 6), (2, 4))),
        ("u != -3", 0, ((-2, 6), (1, 4))),
        ("u == v", 0, ((1, 4), (1, 4))),
        ("u == 2 * v", 0, ((2, 6), (1, 3))),
        ("u > v", 0, ((2, 6), (1, 4))),
        ("u < v", 0, ((-3, 3), (1, 4))),
    ],
)
def test_what_follows_for_each_symbol_is_known(name: str, box: int, ranges: Any) -> None:
    assert narrowed(BOXES[box], CONDITIONS[name]) == ranges
