"""The rules that decide which registration serves each entry of a dispatch table.

`resolve` is a pure function of the set of registered keys; `row_of` writes its answer in the form
that a call reads. The core applies the same rules to operators that are registered with at run
time (`_C/operator`), and a test compares the two. The order of the rules and the words for them
are those that PyTorch prints in its table dumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .keys import KeyTable, RuntimeKey

__all__ = ["Entry", "Row", "resolve", "row_of"]

ROW_AMBIGUOUS = 0xFD
ROW_FALLBACK = 0xFF

_EXPLICIT = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd")
_NESTED = "CompositeImplicitAutogradNestedTensor"
_IMPLICIT = "CompositeImplicitAutograd"
_BATCHED = "FuncTorchBatchedDecomposition"


class Entry(NamedTuple):
    """What serves one table entry: `key` is the registration, None for a fallback or an error."""

    key: str | None
    how: str


class Row(NamedTuple):
    """A table as calls read it: kernel numbers or ROW_*; `hard`: functionalities not skipped."""

    entries: tuple[int, ...]
    hard: int


def resolve(keys: KeyTable, registered: frozenset[str]) -> list[Entry]:
    """The entry of every runtime key, in table order, for an operator with these registrations."""
    resolver = _Resolver(keys, registered)
    return [resolver.entry(key) for key in keys.runtime]


class _Resolver:
    def __init__(self, keys: KeyTable, registered: frozenset[str]) -> None:
        self.keys = keys
        self.registered = registered
        self.runtime = [k for k in keys.runtime if k.name in registered]
        self.fallbacks = keys.backend_fallbacks()

    def entry(self, key: RuntimeKey) -> Entry:
        """The first rule that applies to `key`."""
        if key.name in self.registered:
            return Entry(key.name, "kernel")
        return (
            self.explicit(key)
            or self.implicit(key)
            or self.alias(key, "Autograd", "autograd kernel")
            or self.alias(key, _BATCHED, "batched kernel")
            or self.no_kernel(key)
        )

    def covered(self, key: RuntimeKey, alias: str) -> bool:
        """Whether there is a registration under `alias` and it stands for `key` too."""
        return alias in self.registered and self.keys.in_alias(key, alias)

    def explicit(self, key: RuntimeKey) -> Entry | None:
        """Kernels for all backends that leave autograd to autograd."""
        for alias in _EXPLICIT:
            undefined = key.place == 0 and alias in self.registered
            if undefined or self.covered(key, alias):
                return Entry(alias, "default backend kernel")
        return None

    def implicit(self, key: RuntimeKey) -> Entry | None:
        """Decompositions, which serve autograd keys only where no backend has a kernel below."""
        if self.covered(key, _NESTED):
            return Entry(_NESTED, "nested kernel")
        undefined = key.place == 0 and _IMPLICIT in self.registered
        if not undefined and not self.covered(key, _IMPLICIT):
            return None
        if key.name == "AutogradOther" and self.has_kernel_in(
            self.keys.named_set("autogradother_backends")
        ):
            return Entry(None, "ambiguous autogradother")
        return None if self.has_backend_kernel(key) else Entry(_IMPLICIT, "math kernel")

    def has_backend_kernel(self, key: RuntimeKey) -> bool:
        """Whether a backend that `key` (an autograd key) stands above has a kernel of its own."""
        return "CompositeExplicitAutograd" in self.registered or self.has_kernel_in(
            self.keys.redispatch_set(key)
        )

    def has_kernel_in(self, raw: int) -> bool:
        """Whether some runtime key of the set `raw` is registered."""
        return any(self.keys.contains(raw, key) for key in self.runtime)

    def alias(self, key: RuntimeKey, alias: str, how: str) -> Entry | None:
        """A registration under an alias key that needs no further condition."""
        return Entry(alias, how) if self.covered(key, alias) else None

    def no_kernel(self, key: RuntimeKey) -> Entry:
        """The dispatcher's fallback for the key, or nothing."""
        return Entry(None, "backend fallback" if key.name in self.fallbacks else "missing")


def row_of(
    keys: KeyTable, kernels: Mapping[str, int], skipped: frozenset[str] = frozenset()
) -> Row:
    """The row of an operator: `kernels` has numbers by key, those of `skipped` fall through."""
    entries: list[int] = []
    hard = 0
    for key, entry in zip(keys.runtime, resolve(keys, frozenset(kernels)), strict=True):
        code = ROW_FALLBACK
        if entry.key is not None:
            code = kernels[entry.key]
        elif entry.how.startswith("ambiguous"):
            code = ROW_AMBIGUOUS
        entries.append(code)
        if code != ROW_FALLBACK and entry.key not in skipped:
            hard |= key.raw & ~0xFFFF
    return Row(tuple(entries), hard)
