"""Whether a function writes its arguments or returns them, as its run on copies without data shows.

Functionalized higher-order operators ask: their functions become graphs of their own, in which
neither can be said (torch._higher_order_ops.utils).
"""

from collections.abc import Callable, Sequence
from typing import Any

from dispatch import pytree
from dispatch._C import _get_dispatch_mode, _SetExcludeDispatchKeyGuard, _TorchDispatchModeKey
from dispatch._C.grad_mode import inference_mode
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._higher_order_ops.rules import inside_a_function
from dispatch._ops import ops
from dispatch.fake import FakeTensor, FakeTensorMode
from dispatch.modes.stack import _disable_current_modes
from dispatch.symbolic import ShapeEnv

__all__ = ["check_aliases"]


def check_aliases(function: Callable[..., Any], given: Sequence[Any], name: str) -> None:
    """RuntimeError if `function(*given)` writes one of its tensors, or returns a view of one.

    Args:
        function: runs once, on fake tensors.
        name: how the text calls it.
    """
    mode = _mode_of(given)
    with (
        _disable_current_modes(),
        mode,
        inside_a_function(),
        inference_mode(False),
        _SetExcludeDispatchKeyGuard(DispatchKey.ADInplaceOrView, False),
    ):
        copies = [_copy(x) if isinstance(x, Tensor) else x for x in given]
        tensors = [x for x in copies if isinstance(x, Tensor)]
        versions = [x._version for x in tensors]
        results = [x for x in pytree.tree_leaves(function(*copies)) if isinstance(x, Tensor)]
        owners = [x.untyped_storage()._cdata for x in (*tensors, *results)]
        if len(set(owners)) < len(owners):
            raise RuntimeError(f"{name} might be aliasing the input or the output!")
        if versions != [x._version for x in tensors]:
            raise RuntimeError(f"{name} might be modifying the input!")


def _mode_of(given: Sequence[Any]) -> FakeTensorMode:
    """The fake mode that is on, that of the arguments, or else a new one."""
    active = _get_dispatch_mode(_TorchDispatchModeKey.FAKE)
    modes = [active, *(x.fake_mode for x in given if isinstance(x, FakeTensor))]
    known: list[FakeTensorMode] = [mode for mode in modes if mode is not None]
    if known:
        return known[0]
    return FakeTensorMode(allow_non_fake_inputs=True, shape_env=ShapeEnv())


def _copy(x: Tensor) -> Tensor:
    return ops.aten.empty_strided.default(x.size(), x.stride(), dtype=x.dtype, device=x.device)
