"""Modes that see every call of a block: the mechanism.

Under the names of `torch.utils._python_dispatch` (modes below the dispatcher: `stack`; classes that
wrap tensors: `subclasses`, `aliasing`) and of `torch.overrides` (modes above it: `function`). The
stock modes are in the room `tools`, and are found here too.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tls import (
    _get_dispatch_stack_at,
    _len_torch_dispatch_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)
from dispatch._C.torch_function import (
    _get_function_stack_at,
    _has_torch_function,
    _has_torch_function_unary,
    _has_torch_function_variadic,
    _len_torch_function_stack,
    _pop_torch_function_stack,
    _push_on_torch_function_stack,
)
from dispatch.modes.function import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _enable_torch_function,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    _get_overloaded_args,
    _get_overridable_functions,
    _get_tensor_methods,
    enable_reentrant_dispatch,
    get_default_nowrap_functions,
    get_ignored_functions,
    get_overridable_functions,
    get_testing_overrides,
    handle_torch_function,
    has_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
    is_tensor_like,
    is_tensor_method_or_property,
    redispatch_function,
    resolve_name,
    wrap_torch_function,
)
from dispatch.modes.stack import (
    BaseTorchDispatchMode,
    _detect_infra_mode,
    _disable_current_modes,
    _disable_infra_mode,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode,
    _pop_mode_temporarily,
    _push_mode,
    _unset_infra_mode,
    all_same_mode,
    any_torch_dispatch_mode_on_stack,
    autograd_would_have_decomposed,
    is_in_any_mode_without_ignore_compile_internals,
    is_in_torch_dispatch_mode,
    no_dispatch,
)
from dispatch.modes.subclasses import (
    TraceableWrapperSubclass,
    is_traceable_wrapper_subclass,
    is_traceable_wrapper_subclass_type,
    transform_subclass,
)

if TYPE_CHECKING:
    from dispatch.modes.aliasing import (
        AliasInfo,
        SchemaInfo,
        _correct_storage_aliasing,
        get_alias_info,
        return_and_correct_aliasing,
    )

TensorWithFlatten = TraceableWrapperSubclass

__all__ = [
    "AliasInfo",
    "BaseTorchDispatchMode",
    "BaseTorchFunctionMode",
    "SchemaInfo",
    "TensorWithFlatten",
    "TorchDispatchMode",
    "TorchFunctionMode",
    "TraceableWrapperSubclass",
    "_correct_storage_aliasing",
    "_detect_infra_mode",
    "_disable_current_modes",
    "_disable_infra_mode",
    "_enable_torch_function",
    "_get_current_dispatch_mode",
    "_get_current_dispatch_mode_stack",
    "_get_current_function_mode",
    "_get_current_function_mode_stack",
    "_get_dispatch_stack_at",
    "_get_function_stack_at",
    "_get_overloaded_args",
    "_get_overridable_functions",
    "_get_tensor_methods",
    "_has_torch_function",
    "_has_torch_function_unary",
    "_has_torch_function_variadic",
    "_len_torch_dispatch_stack",
    "_len_torch_function_stack",
    "_pop_mode",
    "_pop_mode_temporarily",
    "_pop_torch_dispatch_stack",
    "_pop_torch_function_stack",
    "_push_mode",
    "_push_on_torch_dispatch_stack",
    "_push_on_torch_function_stack",
    "_unset_infra_mode",
    "all_same_mode",
    "any_torch_dispatch_mode_on_stack",
    "autograd_would_have_decomposed",
    "enable_reentrant_dispatch",
    "get_alias_info",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_in_any_mode_without_ignore_compile_internals",
    "is_in_torch_dispatch_mode",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "is_traceable_wrapper_subclass",
    "is_traceable_wrapper_subclass_type",
    "no_dispatch",
    "redispatch_function",
    "resolve_name",
    "return_and_correct_aliasing",
    "transform_subclass",
    "wrap_torch_function",
]

# Names that are found when they are first asked for, with what finds them.
_offered: dict[str, Callable[[str], Any]] = {}


def _offer(names: Iterable[str], find: Callable[[str], Any]) -> None:
    """Let an upper room's modes be found here (`dispatch.tools`, whose modes call operators)."""
    _offered.update(dict.fromkeys(names, find))
    __all__.extend(name for name in names if name not in __all__)


def _of_aliasing(name: str) -> Any:
    return getattr(importlib.import_module("dispatch.modes.aliasing"), name)


_offer(
    (
        "AliasInfo",
        "SchemaInfo",
        "_correct_storage_aliasing",
        "get_alias_info",
        "return_and_correct_aliasing",
    ),
    _of_aliasing,
)


def __getattr__(name: str) -> Any:
    """What is imported when it is first asked for: stock modes, aliasing."""
    if name not in _offered:
        raise AttributeError(f"module 'dispatch.modes' has no attribute {name!r}")
    found = globals()[name] = _offered[name](name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_offered})
