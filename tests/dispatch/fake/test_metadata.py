"""The metadata of tensors as values: each fact alone makes two tensors differ."""

import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.fake import assert_metadata_eq, extract_tensor_metadata
from dispatch.fake.metadata import assert_eq, suggest_memory_format
from dispatch.kernels.meta import rules

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def shown(sizes, strides, offset=0):
    return A.as_strided.default(dispatch.empty(30), sizes, strides, offset)


def made_in_inference_mode():
    with dispatch.inference_mode():
        return dispatch.empty(2)


DIFFERENT = {
    "dtype": lambda: (dispatch.empty(2), dispatch.empty(2, dtype=dispatch.int32)),
    "shape": lambda: (shown([2], [1]), shown([3], [1])),
    "device": lambda: (dispatch.empty(2), dispatch.empty(2, device="cuda")),
    "requires_grad": lambda: (dispatch.empty(2), dispatch.empty(2, requires_grad=True)),
    "stride": lambda: (shown([2], [1]), shown([2], [2])),
    "storage_offset": lambda: (shown([2], [1]), shown([2], [1], 3)),
    "is_conj": lambda: (
        A.alias.default(dispatch.empty(2, dtype=dispatch.complex64)),
        A._conj.default(dispatch.empty(2, dtype=dispatch.complex64)),
    ),
    "is_neg": lambda: (A.alias.default(dispatch.empty(2)), A._neg_view.default(dispatch.empty(2))),
    "is_inference": lambda: (dispatch.empty(2), made_in_inference_mode()),
    "_is_view": lambda: (dispatch.empty(2), A.view.default(dispatch.empty(2), [2])),
    "is_leaf": lambda: (
        dispatch.empty(2, requires_grad=True),
        A.relu.default(dispatch.empty(2, requires_grad=True)),
    ),
}


@pytest.mark.parametrize("what", sorted(set(DIFFERENT) - {"device"}))
def test_one_difference_is_found(what):
    with FakeTensorMode():
        a, b = DIFFERENT[what]()
        assert_metadata_eq(assert_eq, a, a)
        assert_metadata_eq(assert_eq, b, b)
        with pytest.raises(AssertionError):
            assert_metadata_eq(assert_eq, a, b)


def test_devices_are_not_asked_and_gradients_are():
    with_grad = dispatch.ones(2, requires_grad=True)
    with_grad.grad = dispatch.ones(2)
    assert_metadata_eq(assert_eq, dispatch.empty(2), dispatch.empty(2, device="meta"))
    assert_metadata_eq(assert_eq, with_grad, with_grad)
    with pytest.raises(AssertionError):
        assert_metadata_eq(assert_eq, with_grad, dispatch.ones(2, requires_grad=True))


def test_sizes_and_leaves_are_not_asked_where_they_are_to_be_skipped():
    a, b = dispatch.ones(2, requires_grad=True), dispatch.ones(3, requires_grad=True) * 1
    assert_metadata_eq(assert_eq, a, b, skip_symbolic=True, skip_leaf=True)
    with pytest.raises(AssertionError):
        assert_metadata_eq(assert_eq, a, b, skip_symbolic=True)


@pytest.mark.parametrize("what", sorted(set(DIFFERENT) - {"_is_view", "is_leaf"}))
def test_extracted_metadata_differ_in_one_fact(what):
    with FakeTensorMode():
        a, b = map(extract_tensor_metadata, DIFFERENT[what]())
    differ = {name for name in type(a).__slots__ if getattr(a, name) != getattr(b, name)}
    follow = {"stride": {"memory_format"}, "dtype": {"storage_bytes"}}
    assert what in differ and differ - follow.get(what, set()) == {what}


def test_bytes_of_the_storage_are_metadata():
    with FakeTensorMode():
        told = extract_tensor_metadata(shown([2], [1]))
        assert told.storage_bytes == 120
        assert extract_tensor_metadata(dispatch.empty(2)).storage_bytes == 8


@given(st.data())
def test_the_suggested_format_is_that_of_the_shape_rules(data):
    ndim = data.draw(st.integers(3, 5))
    sizes = data.draw(st.lists(st.integers(0, 3), min_size=ndim, max_size=ndim))
    strides = [0] * ndim
    step = 1
    orders = [(1, *range(ndim - 1, 1, -1), 0), tuple(range(ndim - 1, -1, -1))]
    for dim in data.draw(st.sampled_from(orders) | st.permutations(range(ndim))):
        strides[dim] = step * data.draw(st.sampled_from([1, 1, 1, 2, 0]))
        step *= max(sizes[dim], 1)
    t = A.as_strided.default(dispatch.empty(4000), sizes, strides)
    assert suggest_memory_format(t) is rules.suggest_memory_format(t)
    told = extract_tensor_metadata(t).memory_format
    assert told in (None, suggest_memory_format(t))
    assert (told is None) == (not t.is_contiguous(memory_format=suggest_memory_format(t)))
