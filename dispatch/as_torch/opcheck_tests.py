"""The single checks of `torch.testing._internal.optests`; all of them together are `opcheck`."""

from collections.abc import Callable
from typing import Any

from dispatch._C.overload import OpOverload
from dispatch.library import checks

__all__ = [
    "autograd_registration_check",
    "dontGenerateOpCheckTests",
    "fake_check",
    "is_inside_opcheck_mode",
]


def fake_check(op: Any, args: Any, kwargs: Any) -> None:
    """Raise unless the operators that are not the library's own act on fake tensors as on real."""
    checks._test_faketensor(op, args, kwargs)


def autograd_registration_check(op: Any, args: Any, kwargs: Any) -> None:
    """AssertionError when a result requires grad and no kernel stands at an autograd key."""
    if not isinstance(op, OpOverload):
        raise AssertionError(f"expected an OpOverload, got {type(op)}")
    checks._test_autograd_registration(op, args, kwargs)


def dontGenerateOpCheckTests(reason: str) -> Callable[[Any], Any]:
    """A mark of tests that are not to be run again with every check."""

    def mark(test: Any) -> Any:
        test._torch_dont_generate_opcheck_tests = True
        return test

    return mark


def is_inside_opcheck_mode() -> bool:
    """False: no test is run again with every check."""
    return False
