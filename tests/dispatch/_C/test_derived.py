"""Operators that are another one: second names, and numbers in the place of tensors."""

from __future__ import annotations

import pytest

import dispatch
from dispatch.modes import TorchDispatchMode

aten = dispatch.ops.aten


class _Seen(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


def _seen(op, *args, **kwargs):
    with _Seen() as mode:
        result = op(*args, **kwargs)
    return result, mode.names


def test_a_second_name_decomposes_into_the_operator_that_is_meant():
    x = dispatch.tensor([-1.0, 2.0])
    out = dispatch.empty(2)
    assert _seen(aten.absolute, x)[1] == ["aten.abs.default"]
    assert _seen(aten.absolute_, x.clone())[1] == ["aten.abs_.default"]
    result, names = _seen(aten.absolute.out, x, out=out)
    assert result is out
    assert names == ["aten.abs.out"]
    assert out.tolist() == [1.0, 2.0]


def test_a_second_name_has_names_of_its_own_for_arguments_and_keeps_defaults():
    x = dispatch.ones(2, 3)
    assert aten.swapaxes(x, axis0=0, axis1=1).shape == (3, 2)
    assert aten.swapdims(x, dim0=0, dim1=1)._base is x
    assert aten.subtract(x, x, alpha=2).tolist() == (-x).tolist()


def test_a_number_is_a_wrapped_tensor_on_either_side():
    """It decides no more than the category of the dtype; modes see the overload with the number."""
    x = dispatch.tensor([5, 7], dtype=dispatch.int8)
    result, names = _seen(aten.fmod.Scalar, x, 300)
    assert result.dtype is dispatch.int8
    assert names == ["aten.fmod.Scalar"]
    assert aten.remainder.Scalar_Tensor(9, x).tolist() == [4, 2]
    assert aten.add.Scalar(x, 0.5).dtype is dispatch.float32
    assert aten.add.Scalar(x, 1, 2).tolist() == [7, 9]


def test_errors_name_the_operator_that_is_meant():
    with pytest.raises(RuntimeError, match=r"aten::fmod_?\.Tensor"):
        aten.fmod_.Scalar(dispatch.ones(2, dtype=dispatch.int32), 0.5)


@pytest.mark.parametrize("name", ["divide", "divide_"])
def test_a_second_name_works_on_meta_and_without_values(name):
    x = dispatch.ones(2, device="meta")
    assert getattr(aten, name).Tensor(x, x).device.type == "meta"
