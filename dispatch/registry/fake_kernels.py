"""Fake kernels: functions that stand for an operator on metadata (torch._library.fake_impl).

`FakeTensorMode` looks an operator's name up in `fake_kernels` before it looks for a Meta kernel;
Meta tensors reach the same function through a kernel that its registration adds at the Meta key.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, Protocol

from dispatch._C.inspection import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.overload import OpOverload
from dispatch.registry.handles import Kernel, RegistrationHandle
from dispatch.registry.schemas import is_builtin, is_inplace, is_out, mutated_args_kwargs

__all__ = [
    "FakeImplHolder",
    "can_generate_trivial_fake_impl",
    "check_no_decomposition",
    "fake_kernels",
    "generate_trivial_fake_impl",
    "global_ctx_getter",
    "set_ctx_getter",
]

# Qualified name -> holder, of the operators that have a fake kernel now.
fake_kernels: dict[str, "FakeImplHolder"] = {}


class _Library(Protocol):
    """Who registers the Meta kernel."""

    def impl(
        self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", *, allow_override: bool
    ) -> None: ...


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
        lib: _Library,
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
                f"register_fake: {self.qualname} already has a fake impl, registered at "
                f"{self.kernel.source}"
            )
        for key in ("Meta", "CompositeImplicitAutograd"):
            if _dispatch_has_kernel_for_dispatch_key(self.qualname, key):
                raise RuntimeError(
                    f"register_fake: {self.qualname} already has a {key} implementation, which "
                    "serves fake tensors"
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

        def no_context() -> Any:
            raise RuntimeError(
                f"{self.qualname}: its fake kernel asks for get_ctx(), as an operator with "
                "data-dependent shape does: that works on fake tensors, not on Meta tensors"
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


# Of the thread; numpy has contextvars loaded, and nobody threading.
_ctx_getter: ContextVar[Callable[[], Any]] = ContextVar("ctx_getter", default=_no_ctx)


def global_ctx_getter() -> Any:
    """The context of the fake kernel that runs in this thread; None outside of one."""
    return _ctx_getter.get()()


@contextlib.contextmanager
def set_ctx_getter(ctx_getter: Callable[[], Any]) -> Iterator[None]:
    """In the block, `get_ctx()` returns what `ctx_getter` returns."""
    token = _ctx_getter.set(ctx_getter)
    try:
        yield
    finally:
        _ctx_getter.reset(token)


# ---- operators that need none


def check_no_decomposition(qualname: str) -> None:
    """RuntimeError for an operator that needs no Meta kernel, for it decomposes."""
    if _dispatch_has_kernel_for_dispatch_key(qualname, "CompositeImplicitAutograd"):
        raise RuntimeError(
            f"{qualname}: the operator has a CompositeImplicitAutograd kernel and decomposes; "
            "register Meta kernels for the operators that it decomposes into instead"
        )


def can_generate_trivial_fake_impl(op: OpOverload) -> bool:
    """Whether what an operator of others returns is known without running it.

    Out and in-place operators (by tag) return arguments; one that writes and returns nothing
    returns None.
    """
    if is_builtin(op):
        return False
    if is_out(op) or is_inplace(op):
        return True
    return op._schema.is_mutable and not op._schema.returns


def generate_trivial_fake_impl(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """What such an operator returns: its out arguments, its first argument, or None."""
    if is_out(op):
        outs = tuple(kwargs[name] for name in mutated_args_kwargs(op._schema)[1])
        return outs[0] if len(outs) == 1 else outs
    return args[0] if is_inplace(op) else None
