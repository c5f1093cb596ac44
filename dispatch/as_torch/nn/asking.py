"""Functions that ask the handlers of some of their arguments, and what several of them share.

`asks` of `dispatch.tensor.functions` asks what stands where there is no default; here optional
tensors (`weight`, `bias`) may be asked too.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from dispatch._C.torch_function import (
    _ask_torch_function,
    _asks_nobody,
    _has_torch_function,
)
from dispatch.as_torch.nn.reductions import get_enum, legacy_get_enum
from dispatch.tensor.functions import asks

__all__ = ["asks", "asks_also", "check_probability", "reduction_of"]

F = TypeVar("F", bound=Callable[..., Any])


def asks_also(*names: str, **instead: Callable[..., Any]) -> Callable[[F], F]:
    """A decorator: `asks`, and the arguments of these names are asked after those.

    `flag=other`: a call with a true `flag` goes to the function `other`, and handlers see that.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        needed = [n for n, p in signature.parameters.items() if p.default is p.empty]
        places = {flag: list(signature.parameters).index(flag) for flag in instead}

        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            if _asks_nobody(args, kwargs):
                for flag, place in places.items():
                    if kwargs.get(flag) or (len(args) > place and args[place]):
                        return instead[flag](*args, **kwargs)
                return function(*args, **kwargs)
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return function(*args, **kwargs)
            found = bound.arguments
            for flag, other in instead.items():
                if found.get(flag):
                    return other(*args, **kwargs)
            asked = tuple(found[name] for name in needed)
            asked += tuple(found[name] for name in names if found.get(name) is not None)
            if not _has_torch_function(asked):
                return function(*args, **kwargs)
            bound.apply_defaults()
            given = tuple(found[name] for name in needed)
            keywords = {n: v for n, v in bound.arguments.items() if n not in needed}
            return _ask_torch_function(asking, asked, given, keywords)

        return asking  # type: ignore[return-value]

    return decorate


def check_probability(what: str, p: float) -> None:
    """ValueError for a probability below 0 or above 1."""
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"{what}: dropout probability has to be between 0 and 1, but got {p}")


def reduction_of(
    what: str, reduction: str, size_average: bool | None = None, reduce: bool | None = None
) -> int:
    """The number that operators know a reduction by; the two old flags win over its name.

    Raises: ValueError for a name that is none.
    """
    if size_average is not None or reduce is not None:
        return legacy_get_enum(size_average, reduce)
    try:
        return get_enum(reduction)
    except ValueError as e:
        raise ValueError(f"{what}: {e}") from None
