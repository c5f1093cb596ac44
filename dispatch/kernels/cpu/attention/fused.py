"""The gradients of the CPU's fused attention, over numpy.

Called by the structured kernel. Weights are made again from the logarithms of their sums, rows of
one head in blocks whose scores fit in a cache; under `is_causal` keys that no row of a block may
see are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from dispatch._C.dtypes import float32, float64
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view

__all__ = ["flash_attention_for_cpu_backward"]

_BLOCK = 1 << 18  # scores that are computed at a time, at least one row


def _row_blocks(rows: int, keys: int, is_causal: bool) -> Iterator[tuple[slice, int]]:
    """Blocks of rows, each with the number of keys that its last row sees."""
    step = max(1, _BLOCK // max(keys, 1))
    if is_causal:
        step = min(step, max(64, rows // 8))
    for start in range(0, rows, step):
        end = min(start + step, rows)
        yield slice(start, end), min(end, keys) if is_causal else keys


def _hide_future(scores: Array, first: int) -> None:
    """-inf above the diagonal; row 0 of the block is row `first` of the query."""
    rows, keys = scores.shape[-2:]
    hidden = np.arange(keys) > np.arange(first, first + rows)[:, None]
    np.copyto(scores, -np.inf, where=hidden)


def _broadcast_mask(mask: Tensor | None, query: Tensor, key: Tensor) -> Array | None:
    if mask is None:
        return None
    sizes = (*query.shape[:3], key.shape[2])
    return np.broadcast_to(compute(mask), sizes)


def _go_back(
    grads: Sequence[Array],
    given: Sequence[Array],
    mask: Array | None,
    is_causal: bool,
    factor: float,
) -> None:
    """Adds up the gradients, head by head and in blocks of rows; key heads may be shared.

    `given`: the output's gradient, query, key, value, the output, the logarithms of the sums.
    """
    of_query, of_key, of_value = grads
    grad_out, query, key, value, out, total = given
    batch, heads, rows = query.shape[:3]
    shared = heads // key.shape[1]
    for b, h in product(range(batch), range(heads)):
        at, kept = (b, h), (b, h // shared)
        for block, seen in _row_blocks(rows, key.shape[2], is_causal):
            q, g = query[at][block], grad_out[at][block]
            k, v = key[kept][:seen], value[kept][:seen]
            weights = q @ k.T
            weights *= factor
            if mask is not None:
                weights += mask[at][block, :seen]
            if is_causal:
                _hide_future(weights, block.start)
            weights -= total[at][block, None]
            np.exp(weights, out=weights)
            of_value[kept][:seen] += weights.T @ g
            change = g @ v.T
            change -= (g * out[at][block]).sum(axis=1, keepdims=True)
            change *= weights
            change *= factor
            of_query[at][block] += change @ k
            of_key[kept][:seen] += change.T @ q


def flash_attention_for_cpu_backward(
    grad_query: Tensor,
    grad_key: Tensor,
    grad_value: Tensor,
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> None:
    """From the output and the logarithms of the sums, without the weights."""
    check_dtype(query.dtype, FLOATING)
    wanted = float64 if query.dtype is float64 else float32
    if logsumexp.dtype is not wanted:
        raise refused(f"expected logsumexp to be {wanted}, got {logsumexp.dtype}")
    factor = 1 / math.sqrt(query.shape[3]) if scale is None else scale
    outs = grad_query, grad_key, grad_value
    given = tuple(compute(t) for t in (grad_out, query, key, value, out))
    kind = given[1].dtype
    sums = tuple(np.zeros(t.shape, kind) for t in outs)
    with quiet():
        mask = _broadcast_mask(attn_mask, query, key)
        _go_back(sums, (*given, view(logsumexp)), mask, is_causal, kind.type(factor))
    for target, values in zip(outs, sums, strict=True):
        store(target, values)
