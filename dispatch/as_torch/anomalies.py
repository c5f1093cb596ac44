"""Anomaly detection and errors of devices, as far as programs name them.

There are no gradients to look at and no device that runs out of memory: the settings are kept and
told, and nothing raises the errors, which programs catch.
"""

from typing import Any

__all__ = [
    "AcceleratorError",
    "OutOfMemoryError",
    "detect_anomaly",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "set_anomaly_enabled",
    "set_detect_anomaly",
]


class OutOfMemoryError(RuntimeError):
    """A device has no memory left."""


class AcceleratorError(RuntimeError):
    """A device reported an error."""


_enabled = False
_check_nan = True


def is_anomaly_enabled() -> bool:
    """Whether a program asked for it."""
    return _enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether gradients would be looked at for NaN."""
    return _check_nan


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Keep both settings. TypeError for what is no bool."""
    global _enabled, _check_nan
    for value in (mode, check_nan):
        if not isinstance(value, bool):
            raise TypeError(f"set_anomaly_enabled: expected a bool, got {type(value).__name__}")
    _enabled, _check_nan = mode, check_nan


class set_detect_anomaly:
    """Set it now; as a context, put back at the end what was before."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = is_anomaly_enabled()
        self.prev_check_nan = is_anomaly_check_nan_enabled()
        set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        set_anomaly_enabled(self.prev, self.prev_check_nan)


class detect_anomaly(set_detect_anomaly):
    """Set it within the block."""

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__(is_anomaly_enabled(), is_anomaly_check_nan_enabled())
        self.check_nan = check_nan

    def __enter__(self) -> None:
        set_anomaly_enabled(True, self.check_nan)
