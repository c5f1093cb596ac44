"""Where in a result new unbacked symbols stand, and the same symbols when a call is made again.

`compute_unbacked_bindings` empties the ShapeEnv's list of pending symbols; a path is a tuple of
keys, each with `get`. Names and behaviour are those of `torch.fx.experimental.symbolic_shapes`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dispatch.symbolic import config
from dispatch.symbolic.errors import PendingUnbackedSymbolNotFound
from dispatch.symbolic.expr import Expr
from dispatch.symbolic.numbers import SymBool, SymFloat, SymInt
from dispatch.symbolic.questions import expect_true, sym_ite

__all__ = [
    "CallMethodKey",
    "ConvertIntKey",
    "DivideByKey",
    "SequenceKey",
    "compute_unbacked_bindings",
    "rebind_unbacked",
    "resolve_unbacked_bindings",
]

Path = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class SequenceKey:
    """An element of a tuple or list."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"

    def get(self, x: Any) -> Any:
        return x[self.idx]


@dataclass(frozen=True, slots=True)
class MappingKey:
    """A value of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, x: Any) -> Any:
        return x[self.key]


@dataclass(frozen=True, slots=True)
class CallMethodKey:
    """What a method of a tensor gives: its sizes, strides, offset."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}()"

    def get(self, x: Any) -> Any:
        """What the method gives."""
        return getattr(x, self.name)()


@dataclass(frozen=True, slots=True)
class DivideByKey:
    """A number divided by another, which it is a multiple of."""

    divisor: Any

    def __str__(self) -> str:
        return f".__floordiv__({self.divisor})"

    def get(self, x: Any) -> Any:
        """`x` divided, a whole number."""
        return x // self.divisor


@dataclass(frozen=True, slots=True)
class ConvertIntKey:
    """A truth value as a number."""

    def __str__(self) -> str:
        return ".cast_symbool_to_symint_guardless()"

    def get(self, x: Any) -> Any:
        """1 or 0 for a boolean, else the number itself."""
        return sym_ite(x, 1, 0) if isinstance(x, SymBool) else int(x)


def _numbers(value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
    """Every symbolic number of a result, with the way to it."""
    if isinstance(value, (SymInt, SymFloat, SymBool)):
        yield value, path
    elif isinstance(value, (tuple, list)):
        for i, part in enumerate(value):
            yield from _numbers(part, (*path, SequenceKey(i)))
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _numbers(part, (*path, MappingKey(key)))
    elif hasattr(value, "storage_offset"):
        for name in ("size", "stride", "storage_offset"):
            yield from _numbers(getattr(value, name)(), (*path, CallMethodKey(name)))


def _bound(number: Any, path: Path, pending: set[Expr]) -> tuple[Expr, Path] | None:
    """The pending symbol that the number tells, and the way to it; None: it tells of none."""
    e = getattr(number.node, "_expr", None)
    if e is None:
        return None
    if e in pending:
        return e, path
    if isinstance(number, SymBool) and e.function == "Eq" and e.lhs in pending and e.rhs == 1:
        return e.lhs, (*path, ConvertIntKey())
    if isinstance(number, SymInt) and e.is_Mul and len(e.args) == 2 and e.args[1] in pending:
        by = e.args[0]
        if by.is_number:
            return e.args[1], (*path, DivideByKey(by.value))
        if not by.free_symbols & pending:
            return e.args[1], (*path, DivideByKey(number.node.shape_env.create_symintnode(by)))
    return None


def compute_unbacked_bindings(
    shape_env: Any, example_value: Any, old_example_value: Any = None, peek: bool = False
) -> dict[Expr, Path] | None:
    """{new unbacked symbol: the way to it in a result}; `peek` leaves them pending.

    Raises:
        PendingUnbackedSymbolNotFound: a new symbol is nowhere in the result.
    """
    if shape_env is None:
        return None
    fresh = shape_env.pending_fresh_unbacked_symbols
    fresh_symbols = list(fresh)
    pending = set(fresh_symbols)
    if not pending:
        return None
    if not peek:
        fresh.clear()
    found: dict[Expr, Path] = {}
    shown = {shape_env.unbacked_renamings.get(s, s): s for s in fresh_symbols}
    for number, path in _numbers(example_value, ()):
        bound = _bound(number, path, {s for s in shown if shown[s] in pending})
        if bound is not None:
            found[shown[bound[0]]] = bound[1]
            pending.discard(shown[bound[0]])
    if pending and not peek:
        names = ", ".join(sorted(map(str, pending)))
        text = f"Pending unbacked symbols {{{names}}} not in returned outputs {example_value!r}"
        if not config.soft_pending_unbacked_not_found_error:
            raise PendingUnbackedSymbolNotFound(text)
        import logging  # it prepares forks, as `dispatch.forks` does: not while one is prepared

        logging.getLogger(__name__).warning(text)
    return found


def resolve_unbacked_bindings(
    shape_env: Any, bindings: dict[Expr, Path] | None
) -> dict[Expr, Path] | None:
    """The same with the names that symbols have got since."""
    if bindings is None:
        return None
    return {shape_env.unbacked_renamings.get(k, k): path for k, path in bindings.items()}


def rebind_unbacked(shape_env: Any, n: Any, result: Any) -> None:
    """Says that the new symbols of `result` are those that the call `n` gave the first time.

    `n` is a node of a graph: `n.op`, and `n.meta["unbacked_bindings"]` from the first time.
    """
    if n.op == "placeholder":
        return
    bindings = resolve_unbacked_bindings(shape_env, n.meta.get("unbacked_bindings"))
    for old, path in (bindings or {}).items():
        new = result
        for key in path:
            new = key.get(new)
        if not isinstance(new, (SymInt, SymFloat, SymBool)):
            continue  # a constant that nothing has to be said of
        e = new.node.expr
        if e.is_symbol and e.unbacked:
            if e != old:
                shape_env._rename_unbacked_to(e, old)
        elif not expect_true(shape_env.create_symboolnode(shape_env.same(old, e))):
            raise AssertionError(f"{old} was bound again to {e}")
