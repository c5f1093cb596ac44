"""Sequences of different lengths: padded, packed and back, flattened, cut into chunks."""

import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import ops

aten = ops.aten


def test_shorter_sequences_are_padded_on_the_side_that_is_asked_for():
    parts = [dispatch.ones(2, 1), dispatch.ones(1, 1) * 3]
    assert aten.pad_sequence(parts, True, 7.0).tolist() == [[[1], [1]], [[3], [7]]]
    assert aten.pad_sequence(parts, True, 7.0, "left").tolist() == [[[1], [1]], [[7], [3]]]
    with pytest.raises(RuntimeError, match="padding_side"):
        aten.pad_sequence(parts, True, 7.0, "middle")


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.booleans())
def test_padding_what_was_packed_gives_it_back(lengths, batch_first):
    lengths.sort(reverse=True)
    steps = lengths[0]
    x = dispatch.arange(steps * len(lengths) * 2.0).reshape(steps, len(lengths), 2)
    given_x = x.transpose(0, 1) if batch_first else x
    data, sizes = aten._pack_padded_sequence(given_x, dispatch.tensor(lengths), batch_first)
    assert data.shape == (sum(lengths), 2) and sum(sizes.tolist()) == sum(lengths)
    padded, found = aten._pad_packed_sequence(data, sizes, batch_first, -1.0, 0)
    assert found.tolist() == lengths
    rows = padded if batch_first else padded.transpose(0, 1)
    for i, n in enumerate(lengths):
        assert rows[i, :n].tolist() == x[:n, i].tolist()
        assert bool((rows[i, n:] == -1).all())
    back = aten._pack_padded_sequence_backward(data, list(given_x.shape), sizes, batch_first)
    assert back.sum().item() == data.sum().item()


@pytest.mark.parametrize(
    ("lengths", "text"),
    [([1, 3], "must not grow"), ([3, 0], "above 0"), ([3, 2, 1], "expected 2 lengths")],
)
def test_lengths_that_cannot_be_packed(lengths, text):
    with pytest.raises(RuntimeError, match=text):
        aten._pack_padded_sequence(dispatch.ones(3, 2), dispatch.tensor(lengths), False)


def test_flattened_tensors_are_views_again():
    a, b = dispatch.ones(2, 2), dispatch.zeros(3)
    flat = aten.flatten_dense_tensors([a, b])
    parts = aten.unflatten_dense_tensors(flat, [a, b])
    assert [p.tolist() for p in parts] == [a.tolist(), b.tolist()]
    parts[1].fill_(5)
    assert flat.tolist() == [1, 1, 1, 1, 5, 5, 5]


def test_chunks_of_all_tensors_stand_side_by_side():
    a, b = dispatch.arange(6.0).reshape(2, 3), dispatch.tensor([[7.0], [8.0]])
    assert aten._chunk_cat([a, b], 0, 2).tolist() == [[0, 1, 2, 7], [3, 4, 5, 8]]
    assert aten._chunk_cat([b], 0, 3).tolist() == [[7], [8], [0]]
    with pytest.raises(RuntimeError, match="num_chunks"):
        aten._chunk_cat([a], 0, 0)
    with pytest.raises(RuntimeError, match="_chunk_cat expects non-negative dim when"):
        aten._chunk_cat([a, dispatch.ones(4)], -1, 2)


def test_a_lone_tensor_is_flattened_without_a_copy():
    t, other = dispatch.ones(2, 3), dispatch.zeros(1)
    assert aten.flatten_dense_tensors([t]).data_ptr() == t.data_ptr()
    assert aten.flatten_dense_tensors([t, other]).tolist() == [1.0] * 6 + [0.0]
