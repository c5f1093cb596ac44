"""Warnings, told at the line of the program that called the operator, layer or loss.

Called where the rare case is found. Functions of this package stand between that line and the
warning, in any number: they are passed over.
"""

import sys
import warnings

__all__ = ["advise", "advise_once", "is_warn_always_enabled", "set_warn_always"]

_told: set[str] = set()
_always = False


def advise(text: str, category: type[Warning] = UserWarning) -> None:
    """A warning at the nearest frame that is not of this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("dispatch."):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def set_warn_always(b: bool, /) -> None:
    """Whether what is told once in a process is told each time (torch.set_warn_always)."""
    global _always
    if not isinstance(b, bool):
        raise RuntimeError(f"set_warn_always expects a bool, but got {type(b).__name__}")
    _always = b


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told."""
    return _always


def advise_once(name: str, text: str) -> None:
    """The same, for each name the first time in a process only (TORCH_WARN_ONCE)."""
    if _always or name not in _told:
        _told.add(name)
        advise(f"{name}: {text}")
