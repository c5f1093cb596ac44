"""The thread's key sets and mode stacks: defaults, changes, threads, and who frees what."""

import gc
import os
import pickle
import sys
import threading
import tracemalloc
import weakref

import pytest

from dispatch._C import tls, torch_function
from dispatch._C.guards import _ForceDispatchKeyGuard
from dispatch._C.keys import DispatchKey, DispatchKeySet
from dispatch._C.tls import _TorchDispatchModeKey as ModeKey
from tests.dispatch._C.conftest import thread_state

pytestmark = pytest.mark.usefixtures("same_state_after")

DEFAULT_INCLUDED = DispatchKeySet("BackendSelect") | DispatchKeySet("ADInplaceOrView")
PYTHON_KEYS = DispatchKeySet("Python") | DispatchKeySet("PythonTLSSnapshot")
AUTOCAST = ["CPU", "MTIA", "MAIA", "XPU", "IPU", "HPU", "XLA", "MPS", "CUDA", "PrivateUse1"]


class Mode:
    """Stands for a TorchDispatchMode or TorchFunctionMode; `key` makes it an infra mode."""

    def __init__(self, key=None):
        self._mode_key = key


def in_thread(function):
    """Result of `function()` in a thread of its own."""
    results = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def stack():
    return [tls._get_dispatch_stack_at(i) for i in range(tls._len_torch_dispatch_stack())]


@pytest.fixture
def infra():
    """One mode of each infra kind; slots are empty again afterwards."""
    yield {name: Mode(key) for name, key in ModeKey.__members__.items()}
    for key in ModeKey.__members__.values():
        tls._unset_dispatch_mode(key)


@pytest.fixture
def pushed():
    """Pushes modes, and takes them off after the test."""
    count = 0

    def push(mode):
        nonlocal count
        tls._push_on_torch_dispatch_stack(mode)
        count += 1
        return mode

    yield push
    for _ in range(count):
        tls._pop_torch_dispatch_stack()


# --- key sets


def test_new_thread_has_the_default_sets():
    state = in_thread(thread_state)
    excluded = DispatchKeySet("Undefined")
    for name in AUTOCAST:
        excluded |= DispatchKeySet("Autocast" + name)
    assert state["included"] == tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED
    assert state["excluded"] == tls._dispatch_tls_local_exclude_set() == excluded
    assert state["grad"] is True and state["inference"] is False
    assert state["modes"] == [] and state["guards"] == 0


def test_key_sets_belong_to_the_thread():
    tls._dispatch_tls_set_dispatch_key_included("Conjugate", True)
    try:
        assert in_thread(tls._dispatch_tls_local_include_set) == DEFAULT_INCLUDED
    finally:
        tls._dispatch_tls_set_dispatch_key_included("Conjugate", False)


@pytest.mark.parametrize("key", ["Conjugate", DispatchKey.Python, DispatchKey(23)])
def test_key_is_included_and_excluded(key):
    for has, put in (
        (tls._dispatch_tls_is_dispatch_key_included, tls._dispatch_tls_set_dispatch_key_included),
        (tls._dispatch_tls_is_dispatch_key_excluded, tls._dispatch_tls_set_dispatch_key_excluded),
    ):
        assert not has(key)
        put(key, True)
        assert has(key)
        put(key, False)
        assert not has(key)


def test_backend_bit_of_a_key_stays():
    """As in PyTorch: taking a per-backend key away takes its functionality only."""

    def changed():
        tls._dispatch_tls_set_dispatch_key_included("CPU", True)
        tls._dispatch_tls_set_dispatch_key_included("CPU", False)
        return tls._dispatch_tls_local_include_set().raw_repr()

    assert in_thread(changed) == DEFAULT_INCLUDED.raw_repr() | 1


def test_keys_without_bits_are_in_every_set():
    assert tls._dispatch_tls_is_dispatch_key_included("Undefined")
    assert tls._dispatch_tls_is_dispatch_key_excluded("Autograd")


def test_unknown_key_changes_nothing():
    before = thread_state()
    with pytest.raises(RuntimeError, match="NoSuchKey"):
        tls._dispatch_tls_set_dispatch_key_included("NoSuchKey", True)
    with pytest.raises(TypeError):
        tls._dispatch_tls_set_dispatch_key_excluded(3, True)
    assert thread_state() == before


