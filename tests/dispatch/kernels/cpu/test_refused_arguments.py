"""Kernels of the CPU refuse what does not fit: PyTorch's type of error, and why."""

import functools

import pytest

import dispatch
from tests.dispatch.refused import (
    A,
    b8,
    c64,
    check_refused,
    f64,
    i16,
    i32,
    i64,
    inf,
    nan,
    o,
    tensor,
    u8,
    u64,
    z,
)  # fmt: skip

# A call that is right, to be made wrong in one argument.
observe = functools.partial(
    A._fused_moving_avg_obs_fq_helper,
    self=o(2, 2),
    observer_on=o(1, dtype=i64),
    fake_quant_on=o(1, dtype=i64),
    running_min=o(1),
    running_max=o(1),
    scale=o(2),
    zero_point=z(2, dtype=i32),
    averaging_const=0.1,
    quant_min=0,
    quant_max=255,
    ch_axis=0,
)

CALLS = [
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 1, 2, 4), o(1, 1, 2, 4), o(1, 1, 2, 4), 0.0, False, attn_mask=o(2)
        ),
        RuntimeError,
        "expected attn_mask to have 2 or 4 dimensions, got [2]",
    ),
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 1, 2, 4, dtype=i64), o(1, 1, 2, 4, dtype=i64), o(1, 1, 2, 4, dtype=i64)
        ),
        RuntimeError,
        "expected query to be floating point, got dispatch.int64",
    ),
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 1, 2, 4), o(1, 1, 2, 5), o(1, 1, 2, 5)
        ),
        RuntimeError,
        "expected query, key and value to have one head size",
    ),
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 1, 2, 4), o(1, 1, 2, 4, dtype=f64), o(1, 1, 2, 4)
        ),
        RuntimeError,
        "expected query, key and value to have one dtype",
    ),
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 1, 2, 4), o(2, 1, 2, 4), o(2, 1, 2, 4)
        ),
        RuntimeError,
        "expected key and value of one shape whose heads divide",
    ),
    (
        lambda: A._scaled_dot_product_flash_attention_for_cpu(
            o(1, 3, 2, 4), o(1, 2, 2, 4), o(1, 2, 2, 4)
        ),
        RuntimeError,
        "expected key and value of one shape whose heads divide",
    ),
    (
        lambda: A._embedding_bag_dense_backward(
            o(2, 2),
            tensor([0, 1]),
            tensor([0, 1]),
            tensor([1]),
            tensor([]).to(i64),
            3,
            False,
            1,
            None,
        ),
        RuntimeError,
        "expected bag_size to have 2 elements, got 1",
    ),
    (
        lambda: A._embedding_bag_dense_backward(
            o(2, 2),
            tensor([0, 1]),
            tensor([0, 1]),
            tensor([1, 1]),
            tensor([]).to(i64),
            3,
            False,
            0,
            o(1),
        ),
        IndexError,
        "expected 2 per_sample_weights, got 1",
    ),
    (
        lambda: A.nonzero.out(o(2), out=o(2)),
        RuntimeError,
        "nonzero: Expected out tensor to have scalar type Long, got dispatch.float32",
    ),
    (
        lambda: A._index_put_impl_(o(2), [o(2, dtype=u8)], tensor(1.0)),
        RuntimeError,
        "one value under a mask needs a mask of dtype bool, got uint8",
    ),
    (
        lambda: A.index_put_(o(2), [o(2, dtype=u8)], tensor(1.0)),
        RuntimeError,
        "one value under a mask needs a mask of dtype bool, got uint8",
    ),
    (lambda: A.index_select(o(0, 2), 0, tensor([0])), RuntimeError, "dimension 0 of self is empty"),
    (
        lambda: A._compute_linear_combination(o(()), o(1, 1)),
        RuntimeError,
        "expected input to have elements, got shape []",
    ),
    (
        lambda: A._compute_linear_combination(o(0, 2), o(1, 0)),
        RuntimeError,
        "expected input to have elements, got shape [0, 2]",
    ),
    (
        lambda: A._compute_linear_combination(o(2, 2), o(1, 3)),
        RuntimeError,
        "coefficients of [1, 3] do not fit input of [2, 2]",
    ),
    (
        lambda: A._compute_linear_combination(o(2, 2), o(2)),
        RuntimeError,
        "coefficients of [2] do not fit input of [2, 2]",
    ),
    (
        lambda: A.linalg_solve_triangular(o(2, 2), o(2, 2, dtype=f64), upper=True),
        RuntimeError,
        "expected self and B to have the same dtype, got",
    ),
    (
        lambda: A.addmv(o(2, dtype=b8), o(2, 2, dtype=b8), o(2, dtype=b8), beta=2),
        NotImplementedError,
        "no CPU kernel for dispatch.bool",
    ),
    (
        lambda: A._nested_compute_contiguous_strides_offsets(o(2, 2)),
        RuntimeError,
        "expected int64 rows of sizes, got [2, 2]",
    ),
    (
        lambda: A._nested_compute_contiguous_strides_offsets(z(2, dtype=i64)),
        IndexError,
        "expected int64 rows of sizes, got [2]",
    ),
    (
        lambda: A._nested_tensor_from_mask_left_aligned(o(2, 2, 2), o(2, 2)),
        RuntimeError,
        "expected a mask of bool, got dispatch.float32",
    ),
    (
        lambda: A._nested_tensor_from_mask_left_aligned(o(2, 2), o(2, 2, dtype=b8)),
        RuntimeError,
        "expected t of 3 and mask of 2 dimensions, got 2 and 2",
    ),
    (
        lambda: A._nested_tensor_from_mask_left_aligned(o(2, 2, 2), o(2, 3, dtype=b8)),
        RuntimeError,
        "mask of shape [2, 3] does not fit t [2, 2, 2]",
    ),
    (
        lambda: A._weight_norm_interface(o(2, 2), o(2, 1, dtype=f64), 0),
        RuntimeError,
        "expected g to be dispatch.float32 as v is, got",
    ),
    (
        lambda: A._fused_sgd_(
            [o(2)],
            [o(2)],
            [o(2)],
            weight_decay=0.0,
            momentum=0.0,
            lr=0.1,
            dampening=0.0,
            nesterov=False,
            maximize=False,
            is_first_step=False,
        ),
        RuntimeError,
        "expected no momentum_buffer_list without momentum, got 1",
    ),
    (
        lambda: A._fused_adam_(
            [o(2)],
            [o(2)],
            [o(2)],
            [o(2)],
            [],
            [o(0)],
            lr=0.1,
            beta1=0.9,
            beta2=0.9,
            weight_decay=0.0,
            eps=1e-8,
            amsgrad=False,
            maximize=False,
        ),
        RuntimeError,
        "expected state_steps with an element each",
    ),
    (
        lambda: A._fused_adagrad_(
            [o(2)],
            [o(2)],
            [o(2)],
            [o(0)],
            lr=0.1,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        ),
        RuntimeError,
        "expected state_steps with an element each",
    ),
    (
        lambda: A.max_unpool2d(o(1, 2, 2), z(1, 1, 2, dtype=i64), [4, 4]),
        RuntimeError,
        "Expected shape of indices to be same as that of the input tensor ([1, 2, 2]) but got"
        " indices tensor with shape: [1, 1, 2]",
    ),
    (
        lambda: A.max_pool2d_with_indices_backward(
            o(1, 2, 2), o(1, 4, 4), [2, 2], [2, 2], [0, 0], [1, 1], False, z(1, 1, 2, dtype=i64)
        ),
        RuntimeError,
        "indices must have sizes [1, 2, 2], got [1, 1, 2]",
    ),
    (
        lambda: A.adaptive_max_pool2d_backward(o(1, 2, 2), o(1, 4, 4), z(1, 1, 2, dtype=i64)),
        RuntimeError,
        "expected indices of grad_output's sizes [1, 2, 2], got [1, 1",
    ),
    (
        lambda: A.fractional_max_pool2d_backward(
            o(1, 2, 2), o(1, 4, 4), [2, 2], [2, 2], z(1, 1, 2, dtype=i64)
        ),
        RuntimeError,
        "expected indices of grad_output's sizes [1, 2, 2], got [1, 1",
    ),
    (
        lambda: A.max_pool3d_with_indices(
            o(1, 2, 2, 2).contiguous(memory_format=dispatch.channels_last), [1, 1, 1]
        ),
        RuntimeError,
        "self of 4 dimensions must not be in channels_last",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(3), o(1), o(1), 0, 255
        ),
        RuntimeError,
        "expected grad of shape [3], got [2]",
    ),
    (
        lambda: A._fake_quantize_learnable_per_tensor_affine_backward(
            o(2), o(2), o(1), o(1), 1, 255
        ),
        RuntimeError,
        "expected quant_min 1 and quant_max 255 to have 0 between them",
    ),
    (
        lambda: observe(
            self=o(2), scale=o(1), zero_point=z(1, dtype=i32), quant_min=255, quant_max=0
        ),
        RuntimeError,
        "expected quant_min to be below quant_max 0, got 255",
    ),
    (
        lambda: observe(per_row_fake_quant=True),
        RuntimeError,
        "expected running_min and running_max for 2 rows, got 1",
    ),
    (
        lambda: observe(running_min=o(2), running_max=o(2), ch_axis=1, per_row_fake_quant=True),
        RuntimeError,
        "expected ch_axis 0 for rows, got 1",
    ),
    (
        lambda: A.choose_qparams_optimized(o(4), 5, 100, 0.16, 8),
        RuntimeError,
        "expected numel from 1 to 4, got 5",
    ),
    (
        lambda: A.choose_qparams_optimized(o(4), 0, 100, 0.16, 8),
        RuntimeError,
        "expected numel from 1 to 4, got 0",
    ),
    (
        lambda: A.choose_qparams_optimized(o(4), 4, 0, 0.16, 8),
        RuntimeError,
        "expected n_bins of 1 or more and bit_width from 1 to 30, got",
    ),
    (
        lambda: A.choose_qparams_optimized(o(4), 4, 100, 0.16, 31),
        RuntimeError,
        "expected n_bins of 1 or more and bit_width from 1 to 30, got",
    ),
    (
        lambda: A.random_(o(2, dtype=u64), 0, None),
        RuntimeError,
        "expected a bound for dispatch.uint64, got to=None",
    ),
    (
        lambda: A.random_(o(2, dtype=u64), 5, None),
        RuntimeError,
        "expected a bound for dispatch.uint64, got to=None",
    ),
    (
        lambda: A.normal.float_Tensor(0.0, o(2, dtype=c64)),
        RuntimeError,
        "normal expects standard deviation to be non-complex, got dispatch.complex64",
    ),
    (
        lambda: A.normal.Tensor_Tensor(o(2), o(2, dtype=c64)),
        RuntimeError,
        "normal expects standard deviation to be non-complex, got dispatch.complex64",
    ),
    (
        lambda: A.multinomial(o(1).expand(2**24 + 1), 1),
        RuntimeError,
        "expected at most 16777216 categories, got 16777217",
    ),
    (
        lambda: A.multinomial(z(2), 1),
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0, or it is an invalid "
        "multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda: A.multinomial(z(2), 1, True),
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0, or it is an invalid "
        "multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda: A.multinomial(z(1, 2), 2, True),
        RuntimeError,
        "probability tensor contains either `inf`, `nan` or element < 0, or it is an invalid "
        "multinomial distribution (sum of probabilities <= 0)",
    ),
    (
        lambda: A.multinomial(o(0), 1),
        RuntimeError,
        "cannot sample n_sample > prob_dist.size(-1) samples without replacement, of 0 got 1",
    ),
    (
        lambda: A.rrelu_with_noise(o(2), o(3)),
        RuntimeError,
        "expected noise to have self's shape [2], got [3]",
    ),
    (
        lambda: A.rrelu_with_noise.out(o(2), o(3), out=o(2)),
        RuntimeError,
        "expected noise to have self's shape [2], got [3]",
    ),
    (
        lambda: A.histogram.bins_tensor(o(4), o(3, dtype=f64)),
        RuntimeError,
        "input tensor and bins tensors should have the same dtype, got dispatch.float32 and "
        "dispatch.float64",
    ),
    (
        lambda: A.histogramdd.TensorList_bins(o(4, 1), [o(3, dtype=f64)]),
        RuntimeError,
        "input tensor and bins tensors should have the same dtype, got dispatch.float32 and "
        "dispatch.float64",
    ),
    (
        lambda: A._histogramdd_from_bin_tensors(o(4, 1), [o(3, dtype=f64)]),
        RuntimeError,
        "input tensor and bins tensors should have the same dtype, got dispatch.float32 and "
        "dispatch.float64",
    ),
    (
        lambda: A._histogramdd_bin_edges(o(4, 1), [0]),
        RuntimeError,
        "bins must be > 0, got 0",
    ),
    (
        lambda: A.histogram(o(4), 3, weight=o(4, dtype=f64)),
        RuntimeError,
        "input tensor and weight tensor should have the same dtype, got dispatch.float32 and "
        "dispatch.float64",
    ),
    (lambda: A.histogram(o(4), 0), RuntimeError, "bins must be > 0, got 0"),
    (
        lambda: A.histogram(o(4), 3, range=[2.0, 1.0]),
        RuntimeError,
        "min should not exceed max, got 2.0 and 1.0",
    ),
    (
        lambda: A.histogram(o(4), 3, range=[nan, 1.0]),
        RuntimeError,
        "range [nan, 1.0] is not finite",
    ),
    (lambda: A.histc(o(4), 0), RuntimeError, "bins must be > 0, got 0"),
    (lambda: A.histc(o(4), 3, 2, 1), RuntimeError, "max must be larger than min, got 1 and 2"),
    (lambda: A.histc(o(4), 3, 0, inf), RuntimeError, "range of [0.0, inf] is not finite"),
    (
        lambda: A.segment_reduce(o(2), "sum", lengths=tensor([[2]]), axis=0),
        RuntimeError,
        "expected lengths to have at most 1 dimensions, got 2",
    ),
    (
        lambda: A.segment_reduce(o(2, 2), "sum", lengths=o(1), axis=0),
        NotImplementedError,
        "no CPU kernel for lengths of dispatch.float32",
    ),
    (
        lambda: A.segment_reduce(o(2, 2), "sum", lengths=tensor([2], dtype=i16), axis=0),
        NotImplementedError,
        "no CPU kernel for lengths of dispatch.int16",
    ),
    (
        lambda: A.segment_reduce(o(2, 2), "sum", lengths=z(3, 1, dtype=i64), axis=1),
        RuntimeError,
        "expected lengths of shape [3, 1] to have data's sizes [2, 2]",
    ),
    (
        lambda: A.segment_reduce(o(2, 2), "sum", offsets=z(0, dtype=i64), axis=0),
        RuntimeError,
        "expected offsets to have at least one element",
    ),
    (
        lambda: A._convert_indices_from_csr_to_coo(tensor([0, 1]), tensor([0, 1])),
        RuntimeError,
        "crow_indices count 1 values, col_indices 2",
    ),
    (
        lambda: A._test_optional_intlist(z(2, 2, dtype=i32), [1, 2]),
        RuntimeError,
        "expected values to be a vector, got [2, 2]",
    ),
    (
        lambda: A._test_optional_intlist(o(2), [1, 2]),
        RuntimeError,
        "expected values of dispatch.int32, got dispatch.float32",
    ),
    (
        lambda: A._test_optional_intlist(z(2, dtype=i32), [1]),
        RuntimeError,
        "expected 2 addends, got 1",
    ),
    (
        lambda: A._test_optional_floatlist(z(2, dtype=i32), [1.0, 2.0]),
        RuntimeError,
        "expected values of dispatch.float32, got dispatch.int32",
    ),
    (
        lambda: A.index_add(o(2, dtype=i64), 0, tensor([0]), o(1, dtype=i64), alpha=inf),
        RuntimeError,
        "alpha inf is no integer, as those of self are",
    ),
    (
        lambda: A.index_add(
            o(2, device="meta", dtype=i64),
            0,
            z(1, dtype=i64, device="meta"),
            o(1, dtype=i64, device="meta"),
            alpha=1.5,
        ),
        RuntimeError,
        "expected an integer alpha for dispatch.int64, got 1.5",
    ),
    (
        lambda: A.addmm(o(2, 2, dtype=i64), z(2, 0, dtype=i64), z(0, 2, dtype=i64), beta=1.5),
        RuntimeError,
        "dispatch.int64 scaled by 1.5 does not fit in self",
    ),
    (
        lambda: A.addmm(o(2, 2, dtype=b8), z(2, 0, dtype=b8), z(0, 2, dtype=b8), beta=2),
        RuntimeError,
        "dispatch.bool scaled by 2 does not fit in self",
    ),
    (
        lambda: A.addbmm(
            o(2, 2, dtype=i64), z(0, 2, 2, dtype=i64), z(0, 2, 2, dtype=i64), beta=1.5
        ),
        RuntimeError,
        "dispatch.int64 scaled by 1.5 does not fit in self",
    ),
]


@pytest.mark.filterwarnings("ignore:indexing with dtype")
@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
