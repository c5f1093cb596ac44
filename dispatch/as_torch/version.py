"""`torch.version`: the release of PyTorch whose behaviour this package has (docs/porting.md)."""

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["TorchVersion", "__version__", "cuda", "debug", "hip", "xpu"]

_FORM = re.compile(
    r"v?(\d+(?:\.\d+)*)[-_.]?(?:(dev|a|alpha|b|beta|c|rc|post)[-_.]?(\d*))?(?:\+([\w.]+))?$", re.I
)
_STAGES = {"dev": -4, "a": -3, "alpha": -3, "b": -2, "beta": -2, "c": -1, "rc": -1, "post": 1}


def _parts(version: Any) -> tuple[Any, ...] | None:
    """What versions compare by: the numbers, how far before or after them, the local part."""
    text = version if isinstance(version, str) else ".".join(map(str, version))
    found = _FORM.match(str(text).strip())
    if found is None:
        return None
    numbers = [int(n) for n in found[1].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    stage = _STAGES.get((found[2] or "").lower(), 0)
    return numbers, stage, int(found[3] or 0), found[4] or ""


class TorchVersion(str):
    """A text that compares as a version: with texts, `(2, 13)`, and what prints as a version."""

    __slots__ = ()

    def _both(self, other: Any) -> tuple[Any, Any]:
        if not isinstance(other, str) and not isinstance(other, Iterable):
            other = str(other)
        mine, theirs = _parts(str(self)), _parts(other)
        return (str(self), other) if mine is None or theirs is None else (mine, theirs)

    def __eq__(self, other: object) -> bool:
        mine, theirs = self._both(other)
        return bool(mine == theirs)

    def __lt__(self, other: Any) -> bool:
        mine, theirs = self._both(other)
        return bool(mine < theirs)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __le__(self, other: Any) -> bool:
        return self < other or self == other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    __hash__ = str.__hash__


__version__ = TorchVersion("2.13.0")
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
debug = False
