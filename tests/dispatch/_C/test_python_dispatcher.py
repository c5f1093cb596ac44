"""The Python dispatcher: tables of `py_impl`, asked at every key while it is on."""

import gc
import threading

import pytest

import dispatch
from dispatch import _C, DispatchKey, ops
from dispatch.modes import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.fixture
def f(library):
    lib = library("pydisp", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CPU")
    return ops.pydisp.f.default


def test_python_kernels_run_only_while_it_is_on(f):
    f.py_impl(DispatchKey.CPU)(lambda x: x + 10)
    x = dispatch.zeros(1)
    assert f(x).item() == 1
    with _C._EnablePythonDispatcher():
        assert f(x).item() == 10
    assert f(x).item() == 1


def test_it_is_on_in_its_thread_alone(f):
    f.py_impl(DispatchKey.CPU)(lambda x: x + 10)
    got = []
    with _C._EnablePythonDispatcher():
        thread = threading.Thread(target=lambda: got.append(f(dispatch.zeros(1)).item()))
        thread.start()
        thread.join()
    assert got == [1]


def test_what_a_key_resolves_to_is_cached_and_a_new_kernel_clears_it(f):
    with _C._EnablePythonDispatcher():
        f(dispatch.zeros(1))
        autograd, cpu = DispatchKey.AutogradCPU, DispatchKey.CPU
        assert f._dispatch_cache == {autograd: autograd, cpu: cpu}
        f.py_impl(DispatchKey.CPU)(lambda x: x + 10)
        assert f._dispatch_cache == {}
        assert f(dispatch.zeros(1)).item() == 10


def test_rule_for_a_mode_takes_its_place(f):
    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    f.py_impl(Mode)(lambda mode, x: x + 100)
    x = dispatch.zeros(1)
    with Mode(), _C._EnablePythonDispatcher():
        assert f(x).item() == 100
        assert _C._len_torch_dispatch_stack() == 1


def test_error_in_a_kernel_comes_out_and_leaves_the_thread_as_it_was(f):
    def fail(x):
        raise KeyError("no")

    f.py_impl(DispatchKey.CPU)(fail)
    with _C._EnablePythonDispatcher():
        with pytest.raises(KeyError):
            f(dispatch.zeros(1))
        assert _C._dispatch_tls_is_dispatch_key_included("PythonDispatcher")


def test_its_key_without_it_is_an_error(f):
    x = dispatch.zeros(1)
    with (
        _C._IncludeDispatchKeyGuard(DispatchKey.PythonDispatcher),
        pytest.raises(RuntimeError, match=r"pydisp::f.*_EnablePythonDispatcher"),
    ):
        f(x)


@pytest.mark.parametrize("key", ["CUDA", "Undefined", "CompositeImplicitAutograd"])
def test_call_for_a_key_without_a_kernel_is_an_error(f, key):
    with pytest.raises(NotImplementedError, match=rf"pydisp::f.*{key}"):
        f._op_dk(key, dispatch.zeros(1))


def test_call_for_a_key_that_falls_through_is_an_error(f):
    with pytest.raises(RuntimeError, match="fallthrough"):
        f._op_dk(DispatchKey.BackendSelect, dispatch.zeros(1))


def test_factories_go_by_their_device():
    with _C._EnablePythonDispatcher():
        assert dispatch.empty(2, device="meta").device.type == "meta"
        assert dispatch.zeros(2).device.type == "cpu"


def test_calls_leave_no_references(f):
    f.py_impl(DispatchKey.CPU)(lambda x: x)
    x = dispatch.zeros(1)
    with _C._EnablePythonDispatcher():
        f(x)
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(50):
            f(x)
        gc.collect()
        assert len(gc.get_objects()) - before < 20