def test_meta_in_include_set_comes_and_its_backend_goes():
    assert not tls._meta_in_tls_dispatch_include()
    with _ForceDispatchKeyGuard(DEFAULT_INCLUDED, tls._dispatch_tls_local_exclude_set()):
        tls._set_meta_in_tls_dispatch_include(True)
        assert tls._meta_in_tls_dispatch_include()
        assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED | DispatchKeySet("Meta")
        tls._set_meta_in_tls_dispatch_include(False)
        assert not tls._meta_in_tls_dispatch_include()
        assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED | DispatchKeySet("Dense")


# --- the stack of dispatch modes


def test_mode_key_members():
    assert {name: int(key) for name, key in ModeKey.__members__.items()} == {
        "FUNCTIONAL": 2,
        "PROXY": 1,
        "FAKE": 0,
    }
    assert repr(ModeKey.FAKE) == "<_TorchDispatchModeKey.FAKE: 0>"
    assert ModeKey.FAKE == ModeKey(0) != ModeKey.PROXY
    assert pickle.loads(pickle.dumps(ModeKey.PROXY)) == ModeKey.PROXY


def test_modes_stack_up(pushed):
    a, b = pushed(Mode()), pushed(Mode())
    assert stack() == [a, b]
    assert tls._pop_torch_dispatch_stack() is b
    assert stack() == [a]
    tls._push_on_torch_dispatch_stack(b)


def test_python_keys_are_included_while_a_mode_is_active(infra):
    assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED
    tls._push_on_torch_dispatch_stack(Mode())
    tls._push_on_torch_dispatch_stack(infra["FAKE"])
    assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED | PYTHON_KEYS
    tls._pop_torch_dispatch_stack()
    assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED | PYTHON_KEYS
    tls._pop_torch_dispatch_stack(ModeKey.FAKE)
    assert tls._dispatch_tls_local_include_set() == DEFAULT_INCLUDED


def test_infra_modes_lie_below_user_modes_in_fixed_order(infra, pushed):
    user = pushed(Mode())
    for name in ("FUNCTIONAL", "FAKE", "PROXY"):
        tls._push_on_torch_dispatch_stack(infra[name])
    assert stack() == [infra["FAKE"], infra["PROXY"], infra["FUNCTIONAL"], user]
    assert tls._pop_torch_dispatch_stack() is user
    assert tls._pop_torch_dispatch_stack() is infra["FUNCTIONAL"]
    assert tls._pop_torch_dispatch_stack(ModeKey.FAKE) is infra["FAKE"]
    assert stack() == [infra["PROXY"]]
    tls._push_on_torch_dispatch_stack(user)


def test_infra_slot_holds_one_mode(infra):
    tls._set_dispatch_mode(infra["FAKE"])
    before = thread_state()
    for put in (tls._set_dispatch_mode, tls._push_on_torch_dispatch_stack):
        with pytest.raises(RuntimeError, match="FakeTensorMode"):
            put(Mode(ModeKey.FAKE))
    assert thread_state() == before


def test_infra_modes_are_got_and_unset_by_key(infra):
    assert tls._get_dispatch_mode(ModeKey.PROXY) is None
    tls._set_dispatch_mode(infra["PROXY"])
    assert tls._get_dispatch_mode(ModeKey.PROXY) is infra["PROXY"]
    assert tls._unset_dispatch_mode(ModeKey.PROXY) is infra["PROXY"]
    assert tls._unset_dispatch_mode(ModeKey.PROXY) is None


def test_empty_stack_refuses():
    before = thread_state()
    with pytest.raises(RuntimeError, match="empty"):
        tls._pop_torch_dispatch_stack()
    with pytest.raises(RuntimeError, match="FakeTensorMode"):
        tls._pop_torch_dispatch_stack(ModeKey.FAKE)
    for index in (0, -1, 7):
        with pytest.raises(RuntimeError, match=str(index)):
            tls._get_dispatch_stack_at(index)
    assert thread_state() == before


def test_mode_key_must_be_one():
    before = thread_state()
    for call in (tls._get_dispatch_mode, tls._unset_dispatch_mode, tls._pop_torch_dispatch_stack):
        with pytest.raises(RuntimeError, match="_TorchDispatchModeKey"):
            call("FAKE")
    with pytest.raises(RuntimeError, match="_mode_key"):
        tls._set_dispatch_mode(Mode())
    with pytest.raises(RuntimeError, match="_mode_key"):
        tls._push_on_torch_dispatch_stack(Mode("FAKE"))
    assert thread_state() == before


