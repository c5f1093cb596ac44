"""Shapes of distances: recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch._ops import ops
from dispatch.kernels.meta import rules

Ints = tuple[int, ...]

STORAGE = _new_storage(1 << 16)


def tensor(
    sizes: Ints, strides: Ints | None = None, dtype: dtypes.dtype = dtypes.float32
) -> core.Tensor:
    strides = strides or rules.contiguous_strides(sizes)
    return arrays._new_strided(STORAGE, dtype, sizes, strides, 0)


def test_cdist_broadcasts_batches() -> None:
    made = ops.aten._cdist_forward(tensor((2, 1, 4, 5)), tensor((3, 6, 5)), 2.0, None)
    assert made.shape == (2, 3, 4, 6)


@pytest.mark.parametrize(
    ("a", "b", "p", "mode"),
    [
        ((5,), (6, 5), 2.0, None),
        ((4, 5), (6, 4), 2.0, None),
        ((4, 5), (6, 5), -1.0, None),
        ((4, 5), (6, 5), 2.0, 3),
    ],
)
def test_cdist_checks(a: Ints, b: Ints, p: float, mode: int | None) -> None:
    with pytest.raises(RuntimeError, match=r"^aten::_cdist_forward: "):
        ops.aten._cdist_forward(tensor(a), tensor(b), p, mode)


def test_pdist_has_one_distance_for_each_pair() -> None:
    assert ops.aten._pdist_forward(tensor((5, 3)), 2.0).shape == (10,)
    with pytest.raises(RuntimeError, match="contiguous"):
        ops.aten._pdist_forward(tensor((5, 3), (1, 5)), 2.0)
