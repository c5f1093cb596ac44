"""Names in a graph and in the code made of it: unique ones, and where a function is found.

Source of the semantics: `torch/fx/graph.py` and `torch/fx/node.py`.
"""

import builtins
import inspect
import keyword
import math
import re
import sys
import types
from typing import Any

import dispatch
from dispatch import pytree
from dispatch._C import naming
from dispatch.as_torch.fx import flat

__all__ = ["BUILT_IN", "Names", "is_of_package", "place_of", "qualified_name", "type_text"]

_PARTS = re.compile(r"([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")
_OTHERS = re.compile("[^0-9a-zA-Z_]+")
_HUMP = re.compile("(?<=[a-z])([A-Z])")

# What the code of every graph may name, with the line that imports it.
BUILT_IN: dict[str, tuple[str, Any]] = {
    "inf": ("from math import inf", math.inf),
    "nan": ("from math import nan", math.nan),
    "NoneType": ("NoneType = type(None)", type(None)),
    "device": ("from torch import device", dispatch.device),
    "fx_pytree": ("import torch.fx._pytree as fx_pytree", flat),
    "pytree": ("import torch.utils._pytree as pytree", pytree),
}
_TAKEN: dict[str, Any] = (
    dict.fromkeys((*keyword.kwlist, "torch", "dispatch"), object())
    | vars(builtins)
    | {name: value for name, (_, value) in BUILT_IN.items()}
)


def snake_case(name: str) -> str:
    """`someThing` as `some_thing`."""
    return _HUMP.sub(r"_\1", name).lower()


class Names:
    """Unique names: none is a keyword, nor a builtin of another object."""

    def __init__(self) -> None:
        self._name_of: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """`candidate`, or it with a number behind; an object keeps the name that it has."""
        if obj is not None and obj in self._name_of:
            return self._name_of[obj]
        parts = _PARTS.match(candidate)
        if parts is None:
            candidate = _OTHERS.sub("_", candidate) or "_unnamed"
            candidate = f"_{candidate}" if candidate[0].isdigit() else candidate
            parts = _PARTS.match(candidate)
            assert parts is not None
        base, digits = parts.groups()
        if digits is None or candidate in self._used:
            number = self._counts.get(base, 0)
            if _TAKEN.get(candidate, obj) is not obj:
                number += 1
                candidate = f"{base}_{number}"
        else:
            number = int(digits)
        while candidate in self._used:
            number += 1
            candidate = f"{base}_{number}"
        self._used.add(candidate)
        self._counts[base] = number
        if obj is not None:
            self._name_of[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """The object has this name, which was created for it."""
        if self._name_of.setdefault(obj, name) != name:
            raise AssertionError("obj is already associated")

    def _rename_object(self, obj: Any, name: str) -> None:
        assert obj in self._name_of
        self._name_of[obj] = name
        self._used.add(name)


# ---- where things are


def is_of_package(obj: Any) -> bool:
    """Whether code reaches it by its qualified name, without a global of its own."""
    package = naming.package_name()
    home, name = getattr(obj, "__module__", None), getattr(obj, "__name__", None)
    if not isinstance(home, str) or not isinstance(name, str):
        return False
    if home.partition(".")[0] != package:
        return False
    found: Any = sys.modules[package]
    for part in qualified_name(obj).split(".")[1:]:
        found = getattr(found, part, None)
    return found is obj or found == obj


def _home(function: Any) -> str:
    module = function.__module__
    if module is not None:
        return str(module)
    raise RuntimeError(f"cannot find module for {function}")


def qualified_name(function: Any) -> str:
    """How code names a function: `torch.relu`, `torch.ops.aten.add.Tensor`, `len`.

    Raises:
        RuntimeError: a lambda without a source, or a function without a module.
    """
    name: str = function.__name__
    if getattr(builtins, name, None) is function:
        return name
    package = naming.package_name()
    if getattr(dispatch.Tensor, name, None) is function:
        return f"{package}.Tensor.{name}"
    if name == "<lambda>":
        try:
            name = inspect.getsource(function).split("=")[0].strip()
        except (OSError, TypeError) as error:
            raise RuntimeError("Unable to represent lambda") from error
    module = _home(function).replace(f"{package}._ops", f"{package}.ops")
    return f"{module}.{name}"


def place_of(target: Any) -> str:
    """`qualified_name` as texts of graphs show it: `operator.getitem`, `builtins.len`."""
    if isinstance(target, str):
        return target
    name, module = getattr(target, "__name__", None), getattr(target, "__module__", None)
    if name is not None and module in ("builtins", "_operator"):
        return f"{module.removeprefix('_')}.{name}"
    return qualified_name(target)


def type_text(found: Any) -> str:
    """A type as annotations name it; anything else as it shows itself."""
    if isinstance(found, type):
        if found.__module__ == "builtins":
            return found.__qualname__
        return f"{found.__module__}.{found.__qualname__}"
    if found is ...:
        return "..."
    return found.__name__ if isinstance(found, types.FunctionType) else repr(found)
