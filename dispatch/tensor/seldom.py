"""Methods of Tensor that programs seldom call: element by element in Python, older names, hooks.

Hooks of an autograd engine are refused, for there is none; memory is not shared between processes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from dispatch._C.tensor import Tensor

__all__ = ["METHODS"]


def _apply(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace every element by what `callable` makes of it (torch.Tensor.apply_)."""
    _check_writable("apply_", self)
    return _write(self, (callable(x) for x in self.reshape(-1).tolist()))


def _map(self: Tensor, tensor: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace every element by `callable` of it and of `tensor`'s (torch.Tensor.map_)."""
    _check_writable("map_", self, tensor)
    others = tensor.expand(self.shape).reshape(-1).tolist()
    pairs = zip(self.reshape(-1).tolist(), others, strict=True)
    return _write(self, (callable(*pair) for pair in pairs))


def _map2(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """The same with two other tensors (torch.Tensor.map2_)."""
    _check_writable("map2_", self, x, y)
    columns = [t.expand(self.shape).reshape(-1).tolist() for t in (self, x, y)]
    return _write(self, (callable(*row) for row in zip(*columns, strict=True)))


def _check_writable(who: str, self: Tensor, *others: Tensor) -> None:
    if any(t.requires_grad for t in (self, *others)):
        raise RuntimeError(f"{who}: elements of what requires grad are not read or written alone")
    if self.device.type != "cpu":
        raise TypeError(f"elements are read and written on cpu, not on {self.device}")
    for t in others:
        if t.dtype is not self.dtype:
            raise TypeError(f"{who}: expected {self.dtype} for each tensor, got {t.dtype}")


def _write(self: Tensor, values: Any) -> Tensor:
    made = list(values)
    for value in made:
        if not any(hasattr(value, name) for name in ("__index__", "__float__", "__complex__")):
            raise TypeError(f"expected a number of the callable, got {type(value).__name__}")
    if made:
        self.data.copy_(self.new_tensor(made).reshape(self.shape))  # the version stays
    return self


def _resize(self: Tensor, *sizes: Any) -> Tensor:
    """The elements in another shape; deprecated (torch.Tensor.resize)."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=3)
    shape = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes
    if self.new_empty(tuple(shape), device="meta").numel() != self.numel():
        raise RuntimeError(
            f"resize: {self.numel()} elements do not fit a tensor of shape {tuple(shape)}"
        )
    return self.contiguous().view(tuple(shape))


def _resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """The elements in the shape of another tensor; deprecated (torch.Tensor.resize_as)."""
    return _resize(self, tensor.shape)


def _refused_hook(name: str) -> Callable[..., Any]:
    def register(self: Tensor, hook: Callable[..., Any]) -> Any:
        """No hook is ever called: there is no autograd engine."""
        why = "there is no autograd engine" if self.requires_grad else "it does not require grad"
        raise RuntimeError(f"{name}: a hook of this tensor would not be called: {why}")

    register.__name__ = register.__qualname__ = name
    return register


def _share_memory(self: Tensor) -> Tensor:
    """Refused: memory is not shared between processes (torch.Tensor.share_memory_)."""
    raise RuntimeError("share_memory_: memory is not shared between processes")


def _module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """What takes this tensor's place when a state is loaded (torch.Tensor.module_load)."""
    return other.detach() if assign else self.copy_(other).detach()


def _forget_caches(self: Tensor) -> None:
    """Nothing is cached that a pickle could not hold."""


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    return function


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "_clear_non_serializable_cached_data": _forget_caches,
    "apply_": _apply,
    "map_": _map,
    "map2_": _map2,
    "module_load": _module_load,
    "register_hook": _refused_hook("register_hook"),
    "register_post_accumulate_grad_hook": _refused_hook("register_post_accumulate_grad_hook"),
    "resize": _resize,
    "resize_as": _resize_as,
    "share_memory_": _share_memory,
}
METHODS = {name: _named(name, function) for name, function in _FUNCTIONS.items()}
