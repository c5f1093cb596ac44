"""Matrix products beside mm on the CPU: values, factors, rounding, memory."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def tensor(values: object, dtype: str = "float32") -> dispatch.Tensor:
    return dispatch.from_numpy(np.array(values, dtype=dtype))


ONES = [[1.0, 1.0], [1.0, 1.0]]
NANS = [[np.nan, np.nan], [np.nan, np.nan]]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32", "uint8"])
def test_addmm_scales_both_terms(dtype: str) -> None:
    ones = tensor(ONES, dtype)
    assert aten.addmm(ones, ones, ones, beta=3, alpha=2).tolist() == [[7, 7], [7, 7]]


def test_zero_factors_do_not_read_their_term() -> None:
    ones, nans = tensor(ONES), tensor(NANS)
    assert aten.addmm(nans, ones, ones, beta=0).tolist() == [[2, 2], [2, 2]]
    assert aten.addmm(ones, nans, ones, alpha=0).tolist() == ONES
    assert aten.addmv(nans[0], ones, ones[0], beta=0).tolist() == [2, 2]
    assert aten.baddbmm(nans[None], ones[None], ones[None], beta=0).tolist() == [[[2, 2], [2, 2]]]


def test_factor_of_integers_is_cut_and_must_fit() -> None:
    ones = tensor(ONES, "int8")
    assert aten.addmm(ones, ones, ones, beta=0.5, alpha=1.7).tolist() == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="300"):
        aten.addmm(ones, ones, ones, alpha=300)


def test_addmm_into_its_own_arguments() -> None:
    a, b, c = tensor([[1, 2], [3, 4]]), tensor([[1, 0], [1, 1]]), tensor([[5, 6], [7, 8]])
    want = aten.addmm(a, b, c).tolist()
    assert aten.addmm(a.clone(), b, c).tolist() == want
    for i in range(3):
        given = [a.clone(), b.clone(), c.clone()]
        assert aten.addmm(*given, out=given[i]).tolist() == want


def test_rows_and_scalars_are_broadcast() -> None:
    ones = tensor(ONES)
    assert aten.addmm(tensor([1, 2]), ones, ones).tolist() == [[3, 4], [3, 4]]
    assert aten.addmm(tensor(1), ones, ones).tolist() == [[3, 3], [3, 3]]


def test_bmm_of_transposed_batches() -> None:
    left, right = np.arange(24.0).reshape(2, 4, 3), np.arange(12.0).reshape(2, 3, 2)
    got = aten.bmm(tensor(left.transpose(0, 2, 1).copy()).transpose(1, 2), tensor(right))
    assert got.tolist() == (left @ right).tolist()


def test_half_precision_is_rounded_once() -> None:
    a = np.full((1, 1, 1000), 0.1, dtype=np.float16)
    exact = (a.astype(np.float64) @ a.astype(np.float64).transpose(0, 2, 1)).astype(np.float16)
    given = dispatch.from_numpy(a)
    assert aten.bmm(given, given.transpose(1, 2)).tolist() == exact.tolist()


def test_vectors() -> None:
    a, v = tensor([[1, 2, 3], [4, 5, 6]]), tensor([1, 0, 2])
    assert aten.mv(a, v).tolist() == [7, 16]
    assert aten.dot(v, v).item() == 5
    assert aten.dot(tensor([1j], "complex64"), tensor([1j], "complex64")).item() == -1


def test_empty_products() -> None:
    none, ones = tensor(np.zeros((2, 0))), tensor(ONES)
    assert aten.addmm(ones, none, none.t(), beta=2).tolist() == [[2, 2], [2, 2]]
    assert aten.bmm(none[None], none.t()[None]).tolist() == [[[0, 0], [0, 0]]]
    assert aten.mv(none, tensor([])).tolist() == [0, 0]


@pytest.mark.parametrize("op", ["bmm", "baddbmm"])
def test_dtype_without_a_kernel_is_named(op: str) -> None:
    given = [tensor([[[True]]], "bool")] * (2 if op == "bmm" else 3)
    with pytest.raises(NotImplementedError, match=f"aten::{op}.*bool"):
        getattr(aten, op)(*given)


def test_grouped_rows() -> None:
    rows, weights = np.ones((8, 4), np.float32), np.ones((2, 4, 4), np.float32)
    weights[1] *= 2
    got = aten._grouped_mm(tensor(rows), tensor(weights), tensor([3, 7], "int32"))
    assert got.tolist() == [[4.0] * 4] * 3 + [[8.0] * 4] * 4 + [[0.0] * 4]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
@pytest.mark.parametrize("largest", [100, 2**40])
def test_large_products_of_integers_are_exact_and_wrap(dtype, largest):
    generator = np.random.default_rng(0)
    a, b = (generator.integers(0, largest, size=s).astype(dtype) for s in [(60, 70), (70, 80)])
    with np.errstate(over="ignore"):
        wanted = a @ b
    np.testing.assert_array_equal(aten.mm(tensor(a, dtype), tensor(b, dtype)).numpy(), wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_large_products_take_transposed_operands_factors_and_what_is_added(dtype):
    generator = np.random.default_rng(0)
    a, b, row = (generator.normal(size=s) for s in [(300, 40), (300, 50), (50,)])
    given = [tensor(values, dtype) for values in (row, a, b)]
    found = aten.addmm(given[0], given[1].t(), given[2], beta=2.0, alpha=0.5).numpy()
    exact = 2 * given[0].numpy().astype(float)
    exact = exact + given[1].numpy().astype(float).T @ given[2].numpy().astype(float) / 2
    rtol = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(found, exact, rtol=rtol, atol=rtol)
    out = tensor(np.ones((40, 50)), dtype)
    aten.addmm(out, given[1].t(), given[2], out=out)
    product = given[1].numpy().astype(float).T @ given[2].numpy().astype(float)
    np.testing.assert_allclose(out.numpy(), product + 1, rtol=rtol, atol=5 * rtol)


def test_minus_one_subtracts_unsigned_numbers():
    x, ones = dispatch.full((2, 2), 5).byte(), dispatch.ones(2, 2).byte()
    assert dispatch.addmm(x, ones, ones, alpha=-1).tolist() == [[3, 3], [3, 3]]
    with pytest.raises(RuntimeError, match="-256 cannot be converted"):
        dispatch.addmm(x, ones, ones, alpha=-256)


@pytest.mark.parametrize("kind", [dispatch.float32, dispatch.float16])
@pytest.mark.parametrize("factors", [{"alpha": 1e39}, {"beta": -1e39}, {"alpha": 1e39, "beta": 0}])
def test_a_factor_beyond_the_dtype_of_computation_is_refused(kind, factors):
    one = dispatch.ones(1, 1, dtype=kind)
    for call, lead in ((dispatch.addmm, one), (dispatch.baddbmm, one[None])):
        with pytest.raises(RuntimeError, match=r"1e.39 cannot be converted to float32"):
            call(lead, lead, lead, **factors)
    assert dispatch.addmm(one.double(), one.double(), one.double(), alpha=1e39).item() > 1e38
    assert dispatch.addmm(one, one, one, alpha=float("inf")).item() == float("inf")


@pytest.mark.parametrize(
    ("dtype", "batches", "beta", "want"),
    [("int64", 0, 2, 6), ("int64", 2, 1.5, 5), ("float32", 0, 1.5, 4.5), ("float32", 0, 0, 0)],
)
def test_a_sum_of_batches_scales_what_it_is_added_to(dtype, batches, beta, want):
    kind = getattr(dispatch, dtype)
    ones = dispatch.ones(batches, 1, 1, dtype=kind)
    added = dispatch.full((1, 1), 3, dtype=kind)
    assert aten.addbmm(added, ones, ones, beta=beta).item() == want


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "int32", "int64"])
@pytest.mark.parametrize("turned", [False, True])
def test_threads_share_large_products_of_other_numbers(dtype: str, turned: bool) -> None:
    made = np.random.default_rng(0).integers(-9, 9, (2, 97, 150)).astype(dtype)
    left, right = (made[0], made[1].T) if turned else (made[0].T.copy(), made[1])
    before = dispatch.get_num_threads()
    try:
        dispatch.set_num_threads(3)
        found = dispatch.from_numpy(left.copy()) @ dispatch.from_numpy(right.T.copy()).t()
        given = dispatch.from_numpy(left.copy()), dispatch.from_numpy(right.copy())
        other = aten.addmm(found, *given)
    finally:
        dispatch.set_num_threads(before)
    assert (found.numpy() == left @ right).all()
    assert (other.numpy() == 2 * (left @ right)).all()
