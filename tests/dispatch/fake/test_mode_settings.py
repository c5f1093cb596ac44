"""FakeTensorMode: its settings, copies, counters, and calls handed to it by hand."""

import copy
import threading

import pytest

import dispatch
from dispatch import FakeTensor, FakeTensorMode, ops
from dispatch.fake import DispatchCache, FakeTensorDeviceMismatchError, config
from dispatch.symbolic import ConstantSource, DimDynamic, ShapeEnv, StatelessSymbolicContext

pytestmark = pytest.mark.usefixtures("same_state_after")

A = ops.aten


def symbolic(**settings):
    return FakeTensorMode(shape_env=ShapeEnv(), **settings)


def test_shapes_are_static_without_an_env_unless_told():
    assert FakeTensorMode().static_shapes and not FakeTensorMode(static_shapes=False).static_shapes
    assert not symbolic().static_shapes and symbolic(static_shapes=True).static_shapes
    for mode, given, static in (
        (symbolic(), None, False),
        (symbolic(), True, True),
        (symbolic(static_shapes=True), None, True),
        (symbolic(static_shapes=True), False, False),
    ):
        (size,) = mode.from_tensor(dispatch.ones(5), static_shapes=given).shape
        assert (type(size) is int) == static


def test_static_shapes_take_no_symbolic_context():
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC])
    for mode, static in ((symbolic(), True), (symbolic(static_shapes=True), None)):
        with pytest.raises(AssertionError, match="symbolic_context"):
            mode.from_tensor(dispatch.ones(5), static_shapes=static, symbolic_context=context)


def test_real_tensors_run_along_without_a_cache():
    with config.patch(fake_tensor_propagate_real_tensors=True):
        assert not FakeTensorMode().cache_enabled
    with config.patch(fake_tensor_cache_enabled=False):
        assert not FakeTensorMode().cache_enabled
    assert FakeTensorMode().cache_enabled


def test_the_stack_ends_where_the_mode_was_made():
    file, line = FakeTensorMode().stack.splitlines()[-2:]
    assert "test_mode_settings.py" in file and "FakeTensorMode()" in line


def test_only_its_own_fakes_are_its_fakes():
    mode, other = FakeTensorMode(), FakeTensorMode()
    x = dispatch.ones(2)
    assert mode.is_our_fake(mode.from_tensor(x)) and not mode.is_our_fake(other.from_tensor(x))
    assert not mode.is_our_fake(x) and not mode.is_our_fake(None)


# ---- copies


SETTINGS = [
    ("allow_fallback_kernels", False),
    ("allow_non_fake_inputs", True),
    ("allow_meta", False),
    ("static_shapes", False),
    ("export", True),
    ("cache_enabled", False),
    ("cache_crosscheck_enabled", True),
    ("propagate_real_tensors", True),
    ("allow_scalar_outputs", True),
]


@pytest.mark.parametrize("name, value", SETTINGS)
def test_a_copy_has_each_setting(name, value):
    mode = FakeTensorMode()
    assert getattr(copy.copy(mode), name) is not value
    setattr(mode, name, value)
    assert getattr(copy.copy(mode), name) is value


def test_a_copy_has_env_policy_and_attributes_and_no_memo():
    asked = []
    mode = symbolic(cache_policy=lambda op: asked.append(op))
    mode.note, x = [1], dispatch.ones(2)
    held = mode.from_tensor(x)
    made = copy.copy(mode)
    assert made.shape_env is mode.shape_env and made.note is mode.note
    assert made.from_tensor(x) is not held
    assert made.cache is not mode.cache and copy.copy(FakeTensorMode(cache=False)).cache is None


def test_a_copy_converts_as_the_original_does():
    export = copy.copy(symbolic(export=True))
    assert export.from_tensor(dispatch.tensor(3), source=ConstantSource("n")).item_memo is None
    with config.patch(fake_tensor_propagate_real_tensors=True):
        mode = FakeTensorMode()
    assert copy.copy(mode).from_tensor(dispatch.ones(2)).real_tensor.tolist() == [1.0, 1.0]
    with config.patch(fake_tensor_propagate_real_tensors=True):
        plain = copy.copy(FakeTensorMode(cache=False))
        plain.propagate_real_tensors = False
        assert copy.copy(plain).from_tensor(dispatch.ones(2)).real_tensor is None


