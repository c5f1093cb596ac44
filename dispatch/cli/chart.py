"""Charts in a terminal: a line through points, drawn with Braille dots, and a limit across.

`cli.fit` shows curves and a frontier with it. A terminal whose encoding has no such letters gets
stars. Both axes start at the smallest value, or (`logarithmic`) go by powers; figures stand at the
ends.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["Axis", "chart"]

Point = tuple[float, float]
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a letter, by row and column
_BRAILLE = 0x2800


class Axis(NamedTuple):
    """What an axis is called, how its figures are written, whether it goes by powers."""

    name: str
    text: Callable[[int], str]
    logarithmic: bool = False

    def place(self, value: float) -> float:
        return math.log(max(value, 1)) if self.logarithmic else value


def chart(
    points: Sequence[Point],
    x: Axis,
    y: Axis,
    *,
    limit: float | None = None,
    width: int = 72,
    height: int = 12,
    braille: bool = True,
) -> list[str]:
    """The lines of a chart of the points, which are in order of x, and of a limit of y."""
    if not points:
        return []
    heights = [value for _, value in points] + ([limit] if limit is not None else [])
    low, high = min(heights) if y.logarithmic else 0.0, max(heights)
    labels = [y.text(round(high)), y.text(round(low))]
    of_limit = y.text(round(limit)) if limit is not None else ""
    margin = max(map(len, [*labels, of_limit])) + 1
    canvas = _Canvas(max(width - margin - 1, 8), height, braille)
    first, last = points[0][0], points[-1][0]

    def at(point: Point) -> tuple[float, float]:
        across = _share(x.place(point[0]), x.place(first), x.place(last))
        return across, _share(y.place(point[1]), y.place(low), y.place(high))

    if limit is not None:
        canvas.across(at((first, limit))[1])
    for a, b in zip(points, points[1:] or points, strict=False):
        canvas.line(at(a), at(b))
    rows = canvas.rows()
    sides = [labels[0], *[""] * (len(rows) - 2), labels[1]]
    if canvas.limit is not None:
        sides[canvas.limit] = of_limit
    lines = [f"{side:>{margin - 1}} |{row}".rstrip() for side, row in zip(sides, rows, strict=True)]
    begin, end = x.text(round(first)), x.text(round(last))
    gap = max(canvas.width - len(begin) - len(end), 1)
    middle = f" {x.name} ".center(gap) if gap > len(x.name) + 2 else " " * gap
    return [f"{'':>{margin}}{y.name}", *lines, f"{'':>{margin + 1}}{begin}{middle}{end}"]


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.0


class _Canvas:
    """Dots within letters; places are shares of the width and, from below, of the height."""

    def __init__(self, width: int, height: int, braille: bool) -> None:
        self.width, self.height, self.braille = width, height, braille
        self.fine = (2, 4) if braille else (1, 1)
        self.dots: set[tuple[int, int]] = set()
        self.limit: int | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.width * self.fine[0] - 1, self.height * self.fine[1] - 1

    def dot(self, across: float, up: float) -> tuple[int, int]:
        wide, high = self.size
        return int(across * wide + 0.5), high - int(up * high + 0.5)

    def line(self, a: tuple[float, float], b: tuple[float, float]) -> None:
        (x1, y1), (x2, y2) = self.dot(*a), self.dot(*b)
        steps = max(abs(x2 - x1), abs(y2 - y1), 1)
        for i in range(steps + 1):
            x, y = x1 + (x2 - x1) * i / steps, y1 + (y2 - y1) * i / steps
            self.dots.add((int(x + 0.5), int(y + 0.5)))

    def across(self, up: float) -> None:
        self.limit = self.dot(0, up)[1] // self.fine[1]

    def rows(self) -> list[str]:
        return ["".join(self.letter(x, y) for x in range(self.width)) for y in range(self.height)]

    def letter(self, x: int, y: int) -> str:
        wide, high = self.fine
        inside = [
            (row, column)
            for row in range(high) for column in range(wide)
            if (x * wide + column, y * high + row) in self.dots
        ]  # fmt: skip
        if not inside:
            return "-" if y == self.limit and x % 2 == 0 else " "
        return chr(_BRAILLE + sum(_DOTS[r][c] for r, c in inside)) if self.braille else "*"
