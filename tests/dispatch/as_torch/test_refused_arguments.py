"""Modules and functions of torch.nn refuse what they cannot take, with PyTorch's type of error."""

import functools

import pytest

from dispatch.as_torch.nn import functional as F, init, modules as nn, parametrize as PZ
from dispatch.as_torch.testing import numpy_ops
from tests.dispatch.refused import (
    check_refused,
    i64,
    o,
    tensor,
    z,
)  # fmt: skip


def transformer(src, tgt):
    with pytest.warns(UserWarning, match="batch_first"):
        made = nn.Transformer(2, 1, 1, 1, 2)
    return made(src, tgt)


# A call that is right, to be made wrong in one argument.
attend = functools.partial(
    F.multi_head_attention_forward,
    query=o(2, 1, 4),
    key=o(2, 1, 4),
    value=o(2, 1, 4),
    embed_dim_to_check=4,
    num_heads=2,
    in_proj_weight=o(12, 4),
    in_proj_bias=o(12),
    bias_k=None,
    bias_v=None,
    add_zero_attn=False,
    dropout_p=0.0,
    out_proj_weight=o(4, 4),
    out_proj_bias=o(4),
)

CALLS = [
    (
        lambda: attend(attn_mask=o(3, 2)),
        RuntimeError,
        "The shape of the 2D attn_mask is dispatch.Size([3, 2]), but",
    ),
    (
        lambda: attend(attn_mask=o(3, 2, 2)),
        RuntimeError,
        "The shape of the 3D attn_mask is dispatch.Size([3, 2, 2])",
    ),
    (
        lambda: attend(is_causal=True),
        RuntimeError,
        "multi_head_attention_forward: Need attn_mask if specifying",
    ),
    (
        lambda: attend(embed_dim_to_check=5),
        AssertionError,
        "multi_head_attention_forward: expected embedding dimension 5",
    ),
    (
        lambda: attend(num_heads=3),
        AssertionError,
        "multi_head_attention_forward: embed_dim 4 not divisible by",
    ),
    (lambda: init.eye_(o(2)), ValueError, "Only tensors with 2 dimensions are supported"),
    (
        lambda: init.orthogonal_(o(2)),
        ValueError,
        "Only tensors with 2 or more dimensions are supported",
    ),
    (
        lambda: F.glu(o(())),
        RuntimeError,
        "glu: expected a dimension that can be halved, got a 0-d tensor",
    ),
    (lambda: F.dropout1d(o(2)), RuntimeError, "dropout1d: expected 2 or 3 dimensions, got 1"),
    (
        lambda: F.group_norm(o(2), 1),
        RuntimeError,
        "Expected at least 2 dimensions for input tensor but received 1",
    ),
    (
        lambda: F.instance_norm(o(1, 2, 1)),
        ValueError,
        "instance_norm: Expected more than 1 spatial element when training",
    ),
    (
        lambda: F.local_response_norm(o(2, 2), 1),
        ValueError,
        "local_response_norm: Expected 3D or higher dimensionality, got 2D",
    ),
    (
        lambda: F.embedding_bag(z(2, 2, dtype=i64), o(3, 2), per_sample_weights=o(2)),
        ValueError,
        "embedding_bag: expected per_sample_weights of shape (2, 2)",
    ),
    (
        lambda: F.embedding_bag(z(2, 2, dtype=i64), o(3, 2), offsets=tensor([0])),
        ValueError,
        "embedding_bag: if input is 2D, then offsets has to be None",
    ),
    (
        lambda: F.embedding_bag(z(2, 2, 2, dtype=i64), o(3, 2)),
        ValueError,
        "embedding_bag: input has to be 1D or 2D Tensor, got 3D",
    ),
    (
        lambda: F.embedding_bag(tensor(0), o(3, 2)),
        ValueError,
        "embedding_bag: input has to be 1D or 2D Tensor, got 0D",
    ),
    (
        lambda: F.embedding_bag(z(2, dtype=i64), o(3, 2)),
        ValueError,
        "embedding_bag: offsets has to be a 1D Tensor",
    ),
    (
        lambda: F.embedding_bag(z(2, dtype=i64), o(3, 2), offsets=z(1, 1, dtype=i64)),
        ValueError,
        "embedding_bag: offsets has to be a 1D Tensor",
    ),
    (
        lambda: F.embedding_bag(z(2, dtype=i64), o(3, 2), offsets=tensor([0]), mode="odd"),
        ValueError,
        "embedding_bag: mode has to be one of sum, mean or max, got 'odd'",
    ),
    (
        lambda: F.embedding_bag(
            z(2, dtype=i64), o(3, 2), offsets=tensor([0]), mode="mean", per_sample_weights=o(2)
        ),
        NotImplementedError,
        "embedding_bag: per_sample_weights was not None, which only",
    ),
    (
        lambda: F.mse_loss(o(2), o(2), weight=o(3)),
        ValueError,
        "mse_loss: expected weight of shape (2,), got (3,)",
    ),
    (
        lambda: F.l1_loss(o(2), o(2), weight=o(3)),
        ValueError,
        "l1_loss: expected weight of shape (2,), got (3,)",
    ),
    (
        lambda: F.huber_loss(o(2), o(2), weight=o(3)),
        ValueError,
        "huber_loss: expected weight of shape (2,), got (3,)",
    ),
    (
        lambda: F.binary_cross_entropy_with_logits(o(2), o(3)),
        ValueError,
        "binary_cross_entropy_with_logits: expected target of shape",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2), o(2), -1.0),
        ValueError,
        "gaussian_nll_loss: var has negative entry/entries: ",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2), o(2), o(3)),
        ValueError,
        "gaussian_nll_loss: var is of incorrect size: (3,) for input of (2,)",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2, 2), o(2, 2), o(2, 3)),
        ValueError,
        "gaussian_nll_loss: var is of incorrect size: (2, 3) for input of (2, 2)",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2), o(2), -o(2)),
        ValueError,
        "gaussian_nll_loss: var has negative entry/entries",
    ),
    (
        lambda: F.margin_ranking_loss(o(2), o(2, 2), o(2)),
        RuntimeError,
        "margin_ranking_loss : All input tensors should have same dimension but got 1, 2 and 1",
    ),
    (
        lambda: F.multi_margin_loss(o(2, 2), z(2, dtype=i64), p=3),
        ValueError,
        "multi_margin_loss: only p == 1 and p == 2 supported, got 3",
    ),
    (
        lambda: F.multi_margin_loss(o(2, 2), z(2, dtype=i64), weight=o(2, 2)),
        ValueError,
        "multi_margin_loss: weight must be one-dimensional, got 2 dimensions",
    ),
    (
        lambda: F.triplet_margin_with_distance_loss(o(2), o(2, 2), o(2)),
        RuntimeError,
        "triplet_margin_with_distance_loss: The anchor, positive, and negative tensors are "
        "expected to have the same number of dimensions, but got: anchor 1D, positive 2D, and"
        " negative 1D inputs",
    ),
    (
        lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 4, [2])(o(2, 4), z(2, 2, dtype=i64)),
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    (
        lambda: nn.ModuleDict().update(3),
        TypeError,
        "ModuleDict.update should be called with an iterable of",
    ),
    (lambda: nn.Conv1d(2, 2, 1, groups=0), ValueError, "groups must be a positive integer"),
    (lambda: nn.Conv1d(3, 2, 1, groups=2), ValueError, "in_channels must be divisible by groups"),
    (lambda: nn.Conv1d(2, 3, 1, groups=2), ValueError, "out_channels must be divisible by groups"),
    (
        lambda: nn.Conv1d(2, 2, 1, padding_mode="odd"),
        ValueError,
        "padding_mode must be one of",
    ),
    (
        lambda: nn.ConvTranspose1d(1, 1, 2)(o(1, 1, 3), output_size=[1, 1, 1, 1]),
        ValueError,
        "ConvTranspose1d: for 3D input, output_size must have 1 or 3",
    ),
    (
        lambda: nn.ConvTranspose2d(1, 1, 2)(o(1, 1, 3, 3), output_size=[3]),
        ValueError,
        "ConvTranspose2d: for 4D input, output_size must have 2 or 4",
    ),
    (
        lambda: nn.ConvTranspose1d(1, 1, 2, stride=2)(o(1, 1, 3), output_size=[5]),
        ValueError,
        "requested an output size of [5], but valid sizes range from",
    ),
    (
        lambda: nn.ConvTranspose1d(1, 1, 2, stride=2)(o(1, 1, 3), output_size=[8]),
        ValueError,
        "requested an output size of [8], but valid sizes range from",
    ),
    (lambda: nn.Module(3), TypeError, "Module.__init__() got unexpected arguments: 3"),
    (lambda: nn.Module(a=3), TypeError, "Module.__init__() got unexpected arguments: a="),
    (
        lambda: nn.Module().register_buffer("a", 3),
        TypeError,
        "cannot assign 'int' object to buffer 'a' (torch Tensor or",
    ),
    (lambda: nn.Module().add_module("a", 3), TypeError, "int is not a Module subclass"),
    (
        lambda: nn.Module().register_buffer(3, o(2)),
        TypeError,
        "buffer name should be a string. Got int",
    ),
    (lambda: nn.Module().add_module(3, None), TypeError, "module name should be a string. Got int"),
    (
        lambda: nn.Module().register_parameter(3, None),
        TypeError,
        "parameter name should be a string. Got int",
    ),
    (
        lambda: nn.Sequential(nn.ReLU()).get_submodule("0.a"),
        AttributeError,
        "ReLU has no attribute `a`",
    ),
    (
        lambda: nn.Sequential(nn.ReLU()).get_submodule("1"),
        AttributeError,
        "Sequential has no attribute `1`",
    ),
    (
        lambda: nn.Linear(1, 1).get_submodule("weight"),
        AttributeError,
        "`weight` is not an nn.Module",
    ),
    (
        lambda: nn.Linear(1, 1).get_parameter("odd"),
        AttributeError,
        "Linear has no attribute `odd`",
    ),
    (
        lambda: nn.Linear(1, 1).get_buffer("weight"),
        AttributeError,
        "`weight` is not a buffer of Linear",
    ),
    (lambda: nn.RNNBase("ODD", 1, 1), ValueError, "Unrecognized RNN mode: ODD"),
    (lambda: nn.RNN(1, 1, dropout=True), ValueError, "dropout should be a number in range [0, 1]"),
    (lambda: nn.RNN(1, 1, dropout=2), ValueError, "dropout should be a number in range [0, 1]"),
    (lambda: nn.RNN(1, 1.5), TypeError, "hidden_size should be of type int, got: float"),
    (lambda: nn.RNN(1, 0), ValueError, "hidden_size must be greater than zero"),
    (lambda: nn.RNN(1, 1, 0), ValueError, "num_layers must be greater than zero"),
    (
        lambda: nn.GRUCell(1, 1)(o(1, 1, 1)),
        ValueError,
        "GRUCell: Expected input to be 1D or 2D, got 3D instead",
    ),
    (
        lambda: nn.RNNCell(1, 1, nonlinearity="odd")(o(1, 1)),
        RuntimeError,
        "Unknown nonlinearity: odd",
    ),
    (
        lambda: nn.LSTMCell(1, 1)(o(())),
        ValueError,
        "LSTMCell: Expected input to be 1D or 2D, got 0D instead",
    ),
    (
        lambda: nn.MultiheadAttention(0, 1),
        ValueError,
        "embed_dim and num_heads must be greater than 0, got",
    ),
    (
        lambda: nn.MultiheadAttention(1, 0),
        ValueError,
        "embed_dim and num_heads must be greater than 0, got",
    ),
    (
        lambda: nn.TransformerEncoderLayer(2, 1, 2, activation="odd"),
        RuntimeError,
        "activation should be relu/gelu, not odd",
    ),
    (
        lambda: transformer(o(2, 2, 2), o(2, 3, 2)),
        RuntimeError,
        "the batch number of src and tgt must be equal",
    ),
    (
        lambda: transformer(o(2, 2, 3), o(2, 2, 2)),
        RuntimeError,
        "the feature number of src and tgt must be equal to d_model",
    ),
    (
        lambda: transformer(o(2, 2, 2), o(2, 2, 3)),
        RuntimeError,
        "the feature number of src and tgt must be equal to d_model",
    ),
    (lambda: nn.Bilinear(0, 1, 1), ValueError, "in1_features must be > 0, but got 0"),
    (
        lambda: nn.Embedding(2, 2, _weight=o(2, 3)),
        AssertionError,
        "Shape of weight does not match num_embeddings and",
    ),
    (
        lambda: nn.EmbeddingBag(2, 2, _weight=o(2, 3)),
        AssertionError,
        "Shape of weight does not match num_embeddings and",
    ),
    (
        lambda: nn.FractionalMaxPool2d(2, output_ratio=2),
        ValueError,
        "output_ratio must be between 0 and 1 (got (2, 2))",
    ),
    (
        lambda: nn.FractionalMaxPool2d(2, output_ratio=(0.5, 1)),
        ValueError,
        "output_ratio must be between 0 and 1 (got (0.5, 1))",
    ),
    (
        lambda: nn.FractionalMaxPool2d(2),
        ValueError,
        "FractionalMaxPool2d: one of output_size and output_ratio is",
    ),
    (
        lambda: nn.Unflatten(0, 3),
        TypeError,
        "unflattened_size must be a tuple of ints, but found int",
    ),
    (
        lambda: nn.Unflatten(0, (1, "a")),
        TypeError,
        "unflattened_size must be a tuple of ints, but found tuple",
    ),
    (
        lambda: nn.Unflatten(0, "a"),
        TypeError,
        "unflattened_size must be a tuple of ints, but found str",
    ),
    (
        lambda: PZ.ParametrizationList([], o(2)),
        ValueError,
        "ParametrizationList requires one or more modules.",
    ),
    (
        lambda: PZ.register_parametrization(nn.Linear(2, 2), "weight", nn.Flatten(0)),
        ValueError,
        "Registering a parametrization may not change the shape of the",
    ),
    (
        lambda: PZ.remove_parametrizations(nn.Linear(2, 2), "weight"),
        ValueError,
        "Module Linear(in_features=2, out_features=2, bias=True) does",
    ),
    (
        lambda: F.adaptive_avg_pool2d(o(2, 2), [1, 1]),
        ValueError,
        "Input dimension should be at least 3, got 2",
    ),
    (lambda: F.adaptive_avg_pool2d(o(2, 2, 2, 2), [1, 2, 3]), RuntimeError, "output_size"),
    (lambda: F.adaptive_max_pool3d(o(2, 2, 2, 2, 2), [1, None]), RuntimeError, "output_size"),
    (
        lambda: F.adaptive_max_pool2d(o(2, 2), [1, 1]),
        ValueError,
        "Input dimension should be at least 3, got 2",
    ),
    (
        lambda: F.fractional_max_pool2d(o(1, 4, 4), 2),
        ValueError,
        "fractional_max_pool2d: give an output_size or an output_ratio",
    ),
    (
        lambda: F.fractional_max_pool3d(o(1, 4, 4, 4), 2),
        ValueError,
        "fractional_max_pool3d: give an output_size or an output_ratio",
    ),
    (
        lambda: F.max_unpool2d(o(1, 2, 2), z(1, 2, 2, dtype=i64), 2, output_size=[9, 9]),
        ValueError,
        "max_unpool2d: invalid output_size [9, 9], expected one near [4, 4]",
    ),
    (
        lambda: F.max_unpool2d(o(1, 2, 2), z(1, 2, 2, dtype=i64), 2, output_size=[4]),
        ValueError,
        "max_unpool2d: output_size should be a sequence containing 2 or 4",
    ),
    (
        lambda: F.affine_grid(z(1, 2, 3, dtype=i64), [1, 1, 2, 2], False),
        ValueError,
        "Expected theta to have floating point type, got",
    ),
    (
        lambda: F.affine_grid(o(1, 2, 3), [1, 1, 2], False),
        NotImplementedError,
        "affine_grid: expected four or five sizes, got 3",
    ),
    (
        lambda: F.affine_grid(o(1, 3, 3), [1, 1, 2, 2], False),
        ValueError,
        "Expected a batch of 2D affine matrices of shape Nx2x3, got (1, 3, 3)",
    ),
    (
        lambda: F.affine_grid(o(1, 2, 3), [1, 1, 2, 2, 2], False),
        ValueError,
        "Expected a batch of 3D affine matrices of shape Nx3x4, got (1, 2, 3)",
    ),
    (
        lambda: F.affine_grid(o(1, 2, 3), [1, 1, 0, 2], False),
        ValueError,
        "Expected non-zero, positive output size, got [1, 1, 0, 2]",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2), 2, mode="nearest", align_corners=True),
        ValueError,
        "align_corners option can only be set with the interpolating modes: lin",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2), 2, recompute_scale_factor=True),
        ValueError,
        "recompute_scale_factor is not meaningful with an explicit size",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2), 2, mode="linear", antialias=True),
        ValueError,
        "interpolate: antialias goes with bilinear and bicubic, 4-d",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2, 2), [2, 2, 2]),
        ValueError,
        "Input and output must have the same number of spatial dimensions",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2, 2), scale_factor=[2, 2, 2]),
        ValueError,
        "Input and scale_factor must have the same number of spatial dimen",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2, 2), 2, mode="odd"),
        NotImplementedError,
        "Input Error: Only 3D, 4D and 5D input Tensors supported, with the",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2, 2)),
        ValueError,
        "either size or scale_factor should be defined",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2, 2), 2, scale_factor=2),
        ValueError,
        "only one of size or scale_factor should be defined",
    ),
    (
        lambda: nn.InstanceNorm1d(3, affine=True)(o(2, 4, 5)),
        ValueError,
        "expected input's size at dim=1 to match num_features (3), but got: 4.",
    ),
    (
        lambda: nn.LSTM(3, 4)(o(2, 1, 3), (o(1, 1, 4), o(1, 2, 4))),
        RuntimeError,
        "Expected hidden[1] size (1, 1, 4), got [1, 2, 4]",
    ),
    (
        lambda: nn.MultiheadAttention(4, 2)(o(2, 1, 4), o(2, 1, 4), o(2, 4)),
        AssertionError,
        "multi_head_attention_forward: For batched (3-D) `query`, expected",
    ),
    (
        lambda: F.interpolate(o(1, 1, 2), 2, mode="bilinear"),
        NotImplementedError,
        "Got 3D input, but bilinear mode needs 4D input",
    ),
    (
        lambda: F.embedding_bag(o(2).long(), o(3, 2), o(1).long(), mode="max",
                                scale_grad_by_freq=True),
        ValueError,
        "embedding_bag: max mode does not support scaling the gradient",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2, 2), o(2, 2), o(1, 1)),
        ValueError,
        "gaussian_nll_loss: var is of incorrect size: (1, 1) for input of (2, 2)",
    ),
    (
        lambda: F.gaussian_nll_loss(o(2, 2), o(2, 2), o(2, 2, 1)),
        ValueError,
        "gaussian_nll_loss: var is of incorrect size: (2, 2, 1) for input of (2, 2)",
    ),
    (
        lambda: numpy_ops.numpy_nonzero(tensor(1.0)),
        RuntimeError,
        "numpy_nonzero: expected a dimension",
    ),
    (
        lambda: numpy_ops.numpy_nms(o(2, 3), o(2), 0.5),
        AssertionError,
        "numpy_nms: dispatch.Size([2, 3]) boxes for dispatch.Size([2])",
    ),
    (
        lambda: numpy_ops.numpy_nms(o(3, 4), o(2), 0.5),
        AssertionError,
        "numpy_nms: dispatch.Size([3, 4]) boxes for dispatch.Size([2])",
    ),
    (
        lambda: numpy_ops.numpy_nms(o(2, 4, device="meta"), o(2), 0.5),
        AssertionError,
        "numpy_nms: meta and cpu",
    ),
    (
        lambda: numpy_ops.numpy_cat([], 0),
        AssertionError,
        "numpy_cat: expected tensors of one device and dtype",
    ),
    (
        lambda: numpy_ops.numpy_cat([o(2), o(2, dtype=i64)], 0),
        AssertionError,
        "numpy_cat: expected tensors of one device and dtype",
    ),
    (
        lambda: numpy_ops.numpy_cat([o(2, device="meta"), o(2, device="meta", dtype=i64)], 0),
        AssertionError,
        "numpy_cat: expected tensors of one device and dtype",
    ),
    (
        lambda: numpy_ops.numpy_mul(o(2, device="meta"), o(2)),
        AssertionError,
        "numpy_mul: meta and cpu",
    ),
    (
        lambda: numpy_ops.numpy_take(
            o(2, device="meta"), o(2, device="meta"), o(2, device="meta"), 0
        ),
        AssertionError,
        "numpy_take: the places are to be int64",
    ),
    (
        lambda: numpy_ops.numpy_take(o(2, device="meta"), o(2, dtype=i64), o(2, dtype=i64), 0),
        AssertionError,
        "numpy_take: the devices differ",
    ),
    (lambda: nn.RNN(2, 3, bias=1), TypeError, "bias should be of type bool, got: int"),
    (lambda: nn.GRU(2, 3, batch_first="x"), TypeError, "batch_first should be of type bool"),
    (lambda: nn.LSTM(2.0, 3), TypeError, "input_size should be of type int, got: float"),
    (lambda: nn.LSTM(0, 3), ValueError, "input_size must be greater than zero"),
    (lambda: nn.RNNCell(2, 3)(o(1, 2), o(1, 1, 3)), ValueError, "hidden to be 1D or 2D, got 3D"),
    (
        lambda: nn.LSTMCell(2, 3)(o(1, 2), (o(1, 3), o(1, 1, 3))),
        ValueError,
        "LSTMCell: Expected hx[1] to be 1D or 2D, got 3D instead",
    ),
    (lambda: nn.GRUCell(2, 3)(o(1, 2), o(4, 3)), RuntimeError, "match hidden0 batch size 4"),
    (lambda: nn.CircularPad1d(1)(o(1, 1, 1, 2)), ValueError, "expected 2D or 3D input (got 4D"),
    (lambda: nn.HuberLoss(delta=1j), TypeError, "delta must be a float or int, got: <class"),
    (lambda: F.batch_norm(o(2, 2), o(2), o(2), eps=-1), ValueError, "eps must be non-negative"),
    (
        lambda: F.batch_norm(o(2, 2), o(2), o(2), training=True, eps=0.0),
        ValueError,
        "batch_norm eps must be positive during training, but got 0.0",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)


@pytest.mark.parametrize("sizes", [(1, 3), (2, 1), (2,)])
def test_a_variance_may_lack_one_dimension(sizes):
    whole = F.gaussian_nll_loss(o(2, 3), z(2, 3), 2 * o(2, 3))
    assert F.gaussian_nll_loss(o(2, 3), z(2, 3), 2 * o(sizes)).item() == whole.item()
