"""What `make_fx(pre_dispatch=True)` notes beside operators: switches of gradient mode.

`proxies` enters the mode around the run; graphs then switch where the program did.
"""

from typing import Any

from dispatch._C import _set_grad_enabled
from dispatch.modes import TorchFunctionMode

__all__ = ["PreDispatchTorchFunctionMode"]


class PreDispatchTorchFunctionMode(TorchFunctionMode):
    """Writes each switch of gradient mode as a node of `tracer`'s graph, and does it."""

    def __init__(self, tracer: Any) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is _set_grad_enabled:
            node = self.tracer.create_node("call_function", func, args, {})
            node.meta["val"] = None
            func(*args)
            return node
        return func(*args, **(kwargs or {}))
