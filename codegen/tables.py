"""The static tables of `ops.h`: every record of `emitted.h`, with what repeats stored once.

Argument names, defaults, whole argument lists and rows are shared; a row belongs to a pattern of
registrations, not to an operator. All of it is a context for `ops.h.j2`: rows of numbers and
names, in a fixed order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .encoding import AF, AK, DF, OF, arg_spec, default_spec, named, named_bits
from .families import Layout
from .model import Kernel, NativeFunction, Package, symbol_of
from .output import c_string, rows_of, wrapped
from .resolve import ROW_AMBIGUOUS, ROW_FALLBACK, Row, row_of
from .schema import Argument

__all__ = ["Tables"]

_VARIANTS = ("SV_FUNCTIONAL", "SV_INPLACE", "SV_OUT")
_ENTRIES = {ROW_AMBIGUOUS: "AMB", ROW_FALLBACK: "FB"}
_MAX_UINT8 = 255


class _Pool:
    """Distinct sequences of records in one array: equal sequences share their place."""

    def __init__(self) -> None:
        self.sequences: list[dict[str, Any]] = []
        self.n_items = 0
        self._first: dict[tuple[str, ...], int] = {}

    def add(self, sequence: Sequence[str], about: Sequence[object]) -> int:
        """The place of the sequence's first record; `about` is what it says, for the reader."""
        key = tuple(sequence)
        if key not in self._first:
            self._first[key] = self.n_items if key else 0
            self.n_items += len(key)
            if key:
                about_text = wrapped((_in_comment(str(each)) for each in about), 7, 7)
                self.sequences.append({"about": about_text, "rows": rows_of(key)})
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
            "arg_names": [{"name": name, "text": c_string(name)} for name in self.arg_names],
            "families": list(self.layout.families),
            "default_values": [
                {"index": i, "text": ", ".join(map(str, values)) or "0"}
                for values, i in self.default_values.items()
            ],
            "defaults": list(self.defaults),
            "args": self.args.sequences,
            "rets": self.rets.sequences,
            "kernels": self.kernel_rows,
            "rows": [
                {
                    "index": i,
                    "pattern": ", ".join(_pattern_text(p) for p in patterns[i]) or "nothing",
                    "lines": list(self._row_lines(row)),
                }
                for i, row in enumerate(self.row_data)
            ],
            "row_hard": rows_of(f"0x{row.hard:X}ULL" for row in self.row_data),
            "shards": [
                c_string(self.layout.shard_module(family)) for family in self.layout.families
            ],
            "ops": self.ops,
            "n_ops": len(self.ops),
            "n_args": self.args.n_items,
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
        arguments = schema.arguments
        positional = [a for a in arguments if not a.kwarg_only]
        _check_sizes(f, kernels)
        places = {
            "first_arg": self.args.add([self._arg(f, a) for a in arguments], arguments),
            "first_ret": self.rets.add([_ret(a) for a in schema.returns], schema.returns),
            "first_kernel": self._add_kernels(f, kernels),
            "row": self._row(kernels),
            "n_args": len(arguments),
            "n_pos": len(positional),
            "n_rets": len(schema.returns),
            "n_kernels": len(kernels),
        }
        tags = {name: 1 << i for i, name in enumerate(self.package.tag_names)}
        bits = {"tags": named_bits("TAG", tags, f.tags), "flags": named_bits("OF", OF, f.flags)}
        texts = (c_string(schema.name), c_string(schema.overload_name), c_string(str(schema)))
        return {
            "texts": ", ".join(texts),
            "places": ", ".join(f".{field} = {value}" for field, value in places.items()),
            "bits": ", ".join(f".{field} = {value}" for field, value in bits.items()),
        }

    def _arg(self, f: NativeFunction, argument: Argument) -> str:
        kind, flags, alias, size = arg_spec(argument)
        default = self._default(f, argument) if flags & AF["HAS_DEFAULT"] else 0
        texts = f"ARG_{argument.name}", named_bits("AF", AF, flags), named("AK", AK, kind)
        return f"{{{', '.join(texts)}, {alias}, {size}, {default}}}"

    def _default(self, f: NativeFunction, argument: Argument) -> int:
        try:
            kind, i, number, text, values = default_spec(argument)
        except ValueError as error:
            raise f.error(str(error)) from error
        pointer = "NULL"
        if values is not None:
            place = self.default_values.setdefault(values, len(self.default_values))
            pointer = f"DEFAULT_{place}"
        name = named("DF", DF, kind)
        record = f"{{{name}, {_c_int(i)}, {_c_float(number)}, {c_string(text)}, {pointer}}}"
        return self.defaults.setdefault(record, len(self.defaults))

    def _add_kernels(self, f: NativeFunction, kernels: tuple[Kernel, ...]) -> int:
        first = self.n_kernels
        if kernels:
            rows = [self._kernel(f, kernel) for kernel in kernels]
            self.kernel_rows.append({"name": f.name, "rows": rows})
            self.n_kernels += len(rows)
        return first

    def _kernel(self, f: NativeFunction, kernel: Kernel) -> str:
        shard: str | int = 0
        slot = kernel.number
        ref = ref2 = None
        elsewhere = kernel.elsewhere.text if kernel.elsewhere else None
        if kernel.is_cython:
            family, slot = self.layout.place(f, kernel)
            shard = f"SHARD_{family}"
        elif kernel.shape is not None:
            ref = kernel.shape.text
            ref2 = kernel.body.text if kernel.body is not None else None
        elif kernel.body is not None:
            ref = kernel.body.text
        target = f"OP_{symbol_of(kernel.target)}" if kernel.target else -1
        return (
            f"{{DK_{kernel.key}, KK_{kernel.kind}, {_VARIANTS[kernel.variant]}, {kernel.n_out}, "
            f"{shard}, {slot}, {target}, {c_string(ref)}, {c_string(ref2)}, "
            f"{c_string(elsewhere)}}}"
        )

    def _row_lines(self, row: Row) -> Iterator[str]:
        """The entries by functionality: one with a key for each backend on lines of its own."""
        keys = self.package.keys
        per_backend = {f.value: f.name for f in keys.functionalities if f.prefix is not None}
        runs: list[tuple[str, list[str]]] = []
        for key, code in zip(keys.runtime, row.entries, strict=True):
            about = per_backend.get(key.functionality, "")
            if not runs or runs[-1][0] != about:
                runs.append((about, []))
            text = str(_ENTRIES.get(code, code))
            runs[-1][1].append(text if about else f"/* {key.name} */ {text}")
        for about, entries in runs:
            if about:
                yield f"/* {about}, by backend */"
            yield from rows_of(entries)

    def _row(self, kernels: tuple[Kernel, ...]) -> int:
        pattern = tuple((k.key, k.kind == "FALLTHROUGH") for k in kernels)
        if pattern not in self.rows:
            codes = {key: i for i, (key, _) in enumerate(pattern)}
            skipped = frozenset(key for key, fallthrough in pattern if fallthrough)
            self.rows[pattern] = len(self.row_data)
            self.row_data.append(row_of(self.package.keys, codes, skipped))
        return self.rows[pattern]


def _in_comment(text: str) -> str:
    return text.replace("*/", "* /").replace("/*", "/ *")


def _ret(argument: Argument) -> str:
    kind, flags, alias, _ = arg_spec(argument)
    return f"{{{named_bits('AF', AF, flags)}, {named('AK', AK, kind)}, {alias}}}"


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
