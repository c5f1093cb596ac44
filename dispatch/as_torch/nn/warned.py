"""Warnings that name the user's line, however many of this package's functions stand between."""

import sys
import warnings

__all__ = ["warn_caller"]


def warn_caller(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the nearest caller that is not of this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("dispatch."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
