"""TorchDispatchMode: nesting, what a mode sees, and the stack after errors."""

import contextlib
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
    _disable_infra_mode,
    _pop_mode,
    _push_mode,
    _unset_infra_mode,
    all_same_mode,
    any_torch_dispatch_mode_on_stack,
    autograd_would_have_decomposed,
    is_in_any_mode_without_ignore_compile_internals,
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


def kind_of_mode(infra, ignores):
    answers = {"is_infra_mode": infra, "ignore_compile_internals": ignores}
    given = {name: classmethod(lambda cls, a=answer: a) for name, answer in answers.items()}
    return type("Kind", (Quiet,), given)()


@pytest.mark.parametrize("infra", [False, True])
@pytest.mark.parametrize("ignores", [False, True])
def test_a_mode_says_whether_it_counts_as_a_users_and_whether_it_sees_compiled_regions(
    infra, ignores
):
    with kind_of_mode(infra, ignores):
        assert is_in_torch_dispatch_mode(False) == (not infra)
        assert is_in_any_mode_without_ignore_compile_internals() == (not ignores)
        assert any_torch_dispatch_mode_on_stack() == (not infra and not ignores)
    assert not is_in_any_mode_without_ignore_compile_internals()
    assert not any_torch_dispatch_mode_on_stack()


def test_the_current_mode_is_the_innermost():
    outer, inner = Quiet(), Quiet()
    with outer, inner:
        assert _get_current_dispatch_mode() is inner
    assert _get_current_dispatch_mode() is None


def test_a_mode_is_pushed_where_its_key_says():
    mode = Quiet(_dispatch_key=dispatch.DispatchKey.CPU)
    with pytest.raises(AssertionError, match="_dispatch_key"):
        _push_mode(mode)
    assert _len_torch_dispatch_stack() == 0
    for pre_dispatch in (False, True):
        mode = FunctionalTensorMode(pre_dispatch=pre_dispatch)
        _push_mode(mode)
        assert _get_current_dispatch_mode_stack() == ([] if pre_dispatch else [mode])
        assert _detect_infra_mode(INFRA[0]) is mode
        assert _pop_mode(dispatch.DispatchKey.PreDispatch if pre_dispatch else INFRA[0]) is mode
        assert _detect_infra_mode(INFRA[0]) is None
    assert _pop_mode(dispatch.DispatchKey.CPU) is None


@pytest.mark.parametrize("pre_dispatch", [False, True])
def test_an_infra_mode_is_off_for_a_block_wherever_it_stands(pre_dispatch):
    mode = FunctionalTensorMode(pre_dispatch=pre_dispatch)
    without = contextlib.contextmanager(_disable_infra_mode)
    with without(INFRA[0]) as off:
        assert off is None
    with mode:
        with pytest.raises(KeyError), without(INFRA[0]) as off:
            assert off is mode and _detect_infra_mode(INFRA[0]) is None
            raise KeyError
        assert _detect_infra_mode(INFRA[0]) is mode
        assert _detect_infra_mode(INFRA[1]) is None
        with without(INFRA[1]):
            assert _detect_infra_mode(INFRA[0]) is mode
        assert _unset_infra_mode(INFRA[0]) is mode
        assert _unset_infra_mode(INFRA[0]) is None
        _push_mode(mode)


def test_an_infra_mode_in_both_places_is_an_error():
    with FunctionalTensorMode(pre_dispatch=True), FunctionalTensorMode():
        for look in (_detect_infra_mode, _unset_infra_mode):
            with pytest.raises(AssertionError, match="before and after"):
                look(INFRA[0])
