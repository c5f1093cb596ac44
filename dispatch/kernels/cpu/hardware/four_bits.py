"""Linear layers with weights of four bits, two in a byte, and inputs rounded to eight as they come.

Called for `_dyn_quant_*`. A weight of n output features is n rows of numbers from 0 to 15; 8 stands
for zero. Whole numbers are multiplied in float32, which holds them, with their scales.
"""

from __future__ import annotations

import numpy as np

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, compute, quiet, store, view

__all__ = ["dyn_quant_matmul_4bit", "dyn_quant_pack_4bit_weight"]


def dyn_quant_pack_4bit_weight(
    out: Tensor,
    weights: Tensor,
    scales_zeros: Tensor,
    bias: Tensor | None,
    block_size: int,
    in_features: int,
    out_features: int,
) -> None:
    """Bytes, scales and bias one after the other, as floats."""
    parts = [weights, scales_zeros] if bias is None else [weights, scales_zeros, bias]
    store(out, np.concatenate([compute(t).reshape(-1).astype(np.float32) for t in parts]))


def _rounded(rows: Array) -> tuple[Array, Array]:
    """Rows as whole numbers of 8 bits around their zero point, and what one of them is worth.

    A value between two numbers goes away from zero, a zero point to the even one.
    """
    low = np.minimum(rows.min(1), 0)
    high = np.maximum(rows.max(1), 0)
    scale = np.where(low == high, np.float32(1), np.float32(255) / (high - low))
    from_low, from_high = -128 - low * scale, 127 - high * scale
    nearer_low = (low * scale - 128) + (high * scale + 127) > 0
    zero = np.rint(np.clip(np.where(nearer_low, from_low, from_high), -128, 127))[:, None]
    values = rows * scale[:, None]
    nearest = np.copysign(np.floor(np.abs(values) + 0.5), values)
    whole = np.clip(nearest + zero, -128, 127)
    return whole - zero, (1 / scale)[:, None]


@quiet()
def dyn_quant_matmul_4bit(
    out: Tensor,
    inp: Tensor,
    packed_weights: Tensor,
    block_size: int,
    in_features: int,
    out_features: int,
) -> None:
    """inp @ weight.T + bias, with a scale for each `block_size` numbers of a feature."""
    whole = block_size == in_features
    if not whole and (block_size <= 0 or block_size % 32 or in_features % block_size):
        raise refused(
            f"expected block_size to be in_features {in_features}, or a multiple of 32 that"
            f" divides it, got {block_size}"
        )
    if inp.shape[1] != in_features:
        raise refused(f"expected inp with {in_features} columns, got shape {list(inp.shape)}")
    numbers, groups = out_features * in_features // 2, in_features // max(block_size, 1)
    scales = numbers + out_features * groups
    if packed_weights.numel() not in (scales, scales + out_features):
        raise refused(
            f"expected packed_weights of {scales} or {scales + out_features} elements, "
            f"got {packed_weights.numel()}"
        )
    packed = view(packed_weights).reshape(-1)
    pairs = packed[:numbers].astype(np.uint8)
    weight = np.stack([pairs & 15, pairs >> 4], 1).astype(np.float32) - 8
    weight = weight.reshape(out_features, groups, -1)
    weight *= packed[numbers:scales].reshape(out_features, groups, 1)
    if 0 in out.shape or not in_features:
        store(out, 0)
        return
    rounded, worth = _rounded(compute(inp))
    found = rounded @ weight.reshape(out_features, in_features).T * worth
    store(out, found + packed[scales:] if packed.size > scales else found)
