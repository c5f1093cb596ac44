"""What shape functions return; that bodies get what is handed over stands in `test_crossing`."""

import pytest

import dispatch
from dispatch._C.structured import Shaped, TensorSpec


def _spec(**given):
    return TensorSpec((2,), dispatch.float32, **given)


def test_specs_are_equal_when_all_they_say_is():
    assert _spec(cast="safe", overlap="any") == _spec(cast="safe", overlap="any")
    assert _spec() != _spec(cast="safe")
    assert _spec() != _spec(device=dispatch.device("meta"))
    assert _spec() != ((2,), dispatch.float32)


@pytest.mark.parametrize("given", [{"cast": 1}, {"cast": "unsafe"}, {"overlap": "all"}])
def test_unknown_words_are_refused(given):
    with pytest.raises(ValueError, match="expected cast to be one of"):
        _spec(**given)


def test_no_more_is_handed_over_than_there_is_room_for():
    assert Shaped(_spec(), *range(8)).handed == tuple(range(8))
    with pytest.raises(ValueError, match="at most 8"):
        Shaped(_spec(), *range(9))
