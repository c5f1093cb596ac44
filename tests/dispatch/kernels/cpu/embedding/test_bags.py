"""Bags of rows on the CPU: values, edge cases, errors."""

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
SUM, MEAN, MAX = range(3)


def test_bag_without_indices_is_zero():
    weight = tensor([[1.0, 2.0], [3.0, 4.0]])
    out, bags, sizes, _ = aten._embedding_bag(weight, tensor([0, 1]), tensor([0, 2]), False, 1)
    assert out.tolist() == [[2.0, 3.0], [0.0, 0.0]]
    assert bags.tolist() == [0, 0]
    assert sizes.tolist() == [2, 0]


def test_padding_is_left_out_of_a_bag():
    weight = tensor([[1.0], [3.0], [9.0]])
    found = aten._embedding_bag(
        weight, tensor([0, 2, 1]), tensor([0]), False, 2, False, None, False, 2
    )
    assert [t.tolist() for t in found] == [[[3.0]], [0, 0, 0], [2], [[1]]]


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
def test_samples_have_weights(name):
    kind = getattr(dispatch, name)
    weight = tensor([[1.0, 2.0], [4.0, 8.0]], dtype=kind)
    factors = tensor([1.0, 0.5, 2.0], dtype=kind)
    found = aten.embedding_bag(
        weight, tensor([0, 1, 1]), tensor([0, 2]), False, SUM, False, factors
    )[0]
    assert found.dtype is kind
    assert found.tolist() == [[3, 6], [8, 16]]


@pytest.mark.parametrize("name", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("columns", [1, 64, 127, 128, 301])
def test_sums_of_long_rows_and_bags_around_padding(name, columns):
    rng = np.random.default_rng(columns)
    table = rng.integers(-8, 8, (20, columns))
    indices = rng.integers(0, 20, 40)
    indices[[0, 7, 8, 39]] = 5
    starts = [0, 1, 1, 3, 12, 40]  # the first bag has nothing but padding, the second nothing
    found = aten.embedding_bag(
        tensor(table.tolist(), dtype=getattr(dispatch, name)),
        dispatch.from_numpy(indices), tensor(starts), False, SUM, False, None, False, 5,
    )[0]  # fmt: skip
    want = [
        table[[i for i in indices[start:end] if i != 5]].sum(0)
        for start, end in zip(starts, [*starts[1:], 40], strict=True)
    ]
    np.testing.assert_array_equal(found.double().numpy(), np.array(want))


def test_sums_end_at_the_last_offset():
    weight = tensor([[1.0], [10.0], [100.0]])
    for kind, want in ((dispatch.float32, [[11.0]]), (dispatch.float64, [[111.0]])):
        found = aten._embedding_bag_forward_only(
            weight.to(kind), tensor([0, 1, 2]), tensor([0, 2]), False, SUM, False, None, True
        )
        assert found[0].tolist() == want  # only the fast kernel leaves the rest out
        assert found[2].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("indices", "offsets", "text"),
    [
        ([0, 3], [0], "index out of range in self: 3"),
        ([0, -1], [0], "index out of range in self: -1"),
        ([0, 1], [1], "expected the first offset to be 0"),
        ([0, 1], [0, 3], "expected the last offset"),
        ([0, 1], [0, 9, 1], "expected offsets from 0"),
    ],
)
def test_indices_and_offsets_are_checked(indices, offsets, text):
    with pytest.raises(RuntimeError, match=f"aten::_embedding_bag.*: {text}"):
        aten.embedding_bag(dispatch.ones(3, 2), tensor(indices), tensor(offsets))


def test_padding_counts_from_the_end():
    weight = tensor([[1.0], [3.0], [9.0]])
    arguments = (weight, tensor([0, 2, 1]), tensor([0]), False, SUM, False, None, False)
    assert aten.embedding_bag.padding_idx(*arguments, -1)[0].tolist() == [[4.0]]
    with pytest.raises(RuntimeError, match="padding_idx"):
        aten.embedding_bag.padding_idx(*arguments, 3)


# ---- gradients ---------------------------------------------------------------------------------

GRAD = tensor([[1.0, 2.0], [3.0, 4.0]])
INDICES, OFFSETS = tensor([2, 0, 2]), tensor([0, 1])
NOTED, SIZES, NONE = tensor([0, 1, 1]), tensor([1, 2]), tensor([], dtype=dispatch.int64)


@pytest.mark.parametrize("noted", [NOTED, NONE])
@pytest.mark.parametrize(
    ("mode", "want"), [(SUM, [[3, 4], [0, 0], [4, 6]]), (MEAN, [[1.5, 2], [0, 0], [2.5, 4]])]
)
def test_gradients_go_to_the_rows_of_a_bag(mode, want, noted):
    found = aten._embedding_bag_backward(
        GRAD, INDICES, OFFSETS, noted, SIZES, SIZES, 3, False, mode, False, None, -1
    )
    assert found.tolist() == want


def test_gradients_of_maxima_go_where_they_came_from():
    best = tensor([[2, 2], [0, 1]])
    found = aten._embedding_bag_dense_backward(
        GRAD, INDICES, NOTED, tensor([0, 2]), best, 3, False, MAX, None
    )
    assert found.tolist() == [[3, 0], [0, 4], [0, 0]]  # the first bag is empty
    with pytest.raises(IndexError, match="maximum_indices names row 2 of 2"):
        aten._embedding_bag_dense_backward(GRAD, INDICES, NOTED, SIZES, best, 2, False, MAX, None)


def test_gradients_of_weights_of_samples():
    weight = tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    for padding, want in ((-1, [3, 3, 7]), (2, [0, 3, 0])):
        found = aten._embedding_bag_per_sample_weights_backward(
            GRAD, weight, INDICES, OFFSETS, NONE, SUM, padding
        )
        assert found.tolist() == want


@pytest.mark.parametrize(("noted", "text"), [([0, 1, 2], "bag 2 of 2"), ([0, 1], "3 elements")])
def test_noted_bags_are_checked(noted, text):
    with pytest.raises(RuntimeError, match=text):
        aten._embedding_bag_dense_backward(
            GRAD, INDICES, tensor(noted), SIZES, SIZES, 3, False, SUM, None
        )


def test_mean_and_its_gradient_agree():
    """The gradient is the transposed map."""
    rng = np.random.default_rng(0)
    weight, grad = rng.standard_normal((5, 3)), rng.standard_normal((2, 3))
    indices, offsets = tensor([4, 0, 0, 2]), tensor([0, 1])
    forward = aten._embedding_bag(dispatch.from_numpy(weight), indices, offsets, False, MEAN)
    backward = aten._embedding_bag_backward(
        dispatch.from_numpy(grad), indices, offsets, *forward[1:], 5, False, MEAN, False, None, -1
    )
    assert np.isclose((forward[0].numpy() * grad).sum(), (backward.numpy() * weight).sum())
