"""What fits: the largest sizes of a program whose peak of memory stays within a limit.

The peak at a size is an expression that a symbolic run has left (`cases`), so that a search costs
no runs; between a size that fits and one that does not the next is guessed from the peaks that are
known (a peak is mostly a parabola), or is the middle. A size is looked for alone, with the others
as recorded or set, and beside a second one: the largest of the second at some of the first. Each
answer is then run with plain numbers, and so is one more, which says what ends it there: memory,
the exported range, or the program itself. Where such a run says something else, the search is
made again with plain runs only.
"""

from collections.abc import Mapping, Sequence
from math import prod
from operator import index
from typing import Any, NamedTuple

from dispatch.graph import text
from dispatch.graph.cases import Cases
from dispatch.graph.checks import read_amount
from dispatch.graph.errors import plain
from dispatch.graph.module import GraphModule
from dispatch.graph.sizes import OpenSize, chosen, find

__all__ = ["Fit", "fit"]

Json = dict[str, Any]
_MOST = 1 << 24  # where a size without a limit stops growing
_POINTS = 8  # of the frontier, at most
_CURVE_POINTS = 33
_BEYOND = 1.25  # a curve goes on for a quarter past the end
_ERRORS = (RuntimeError, ValueError, LookupError, ArithmeticError)
_GUESSES = 4  # each such try is the middle, whatever the guess


class _Peak(NamedTuple):
    """A run at some sizes: its peak, or why there is none."""

    nbytes: int | None
    problem: str


class _OtherwiseError(Exception):
    """A plain run that is not what the expressions say."""


