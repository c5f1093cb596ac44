"""Keys of the dispatch cache as Python objects, for programs that compare them.

The cache itself builds its keys in C (`cache`). These say the same: two calls have equal keys when
a result of one serves the other (torch._subclasses.fake_tensor._cache_key).
"""

from typing import Any

from dispatch._C import dtypes
from dispatch._C.default_device import _get_default_device
from dispatch._C.dtypes import get_default_dtype
from dispatch._C.grad_mode import is_inference_mode_enabled
from dispatch._C.tensor import Tensor
from dispatch.fake.exceptions import UnsupportedFakeTensorException
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.metadata import extract_tensor_metadata

__all__ = ["_BypassDispatchCache", "_CacheKeyState", "_DispatchCacheKey", "cache_key"]


class _BypassDispatchCache(Exception):
    """A call whose result is not kept; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class _CacheKeyState:
    """The symbols met on the way through one call's arguments, numbered in order."""

    def __init__(self, shape_env: Any = None) -> None:
        self.shape_env = shape_env
        self.sym_node_lookup: dict[Any, int] = {}  # expression -> number

    def cache_on_shape_env(self) -> bool:
        """Whether a symbol was met: the key is good with this ShapeEnv alone."""
        return bool(self.sym_node_lookup)

    def convert(self, value: Any) -> Any:
        """A number as it is; the number of a symbol."""
        node = getattr(value, "node", None)
        if node is None:
            return value
        return "symbol", self.sym_node_lookup.setdefault(node.expr, len(self.sym_node_lookup))


class _DispatchCacheKey(tuple[Any, ...]):
    """What a result depends on: the operator, settings, and each argument's metadata."""

    __slots__ = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """The parts."""
        return tuple(self)


def cache_key(mode: Any, state: _CacheKeyState, func: Any, args: Any, kwargs: Any) -> Any:
    """The key of a call under `mode`.

    Raises:
        _BypassDispatchCache: an argument that is not fake, another mode's, or unhashable.
    """
    parts = (
        func,
        get_default_dtype(),
        _get_default_device(),
        is_inference_mode_enabled(),
        mode.shape_env.settings if mode.shape_env is not None else None,
        *_parts(mode, state, list(args)),
        *_parts(mode, state, dict(kwargs)),
    )
    return _DispatchCacheKey(parts)


def _parts(mode: Any, state: _CacheKeyState, value: Any) -> list[Any]:
    if isinstance(value, dict):
        keys = [part for key in value for part in (key, *_parts(mode, state, value[key]))]
        return [dict, len(value), *keys]
    if isinstance(value, (list, tuple)):
        inner = [part for v in value for part in _parts(mode, state, v)]
        return [type(value), len(value), *inner]
    if isinstance(value, Tensor):
        return _of_tensor(mode, state, value)
    if isinstance(value, (dtypes.dtype, dtypes.device, str, type(None))):
        return [value]
    if hasattr(value, "node"):
        return [type(value), state.convert(value)]
    try:
        hash(value)
    except TypeError:
        raise _BypassDispatchCache("unhashable argument") from None
    return [type(value), value]


def _of_tensor(mode: Any, state: _CacheKeyState, t: Any) -> list[Any]:
    if not isinstance(t, FakeTensor):
        raise _BypassDispatchCache("non-fake tensor")
    if t.fake_mode is not mode:
        raise _BypassDispatchCache("not our fake")
    if t.constant is not None:
        raise _BypassDispatchCache("constant attribute")
    try:
        found = extract_tensor_metadata(t)
    except UnsupportedFakeTensorException as error:
        raise _BypassDispatchCache("sparse tensor") from error
    parts: list[Any] = [Tensor]
    for name in found.__slots__:
        value = getattr(found, name)
        sizes = isinstance(value, tuple)
        parts.append(tuple(map(state.convert, value)) if sizes else state.convert(value))
    return parts
