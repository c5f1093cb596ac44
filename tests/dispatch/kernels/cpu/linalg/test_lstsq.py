"""Least squares on the CPU: numpy's solutions, with what each driver finds out on the way."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch
from tests.dispatch.kernels.cpu.linalg.test_factors import KINDS, close, matrices

pytest.importorskip("scipy")
lstsq = dispatch.ops.aten.linalg_lstsq


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss", None])
@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 3, 4), (2, 3, 3)])
def test_solutions_are_those_of_the_pseudoinverse(shape, driver, kind):
    values, a = matrices(shape, kind)
    b, rhs = matrices((*shape[:-1], 2), kind, 1)
    x, residuals, rank, singular = lstsq(a, rhs, driver=driver)
    want = np.linalg.pinv(values) @ b
    close(x, want)
    assert x.stride()[-2:] == (1, max(shape[-2:]))
    assert rank.tolist() == ([] if driver == "gels" else [3, 3])
    if driver in ("gelsd", "gelss"):
        close(singular, np.linalg.svd(values, compute_uv=False))
    if shape == (2, 4, 3) and driver in ("gels", "gelsd", "gelss"):
        close(residuals, (abs(values @ want - b) ** 2).sum(-2))
    else:
        assert residuals.numel() == 0


def test_without_full_rank_there_are_no_residuals():
    a = dispatch.tensor([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
    x, residuals, rank, _ = lstsq(a, dispatch.ones(3), driver="gelsd")
    assert (x.tolist(), rank.item(), residuals.numel()) == ([1.0, 0.0], 1, 0)
    with pytest.raises(dispatch.linalg.LinAlgError, match="full rank"):
        lstsq(a, dispatch.ones(3), driver="gels")


def test_outputs_are_filled():
    a, b = dispatch.eye(3)[:, :2], dispatch.tensor([[1.0], [2.0], [3.0]])
    outs = {
        "solution": dispatch.empty(2, 1),
        "residuals": dispatch.empty(0),
        "rank": dispatch.empty(0, dtype=dispatch.int64),
        "singular_values": dispatch.empty(0),
    }
    lstsq.out(a, b, driver="gelss", **outs)
    assert outs["solution"].tolist() == [[1.0], [2.0]]
    assert outs["residuals"].tolist() == [9.0]
    assert outs["rank"].item() == 2


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((dispatch.ones(3), dispatch.ones(3)), "2 dimensions"),
        (
            (dispatch.ones(3, 2), dispatch.ones(2, 1)),
            r"input\.size\(-2\) should match other\.size\(-2\),",
        ),
        ((dispatch.ones(3, 2), dispatch.ones(3).double()), "same dtype"),
        ((dispatch.ones(2, 3, 3, 2), dispatch.ones(3, 1)), "as many dimensions"),
    ],
)
def test_refusals(args, text):
    with pytest.raises(RuntimeError, match=text):
        lstsq(*args)
    with pytest.raises(RuntimeError, match="driver"):
        lstsq(dispatch.ones(3, 2), dispatch.ones(3), driver="no")


@pytest.mark.parametrize("dtype", ["int64", "float16", "bool"])
def test_other_dtypes_are_refused(dtype):
    x = dispatch.ones(3, 3).to(getattr(dispatch, dtype))
    with pytest.raises(RuntimeError, match=f"linalg_lstsq.*got dispatch.{dtype}"):
        dispatch.linalg.lstsq(x, x)
    with pytest.raises(RuntimeError, match=r"linalg_pinv.*(floating point or complex|float16)"):
        dispatch.linalg.pinv(x)
