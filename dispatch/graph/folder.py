"""A folder's models beside each other: the table of the terminal and of Markdown, and one page.

The page is the one of a single model (`html`) with a table in front of it: all reports stand in
the file, the address (`#NAME`, `#NAME/call-7`) says which one is shown, and `folder.js` starts the
charts for that one only. The table is plain HTML, so it is there without JavaScript as well.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

from dispatch._C.markup import escaped
from dispatch.graph import text
from dispatch.graph.errors import plain
from dispatch.graph.html import at_peak, fill_page, model_data

__all__ = ["folder_page", "folder_table"]

Json = dict[str, Any]
_UNESCAPED = "!'()*"  # with letters, digits and -_.~: what encodeURIComponent leaves


class _Column(NamedTuple):
    """A figure of each model; None where it has none."""

    name: str
    of: Callable[[Json], float | None]
    text: Callable[[Any], str]


_COLUMNS = (
    _Column("parameters", lambda r: r["parameters"], text.count_text),
    _Column("weights", lambda r: r["parameter_bytes"], text.bytes_text),
    _Column("peak memory", lambda r: r["peak_bytes"], text.bytes_text),
    _Column("activations", lambda r: at_peak(r)["activation"], text.bytes_text),
    _Column("FLOPs", lambda r: r["flops"], text.count_text),
    _Column("time, at least", lambda r: r["roofline"]["ns"] if "roofline" in r else None,
            lambda ns: text.time_text(round(ns))),
    _Column("calls", lambda r: len(r["calls"]), lambda n: f"{n:,}"),
)  # fmt: skip
_WIDE = ("parameters", "weights", "calls")  # not on a phone


def folder_table(reports: Mapping[str, Json]) -> text.Table:
    """A row for each model."""
    rows = [[name, *(_cell_text(c, r) for c in _COLUMNS)] for name, r in reports.items()]
    columns = ("model", *(column.name for column in _COLUMNS))
    return text.Table("models", columns, ("model",), rows, ("calls", "weights", "activations"))


def _cell_text(column: _Column, report: Json) -> str:
    value = column.of(report)
    return "" if value is None else column.text(value)


def folder_page(title: str, reports: Mapping[str, Json], problems: Iterable[str]) -> str:
    """The page for a folder's reports; `problems` are lines about what failed."""
    return fill_page(
        TITLE=escaped(plain(title)),
        CLASS="folder index",
        INDEX=_index(reports, list(problems)),
        DATA="\n".join(model_data(r, quote(plain(n), safe=_UNESCAPED)) for n, r in reports.items()),
    )


def _index(reports: Mapping[str, Json], problems: list[str]) -> str:
    columns = [c for c in _COLUMNS if any(c.of(r) is not None for r in reports.values())]
    heads = _head("model", "left") + "".join(_head(c.name, _class(c)) for c in columns)
    bar_head = '<th scope="col" class="left wide">of the peak</th>'
    rows = "\n".join(_row(name, r, columns) for name, r in reports.items())
    lines = "".join(f"<li>{escaped(plain(line))}</li>" for line in problems)
    legend = "".join(
        f'<span><span class="swatch band-{kind}"></span> {kind}s</span>'
        for kind in ("parameter", "buffer", "input", "gradient", "activation")
    )
    return f"""<main id="index">
<div class="bar"><input id="search-models" type="search" aria-label="Search models"
  placeholder="Names of models" hidden>
  <span class="soft" id="models-shown" aria-live="polite"></span></div>
<div class="scroll whole" tabindex="0" role="region" aria-label="Models">
<table id="models"><thead><tr>{heads}{bar_head}</tr></thead><tbody>
{rows}
</tbody></table></div>
<div class="bar soft wide">{legend}</div>
{f'<h2>Problems</h2><ul id="problems">{lines}</ul>' if lines else ""}
</main>
"""


def _class(column: _Column) -> str:
    return "wide" if column.name in _WIDE else ""


def _head(name: str, kind: str) -> str:
    return f'<th scope="col" class="{kind}"><button type="button">{escaped(name)}</button></th>'


def _row(name: str, report: Json, columns: Iterable[_Column]) -> str:
    shown = plain(name)
    cells = "".join(
        f'<td class="{_class(c)}" data-value="{c.of(report)}">{escaped(_cell_text(c, report))}</td>'
        for c in columns
    )
    peak = report["peak_bytes"] or 1
    parts = "".join(
        f'<span class="band-{kind}" style="width:{100 * size / peak:.2f}%" '
        f'title="{kind}s {escaped(text.bytes_text(size))}"></span>'
        for kind, size in at_peak(report).items()
        if size
    )
    address = quote(shown, safe=_UNESCAPED)
    return (
        f'<tr><td class="left name" data-value="{escaped(shown)}">'
        f'<a href="#{escaped(address)}" title="{escaped(shown)}">{escaped(shown)}</a></td>'
        f'{cells}<td class="wide stack"><div aria-hidden="true">{parts}</div></td></tr>'
    )
