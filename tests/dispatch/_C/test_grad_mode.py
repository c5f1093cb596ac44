"""Gradient and inference mode as context managers, decorators and statements."""

import functools
import threading

import pytest

from dispatch._C import tls
from dispatch._C.grad_mode import (
    _InferenceMode,
    _set_grad_enabled,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from dispatch._C.keys import DispatchKeySet
from tests.dispatch._C.conftest import thread_state

pytestmark = pytest.mark.usefixtures("same_state_after")


def state():
    return is_grad_enabled(), is_inference_mode_enabled()


MODES = {
    "no_grad": (no_grad, (False, False)),
    "enable_grad": (enable_grad, (True, False)),
    "inference_mode": (inference_mode, (False, True)),
    "inference_mode off": (functools.partial(inference_mode, False), (True, False)),
    "set_grad_enabled": (functools.partial(set_grad_enabled, False), (False, False)),
}


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


@pytest.fixture(params=[True, False])
def grad_before(request):
    """Runs the test with gradients on, and with them off."""
    _set_grad_enabled(request.param)
    yield request.param
    _set_grad_enabled(True)


def test_mode_holds_inside_with(mode, grad_before):
    make, inside = mode
    with make() as entered:
        assert entered is None
        assert state() == inside
    assert state() == (grad_before, False)


def test_mode_ends_with_an_exception(mode, grad_before):
    make, _ = mode
    with pytest.raises(KeyError), make():
        raise KeyError
    assert state() == (grad_before, False)


def test_modes_nest_and_one_object_nests_in_itself(mode):
    make, inside = mode
    guard = make()
    with guard:
        with no_grad(), enable_grad():
            assert is_grad_enabled()
            with guard:
                assert state() == inside
            assert is_grad_enabled()
        assert state() == inside
    assert state() == (True, False)


def test_mode_decorates_a_function(mode, grad_before):
    make, inside = mode

    @make()
    def f(a, *, b):
        "What it says."
        return a, b, state()

    assert state() == (grad_before, False)
    assert f(1, b=2) == (1, 2, inside)
    assert (f.__name__, f.__doc__) == ("f", "What it says.")
    assert state() == (grad_before, False)


@pytest.mark.parametrize("cls", [no_grad, enable_grad, inference_mode])
def test_class_itself_decorates(cls):
    @cls
    def f():
        return state()

    assert f() == MODES[cls.__name__][1]


def test_decorated_function_is_reentrant():
    @no_grad()
    def f(depth):
        with enable_grad():
            deeper = f(depth - 1) if depth else []
        return [is_grad_enabled(), *deeper]

    assert f(3) == [False] * 4


def test_decorated_generator_runs_in_the_mode_and_its_caller_does_not():
    @no_grad()
    def generate():
        got = yield state()
        try:
            yield got, state()
        except KeyError:
            yield "caught", state()
        return "end"

    steps = generate()
    assert next(steps) == (False, False)
    assert state() == (True, False)
    assert steps.send("sent") == ("sent", (False, False))
    assert steps.throw(KeyError()) == ("caught", (False, False))
    assert state() == (True, False)
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "end"


def test_closing_a_decorated_generator_runs_its_cleanup_in_the_mode():
    seen = []

    @inference_mode()
    def generate():
        try:
            yield
        finally:
            seen.append(state())

    steps = generate()
    next(steps)
    steps.close()
    assert seen == [(False, True)]


def test_decorating_a_class_warns():
    with pytest.warns(FutureWarning, match="class"):

        @no_grad()
        class Made:
            def __init__(self):
                self.state = state()

    assert Made().state == (False, False)


@pytest.mark.parametrize("make", [no_grad, inference_mode])
def test_what_cannot_be_called_is_refused_by_the_call(make):
    decorated = make()(3)
    with pytest.raises(TypeError):
        decorated()
    with pytest.raises(TypeError):
        make("x")


def test_set_grad_enabled_acts_at_once_and_stays():
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    assert is_grad_enabled()


def test_set_grad_enabled_in_with_restores():
    guard = set_grad_enabled(False)
    assert (guard.mode, guard.prev) == (False, True)
    assert not is_grad_enabled()
    with guard:
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_set_grad_enabled_decorates_without_changing_the_present():
    @set_grad_enabled(False)
    def f():
        return is_grad_enabled()

    assert is_grad_enabled()
    assert f() is False
    assert is_grad_enabled()


def test_no_grad_entered_by_hand_stays_on():
    """As in PyTorch, the object that was entered may die: the mode lasts."""
    no_grad().__enter__()
    assert not is_grad_enabled()
    set_grad_enabled(True)


def test_inference_mode_entered_by_hand_ends_with_its_object():
    inference_mode().__enter__()
    assert not is_inference_mode_enabled()


def test_inference_mode_guard_acts_from_its_construction():
    guard = _InferenceMode(True)
    assert state() == (False, True)
    with guard:
        assert state() == (False, True)
    assert state() == (True, False)


def test_inference_mode_changes_the_key_sets():
    autograd = DispatchKeySet("AutogradOther") | DispatchKeySet("AutogradFunctionality")
    autograd |= DispatchKeySet("AutogradNestedTensor")
    included = tls._dispatch_tls_local_include_set()
    excluded = tls._dispatch_tls_local_exclude_set()
    with inference_mode():
        assert tls._dispatch_tls_local_include_set() == DispatchKeySet("BackendSelect")
        assert tls._dispatch_tls_local_exclude_set() == excluded | autograd
        with inference_mode(False):
            assert tls._dispatch_tls_local_include_set() == included
            assert tls._dispatch_tls_local_exclude_set() == excluded


@pytest.mark.parametrize(
    "make", [set_grad_enabled, inference_mode, _set_grad_enabled, _InferenceMode]
)
def test_mode_must_be_a_bool(make):
    before = thread_state()
    for value in (1, None):
        with pytest.raises(TypeError, match="bool"):
            make(value)
    assert thread_state() == before


def test_modes_belong_to_the_thread():
    seen = []
    with inference_mode():
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
    assert seen == [(True, False)]


def test_subclass_of_a_mode_works():
    class Quiet(no_grad):
        pass

    with Quiet():
        assert not is_grad_enabled()
    assert Quiet()(is_grad_enabled)() is False
