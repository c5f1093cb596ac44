"""Autocast for Functions and by its old names; names of reductions."""

import pytest

import dispatch
from dispatch.as_torch import amp, autograd, cuda_amp
from dispatch.as_torch.nn import functional as F, reductions
from dispatch.library import autocast as state


def function(cast_inputs=None):
    seen = []

    class Seen(autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=cast_inputs)
        def forward(ctx, x, more):
            seen.append((x.dtype, more["n"][0].dtype, more["k"], state.is_autocast_enabled("cpu")))
            return x * 2

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            seen.append((state.is_autocast_enabled("cpu"), state.get_autocast_dtype("cpu")))
            return g, None

    return Seen, seen


def run(made):
    x = dispatch.ones(2, requires_grad=True, dtype=dispatch.bfloat16)
    return made.apply(x, {"n": [dispatch.ones(1, dtype=dispatch.float64)], "k": 1})


def test_a_backward_runs_with_the_autocast_of_its_forward():
    made, seen = function()
    with dispatch.autocast("cpu", dtype=dispatch.float16):
        inside = run(made)
    inside.grad_fn.apply(dispatch.ones(2))
    run(made).grad_fn.apply(dispatch.ones(2))
    row = (dispatch.bfloat16, dispatch.float64, 1)
    assert seen == [
        (*row, True), (True, dispatch.float16), (*row, False), (False, dispatch.bfloat16)
    ]  # fmt: skip
    assert not state.is_autocast_enabled("cpu")


def test_inputs_are_cast_where_autocast_is_on():
    made, seen = function(dispatch.float32)
    with dispatch.autocast("cpu"):
        inside = run(made)
    inside.grad_fn.apply(dispatch.ones(2))
    run(made)
    assert seen == [
        (dispatch.float32, dispatch.float64, 1, False), (False, dispatch.bfloat16),
        (dispatch.bfloat16, dispatch.float64, 1, False),
    ]  # fmt: skip


@pytest.mark.parametrize("decorator", [amp.custom_fwd, amp.custom_bwd])
def test_a_device_type_is_a_str(decorator):
    with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
        decorator(device_type=dispatch.device("cpu"))


def test_blocks_of_a_device_type_warn():
    with pytest.warns(FutureWarning, match=r"torch\.cpu\.amp\.autocast.*is deprecated"):
        block = amp.cpu_autocast(dtype=dispatch.float16)
    with block:
        assert dispatch.mm(dispatch.ones(1, 1), dispatch.ones(1, 1)).dtype is dispatch.float16
    with pytest.warns(FutureWarning, match="autocast\\('cuda'"):
        assert cuda_amp.autocast(enabled=False).fast_dtype is dispatch.float16


def test_decorators_of_cuda_warn():
    def forward(ctx, x):
        return x

    ctx = autograd.FunctionCtx()
    with pytest.warns(FutureWarning, match="custom_fwd.*device_type='cuda'"):
        forward = cuda_amp.custom_fwd(forward)
    assert forward(ctx, 3) == 3
    assert (ctx._dtype, ctx._fwd_used_autocast) == (dispatch.float16, False)
    with pytest.warns(FutureWarning, match="custom_bwd"):
        assert cuda_amp.custom_bwd(lambda ctx, g: g + 1)(ctx, 3) == 4


def test_old_names_are_the_functions_of_a_device_type():
    with pytest.warns(DeprecationWarning, match="get_autocast_gpu_dtype is deprecated"):
        assert amp.get_autocast_gpu_dtype() is dispatch.float16
    with pytest.warns(DeprecationWarning):
        amp.set_autocast_cpu_dtype(dispatch.float16)
    try:
        assert state.get_autocast_dtype("cpu") is dispatch.float16
        with pytest.warns(DeprecationWarning):
            assert amp.get_autocast_cpu_dtype() is dispatch.float16
    finally:
        state.set_autocast_dtype("cpu", dispatch.bfloat16)
    for on in (True, False):
        with pytest.warns(DeprecationWarning):
            amp.set_autocast_cpu_enabled(on)
        with pytest.warns(DeprecationWarning):
            assert amp.is_autocast_cpu_enabled() is on


def test_a_device_type_that_is_none_has_no_autocast():
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        dispatch.autocast("nowhere")
    with pytest.raises(RuntimeError, match="has no autocast"):
        dispatch.autocast("meta")


# ---- reductions


def test_reductions_have_numbers():
    assert [reductions.get_enum(name) for name in ("none", "mean", "sum")] == [0, 1, 2]
    with pytest.warns(UserWarning, match="elementwise_mean.*deprecated"):
        assert reductions.get_enum("elementwise_mean") == 1
    for wrong in ("means", None, []):
        with pytest.raises(ValueError, match="is not a valid value for reduction"):
            reductions.get_enum(wrong)
    with pytest.raises(ValueError, match="mse_loss: means is not a valid value for"):
        F.mse_loss(dispatch.ones(1), dispatch.ones(1), reduction="means")


@pytest.mark.parametrize(
    ("average", "reduce", "name"),
    [
        (None, None, "mean"), (True, None, "mean"), (False, None, "sum"), (None, True, "mean"),
        (False, True, "sum"), (True, False, "none"), (False, False, "none"),
    ],
)  # fmt: skip
def test_old_flags_stand_for_a_reduction(average, reduce, name):
    with pytest.warns(UserWarning, match=f"please use reduction='{name}'"):
        assert reductions.legacy_get_string(average, reduce) == name
    number = ["none", "mean", "sum"].index(name)
    assert reductions.legacy_get_enum(average, reduce, emit_warning=False) == number
