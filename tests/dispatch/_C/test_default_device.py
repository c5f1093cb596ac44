"""The thread's default device."""

import threading

import pytest

import dispatch


@pytest.fixture
def reset():
    """The CPU again afterwards."""
    yield
    dispatch.set_default_device(None)


def test_factories_without_a_device_use_the_default(reset) -> None:
    dispatch.set_default_device("meta")
    assert dispatch.empty(2).device.type == "meta"
    assert dispatch.zeros(2).device.type == "meta"
    assert dispatch.empty(2, device="cpu").device.type == "cpu"


def test_fake_factories_use_the_default(reset) -> None:
    dispatch.set_default_device("cuda")
    with dispatch.FakeTensorMode():
        assert str(dispatch.empty(2).device) == "cuda:0"


def test_the_default_belongs_to_the_thread(reset) -> None:
    dispatch.set_default_device("meta")
    seen = []
    thread = threading.Thread(target=lambda: seen.append(str(dispatch.get_default_device())))
    thread.start()
    thread.join()
    assert seen == ["cpu"]
    assert str(dispatch.get_default_device()) == "meta"


def test_an_unknown_device_leaves_the_default(reset) -> None:
    dispatch.set_default_device("meta")
    with pytest.raises(RuntimeError):
        dispatch.set_default_device("nowhere")
    assert str(dispatch.get_default_device()) == "meta"
