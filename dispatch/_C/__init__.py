"""The compiled core, under the names of `torch._C`.

Each concept is a module of its own; this file only gathers what programs look for in one place.
"""

from collections.abc import Callable, Iterable
from types import ModuleType

from dispatch._C import (
    arrays,
    conversion,
    default_device,
    derived,  # noqa: F401  (registers the loaders of its kinds of kernels)
    dispatcher,
    dtypes,
    enums,
    fallbacks,
    function,
    grad_mode,
    guards,
    inspection,
    keys,
    operator,
    overload,
    python_kernel,
    registration,
    size,
    slots,
    storage,
    structured,  # noqa: F401  (registers the loaders of its kinds of kernels)
    tensor,
    tls,
    torch_function,
    values,
    versions,
    wrapper,  # noqa: F401  (its methods are entered into Tensor)
)
from dispatch._C.errors import LinAlgError as _LinAlgError  # noqa: F401

_PUBLIC = frozenset(
    (
        "DisableTorchFunction",
        "DisableTorchFunctionSubclass",
        "DispatchKey",
        "DispatchKeySet",
        "ExcludeDispatchKeyGuard",
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
    arrays,
    enums,
    default_device,
    dtypes,
    keys,
    tls,
    torch_function,
    guards,
    grad_mode,
    size,
    slots,
    storage,
    tensor,
    versions,
    conversion,
    values,
    operator,
    python_kernel,
    dispatcher,
    overload,
    function,
    fallbacks,
    inspection,
    registration,
)
for _room in _ROOMS:
    globals().update(_gather(_room))


_SCHEMA_NAMES = frozenset(("FunctionSchema", "Argument", "AliasInfo", "_AliasInfo"))
_PARSER_NAMES = frozenset(
    (
        "_is_opaque_type_registered",
        "_register_opaque_type",
        "_unregister_opaque_type",
        "parse_schema",
    )
)
_COMPOSED_TYPES = (
    "AwaitType",
    "ClassType",
    "DictType",
    "FutureType",
    "ListType",
    "OptionalType",
    "RRefType",
    "TupleType",
    "Type",
    "UnionType",
)


# Names that rooms above the core have here, with what finds them.
_offered: dict[str, Callable[[str], object]] = {}


def _offer(names: Iterable[str], find: Callable[[str], object]) -> None:
    """Let an upper room's names be found here, when they are first asked for."""
    _offered.update(dict.fromkeys(names, find))


def __getattr__(name: str) -> object:
    """Upper rooms' names, and those around schemas, imported on first use."""
    if name in _offered:
        found = globals()[name] = _offered[name](name)
        return found
    if name in _SCHEMA_NAMES or name in _PARSER_NAMES:
        from dispatch._C.operator import _schema_language

        parser = _schema_language()  # it also says how schemas pickle
        return getattr(parser, name.removeprefix("_"))
    if name.endswith("Type"):
        from dispatch.codegen import types

        found = getattr(types, name, None) if name in _COMPOSED_TYPES else types.CLASSES.get(name)
        if found is not None:
            return found
    if name in ("_SchemaInfo", "_SchemaArgument"):
        from dispatch._C import schema_info

        return getattr(schema_info, name)
    if name.startswith("_jit_") or name == "_get_operation_overload":
        from dispatch._C import jit

        if name in jit.__all__:
            return getattr(jit, name)
    raise AttributeError(f"module 'dispatch._C' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_offered})
