"""Operators that ask a tensor about itself: `aten.size`, `aten.sym_size`, `prim.device` ...

They read the tensor's metadata; a tensor that leaves them to its class (`_C/wrapper`) is asked
with the operator that PyTorch's accessor of that name uses.
"""

from __future__ import annotations

from dispatch._C.dtypes import device as Device, memory_format as MemoryFormat
from dispatch._C.tensor import Tensor
from dispatch._C.wrapper import answer, answers, layout_code, stored_fact

__all__: list[str] = []


def dim(self: Tensor) -> int:
    return self.dim()


def numel(self: Tensor) -> int:
    return answer(self, "numel") if answers(self, "sizes") else self.numel()


def size(self: Tensor) -> list[int]:
    return list(answer(self, "size") if answers(self, "sizes") else self.size())


def size_of(self: Tensor, dim: int) -> int:
    if not answers(self, "sizes"):
        return self.size(dim)
    at = _wrapped(dim, self.dim())
    return answer(self, "size")[at]


def stride(self: Tensor) -> list[int]:
    return list(answer(self, "stride") if answers(self, "strides") else self.stride())


def stride_of(self: Tensor, dim: int) -> int:
    if not answers(self, "strides"):
        return self.stride(dim)
    steps = answer(self, "stride")
    return steps[_wrapped(dim, len(steps))]


def storage_offset(self: Tensor) -> int:
    return self.storage_offset()


def sym_size(self: Tensor) -> list[int]:
    return list(self.size())


def sym_size_of(self: Tensor, dim: int) -> int:
    return self.size(dim)


def sym_stride(self: Tensor) -> list[int]:
    return list(self.stride())


def sym_stride_of(self: Tensor, dim: int) -> int:
    return self.stride(dim)


def sym_numel(self: Tensor) -> int:
    return self.numel()


def sym_storage_offset(self: Tensor) -> int:
    return self.storage_offset()


def is_contiguous(self: Tensor) -> bool:
    return self.is_contiguous()


def is_contiguous_as(self: Tensor, memory_format: MemoryFormat) -> bool:
    return self.is_contiguous(memory_format=memory_format)


def is_strides_like_format(self: Tensor, memory_format: MemoryFormat) -> bool:
    if answers(self, "strides"):
        return answer(self, "is_strides_like_format", memory_format)
    return stored_fact(self, "is_strides_like_format", memory_format)


def is_non_overlapping_and_dense(self: Tensor) -> bool:
    if answers(self, "strides"):
        return answer(self, "is_non_overlapping_and_dense")
    return stored_fact(self, "is_non_overlapping_and_dense")


def device(a: Tensor) -> Device:
    return a.device


def layout(a: Tensor) -> int:
    """PyTorch's number of the layout."""
    return layout_code(a)


def _wrapped(dim: int, n: int) -> int:
    if not -n <= dim < n:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})"
        )
    return dim % n
