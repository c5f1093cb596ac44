"""What changed between two models: two reports -> rows of what differs.

Both are compared as `to_json` gives them: totals, how often operators are called, parameters and
buffers by name, inputs and outputs by place, modules by path, and calls by module, operator and
shapes, as often as each occurs (a call more shifts every later one's name and number, so that
neither says which calls are the same). Tables fold what is alike in repeated layers
(`layers.*.mlp`), begin with the largest changes of operators, and are cut; `to_json` is whole.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from dispatch.graph.errors import plain
from dispatch.graph.text import Table, bytes_text, count_text, shape_text

__all__ = ["Difference", "compare"]

Json = dict[str, Any]
_KINDS = ("parameter", "buffer", "constant")
_ROWS = 30
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")  # a layer's, within a dotted path


class Difference(NamedTuple):
    """By subject, rows of (what, in the first, in the second); None: not there."""

    first: str
    second: str
    totals: list[tuple[str, int, int]]
    operators: list[tuple[str, int, int]]
    signature: list[tuple[str, str | None, str | None]]
    weights: list[tuple[str, str | None, str | None]]
    modules: list[tuple[str, Json | None, Json | None]]
    calls: list[tuple[str, int, int]]

    @property
    def title(self) -> str:
        return plain(f"{self.first} and {self.second}")

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs but, perhaps, the files' names."""
        return not (
            any(a != b for _, a, b in self.totals) or self.operators or self.signature
            or self.weights or self.modules or self.calls
        )  # fmt: skip

    def to_json(self) -> Json:
        """All of it as plain values."""
        return {
            "first": self.first,
            "second": self.second,
            "equal": self.is_empty,
            **{
                name: [{"what": w, "first": a, "second": b} for w, a, b in getattr(self, name)]
                for name in ("totals", "operators", "signature", "weights", "modules", "calls")
            },
        }

    def tables(self) -> list[Table]:
        """The tables with rows in them; totals always."""
        names = (plain(self.first), plain(self.second))
        if names[0] == names[1]:
            names = ("first", "second")
        made = (
            Table("totals", ("", *names, "change"), ("",), list(map(_total_row, self.totals))),
            _counts("operators, calls of each", names, _largest_first(self.operators)),
            _texts("inputs and outputs", names, self.signature),
            _texts("parameters and buffers", names, self.weights),
            _module_table(names, self.modules),
            _counts("calls that only one has", names, _largest_first(_added_up(self.calls))),
        )
        return [table for table in made if table.rows]


def compare(first: Json, second: Json) -> Difference:
    """What differs between two reports."""
    return Difference(
        first["model"],
        second["model"],
        [(name, value(first), value(second)) for name, (value, _) in _TOTALS.items()],
        _different(*(Counter(call["op"] for call in r["calls"]) for r in (first, second))),
        _changed(_signature(first), _signature(second)),
        _changed(_weights(first), _weights(second)),
        _changed(_modules(first), _modules(second)),
        _different(*(Counter(map(_call_key, r["calls"])) for r in (first, second))),
    )


_TOTALS: Mapping[str, tuple[Callable[[Json], int], Callable[[int], str]]] = {
    "parameters": (lambda r: r["parameters"], lambda n: f"{n:,}"),
    "parameter memory": (lambda r: r["parameter_bytes"], bytes_text),
    "peak memory": (lambda r: r["peak_bytes"], bytes_text),
    "new memory": (lambda r: sum(c["new_bytes"] for c in r["calls"]), bytes_text),
    "FLOPs": (lambda r: r["flops"], count_text),
    "calls": (lambda r: len(r["calls"]), lambda n: f"{n:,}"),
}


def _different(a: Counter[str], b: Counter[str]) -> list[tuple[str, int, int]]:
    """What occurs more often in one of them."""
    keys = dict.fromkeys((*a, *b))
    return [(key, a[key], b[key]) for key in keys if a[key] != b[key]]


