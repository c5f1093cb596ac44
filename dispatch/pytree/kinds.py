"""Which classes are named tuples, and which struct sequences.

`nodes` and `spec` ask: every named tuple is a node of one kind, a struct sequence is one only if it
is registered. Nothing is registered here.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Final, NoReturn, Self, TypeVar

__all__ = [
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "structseq",
]

_T_co = TypeVar("_T_co", covariant=True)
_MAY_BE_A_BASE = 1 << 10  # Py_TPFLAGS_BASETYPE


def _class_of(obj: object) -> type:
    return obj if isinstance(obj, type) else type(obj)


def is_namedtuple_class(cls: type) -> bool:
    """Whether `cls` is made by `namedtuple` or `NamedTuple`, or derives from such a class."""
    if not (isinstance(cls, type) and issubclass(cls, tuple)):
        return False
    fields = getattr(cls, "_fields", None)
    return (
        isinstance(fields, tuple)
        and all(type(field) is str for field in fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple_instance(obj: object) -> bool:
    """Whether `obj` is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object) -> bool:
    """Whether `obj` is a named tuple, or a class of them."""
    return is_namedtuple_class(_class_of(obj))


class structseq(tuple[_T_co, ...]):
    """What struct sequences (`time.struct_time`, `return_types.max`) have in common; for
    annotations."""

    __slots__: ClassVar[tuple[()]] = ()
    n_fields: Final[int]  # type: ignore[misc]
    n_sequence_fields: Final[int]  # type: ignore[misc]
    n_unnamed_fields: Final[int]  # type: ignore[misc]

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("type 'structseq' is not an acceptable base type")

    def __new__(cls, sequence: Iterable[_T_co], dict: dict[str, Any] = ...) -> Self:
        raise NotImplementedError("structseq: only C code makes struct sequences")


def is_structseq_class(cls: type) -> bool:
    """Whether `cls` is a class of struct sequences."""
    counts = ("n_fields", "n_sequence_fields", "n_unnamed_fields")
    return (
        isinstance(cls, type)
        and cls.__bases__ == (tuple,)
        and all(isinstance(getattr(cls, name, None), int) for name in counts)
        and not cls.__flags__ & _MAY_BE_A_BASE
    )


def is_structseq_instance(obj: object) -> bool:
    """Whether `obj` is a struct sequence."""
    return is_structseq_class(type(obj))


def is_structseq(obj: object) -> bool:
    """Whether `obj` is a struct sequence, or a class of them."""
    return is_structseq_class(_class_of(obj))
