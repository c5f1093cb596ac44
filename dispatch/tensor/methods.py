"""Enters what Tensor does in Python into its type, and registers the hooks of the compiled class.

Imported with the package. Methods of operators are not listed anywhere: all that the schemas have
are entered, and each looks its operator up at its first call. What is called rarely is imported at
its first call.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from dispatch import _C
from dispatch._C.function import _enter_methods, _find_function
from dispatch._C.generated.type_names import DTYPE_METHODS
from dispatch._C.guards import DisableTorchFunctionSubclass
from dispatch._C.python_kernel import _seen_detach
from dispatch._C.slots import _install_tensor_attribute, _set_tensor_hook
from dispatch._C.tensor import Tensor
from dispatch._C.torch_function import (
    _ask_torch_function,
    _has_torch_function_unary,
    _quiet,
    _watch_method,
    _watch_slot,
    _watch_tensor,
    _watch_twin,
)
from dispatch._ops import ops
from dispatch.tensor.attributes import ATTRIBUTES
from dispatch.tensor.conversions import CONVERSIONS
from dispatch.tensor.frequent import value_as
from dispatch.tensor.index import getitem, setitem
from dispatch.tensor.later import later
from dispatch.tensor.layouts import LAYOUTS
from dispatch.tensor.operators import as_function, positive, reverse_divide
from dispatch.tensor.seldom import METHODS

__all__ = ["nonzero"]

# Names of `dispatch._C` that are asked for rarely.
_OFFERED = ("_is_alias_of", "_only_lift_cpu_tensors", "_overlaps", "_set_only_lift_cpu_tensors")
_C._offer(_OFFERED, lambda name: getattr(importlib.import_module("dispatch.tensor.sharing"), name))

_aten = ops.aten


# ---- sequences


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if self.dim() == 0:
        raise TypeError("iteration over a 0-d tensor")
    return iter(self.unbind(0))


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Tensor, bool, int, float, complex)):
        raise RuntimeError(
            f"Tensor.__contains__: expected a tensor or a number, got {type(element).__name__}"
        )
    return bool(
        _aten.any.default(
            as_function("eq")(element, self)
            if isinstance(element, Tensor)
            else as_function("eq")(self, element)
        ).item()
    )


def _length(self: Tensor) -> int:
    if self.dim() == 0:
        raise TypeError("len() of a 0-d tensor")
    return self.shape[0]


def _reversed(self: Tensor) -> Tensor:
    """`reversed(x)`: the first dimension turned round."""
    return self.flip(0) if self.dim() else self


def _split(self: Tensor, split_size: Any, dim: int = 0) -> Any:
    """Views of `split_size` rows each along `dim`, or of the sizes in a list (Tensor.split)."""
    if _has_torch_function_unary(self):
        return _ask_torch_function(Tensor.split, (self,), (self, split_size), {"dim": dim})
    if isinstance(split_size, Tensor) and split_size.ndim == 0:
        split_size = int(split_size)
    sizes = isinstance(split_size, Tensor) or not hasattr(split_size, "__index__")
    name = "split_with_sizes" if sizes else "split"
    return _plain_function(name)(self, split_size, dim)


_split.__name__ = "split"


def _istft(self: Tensor, n_fft: int, *args: Any, **kwargs: Any) -> Tensor:
    """The inverse of `stft` (Tensor.istft)."""
    inverse: Tensor = _plain_function("istft")(self, n_fft, *args, **kwargs)
    return inverse


@functools.cache
def _plain_function(name: str) -> Callable[..., Any]:
    return _find_function(name, False) or getattr(_aten, name)


def nonzero(self: Tensor, *, as_tuple: bool = False) -> Any:
    """The places of what is not zero: a row for each, or with `as_tuple` a tensor by dimension."""
    if not isinstance(as_tuple, bool):
        raise TypeError(f"nonzero: as_tuple must be a bool, got {type(as_tuple).__name__}")
    if as_tuple:
        return tuple(_aten.nonzero_numpy.default(self))
    return _aten.nonzero.default(self)


# ---- attributes, text, copies


_text = later("tensor.text.tensor_text")
_copy = later("tensor.copy.deepcopy")
_reduce = later("tensor.copy.reduce")


def _represent(self: Tensor, *, tensor_contents: Any = None) -> str:
    """The text of a tensor; handlers of __torch_function__ are asked first."""
    if _has_torch_function_unary(self):
        keywords = {"tensor_contents": tensor_contents}
        text: str = _ask_torch_function(Tensor.__repr__, (self,), (self,), keywords)
        return text
    with DisableTorchFunctionSubclass():
        return _text(self, tensor_contents)


_represent.__name__ = "__repr__"


def _reduce_ex(self: Tensor, protocol: Any) -> Any:
    return _reduce(self, protocol)


def _set_state(self: Tensor, state: dict[str, Any]) -> None:
    """What pickle restores after `reduce`'s arguments: the attributes."""
    self.__dict__.update(state)


