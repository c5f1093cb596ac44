"""Calls that are nearly right: `python -m tests.fuzz.near [--seed S] [--rounds N] [--only REGEX]`.

Random arguments (`operators`) rarely get past the first check. Here each recorded call of
`tests/conformance` is made with one or two of its arguments made wrong: a tensor that is shorter,
has a dimension more or less, is empty, of another dtype, on meta, without memory, another argument
or the output too; an index that lies outside; a number at the edge of 64 bits; a list with one item
less. What a kernel takes for granted, and its shape function did not check, is read or written out
of bounds: best run by the sanitizers (`make sanitize`). Children, their limits and what counts as a
failure are those of `operators`.
"""

import argparse
import gzip
import json
import math
import random
import re
import sys
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import OpOverload, Tensor
from dispatch._ops.namespaces import find_overload
from tests.conformance.record_shapes import DATA
from tests.conformance.replay import decoded
from tests.fuzz import operators
from tests.fuzz.operators import Call, Failure

__all__ = ["Near", "attempt", "command", "recorded"]

_LARGE = 5000  # elements of a call that is left out
_EDGES = (0, -1, 1, 2, 7, 100, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
_NAMES = "float32 float64 int64 int32 uint8 bool bfloat16 complex64 float8_e5m2"
_DTYPES = tuple(getattr(dispatch, name) for name in _NAMES.split())
_LEFT_OUT = re.compile(
    r"one_hot|split|chunk|unbind|combinations|polynomial|arange|linspace|logspace|range"
)


def recorded(pattern: str = "", most: int = 3) -> dict[OpOverload, list[dict[str, Any]]]:
    """Up to so many recorded calls of each overload whose name fits."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in gzip.decompress((DATA / "fake.jsonl.gz").read_bytes()).splitlines():
        case = json.loads(line)
        name = case["overload"]
        if "exc" in case["fake"] or _LEFT_OUT.search(name) or not re.search(pattern, name):
            continue
        if sum(s["numel"] for s in case["storages"]) < _LARGE:
            found.setdefault(name, []).append(case)
    calls = {find_overload(name): cases[:most] for name, cases in sorted(found.items())}
    return {op: cases for op, cases in calls.items() if op is not None}


def _storage(rng: random.Random, dtype: dispatch.dtype, n: int) -> Tensor:
    """Values are not recorded; whole numbers are small, so that most of them can be indices."""
    if dtype.is_floating_point or dtype.is_complex:
        return dispatch.tensor([rng.gauss(0, 1) for _ in range(n)]).to(dtype)
    return dispatch.tensor([rng.randrange(2) for _ in range(n)], dtype=dispatch.int64).to(dtype)


def _tensors(rng: random.Random, case: dict[str, Any]) -> list[Tensor]:
    made = [_storage(rng, getattr(dispatch, s["dtype"]), s["numel"]) for s in case["storages"]]
    return [
        made[t["storage"]].as_strided(t["shape"], t["stride"], t["offset"]) for t in case["tensors"]
    ]


class Near:
    """One call; so many of its arguments are made wrong by `rng`, one or two unless told."""

    def __init__(self, rng: random.Random, case: dict[str, Any], wrong: int | None = None) -> None:
        self.rng = rng
        self.tensors = _tensors(rng, case)
        self.args = decoded(case["args"], self.tensors)
        self.kwargs = {name: decoded(v, self.tensors) for name, v in case["kwargs"].items()}
        places: list[tuple[Any, Any]] = [(self.args, i) for i in range(len(self.args))]
        places += [(self.kwargs, name) for name in self.kwargs]
        times = rng.choice((1, 1, 2)) if wrong is None else wrong
        for _ in range(times if places else 0):
            container, at = rng.choice(places)
            container[at] = self.wrong(container[at])

    def wrong(self, value: Any) -> Any:
        """Something like `value` that does not fit."""
        rng = self.rng
        if isinstance(value, Tensor):
            return self.tensor(value)
        if value is None:
            return rng.choice([0, [1], *self.tensors])
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return rng.choice((value + 1, value - 1, -value, rng.choice(_EDGES)))
        if isinstance(value, float):
            return rng.choice((0.0, -value, math.nan, math.inf, -1.0, 2.5))
        if isinstance(value, list):
            return self.items(value)
        return rng.choice(_DTYPES) if isinstance(value, dispatch.dtype) else value

    def items(self, value: list[Any]) -> list[Any]:
        kind = self.rng.randrange(4)
        if kind < 2 or not value:
            return value[:-1] if kind else value + value[-1:]
        at = self.rng.randrange(len(value))
        return [*value[:at], self.wrong(value[at]), *value[at + 1 :]] if kind == 2 else []

    def tensor(self, t: Tensor) -> Any:
        """Other sizes, another dtype, other memory, other values."""
        rng = self.rng
        dim = rng.randrange(t.dim()) if t.dim() else None
        makers = [
            lambda: t.unsqueeze(rng.randrange(t.dim() + 1)),
            lambda: t.to(rng.choice(_DTYPES)),
            lambda: t * 0 + rng.choice((-1, 100, -100, 2**40)),
            lambda: dispatch.ones(rng.choice(((), (1,), (0,), (2,))), dtype=t.dtype),
            lambda: t.to("meta"),
            lambda: rng.choice(self.tensors),
            lambda: t.expand(2, *t.shape),
            lambda: t.flatten(),
            lambda: t.new_empty(1).expand(t.shape),
            lambda: self.without_memory(t),
        ]
        if dim is not None:
            n = t.size(dim)
            makers += [
                lambda: t.narrow(dim, 0, rng.randrange(max(n, 1))),
                lambda: t.narrow(dim, 0, n - 1),
                lambda: t.narrow(dim, 0, 0),
                lambda: t.select(dim, 0),
                lambda: t.transpose(0, -1),
                lambda: dispatch.cat([t, t], dim),
                lambda: t.sum(dim, keepdim=True).to(t.dtype),
            ]
        try:
            return rng.choice(makers)()
        except (RuntimeError, IndexError):  # of no elements, of a dtype that cannot
            return t.detach().reshape(-1)[:-1]

    def without_memory(self, t: Tensor) -> Tensor:
        copy = t.clone()
        copy.untyped_storage().resize_(0)
        return copy


def attempt(
    calls: dict[OpOverload, list[dict[str, Any]]], seed: str, rounds: int
) -> list[Failure]:
    """So many calls of each overload, in child processes."""

    def make(op: OpOverload, rng: random.Random) -> Call:
        call = Near(rng, rng.choice(calls[op]))
        return call.args, call.kwargs

    return operators.attempt(list(calls), seed, rounds, make=make)


def command(
    name: str, about: str | None, attempt: Callable[..., list[Failure]], rounds: int = 10
) -> int:
    """`python -m tests.fuzz.NAME`: tries the recorded overloads; the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.fuzz.{name}", description=about)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", default="", help="a regular expression of names")
    options = parser.parse_args()
    calls = recorded(options.only)
    return operators.told(len(calls), attempt(calls, options.seed, options.rounds))


def main() -> int:
    return command("near", __doc__, attempt)


if __name__ == "__main__":
    sys.exit(main())
