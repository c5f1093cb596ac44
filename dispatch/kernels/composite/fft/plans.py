"""The cache of cuFFT's plans: there is none, as in a PyTorch without CUDA."""

from __future__ import annotations

from dispatch._C.errors import refused

__all__ = ["clear_plan_cache", "get_plan_cache_size", "set_plan_cache_max_size"]


def _missing() -> RuntimeError:
    error: RuntimeError = refused("there is no cuFFT, and no cache of its plans")
    return error


def get_plan_cache_size(device_index: int) -> int:
    raise _missing()


def set_plan_cache_max_size(device_index: int, max_size: int) -> None:
    raise _missing()


def clear_plan_cache(device_index: int) -> None:
    raise _missing()
