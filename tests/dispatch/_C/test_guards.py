"""Guards: what each changes, and that leaving brings back exactly what entering found."""

import gc
import threading

import pytest

import dispatch
from dispatch import modes
from dispatch._C import guards, tls, torch_function
from dispatch._C.keys import DispatchKey, DispatchKeySet
from tests.dispatch._C.conftest import thread_state

pytestmark = pytest.mark.usefixtures("same_state_after")

AUTOGRAD = ("AutogradOther", "AutogradFunctionality", "AutogradNestedTensor")


def keys(*names):
    result = DispatchKeySet("Undefined")
    for name in names:
        result |= DispatchKeySet(name)
    return result


def included():
    return tls._dispatch_tls_local_include_set()


def excluded():
    return tls._dispatch_tls_local_exclude_set()


INCLUDED, EXCLUDED = included(), excluded()

# How to make a guard, the include set and the exclude set inside of it.
GUARDS = {
    "include": (
        lambda: guards._IncludeDispatchKeyGuard("CPU"),
        INCLUDED | keys("CPU"),
        EXCLUDED,
    ),
    "include what is included": (
        lambda: guards._IncludeDispatchKeyGuard(DispatchKey.ADInplaceOrView),
        INCLUDED,
        EXCLUDED,
    ),
    "exclude": (
        lambda: guards._ExcludeDispatchKeyGuard(keys("CPU", "Python")),
        INCLUDED,
        EXCLUDED | keys("CPU", "Python"),
    ),
    "set excluded": (
        lambda: guards._SetExcludeDispatchKeyGuard("Python", True),
        INCLUDED,
        EXCLUDED | keys("Python"),
    ),
    "set not excluded": (
        lambda: guards._SetExcludeDispatchKeyGuard("AutocastCPU", False),
        INCLUDED,
        EXCLUDED - keys("AutocastCPU"),
    ),
    "set excluded, per backend": (
        lambda: guards._SetExcludeDispatchKeyGuard("AutogradCPU", True),
        INCLUDED,
        EXCLUDED | keys("AutogradCPU"),
    ),
    "force": (
        lambda: guards._ForceDispatchKeyGuard(keys("CPU"), keys("Python")),
        keys("CPU"),
        keys("Python"),
    ),
    "preserve": (lambda: guards._PreserveDispatchKeyGuard(), INCLUDED, EXCLUDED),
    "below autograd": (
        lambda: guards._AutoDispatchBelowAutograd(),
        INCLUDED,
        EXCLUDED | keys(*AUTOGRAD),
    ),
    "below ADInplaceOrView": (
        lambda: guards._AutoDispatchBelowADInplaceOrView(),
        INCLUDED,
        EXCLUDED | keys(*AUTOGRAD, "ADInplaceOrView"),
    ),
    "no torch dispatch": (
        lambda: guards._DisableTorchDispatch(),
        INCLUDED,
        EXCLUDED | keys("Python", "PythonTLSSnapshot", "PreDispatch"),
    ),
    "python dispatcher": (
        lambda: guards._EnablePythonDispatcher(),
        INCLUDED | keys("PythonDispatcher"),
        EXCLUDED,
    ),
    "no python dispatcher": (lambda: guards._DisablePythonDispatcher(), INCLUDED, EXCLUDED),
    "pre-dispatch": (
        lambda: guards._EnablePreDispatch(),
        INCLUDED | keys("PreDispatch"),
        EXCLUDED,
    ),
}
FROM_CONSTRUCTION = {"below autograd", "no torch dispatch", "python dispatcher"}


@pytest.fixture(params=GUARDS)
def name(request):
    return request.param


def assert_inside(name):
    assert (included(), excluded()) == GUARDS[name][1:]


def assert_outside():
    assert (included(), excluded()) == (INCLUDED, EXCLUDED)


def test_guard_changes_the_sets_inside_with(name):
    with GUARDS[name][0]() as entered:
        assert entered is None
        assert_inside(name)
    assert_outside()


def test_guard_acts_from_its_construction_or_not(name):
    guard = GUARDS[name][0]()
    assert_inside(name) if name in FROM_CONSTRUCTION else assert_outside()
    with guard:
        assert_inside(name)
    assert_outside()


def test_guard_that_dies_is_undone(name):
    guard = GUARDS[name][0]()
    guard.__enter__()
    assert_inside(name)
    del guard
    assert_outside()


