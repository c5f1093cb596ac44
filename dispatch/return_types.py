"""What functions with several named results return: tuples with names (torch.return_types).

`dispatch.max(x, 1)` is a `return_types.max` with `values` and `indices`; `ops.aten.max.dim` gives a
plain tuple. Classes are made from the operators' schemas when they are first needed.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

__all__ = ["named"]

_classes: dict[tuple[str, tuple[str, ...]], Any] = {}


def _text(self: Any) -> str:
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"dispatch.return_types.{type(self).__name__}(\n{fields})"


def _restored(name: str, fields: tuple[str, ...], values: tuple[Any, ...]) -> Any:
    return named(name, fields)(*values)


def _reduce(self: Any) -> tuple[Any, ...]:
    return _restored, (type(self).__name__, self._fields, tuple(self))


def named(name: str, fields: tuple[str, ...]) -> Any:
    """The class of results `fields` of the operator `name`."""
    found = _classes.get((name, fields))
    if found is None:
        plain: Any = namedtuple(name, fields)  # type: ignore[misc]
        body = {"__slots__": (), "__repr__": _text, "__reduce__": _reduce, "__module__": __name__}
        found = type(name, (plain,), body)
        _classes[name, fields] = found
    return found


def __getattr__(name: str) -> Any:
    """`return_types.max`: the class of an operator's results."""
    if not name.startswith("__"):
        from dispatch._C.function import _named_results

        found = _named_results(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'dispatch.return_types' has no attribute {name!r}")
