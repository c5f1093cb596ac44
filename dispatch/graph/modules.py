"""Where calls come from: an exported program's notes -> modules and lines of source.

`nn_module_stack` names, outermost first, the modules that a call was made in; `stack_trace` the
lines of Python. `ModuleTree` places each call in its innermost module and adds up over the tree of
dotted paths, so that a module's figures are those of all that is below its name. Notes are a
stranger's text: what cannot be read is as if it were not there.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from dispatch.graph.notes import Frame, frames_of, innermost, text_of
from dispatch.graph.program import NodeNotes

__all__ = ["ModuleTree", "Place", "WeightFact", "place_of_notes", "stack_entries"]

Json = dict[str, Any]
_REPEATED = re.compile(r"@\d+$")
_LOCAL = re.compile(r"^(?:L\['self'\]\.?|_export_root\.?|L__self__\.?)")
# What the exporter notes for calls that it adds itself, to read sizes and to check them.
_OF_CHECKS = "_empty_nn_module_stack_from_metadata_hook"
_MAX_DEPTH = 64
_OPENING, _CLOSING = "[(", ")]"


class Place(NamedTuple):
    """A call's modules, outermost first, as (path, class, source line), and its own line."""

    modules: tuple[tuple[str, str, str | None], ...]
    source: str | None

    @property
    def module(self) -> str | None:
        """The innermost module's path; None when nothing is noted."""
        return self.modules[-1][0] if self.modules else None


class WeightFact(NamedTuple):
    """A parameter: its name, its elements and bytes; tied ones have the same `identity`."""

    name: str
    numel: int
    nbytes: int
    identity: Any


# -- notes --------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def place_of_notes(notes: NodeNotes) -> Place:
    """What a node's notes say."""
    stack = _stack(text_of(notes.nn_module_stack))
    frames = frames_of(notes.stack_trace)
    forwards = [i for i, (_, _, function, _) in enumerate(frames) if function == "forward"]
    modules = []
    for depth, (path, kind) in enumerate(stack):
        last = depth == len(stack) - 1
        # Where every module has its frame, an outer one's line is that of its own `forward`.
        known = len(forwards) == len(stack) or last
        until = len(frames) if last else forwards[depth] + 1 if known else 0
        modules.append((path, kind, _line(frames[:until])))
    return Place(tuple(modules), _line(frames))


def stack_entries(text: str) -> Iterator[list[str]]:
    """`key,path,type;...`: key, path and type of each module."""
    for entry in text.split(";")[:_MAX_DEPTH]:
        parts = list(_split(entry))
        if len(parts) == 3:
            yield parts


def _stack(text: str) -> list[tuple[str, str]]:
    """(path, type) of each module."""
    return [
        (_LOCAL.sub("", _REPEATED.sub("", path)), kind)
        for key, path, kind in stack_entries(text)
        if key != _OF_CHECKS
    ]


def _split(entry: str) -> Iterator[str]:
    """The parts between commas that are in no brackets."""
    start = depth = 0
    for i, c in enumerate(entry):
        if c in _OPENING:
            depth += 1
        elif c in _CLOSING:
            depth -= 1
        elif c == "," and depth == 0:
            yield entry[start:i]
            start = i + 1
    yield entry[start:]


def _line(frames: list[Frame]) -> str | None:
    """The innermost line outside PyTorch itself, as `file:line`."""
    own = innermost(frames)
    return f"{own[0]}:{own[1]}" if own else None


# -- the tree -----------------------------------------------------------------------------------


class _Module:
    """One module's own figures, and then, after `rows`, those of all below it too."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.kind: str | None = None
        self.source: str | None = None
        self.children: list[_Module] = []
        self.weights: dict[Any, WeightFact] = {}
        self.calls = self.nbytes = self.peak_bytes = self.flops = 0
        self.ns: int | None = None

    def add_up(self) -> None:
        for child in self.children:
            child.add_up()
            self.weights.update(child.weights)
            self.calls += child.calls
            self.nbytes += child.nbytes
            self.peak_bytes += child.peak_bytes
            self.flops += child.flops
            if child.ns is not None:
                self.ns = (self.ns or 0) + child.ns


class ModuleTree:
    """Modules by dotted path; the root, whose path is "", is the program."""

    def __init__(self) -> None:
        self._modules: dict[str, _Module] = {"": _Module("")}
        self._known: set[Place] = set()

    def _at(self, path: str) -> _Module:
        module = self._modules.get(path)
        if module is None:
            parts = path.split(".")
            if len(parts) > _MAX_DEPTH:
                return self._at(".".join(parts[:_MAX_DEPTH]))
            module = self._modules[path] = _Module(path)
            self._at(path.rpartition(".")[0]).children.append(module)
        return module

    def add_call(self, place: Place, nbytes: int, flops: int, ns: int | None) -> None:
        """Count a call in the module that made it."""
        if place not in self._known:
            self._known.add(place)
            for path, kind, source in place.modules:
                module = self._at(path)
                module.kind = module.kind or kind
                module.source = module.source or source
        module = self._at(place.module or "")
        module.calls += 1
        module.nbytes += nbytes
        module.flops += flops
        if ns is not None:
            module.ns = (module.ns or 0) + ns

    def add_weight(self, weight: WeightFact) -> None:
        """Count a parameter in the module that its name says it belongs to."""
        self._at(weight.name.rpartition(".")[0]).weights[weight.identity] = weight

    def add_peak(self, path: str | None, nbytes: int) -> None:
        """Count what is alive at the peak."""
        self._at(path or "").peak_bytes += nbytes

    def rows(self, peak_bytes: int) -> list[Json]:
        """A row for each module, each before those below it."""
        root = self._modules[""]
        root.add_up()
        return list(_rows(root, 0, peak_bytes or 1))


def _rows(module: _Module, depth: int, peak_bytes: int) -> Iterator[Json]:
    weights = module.weights.values()
    yield {
        "path": module.path,
        "class": module.kind,
        "source": module.source,
        "depth": depth,
        "parameters": sum(w.numel for w in weights),
        "parameter_bytes": sum(w.nbytes for w in weights),
        "bytes": module.nbytes,
        "peak_bytes": module.peak_bytes,
        "peak_share": module.peak_bytes / peak_bytes,
        "flops": module.flops,
        "calls": module.calls,
        "ns": module.ns,
    }
    for child in module.children:
        yield from _rows(child, depth + 1, peak_bytes)