class Fit(NamedTuple):
    """The answer to "what fits". `sizes`: the program's open sizes; `at`: their values where they
    do not vary, and `peak_bytes` the peak there; `largest`: a row for each size that varies, alone;
    `frontier`: rows of both; `curves`: for each size that varies the peaks at some of its values;
    `runs`: how many fake runs it took; `baked`: of a program of which dimensions were freed, what
    the export had baked in."""

    model: str
    device: str
    memory: int
    sizes: list[Json]
    at: dict[str, int]
    peak_bytes: int
    largest: list[Json]
    frontier: list[Json]
    curves: list[Json]
    runs: int
    baked: list[Json] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no size that varies fits, alone or beside another."""
        return not any(row["value"] for row in (*self.largest, *self.frontier))

    @property
    def title(self) -> str:
        return f"{plain(self.model)}: what fits in {text.bytes_text(self.memory)}"

    def to_json(self) -> Json:
        """The answer as one object of plain values."""
        return self._asdict()

    def facts(self) -> list[tuple[str, str]]:
        """What was asked."""
        at = ", ".join(f"{name} = {value}" for name, value in self.at.items())
        return [
            ("model", plain(self.model)),
            ("memory", text.bytes_text(self.memory)),
            ("run", f"{self.runs} fake runs on {plain(self.device)}"),
            ("recorded or set", plain(f"{at}: peak {text.bytes_text(self.peak_bytes)}")),
            *([("freed sizes", text.baked_text(self.baked))] if self.baked is not None else []),
        ]

    def tables(self) -> list[text.Table]:
        """The largest of each size alone, and of both together."""
        cells = [
            [plain(row["name"]), *_cells(row), plain(self._others(row["name"]))]
            for row in self.largest
        ]
        columns = ("size", "largest", *_COLUMNS, "with")
        found = [text.Table("largest sizes", columns, ("size", "ended by", "with"), cells)]
        if self.frontier:
            first, second = (plain(row["name"]) for row in self.largest)
            rows = [[f"{next(iter(r['at'].values())):,}", *_cells(r)] for r in self.frontier]
            title = f"largest {second} for each {first}"
            found.append(text.Table(title, (first, second, *_COLUMNS), ("ended by",), rows))
        return found

    def _others(self, name: str) -> str:
        return ", ".join(f"{n} = {value}" for n, value in self.at.items() if n != name)


_COLUMNS = ("peak", "one more", "ended by")
_PROBLEM = 120  # letters of it in a table


def _problem(error: BaseException, path: Any) -> str:
    """What an error says, without the file's path and the operator's schema."""
    line = plain(next(iter(str(error).splitlines()), type(error).__name__))
    return line.removeprefix(f"{plain(path)}: ")


def _cells(row: Json) -> list[str]:
    """The largest value, the peak there and one past it, and what ends it."""
    value, ended = row["value"], row["ended_by"]
    peak, beyond = row["peak_bytes"], row["next_peak_bytes"]
    problem = row["problem"]
    problem = problem if len(problem) <= _PROBLEM else problem[: _PROBLEM - 3] + "..."
    why = {"memory": "memory", "range": "the exported range", "program": problem}
    return [
        f"{value:,}" if value is not None else "none",
        text.bytes_text(peak) if peak is not None else "",
        text.bytes_text(beyond) if beyond is not None else "",
        plain(why[ended]),
    ]


def fit(
    module: GraphModule,
    memory: int | str,
    vary: Sequence[str] = (),
    *,
    device: Any = None,
    sizes: Mapping[str, int] | None = None,
) -> Fit:
    """The largest sizes whose peak is at most `memory`: bytes, or a text such as "80GB".

    `vary`: one or two names of open sizes (of `module.sizes`; else the first two); `sizes`: values
    for others, which stay as recorded otherwise. `ValueError` for unknown names, sizes out of
    range, or a program that leaves no size open.
    """
    limit = int(read_amount(memory, "memory")) if isinstance(memory, str) else index(memory)
    return _Search(module, limit, vary, device, sizes or {}).answer()


class _Search:
    def __init__(
        self,
        module: GraphModule,
        memory: int,
        vary: Sequence[str],
        device: Any,
        sizes: Mapping[str, int],
    ) -> None:
        self.module = module
        self.memory = memory
        self.device = device
        names = vary or [size.symbol for size in module.sizes[:2]] or ["batch"]
        self.varied = list(dict.fromkeys(find(module.sizes, name) for name in names))
        if len(self.varied) > 2:
            raise ValueError(f"at most two sizes can vary, not {len(self.varied)}")
        at = dict(sizes)
        for size in self.varied:
            if size.recorded is None and not any(name in size.names for name in at):
                at[size.symbol] = max(size.low, 1)
        self.at = chosen(module.sizes, at)
        self.cases: Cases | None = module.cases(device)
        self.known: dict[tuple[int, ...], _Peak] = {}  # by symbolic runs, or plain ones
        self.ran: dict[tuple[int, ...], _Peak] = {}  # by plain runs
        self.device_name = ""

    def answer(self) -> Fit:
        try:
            return self.found()
        except _OtherwiseError:
            self.cases = None
            self.known = dict(self.ran)
            return self.found()

    def found(self) -> Fit:
        here = self.confirmed(self.at)
        if here.nbytes is None:
            raise RuntimeError(here.problem)
        largest = [self.limit(size, {}) for size in self.varied]
        frontier = self.frontier() if len(self.varied) == 2 else []
        return Fit(
            model=self.module.name,
            device=self.device_name,
            memory=self.memory,
            sizes=[
                {"name": s.name, "symbol": s.symbol, "names": list(s.names), "min": s.low,
                 "max": s.high, "recorded": s.recorded}
                for s in self.module.sizes
            ],
            at={size.name: self.at[size.symbol] for size in self.module.sizes},
            peak_bytes=here.nbytes,
            largest=largest,
            frontier=frontier,
            curves=[self.curve(size, row) for size, row in zip(self.varied, largest, strict=True)],
            baked=self.module.baked_rows(),
            runs=len(self.ran) + (len(self.cases) if self.cases is not None else 0),
        )  # fmt: skip

    # -- runs -----------------------------------------------------------------------------------

    def peak(self, values: Mapping[str, int]) -> _Peak:
        """The peak at these values, the rest as set; by expressions if there are some."""
        at = {**self.at, **values}
        key = tuple(at.values())
        if key not in self.known:
            self.known[key] = self.evaluated(at) or self.run(at)
        return self.known[key]

    def evaluated(self, at: Mapping[str, int]) -> _Peak | None:
        """By the case that these sizes belong to; None when it cannot be run with symbols."""
        if self.cases is None:
            return None
        try:
            case = self.cases.at(at)
        except _ERRORS:
            return None
        return _Peak(case.peak_bytes(case.complete(at)), "")

    def run(self, at: Mapping[str, int]) -> _Peak:
        """By a run with plain numbers; of a program whose data decide sizes, with what is assumed
        of them."""
        key = tuple(at.values())
        if key not in self.ran:
            try:
                report = self.module.run(sizes=at, device=self.device)
            except _ERRORS as error:
                self.ran[key] = _Peak(None, _problem(error, self.module.path))
                return self.ran[key]
            self.device_name = report.device
            self.ran[key] = _Peak(report.peak_bytes, "")
        return self.ran[key]

    def confirmed(self, values: Mapping[str, int]) -> _Peak:
        """The peak as a plain run has it, which must be what the search believed."""
        at = {**self.at, **values}
        believed, found = self.peak(values), self.run(at)
        if believed.nbytes != found.nbytes:
            raise _OtherwiseError
        return found

    # -- bisection ------------------------------------------------------------------------------

    def limit(self, size: OpenSize, others: Mapping[str, int]) -> Json:
        """The largest value of `size` that fits, and what ends it one past that."""
        symbol, low = size.symbol, self.least(size, others)
        high = _MOST if size.high is None else min(size.high, _MOST)

        points: dict[int, int] = {}

        def fits(value: int) -> bool:
            nbytes = self.peak({**others, symbol: value}).nbytes
            if nbytes is not None:
                points[value] = nbytes
            return nbytes is not None and nbytes <= self.memory

        if not fits(low):
            return self.row(size, None, low, others, high)
        good, bad, tries, failed = low, high + 1, 0, False
        while bad - good > 1:
            tries += 1
            if failed and self.cases is not None and tries % _GUESSES:
                value = self.past(self.cases, good, bad, {**self.at, **others}, symbol)
            elif len(points) == 1:
                value = max(self.at[symbol], 2 * good)
            elif tries % _GUESSES == 0:
                value = (good + bad) // 2
            else:
                value = _guess(points, self.memory, good, bad)
            value = min(max(value, good + 1), bad - 1)
            if fits(value):
                good = value
            else:
                bad, failed = value, value not in points
        return self.row(size, good, good + 1, others, high)

    def past(self, cases: Cases, good: int, bad: int, at: Mapping[str, int], symbol: str) -> int:
        """The first value from `good` on, which runs, to `bad`, which fails, that no case is known
        of: where the guards of the program's run end, it mostly ends itself."""
        while bad - good > 1:
            middle = (good + bad) // 2
            if cases.knows({**at, symbol: middle}):
                good = middle
            else:
                bad = middle
        return bad

    def least(self, size: OpenSize, others: Mapping[str, int]) -> int:
        """Where to begin: the smallest of the range, or, when the program does not run with that,
        what it was recorded or set to."""
        low = max(size.low, 1)
        runs = self.peak({**others, size.symbol: low}).nbytes is not None
        return low if runs else self.at[size.symbol]

    def row(
        self, size: OpenSize, value: int | None, past: int, others: Mapping[str, int], high: int
    ) -> Json:
        beyond = self.confirmed({**others, size.symbol: past}) if past <= high else None
        ended = "range" if beyond is None else "memory" if beyond.nbytes is not None else "program"
        here = self.confirmed({**others, size.symbol: value}) if value is not None else None
        return {
            "name": size.name,
            "symbol": size.symbol,
            "value": value,
            "peak_bytes": here.nbytes if here is not None else None,
            "ended_by": ended,
            "next": past if beyond is not None else None,
            "next_peak_bytes": beyond.nbytes if beyond is not None else None,
            "problem": beyond.problem if beyond is not None else "",
        }

    def curve(self, size: OpenSize, row: Json) -> Json:
        """The peaks from the smallest size to somewhat more than the largest that fits; without
        expressions those that the search has come by."""
        low, high = self.least(size, {}), _MOST if size.high is None else size.high
        last = min(high, max(round((row["value"] or low) * _BEYOND), self.at[size.symbol]))
        if self.cases is not None:
            step = (last - low) / (_CURVE_POINTS - 1)
            values = {round(low + step * i) for i in range(_CURVE_POINTS)}
        else:
            place = list(self.at).index(size.symbol)
            rest = [value for name, value in self.at.items() if name != size.symbol]
            keys = [key for key in self.known if [*key[:place], *key[place + 1 :]] == rest]
            values = {key[place] for key in keys if key[place] <= last}
        peaks = {value: self.peak({size.symbol: value}).nbytes for value in sorted(values)}
        points = [[value, nbytes] for value, nbytes in peaks.items() if nbytes is not None]
        return {"name": size.name, "symbol": size.symbol, "points": points}

    def frontier(self) -> list[Json]:
        """The largest second size at growing first sizes, up to the largest with the second one
        as small as it can be."""
        first, second = self.varied
        smallest = {second.symbol: self.least(second, {})}
        last = self.limit(first, smallest)["value"]
        if last is None:
            return []
        rows = []
        for value in _spread(self.least(first, smallest), last):
            row = self.limit(second, {first.symbol: value})
            rows.append({"at": {first.name: value}, **row})
        return rows


def _guess(points: Mapping[int, int], memory: int, good: int, bad: int) -> int:
    """The largest size below `bad` that fits, if the peak goes on as a parabola through the three
    known points next to the end."""
    near = sorted(points, key=lambda value: min(abs(value - good), abs(value - bad)))[:3]

    def peak(value: int) -> float:
        terms = (points[a] * prod((value - b) / (a - b) for b in near if b != a) for a in near)
        return sum(terms)

    while bad - good > 1:
        middle = (good + bad) // 2
        if peak(middle) <= memory:
            good = middle
        else:
            bad = middle
    return good


def _spread(low: int, high: int) -> list[int]:
    """Some values from `low` to `high`, both included, each about the same times the one before."""
    ratio = (high / low) ** (1 / (_POINTS - 1))
    values = {min(max(round(low * ratio**i), low), high) for i in range(_POINTS)}
    return sorted(values | {low, high})
