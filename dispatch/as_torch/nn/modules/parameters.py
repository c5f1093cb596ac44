"""`torch.nn.ParameterList` and `ParameterDict`: parameters by number and by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import dispatch
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


def _kept(value: Any) -> Any:
    """Tensors are parameters; anything else is kept as it is."""
    is_plain = isinstance(value, dispatch.Tensor) and not isinstance(value, Parameter)
    return Parameter(value) if is_plain else value


def _line(key: str, value: Any, type_of: Callable[[Any], Any]) -> str:
    if not isinstance(value, dispatch.Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    sizes = "x".join(map(str, value.shape))
    return f"  ({key}): {kind} containing: [{type_of(value)} of size {sizes}]"


class ParameterList(Module):
    """A list whose tensors are parameters of the module."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        object.__setattr__(self, "_size", 0)
        self.extend(values or ())

    def _key(self, index: Any) -> str:
        index = index.__index__()
        if not -self._size <= index < self._size:
            raise IndexError(f"index {index} is out of range")
        return str(index % self._size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(self[i] for i in range(*index.indices(self._size)))
        return getattr(self, self._key(index))

    def __setitem__(self, index: Any, value: Any) -> None:
        setattr(self, self._key(index), _kept(value))

    def __len__(self) -> int:
        return int(self._size)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(self._size))

    def append(self, value: Any) -> "ParameterList":
        """Add a value behind the last."""
        object.__setattr__(self, "_size", self._size + 1)
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> "ParameterList":
        """Add several; TypeError for what is no container of values."""
        if not isinstance(values, Iterable) or isinstance(values, dispatch.Tensor):
            raise TypeError(f"ParameterList.extend: expected values, got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    __iadd__ = extend

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]

    def extra_repr(self) -> str:
        """A line for each value."""
        return "\n".join(_line(str(i), x, lambda t: t.dtype) for i, x in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dict, in order of entry, whose tensors are parameters of the module."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        object.__setattr__(self, "_keys", {})
        self.update(parameters or {})

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, str(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Index given to ParameterDict cannot be used as a key: {key!r}")
        self._keys[key] = None
        setattr(self, key, _kept(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Any:
        """The names, in order of entry."""
        return self._keys.keys()

    def items(self) -> list[tuple[str, Any]]:
        """Names with values."""
        return [(key, self[key]) for key in self]

    def values(self) -> list[Any]:
        """The values."""
        return [self[key] for key in self]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or `default`."""
        return getattr(self, key) if key in self else default

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, which is `default` from now on where there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a value out."""
        found = self[key]
        del self[key]
        return found

    def popitem(self) -> tuple[str, Any]:
        """Take the last value out, with its name."""
        key = next(reversed(self), None)
        if key is None:
            raise KeyError("popitem: the ParameterDict is empty")
        return key, self.pop(key)

    def copy(self) -> "ParameterDict":
        """Another one with the same values."""
        return ParameterDict(dict(self.items()))

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """One with these names and one value."""
        return ParameterDict(dict.fromkeys(keys, default))

    def __or__(self, other: "ParameterDict") -> "ParameterDict":
        made = self.copy()
        made.update(other)
        return made

    def __ror__(self, other: "ParameterDict") -> "ParameterDict":
        made = other.copy()
        made.update(self)
        return made

    def __ior__(self, other: "ParameterDict") -> "ParameterDict":
        self.update(other)
        return self

    def clear(self) -> None:
        """Take all values out."""
        for key in list(self):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Enter values by name, of a mapping or pairs."""
        pairs = parameters.items() if isinstance(parameters, (Mapping, ParameterDict)) else None
        for key, value in parameters if pairs is None else pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """A line for each value."""
        return "\n".join(_line(key, x, lambda t: t.type()) for key, x in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")
