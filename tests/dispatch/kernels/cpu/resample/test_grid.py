"""Samples on a grid of many places: blocks of them give what each place alone gives."""

import numpy as np
import pytest

import dispatch
from dispatch import ops

aten = ops.aten


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("reach", [0.8, 1.5])
def test_many_places_are_sampled_as_each_alone(mode, padding, reach):
    dispatch.manual_seed(0)
    x, grid = dispatch.randn(2, 3, 6, 7), (dispatch.rand(2, 1, 1100, 2) * 2 - 1) * reach
    grid[0, 0, 600, 0] = float("nan")
    found = aten.grid_sampler(x, grid, mode, padding, False).numpy()
    for place in (0, 255, 256, 512, 600, 1099):
        one = aten.grid_sampler(x, grid[:, :, place : place + 1], mode, padding, False).numpy()
        assert np.allclose(found[..., place], one[..., 0], 1e-5, 1e-6, equal_nan=True)


@pytest.mark.parametrize("mode", [0, 2])
@pytest.mark.parametrize("places", [1, 7, 16, 63, 64, 65, 133])
def test_single_precision_is_as_double(mode, places):
    """Vectors of places and what is left of them, some outside."""
    dispatch.manual_seed(places)
    x, grid = dispatch.randn(2, 3, 9, 11), dispatch.rand(2, places, 1, 2) * 3 - 1.5
    found = aten.grid_sampler(x, grid, mode, 0, False).numpy()
    exact = aten.grid_sampler(x.to(dispatch.float64), grid.to(dispatch.float64), mode, 0, False)
    np.testing.assert_allclose(found, exact.numpy(), rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("plane", [(9, 11), (4, 5, 6)])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_samples_are_rounded_after_every_step(dtype, plane, padding):
    kind, dims = getattr(dispatch, dtype), len(plane)
    x = dispatch.arange(3 * np.prod(plane)).reshape(1, 3, *plane).remainder(17) - 8
    places = dispatch.arange(300 * dims).reshape(1, *[1] * (dims - 1), 300, dims).remainder(41)
    grid = places / 16 - 1.25  # of few bits: positions and weights are exact
    found = aten.grid_sampler(x.to(kind), grid.to(kind), 0, padding, True)
    exact = aten.grid_sampler(x.double(), grid.double(), 0, padding, True)
    off = (found.double() - exact).abs().max().item()
    assert off <= 8 * (2.0**-11 if kind is dispatch.float16 else 2.0**-8) * 4
    alone = aten.grid_sampler(x.to(kind), grid[..., 77:78, :].to(kind), 0, padding, True)
    assert dispatch.equal(alone[..., 0], found[..., 77])
    assert dispatch.equal(found, found.float().to(kind))


def test_outside_is_nothing_even_beside_infinity():
    x = dispatch.full((1, 1, 2, 2), float("inf"))
    grid = dispatch.full((1, 1, 600, 2), 5.0)
    assert not aten.grid_sampler(x, grid, 0, 0, False).numpy().any()
    assert not aten.grid_sampler(x, grid, 1, 0, False).numpy().any()


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("plane", [(6, 7), (4, 5, 6)])
def test_gradient_is_adjoint_to_the_samples(mode, padding, plane):
    dispatch.manual_seed(1)
    x, dims = dispatch.randn(2, 3, *plane).double(), len(plane)
    grid = (dispatch.rand(2, *[1] * (dims - 1), 700, dims) * 3 - 1.5).double()
    out = aten.grid_sampler(x, grid, mode, padding, False)
    grad = dispatch.randn(*out.shape).double()
    back = aten.grid_sampler_2d_backward if dims == 2 else aten.grid_sampler_3d_backward
    of_x, of_grid = back(grad, x, grid, mode, padding, False, [True, True])
    np.testing.assert_allclose((of_x * x).sum().item(), (grad * out).sum().item())
    assert mode == 0 or not of_grid.numpy().any()


def test_the_gradient_of_affine_grids_takes_any_strides():
    grad = dispatch.arange(24.0).reshape(1, 4, 3, 2).transpose(1, 2)
    want = aten.affine_grid_generator_backward(grad.contiguous(), [1, 1, 3, 4], False)
    assert aten.affine_grid_generator_backward(grad, [1, 1, 3, 4], False).equal(want)
