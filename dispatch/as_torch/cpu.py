"""`torch.cpu`: the one device that is always there, asked as programs ask a GPU."""

import contextlib
from typing import Any

__all__ = [
    "Event", "Stream", "StreamContext", "current_device", "current_stream", "device_count",
    "is_available", "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream:
    """A queue of work; on a CPU all work is done when the call is."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: "Stream") -> None:
        """Nothing: the other's work is done."""

    def record_event(self) -> None:
        """Nothing: there is nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing: it has happened."""


class Event:
    """What has happened when it is asked for."""

    def query(self) -> bool:
        """True."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Nothing."""

    def synchronize(self) -> None:
        """Nothing."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing."""


class StreamContext(contextlib.nullcontext[Any]):
    """A block whose work is put into a stream."""

    def __init__(self, stream: Stream | None) -> None:
        super().__init__()
        self.stream = stream


_one = Stream()
stream = StreamContext


def current_stream(device: Any = None) -> Stream:
    """The one there is."""
    return _one


def is_available() -> bool:
    """True."""
    return True


is_initialized = is_available


def device_count() -> int:
    """1."""
    return 1


def current_device() -> str:
    """ "cpu" """
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is no other."""


def synchronize(device: Any = None) -> None:
    """Nothing: all work is done."""
