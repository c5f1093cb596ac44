"""Functionalization: programs with views and in-place operators run as programs without.

`functionalize` (`transform`) wraps a function; `FunctionalTensorMode` and `FunctionalTensor` do the
same for programs that work with modes (torch._subclasses.functional_tensor, torch.func). The work
itself is compiled: `wrappers` keeps state, `kernel` serves the Functionalize key, `inverses` write
through views. Nothing of it loads with the package: the table below says where names are, and
rooms below come here by the hooks that are registered at the end.
"""

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dispatch import _C
from dispatch._C.fallbacks import _set_functionalize_loader
from dispatch._C.overload import OperatorBase, _set_overload_hooks

if TYPE_CHECKING:
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

# What PyTorch has in torch._C and, but for the last few, in torch.
_OF_WRAPPER = (
    "_disable_functionalization",
    "_enable_functionalization",
    "_freeze_functional_tensor",
    "_from_functional_tensor",
    "_functionalize_are_all_mutations_hidden_from_autograd",
    "_functionalize_are_all_mutations_under_no_grad_or_inference_mode",
    "_functionalize_commit_update",
    "_functionalize_enable_reapply_views",
    "_functionalize_get_storage_size",
    "_functionalize_has_data_mutation",
    "_functionalize_has_metadata_mutation",
    "_functionalize_inductor_storage_resized_counter",
    "_functionalize_is_multi_output_view",
    "_functionalize_is_symbolic",
    "_functionalize_mark_mutation_hidden_from_autograd",
    "_functionalize_mark_storage_changed",
    "_functionalize_mutation_counter",
    "_functionalize_replace",
    "_functionalize_storage_changed_counter",
    "_functionalize_sync",
    "_functionalize_unsafe_set",
    "_functionalize_was_inductor_storage_resized",
    "_functionalize_was_storage_changed",
    "_is_functional_tensor",
    "_is_functional_tensor_base",
    "_mirror_autograd_meta_to",
    "_propagate_xla_data",
    "_sync",
    "_to_functional_tensor",
)
_OF_C_ALONE = (
    "_commit_update",
    "_functionalization_reapply_views_tls",
    "_propagate_functional_input_mutation",
    "_replace_",
    "_unsafe_reset_storage",
    "_wrap_functional_tensor",
)
_MODULES = {
    "api": (
        "BaseFunctionalizeAPI",
        "CppFunctionalizeAPI",
        "FunctorchFunctionalizeAPI",
        "PythonFunctionalizeAPI",
    ),
    "mode": ("FunctionalTensorMode", "disable_functional_mode", "dispatch_functionalize"),
    "tensor": ("FunctionalTensor", "mb_unwrap_functional_tensor"),
    "transform": ("functionalize",),
    "wrappers": (*_OF_WRAPPER, *_OF_C_ALONE),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """What is loaded when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("dispatch.functional." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


def _load_kernel() -> None:
    importlib.import_module("dispatch.functional.kernel")


def _functionalize_rules(op: OperatorBase, fn: Callable[..., Any]) -> Callable[..., Any]:
    from dispatch.functional.rules import functionalize_rules

    return functionalize_rules(op, fn)


_C._offer(_MODULES["wrappers"], __getattr__)
_set_functionalize_loader(_load_kernel)
_set_overload_hooks(py_functionalize=_functionalize_rules)
