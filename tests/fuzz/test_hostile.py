"""Hostile sizes, dimensions and numbers are refused in our words."""

import subprocess
import sys

import pytest

from tests.fuzz.hostile import foreign


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_no_operator_answers_in_foreign_words(seed):
    """In a process of its own: its memory is limited."""
    command = [sys.executable, "-m", "tests.fuzz.hostile", "--rounds", "1", "--seed", seed]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "error",
    [
        ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger"),
        OverflowError("Python int too large to convert to C long"),
        MemoryError(),
        IndexError("list index out of range"),
        TypeError("Cannot convert int to dispatch._C.tensor.Tensor"),
        RuntimeWarning("overflow encountered in cast"),
        AttributeError("anything"),
    ],
)
def test_foreign_words_are_recognized(error):
    assert foreign(error)


def test_our_words_are_ours():
    assert not foreign(RuntimeError("aten::add: expected a matrix, got shape [3]"))
