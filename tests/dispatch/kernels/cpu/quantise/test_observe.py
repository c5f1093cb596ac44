"""Ranges that are observed, and the scale and zero point that follow from them."""

import math

import numpy as np
import pytest

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten
INF = math.inf


@pytest.mark.parametrize(
    ("values", "reduced", "scale", "zero"),
    [
        ([-1.0, 2.0], False, 3 / 255, 85),
        ([-1.0, 2.0], True, 3 / 127, 42),
        ([1.0, 2.0], False, 2 / 255, 0),
        ([-2.0, -1.0], False, 2 / 255, 255),
        ([0.0, 0.0], False, 0.1, 0),
        ([0.0, 1e-6], False, 6.1e-5, 0),
    ],
)
def test_scale_and_zero_point_of_a_range(values, reduced, scale, zero):
    found = aten._choose_qparams_per_tensor(tensor(values), reduced)
    assert found == (pytest.approx(scale), zero)


def state(rows=()):
    return (
        dispatch.full(rows, INF),
        dispatch.full(rows, -INF),
        dispatch.ones(rows or 1),
        dispatch.zeros(rows or 1, dtype=dispatch.int32),
    )


def observe(x, kept, on=1, fake=1, rows=False, symmetric=False):
    return aten._fused_moving_avg_obs_fq_helper(
        x, tensor([on]), tensor([fake]), *kept, 0.5, 0, 255, 0, rows, symmetric
    )


def test_the_range_moves_and_is_used():
    kept = state()
    observe(tensor([-1.0, 2.0]), kept)
    assert (kept[0].item(), kept[1].item(), kept[3].item()) == (-1, 2, 85)
    found, mask = observe(tensor([-3.0, 3.0]), kept)
    assert (kept[0].item(), kept[1].item()) == (-2, 2.5)
    np.testing.assert_allclose(found.numpy(), [-2, 2.5], atol=0.02)
    assert mask.tolist() == [False, False]


def test_a_zero_point_of_another_dtype_is_a_whole_number_all_the_same():
    low, high, scale, zero = state()
    found, _ = observe(tensor([-1.0, 2.0]), (low, high, scale, zero.float()))
    np.testing.assert_allclose(found.numpy(), [-1, 2], atol=0.02)


def test_switched_off_it_copies():
    x, kept = tensor([-1.0, 2.0]), state()
    found, mask = observe(x, kept, on=0, fake=0)
    assert found.tolist() == x.tolist() and found is not x
    assert mask.all() and kept[0].item() == INF


def test_rows_have_ranges_of_their_own():
    kept = (
        dispatch.empty(0),
        dispatch.empty(0),
        dispatch.empty(0),
        dispatch.empty(0, dtype=dispatch.int32),
    )
    found, _ = observe(tensor([[0.0, 1.0], [0.0, 4.0]]), kept, rows=True)
    np.testing.assert_allclose(kept[2].numpy(), [1 / 255, 4 / 255])
    np.testing.assert_allclose(found.numpy(), [[0, 1], [0, 4]])
    with pytest.raises(RuntimeError, match="ch_axis below"):
        aten.fused_moving_avg_obs_fake_quant(
            dispatch.ones(2), tensor([1]), tensor([1]), *kept, 0.5, 0, 255, 1
        )


def test_functional_form_gives_what_it_would_write():
    kept = state()
    found = aten._fused_moving_avg_obs_fq_helper_functional(
        tensor([-1.0, 2.0]), tensor([1]), tensor([1]), *kept, 0.5, 0, 255, 0
    )
    assert len(found) == 6
    assert [found[2].item(), found[3].item(), found[5].item()] == [-1, 2, 85]
    assert kept[0].item() == INF


def test_an_outlier_is_left_out_of_the_range_with_the_least_error():
    x = np.linspace(-1, 1, 200, dtype=np.float32)
    x[0] = 3
    high, low = aten.choose_qparams_optimized(dispatch.from_numpy(x), 200, 200, 0.5, 2)
    assert -1 < low.item() < 0 < high.item() < 3
    with pytest.raises(RuntimeError, match="numel from 1 to 200"):
        aten.choose_qparams_optimized(dispatch.from_numpy(x), 201, 200, 0.5, 2)
