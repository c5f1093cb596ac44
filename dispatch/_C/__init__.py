"""The compiled core, under the names of `torch._C`.

Each concept is a module of its own; this file only gathers what programs look for in one place.
"""

from types import ModuleType

from dispatch._C import (
    default_device,
    dispatcher,
    dtypes,
    fallbacks,
    function,
    grad_mode,
    guards,
    keys,
    operator,
    overload,
    python_kernel,
    registration,
    tensor,
    tls,
    values,
)

_PUBLIC = frozenset(
    (
        "DisableTorchFunction",
        "DisableTorchFunctionSubclass",
        "DispatchKey",
        "DispatchKeySet",
        "OpOverload",
        "OpOverloadPacket",
        "OperatorBase",
        "Size",
        "Storage",
        "Tensor",
        "device",
        "dtype",
        "layout",
        "memory_format",
    )
)


def _gather(room: ModuleType) -> dict[str, object]:
    """What a compiled room offers: its underscored functions and guards, and the public classes."""
    return {
        name: value
        for name, value in vars(room).items()
        if name in _PUBLIC or (name[0] == "_" and not name.startswith("__"))
    }


_ROOMS = (
    default_device,
    dtypes,
    keys,
    tls,
    guards,
    grad_mode,
    tensor,
    values,
    operator,
    python_kernel,
    dispatcher,
    overload,
    function,
    fallbacks,
    registration,
)
for _room in _ROOMS:
    globals().update(_gather(_room))


def __getattr__(name: str) -> object:
    """The schema language's part of the names, imported on first use."""
    if name in ("FunctionSchema", "Argument", "AliasInfo", "parse_schema"):
        from dispatch.codegen import schema

        return getattr(schema, name)
    raise AttributeError(f"module 'dispatch._C' has no attribute {name!r}")
