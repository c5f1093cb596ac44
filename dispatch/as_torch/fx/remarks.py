"""What `make_fx` notes beside operators: switches of gradient mode, and modules that are called.

`proxies` enters the mode around a run with `pre_dispatch=True`, so that graphs switch where the
program did, and `within` around each module's `forward`.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from dispatch._C import _set_grad_enabled
from dispatch.modes import TorchFunctionMode

__all__ = ["PreDispatchTorchFunctionMode", "within"]


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


@contextlib.contextmanager
def within(tracer: Any, module: Any) -> Iterator[None]:
    """Nodes that are written in the block know that they are in this module of the scope's root."""
    root = tracer.scope_root
    known = root.named_modules() if root is not None else ()
    paths: list[str] = [path for path, found in known if found is module]
    if not paths:
        yield
        return
    path = paths[0]
    calls = tracer.num_calls.get(path, 0)
    tracer.num_calls[path] = calls + 1
    kind = type(module)
    where = path, f"{kind.__module__}.{kind.__qualname__}"
    tracer.module_stack[f"{path}@{calls}" if calls else path] = where
    try:
        yield
    finally:
        tracer.module_stack.popitem()
