"""What is entered into Tensor: methods of operators, and those written in Python."""


import pytest

import dispatch
from dispatch import Tensor, tensor


def test_iteration_unbinds_the_first_dimension() -> None:
    assert [t.tolist() for t in tensor([[1, 2], [3, 4]])] == [[1, 2], [3, 4]]
    with pytest.raises(TypeError):
        list(tensor(1))


def test_methods_of_operators_appear_on_first_use() -> None:
    base = dispatch.zeros(2, 3)
    assert base.transpose(0, 1).shape == (3, 2)
    assert "transpose" in vars(Tensor)
    with pytest.raises(AttributeError, match="no_such_operator"):
        base.no_such_operator()


@pytest.mark.parametrize("name", ["slice", "alias", "_reshape_alias", "is_strides_like_format"])
def test_operators_that_are_no_methods_in_pytorch_are_none_here(name: str) -> None:
    assert not hasattr(Tensor, name)
    assert hasattr(dispatch.ops.aten, name)
