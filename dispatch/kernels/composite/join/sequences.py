"""Sequences of different lengths in one tensor: padded, packed, flattened, cut into chunks.

Composite: written with views, `cat` and `copy_`. A packed sequence has the elements of all
sequences time step by time step, and how many sequences each step has.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from dispatch._C import dtypes
from dispatch._C.arrays import _numpy_view
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_chunk_cat",
    "_chunk_cat_out",
    "_pack_padded_sequence",
    "_pack_padded_sequence_backward",
    "_pad_packed_sequence",
    "_stack",
    "_stack_out",
    "flatten_dense_tensors",
    "pad_sequence",
    "unflatten_dense_tensors",
]

_aten = ops.aten
Tensors = Sequence[Tensor]


def _stack(tensors: Tensors, dim: int = 0) -> Tensor:
    """`stack`."""
    return _aten.stack(tensors, dim)


def _stack_out(tensors: Tensors, dim: int = 0, *, out: Tensor) -> Tensor:
    return _aten.stack.out(tensors, dim, out=out)


# ---- padded ------------------------------------------------------------------------------------


def pad_sequence(
    sequences: Tensors,
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:
    """Side by side in one tensor, padded to the length of the longest."""
    if not sequences:
        raise refused("expected at least one sequence, got none")
    if padding_side not in ("left", "right"):
        raise refused(f"padding_side must be 'left' or 'right', got {padding_side!r}")
    rest = list(sequences[0].shape[1:])
    longest = reduce(rules.larger, (s.size(0) for s in sequences))
    count = len(sequences)
    sizes = [count, longest, *rest] if batch_first else [longest, count, *rest]
    out = _aten.new_full(sequences[0], sizes, padding_value)
    for i, sequence in enumerate(sequences):
        row = _aten.select.int(out, 0 if batch_first else 1, i)
        length = sequence.size(0)
        start = longest - length if padding_side == "left" else 0
        _aten.copy_(_aten.narrow(row, 0, start, length), sequence)
    return out


# ---- packed ------------------------------------------------------------------------------------


def _read_lengths(lengths: Tensor, name: str) -> list[int]:
    if lengths.ndim != 1 or lengths.dtype is not dtypes.int64 or lengths.device.type != "cpu":
        raise refused(
            f"expected {name} as an int64 vector on the CPU, got {lengths.dtype} of shape "
            f"{list(lengths.shape)} on {lengths.device}"
        )
    found: list[int] = lengths.tolist()
    return found


def _read_counts(batch_sizes: Tensor) -> list[int]:
    """The values of `batch_sizes`, which PyTorch reads from memory: a fake tensor has none."""
    if not rules.is_eager(batch_sizes):
        raise refused("expected batch_sizes with values, got a tensor without data")
    return _read_lengths(batch_sizes, "batch_sizes")


def _check_lengths(lengths: list[int], batch: int) -> None:
    if len(lengths) != batch:
        raise refused(f"expected {batch} lengths, one for each sequence, got {len(lengths)}")
    if any(a < b for a, b in pairwise(lengths)):
        raise refused(f"lengths must not grow from one sequence to the next, got {lengths}")
    if lengths[-1] <= 0:
        raise refused(f"lengths must be above 0, got {lengths[-1]}")


def _pack_padded_sequence(
    input: Tensor, lengths: Tensor, batch_first: bool
) -> tuple[Tensor, Tensor]:
    """What is no padding, step by step, and how many sequences each step has."""
    steps = _aten.transpose.int(input, 0, 1) if batch_first else input
    if steps.numel() == 0:
        raise refused("there is nothing to pack")
    given = _read_lengths(lengths, "lengths")
    _check_lengths(given, steps.size(1))
    rest = list(steps.shape[2:])
    parts: list[Tensor] = []
    sizes: list[int] = []
    done, count = 0, len(given)
    while count:  # runs of steps with the same number of sequences
        until = given[count - 1]
        part = _aten.narrow(_aten.slice.Tensor(steps, 0, done, until), 1, 0, count)
        parts.append(_aten.reshape(_aten.contiguous(part), [part.size(0) * count, *rest]))
        sizes += [count] * (until - done)
        done = until
        while count and given[count - 1] == done:
            count -= 1
    return _aten.cat(parts), _on_cpu(sizes)


def _on_cpu(values: list[int]) -> Tensor:
    """The numbers as an int64 vector."""
    out: Tensor = _aten.empty.memory_format([len(values)], dtype=dtypes.int64)
    _numpy_view(out)[...] = values
    return out


def _pack_padded_sequence_backward(
    grad: Tensor, input_size: list[int], batch_sizes: Tensor, batch_first: bool
) -> Tensor:
    """The gradient where an element was packed, zeros where there was padding."""
    sizes = list(input_size)
    if batch_first:
        sizes[0], sizes[1] = sizes[1], sizes[0]
    result = _aten.new_zeros(grad, sizes)
    start = 0
    for i, n in enumerate(_read_counts(batch_sizes)):
        row = _aten.slice.Tensor(_aten.select.int(result, 0, i), 0, 0, n)
        _aten.copy_(row, _aten.slice.Tensor(grad, 0, start, start + n))
        start += n
    return _aten.transpose.int(result, 0, 1) if batch_first else result


def _pad_packed_sequence(
    data: Tensor, batch_sizes: Tensor, batch_first: bool, padding_value: Any, total_length: int
) -> tuple[Tensor, Tensor]:
    """The sequences side by side, padded, and their lengths."""
    counts = _read_counts(batch_sizes)
    longest = len(counts)
    if total_length > 0:
        if total_length < longest:
            raise refused(f"total_length {total_length} is less than the longest, {longest}")
        longest = total_length
    batch = counts[0]
    out = _aten.new_full(data, [longest, batch, *data.shape[1:]], padding_value)
    start = 0
    for i, n in enumerate(counts):
        row = _aten.slice.Tensor(_aten.select.int(out, 0, i), 0, 0, n)
        _aten.copy_(row, _aten.slice.Tensor(data, 0, start, start + n))
        start += n
    lengths = _on_cpu([sum(1 for n in counts if n > k) for k in range(batch)])
    return (_aten.transpose.int(out, 0, 1) if batch_first else out), lengths


# ---- flattened ---------------------------------------------------------------------------------


def flatten_dense_tensors(tensors: Tensors) -> Tensor:
    """All elements, one tensor's after the other's; those of a lone tensor are not copied."""
    flat = [_aten.view(_aten.contiguous(t), [-1]) for t in tensors]
    return flat[0] if len(flat) == 1 else _aten.cat(flat)


def unflatten_dense_tensors(flat: Tensor, tensors: Tensors) -> list[Tensor]:
    """Views of a flat tensor with the sizes of others."""
    start, parts = 0, []
    for t in tensors:
        n = t.numel()
        if n == 0:
            parts.append(_aten.new_empty(flat, list(t.shape)))
        else:
            parts.append(_aten.view(_aten.narrow(flat, 0, start, n), list(t.shape)))
        start += n
    return parts


# ---- chunks ------------------------------------------------------------------------------------


def _check_chunks(tensors: Tensors, dim: int, num_chunks: int) -> int:
    if not tensors:
        raise refused("_chunk_cat expects a non-empty input tensor list")
    if num_chunks < 1:
        raise refused(f"_chunk_cat expects positive num_chunks, got {num_chunks}")
    first = tensors[0]
    for t in tensors:
        if not t.numel():
            raise refused("_chunk_cat expects non-empty tensor")
        if t.dtype is not first.dtype:
            raise refused(f"expected tensors of one dtype, got {first.dtype} and {t.dtype}")
    if any(t.ndim != first.ndim for t in tensors):
        if dim < 0:
            raise refused(
                "_chunk_cat expects non-negative dim when input tensors have different ndims, "
                f"got {dim}"
            )
    else:
        dim = rules.wrap_dim(dim, first.ndim)
    for t in tensors:
        if dim >= t.ndim:
            raise refused(
                f"_chunk_cat expects dim < ndim for all input tensors: {dim} for {list(t.shape)}"
            )
        if list(t.shape[:dim]) != list(first.shape[:dim]):
            raise refused("_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors")
    return dim


def _chunks(tensors: Tensors, dim: int, num_chunks: int) -> tuple[list[Tensor], int]:
    """Each tensor, padded with zeros, as rows: one for each chunk."""
    dim = _check_chunks(tensors, dim, num_chunks)
    rows = []
    for t in tensors:
        size = t.size(dim)
        length = -(-size // num_chunks) * num_chunks
        if length != size:
            pad = [0, 0] * (t.ndim - dim - 1) + [0, length - size]
            t = _aten.constant_pad_nd(t, pad, 0)
        rows.append(_aten.reshape(t, [*t.shape[:dim], num_chunks, -1]))
    return rows, dim + 1


def _chunk_cat(tensors: Tensors, dim: int, num_chunks: int) -> Tensor:
    """The i-th chunks of all tensors, side by side in row i."""
    return _aten.cat(*_chunks(tensors, dim, num_chunks))


def _chunk_cat_out(tensors: Tensors, dim: int, num_chunks: int, *, out: Tensor) -> Tensor:
    rows, along = _chunks(tensors, dim, num_chunks)
    return _aten.cat.out(rows, along, out=out)
