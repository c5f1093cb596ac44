"""PyTorch's settings of deterministic algorithms: kept and read back.

The same call gives the same result here whatever they say, so no operator asks them; memory that
`empty` gives is not filled, which `fill_uninitialized_memory` asks for in PyTorch.
"""

from typing import Any

__all__ = [
    "are_deterministic_algorithms_enabled", "fill_uninitialized_memory",
    "get_deterministic_debug_mode", "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode", "use_deterministic_algorithms",
]  # fmt: skip

fill_uninitialized_memory = True
_MODES = ("default", "warn", "error")
_mode = 0  # the place in _MODES
_warn_only = False  # as it was told, where nothing is to be deterministic too


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Keep whether operators that are not deterministic raise, or with `warn_only` warn."""
    global _mode, _warn_only
    for name, value in (("'mode' (position 1)", mode), ("'warn_only'", warn_only)):
        if not isinstance(value, bool):
            raise TypeError(
                f"_set_deterministic_algorithms(): argument {name} must be bool, not "
                f"{type(value).__name__}"
            )
    _mode, _warn_only = (1 if warn_only else 2) if mode else 0, warn_only


def are_deterministic_algorithms_enabled() -> bool:
    """What `use_deterministic_algorithms` was told."""
    return _mode > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was told to warn instead of raising."""
    return _warn_only


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """The same setting as 0 ("default"), 1 ("warn") or 2 ("error")."""
    global _mode, _warn_only
    if not isinstance(debug_mode, int | str):
        kind = type(debug_mode).__name__
        raise TypeError(f"set_deterministic_debug_mode: expected str or int, got {kind}")
    known: tuple[int | str, ...] = _MODES if isinstance(debug_mode, str) else (0, 1, 2)
    if debug_mode not in known:
        raise RuntimeError(
            f"set_deterministic_debug_mode: expected one of {known}, got {debug_mode!r}"
        )
    _mode = known.index(debug_mode)
    _warn_only = _mode == 1


def get_deterministic_debug_mode() -> int:
    """The setting as a number: 0, 1 or 2."""
    return _mode
