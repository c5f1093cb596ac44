"""Arguments that shape functions refuse: PyTorch's type of error, and what was wrong with them."""

import pytest

from tests.dispatch.refused import (
    A,
    P,
    b8,
    bf16,
    c64,
    check_refused,
    f16,
    f64,
    i16,
    i32,
    i64,
    inf,
    nan,
    o,
    tensor,
    z,
)  # fmt: skip

CALLS = [
    (
        lambda: A._efficient_attention_forward(
            o(1, 2, 2, 8, device="meta"),
            o(1, 2, 2, 8, device="meta"),
            o(1, 2, 2, 8, device="meta"),
            None,
            o(2, dtype=i32, device="meta"),
            o(2, dtype=i32, device="meta"),
            None,
            None,
            0.0,
            0,
        ),
        AssertionError,
        "cu_seqlens_q needs max_seqlen_q",
    ),
    (
        lambda: A._scaled_dot_product_fused_attention_overrideable(
            o(2, 2, device="meta"), o(2, 2, device="meta"), o(2, 2, device="meta")
        ),
        RuntimeError,
        "expected query to have 3 or 4 dimensions, got [2, 2]",
    ),
    (
        lambda: A.convolution(
            o(1, 1, 2, device="meta"), o(1, 1, 1, device="meta"), None, [1], [3], [1], True, [0], 1
        ),
        RuntimeError,
        "the output for input [1, 1, 2] and weight [1, 1, 1] would",
    ),
    (
        lambda: A.convolution(o(1, 1, 2), o(1, 1, 1), None, [1], [3], [1], True, [0], 1),
        RuntimeError,
        "the output for input [1, 1, 2] and weight [1, 1, 1] would",
    ),
    (
        lambda: A.slow_conv_transpose2d(o(2, 2), o(2, 1, 2, 2), [2, 2]),
        RuntimeError,
        "expected self to have 3 or 4 dimensions, got [2, 2]",
    ),
    (
        lambda: A.slow_conv_transpose2d(o(1, 2, 2, 2), o(2, 1, 3, 2), [2, 2]),
        RuntimeError,
        "weight [2, 1, 3, 2] does not fit kernel_size [2, 2]",
    ),
    (
        lambda: A.slow_conv_transpose2d(o(1, 3, 2, 2), o(2, 1, 2, 2), [2, 2]),
        RuntimeError,
        "weight [2, 1, 2, 2] does not fit self [1, 3, 2, 2]",
    ),
    (
        lambda: A.slow_conv_transpose2d(o(1, 2, 2, 2), o(2, 1, 2, 2), [2, 2], o(3)),
        RuntimeError,
        "bias must have 1 elements, got [3]",
    ),
    (
        lambda: A._cdist_backward(o(2, 2), o(2, 3), o(2, 4), 1.0, o(2, 2)),
        RuntimeError,
        "expected x2 to have 3 columns as x1, got [2, 4]",
    ),
    (
        lambda: A.arange(-(2**63), 2**63 - 1, 1, dtype=i64, device="meta"),
        RuntimeError,
        "from -9223372036854775808 to 9223372036854775807 by 1 there",
    ),
    (
        lambda: A.arange(0, 1e30, 1, device="meta"),
        RuntimeError,
        "from 0 to 1e+30 by 1 there are too many values",
    ),
    (
        lambda: A.arange(0, 2**63 - 1, dtype=i64, device="meta"),
        RuntimeError,
        "Storage size calculation overflowed with",
    ),
    (lambda: A.range(0, nan), RuntimeError, "expected finite bounds, got 0 and nan"),
    (lambda: A.range(0, inf), RuntimeError, "expected finite bounds, got 0 and inf"),
    (lambda: A.range(0, 4, 0), RuntimeError, "step must not be 0"),
    (
        lambda: P.iota(3, start=0, step=0, dtype=i64, device="cpu", requires_grad=False),
        RuntimeError,
        "expected a step other than 0",
    ),
    (
        lambda: A._dyn_quant_pack_4bit_weight(o(2, 2), o(2), None, 4, 4, 2),
        RuntimeError,
        "expected weights of uint8, got dispatch.float32",
    ),
    (
        lambda: A._dyn_quant_matmul_4bit(o(2, 2, 2), o(8), 2, 4, 2),
        RuntimeError,
        "expected inp to be a matrix, got shape [2, 2, 2]",
    ),
    (
        lambda: A._dyn_quant_matmul_4bit(o(2, 2, dtype=f64), o(8), 2, 4, 2),
        RuntimeError,
        "inp of dtype dispatch.float64 is not supported for blocks of 2",
    ),
    (lambda: A.stack([o([1] * 64)]), RuntimeError, "a result of more than 64 dimensions"),
    (
        lambda: A.fft_fft(o(2, dtype=bf16)),
        RuntimeError,
        "Unsupported dtype BFloat16",
    ),
    (
        lambda: A.nll_loss_forward(o(2, 2, dtype=b8), z(2, dtype=i64), None, 1, -100),
        NotImplementedError,
        "no CPU kernel for dispatch.bool",
    ),
    (
        lambda: A.nll_loss_forward(o(2, 2, dtype=i64), z(2, dtype=i64), None, 1, -100),
        NotImplementedError,
        "no CPU kernel for dispatch.int64",
    ),
    (
        lambda: A._ctc_loss(o(0, 1, 3), z(1, 1, dtype=i64), [1], [1]),
        RuntimeError,
        "expected log_probs with elements, got [0, 1, 3]",
    ),
    (
        lambda: A._ctc_loss(o(2, 1, 3), z(1, 1, dtype=i16), [2], [1]),
        RuntimeError,
        "expected int64 targets, got dispatch.int16",
    ),
    (
        lambda: A._ctc_loss(o(2, 3), z(1, 1, dtype=i64), [2], [1]),
        RuntimeError,
        "expected log_probs to have 3 dimensions, got [2, 3]",
    ),
    (
        lambda: A.binary_cross_entropy_backward(o(2), o(2), o(2, dtype=f64), None, 1),
        RuntimeError,
        "expected dispatch.float32 for all, got [dispatch.float32",
    ),
    (
        lambda: A.binary_cross_entropy_backward(o(3, 2), o(2), o(2), None, 0),
        RuntimeError,
        "operands of shape [3, 2] do not fit self [2]",
    ),
    (
        lambda: A.multi_margin_loss_backward(o(2), o(2, 3), z(2, dtype=i64), 1, 1, None, 1),
        RuntimeError,
        "expected grad_output to be a number, got [2]",
    ),
    (
        lambda: A.multilabel_margin_loss_backward(o(()), o(2, 3), z(2, 3, dtype=i64), 1, o(2, 2)),
        RuntimeError,
        "expected is_target of shape [2, 3], got [2, 2]",
    ),
    (
        lambda: A.multilabel_margin_loss_backward(o(2), o(2, 3), z(2, 3, dtype=i64), 1, o(2, 3)),
        RuntimeError,
        "expected grad_output to be a number, got [2]",
    ),
    (
        lambda: A.native_layer_norm_backward(
            o(2, 2), o(2, 2), [2], o(2, 1), o(2, 1), None, None, [True, True, True]
        ),
        RuntimeError,
        "expected weight to be given for its gradient, got None",
    ),
    (
        lambda: A.native_batch_norm_backward(
            o(2, 2), o(2, 2), o(2), None, None, None, None, True, 1e-5, [True, True, True]
        ),
        RuntimeError,
        "expected save_mean and save_invstd in training",
    ),
    (
        lambda: A.native_group_norm_backward(
            o(2, 2, 2), o(2, 2, 2), o(2, 1), o(2, 1), None, 2, 2, 2, 1, [True, True, True]
        ),
        RuntimeError,
        "expected weight to be given for its gradient, got None",
    ),
    (
        lambda: A.native_layer_norm_backward(
            o(2, 2), o(2, 2), [2], o(3, 1), o(2, 1), o(2), o(2), [True, True, True]
        ),
        RuntimeError,
        "expected parameters and statistics of 2 elements, got [3, 1]",
    ),
    (
        lambda: A._weight_norm_interface(o(2, 2, dtype=f64), o(2, 1, dtype=bf16), 0),
        RuntimeError,
        "expected g to be dispatch.float64 as v is, got",
    ),
    (
        lambda: A._weight_norm_interface(o(2, 2, dtype=c64), o(2, 1, dtype=bf16), 0),
        NotImplementedError,
        "no CPU kernel for dispatch.complex64",
    ),
    (
        lambda: A._amp_foreach_non_finite_check_and_unscale_([o(2)], o(1, dtype=i64), o(1)),
        RuntimeError,
        "expected found_inf of a float dtype, got dispatch.int64",
    ),
    (
        lambda: A._amp_foreach_non_finite_check_and_unscale_([o(2)], o(1), o(1, dtype=i64)),
        RuntimeError,
        "expected inv_scale of a float dtype, got dispatch.int64",
    ),
    (
        lambda: A.fractional_max_pool2d_backward(
            o(1, 2, 2), o(1, 4, 4), [2, 2], [3, 2], z(1, 3, 2, dtype=i64)
        ),
        RuntimeError,
        "expected grad_output to have output_size [3, 2], got [1, 2, 2]",
    ),
    (
        lambda: A.fractional_max_pool2d_backward(
            o(1, 1, 2, 2), o(1, 4, 4), [2, 2], [2, 2], z(1, 2, 2, dtype=i64)
        ),
        RuntimeError,
        "expected grad_output to have output_size [2, 2], got [1, 1",
    ),
    (lambda: P.cat([], 0), IndexError, "expected tensors, got an empty list"),
    (lambda: P.cat([o(2)], 1), IndexError, "dim 1 is out of range for [2]"),
    (lambda: P.cat([o(2)], -1), AssertionError, "expected dim to be 0 or more, got -1"),
    (
        lambda: P.add(o(2), o(2, device="meta")),
        RuntimeError,
        "expected one device, got cpu and meta",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine(o(2), o(0), o(0), 0, 255),
        IndexError,
        "expected a dimension, and an element, got shape [0]",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine(o(2), o(()), o(()), 0, 255),
        IndexError,
        "expected a dimension, and an element, got shape []",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(2), o(()), o(()), 0, 255
        ),
        IndexError,
        "expected scale and zero_point to have a dimension, and an",
    ),
    (
        lambda: A._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            o(2), o(0), o(0, dtype=i32), o(1, dtype=i64), 0, 255
        ),
        RuntimeError,
        "expected one element, got shape [0]",
    ),
    (
        lambda: A.fake_quantize_per_tensor_affine(o(2), o(0), o(0, dtype=i32), 0, 255),
        RuntimeError,
        "expected one element, got shape [0]",
    ),
    (
        lambda: A.native_channel_shuffle(o(2, 2), 1),
        RuntimeError,
        "expected more than 2 dimensions and channels that 1 groups",
    ),
    (
        lambda: A.channel_shuffle(o(2, 2), 1),
        RuntimeError,
        "expected self to have more than 2 dimensions, got [2, 2]",
    ),
    (
        lambda: A.im2col(o(2, 2), [1, 1], [1, 1], [0, 0], [1, 1]),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        lambda: A.im2col(o(2, 0, 2), [1, 1], [1, 1], [0, 0], [1, 1]),
        RuntimeError,
        "expected self to have 3 dimensions or 4 with a batch, none",
    ),
    (
        lambda: A.im2col(o(2, 2, 2), [3, 3], [1, 1], [0, 0], [1, 1]),
        RuntimeError,
        "sliding blocks as [0, 0] of [2, 2, 2], which has to be",
    ),
    (
        lambda: A._thnn_fused_lstm_cell(
            o(2, 8, device="meta"), o(2, 4, device="meta"), o(2, 2, device="meta")
        ),
        RuntimeError,
        "expected input_gates and hidden_gates to be matrices of one",
    ),
    (
        lambda: A._thnn_fused_lstm_cell_backward_impl(
            o(2, 2, device="meta"),
            o(2, 2, device="meta"),
            o(2, 2, device="meta"),
            o(2, 2, device="meta"),
            o(3, 8, device="meta"),
            True,
        ),
        RuntimeError,
        "workspace of shape [3, 8] does not fit cx of [2, 2]",
    ),
    (
        lambda: A._segment_reduce_backward.out(
            o(2), o(2), o(3), "sum", lengths=tensor([1, 2]), axis=0, out=o(3, dtype=f64)
        ),
        RuntimeError,
        "Expected out tensor to have dtype dispatch.float32, but got",
    ),
    (
        lambda: A.grid_sampler_2d(o(1, 1, 2, 2), o(1, 1, 1, 2), 0, 3, False),
        RuntimeError,
        "expected padding_mode to be 0, 1 or 2, got 3",
    ),
    (
        lambda: A.grid_sampler_2d_backward(
            o(1, 1, 3, 3), o(1, 1, 2, 2), o(1, 1, 1, 2), 0, 0, False, [True, True]
        ),
        RuntimeError,
        "grad_output [1, 1, 3, 3] does not fit input [1, 1, 2, 2] and",
    ),
    (
        lambda: A._log_softmax_backward_data(o(2), o(2), 0, f16),
        RuntimeError,
        "expected input_dtype to be grad_output's, float32, got float16",
    ),
    (
        lambda: A._softmax_backward_data(o(2), o(2), 0, f16),
        RuntimeError,
        "expected input_dtype to be grad_output's, float32, got float16",
    ),
    (
        lambda: A.convolution_backward(
            o(1, 1, 2, device="meta"),
            o(1, 1, 3, device="meta"),
            o(1, 1, 2, device="meta"),
            None,
            [1],
            [0],
            [1],
            False,
            [0],
            1,
            [False, False, True],
        ),
        TypeError,
        "the gradient of bias needs bias_sizes",
    ),
    (
        lambda: A.multi_margin_loss_backward(o(3), o(2, 3), z(2, dtype=i64), 1, 1, None, 0),
        RuntimeError,
        "expected grad_output of shape [2], got [3]",
    ),
    (
        lambda: A._weight_norm_interface(
            o(2, 2, dtype=f64, device="meta"), o(2, 1, dtype=bf16, device="meta"), 0
        ),
        RuntimeError,
        "expected v to fit in dispatch.float32, the norm's dtype",
    ),
    (
        lambda: A.nll_loss_forward(
            o(2, 2, dtype=b8, device="meta"), z(2, dtype=i64, device="meta"), None, 1, -100
        ),
        RuntimeError,
        "no loss of dispatch.bool",
    ),
    (
        lambda: A.nll_loss_forward(
            o(2, 2, dtype=b8, device="meta"), z(2, dtype=i64, device="meta"), None, 0, -100
        ),
        RuntimeError,
        "no loss of dispatch.bool",
    ),
    (
        lambda: A.nll_loss_forward(o(2, 2, dtype=b8), z(2, dtype=i64), o(2), 1, -100),
        NotImplementedError,
        "no CPU kernel for dispatch.bool",
    ),
    (
        lambda: A.fft_rfft(o(4, dtype=bf16)),
        RuntimeError,
        "Unsupported dtype BFloat16",
    ),
    (
        lambda: A._fft_r2c(o(4, dtype=bf16), [0], 0, True),
        RuntimeError,
        "not implemented for dispatch.bfloat16",
    ),
    (
        lambda: A.segment_reduce(o(2), "sum", lengths=tensor([2]), axis=0, out=o(1, dtype=f64)),
        RuntimeError,
        "Expected out tensor to have dtype dispatch.float32, but got",
    ),
    (
        lambda: A._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            o(2), o(1), o(0, dtype=i32), o(1, dtype=i64), 0, 255
        ),
        RuntimeError,
        "expected one element, got shape [0]",
    ),
    (
        lambda: A._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            o(2), o(0), o(1, dtype=i32), o(1, dtype=i64), 0, 255
        ),
        RuntimeError,
        "expected one element, got shape [0]",
    ),
    (
        lambda: A._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            o(2), o(1), o(1, dtype=i32), o(0, dtype=i64), 0, 255
        ),
        RuntimeError,
        "expected one element, got shape [0]",
    ),
    (
        lambda: A._fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
            o(2), o(2), o(2, dtype=i32), o(2, dtype=i64), 0, 255
        ),
        RuntimeError,
        "expected one element, got shape [2]",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(2), o(0), o(1), 0, 255
        ),
        IndexError,
        "expected scale and zero_point to have a dimension, and an",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(2), o(1), o(0), 0, 255
        ),
        IndexError,
        "expected scale and zero_point to have a dimension, and an",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(2), o(()), o(1), 0, 255
        ),
        IndexError,
        "expected scale and zero_point to have a dimension, and an",
    ),
    (
        lambda: A.fake_quantize_per_channel_affine_cachemask(
            o(2), o(2), z(2, dtype=i32), 0, 255, 0
        ),
        RuntimeError,
        "expected quant_min to be at most quant_max 0, got 255",
    ),
    (
        lambda: A._fake_quantize_learnable_per_channel_affine(o(2), o(2), z(2), 0, 255, 0),
        RuntimeError,
        "expected quant_min to be at most quant_max 0, got 255",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
