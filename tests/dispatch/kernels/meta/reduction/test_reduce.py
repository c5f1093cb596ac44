"""Shape functions of reductions and scans on meta tensors; expected are PyTorch 2.13's results."""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
from dispatch import ops
from tests.dispatch.kernels.tensors import geometry, meta

aten = ops.aten
INF = float("inf")


@pytest.mark.parametrize(
    ("dtype", "given", "result"),
    [
        ("bool", None, "int64"),
        ("uint8", None, "int64"),
        ("float16", None, "float16"),
        ("complex64", None, "complex64"),
        ("float32", "float64", "float64"),
        ("float32", "int32", "int32"),
    ],
)
@pytest.mark.parametrize("op", [aten.sum.default, aten.prod.default])
def test_sum_type(op: Any, dtype: str, given: str | None, result: str) -> None:
    kwargs = {} if given is None else {"dtype": getattr(dispatch, given)}
    assert geometry(op(meta((2, 3), dtype=dtype), **kwargs)) == (result, (), ())


@pytest.mark.parametrize(
    ("dim", "keepdim", "sizes"),
    [
        ([1], False, (2, 4)),
        ([-1, 0], False, (3,)),
        ([-1, 0], True, (1, 3, 1)),
        ([], False, ()),
        (None, True, (1, 1, 1)),
    ],
)
def test_dims_are_wrapped_and_kept(dim: Any, keepdim: bool, sizes: tuple[int, ...]) -> None:
    x = meta((2, 3, 4), (1, 8, 2))
    assert tuple(aten.sum.dim_IntList(x, dim, keepdim).shape) == sizes
    assert tuple(aten.var.correction(x, dim, keepdim=keepdim).shape) == sizes
    assert tuple(aten.linalg_vector_norm(x, 2, dim, keepdim).shape) == sizes


def test_a_tensor_without_dimensions_counts_as_having_one() -> None:
    assert tuple(aten.amax(meta(()), [-1], True).shape) == ()
    with pytest.raises(IndexError, match="1"):
        aten.amax(meta(()), [1])


def test_range_of_dims_is_checked_before_repetition() -> None:
    with pytest.raises(IndexError, match="4"):
        aten.sum.dim_IntList(meta((2, 3, 4, 5)), [-4, -4, 4])
    with pytest.raises(RuntimeError, match="appears multiple times"):
        aten.sum.dim_IntList(meta((2, 3)), [0, -2])


def test_result_is_contiguous_whatever_the_input() -> None:
    x = meta((2, 3, 4), (1, 8, 2))
    assert geometry(aten.amax(x, [0]))[2] == (4, 1)


def test_any_over_no_dims_keeps_sizes_and_order_of_strides() -> None:
    assert geometry(aten.any.dims(meta((3, 2), (1, 3)), [])) == ("bool", (3, 2), (1, 3))
    assert geometry(aten.all.dims(meta((3, 2), dtype="uint8"), None, True))[:2] == (
        "uint8",
        (1, 1),
    )


@pytest.mark.parametrize("op", [aten.mean.default, aten.var_mean.correction])
def test_mean_of_integers_is_refused(op: Any) -> None:
    with pytest.raises(RuntimeError, match=r"aten::(var_)?mean[.a-z]*: .*(int64|Long)"):
        op(meta((2,), dtype="int64"))


@pytest.mark.parametrize("op", [aten.mean.dim, aten.mean.default])
def test_mean_to_an_integer_dtype_is_refused(op: Any) -> None:
    args = ([0],) if op is aten.mean.dim else ()
    with pytest.raises(RuntimeError, match="dtype"):
        op(meta((2,)), *args, dtype=dispatch.int64)


def test_maximum_of_nothing_is_refused_on_meta_too() -> None:
    with pytest.raises(RuntimeError, match="aten::amax"):
        aten.amax(meta((5, 0)), [1])
    with pytest.raises(RuntimeError, match="aten::amax"):
        aten.amax(meta((5, 0)))
    with pytest.raises(IndexError, match="aten::argmax"):
        aten.argmax(meta((5, 0)), 1)
    assert tuple(aten.amax(meta((5, 0)), [0]).shape) == (0,)


def test_max_along_a_dim_gives_values_and_indices() -> None:
    values, indices = aten.max.dim(meta((2, 3), dtype="float16"), -1, True)
    assert geometry(values)[:2] == ("float16", (2, 1))
    assert geometry(indices)[:2] == ("int64", (2, 1))


@pytest.mark.parametrize("order", [INF, -INF, -1])
def test_norm_without_identity_of_nothing_is_refused(order: float) -> None:
    with pytest.raises(RuntimeError, match="linalg_vector_norm"):
        aten.linalg_vector_norm(meta((2, 0)), order)
    assert tuple(aten.linalg_vector_norm(meta((2, 0)), order, [0]).shape) == (0,)


