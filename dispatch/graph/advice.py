"""What would lower a run's peak: each idea with the peak that it would lead to.

`Report` hands over the calls and storages that `memory` found. An idea changes how long storages
live, or which calls need a new one; the new peak is that of the changed sums, so that an idea that
only moves the peak to the next call says so by its figure. Ideas that save hardly anything are left
out.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import Any

import dispatch
from dispatch.graph.memory import BEFORE, Call, Storage, meta_of
from dispatch.graph.plan import Slot

__all__ = ["ideas"]

Json = dict[str, Any]
_WORTHWHILE = 0.01  # of the peak


def ideas(
    calls: Sequence[Call],
    storages: Sequence[Storage],
    peak_index: int,
    without_data: frozenset[str] = frozenset(),
) -> list[Json]:
    """Rows of `what`, `saved_bytes` and the `peak_bytes` that would be left, best first.

    `without_data`: weights that may be tied, as far as the file says."""
    if not calls:
        return []
    during = [call.during_bytes for call in calls]
    found = []
    early = _early(storages, len(calls), without_data)
    for what, saved in (_in_place(calls, storages, peak_index), *early):
        left = max(a - b for a, b in zip(during, saved, strict=True))
        if max(during) - left >= _WORTHWHILE * max(during):
            found.append({"what": what, "saved_bytes": max(during) - left, "peak_bytes": left})
    return sorted(found, key=lambda row: row["peak_bytes"])


# -- in place -----------------------------------------------------------------------------------


def _in_place(
    calls: Sequence[Call], storages: Sequence[Storage], peak_index: int
) -> tuple[str, list[int]]:
    """Calls that could write over their first argument, which nobody needs afterwards."""
    made: dict[int, list[Storage]] = {}
    for storage in storages:
        if storage.made != BEFORE:
            made.setdefault(storage.made, []).append(storage)
    saved = [0] * len(calls)
    names: dict[str, int] = {}
    for call in calls:
        new = made.get(call.number, [])
        if len(new) == 1 and _fits(call, new[0]) and _has_in_place(call):
            saved[call.number] = new[0].nbytes
            names[call.step.op] = names.get(call.step.op, 0) + 1
    count = sum(1 for n in saved if n)
    most = ", ".join(sorted(names, key=lambda op: -names[op])[:3])
    at_peak = "; the one at the peak is one of them" if saved[peak_index] else ""
    plural = "s" if count != 1 else ""
    return f"write in place in {count} call{plural} ({most}{at_peak})", saved


def _fits(call: Call, new: Storage) -> bool:
    """Whether the first argument dies here, and is what the result is in shape and type."""
    old, argument = call.first, call.step.args[0] if call.step.args else None
    return (
        old is not None
        and isinstance(argument, Slot)
        and old.kind == "activation"
        and old.freed == call.number
        and old.nbytes == new.nbytes
        and meta_of(call.values[argument.number]) == meta_of(call.records[0])
    )


def _has_in_place(call: Call) -> bool:
    """Whether the operator has an in-place form that would take the same arguments."""
    op = call.step.callee
    if not isinstance(op, dispatch.OpOverload):
        return False
    space, _, name = op._schema.name.partition("::")
    packet = getattr(getattr(dispatch.ops, space), f"{name}_", None)
    return getattr(packet, op._overloadname, None) is not None


# -- earlier ------------------------------------------------------------------------------------


def _early(
    storages: Sequence[Storage], count: int, without_data: frozenset[str]
) -> Iterable[tuple[str, list[int]]]:
    """What is held although no call needs it any more."""
    kinds: tuple[tuple[str, Callable[[Storage], bool]], ...] = (
        (
            "leave out {n} weight{s} that no call uses ({names})",
            lambda s: s.kind != "input" and s.last_used == BEFORE,
        ),
        (
            "free {n} input{s} after the last use ({names})",
            lambda s: s.kind == "input",
        ),
        (
            "free or move away each weight after its last use ({names})",
            lambda s: s.kind in ("parameter", "buffer", "constant") and s.last_used != BEFORE,
        ),
    )
    for text, chosen in kinds:
        idle = [s for s in storages if s.made == BEFORE and s.last_used < count and chosen(s)]
        if idle:
            idle.sort(key=lambda s: -s.nbytes)
            names = ", ".join(s.name for s in idle[:3]) + (", ..." if len(idle) > 3 else "")
            names += _tied(idle, storages, without_data)
            what = text.format(n=len(idle), s="s" if len(idle) != 1 else "", names=names)
            yield what, _after_last_use(idle, count)


def _tied(
    idle: Iterable[Storage], storages: Iterable[Storage], without_data: frozenset[str]
) -> str:
    """That an unused weight may be another name of a used one, where the file cannot say."""
    other_names = possible_ties(storages, without_data)
    for storage in idle:
        if storage.name in other_names:
            return (
                f"; the file has no data, so {storage.name} may be tied to "
                f"{other_names[storage.name]}: then nothing is saved"
            )
    return ""


def possible_ties(storages: Iterable[Storage], without_data: frozenset[str]) -> dict[str, str]:
    """By the name of a weight that no call uses, a used one that may be the same memory.

    Both are of one kind, dtype and size, and the file has data of neither to compare.
    """
    used: dict[tuple[Any, ...], str] = {}
    open_ones = [s for s in storages if s.meta is not None and s.name in without_data]
    for storage in open_ones:
        if storage.last_used != BEFORE:
            used.setdefault(_size_of(storage), storage.name)
    unused = ((s.name, used.get(_size_of(s))) for s in open_ones if s.last_used == BEFORE)
    return {name: other for name, other in unused if other is not None}


def _size_of(storage: Storage) -> tuple[Any, ...]:
    """The same for tensors that may be one, transposed or not."""
    assert storage.meta is not None
    return (storage.kind, storage.meta["dtype"], *sorted(storage.meta["shape"]))


def _after_last_use(idle: Iterable[Storage], count: int) -> list[int]:
    """By call, the bytes of what was used for the last time before it."""
    steps = [0] * (count + 1)
    for storage in idle:
        steps[storage.last_used + 1] += storage.nbytes
    return list(accumulate(steps[:count]))
