"""Casts by name, lazy clones, copies that keep strides, forward-mode's names."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def test_casts_hand_back_what_has_the_dtype():
    x = dispatch.tensor([1.5, 2.5])
    assert aten._cast_Int(x).tolist() == [1, 2]
    assert aten._cast_Float(x) is x
    assert aten.to_dense(x) is x and aten.to_dense(x, dispatch.float64).dtype is dispatch.float64


def test_lazy_clones_are_apart_and_keep_their_place():
    x = dispatch.arange(6.0)[2:].reshape(2, 2).t()
    y = aten._lazy_clone(x)
    assert (y.stride(), y.storage_offset()) == (x.stride(), x.storage_offset())
    y.fill_(0)
    assert x.tolist() == [[2, 4], [3, 5]]


def test_reshaped_copies_never_share_memory():
    x = dispatch.arange(4.0)
    aten._reshape_copy(x, [2, 2]).fill_(9)
    assert x.tolist() == [0, 1, 2, 3]
    assert aten._reshape_from_tensor(x, dispatch.tensor([2, 2])).shape == (2, 2)
    with pytest.raises(RuntimeError, match="int64"):
        aten._reshape_from_tensor(x, dispatch.tensor([2.0, 2.0]))


def test_zeros_lie_as_another_tensor_does_for_each_of_a_batch():
    like = dispatch.empty(9, dtype=dispatch.bfloat16).as_strided((2, 3), (4, 1))
    zeros = aten._new_zeros_with_same_feature_meta(dispatch.ones(2, 3), like, self_num_batch_dims=1)
    assert (zeros.shape, zeros.stride()) == ((2, 2, 3), (9, 4, 1))
    assert not bool(zeros.any()) and zeros.dtype is dispatch.bfloat16


def test_there_are_no_levels_of_forward_mode():
    x = dispatch.ones(2)
    primal, tangent = aten._unpack_dual(x, 0)
    assert primal.tolist() == [1, 1] and tangent is None
    with pytest.raises(RuntimeError, match="no forward-mode level"):
        aten._make_dual(x, x, 0)


def test_no_memory_is_pinned():
    x = dispatch.ones(2)
    assert not x.is_pinned()
    with pytest.raises(RuntimeError, match="no accelerator"):
        x.pin_memory()
