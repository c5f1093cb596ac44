"""What a run did: shapes, memory, operations, modules, cache use, worked out when asked for.

A run hands over its `RunLog` and nothing else is kept; the first question reads the log once
(`memory`), and every answer is made from that: rows of calls, storages, operators and modules, in
plain values that `to_json` gives as they are. What shows them (`text`, `html`, the command line)
works nothing out.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

from dispatch._C.generated.type_names import DTYPE_BYTES
from dispatch.graph import text
from dispatch.graph.advice import ideas, possible_ties
from dispatch.graph.cases import Case
from dispatch.graph.errors import plain
from dispatch.graph.executor import RunLog
from dispatch.graph.expressions import Expressions, call_flops
from dispatch.graph.hardware import Hardware, hardware
from dispatch.graph.html import html_page, summary_html
from dispatch.graph.memory import (
    GRAD,
    KINDS,
    Call,
    InputFact,
    Record,
    Storage,
    Walk,
    meta_of,
)
from dispatch.graph.modules import ModuleTree, WeightFact, place_of_notes
from dispatch.graph.roofline import estimate
from dispatch.graph.traffic import compute_dtype, moved_bytes

__all__ = ["At", "ModelFacts", "Report", "RunFacts"]

Json = dict[str, Any]


class ModelFacts(NamedTuple):
    """What a report says of the model itself; tied parameters count once, slots are the user's.

    `without_data`: weights of which the file has no data: it does not say which are tied;
    `gradients`: names of what they are of, by slot."""

    model: str
    parameters: int
    parameter_bytes: int
    input_slots: tuple[int, ...]
    output_slots: tuple[int, ...]
    inputs: tuple[InputFact, ...]
    weights: tuple[WeightFact, ...]
    without_data: frozenset[str]
    gradients: Mapping[int, str]


class RunFacts(NamedTuple):
    """What a report says of the run. `mode`: "fake" or "cpu"; `unregistered`: operators that ran
    with the metadata that the file records; `made_up_weights`, `made_up_inputs`: how many had
    random values; `sizes`: a row for each size that the program leaves open; `baked`: of a program
    of which dimensions were freed, a row for each number that the export had baked in."""

    device: str
    mode: str
    cache: Mapping[str, Any]
    wall_ns: int
    unregistered: tuple[str, ...] = ()
    made_up_weights: int = 0
    made_up_inputs: int = 0
    sizes: Sequence[Json] = ()
    baked: Sequence[Json] | None = None


class At(NamedTuple):
    """Where in a symbolic run a report stands: the values of the symbols, and how to get the
    report at others."""

    case: Case
    values: Mapping[str, int]
    at: "Callable[[Mapping[str, int]], Report]"


class Report:
    """The result of `GraphModule.run`; `to_json()` is the object that `dispatch inspect --json`
    writes, `str()` what it prints."""

    def __init__(
        self, facts: ModelFacts, log: RunLog, run: RunFacts, symbolic: At | None = None
    ) -> None:
        self._facts = facts
        self._log = log
        self._run = run
        self._symbolic = symbolic

    # -- the run ----------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The file's name."""
        return self._facts.model

    @property
    def device(self) -> str:
        """Where the program ran, or would have run."""
        return self._run.device

    @property
    def mode(self) -> str:
        """`"fake"`, or `"cpu"` when it was computed."""
        return self._run.mode

    @property
    def wall_ns(self) -> int:
        """How long the run took here: of a fake run, this tool's own time, not the model's."""
        return self._run.wall_ns

    @property
    def cache(self) -> Mapping[str, Any]:
        """Hits, misses and bypasses of the fake mode's cache in this run."""
        return self._run.cache

    @property
    def unregistered(self) -> tuple[str, ...]:
        """Operators that nobody registered: their outputs are as the file records them."""
        return self._run.unregistered

    @property
    def made_up_weights(self) -> int:
        """How many weights had random values, because the file has none."""
        return self._run.made_up_weights

    @property
    def made_up_inputs(self) -> int:
        """How many inputs had random values, because none were given."""
        return self._run.made_up_inputs

    @property
    def sizes(self) -> list[Json]:
        """A row for each size that the program leaves open: its names, range, and `value` here."""
        return list(self._run.sizes)

    @property
    def parameters(self) -> int:
        """Elements of all parameters, tied ones once."""
        return self._facts.parameters

    @property
    def parameter_bytes(self) -> int:
        """Bytes of all parameters, tied ones once."""
        return self._facts.parameter_bytes

    @cached_property
    def inputs(self) -> list[Json]:
        """The META of each tensor that the user gives."""
        return _metas(self._walk.records, self._facts.input_slots)

    @cached_property
    def outputs(self) -> list[Json]:
        """The META of each tensor that the user gets."""
        return _metas(self._walk.records, self._facts.output_slots)

    # -- rows -------------------------------------------------------------------------------

    @cached_property
    def _walk(self) -> Walk:
        symbolic = self._symbolic
        numbers = symbolic.case.numbers(symbolic.values) if symbolic is not None else None
        return Walk(self._log, self._facts.inputs, self._facts.gradients, numbers)

    @cached_property
    def calls(self) -> list[Json]:
        """A row for each operator call, in order."""
        rows = [_call_row(call) for call in self._walk.calls]
        if self._expressions is not None:
            for row, more in zip(rows, self._expressions.calls, strict=True):
                row.update(more)
        return rows

    @cached_property
    def storages(self) -> list[Json]:
        """A row for each piece of memory: name, kind, bytes, and the calls that made, last used
        and last held it (-1: before the first call, the number of calls: the end). A weight that
        no call uses `may_be` a used one, where the file has no data to tell them apart."""
        modules = [call["module"] for call in self.calls]
        storages = self._walk.storages
        ties = possible_ties(storages, self._facts.without_data)
        return [_storage_row(storage, modules, ties.get(storage.name)) for storage in storages]

    @cached_property
    def operators(self) -> list[Json]:
        """A row for each operator, the one that allocates (or, when timed, takes) most first."""
        rows: dict[str, Json] = {}
        for call in self.calls:
            row = rows.setdefault(call["op"], {"op": call["op"], **_NO_CALLS})
            row["calls"] += 1
            for key in ("new_bytes", "output_bytes", "flops"):
                row[key] += call[key]
            if call["ns"] is not None:
                row["ns"] = (row["ns"] or 0) + call["ns"]
        return sorted(
            rows.values(), key=lambda r: (-(r["ns"] or 0), -r["new_bytes"], -r["flops"], r["op"])
        )

    @cached_property
    def modules(self) -> list[Json]:
        """A row for each module, outer ones first; each counts all that is below it."""
        tree = ModuleTree()
        for call, row in zip(self._walk.calls, self.calls, strict=True):
            place = place_of_notes(call.step.notes)
            tree.add_call(place, row["new_bytes"], row["flops"], row["ns"])
        for weight in self._facts.weights:
            tree.add_weight(weight)
        for row in self.alive_at_peak:
            tree.add_peak(row["module"], row["bytes"])
        rows = tree.rows(self.peak_bytes)
        if self._expressions is not None:
            found = self._expressions.modules([call["module"] for call in self.calls])
            for row in rows:
                row.update(found.get(row["path"], {"bytes_expr": 0, "flops_expr": 0}))
        return rows

    # -- expressions ------------------------------------------------------------------------

    @property
    def is_symbolic(self) -> bool:
        """Whether there are expressions, and reports `at` other sizes."""
        return self._symbolic is not None

    @cached_property
    def _expressions(self) -> Expressions | None:
        return Expressions(self._symbolic.case, self._walk) if self._symbolic is not None else None

    @property
    def expressions(self) -> Expressions:
        """What is there as expressions of the open sizes; `ValueError` unless the run was
        symbolic."""
        if self._expressions is None:
            raise ValueError("no expressions: they come from run(symbolic=True)")
        return self._expressions

    def at(self, sizes: Mapping[str, int]) -> "Report":
        """The report at other sizes, by any of their names; no run is made unless the program
        does something else there."""
        if self._symbolic is None:
            raise ValueError("at: other sizes need run(symbolic=True)")
        return self._symbolic.at(sizes)

    # -- memory -----------------------------------------------------------------------------

    @cached_property
    def peak_index(self) -> int:
        """The first call during which most memory is there; -1 without calls."""
        calls = self._walk.calls
        return max(range(len(calls)), key=lambda i: (calls[i].during_bytes, -i), default=-1)

    @property
    def peak_bytes(self) -> int:
        """Most bytes that are there during a call: its inputs and its outputs together."""
        return self._walk.calls[self.peak_index].during_bytes if self.peak_index >= 0 else 0

    @cached_property
    def flops(self) -> int:
        """Floating-point operations of all calls."""
        return sum(call["flops"] for call in self.calls)

    def alive_at(self, index: int) -> list[Json]:
        """The rows of `storages` that are there while call number `index` runs, largest first."""
        pairs = zip(self._walk.storages, self.storages, strict=True)
        rows = [row for storage, row in pairs if storage.is_alive(index) and storage.nbytes]
        return sorted(rows, key=lambda row: -row["bytes"])

    @cached_property
    def alive_at_peak(self) -> list[Json]:
        """The rows of `storages` that are there at the peak, largest first."""
        return self.alive_at(self.peak_index) if self.peak_index >= 0 else []

    @cached_property
    def advice(self) -> list[Json]:
        """What would lower the peak: rows of `what`, `saved_bytes`, and the `peak_bytes` left."""
        walk = self._walk
        return ideas(walk.calls, walk.storages, self.peak_index, self._facts.without_data)

    def roofline(self, device: "str | os.PathLike[str] | Hardware") -> Json:
        """An estimate of the least time on a device (`"h100"`, or a file that describes one), in
        all, by operator and by module; `how` says how it is made."""
        return estimate(self.to_json(), hardware(device))

    # -- faces ------------------------------------------------------------------------------

    def __repr__(self) -> str:
        run = f"{plain(self.model)} on {self.device}, {self.mode}"
        return f"<Report of {run}: peak {text.bytes_text(self.peak_bytes)}>"

    def __str__(self) -> str:
        return text.plain_text(self.to_json())

    def _repr_html_(self) -> str:
        return summary_html(self.to_json())

    def to_html(self) -> str:
        """A page that needs nothing else: charts, tables, search."""
        return html_page(self.to_json())

    def to_markdown(self) -> str:
        """A summary as GitHub shows it."""
        return text.markdown(self.to_json())

    def to_pandas(self, rows: str = "calls") -> Any:
        """A `DataFrame` of `rows`: `"calls"`, `"modules"`, `"operators"`, `"storages"` or
        `"alive_at_peak"`. Needs pandas, which this package does not."""
        if rows not in _TABLES:
            raise ValueError(f"to_pandas: rows: expected one of {', '.join(_TABLES)}, got {rows!r}")
        try:
            import pandas
        except ImportError:
            raise ImportError("to_pandas needs pandas: pip install pandas") from None
        return pandas.DataFrame(getattr(self, rows))

    def plot(self, axes: Any = None) -> Any:
        """Memory during each call as stacked bands, drawn by matplotlib, which this package does
        not need otherwise; gives the axes."""
        try:
            import matplotlib.pyplot as plt
        except ImportError:
            raise ImportError("plot needs matplotlib: pip install matplotlib") from None
        chosen = axes if axes is not None else plt.subplots(figsize=(10, 4))[1]
        bands = {kind: [*band, *band[-1:]] for kind, band in self.bands.items()}
        if self.calls:
            count, peak = len(self.calls), self.peak_index
            chosen.stackplot(range(count + 1), *bands.values(), labels=list(bands), step="post")
            chosen.axvline(peak + 0.5, color="black", linestyle="--", linewidth=1)
            label = f"peak {text.bytes_text(self.peak_bytes)}, call {peak} "
            side = "right" if peak > count / 2 else "left"
            chosen.annotate(label, (peak + 0.5, self.peak_bytes), ha=side, va="bottom")
        chosen.yaxis.set_major_formatter(lambda value, _: text.bytes_text(int(value)))
        chosen.set_xlabel("call")
        chosen.set_ylabel("memory")
        chosen.set_title(plain(self.model))
        chosen.legend(loc="lower right")
        return chosen

    @cached_property
    def bands(self) -> dict[str, list[int]]:
        """By kind of memory, the bytes that are there during each call."""
        count = len(self.calls)
        steps = {kind: [0] * (count + 1) for kind in KINDS}
        for storage in self._walk.storages:
            band = steps[storage.kind]
            band[max(storage.made, 0)] += storage.nbytes
            band[min(storage.freed + 1, count)] -= storage.nbytes
        return {kind: _sums(band[:count]) for kind, band in steps.items() if any(band)}

    def to_json(self) -> Json:
        """The report as one object of plain values; made once."""
        return self._json

    @cached_property
    def _json(self) -> Json:
        return {
            "model": self.model,
            "device": self.device,
            "mode": self.mode,
            "parameters": self.parameters,
            "parameter_bytes": self.parameter_bytes,
            "sizes": self.sizes,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "calls": self.calls,
            "peak_bytes": self.peak_bytes,
            "peak_index": self.peak_index,
            "alive_at_peak": self.alive_at_peak,
            "advice": self.advice,
            "flops": self.flops,
            "operators": self.operators,
            "modules": self.modules,
            "storages": self.storages,
            "unregistered": list(self.unregistered),
            "made_up_weights": self.made_up_weights,
            "made_up_inputs": self.made_up_inputs,
            "cache": dict(self.cache),
            "wall_ns": self.wall_ns,
            **({"baked": list(self._run.baked)} if self._run.baked is not None else {}),
            **(self._expressions.to_json() if self._expressions is not None else {}),
        }