def test_guard_restores_after_an_exception(name):
    with pytest.raises(KeyError), GUARDS[name][0]():
        raise KeyError
    assert_outside()


def test_one_guard_nests_in_itself_and_is_used_again(name):
    guard = GUARDS[name][0]()
    for _ in range(2):
        with guard:
            with guard, guard:
                assert_inside(name)
            assert_inside(name)
        assert_outside()


def test_leaving_without_entering_does_nothing(name):
    guard = GUARDS[name][0]()
    for _ in range(2):
        guard.__exit__(None, None, None)
        assert_outside()


def test_guards_nest(name):
    with guards._ForceDispatchKeyGuard(keys("Conjugate"), keys("Negative")):
        with GUARDS[name][0]():
            pass
        assert (included(), excluded()) == (keys("Conjugate"), keys("Negative"))


def test_include_guard_restores_the_include_set_alone():
    with guards._IncludeDispatchKeyGuard("CPU"):
        tls._dispatch_tls_set_dispatch_key_included("CUDA", True)
        tls._dispatch_tls_set_dispatch_key_included("ADInplaceOrView", False)
        tls._dispatch_tls_set_dispatch_key_excluded("Conjugate", True)
    assert included() == INCLUDED
    assert excluded() == EXCLUDED | keys("Conjugate")
    tls._dispatch_tls_set_dispatch_key_excluded("Conjugate", False)


def test_exclude_guard_restores_the_exclude_set_alone():
    with guards._ExcludeDispatchKeyGuard(keys("Conjugate")):
        tls._dispatch_tls_set_dispatch_key_excluded("Conjugate", False)
        tls._dispatch_tls_set_dispatch_key_excluded("Negative", True)
        tls._dispatch_tls_set_dispatch_key_included("Negative", True)
    assert excluded() == EXCLUDED
    assert included() == INCLUDED | keys("Negative")
    tls._dispatch_tls_set_dispatch_key_included("Negative", False)


def test_set_exclude_guard_restores_its_key_alone():
    with guards._SetExcludeDispatchKeyGuard("Negative", True):
        tls._dispatch_tls_set_dispatch_key_excluded("Negative", False)
        tls._dispatch_tls_set_dispatch_key_excluded("Conjugate", True)
    assert excluded() == EXCLUDED | keys("Conjugate")
    tls._dispatch_tls_set_dispatch_key_excluded("Conjugate", False)


@pytest.mark.parametrize("name", ["force", "preserve"])
def test_force_and_preserve_restore_both_sets(name):
    with GUARDS[name][0]():
        tls._dispatch_tls_set_dispatch_key_excluded("Negative", True)
        tls._dispatch_tls_set_dispatch_key_included("Negative", True)
        tls._set_meta_in_tls_dispatch_include(True)
    assert_outside()


def test_python_dispatcher_is_switched_off_and_on_again():
    with guards._EnablePythonDispatcher():
        with guards._DisablePythonDispatcher():
            assert included() == INCLUDED
            with guards._EnablePythonDispatcher():
                assert included() == INCLUDED | keys("PythonDispatcher")
            assert included() == INCLUDED
        assert included() == INCLUDED | keys("PythonDispatcher")


def test_mode_in_a_guard_keeps_its_keys_excluded():
    with guards._DisableTorchDispatch():
        tls._push_on_torch_dispatch_stack(object())
        assert included().has("Python") and excluded().has("Python")
        tls._pop_torch_dispatch_stack()


def test_snapshot_guard_refuses_outside_of_a_call():
    guard = guards._RestorePythonTLSSnapshot()
    before = thread_state()
    with pytest.raises(RuntimeError, match="__torch_dispatch__"):
        guard.__enter__()
    assert thread_state() == before


def test_guards_check_their_arguments():
    before = thread_state()
    for make in (
        lambda: guards._IncludeDispatchKeyGuard(keys("CPU")),
        lambda: guards._ExcludeDispatchKeyGuard("CPU"),
        lambda: guards._ForceDispatchKeyGuard(keys("CPU"), DispatchKey.CPU),
        lambda: guards._DisableTorchDispatch(1),
        lambda: guards._IncludeDispatchKeyGuard(),
    ):
        with pytest.raises(TypeError):
            make()
    with pytest.raises(RuntimeError, match="NoSuchKey"):
        guards._IncludeDispatchKeyGuard("NoSuchKey")
    assert thread_state() == before


