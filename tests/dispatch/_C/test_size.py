"""Size: a tuple of ints that knows its product."""

import pickle

import pytest

import dispatch
from dispatch._C.size import Size


def test_size_is_a_tuple_with_numel():
    s = dispatch.Size([2, 3, 4])
    assert s.numel() == 24 and s == (2, 3, 4) and hash(s) == hash((2, 3, 4))
    assert type(s[1:]) is dispatch.Size
    assert type(s + (5,)) is dispatch.Size  # noqa: RUF005 (the addition is what is tested)
    assert s[0] == 2 and repr(s) == "dispatch.Size([2, 3, 4])"


def test_items_are_ints_whatever_they_were_given_as():
    made = Size([True, dispatch.tensor(3)])
    assert made == (1, 3) and [type(n) for n in made] == [int, int]
    for bad in (1.0, "a", None):
        with pytest.raises(TypeError, match="Size"):
            Size([bad])


def test_sizes_survive_pickling():
    assert type(pickle.loads(pickle.dumps(Size([1, 2])))) is Size
