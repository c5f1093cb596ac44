"""Whether tensors are equal: rows that differ late, or not at all."""

import pytest

import dispatch


@pytest.mark.parametrize("place", [0, 4095, 4096, 60_000, 99_999])
def test_one_element_that_differs_is_found(place):
    x = dispatch.zeros(1000, 100)
    y = x.clone()
    assert dispatch.equal(x, y)
    y.view(-1)[place] = 1
    assert not dispatch.equal(x, y)
