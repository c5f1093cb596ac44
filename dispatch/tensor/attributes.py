"""Attributes of Tensor: views of the whole, what is alike for every tensor here, small methods.

`methods` enters the table `ATTRIBUTES` into the type. There are no sparse, quantized or shared
tensors, no hooks of an autograd engine, and no other backends than those that somebody registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.advice import advise_once
from dispatch._C.dtypes import device as _device_of
from dispatch._C.size import Size
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.tensor.data import is_any_storage, over_storage
from dispatch.tensor.frequent import gradient, transposed

__all__ = ["ATTRIBUTES"]

_aten = ops.aten


def _is_on(*kinds: str) -> property:
    return property(lambda self: self.device.type in kinds)


def _constant(value: Any) -> property:
    return property(lambda self: value)


def _answer(name: str, value: Callable[[Tensor], Any]) -> Callable[..., Any]:
    def answer(self: Tensor) -> Any:
        return value(self)

    answer.__name__ = answer.__qualname__ = name
    return answer


def _dim_order(self: Tensor, ambiguity_check: Any = False) -> tuple[int, ...]:
    """Dimensions from the one with the largest stride to the one with the smallest."""
    strides, sizes = self.stride(), self.shape
    return tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], -sizes[d] == 1, d)))


def _is_same_size(self: Tensor, other: Tensor) -> bool:
    return self.shape == other.shape


def _new(self: Tensor, *args: Any, size: Any = None, device: Any = None) -> Tensor:
    """`Tensor(...)` of this tensor's dtype and device."""
    if size is not None:
        args = *args, Size(size)
    if device is not None and len(args) == 1 and isinstance(args[0], Tensor):
        raise RuntimeError("new: a tensor comes without a device, call as_tensor")
    if device is not None and _device_of(device).type != self.device.type:
        raise RuntimeError(f"new: makes tensors on {self.device.type}, not on {device}")
    if len(args) == 1 and isinstance(args[0], Size):
        return self.new_empty(args[0])
    if len(args) == 1 and not isinstance(args[0], int):
        if isinstance(args[0], (float, complex)):
            raise TypeError(f"new: expected sizes or a sequence, got {args[0]!r}")
        if is_any_storage(args[0]):
            return over_storage(args[0], self.dtype)
        if isinstance(args[0], Tensor):
            if args[0].dtype is not self.dtype:
                raise TypeError(f"new: expected {self.dtype}, got a tensor of {args[0].dtype}")
            return _aten.alias.default(args[0])
        return self.new_tensor(args[0])
    return self.new_empty(list(args) or [0])


def _hooks(self: Tensor) -> Any:
    """What a program keeps there: nobody calls hooks."""
    return vars(self).get("_backward_hooks")


def _set_hooks(self: Tensor, value: Any) -> None:
    vars(self)["_backward_hooks"] = value


