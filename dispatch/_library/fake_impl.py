"""Fake kernels: functions that stand for an operator on metadata (torch._library.fake_impl).

`FakeTensorMode` looks an operator's name up in `fake_kernels` before it looks for a Meta kernel;
Meta tensors reach the same function through a kernel that its registration adds at the Meta key.
"""

import contextlib
import functools
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from dispatch._C import _dispatch_has_kernel_for_dispatch_key
from dispatch._library.utils import (
    Kernel,
    RegistrationHandle,
    can_generate_trivial_fake_impl,
    generate_trivial_fake_impl,
)

if TYPE_CHECKING:
    from dispatch.library import Library

__all__ = ["FakeImplCtx", "FakeImplHolder", "fake_kernels", "global_ctx_getter", "set_ctx_getter"]

# Qualified name -> holder, of the operators that have a fake kernel now.
fake_kernels: dict[str, "FakeImplHolder"] = {}


class FakeImplHolder:
    """The fake kernels of one operator; the newest one serves."""

    def __init__(self, qualname: str) -> None:
        self.qualname = qualname
        self.kernels: list[Kernel] = []

    @property
    def kernel(self) -> Kernel | None:
        """The one that serves; None when there is none."""
        return self.kernels[-1] if self.kernels else None

    @kernel.setter
    def kernel(self, value: object) -> None:
        raise RuntimeError("fake kernels are added with register()")

    def register(
        self,
        func: Callable[..., Any],
        source: str,
        lib: "Library",
        *,
        allow_override: bool = True,
    ) -> RegistrationHandle:
        """Add a fake kernel, and a Meta kernel that runs it.

        Raises:
            RuntimeError: no such operator; one that decomposes; with allow_override False, one
                that has a fake kernel, a Meta kernel or a decomposition.
        """
        if not allow_override:
            self._check_free()
        kernel = Kernel(func, source)
        self._add(kernel)
        try:
            lib.impl(self.qualname, self._meta_kernel(func), "Meta", allow_override=allow_override)
        except BaseException:
            self._remove(kernel)
            raise
        return RegistrationHandle(lambda: self._remove(kernel))

    def _check_free(self) -> None:
        if self.kernel is not None:
            raise RuntimeError(
                f"register_fake: {self.qualname} has a fake kernel already, registered at "
                f"{self.kernel.source}"
            )
        for key in ("Meta", "CompositeImplicitAutograd"):
            if _dispatch_has_kernel_for_dispatch_key(self.qualname, key):
                raise RuntimeError(
                    f"register_fake: {self.qualname} has a kernel for {key} already, which serves "
                    "fake tensors"
                )

    def _add(self, kernel: Kernel) -> None:
        self.kernels.append(kernel)
        fake_kernels[self.qualname] = self

    def _remove(self, kernel: Kernel) -> None:
        self.kernels.remove(kernel)
        if not self.kernels:
            del fake_kernels[self.qualname]

    def _meta_kernel(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """What Meta tensors run: the newest fake kernel, without a context."""

        def no_context() -> "FakeImplCtx":
            raise RuntimeError(
                f"{self.qualname}: its fake kernel asks for get_ctx(), because the output's sizes "
                "may depend on values: that works on fake tensors, not on Meta tensors"
            )

        @functools.wraps(func)
        def meta_kernel(*args: Any, **kwargs: Any) -> Any:
            kernel = self.kernel
            if kernel is None:
                raise AssertionError(f"{self.qualname}: its fake kernel was taken back")
            with set_ctx_getter(no_context):
                return kernel(*args, **kwargs)

        return meta_kernel


def _no_ctx() -> None:
    return None


class _Current(threading.local):
    getter: Callable[[], Any] = staticmethod(_no_ctx)


_current = _Current()


def global_ctx_getter() -> Any:
    """The context of the fake kernel that runs in this thread; None outside of one."""
    return _current.getter()


@contextlib.contextmanager
def set_ctx_getter(ctx_getter: Callable[[], Any]) -> Iterator[None]:
    """In the block, `get_ctx()` returns what `ctx_getter` returns."""
    previous = _current.getter
    _current.getter = ctx_getter
    try:
        yield
    finally:
        _current.getter = previous


class FakeImplCtx:
    """What a fake kernel may ask for while it runs (torch.library.get_ctx)."""

    def __init__(self, _fake_mode: Any, _op: Any) -> None:
        self._fake_mode = _fake_mode
        self._shape_env = _fake_mode.shape_env
        self._op = _op

    def create_unbacked_symint(self, *, min: int = 2, max: int | None = None) -> Any:
        """Deprecated: `new_dynamic_size`."""
        warnings.warn(
            "create_unbacked_symint is deprecated: use new_dynamic_size",
            FutureWarning,
            stacklevel=2,
        )
        return self.new_dynamic_size(min=min, max=max)

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> Any:
        """A size that is not known until the operator runs.

        Raises:
            DynamicOutputShapeException: the mode has no symbolic shapes.
            ValueError: a negative minimum.
        """
        if self._shape_env is None or not self._shape_env.allow_dynamic_output_shape_ops:
            from dispatch.fake.exceptions import DynamicOutputShapeException

            raise DynamicOutputShapeException(self._op)
        if min < 0:
            raise ValueError(f"new_dynamic_size: min must not be negative, got {min}")
        return self._shape_env.create_unbacked_symint()


def run_fake_kernel(mode: Any, op: Any, kernel: Kernel, args: Any, kwargs: Any) -> Any:
    """Run a fake kernel under `mode`, which was off the stack."""
    ctx = FakeImplCtx(mode, op)
    with set_ctx_getter(lambda: ctx), mode:
        return kernel(*args, **kwargs)


def trivial_result(op: Any, args: Any, kwargs: Any) -> Any:
    """What an operator without a fake kernel returns if that is known; else NotImplemented."""
    if not can_generate_trivial_fake_impl(op):
        return NotImplemented
    return generate_trivial_fake_impl(op, *args, **kwargs)
