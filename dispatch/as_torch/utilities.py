"""Small helpers of `torch.utils` and `torch._utils` that programs and tests import.

Counters of calls (`_stats`), sets that keep their order, values worked out when asked for
(`_thunk`), modules that may be missing (`try_import`).
"""

import functools
import importlib.util
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, MutableSet
from typing import Any, TypeVar

import dispatch

__all__ = [
    "OrderedSet", "Thunk", "_rebuild_tensor", "cache_method", "count",
    "count_label", "dill_available", "has_helion", "has_triton", "has_triton_package",
    "import_dill", "is_fbcode", "not_none", "simple_call_counter", "try_import",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

simple_call_counter: OrderedDict[str, int] = OrderedDict()


def count_label(label: str) -> None:
    """One more under this name in `simple_call_counter`."""
    simple_call_counter[label] = simple_call_counter.get(label, 0) + 1


def count(fn: F) -> F:
    """A decorator: calls are counted under the function's name."""

    @functools.wraps(fn)
    def run(*args: Any, **kwargs: Any) -> Any:
        count_label(fn.__qualname__)
        return fn(*args, **kwargs)

    return run  # type: ignore[return-value]


class Thunk:
    """A value that is worked out once, when it is asked for; the function is let go then."""

    __slots__ = ("f", "r")

    def __init__(self, f: Callable[[], Any]) -> None:
        self.f: Callable[[], Any] | None = f
        self.r: Any = None

    def force(self) -> Any:
        """The value."""
        if self.f is not None:
            self.r, self.f = self.f(), None
        return self.r


class OrderedSet(MutableSet[Any]):
    """A set that is gone through in the order in which its elements came."""

    __slots__ = ("_dict",)

    def __init__(self, iterable: Iterable[Any] | None = None) -> None:
        self._dict: dict[Any, None] = dict.fromkeys(iterable or ())

    def __contains__(self, elem: object) -> bool:
        return elem in self._dict

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dict)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self._dict)

    def __len__(self) -> int:
        return len(self._dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)})" if self else f"{type(self).__name__}()"

    def add(self, elem: Any) -> None:
        """Put an element last, if it is not in."""
        self._dict[elem] = None

    def discard(self, elem: Any) -> None:
        """Take an element out, if it is in."""
        self._dict.pop(elem, None)

    def copy(self) -> "OrderedSet":
        """A set of the same elements."""
        return OrderedSet(self)

    def update(self, *others: Iterable[Any]) -> None:
        """Put the elements of others in."""
        for other in others:
            self._dict.update(dict.fromkeys(other))

    def union(self, *others: Iterable[Any]) -> "OrderedSet":
        """Its elements and those of others."""
        found = self.copy()
        found.update(*others)
        return found

    def intersection(self, *others: Iterable[Any]) -> "OrderedSet":
        """Its elements that all others have."""
        kept = [set(other) for other in others]
        return OrderedSet(e for e in self if all(e in other for other in kept))

    def difference(self, *others: Iterable[Any]) -> "OrderedSet":
        """Its elements that no other has."""
        dropped = set().union(*others)
        return OrderedSet(e for e in self if e not in dropped)

    def issubset(self, other: Iterable[Any]) -> bool:
        """Whether the other has all its elements."""
        return self <= OrderedSet(other)

    def issuperset(self, other: Iterable[Any]) -> bool:
        """Whether it has all elements of the other."""
        return self >= OrderedSet(other)


def not_none(obj: T | None) -> T:
    """The object; TypeError for None."""
    if obj is None:
        raise TypeError("not_none: expected a value, got None")
    return obj


def cache_method(fn: F) -> F:
    """A decorator: a method's results are kept on the object, by its arguments."""
    place = f"_cache_method_{fn.__name__}"

    @functools.wraps(fn)
    def run(self: Any, *args: Any) -> Any:
        kept = self.__dict__.setdefault(place, {})
        if args not in kept:
            kept[args] = fn(self, *args)
        return kept[args]

    return run  # type: ignore[return-value]


# ---- modules


def try_import(module_name: str) -> types.ModuleType | None:
    """The module, or None if it is not installed."""
    if module_name not in sys.modules and importlib.util.find_spec(module_name) is None:
        return None
    return importlib.import_module(module_name)


def dill_available() -> bool:
    """Whether `dill` is installed."""
    return importlib.util.find_spec("dill") is not None


def import_dill() -> types.ModuleType | None:
    """The module `dill`, or None."""
    return try_import("dill")


def is_fbcode() -> bool:
    """False: a build of PyTorch's house."""
    return False


has_helion = has_triton = has_triton_package = is_fbcode


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> dispatch.Tensor:
    """A tensor of this geometry over a typed storage."""
    t = dispatch.empty((0,), dtype=storage.dtype, device=storage.device)
    return t.set_(storage.untyped(), storage_offset, size, stride)
