"""Sequences of several lengths: padded, packed, and through recurrent networks."""

import pytest

import dispatch
from dispatch.as_torch.nn import modules, packed


def sequences():
    return [dispatch.arange(a, b, dtype=dispatch.float32) for a, b in ((1, 4), (4, 6), (6, 11))]


def test_packing_goes_step_by_step_longest_sequence_first():
    batch = packed.pack_sequence(sequences(), enforce_sorted=False)
    assert batch.data.tolist() == [6, 1, 4, 7, 2, 5, 8, 3, 9, 10]
    assert batch.batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert batch.sorted_indices.tolist() == [2, 0, 1]
    assert batch.unsorted_indices.tolist() == [1, 2, 0]
    padded, lengths = packed.pad_packed_sequence(batch, True, 9.0, 6)
    assert padded.tolist()[1] == [4, 5, 9, 9, 9, 9]
    assert lengths.tolist() == [3, 2, 5]
    found = [t.tolist() for t in packed.unpack_sequence(batch)]
    assert found == [t.tolist() for t in sequences()]


def test_padding_may_stand_in_front():
    padded = packed.pad_sequence(sequences(), True, -1, padding_side="left")
    assert padded.tolist()[1] == [-1, -1, -1, 4, 5]
    assert packed.pad_sequence(sequences()).shape == (5, 3)
    assert packed.invert_permutation(None) is None


def test_wrong_lengths_are_refused():
    with pytest.raises(RuntimeError):
        packed.pack_sequence(sequences())
    with pytest.raises(RuntimeError):
        packed.pack_padded_sequence(dispatch.ones(2, 2), [0, 1])
    with pytest.raises(RuntimeError, match="iterable"):
        packed.pad_sequence(3)
    batch = packed.pack_sequence(sequences(), enforce_sorted=False)
    with pytest.raises(ValueError, match="total_length=2 and max sequence length being 5"):
        packed.pad_packed_sequence(batch, total_length=2)
    with pytest.raises(ValueError, match="CPU"):
        packed.PackedSequence(dispatch.ones(1), dispatch.ones(1, device="meta"))


def test_a_packed_batch_keeps_its_order_through_conversions():
    batch = packed.pack_sequence(sequences(), enforce_sorted=False)
    assert batch.cpu() is batch.float() is batch
    assert batch.double().data.dtype == dispatch.float64
    assert batch.half().sorted_indices.tolist() == batch.sorted_indices.tolist()


@pytest.mark.parametrize("kind", [modules.LSTM, modules.GRU, modules.RNN])
@pytest.mark.parametrize("given", [False, True])
def test_a_network_treats_each_packed_sequence_as_if_it_were_alone(kind, given):
    network = kind(3, 4, num_layers=2)
    inputs = [dispatch.randn(n, 3) for n in (2, 5, 1)]
    state = dispatch.randn(2, 3, 4) if given else None
    pair = kind is modules.LSTM
    hx = (state, state + 1) if given and pair else state
    out, last = network(packed.pack_sequence(inputs, enforce_sorted=False), hx)
    for i, (x, found) in enumerate(zip(inputs, packed.unpack_sequence(out), strict=True)):
        own = state if state is None else state[:, i]
        alone, end = network(x, (own, own + 1) if given and pair else own)
        assert dispatch.allclose(found, alone, atol=1e-6)
        for a, b in zip(last if pair else [last], end if pair else [end], strict=True):
            assert dispatch.allclose(a[:, i], b, atol=1e-6)
    with pytest.raises(RuntimeError, match="input_size"):
        kind(2, 4)(packed.pack_sequence(inputs, enforce_sorted=False))
