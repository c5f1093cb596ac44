"""A report in words and columns: the tables that the terminal, Markdown and `str(report)` show.

All take the report as `to_json` gives it. `facts` and the functions that make a `Table` say what is
shown, once; the command line draws them with rich, `plain_text` and `markdown` with nothing. Texts
from a model file are shown without control characters. A fake run computes nothing: its time is
that of this tool, and is called so.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from dispatch.graph.errors import plain

__all__ = [
    "Table",
    "advice_table",
    "alive_table",
    "baked_table",
    "baked_text",
    "bytes_text",
    "call_line",
    "count_text",
    "facts",
    "fitting_depth",
    "markdown",
    "markdown_tables",
    "module_table",
    "operator_table",
    "output_texts",
    "plain_text",
    "roofline_tables",
    "shape_text",
    "time_text",
]

Json = dict[str, Any]
_ROWS = 30  # of a table in `str(report)` and in Markdown
_LISTED = 8
_FOLDED = ("parameter", "buffer", "constant", "gradient")


class Table(NamedTuple):
    """Rows of texts under `columns`; those in `left` are texts, the others numbers. Where there is
    no room for all columns, those in `spare` go, the first one first."""

    title: str
    columns: tuple[str, ...]
    left: tuple[str, ...]
    rows: list[list[str]]
    spare: tuple[str, ...] = ()

    def within(self, width: int, gap: int = 2) -> "Table":
        """The table without columns that say nothing, and as wide as `width` if it can be."""
        widths = {
            name: max(map(len, (name, *cells)))
            for name, *cells in zip(self.columns, *self.rows, strict=True)
            if any(cells)
        }
        for name in self.spare:
            if sum(widths.values()) + gap * len(widths) > width:
                widths.pop(name, None)
        kept = [i for i, name in enumerate(self.columns) if name in widths]
        rows = [[row[i] for i in kept] for row in self.rows]
        return self._replace(columns=tuple(self.columns[i] for i in kept), rows=rows)


# -- numbers ------------------------------------------------------------------------------------


def bytes_text(n: int) -> str:
    """`96.7 MB`."""
    return f"{n} B" if abs(n) < 1000 else _scaled(n, ("kB", "MB", "GB", "TB", "PB", "EB"), 1)


def count_text(n: int) -> str:
    """`1.97 M`."""
    return str(n) if abs(n) < 1000 else _scaled(n, ("k", "M", "G", "T", "P", "E"), 2)


def time_text(ns: int | None) -> str:
    """`27.1 ms`."""
    if ns is None:
        return ""
    return f"{ns} ns" if ns < 1000 else _scaled(ns, ("us", "ms", "s"), 1)


def _scaled(n: float, units: Sequence[str], digits: int) -> str:
    for unit in units:
        n /= 1000
        if abs(n) < 999.95 or unit == units[-1]:
            break
    return f"{n:,.{digits}f} {unit}"


def shape_text(meta: Json | None, strides: bool = False) -> str:
    """`float32[2, 3]`."""
    if meta is None:
        return "None"
    text = f"{meta['dtype']}{meta['shape']}"
    return f"{text} strides {meta['stride']}" if strides else text


def call_line(call: Json) -> str:
    """A call with its outputs; of a symbolic run with expressions for their sizes."""
    outputs = "; ".join(output_texts(call, strides=True))
    place = f"  in {call['module']}" if call["module"] else ""
    return f"{call['index']:>6}  {call['node']}  {call['op']}  {outputs}{place}"


def output_texts(call: Json, strides: bool = False) -> list[str]:
    """The outputs of a call; of a symbolic run with expressions for their sizes."""
    metas = call["outputs"]
    if "outputs_expr" in call:
        metas = [
            {**meta, "shape": _symbols(expr["shape"]), "stride": _symbols(expr["stride"])}
            if meta is not None else None
            for meta, expr in zip(metas, call["outputs_expr"], strict=True)
        ]  # fmt: skip
    return [shape_text(meta, strides) for meta in metas]


def _symbols(sizes: Iterable[int | str]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def _listed(texts: Iterable[str], at_most: int = _LISTED) -> str:
    items = list(texts)
    more = f", and {len(items) - at_most} more" if len(items) > at_most else ""
    return ", ".join(items[:at_most]) + more


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' if n != 1 else ''}"


# -- what is shown ------------------------------------------------------------------------------


def facts(report: Json) -> list[tuple[str, str]]:
    """The head of a report: what was run and what it needs."""
    size = bytes_text(report["parameter_bytes"])
    found = [
        ("model", plain(report["model"])),
        ("run", _run_text(report)),
        ("parameters", f"{report['parameters']:,} ({size})"),
        *([("open sizes", _sizes_text(report["sizes"]))] if report["sizes"] else []),
        ("inputs", _listed(shape_text(m) for m in report["inputs"])),
        ("outputs", _listed(shape_text(m) for m in report["outputs"])),
        ("peak memory", _peak_text(report)),
        *_peak_expressions(report),
        ("FLOPs", count_text(report["flops"])),
        *([("FLOPs =", plain(str(report["flops_expr"])))] if "flops_expr" in report else []),
        *_conditions(report),
        ("calls", f"{len(report['calls']):,}, {len(report['operators']):,} operators"),
    ]
    views = [call for call in report["calls"] if call["outputs"] and not call["new_bytes"]]
    if views:
        hidden = sum(call["output_bytes"] for call in views)
        verb = "allocates" if len(views) == 1 else "allocate"
        text = f"{_counted(len(views), 'call')} (views, in place) {verb} nothing"
        found.append(("no new memory", f"{text}; copies would take {bytes_text(hidden)}"))
    if "roofline" in report:
        found.append(("estimated time", _roofline_text(report)))
    if "baked" in report:
        found.append(("freed sizes", baked_text(report["baked"])))
    if report["unregistered"]:
        names = _listed(plain(name) for name in report["unregistered"])
        found.append(("not registered", f"{names}: outputs as the file records them"))
    made_up = [
        _counted(report[f"made_up_{what}s"], what)
        for what in ("weight", "input")
        if report[f"made_up_{what}s"]
    ]
    if made_up:
        found.append(("made up", f"{' and '.join(made_up)}: random values, nobody gave any"))
    found.append(("this tool", _tool_text(report)))
    return found


def baked_text(rows: Sequence[Json]) -> str:
    """What became of a program of which dimensions were freed, as one line."""
    stuck = [row for row in rows if not row["expr"]]
    if stuck:
        row = stuck[0]
        return plain(f"call {row['node']} ({row['op']}) does not follow: {row['problem']}")
    if not rows:
        return "every size follows"
    counted = f"{_counted(len(rows), 'number')} baked in, taken as going with them: "
    texts = [
        f"{row['node']} {row['argument']} = {row['value']} as {row['expr']}" for row in rows
    ]
    return counted + plain(_listed(texts, 3))


def baked_table(report: Json) -> Table:
    """Numbers that the export baked in, by call."""
    columns = ("call", "operator", "argument", "number", "has to be")
    cells = [
        [plain(row["node"]), plain(row["op"] or "(input)"), plain(row["argument"]),
         "" if row["value"] is None else str(row["value"]), plain(row["expr"] or row["problem"])]
        for row in report.get("baked", [])
    ]  # fmt: skip
    left = ("call", "operator", "argument", "has to be")
    return Table("numbers that the export baked in", columns, left, cells)


def _peak_expressions(report: Json) -> list[tuple[str, str]]:
    """A row for each call where the peak of a symbolic run can be."""
    rows = report.get("peaks", [])
    what = "peak =" if len(rows) == 1 else "peak = max of"
    return [
        (what, plain(f"{row['bytes_expr']} during call {row['index']}, {row['node']}"))
        for row in rows
    ]


def _conditions(report: Json) -> list[tuple[str, str]]:
    """When the expressions of a symbolic run hold."""
    guards = [row["expr"] + (f" ({row['node']})" if row["node"] else "")
              for row in report.get("guards", [])]  # fmt: skip
    found = [("expressions if", plain(_listed(guards)))] if guards else []
    asserts = report.get("asserts", [])
    return [*found, *([("data decide", plain(_listed(asserts)))] if asserts else [])]


def _sizes_text(rows: list[Json]) -> str:
    """`batch = 64 (s43; 1 to 512)`."""
    texts = []
    for row in rows:
        value = "not known" if row["value"] is None else row["value"]
        others = ", ".join(name for name in row["names"] if name != row["name"])
        limits = f"{row['min']} " + ("or more" if row["max"] is None else f"to {row['max']}")
        limits += f"; {others or 'data decide'}"
        texts.append(f"{row['name']} = {value} ({limits})")
    return plain(_listed(texts))


def _run_text(report: Json) -> str:
    device = plain(report["device"])
    if report["mode"] == "fake":
        return f"fake on {device}: shapes and memory are worked out, nothing is computed"
    return f"computed on {device}"


def _tool_text(report: Json) -> str:
    took = time_text(report["wall_ns"])
    if report["mode"] != "fake":
        return f"computed for {took}, kernels of this package, not PyTorch's"
    cache = report["cache"]
    hits = f"{cache['hits']:,} hits, {cache['misses']:,} misses"
    bypassed = sum(cache["bypasses"].values())
    return f"worked for {took} (not the model's time); cache {hits}, {bypassed:,} bypassed"


def _peak_text(report: Json) -> str:
    if report["peak_index"] < 0:
        return bytes_text(report["peak_bytes"])
    call = report["calls"][report["peak_index"]]
    sums: dict[str, int] = {}
    for row in report["alive_at_peak"]:
        sums[row["kind"]] = sums.get(row["kind"], 0) + row["bytes"]
    plural = {"activation": "activations", "parameter": "parameters", "input": "inputs",
              "buffer": "buffers", "constant": "constants", "gradient": "gradients"}  # fmt: skip
    parts = (f"{plural[kind]} {bytes_text(n)}" for kind, n in sums.items() if n)
    where = f"during call {call['index']}, {plain(call['node'])} ({plain(call['op'])})"
    return f"{bytes_text(report['peak_bytes'])} {where}: {', '.join(parts)}"


def _roofline_text(report: Json) -> str:
    found = report["roofline"]
    fits = "the peak fits in" if found["fits"] else "the peak DOES NOT FIT in"
    return (
        f"at least {time_text(round(found['ns']))} on {plain(found['title'])}, "
        f"{found['memory_bound_share']:.0%} of it bound by memory, "
        f"utilisation at most {found['utilisation']:.0%}, "
        f"{bytes_text(found['moved_bytes'])} moved; "
        f"{fits} {bytes_text(int(found['memory']))} ({found['how']})"
    )


def roofline_tables(report: Json, depth: int | None = None) -> list[Table]:
    """The estimated times, by operator and by module; none when there is no estimate."""
    if "roofline" not in report:
        return []
    found = report["roofline"]
    columns = ("time", "share", "memory-bound", "utilisation", "FLOPs", "moved", "calls")
    operators = [[plain(row["op"]), *_roofline_cells(row)] for row in found["operators"]]
    modules = [
        ["  " * row["depth"] + plain(row["path"].rpartition(".")[2] or "(model)"),
         *_roofline_cells(row)]
        for row in found["modules"]
        if depth is None or row["depth"] <= depth
    ]  # fmt: skip
    title = f"estimated time on {plain(found['hardware'])}, at least"
    tables = [
        Table(f"{title}, by {what}", (what, *columns), (what,), rows, ("calls", "FLOPs", "moved"))
        for what, rows in (("operator", operators), ("module", modules))
    ]
    return tables if len(modules) > 1 else tables[:1]


def _roofline_cells(row: Json) -> list[str]:
    return [
        time_text(round(row["ns"])),
        f"{row['share']:.1%}",
        f"{row['memory_bound_share']:.0%}",
        f"{row['utilisation']:.1%}",
        count_text(row["flops"]) if row["flops"] else "",
        bytes_text(row["moved_bytes"]) if row["moved_bytes"] else "",
        f"{row['calls']:,}",
    ]


def operator_table(report: Json) -> Table:
    """Operators by the memory that they allocate, or by their time."""
    rows = report["operators"]
    timed = any(row["ns"] is not None for row in rows)
    key = "ns" if timed else "new_bytes"
    total = sum(row[key] or 0 for row in rows) or 1
    columns = ("operator", "calls", *(["time"] if timed else []), "share", "new memory", "output",
               "FLOPs")  # fmt: skip
    cells = [
        [
            plain(row["op"]),
            f"{row['calls']:,}",
            *([time_text(row["ns"])] if timed else []),
            f"{(row[key] or 0) / total:.1%}",
            bytes_text(row["new_bytes"]) if row["new_bytes"] else "-",
            bytes_text(row["output_bytes"]),
            count_text(row["flops"]) if row["flops"] else "",
        ]
        for row in rows
    ]
    return Table("operators", columns, ("operator",), cells, ("share", "output"))


def module_table(report: Json, depth: int | None = None) -> Table:
    """The tree of modules, down to `depth`; each with all that is below it."""
    rows = [r for r in report["modules"] if depth is None or r["depth"] <= depth]
    timed = any(row["ns"] is not None for row in rows)
    exprs = ("new memory =", "FLOPs =") if any("flops_expr" in row for row in rows) else ()
    columns = ("module", "class", "parameters", "new memory", "at the peak", "share", "FLOPs",
               *(["time"] if timed else []), "calls", *exprs, "source")  # fmt: skip
    cells = [
        [
            "  " * row["depth"] + plain(row["path"].rpartition(".")[2] or "(model)"),
            plain((row["class"] or "").rpartition(".")[2]),
            count_text(row["parameters"]) if row["parameters"] else "",
            bytes_text(row["bytes"]) if row["bytes"] else "",
            bytes_text(row["peak_bytes"]) if row["peak_bytes"] else "",
            f"{row['peak_share']:.1%}" if row["peak_bytes"] else "",
            count_text(row["flops"]) if row["flops"] else "",
            *([time_text(row["ns"])] if timed else []),
            f"{row['calls']:,}" if row["calls"] else "",
            *([plain(str(row[key])) for key in ("bytes_expr", "flops_expr")] if exprs else []),
            _short_source(row["source"]),
        ]
        for row in rows
    ]
    spare = ("source", "calls", "parameters", "share", "class", *exprs)
    return Table("modules", columns, ("module", "class", "source", *exprs), cells, spare)


def _short_source(source: str | None) -> str:
    """The last two parts of a file's path, and the line."""
    return plain("/".join(source.replace("\\", "/").split("/")[-2:])) if source else ""