def test_a_copy_asks_the_same_policy(library):
    lib = library("fk_policy")
    lib.define("f(Tensor x) -> Tensor")
    lib.impl("f", lambda x: A.empty_like(x), "Meta")
    made = copy.copy(FakeTensorMode(cache_policy=lambda op: op is ops.fk_policy.f.default))
    x = made.from_tensor(dispatch.ones(2))
    for _ in range(2):
        ops.fk_policy.f(x)
    assert made.cache_info().hits == 1


# ---- counters


def test_a_mode_without_a_cache_has_counted_nothing():
    mode = FakeTensorMode(cache=False)
    with mode:
        dispatch.ones(2).add(1)
    info = mode.cache_info()
    assert (info.hits, info.misses, info.bypasses, info.size) == (0, 0, {}, 0)
    assert mode.cache is None and mode.cache_clear() is None


@pytest.mark.parametrize("cache", [True, DispatchCache()])
def test_calls_are_counted_as_hits_and_misses(cache):
    mode = FakeTensorMode(cache=cache)
    x = mode.from_tensor(dispatch.ones(2))
    for hits in range(3):
        A.neg(x)
        assert (mode.cache_info().hits, mode.cache_info().misses) == (hits, 1)
    assert FakeTensorMode.cache_info().hits >= 2
    mode.cache_clear()
    assert mode.cache_info().hits == mode.cache_info().size == 0


# ---- calls by hand


def test_a_call_is_handed_over_while_no_fake_mode_is_active():
    mode = FakeTensorMode()
    x = mode.from_tensor(dispatch.ones(2))
    found = mode.__torch_dispatch__(A.add.Tensor, (), [x, x], {"alpha": 2})
    assert type(found) is FakeTensor and found.fake_mode is mode
    assert mode.__torch_dispatch__(A.neg.default, (), (x,), None).shape == (2,)
    with mode, pytest.raises(AssertionError, match="neg"):
        mode.__torch_dispatch__(A.neg.default, (), (x,))


def test_the_parts_of_a_call_go_by_the_cache_or_not():
    mode = FakeTensorMode()
    x = mode.from_tensor(dispatch.ones(2))
    for _ in range(2):
        mode._dispatch_impl(A.neg.default, (), (x,), {})
    assert mode.cache_info().misses == 0 and mode.cache_enabled
    with pytest.raises(RuntimeError):
        mode._dispatch_impl(A.mm.default, (), (x, x), {})
    assert mode.cache_enabled
    for _ in range(2):
        mode._cached_dispatch_impl(A.neg.default, (), (x,), {})
    assert (mode.cache_info().misses, mode.cache_info().hits) == (1, 1)


def test_calls_by_hand_leave_nothing(grown_blocks):
    mode = FakeTensorMode()
    x = mode.from_tensor(dispatch.ones(2))
    assert grown_blocks(lambda: mode.dispatch(A.add.Tensor, (), (x, 1.5)), 200) < 50
    with pytest.raises(RuntimeError, match="nothing"):
        mode.dispatch(A.add.Tensor, (), (x, 1.5), {"nothing": 1})


# ---- devices and threads


def test_devices_without_a_number_stay_so():
    with FakeTensorMode():
        for device, full in (("vulkan", "vulkan"), ("xpu", "xpu:0"), ("cuda:1", "cuda:1")):
            assert str(dispatch.empty(2, device=device).device) == full
        with pytest.raises(FakeTensorDeviceMismatchError):
            dispatch.empty(2, device="cuda") + dispatch.empty(2, device="cuda:1")


def test_a_kernel_of_one_thread_is_not_that_of_another(library):
    """Inside a kernel of others `device` is meta, in its own thread, until the last one ends."""
    lib = library("fk_inside")
    lib.define("f(Tensor x, int depth) -> Tensor")
    mode, seen = FakeTensorMode(), []
    x = mode.from_tensor(dispatch.ones(2))

    def kernel(t, depth):
        if depth:
            ops.fk_inside.f(t, depth - 1)
        other = threading.Thread(target=lambda: seen.append(x.device.type))
        other.start()
        other.join()
        seen.append(x.device.type)
        return dispatch.empty(2, device="meta")

    lib.impl("f", kernel, "Meta")
    ops.fk_inside.f(x, 1)
    assert seen == ["cpu", "meta"] * 2 and x.device.type == "cpu"
    assert not mode.in_kernel_invocation
    mode.in_kernel_invocation = True
    assert x.device.type == "meta"