_TABLES = ("calls", "modules", "operators", "storages", "alive_at_peak")
_NO_CALLS: Json = {"calls": 0, "new_bytes": 0, "output_bytes": 0, "flops": 0, "ns": None}


def _sums(steps: Iterable[int]) -> list[int]:
    total, sums = 0, []
    for step in steps:
        total += step
        sums.append(total)
    return sums


def _metas(records: Mapping[int, Record], slots: Iterable[int]) -> list[Json]:
    metas = (meta_of(records[slot]) for slot in slots if slot in records)
    return [meta for meta in metas if meta is not None]


def _call_row(call: Call) -> Json:
    step = call.step
    place = place_of_notes(step.notes)
    outputs = [meta_of(record) for record in call.records if record[1] is not ...]
    return {
        "index": call.number,
        "node": call.node,
        "op": step.op,
        "outputs": outputs,
        "live_bytes": call.live_bytes,
        "during_bytes": call.during_bytes,
        # What a branch gives, its own calls have allocated.
        "new_bytes": 0 if step.is_composed else call.new_bytes,
        "output_bytes": sum(map(_nbytes, outputs)),
        "moved_bytes": moved_bytes(call),
        "compute_dtype": compute_dtype(call),
        "flops": call_flops(call),
        "ns": call.ns,
        "module": place.module,
        "source": place.source,
    }


def _nbytes(meta: Json | None) -> int:
    """Bytes of a tensor's elements."""
    return prod(meta["shape"]) * DTYPE_BYTES.get(meta["dtype"], 0) if meta else 0


def _storage_row(storage: Storage, modules: list[str | None], may_be: str | None) -> Json:
    meta = storage.meta
    if storage.kind == "activation":
        module = modules[storage.made] if 0 <= storage.made < len(modules) else None
    else:
        owner = storage.name.removesuffix(GRAD) if storage.kind == "gradient" else storage.name
        module = owner.rpartition(".")[0] if storage.kind != "input" else ""
    return {
        "name": storage.name,
        "kind": storage.kind,
        "bytes": storage.nbytes,
        "made": storage.made,
        "last_used": storage.last_used,
        "freed": storage.freed,
        "may_be": may_be,
        "module": module,
        "shape": meta["shape"] if meta else None,
        "dtype": meta["dtype"] if meta else None,
    }
