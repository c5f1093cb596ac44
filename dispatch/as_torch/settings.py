"""Settings of a whole program that PyTorch has: kept and read back, or what a build answers.

`set_default_tensor_type` alone changes something, the default dtype. Products of float32 are never
shortened here, operators run on one pool of threads, and denormal numbers stay.
"""

from typing import Any

import dispatch
from dispatch._C.advice import advise_once
from dispatch.as_torch.version import __version__

__all__ = [
    "compiled_with_cxx11_abi", "get_float32_matmul_precision", "get_num_interop_threads",
    "parallel_info", "set_default_tensor_type", "set_float32_matmul_precision",
    "set_flush_denormal", "set_num_interop_threads", "show",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")
_precision = _PRECISIONS[0]
_interop_threads = 1


def set_default_tensor_type(t: Any) -> None:
    """The dtype of `FloatTensor` and its like, or of `"torch.FloatTensor"`, becomes the default.

    Raises: TypeError for a type that is not floating point, or of another device than the CPU.
    """
    kind = getattr(dispatch, t.removeprefix("torch."), None) if isinstance(t, str) else t
    dtype = getattr(kind, "dtype", None)
    if not isinstance(kind, type) or not isinstance(dtype, dispatch.dtype):
        raise TypeError(f"set_default_tensor_type: expected the type of a tensor, got {t!r:.80}")
    advise_once(
        "set_default_tensor_type",
        "it is deprecated as of PyTorch 2.1, please use torch.set_default_dtype()",
    )
    dispatch.set_default_dtype(dtype)


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` was told."""
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Keep "highest", "high" or "medium"; other words change nothing."""
    global _precision
    if not isinstance(precision, str):
        raise RuntimeError(
            f"set_float32_matmul_precision: expected str, got {type(precision).__name__}"
        )
    if precision in _PRECISIONS:
        _precision = precision


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told: operators do not run beside each other."""
    return _interop_threads


def set_num_interop_threads(threads: int) -> None:
    """Keep a number. RuntimeError unless it is above 0."""
    global _interop_threads
    if not isinstance(threads, int) or threads < 1:
        raise RuntimeError(f"set_num_interop_threads: expected a positive int, got {threads!r}")
    _interop_threads = threads


def set_flush_denormal(mode: bool) -> bool:
    """False: denormal numbers are not flushed to zero, and cannot be."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"set_flush_denormal: expected bool, got {type(mode).__name__}")
    return False


def compiled_with_cxx11_abi() -> bool:
    """True: there is no other C++ here."""
    return True


def show() -> str:
    """What was built: `torch.__config__.show()`."""
    return f"PyTorch {__version__}, for which the package `dispatch` stands\n"


def _cxx_flags() -> str:
    """What the compiler was told is not kept: `torch.__config__._cxx_flags()`."""
    return ""


def parallel_info() -> str:
    """How many threads operators use: `torch.__config__.parallel_info()`."""
    return f"threads of an operator: {dispatch.get_num_threads()}\n"