def test_pushing_none_does_nothing():
    tls._push_on_torch_dispatch_stack(None)
    torch_function._push_on_torch_function_stack(None)
    assert tls._len_torch_dispatch_stack() == torch_function._len_torch_function_stack() == 0


# --- the stack of function modes


def test_function_modes_stack_up():
    a, b = Mode(), Mode()
    assert not tls._is_torch_function_mode_enabled()
    torch_function._push_on_torch_function_stack(a)
    torch_function._push_on_torch_function_stack(b)
    assert tls._is_torch_function_mode_enabled()
    assert torch_function._len_torch_function_stack() == 2
    assert [torch_function._get_function_stack_at(i) for i in range(2)] == [a, b]
    assert torch_function._pop_torch_function_stack() is b
    assert torch_function._pop_torch_function_stack() is a


def test_empty_function_stack_refuses():
    with pytest.raises(RuntimeError, match="empty"):
        torch_function._pop_torch_function_stack()
    for index in (0, -1):
        with pytest.raises(RuntimeError, match=str(index)):
            torch_function._get_function_stack_at(index)


# --- ownership


def push_all(count):
    """Leaves modes of every kind on this thread's stacks; weak references to them."""
    modes = [Mode() for _ in range(count)] + [Mode(key) for key in ModeKey.__members__.values()]
    for mode in modes:
        tls._push_on_torch_dispatch_stack(mode)
    for mode in modes[:count]:
        torch_function._push_on_torch_function_stack(mode)
    return [weakref.ref(mode) for mode in modes]


def test_stack_owns_its_modes():
    mode = Mode()
    before = sys.getrefcount(mode)
    for _ in range(100):
        tls._push_on_torch_dispatch_stack(mode)
        torch_function._push_on_torch_function_stack(mode)
    assert sys.getrefcount(mode) == before + 200
    for _ in range(100):
        tls._pop_torch_dispatch_stack()
        torch_function._pop_torch_function_stack()
    assert sys.getrefcount(mode) == before


def test_infra_slot_owns_its_mode():
    mode = Mode(ModeKey.FAKE)
    before = sys.getrefcount(mode)
    for _ in range(100):
        tls._set_dispatch_mode(mode)
        assert tls._get_dispatch_mode(ModeKey.FAKE) is mode
        tls._unset_dispatch_mode(ModeKey.FAKE)
        tls._push_on_torch_dispatch_stack(mode)
        tls._pop_torch_dispatch_stack()
    assert sys.getrefcount(mode) == before


def test_end_of_a_thread_frees_its_stacks():
    references = in_thread(lambda: push_all(20))
    gc.collect()
    assert [reference() for reference in references] == [None] * 23


def test_threads_leave_no_memory_behind():
    """After a first round, more threads that leave modes behind do not raise the traced total."""

    def rounds(count):
        for _ in range(count):
            in_thread(lambda: push_all(50) and None)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        rounds(5)
        growth = -rounds(5) + rounds(50)
    finally:
        tracemalloc.stop()
    assert growth < 50 * 8 * 50


def test_finaliser_of_a_mode_may_use_the_stack_of_the_ending_thread():
    lengths = []

    class Curious(Mode):
        def __del__(self):
            lengths.append(tls._len_torch_dispatch_stack())

    def leave_two():
        tls._push_on_torch_dispatch_stack(Curious())
        tls._push_on_torch_dispatch_stack(Curious())

    in_thread(leave_two)
    assert sorted(lengths) == [0, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork_keeps_the_stack_of_the_forking_thread(pushed):
    mode = pushed(Mode())
    ready, done = threading.Event(), threading.Event()
    other = threading.Thread(target=lambda: (push_all(3), ready.set(), done.wait()))
    other.start()
    ready.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if stack() == [mode] else 1)
    done.set()
    other.join()
    assert os.waitpid(child, 0)[1] == 0


def test_meta_is_in_the_include_set_however_it_came_there():
    assert not tls._meta_in_tls_dispatch_include()
    tls._dispatch_tls_set_dispatch_key_included(DispatchKey.Meta, True)
    try:
        assert tls._meta_in_tls_dispatch_include()
    finally:
        tls._dispatch_tls_set_dispatch_key_included(DispatchKey.Meta, False)
        tls._set_meta_in_tls_dispatch_include(False)
