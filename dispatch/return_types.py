"""What functions with several named results return: tuples with names (torch.return_types).

`dispatch.max(x, 1)` is a `return_types.max` with `values` and `indices`; `ops.aten.max.dim` gives a
plain tuple. Classes are made from the operators' schemas when they are first needed
(`_C/named_results`).
"""

from typing import Any

from dispatch._C.function import _named_results
from dispatch._C.named_results import named

__all__ = ["named"]


def __getattr__(name: str) -> Any:
    """`return_types.max`: the class of an operator's results."""
    found = None if name.startswith("__") else _named_results(name)
    if found is None:
        raise AttributeError(f"module 'dispatch.return_types' has no attribute {name!r}")
    return found
