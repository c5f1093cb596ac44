"""What stands for fused attention on a backend that has no kernel of its own for it: a refusal."""

from __future__ import annotations

from typing import Any

from dispatch._C.errors import refused

__all__ = ["backward_overrideable", "overrideable"]


def overrideable(*args: Any, **options: Any) -> Any:
    raise refused("a backend registers a kernel of its own for this one", NotImplementedError)


def backward_overrideable(*args: Any, **options: Any) -> Any:
    raise refused("a backend registers a kernel of its own for this one", NotImplementedError)
