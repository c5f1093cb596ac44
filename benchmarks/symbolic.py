"""Rows of symbolic numbers: arithmetic, guards, and making symbols.

Timed is the statement as a program writes it. What needs something fresh each time (a condition
that nobody has asked, a symbol without a guard, sizes of a new tensor) has it made before the clock
runs; both sides make the same. Left out: making the ShapeEnv.
"""

from collections.abc import Callable
from functools import partial
from itertools import count
from time import perf_counter
from types import SimpleNamespace
from typing import Any

from .rows import Row

__all__ = ["rows"]


class _Fresh(Row):
    """A call that learns from its argument: one made for it each time."""

    def run(self, calls: int) -> float:
        make, call = self.names["make"], self.names["call"]
        fresh = [make() for _ in range(calls)]  # type: ignore[operator]
        begin = perf_counter()
        for argument in fresh:
            call(argument)  # type: ignore[operator]
        return perf_counter() - begin


class _Sizes:
    """An environment that makes symbols of ever new sources."""

    def __init__(self, api: SimpleNamespace) -> None:
        self.api, self.numbers = api.symbolic(), count()
        self.env = self.api.ShapeEnv()

    def source(self) -> Any:
        return self.api.ConstantSource(f"x{next(self.numbers)}")

    def size(self, value: int) -> Any:
        symbol = self.env.create_symbol(value, self.source(), self.api.DimDynamic.DYNAMIC)
        return self.env.create_symintnode(symbol, hint=value)

    def dims(self, source: Any) -> Any:
        context = self.api.StatelessSymbolicContext([self.api.DimDynamic.DYNAMIC] * 3)
        return self.env._create_symbolic_sizes_strides_storage_offset(
            (5, 6, 7), (42, 7, 1), 0, [False] * 3, source, symbolic_context=context
        )


def _arithmetic(api: SimpleNamespace, statement: str) -> Row:
    return Row(statement, {"s": _Sizes(api).size(8)})


def _new_guard(api: SimpleNamespace) -> Row:
    s, numbers = _Sizes(api).size(8), count(1000)
    return _Fresh("", {"make": lambda: s * 3 != next(numbers), "call": bool})


def _guard_of_many(api: SimpleNamespace) -> Row:
    """New guards of three of 1,000 symbols each: as dear as the first, or it is not linear."""
    sizes, numbers = _Sizes(api), count()
    symbols = [sizes.size(5 + i) for i in range(1000)]

    def make() -> Any:
        i = next(numbers)
        a, b, c = (symbols[(i * step + i // 1000) % 1000] for step in (1, 7, 13))
        return a * 2 + b != c * 3 + i

    return _Fresh("", {"make": make, "call": bool})


def _guard_int(api: SimpleNamespace) -> Row:
    sizes = _Sizes(api)
    return _Fresh("", {"make": lambda: sizes.size(8), "call": int})


def _dims(api: SimpleNamespace) -> Row:
    sizes = _Sizes(api)
    return _Fresh("", {"make": sizes.source, "call": sizes.dims})


def rows(api: SimpleNamespace) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up."""
    return {
        "sym_add": partial(_arithmetic, api, "s + 1"),
        "sym_floordiv": partial(_arithmetic, api, "s // 2"),
        "sym_guard": partial(_arithmetic, api, "bool(s != 9)"),
        "sym_new_guard": partial(_new_guard, api),
        "sym_guard_of_many": partial(_guard_of_many, api),
        "sym_guard_int": partial(_guard_int, api),
        "sym_dims": partial(_dims, api),
    }
