"""Cells that devices fuse: sizes of what they give."""

import pytest

import dispatch

aten = dispatch.ops.aten


def meta(*sizes):
    return dispatch.empty(*sizes, device="meta")


def test_fused_cell_gives_the_state_and_its_gates():
    found = aten._thnn_fused_lstm_cell(meta(2, 12), meta(2, 12), meta(2, 3))
    assert [tuple(t.shape) for t in found] == [(2, 3), (2, 3), (2, 12)]
    with pytest.raises(RuntimeError, match="cx of shape"):
        aten._thnn_fused_lstm_cell(meta(2, 12), meta(2, 12), meta(2, 4))


def test_its_gradient_shares_those_of_gates_and_biases():
    arguments = (meta(2, 3), None, meta(2, 3), meta(2, 3), meta(2, 12), True)
    with dispatch.no_grad():
        found = aten._thnn_fused_lstm_cell_backward(*arguments)
    assert [tuple(t.shape) for t in found] == [(2, 12), (2, 12), (2, 3), (12,), (12,)]
    with pytest.raises(RuntimeError, match="grad mode"):
        aten._thnn_fused_lstm_cell_backward(*arguments)
