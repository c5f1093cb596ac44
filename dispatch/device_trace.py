"""Callbacks on what devices do: streams, events, memory, synchronisation (torch._C.GPUTrace).

A backend calls `fire_*` of `_C/device_events` (from C, without cost while nobody listens); a tool
registers callbacks here. A callback that raises is logged and changes nothing.

Example:
    >>> from dispatch import device_trace
    >>> seen = []
    >>> device_trace.register_callback_for_memory_allocation("cuda", seen.append)
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Generic, ParamSpec

from dispatch._C.device_events import _set_listener

__all__ = [
    "EVENT_KINDS",
    "CallbackRegistry",
    "register_callback_for_device_synchronization",
    "register_callback_for_event_creation",
    "register_callback_for_event_deletion",
    "register_callback_for_event_record",
    "register_callback_for_event_synchronization",
    "register_callback_for_event_wait",
    "register_callback_for_memory_allocation",
    "register_callback_for_memory_deallocation",
    "register_callback_for_stream_creation",
    "register_callback_for_stream_synchronization",
]

P = ParamSpec("P")
_logger = logging.getLogger(__name__)

# In the order of `_C/device_events.DeviceEvent`.
EVENT_KINDS = (
    "event_creation", "event_deletion", "event_record", "event_wait", "memory_allocation",
    "memory_deallocation", "stream_creation", "device_synchronization", "stream_synchronization",
    "event_synchronization",
)  # fmt: skip


class CallbackRegistry(Generic[P]):
    """Callbacks of one kind of event, called in the order of their registration.

    Args:
        name: what the log says when a callback fails.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.callback_list: list[Callable[P, None]] = []

    def add_cb(self, cb: Callable[P, None]) -> None:
        """Call `cb` at each event from now on."""
        self.callback_list.append(cb)

    def remove_cb(self, cb: Callable[P, None]) -> None:
        """Call `cb` no more; ValueError when it is not registered."""
        self.callback_list.remove(cb)

    def fire_callbacks(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call all; what one raises is logged, and the next one is called."""
        for callback in list(self.callback_list):
            try:
                callback(*args, **kwargs)
            except Exception:
                _logger.exception("exception in the callback for %s registered with %s",
                                  self.name, callback)  # fmt: skip


_registries: dict[tuple[str, int], CallbackRegistry[Any]] = {}


def registry(device: str, kind: str) -> CallbackRegistry[Any]:
    """The callbacks of one kind of event (one of EVENT_KINDS) on a type of device ("cuda").

    Raises:
        ValueError: no such kind.
    """
    if kind not in EVENT_KINDS:
        raise ValueError(f"no kind of device event is called {kind!r}: {', '.join(EVENT_KINDS)}")
    number = EVENT_KINDS.index(kind)
    found = _registries.get((device, number))
    if found is None:
        found = CallbackRegistry(f"{device} {kind.replace('_', ' ')}")
        _registries[device, number] = found
    return found


def _hear(device: str, number: int, arguments: tuple[int, ...]) -> None:
    found = _registries.get((device, number))
    if found is not None:
        found.fire_callbacks(*arguments)


def _register(device: str, kind: str, cb: Callable[..., None]) -> None:
    registry(device, kind).add_cb(cb)
    _set_listener(_hear)


def register_callback_for_event_creation(device: str, cb: Callable[[int], None]) -> None:
    """`cb(event)` when an event is made; handles are ints."""
    _register(device, "event_creation", cb)


def register_callback_for_event_deletion(device: str, cb: Callable[[int], None]) -> None:
    """`cb(event)` when an event is destroyed."""
    _register(device, "event_deletion", cb)


def register_callback_for_event_record(device: str, cb: Callable[[int, int], None]) -> None:
    """`cb(event, stream)` when an event is recorded on a stream."""
    _register(device, "event_record", cb)


def register_callback_for_event_wait(device: str, cb: Callable[[int, int], None]) -> None:
    """`cb(event, stream)` when a stream is made to wait for an event."""
    _register(device, "event_wait", cb)


def register_callback_for_memory_allocation(device: str, cb: Callable[[int], None]) -> None:
    """`cb(address)` when memory is allocated."""
    _register(device, "memory_allocation", cb)


def register_callback_for_memory_deallocation(device: str, cb: Callable[[int], None]) -> None:
    """`cb(address)` when memory is freed."""
    _register(device, "memory_deallocation", cb)


def register_callback_for_stream_creation(device: str, cb: Callable[[int], None]) -> None:
    """`cb(stream)` when a stream is made."""
    _register(device, "stream_creation", cb)


def register_callback_for_device_synchronization(device: str, cb: Callable[[], None]) -> None:
    """`cb()` when the program waits for the whole device."""
    _register(device, "device_synchronization", cb)


def register_callback_for_stream_synchronization(device: str, cb: Callable[[int], None]) -> None:
    """`cb(stream)` when the program waits for a stream."""
    _register(device, "stream_synchronization", cb)


def register_callback_for_event_synchronization(device: str, cb: Callable[[int], None]) -> None:
    """`cb(event)` when the program waits for an event."""
    _register(device, "event_synchronization", cb)
