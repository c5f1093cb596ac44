"""Functionalization: programs with views and in-place operators run as programs without.

`functionalize` wraps a function; `FunctionalTensorMode` and `FunctionalTensor` do the same for
programs that work with modes (torch._subclasses.functional_tensor, torch.func.functionalize). The
work itself is the Functionalize key's, in `_C/functional`.
"""

from dispatch.functional.api import (
    BaseFunctionalizeAPI,
    CppFunctionalizeAPI,
    FunctorchFunctionalizeAPI,
    PythonFunctionalizeAPI,
)
from dispatch.functional.mode import (
    FunctionalTensorMode,
    disable_functional_mode,
    dispatch_functionalize,
)
from dispatch.functional.tensor import FunctionalTensor, mb_unwrap_functional_tensor
from dispatch.functional.transform import functionalize

__all__ = [
    "BaseFunctionalizeAPI",
    "CppFunctionalizeAPI",
    "FunctionalTensor",
    "FunctionalTensorMode",
    "FunctorchFunctionalizeAPI",
    "PythonFunctionalizeAPI",
    "disable_functional_mode",
    "dispatch_functionalize",
    "functionalize",
    "mb_unwrap_functional_tensor",
]
