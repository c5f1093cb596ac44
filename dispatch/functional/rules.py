"""One rule for all three ways to functionalize an operator (OperatorBase.py_functionalize_impl)."""

from collections.abc import Callable
from typing import Any

from dispatch import pytree
from dispatch._C._functorch import TransformType
from dispatch._C.keys import DispatchKey
from dispatch._C.overload import OperatorBase
from dispatch._C.tensor import Tensor
from dispatch.fake import FakeTensor
from dispatch.functional.api import (
    CppFunctionalizeAPI,
    FunctorchFunctionalizeAPI,
    PythonFunctionalizeAPI,
)
from dispatch.functional.mode import FunctionalTensorMode
from dispatch.functional.tensor import FunctionalTensor

__all__ = ["functionalize_rules"]


def functionalize_rules(op: OperatorBase, fn: Callable[..., Any]) -> Callable[..., Any]:
    """Register `fn` at the key Functionalize, for FunctionalTensorMode and for the transform."""
    def at_key(*args: Any, **kwargs: Any) -> Any:
        return fn(CppFunctionalizeAPI(), *args, **kwargs)

    def under_mode(mode: Any, *args: Any, **kwargs: Any) -> Any:
        if _has_user_subclass(args, kwargs):
            return NotImplemented
        return fn(PythonFunctionalizeAPI(mode), *args, **kwargs)

    def under_transform(interpreter: Any, *args: Any, **kwargs: Any) -> Any:
        return fn(FunctorchFunctionalizeAPI(interpreter), *args, **kwargs)

    op.py_impl(DispatchKey.Functionalize)(at_key)
    op.py_impl(FunctionalTensorMode)(under_mode)
    op.py_impl(TransformType.Functionalize)(under_transform)
    return fn


def _has_user_subclass(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether some argument is of a tensor class that is neither ours nor fake nor functional."""
    return any(
        isinstance(leaf, Tensor)
        and type(leaf) is not Tensor
        and not isinstance(leaf, (FakeTensor, FunctionalTensor))
        for leaf in pytree.tree_leaves((args, kwargs))
    )
