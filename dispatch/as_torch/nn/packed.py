"""`torch.nn.utils.rnn`: sequences of several lengths, padded to one length or packed without gaps.

A packed batch holds the first elements of all sequences, then the second ones of those that have
one, and so on, longest sequence first: the operators `lstm.data`, `gru.data` and their like read
it. `sorted_indices` says how sequences were brought into that order, `unsorted_indices` the way
back.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import dispatch
from dispatch import Tensor
from dispatch._C import _nn

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class PackedSequence_(NamedTuple):
    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """A packed batch (torch.nn.utils.rnn.PackedSequence).

    Args: data, the elements in order; batch_sizes, int64 on the CPU, how many sequences have a
    first, second ... element (None: `data` is the pair of both). ValueError for another device.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None,
        unsorted_indices: Any = None,
    ) -> "PackedSequence":  # fmt: skip
        if batch_sizes is None:
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence and "
                "pack_padded_sequences in nn.utils.rnn. "
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> "PackedSequence":
        """The same with another dtype or on another device; itself when nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        places = (
            None if t is None else t.to(data.device)
            for t in (self.sorted_indices, self.unsorted_indices)
        )  # fmt: skip
        return type(self)(data, self.batch_sizes, *places)

    def cpu(self) -> "PackedSequence":
        """On the CPU."""
        return self.to("cpu")

    def double(self) -> "PackedSequence":
        """In float64."""
        return self.to(dtype=dispatch.float64)

    def float(self) -> "PackedSequence":
        """In float32."""
        return self.to(dtype=dispatch.float32)

    def half(self) -> "PackedSequence":
        """In float16."""
        return self.to(dtype=dispatch.float16)

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a cuda device."""
        return bool(self.data.is_cuda)


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes one; None for None."""
    if permutation is None:
        return None
    found = dispatch.empty_like(permutation, memory_format=dispatch.contiguous_format)
    order = dispatch.arange(0, permutation.numel(), device=permutation.device)
    return found.scatter_(0, permutation, order)


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False,
    enforce_sorted: bool = True,
) -> PackedSequence:  # fmt: skip
    """Sequences padded to (T, B, *), with `batch_first` (B, T, *), packed.

    Args: lengths, one of each sequence; enforce_sorted, they are given in descending order (they
    are sorted here otherwise). RuntimeError for lengths that are not.
    """
    if not isinstance(lengths, Tensor):
        lengths = dispatch.as_tensor(lengths, dtype=dispatch.int64, device="cpu")
    lengths, order = lengths.to(dispatch.int64), None
    if not enforce_sorted:
        lengths, order = dispatch.sort(lengths, descending=True)
        order = order.to(input.device)
        input = input.index_select(0 if batch_first else 1, order)
    data, batch_sizes = dispatch.ops.aten._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, batch_sizes, order)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(padded sequences, their lengths) of a packed batch, in the order that was given.

    ValueError for a `total_length` below the longest sequence's.
    """
    longest = sequence.batch_sizes.size(0)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, "
            f"but got total_length={total_length} and max sequence length being {longest}"
        )
    padded, lengths = dispatch.ops.aten._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, total_length or longest
    )
    order = sequence.unsorted_indices
    if order is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, order), lengths[order.cpu()]


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0,
    padding_side: str = "right",
) -> Tensor:  # fmt: skip
    """Sequences of (L, *) as (T, B, *), with `batch_first` (B, T, *), filled up to the longest."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    return _nn.pad_sequence(list(sequences), batch_first, padding_value, padding_side)


def unpad_sequence(
    padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False
) -> list[Tensor]:
    """The sequences of their own lengths again."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    places = dispatch.arange(padded_sequences.shape[1], device=lengths.device)
    return [t[places < n] for t, n in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences of (L, *) packed; they come in descending length unless `enforce_sorted` is off."""
    lengths = dispatch.as_tensor([t.size(0) for t in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed batch."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
