"""`notes`: the line of a program that a call stands at."""

import pytest

from dispatch.graph.notes import Frame, innermost

OWN, OTHER = Frame("/a/model.py", "3", "forward", "x + y"), Frame("/a/net.py", "9", "call", "f(x)")
POSIX = Frame("/lib/torch/nn/modules/module.py", "1", "_call_impl", "g(x)")
WINDOWS = Frame(r"C:\lib\torch\functional.py", "1", "norm", "h(x)")


@pytest.mark.parametrize(
    ("frames", "found"),
    [
        ([], None),
        ([OWN], OWN),
        ([OTHER, OWN], OWN),
        ([OTHER, OWN, POSIX], OWN),
        ([OWN, POSIX, WINDOWS], OWN),
        ([POSIX, OWN, WINDOWS], OWN),
        ([POSIX, WINDOWS], WINDOWS),
    ],
)
def test_a_call_stands_at_the_innermost_line_outside_of_pytorch(frames, found):
    assert innermost(frames) == found
