"""`torch.utils.module_tracker`: which modules are running, by their names."""

import weakref
from typing import Any

from dispatch.as_torch.nn.modules.module import (
    register_module_forward_hook,
    register_module_forward_pre_hook,
)

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """In its block, `parents` holds the dotted names of the modules that are running, and "Global".

    There is no backward pass, so `is_bw` is False.
    """

    is_bw = False

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()

    def _name(self, module: Any) -> str:
        name = self._names.setdefault(module, type(module).__name__)
        for child, submodule in module.named_children():
            if submodule not in self._names:
                self._names[submodule] = f"{name}.{child}"
                self._name(submodule)
        return name

    def __enter__(self) -> "ModuleTracker":
        self._handles = (
            register_module_forward_pre_hook(lambda m, args: self.parents.add(self._name(m))),
            register_module_forward_hook(lambda m, a, out: self.parents.discard(self._name(m))),
        )
        return self

    def __exit__(self, *exc_info: Any) -> None:
        for handle in self._handles:
            handle.remove()
