"""What a build says of how far it is."""

import pytest

from dispatch.build import progress
from dispatch.build.progress import Progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_steps_are_counted_and_the_rest_is_guessed_from_sizes(clock, capsys):
    told = Progress({"a.big": 300, "a.done_before": 50, "a.small": 100})
    told.start("cythonizing", "a.big")
    told.end("a.done_before")
    told.start("compiling", "a.big")  # too soon after the last line
    clock[0] += 90
    told.end("a.big")
    told.start("cythonizing", "a.small")
    clock[0] += 35
    told.end("a.small")
    told.close()
    assert capsys.readouterr().out.splitlines() == [
        "[0 of 3] cythonizing a.big",
        "[2 of 3] cythonizing a.small, about 0:26 minutes left",
        "built 2 of 3 modules in 2:05 minutes",
    ]


def test_modules_that_fail_are_not_counted_as_built(clock, capsys):
    told = Progress({"a": 1, "b": 1})
    told.start("compiling", "a")
    told.start("compiling", "b")
    told.end("b")
    told.close()
    assert capsys.readouterr().out.splitlines()[-1] == "built 1 of 2 modules in 0:00 minutes"


def test_a_build_with_nothing_to_do_says_nothing(clock, capsys):
    told = Progress({"a": 1})
    told.end("a")
    told.close()
    assert capsys.readouterr().out == ""


def test_a_terminal_has_one_line_that_is_written_over(clock, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "21")
    told = Progress({"a": 1})
    told.start("cythonizing", "a")
    told.start("compiling", "a.with.a.long.name")
    told.close()
    assert capsys.readouterr().out == (
        "\r\x1b[K[0 of 1] cythonizing"[: 4 + 20]
        + "\r\x1b[K[0 of 1] compiling a"
        + "\r\x1b[Kbuilt 1 of 1 modules in 0:00 minutes\n"
    )
