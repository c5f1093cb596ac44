"""Calls of everything in `dispatch.symbolic` with what nobody should pass: no crash, no hang.

`python -m tests.fuzz.symbolic [--n N] [--seed S]` makes the trials of `tests.fuzz.api` over a small
world of its own: two ShapeEnvs with sizes, floats and conditions, numbers without a hint, nodes of
a class of ours, instances that `__init__` never saw, deep expressions, numbers at the edges of 64
bits and of the handles, environments that end while their nodes live, threads that make guards in
one environment, and tensors of symbolic sizes given to operators. The same seed makes the same
calls.
"""

import importlib
import pkgutil
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import symbolic
from dispatch.fake import FakeTensorMode
from dispatch.symbolic import (
    ConstantSource,
    DimDynamic,
    ShapeEnv,
    StatelessSymbolicContext,
    SymBool,
    SymFloat,
    SymInt,
    SymNode,
)
from dispatch.symbolic.expr import Expr
from tests.fuzz.api import Target, command, targets
from tests.fuzz.arguments import Arguments

__all__ = ["SymbolicArguments", "symbolic_targets"]

# Around the ends of int64, of the handles, and of what a double holds.
_EDGES = (
    *(sign * (2**power) + k for sign in (1, -1) for power in (53, 62, 63) for k in (-1, 0, 1)),
    -(2**63) + 5,
    10**30,
)
_TEXTS = ("s0", "u0", "Eq(", "s0 + ", "(" * 300, "s0*s1//3", "Mod(s0, 0)", "Piecewise((1, True))")


class _Node:
    """A node of a program's own, whose methods raise or give what they should not."""

    def __init__(self, give: Callable[[], Any]) -> None:
        self.give = give

    def is_int(self) -> bool:
        return True

    def is_constant(self) -> bool:
        return False

    def is_nested_int(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args: self.give()


def _blank(kind: type) -> Any:
    return kind.__new__(kind)


def _tensor(env: ShapeEnv, rows: int, columns: int) -> Any:
    mode = FakeTensorMode(shape_env=env)
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC] * 2)
    return mode.from_tensor(dispatch.empty(rows, columns), symbolic_context=context)


class SymbolicArguments(Arguments):
    """What a trial has: a world of symbolic numbers, and what stands in the way."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.env, self.other = ShapeEnv(), ShapeEnv(specialize_zero_one=False, duck_shape=False)
        t, foreign = _tensor(self.env, 5, 7), _tensor(self.other, 1, 4)
        a, b = t.shape
        u, f = self.env.create_unbacked_symint(), self.env.create_unbacked_symfloat()
        meta = dispatch.empty(a, 3, device="meta")
        self.tensors += [t, t.t(), foreign, t.new_empty((u, a)), meta]
        deep = a
        for i in range(300):
            deep = symbolic.sym_max(deep // 3 % 11 + b, i)
        floats = symbolic.sym_float(a) * 1.5
        numbers = [a, b, u, a * b // 3, a % b, floats, f, a > b, u == 3, deep, *foreign.shape]
        numbers.append(symbolic._get_nested_int(3, 2))
        nodes = [n.node for n in numbers]
        self.symbolic = [
            *numbers, *nodes, *(n.expr for n in nodes if isinstance(n, SymNode)),
            self.env, self.other, t, t.shape, t.fake_mode, ConstantSource("z"),
            symbolic.ValueRanges(0, 5), symbolic.int_oo, self._ended(), SymInt(self._ended().node),
            SymInt(_Node(lambda: self.any())), SymBool(_Node(lambda: self.any())),
            *(_blank(kind) for kind in (SymInt, SymFloat, SymBool, SymNode, Expr)),
            DimDynamic.DYNAMIC, StatelessSymbolicContext([DimDynamic.DYNAMIC]), {a.node.expr: 1},
        ]  # fmt: skip

    def _ended(self) -> Any:
        """A number whose environment is gone but for its nodes."""
        env = ShapeEnv()
        symbol = env.create_symbol(5, ConstantSource("gone"), DimDynamic.DYNAMIC)
        return env.create_symintnode(symbol, hint=5)

    def _pick(self) -> Any:
        return self.rng.choice((self.rng.choice(self.symbolic), *_TEXTS, self.number()))

    def _crowd(self) -> None:
        """Threads that make guards in one environment."""
        a, b = self.tensors[-5].shape
        k = self.rng.randrange(100)
        threads = [
            threading.Thread(target=lambda i=i: [bool(a * j + b > i + k) for j in range(20)])
            for i in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _act(self) -> None:
        """Whoever looks at an argument may find everything learnt, renamed or gone."""
        if self.rng.random() < 0.5:
            super()._act()
        elif self.rng.random() < 0.2:
            self._crowd()
        else:
            a, b = (self.rng.choice(self.symbolic[:11]) for _ in range(2))
            self.env._constrain_unify(a, b) if self.rng.random() < 0.5 else bool(a == b)

    def number(self) -> int:
        return self.rng.choice((super().number(), self.rng.choice(_EDGES)))

    def known(self) -> Any:
        return self.rng.choice(self.symbolic) if self.rng.random() < 0.7 else super().known()

    def any(self) -> Any:
        return self._pick() if self.rng.random() < 0.7 else super().any()

    def items(self) -> list[Any]:
        return [self._pick() for _ in range(self.rng.randrange(5))]

    def named(self, name: str) -> Any:
        return self.any() if self.rng.random() < 0.6 else super().named(name)


def symbolic_targets() -> list[Target]:
    """Every callable of the room and of what fake tensors have for it."""
    names = [f"dispatch.symbolic.{m.name}" for m in pkgutil.iter_modules(symbolic.__path__)]
    for name in names:
        importlib.import_module(name)
    return targets(("dispatch.symbolic", *names, "dispatch.fake.unbacked", "dispatch._C"))


if __name__ == "__main__":
    trials = (symbolic_targets(), SymbolicArguments)
    sys.exit(command("python -m tests.fuzz.symbolic", __doc__, 300, *trials))
