"""The shape of what a program returns: PyTorch's serialised tree spec -> a nest of tuples, lists
and dicts.

`module` builds one from the program's `out_spec` at load and folds the flat outputs with it. A
container that has no meaning here (a model's own output class) leaves the outputs a flat tuple.
"""

import json
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["OutputTree", "flat_leaves", "read_tree"]

_MAX_DEPTH = 64
_MAX_TEXT = 1 << 22


class OutputTree(NamedTuple):
    """`build` folds children; None: a leaf. `n_leaves` of them are below."""

    build: Callable[[list[Any]], Any] | None
    children: tuple["OutputTree", ...]
    n_leaves: int

    def fold(self, leaves: Sequence[Any]) -> Any:
        """The nest, from `n_leaves` values."""
        return self._fold(iter(leaves))

    def _fold(self, leaves: Iterator[Any]) -> Any:
        if self.build is None:
            return next(leaves)
        return self.build([child._fold(leaves) for child in self.children])


_LEAF = OutputTree(None, (), 1)


def read_tree(text: str) -> OutputTree | None:
    """The tree that a spec's text describes; None when it is not one that is known here."""
    if len(text) > _MAX_TEXT:
        return None
    try:
        version, spec = json.loads(text)
        return _read(spec, _MAX_DEPTH) if version == 1 else None
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def _read(spec: dict[str, Any], depth: int) -> OutputTree:
    if depth == 0:
        raise ValueError("nested too deeply")
    kind = spec["type"]
    if kind is None:
        return _LEAF
    children = tuple(_read(child, depth - 1) for child in spec["children_spec"])
    context = spec["context"]
    build = _BUILDERS[kind](json.loads(context) if context is not None else None, len(children))
    return OutputTree(build, children, sum(child.n_leaves for child in children))


def _keyed(cls: type) -> Callable[[Any, int], Callable[[list[Any]], Any]]:
    def make(keys: Any, count: int) -> Callable[[list[Any]], Any]:
        names = [k if isinstance(k, str | int | float | bool | None) else str(k) for k in keys]
        if len(names) != count:
            raise ValueError("as many keys as children")
        return lambda values: cls(zip(names, values, strict=True))

    return make


_BUILDERS: dict[str, Callable[[Any, int], Callable[[list[Any]], Any]]] = {
    "builtins.tuple": lambda context, count: tuple,
    "builtins.list": lambda context, count: list,
    "collections.namedtuple": lambda context, count: tuple,
    "builtins.dict": _keyed(dict),
    "collections.OrderedDict": _keyed(OrderedDict),
    "builtins.NoneType": lambda context, count: lambda values: None,
}


def flat_leaves(value: Any) -> list[Any]:
    """The leaves of a nest of tuples, lists and dicts, in order."""
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in flat_leaves(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in flat_leaves(item)]
    return [value]
