"""What a run did: shapes, live memory, operations, cache use, worked out when asked for.

A run hands over its `RunLog` and nothing else is kept; `Report.to_json` reads the log once. Live
memory is that of storages, not tensors: a storage lives while an input, parameter or constant
stands on it, or a value that a later call or the output needs.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from dispatch.graph.errors import plain
from dispatch.graph.executor import RunLog
from dispatch.graph.plan import Const, Items, Plan, Slot, Step
from dispatch.tools.formulas import FlopCall, count_flops, has_formula

__all__ = ["ModelFacts", "Report"]

Record = tuple[Any, ...]
Json = dict[str, Any]
_SLOT, _STORAGE, _BYTES, _DTYPE, _DEVICE, _OFFSET, _SIZES, _STRIDES = range(8)


class ModelFacts(NamedTuple):
    """What a report says of the model itself; tied parameters count once, slots are the user's."""

    model: str
    parameters: int
    parameter_bytes: int
    input_slots: tuple[int, ...]
    output_slots: tuple[int, ...]


def _is_tensor(record: Record) -> bool:
    return len(record) > 2


def _meta(record: Record) -> Json | None:
    """The report's META of a tensor; None for None."""
    if not _is_tensor(record):
        return None
    return {
        "shape": list(record[_SIZES]),
        "dtype": record[_DTYPE],
        "stride": list(record[_STRIDES]),
        "storage_offset": record[_OFFSET],
        "device": record[_DEVICE],
    }


class _LiveStorages:
    """Bytes of the storages under the values that are still needed. Addresses recur only after a
    storage has died, and by then no value stands on it, so an address names one storage at any one
    time."""

    def __init__(self) -> None:
        self.total = 0
        self._users: dict[int, int] = {}
        self._bytes: dict[int, int] = {}

    def add(self, storage: int, nbytes: int) -> None:
        users = self._users.get(storage, 0)
        self.total += nbytes - (self._bytes[storage] if users else 0)
        self._users[storage] = users + 1
        self._bytes[storage] = nbytes

    def drop(self, storage: int) -> None:
        self._users[storage] -= 1
        if not self._users[storage]:
            self.total -= self._bytes[storage]


class _Scope:
    """A graph that is running: its values' records by slot, and the storages that it holds."""

    def __init__(self, plan: Plan, live: _LiveStorages) -> None:
        self.plan = plan
        self.live = live
        self.records: dict[int, Record] = {}
        self._held: dict[int, int] = {}

    def define(self, record: Record, step: int) -> None:
        slot = record[_SLOT]
        self.records[slot] = record
        if slot >= 0 and _is_tensor(record) and self.plan.last_use[slot] > step:
            self._held[slot] = record[_STORAGE]
            self.live.add(record[_STORAGE], record[_BYTES])

    def free(self, slots: Iterable[int]) -> None:
        for slot in slots:
            if slot in self._held:
                self.live.drop(self._held.pop(slot))

    def close(self) -> None:
        self.free(list(self._held))


class Report:
    """The result of `GraphModule.run`; `to_json()` is the object that `dispatch inspect --json`
    writes."""

    def __init__(
        self,
        facts: ModelFacts,
        log: RunLog,
        device: str,
        mode: str,
        cache: Mapping[str, Any],
        wall_ns: int,
    ) -> None:
        self._facts = facts
        self._log = log
        self._cache = cache
        self.device = device
        self.mode = mode
        self.wall_ns = wall_ns

    def __repr__(self) -> str:
        run = f"{plain(self._facts.model)} on {self.device}, {self.mode}"
        return f"<Report of {run}: {self.wall_ns / 1e6:.2f} ms>"

    @cached_property
    def calls(self) -> list[Json]:
        """Every operator call in order."""
        return self._walked[0]

    @cached_property
    def _walked(self) -> tuple[list[Json], dict[int, Record]]:
        live = _LiveStorages()
        scopes: list[_Scope] = []
        calls = list(self._walk(live, scopes))
        return calls, scopes[0].records if scopes else {}

    def _walk(self, live: _LiveStorages, scopes: list[_Scope]) -> Iterator[Json]:
        index = 0
        for kind, plan, *rest in self._log.events():
            if kind == "exit":
                scopes.pop().close()
            elif kind == "enter" or (rest[0] < 0 and not scopes):
                scopes.append(_Scope(plan, live))
            if kind == "call":
                step_number, ns, records = rest
                for record in records:
                    scopes[-1].define(record, step_number)
                if step_number >= 0:
                    yield self._call(index, scopes, plan.steps[step_number], records, ns)
                    index += 1

    def _call(
        self, index: int, scopes: list[_Scope], step: Step, records: list[Record], ns: int | None
    ) -> Json:
        scopes[-1].free(step.frees)
        outputs = [_meta(r) for r in records if r[1] is not ...]
        prefix = "".join(f"{scope.plan.name}." for scope in scopes[1:])
        return {
            "index": index,
            "node": prefix + step.node,
            "op": step.op,
            "outputs": outputs,
            "live_bytes": scopes[-1].live.total,
            "flops": _flops(step, scopes[-1].records, records) if has_formula(step.op) else 0,
            "ns": ns,
        }

    def to_json(self) -> Json:
        """The report as one object of plain values; made once."""
        return self._json

    @cached_property
    def _json(self) -> Json:
        facts = self._facts
        calls, records = self._walked
        peak = max(calls, key=lambda c: (c["live_bytes"], -c["index"]), default=None)
        return {
            "model": facts.model,
            "device": self.device,
            "mode": self.mode,
            "parameters": facts.parameters,
            "parameter_bytes": facts.parameter_bytes,
            "inputs": _metas(records, facts.input_slots),
            "outputs": _metas(records, facts.output_slots),
            "calls": calls,
            "peak_bytes": peak["live_bytes"] if peak else 0,
            "peak_index": peak["index"] if peak else -1,
            "flops": sum(c["flops"] for c in calls),
            "cache": dict(self._cache),
            "wall_ns": self.wall_ns,
        }


def _metas(records: Mapping[int, Record], slots: Iterable[int]) -> list[Json]:
    metas = (_meta(records[slot]) for slot in slots if slot in records)
    return [meta for meta in metas if meta is not None]


def _flops(step: Step, values: Mapping[int, Record], results: list[Record]) -> int:
    schema = getattr(step.callee, "_schema", None)
    if schema is None:
        return 0
    n_positional = len(step.args) - len(step.kwnames)
    names = [a.name for a in schema.arguments][:n_positional] + list(step.kwnames)
    args = {name: _shape_or_value(ref, values) for name, ref in zip(names, step.args, strict=True)}
    # What was left out has the schema's default; formulas tell variants apart by what there is.
    for argument in schema.arguments:
        args.setdefault(argument.name, None)
    shapes = [r[_SIZES] for r in results if _is_tensor(r)]
    return count_flops(step.op, FlopCall(args, shapes))


def _shape_or_value(ref: Any, values: Mapping[int, Record]) -> Any:
    if isinstance(ref, Slot):
        record = values.get(ref.number, ())
        return record[_SIZES] if _is_tensor(record) else None
    if isinstance(ref, Items):
        return [_shape_or_value(item, values) for item in ref.refs]
    return ref.value if isinstance(ref, Const) else None
