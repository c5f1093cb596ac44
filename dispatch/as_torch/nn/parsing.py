"""`torch._C._nn._parse_to`: which device, dtype and format the arguments of `Module.to` name."""

from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.modes import handle_torch_function, has_torch_function

__all__ = ["_parse_to"]

_NAMES = ("device", "dtype", "non_blocking", "copy", "memory_format")


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format) of `to(device, dtype)`, `to(dtype)`, `to(like)`.

    Raises:
        TypeError: arguments of another kind.
        RuntimeError: a copy, which modules do not make.
    """
    if has_torch_function(args):
        found: tuple[Any, Any, bool, Any] = handle_torch_function(_parse_to, args, *args, **kwargs)
        return found
    names: tuple[str, ...] = _NAMES
    if args and isinstance(args[0], Tensor):
        args = (args[0].device, args[0].dtype, *args[1:])
    elif args and isinstance(args[0], dispatch.dtype):
        names = _NAMES[1:]
    given = dict(zip(names, args, strict=False))
    unknown = [name for name in kwargs if name not in _NAMES or name in given]
    given.update(kwargs)
    device, dtype = given.get("device"), given.get("dtype")
    fits = isinstance(device, (str, int, dispatch.device, type(None)))
    if unknown or len(args) > len(names) or not fits or isinstance(device, bool):
        raise TypeError(f"to(): expected a device, a dtype or a tensor, got {args} and {kwargs}")
    if not isinstance(dtype, (dispatch.dtype, type(None))):
        raise TypeError(f"to(): expected a dtype, got {dtype!r}")
    if given.get("copy"):
        raise RuntimeError(".to() does not accept copy argument")
    where = None if device is None else dispatch.device(device)
    return where, dtype, bool(given.get("non_blocking", False)), given.get("memory_format")