def _deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    return _copy(self, memo)


# What Python 2 called operators that have others now.
_OLDER: dict[str, Callable[..., Any]] = {
    "__div__": _aten.div, "__idiv__": _aten.div_, "__long__": value_as("int"),
    "__nonzero__": value_as("bool"),
}  # fmt: skip


# ---- registration


def _register_hooks() -> None:
    plain: dict[str, Callable[..., Any]] = {
        "__init__": _quiet(later("tensor.data.construct")),
        "__iter__": _iterate, "__repr__": _represent, "data": _seen_detach,
        "constructed": _quiet(later("tensor.data.constructed")),
        "storage": later("tensor.storage.call"),
        "storage_attribute": later("tensor.storage.attribute"),
        "storage_keep": later("tensor.storage.keep"),
        "storage_drop": later("tensor.storage.drop"),
    }  # fmt: skip
    for name, function in plain.items():
        _set_tensor_hook(name, function)
    _set_tensor_hook("__complex__", _watch_slot(value_as("complex"), "__complex__"))
    for method in (
        _watch_method(value_as("bool"), "__bool__"),
        _watch_method(_contains, "__contains__", keywords=True, own=True),
    ):
        _install_tensor_attribute(method.__name__, method)
        _set_tensor_hook(method.__name__, method)
    # `__rtruediv__` stays a slot: a method would be asked of subclasses before `__truediv__`.
    _install_tensor_attribute("__rdiv__", _watch_twin(reverse_divide, "__rdiv__", "__rtruediv__"))
    for name, older in _OLDER.items():
        _install_tensor_attribute(name, _watch_method(older, name))
    _set_tensor_hook("__len__", _watch_slot(_length, "__len__", keywords=True))
    for function in (getitem, setitem):
        name = f"__{function.__name__}__"
        _set_tensor_hook(name, _watch_slot(function, name, counts_self=False))


def _install_methods() -> None:
    for name, value in {
        **ATTRIBUTES, **CONVERSIONS, **METHODS, "__deepcopy__": _deepcopy,
        "__dlpack__": later("_C.dlpack.to_dlpack"),
        "__dlpack_device__": later("_C.dlpack.dlpack_device"),
        "istft": _istft, "lu": later("tensor.functions.lu"), "stft": later("tensor.functions.stft"),
        **{n: later(f"tensor.older.{n}") for n in ("eig", "lstsq", "solve", "symeig")},
        "__reduce_ex__": _reduce_ex, "__repr__": _represent,
        "__reversed__": _reversed, "__setstate__": _set_state,
        "norm": later("tensor.functions.norm"), "unique": later("tensor.functions.unique"),
        "unique_consecutive": later("tensor.functions.unique_consecutive"),
        "new_tensor": later("tensor.data.new_tensor"), "nonzero": nonzero,
        "positive": positive, "split": _split, "storage": later("tensor.typed_storage.storage_of"),
        "_typed_storage": later("tensor.typed_storage.typed_storage_of"),
        "storage_type": later("tensor.storage_classes.storage_type_of"),
    }.items():  # fmt: skip
        _install_tensor_attribute(name, value)


# Methods that do not show handlers the class of a plain `self`, for their arguments are parsed.
_PARSED = frozenset(
    (
        "is_contiguous", "nonzero", "numpy", "requires_grad_", "size", "stride", "to",
        "type", "cpu", "cuda", "xpu", *DTYPE_METHODS,
    )
)  # fmt: skip
# Methods that are Python functions in PyTorch: handlers always get keywords. One is a property.
_PYTHON = frozenset(
    (
        "__cuda_array_interface__", "__deepcopy__", "__format__", "__reduce_ex__",
        "__setstate__", "dim_order", "register_hook", "register_post_accumulate_grad_hook",
        "resize", "resize_as", *LAYOUTS,
    )
)  # fmt: skip
_UNSEEN = frozenset(("_make_subclass", "_make_wrapper_subclass", "as_subclass", "is_view", "split"))

_install_methods()
_watch_tensor(
    _PARSED, _PYTHON, LAYOUTS, {"ndimension": "dim", "nelement": "numel"},
    ("data", "grad", "requires_grad"), _UNSEEN, _enter_methods,
)  # fmt: skip
_register_hooks()
# In PyTorch each of these is one function under two names; handlers may know it by either.
for _other, _one in (
    ("__abs__", "abs"), ("__neg__", "neg"), ("__pos__", "positive"), ("__idiv__", "__itruediv__"),
):  # fmt: skip
    _install_tensor_attribute(_other, vars(Tensor)[_one])
