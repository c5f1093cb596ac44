"""Live and peak bytes of a program, by storage.

`MemoryTrackerMode` meets the storages of arguments and results; views share one, so it counts
once, from the first call that shows it until it is freed. Categories are the program's: what
`category(name)` blocks make is of that name, and `track` names tensors that exist already.
"""

from __future__ import annotations

import contextlib
import weakref
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dispatch import pytree
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tensor import Tensor

__all__ = ["MemoryRecord", "MemorySnapshot", "MemoryTrackerMode"]


@dataclass(frozen=True)
class MemoryRecord:
    """One call: the operator, bytes that it made, live bytes after it, all in bytes."""

    op: str
    allocated: int
    live: int


@dataclass(frozen=True)
class MemorySnapshot:
    """Live bytes: all, by device ("cpu") and by category."""

    live: int
    by_device: dict[str, int]
    by_category: dict[str, int]


@dataclass
class _Known:
    nbytes: int
    device: str
    category: str
    reference: Any


class MemoryTrackerMode(TorchDispatchMode):
    """Follows the storages that the operators of its block take and make.

    After the block, `peak_bytes`, `peak_snapshot`, `records` and `high_water` (by operator, the
    most live bytes right after one of its calls) stay as they are; storages that die later are
    still taken off `live_bytes`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._storages: dict[int, _Known] = {}
        self._categories: list[str] = []
        self.live_bytes = 0
        self.peak_bytes = 0
        self.peak_snapshot = MemorySnapshot(0, {}, {})
        self.records: list[MemoryRecord] = []
        self.high_water: dict[str, int] = {}

    def track(self, *values: Any, category: str = "input") -> None:
        """Count tensors that exist already (in nests of lists, tuples and dicts) as `category`."""
        for value in values:
            for tensor in _tensors(value):
                self._meet(tensor, category)
        self._note_peak()

    @contextlib.contextmanager
    def category(self, name: str) -> Iterator[None]:
        """Storages that the block makes are of this category."""
        self._categories.append(name)
        try:
            yield
        finally:
            self._categories.pop()

    def snapshot(self) -> MemorySnapshot:
        """What is alive now."""
        by_device: dict[str, int] = defaultdict(int)
        by_category: dict[str, int] = defaultdict(int)
        for known in self._storages.values():
            by_device[known.device] += known.nbytes
            by_category[known.category] += known.nbytes
        return MemorySnapshot(self.live_bytes, dict(by_device), dict(by_category))

    def reset_peak(self) -> None:
        """Start peak, records and high-water marks anew; what is alive stays counted."""
        self.records.clear()
        self.high_water.clear()
        self.peak_bytes = 0
        self._note_peak()

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        for tensor in _tensors((args, kwargs)):
            self._meet(tensor, "input")
        out = func(*args, **kwargs)
        category = self._categories[-1] if self._categories else "result"
        made = sum(self._meet(tensor, category) for tensor in _tensors(out))
        for tensor in _tensors((args, kwargs)):
            made += self._meet(tensor, category)  # resized in place, or moved to another storage
        name = func.name()
        self.records.append(MemoryRecord(name, made, self.live_bytes))
        self.high_water[name] = max(self.high_water.get(name, 0), self.live_bytes)
        self._note_peak()
        return out

    def _meet(self, tensor: Tensor, category: str) -> int:
        """Count the tensor's storage unless it is known; the bytes that are new."""
        storage = tensor.untyped_storage()
        key, nbytes = id(storage), storage.nbytes()
        known = self._storages.get(key)
        if known is not None:
            grown, known.nbytes = nbytes - known.nbytes, nbytes
            self.live_bytes += grown
            return max(grown, 0)
        reference = weakref.ref(storage, lambda _: self._forget(key))
        self._storages[key] = _Known(nbytes, str(tensor.device), category, reference)
        self.live_bytes += nbytes
        return nbytes

    def _forget(self, key: int) -> None:
        known = self._storages.pop(key, None)
        if known is not None:
            self.live_bytes -= known.nbytes

    def _note_peak(self) -> None:
        if self.live_bytes >= self.peak_bytes:
            self.peak_bytes = self.live_bytes
            self.peak_snapshot = self.snapshot()


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]
