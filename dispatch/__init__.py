"""An operator dispatcher with PyTorch's semantics: schemas in, compiled dispatch out.

`dispatch.ops` reaches every operator; tensors, modes, fake tensors and libraries have PyTorch's
names. Nothing heavy is imported here: rooms that need more than numpy (`graph`, `cli`, `pytree`)
load when they are first used, and functions (`dispatch.add`) are made then. `__init__.pyi` lists
what there is.
"""

import importlib
from typing import Any

from dispatch import _C, _tensor, fake, library, modes
from dispatch._C.default_device import get_default_device, set_default_device
from dispatch._C.dtypes import *
from dispatch._C.dtypes import device, dtype, layout, memory_format
from dispatch._C.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.function import _find_function
from dispatch._C.overload import OpOverload, OpOverloadPacket
from dispatch._C.tags import Tag
from dispatch._C.tensor import Size, Tensor, from_numpy
from dispatch._ops import HigherOrderOperator, ops
from dispatch._random import Generator, default_generator, manual_seed
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.library import Library
from dispatch.modes import TorchDispatchMode

__version__ = "0.1.0"

_ROOMS = frozenset({"build", "cli", "codegen", "graph", "pytree"})
_LATER = {
    "FunctionSchema": "codegen.schema",
    "as_tensor": "_tensor_data",
    "asarray": "_tensor_data",
    "from_dlpack": "_C.dlpack",
    "parse_schema": "codegen.schema",
    "tensor": "_tensor_data",
}


def __getattr__(name: str) -> Any:
    """Rooms and operator functions (`dispatch.add`), found when they are first asked for."""
    found: Any
    if name in _ROOMS:
        return importlib.import_module("dispatch." + name)
    if name in _LATER:
        found = getattr(importlib.import_module("dispatch." + _LATER[name]), name)
    else:
        found = _find_function(name, False)
        if found is None:
            raise AttributeError(f"module 'dispatch' has no attribute {name!r}")
    globals()[name] = found
    return found
