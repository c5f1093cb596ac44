"""What a registration is: a function with the place it came from, and what takes it back.

Every holder of `registry` hands out a `RegistrationHandle`; a `Library` keeps them and destroys
them with itself.
"""

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["Kernel", "RegistrationHandle", "get_source", "parse_namespace"]


class Kernel:
    """A function and the place where it was registered."""

    __slots__ = ("func", "source")

    def __init__(self, func: Callable[..., Any], source: str) -> None:
        self.func = func
        self.source = source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Kernel(func={self.func!r}, source={self.source!r})"


class RegistrationHandle:
    """Takes one registration back when `destroy` is called."""

    def __init__(self, on_destroy: Callable[[], object]) -> None:
        self._on_destroy = on_destroy

    def destroy(self) -> None:
        """Take the registration back."""
        self._on_destroy()


def get_source(stacklevel: int) -> str:
    """`file:line` of a caller: 1 is who calls this function, 2 who called that one."""
    frame = sys._getframe(stacklevel)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def parse_namespace(qualname: str) -> tuple[str, str]:
    """("aten", "sin") of "aten::sin"; ValueError for any other form."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(f'expected a name of the form "namespace::name", got {qualname!r}')
    return parts[0], parts[1]