def alive_table(
    report: Json,
    rows: list[Json],
    title: str = "alive at the peak",
    at_most: int = _ROWS,
    folded: bool = True,
) -> Table:
    """Storages (of `Report.alive_at`), with the calls that made and last used them; `folded`: all
    weights, and all gradients, are one row a kind, beside which activations are seen."""
    columns = ("what", "kind", "size", "shape", "made by", "last used by", "module")
    shown, weights = _without_weights(rows) if folded else (rows, [])
    most = max(at_most - len(weights), 0)
    cells = weights + [
        [
            plain(row["name"]),
            row["kind"],
            bytes_text(row["bytes"]),
            f"{row['dtype']}{row['shape']}" if row["shape"] is not None else "",
            _call_text(report, row["made"], row["kind"]),
            _call_text(report, row["last_used"], never_text(row)),
            plain(row["module"] or ""),
        ]
        for row in shown[:most]
    ]
    if len(shown) > most:
        rest = sum(row["bytes"] for row in shown[most:])
        cells.append([f"and {len(shown) - most} more", "", bytes_text(rest), "", "", "", ""])
    left = ("what", "kind", "shape", "made by", "last used by", "module")
    return Table(title, columns, left, cells, ("module", "kind", "shape"))


def _without_weights(rows: list[Json]) -> tuple[list[Json], list[list[str]]]:
    """The rows of what is neither a weight nor its gradient, and a row of cells for each kind of
    those."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        if row["kind"] in _FOLDED:
            found = sums.setdefault(row["kind"], [0, 0])
            found[0] += 1
            found[1] += row["bytes"]
    cells = [
        [_counted(n, kind), kind, bytes_text(size), "", kind, "", ""]
        for kind, (n, size) in sums.items()
    ]
    return [row for row in rows if row["kind"] not in _FOLDED], cells


def never_text(row: Json) -> str:
    """What stands for the last use of memory that no call takes."""
    return f"never; may be {plain(row['may_be'])}" if row["may_be"] else "never"


def _call_text(report: Json, index: int, before: str) -> str:
    if index < 0:
        return before
    if index >= len(report["calls"]):
        return "output"
    return f"{index} {plain(report['calls'][index]['node'])}"


def advice_table(report: Json) -> Table:
    """What would lower the peak."""
    cells = [
        [plain(row["what"]), bytes_text(row["saved_bytes"]), bytes_text(row["peak_bytes"])]
        for row in report["advice"]
    ]
    columns = ("idea", "saves", "peak then")
    return Table("what would lower the peak", columns, columns[:1], cells)


# -- how it is shown ----------------------------------------------------------------------------


def plain_text(report: Json) -> str:
    """`str(report)`."""
    width = max(len(name) for name, _ in facts(report))
    lines = [f"{name:{width}}  {text}" for name, text in facts(report)]
    for table in (
        operator_table(report),
        alive_table(report, report["alive_at_peak"], at_most=_LISTED),
        advice_table(report),
    ):
        if table.rows:
            lines += ["", *_columns(table)]
    return "\n".join(lines)


def _columns(table: Table) -> list[str]:
    rows = table.rows[:_ROWS]
    widths = [max(map(len, column)) for column in zip(table.columns, *rows, strict=True)]
    shown = []
    for row in (list(table.columns), *rows):
        cells = (
            f"{text:<{width}}" if name in table.left else f"{text:>{width}}"
            for name, text, width in zip(table.columns, row, widths, strict=True)
        )
        shown.append("  ".join(cells).rstrip())
    more = len(table.rows) - len(rows)
    return [*shown, f"and {more} more"] if more > 0 else shown


def markdown(report: Json, checks: Sequence[tuple[str, bool]] = ()) -> str:
    """A summary as GitHub shows it: facts, checks, and the tables that explain the memory."""
    parts = [f"## {_cell(report['model'])}", ""]
    parts += _markdown_rows(("", ""), (), [list(fact) for fact in facts(report)[1:]])
    if checks:
        rows = [[text, "passed" if passed else "FAILED"] for text, passed in checks]
        parts += ["", *_markdown_rows(("check", "result"), ("check", "result"), rows)]
    for table in (
        module_table(report, fitting_depth(report, _ROWS)),
        operator_table(report),
        *roofline_tables(report, fitting_depth(report, _ROWS)),
        alive_table(report, report["alive_at_peak"]),
        advice_table(report),
    ):
        if table.rows:
            parts += ["", f"<details><summary>{table.title}</summary>", ""]
            parts += [*_markdown_table(table), "", "</details>"]
    return "\n".join(parts) + "\n"


def markdown_tables(title: str, tables: Iterable[Table]) -> str:
    """Tables under a title, as GitHub shows them."""
    parts = [f"## {_cell(title)}"]
    for table in tables:
        parts += ["", f"### {_cell(table.title)}", "", *_markdown_table(table)]
    return "\n".join(parts) + "\n"


def markdown_list(title: str, table: Table, problems: Iterable[str]) -> str:
    """A whole table and a list of problems, as GitHub shows them; empty columns are left out."""
    kept = [i for i, _ in enumerate(table.columns) if any(row[i] for row in table.rows)]
    columns = [table.columns[i] for i in kept]
    rows = [[row[i] for i in kept] for row in table.rows]
    parts = [f"## {_cell(title)}", "", *_markdown_rows(columns, table.left, rows)]
    lines = [f"- {_cell(problem)}" for problem in problems]
    return "\n".join([*parts, *([""] if lines else []), *lines]) + "\n"


def fitting_depth(report: Json, at_most: int) -> int:
    """How deep the tree of modules may be shown in that many rows."""
    depths = [row["depth"] for row in report["modules"]]
    deepest = max(depths, default=0)
    fitting = (d for d in range(1, deepest + 1) if sum(x <= d for x in depths) <= at_most)
    return max(fitting, default=1)


def _markdown_table(table: Table) -> list[str]:
    rows = _markdown_rows(table.columns, table.left, table.rows[:_ROWS])
    more = len(table.rows) - _ROWS
    return [*rows, "", f"and {more} more"] if more > 0 else rows


def _markdown_rows(
    columns: Sequence[str], left: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[str]:
    line = "|".join(":--" if name in left or not name else "--:" for name in columns)
    shown = [f"| {' | '.join(columns)} |", f"|{line}|"]
    return shown + [f"| {' | '.join(map(_cell, row))} |" for row in rows]


def _cell(text: str) -> str:
    """A stranger's text within a table: no markup, no new cell; indents stay."""
    indent = len(text) - len(text.lstrip(" "))
    marks = {c: f"\\{c}" for c in "\\`*_|[]#~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
    shown = "".join(marks.get(c, c) for c in plain(text)[indent:])
    return "&nbsp;" * indent + shown
