"""`torch._dynamo.testing` and `torch._dynamo.test_case`, as tests without a compiler use them.

`make_test_cls_with_patches` makes a test class whose tests run with other settings, `rand_strided`
a tensor of a geometry. Backends that count or record what was compiled can be imported, not made.
"""

import contextlib
import functools
import unittest
from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

import dispatch
from dispatch.as_torch.testing.case import TestCase, run_tests

__all__ = ["TestCase", "make_test_cls_with_patches", "rand_strided", "run_tests"]


def make_test_cls_with_patches(
    cls: type,
    cls_prefix: str,
    fn_suffix: str,
    *patches: tuple[Any, str, Any],
    xfail_prop: str | None = None,
    decorator: Callable[[Any], Any] = lambda test: test,
) -> type:
    """A class with the tests of `cls`, each within `patches`: (object, attribute, value).

    Its name is `cls_prefix` and that of `cls`; tests get `fn_suffix` behind theirs. One that has
    the attribute `xfail_prop` is expected to fail.
    """
    made = type(f"{cls_prefix}{cls.__name__}", cls.__bases__, {})
    for name in dir(cls):
        if not name.startswith("test_"):
            # The class's own, and a property as it is: `getattr` of one runs it.
            own = cls.__dict__.get(name)
            if own is not None and name not in ("__dict__", "__weakref__"):
                setattr(made, name, own)
            continue
        test = getattr(cls, name)
        if not callable(test):
            setattr(made, name, test)
            continue
        within = _within(test, patches)
        if xfail_prop is not None and hasattr(test, xfail_prop):
            within = unittest.expectedFailure(within)
        setattr(made, f"{name}{fn_suffix}", decorator(within))
    return made


def _within(test: Callable[..., Any], patches: Sequence[tuple[Any, str, Any]]) -> Any:
    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> Any:
        with contextlib.ExitStack() as stack:
            for where, name, value in patches:
                stack.enter_context(patch.object(where, name, value))
            return test(*args, **kwargs)

    return run


def rand_strided(
    size: Sequence[int],
    stride: Sequence[int],
    dtype: Any = dispatch.float32,
    device: Any = "cpu",
    extra_size: int = 0,
) -> dispatch.Tensor:
    """Random numbers (zeros and ones for integers) with these strides, over `extra_size` more."""
    if any(n == 0 for n in size):
        needed = extra_size
    else:
        needed = 1 + extra_size + sum((n - 1) * k for n, k in zip(size, stride, strict=True))
    if dtype.is_floating_point or dtype.is_complex:
        wide = dtype if dtype.itemsize > 1 else dispatch.float16
        buffer = dispatch.randn(needed, dtype=wide, device=device).to(dtype)
    else:
        buffer = dispatch.randint(0, 2, (needed,), device=device).to(dtype)
    return dispatch.as_strided(buffer, size, stride)
