"""Streams and events of devices: values that operators such as `record_stream` hand on.

No device here has queues of its own, so nothing ever waits: a stream is where it is and its number.
"""

from __future__ import annotations

from typing import Any

from dispatch._C import dtypes

__all__ = ["Event", "Stream"]

# Numbers of device types (c10::DeviceType).
_NAMES = (
    "cpu cuda mkldnn opengl opencl ideep hip fpga maia xla vulkan metal xpu mps meta hpu ve lazy "
    "ipu mtia privateuseone"
)
_CODES = {name: code for code, name in enumerate(_NAMES.split())}


class Stream:
    """A queue of a device (torch.Stream): equal by device and number.

    Args:
        device: the device; its default stream without further arguments.
        stream_id, device_index, device_type: the same as numbers, all three together.
    """

    def __init__(
        self,
        device: Any = None,
        *,
        priority: int = 0,
        stream_id: int = 0,
        device_index: int | None = None,
        device_type: int | None = None,
    ) -> None:
        if (device_index is None) != (device_type is None):
            raise TypeError("Stream: device_index and device_type are given together")
        if device_type is None:
            place = dtypes.device("cpu" if device is None else device)
            self.device_index = place.index if place.index is not None else 0
            self.device_type = _CODES.get(place.type, _CODES["privateuseone"])
        else:
            self.device_index, self.device_type = int(device_index or 0), int(device_type)
        self.stream_id = int(stream_id)

    @property
    def device(self) -> dtypes.device:
        """The device that the stream belongs to."""
        names = {code: name for name, code in _CODES.items()}
        return dtypes.device(names[self.device_type], self.device_index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[int, int, int]:
        return (self.stream_id, self.device_index, self.device_type)

    def __repr__(self) -> str:
        return (
            f"Stream(device_type={self.device_type}, device_index={self.device_index}, "
            f"stream_id={self.stream_id})"
        )

    def query(self) -> bool:
        """True: nothing is waiting."""
        return True

    def synchronize(self) -> None:
        """Nothing is waiting."""

    def wait_event(self, event: Event) -> None:
        """Nothing is waiting."""

    def wait_stream(self, stream: Stream) -> None:
        """Nothing is waiting."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event that has happened."""
        return event if event is not None else Event(self.device)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        return None


class Event:
    """A mark in a queue (torch.Event), which has been passed already."""

    def __init__(self, device: Any = None, *, enable_timing: bool = False) -> None:
        self.device = dtypes.device("cpu" if device is None else device)
        self.event_id = 0

    def __repr__(self) -> str:
        return f"Event(device={self.device})"

    def query(self) -> bool:
        """True: it has been passed."""
        return True

    def record(self, stream: Stream | None = None) -> None:
        """Nothing is waiting."""

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing is waiting."""

    def synchronize(self) -> None:
        """Nothing is waiting."""
