"""TorchScript's operators as Python programs meet them: second names, numbers, sizes, writes."""

import pytest

import dispatch
from dispatch import ops
from dispatch.modes import TorchDispatchMode

aten = ops.aten
X = dispatch.arange(6.0).reshape(2, 3)


class Seen(TorchDispatchMode):
    """The names of the operators that a mode sees."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def test_views_have_second_names():
    assert aten.mT.a(X).tolist() == X.t().tolist()
    assert aten.numpy_T.a(X).stride() == (1, 3)


@pytest.mark.parametrize(
    ("overload", "given", "dtype", "expected"),
    [
        ("bool", 12.0, dispatch.float32, 1.0),
        ("bool", float("nan"), None, True),
        ("int", 3, None, 3),
        ("float", 3, None, 3.0),
        ("complex", 2j, None, 2j),
    ],
)
def test_the_overload_decides_what_number_it_is(overload, given, dtype, expected):
    made = getattr(aten.tensor, overload)(given, dtype=dtype)
    assert made.item() == expected
    assert type(made.item()) is type(expected)


def test_numbers_of_tensors():
    assert aten.Int.Tensor(dispatch.tensor(2.7)) == 2
    assert aten.Bool.Tensor(dispatch.tensor(0.0)) is False
    assert aten.IntImplicit(dispatch.tensor(3)) == 3
    with pytest.raises(RuntimeError, match="IntImplicit: expected integers"):
        aten.IntImplicit(dispatch.tensor(3.0))
    with pytest.raises(RuntimeError, match=r"FloatImplicit: .* without dimensions"):
        aten.FloatImplicit(X)
    with pytest.raises(RuntimeError, match=r"ScalarImplicit: .* requires grad"):
        aten.ScalarImplicit(dispatch.tensor(3.0, requires_grad=True))


def test_sizes():
    assert aten.broadcast_shapes([5], [3, 1]) == [3, 5]
    with pytest.raises(RuntimeError, match="broadcast"):
        aten.broadcast_shapes([5], [3])
    assert aten.len.Tensor(X) == 2
    assert aten._size_if_not_equal([2], [2]) is None
    assert (ops.prim.nbytes(X), ops.prim.is_cpu(X), ops.prim.is_meta(X)) == (24, True, False)


def test_writes_record_no_gradient():
    x = dispatch.ones(2, requires_grad=True)
    assert aten._no_grad_fill_(x, 3.0) is x
    assert (x.tolist(), x.is_leaf) == ([3, 3], True)


def test_every_index_may_be_given():
    places = [dispatch.tensor([0, 1]), dispatch.tensor([2, 0])]
    assert aten.index.Tensor_hacked_twin(X, places).tolist() == [2, 3]
    put = aten.index_put.hacked_twin(X, places, dispatch.tensor(9.0))
    assert put.tolist() == [[0, 1, 9], [9, 4, 5]]


def test_modes_see_what_is_called_not_the_operator():
    with Seen() as seen:
        aten.mT.a(X)
        aten.tensor.bool(True)
    assert seen.names == ["aten.transpose.int", "aten.empty.memory_format", "aten.fill_.Scalar"]
