"""Stock modes: counting operations, logging calls, following memory, checking schemas; and tables.

They call operators, so they stand above them; `dispatch.modes`, where programs look for them, has
their names by the hook at the end. Nothing loads with the package but this table.
"""

import importlib
from typing import TYPE_CHECKING, Any

from dispatch.modes import _offer

if TYPE_CHECKING:
    from dispatch.tools.flops import FlopCounterMode, flop_registry, register_flop_formula
    from dispatch.tools.logging import (
        LoggingTensor,
        LoggingTensorHandler,
        LoggingTensorMode,
        LoggingTensorReentrant,
        capture_logs,
        capture_logs_with_logging_tensor_mode,
        log_input,
    )
    from dispatch.tools.memory import MemoryRecord, MemorySnapshot, MemoryTrackerMode
    from dispatch.tools.schema_check import Aliasing, Mutation, SchemaCheckMode
    from dispatch.tools.tables import PythonDispatcher

__all__ = [
    "Aliasing",
    "FlopCounterMode",
    "LoggingTensor",
    "LoggingTensorHandler",
    "LoggingTensorMode",
    "LoggingTensorReentrant",
    "MemoryRecord",
    "MemorySnapshot",
    "MemoryTrackerMode",
    "Mutation",
    "PythonDispatcher",
    "SchemaCheckMode",
    "capture_logs",
    "capture_logs_with_logging_tensor_mode",
    "flop_registry",
    "log_input",
    "register_flop_formula",
]

_MODULES = {
    "flops": ("FlopCounterMode", "flop_registry", "register_flop_formula"),
    "logging": (
        "LoggingTensor",
        "LoggingTensorHandler",
        "LoggingTensorMode",
        "LoggingTensorReentrant",
        "capture_logs",
        "capture_logs_with_logging_tensor_mode",
        "log_input",
    ),
    "memory": ("MemoryRecord", "MemorySnapshot", "MemoryTrackerMode"),
    "schema_check": ("Aliasing", "Mutation", "SchemaCheckMode"),
    "tables": ("PythonDispatcher",),
}
_LATER = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """The stock modes, imported when they are first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module("dispatch.tools." + _LATER[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


_offer(_LATER, __getattr__)
