"""Warnings of kernels name the line of the program; some come once in a process."""

import pytest

import dispatch
from dispatch._C import advice


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch):
    monkeypatch.setattr(advice, "_told", set())


def test_kernels_between_the_call_and_the_warning_are_passed_over():
    with pytest.warns(UserWarning, match="^cov: ") as told:
        dispatch.corrcoef(dispatch.ones(1))
    assert [w.filename for w in told] == [__file__]


def test_what_is_told_once_is_told_once():
    x = dispatch.ones(2, 3)
    with pytest.warns(UserWarning, match="^cross: dim") as told:
        x.cross(x)
        x.cross(x)
    assert [w.filename for w in told] == [__file__]
