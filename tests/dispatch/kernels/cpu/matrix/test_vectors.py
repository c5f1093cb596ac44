"""Cross products: every dtype, broadcast, strided, into an operand."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(1)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex64, np.complex128, np.int32])
@pytest.mark.parametrize("dim", [0, 1])
def test_cross_of_strided_operands(kind, dim):
    a, b = (rng.integers(-9, 9, (6, 6)).astype(kind) for _ in range(2))
    if np.dtype(kind).kind == "c":
        a = a + 1j * b[::-1]
    a, b = a[::2, ::2], b[::2, 1::2]
    got = aten.linalg_cross(dispatch.from_numpy(a), dispatch.from_numpy(b), dim=dim)
    np.testing.assert_allclose(got.numpy(), np.cross(a, b, axis=dim))


def test_one_vector_for_all():
    a, b = rng.standard_normal((4, 3)), rng.standard_normal((1, 3))
    got = aten.linalg_cross(dispatch.from_numpy(a), dispatch.from_numpy(b))
    np.testing.assert_allclose(got.numpy(), np.cross(a, b))


def test_half_precision_is_rounded_once():
    a, b = dispatch.tensor([3.0, 5.0, 7.0]), dispatch.tensor([1.0, 257.0, 3.0])
    narrow = aten.linalg_cross(a.to(dispatch.bfloat16), b.to(dispatch.bfloat16))
    exact = aten.linalg_cross(a, b.to(dispatch.bfloat16).to(dispatch.float32))
    assert narrow.tolist() == exact.to(dispatch.bfloat16).tolist()


def test_integers_wrap():
    x = dispatch.tensor([100, 100, 100], dtype=dispatch.int8)
    y = dispatch.tensor([1, 2, 3], dtype=dispatch.int8)
    want = np.cross([100, 100, 100], [1, 2, 3]).astype(np.int8)
    assert aten.linalg_cross(x, y).tolist() == want.tolist()


@pytest.mark.parametrize("place", [0, 1])
def test_the_output_of_a_cross_product_is_no_operand(place):
    given = [dispatch.from_numpy(rng.standard_normal((2, 3))) for _ in range(2)]
    before = given[place].tolist()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        aten.linalg_cross.out(*given, out=given[place])
    assert given[place].tolist() == before


def test_bool_has_no_cross_product():
    x = dispatch.ones(3, dtype=dispatch.bool)
    with pytest.raises(NotImplementedError, match=r"linalg_cross.*bool"):
        aten.linalg_cross(x, x)


def test_vdot_with_a_conjugate_on_the_right_is_a_conjugate():
    c = dispatch.tensor([1 + 2j, 3])
    found = dispatch.vdot(c, c.conj())
    assert found.is_conj() and found.item() == 6 - 4j
    assert not dispatch.vdot(c.conj(), c.conj()).is_conj()
