"""cdist and pdist: which operator they become, and what they refuse."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor
from dispatch.modes import TorchDispatchMode

aten = dispatch.ops.aten


class Names(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.append(func.name())
        return func(*args, **(kwargs or {}))

    names = []


@pytest.mark.parametrize(
    ("n", "p", "mode", "forward"),
    [
        (3, 2.0, None, True),
        (30, 2.0, None, False),
        (30, 2.0, 2, True),
        (3, 2.0, 1, False),
        (30, 1.0, 1, True),
    ],
)
def test_many_points_decompose_into_a_product(n, p, mode, forward):
    x = dispatch.ones(n, 2)
    with Names() as seen:
        seen.names = []
        aten.cdist(x, x, p, mode)
    assert ("aten::_cdist_forward" in seen.names) == forward
    assert ("aten::_euclidean_dist" in seen.names) == (not forward)


def test_batches_broadcast():
    x = dispatch.from_numpy(np.random.default_rng(0).standard_normal((2, 1, 30, 3)))
    y = x[0].expand(4, 30, 3)
    want = aten.cdist(x, y, 2.0, 2)
    assert want.shape == (2, 4, 30, 30)
    np.testing.assert_allclose(aten.cdist(x, y).numpy(), want.numpy(), atol=1e-6)


def test_pdist_is_the_upper_triangle():
    x = tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    np.testing.assert_allclose(aten.pdist(x).tolist(), [5, 1, 18**0.5], rtol=1e-6)


@pytest.mark.parametrize(
    ("x", "p", "text"),
    [
        (tensor([1.0]), 2.0, "2D tensors"),
        (tensor([[1]]), 2.0, "float"),
        (tensor([[1.0]]), -1.0, "negative"),
    ],
)
def test_pdist_refuses(x, p, text):
    with pytest.raises(RuntimeError, match=f"aten::pdist: .*{text}"):
        aten.pdist(x, p)
