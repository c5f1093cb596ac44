"""A run's report as one HTML page that needs nothing else: `dispatch inspect --html FILE`.

`page/page.html` is the page with holes: its title, style and scripts, the facts as text (all that
shows without scripts), and the report as JSON, which the scripts draw. Names come from a model
file, a stranger's text: the scripts only ever set them as text, and within the JSON no character
can end the element that holds it. `summary_html` is the short form for notebooks.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from dispatch._C.markup import escaped, table
from dispatch.graph import text

__all__ = ["at_peak", "fill_page", "html_page", "model_data", "summary_html"]

Json = dict[str, Any]
_HOLE = re.compile("@(TITLE|CLASS|STYLE|INDEX|FACTS|DATA|HELD|SCRIPT|START)@")
_SCRIPTS = ("base.js", "chart.js", "modules.js", "tables.js")
_ROWS = 40  # of a table in a notebook
_KEPT = (
    "device", "mode", "parameters", "parameter_bytes", "peak_bytes", "peak_index", "flops",
    "wall_ns",
)  # fmt: skip
_BANDS = {"parameter": 0, "buffer": 1, "constant": 1, "input": 2, "gradient": 3, "activation": 4}


def html_page(report: Json) -> str:
    """The page for what `Report.to_json` gives."""
    facts = ((escaped(name), escaped(value)) for name, value in _facts(report))
    return fill_page(
        TITLE=escaped(_plain(report["model"])),
        FACTS="".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in facts),
        DATA=model_data(report),
    )


def fill_page(**parts: str) -> str:
    """The template with its holes filled; with an `INDEX`, a report waits until it is chosen."""
    theme, script = _file("theme.js"), "".join(map(_file, _SCRIPTS))
    if "INDEX" in parts:
        start = f"<script>\n{theme}{_file('folder.js')}</script>\n"
        parts |= {"HELD": ' type="text/plain"', "SCRIPT": script, "START": start}
    filled = {"STYLE": _file("page.css"), "SCRIPT": theme + script, **parts}
    return _HOLE.sub(lambda hole: filled.get(hole[1], ""), _file("page.html"))


def model_data(report: Json, address: str | None = None) -> str:
    """The element with a model's figures; with an address those that stand in a page's head too."""
    found = _page_data(report)
    if address is None:
        which = 'id="data"'
    else:
        which = f'data-model="{escaped(address)}"'
        found["facts"] = _facts(report)
    return f'<script type="application/json" {which}>{_script_json(found)}</script>'


def at_peak(report: Json) -> dict[str, int]:
    """Bytes at the peak by what they are; constants count among buffers, as in the chart."""
    found = dict.fromkeys(("parameter", "buffer", "input", "gradient", "activation"), 0)
    kinds = tuple(found)
    for row in report["alive_at_peak"]:
        found[kinds[_BANDS[row["kind"]]]] += row["bytes"]
    return found


def _facts(report: Json) -> list[tuple[str, str]]:
    return [(name, _plain(value)) for name, value in text.facts(report)[1:]]


def _file(name: str) -> str:
    return files("dispatch.graph").joinpath("page", name).read_text(encoding="utf-8")


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
    """What the page shows, small: a name that recurs stands once, a row is a list."""
    ops: dict[str, int] = {}
    places = {row["path"]: i for i, row in enumerate(report["modules"])}
    estimate = report.get("roofline")
    found = estimate or report
    by_call = estimate["by_call"] if estimate else report["calls"]
    by_module = [row["ns"] for row in found["modules"]]
    return {
        "model": _plain(report["model"]),
        **{key: report[key] for key in _KEPT},
        "time_name": "estimated time" if estimate else "time",
        "calls": [
            _call(call, ops, places, times)
            for call, times in zip(report["calls"], by_call, strict=True)
        ],
        "ops": list(ops),
        "op_outputs": _outputs(report, ops),
        "modules": [
            _module(row, ns) for row, ns in zip(report["modules"], by_module, strict=True)
        ],
        "storages": [_storage(row, places) for row in report["storages"]],
        "advice": [
            [_plain(row["what"]), row["saved_bytes"], row["peak_bytes"]] for row in report["advice"]
        ],
    }


def _outputs(report: Json, ops: Mapping[str, int]) -> list[int]:
    """Bytes of the outputs of each operator, views and all."""
    sums = [0] * len(ops)
    for call in report["calls"]:
        sums[ops[_plain(call["op"])]] += call["output_bytes"]
    return sums


def _call(call: Json, ops: dict[str, int], places: Mapping[str, int], times: Json) -> list[Any]:
    return [
        _plain(call["node"]),
        ops.setdefault(_plain(call["op"]), len(ops)),
        call["live_bytes"],
        call["during_bytes"],
        call["new_bytes"],
        call["flops"],
        times["ns"],
        ", ".join(text.output_texts(call)),
        places.get(call["module"] or "", 0) if len(places) > 1 else -1,
        _plain(call["source"] or ""),
        *([times["memory_bound"]] if "memory_bound" in times else []),
    ]


def _module(row: Json, ns: float | None) -> list[Any]:
    return [
        _plain(row["path"]), _plain(row["class"] or ""), _plain(row["source"] or ""), row["depth"],
        row["parameters"], row["parameter_bytes"], row["bytes"], row["peak_bytes"], row["flops"],
        row["calls"], ns,
    ]  # fmt: skip


def _storage(row: Json, places: Mapping[str, int]) -> list[Any]:
    shape = f"{row['dtype']}{row['shape']}" if row["shape"] is not None else ""
    known = row["module"] and len(places) > 1
    return [
        _plain(row["name"]), _BANDS[row["kind"]], row["bytes"], row["made"], row["last_used"],
        row["freed"], places.get(row["module"], -1) if known else -1, shape,
        text.never_text(row) if row["last_used"] < 0 else 0,
    ]  # fmt: skip


def _plain(text: str) -> str:
    """Text without what is not printed: control characters, and those that turn its direction."""
    return text if text.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in text)


def _script_json(data: Json) -> str:
    """JSON that may stand in a script element."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
