"""The single checks of `torch.testing._internal.optests`; all of them together are `opcheck`."""

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from dispatch._C.overload import OpOverload
from dispatch.library import checks

__all__ = [
    "assert_raises_regex",
    "autograd_registration_check",
    "fake_check",
]


def fake_check(op: Any, args: Any, kwargs: Any) -> None:
    """Raise unless the operators that are not the library's own act on fake tensors as on real."""
    checks._test_faketensor(op, args, kwargs)


def autograd_registration_check(op: Any, args: Any, kwargs: Any) -> None:
    """AssertionError when a result requires grad and no kernel stands at an autograd key."""
    if not isinstance(op, OpOverload):
        raise AssertionError(f"expected an OpOverload, got {type(op)}")
    checks._test_autograd_registration(op, args, kwargs)


@contextlib.contextmanager
def assert_raises_regex(exception_cls: type[BaseException], regex: str) -> Iterator[None]:
    """AssertionError unless the block raises such an error with such a text."""
    wanted = f"{exception_cls.__name__} with a text to match regex {regex!r}"
    try:
        yield
    except exception_cls as e:
        if re.search(regex, str(e)):
            return
        raise AssertionError(f"Expected exception {wanted}, got the text {str(e)!r}") from e
    except Exception as e:
        raise AssertionError(f"Expected {wanted}, instead got {type(e).__name__}: {e}") from e
    raise AssertionError(f"Expected exception {wanted}, got none")
