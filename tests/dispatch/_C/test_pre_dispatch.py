"""The stack of modes above autograd."""

import threading

import pytest

import dispatch
from dispatch import _C, DispatchKey, _ops, ops
from dispatch._C import pre_dispatch
from dispatch.modes import TorchDispatchMode

pytestmark = pytest.mark.usefixtures("same_state_after")

PROXY, FUNCTIONAL = _C._TorchDispatchModeKey.PROXY, _C._TorchDispatchModeKey.FUNCTIONAL


class Early(TorchDispatchMode):
    def __init__(self):
        super().__init__(DispatchKey.PreDispatch)
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append((str(func), _ops._len_torch_dispatch_stack_pre_dispatch()))
        return func(*args, **(kwargs or {}))


class Alone(Early):
    pass


@pytest.fixture(autouse=True)
def places(monkeypatch):
    monkeypatch.setattr(pre_dispatch, "_places_by_class", {})
    _ops.register_pre_dispatch_mode(Early, 0)


def included():
    return _C._dispatch_tls_is_dispatch_key_included(DispatchKey.PreDispatch)


def test_mode_sees_composites_before_they_decompose(library):
    lib = library("early", "DEF")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: x + 1, "CompositeImplicitAutograd")
    x = dispatch.ones(1)
    with Early() as mode:
        assert included()
        ops.early.f(x)
        assert mode.seen == []
        with _C._EnablePythonDispatcher():
            ops.early.f(x)
        assert mode.seen == [("early.f.default", 0)]
        assert _ops._len_torch_dispatch_stack_pre_dispatch() == 1
    assert not included()


def test_a_taken_place_is_refused_and_stays_taken():
    with Early() as mode:
        with pytest.raises(AssertionError, match="taken"):
            Early().__enter__()
        assert _ops._get_dispatch_mode_pre_dispatch(PROXY) is mode
        assert _ops._get_dispatch_mode_pre_dispatch(FUNCTIONAL) is None


def test_a_mode_that_is_used_alone():
    pre_dispatch._places_by_class.clear()
    _ops.register_pre_dispatch_mode(Alone, None)
    _ops.register_pre_dispatch_mode(Early, 0)
    with Alone() as mode:
        assert _ops._get_current_dispatch_mode_pre_dispatch() is mode
    with Early(), pytest.raises(AssertionError, match="alone"):
        Alone().__enter__()


def test_other_classes_are_refused():
    class Other(TorchDispatchMode):
        pass

    for key in (DispatchKey.PreDispatch, DispatchKey.CPU):
        with pytest.raises(AssertionError):
            Other(key).__enter__()
    assert not included()


def test_the_stack_is_the_threads_own():
    got = []
    with Early():
        thread = threading.Thread(
            target=lambda: got.append(_ops._len_torch_dispatch_stack_pre_dispatch())
        )
        thread.start()
        thread.join()
    assert got == [0]
