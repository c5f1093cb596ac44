"""Matrix products on the CPU: values, rounding, dtypes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int64", "uint8"])
def test_product(dtype: str) -> None:
    a, b = tensor([[1, 2], [3, 4]], dtype), tensor([[5, 6], [7, 8]], dtype)
    assert aten.mm(a, b).tolist() == [[19, 22], [43, 50]]


def test_integers_wrap() -> None:
    assert aten.mm(tensor([[200]], "uint8"), tensor([[2]], "uint8")).tolist() == [[144]]


def test_half_precision_is_multiplied_in_float32_and_rounded_once() -> None:
    a = np.full((1, 1000), 0.1, dtype=np.float16)
    exact = (a.astype(np.float64) @ a.T.astype(np.float64)).astype(np.float16)
    assert aten.mm(dispatch.from_numpy(a), dispatch.from_numpy(a.T)).tolist() == exact.tolist()


def test_strided_operands_and_outputs() -> None:
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    a, b = whole[:, ::2], whole[::2].T[::2]
    out = np.zeros((2, 4), dtype=np.float32).T
    result = aten.mm.out(
        dispatch.from_numpy(a), dispatch.from_numpy(b), out=dispatch.from_numpy(out)
    )
    np.testing.assert_array_equal(out, a @ b)
    assert tuple(result.stride()) == (1, 4)


def test_an_output_may_be_an_operand() -> None:
    a = tensor([[1, 2], [3, 4]])
    aten.mm.out(a, tensor([[0, 1], [1, 0]]), out=a)
    assert a.tolist() == [[2, 1], [4, 3]]


def test_infinities_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = aten.mm(tensor([[np.inf, 1]]), tensor([[0], [1]])).item()
    assert np.isnan(result)


def test_bool_has_no_kernel() -> None:
    with pytest.raises(NotImplementedError, match=r"aten::mm.*bool"):
        aten.mm(tensor([[True]], "bool"), tensor([[True]], "bool"))


@given(st.tuples(*[st.integers(0, 5)] * 3))
def test_product_is_numpy_s(sizes: tuple[int, int, int]) -> None:
    n, k, p = sizes
    a = np.arange(n * k, dtype=np.int64).reshape(n, k)
    b = np.arange(k * p, dtype=np.int64).reshape(k, p)
    found = aten.mm(dispatch.from_numpy(a), dispatch.from_numpy(b))
    assert found.tolist() == (a @ b).tolist()


def test_lazily_conjugated_operands_are_conjugated():
    x = np.array([[1 + 2j, 3j], [2.0, 1 - 1j]])
    t, v = dispatch.from_numpy(x), dispatch.from_numpy(x[0].copy())
    aten = dispatch.ops.aten
    np.testing.assert_allclose(aten.mm(t.mH, t).numpy(), x.conj().T @ x)
    np.testing.assert_allclose(aten.mm(t, t.conj()).numpy(), x @ x.conj())
    np.testing.assert_allclose(aten.addmm(t.conj(), t, t.mH).numpy(), x.conj() + x @ x.conj().T)
    pair = t.unsqueeze(0)
    np.testing.assert_allclose(aten.bmm(pair.mH, pair).numpy()[0], x.conj().T @ x)
    assert aten.dot(v.conj(), v).item() == np.vdot(x[0], x[0])
    assert aten.vdot(v.conj(), v).item() == np.dot(x[0], x[0])


KINDS = ["uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
KINDS += ["complex64", "complex128"]


def example(shape, kind, seed):
    generator = np.random.default_rng(seed)
    values = generator.integers(0 if kind == "uint8" else -4, 5, shape)
    if kind.startswith("complex"):
        values = values + 1j * generator.integers(-4, 5, shape)
    return dispatch.from_numpy(np.asarray(values)).to(getattr(dispatch, kind))


def exact(t):
    kind = dispatch.complex128 if t.dtype.is_complex else dispatch.float64
    return t.to(kind).numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (3, 4, 5), (2, 17, 1), (1, 30, 9), (40, 40, 40)])
@pytest.mark.parametrize("turned", [False, True])
def test_small_and_large_products_are_exact(sizes, kind, turned):
    m, k, n = sizes
    a, b, c = (example(s, kind, i) for i, s in enumerate([(m, k), (k, n), (n,)]))
    if turned:
        a, b = a.t().contiguous().t(), b.t().contiguous().t()
    want = exact(a) @ exact(b)
    wrapped = (want + exact(c) * 2) if kind not in ("uint8", "int8") else None
    if abs(want).max() < 100:
        assert (exact(ops.aten.mm(a, b)) == want).all()
        assert (exact(ops.aten.mv(a, b[:, 0])) == want[:, 0]).all()
        assert exact(ops.aten.dot(a[0], b[:, 0])) == want[0, 0]
        batch = ops.aten.bmm(a.expand(2, m, k), b.expand(2, k, n))
        assert (exact(batch) == want).all()
        if wrapped is not None:
            assert (exact(ops.aten.addmm(c, a, b, beta=2)) == wrapped).all()
            both = ops.aten.baddbmm(c, a.unsqueeze(0), b.unsqueeze(0), beta=2)
            assert (exact(both)[0] == wrapped).all()
            column = exact(ops.aten.addmv(c[:1], a, b[:, 0], beta=2))
            assert (column == want[:, 0] + 2 * exact(c)[0]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("step", [1, 2])
def test_a_matrix_by_its_own_transpose(step, dtype):
    """Whole numbers: exact, however BLAS sums them. Tall ones go another way than wide ones."""
    x = np.random.default_rng(0).integers(-9, 9, (3, 130, 80)).astype(dtype)[:, ::step]
    for a in (x, x.swapaxes(1, 2)):
        t = dispatch.from_numpy(a)
        np.testing.assert_array_equal(aten.bmm(t, t.mT).numpy(), a @ a.swapaxes(1, 2).copy())
        np.testing.assert_array_equal(aten.mm(t[1], t[1].mT).numpy(), a[1] @ a[1].T.copy())


@pytest.mark.parametrize("added", [(1,), (140, 1), (9, 1, 130), (9, 140, 130)])
def test_threads_share_what_is_added_to_a_product(added):
    rng = np.random.default_rng(0)
    a, b, c = (rng.integers(-9, 9, s).astype("f") for s in ((9, 140, 20), (9, 20, 130), added))
    before = dispatch.get_num_threads()
    for threads in (1, 3):
        dispatch.set_num_threads(threads)
        try:
            made = aten.baddbmm(*map(dispatch.from_numpy, (c, a, b)), beta=2, alpha=3)
        finally:
            dispatch.set_num_threads(before)
        np.testing.assert_array_equal(made.numpy(), 2 * c + 3 * (a @ b))


def test_small_integers_wrap():
    a = dispatch.full((2, 3), 100, dtype=dispatch.int8)
    assert ops.aten.mm(a, a.t()).tolist() == [[48, 48], [48, 48]]


def test_output_that_is_an_operand_is_right():
    a, b = (dispatch.tensor(v) for v in ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]))
    b.addmm_(a, a.clone())
    assert b.tolist() == [[7.0, 11.0], [16.0, 22.0]]
    assert a.addmm_(a, b, beta=0).tolist() == [[39.0, 55.0], [85.0, 121.0]]


def test_factor_zero_ignores_what_it_multiplies():
    nan = dispatch.full((2, 2), float("nan"))
    one = dispatch.eye(2)
    assert ops.aten.addmm(nan, one, one, beta=0).tolist() == one.tolist()
    assert ops.aten.addmm(one, nan, nan, alpha=0).tolist() == one.tolist()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [
        (37, 1030, 45),
        (100, 65, 33),
        (1, 4096, 70),
        (28, 70, 48),
        (20, 41, 80),
        (13, 88, 49),
        (150, 96, 290),
        (290, 130, 40),
    ],
)
def test_large_bfloat16_is_rounded_once(m: int, k: int, n: int, threads: int) -> None:
    """Sums of whole numbers are exact in float32, whatever panels they are made in."""
    random = np.random.default_rng(0)
    left, right = random.integers(-8, 9, (3, m, k)), random.integers(-8, 9, (3, k, n))
    a, b = (tensor(x, "float32").to(dispatch.bfloat16) for x in (left, right))
    expected = tensor(left @ right, "float32").to(dispatch.bfloat16).tolist()
    before = dispatch.get_num_threads()
    dispatch.set_num_threads(threads)
    try:
        assert aten.bmm(a, b).tolist() == expected
        assert aten.mm(a[1], b[1]).tolist() == expected[1]
        both = aten.baddbmm(a.new_full((3, m, n), 4), a, b, beta=2, alpha=0.5)
        assert both.tolist() == tensor(left @ right / 2 + 8, "float32").bfloat16().tolist()
        by_columns = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (a, b)]
        assert aten.bmm(*by_columns).tolist() == expected
        assert aten.bmm(a, by_columns[1]).tolist() == expected
        assert aten.mm(a[1], by_columns[1][1]).tolist() == expected[1]
        assert aten.mm(by_columns[0][1], b[1]).tolist() == expected[1]
    finally:
        dispatch.set_num_threads(before)


@pytest.mark.parametrize(
    "name", ["uint8", "int16", "int32", "int64", "bfloat16", "float16", "float32"]
)
def test_one_row_or_column_of_any_length(name: str) -> None:
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 4, sizes) for sizes in ((1500, 1100), (1100, 40)))
    left, right = tensor(a, name), tensor(b, name)
    turned = left.t().contiguous().t()

    def stored(product: np.ndarray) -> object:
        return tensor(product.astype(np.int64), "int64").to(getattr(dispatch, name)).tolist()

    for matrix in (left, turned):
        assert aten.mv(matrix, right[:, 3]).tolist() == stored(a @ b[:, 3])
        assert aten.mm(matrix, right[:, 3:4]).tolist() == stored(a @ b[:, 3:4])
        assert aten.mm(matrix[5:6], right).tolist() == stored(a[5:6] @ b)
    added = aten.addmm(right[0], left[5:6], right, beta=2, alpha=3)
    assert added.tolist() == stored(2 * b[0] + 3 * (a[5:6] @ b))
    assert aten.dot(left[0], right[:, 0]).item() == stored(a[0] @ b[:, 0])


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(
    ("m", "k", "n"), [(2, 300, 257), (7, 129, 90), (16, 64, 515), (5, 2048, 6)]
)
def test_few_rows_by_columns_without_gaps(dtype: str, m: int, k: int, n: int) -> None:
    rng = np.random.default_rng(m)
    a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (n, k))
    got = ops.aten.mm(tensor(a, dtype), tensor(b, dtype).t())
    assert got.tolist() == tensor(a @ b.T, dtype).tolist()


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize(("m", "k", "n"), [(2, 2, 2), (3, 3, 3), (4, 4, 4), (3, 3, 1), (1, 2, 4)])
def test_many_products_of_a_few_numbers(kind: str, m: int, k: int, n: int) -> None:
    """Whole numbers, which every order of adding gets right."""
    random = np.random.default_rng(0)
    left, right = random.integers(-8, 9, (20000, m, k)), random.integers(-8, 9, (20000, k, n))
    a, b = tensor(left, kind), tensor(right, kind)
    expected = tensor(left @ right, kind)
    assert aten.bmm(a, b).equal(expected)
    turned = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (a, b))
    assert aten.bmm(*turned).equal(expected)
    out = a.new_empty((n, m, 20000)).permute(2, 1, 0)
    assert aten.bmm(a, b, out=out) is out and out.equal(expected)
