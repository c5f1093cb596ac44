"""Device events reach the callbacks of their device and kind, whatever a callback does."""

import logging

import pytest

from dispatch import device_trace
from dispatch._C.device_events import _fire_device_event

KINDS = {kind: n for n, kind in enumerate(device_trace.EVENT_KINDS)}


@pytest.fixture
def heard():
    """What callbacks got; they go after the test."""
    found = []
    yield found
    for registry in device_trace._registries.values():
        registry.callback_list.clear()


@pytest.mark.parametrize("kind", device_trace.EVENT_KINDS)
def test_each_kind_of_event_is_heard(kind, heard):
    values = (1, 2) if kind in ("event_record", "event_wait") else (7,)
    values = () if kind == "device_synchronization" else values
    register = getattr(device_trace, f"register_callback_for_{kind}")
    register("cuda", lambda *given: heard.append(given))
    _fire_device_event("cuda", KINDS[kind], *values)
    _fire_device_event("xpu", KINDS[kind], *values)
    assert heard == [values]


def test_a_failing_callback_is_logged_and_the_next_one_called(heard, caplog):
    def fails(address):
        raise ValueError("no")

    device_trace.register_callback_for_memory_allocation("cuda", fails)
    device_trace.register_callback_for_memory_allocation("cuda", heard.append)
    with caplog.at_level(logging.ERROR):
        _fire_device_event("cuda", KINDS["memory_allocation"], 64)
    assert heard == [64]
    assert "cuda memory allocation" in caplog.text and "ValueError: no" in caplog.text


def test_callbacks_go(heard):
    registry = device_trace.registry("cuda", "stream_creation")
    registry.add_cb(heard.append)
    registry.remove_cb(heard.append)
    registry.fire_callbacks(1)
    assert heard == []
    with pytest.raises(ValueError):
        registry.remove_cb(heard.append)


def test_wrong_events_are_refused():
    with pytest.raises(ValueError, match="no_such_kind"):
        device_trace.registry("cuda", "no_such_kind")
    with pytest.raises(ValueError):
        _fire_device_event("cuda", 99)
    with pytest.raises(ValueError):
        _fire_device_event("cuda", KINDS["event_record"], 1)
