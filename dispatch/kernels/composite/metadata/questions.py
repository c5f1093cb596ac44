"""Questions about tensors and dtypes: answered from metadata, on every device."""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes
from dispatch._C.arrays import _numpy_view
from dispatch._C.errors import refused
from dispatch._C.generated.type_names import DTYPE_CODES
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = [
    "_backward",
    "_debug_has_internal_overlap",
    "_dim_arange",
    "_has_compatible_shallow_copy_type",
    "_has_same_storage_numel",
    "_is_zerotensor",
    "_shape_as_tensor",
    "can_cast",
    "data",
    "get_device",
    "get_gradients",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_inference",
    "is_leaf",
    "is_neg",
    "is_same_size",
    "is_set_to",
    "is_signed",
    "output_nr",
    "positive",
    "promote_types",
    "requires_grad_",
    "result_type",
    "retain_grad",
    "retains_grad",
    "set_data",
    "version",
]

_aten = ops.aten


def is_floating_point(self: Tensor) -> bool:
    """Whether the dtype is a floating one."""
    return bool(self.dtype.is_floating_point)


def is_complex(self: Tensor) -> bool:
    """Whether the dtype is a complex one."""
    return bool(self.dtype.is_complex)


def is_signed(self: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return bool(self.dtype.is_signed)


def is_conj(self: Tensor) -> bool:
    """Whether the conjugate bit is set."""
    return bool(Tensor.is_conj(self))


def is_neg(self: Tensor) -> bool:
    """Whether the negative bit is set."""
    return bool(Tensor.is_neg(self))


def is_inference(self: Tensor) -> bool:
    """Whether the tensor was made in inference mode."""
    return bool(Tensor.is_inference(self))


def is_leaf(self: Tensor) -> bool:
    """Whether no differentiable operator made the tensor."""
    return bool(self.is_leaf)


def output_nr(self: Tensor) -> int:
    """Which output of its operator the tensor is."""
    return int(self.output_nr)


def version(self: Tensor) -> int:
    """How often the memory was written."""
    return int(self._version)


def data(self: Tensor) -> Tensor:
    """The tensor apart from what autograd knows of it."""
    return _aten.detach(self)


def get_device(self: Tensor) -> int:
    """The device's index; -1 for the CPU."""
    index = self.device.index
    return -1 if index is None else int(index)


def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return list(self.shape) == list(other.shape)


def positive(self: Tensor) -> Tensor:
    """self itself. RuntimeError for a bool tensor."""
    if self.dtype is dtypes.bool:
        raise refused("self must not be a bool tensor")
    return self


def _number_of(kind: dtypes.dtype) -> int:
    return DTYPE_CODES[str(kind).rpartition(".")[2]]


def promote_types(type1: Any, type2: Any) -> Any:
    """The number of the dtype that two dtypes have in common: operators return it as an int."""
    return _number_of(dtypes.promote_types(type1, type2))


def can_cast(from_: Any, to: Any) -> bool:
    """Whether results of one dtype may be written to another."""
    return bool(dtypes.can_cast(from_, to))


def result_type(first: Any, second: Any) -> Any:
    """The number of the dtype that two operands, tensors or numbers, have in common."""
    return _number_of(rules.result_type(first, second))


# ---- memory ------------------------------------------------------------------------------------


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether both show the same memory in the same way."""
    return (
        self.untyped_storage() is tensor.untyped_storage()
        and self.storage_offset() == tensor.storage_offset()
        and list(self.shape) == list(tensor.shape)
        and tuple(self.stride()) == tuple(tensor.stride())
    )


def _has_same_storage_numel(self: Tensor, other: Tensor) -> bool:
    """Whether the storages hold the same number of elements."""
    mine, theirs = self.untyped_storage(), other.untyped_storage()
    return mine.nbytes() // self.element_size() == theirs.nbytes() // other.element_size()


def _has_compatible_shallow_copy_type(self: Tensor, from_: Tensor) -> bool:
    """Whether one can take the other's place (`Tensor.data`)."""
    return self.device.type == from_.device.type and self.layout is from_.layout


def _debug_has_internal_overlap(self: Tensor) -> int:
    """Whether elements share memory: 0 no, 1 yes, 2 perhaps."""
    if self.is_contiguous() or _aten.is_non_overlapping_and_dense(self):
        return 0
    for size, step in zip(self.shape, self.stride(), strict=True):
        if not (rules.may_hold(step != 0) or rules.may_hold(size <= 1)):
            return 1
    return 2


def _is_zerotensor(self: Tensor) -> bool:
    """Whether the tensor is zeros that take no memory."""
    return bool(self._is_zerotensor())


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The sizes as an int64 vector."""
    sizes = list(self.shape)
    out: Tensor = _aten.empty.memory_format([len(sizes)], dtype=dtypes.int64, device="cpu")
    if sizes:  # of none a fake vector is known too
        _numpy_view(out)[...] = sizes
    return out


def _dim_arange(like: Tensor, dim: int) -> Tensor:
    """Positions along a dimension."""
    return _aten.arange(like.size(dim), dtype=dtypes.int64, device=like.device)


# ---- autograd ----------------------------------------------------------------------------------


def requires_grad_(self: Tensor, requires_grad: bool = True) -> Tensor:
    """self, recorded from now on or not."""
    return Tensor.requires_grad_(self, requires_grad)


def retain_grad(self: Tensor) -> None:
    """Note that a tensor that is no leaf keeps its gradient. RuntimeError if it requires none."""
    if not self.requires_grad:
        raise refused("the tensor does not require grad")
    if not self.is_leaf:
        self.__dict__["retains_grad"] = True


def retains_grad(self: Tensor) -> bool:
    """Whether a tensor that is no leaf keeps its gradient."""
    return self.retains_grad


def set_data(self: Tensor, new_data: Tensor) -> None:
    """Memory, sizes and dtype of another tensor."""
    self.data = new_data


def _backward(
    self: Tensor,
    inputs: list[Tensor],
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    self.backward(gradient, retain_graph, create_graph, inputs)


def get_gradients(context_id: int) -> Any:
    """Gradients of a distributed context: there is none."""
    raise refused("there is no distributed autograd")
