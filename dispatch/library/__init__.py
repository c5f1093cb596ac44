"""Operators defined and kernels registered at run time, under the names of torch.library.

`library` is the class that everything goes through; `functions` take operators by name;
`custom_ops` makes functions operators (schemas from `signatures`, formulas in `autograd`, compiled
kernels in `kernels`); `checks` is `opcheck`. Only the class loads with the package: the table below
says where the other names are.
"""

import importlib
from typing import TYPE_CHECKING, Any

from dispatch._C.registration import fallthrough_kernel
from dispatch.library.library import (
    Library,
    _defs,
    _impls,
    _reserved_namespaces,
    _scoped_library,
)
from dispatch.registry.effects import EffectType

if TYPE_CHECKING:
    from dispatch.library.checks import opcheck
    from dispatch.library.custom_ops import CustomOpDef, custom_op
    from dispatch.library.functions import (
        _register_effectful_op,
        define,
        get_ctx,
        get_kernel,
        impl,
        impl_abstract,
        register_autocast,
        register_autograd,
        register_fake,
        register_kernel,
        register_torch_dispatch,
        register_vmap,
    )
    from dispatch.library.signatures import infer_schema
    from dispatch.library.triton import triton_op, wrap_triton

__all__ = [
    "CustomOpDef",
    "EffectType",
    "Library",
    "_defs",
    "_impls",
    "_register_effectful_op",
    "_reserved_namespaces",
    "_scoped_library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "get_kernel",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]

_MODULES = {
    "checks": ("OpCheckError", "_OPCHECK_DEFAULT_UTILS", "opcheck"),
    "custom_ops": ("CustomOpDef", "_cast", "_maybe_get_opdef", "custom_op", "device_types_t"),
    "functions": (
        "NAMELESS_SCHEMA",
        "_device_type_to_key",
        "_keep_alive",
        "_library_for_registration",
        "_register_effectful_op",
        "_resolve_op_for_registration",
        "define",
        "get_ctx",
        "get_kernel",
        "impl",
        "impl_abstract",
        "register_autocast",
        "register_autograd",
        "register_fake",
        "register_kernel",
        "register_torch_dispatch",
        "register_vmap",
    ),
    "operators": ("lookup_op",),
    "signatures": ("infer_schema",),
    "triton": ("capture_triton", "triton_op", "wrap_triton"),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """What is loaded when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("dispatch.library." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
