"""`benchmarks.instructions`: what counts as moved, what is kept, and what a machine lacks."""

import json
import shutil

import pytest
from click.testing import CliRunner

from benchmarks import instructions, ours
from benchmarks.instructions import HOT, KEPT, Moved, compared
from benchmarks.rows import TITLES


def test_within_two_percent_nothing_moved():
    assert compared({"add": 1000, "view": 1000}, {"add": 1020, "view": 980}) == []


def test_more_and_fewer_instructions_are_both_said():
    moved = compared({"add": 1000, "view": 1000}, {"add": 1021, "view": 979})
    assert moved == [Moved("add", 1000, 1021), Moved("view", 1000, 979)]
    assert [one.is_slower for one in moved] == [True, False]
    assert str(moved[0]) == "add: 1,000 -> 1,021 (+2.1%)"


def test_row_that_was_not_kept_is_said():
    (one,) = compared({}, {"add": 1000})
    assert str(one) == "add: 1,000, not kept yet"
    assert not one.is_slower


def test_every_hot_path_is_a_row_and_has_a_kept_count():
    kept = json.loads(KEPT.read_text())["calls"]
    assert list(kept) == list(HOT)
    assert {*HOT} <= ours.rows(None).keys() & TITLES.keys()


def test_without_valgrind_it_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    said = CliRunner().invoke(instructions.main, [])
    assert said.exit_code == 2
    assert "valgrind is not installed" in said.output
