"""Interpolation and grid sampling on the CPU (values recorded from PyTorch 2.13)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch

aten = dispatch.ops.aten
nan, inf = math.nan, math.inf
BYTES = np.array([[[[0, 255, 10], [20, 30, 40]]]], np.uint8)


@pytest.mark.parametrize(
    ("size", "scale", "want"),
    [
        (3, None, [0, 1, 2]),
        (6, None, [0, 0, 1, 1, 2, 2]),
        (2, None, [0, 1]),
        (4, 1.5, [0, 0, 1, 2]),
    ],
)
def test_nearest_takes_the_element_below(size, scale, want):
    x = dispatch.tensor([[[[0.0, 1.0, 2.0]]]])
    assert aten.upsample_nearest2d(x, [1, size], None, scale).flatten().tolist() == want


@pytest.mark.parametrize(("name", "corners", "want"), [
    ("bilinear", False, [0, 5, 15, 20]),
    ("bilinear", True, [0, 20 / 3, 40 / 3, 20]),
    ("bicubic", False, [-2.109375, 4.53125, 15.46875, 22.109375]),
    ("bicubic", True, [0, 6.296292, 13.703703, 20]),
])
def test_weights_between_two_elements(name, corners, want):
    x = dispatch.tensor([[[[0.0], [20.0]]]])
    got = getattr(aten, f"upsample_{name}2d")(x, [4, 1], corners)
    assert got.flatten().tolist() == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(("name", "want"), [
    ("bilinear", [[0, 159, 163, 10], [2, 146, 150, 13], [10, 93, 99, 25], [18, 39, 47, 37],
                  [20, 26, 34, 40]]),
    ("bicubic", [[0, 208, 213, 0], [2, 176, 182, 3], [10, 108, 115, 21], [17, 39, 48, 38],
                 [21, 7, 17, 46]]),
])
def test_bytes_are_rounded_after_each_dimension(name, want):
    got = getattr(aten, f"upsample_{name}2d")(dispatch.from_numpy(BYTES), [5, 4], False)
    assert got[0, 0].tolist() == want


def test_unchanged_size_still_multiplies_by_zero():
    x = dispatch.tensor([[[[0.0, inf, 0.0]]]])
    assert str(aten.upsample_bilinear2d(x, [1, 3], False).flatten().tolist()) == "[0.0, nan, 0.0]"


@pytest.mark.parametrize(("mode", "padding", "corners", "want"), [
    (0, 0, False, [nan, nan, 0.0, 0.0, 8.5]),
    (0, 0, True, [nan, nan, 2.5, 1.75, 8.5]),
    (0, 1, False, [7.0, 10.0, 10.0, 7.0, 8.5]),
    (0, 2, True, [7.0, 7.0, 9.25, 7.75, 8.5]),
    (1, 0, False, [0.0, 0.0, 0.0, 0.0, 11.0]),
    (1, 2, True, [9.0, 9.0, 11.0, 10.0, 11.0]),
    (2, 0, False, [nan, nan, -0.9375, -0.65625, 8.5]),
    (2, 1, True, [nan, nan, 10.03515625, 6.96484375, 8.5]),
    (2, 2, False, [nan, nan, 9.59375, 7.40625, 8.5]),
])
def test_grid_sampler_at_and_beyond_the_borders(mode, padding, corners, want):
    across = np.array([nan, inf, 1.5, -1.5, 0.0], np.float32)
    grid = dispatch.from_numpy(np.stack([across, np.zeros_like(across)], -1)[None, None])
    x = dispatch.arange(1.0, 17.0).reshape(1, 1, 4, 4)
    got = aten.grid_sampler_2d(x, grid, mode, padding, corners).flatten().tolist()
    np.testing.assert_array_equal(got, want)


# ---- gradients ---------------------------------------------------------------------------------

FORWARD = {
    "nearest": (aten.upsample_nearest2d, aten.upsample_nearest2d_backward, ()),
    "exact": (aten._upsample_nearest_exact2d, aten._upsample_nearest_exact2d_backward, ()),
    "bilinear": (aten.upsample_bilinear2d, aten.upsample_bilinear2d_backward, (False,)),
    "corners": (aten.upsample_bilinear2d, aten.upsample_bilinear2d_backward, (True,)),
    "bicubic": (aten.upsample_bicubic2d, aten.upsample_bicubic2d_backward, (False,)),
    "smooth": (aten._upsample_bilinear2d_aa, aten._upsample_bilinear2d_aa_backward, (False,)),
    "lanczos": (aten._upsample_lanczos2d_aa, aten._upsample_lanczos2d_aa_backward, (False,)),
}
sizes = st.integers(1, 6)


@pytest.mark.parametrize("name", FORWARD)
@given(small=st.tuples(sizes, sizes), large=st.tuples(sizes, sizes), last=st.booleans())
def test_gradient_is_the_transposed_map(name, small, large, last):
    """<y, A x> == <A' y, x> for the linear map A that an interpolation is."""
    forward, backward, options = FORWARD[name]
    rng = np.random.default_rng(sum(small) * 7 + sum(large))
    x = dispatch.from_numpy(rng.normal(size=(2, 3, *small)))
    y = dispatch.from_numpy(rng.normal(size=(2, 3, *large)))
    if last:
        x, y = (t.contiguous(memory_format=dispatch.channels_last) for t in (x, y))
    there = (forward(x, list(large), *options) * y).sum().item()
    back = (backward(y, list(large), list(x.shape), *options) * x).sum().item()
    assert there == pytest.approx(back, rel=1e-9, abs=1e-9)


