"""How methods that are Python functions in PyTorch show their arguments to handlers.

Called by `_C.torch_function` with the arguments of a call that somebody is asked about; each gives
the positional ones, whose handlers are asked, and all else by keyword, defaults too. A call that
does not fit is a TypeError before anyone is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["LAYOUTS"]

Layout = tuple[tuple[Any, ...], dict[str, Any]]


def _alone(self: Any) -> Layout:
    return (self,), {}


def _array(self: Any, dtype: Any = None, copy: Any = None) -> Layout:
    """`copy`, which PyTorch's does not take, where it is given."""
    return (self,), {"dtype": dtype} if copy is None else {"dtype": dtype, "copy": copy}


def _array_wrap(
    self: Any, array: Any, context: Any = None, return_scalar: Any = False
) -> Layout:
    """numpy gives the last two, which nothing reads."""
    return (self,), {"array": array}


def _dlpack(
    self: Any, *, stream: Any = -1, max_version: Any = None, dl_device: Any = None, copy: Any = None
) -> Layout:
    given = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
    return (self,), given


def _backward(
    self: Any,
    gradient: Any = None,
    retain_graph: Any = None,
    create_graph: Any = False,
    inputs: Any = None,
) -> Layout:
    given = {"gradient": gradient, "retain_graph": retain_graph}
    return (self,), given | {"create_graph": create_graph, "inputs": inputs}


def _istft(
    self: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    normalized: Any = False,
    onesided: Any = None,
    length: Any = None,
    return_complex: Any = False,
) -> Layout:
    given = {"hop_length": hop_length, "win_length": win_length, "window": window}
    given |= {"center": center, "normalized": normalized, "onesided": onesided}
    return (self, n_fft), given | {"length": length, "return_complex": return_complex}


def _lu(self: Any, pivot: Any = True, get_infos: Any = False) -> Layout:
    return (self,), {"pivot": pivot, "get_infos": get_infos}


def _module_load(self: Any, other: Any, assign: Any = False) -> Layout:
    return (self, other), {"assign": assign}


def _norm(
    self: Any, p: Any = "fro", dim: Any = None, keepdim: Any = False, dtype: Any = None
) -> Layout:
    return (self,), {"p": p, "dim": dim, "keepdim": keepdim, "dtype": dtype}


def _stft(
    self: Any,
    n_fft: Any,
    hop_length: Any = None,
    win_length: Any = None,
    window: Any = None,
    center: Any = True,
    pad_mode: Any = "reflect",
    normalized: Any = False,
    onesided: Any = None,
    return_complex: Any = None,
    align_to_window: Any = None,
) -> Layout:
    given = {"hop_length": hop_length, "win_length": win_length, "window": window}
    given |= {"center": center, "pad_mode": pad_mode, "normalized": normalized}
    given |= {"onesided": onesided, "return_complex": return_complex}
    return (self, n_fft), given | {"align_to_window": align_to_window}


def _unique(
    self: Any,
    sorted: Any = True,
    return_inverse: Any = False,
    return_counts: Any = False,
    dim: Any = None,
) -> Layout:
    given = {"sorted": sorted, "return_inverse": return_inverse}
    return (self,), given | {"return_counts": return_counts, "dim": dim}


def _unique_consecutive(
    self: Any, return_inverse: Any = False, return_counts: Any = False, dim: Any = None
) -> Layout:
    given = {"return_inverse": return_inverse, "return_counts": return_counts, "dim": dim}
    return (self,), given


_ALONE = (
    "__dlpack_device__", "__reversed__", "_clear_non_serializable_cached_data", "is_shared",
    "share_memory_", "storage", "storage_type",
)  # fmt: skip
LAYOUTS: dict[str, Callable[..., Layout]] = {
    **dict.fromkeys(_ALONE, _alone),
    "__array__": _array,
    "__array_wrap__": _array_wrap,
    "__dlpack__": _dlpack,
    "backward": _backward,
    "istft": _istft,
    "lu": _lu,
    "module_load": _module_load,
    "norm": _norm,
    "stft": _stft,
    "unique": _unique,
    "unique_consecutive": _unique_consecutive,
}
