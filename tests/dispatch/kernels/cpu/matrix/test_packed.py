"""Products of bytes, and by weights that are packed in bytes."""

from __future__ import annotations

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
rng = np.random.default_rng(0)


def floats(array, kind=dispatch.float32):
    return dispatch.from_numpy(np.array(array)).to(kind)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("inner", [3, 600, 1100])
@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_bytes_are_summed_exactly(kind, inner, turned):
    info = np.iinfo(kind)
    a = np.full((6, inner), info.max, kind)
    b = rng.integers(-128, 127, (inner, 7)).astype(np.int8)
    b[:, :3] = -128
    a[0, 0] -= 1
    b = np.asfortranarray(b) if turned else b
    got = aten._int_mm(dispatch.from_numpy(a), dispatch.from_numpy(b))
    assert got.dtype is dispatch.int32
    assert got.tolist() == (a.astype(np.int64) @ b.astype(np.int64)).tolist()


@pytest.mark.parametrize("m", [1, 4, 18])
@pytest.mark.parametrize(("k", "n"), [(8, 6), (37, 70)])
def test_packed_rows_have_a_scale_each(m, k, n):
    a = rng.standard_normal((m, k))
    rows = rng.integers(-128, 127, (n, k)).astype(np.int8)
    scales = rng.random(n)
    got = aten._weight_int8pack_mm(floats(a), dispatch.from_numpy(rows), floats(scales))
    np.testing.assert_allclose(got.numpy(), a @ rows.T * scales, rtol=1e-4, atol=1e-3)
    with pytest.raises(RuntimeError, match="scale for each"):
        aten._weight_int8pack_mm(floats(a), dispatch.from_numpy(rows), floats(scales[:5]))


def quarters(rows, columns):
    return (dispatch.arange(rows * columns).reshape(rows, columns) % 7 - 3) / 4.0


@pytest.mark.parametrize(
    ("rows", "total", "first"), [(64, 819.75, [1.5, 2.875, 8.75]), (16, 49.5, [1.5, 2.875, 8.75])]
)
def test_int4pack_mm_unpacks_both_layouts(rows, total, first):
    weight = (dispatch.arange(rows * 32) * 11 % 16).to(dispatch.int32).reshape(rows, 32)
    scales, zeros = dispatch.arange(rows) / 8.0, dispatch.arange(rows) % 3 - 1.0
    found = aten._weight_int4pack_mm_for_cpu(
        quarters(2, 32),
        aten._convert_weight_to_int4pack_for_cpu(weight, 1),
        32,
        dispatch.stack([scales, zeros], 1).reshape(1, rows, 2),
    )
    assert found[0][::5].tolist()[:3] == first
    assert found.sum().item() == total


@pytest.mark.parametrize("m", [1, 6])
@pytest.mark.parametrize("kind", [dispatch.float32, dispatch.bfloat16])
def test_int4pack_mm_has_a_scale_and_a_zero_for_each_group(m, kind):
    weight = rng.integers(0, 16, (144, 96))
    pairs = rng.integers(-4, 4, (3, 144, 2)) / 4
    a = rng.integers(-2, 3, (m, 96))
    packed = aten._convert_weight_to_int4pack_for_cpu(floats(weight, dispatch.int32), 1)
    got = aten._weight_int4pack_mm_for_cpu(floats(a, kind), packed, 32, floats(pairs, kind))
    scale, zero = np.repeat(np.moveaxis(pairs, 2, 0), 32, 1)
    want = a @ ((weight.T - 8) * scale + zero)
    assert got.tolist() == floats(want, kind).tolist()


@pytest.mark.parametrize(("group", "scales"), [(48, (1, 64, 2)), (32, (2, 64, 2))])
def test_int4pack_mm_refuses_groups_that_do_not_fit(group, scales):
    packed = dispatch.zeros(64, 16, dtype=dispatch.uint8)
    with pytest.raises(RuntimeError, match="_weight_int4pack_mm_for_cpu"):
        aten._weight_int4pack_mm_for_cpu(quarters(2, 32), packed, group, dispatch.zeros(*scales))
