"""What new fake modes start with."""

import pytest

import dispatch
from dispatch import fake
from dispatch.fake import FakeTensor, FakeTensorMode, config


def test_a_mode_keeps_what_it_read():
    before = FakeTensorMode()
    with config.patch(fake_tensor_allow_meta=False, fake_tensor_cache_enabled=False):
        mode = FakeTensorMode()
    assert (mode.allow_meta, mode.cache_enabled) == (False, False)
    assert (before.allow_meta, before.cache_enabled) == (True, True)
    assert FakeTensorMode().allow_meta
    with mode, pytest.raises(Exception, match="meta"):
        dispatch.ones(2, device="meta") + 1


def test_an_unknown_setting_is_refused_and_nothing_is_changed():
    with (
        pytest.raises(AttributeError, match="fake_tensor_nothing"),
        config.patch(fake_tensor_allow_meta=False, fake_tensor_nothing=1),
    ):
        raise AssertionError("not reached")
    assert config.fake_tensor_allow_meta


def test_settings_are_put_back_after_an_error():
    with pytest.raises(ZeroDivisionError), config.patch({"fake_tensor_cache_enabled": False}):
        raise ZeroDivisionError
    assert config.fake_tensor_cache_enabled


def test_real_tensors_run_along_and_nothing_is_kept():
    with config.patch(fake_tensor_propagate_real_tensors=True):
        mode = FakeTensorMode()
    assert mode.propagate_real_tensors
    assert not FakeTensorMode().propagate_real_tensors
    x = dispatch.tensor([1.0, 2.0])
    fake = mode.from_tensor(x)
    with mode:
        y = fake * 2
    assert isinstance(y, FakeTensor)
    assert y.real_tensor.tolist() == [2, 4]
    assert not mode.cache_enabled


def test_hits_are_compared_when_it_is_asked_for():
    with config.patch(fake_tensor_cache_crosscheck_enabled=True):
        assert FakeTensorMode().cache_crosscheck_enabled
    assert not FakeTensorMode().cache_crosscheck_enabled


def test_which_meta_kernels_take_symbols():
    mode, aten = FakeTensorMode(), dispatch.ops.aten
    taken = (aten.as_strided.default, aten.permute_copy.default, aten.empty.memory_format)
    assert all(mode.cpp_meta_supports_symint(op) for op in taken)
    assert not mode.cpp_meta_supports_symint(aten.add.Tensor)


def test_levels_of_recursion_are_counted():
    before = fake.RECURSION_COUNT
    level = fake.IncrementRecursionCount()
    assert before + 1 == fake.RECURSION_COUNT
    del level
    assert before == fake.RECURSION_COUNT


def test_meta_alone_is_refused_where_it_is_not_allowed():
    with config.patch(fake_tensor_allow_meta=False):
        mode = FakeTensorMode()
    assert mode.from_tensor(dispatch.ones(2)).device.type == "cpu"
    with mode:
        assert dispatch.ones(2, device="cuda").device.type == "cuda"
        with pytest.raises(AssertionError, match="does not allow meta"):
            dispatch.ones(2, device="meta")
    with pytest.raises(AssertionError, match="does not allow meta"):
        mode.from_tensor(dispatch.ones(2, device="meta"))