def _changed(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    keys = dict.fromkeys((*a, *b))
    return [(key, a.get(key), b.get(key)) for key in keys if a.get(key) != b.get(key)]


def _signature(report: Json) -> dict[str, str]:
    return {
        f"{name} {i}": f"{shape_text(meta, strides=True)} on {meta['device']}" if meta else "None"
        for name in ("inputs", "outputs")
        for i, meta in enumerate(report[name])
    }


def _weights(report: Json) -> dict[str, str]:
    return {
        row["name"]: f"{row['kind']} {row['dtype']}{row['shape']}"
        for row in report["storages"]
        if row["kind"] in _KINDS
    }


def _modules(report: Json) -> dict[str, Json]:
    keys = ("class", "parameters", "bytes", "flops", "calls")
    return {row["path"]: {key: row[key] for key in keys} for row in report["modules"]}


def _call_key(call: Json) -> str:
    shapes = ", ".join(shape_text(meta) for meta in call["outputs"])
    place = f"in {call['module']}" if call["module"] else ""
    return " ".join(filter(None, (call["op"], shapes, place)))


# -- tables -------------------------------------------------------------------------------------


def _total_row(row: tuple[str, int, int]) -> list[str]:
    name, a, b = row
    shown = _TOTALS[name][1]
    if a == b:
        return [name, shown(a), shown(b), "="]
    share = f" ({(b - a) / a:+.1%})" if a else ""
    return [name, shown(a), shown(b), f"{'+' if b > a else '-'}{shown(abs(b - a))}{share}"]


def _cut(rows: Iterable[list[str]]) -> list[list[str]]:
    """At most `_ROWS`, as many as `text.markdown_tables` shows; the last says how many are left."""
    found = list(rows)
    if len(found) <= _ROWS:
        return found
    rest = [""] * (len(found[0]) - 1)
    left = len(found) - _ROWS + 1
    return [*found[: _ROWS - 1], [f"and {left} more (--json has all)", *rest]]


def _largest_first(rows: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    return sorted(rows, key=lambda row: -abs(row[2] - row[1]))


def _added_up(rows: list[tuple[str, int, int]]) -> list[tuple[str, int, int]]:
    """Rows that differ in a layer's number only are one, with their sums."""
    groups: dict[str, list[tuple[str, int, int]]] = {}
    for row in rows:
        groups.setdefault(_NUMBER.sub("*", row[0]), []).append(row)
    return [
        (name, sum(a for _, a, _ in alike), sum(b for _, _, b in alike))
        if len(alike) > 1 else alike[0]
        for name, alike in groups.items()
    ]  # fmt: skip


def _folded(rows: Iterable[list[str]]) -> list[list[str]]:
    """Rows that are equal but for a layer's number are one, with how many they are."""
    groups: dict[tuple[str, ...], list[list[str]]] = {}
    for row in rows:
        groups.setdefault((_NUMBER.sub("*", row[0]), *row[1:]), []).append(row)
    return [
        [f"{key[0]} ({len(alike)} alike)", *key[1:]] if len(alike) > 1 else alike[0]
        for key, alike in groups.items()
    ]


def _counts(title: str, names: tuple[str, str], rows: list[tuple[str, int, int]]) -> Table:
    cells = ([plain(what), f"{a:,}", f"{b:,}", f"{b - a:+,}"] for what, a, b in rows)
    return Table(title, ("what", *names, "change"), ("what",), _cut(cells))


def _texts(title: str, names: tuple[str, str], rows: list[tuple[str, Any, Any]]) -> Table:
    columns = ("what", *names)
    cells = ([plain(what), plain(a or "-"), plain(b or "-")] for what, a, b in rows)
    return Table(title, columns, columns, _cut(_folded(cells)))


def _module_table(names: tuple[str, str], rows: list[tuple[str, Any, Any]]) -> Table:
    columns = ("module", *names)
    cells = ([plain(path or "(model)"), *_module_texts(a, b)] for path, a, b in rows)
    return Table("modules", columns, columns, _cut(_folded(cells)))


def _module_texts(a: Json | None, b: Json | None) -> list[str]:
    """What differs between two modules, in words, for each of them."""
    if a is None or b is None:
        return ["-" if row is None else _class_text(row) for row in (a, b)]
    return [", ".join(_figure(key, row[key]) for key in row if a[key] != b[key]) for row in (a, b)]


def _class_text(row: Json) -> str:
    calls = "1 call" if row["calls"] == 1 else f"{row['calls']:,} calls"
    return plain(f"{(row['class'] or 'module').rpartition('.')[2]}, {calls}")


def _figure(key: str, value: Any) -> str:
    if key == "class":
        return plain((value or "module").rpartition(".")[2])
    if key == "bytes":
        return f"new memory {bytes_text(value)}"
    return f"{'FLOPs' if key == 'flops' else key} {count_text(value)}"
