"""The default device as a function mode."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import dispatch
from dispatch.as_torch.devices import (
    DeviceContext,
    get_default_device,
    set_default_device,
    set_device,
)
from dispatch.modes import BaseTorchFunctionMode
from dispatch.modes.function import _get_current_function_mode_stack

META = dispatch.device("meta")
ROOT = Path(__file__).resolve().parents[3]


def kinds():
    return [type(mode) for mode in _get_current_function_mode_stack()]


def test_factories_without_a_device_get_that_of_the_mode():
    with DeviceContext("meta"):
        assert get_default_device() == META
        assert {dispatch.ones(1).device, dispatch.tensor([1]).device} == {META}
        assert dispatch.fft.fftfreq(3).device == META
        given = dispatch.zeros(1, device="cpu")
        assert {given.device.type, dispatch.ones_like(given).device.type} == {"cpu"}
    assert dispatch.ones(1).device.type == "cpu"


def test_the_context_is_outermost_and_there_is_one():
    with BaseTorchFunctionMode(), DeviceContext("meta"):
        assert kinds() == [DeviceContext, BaseTorchFunctionMode]
        with DeviceContext("cpu"):
            assert kinds() == [DeviceContext, BaseTorchFunctionMode]
            assert dispatch.ones(1).device.type == "cpu"
        assert dispatch.ones(1).device == META
    assert kinds() == []


def test_the_default_of_a_thread_is_replaced_and_taken_away():
    try:
        set_default_device("cpu")
        with BaseTorchFunctionMode():
            set_default_device("meta")
            assert kinds() == [DeviceContext, BaseTorchFunctionMode]
        assert kinds() == [DeviceContext] and get_default_device() == META
        with pytest.raises(RuntimeError):
            set_default_device("nowhere")
        assert get_default_device() == META
    finally:
        set_default_device(None)
    assert kinds() == [] and get_default_device() == dispatch.device("cpu")


def test_a_context_that_somebody_took_off_is_told():
    context = DeviceContext("meta")
    with BaseTorchFunctionMode():
        with pytest.raises(AssertionError, match="at the bottom of the mode stack"):
            context.__exit__(None, None, None)
        assert kinds() == [BaseTorchFunctionMode]


def test_decorated_functions_and_generators():
    @set_device("meta")
    def made():
        return dispatch.ones(1).device

    @set_device("meta")
    def several():
        try:
            got = yield dispatch.ones(1).device
        except KeyError:
            got = "caught"
        yield got, dispatch.ones(1).device
        return 3

    assert made() == META
    running = several()
    assert next(running) == META and dispatch.ones(1).device.type == "cpu"
    assert running.send(7) == (7, META)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == 3
    running = several()
    next(running)
    assert running.throw(KeyError()) == ("caught", META)
    running.close()
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        set_device("meta")(type("Made", (), {}))


def test_blocks_of_a_device_are_modes_under_the_names_of_pytorch():
    program = """
        import dispatch.as_torch
        dispatch.as_torch.install()
        import torch
        from torch.overrides import TorchFunctionMode

        class Seen(TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                print(func.__name__, kwargs and kwargs.get("device"))
                return func(*args, **(kwargs or {}))

        meta = torch.device("meta")
        with Seen(), meta:
            torch.ones(1)
        with meta as entered, Seen():
            torch.ones(1)
            print(torch._C._len_torch_function_stack(), entered, torch.get_default_device())
        print(torch._C._len_torch_function_stack(), torch.ones(1).device)
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:5] == [
        "device None", "ones meta", "ones None", "2 meta meta", "0 cpu"
    ]  # fmt: skip


def test_a_block_that_was_not_entered_cannot_end():
    with pytest.raises(RuntimeError, match="no block is entered"):
        META.__exit__(None, None, None)