@given(st.tuples(sizes, sizes, sizes), st.tuples(sizes, sizes, sizes))
def test_channels_last_changes_no_value(small, large):
    x = dispatch.from_numpy(np.random.default_rng(1).normal(size=(2, 3, *small)))
    other = x.contiguous(memory_format=dispatch.channels_last_3d)
    for op, options in ((aten.upsample_trilinear3d, (False,)), (aten.upsample_nearest3d, ())):
        a, b = (op(t, list(large), *options) for t in (x, other))
        assert np.allclose(a.numpy(), b.numpy())


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_rows_are_smoothed_alike(dtype):
    dispatch.manual_seed(3)
    x = (dispatch.rand(2, 1, 7, 9) * 200).to(getattr(dispatch, dtype))
    got = aten._upsample_bilinear2d_aa(x, [7, 5], False)
    for h in range(7):
        alone = aten._upsample_bilinear2d_aa(x[:, :, h : h + 1], [1, 5], False)
        assert dispatch.equal(got[:, :, h : h + 1], alone)


@pytest.mark.parametrize("name", ["bilinear", "bicubic", "lanczos"])
def test_smoothing_keeps_a_constant(name):
    op = getattr(aten, f"_upsample_{name}2d_aa")
    assert np.allclose(op(dispatch.full([1, 1, 9, 7], 2.5), [2, 3], False).numpy(), 2.5)
    bytes_ = dispatch.full([1, 1, 9, 7], 77, dtype=dispatch.uint8)
    assert set(op(bytes_, [2, 3], False).flatten().tolist()) == {77}


def test_scale_moves_positions_of_a_line_that_keeps_its_length():
    x = dispatch.tensor([[[0.0, 1.0, 2.0, 3.0]]])
    assert aten.upsample_nearest1d(x, [4], 1.7).flatten().tolist() == [0, 0, 1, 1]


def test_linear_interpolation_of_integers_has_no_kernel():
    with pytest.raises(NotImplementedError, match=r"upsample_linear1d.*uint8"):
        aten.upsample_linear1d(dispatch.zeros(1, 1, 3, dtype=dispatch.uint8), [4], False)


# ---- grids -------------------------------------------------------------------------------------

@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize(("dims", "mode"), [(2, 0), (2, 2), (3, 0)])
def test_gradients_of_a_grid_are_those_of_differences(dims, mode, padding):
    rng = np.random.default_rng(5)
    forward = getattr(aten, f"grid_sampler_{dims}d")
    backward = getattr(aten, f"grid_sampler_{dims}d_backward")
    x = rng.normal(size=(1, 2, 3, 4, 5)[: dims + 2])
    grid = rng.uniform(-1.2, 1.2, size=(*(1, 2, 2, 2)[: dims + 1], dims))
    y = rng.normal(size=(1, 2, *grid.shape[1:-1]))

    def value(x, grid):
        out = forward(dispatch.from_numpy(x), dispatch.from_numpy(grid), mode, padding, False)
        return float((out.numpy() * y).sum())

    grads = backward(*map(dispatch.from_numpy, (y, x, grid)), mode, padding, False, [True, True])
    for array, grad in ((x, grads[0]), (grid, grads[1])):
        at = (0,) * (array.ndim - 1) + (1,)
        low, high = array.copy(), array.copy()
        low[at] -= 1e-6
        high[at] += 1e-6
        pairs = [(t, grid) if array is x else (x, t) for t in (low, high)]
        ends = [value(*pair) for pair in pairs]
        assert grad.numpy()[at] == pytest.approx((ends[1] - ends[0]) / 2e-6, abs=1e-6)


def test_affine_grid_of_no_change_samples_the_input():
    x = dispatch.from_numpy(np.arange(12.0).reshape(1, 1, 3, 4))
    theta = dispatch.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=dispatch.float64)
    grid = aten.affine_grid_generator(theta, [1, 1, 3, 4], False)
    assert np.allclose(aten.grid_sampler(x, grid, 0, 0, False).numpy(), x.numpy())


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("sizes", [[2, 3, 37, 50], [1, 1, 64, 33], [3, 40, 9, 20]])
def test_bytes_with_channels_last_are_mixed_as_those_with_channels_first(mode, sizes):
    values = np.random.default_rng(0).integers(0, 256, sizes, np.uint8)
    x = dispatch.from_numpy(values)
    last = x.to(memory_format=dispatch.channels_last)
    smooth = getattr(aten, f"_upsample_{mode}2d_aa")
    for call in (smooth, getattr(aten, f"upsample_{mode}2d")):
        for size in ([17, 21], [50, 64], [sizes[2], 11], [11, sizes[3]]):
            wanted = call(x, size, False)
            assert dispatch.equal(call(last, size, False), wanted)
            if mode == "bilinear":  # cubic sums are kept in range after each dimension
                assert (wanted.double() - call(x.double(), size, False)).abs().max() <= 1.5
