"""Rows of symbolic numbers: arithmetic, guards, making symbols, and fake tensors that have them.

Timed is the statement as a program writes it. What needs something fresh each time (a condition
that nobody has asked, a symbol without a guard, sizes of a new tensor) has it made before the clock
runs; both sides make the same. Tensors become symbolic by the hundred in one environment, so that
it is as large on the side that is called more often. Left out: making the ShapeEnv.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from timeit import Timer
from types import SimpleNamespace
from typing import Any

from .rows import Row

__all__ = ["rows"]

_TENSORS = 100  # that become symbolic in one environment


class _Fresh(Row):
    """A call that learns from its argument: one made for it each time."""

    def run(self, calls: int) -> float:
        make, call = self.names["make"], self.names["call"]
        fresh = [make() for _ in range(calls)]  # type: ignore[operator]
        names = {"values": (call, fresh)}
        return Timer("for x in fresh: call(x)", "call, fresh = values", globals=names).timeit(1)


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

    def context(self, n: int) -> Any:
        """All n sizes are dynamic."""
        return self.api.StatelessSymbolicContext([self.api.DimDynamic.DYNAMIC] * n)

    def to_name(self) -> tuple[Any, Any, Any]:
        return self.env, self.source(), self.context(3)


def _few(make: Callable[[], Any]) -> Iterator[Any]:
    while True:
        sizes = make()
        for _ in range(_TENSORS):
            yield sizes


def _dims_of(made: tuple[Any, Any, Any]) -> Any:
    env, source, context = made
    return env._create_symbolic_sizes_strides_storage_offset(
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
    few = _few(partial(_Sizes, api))
    return _Fresh("", {"make": lambda: next(few).to_name(), "call": _dims_of})


class _Tensors(_Sizes):
    """Fake tensors whose sizes are symbols of one environment."""

    def __init__(self, api: SimpleNamespace, cache: bool = True) -> None:
        super().__init__(api)
        self.tensor, self.mode = api.T.ones, api.fake_mode(cache, self.env)

    def real(self, *sizes: int) -> tuple[Any, Any, Any, Any]:
        """The mode, a new tensor, its name, and that all its sizes are dynamic."""
        return self.mode, self.tensor(*sizes), self.source(), self.context(len(sizes))


def _fake_of(made: tuple[Any, Any, Any, Any]) -> Any:
    mode, tensor, source, context = made
    return mode.from_tensor(tensor, source=source, symbolic_context=context)


def _from_tensor(api: SimpleNamespace) -> Row:
    few = _few(partial(_Tensors, api))
    return _Fresh("", {"make": lambda: next(few).real(5, 6, 7), "call": _fake_of})


def _fake(api: SimpleNamespace, statement: str, op: Any, cache: bool = True) -> Row:
    tensors = _Tensors(api, cache)
    x = _fake_of(tensors.real(5, 6))
    names = {"op": op, "x": x, "turned": [x.shape[1], x.shape[0]], "dims": [1, 0]}
    return Row(statement, names, lambda: tensors.mode)


def rows(api: SimpleNamespace) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up."""
    aten = api.ops.aten
    return {
        "sym_add": partial(_arithmetic, api, "s + 1"),
        "sym_floordiv": partial(_arithmetic, api, "s // 2"),
        "sym_guard": partial(_arithmetic, api, "bool(s != 9)"),
        "sym_new_guard": partial(_new_guard, api),
        "sym_guard_of_many": partial(_guard_of_many, api),
        "sym_guard_int": partial(_guard_int, api),
        "sym_dims": partial(_dims, api),
        "sym_from_tensor": partial(_from_tensor, api),
        "sym_fake_add": partial(_fake, api, "op(x, x)", aten.add.Tensor),
        "sym_fake_view": partial(_fake, api, "op(x, turned)", aten.view.default),
        "sym_fake_permute": partial(_fake, api, "op(x, dims)", aten.permute.default),
        "sym_fake_add_uncached": partial(_fake, api, "op(x, x)", aten.add.Tensor, cache=False),
    }
