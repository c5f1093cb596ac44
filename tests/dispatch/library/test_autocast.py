"""Autocast: which dtype operators of a block see, by device type and rule."""

import warnings

import pytest

import dispatch
from dispatch import FakeTensorMode, library, ops
from dispatch.library import autocast as room
from dispatch.library.autocast import autocast, autocast_decrement_nesting, set_autocast_enabled

A = ops.aten
BF16, F16, F32, F64 = dispatch.bfloat16, dispatch.float16, dispatch.float32, dispatch.float64


@pytest.mark.parametrize(
    "call, dtype",
    [
        (lambda x: A.mm(x, x), BF16),
        (lambda x: A.mm(x, x.bfloat16()), BF16),
        (lambda x: A.linear(x, x), BF16),
        (lambda x: A.einsum("ij,jk->ik", [x, x]), BF16),  # by the products inside of it
        (lambda x: A.mm(x.double(), x.double()), F64),
        (lambda x: A.trace(x.bfloat16()), F32),
        (lambda x: A.cat([x, x.bfloat16()]), F32),
        (lambda x: A.cat([x.bfloat16()] * 2), BF16),
        (lambda x: A.softmax(x.bfloat16(), 0), BF16),  # no rule on the CPU
        (lambda x: A.add(x, x), F32),
    ],
)
def test_operators_on_the_cpu(call, dtype):
    x = dispatch.ones(2, 2)
    with autocast("cpu"):
        assert call(x).dtype is dtype
    assert A.mm(x, x).dtype is F32


@pytest.mark.parametrize(
    "call, dtype",
    [
        (lambda x: A.mm(x, x), F16),
        (lambda x: A.exp(x.half()), F32),
        (lambda x: A.softmax(x.half(), 0), F32),
        (lambda x: A.softmax(x.half(), 0, F16), F16),
        (lambda x: A.softmax(x.half(), 0, dtype=F16), F16),
        (lambda x: A.norm(x.half()), F32),
        (lambda x: A.norm(x.half(), 2, [0]), F32),
        (lambda x: A.addcmul(x, x.half(), x.half()), F32),
        (lambda x: A.mm(dispatch.ones(2, 2), dispatch.ones(2, 2)), F32),  # on the CPU
    ],
)
def test_operators_elsewhere(call, dtype):
    with FakeTensorMode():
        x = dispatch.ones(2, 2, device="xpu")
        with autocast("xpu"):
            assert call(x).dtype is dtype


def test_blocks_nest_and_name_their_dtype():
    x = dispatch.ones(2, 2)

    @autocast("cpu", enabled=False)
    def plain():
        return A.mm(x, x).dtype

    with autocast("cpu", dtype=F16):
        assert (A.mm(x, x).dtype, plain(), A.mm(x, x).dtype) == (F16, F32, F16)
        assert dispatch.get_autocast_dtype("cpu") is F16
        assert dispatch.is_autocast_enabled("cpu") and not dispatch.is_autocast_enabled()
    assert dispatch.get_autocast_dtype("cpu") is BF16
    assert not dispatch.is_autocast_enabled("cpu")
    room.autocast_increment_nesting()
    assert autocast_decrement_nesting() == 0


def test_kernels_of_programs_go_first():
    """Also those that were registered before autocast was first on; when they go, its own shows."""
    x = dispatch.ones(2, 2)
    lib = library.Library("aten", "IMPL")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lib.impl("bmm", library.fallthrough_kernel, "AutocastCPU")
    with autocast("cpu"):
        assert A.bmm(x[None], x[None]).dtype is F32
        lib._destroy()
        assert A.bmm(x[None], x[None]).dtype is BF16


def test_what_is_refused():
    x = dispatch.ones(2, 2)
    with autocast("cpu"), pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
        A.cat([x.half(), x.half()])
    with pytest.raises(ValueError, match="device_type"):
        autocast(3)
    for call in (autocast, dispatch.get_autocast_dtype):
        with pytest.raises(RuntimeError, match="unsupported scalarType"):
            call("meta")
    with pytest.raises(ValueError, match="no autocast"):
        set_autocast_enabled("meta", True)
    with pytest.raises(TypeError, match="expected a device type"):
        dispatch.is_autocast_enabled(3)
    with pytest.warns(UserWarning, match="CUDA is not available"):
        assert not autocast("cuda")._enabled
    with pytest.warns(UserWarning, match="not supported"):
        assert not autocast("cpu", F32)._enabled
    with FakeTensorMode(), autocast("xpu"):
        y = dispatch.ones(2, device="xpu")
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            A.binary_cross_entropy(y, y)
