"""Sizes and strides as numbers: what does not fit in 64 bits is refused, without a change."""

import numpy as np
import pytest

import dispatch
from dispatch import ops
from dispatch._C.storage import _new_storage
from dispatch._C.tensor import _new_strided

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def test_sizes_that_overflow_are_refused():
    with pytest.raises(RuntimeError):
        dispatch.empty(2**40, 2**40, device="meta")
    with pytest.raises(RuntimeError):
        dispatch.empty(-1)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("sizes", [[2**62], [2**61], [2**33, 2**33], [2**62, 4, 0]])
def test_a_tensor_beyond_64_bits_is_refused(sizes, device):
    with pytest.raises(RuntimeError, match=r"overflow.*sizes=\["):
        dispatch.empty(sizes, device=device)


def test_strides_of_an_empty_tensor_fit_in_64_bits():
    with pytest.raises(RuntimeError, match="Stride calculation overflowed"):
        dispatch.empty(0, 2**62, 4)
    assert dispatch.empty(0, 2**31, 2**31).stride() == (2**62, 2**31, 1)


def test_strides_that_reach_too_far_are_refused():
    for strides, offset in (([2**62], 0), ([1], 2**63 - 1), ([2**62 - 1], 2**62)):
        with pytest.raises(RuntimeError, match=r"overflow.*strides=\["):
            _new_strided(_new_storage(16), dispatch.float32, [2], strides, offset)


def test_a_view_may_count_more_bytes_than_fit():
    view = dispatch.zeros(1).expand(2**62)
    assert (view.numel(), view.nbytes) == (2**62, 2**64)


def test_arrays_that_reach_too_far_are_refused():
    array = np.lib.stride_tricks.as_strided(np.zeros(1), (3,), (2**62,))
    with pytest.raises(RuntimeError, match="overflow"):
        dispatch.from_numpy(array)


def test_a_refused_resize_leaves_the_tensor():
    t = dispatch.ones(2, 3)
    for sizes in ([2**62, 4], [2**61], [-1]):
        with pytest.raises((RuntimeError, MemoryError)):
            A.resize_.default(t, sizes)
        assert t.shape == (2, 3) and t.tolist() == [[1.0] * 3] * 2
