"""What functions with several named results return: tuples with names (torch.return_types).

`dispatch.max(x, 1)` is a `return_types.max` with `values` and `indices`; `ops.aten.max.dim` gives a
plain tuple. Classes are made from the operators' schemas when they are first needed.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.function import _struct_class

__all__ = ["named"]

_classes: dict[tuple[str, tuple[str, ...]], Any] = {}


def _text(self: Any) -> str:
    names = type(self).__match_args__
    fields = ",\n".join(f"{name}={value!r}" for name, value in zip(names, self, strict=True))
    return f"dispatch.return_types.{type(self).__name__}(\n{fields})"


def named(name: str, fields: tuple[str, ...]) -> Any:
    """The class of results `fields` of the operator `name`: a struct sequence."""
    found = _classes.get((name, fields))
    if found is None:
        found = _struct_class(f"{__name__}.{name}", fields)
        found.__repr__ = _text
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
