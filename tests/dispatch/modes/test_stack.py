"""TorchDispatchMode: nesting, what a mode sees, and the stack after errors."""

import sys

import pytest

import dispatch
from dispatch import ops
from dispatch._C.mode import _entered_modes
from dispatch._C.pre_dispatch import _get_dispatch_mode_pre_dispatch
from dispatch._C.tls import (
    _len_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
    _TorchDispatchModeKey,
)
from dispatch.functional.mode import FunctionalTensorMode
from dispatch.modes import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
    _pop_mode_temporarily,
    is_in_torch_dispatch_mode,
    no_dispatch,
)
from dispatch.modes.stack import (
    _detect_infra_mode,
    all_same_mode,
    autograd_would_have_decomposed,
)

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten
T = dispatch.ones(2)
INFRA = (_TorchDispatchModeKey.FUNCTIONAL, _TorchDispatchModeKey.PROXY)


class Log(TorchDispatchMode):
    """Notes the calls in `seen` under its own name and passes them on."""

    def __init__(self, seen, name=""):
        super().__init__()
        self.seen, self.name = seen, name

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append((self.name, func))
        return func(*args, **(kwargs or {}))


@pytest.fixture
def seen():
    return []


def test_mode_sees_calls_of_its_block_only(seen):
    with Log(seen):
        A.add.Tensor(T, 1)
    A.add.Tensor(T, 1)
    assert seen == [("", A.add.Tensor)]


def test_innermost_mode_is_first_and_passes_on_to_the_outer(seen):
    with Log(seen, "outer"), Log(seen, "inner"):
        A.add.Tensor(T, 1)
    assert seen == [("inner", A.add.Tensor), ("outer", A.add.Tensor)]


