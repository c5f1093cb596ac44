"""Reductions of segments: every reduction, empty segments, gradients, errors."""

import math

import pytest

import dispatch
from dispatch import ops

DATA = [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("reduce", "want"),
    [
        ("sum", [3.0, 0.0, 12.0]),
        ("mean", [1.5, math.nan, 4.0]),
        ("max", [2.0, -math.inf, 5.0]),
        ("min", [1.0, math.inf, 3.0]),
        ("prod", [2.0, 1.0, 60.0]),
    ],
)
def test_lengths_and_offsets_name_the_same_segments(reduce, want):
    data = dispatch.tensor(DATA)
    by_lengths = ops.aten.segment_reduce(data, reduce, lengths=dispatch.tensor([2, 0, 3]))
    by_offsets = ops.aten.segment_reduce(data, reduce, offsets=dispatch.tensor([0, 2, 2, 5]))
    assert by_lengths.tolist() == pytest.approx(want, nan_ok=True)
    assert by_offsets.tolist() == pytest.approx(want, nan_ok=True)


def test_initial_value_counts_in_every_segment():
    data, lengths = dispatch.tensor(DATA), dispatch.tensor([2, 0, 3])
    got = ops.aten.segment_reduce(data, "sum", lengths=lengths, initial=10)
    assert got.tolist() == [13.0, 10.0, 22.0]


def test_segments_of_a_later_axis_differ_by_row():
    data = dispatch.arange(8.0).view(2, 4)
    lengths = dispatch.tensor([[1, 3], [2, 2]])
    got = ops.aten.segment_reduce(data, "sum", lengths=lengths, axis=1)
    assert got.tolist() == [[0.0, 6.0], [9.0, 13.0]]


@pytest.mark.parametrize(
    ("reduce", "want"),
    [
        ("sum", [1.0, 1.0, 2.0, 2.0]),
        ("mean", [0.5, 0.5, 1.0, 1.0]),
        ("max", [0.5, 0.5, 0.0, 2.0]),
        ("prod", [3.0, 3.0, 8.0, 0.0]),
    ],
)
def test_gradients_go_to_the_elements_that_count(reduce, want):
    data, lengths = dispatch.tensor([3.0, 3.0, 0.0, 4.0]), dispatch.tensor([2, 2])
    out = ops.aten.segment_reduce(data, reduce, lengths=lengths)
    grad = dispatch.tensor([1.0, 2.0])
    got = ops.aten._segment_reduce_backward(grad, out, data, reduce, lengths=lengths)
    assert got.tolist() == want


def test_lengths_must_add_up_unless_unsafe():
    with pytest.raises(RuntimeError, match="Expected all rows of lengths along axis to"):
        ops.aten.segment_reduce(dispatch.tensor(DATA), "sum", lengths=dispatch.tensor([2, 2]))
    got = ops.aten.segment_reduce(
        dispatch.tensor(DATA), "sum", lengths=dispatch.tensor([2, 2]), unsafe=True
    )
    assert got.tolist() == [3.0, 7.0]
    with pytest.raises(RuntimeError, match="lengths or offsets"):
        ops.aten.segment_reduce(dispatch.tensor(DATA), "sum")


@pytest.mark.parametrize("options", [{"unsafe": True}, {}])
def test_segments_stay_within_the_data(options):
    data = dispatch.tensor(DATA)
    with pytest.raises(RuntimeError, match=r"segment_reduce.*(within|sum)"):
        ops.aten.segment_reduce(data, "sum", lengths=dispatch.tensor([2, 9]), **options)
    with pytest.raises(RuntimeError, match=r"segment_reduce.*within"):
        ops.aten.segment_reduce(data, "sum", offsets=dispatch.tensor([0, 6]))


def test_gradient_needs_an_element_for_each_segment():
    data, lengths = dispatch.tensor(DATA), dispatch.tensor([2, 3])
    out = ops.aten.segment_reduce(data, "sum", lengths=lengths)
    with pytest.raises(RuntimeError, match=r"_segment_reduce_backward.*grad"):
        ops.aten._segment_reduce_backward(dispatch.ones(1), out, data, "sum", lengths=lengths)


def test_elements_in_no_segment_have_no_gradient():
    data, offsets = dispatch.tensor(DATA), dispatch.tensor([1, 3])
    out = ops.aten.segment_reduce(data, "sum", offsets=offsets)
    assert out.tolist() == [5.0]
    grad = dispatch.ones(1)
    got = ops.aten._segment_reduce_backward(grad, out, data, "sum", offsets=offsets)
    assert got.tolist() == [0.0, 1.0, 1.0, 0.0, 0.0]
