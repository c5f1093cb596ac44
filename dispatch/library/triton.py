"""Custom operators around Triton kernels, for programs that define them (torch._library.triton).

There is no compiler and no Triton here. `triton_op` is a custom operator whose function serves fake
tensors and functionalization too, for it consists of operators; `wrap_triton` gives kernels back as
they are, to be launched by Triton where a program has it.
"""

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from dispatch._C.tensor import Tensor
from dispatch.fake import FakeTensor
from dispatch.functional import FunctionalTensor, FunctionalTensorMode
from dispatch.library.custom_ops import CustomOpDef, custom_op
from dispatch.library.signatures import infer_schema

__all__ = [
    "capture_triton",
    "get_inner_triton_kernels",
    "get_triton_kernels_for_op",
    "is_wrap_triton_enabled",
    "set_wrap_triton_enabled",
    "triton_op",
    "wrap_triton",
]

_enabled: ContextVar[bool] = ContextVar("wrap_triton_enabled", default=True)
triton_ops_to_kernels: dict[str, list[object]] = {}


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """`custom_op` for a function made of operators and Triton kernels; usable as a decorator.

    The function is also what runs on fake tensors, and what functionalization looks into.

    Source of the semantics: torch.library.triton_op.
    """

    def make(fn: Callable[..., Any]) -> CustomOpDef:
        def run(*args: Any, **kwargs: Any) -> Any:
            with set_wrap_triton_enabled(False):
                return fn(*args, **kwargs)

        text = infer_schema(fn, mutates_args=mutates_args) if schema is None else schema
        made: CustomOpDef = custom_op(name, run, mutates_args=mutates_args, schema=text)
        made.register_fake(fn)

        def decomposed(mode: Any, op: Any, types: Any, args: Any, kwargs: Any) -> Any:
            known = (FakeTensor, FunctionalTensor)
            if any(t is not Tensor and not issubclass(t, known) for t in types):
                return NotImplemented
            with mode:
                return fn(*args, **kwargs)

        made.register_torch_dispatch(FunctionalTensorMode, decomposed)
        triton_ops_to_kernels[name] = get_inner_triton_kernels(fn)
        return made

    return make if fn is None else make(fn)


def get_triton_kernels_for_op(name: str) -> list[object]:
    """The kernels found in the function of an operator."""
    return triton_ops_to_kernels.get(name, [])


def get_inner_triton_kernels(fn: Callable[..., Any]) -> list[object]:
    """The Triton kernels among the globals that a function names."""
    kinds = _kernel_classes()
    names = getattr(getattr(fn, "__code__", None), "co_names", ())
    found = [fn.__globals__[name] for name in names if name in fn.__globals__]
    return [one for one in found if isinstance(one, kinds)]


@contextlib.contextmanager
def set_wrap_triton_enabled(enabled: bool) -> Iterator[None]:
    """In the block, `is_wrap_triton_enabled()` says so."""
    token = _enabled.set(enabled)
    try:
        yield
    finally:
        _enabled.reset(token)


def is_wrap_triton_enabled() -> bool:
    """Whether kernels should be seen by whoever traces; false while an operator's function runs."""
    return _enabled.get()


def wrap_triton(triton_kernel: Callable[..., Any], /) -> Any:
    """A Triton kernel, as it is: nobody traces here.

    Raises:
        RuntimeError: not a kernel of `triton.jit` or `triton.autotune`.
    """
    if isinstance(triton_kernel, _kernel_classes()):
        return triton_kernel
    raise RuntimeError(
        "wrap_triton only works on functions annotated with triton.jit or triton.autotune, "
        f"got {triton_kernel!r}"
    )


def capture_triton(triton_kernel: Callable[..., Any], /) -> Any:
    """The older name of `wrap_triton`."""
    return wrap_triton(triton_kernel)


_CLASSES = (
    ("triton.runtime.jit", "JITFunction"),
    ("triton.runtime.autotuner", "Autotuner"),
    ("triton.runtime.interpreter", "InterpretedFunction"),
)


def _kernel_classes() -> tuple[type, ...]:
    """Triton's classes of kernels; none where the program has not imported Triton."""
    found = (getattr(sys.modules.get(module), name, None) for module, name in _CLASSES)
    return tuple(cls for cls in found if cls is not None)
