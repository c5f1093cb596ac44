"""What memory a run needs, and what is in it: the log of a run -> calls and storages.

`Walk` reads a `RunLog` once (a symbolic one with `numbers` for its expressions). A storage (not a
tensor: views add nothing) lives while an input,
parameter or constant stands on it, or a value that a later call or the output needs. While a call
runs, its inputs and its outputs are there together, so that the peak is reached during a call.
Invariant: the bytes that a call's `during_bytes` counts are those of the storages whose life
(`made` to `freed`, both included) holds the call.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from dispatch.graph.executor import RunLog
from dispatch.graph.plan import Const, Items, Plan, Slot, Step

__all__ = [
    "BEFORE",
    "GRAD",
    "KINDS",
    "Call",
    "InputFact",
    "Record",
    "Storage",
    "Walk",
    "dtype_of",
    "is_tensor",
    "meta_of",
    "sizes_of",
    "strides_of",
    "tensors_of",
    "value_of",
]

Record = tuple[Any, ...]
Json = dict[str, Any]
BEFORE = -1  # the number of the call that made what was there at the start
GRAD = ".grad"  # after the name of what a gradient is of
KINDS = ("parameter", "buffer", "constant", "input", "gradient", "activation")
_SLOT, _STORAGE, _BYTES, _DTYPE, _DEVICE, _OFFSET, _SIZES, _STRIDES = range(8)


class InputFact(NamedTuple):
    """One of the graph's inputs: its kind (of `KINDS`), and the name that people know."""

    kind: str
    name: str


class Storage:
    """Memory that was there for a while. `made`: the call that allocated it (`BEFORE`: it was
    there); `last_used`: the last call that took it (`BEFORE`: none); `freed`: the last call during
    which it is there (the number of calls: until the end)."""

    __slots__ = ("freed", "kind", "last_used", "made", "meta", "name", "nbytes", "users")

    def __init__(self, kind: str, name: str, nbytes: int, made: int, meta: Json | None) -> None:
        self.kind = kind
        self.name = name
        self.nbytes = nbytes
        self.made = made
        self.meta = meta
        self.last_used = BEFORE
        self.freed = BEFORE
        self.users = 0

    def is_alive(self, index: int) -> bool:
        """Whether it is there while call number `index` runs."""
        return self.made <= index <= self.freed


class Call(NamedTuple):
    """One call as it was made; `records` are the leaves of its result, `values` the records of its
    graph's values by slot, `first` the storage of its first argument. In a branch that ran once
    for all rows of tensors, `rounds` has their numbers."""

    number: int
    node: str
    step: Step
    records: list[Record]
    values: Mapping[int, Record]
    live_bytes: int
    during_bytes: int
    new_bytes: int
    ns: int | None
    first: Storage | None
    rounds: tuple[int, ...]


def is_tensor(record: Record) -> bool:
    return len(record) > 2


def sizes_of(record: Record) -> tuple[int, ...]:
    """The sizes of a record that is a tensor's."""
    sizes: tuple[int, ...] = record[_SIZES]
    return sizes


def strides_of(record: Record) -> tuple[int, ...]:
    """The strides of a record that is a tensor's."""
    strides: tuple[int, ...] = record[_STRIDES]
    return strides


def dtype_of(record: Record) -> str:
    """The dtype of a record that is a tensor's, by name."""
    return str(record[_DTYPE])


def tensors_of(call: Call) -> list[Record]:
    """The tensors that a call takes, each once, in order."""
    slots = dict.fromkeys(slot for ref in call.step.args for slot in _slots(ref))
    records = (call.values.get(slot, ()) for slot in slots)
    return [record for record in records if is_tensor(record)]


def _slots(ref: Any) -> Iterator[int]:
    if isinstance(ref, Slot):
        yield ref.number
    elif isinstance(ref, Items):
        for item in ref.refs:
            yield from _slots(item)


def meta_of(record: Record) -> Json | None:
    """The report's META of a tensor; None for None."""
    if not is_tensor(record):
        return None
    return {
        "shape": list(record[_SIZES]),
        "dtype": record[_DTYPE],
        "stride": list(record[_STRIDES]),
        "storage_offset": record[_OFFSET],
        "device": record[_DEVICE],
    }


def value_of(ref: Any, values: Mapping[int, Record]) -> Any:
    """An argument as a formula wants it: a tensor's shape, a list of them, or a constant."""
    if isinstance(ref, Slot):
        record = values.get(ref.number, ())
        return record[_SIZES] if is_tensor(record) else None
    if isinstance(ref, Items):
        return [value_of(item, values) for item in ref.refs]
    return ref.value if isinstance(ref, Const) else None


class _Scope:
    """A graph that is running: its values' records and storages by slot. `finished` are storages
    of a branch that has ended, of which its cond may give some out; `own`, slots of operands that
    were made for this graph."""

    def __init__(self, plan: Plan, rounds: tuple[int, ...] = ()) -> None:
        self.plan = plan
        self.rounds = rounds
        self.records: dict[int, Record] = {}
        self.held: dict[int, Storage] = {}
        self.own: set[int] = set()
        self.finished: list[Storage] = []


