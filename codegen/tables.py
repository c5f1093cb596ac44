"""The static tables of `ops.h`: every record of `emitted.h`, with what repeats stored once.

Argument names, defaults, whole argument lists and rows are shared; a row belongs to a pattern of
registrations, not to an operator. All of it is a context for `ops.h.j2`: rows of numbers and
names, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .encoding import AF, DF, arg_spec, default_spec
from .families import Layout
from .model import Kernel, NativeFunction, Package
from .output import c_string, rows_of
from .resolve import ROW_FALLTHROUGH, Row, row_of
from .schema import Argument

__all__ = ["Tables"]

_VARIANTS = ("SV_FUNCTIONAL", "SV_INPLACE", "SV_OUT")
_MAX_UINT8 = 255


class _Pool:
    """Distinct sequences of records in one array: equal sequences share their place."""

    def __init__(self) -> None:
        self.items: list[str] = []
        self._first: dict[tuple[str, ...], int] = {}

    def add(self, sequence: Sequence[str]) -> int:
        """The place of the sequence's first record."""
        key = tuple(sequence)
        if key not in self._first:
            self._first[key] = len(self.items) if key else 0
            self.items.extend(key)
        return self._first[key]


class Tables:
    """Builds the tables of one package; `view()` is the template's context."""

    def __init__(self, package: Package, layout: Layout) -> None:
        self.package = package
        self.layout = layout
        names = sorted({a.name for f in package.functions for a in f.schema.arguments})
        self.arg_names = {name: i for i, name in enumerate(names)}
        self.defaults: dict[str, int] = {}
        self.default_values: dict[tuple[int, ...], int] = {}
        self.args: _Pool = _Pool()
        self.rets: _Pool = _Pool()
        self.rows: dict[tuple[tuple[str, bool], ...], int] = {}
        self.row_data: list[Row] = []
        self.kernel_rows: list[dict[str, Any]] = []
        self.n_kernels = 0
        self.ops = [self._op(f) for f in package.functions]

    def view(self) -> dict[str, Any]:
        """The context of `ops.h.j2`."""
        patterns = list(self.rows)
        return {
            "arg_names": rows_of(c_string(name) for name in self.arg_names),
            "default_values": [
                {"index": i, "text": ", ".join(map(str, values)) or "0"}
                for values, i in self.default_values.items()
            ],
            "defaults": list(self.defaults),
            "args": rows_of(self.args.items),
            "rets": rows_of(self.rets.items),
            "kernels": self.kernel_rows,
            "rows": [
                {
                    "index": i,
                    "pattern": ", ".join(_pattern_text(p) for p in patterns[i]) or "nothing",
                    "lines": rows_of(row.entries),
                }
                for i, row in enumerate(self.row_data)
            ],
            "row_hard": rows_of(f"0x{row.hard:X}ULL" for row in self.row_data),
            "shards": [
                c_string(self.layout.shard_module(family)) for family in self.layout.families
            ],
            "ops": self.ops,
            "n_ops": len(self.ops),
            "n_args": len(self.args.items),
            "n_kernels": self.n_kernels,
            "n_rows": len(self.row_data),
            "n_runtime": len(self.package.keys.runtime),
            "n_shards": len(self.layout.families),
            "n_arg_names": len(self.arg_names),
        }

    # -- one operator

    def _op(self, f: NativeFunction) -> dict[str, str]:
        schema = f.schema
        kernels = self.package.kernels[f.name]
        positional = [a for a in schema.arguments if not a.kwarg_only]
        _check_sizes(f, kernels)
        numbers = (
            self.args.add([self._arg(f, a) for a in schema.arguments]),
            self.rets.add([_ret(a) for a in schema.returns]),
            self._add_kernels(f, kernels),
            f"0x{f.tags:X}",
            self._row(kernels),
            len(schema.arguments),
            len(positional),
            len(schema.returns),
            len(kernels),
            f"0x{f.flags:X}",
        )
        texts = (c_string(schema.name), c_string(schema.overload_name), c_string(str(schema)))
        return {"texts": ", ".join(texts), "numbers": ", ".join(map(str, numbers))}

    def _arg(self, f: NativeFunction, argument: Argument) -> str:
        kind, flags, alias, size = arg_spec(argument)
        default = self._default(f, argument) if flags & AF["HAS_DEFAULT"] else 0
        name = self.arg_names[argument.name]
        return f"{{{name}, 0x{flags:X}, {kind}, {alias}, {size}, {default}}}"

    def _default(self, f: NativeFunction, argument: Argument) -> int:
        try:
            kind, i, number, text, values = default_spec(argument)
        except ValueError as error:
            raise f.error(str(error)) from error
        pointer = "NULL"
        if values is not None:
            place = self.default_values.setdefault(values, len(self.default_values))
            pointer = f"DEFAULT_{place}"
        name = next(n for n, v in DF.items() if v == kind)
        record = f"{{DF_{name}, {_c_int(i)}, {_c_float(number)}, {c_string(text)}, {pointer}}}"
        return self.defaults.setdefault(record, len(self.defaults))

    def _add_kernels(self, f: NativeFunction, kernels: tuple[Kernel, ...]) -> int:
        first = self.n_kernels
        if kernels:
            rows = [self._kernel(f, kernel) for kernel in kernels]
            self.kernel_rows.append({"name": f.name, "rows": rows})
            self.n_kernels += len(rows)
        return first

    def _kernel(self, f: NativeFunction, kernel: Kernel) -> str:
        shard, slot = 0, kernel.number
        ref = ref2 = None
        if kernel.kind == "CYTHON":
            shard, slot = self.layout.place(f, kernel)
        elif kernel.shape is not None:
            ref = kernel.shape.text
            ref2 = kernel.body.text if kernel.body is not None else None
        elif kernel.body is not None:
            ref = kernel.body.text
        target = self.package.index_of[kernel.target] if kernel.target else -1
        value = self.package.keys.values[kernel.key]
        return (
            f"{{{value}, KK_{kernel.kind}, {_VARIANTS[kernel.variant]}, {kernel.n_out}, "
            f"{shard}, {slot}, {target}, {c_string(ref)}, {c_string(ref2)}}}"
        )

    def _row(self, kernels: tuple[Kernel, ...]) -> int:
        pattern = tuple((k.key, k.kind == "FALLTHROUGH") for k in kernels)
        if pattern not in self.rows:
            codes = {
                key: ROW_FALLTHROUGH if fallthrough else i
                for i, (key, fallthrough) in enumerate(pattern)
            }
            self.rows[pattern] = len(self.row_data)
            self.row_data.append(row_of(self.package.keys, codes))
        return self.rows[pattern]


def _ret(argument: Argument) -> str:
    kind, flags, alias, _ = arg_spec(argument)
    return f"{{0x{flags:X}, {kind}, {alias}}}"


def _pattern_text(item: tuple[str, bool]) -> str:
    return f"{item[0]} (fallthrough)" if item[1] else item[0]


def _c_int(value: int) -> str:
    return f"{value}" if abs(value) < 2**31 else f"{value}LL"


def _c_float(value: float) -> str:
    if value != value:
        return "NAN"
    if abs(value) == float("inf"):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)


def _check_sizes(f: NativeFunction, kernels: tuple[Kernel, ...]) -> None:
    keys = [k.key for k in kernels]
    for key in keys:
        if keys.count(key) > 1:
            raise f.error(f"has two kernels for {key}")
    if len(f.schema.arguments) > 64 or len(f.schema.returns) > _MAX_UINT8:
        raise f.error("has more arguments or results than a call can hold (64)")
