"""Types of the compiled module `function`."""

from collections.abc import Callable
from typing import Any

def _find_function(name: str, is_method: bool) -> Callable[..., Any] | None: ...