class Walk:
    """A run's calls and storages, in order.

    `moves`: (bytes, 1 or -1) as they came and went; `marks`: by call, how many moves there were
    before it made anything, while it ran, and after it. `gradients`: names of what they are of, by
    slot.
    """

    def __init__(
        self,
        log: RunLog,
        inputs: tuple[InputFact, ...],
        gradients: Mapping[int, str],
        numbers: dict[int, Any] | None = None,
    ) -> None:
        self.storages: list[Storage] = []
        self.records: Mapping[int, Record] = {}
        self.moves: list[tuple[int, int]] = []
        self.marks: list[tuple[int, int, int]] = []
        self._inputs = inputs
        self._fake = log.fake
        self._total = 0  # what is alive just now
        self._new = 0
        # Addresses recur only after a storage has died, and by then no value stands on it, so that
        # an address names one storage at any one time.
        self._alive: dict[int, Storage] = {}
        self._addresses: dict[Storage, int] = {}
        self._scopes: list[_Scope] = []
        self.calls = list(self._walk(log.events(numbers)))
        for storage in self._alive.values():
            storage.freed = len(self.calls)
        for scope in self._scopes[:1]:
            for ref in scope.plan.outputs:
                self._use(scope, ref, len(self.calls))
            for slot, owner in gradients.items():
                given = scope.held.get(slot)
                if given is not None and given.kind == "activation":
                    given.kind, given.name = "gradient", f"{owner}{GRAD}"

    def _walk(self, events: Iterable[Any]) -> Iterator[Call]:
        index = 0
        for kind, plan, *rest in events:
            if kind == "exit":
                self._leave(index)
            elif kind == "enter":
                scope = self._scopes[-1]
                self._release(scope.finished, index - 1)
                scope.finished.clear()
                self._scopes.append(_Scope(plan, scope.rounds + self._rounds(scope, plan)))
            elif rest[0] < 0:
                self._begin(plan, rest[2], index)
            else:
                step, ns, records = rest
                yield self._call(index, plan.steps[step], step, records, ns)
                index += 1

    def _rounds(self, scope: _Scope, branch: Plan) -> tuple[int, ...]:
        """The number of rows for all of which a branch runs once."""
        steps = (step for step in scope.plan.steps if any(b is branch for b in step.branches))
        rows = next(steps).rows if self._fake else None
        if not isinstance(rows, Items) or not isinstance(rows.refs[0], Slot):
            return ()
        return sizes_of(scope.records[rows.refs[0].number])[:1]

    def _begin(self, plan: Plan, records: list[Record], index: int) -> None:
        """The inputs of the graph, or of a branch that begins before call `index`."""
        if not self._scopes:
            self._scopes.append(_Scope(plan))
            self.records = self._scopes[0].records
        scope = self._scopes[-1]
        given_out = {ref.number for ref in plan.outputs if isinstance(ref, Slot)}
        for record in records:
            slot = record[_SLOT]
            scope.records[slot] = record
            if not is_tensor(record):
                continue
            if len(self._scopes) == 1:
                kind, name = self._inputs[slot]
                scope.held[slot] = self._hold(record, kind, name, BEFORE)
                continue
            if record[_STORAGE] not in self._alive and slot not in given_out:
                scope.own.add(slot)
            name = f"{plan.name}.{plan.slot_names[slot]}"
            scope.held[slot] = self._hold(record, "activation", name, index)

    def _leave(self, index: int) -> None:
        """What was made for the branch dies; another may then be at its address."""
        scope = self._scopes.pop()
        self._release([scope.held.pop(slot) for slot in scope.own], index - 1)
        self._scopes[-1].finished.extend(scope.held.values())

    def _call(
        self, index: int, step: Step, number: int, records: list[Record], ns: int | None
    ) -> Call:
        scope = self._scopes[-1]
        for ref in step.args:
            self._use(scope, ref, index)
        head = step.args[0] if step.args else None
        first = scope.held.get(head.number) if isinstance(head, Slot) else None
        self._new = 0
        before = len(self.moves)
        passing = [*scope.finished]
        scope.finished.clear()
        for record in records:
            slot = record[_SLOT]
            scope.records[slot] = record
            if is_tensor(record):
                name = scope.plan.slot_names[slot] if slot >= 0 else step.node
                storage = self._hold(record, "activation", name, index)
                if slot >= 0 and scope.plan.last_use[slot] > number:
                    scope.held[slot] = storage
                else:
                    passing.append(storage)
        during, made = self._total, len(self.moves)
        passing += [scope.held.pop(slot) for slot in step.frees if slot in scope.held]
        self._release(passing, index)
        self.marks.append((before, made, len(self.moves)))
        prefix = "".join(f"{inner.plan.name}." for inner in self._scopes[1:])
        return Call(
            index, prefix + step.node, step, records, scope.records, self._total, during,
            self._new, ns, first, scope.rounds,
        )  # fmt: skip

    def _use(self, scope: _Scope, ref: Any, index: int) -> None:
        if isinstance(ref, Slot):
            storage = scope.held.get(ref.number)
            if storage is not None:
                storage.last_used = index
        elif isinstance(ref, Items):
            for item in ref.refs:
                self._use(scope, item, index)

    def _hold(self, record: Record, kind: str, name: str, made: int) -> Storage:
        """The storage under a value, with one more user."""
        address, nbytes = record[_STORAGE], record[_BYTES]
        storage = self._alive.get(address)
        if storage is None:
            storage = self._alive[address] = Storage(kind, name, 0, made, meta_of(record))
            self._addresses[storage] = address
            self.storages.append(storage)
        # One that an operator resizes is as large as it came to be.
        if nbytes > storage.nbytes:
            grown = nbytes - storage.nbytes
            self.moves += [(storage.nbytes, -1)] * bool(storage.nbytes) + [(nbytes, 1)]
            storage.nbytes = nbytes
            self._new += grown
            self._total += grown
        storage.users += 1
        return storage

    def _release(self, storages: Iterable[Storage], index: int) -> None:
        for storage in storages:
            storage.users -= 1
            if not storage.users:
                del self._alive[self._addresses.pop(storage)]
                storage.freed = index
                self._total -= storage.nbytes
                self.moves.append((storage.nbytes, -1))
