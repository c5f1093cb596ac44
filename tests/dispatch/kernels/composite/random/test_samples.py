"""Random factories on meta: geometry, the bounds that are checked, and idle dropout."""

from collections.abc import Callable
from typing import Any

import pytest

import dispatch
from dispatch import ops

aten = ops.aten
META = dispatch.device("meta")


@pytest.mark.parametrize(
    ("made", "shape", "dtype"),
    [
        (lambda: aten.rand.default([2, 3], device=META), (2, 3), dispatch.float32),
        (
            lambda: aten.randn.default([2], device=META, dtype=dispatch.complex64),
            (2,),
            dispatch.complex64,
        ),
        (lambda: aten.randint.default(5, [2], device=META), (2,), dispatch.int64),
        (lambda: aten.randperm.default(4, device=META), (4,), dispatch.int64),
        (
            lambda: aten.bernoulli.p(dispatch.zeros(3, 2, device=META), 0.5),
            (3, 2),
            dispatch.float32,
        ),
    ],
)
def test_outputs_have_the_asked_geometry(made: Callable[[], Any], shape: tuple, dtype: Any) -> None:
    out = made()
    assert (tuple(out.shape), out.dtype, out.is_meta) == (shape, dtype, True)


def test_like_factories_keep_strides_and_bernoulli_does_not() -> None:
    base = dispatch.zeros(2, 3, device=META).t()
    assert aten.rand_like.default(base).stride() == (1, 3)
    assert aten.bernoulli.default(base).stride() == (2, 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: aten.randint.default(0, [2], device=META),
        lambda: aten.randint.low(5, 3, [2], device=META),
        lambda: aten.randperm.default(-1, device=META),
        lambda: aten.rand.default([-2], device=META),
        lambda: aten.normal_.default(dispatch.zeros(2, device=META), 0.0, -1.0),
        lambda: aten.normal_.default(dispatch.zeros(2, device=META, dtype=dispatch.int64)),
        lambda: aten.dropout.default(dispatch.zeros(2, device=META), 1.5, True),
        lambda: aten.native_dropout.default(
            dispatch.zeros(2, device=META).to(dispatch.int64), 0.5, True
        ),
    ],
)
def test_bad_bounds_raise(call: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError):
        call()


def test_idle_dropout_returns_its_input() -> None:
    base = dispatch.zeros(2, 3)
    assert aten.dropout.default(base, 0.5, False) is base
    assert aten.dropout.default(base, 0.0, True) is base
    assert aten.dropout_.default(base, 0.5, False) is base
    with pytest.raises(RuntimeError, match="dropout"):
        aten.dropout.default(base, -0.5, False)


def test_permutations_without_a_dtype_are_int64():
    made = aten.randperm.generator(5, generator=None, dtype=None)
    assert (made.dtype, sorted(made.tolist())) == (dispatch.int64, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_the_least_number_of_64_bits_is_a_bound(device):
    info = dispatch.iinfo(dispatch.int64)
    made = dispatch.randint(info.min, info.max, (64,), device=device)
    assert made.shape == (64,) and made.dtype is dispatch.int64
    assert device == "meta" or (made < -(1 << 61)).any()
    with pytest.raises(RuntimeError, match=f"got {info.max} and {info.min}"):
        dispatch.randint(info.max, info.min, (2,), device=device)
    with pytest.raises(IndexError):
        dispatch.ones(3, device=device).select(0, info.min)
