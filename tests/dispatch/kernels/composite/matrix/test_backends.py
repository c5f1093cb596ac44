"""Grouped products on a backend that has `mm` alone."""

import pytest

import dispatch
from dispatch.kernels.composite.matrix import backends

aten = dispatch.ops.aten
ENDS = dispatch.tensor([4, 8, 16], dtype=dispatch.int32)


@pytest.mark.parametrize(
    ("left", "right", "ends"),
    [
        ((16, 8), (3, 8, 16), ENDS),
        ((3, 8, 16), (16, 16), ENDS),
        ((8, 16), (16, 8), ENDS),
        ((3, 8, 16), (3, 16, 8), None),
    ],
)
def test_grouped_products_are_one_product_a_group(left, right, ends):
    """Groups are rows, columns, terms of the sum, or matrices."""
    a, b = dispatch.randn(left), dispatch.randn(right)
    found, want = backends.grouped_mm(a, b, ends), aten._grouped_mm(a, b, ends)
    assert found.shape == want.shape
    assert dispatch.allclose(found, want, atol=1e-4)
