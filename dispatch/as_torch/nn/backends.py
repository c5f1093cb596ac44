"""`torch.nn.attention`: which kernels `scaled_dot_product_attention` may take.

There is one here, in plain steps. The wish is kept and given back, so programs that choose run;
results do not depend on it.
"""

import contextlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

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


@contextlib.contextmanager
def sdpa_kernel(backends: Any, set_priority: bool = False) -> Iterator[dict[Any, Any]]:
    """Within the block these kernels are wanted, one or a list of `SDPBackend`.

    Raises: AssertionError for anything else.
    """
    global _wanted
    if not isinstance(backends, list | SDPBackend):
        raise AssertionError(
            "sdpa_kernel takes an SDPBackend or a list of them, not " + type(backends).__name__
        )
    given = [backends] if isinstance(backends, SDPBackend) else list(dict.fromkeys(backends))
    before = _wanted
    _wanted = given if set_priority else [b for b in SDPBackend if b in given]
    try:
        yield {}
    finally:
        _wanted = before
