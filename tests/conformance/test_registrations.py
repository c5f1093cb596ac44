"""What serves each key of a built-in operator is what serves it in PyTorch."""

import gzip
import json

import dispatch
from tests.conformance.record_registrations import DATA, KEYS, reasons

_C = dispatch._C

# What these make or take is not here: sparse, nested, quantized and packed tensors.
WITHOUT_KERNELS = """
    _coalesced_ _embedding_bag_sparse_backward _empty_affine_quantized
    _empty_per_channel_affine_quantized
    _make_per_channel_quantized_tensor _make_per_tensor_quantized_tensor
    _mkldnn_transpose_ _nested_from_padded _nested_tensor_from_mask
    _nested_tensor_from_tensor_list _nested_view_from_buffer _scaled_grouped_mm
    _sparse_compressed_tensor_with_dims _sparse_coo_tensor_with_dims
    _sparse_coo_tensor_with_dims_and_tensors _sparse_sum.dim _spdiags _to_sparse
    _to_sparse.sparse_dim _to_sparse_bsc _to_sparse_bsr _to_sparse_csc _to_sparse_csr
    _wrapped_linear_prepack _wrapped_quantized_linear_prepacked
    copy_sparse_to_sparse_ embedding_sparse_backward fbgemm_linear_fp16_weight
    fbgemm_linear_fp16_weight.out fbgemm_linear_fp16_weight_fp32_activation
    fbgemm_linear_fp16_weight_fp32_activation.out fbgemm_linear_int8_weight
    fbgemm_linear_int8_weight_fp32_activation fbgemm_linear_quantize_weight
    fbgemm_pack_gemm_matrix_fp16 fbgemm_pack_quantized_matrix fbgemm_pack_quantized_matrix.KN
    mkldnn_rnn_layer_backward quantize_per_channel quantize_per_tensor
    quantize_per_tensor.tensor_qparams quantize_per_tensor.tensors quantize_per_tensor_dynamic
    quantized_gru.data quantized_gru.data_legacy quantized_gru.input quantized_gru.input_legacy
    quantized_gru_cell quantized_lstm.data quantized_lstm.data_legacy quantized_lstm.input
    quantized_lstm.input_legacy quantized_lstm_cell quantized_rnn_relu_cell
    quantized_rnn_tanh_cell resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_ to_mkldnn
"""
# Kernels of devices that PyTorch has built in.
OF_DEVICES = {"_foreach_mm", "linalg_lu_solve.out"}


def recorded():
    return json.loads(gzip.decompress((DATA / "registrations.json.gz").read_bytes()))


def test_tables_say_what_those_of_pytorch_say():
    """Every operator of PyTorch's, at the dense backends and the keys above them."""
    want = recorded()
    assert tuple(want["keys"]) == KEYS
    here = set(_C._dispatch_get_all_op_names())
    assert want["operators"].keys() <= here
    differ = {
        name.removeprefix("aten::")
        for name, row in want["operators"].items()
        if reasons(_C._dispatch_dump_table(name)) != want["rows"][row]
    }
    assert differ == {*WITHOUT_KERNELS.split(), *OF_DEVICES}


def test_has_computed_kernel_is_a_kernel_and_no_fallback():
    """`_dispatch_has_computed_kernel_for_dispatch_key` reads the same tables."""
    want = recorded()
    for name in list(want["operators"])[::40]:
        said = reasons(_C._dispatch_dump_table(name))
        for key, reason in zip(KEYS, said, strict=True):
            computed = _C._dispatch_has_computed_kernel_for_dispatch_key(name, key)
            assert computed == bool(reason), (name, key)
