"""Prims that make tensors: every choice is spelled out."""

import pytest

import dispatch
from dispatch import ops

prims = ops.prims
CPU = dispatch.device("cpu")
REAL = {"dtype": dispatch.float32, "device": CPU, "requires_grad": False}


def test_factories_take_sizes_dtype_and_device():
    assert prims.full([2], 1.5, **REAL).tolist() == [1.5, 1.5]
    assert prims.empty([2, 3], **{**REAL, "device": dispatch.device("meta")}).is_meta
    assert prims.empty_permuted([2, 3], [1, 0], **REAL).stride() == (1, 2)
    assert prims.full([2], 1, **{**REAL, "requires_grad": True}).requires_grad


def test_iota_counts_in_integers():
    whole = {**REAL, "dtype": dispatch.int32}
    assert prims.iota(3, start=1, step=-2, **whole).tolist() == [1, -1, -3]
    with pytest.raises(RuntimeError, match=r"prims::iota.*integer"):
        prims.iota(3, start=0, step=1, **REAL)
    with pytest.raises(RuntimeError, match=r"prims::iota.*step"):
        prims.iota(3, start=0, step=0, **whole)


def test_random_prims_draw_from_the_generator():
    dispatch.manual_seed(0)
    first = prims.normal([3], mean=0.0, std=1.0, **REAL)
    dispatch.manual_seed(0)
    assert first.tolist() == dispatch.randn(3).tolist()
    with pytest.raises(RuntimeError, match=r"prims::normal.*deviation"):
        prims.normal([3], mean=0.0, std=-1.0, **REAL)


def test_limits_of_dtypes():
    assert prims.maximum_value(dispatch.int8) == 127
    assert prims.minimum_value(dispatch.bool) is False
    assert prims.maximum_value(dispatch.float32) == dispatch.finfo(dispatch.float32).max


def test_fake_factories_hold_no_memory():
    with dispatch.FakeTensorMode():
        x = prims.empty([2, 3], **{**REAL, "device": dispatch.device("cuda")})
    assert x.device.type == "cuda" and isinstance(x, dispatch.FakeTensor)
