"""What fits as one HTML page that needs nothing else: `dispatch fit --html FILE`.

Facts, a curve of the peak for each size with the memory as a line across, the frontier of two
sizes, and the tables; drawn here as SVG, in the style of the report's page, so that there is no
script in it. Names come from a model file: they are escaped like all text.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import files

from dispatch._C.markup import escaped, table
from dispatch.graph import text
from dispatch.graph.fitting import Fit

__all__ = ["fit_page"]

_WIDTH, _HEIGHT = 640, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 72, 20, 24, 40
_STYLE = """
figure { margin: 16px 0 } figcaption { color: var(--soft) }
svg { display: block; width: 100%; max-width: 720px; background: var(--panel); border-radius: 8px }
svg text { fill: var(--soft); font-size: 12px } .axis { stroke: var(--line) }
.curve { fill: none; stroke: var(--ink); stroke-width: 2 } .point { fill: var(--ink) }
.limit { stroke: var(--peak); stroke-dasharray: 6 4 } svg .limit-text { fill: var(--peak) }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header><h1>{title}</h1></header>
<dl id="facts">{facts}</dl>
<main>
{body}
</main>
</body>
</html>
"""
Point = tuple[float, float]


def fit_page(fit: Fit) -> str:
    """The page for what `graph.fit` found."""
    facts = fit.facts()[1:]
    parts = [
        *(_curve(fit, row["name"], row["points"]) for row in fit.curves if row["points"]),
        *([_frontier(fit)] if len(fit.frontier) > 1 else []),
        *(_table(shown) for shown in fit.tables()),
    ]
    style = files("dispatch.graph").joinpath("page", "page.css").read_text(encoding="utf-8")
    return _PAGE.format(
        title=escaped(fit.title),
        style=style + _STYLE,
        facts="".join(f"<dt>{escaped(a)}</dt><dd>{escaped(b)}</dd>" for a, b in facts),
        body="\n".join(parts),
    )


def _table(shown: text.Table) -> str:
    return f'<div class="scroll">{table(shown.title, shown.columns, shown.rows, True)}</div>'


def _curve(fit: Fit, name: str, points: Sequence[Sequence[int]]) -> str:
    """The peak by a size, and the memory that there is."""
    plane = _Plane([(x, y) for x, y in points] + [(points[0][0], fit.memory)], zero=True)
    label = f"Peak memory by {name}"
    marks = [(x, y, f"{name} = {x:,}: {text.bytes_text(y)}") for x, y in points]
    limit = plane.y(fit.memory)
    parts = [
        *plane.axes(lambda n: f"{n:,}", text.bytes_text, name),
        _across("limit", limit),
        f'<text class="limit-text" x="{_LEFT + 6}" y="{limit - 6:.1f}">'
        f"{escaped(text.bytes_text(fit.memory))}</text>",
        *plane.line(marks),
    ]
    return _figure(label, parts)


def _frontier(fit: Fit) -> str:
    """The largest second size by the first, both by powers."""
    first, second = (row["name"] for row in fit.largest)
    rows = [(next(iter(row["at"].values())), row["value"]) for row in fit.frontier]
    known = [(x, y) for x, y in rows if y]
    plane = _Plane(known, powers=True)
    marks = [(x, y, f"{first} = {x:,}: {second} up to {y:,}") for x, y in known]
    parts = [*plane.axes(lambda n: f"{n:,}", lambda n: f"{n:,}", first), *plane.line(marks)]
    return _figure(f"Largest {second} by {first}", parts)


def _figure(label: str, parts: Iterable[str]) -> str:
    shown = escaped(label)
    return (
        f'<figure><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{shown}">'
        f"{''.join(parts)}</svg><figcaption>{shown}</figcaption></figure>"
    )


def _across(kind: str, y: float) -> str:
    """A line over the whole width."""
    ends = f'x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"'
    return f'<line class="{kind}" {ends}/>'


class _Plane:
    """Where points stand in the picture."""

    def __init__(
        self, points: Sequence[Point], zero: bool = False, powers: bool = False
    ) -> None:
        self.powers = powers
        xs, ys = ([self._scaled(p[i]) for p in points] for i in (0, 1))
        self.left, self.right = min(xs), max(xs)
        self.low, self.high = 0.0 if zero else min(ys), max(ys) * (1.05 if zero else 1)

    def _scaled(self, value: float) -> float:
        return math.log(max(value, 1)) if self.powers else value

    def x(self, value: float) -> float:
        share = (self._scaled(value) - self.left) / ((self.right - self.left) or 1)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        share = (self._scaled(value) - self.low) / ((self.high - self.low) or 1)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)

    def axes(
        self, x_text: Callable[[int], str], y_text: Callable[[int], str], name: str
    ) -> list[str]:
        parts = []
        for value in self._steps(self.low, self.high):
            y = self.y(value)
            parts.append(
                _across("axis", y) + f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">'
                f"{escaped(y_text(round(value)))}</text>"
            )
        steps = self._steps(self.left, self.right)
        for i, value in enumerate(steps):
            anchor = "start" if i == 0 else "end" if i == len(steps) - 1 else "middle"
            parts.append(
                f'<text x="{self.x(value):.1f}" y="{_HEIGHT - 22}" text-anchor="{anchor}">'
                f"{escaped(x_text(round(value)))}</text>"
            )
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        return [*parts, f'<text x="{middle}" y="{_HEIGHT - 6}" text-anchor="middle">'
                        f"{escaped(name)}</text>"]  # fmt: skip

    def _steps(self, low: float, high: float) -> list[float]:
        """Five values over an axis."""
        values = [low + (high - low) * i / 4 for i in range(5)]
        return [math.exp(value) for value in values] if self.powers else values

    def line(self, marks: Sequence[tuple[float, float, str]]) -> list[str]:
        path = " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y, _ in marks)
        return [
            f'<polyline class="curve" points="{path}"/>',
            *(
                f'<circle class="point" cx="{self.x(x):.1f}" cy="{self.y(y):.1f}" r="3">'
                f"<title>{escaped(words)}</title></circle>"
                for x, y, words in marks
            ),
        ]
