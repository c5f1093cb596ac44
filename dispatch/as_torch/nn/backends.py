"""`torch.nn.attention`: which kernels `scaled_dot_product_attention` may take, in all threads.

On the CPU these are the flash kernel and operators; fake tensors of accelerators know the
memory-efficient one too. What is asked for besides is kept and given back.
"""

import contextlib
import warnings
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any

from dispatch.kernels.composite.attention.scaled_dot_product import allow

__all__ = [
    "WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "cudnn_sdp_enabled", "enable_cudnn_sdp",
    "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp", "flash_sdp_enabled",
    "math_sdp_enabled", "mem_efficient_sdp_enabled", "sdp_kernel", "sdpa_kernel",
]  # fmt: skip

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(IntEnum):
    """Kernels of `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __repr__(self) -> str:
        return f"<SDPBackend.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


_NAMES = {
    "cudnn": "CUDNN_ATTENTION",
    "flash": "FLASH_ATTENTION",
    "mem_efficient": "EFFICIENT_ATTENTION",
    "math": "MATH",
    "overrideable": "OVERRIDEABLE",
}
_wanted: list[SDPBackend] = [SDPBackend[name] for name in _NAMES.values()]


def _backend_from_string(name: str) -> SDPBackend:
    return SDPBackend[name]


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(_wanted)


def _want(backends: list[SDPBackend]) -> None:
    global _wanted
    _wanted = backends
    flash, efficient = SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION
    allow(flash in backends, efficient in backends, SDPBackend.MATH in backends)


def _asking(backend: SDPBackend) -> Callable[[], bool]:
    def enabled() -> bool:
        return backend in _wanted

    return enabled


def _setting(backend: SDPBackend) -> Callable[[bool], None]:
    def enable(enabled: bool) -> None:
        others = {b for b in _wanted if b is not backend}
        kept = others | {backend} if enabled else others
        _want([SDPBackend[name] for name in _NAMES.values() if SDPBackend[name] in kept])

    return enable


# `torch.backends.cuda` has these; they count for the CPU as well.
flash_sdp_enabled = _asking(SDPBackend.FLASH_ATTENTION)
mem_efficient_sdp_enabled = _asking(SDPBackend.EFFICIENT_ATTENTION)
math_sdp_enabled = _asking(SDPBackend.MATH)
cudnn_sdp_enabled = _asking(SDPBackend.CUDNN_ATTENTION)
enable_flash_sdp = _setting(SDPBackend.FLASH_ATTENTION)
enable_mem_efficient_sdp = _setting(SDPBackend.EFFICIENT_ATTENTION)
enable_math_sdp = _setting(SDPBackend.MATH)
enable_cudnn_sdp = _setting(SDPBackend.CUDNN_ATTENTION)


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Within the block these kernels are wanted, one or a list of `SDPBackend`.

    A call that none of them takes is a RuntimeError. Raises: AssertionError for anything else.
    """
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "sdpa_kernel takes an SDPBackend or a list of them, not " + type(backends).__name__
        )
    given = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    before = _wanted
    _want(given if set_priority else [b for b in SDPBackend if b in given])
    try:
        yield {}
    finally:
        _want(before)


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[dict[Any, Any]]:  # fmt: skip
    """The older form of `sdpa_kernel`, with a warning."""
    warnings.warn(
        "torch.backends.cuda.sdp_kernel() is deprecated: use torch.nn.attention.sdpa_kernel()",
        FutureWarning,
        stacklevel=3,
    )
    wishes = {
        SDPBackend.FLASH_ATTENTION: enable_flash, SDPBackend.MATH: enable_math,
        SDPBackend.EFFICIENT_ATTENTION: enable_mem_efficient,
        SDPBackend.CUDNN_ATTENTION: enable_cudnn,
    }  # fmt: skip
    with sdpa_kernel([backend for backend, wanted in wishes.items() if wanted]) as found:
        yield found
