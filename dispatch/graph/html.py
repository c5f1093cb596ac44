"""A run's report as one HTML page that needs nothing else: `dispatch inspect --html FILE`.

`page.html` is the page with two holes: its title, and the report as JSON, which the page's script
draws. Names come from a model file, a stranger's text: the script only ever sets them as text, and
within the JSON no character can end the element that holds it.
"""

import html
import json
from importlib.resources import files
from typing import Any

from dispatch._C.markup import table
from dispatch.graph import text

__all__ = ["html_page", "summary_html"]

Json = dict[str, Any]
_TITLE, _REPORT = "@TITLE@", "@REPORT@"
_ROWS = 40  # of a table in a notebook
_KEPT = (
    "device", "mode", "parameters", "parameter_bytes", "peak_bytes", "peak_index", "flops",
    "wall_ns",
)  # fmt: skip


def html_page(report: Json) -> str:
    """The page for what `Report.to_json` gives."""
    template = files("dispatch.graph").joinpath("page.html").read_text(encoding="utf-8")
    before, rest = template.split(_TITLE)
    between, after = rest.split(_REPORT)
    title = html.escape(_plain(report["model"]))
    return "".join((before, title, between, _script_json(_page_data(report)), after))


def summary_html(report: Json) -> str:
    """The facts and the operators, as a notebook shows them under a cell."""
    rows = [(name, _plain(value)) for name, value in text.facts(report)]
    tables = (
        text.operator_table(report),
        text.module_table(report, text.fitting_depth(report, _ROWS)),
        text.alive_table(report, report["alive_at_peak"], at_most=_ROWS),
    )
    return table("report", ("", ""), rows) + "".join(
        table(shown.title, shown.columns, shown.rows, True) for shown in tables
    )


def _page_data(report: Json) -> Json:
    """What the page shows, small: an operator's name stands once, a call is a list."""
    ops: dict[str, int] = {}
    calls = [
        [
            _plain(call["node"]),
            ops.setdefault(_plain(call["op"]), len(ops)),
            call["live_bytes"],
            call["flops"],
            call["ns"],
            ", ".join(map(_shape_text, call["outputs"])),
            call["output_bytes"],
        ]
        for call in report["calls"]
    ]
    return {
        "model": _plain(report["model"]),
        **{key: report[key] for key in _KEPT},
        "inputs": list(map(_shape_text, report["inputs"])),
        "outputs": list(map(_shape_text, report["outputs"])),
        "ops": list(ops),
        "calls": calls,
    }


def _plain(text: str) -> str:
    """Text without what is not printed: control characters, and those that turn its direction."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _shape_text(meta: Json | None) -> str:
    return "None" if meta is None else f"{meta['dtype']}{meta['shape']}"


def _script_json(data: Json) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
