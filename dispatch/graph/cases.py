"""Symbolic runs: what a program does at all sizes that keep to a run's guards.

A run with symbols in place of the open sizes leaves a log whose sizes are expressions: a `Case`. It
stands for every choice of sizes that keeps to its guards (a program decides by a size now and
then), and `Cases` finds the case that a choice belongs to, or has it run: so answers are those of a
run with plain numbers, at any sizes. A size of 0 or 1 is a plain number in a case of its own, as
it broadcasts. Numbers that data decide (`nonzero`, `item`) are symbols too: `assumed` says what
stands for them when nobody gives a value.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import inf, prod
from typing import Any, NamedTuple

from dispatch.graph.executor import RunLog
from dispatch.graph.memory import BEFORE, InputFact, Walk, is_tensor, sizes_of
from dispatch.graph.plan import Slot
from dispatch.graph.polynomial import Bounds, Polynomial, largest
from dispatch.graph.sizes import OpenSize
from dispatch.symbolic import ShapeEnv

__all__ = [
    "LEAST",
    "Case",
    "Cases",
    "Guard",
    "Memory",
    "Size",
    "Symbols",
    "as_polynomial",
    "new_symbols",
]

Progress = Callable[[int], None]
_MOST_CASES = 64
LEAST = 2  # of a symbol
_A_SIZE = 0  # the kind of symbol in a ShapeEnv's rows
_ASSUMED_MOST = 1 << 31  # a bound above it says nothing


class Size(int):
    """A size as a number, with the expression that it comes from."""

    expr: Any


class Guard(NamedTuple):
    """A condition that a case rests on, and the call that asked for it (-1: the inputs)."""

    expr: Any
    call: int


def as_polynomial(value: int) -> Polynomial:
    """What a size of a symbolic run is, as an expression; a plain number as itself."""
    return Polynomial.of(getattr(value, "expr", value))


class Symbols(NamedTuple):
    """A new ShapeEnv with a symbol for each open size: `numbers` are what a program computes with,
    `exprs` the symbols among them, `fixed` the plain numbers, `limits` where the symbols lie."""

    env: Any
    numbers: dict[str, Any]
    exprs: dict[str, Any]
    fixed: dict[str, int]
    limits: dict[str, tuple[int, int | None]]


def new_symbols(sizes: Iterable[OpenSize], values: Mapping[str, int]) -> Symbols:
    """Symbols with these values; 0 and 1 are numbers."""
    made = Symbols(ShapeEnv(), {}, {}, {}, {})
    for size in sizes:
        name, value = size.symbol, values[size.symbol]
        if value < LEAST:
            made.numbers[name] = made.fixed[name] = value
            continue
        high = inf if size.high is None else size.high
        row = name, _A_SIZE, value, True, (max(size.low, LEAST), high), False, False
        made.exprs[name] = made.env._restore(row)
        made.numbers[name] = made.env.create_symintnode(made.exprs[name])
        made.limits[name] = size.low, size.high
    return made


class Case:
    """One symbolic run with `made`; `log`: what it left behind; `learnt`: by call, what was known
    after it (of guards and numbers of data, how many); `cache`: the use of the
    fake mode's cache; `wall_ns`: how long it took here; `repeat`: runs it again."""

    def __init__(
        self,
        made: Symbols,
        log: RunLog,
        learnt: Sequence[tuple[int, int]],
        inputs: tuple[InputFact, ...],
        cache: Mapping[str, Any],
        wall_ns: int,
        repeat: "Callable[[], Case]",
    ) -> None:
        self.env = made.env
        self.symbols = made.exprs
        self.fixed = made.fixed
        self.log = log
        self.learnt = learnt
        self.cache = cache
        self.wall_ns = wall_ns
        self.repeat = repeat
        self._limits = made.limits
        self._inputs = inputs

    @cached_property
    def _exprs(self) -> dict[int, Any]:
        """What stands for each handle in the log, as an expression or a number."""
        found = self.log.handles()
        return {h: v.node.expr if hasattr(v, "node") else v for h, v in found.items()}

    @cached_property
    def guards(self) -> list[Guard]:
        """In order, with the calls that asked."""
        known = 0
        found = [
            Guard(self.env.parse(f"{name} >= {LEAST}"), BEFORE)
            for name, (low, _) in self._limits.items()
            if low < LEAST
        ]
        for call, (count, _) in enumerate(self.learnt):
            found += [Guard(g.expr, call) for g in self.env.guards[known:count]]
            known = count
        return found

    @property
    def asserts(self) -> list[Any]:
        """Conditions on numbers that data decide, which the program itself checks."""
        rows = self.env.deferred_runtime_asserts.values()
        return [found.expr for row in rows for found in row]

    @cached_property
    def from_data(self) -> tuple[OpenSize, ...]:
        """The numbers that data decide, by their names."""
        found = []
        for symbol, known in self.env.var_to_range.items():
            if symbol.unbacked:
                name, low = str(symbol), _plain(known.lower)
                high = _plain(known.upper)
                if high is not None and high > _ASSUMED_MOST:
                    high = None
                found.append(OpenSize(name, (name,), max(low or 0, 0), high, None, ()))
        return tuple(found)

    def named_here(self, values: Mapping[str, int], other: "Case") -> dict[str, int]:
        """Numbers that data decide, by the names that the same calls give them in this case. One
        that sizes leave no choice is left out: nothing is found in an empty tensor."""
        here = {place: name for name, place in self._origins.items()}
        there = other._origins
        pairs = ((here.get(there[k]) if k in there else k, n) for k, n in values.items())
        return {name: n for name, n in pairs if name is not None}

    @cached_property
    def _origins(self) -> dict[str, tuple[int, int]]:
        """For each number that data decide the call it comes from, and which of that call's."""
        found: dict[str, tuple[int, int]] = {}
        names, known = self._names_of_data, 0
        for call, (_, count) in enumerate(self.learnt):
            found.update((names[k], (call, k - known)) for k in range(known, count) if k in names)
            known = count
        return found

    # -- at values --------------------------------------------------------------------------------

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it is what the program does at these values of the symbols."""
        if any(values.get(name) != number for name, number in self.fixed.items()):
            return False
        for name in self.symbols:
            low, high = self._limits[name]
            if values[name] < max(low, LEAST) or (high is not None and values[name] > high):
                return False
        try:
            return all(guard.evaluate(values) for guard in self._conditions)
        except ArithmeticError:
            return False

    @cached_property
    def _conditions(self) -> list[Any]:
        """The guards that numbers of data are not in."""
        exprs = dict.fromkeys(guard.expr for guard in self.env.guards)
        return [e for e in exprs if all(str(s) in self.symbols for s in e.free_symbols)]

    def numbers(self, values: Mapping[str, int]) -> dict[int, Size]:
        """For each handle in the log its number at these values."""
        found: dict[int, Size] = {}
        for handle, expr in self._exprs.items():
            number = found[handle] = Size(expr if isinstance(expr, int) else expr.evaluate(values))
            number.expr = expr
        return found

    def complete(self, values: Mapping[str, int]) -> dict[str, int]:
        """The values with those of the numbers that data decide, which are assumed where they are
        not given."""
        known = dict(values)
        for size in self.from_data:
            if size.symbol not in known:
                known[size.symbol] = self._assumed(size, known)
        return known

    def _assumed(self, size: OpenSize, known: Mapping[str, int]) -> int:
        """As many as there are elements in the call that decides (no more can be chosen of them);
        else the most of the range, or its least."""
        counts = [e.evaluate(known) for e in self._elements.get(size.symbol, ())]
        value = max(counts, default=size.high if size.high is not None else max(size.low, 1))
        return max(size.low, value if size.high is None else min(value, size.high))

    @cached_property
    def _elements(self) -> dict[str, list[Polynomial]]:
        """How many elements each tensor has that a call takes, by the numbers that it decides; a
        call that reads a number out is none of these."""
        found: dict[str, list[Polynomial]] = {}
        records: dict[int, Any] = {}
        names, known, index, top = self._names_of_data, 0, 0, None
        for kind, plan, *rest in self.log.events(self._placeholders):
            top = top or plan
            if kind != "call" or rest[0] < 0:
                records.update((r[0], r) for r in (rest[2] if rest else ()) if plan is top)
                continue
            step = plan.steps[rest[0]]
            count = self.learnt[index][1]
            index += 1
            if plan is top:
                if count > known and step.op.partition(".")[0] not in _READS_OUT:
                    slots = [ref.number for ref in step.args if isinstance(ref, Slot)]
                    taken = (records.get(slot, ()) for slot in slots)
                    numels = [_numel(record) for record in taken if is_tensor(record)]
                    found.update((names[k], numels) for k in range(known, count) if k in names)
                records.update((r[0], r) for r in rest[2])
            known = count
        return found

    @property
    def _names_of_data(self) -> dict[int, str]:
        """The symbols of data by their numbers."""
        names = (size.symbol for size in self.from_data)
        return {int(name[1:]): name for name in names if name[1:].isdigit()}

    @property
    def _placeholders(self) -> dict[int, Size]:
        """For each handle its expression, with a number that means nothing."""
        found = {}
        for handle, expr in self._exprs.items():
            found[handle] = Size(1)
            found[handle].expr = expr
        return found

    # -- as expressions ---------------------------------------------------------------------------

    @property
    def bounds(self) -> Bounds:
        """What the case knows of a symbol, or of a quotient and the like."""

        def bounds(atom: Any) -> tuple[int, int | None] | None:
            known = self.env.bound_sympy(atom)
            low, high = _plain(known.lower), _plain(known.upper)
            return None if low is None else (low, high)

        return bounds

    def memory(self, walk: Walk) -> "Memory":
        """The bytes that are there during and after each call of a run of this case."""
        totals = [_NOTHING]
        for nbytes, sign in walk.moves:
            amount = as_polynomial(nbytes)
            totals.append(totals[-1] + amount if sign > 0 else totals[-1] - amount)
        new, live, during = [], [], []
        for before, made, after in walk.marks:
            new.append(totals[made] - totals[before])
            during.append(totals[made])
            live.append(totals[after])
        return Memory(new, live, during)

    @cached_property
    def peaks(self) -> list[tuple[int, Polynomial]]:
        """The calls of which one has the peak, and what is there during each; which is the largest
        is a matter of the sizes."""
        values = self.complete({**self._recorded, **self.fixed})
        walk = Walk(self.log, self._inputs, {}, self.numbers(values))
        during = self.memory(walk).during
        first = {amount: call for call, amount in reversed(list(enumerate(during)))}
        # The largest ones first: most others are never above them.
        order = sorted(first, key=lambda amount: (-amount.evaluate(values), first[amount]))
        return sorted((first[amount], amount) for amount in largest(order, self.bounds))

    @property
    def _recorded(self) -> dict[str, int]:
        """The values that the run was made with."""
        known = self.env.backed_var_to_val
        return {name: int(known[symbol]) for name, symbol in self.symbols.items()}

    def peak_bytes(self, values: Mapping[str, int]) -> int:
        """Most bytes during a call, at values of all symbols."""
        return max((amount.evaluate(values) for _, amount in self.peaks), default=0)


class Memory(NamedTuple):
    """By call: the bytes that it allocates, that are there after it, and while it runs."""

    new: list[Polynomial]
    live: list[Polynomial]
    during: list[Polynomial]


class Cases:
    """The cases of a program on one device; `run` makes the one that some values belong to."""

    def __init__(self, run: Callable[[Mapping[str, int], Progress | None], Case]) -> None:
        self._run = run
        self._cases: list[Case] = []

    def at(self, values: Mapping[str, int]) -> Case:
        """The case that holds at these values."""
        return self._known(values) or self._add(self._run(values, None))

    def knows(self, values: Mapping[str, int]) -> bool:
        """Whether it takes no run to say what is there at these values."""
        return self._known(values) is not None

    def fresh(self, values: Mapping[str, int], progress: Progress | None) -> Case:
        """The same, run now; on the tensors of the case that is known, if there is one."""
        known = self._known(values)
        self._cases.clear()
        if known is None or known.from_data:
            return self._add(self._run(values, progress))
        return self._add(known.repeat())

    def __len__(self) -> int:
        return len(self._cases)

    def _known(self, values: Mapping[str, int]) -> Case | None:
        return next((case for case in self._cases if case.holds(values)), None)

    def _add(self, case: Case) -> Case:
        self._cases = [case, *self._cases[: _MOST_CASES - 1]]
        return case


_NOTHING = Polynomial({})
_READS_OUT = frozenset({"aten::item", "aten::_local_scalar_dense"})


def _numel(record: Any) -> Polynomial:
    return Polynomial.of(prod((getattr(n, "expr", n) for n in sizes_of(record)), start=1))


def _plain(bound: Any) -> int | None:
    """A bound of a range; None when it is infinite."""
    return int(bound) if isinstance(bound, int) or getattr(bound, "is_Integer", False) else None
