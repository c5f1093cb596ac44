"""channel_shuffle written with views, for every backend."""

from __future__ import annotations

from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules

__all__ = ["native_channel_shuffle"]

_aten = ops.aten


def native_channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """Channels, read group by group, written one of each group after the other."""
    if self.ndim <= 2 or groups <= 0 or self.size(1) % groups:
        raise refused(
            f"expected more than 2 dimensions and channels that {groups} groups divide, got "
            f"{list(self.shape)}"
        )
    if rules.is_eager(self):
        return _aten.channel_shuffle(self, groups)
    sizes = list(self.shape)
    split = _aten.reshape(self, [sizes[0], groups, sizes[1] // groups, -1])
    return _aten.reshape(_aten.permute(split, [0, 2, 1, 3]), sizes)
