"""Metadata of attention on devices (recorded from PyTorch 2.13)."""

from __future__ import annotations

import pytest

import dispatch

aten = dispatch.ops.aten


def meta(*sizes: int, dtype: dispatch.dtype = dispatch.float32) -> dispatch.Tensor:
    return dispatch.empty(*sizes, dtype=dtype, device="meta")


def test_flash_keeps_the_query_and_one_number_a_row():
    q = meta(2, 5, 4, 8)
    out, total, seed, _, mask = aten._flash_attention_forward(
        q, q, q, None, None, 5, 5, 0.0, False, True
    )
    assert (out.shape, total.shape, mask.shape) == ((2, 5, 4, 8), (2, 4, 5), (2, 4, 5, 128))
    assert seed.dtype is dispatch.uint64


def test_flash_of_sequences_after_one_another():
    q, ends = meta(7, 4, 8), meta(3, dtype=dispatch.int32)
    total = aten._flash_attention_forward(q, q, q, ends, ends, 4, 4, 0.0, False, False)[1]
    assert total.shape == (4, 7)


def test_eight_bits_give_bfloat16():
    q = meta(2, 5, 4, 8, dtype=dispatch.float8_e4m3fn)
    out = aten._scaled_dot_product_flash_attention.quantized(q, q, q, None, None, None)[0]
    assert out.dtype is dispatch.bfloat16


def test_memory_efficient_rows_come_in_blocks():
    q = meta(2, 5, 4, 8)
    more = None, None, None, None, None, 0.0, 0
    out, total, _, _, rows, keys = aten._efficient_attention_forward(q, q, q, *more, True)
    assert (out.shape, total.shape, rows, keys) == ((2, 5, 4, 8), (2, 4, 32), 5, 5)


def test_gradients_may_share_a_storage():
    q, total, one = meta(2, 5, 4, 8), meta(2, 4, 5), meta(1)
    grads = aten._efficient_attention_backward(
        q, q, q, q, None, q, None, None, 5, 5, total, 0.0, one, one, 0, False,
        shared_storage_dqdkdv=True,
    )
    assert [g.storage_offset() for g in grads[:3]] == [0, 32, 64]
    with pytest.raises(RuntimeError, match="one storage"):
        aten._efficient_attention_backward(
            q, q, meta(2, 6, 4, 8), q, None, q, None, None, 5, 5, total, 0.0, one, one, 0, False,
            shared_storage_dqdkdv=True,
        )


def test_backends_have_a_refusal():
    q = dispatch.ones(1, 2, 3, 4)
    with pytest.raises(NotImplementedError, match="backend"):
        aten._scaled_dot_product_fused_attention_overrideable(q, q, q)


def test_sequences_in_one_row_are_counted_by_their_ends():
    row, ends = meta(1, 6, 2, 8), dispatch.zeros(4, dtype=dispatch.int32, device="meta")
    out, sums, *_, longest, keys = aten._efficient_attention_forward(
        row, row, row, None, ends, ends, 5, 7, 0.0, 0, True
    )
    assert tuple(out.shape) == (1, 6, 2, 8)
    assert tuple(sums.shape) == (3, 2, 32)
    assert (longest, keys) == (5, 7)


def test_the_last_projection_gives_the_width():
    row = meta(2, 3, 4)
    out, weights = aten._native_multi_head_attention(
        row, row, row, 4, 2, meta(12, 4), meta(12), meta(5, 4), meta(5)
    )
    assert (tuple(out.shape), tuple(weights.shape)) == ((2, 3, 5), (2, 3, 3))
