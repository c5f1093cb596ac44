"""The fused attention of the CPU: softmax(query * scale @ key + mask) @ value, over numpy.

Called by the structured kernel with an output laid out as the query is, so that BLAS writes it in
place. Rows of one head are taken in blocks whose scores fit in a cache; under `is_causal` keys
that no row of a block may see are left out. A row that sees nothing gives 0, not NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from dispatch._C.dtypes import dtype, float32, float64
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOATING
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, quiet, store, view

__all__ = ["flash_attention_for_cpu", "flash_attention_for_cpu_backward"]

_BLOCK = 1 << 18  # scores that are computed at a time, at least one row


def _check_mask(mask: Tensor | None, kind: dtype) -> None:
    if mask is None:
        return
    if mask.dtype not in (kind, float32):
        raise refused(f"expected attn_mask to be {kind} or float32, got {mask.dtype}")
    if mask.ndim not in (2, 4):
        raise refused(f"expected attn_mask to have 2 or 4 dimensions, got {list(mask.shape)}")


def _check(query: Tensor, key: Tensor, value: Tensor, dropout_p: float) -> None:
    kind = query.dtype
    if not kind.is_floating_point:
        raise refused(f"expected query to be floating point, got {kind}")
    for name, t in (("query", query), ("key", key), ("value", value)):
        if t.ndim != 4:
            raise refused(f"expected {name} to have 4 dimensions, got {list(t.shape)}")
    if dropout_p != 0.0:
        raise refused(f"expected dropout_p to be 0, got {dropout_p}")
    if not query.shape[3] == key.shape[3] == value.shape[3]:
        raise refused("expected query, key and value to have one head size")
    if not kind == key.dtype == value.dtype:
        raise refused("expected query, key and value to have one dtype")
    if key.shape != value.shape or key.shape[1] == 0 or query.shape[1] % key.shape[1]:
        raise refused(
            "expected key and value of one shape whose heads divide query's, got"
            f" {list(key.shape)}, {list(value.shape)} and {list(query.shape)}"
        )
    check_dtype(kind, FLOATING)


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


def _weights(scores: Array, total: Array) -> Array:
    """exp(score - largest) in place; returns their sums, whose logarithms `total` takes.

    A row that sees nothing has weights 0, sum 1 and logarithm 0.
    """
    largest = np.maximum.reduce(scores, axis=-1, keepdims=True)
    blind = np.isneginf(largest)
    largest[blind] = 0
    np.subtract(scores, largest, out=scores)
    np.exp(scores, out=scores)
    sums = np.matmul(scores, np.ones(scores.shape[-1], scores.dtype))[..., None]
    sums[blind] = 1
    total[...] = (largest + np.log(sums))[..., 0]
    return sums


def _heads(query: Array, key: Array, rows: int, keys: int) -> Iterator[tuple[object, object]]:
    """Indices of query's and key's heads to take together: all, or one after another."""
    batch, heads = query.shape[:2]
    if heads == key.shape[1] and batch * heads * rows * keys <= _BLOCK:
        yield (slice(None), slice(None)), (slice(None), slice(None))
        return
    shared = heads // key.shape[1]
    for b, h in product(range(batch), range(heads)):
        yield (b, h), (b, h // shared)


def _attend(
    out: Array,
    total: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Array | None,
    is_causal: bool,
) -> None:
    rows, keys = query.shape[2], key.shape[2]
    turned = key.swapaxes(-1, -2)
    for at, shared in _heads(query, key, rows, keys):
        for block, seen in _row_blocks(rows, keys, is_causal):
            scores = np.matmul(query[at][..., block, :], turned[shared][..., :seen])
            if mask is not None:
                scores += mask[at][..., block, :seen]
            if is_causal:
                _hide_future(scores, block.start)
            sums = _weights(scores, total[at][..., block])
            result = out[at][..., block, :]
            np.matmul(scores, value[shared][..., :seen, :], out=result)
            result /= sums


def _broadcast_mask(mask: Tensor | None, query: Tensor, key: Tensor) -> Array | None:
    if mask is None:
        return None
    sizes = (*query.shape[:3], key.shape[2])
    return np.broadcast_to(compute(mask), sizes)


def flash_attention_for_cpu(
    out: Tensor,
    logsumexp: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> None:
    """Output and the logarithm of each row's sum of exponentials."""
    _check(query, key, value, dropout_p)
    _check_mask(attn_mask, query.dtype)
    if out.numel() == 0:
        return
    factor = 1 / math.sqrt(query.shape[3]) if scale is None else scale
    values = compute(query)
    kind = values.dtype
    target = view(out) if view(out).dtype == kind else np.empty(out.shape, kind)
    with quiet():
        mask = _broadcast_mask(attn_mask, query, key)
        values = values * kind.type(factor)
        _attend(target, view(logsumexp), values, compute(key), compute(value), mask, is_causal)
    if target.dtype != view(out).dtype:
        store(out, target)


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
