"""Factorisations by their older names, and into tensors that are given."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from dispatch._C import advice

pytest.importorskip("scipy")
aten = dispatch.ops.aten
X = np.random.default_rng(0).standard_normal((3, 4))
T = dispatch.from_numpy(X)


def test_older_svd_gives_v():
    u, s, v = aten.svd(T)
    np.testing.assert_allclose(((u * s) @ v.mT).numpy(), X, atol=1e-12)
    u, again, v = aten.svd(T, True, False)
    np.testing.assert_allclose(again.numpy(), s.numpy())
    assert (u.shape, v.shape) == ((3, 3), (4, 4))
    assert not u.any()


def test_older_svd_into_outputs():
    outs = [dispatch.empty(0, dtype=T.dtype) for _ in range(3)]
    aten.svd.U(T, U=outs[0], S=outs[1], V=outs[2])
    u, s, v = outs
    np.testing.assert_allclose(((u * s) @ v.mT).numpy(), X, atol=1e-12)
    with pytest.raises(RuntimeError, match="expected S to be"):
        aten.svd.U(T, U=u, S=dispatch.empty(0), V=v)


def test_older_qr_warns_once_it_is_called(monkeypatch):
    monkeypatch.setattr(advice, "_told", set())
    with pytest.warns(UserWarning, match="linalg_qr") as seen:
        q, r = [aten.qr(T, False) for _ in range(2)][1]
    assert [w.filename for w in seen] == [__file__]
    np.testing.assert_allclose((q @ r).numpy(), X, atol=1e-12)
    assert q.shape == (3, 3)


def test_orgqr_is_the_householder_product():
    a, tau = aten.geqrf(T.mT)
    want = aten.linalg_householder_product(a, tau)
    assert aten.orgqr(a, tau).tolist() == want.tolist()


def test_values_alone():
    square = dispatch.from_numpy(X @ X.T)
    out = dispatch.empty(0, dtype=T.dtype)
    assert aten.linalg_eigvalsh.out(square, out=out) is out
    np.testing.assert_allclose(out.numpy(), np.linalg.eigvalsh(X @ X.T))
    aten.linalg_svdvals.out(T, out=out)
    np.testing.assert_allclose(out.numpy(), np.linalg.svd(X)[1])


def test_singular_lu_is_no_factorisation_to_solve_with():
    with pytest.raises(RuntimeError, match="lu_factor"):
        aten.linalg_lu_factor(dispatch.zeros(2, 2))
    assert aten._lu_with_info(dispatch.zeros(2, 2))[2].item() == 1
