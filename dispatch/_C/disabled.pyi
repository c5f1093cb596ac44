from typing import Any

def _disabled_torch_dispatch_impl(
    func: Any, types: Any, args: Any = (), kwargs: Any = None
) -> Any: ...
def _disabled_torch_function_impl(
    func: Any, types: Any, args: Any = (), kwargs: Any = None
) -> Any: ...
