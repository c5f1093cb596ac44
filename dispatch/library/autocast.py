"""Autocast: in a block, operators get floating-point tensors in a narrower, or a wider, dtype.

Each device type has a switch, a dtype and an autocast key, all of the thread. The first time that
a switch is turned on, the operators of `autocast_rules` get kernels at that key, beneath whatever
programs registered there. A kernel casts what is on the device and calls the operator below the
key, so casts are seen by modes and fake tensors as any call is. Casts of weights are not kept:
the cache's switch is remembered and decides nothing.
"""

import functools
import threading
import warnings
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from dispatch._C import dtypes
from dispatch._C.guards import _ExcludeDispatchKeyGuard
from dispatch._C.keys import DispatchKey, DispatchKeySet, _dispatch_key_for_device
from dispatch._C.overload import OpOverload
from dispatch._C.registration import _register_beneath
from dispatch._C.tensor import Tensor
from dispatch._C.tls import _dispatch_tls_set_dispatch_key_excluded
from dispatch.library.operators import lookup_op

__all__ = [
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "cast_eligible",
    "check_autocast",
    "clear_autocast_cache",
    "get_autocast_dtype",
    "is_autocast_available",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
]

F = TypeVar("F", bound=Callable[..., Any])
# The dtype of each device type's blocks, unless they name one.
_DTYPES = {
    "cpu": dtypes.bfloat16, "cuda": dtypes.float16, "hpu": dtypes.bfloat16,
    "ipu": dtypes.float16, "maia": dtypes.bfloat16, "mps": dtypes.float16,
    "mtia": dtypes.float16, "privateuseone": dtypes.float16, "xla": dtypes.bfloat16,
    "xpu": dtypes.float16,
}  # fmt: skip
_CPU_DTYPES = (dtypes.bfloat16, dtypes.float16)
_ready: set[str] = set()


class _State(threading.local):
    def __init__(self) -> None:
        self.enabled: set[str] = set()
        self.dtypes = dict(_DTYPES)
        self.nesting = 0
        self.cached = True


_state = _State()


def check_autocast(device_type: str) -> str:
    """The name of the autocast key.

    Raises:
        TypeError: no str. ValueError: a device type without autocast. RuntimeError: no device type.
    """
    if not isinstance(device_type, str):
        raise TypeError(f"expected a device type, got {type(device_type).__name__}")
    key = "Autocast" + _dispatch_key_for_device(device_type)
    if device_type not in _DTYPES:
        raise ValueError(f"device type {device_type!r} has no autocast")
    return key


def is_autocast_available(device_type: str) -> bool:
    """Whether a device type has an autocast key."""
    _dispatch_key_for_device(device_type)
    return device_type in _DTYPES


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a device type, in this thread."""
    check_autocast(device_type)
    return device_type in _state.enabled


def _is_any_autocast_enabled() -> bool:
    """Whether autocast is on for some device type, in this thread."""
    return bool(_state.enabled)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Turn autocast of a device type on or off, in this thread; without a type: of CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    key = check_autocast(device_type)
    if enabled:
        _make_ready(device_type, key)
        _state.enabled.add(device_type)
    else:
        _state.enabled.discard(device_type)
    _dispatch_tls_set_dispatch_key_excluded(getattr(DispatchKey, key), not enabled)


def get_autocast_dtype(device_type: str) -> dtypes.dtype:
    """The dtype that the operators of a device type get."""
    if not is_autocast_available(device_type):
        raise RuntimeError(f"unsupported scalarType: device type {device_type!r} has no autocast")
    return _state.dtypes[device_type]


def set_autocast_dtype(device_type: str, dtype: dtypes.dtype) -> None:
    """Set what `get_autocast_dtype` gives, in this thread."""
    check_autocast(device_type)
    _state.dtypes[device_type] = dtype


def is_autocast_cache_enabled() -> bool:
    """Whether casts of weights may be kept; none are."""
    return _state.cached


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Set what `is_autocast_cache_enabled` says."""
    _state.cached = bool(enabled)


def clear_autocast_cache() -> None:
    """Forget casts that are kept: there are none."""


def autocast_increment_nesting() -> int:
    """How many blocks there are, with one more."""
    _state.nesting += 1
    return _state.nesting


def autocast_decrement_nesting() -> int:
    """How many blocks there are, with one less."""
    _state.nesting -= 1
    return _state.nesting


