"""`torch.utils._contextlib`: blocks as decorators of functions and of generators."""

import functools
import inspect
import sys
from collections.abc import Callable, Generator
from typing import Any, TypeVar

__all__ = ["context_decorator"]

F = TypeVar("F", bound=Callable[..., Any])


def context_decorator(ctx: Any, func: F) -> F:
    """`func`, which runs in the block; a generator each time it goes on.

    Args:
        ctx: a context manager that may be entered again, or a function that makes one.

    Raises:
        AssertionError: it is both.
        RuntimeError: `func` is a class.
    """
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"{ctx} is both callable and a context manager: pass `lambda: ctx` or `lambda: ctx()`"
        )
    make = ctx if callable(ctx) else lambda: ctx
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all "
            "methods should have the context manager applied"
        )
    wrapper = _of_generator if inspect.isgeneratorfunction(func) else _of_function
    return wrapper(make, func)  # type: ignore[return-value]


def _of_function(make: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)

    return decorated


def _of_generator(make: Callable[[], Any], func: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        running = func(*args, **kwargs)
        go_on, value = running.send, None
        while True:
            try:
                with make():
                    made = go_on(value)
            except StopIteration as end:
                return end.value
            try:
                go_on, value = running.send, (yield made)
            except GeneratorExit:
                with make():
                    running.close()
                raise
            except BaseException:
                go_on, value = running.throw, sys.exc_info()[1]

    return decorated


class _DecoratorContextManager:
    """A context manager that decorates too: each call enters a new one (`clone`)."""

    def __call__(self, orig_func: F) -> F:
        return context_decorator(self.clone, orig_func)

    def __enter__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__enter__")

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__}.__exit__")

    def clone(self) -> Any:
        """One like it, for one call."""
        return self.__class__()


class _NoParamDecoratorContextManager(_DecoratorContextManager):
    """The same, which decorates without parentheses too."""

    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)
