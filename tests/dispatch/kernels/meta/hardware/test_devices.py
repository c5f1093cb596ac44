"""Operators of devices have metadata on any: sizes, strides, dtypes; errors."""

import pytest

import dispatch
from dispatch import ops

aten = ops.aten


def empty(*sizes, dtype=dispatch.float32):
    return dispatch.empty(*sizes, dtype=dtype, device="meta")


def metadata(tensor):
    return tuple(tensor.shape), tensor.stride(), tensor.dtype


def test_semi_structured_products():
    half = dispatch.float16
    got = aten._sparse_semi_structured_linear(
        empty(4, 8, dtype=half), empty(6, 4, dtype=half), empty(1)
    )
    assert metadata(got) == ((4, 6), (1, 4), half)
    wide = aten._sparse_semi_structured_mm(
        empty(4, 8, dtype=dispatch.int8), empty(1, 1), empty(16, 5, dtype=dispatch.int8),
        out_dtype=dispatch.int32,
    )  # fmt: skip
    assert metadata(wide) == ((4, 5), (5, 1), dispatch.int32)
    with pytest.raises(AssertionError, match=r"_sparse_semi_structured_mm: mat1 .* does not fit"):
        aten._sparse_semi_structured_mm(empty(4, 8), empty(1, 1), empty(8, 5))


def test_a_compressed_product_may_be_transposed():
    a, b = empty(4, 8, dtype=dispatch.float16), empty(16, 5, dtype=dispatch.float16)
    assert aten._cslt_sparse_mm(a, b).shape == (4, 5)
    assert aten._cslt_sparse_mm(a, b, transpose_result=True).shape == (5, 4)
    with pytest.raises(AssertionError, match="_cslt_sparse_mm: out_dtype"):
        aten._cslt_sparse_mm(a, b, out_dtype=dispatch.float32)


@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_keeps_statistics_while_training(training):
    x, w = empty(2, 3, 4, 4, dtype=dispatch.float16), empty(3)
    out, mean, var, reserve = aten.cudnn_batch_norm(x, w, w, w, w, training, 0.1, 1e-5)
    assert metadata(out) == metadata(x)
    assert mean.shape == var.shape == ((3,) if training else (0,))
    assert (mean.dtype, reserve.dtype) == (dispatch.float32, dispatch.uint8)


def test_miopen_wants_memory_in_order():
    w = empty(3)
    x = empty(2, 3, 4, 5).to(memory_format=dispatch.channels_last)
    out, _, _ = aten.miopen_batch_norm(x, w, w, w, w, True, 0.1, 1e-5)
    assert out.stride() == x.stride()
    with pytest.raises(RuntimeError, match="miopen_batch_norm: expected input to be contiguous"):
        aten.miopen_batch_norm(empty(2, 3, 4, 5).transpose(2, 3), w, w, w, w, True, 0.1, 1e-5)


def test_recurrent_layers_on_fake_devices():
    with dispatch.FakeTensorMode():
        x, h = dispatch.empty(5, 2, 3, device="cuda"), dispatch.empty(4, 2, 6, device="cuda")
        buffer = dispatch.empty(9, device="cuda")
        found = aten._cudnn_rnn(
            x, [buffer], 4, buffer, h, h, 2, 6, 0, 2, False, 0.0, True, True, [], None
        )
        assert [tuple(t.shape) for t in found] == [(5, 2, 12), (4, 2, 6), (4, 2, 6), (0,), (9,)]
        assert {t.device.type for t in found} == {"cuda"}


def test_attention_keeps_the_layout_of_the_query():
    query = empty(2, 8, 4, 16).transpose(1, 2)
    found = aten._scaled_dot_product_cudnn_attention(query, query, empty(2, 4, 8, 7), None, True)
    assert metadata(found[0]) == ((2, 4, 8, 7), (224, 7, 28, 1), dispatch.float32)
    assert found[4:6] == (8, 8)
    assert found[1].shape == (2, 4, 8, 1)
    out, weights = aten._scaled_dot_product_attention_math_for_mps(*[empty(4, 8, 16)] * 3)
    assert (tuple(out.shape), tuple(weights.shape)) == ((4, 8, 16), (4, 8, 8))
