"""Streams and events: values that operators hand on."""

import pytest

import dispatch
from dispatch.library import _scoped_library


def test_streams_are_equal_by_device_and_number():
    s = dispatch.Stream(stream_id=1, device_index=2, device_type=1)
    assert s == dispatch.Stream(stream_id=1, device_index=2, device_type=1)
    assert s != dispatch.Stream(stream_id=2, device_index=2, device_type=1)
    assert s.device == dispatch.device("cuda", 2)
    assert dispatch.Stream("meta").device_type == 14
    with pytest.raises(TypeError, match="together"):
        dispatch.Stream(stream_id=1, device_index=2)


def test_kernels_give_and_modes_see_streams():
    seen = []

    class Mode(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with _scoped_library("test_streams", "DEF") as library:
        library.define("stream_of(Tensor self) -> Stream")
        made = dispatch.Stream("cpu")
        library.impl("stream_of", lambda x: made, "CPU")
        x = dispatch.ones(1)
        with Mode():
            assert dispatch.ops.test_streams.stream_of(x) is made
    assert len(seen) == 1


def test_nothing_waits():
    event = dispatch.Stream().record_event()
    assert isinstance(event, dispatch.Event)
    assert event.query()
    with dispatch.Stream() as stream:
        stream.wait_event(event)
        stream.synchronize()
