"""Elementwise prims: the arithmetic of aten, without broadcasting and without promotion."""

import pytest

import dispatch
from dispatch import ops

prims = ops.prims
X = dispatch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])


def test_same_shapes_and_dtypes_are_computed():
    assert prims.add(X, X).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert prims.lt(X, X.flip(1)).tolist() == [[True, False, False], [True, False, False]]
    assert prims.where(X > 2, X, -X).tolist() == [[0, -1, -2], [3, 4, 5]]


def test_numbers_and_tensors_without_dimensions_go_with_any_shape():
    assert prims.mul(X, 2.0).tolist() == prims.mul(X, dispatch.tensor(2.0)).tolist()


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (dispatch.ones(3), "same shape"),
        (dispatch.ones(2, 1), "same shape"),
        (dispatch.ones(2, 3, dtype=dispatch.float64), "same dtype"),
        (dispatch.tensor(1), "same dtype"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_nothing_is_broadcast_and_nothing_promoted(other, text, device):
    if device == "meta" and not other.ndim:
        text = "same"
    with pytest.raises(RuntimeError, match=f"prims::add: expected the {text}"):
        prims.add(X.to(device), other.to(device))


def test_quotients_of_integers_are_cut():
    x = dispatch.tensor([5, -5])
    assert prims.div(x, dispatch.tensor([2, 2])).tolist() == [2, -2]
    assert prims.div(X[1], X[1] * 2).tolist() == [0.5, 0.5, 0.5]


def test_cube_roots_keep_their_sign():
    assert prims.cbrt(dispatch.tensor([-8.0, 27.0])).tolist() == pytest.approx([-2, 3])
    with pytest.raises(RuntimeError, match=r"prims::cbrt.*real"):
        prims.cbrt(X * 1j)


def test_meta_gives_dtype_and_strides():
    x = dispatch.empty(3, 2, device="meta").t()
    assert prims.add(x, x).stride() == (1, 2)
    assert prims.eq(x, x).dtype is dispatch.bool
    assert prims.abs(dispatch.empty(2, dtype=dispatch.complex64, device="meta")).dtype is (
        dispatch.float32
    )


def test_fakes_are_computed_by_the_shape_function():
    with dispatch.FakeTensorMode():
        x = dispatch.empty(2, 3, device="cuda")
        found = prims.maximum(x, x)
        assert (found.device.type, found.shape) == ("cuda", (2, 3))
        with pytest.raises(RuntimeError, match="same shape"):
            prims.maximum(x, dispatch.empty(3, device="cuda"))


def test_the_result_of_what_requires_grad_requires_grad():
    x = dispatch.ones(2, requires_grad=True)
    assert prims.sin(x).requires_grad
    assert not prims.gt(x, x).requires_grad


def test_conjugation_needs_complex_numbers():
    assert prims.conj_physical(dispatch.tensor([1 + 2j])).tolist() == [1 - 2j]
    with pytest.raises(RuntimeError, match=r"prims::conj_physical.*complex"):
        prims.conj_physical(X)
