"""`torch.utils._device`: the default device as a function mode, as programs for PyTorch know it.

In this package the default device belongs to the thread. Under PyTorch's names `with device(...)`,
`set_default_device` and `DeviceContext` put a mode on the stack of function modes instead: other
modes see the device that it fills in, and stacks that programs look at have it.
"""

import functools
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import dispatch
from dispatch._C import default_device
from dispatch.as_torch.contexts import context_decorator
from dispatch.modes.function import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
    _push_mode,
)

__all__ = [
    "DeviceContext",
    "device_decorator",
    "get_default_device",
    "set_default_device",
    "set_device",
]

F = TypeVar("F", bound=Callable[..., Any])

CURRENT_DEVICE: dispatch.device | None = None  # of the innermost entered DeviceContext
_of_thread = threading.local()  # .mode: the DeviceContext of `set_default_device`

_FACTORIES = (
    "arange", "as_tensor", "asarray", "bartlett_window", "blackman_window", "empty",
    "empty_permuted", "empty_quantized", "empty_strided", "eye", "full", "hamming_window",
    "hann_window", "kaiser_window", "linspace", "logspace", "ones", "rand", "randint", "randn",
    "randperm", "range", "scalar_tensor", "sparse_bsc_tensor", "sparse_bsr_tensor",
    "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor",
    "tensor", "tril_indices", "triu_indices", "zeros",
)  # fmt: skip


@functools.cache
def _device_constructors() -> frozenset[Any]:
    """The functions that make tensors out of no tensor, on the default device."""
    functions = {getattr(dispatch, name, None) for name in _FACTORIES} - {None}
    return frozenset(functions | {dispatch.fft.fftfreq, dispatch.fft.rfftfreq})


class DeviceContext(TorchFunctionMode):
    """Fills `device` into calls of factories that were given none.

    Entered, it is the outermost function mode, and takes the place of another one there.
    """

    def __init__(self, device: Any) -> None:
        self.device = dispatch.device(device)
        self.prev_mode: DeviceContext | None = None

    def __torch_function__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func in _device_constructors() and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)

    def __enter__(self) -> TorchFunctionMode:
        global CURRENT_DEVICE
        self.old_device, CURRENT_DEVICE = CURRENT_DEVICE, self.device
        inner = _pop_all()
        found = [mode for mode in inner if isinstance(mode, DeviceContext)]
        self.prev_mode = found[0] if found else None
        _push_all([self, *(mode for mode in inner if mode not in found)])
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        """Take it off, and bring back what it took the place of.

        AssertionError, and the stack as it was: somebody else took it off.
        """
        global CURRENT_DEVICE
        stack = _get_current_function_mode_stack()
        if stack and not isinstance(stack[0], DeviceContext):
            raise AssertionError("Expected a DeviceContext at the bottom of the mode stack")
        if any(isinstance(mode, DeviceContext) for mode in stack[1:]):
            raise AssertionError("Found nested DeviceContext on the mode stack")
        CURRENT_DEVICE = self.old_device
        outer = [] if self.prev_mode is None else [self.prev_mode]
        _push_all([*outer, *_pop_all()[1:]])


def _pop_all() -> list[TorchFunctionMode]:
    """All function modes, off the stack; the outermost first."""
    found = _get_current_function_mode_stack()
    for _ in found:
        _pop_mode()
    return found


def _push_all(modes: list[Any]) -> None:
    for mode in modes:
        _push_mode(mode)


def set_default_device(device: Any) -> None:
    """Make `device` (a device, a string, an index, or None for the CPU) this thread's default."""
    chosen = None if device is None else DeviceContext(device)
    before = getattr(_of_thread, "mode", None)
    if before is not None:
        before.__exit__(None, None, None)
    _of_thread.mode = chosen
    if chosen is not None:
        chosen.__enter__()


def get_default_device() -> dispatch.device:
    """The device of the innermost block, else of `set_default_device`."""
    for mode in reversed(_get_current_function_mode_stack()):
        if isinstance(mode, DeviceContext):
            return mode.device
    own = getattr(_of_thread, "mode", None)  # off the stack in a handler
    return default_device.get_default_device() if own is None else own.device


def set_device(device: Any) -> Callable[[F], F]:
    """A decorator: `device` is the default while the function runs."""
    chosen = dispatch.device(device)
    return lambda func: device_decorator(chosen, func)


def device_decorator(device: Any, func: F) -> F:
    """`func`, with `device` as the default while it runs; a generator each time it goes on.

    RuntimeError: it is a class.
    """
    return context_decorator(lambda: device, func)


def install() -> None:
    """From now on `with device(...)` pushes a mode."""
    default_device._set_block(_enter_block, _pop_mode)


def _enter_block(device: dispatch.device) -> None:
    _push_mode(DeviceContext(device))