def _adjoint_method(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, conjugated."""
    return self.mH


def _is_shared(self: Tensor) -> bool:
    """Whether the memory is shared with other processes: never."""
    return False


def _get_real(self: Tensor) -> Tensor:
    return _aten.real.default(self)


def _set_real(self: Tensor, value: Any) -> None:
    self.real.copy_(value)


def _get_imag(self: Tensor) -> Tensor:
    return _aten.imag.default(self)


def _set_imag(self: Tensor, value: Any) -> None:
    self.imag.copy_(value)


def _advise_number(name: str) -> None:
    advise_once(f"{name} of a number", "deprecated, for it stays as it is")


def _matrix_transposed(self: Tensor, name: str = "mT") -> Tensor:
    """The last two dimensions exchanged."""
    if self.ndim == 0:
        _advise_number("Tensor.mT")
        return self
    if self.ndim == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return _aten.transpose.int(self, -2, -1)


def _matrix_adjoint(self: Tensor) -> Tensor:
    """Transposed and conjugated."""
    if self.ndim == 0:
        _advise_number("Tensor.mH")
        return _aten.conj.default(self)
    return _aten.conj.default(_matrix_transposed(self, "mH"))


def _adjoint(self: Tensor) -> Tensor:
    """A matrix transposed and conjugated."""
    if self.ndim == 0:
        _advise_number("Tensor.H")
    return _aten.matrix_H.default(self)


def _has_symbolic(self: Tensor) -> bool:
    """Whether a size, stride or offset is an expression."""
    return any(type(n) is not int for n in (*self.size(), *self.stride(), self.storage_offset()))


def _set_gradient(self: Tensor, value: Any) -> None:
    """`x.grad = value`, which somebody computed: it is kept, no call looks at it.

    Raises:
        TypeError: neither a tensor nor None.
        RuntimeError: another size, dtype or device than the tensor's, or the tensor itself.
    """
    if value is None:
        self.__dict__.pop("grad", None)
        return
    if not isinstance(value, Tensor):
        raise TypeError(f"grad: expected a tensor or None, got {type(value).__name__}")
    if value is self:
        raise RuntimeError("grad: can't assign a tensor as its own grad")
    for name in ("dtype", "device", "shape"):
        own, given = getattr(self, name), getattr(value, name)
        if own != given:
            raise RuntimeError(
                f"grad: a tensor with {name} {own} takes no grad with {name} {given}"
            )
    self.__dict__["grad"] = value


def _retains(self: Tensor) -> bool:
    """Whether it is no leaf and `retain_grad` was called."""
    return bool(self.__dict__.get("retains_grad", False))


def _forget_gradient(self: Tensor) -> None:
    self.__dict__.pop("grad", None)


def _cuda_array(self: Tensor) -> Any:
    """The description of CUDA memory that other libraries read. AttributeError on other devices."""
    if self.device.type != "cuda":
        kind = f"a tensor on {self.device}"
        raise AttributeError(f"__cuda_array_interface__: {kind} has no CUDA memory: use x.cuda()")
    raise RuntimeError("__cuda_array_interface__: a CUDA tensor holds no memory here")


def _index(self: Tensor, positions: Any, dims: Any) -> Any:
    """Bind dimensions to first-class ones (torch.Tensor.index): there are none here."""
    raise NotImplementedError("Tensor.index: there are no first-class dimensions here")


ATTRIBUTES: dict[str, Any] = {
    "__cuda_array_interface__": property(_cuda_array), "index": _index,
    "H": property(_adjoint), "T": property(transposed), "mH": property(_matrix_adjoint),
    "mT": property(_matrix_transposed), "imag": property(_get_imag, _set_imag),
    "real": property(_get_real, _set_real),
    "grad": property(gradient, _set_gradient, _forget_gradient),
    "_backward_hooks": property(_hooks, _set_hooks), "_cdata": property(id),
    "_grad": property(lambda t: t.grad),
    "_grad_fn": property(lambda t: t.grad_fn),
    "_has_symbolic_sizes_strides": property(_has_symbolic),
    "_post_accumulate_grad_hooks": _constant(None), "adjoint": _adjoint_method,
    "dense_dim": _answer("dense_dim", Tensor.dim), "dim_order": _dim_order,
    "_fix_weakref": _answer("_fix_weakref", lambda self: None),
    "is_distributed": _answer("is_distributed", lambda self: False), "is_ipu": _is_on("ipu"),
    "is_maia": _is_on("maia"), "is_mkldnn": _constant(False), "is_mps": _is_on("mps"),
    "is_mtia": _is_on("mtia"), "is_nested": _constant(False), "is_quantized": _constant(False),
    "is_same_size": _is_same_size,
    "is_shared": _is_shared,
    "is_sparse_csr": _constant(False), "is_vulkan": _is_on("vulkan"),
    "is_xla": _is_on("xla"), "is_xpu": _is_on("xpu"), "name": _constant(None), "new": _new,
    "grad_dtype": property(lambda t: t.dtype if t.requires_grad else None),
    "volatile": _constant(False),
    "ndimension": _answer("ndimension", Tensor.dim),
    "nelement": _answer("nelement", Tensor.numel),
    "output_nr": _constant(0), "retains_grad": property(_retains),
    "sparse_dim": _answer("sparse_dim", lambda self: 0),
}  # fmt: skip
