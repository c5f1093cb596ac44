"""Operators written with operators refuse what does not fit: PyTorch's type of error, and why."""

import functools

import pytest

import dispatch
from tests.dispatch.refused import (
    A,
    P,
    b8,
    c64,
    check_refused,
    f32,
    f64,
    i16,
    i32,
    i64,
    o,
    tensor,
    u8,
    z,
)  # fmt: skip

# A call that is right, to be made wrong in one argument.
attend_natively = functools.partial(
    A._native_multi_head_attention,
    query=o(1, 2, 4),
    key=o(1, 2, 4),
    value=o(1, 2, 4),
    embed_dim=4,
    num_head=2,
    qkv_weight=o(12, 4),
    qkv_bias=o(12),
    proj_weight=o(4, 4),
    proj_bias=o(4),
)

CALLS = [
    (
        lambda: A._transform_bias_rescale_qkv(o(1, 2, 6, dtype=i64), o(6), 1),
        NotImplementedError,
        "no CPU kernel for dispatch.int64",
    ),
    (
        lambda: A._transform_bias_rescale_qkv(o(2, 6), o(6), 1),
        IndexError,
        "expected qkv (batch, length, 3 * heads * width) for 1 heads",
    ),
    (
        lambda: attend_natively(query=o(2, 4), key=o(2, 4), value=o(2, 4)),
        RuntimeError,
        "expected query (batch, length, 4), got [2, 4]",
    ),
    (
        lambda: attend_natively(num_head=3),
        RuntimeError,
        "embed_dim 4 is not a multiple of 3 heads",
    ),
    (
        lambda: attend_natively(qkv_weight=o(12, 3)),
        RuntimeError,
        "expected qkv_weight [12, 4], got [12, 3]",
    ),
    (
        lambda: attend_natively(qkv_bias=o(11)),
        RuntimeError,
        "expected qkv_bias [12], got [11]",
    ),
    (
        lambda: attend_natively(
            mask=z(2, 2, dtype=b8), need_weights=True, average_attn_weights=True, mask_type=2
        ),
        RuntimeError,
        "expected a mask [1, 2, 2, 2], got [2, 2]",
    ),
    (
        lambda: A._convert_weight_to_int4pack_for_cpu(o(2, 2), 1),
        RuntimeError,
        "expected self to be a matrix of int32, got dispatch.float32",
    ),
    (
        lambda: A.scaled_dot_product_attention(o(1, 2, 2), o(1, 2, 2, device="meta"), o(1, 2, 2)),
        RuntimeError,
        "query (cpu), key (meta) and value (cpu) must be on one device",
    ),
    (
        lambda: A.scaled_dot_product_attention(o(2), o(2), o(2)),
        RuntimeError,
        "query, key and value must have at least 2 dimensions, got",
    ),
    (
        lambda: A.scaled_dot_product_attention(o(1, 1, 2, 2), o(1, 1, 2, 2), o(1, 1, 2, 2), o(2)),
        IndexError,
        "attn_mask must have at least 2 dimensions, got [2]",
    ),
    (
        lambda: A.scaled_dot_product_attention(o(2, 2), o(2, 2), o(2, 2), enable_gqa=True),
        IndexError,
        "enable_gqa needs a dimension of heads, got [2, 2], [2, 2] and",
    ),
    (
        lambda: A._scaled_dot_product_attention_math(o(2), o(2), o(2)),
        IndexError,
        "query, key and value must have at least 2 dimensions, got",
    ),
    (
        lambda: A.conv_tbc(o(2, 2), o(2, 2, 2), o(2)),
        RuntimeError,
        "expected self (time, batch, channels), weight (taps, channels",
    ),
    (
        lambda: A.conv_tbc(o(2, 2, 3), o(2, 2, 2), o(2)),
        RuntimeError,
        "self [2, 2, 3] and bias [2] do not fit weight [2, 2, 2]",
    ),
    (
        lambda: A.conv_tbc_backward(o(9, 2, 2), o(2, 2, 2), o(2, 2, 2), o(2), 0),
        RuntimeError,
        "expected a gradient of shape [1, 2, 2], got [9, 2, 2]",
    ),
    (
        lambda: A._reshape_from_tensor(o(2), tensor([[1, 2]])),
        RuntimeError,
        "expected shape as a vector, got [1, 2]",
    ),
    (
        lambda: A._to_copy(o(2), layout=dispatch.sparse_coo),
        RuntimeError,
        "a tensor of layout dispatch.strided cannot become one of",
    ),
    (
        lambda: A.equal(o(2, device="meta"), o(2, device="meta")),
        NotImplementedError,
        "called with Meta tensors, but there is no fake impl or Meta",
    ),
    (
        lambda: A.empty_permuted([2, 3], [0]),
        RuntimeError,
        "Number of dimensions in size does not match the length of the physical_layout, 2 and [0]",
    ),
    (
        lambda: A.stft(o(8), 4, window=o(4, device="meta"), return_complex=True),
        RuntimeError,
        "expected window on cpu, where self is, got meta",
    ),
    (
        lambda: A.stft.center(
            o(8), 4, window=o(4), center=True, align_to_window=True, return_complex=True
        ),
        RuntimeError,
        "expected align_to_window to be None with center=True",
    ),
    (
        lambda: A.istft(o(3, 0, dtype=c64), 4, window=o(4)),
        RuntimeError,
        "input tensor cannot be empty.",
    ),
    (
        lambda: A.istft(o(2, 2, 3, 3, dtype=c64), 4, window=o(4)),
        RuntimeError,
        "expected self of 2 or 3 dimensions, got [2, 2, 3, 3]",
    ),
    (lambda: A._foreach_add([], 1), RuntimeError, "Tensor list must have at least one tensor."),
    (lambda: A._foreach_mul([], []), RuntimeError, "Tensor list must have at least one tensor."),
    (
        lambda: A._foreach_mul_([o(2)], o(1)),
        RuntimeError,
        "scalar tensor expected to be 0 dim but it has 1 dimensions and 1 elements",
    ),
    (
        lambda: A._foreach_addcmul([o(2)], [o(2)], [o(2)], o(2)),
        RuntimeError,
        "scalars must be a 1-D tensor with a number for each of 1",
    ),
    (
        lambda: A._foreach_addcmul([o(2)], [o(2)], [o(2)], o(1, 1)),
        RuntimeError,
        "scalars must be a 1-D tensor with a number for each of 1",
    ),
    (lambda: A._propagate_xla_data(o(2), o(2)), RuntimeError, "expected input on xla, got cpu"),
    (
        lambda: A.gather_backward(o(2), o(3), 0, tensor([0, 1]), True),
        NotImplementedError,
        "there are no sparse tensors for sparse_grad",
    ),
    (
        lambda: A.take_along_dim(o(2, 2), tensor([0]), 0),
        RuntimeError,
        "indices should have the same number of dimensions, but got",
    ),
    (
        lambda: A._pack_padded_sequence(o(2, 1, 1), tensor([2], dtype=i32), False),
        RuntimeError,
        "expected lengths as an int64 vector on the CPU, got",
    ),
    (
        lambda: A._pack_padded_sequence(o(0, 1, 1), tensor([1]), False),
        RuntimeError,
        "there is nothing to pack",
    ),
    (
        lambda: A._pad_packed_sequence(o(2, 1), tensor([1, 1]), False, 0.0, 1),
        RuntimeError,
        "total_length 1 is less than the longest, 2",
    ),
    (
        lambda: A._chunk_cat([o(2, 2), o(2)], 1, 2),
        RuntimeError,
        "_chunk_cat expects dim < ndim for all input tensors: 1 for [2]",
    ),
    (
        lambda: A._chunk_cat([o(2, 2), o(3, 2)], 1, 2),
        RuntimeError,
        "_chunk_cat expects same sizes of 0,...,dim-1 dimensions for all tensors",
    ),
    (
        lambda: A.block_diag([o(2, 2), o(2, 2, device="meta")]),
        RuntimeError,
        "expected all tensors on cpu, got meta",
    ),
    (
        lambda: A.tensor_split(
            o(4), tensor([1], device="meta") if 0 else z(1, dtype=i64, device="meta")
        ),
        RuntimeError,
        "expected tensor_indices_or_sections with values on the CPU",
    ),
    (
        lambda: A.tensor_split(o(4), z(1, dtype=i32)),
        RuntimeError,
        "number of sections must be larger than 0, got 0",
    ),
    (
        lambda: A.tensor_split(o(4), z(1, 1, dtype=i64)),
        RuntimeError,
        "number of sections must be larger than 0, got 0",
    ),
    (lambda: A.unsafe_chunk(o(4), 0), RuntimeError, "to be greater than 0, got: 0"),
    (
        lambda: A.linalg_norm(o(2, 2, 2), None, [0, 1, 2]),
        RuntimeError,
        "If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]",
    ),
    (
        lambda: A.linalg_norm(o(2, 2, 2), 2, [0, 1, 2]),
        RuntimeError,
        "If dim is specified, it must be of length 1 or 2. Got [0, 1, 2]",
    ),
    (
        lambda: A.linalg_norm(o(2, 2, 2), 2, []),
        RuntimeError,
        "If dim is specified, it must be of length 1 or 2. Got []",
    ),
    (lambda: A.chain_matmul([o(2)]), RuntimeError, "expected matrices, got [[2]]"),
    (lambda: A.chain_matmul([]), RuntimeError, "expected at least one matrix, got none"),
    (
        lambda: A.linalg_tensorsolve(o(2, 3), o(2)),
        RuntimeError,
        "Expected self to satisfy the requirement",
    ),
    (
        lambda: A.linalg_tensorsolve(o(2, 2, 2), o(2)),
        RuntimeError,
        "Expected self to satisfy the requirement",
    ),
    (
        lambda: A.ctc_loss(o(2, 1, 3), z(1, 1, dtype=i64), o(1), tensor([1])),
        RuntimeError,
        "expected integral input_lengths, got dispatch.float32",
    ),
    (
        lambda: A.nll_loss_nd(o(()), tensor(0)),
        ValueError,
        "expected self to have at least one dimension",
    ),
    (
        lambda: A.nll_loss_nd(o(3, 2), tensor([0, 1])),
        ValueError,
        "Expected input batch_size (3) to match target batch_size (2)",
    ),
    (
        lambda: A.cross_entropy_loss(o(2, 2), z(2, 2, dtype=i64)),
        RuntimeError,
        "Expected floating point type for target with class probabilities, got dispatch.int64",
    ),
    (
        lambda: A.cross_entropy_loss(o(2, 2), z(2, 2), ignore_index=1),
        RuntimeError,
        "ignore_index is not supported for floating point target",
    ),
    (
        lambda: A.cross_entropy_loss(o(2, 2), z(2, dtype=i64), label_smoothing=1.5),
        RuntimeError,
        "label_smoothing must be between 0.0 and 1.0. Got: 1.5",
    ),
    (
        lambda: A.nll_loss_nd(o(2, 3, 4), z(2, 5, dtype=i64)),
        RuntimeError,
        "Expected target size [2, 4], got [2, 5]",
    ),
    (
        lambda: A.nll_loss_nd(o(2, 3), z((), dtype=i64)),
        IndexError,
        "expected a target with a batch",
    ),
    (
        lambda: A.movedim(o(2, 3), [0, 0], [0, 1]),
        RuntimeError,
        "movedim: repeated dim in `source` ([0, 0])",
    ),
    (
        lambda: A.movedim(o(2, 3), [0, 1], [1, -1]),
        RuntimeError,
        "movedim: repeated dim in `destination` ([1, -1])",
    ),
    (
        lambda: A.bilinear(o(2, 2), o(3, 2), o(1, 2, 2)),
        RuntimeError,
        "input batch dimensions do not match at dim 0: got 2 and 3",
    ),
    (
        lambda: A.bilinear(o(2, 2), o(2, 2, 2), o(1, 2, 2)),
        RuntimeError,
        "input dimensions do not match: got 2 and 3",
    ),
    (
        lambda: A.bilinear(o(2, 2), o(2, 3), o(1, 2, 2)),
        RuntimeError,
        "input2 size does not match weight size: got 3 but expected 2",
    ),
    (
        lambda: A.bilinear(o(2, 2), o(2, 2), o(1, 2, 2), o(3)),
        RuntimeError,
        "bias of shape [3] does not fit 1 forms",
    ),
    (
        lambda: A.einsum("a, b, c->", [o(2), o(2), o(2)], path=[0, 1]),
        RuntimeError,
        "expected path to have 4 numbers, got [0, 1]",
    ),
    (
        lambda: A.einsum("a, b->", [o(2), o(2)], path=[0, 2]),
        RuntimeError,
        "path has the pair (0, 2), but 2 operands are left",
    ),
    (
        lambda: A.matmul.out(o(2, 2).requires_grad_(), o(2, 2), out=o(2, 2)),
        RuntimeError,
        "an argument requires grad, and a result in out cannot be",
    ),
    (
        lambda: A.rot90(o(2, 2), 1, [0]),
        RuntimeError,
        "expected total rotation dims == 2, but got dims = 1",
    ),
    (
        lambda: A.rot90(o(2, 2), 1, [0, 2]),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    (
        lambda: A.rot90(o(2, 2), 1, [0, -3]),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got -3)",
    ),
    (
        lambda: A.addmv(o(2), o(2, 2), o(2), beta=1j),
        RuntimeError,
        "beta or alpha 1j cannot be converted to float32",
    ),
    (
        lambda: A.addr(o(2, 2), o(2), o(2), alpha=1j),
        RuntimeError,
        "a complex alpha is for complex tensors only",
    ),
    (
        lambda: A.addr(o(2, 2), o(2), o(2), beta=1j),
        RuntimeError,
        "a complex beta is for complex tensors only",
    ),
    (lambda: A.trapezoid.dx(o(2, dtype=b8)), RuntimeError, "y must not be of dispatch.bool"),
    (lambda: A.trapezoid.dx(o(2), dx=1j), RuntimeError, "dx must be a real number, got 1j"),
    (lambda: A.trapezoid.dx(o(2), dx=True), RuntimeError, "dx must be a real number, got True"),
    (lambda: A.trapezoid.x(o(2, dtype=b8), o(2)), RuntimeError, "y and x must not be bool tensors"),
    (lambda: A.trapezoid.x(o(2), o(2, dtype=b8)), RuntimeError, "y and x must not be bool tensors"),
    (
        lambda: A.cumulative_trapezoid.dx(o(2, dtype=b8)),
        RuntimeError,
        "y must not be of dispatch.bool",
    ),
    (
        lambda: A.cumulative_trapezoid.dx(o(2), dx=1j),
        RuntimeError,
        "dx must be a real number, got 1j",
    ),
    (
        lambda: A.cumulative_trapezoid.dx(o(2), dx=True),
        RuntimeError,
        "dx must be a real number, got True",
    ),
    (lambda: A.retain_grad(o(2)), RuntimeError, "the tensor does not require grad"),
    (lambda: A.get_gradients(1), RuntimeError, "there is no distributed autograd"),
    (
        lambda: A._batch_norm_impl_index_backward(
            3,
            o(2, 2),
            o(2, 2),
            o(2),
            None,
            None,
            None,
            None,
            True,
            1e-5,
            [True, True, True],
            tensor([], dtype=u8),
        ),
        RuntimeError,
        "expected impl_index to be 0, 1 or 2, got 3",
    ),
    (
        lambda: A._weight_norm_differentiable_backward(
            o(2, 2, 2), o(2, 2, 2), o(2, 1, 1), o(2, 1, 1), 1
        ),
        RuntimeError,
        "expected dim to be 0 or 2, got 1",
    ),
    (
        lambda: A._weight_norm_differentiable_backward(o(2, 2), o(2, 2).t(), o(2, 1), o(2, 1), 0),
        RuntimeError,
        "expected saved_v, saved_g and saved_norms to be contiguous",
    ),
    (
        lambda: A._weight_norm_differentiable_backward(o(2, 3), o(3, 2).t(), o(2, 1), o(2, 1), 0),
        RuntimeError,
        "expected saved_v, saved_g and saved_norms to be contiguous",
    ),
    (
        lambda: P.scalar_tensor(1j, dtype=f32),
        TypeError,
        "a complex number does not fit dispatch.float32",
    ),
    (
        lambda: P.split_dim(o(4), 0, -1),
        RuntimeError,
        "expected an outer length of 0 or more, got -1",
    ),
    (lambda: P.split_dim(o(4), 0, 0), ZeroDivisionError, "4 cannot be split into 0 parts"),
    (
        lambda: A.fake_quantize_per_tensor_affine_cachemask_backward(o(2), o(2)),
        RuntimeError,
        "expected mask of bool, got dispatch.float32",
    ),
    (
        lambda: A.fake_quantize_per_tensor_affine_cachemask_backward(o(2), o(3, dtype=b8)),
        RuntimeError,
        "mask of shape [3] does not fit grad [2]",
    ),
    (
        lambda: A._rowwise_prune(o(2, 2), o(2, dtype=b8), i16),
        RuntimeError,
        "expected the dtype of indices to be int32 or int64, got",
    ),
    (
        lambda: A.lstm.input(
            o(1, 1, 2),
            [o(1, 1, 2), o(1, 1, 2)],
            [o(8, 2), o(8, 2, dtype=f64)],
            False,
            1,
            0.0,
            False,
            False,
            False,
        ),
        RuntimeError,
        "expected parameter tensors of input's dispatch.float32 on",
    ),
    (
        lambda: A.lstm.input(
            o(1, 1, 2),
            [o(1, 1, 2, dtype=f64), o(1, 1, 2)],
            [o(8, 2), o(8, 2)],
            False,
            1,
            0.0,
            False,
            False,
            False,
        ),
        RuntimeError,
        "expected hidden tensors of input's dispatch.float32 on cpu",
    ),
    (
        lambda: A.cov(o(2, 2, 2)),
        RuntimeError,
        "cov(): expected input to have two or fewer dimensions but got an input with 3 dimensions",
    ),
    (
        lambda: A.cov(o(2, 2), correction=0, fweights=tensor([0, 0])),
        RuntimeError,
        "cov(): weights sum to zero, can't be normalized",
    ),
    (
        lambda: A.cov(o(2, 2), correction=0, aweights=tensor([0.0, 0.0])),
        RuntimeError,
        "cov(): weights sum to zero, can't be normalized",
    ),
    (
        lambda: A.corrcoef(o(2, 2, 2)),
        RuntimeError,
        "corrcoef(): expected input to have two or fewer dimensions but got an input with 3 "
        "dimensions",
    ),
    (lambda: A.gradient(o(4, dtype=u8)), RuntimeError, "self of dtype uint8 is not supported"),
    (
        lambda: A.gradient(o(4), spacing=[o(4, device="meta")]),
        RuntimeError,
        "expected spacing to be on cpu as self is, got meta",
    ),
    (
        lambda: A.gradient.tensorarray(o(4), spacing=[o(4, device="meta")]),
        RuntimeError,
        "missing value for argument 'dim'",
    ),
    (
        lambda: A.gradient.tensorarray(o(4), spacing=[o(2, 2)]),
        RuntimeError,
        "missing value for argument 'dim'",
    ),
    (
        lambda: A.norm.ScalarOpt_dim(o(2, 2, 2), "nuc", [0, 1, 2]),
        RuntimeError,
        "argument 'p' (position 1) must be Optional[number], got str",
    ),
    (
        lambda: A.nuclear_norm.dim(o(2, 2, 2), [0, 1, 2]),
        RuntimeError,
        "dim must be a 2-tuple. Got [0, 1, 2]",
    ),
    (
        lambda: A.frobenius_norm.dim(o(2, 2, 2), [0, 1, 2]),
        RuntimeError,
        "expected dim to name at most 2 dimensions, got [0, 1, 2]",
    ),
    (
        lambda: A.quantile(o(2), o(1, dtype=f64)),
        RuntimeError,
        "quantile() q tensor must be same dtype as the input tensor, dispatch.float32, got "
        "dispatch.float64",
    ),
    (
        lambda: A.quantile(o(2), o(1, device="meta")),
        RuntimeError,
        "quantile() q tensor must be on the same device as the input tensor, cpu, got meta",
    ),
    (
        lambda: A.quantile.out(o(2), o(1), out=o(1, dtype=f64)),
        RuntimeError,
        "quantile() out tensor must be same dtype as the input tensor, dispatch.float32, got "
        "dispatch.float64",
    ),
    (
        lambda: A.quantile.out(o(2), o(1), out=o(1, device="meta")),
        RuntimeError,
        "quantile() out tensor must be on the same device as the input tensor, cpu, got meta",
    ),
    (
        lambda: A.mode.values(o(2), 0, values=o((), dtype=f64), indices=z((), dtype=i64)),
        RuntimeError,
        "expected scalar type dispatch.float32 but got dispatch.float64 for values",
    ),
    (
        lambda: A.mode.values(o(2), 0, values=o(()), indices=z((), dtype=i32)),
        RuntimeError,
        "expected scalar type dispatch.int64 but got dispatch.int32 for indices",
    ),
    (lambda: A._is_all_true(o(2)), RuntimeError, "expected self to be bool, got dispatch.float32"),
    (lambda: A._is_any_true(o(2)), RuntimeError, "expected self to be bool, got dispatch.float32"),
    (
        lambda: A._grid_sampler_2d_cpu_fallback(
            o(1, 1, 2, 2, dtype=f64), o(1, 1, 1, 2, dtype=f64), 0, 0, False
        ),
        RuntimeError,
        "expected input to be float32, got dispatch.float64",
    ),
    (
        lambda: A.affine_grid_generator(o(1, 2, 3), [1, 1, 2], False),
        RuntimeError,
        "expected size to have 4 or 5 numbers, got [1, 1, 2]",
    ),
    (
        lambda: A.affine_grid_generator_backward(o(1, 2, 3), [1, 1, 2], False),
        RuntimeError,
        "expected size to have 4 or 5 numbers, got [1, 1, 2]",
    ),
    (lambda: A.pow(0, -1), RuntimeError, "0 cannot be raised to a negative power"),
    (lambda: A.pow.int(0, -1), RuntimeError, "0 cannot be raised to a negative power"),
    (lambda: A.pow.float(0.0, -1.0), RuntimeError, "0.0 cannot be raised to a negative power"),
    (
        lambda: A.FloatImplicit(tensor([1.0])),
        RuntimeError,
        "expected a tensor without dimensions, got shape [1]",
    ),
    (lambda: A.len.Tensor(o(())), RuntimeError, "a tensor without dimensions has no length"),
    (lambda: A.len.Tensor(1), RuntimeError, "argument 't' (position 0) must be Tensor, got int 1"),
    (
        lambda: A.from_file("/nowhere/at/all", True, 3),
        RuntimeError,
        "file /nowhere/at/all cannot be read: [Errno 2] No such file",
    ),
    (
        lambda: A.set_.source_Tensor_storage_offset(o(2), o(2, 2).t(), 0, [2]),
        RuntimeError,
        "expected source, which stands for its storage, to be",
    ),
    (
        lambda: A._test_check_tensor(o(2)),
        RuntimeError,
        "expected self to be bool, got dispatch.float32",
    ),
    (
        lambda: A._test_ambiguous_defaults.a(o(2), 2, 1),
        RuntimeError,
        "expected the defaults, got 2 and 1",
    ),
    (
        lambda: A._test_ambiguous_defaults.b(o(2), 2, "3"),
        RuntimeError,
        "expected the defaults, got 2 and '3'",
    ),
    (
        lambda: A._test_ambiguous_defaults.b(o(2), 3),
        RuntimeError,
        "expected the defaults, got 3 and '2'",
    ),
    (
        lambda: A.FloatImplicit(tensor(1 + 2j)),
        RuntimeError,
        "expected a real dtype, got dispatch.complex64",
    ),
    (lambda: A.IntImplicit(tensor(1.5)), RuntimeError, "expected integers, got dispatch.float32"),
    (
        lambda: A._transform_bias_rescale_qkv(o(1, 2, 7), o(7), 1),
        RuntimeError,
        "expected qkv (batch, length, 3 * heads * width) for 1 heads",
    ),
    (
        lambda: A.rot90(o(2, 2), 1, [0, -2]),
        RuntimeError,
        "expected rotation dims to be different, but got [0, -2]",
    ),
    (
        lambda: A.rot90(o(2), 1, [0, 1]),
        RuntimeError,
        "expected total dims >= 2 (Input must be >= 2-d), got [2]",
    ),
    (
        lambda: A.split_copy.Tensor_out(o(4), 2, out=[o(2)]),
        RuntimeError,
        "expected out to have 2 tensors, got 1",
    ),
    (
        lambda: A.unbind_copy.int_out(o(2, 2), out=[o(2)]),
        RuntimeError,
        "expected out to have 2 tensors, got 1",
    ),
    (lambda: A.unsqueeze(o([1] * 64), 0), RuntimeError, "a tensor has at most 64 dimensions"),
    (
        lambda: A.view_as_real(o([1] * 64, dtype=c64)),
        RuntimeError,
        "a tensor has at most 64 dimensions",
    ),
    (
        lambda: A._embedding_bag_backward(
            o(2, 2),
            tensor([0.0, 1.0]),
            tensor([0, 1]),
            tensor([0, 1]),
            tensor([1, 1]),
            tensor([]).to(i64),
            3,
            False,
            0,
            False,
            None,
        ),
        RuntimeError,
        "expected indices to have dtype int32 or int64, got",
    ),
    (
        lambda: A._embedding_bag_backward(
            o(2, 2),
            tensor([0, 1]),
            tensor([0.0, 1.0]),
            tensor([0, 1]),
            tensor([1, 1]),
            tensor([]).to(i64),
            3,
            False,
            0,
            False,
            None,
        ),
        RuntimeError,
        "expected offsets to have dtype int32 or int64, got",
    ),
    (
        lambda: A.linalg_multi_dot([o(2, 3), o(4, 2)]),
        RuntimeError,
        "multi_dot(): tensors 0 and 1 with shapes [2, 3] and [4, 2] cannot be multiplied",
    ),
    (
        lambda: A.linalg_multi_dot([o(2, 3), o(3, 2), o(3, 2)]),
        RuntimeError,
        "multi_dot(): tensors 1 and 2 with shapes [3, 2] and [3, 2] cannot be multiplied",
    ),
    (
        lambda: A.linalg_multi_dot([o(2, 3), o(3, 2, dtype=f64)]),
        RuntimeError,
        "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
        "dispatch.float32 and tensor 1 dispatch.float64",
    ),
    (
        lambda: A.linalg_multi_dot([o(2, 3), o(3, 2, 2), o(2, 3)]),
        RuntimeError,
        "multi_dot(): tensor 1 must be 2D but got 3D",
    ),
    (
        lambda: A.chain_matmul([o(2, 3), o(4, 2)]),
        RuntimeError,
        "multi_dot(): tensors 0 and 1 with shapes [2, 3] and [4, 2] cannot be multiplied",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
