"""`torch.fx.tensor_type`: sizes as an annotation, some of them unknown (`Dyn`)."""

from collections.abc import Sequence
from typing import Any

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


class TensorType:
    """A tensor of these sizes: `TensorType((2, Dyn))`, `TensorType[2, Dyn]`."""

    def __init__(self, dim: Sequence[Any]) -> None:
        self.__origin__, self.__args__ = TensorType, dim

    @property
    def dims(self) -> Sequence[Any]:
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.dims}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorType) and list(self.dims) == list(other.dims)

    __hash__ = None  # type: ignore[assignment]

    @staticmethod
    def __class_getitem__(*args: Any) -> "TensorType":
        alone = len(args) == 1 and isinstance(args[0], tuple)
        return TensorType(tuple(args[0] if alone else args))


class _DynType:
    """What is not known."""

    __name__ = "_DynType"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _DynType)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Dyn"


Dyn = _DynType()


def _all(relation: Any, t1: Any, t2: Any) -> bool:
    if not isinstance(t1, TensorType) or not isinstance(t2, TensorType):
        return False
    same = len(t1.dims) == len(t2.dims)
    return same and all(relation(a, b) for a, b in zip(t1.dims, t2.dims, strict=True))


def is_consistent(t1: Any, t2: Any) -> bool:
    """Whether both may be the type of one thing."""
    return t1 in (t2, Dyn) or t2 == Dyn or _all(is_consistent, t1, t2)


def is_more_precise(t1: Any, t2: Any) -> bool:
    """Whether what `t2` says `t1` says too."""
    return t1 == t2 or t2 == Dyn or _all(is_more_precise, t1, t2)
