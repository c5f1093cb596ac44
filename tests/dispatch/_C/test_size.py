"""Size: a tuple of ints that knows its product."""

import pickle

import pytest

import dispatch
from dispatch._C.size import Size
from dispatch.symbolic import ShapeEnv


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


def test_sizes_that_recur_are_one_object_and_others_are_not():
    """More shapes than are kept, twice, so that they take each other's places."""
    shapes = [(a, b, c)[:n] for n in range(4) for a in range(5) for b in range(5) for c in range(5)]
    for shape in shapes * 2:
        x = dispatch.empty(shape, device="meta")
        assert type(x.shape) is Size and x.shape == shape and x.size() is x.shape
    assert dispatch.empty(2, 3).shape is dispatch.zeros(2, 3).shape
    assert dispatch.empty([1] * 7).shape == (1,) * 7


def test_a_symbol_is_in_the_sizes_of_its_own_tensor_only():
    """Sizes with symbols are made anew, for each environment has its own."""
    shapes = []
    for _ in range(2):
        mode = dispatch.FakeTensorMode(shape_env=ShapeEnv())
        shapes.append(mode.from_tensor(dispatch.empty(5, 7), static_shapes=False).shape)
    assert shapes[0] is not shapes[1]
    assert shapes[0][0].node.shape_env is not shapes[1][0].node.shape_env


def test_tensors_of_integers_are_sizes_and_others_not():
    assert dispatch.Size(dispatch.tensor([3, 4])) == (3, 4)
    with pytest.raises(TypeError):
        dispatch.Size(dispatch.ones(3))


def test_a_size_is_asked_like_a_tuple():
    s = Size([2, 3, 4])
    assert (s[0], s[-1], s[True]) == (2, 4, 3) and s[dispatch.tensor(1)] == 3
    assert s[::-1] == (4, 3, 2) and type(s[:0]) is Size and s[5:] == ()
    for wrong in (3, -4, 1 << 70, "a"):
        with pytest.raises(TypeError if wrong == "a" else IndexError):
            s[wrong]
    with pytest.raises(TypeError, match="Size"):
        Size.__getitem__(3, 0)
    with pytest.raises(TypeError, match="expected a Size, got tuple"):
        Size.__getitem__(("a", 1.5), slice(2))  # a Size of what is no number


def test_a_class_made_of_size_may_have_its_own_items():
    class Counted(Size):
        def __getitem__(self, item):
            return ("asked", super().__getitem__(item))

    assert Counted([2, 3])[1] == ("asked", 3) and Counted([2, 3])[:1] == ("asked", (2,))


def test_sums_of_sizes_and_tuples_are_sizes():
    s = Size([2, 3])
    for made in (s + (4,), (2,) + Size([3, 4]), s + Size([4])):  # noqa: RUF005
        assert type(made) is Size and made == (2, 3, 4)
    assert [type(n) for n in s + (True, dispatch.tensor(3))] == [int] * 4  # noqa: RUF005
    for wrong in ([4], 4, (1.5,)):
        with pytest.raises(TypeError):
            s + wrong
        with pytest.raises(TypeError):
            wrong + s

    class Counted(Size):
        def __add__(self, other):
            return "asked"

        __radd__ = __add__

    counted = Counted([2])
    assert counted + (3,) == s + counted == (1,) + counted == "asked"  # noqa: RUF005


def test_parts_of_a_symbolic_size_are_sizes():
    mode = dispatch.FakeTensorMode(shape_env=ShapeEnv())
    shape = mode.from_tensor(dispatch.empty(5, 7), static_shapes=False).shape
    assert type(shape[1:]) is Size and shape[1:][0] is shape[1] and len(shape[:]) == 2