class autocast:
    """A block, or a decorator, in which operators choose the dtype of their arguments.

    Matrix products and convolutions take the narrow dtype, what needs precision float32, and what
    mixes tensors the widest of theirs (torch.autocast).

    Args:
        device_type: whose tensors are cast.
        dtype: the narrow dtype; by default that of the device type.
        enabled: False turns autocast off in the block.
        cache_enabled: what `is_autocast_cache_enabled` says in the block.

    Raises:
        ValueError: the device type is no str.
        RuntimeError: there is no autocast for it.
    """

    def __init__(
        self,
        device_type: str,
        dtype: dtypes.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        self._cache_enabled = _state.cached if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available: autocast is off in this block", stacklevel=2)
            enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype not in _CPU_DTYPES:
            warnings.warn(
                f"In CPU autocast, but the target dtype is not supported: {self.fast_dtype}. "
                "Disabling autocast: it takes torch.bfloat16 and torch.float16",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled
        self._before: list[tuple[bool, dtypes.dtype, bool]] = []

    def __enter__(self) -> "autocast":
        device = self.device
        self._before.append((device in _state.enabled, _state.dtypes[device], _state.cached))
        set_autocast_dtype(device, self.fast_dtype)
        set_autocast_enabled(device, self._enabled)
        autocast_increment_nesting()
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, *exc: Any) -> None:
        enabled, dtype, cached = self._before.pop()
        autocast_decrement_nesting()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(cached)

    def __call__(self, func: F) -> F:
        @functools.wraps(func)
        def in_block(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return in_block  # type: ignore[return-value]


# ---- kernels


def is_eligible(value: Any, device_type: str) -> bool:
    """Whether autocast of a device type looks at this value: a floating-point tensor there.

    Those of double precision stay as they are, and what is made of them.
    """
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dtype is not dtypes.float64
        and value.device.type == device_type
    )


def cast_eligible(value: Any, device_type: str, dtype: dtypes.dtype) -> Any:
    """`value` with its eligible tensors as `dtype`."""
    if isinstance(value, Tensor):
        if not is_eligible(value, device_type) or value.dtype is dtype:
            return value
        return value.to(dtype)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    made = (cast_eligible(v, device_type, dtype) for v in value)
    return type(value)(made) if isinstance(value, (list, tuple)) else made


def _make_ready(device_type: str, key: str) -> None:
    """Register the kernels of a device type, once."""
    if device_type in _ready:
        return
    _ready.add(device_type)
    from dispatch.library.autocast_rules import RULES

    below = DispatchKeySet(getattr(DispatchKey, key))
    for rule, names in RULES["cpu" if device_type == "cpu" else "other"].items():
        for name in names.split():
            packet, _, overload = name.partition(".")
            kernel = _KERNELS[rule](lookup_op("aten::" + name), device_type, below)
            _register_beneath("aten::" + packet, overload, key, kernel)


Kernel = Callable[..., Any]


def _casting(choose: Callable[[Any, str], dtypes.dtype]) -> Callable[..., Kernel]:
    """Makes kernels that cast all arguments to the dtype that `choose` names."""

    def make(op: OpOverload, device_type: str, below: DispatchKeySet) -> Kernel:
        def kernel(*args: Any, **kwargs: Any) -> Any:
            with _ExcludeDispatchKeyGuard(below):
                dtype = choose((args, tuple(kwargs.values())), device_type)
                args = cast_eligible(args, device_type, dtype)
                named = {k: cast_eligible(v, device_type, dtype) for k, v in kwargs.items()}
                return op(*args, **named)

        return kernel

    return make


def _widest(values: Any, device_type: str, found: dtypes.dtype | None = None) -> dtypes.dtype:
    """float32 if a tensor among `values` has it, else the narrow dtype of the device type."""
    narrow = _state.dtypes[device_type]
    found = found or narrow
    for value in values:
        if isinstance(value, (list, tuple)):
            found = _widest(value, device_type, found)
        elif is_eligible(value, device_type):
            if value.dtype is dtypes.float32 or found is dtypes.float32:
                found = dtypes.float32
            elif value.dtype is not narrow:
                raise RuntimeError(
                    f"Unexpected floating ScalarType in autocast: {value.dtype} among tensors of "
                    f"{narrow} and torch.float32"
                )
    return found


def _in_float32(op: OpOverload, device_type: str, below: DispatchKeySet) -> Kernel:
    """Asks the operator for float32 results, unless the call names a dtype."""
    at = next(i for i, a in enumerate(op._schema.arguments) if a.name == "dtype")

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with _ExcludeDispatchKeyGuard(below):
            named = kwargs.get("dtype", args[at] if len(args) > at else None) is not None
            if not named and is_eligible(args[0], device_type):
                return op(*args[:at], **{**kwargs, "dtype": dtypes.float32})
            return op(*args, **kwargs)

    return kernel


def _with_dtype(op: OpOverload, device_type: str, below: DispatchKeySet) -> Kernel:
    """Calls the overload of `norm` that takes a dtype, with float32."""
    wide = {"Scalar": "ScalarOpt_dtype", "ScalarOpt_dim": "ScalarOpt_dim_dtype"}
    other = lookup_op("aten::norm." + wide[op._overloadname])
    needed = [(a.name, a.default_value) for a in op._schema.arguments]  # `other` has no defaults

    def kernel(*args: Any, **kwargs: Any) -> Any:
        with _ExcludeDispatchKeyGuard(below):
            if is_eligible(args[0], device_type):
                rest = {**dict(needed[len(args) :]), **kwargs}
                return other(*args, **rest, dtype=dtypes.float32)
            return op(*args, **kwargs)

    return kernel


def _refused(op: OpOverload, device_type: str, below: DispatchKeySet) -> Kernel:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{op} is unsafe to autocast: use binary_cross_entropy_with_logits, "
            "or turn autocast off around it"
        )

    return kernel


_KERNELS: dict[str, Callable[..., Kernel]] = {
    "narrow": _casting(lambda values, device_type: _state.dtypes[device_type]),
    "float32": _casting(lambda values, device_type: dtypes.float32),
    "widest": _casting(_widest),
    "float32 results": _in_float32,
    "float32 norm": _with_dtype,
    "refused": _refused,
}