@pytest.mark.parametrize(
    ("dtype", "given"), [("float32", "float16"), ("float32", "complex64"), ("float32", "int64")]
)
def test_norm_refuses_a_dtype_that_loses(dtype: str, given: str) -> None:
    with pytest.raises(RuntimeError, match=r"linalg_vector_norm.*dtype"):
        aten.linalg_vector_norm(meta((2,), dtype=dtype), 2, dtype=getattr(dispatch, given))


def test_norm_and_deviation_of_complex_numbers_are_real() -> None:
    x = meta((2, 3), dtype="complex64")
    assert geometry(aten.linalg_vector_norm(x, 2, [0]))[0] == "float32"
    assert geometry(aten.std.correction(x, [0]))[0] == "float32"
    assert geometry(aten.linalg_vector_norm(x, dtype=dispatch.complex128))[0] == "float64"


def test_out_decides_the_dtype_of_a_sum_unless_one_is_named() -> None:
    out = meta((3,), dtype="int32")
    assert aten.sum.IntList_out(meta((2, 3)), [0], out=out) is out
    with pytest.raises(RuntimeError, match=r"float32.*int32"):
        aten.sum.IntList_out(meta((2, 3)), [0], dtype=dispatch.float32, out=out)
    assert geometry(out) == ("int32", (3,), (1,))


def test_cumsum_in_place_keeps_its_dtype() -> None:
    x = meta((2, 3), (1, 2), "int32")
    assert aten.cumsum_(x, 0) is x
    assert geometry(x) == ("int32", (2, 3), (1, 2))
    assert geometry(aten.cumsum(x, 0)) == ("int64", (2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="dtype"):
        aten.cumsum_(x, 0, dtype=dispatch.float32)


def test_histc_has_one_element_for_each_bin() -> None:
    assert geometry(aten.histc(meta((4, 4), dtype="float64"), 7)) == ("float64", (7,), (1,))
    with pytest.raises(RuntimeError, match="bins"):
        aten.histc(meta((4,)), 0)


@pytest.mark.parametrize("p", [float("inf"), -float("inf"), -1, -0.5])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_norms_without_a_value_for_no_elements(p: float, device: str) -> None:
    x = dispatch.ones(0, 5, device=device)
    for call in (
        lambda: aten.norm.Scalar(x, p),
        lambda: aten.norm.ScalarOpt_dim(x, p, [0]),
        lambda: aten.norm.ScalarOpt_dim_dtype(x, p, [0], False, dtype=dispatch.float64),
        lambda: aten.norm.out(x, p, [], out=dispatch.ones((), device=device)),
    ):
        with pytest.raises(RuntimeError, match=r"^aten::norm\.\w+: "):
            call()
    assert aten.norm.ScalarOpt_dim(x, p, [1]).shape == (0,)


@pytest.mark.parametrize("p", [0, 0.5, 2, None])
def test_norms_of_no_elements(p: Any) -> None:
    x = dispatch.ones(0, 5)
    assert aten.norm.ScalarOpt_dim(x, p, [0]).tolist() == [0] * 5
    assert aten.norm.ScalarOpt_dim_dtype(x, p, [0], False, dtype=dispatch.float64).shape == (5,)


def test_a_dimension_counted_from_the_back_is_empty_for_meta_kernels() -> None:
    assert aten.norm.ScalarOpt_dim(dispatch.ones(0, 5), -1, [-1]).shape == (0,)
    with pytest.raises(RuntimeError):
        aten.norm.ScalarOpt_dim(dispatch.ones(0, 5, device="meta"), -1, [-1])


def test_aminmax_is_cast_into_wider_tensors_where_there_is_no_data() -> None:
    low, high = meta((), dtype="float32"), meta((), dtype="float64")
    found = aten.aminmax.out(meta((3,)), dim=0, min=low, max=high)
    assert found[0] is low
    assert found[1] is high
    low, high = dispatch.ones(()), dispatch.ones((), dtype=dispatch.float64)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        aten.aminmax.out(dispatch.ones(3), dim=0, min=low, max=high)


@pytest.mark.parametrize(
    ("dtype", "given", "result"),
    [
        ("int64", None, "int64"),
        ("bool", "float64", "float64"),
        ("complex64", None, "float32"),
        ("float16", "complex128", "float64"),
    ],
)
def test_norms_of_a_list_ask_for_no_dtype(dtype: str, given: str | None, result: str) -> None:
    asked = None if given is None else getattr(dispatch, given)
    (found,) = aten._foreach_norm([meta((2, 3), dtype=dtype)], 2, asked)
    assert (found.dtype, found.shape) == (getattr(dispatch, result), ())
    with pytest.raises(RuntimeError, match="expected tensors that have elements"):
        aten._foreach_norm([meta((0,), dtype=dtype)], INF)


@pytest.mark.parametrize(("device", "error"), [("cpu", IndexError), ("meta", RuntimeError)])
def test_aminmax_along_a_dimension_without_elements(device: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="to have non-zero size"):
        ops.aten.aminmax(dispatch.zeros(5, 0, 5, device=device), dim=1)
