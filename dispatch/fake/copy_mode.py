"""FakeCopyMode: in its block `copy.deepcopy` of an object that holds tensors gives fake ones."""

from typing import Any

from dispatch._C.guards import DisableTorchFunctionSubclass
from dispatch._C.tensor import Tensor
from dispatch.modes import TorchFunctionMode

__all__ = ["FakeCopyMode"]


class FakeCopyMode(TorchFunctionMode):
    """Copies and clones of real tensors become their fake counterparts in `fake_mode`.

    Source of the semantics: torch._subclasses.fake_tensor.FakeCopyMode.
    """

    def __init__(self, fake_mode: Any) -> None:
        self.fake_mode = fake_mode

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is Tensor.clone:
            return func(self.fake_mode.from_tensor(args[0], static_shapes=True), **kwargs)
        if func is getattr(Tensor, "__deepcopy__"):  # noqa: B009
            tensor, memo = args
            if id(tensor) not in memo:
                memo[id(tensor)] = self.fake_mode.from_tensor(tensor, static_shapes=True)
            return memo[id(tensor)]
        with DisableTorchFunctionSubclass():
            return func(*args, **kwargs)
