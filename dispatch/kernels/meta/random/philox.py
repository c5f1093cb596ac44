"""Counter-based random numbers (Philox) on Meta: the checks of keys, and the geometry of outputs.

A key is two words of 64 bits in the last dimension: one key for all, or one for each element of
some leading dimensions. No kernel here draws from them; PyTorch has one for CUDA alone.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import uint64
from dispatch._C.errors import refused
from dispatch._ops import ops

__all__ = ["philox_fill_", "philox_key_fold_in", "philox_key_split"]

_aten = ops.aten


def _check_key(key: Any) -> None:
    if not key.ndim or key.shape[-1] != 2:
        raise refused(f"expected key to have shape (*batch, 2), got {list(key.shape)}")
    if key.dtype is not uint64:
        raise refused(f"expected key to be uint64, got {key.dtype}")


def philox_key_split(key: Any, num_splits: int) -> Any:
    """`num_splits` keys out of each one."""
    _check_key(key)
    if num_splits <= 0:
        raise refused(f"expected num_splits to be positive, got {num_splits}")
    return _aten.new_empty.default(key, [num_splits, *key.shape])


def philox_key_fold_in(key: Any, data: int) -> Any:
    """Keys like the given ones."""
    _check_key(key)
    return _aten.empty_like.default(key)


def philox_fill_(self: Any, key: Any, low: float, high: float) -> Any:
    """self, which is floating; batched keys broadcast over its leading dimensions."""
    if not self.dtype.is_floating_point:
        raise refused(f"expected a floating-point self, got {self.dtype}")
    if key.dtype is not uint64:
        raise refused(f"expected key to be uint64, got {key.dtype}")
    devices = {self.device, key.device}
    if len(devices) > 1 and all(device.type != "meta" for device in devices):
        raise refused(f"expected key on {self.device}, got one on {key.device}")
    _check_key(key)
    if key.ndim == 1:
        return self
    if key.ndim != self.ndim + 1:
        raise refused(f"expected key to have {self.ndim + 1} dimensions, got {key.ndim}")
    if any(k not in (1, n) for k, n in zip(key.shape[:-1], self.shape, strict=True)):
        raise refused(
            f"expected key's batch {list(key.shape[:-1])} to broadcast to {list(self.shape)}"
        )
    return self
