"""HTML for notebooks: a title and a table, every text escaped.

What notebooks ask for as `_repr_html_` is made here, for key sets, operators, libraries, graphs and
reports alike. No style beyond alignment: the notebook has its own.
"""

from collections.abc import Iterable, Sequence

__all__ = ["escaped", "table"]


def escaped(text: object) -> str:
    """`text` as it may stand between tags and in quotes."""
    shown = str(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace('"', "&quot;").replace("'", "&#x27;")


def table(
    title: object,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    folded: bool = False,
) -> str:
    """A table under its title; `folded`: only the title is shown until somebody asks."""
    head = "".join(f"<th style='text-align:left'>{escaped(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escaped(c)}</td>" for c in row) + "</tr>"
        for row in rows
    )
    content = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    if folded:
        return f"<details><summary>{escaped(title)}</summary>{content}</details>"
    return f"<div><b>{escaped(title)}</b>{content}</div>"
