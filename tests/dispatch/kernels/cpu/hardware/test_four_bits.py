"""Products with weights of four bits: PyTorch's numbers, shapes that do not fit."""

import pytest

import dispatch
from dispatch import ops

A = ops.aten


def near(found, wanted):
    return dispatch.allclose(found, dispatch.tensor(wanted), 1e-5, 1e-5)


def numbers(count, factor, below):
    return dispatch.arange(count) * factor % below


def quarters(rows, columns):
    return (dispatch.arange(rows * columns).reshape(rows, columns) % 7 - 3) / 4.0


@pytest.fixture
def packed():
    """Two features of 32 numbers, with one scale each and a bias."""
    weights = numbers(32, 37, 256).to(dispatch.uint8).reshape(2, 16)
    scales, bias = dispatch.tensor([[0.5], [0.25]]), dispatch.tensor([1.0, -1.0])
    return A._dyn_quant_pack_4bit_weight(weights, scales, bias, 32, 32, 2)


def test_packed_weights_are_bytes_then_scales_then_bias(packed):
    assert packed.dtype is dispatch.float32
    assert packed.tolist()[:3] == [0.0, 37.0, 74.0]
    assert packed.tolist()[32:] == [0.5, 0.25, 1.0, -1.0]


def test_inputs_are_rounded_to_eight_bits_away_from_zero(packed):
    found = A._dyn_quant_matmul_4bit(quarters(2, 32), packed, 32, 32, 2)
    assert near(found, [[18.65, -0.8147058], [-4.9970588, -0.3294117]])


def test_rows_of_zeros_give_the_bias(packed):
    assert A._dyn_quant_matmul_4bit(dispatch.zeros(1, 32), packed, 32, 32, 2).tolist() == [[1, -1]]


def test_blocks_have_scales_of_their_own():
    weights = numbers(64, 37, 256).to(dispatch.uint8).reshape(2, 32)
    scales = dispatch.tensor([[0.5, 1.0], [0.25, 2.0]])
    packed = A._dyn_quant_pack_4bit_weight(weights, scales, None, 32, 64, 2)
    found = A._dyn_quant_matmul_4bit(quarters(1, 64), packed, 32, 64, 2)
    assert near(found, [[20.3323536, 32.1338234]])


@pytest.mark.parametrize("sizes", [(48, 32, 2), (32, 64, 2), (32, 32, 3)])
def test_sizes_that_do_not_fit_are_refused(packed, sizes):
    with pytest.raises(RuntimeError, match="_dyn_quant_matmul_4bit"):
        A._dyn_quant_matmul_4bit(quarters(1, 32), packed, *sizes)
