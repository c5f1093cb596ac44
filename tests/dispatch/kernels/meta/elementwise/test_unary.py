"""Shape functions of elementwise operators of one tensor, on meta and CPU tensors.

Tables are recorded from PyTorch 2.13.
"""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops

DTYPES = ("uint8", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "bool")


def meta(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return ops.aten.empty.memory_format(
        list(sizes), dtype=getattr(dispatch, dtype), device=dispatch.device("meta")
    )


def result_dtypes(op: Any) -> list[str]:
    return [op(meta(2, 3, dtype=d)).dtype.name for d in DTYPES]


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("exp", {"uint8": "float32", "int64": "float32", "bool": "float32"}),
        ("abs", {"complex64": "float32"}),
        ("isnan", dict.fromkeys(DTYPES, "bool")),
        ("ceil", {}),
        ("relu", {}),
        ("sign", {}),
        ("silu", {}),
    ],
)
def test_dtype_of_the_result(name: str, changed: dict[str, str]) -> None:
    op = getattr(ops.aten, name).default
    assert result_dtypes(op) == [changed.get(d, d) for d in DTYPES]


def test_integers_become_the_default_dtype() -> None:
    dispatch.set_default_dtype(dispatch.float64)
    try:
        assert ops.aten.sqrt.default(meta(2, dtype="int32")).dtype.name == "float64"
    finally:
        dispatch.set_default_dtype(dispatch.float32)


def test_result_has_the_strides_of_a_dense_operand() -> None:
    x = ops.aten.permute.default(meta(2, 3, 4), [2, 0, 1])
    assert ops.aten.exp.default(x).stride() == (1, 12, 4)


def test_result_of_an_operand_with_gaps_is_packed_in_its_order() -> None:
    x = ops.aten.as_strided.default(meta(100), [2, 3], [2, 8])
    assert ops.aten.exp.default(x).stride() == (1, 2)


def test_resized_output_on_meta_is_contiguous() -> None:
    x = ops.aten.permute.default(meta(2, 3), [1, 0])
    out = meta(0)
    assert ops.aten.exp.out(x, out=out) is out
    assert (out.shape, out.stride()) == ((3, 2), (2, 1))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ops.aten.neg.default(meta(2, dtype="bool")), RuntimeError, "neg: Negation"),
        (lambda: ops.aten.abs_.default(meta(2, dtype="complex64")), RuntimeError, "abs_: self"),
        (lambda: ops.aten.exp_.default(meta(2, dtype="int64")), RuntimeError, "aten::exp_"),
        (lambda: ops.aten.gelu.default(meta(2), approximate="x"), RuntimeError, "approximate"),
        (lambda: ops.aten.elu.default(meta(2, dtype="int64")), RuntimeError, "input_scale"),
        (lambda: ops.aten.leaky_relu.default(meta(2, dtype="int64")), ValueError, "negative_slope"),
        (lambda: ops.aten.softplus.default(meta(2, dtype="int64"), 0.5), ValueError, "beta"),
        (lambda: ops.aten.hardtanh.default(meta(2, dtype="bool")), RuntimeError, "hardtanh: self"),
        (lambda: ops.aten.hardtanh.default(meta(2, dtype="uint8")), RuntimeError, "min_val"),
        (lambda: ops.aten.hardtanh.default(meta(2, dtype="int64"), 1j), TypeError, "min_val"),
    ],
)
def test_refused_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_relu_of_bool_is_refused_on_cpu_only() -> None:
    on_cpu = ops.aten.empty.memory_format([2], dtype=dispatch.bool)
    assert ops.aten.relu.default(meta(2, dtype="bool")).dtype.name == "bool"
    with pytest.raises(RuntimeError, match="relu: self"):
        ops.aten.relu.default(on_cpu)


@pytest.mark.parametrize("name", ["abs", "ceil", "floor", "frac", "sgn", "sign", "silu", "trunc"])
def test_references_that_take_an_out_of_the_result_s_dtype_alone(name: str) -> None:
    """`round` casts."""
    out = meta(2, dtype="float64")
    with pytest.raises(RuntimeError, match="dtype"):
        getattr(ops.aten, name).out(meta(2), out=out)
    assert ops.aten.round.out(meta(2), out=out) is out


@pytest.mark.parametrize("name", ["isneginf", "isposinf", "signbit"])
def test_predicates_that_take_a_bool_out_alone(name: str) -> None:
    with pytest.raises(RuntimeError, match="dtype"):
        getattr(ops.aten, name).out(meta(2), out=meta(2))


def test_a_masked_scale_is_known_without_data_alone() -> None:
    x = dispatch.empty(2, 3, 4, 5).contiguous(memory_format=dispatch.channels_last)
    mask = dispatch.empty(2, 3, 4, 5, dtype=dispatch.uint8)
    with dispatch.FakeTensorMode(allow_non_fake_inputs=True):
        assert ops.aten._masked_scale(x, mask, 2.0).stride() == x.stride()
    with pytest.raises(NotImplementedError, match="_masked_scale"):
        ops.aten._masked_scale(x, mask, 2.0)


@pytest.mark.parametrize(
    "call",
    [
        ops.aten.relu,
        lambda x: ops.aten.clamp(x, 0, 1),
        lambda x: ops.aten.clamp_min(x, 0),
        lambda x: ops.aten.threshold(x, 0, 1),
        lambda x: ops.aten.threshold_backward(x, x, 0),
        lambda x: ops.aten.hardshrink(x, 0.5),
        ops.aten.hardtanh,
        lambda x: ops.aten.hardtanh_backward(x, x, -1, 1),
        lambda x: ops.aten.masked_fill.Scalar(x, x > 0, 1),
        lambda x: ops.aten.masked_fill.Tensor(x, x > 0, dispatch.empty(())),
    ],
)
@pytest.mark.parametrize(
    ("sizes", "strides", "want"),
    [
        ((2, 1, 3), (3, 7, 1), (3, 6, 1)),
        ((1, 3, 1), (100, 1, 9), (3, 1, 3)),
        ((2, 1, 3), (3, 3, 1), (3, 3, 1)),
        ((2, 1, 2, 4), (8, 1, 4, 1), (8, 1, 4, 1)),
    ],
)
def test_choosing_a_number_orders_dimensions_of_size_1_by_their_strides(
    call: Any, sizes: tuple[int, ...], strides: tuple[int, ...], want: tuple[int, ...]
) -> None:
    """The number is a 0-d operand, beside which no format is looked for."""
    with dispatch.FakeTensorMode():
        x = dispatch.empty_strided(sizes, strides)
        assert call(x).stride() == want