# --- __torch_function__


def function_state():
    return tls._is_torch_function_enabled(), tls._is_torch_function_mode_enabled()


@pytest.fixture
def function_mode():
    torch_function._push_on_torch_function_stack(object())
    yield
    torch_function._pop_torch_function_stack()


@pytest.mark.usefixtures("function_mode")
def test_torch_function_is_switched_off_for_subclasses_or_altogether():
    assert function_state() == (True, True)
    with guards.DisableTorchFunctionSubclass():
        assert function_state() == (False, True)
        with guards.DisableTorchFunction():
            assert function_state() == (False, False)
            assert tls._is_torch_function_all_disabled()
            with guards.DisableTorchFunctionSubclass():
                assert function_state() == (False, False)
            with guards._EnableTorchFunction():
                assert function_state() == (True, True)
            assert function_state() == (False, False)
        assert function_state() == (False, True)
    assert function_state() == (True, True)


@pytest.mark.usefixtures("function_mode")
def test_torch_function_guard_acts_inside_with_only():
    guard = guards.DisableTorchFunction()
    assert function_state() == (True, True)
    with guard, guard:
        assert function_state() == (False, False)
    assert function_state() == (True, True)


# --- threads


def run(*targets):
    """Runs functions at the same time; what went wrong in one of them is raised here."""
    errors = []

    def guarded(target):
        try:
            target()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_guard_acts_in_its_thread_only():
    with guards._IncludeDispatchKeyGuard("Conjugate"):
        run(assert_outside)


def test_one_guard_serves_several_threads():
    """Each thread enters before any leaves; each gets back what it had, in whatever order."""
    guard = guards._SetExcludeDispatchKeyGuard("Python", True)
    together = threading.Barrier(4)

    def use(first_excluded):
        def body():
            tls._dispatch_tls_set_dispatch_key_excluded("Python", first_excluded)
            before = excluded()
            for _ in range(50):
                with guard:
                    together.wait()
                    assert excluded().has("Python")
                    together.wait()
                assert excluded() == before

        return body

    run(*(use(i % 2 == 0) for i in range(4)))


def test_snapshot_guard_brings_back_the_sets_of_the_call():
    """Inside a handler, whatever the thread had when the call came in; put back on leaving."""
    seen = []

    class Mode(modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            inside = included(), excluded()
            with guards._RestorePythonTLSSnapshot():
                seen.append((included(), excluded()))
                with pytest.raises(RuntimeError):
                    guards._RestorePythonTLSSnapshot().__enter__()
            assert (included(), excluded()) == inside
            return func(*args, **(kwargs or {}))

    x = dispatch.ones(1)
    with Mode(), guards._SetExcludeDispatchKeyGuard("AutocastCUDA", False):
        before = included(), excluded()
        dispatch.ops.aten.neg(x)
    assert seen == [before]


@pytest.mark.parametrize("guard", [guards._DisableFuncTorch, guards._DisableAutocast])
def test_guards_of_absent_features_exclude_their_keys(guard):
    with guard():
        assert excluded().has(dispatch.DispatchKey.AutocastCPU)
    assert_outside()


def test_guard_left_by_another_thread_is_left_alone():
    guard = guards._IncludeDispatchKeyGuard("Conjugate")
    guard.__enter__()
    run(lambda: guard.__exit__(None, None, None))
    assert included() == INCLUDED | keys("Conjugate")
    guard.__exit__(None, None, None)
    assert_outside()


def test_guard_of_an_ended_thread_dies_without_effect():
    guard = guards._IncludeDispatchKeyGuard("Conjugate")
    run(guard.__enter__)
    del guard
    gc.collect()
    assert_outside()


def test_the_saved_keys_of_a_handler_last_as_long_as_the_handler():
    seen = []

    class Mode(modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            for _ in range(3):
                with guards._RestorePythonTLSSnapshot():
                    seen.append(
                        tls._dispatch_tls_is_dispatch_key_excluded(DispatchKey.ADInplaceOrView)
                    )
            return func(*args, **(kwargs or {}))

    with guards._ExcludeDispatchKeyGuard(DispatchKeySet(DispatchKey.ADInplaceOrView)), Mode():
        dispatch.ones(2)
    with Mode():
        dispatch.ones(2)
    assert seen == [True] * 3 + [False] * 3
