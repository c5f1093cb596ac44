"""Sizes of one ShapeEnv, brought into another: a fake tensor is made one of another mode.

Called by `ShapeEnv.transfer_symbols_from_foreign_shape_env`, which conversion asks. A size with a
hint is a new symbol with that hint, or a known one of that number; what data decide is a new symbol
of data, the same wherever it stood, and strides follow it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dispatch.symbolic.contexts import DimDynamic, StatelessSymbolicContext
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.sources import Source, TensorProperty, TensorPropertySource

__all__ = ["transferred"]

Geometry = tuple[tuple[Any, ...], tuple[Any, ...], Any]


def transferred(
    env: Any,
    sizes: Sequence[Any],
    strides: Sequence[Any],
    offset: Any,
    source: Source,
    context: Any,
    hint_overrides: Mapping[int, int],
) -> Geometry:
    """Sizes, strides and offset like these, of `env`."""
    overrides = dict(hint_overrides)
    if context is None:
        kinds = [_kind(size) for size in sizes]
        context = StatelessSymbolicContext(kinds, [DimDynamic.INFER_STRIDE] * len(sizes))
    for i, (size, kind) in enumerate(zip(sizes, context.dynamic_sizes, strict=True)):
        if kind is DimDynamic.UNBACKED and hasattr(size, "node"):
            known = size.node.shape_env.var_to_hint_override.get(size.node.expr)
            if known is not None:
                overrides.setdefault(i, known)
    if DimDynamic.UNBACKED not in context.dynamic_sizes:
        found: Geometry = env._create_symbolic_sizes_strides_storage_offset(
            tuple(map(_hint, sizes)), tuple(map(_hint, strides)), _hint(offset),
            [False] * len(sizes), source, symbolic_context=context, hint_overrides=overrides,
        )  # fmt: skip
        return found
    return _with_data(env, sizes, strides, offset, source, context, overrides)


def _with_data(
    env: Any, sizes: Any, strides: Any, offset: Any, source: Source, context: Any, overrides: Any
) -> Geometry:
    known: dict[Expr, Expr] = {}  # what stood there -> what stands here

    def moved(value: Any) -> Expr | None:
        """A number or size of the other environment as one of this; None where that is unknown."""
        if not hasattr(value, "node"):
            found: Expr = env.sympify(value)
            return found
        old = value.node.expr
        if old in known:
            return known[old]
        if not old.free_symbols <= known.keys():
            return None
        names = {str(symbol): known[symbol] for symbol in old.free_symbols}
        made: Expr = env.parse(str(old), names)
        return made

    new_sizes = []
    for i, size in enumerate(sizes):
        new = moved(size)
        if new is None:
            place = TensorPropertySource(source, TensorProperty.SIZE, i)
            new = known[size.node.expr] = env.create_symbol(
                _hint(size), place, context.dynamic_sizes[i], context.constraint_sizes[i],
                symbolic_context=context,
            )  # fmt: skip
            if i in overrides:
                env.var_to_hint_override[new] = overrides[i]
        new_sizes.append(env.create_symintnode(new))

    def followed(value: Any) -> Any:
        new = moved(value)
        return env.create_unbacked_symint() if new is None else env.create_symintnode(new)

    return tuple(new_sizes), tuple(map(followed, strides)), followed(offset)


def _kind(size: Any) -> DimDynamic:
    if not hasattr(size, "node"):
        return DimDynamic.STATIC
    return DimDynamic.DUCK if size.node.has_hint() else DimDynamic.UNBACKED


def _hint(size: Any) -> Any:
    """A size's number in its run; None of one that data decide."""
    return size.node.hint if hasattr(size, "node") else size
