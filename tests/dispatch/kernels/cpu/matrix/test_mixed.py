"""Products whose operands and results differ in dtype, and sums of products of three tensors."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(0)
A, B = rng.standard_normal((4, 8)), rng.standard_normal((8, 6))


def floats(array, kind=dispatch.float32):
    return dispatch.from_numpy(np.array(array)).to(kind)


@pytest.mark.parametrize("gelu", [False, True])
def test_addmm_with_a_function_behind(gelu):
    bias = floats(rng.standard_normal(6))
    plain = aten.addmm(bias, floats(A), floats(B), beta=2, alpha=0.5)
    want = aten.gelu(plain) if gelu else aten.relu(plain)
    got = aten._addmm_activation(bias, floats(A), floats(B), beta=2, alpha=0.5, use_gelu=gelu)
    assert got.tolist() == want.tolist()
    with pytest.raises(RuntimeError, match="one dtype"):
        aten._addmm_activation(bias.double(), floats(A), floats(B))


def test_bytes_into_an_output_that_fits():
    a, b = dispatch.ones(2, 3, dtype=dispatch.int8), dispatch.ones(3, 2, dtype=dispatch.int8)
    out = dispatch.empty(2, 2, dtype=dispatch.int32)
    assert aten._int_mm.out(a, b, out=out).tolist() == [[3, 3], [3, 3]]
    with pytest.raises(RuntimeError, match=r"_int_mm.out.*\[2, 2\]"):
        aten._int_mm.out(a, b, out=dispatch.empty(0, dtype=dispatch.int32))
    with pytest.raises(RuntimeError, match=r"mat2 to be int8.*uint8"):
        aten._int_mm(a, b.to(dispatch.uint8))


def test_scaled_floats_are_summed_in_float32():
    kind = dispatch.float8_e4m3fn
    a, b = floats(A, kind), floats(B, kind)
    rows, columns = floats(rng.random((4, 1))), floats(rng.random((1, 6)))
    bias = floats(rng.standard_normal(6))
    got = aten._scaled_mm(a, b, rows, columns, bias, out_dtype=dispatch.float32)
    want = (a.float() * rows) @ (b.float() * columns) + bias
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-5)
    one = dispatch.tensor(2.0)
    assert aten._scaled_mm(a, b, one, one).dtype is kind
    out = dispatch.empty(0)
    aten._scaled_mm_v2.out(a, b, [one], [0], [0], [one], [0], [0], None, None, out=out)
    np.testing.assert_allclose(out.numpy(), 4 * (a.float() @ b.float()).numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match=r"_scaled_mm: .*scales"):
        aten._scaled_mm(a, b, dispatch.ones(3), one)
    with pytest.raises(ValueError, match="recipes"):
        aten._scaled_mm_v2(a, b, [one], [3], [0], [one], [0], [0], None, None)


def test_what_float8_cannot_hold_is_its_largest_number():
    a = dispatch.full((16, 16), 2.0).to(dispatch.float8_e4m3fn)
    large, one = dispatch.tensor(-5e4), dispatch.tensor(1.0)
    assert aten._scaled_mm(a, a.t(), large, one).float().unique().tolist() == [-448.0]


def test_three_tensors():
    x, w, y = (rng.standard_normal(s) for s in ((2, 3), (5, 3, 4), (2, 4)))
    got = aten._trilinear(
        *(dispatch.from_numpy(v) for v in (x, w, y)), [1, 3], [0], [1, 2], [2, 3]
    )
    np.testing.assert_allclose(got.numpy(), np.einsum("bi,oij,bj->bo", x, w, y))
    assert got.is_contiguous()
    with pytest.raises(RuntimeError, match="unroll_dim"):
        aten._trilinear(got, got, got, [], [], [], [0], 2)


def test_three_tensors_of_which_one_has_no_element_are_zeros_whatever_the_others_sizes():
    x, w, y = dispatch.ones(0, 3), dispatch.ones(5, 9, 4), dispatch.ones(0, 7)
    assert aten._trilinear(x, w, y, [1, 3], [0], [1, 2], [2, 3]).shape == (0, 5)
    summed = aten._trilinear(x, w, dispatch.ones(2, 4), [1, 3], [0], [1, 2], [2])
    assert summed.shape == (2, 5, 4) and not summed.any()


def test_weights_stay_in_the_range_of_float16():
    w = dispatch.tensor([1e6, -1e6, 2.0])
    assert aten._saturate_weight_to_fp16(w) is w
    assert w.tolist() == [65504.0, -65504.0, 2.0]


def test_shapes_of_what_has_no_body():
    half = dispatch.empty(4, 8, dtype=dispatch.float16, device="meta")
    wide = aten.mm.dtype(half, half.mT, dispatch.float32)
    assert (wide.shape, wide.dtype) == ((4, 4), dispatch.float32)
    with pytest.raises(RuntimeError, match="out_dtype"):
        aten.mm.dtype(half, half.mT, dispatch.float64)
    batch = half.unsqueeze(0)
    assert aten.bmm.dtype(batch, batch.mT, dispatch.float32).shape == (1, 4, 4)
    grads = aten.linear_backward(half, half, half, [True, False, False])
    assert [g is None for g in grads] == [False, True, True]
