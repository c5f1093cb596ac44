"""Functions that PyTorch keeps for older programs: `range`, and those that only say what is new.

Called as `dispatch.range`, and as methods of tensors where they were methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dispatch._C.advice import advise
from dispatch._C.function import _find_function
from dispatch._C.tensor import Tensor

__all__ = ["eig", "lstsq", "matrix_rank", "range", "solve", "symeig"]


def range(*args: Any, **kwargs: Any) -> Tensor:
    """Numbers from a start to an end, which is included (torch.range). Deprecated."""
    advise("range: deprecated, call arange, whose end is left out")
    found: Any = _find_function("range", False)
    return found(*args, **kwargs)


def _removed(name: str, now: str) -> Callable[..., NoReturn]:
    def removed(*args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{name} was removed, call linalg.{now}")

    removed.__name__ = removed.__qualname__ = name
    removed.__doc__ = f"RuntimeError: it was removed, `linalg.{now}` took its place."
    return removed


eig = _removed("eig", "eig")
lstsq = _removed("lstsq", "lstsq, whose arguments have another order")
matrix_rank = _removed("matrix_rank", "matrix_rank")
solve = _removed("solve", "solve, whose arguments have another order")
symeig = _removed("symeig", "eigh or linalg.eigvalsh")
