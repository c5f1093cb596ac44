"""Modules that hold modules: in a row, by number, by name."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dispatch.as_torch.nn.modules.module import Module

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


class _Numbered(Module):
    """Modules under the names 0, 1, 2 ..."""

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _name_of(self, index: Any) -> str:
        place = index.__index__()
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return list(self._modules)[place]

    def __setitem__(self, index: Any, module: Any) -> None:
        setattr(self, self._name_of(index), module)

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_of(index)]
        for name in names:
            delattr(self, name)
        self._renumber(list(self._modules.values()))

    def _renumber(self, modules: list[Any]) -> None:
        self._modules.clear()
        for i, module in enumerate(modules):
            self._modules[str(i)] = module

    def append(self, module: Any) -> Any:
        """Add a module behind the last."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Any]) -> Any:
        """Add modules behind the last."""
        for module in modules:
            self.append(module)
        return self

    def insert(self, index: int, module: Any) -> Any:
        """Add a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, key: int | slice) -> Any:
        """Take a module out."""
        module = self[key]  # type: ignore[index]
        del self[key]
        return module


def _times(count: Any) -> int:
    """A number of repetitions; TypeError for no number, ValueError below 1."""
    if not isinstance(count, int):
        raise TypeError(f"a Sequential is repeated a number of times, not {type(count)}")
    if count <= 0:
        raise ValueError(f"a Sequential is repeated 1 time or more, not {count}")
    return count


class Sequential(_Numbered):
    """Modules one after another (torch.nn.Sequential)."""

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else None
        for name, module in named if named is not None else enumerate(args):
            self.add_module(str(name), module)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._name_of(index)]

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"a Sequential is joined with a Sequential, not {type(other)}")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Any:
        if not isinstance(other, Sequential):
            raise ValueError(f"a Sequential is joined with a Sequential, not {type(other)}")
        return self.extend(list(other))

    def __mul__(self, other: int) -> Any:
        return Sequential(*list(self) * _times(other))

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Any:
        return self.extend(list(self) * (_times(other) - 1))

    def forward(self, input: Any) -> Any:
        """The input through all modules."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Numbered):
    """A list of modules (torch.nn.ModuleList)."""

    def __init__(self, modules: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._name_of(index)]

    def __add__(self, other: Iterable[Any]) -> Any:
        return type(self)([*self, *other])

    def __repr__(self) -> str:
        """Like modules in a row are one line, `(0-2): 3 x Linear(...)`."""
        groups: list[tuple[str, list[int]]] = []
        for i, text in enumerate(map(repr, self)):
            if groups and groups[-1][0] == text:
                groups[-1][1].append(i)
            else:
                groups.append((text, [i]))
        lines = []
        for text, places in groups:
            first, last, count = places[0], places[-1], len(places)
            head = f"({first})" if count == 1 else f"({first}-{last})"
            times = "" if count == 1 else f"{count} x "
            lines.append(f"{head}: {times}{text}".replace("\n", "\n  "))
        inner = "\n  ".join(lines)
        return f"{self._get_name()}(\n  {inner}\n)" if lines else f"{self._get_name()}()"

    def __iadd__(self, modules: Iterable[Any]) -> Any:
        return self.extend(modules)


class ModuleDict(Module):
    """Modules by name (torch.nn.ModuleDict)."""

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Any) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def clear(self) -> None:
        """Take all out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        return self._modules.pop(key)

    def update(self, modules: Any) -> None:
        """Add modules of a mapping, or of pairs."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                + type(modules).__name__
            )
        for name, module in modules.items() if isinstance(modules, Mapping) else modules:
            self[name] = module
