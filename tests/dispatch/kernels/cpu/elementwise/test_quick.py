"""Functions without branches against exact values: anywhere, and at the edges of domains."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dispatch

aten = dispatch.ops.aten
special = pytest.importorskip("scipy.special")

EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 1e-40, -1e-40, 1e-30, 1e30, -1e30, 7.999, 8.0]
SPREAD = np.concatenate([np.linspace(-30, 30, 4001), np.geomspace(1e-30, 1e5, 400), EDGES])
INFINITE = np.array([np.inf, -np.inf, np.nan])


ONE: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "erf": (aten.erf, special.erf),
    "erfc": (aten.erfc, special.erfc),
    "gelu": (aten.gelu, lambda x: x * special.ndtr(x)),
    "erfinv": (aten.erfinv, special.erfinv),
    "lgamma": (aten.lgamma, special.gammaln),
    "digamma": (aten.digamma, special.digamma),
    "sigmoid": (aten.sigmoid, special.expit),
    "asin": (aten.asin, np.arcsin),
    "acos": (aten.acos, np.arccos),
    "atanh": (aten.atanh, np.arctanh),
    "exp2": (aten.exp2, np.exp2),
    "sin": (aten.sin, np.sin),
    "cos": (aten.cos, np.cos),
    "tan": (aten.tan, np.tan),
    "sinc": (aten.sinc, np.sinc),
    "log1p": (aten.log1p, np.log1p),
    "logit": (aten.logit, special.logit),
    "mish": (aten.mish, lambda x: x * np.tanh(np.logaddexp(0, x))),
    "entr": (aten.special_entr, special.entr),
    "i0e": (aten.special_i0e, special.i0e),
    "i1e": (aten.special_i1e, special.i1e),
    "power": (lambda x: aten.pow(2.5, x), lambda x: np.power(2.5, x)),
    "negative power": (lambda x: aten.pow(-2.0, x), lambda x: np.power(-2.0, x)),
}
TWO: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "fmod": (aten.fmod, np.fmod),
    "remainder": (aten.remainder, np.mod),
    "floor_divide": (aten.floor_divide, np.floor_divide),
    "hypot": (aten.hypot, np.hypot),
    "logaddexp": (aten.logaddexp, np.logaddexp),
    "logaddexp2": (aten.logaddexp2, np.logaddexp2),
    "fmax": (aten.fmax, np.fmax),
    "fmin": (aten.fmin, np.fmin),
    "nextafter": (aten.nextafter, np.nextafter),
    "xlogy": (aten.xlogy, special.xlogy),
    "power": (aten.pow, np.power),
}


def _compare(kind: type, found: Any, wanted: Any) -> None:
    rtol, atol = (2e-6, 2e-6) if kind is np.float32 else (1e-11, 1e-12)
    np.testing.assert_allclose(found.numpy(), wanted.astype(kind), rtol=rtol, atol=atol)


def test_erfc_keeps_its_digits_where_it_is_small() -> None:
    x = np.linspace(0, 26, 2001)
    found = aten.erfc(dispatch.from_numpy(x)).numpy()
    np.testing.assert_allclose(found, special.erfc(x), rtol=2e-13)


def test_exp_of_float32_is_right_down_to_the_least_number() -> None:
    values = np.concatenate([np.linspace(-104, 88.72, 50001), [np.inf, -np.inf, 88.73, -110]])
    given = values.astype(np.float32)
    with np.errstate(over="ignore", under="ignore"):
        exact = np.exp(given.astype(np.float64))
        wanted = exact.astype(np.float32)
    found = aten.exp(dispatch.from_numpy(given)).numpy()
    finite = np.isfinite(wanted)
    off = np.abs(found[finite].astype(np.float64) - exact[finite])
    assert (off <= 2 * np.maximum(wanted[finite] * 2.0**-23, 2.0**-149)).all()
    assert (found[~finite] == np.inf).all()
    assert found[-3:].tolist() == [0, np.inf, 0]
    assert np.isnan(aten.exp(dispatch.tensor([np.nan] * 40)).numpy()).all()


def test_error_function_never_goes_beyond_one() -> None:
    x = dispatch.linspace(-9, 9, 100_001)
    assert aten.erf(x).abs().max().item() == 1


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sines_next_to_multiples_of_half_a_turn(kind: type) -> None:
    x = (np.arange(-30000, 30000) * (np.pi / 2)).astype(kind)
    rtol = 4e-7 if kind is np.float32 else 1e-15
    for found, exact in ((aten.sin, np.sin), (aten.cos, np.cos)):
        wanted = exact(x.astype(np.longdouble)).astype(np.float64)
        y, large = found(dispatch.from_numpy(x)).numpy(), np.abs(wanted) > 1e-9
        np.testing.assert_allclose(y[large], wanted[large], rtol=rtol)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(ONE))
def test_function_of_one_number(name: str, kind: type) -> None:
    ours, exact = ONE[name]
    values = SPREAD.astype(kind)
    with np.errstate(all="ignore"):
        wanted = exact(values.astype(np.float64))
        if name in ("lgamma", "digamma"):  # next to a pole a rounded number says little
            away = np.abs(values - np.rint(values)) > 1e-3
            values, wanted = values[away | (values > 0)], wanted[away | (values > 0)]
        if name == "digamma":
            values, wanted = values[np.abs(values) > 1e-3], wanted[np.abs(values) > 1e-3]
        if kind is np.float32 and name == "sinc":
            values, wanted = values[np.abs(values) < 1e3], wanted[np.abs(values) < 1e3]
        _compare(kind, ours(dispatch.from_numpy(values)), wanted)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(ONE.keys() - {"sinc", "mish"}))
def test_function_of_what_is_infinite(name: str, kind: type) -> None:
    ours, exact = ONE[name]
    found = ours(dispatch.from_numpy(INFINITE.astype(kind))).numpy()
    with np.errstate(all="ignore"):
        wanted = exact(INFINITE)
    if name == "lgamma":
        wanted[1] = math.inf
    np.testing.assert_array_equal(found, wanted.astype(kind))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lgamma_has_its_poles_and_roots(kind: type) -> None:
    values = np.array([0.0, -0.0, -1.0, -2.0, -1e30, 1.0, 2.0], dtype=kind)
    assert aten.lgamma(dispatch.from_numpy(values)).tolist() == [math.inf] * 5 + [0.0] * 2


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", sorted(TWO))
def test_function_of_two_numbers(name: str, kind: type) -> None:
    ours, exact = TWO[name]
    generator = np.random.default_rng(0)
    given = np.concatenate([generator.normal(size=300) * 100, EDGES, INFINITE, [1e37, 3e38]])
    x, y = (g.ravel().astype(kind) for g in np.meshgrid(given, given))
    with np.errstate(all="ignore"):
        wanted = exact(x, y)
        if name in ("remainder", "floor_divide"):  # numpy's rules for 0 and infinity are its own
            kept = (y != 0) & np.isfinite(x) & np.isfinite(y)
            x, y, wanted = x[kept], y[kept], wanted[kept]
    found = ours(dispatch.from_numpy(x), dispatch.from_numpy(y)).numpy()
    if name in ("fmod", "nextafter", "fmax", "fmin"):
        np.testing.assert_array_equal(found, wanted)
    else:
        rtol = 2e-6 if kind is np.float32 else 1e-12
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=rtol)


@pytest.mark.parametrize(("kind", "most"), [(np.float32, 88.7), (np.float64, 709.7)])
def test_bessel_functions_up_to_where_they_overflow(kind: type, most: float) -> None:
    x = np.concatenate([np.linspace(-most, most, 4001), [8.0, -8.0, 7.999, 8.001]]).astype(kind)
    given = dispatch.from_numpy(x)
    for ours in (aten.i0, aten.special_modified_bessel_i0):
        np.testing.assert_allclose(ours(given).numpy(), special.i0(x), rtol=20 * np.finfo(kind).eps)
    for ours in (aten.special_i1, aten.special_modified_bessel_i1):
        np.testing.assert_allclose(ours(given).numpy(), special.i1(x), rtol=20 * np.finfo(kind).eps)


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_angles_of_complex_numbers(kind: type) -> None:
    edges = np.concatenate([EDGES, INFINITE, [0.4142135, 3e38, -3e38]])
    parts = np.concatenate([edges, np.random.default_rng(0).normal(size=100)])
    z = np.empty((len(parts), len(parts)), kind)
    z.real, z.imag = parts[:, None], parts
    found, wanted = aten.angle(dispatch.from_numpy(z)).numpy(), np.angle(z)
    np.testing.assert_allclose(found, wanted, rtol=4 * np.finfo(kind).eps)
    known = wanted == wanted
    np.testing.assert_array_equal(np.signbit(found)[known], np.signbit(wanted)[known])


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_each_byte_shifted_by_each_byte(kind: type) -> None:
    every = np.arange(256).astype(np.uint8).view(kind)
    x, by = (g.ravel() for g in np.meshgrid(every, every))
    given = dispatch.from_numpy(x), dispatch.from_numpy(by)
    within = by.view(np.uint8) < 8
    wanted = np.where(within, x.astype(int) >> (by & 7), np.where(x < 0, -1, 0))
    np.testing.assert_array_equal(aten.bitwise_right_shift(*given).numpy(), wanted)
    wanted = np.where(within, x.astype(int) << (by & 7), 0).astype(kind)
    np.testing.assert_array_equal(aten.bitwise_left_shift(*given).numpy(), wanted)


def test_a_loop_in_blocks_takes_any_steps_and_writes_over_its_operand() -> None:
    values = np.linspace(-700, 700, 1001)
    x = dispatch.from_numpy(values.copy())
    aten.fmod_(x[::3], dispatch.from_numpy(np.full(1, 7.5)))
    np.testing.assert_array_equal(x.numpy()[::3], np.fmod(values[::3], 7.5))
    np.testing.assert_array_equal(x.numpy()[1::3], values[1::3])
