"""Running the fake kernels that programs register (torch._library.fake_impl).

`registry/fake_kernels` keeps them; `propagate` asks for them here. A fake kernel runs under the
mode that called, and may ask for a context (`dispatch.library.get_ctx`) while it does.
"""

import warnings
from typing import Any

from dispatch.fake.exceptions import DynamicOutputShapeException
from dispatch.registry.fake_kernels import (
    can_generate_trivial_fake_impl,
    generate_trivial_fake_impl,
    set_ctx_getter,
)
from dispatch.registry.handles import Kernel

__all__ = ["FakeImplCtx", "run_fake_kernel", "trivial_result"]


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
            ValueError: a bound that is no plain int, or a negative minimum.
        """
        if self._shape_env is None or not self._shape_env.allow_dynamic_output_shape_ops:
            raise DynamicOutputShapeException(self._op)
        if not isinstance(min, int) or not isinstance(max, int | None):
            raise ValueError(
                f"new_dynamic_size: min and max must be plain ints, no SymInt, got {min}, {max}"
            )
        if min < 0:
            raise ValueError(f"new_dynamic_size: min must be greater than or equal to 0, got {min}")
        from dispatch.fake.unbacked import new_size  # needs `dispatch.symbolic`

        return new_size(self._fake_mode, min=min, max=max)


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
