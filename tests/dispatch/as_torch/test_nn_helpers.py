"""Beside modules: the loss over a linear layer, first values, gradients, wishes, names."""

import pytest

import dispatch
from dispatch import TorchDispatchMode
from dispatch.as_torch.nn import backends, functional, grad, init, modules
from dispatch.as_torch.nn.modules import utils


def test_a_loss_has_its_linear_layer():
    loss = modules.LinearCrossEntropyLoss(4, 5, bias=True)
    assert list(loss.state_dict()) == ["linear.weight", "linear.bias"]
    x, target = dispatch.arange(12.0).reshape(3, 4), dispatch.tensor([1, 4, 0])
    expected = functional.cross_entropy(loss.linear(x), target)
    assert dispatch.allclose(loss(x, target), expected)
    options = modules.LinearCrossEntropyOptions(batch_chunk_size=2)
    same = modules.LinearCrossEntropyLoss(4, 5, bias=True, options=options)
    same.load_state_dict(loss.state_dict())
    assert dispatch.equal(same(x, target), loss(x, target))


@pytest.mark.parametrize(
    "wrong",
    [
        {"acc_policy": "x"},
        {"chunking_method": "aspect_ratio:0"},
        {"chunking_method": "auto:2"},
        {"batch_chunk_size": 0},
        {"acc_dtype": dispatch.int8},
    ],
)
def test_options_that_nobody_knows_are_told(wrong):
    with pytest.raises(ValueError, match=f"invalid {next(iter(wrong))}"):
        modules.LinearCrossEntropyOptions(**wrong)


@pytest.mark.parametrize("wrong", [{"weight": dispatch.ones(2)}, {"label_smoothing": 2.0}])
def test_a_loss_that_cannot_be_is_told(wrong):
    with pytest.raises(RuntimeError, match="LinearCrossEntropyLoss"):
        modules.LinearCrossEntropyLoss(4, 5, **wrong)


def test_a_dirac_convolution_gives_its_input():
    weight = init.dirac_(dispatch.empty(4, 4, 3, 3))
    x = dispatch.arange(100.0).reshape(1, 4, 5, 5)
    assert dispatch.equal(functional.conv2d(x, weight, padding=1), x)
    grouped = init.dirac_(dispatch.empty(4, 2, 3), groups=2)
    assert grouped.nonzero().tolist() == [[0, 0, 1], [1, 1, 1], [2, 0, 1], [3, 1, 1]]
    for sizes, groups in [((2, 2), 1), ((3, 2, 2), 2)]:
        with pytest.raises(ValueError, match=r"dimensions|divisible"):
            init.dirac_(dispatch.empty(sizes), groups)


@pytest.mark.parametrize(
    ("dtype", "arguments", "first", "then"),
    [  # what PyTorch draws after manual_seed(3)
        (dispatch.float32, (0.0, 1.0, -1.0, 1.0), [-0.0766, 0.3599, -0.782], 0.2732),
        (dispatch.float32, (0.0, 1.0, 1.0, 1.2), [1.0009, 1.0211, 1.0887], 0.0691),
        (dispatch.bfloat16, (0.0, 1.0, -0.3, 1.2), [-0.0767, 0.3594, 0.4219], 0.8044),
        (dispatch.float32, (2.5, 1.0, -1.0, 1.0), [0.2833, 0.6503, -0.474], 0.5488),
    ],
)
def test_values_between_bounds_are_drawn_as_pytorch_draws_them(dtype, arguments, first, then):
    dispatch.manual_seed(3)
    drawn = init.trunc_normal_(dispatch.empty(20, dtype=dtype), *arguments)
    assert drawn[:3].tolist() == pytest.approx(first, abs=1e-4)
    assert drawn.dtype == dtype and drawn.min() >= arguments[2] and drawn.max() <= arguments[3]
    assert dispatch.rand(1).item() == pytest.approx(then, abs=1e-4)


def test_a_mean_far_from_the_bounds_is_warned_of():
    with pytest.warns(UserWarning, match="2 std"):
        drawn = init.trunc_normal_(dispatch.empty(20), 5.0, 1.0, -1.0, 1.0)
    assert drawn.abs().max() <= 1
    meta = dispatch.empty(3, device="meta")
    assert init.trunc_normal_(meta) is meta


def test_a_part_of_each_column_is_zero():
    drawn = init.sparse_(dispatch.empty(10, 3), 0.35)
    assert (drawn == 0).sum(0).tolist() == [4, 4, 4]
    with pytest.raises(ValueError, match="2 dimensions"):
        init.sparse_(dispatch.empty(3), 0.5)


def test_old_names_of_first_values_warn():
    with pytest.warns(FutureWarning, match=r"nn\.init\.constant_"):
        assert init.constant(dispatch.empty(2), 3.0).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("kind", ["LayerNorm", "RMSNorm", "GroupNorm"])
