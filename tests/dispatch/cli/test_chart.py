"""Charts in a terminal: where the dots stand, the limit, and terminals without Braille."""

import pytest

from dispatch.cli.chart import Axis, chart

X, Y = Axis("batch", str), Axis("peak", str)


def test_a_line_rises_from_corner_to_corner():
    lines = chart([(1, 0), (11, 100)], X, Y, width=20, height=5, braille=False)
    assert lines == [
        "    peak",
        "100 |             **",
        "    |         ****",
        "    |      ***",
        "    |  ****",
        "  0 |**",
        "     1   batch    11",
    ]


def test_a_limit_goes_across_with_its_figure():
    lines = chart([(1, 0), (11, 100)], X, Y, limit=50, width=20, height=5, braille=False)
    assert lines[3] == " 50 |- - - *** - - -"


def test_braille_has_eight_dots_a_letter():
    lines = chart([(0, 0), (1, 7)], X, Y, width=13, height=2)
    rows = [line.partition("|")[2] for line in lines[1:3]]
    assert all(0x2800 <= ord(c) < 0x2900 or c == " " for row in rows for c in row)
    assert len("".join(rows).replace(" ", "")) >= 10


def test_powers_are_evenly_apart():
    """10 is half way from 1 to 100."""
    axes = [axis._replace(logarithmic=True) for axis in (X, Y)]
    points = [(1, 1), (10, 10), (100, 100)]
    bent = chart(points, *axes, width=26, height=9, braille=False)
    assert bent == chart([points[0], points[2]], *axes, width=26, height=9, braille=False)


@pytest.mark.parametrize("points", [[(3, 5)], [(3, 5), (3, 5)]])
def test_one_point_is_a_dot(points):
    lines = chart(points, X, Y, width=20, height=3, braille=False)
    assert sum(line.count("*") for line in lines) == 1


def test_no_points_are_no_chart():
    assert chart([], X, Y) == []
