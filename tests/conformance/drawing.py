"""Tensors and arguments drawn at random, for the calls of `drawn_kernels`.

A tensor is told by dtype, shape, stride and offset (and numbers, where they are indices).
"""

import random
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["ALL", "FLOATS", "NUMBERS", "Draw", "Drawn", "Told", "dense"]

Told = dict[str, Any]
Draw = Callable[["Drawn"], list[Any]]

FLOATS = ("float32", "float32", "float64", "bfloat16", "float16")
NUMBERS = (*FLOATS, "int64", "int32", "uint8")
ALL = (*NUMBERS, "bool", "complex64", "int16", "int8")


def dense(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.insert(0, step)
        step *= max(n, 1)
    return strides


class Drawn(random.Random):
    """Draws tensors and arguments."""

    def __init__(self, name: str, answer: Callable[[dict[str, Any], str], Any]) -> None:
        super().__init__(name)
        self.answer = answer

    def ints(self, n: int, low: int, high: int) -> list[int]:
        return [self.randint(low, high) for _ in range(n)]

    def sizes(self, n: int, low: int = 1, high: int = 5) -> list[int]:
        """Rarely one that is 0, often one that is 1."""
        found = self.ints(n, low, high)
        if n and self.random() < 0.3:
            found[self.randrange(n)] = 1
        if n and self.random() < 0.07:
            found[self.randrange(n)] = 0
        return found

    def any_sizes(self, low: int = 0, high: int = 4) -> list[int]:
        return self.sizes(self.randint(low, high), 1, 4)

    def image(self, n: int, low: int = 2, high: int = 6) -> list[int]:
        """Channels and n dimensions, mostly with a batch."""
        lead = self.sizes(2, 1, 3) if self.random() < 0.75 else self.sizes(1, 1, 3)
        return lead + [max(m, low) for m in self.sizes(n, low, high)]

    def _permuted(self, shape: list[int]) -> list[int]:
        order = list(range(len(shape)))
        self.shuffle(order)
        return self._in_order(shape, order)

    def _in_order(self, shape: list[int], order: list[int]) -> list[int]:
        steps, strides = dense([shape[d] for d in order]), [0] * len(shape)
        for d, step in zip(order, steps, strict=True):
            strides[d] = step
        return strides

    def laid_out(self, shape: list[int], repeats: bool = True) -> tuple[list[int], int]:
        """Strides and offset."""
        n, kind = len(shape), self.random()
        strides = dense(shape)
        if kind < 0.35:
            return strides, 0
        if kind < 0.5 and n > 2:
            strides = self._in_order(shape, [0, *range(2, n), 1])
        elif kind < 0.7:
            strides = self._permuted(shape)
        if self.random() < 0.3:
            strides = [2 * s for s in strides]
        if n and repeats and self.random() < 0.1:
            strides[self.randrange(n)] = 0
        if self.random() < 0.4:
            strides = [
                self.choice((s, 1, 7)) if m == 1 else s for s, m in zip(strides, shape, strict=True)
            ]
        return strides, self.choice((0, 0, 1, 5))

    def t(
        self, shape: Sequence[int], dtypes: Sequence[str] | str = FLOATS, repeats: bool = True
    ) -> Told:
        """A tensor; of several dtypes, one."""
        dtype = dtypes if isinstance(dtypes, str) else self.choice(dtypes)
        strides, offset = self.laid_out(list(shape), repeats)
        return {"dtype": dtype, "shape": list(shape), "stride": strides, "offset": offset}

    def indices(
        self,
        shape: Sequence[int],
        below: int,
        dtype: str = "int64",
        low: int = 0,
        beyond: float = 0.06,
    ) -> Told:
        """Now and then one out of range."""
        told = self.t(shape, dtype)
        ends = zip(told["shape"], told["stride"], strict=True)
        span = told["offset"] + 1 + sum((n - 1) * s for n, s in ends if n)
        numbers = [self.randint(low, max(below - 1, low)) for _ in range(span)]
        if self.random() < beyond:
            numbers[-1] = below
        return told | {"numbers": numbers}

    def dim(self, n: int) -> int:
        """Mostly a dimension, from either end."""
        n = max(n, 1)
        return self.randint(-n, n - 1) if self.random() < 0.95 else self.choice((n, -n - 1))

    def dims(self, n: int) -> list[int]:
        found = self.sample(range(n), self.randint(0, n))
        return [d - self.choice((0, n)) for d in found]

    def maybe(self, value: Any, p: float = 0.5) -> Any:
        return value if self.random() < p else None

    def flag(self) -> bool:
        return self.random() < 0.5

    def results(self, op: str, args: list[Any]) -> list[Told]:
        """What an operator returns; of what it refuses, what fits nothing."""
        told = self.answer({"op": op, "args": args, "kwargs": {}}, "cpu")
        if isinstance(told, str):
            told = ["float32", [2, 2], [2, 1]]
        told = told if told and isinstance(told[0], list) else [told]
        return [{"dtype": t[0], "shape": t[1]} for t in told]

    def shapes_of(self, op: str, *args: Any) -> list[list[int]]:
        return [t["shape"] for t in self.results(op, list(args))]

    def same(self, told: Told, shape: Sequence[int] | None = None) -> Told:
        """Another of its dtype, mostly of its sizes."""
        shape = list(told["shape"] if shape is None else shape)
        if self.random() < 0.04:
            shape = [*shape[:-1], 9]
        return self.t(shape, told["dtype"])

    def call(self, name: str, draw: Draw) -> dict[str, Any]:
        """One call of an operator."""
        args, keywords = draw(self), {}
        if args and isinstance(args[-1], dict) and "keywords" in args[-1]:
            keywords = args.pop()["keywords"]
        return {"op": name, "args": args, "kwargs": keywords}
