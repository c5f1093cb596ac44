"""Softmax, scans and fused attention on the CPU."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten
RNG = np.random.default_rng(0)


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


def softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax_and_its_logarithm(dim: int) -> None:
    x = RNG.normal(size=(3, 4, 5)) * 50
    want = softmax(x, dim)
    np.testing.assert_allclose(aten._softmax(tensor(x), dim, False).numpy(), want, atol=1e-5)
    got = aten._log_softmax(tensor(x, "float64"), dim, False).numpy()
    np.testing.assert_allclose(got, np.log(want), atol=1e-9)


def test_softmax_of_more_rows_than_a_block() -> None:
    x = RNG.normal(size=(700, 300))
    np.testing.assert_allclose(aten._softmax(tensor(x), 1, False).numpy(), softmax(x), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("sizes", [(300, 37), (2000, 5), (9, 700)])
def test_columns_and_their_gradients(sizes: tuple[int, int], dtype: str) -> None:
    kind, rounding = getattr(dispatch, dtype), 1e-5 if dtype == "float32" else 1e-2
    x, grad = (dispatch.from_numpy(RNG.normal(size=sizes)).to(kind) for _ in range(2))
    x[:, 2] = -np.inf
    given, g = x.double().numpy(), grad.double().numpy()
    with np.errstate(invalid="ignore"):
        want = softmax(given, 0)
    y = aten._softmax(x, 0, False)
    np.testing.assert_allclose(y.double().numpy(), want, rtol=rounding, atol=1e-6)
    assert y[:, 2].isnan().all()
    for other in (y, y.t().contiguous().t()):
        w = y.double().numpy()
        slope = (g - (g * w).sum(0)) * w
        got = aten._softmax_backward_data(grad, other, 0, kind)
        np.testing.assert_allclose(got.double().numpy(), slope, rtol=rounding, atol=rounding)
    logarithm = aten._log_softmax(x, 0, False)
    slope = g - np.exp(logarithm.double().numpy()) * g.sum(0)
    got = aten._log_softmax_backward_data(grad, logarithm, 0, kind).double().numpy()
    np.testing.assert_allclose(got, slope, rtol=rounding, atol=rounding * 4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
@pytest.mark.parametrize("length", [1, 3, 70, 5000])
def test_rows_that_are_converted_together_are_those_of_one(dtype: str, length: int) -> None:
    kind, count = getattr(dispatch, dtype), 3 if length == 5000 else 1500
    x, y = (dispatch.from_numpy(RNG.normal(size=(count, length)) * 9).to(kind) for _ in range(2))
    calls = [lambda a, b: aten.cumsum(a, 1, dtype=kind), lambda a, b: aten.sort(a, 1)[1]]
    if dtype != "int8":
        calls += [
            lambda a, b: aten._softmax(a, 1, False),
            lambda a, b: aten._log_softmax_backward_data(a, b, 1, kind),
            lambda a, b: aten.native_layer_norm(a, [length], y[0], None, 1e-5)[0],
            lambda a, b: aten.native_layer_norm(a, [length], y[0], None, 1e-5)[1],
        ]
    wide = dispatch.zeros(count, length + 2, dtype=kind)
    wide[:, :length] = x
    for call in calls:
        want = [call(x[i : i + 1], y[i : i + 1]) for i in (0, 1, count - 1)]
        for one in (x, wide[:, :length]):
            found = call(one, y)
            for i, row in zip((0, 1, count - 1), want, strict=True):
                short = 1 < length <= 16 and dtype != "int8"  # rows that may be columns
                assert dispatch.allclose(found[i : i + 1], row, 1e-2 if short else 0, 0), i


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("sizes", [(16, 2), (777, 5), (1000, 16), (300, 17), (99, 64), (9, 144)])
def test_short_rows_and_their_gradients(sizes: tuple[int, int], dtype: str) -> None:
    kind, rounding = getattr(dispatch, dtype), 1e-5 if "32" in dtype or "64" in dtype else 1e-2
    x, grad = (dispatch.from_numpy(RNG.normal(size=sizes)).to(kind) for _ in range(2))
    x[2], x[3, 0] = -np.inf, np.inf
    given, g = x.double().numpy(), grad.double().numpy()
    with np.errstate(invalid="ignore"):
        want = softmax(given)
        log = np.log(np.where(want == 0, 1, want))
    into = dispatch.zeros(sizes[0], sizes[1] + 1, dtype=kind)[:, :-1]
    for y in (aten._softmax(x, 1, False), aten._softmax(x, 1, False, out=into)):
        np.testing.assert_allclose(y.double().numpy(), want, rtol=rounding, atol=rounding)
    y[2:4] = 0.5
    w = y.double().numpy()
    slope = (g - (g * w).sum(1, keepdims=True)) * w
    got = aten._softmax_backward_data(grad, y, 1, kind).double().numpy()
    np.testing.assert_allclose(got, slope, rtol=rounding, atol=rounding)
    found = aten._log_softmax(x, 1, False).double().numpy()
    np.testing.assert_allclose(found[4:], log[4:], rtol=rounding, atol=rounding)
    assert np.isnan(found[2:4]).tolist() == np.isnan(want[2:4]).tolist()


def test_softmax_of_infinities_is_nan_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = aten._softmax(tensor([[-np.inf, -np.inf], [np.inf, 0], [-np.inf, 0]]), 1, False)
    assert np.isnan(got.numpy()).tolist() == [[True, True], [True, True], [False, False]]
    assert got[2].tolist() == [0, 1]


def test_softmax_of_a_number_and_of_nothing() -> None:
    assert aten._softmax(tensor(3), 0, False).item() == 1
    assert aten._log_softmax(tensor(3), -1, False).item() == 0
    assert aten._softmax(tensor(np.zeros((2, 0))), 1, False).shape == (2, 0)


def test_softmax_into_a_strided_output() -> None:
    x, out = RNG.normal(size=(3, 4)), tensor(np.zeros((4, 3))).t()
    aten._softmax(tensor(x), 1, False, out=out)
    np.testing.assert_allclose(out.numpy(), softmax(x), rtol=1e-5)


def test_softmax_refuses_integers_and_half_to_float() -> None:
    with pytest.raises(NotImplementedError, match=r"_softmax.*int64"):
        aten._softmax(tensor([1], "int64"), 0, False)
    with pytest.raises(RuntimeError, match="half_to_float"):
        aten._softmax(tensor([1], "float16"), 0, True)


def test_cumsum_sums_float32_in_float64() -> None:
    x = np.full(100_000, 0.1, np.float32)
    want = np.cumsum(x, dtype=np.float64).astype(np.float32)
    assert (aten.cumsum(dispatch.from_numpy(x), 0).numpy() == want).all()


def test_cumsum_of_integers_and_into_them() -> None:
    assert aten.cumsum(tensor([[200, 100], [1, 2]], "uint8"), 1).tolist() == [[200, 300], [1, 3]]
    assert aten.cumsum(tensor([200, 100], "uint8"), 0, dtype=dispatch.uint8).tolist() == [200, 44]
    out = tensor([0, 0], "int32")
    assert aten.cumsum(tensor([1.5, 1.5]), 0, out=out).tolist() == [1, 2]


def attention(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray | float = 0.0
) -> np.ndarray:
    scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]) + mask
    return softmax(scores) @ v


def fused(*args: np.ndarray, **options: object) -> tuple[np.ndarray, np.ndarray]:
    op = aten._scaled_dot_product_flash_attention_for_cpu
    out, total = op(*(tensor(a) for a in args), **options)
    return out.numpy(), total.numpy()


@pytest.mark.parametrize("length", [5, 700])
@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(length: int, is_causal: bool) -> None:
    q, k, v = (RNG.normal(size=(2, 3, length, 8)) for _ in range(3))
    mask = np.triu(np.full((length, length), -np.inf), 1) if is_causal else 0.0
    out, total = fused(q, k, v, is_causal=is_causal)
    np.testing.assert_allclose(out, attention(q, k, v, mask), atol=1e-4)
    scores = q @ k.swapaxes(2, 3) / np.sqrt(8) + mask
    np.testing.assert_allclose(total, np.log(np.exp(scores).sum(-1)), atol=1e-4)


def test_attention_shares_key_heads() -> None:
    q, k, v = (RNG.normal(size=(1, heads, 4, 8)) for heads in (4, 2, 2))
    want = attention(q, k.repeat(2, axis=1), v.repeat(2, axis=1))
    np.testing.assert_allclose(fused(q, k, v)[0], want, atol=1e-5)


def test_attention_output_is_laid_out_as_the_query() -> None:
    q = tensor(RNG.normal(size=(2, 5, 3, 8))).transpose(1, 2)
    out, _ = aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)
    assert out.stride() == q.stride()
    values = q.numpy()
    np.testing.assert_allclose(out.numpy(), attention(values, values, values), atol=1e-5)


def test_row_that_sees_nothing_is_zero() -> None:
    q = RNG.normal(size=(1, 1, 2, 4))
    mask = tensor([[-np.inf, -np.inf], [0, 0]])
    out, total = fused(q, q, q, attn_mask=mask)
    assert out[0, 0, 0].tolist() == [0, 0, 0, 0]
    assert total[0, 0, 0] == 0
    np.testing.assert_allclose(out[0, 0, 1], attention(q, q, q)[0, 0, 1], atol=1e-5)


def test_attention_refuses_dropout_and_other_masks() -> None:
    q = np.ones((1, 1, 2, 4))
    with pytest.raises(RuntimeError, match="dropout_p"):
        fused(q, q, q, dropout_p=0.5)
    with pytest.raises(RuntimeError, match="attn_mask"):
        fused(q, q, q, attn_mask=tensor([[True, True]] * 2, "bool"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("columns", [160, 150, 100, 48, 33])
def test_gradients_of_long_16_bit_rows_are_rounded_once(dtype, columns):
    kind = getattr(dispatch, dtype)
    grad = dispatch.from_numpy(RNG.normal(size=(5, columns))).to(kind)
    y = dispatch.from_numpy(RNG.normal(size=(5, columns))).softmax(1).to(kind)
    grad[3, 7], grad[4, 9] = float("nan"), float("inf")
    got = aten._softmax_backward_data(grad, y, 1, kind).float()
    exact = aten._softmax_backward_data(grad.double(), y.double(), 1, dispatch.float64)
    near = 1e-3 if dtype == "float16" else 8e-3
    np.testing.assert_allclose(got.numpy(), exact.numpy(), rtol=near, atol=near / 1e2)


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_gradients_are_those_of_the_formula(dim, dtype):
    kind = getattr(dispatch, dtype)
    x = dispatch.arange(24.0).view(2, 3, 4).permute(1, 2, 0).to(kind)
    grad = x.sin()
    y, log = x.softmax(dim), x.log_softmax(dim)
    got = aten._softmax_backward_data(grad, y, dim, kind).double().numpy()
    g, p = grad.double().numpy(), y.double().numpy()
    tolerance = 1e-2 if dtype == "bfloat16" else 1e-5
    want = (g - (g * p).sum(dim, keepdims=True)) * p
    np.testing.assert_allclose(got, want, atol=tolerance)
    got = aten._log_softmax_backward_data(grad, log, dim, kind).double().numpy()
    want = g - np.exp(log.double().numpy()) * g.sum(dim, keepdims=True)
    np.testing.assert_allclose(got, want, atol=tolerance * 4)


def test_gradients_check_sizes_and_dtypes():
    x = dispatch.ones(2, 3)
    with pytest.raises(RuntimeError, match="output to have grad_output's shape"):
        aten._softmax_backward_data(x, dispatch.ones(3, 3), 1, x.dtype)
    with pytest.raises(RuntimeError, match=r"output to be .*float32"):
        aten._softmax_backward_data(x, x.double(), 1, x.dtype)
    with pytest.raises(NotImplementedError, match="int64"):
        aten._softmax_backward_data(x.long(), x.long(), 1, dispatch.int64)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_columns_that_lie_apart_give_what_a_copy_of_them_gives(name):
    x, of = (
        dispatch.arange(96, dtype=dispatch.float64).sin().reshape(8, 12),
        getattr(dispatch, name),
    )
    for view in (x[::2], x[:, ::3], x.t()[::2]):
        for dim in (0, 1):
            np.testing.assert_allclose(of(view, dim).numpy(), of(view.contiguous(), dim).numpy())