def test_mode_is_off_while_it_handles(seen):
    class Calls(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(_get_current_dispatch_mode_stack())
            return A.mul.Tensor(A.add.Tensor(T, 1), 2)

    mode = Calls()
    with mode:
        assert A.add.Tensor(T, 1).tolist() == [4.0, 4.0]
        assert _get_current_dispatch_mode() is mode
    assert seen == [[]]


def test_one_mode_may_be_entered_twice(seen):
    mode = Log(seen)
    with mode, mode:
        A.relu.default(T)
        assert _get_current_dispatch_mode_stack() == [mode, mode]
    assert len(seen) == 2


def test_factories_views_and_composites_are_seen(seen, library):
    lib = library("mo", "DEF")
    lib.define("twice(Tensor x) -> Tensor")
    lib.impl("twice", lambda x: A.add.Tensor(x, A.mul.Tensor(x, 1)), "CompositeImplicitAutograd")
    with Log(seen):
        dispatch.zeros(2)
        A.view.default(T, [2, 1])
        ops.mo.twice(T)
        T.add(1)
        T + 1
    names = [str(func) for _, func in seen]
    assert "aten.zeros.default" in names or "aten.empty.memory_format" in names
    assert names[-5:] == ["aten.view.default", "aten.mul.Tensor"] + 3 * ["aten.add.Tensor"]


def test_redispatch_below_the_python_key_is_not_seen(seen):
    with Log(seen):
        A.relu.default.redispatch(dispatch.DispatchKeySet("CPU"), T)
    assert seen == []


def test_arguments_are_as_a_python_callee_gets_them(seen):
    class Args(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append((func, types, args, kwargs))
            return func(*args, **(kwargs or {}))

    with Args():
        A.sum.dim_IntList(T, 0)
        A.add.Tensor(T, 1, alpha=1)
        A.add.Tensor(T, 1, alpha=2)
    assert seen[0][1:] == ((), (T, [0]), {}) and seen[0][2][0] is T
    assert [s[3] for s in seen[1:]] == [{}, {"alpha": 2}]


def test_result_is_what_the_mode_returns(seen):
    class Replace(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return T

    with Replace():
        assert A.relu.default(dispatch.Tensor.__new__(dispatch.Tensor)) is T


@pytest.mark.parametrize("bad", ["a", (), [T]])
def test_wrong_result_of_a_mode_is_an_error(bad):
    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return bad

    with Wrong(), pytest.raises(RuntimeError, match="aten::relu"):
        A.relu.default(T)


def test_exceptions_leave_the_stack_as_it_was(seen):
    class Raises(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("mine")

    outer, raises = Log(seen, "outer"), Raises()
    with outer, raises:
        with pytest.raises(KeyError, match="mine"):
            A.relu.default(T)
        assert _get_current_dispatch_mode_stack() == [outer, raises]
    with pytest.raises(KeyError), outer, raises:
        A.relu.default(T)
    assert _get_current_dispatch_mode_stack() == []


def test_kernel_errors_pass_through_all_modes(seen):
    with Log(seen, "outer"), Log(seen, "inner"):
        with pytest.raises(RuntimeError):
            A.add.Tensor(T, dispatch.ones(3))
        assert len(_get_current_dispatch_mode_stack()) == 2


def test_base_class_handles_nothing():
    with TorchDispatchMode(), pytest.raises(NotImplementedError):
        A.relu.default(T)


def test_modes_can_be_disabled_for_a_block(seen):
    outer, inner = Log(seen, "outer"), Log(seen, "inner")
    with outer, inner:
        with _disable_current_modes() as off:
            A.relu.default(T)
            assert _get_current_dispatch_mode() is None
        assert set(map(id, off)) == {id(outer), id(inner)}
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        with _pop_mode_temporarily() as popped:
            assert popped is inner
            A.relu.default(T)
    assert seen == [("outer", A.relu.default)]


def test_mode_that_pushes_another_while_it_handles(seen):
    class Pushes(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with Log(seen, "pushed"):
                return func(*args, **(kwargs or {}))

    with Pushes():
        A.relu.default(T)
    assert seen == [("pushed", A.relu.default)]


def test_leaving_without_entering_is_an_error():
    with Log([]) as outer:
        with pytest.raises(IndexError, match="without having been entered"):
            Log([]).__exit__(None, None, None)
        assert _get_current_dispatch_mode() is outer
    _push_on_torch_dispatch_stack(None)
    assert _get_current_dispatch_mode() is None


def test_exclude_guard_hides_modes(seen):
    with Log(seen), dispatch._C._DisableTorchDispatch():
        A.relu.default(T)
    assert seen == []


def test_no_dispatch_hides_calls_from_modes():
    seen = []

    class Sees(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    with Sees():
        with no_dispatch():
            A.neg(T)
        A.abs(T)
    assert seen == ["aten.abs.default"]


def test_a_mode_that_enters_itself_without_end_is_left():
    class Deep(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            with self:
                return func(*args, **(kwargs or {}))

    before = _entered_modes()
    with pytest.raises(RecursionError), Deep():
        ops.aten.neg(dispatch.ones(2))
    assert _len_torch_dispatch_stack() == 0
    assert _entered_modes() == before


def test_a_mode_whose_questions_raise_is_not_entered():
    class Rude(TorchDispatchMode):
        @classmethod
        def ignore_compile_internals(cls):
            raise KeyError("rude")

    before = _entered_modes()
    with pytest.raises(KeyError, match="rude"), Rude():
        pass
    assert _len_torch_dispatch_stack() == 0
    assert _entered_modes() == before


@pytest.mark.skipif(not sys.getallocatedblocks(), reason="malloc: addresses are not used again")
def test_a_mode_that_is_entered_twice_is_counted_until_its_outer_block_ends():
    class Plain(TorchDispatchMode):
        pass

    class Infra(TorchDispatchMode):
        @classmethod
        def is_infra_mode(cls):
            return True

    before = _entered_modes()
    mode = Plain()
    with mode:
        with mode:
            pass
        assert _entered_modes() == (before[0] + 1, before[1] + 1, before[2] + 1)
    assert _entered_modes() == before
    address = id(mode)
    del mode
    others = [Infra() for _ in range(1000)]  # one of them takes the place of the mode that is gone
    assert address in map(id, others)
    for other in others:
        with other:
            assert _entered_modes() == (before[0] + 1, *before[1:])


def test_modes_are_the_same_when_all_are_one():
    one, other = Quiet(), Quiet()
    assert all_same_mode([one, one]) and all_same_mode([])
    assert not all_same_mode([one, other])


def test_a_program_in_one_mode_is_in_a_mode_and_infra_modes_count_if_asked():
    assert not is_in_torch_dispatch_mode() and not is_in_torch_dispatch_mode(False)
    with Quiet():
        assert is_in_torch_dispatch_mode() and is_in_torch_dispatch_mode(False)
    with dispatch.FakeTensorMode():
        assert is_in_torch_dispatch_mode() and not is_in_torch_dispatch_mode(False)


def test_the_key_of_fake_tensors_is_not_looked_for_in_two_places():
    assert _detect_infra_mode(_TorchDispatchModeKey.PROXY) is None
    with pytest.raises(AssertionError, match="FUNCTIONAL or PROXY"):
        _detect_infra_mode(_TorchDispatchModeKey.FAKE)


class Quiet(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_a_mode_that_was_popped_for_a_block_is_back_after_an_error(seen):
    with Log(seen) as mode:
        with pytest.raises(KeyError), _pop_mode_temporarily():
            raise KeyError
        assert _get_current_dispatch_mode_stack() == [mode]


def test_pre_dispatch_modes_come_back_too():
    with FunctionalTensorMode(pre_dispatch=True) as early, Log([]) as late:
        with _disable_current_modes() as modes:
            assert modes == [early, late]
            assert _detect_infra_mode(_TorchDispatchModeKey.FUNCTIONAL) is None
        assert _detect_infra_mode(_TorchDispatchModeKey.FUNCTIONAL) is early
        assert _get_current_dispatch_mode_stack() == [late]


def test_the_functional_mode_does_not_take_the_place_of_the_proxys():
    with FunctionalTensorMode(pre_dispatch=True) as mode:
        found = {key: _get_dispatch_mode_pre_dispatch(key) for key in INFRA}
    assert found == {
        _TorchDispatchModeKey.FUNCTIONAL: mode,
        _TorchDispatchModeKey.PROXY: None,
    }


def test_the_first_tensor_says_whether_autograd_decomposes(library):
    lib = library("mst", "DEF")
    lib.define("f(Tensor x, Tensor y) -> Tensor")
    lib.impl("f", lambda x, y: x, "CPU")
    tensors = [T, dispatch.empty(1, device="meta")]
    assert not autograd_would_have_decomposed(ops.mst.f.default, [1, *tensors])
    assert autograd_would_have_decomposed(ops.mst.f.default, [1, *reversed(tensors)])