def test_norms_begin_again(kind):
    layer = getattr(modules, kind)(*((1, 2) if kind == "GroupNorm" else (2,)))
    for parameter in layer.parameters():
        parameter.data.fill_(5)
    layer.reset_parameters()
    assert layer.weight.tolist() == [1.0, 1.0]
    assert kind == "RMSNorm" or layer.bias.tolist() == [0.0, 0.0]


def test_blocks_of_a_transformer_are_for_subclasses():
    seen = []

    class Encoder(modules.TransformerEncoderLayer):
        def _sa_block(self, x, *args, **kwargs):
            seen.append(("sa", len(args), sorted(kwargs)))
            return super()._sa_block(x, *args, **kwargs)

        def _ff_block(self, x):
            seen.append("ff")
            return super()._ff_block(x)

    class Decoder(modules.TransformerDecoderLayer):
        def _mha_block(self, *args):
            seen.append(("mha", len(args)))
            return super()._mha_block(*args)

    Encoder(4, 2, 8)(dispatch.ones(2, 1, 4))
    Decoder(4, 2, 8)(dispatch.ones(2, 1, 4), dispatch.ones(3, 1, 4))
    assert seen == [("sa", 2, ["is_causal"]), "ff", ("mha", 5)]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_gradients_of_convolutions(n):
    """With ones everywhere each gradient counts the places that meet it."""
    of_input, of_weight = (getattr(grad, f"conv{n}d_{what}") for what in ("input", "weight"))
    x, weight = dispatch.ones(1, 1, *[4] * n), dispatch.ones(1, 1, *[2] * n)
    ahead = dispatch.ones(1, 1, *[3] * n)
    assert of_input(x.shape, weight, ahead).sum() == 3**n * 2**n
    assert (of_weight(x, weight.shape, ahead) == 3**n).all()


def test_a_wish_for_a_kernel_is_kept_within_its_block():
    every = backends._cur_sdpa_kernel_backends()
    with backends.sdpa_kernel([backends.SDPBackend.MATH, backends.SDPBackend.MATH]):
        assert backends._cur_sdpa_kernel_backends() == [backends.SDPBackend.MATH]
    assert backends._cur_sdpa_kernel_backends() == every
    assert str(every[-2]) == "SDPBackend.MATH" and repr(every[-2]) == "<SDPBackend.MATH: 0>"
    with pytest.raises(AssertionError, match="not int"), backends.sdpa_kernel(0):
        pass


def test_kernels_of_attention_can_be_turned_off_and_on():
    """A switch for each, the older context over them, and what they choose."""
    q, choose = dispatch.ones(1, 2, 4, 8), dispatch.ops.aten._fused_sdp_choice
    before = backends._cur_sdpa_kernel_backends()
    try:
        backends.enable_flash_sdp(False)
        assert not backends.flash_sdp_enabled() and backends.math_sdp_enabled()
        assert choose(q, q, q) == backends.SDPBackend.MATH
        backends.enable_flash_sdp(True)
        assert backends._cur_sdpa_kernel_backends() == before
        assert choose(q, q, q) == backends.SDPBackend.FLASH_ATTENTION
    finally:
        backends._want(before)
    with pytest.warns(FutureWarning, match="deprecated"), backends.sdp_kernel(enable_flash=False):
        assert choose(q, q, q) == 0 and backends.cudnn_sdp_enabled()


def test_names_lose_a_prefix():
    state = modules.ModuleDict({"module": modules.Linear(1, 1)}).state_dict()
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state) == ["weight", "bias"] and list(state._metadata) == [""]
    assert utils._pair(2) == (2, 2) and utils._triple([1, 2, 3]) == (1, 2, 3)
    assert utils._reverse_repeat_tuple((1, 2), 2) == (2, 2, 1, 1)


def test_modules_move_each_tensor_in_one_call():
    """Parameters are not looked at through `data`, integers not converted to be thrown away."""

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    seen: list[str] = []
    layer = modules.BatchNorm1d(2)
    with Names():
        layer.to(dispatch.float64)
    assert seen == ["aten._to_copy.default"] * 4
    assert layer.num_batches_tracked.dtype == dispatch.int64


def test_norms_are_filled_after_they_are_made():
    """A mode sees `empty`, then what `reset_parameters` does."""

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func._schema.name.removeprefix("aten::"))
            return func(*args, **(kwargs or {}))

    seen: list[str] = []
    with Names():
        modules.LayerNorm(2), modules.RMSNorm(2), modules.BatchNorm1d(2)
    made = ["empty", "empty", "fill_", "zero_"]
    statistics = ["zeros", "ones", "lift_fresh", "zero_", "fill_", "zero_"]
    assert seen == [*made, "empty", "fill_", *made[:2], *statistics, *made[2:]]
