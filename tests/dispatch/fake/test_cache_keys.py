"""Cache keys as Python values: equal for calls that one result serves, for no others."""

import pytest

import dispatch
from dispatch import _C, FakeTensorMode, ops
from dispatch.fake import _BypassDispatchCache, _CacheKeyState, _DispatchCacheKey
from dispatch.symbolic import ShapeEnv, ShapeEnvSettings

ADD = ops.aten.add.Tensor


def key(mode, *args, **kwargs):
    return mode._cache_key(_CacheKeyState(mode.shape_env), ADD, args, kwargs)


def flipped(flip):
    t = dispatch.ones(3, dtype=dispatch.complex64)
    flip(t, True)
    return t


def inference():
    with dispatch.inference_mode():
        return dispatch.ones(4, 3)


COMPLEX = dispatch.complex64
PAIRS = {
    "dtype": (lambda: dispatch.ones(4), lambda: dispatch.ones(4, dtype=dispatch.float16)),
    "shape": (lambda: dispatch.ones(4, 3), lambda: dispatch.ones(4, 2)),
    "stride": (lambda: dispatch.ones(2, 2), lambda: dispatch.ones(2, 2).t()),
    "device": (lambda: dispatch.ones(2), lambda: dispatch.ones(2, device="cuda")),
    "offset": (lambda: dispatch.ones(3)[1:], lambda: dispatch.ones(3)[:2]),
    "storage": (lambda: dispatch.ones(3)[:2], lambda: dispatch.ones(4)[:2]),
    "grad": (lambda: dispatch.ones(2), lambda: dispatch.ones(2, requires_grad=True)),
    "conj": (lambda: dispatch.ones(3, dtype=COMPLEX), lambda: flipped(_C._set_conj)),
    "neg": (lambda: dispatch.ones(3, dtype=COMPLEX), lambda: flipped(_C._set_neg)),
    "inference": (lambda: dispatch.ones(4, 3), inference),
    "int": (lambda: 1.0, lambda: 1),
    "zero": (lambda: 0.0, lambda: 0),
    "list": (lambda: [1, 2], lambda: (1, 2)),
    "nest": (lambda: [[1], 2], lambda: [1, [2]]),
}


@pytest.mark.parametrize("what", PAIRS)
def test_calls_that_differ_have_keys_that_differ(what):
    one, other = PAIRS[what]
    with FakeTensorMode() as mode:
        assert key(mode, one()) == key(mode, one())
        assert hash(key(mode, one())) == hash(key(mode, one()))
        assert key(mode, one()) != key(mode, other())
        assert key(mode, a=one()) != key(mode, b=one())
        assert isinstance(key(mode, one()), _DispatchCacheKey)


def test_settings_are_part_of_the_key():
    with FakeTensorMode() as mode:
        x = dispatch.ones(2)
        plain = key(mode, x)
        with dispatch.inference_mode():
            assert key(mode, x) != plain
        try:
            dispatch.set_default_dtype(dispatch.float64)
            assert key(mode, x) != plain
        finally:
            dispatch.set_default_dtype(dispatch.float32)
        assert key(mode, x) == plain


def test_symbols_count_by_the_order_in_which_they_are_met():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    a, b = mode.from_tensor(dispatch.ones(5)), mode.from_tensor(dispatch.ones(7))
    assert key(mode, a) == key(mode, b)
    assert key(mode, a, a) != key(mode, a, b)


def test_what_is_not_kept_is_named():
    with FakeTensorMode() as mode:
        constant = dispatch.tensor(1.0)
    for value, reason in (
        (dispatch.ones(1), "non-fake tensor"),
        (FakeTensorMode().from_tensor(dispatch.ones(1)), "not our fake"),
        (constant, "constant attribute"),
        ({1}, "unhashable argument"),
    ):
        with pytest.raises(_BypassDispatchCache, match=reason) as caught:
            key(mode, value)
        assert caught.value.reason == reason


def test_settings_of_a_shape_env_are_one_value():
    env = ShapeEnv(duck_shape=False)
    assert env.settings == ShapeEnv(duck_shape=False).settings != ShapeEnv().settings
    assert isinstance(env.settings, ShapeEnvSettings) and not env.settings.duck_shape
