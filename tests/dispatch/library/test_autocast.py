"""Autocast: which dtype operators of a block see, by device type and rule."""

import threading
import warnings
from pathlib import Path

import pytest

import dispatch
from dispatch import _C, FakeTensorMode, library, ops
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
        (lambda x: A.softmax(x.double(), 0), F64),
        (lambda x: A.sum(x.double()), F64),
        (lambda x: A.sum(x.long()), dispatch.int64),
        (lambda x: A.norm(x.double()), F64),
        (lambda x: A.linalg_vector_norm(x.double()), F64),
        (lambda x: A.exp(x.double()), F64),
        (lambda x: A.addcmul(x.double(), x.half(), x.half()), F64),
        (lambda x: A.mm(x.long(), x.long()), dispatch.int64),
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


@pytest.mark.parametrize("key", ["AutocastCPU", "AutocastXPU"])
def test_the_operators_with_a_rule_are_pytorchs(key):
    """`autocast_kernels.txt`: the operators that have a kernel at the key in PyTorch 2.13."""
    text = (Path(__file__).parent / "autocast_kernels.txt").read_text()
    listed = text.partition(key + ":")[2].partition("Autocast")[0].split()
    with autocast(key.removeprefix("Autocast").lower()):
        found = [name for name in _C._dispatch_get_all_op_names()
                 if _C._dispatch_has_kernel_for_dispatch_key(name, key)]  # fmt: skip
    assert sorted(n.removeprefix("aten::") for n in found if n.startswith("aten::")) == listed


def test_a_block_puts_back_what_it_set_also_after_an_error():
    dispatch.set_autocast_dtype("xpu", BF16)
    try:
        with pytest.raises(KeyError), autocast("xpu", F16, cache_enabled=False):
            assert not room.is_autocast_cache_enabled()
            with autocast("xpu", enabled=False):
                assert not dispatch.is_autocast_enabled("xpu")
                assert dispatch.get_autocast_dtype("xpu") is F16
                assert not room.is_autocast_cache_enabled()
            assert dispatch.is_autocast_enabled("xpu")
            raise KeyError
        assert dispatch.get_autocast_dtype("xpu") is BF16
        assert not dispatch.is_autocast_enabled("xpu")
        assert room.is_autocast_cache_enabled()
    finally:
        dispatch.set_autocast_dtype("xpu", F16)


def test_one_block_may_be_entered_twice():
    block = autocast("cpu")
    with block:
        with block:
            pass
        assert dispatch.is_autocast_enabled("cpu")
    assert not dispatch.is_autocast_enabled("cpu")


def test_a_thread_has_its_own_switch():
    seen = []
    with autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append(dispatch.is_autocast_enabled("cpu")))
        thread.start()
        thread.join()
    assert seen == [False]


def test_a_list_and_a_named_tensor_are_cast():
    x = dispatch.ones(2, 2)
    with autocast("cpu"):
        assert A.stack([x.bfloat16(), x]).dtype is F32
        assert A.linear(x, x, bias=x[0]).dtype is BF16
        assert A.cat([x, x.half()]).dtype is F32  # the first is known to be float32
        with pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
            A.cat([x.half(), x])
        assert A.stack(tensors=[x.bfloat16(), x.double()]).dtype is F64
        assert A.norm(x.bfloat16()).dtype is BF16  # no rule on the CPU
        with pytest.raises(RuntimeError, match="Unexpected floating ScalarType"):
            A.index_copy(x.bfloat16(), 0, dispatch.tensor([0]), x[:1].half())


def test_a_recurrent_network_may_have_weights_of_another_dtype():
    """Each step's products are cast; outside of the block the dtypes have to agree."""
    x, h = dispatch.ones(2, 1, 3), dispatch.zeros(1, 1, 4)
    weights = [dispatch.ones(12, 3).bfloat16(), dispatch.ones(12, 4).bfloat16()]
    rest = (False, 1, 0.0, False, False, False)
    with pytest.raises(RuntimeError, match="expected parameter tensors of input's"):
        A.gru.input(x, h, weights, *rest)
    assert not room._is_any_autocast_enabled()
    with autocast("cpu"):
        assert room._is_any_autocast_enabled()
        assert A.gru.input(x, h, weights, *rest)[0].dtype is F32
        assert A.gru.input(x.bfloat16(), h.bfloat16(), weights, *rest)[0].dtype is BF16
        narrow = [w[:4] for w in weights]
        assert A.rnn_tanh.input(x, h, narrow, *rest)[0].dtype is BF16


@pytest.mark.parametrize("dtype", [dispatch.int64, F64, F16])
def test_what_is_not_cast_is_the_same_object(dtype):
    x = dispatch.ones(2, dtype=dtype)
    assert room.cast_eligible(x, "cpu", F16) is x
    assert room.cast_eligible(dispatch.ones(2, device="meta"), "cpu", F16).dtype is F32


def test_a_custom_operator_is_cast_by_its_rule():
    seen = []

    @library.custom_op("autocasting::seen", mutates_args=())
    def op(x: dispatch.Tensor) -> dispatch.Tensor:
        seen.append(x.dtype)
        return x.clone()

    op.register_autocast("cpu", BF16)
    x = dispatch.ones(2)
    assert op(x).dtype is F32
    with autocast("cpu", F16):
        assert (op(x).dtype, op(x.double()).dtype) == (BF16, F64)
    assert seen == [F32, BF16, F64]
    for device, error in (("nowhere", RuntimeError), ("meta", ValueError), (3, ValueError)):
        with pytest.raises(error):
            op.register_autocast(device, BF16)
