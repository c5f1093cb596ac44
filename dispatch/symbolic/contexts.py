"""How a tensor's sizes become symbols: policies by dimension, and constraints.

A ShapeEnv reads these when a tensor is made fake. Names and fields are those of
`torch.fx.experimental.symbolic_shapes`.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dispatch.symbolic.ranges import ValueRanges
from dispatch.symbolic.sources import Source

__all__ = [
    "Constraint",
    "DimConstraint",
    "DimDynamic",
    "EqualityConstraint",
    "RelaxedUnspecConstraint",
    "StatefulSymbolicContext",
    "StatelessSymbolicContext",
    "StrictMinMaxConstraint",
    "SubclassSymbolicContext",
    "SymIntSymbolicContext",
    "SymbolicContext",
]


class DimDynamic(enum.Enum):
    """What becomes of a size."""

    DYNAMIC = 0  # a symbol of its own
    DUCK = 1  # the symbol of all sizes of the same number
    STATIC = 2  # a number
    UNBACKED = 3  # a symbol without a hint
    INFER_STRIDE = 4  # a stride: what contiguous sizes give, else DUCK


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a user says of a dimension; `warn_only`: a violation is no error."""

    warn_only: bool


@dataclass(frozen=True, slots=True)
class StrictMinMaxConstraint(Constraint):
    """The size lies in `vr`, and no guard narrows that."""

    vr: ValueRanges

    def render(self, source: Source) -> str:
        """The constraint as text, about what `source` reads."""
        return f"{self.vr.lower} <= {source.name} <= {self.vr.upper}"


@dataclass(frozen=True, slots=True)
class RelaxedUnspecConstraint(Constraint):
    """The size must not become one number."""

    def render(self, source: Source) -> str:
        """The constraint as text, about what `source` reads."""
        return f"RelaxedUnspecConstraint({source.name})"


DimConstraint = StrictMinMaxConstraint | RelaxedUnspecConstraint | None


@dataclass(frozen=True, slots=True)
class EqualityConstraint(Constraint):
    """Dimensions that are equal, or are expressions of others.

    `source_pairs` are equal; of `derived_equalities` each is (source, root, function): the source
    is the function of the root, another source or a symbol.
    """

    source_pairs: list[tuple[Source, Source]]
    derived_equalities: list[tuple[Source, Any, Callable[[Any], Any]]]
    phantom_symbols: list[Any]
    relaxed_sources: set[Source]
    _parents: dict[Source, Source] = field(init=False, default_factory=dict)
    _defs: dict[Source, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for a, b in self.source_pairs:
            root_a, root_b = self._find(a), self._find(b)
            if root_a != root_b:
                self._parents[root_a] = root_b
        for source, root, function in self.derived_equalities:
            self._defs[self._find(source)] = function(
                self._rewrite(root) if isinstance(root, Source) else root
            )

    def _find(self, source: Source) -> Source:
        while source in self._parents:
            source = self._parents[source]
        return source

    def _rewrite(self, source: Source) -> Any:
        root = self._find(source)
        return self._defs.get(root, root.name)

    def is_equal(self, a: Source, b: Source) -> bool:
        """Whether two sources are the same by what was said."""
        a, b = self._find(a), self._find(b)
        return (
            a in self.relaxed_sources
            or b in self.relaxed_sources
            or a == b
            or self._rewrite(a) == self._rewrite(b)
        )

    def is_derived(self, source: Source, root: Source, function: Callable[[Any], Any]) -> bool:
        """Whether a source is this function of another by what was said."""
        return bool(self._rewrite(source) == function(self._rewrite(root)))


@dataclass(frozen=True, slots=True)
class SymbolicContext:
    """How a value becomes symbolic: one of the classes below."""


@dataclass(frozen=True, slots=True)
class SymIntSymbolicContext(SymbolicContext):
    """Of an input that is a number."""

    constraint: DimConstraint


def _default(context: Any, name: str, value: Any) -> None:
    if getattr(context, name) is None:
        object.__setattr__(context, name, [value] * len(context.dynamic_sizes))


@dataclass(frozen=True, slots=True)
class StatelessSymbolicContext(SymbolicContext):
    """Of a tensor: each use makes fresh symbols. Lists have one element a dimension."""

    dynamic_sizes: Sequence[DimDynamic]
    dynamic_strides: Sequence[DimDynamic] = None  # type: ignore[assignment]
    constraint_sizes: Sequence[DimConstraint] = None  # type: ignore[assignment]
    constraint_strides: Sequence[DimConstraint] = None  # type: ignore[assignment]
    specialize_on: list[list[Callable[..., Any]]] | None = None
    view_base_context: SymbolicContext | None = None
    shape_ids: dict[int, str | None] | None = None
    unbacked_bounds: dict[int, tuple[int | None, int | None]] | None = None

    def __post_init__(self) -> None:
        if self.dynamic_strides is not None:
            allowed = (DimDynamic.INFER_STRIDE, DimDynamic.DYNAMIC, DimDynamic.DUCK)
            if any(stride not in allowed for stride in self.dynamic_strides):
                raise AssertionError(
                    "dynamic_strides must only contain INFER_STRIDE, DYNAMIC, or DUCK"
                )
        _default(self, "specialize_on", [])
        _default(self, "dynamic_strides", DimDynamic.INFER_STRIDE)
        _default(self, "constraint_sizes", None)
        _default(self, "constraint_strides", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatefulSymbolicContext(StatelessSymbolicContext):
    """Of a tensor, remembered by ShapeEnv and source: later uses take the symbols of the first."""

    tensor_source: Source
    shape_env_to_source_to_symbol_cache: dict[int, dict[str, Any]] = field(default_factory=dict)
    excluded_sizes: tuple[int | None, ...] | None = None


@dataclass(frozen=True, slots=True)
class SubclassSymbolicContext(StatefulSymbolicContext):
    """Of a tensor that holds others, with a context for each of them."""

    inner_contexts: dict[str, SymbolicContext] = field(default_factory=dict)
    track_outer_size_stride: bool = True
