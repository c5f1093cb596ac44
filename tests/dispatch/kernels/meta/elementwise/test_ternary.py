"""Shape functions of clamp, where, addcmul and addcdiv. Tables are recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

import dispatch
from dispatch import ops


def meta(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return ops.aten.empty.memory_format(
        list(sizes), dtype=getattr(dispatch, dtype), device=dispatch.device("meta")
    )


def test_clamp_promotes_with_its_bounds() -> None:
    ints = meta(2, dtype="int64")
    assert ops.aten.clamp.default(ints, 1, 2).dtype.name == "int64"
    assert ops.aten.clamp.default(ints, None, 2.5).dtype.name == "float32"
    assert ops.aten.clamp_min.default(ints, 0.5).dtype.name == "float32"
    assert ops.aten.clamp.Tensor(ints, meta(2, 1)).shape == (2, 2)


def test_clamp_needs_a_bound() -> None:
    with pytest.raises(ValueError, match="clamp: "):
        ops.aten.clamp.default(meta(2))


def test_where_promotes_its_values_and_broadcasts_all_three() -> None:
    condition = meta(4, 1, 1, dtype="bool")
    result = ops.aten.where.self(condition, meta(3, 1, dtype="int64"), meta(2))
    assert (result.shape, result.dtype.name) == ((4, 3, 2), "float32")


def test_where_wants_a_bool_condition() -> None:
    with pytest.raises(RuntimeError, match=r"aten::where\.self: where expected condition"):
        ops.aten.where.self(meta(2, dtype="uint8"), meta(2), meta(2))


def test_where_wants_an_output_of_the_very_dtype() -> None:
    with pytest.raises(RuntimeError, match="float64"):
        ops.aten.where.self_out(
            meta(2, dtype="bool"), meta(2), meta(2), out=meta(2, dtype="float64")
        )


def test_condition_is_not_converted_with_the_values() -> None:
    wide = ops.aten.as_strided.default(meta(64, dtype="bool"), [2, 3, 2, 2], [4, 0, 2, 1])
    a = ops.aten.as_strided.default(meta(64, dtype="float64"), [1, 3, 2, 2], [6, 2, 12, 6])
    b = ops.aten.as_strided.default(meta(64, dtype="int32"), [2, 1, 2, 2], [2, 8, 1, 4])
    assert ops.aten.where.self(wide, a, b).stride() == (12, 1, 6, 3)


def test_addcmul_promotes_all_three() -> None:
    result = ops.aten.addcmul.default(meta(2), meta(3, 1, dtype="float64"), meta(dtype="int64"))
    assert (result.shape, result.dtype.name) == ((3, 2), "float64")


def test_addcdiv_refuses_integer_division() -> None:
    ints = meta(2, dtype="int64")
    with pytest.raises(RuntimeError, match=r"addcdiv: .* tensor1"):
        ops.aten.addcdiv.default(meta(2), ints, ints)


@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_lerp_converts_its_result_beside_a_single_weight_alone(dtype: str) -> None:
    x, out = dispatch.ones(2), dispatch.ones(2, dtype=getattr(dispatch, dtype))
    with pytest.raises(RuntimeError, match=r"^aten::lerp\.Tensor_out: "):
        ops.aten.lerp.Tensor_out(x, x, x, out=out)
    assert ops.aten.lerp.Tensor_out(x, x, dispatch.ones(()), out=out) is out
    with dispatch.FakeTensorMode() as mode:
        x, out = mode.from_tensor(x), mode.from_tensor(out)
        assert ops.aten.lerp.Tensor_out(x, x, x, out=out) is out


def test_without_data_clamp_chooses_by_one_bound_after_the_other() -> None:
    """The strides are those of PyTorch's reference, which are not TensorIterator's."""
    strides = []
    for device in ("cpu", "meta"):
        x = dispatch.empty_strided((4, 4), (8, 2), device=device)
        low = dispatch.empty_strided((4, 4, 1), (1, 4, 16), device=device)
        high = dispatch.empty_strided((4, 1, 4), (2, 8, 8), device=device)
        strides.append(ops.aten.clamp.Tensor(x, low, high).stride())
    assert strides == [(1, 16, 4), (4, 16, 1)]
