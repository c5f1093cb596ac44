"""The sizes that a program leaves open: its symbols, what people may call them, and inputs at other
sizes.

An exported program has symbols (`s43`) where it was exported with dynamic shapes. A file keeps no
other names, so each symbol is also known by the dimensions of the inputs that it is
(`input_ids:0`), and as `batch` or `seq` where it is the only symbol in the first or second
dimension of the inputs. `chosen` turns what a user sets into a value for every symbol, within the
exported ranges; `sized` gives an input's metadata at these values.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dispatch.graph.errors import plain
from dispatch.graph.expr import evaluate, hint_of, symbol_of, symbols_in
from dispatch.graph.program import Graph, SymInt, TensorMeta
from dispatch.graph.signature import Binding, Signature

__all__ = ["OpenSize", "chosen", "find", "open_sizes", "shape_values", "sized", "sized_number"]

_ROLES = ("batch", "seq")  # of the inputs' first and second dimension
_MOST = 1 << 40  # no size that anybody means is larger


class OpenSize(NamedTuple):
    """A symbol of the program's inputs. `names`: what it may be called, the symbol last; `low` and
    `high`: the exported range (None: no limit); `recorded`: its value when it was exported;
    `places`: inputs (by number) and dimensions that are this symbol alone; `through`: of one that
    is nowhere alone, an input and dimension that are an expression of it (2 * s0)."""

    symbol: str
    names: tuple[str, ...]
    low: int
    high: int | None
    recorded: int | None
    places: tuple[tuple[int, int], ...]
    through: tuple[int, int, SymInt] | None = None

    @property
    def name(self) -> str:
        """The name for people."""
        return self.names[0]

    def __str__(self) -> str:
        limits = f"{self.low} or more" if self.high is None else f"{self.low} to {self.high}"
        return plain(f"{' = '.join(self.names)} ({limits})")

    def check(self, value: int) -> None:
        """Raise `ValueError` when the program was not exported for such a value."""
        if value < self.low or value > (_MOST if self.high is None else self.high):
            raise ValueError(f"{plain(self.name)} = {value}: out of range: there is {self}")


def open_sizes(
    signature: Signature, graph: Graph, named: Collection[str] = ()
) -> tuple[OpenSize, ...]:
    """The symbols of the user's inputs, in order of first use; those that are `named` have the name
    that somebody gave them."""
    places: dict[str, list[tuple[int, int]]] = {}
    hints: dict[str, int] = {}
    names: dict[str, list[str]] = {}
    columns: dict[int, set[str]] = {}
    through: dict[str, tuple[int, int, SymInt]] = {}

    def add(value: SymInt, name: str, place: tuple[int, int] | None) -> None:
        inside = symbols_in(value)
        for symbol in inside:
            places.setdefault(symbol, [])
        alone, hint = symbol_of(value), hint_of(value)
        if alone is None:
            if len(inside) == 1 and place is not None:
                through.setdefault(inside[0], (*place, value))
            return
        names.setdefault(alone, []).append(name)
        if isinstance(hint, int):
            hints.setdefault(alone, hint)
        if place is not None:
            places[alone].append(place)
            columns.setdefault(place[1], set()).add(alone)

    for i, binding in enumerate(signature.user_bindings):
        if binding.meta is not None:
            for dim, size in enumerate(binding.meta.sizes):
                add(size, f"{binding.name}:{dim}", (i, dim))
        elif binding.name in graph.sym_int_values:
            add(graph.sym_int_values[binding.name], binding.name, None)
    roles = _roles(columns)
    found = []
    for symbol, where in places.items():
        limits = signature.ranges.get(symbol)
        low = limits.min_val if limits is not None else None
        high = limits.max_val if limits is not None else None
        role = [roles[symbol]] if symbol in roles else []
        first = [symbol] if symbol in named else role
        known = tuple(dict.fromkeys((*first, *names.get(symbol, ()), symbol)))
        recorded, derived = hints.get(symbol), None if where else through.get(symbol)
        if derived is not None:
            recorded = _solved(derived[2], symbol, hint_of(derived[2]))
        found.append(
            OpenSize(symbol, known, max(low or 0, 0), high, recorded, tuple(where), derived)
        )
    return tuple(found)


def _solved(value: SymInt, symbol: str, number: Any) -> int | None:
    """What the symbol is when the expression, which is linear in it, is a number."""
    at = [evaluate(value, {symbol: i}) for i in (0, 1)]
    if at[0] is None or at[1] is None or at[0] == at[1] or not isinstance(number, int):
        return None
    found = (number - at[0]) // (at[1] - at[0])
    return found if evaluate(value, {symbol: found}) == number else None


def _roles(columns: Mapping[int, set[str]]) -> dict[str, str]:
    """`batch` and `seq`, where only one symbol can be meant."""
    roles: dict[str, str] = {}
    for dim, role in enumerate(_ROLES):
        symbols = columns.get(dim, set())
        if len(symbols) == 1:
            roles.setdefault(next(iter(symbols)), role)
    return roles


def find(sizes: Sequence[OpenSize], name: str) -> OpenSize:
    """The size that is called so; `ValueError` says which there are."""
    for size in sizes:
        if name in size.names:
            return size
    if not sizes:
        raise ValueError(
            f"{plain(name)}: no size can be set: the program was exported with fixed sizes; free a "
            "dimension (--free INPUT:0=batch, GraphModule.free), or leave one open in the export "
            "(dynamic_shapes)"
        )
    there = "; ".join(map(str, sizes))
    raise ValueError(f"no size {plain(name)!r}: there is {there}")


def chosen(sizes: Sequence[OpenSize], wanted: Mapping[str, int]) -> dict[str, int]:
    """A value for each symbol: as `wanted` by any of its names, else as recorded.

    Raises `ValueError` for an unknown name, a value out of range, or two values for one symbol.
    """
    values: dict[str, int] = {}
    for name, value in wanted.items():
        size = find(sizes, name)
        size.check(value)
        if values.setdefault(size.symbol, value) != value:
            problem = f"both {values[size.symbol]} and {value}"
            raise ValueError(f"{plain(size.name)} cannot be {problem}: {size}")
    for size in sizes:
        if size.symbol not in values:
            if size.recorded is None:
                raise ValueError(f"{plain(size.name)} has no recorded value: set it: {size}")
            values[size.symbol] = size.recorded
    return values


def shape_values(sizes: Iterable[OpenSize], shape_of: Callable[[int], Any]) -> dict[str, int]:
    """The symbols' values in given inputs; `shape_of(input)` is an input's shape."""
    found: dict[str, int] = {}
    for size in sizes:
        value = None
        if size.places:
            value = int(shape_of(size.places[0][0])[size.places[0][1]])
        elif size.through is not None:
            i, dim, expression = size.through
            value = _solved(expression, size.symbol, int(shape_of(i)[dim]))
        if value is not None:
            found[size.symbol] = value
    return found


def sized(binding: Binding, values: Mapping[str, int]) -> TensorMeta:
    """The metadata of a tensor input with these values for its symbols."""
    meta = binding.meta
    assert meta is not None
    return meta._replace(
        sizes=tuple(_known(s, values, binding) for s in meta.sizes),
        strides=tuple(_known(s, values, binding) for s in meta.strides),
        storage_offset=_known(meta.storage_offset, values, binding),
    )


def sized_number(binding: Binding, graph: Graph, values: Mapping[str, int]) -> Any:
    """The value of an input that is no tensor: a symbol's, or what was recorded."""
    recorded = graph.sym_int_values.get(binding.name)
    return binding.value if recorded is None else _known(recorded, values, binding).value


def _known(size: SymInt, values: Mapping[str, int], binding: Binding) -> SymInt:
    number = evaluate(size, values)
    if number is None:
        where = plain(f"input {binding.name}")
        raise ValueError(f"{where}: its size is an expression that is not known here")
    return SymInt("as_int", number)
