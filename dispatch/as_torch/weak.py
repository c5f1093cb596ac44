"""`torch.utils.weak`: weak references that compare what they refer to by identity.

`WeakIdKeyDictionary` drops an entry when its key dies. Keys are tensors in the first place, which
do not compare as one thing; `weakref.WeakKeyDictionary` asks keys for `==` and does all but that.
"""

import copy
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import Any

from dispatch import Tensor

__all__ = [
    "TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary", "_WeakHashRef",
]  # fmt: skip

_Dict = dict  # the argument of `__init__` has its name


class _MarkedRef(weakref.ref[Any]):
    """A weak reference that equals another when what both refer to has one mark."""

    __slots__ = ("_marked",)

    @staticmethod
    def _mark(key: Any) -> int:
        return hash(key)

    def __init__(self, key: Any, callback: Callable[[Any], object] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._marked = self._mark(key)

    def __hash__(self) -> int:
        return self._marked

    def __eq__(self, other: object) -> bool:
        mine = self()
        theirs = other() if isinstance(other, weakref.ref) else None
        if mine is None or theirs is None:
            return self is other
        return self._mark(mine) == self._mark(theirs)

    def __ne__(self, other: object) -> bool:
        return not self == other


class _WeakHashRef(_MarkedRef):
    """A weak reference that equals another when what they refer to has the same hash."""

    __slots__ = ()


class WeakIdRef(_MarkedRef):
    """A weak reference that equals another when both refer to one living object.

    Args: key, the object; callback, called with the reference when the object dies.
    """

    __slots__ = ()

    @staticmethod
    def _mark(key: Any) -> int:
        return id(key)


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are weak and compared by identity.

    Args: dict, what it holds at first; ref_type, the class of its references (`WeakIdRef`).
    """

    def __init__(
        self,
        dict: Mapping[Any, Any] | Iterable[tuple[Any, Any]] | None = None,
        ref_type: type = WeakIdRef,
    ) -> None:
        self.data: _Dict[Any, Any] = {}
        self.ref_type = ref_type
        myself = weakref.ref(self)

        def remove(reference: Any) -> None:
            living = myself()
            if living is not None:
                living.data.pop(reference, None)

        self._remove = remove
        if dict is not None:
            self.update(dict)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._remove)] = value

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: object) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:
            return False

    def items(self) -> Iterator[tuple[Any, Any]]:  # type: ignore[override]
        """The entries whose keys live."""
        # a copy, for an entry may go whenever Python collects what is in a cycle
        for reference, value in self.data.copy().items():
            key = reference()
            if key is not None:
                yield key, value

    def keys(self) -> Iterator[Any]:  # type: ignore[override]
        """The keys that live."""
        for key, _ in self.items():
            yield key

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """The values whose keys live."""
        for _, value in self.items():
            yield value

    __iter__ = keys

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def __len__(self) -> int:
        return len(self.data)

    def keyrefs(self) -> list[Any]:
        """The references, of which some may refer to nothing any more."""
        return list(self.data)

    def copy(self) -> "WeakIdKeyDictionary":
        """Another one with the same entries."""
        return type(self)(self, self.ref_type)

    __copy__ = copy

    def __deepcopy__(self, memo: _Dict[int, Any]) -> "WeakIdKeyDictionary":
        return type(self)({k: copy.deepcopy(v, memo) for k, v in self.items()}, self.ref_type)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        """What stands at the key, which is `default` from now on if there was nothing."""
        return self.data.setdefault(self.ref_type(key, self._remove), default)

    def update(self, dict: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        """Set the entries of a mapping or of pairs: all of them, or none when one is wrong."""
        new = {} if dict is None else dict if hasattr(dict, "items") else _Dict(dict)
        pairs = (*new.items(), *kwargs.items())
        self.data.update({self.ref_type(key, self._remove): value for key, value in pairs})

    def __or__(self, other: Any) -> "WeakIdKeyDictionary":
        if not isinstance(other, Mapping):
            return NotImplemented
        found = self.copy()
        found.update(other)
        return found

    def __ror__(self, other: Any) -> "WeakIdKeyDictionary":
        if not isinstance(other, Mapping):
            return NotImplemented
        found = type(self)(other, self.ref_type)
        found.update(self)
        return found

    def __ior__(self, other: Any) -> "WeakIdKeyDictionary":
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        mine, theirs = ({id(key): value for key, value in m.items()} for m in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor; called, it gives the tensor or None."""

    __slots__ = ("ref",)

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"TensorWeakRef: expected a tensor, got {type(tensor).__name__}")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()
