"""Functions that are imported at their first call: `import dispatch` has no time for them.

Called by the modules that enter methods and by those that make tensors out of arrays, whose kernels
nobody needs before the first one. What comes back stands for the function under its name.
"""

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["later"]


def later(function: str) -> Callable[..., Any]:
    """`module.name` of this package, imported at the first call."""
    module, _, name = function.rpartition(".")
    found: Callable[..., Any] | None = None

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal found
        if found is None:
            found = getattr(importlib.import_module(f"dispatch.{module}"), name)
        return found(*args, **kwargs)

    call.__name__ = name
    return call
