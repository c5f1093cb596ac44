"""What an operator's own functionalization rule is given (`py_functionalize_impl`).

One class for each way into functionalization: FunctionalTensorMode, the Functionalize key of
`_enable_functionalization`, and a function transform.
"""

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from dispatch import _C, pytree
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.tensor import Tensor
from dispatch.functional import wrappers
from dispatch.functional.mode import FunctionalTensorMode, dispatch_functionalize
from dispatch.functional.tensor import FunctionalTensor
from dispatch.functional.transform import functionalize, unwrap_all, wrap_all

__all__ = [
    "BaseFunctionalizeAPI",
    "CppFunctionalizeAPI",
    "FunctorchFunctionalizeAPI",
    "PythonFunctionalizeAPI",
]


class BaseFunctionalizeAPI(ABC):
    """The context of a functionalization rule."""

    @abstractmethod
    def wrap_tensors(self, args: Any) -> Any:
        """The tree with its tensors made functional."""

    @abstractmethod
    def unwrap_tensors(self, args: Any) -> Any:
        """The tree with its functional tensors' values."""

    @abstractmethod
    def functionalize(self, inner_f: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs functionalized in this way."""

    @abstractmethod
    def redispatch_to_next(self) -> AbstractContextManager[Any]:
        """In the block, calls go below functionalization."""

    def replace(self, input_tensor: Tensor, output_tensor: Tensor) -> None:
        """Give a functional tensor a new value."""
        wrappers._functionalize_replace(input_tensor, output_tensor)

    def commit_update(self, tensor: Tensor) -> None:
        """Queue a functional tensor's value for its aliases."""
        wrappers._functionalize_commit_update(tensor)

    def sync(self, tensor: Tensor) -> None:
        """Bring a functional tensor up to date."""
        wrappers._functionalize_sync(tensor)

    def mark_mutation_hidden_from_autograd(self, tensor: Tensor) -> None:
        """The last write is none that autograd should see."""
        wrappers._functionalize_mark_mutation_hidden_from_autograd(tensor)


class PythonFunctionalizeAPI(BaseFunctionalizeAPI):
    """Of `FunctionalTensorMode`: a new mode unless one is given."""

    def __init__(self, mode: FunctionalTensorMode | None = None, pre_dispatch: bool = False):
        super().__init__()
        self.mode = mode if mode else FunctionalTensorMode()
        self.pre_dispatch = pre_dispatch

    def wrap_tensors(self, args: Any) -> Any:
        with self.mode:
            return pytree.tree_map_only(Tensor, FunctionalTensor.to_functional, args)

    def unwrap_tensors(self, args: Any) -> Any:
        return pytree.tree_map_only(FunctionalTensor, FunctionalTensor.from_functional, args)

    def functionalize(self, inner_f: Callable[..., Any]) -> Callable[..., Any]:
        return dispatch_functionalize(inner_f, self.mode)

    def redispatch_to_next(self) -> AbstractContextManager[Any]:
        """Nothing to do: the mode is off the stack while it handles a call."""
        return contextlib.nullcontext()

    @staticmethod
    def _checked(tensor: Tensor, name: str) -> FunctionalTensor:
        if not isinstance(tensor, FunctionalTensor):
            raise AssertionError(f"{name} must be a FunctionalTensor, got {type(tensor)}")
        return tensor

    def replace(self, input_tensor: Tensor, output_tensor: Tensor) -> None:
        target = self._checked(input_tensor, "input_tensor")
        if isinstance(output_tensor, FunctionalTensor):
            raise AssertionError("output_tensor must not be a FunctionalTensor")
        target.replace_(output_tensor)

    def commit_update(self, tensor: Tensor) -> None:
        self._checked(tensor, "tensor").commit_update()

    def sync(self, tensor: Tensor) -> None:
        self._checked(tensor, "tensor").sync()

    def mark_mutation_hidden_from_autograd(self, tensor: Tensor) -> None:
        self._checked(tensor, "tensor").mark_mutation_hidden_from_autograd()


class CppFunctionalizeAPI(BaseFunctionalizeAPI):
    """Of functional wrappers without a mode."""

    def wrap_tensors(self, args: Any) -> Any:
        return wrap_all(args, 0)

    def unwrap_tensors(self, args: Any) -> Any:
        return unwrap_all(args)

    def functionalize(self, inner_f: Callable[..., Any]) -> Callable[..., Any]:
        return functionalize(inner_f)

    def redispatch_to_next(self) -> AbstractContextManager[Any]:
        return _C._ExcludeDispatchKeyGuard(DispatchKeySet(DispatchKey.Functionalize))


class FunctorchFunctionalizeAPI(BaseFunctionalizeAPI):
    """Of a function transform's interpreter: an object with `level`, `lower` and
    `functionalize_add_back_views`."""

    def __init__(self, interpreter: Any) -> None:
        self.interpreter = interpreter

    def wrap_tensors(self, args: Any) -> Any:
        return wrap_all(args, self.interpreter.level())

    def unwrap_tensors(self, args: Any) -> Any:
        return unwrap_all(args)

    def functionalize(self, inner_f: Callable[..., Any]) -> Callable[..., Any]:
        views = self.interpreter.functionalize_add_back_views()
        return functionalize(inner_f, remove="mutations_and_views" if views else "mutations")

    def redispatch_to_next(self) -> AbstractContextManager[Any]:
        return self.interpreter.lower()
