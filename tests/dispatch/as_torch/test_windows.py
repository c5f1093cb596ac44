"""`torch.signal.windows`."""

import math

import pytest

import dispatch
from dispatch import fake
from dispatch.as_torch import windows

PARAMETERS = {"general_cosine": {"a": [0.5, 0.3]}}


def made(name, points, **options):
    return getattr(windows, name)(points, **PARAMETERS.get(name, {}), **options)


@pytest.mark.parametrize("name", windows.__all__)
def test_a_window_is_symmetric_or_one_period_of_a_longer_one(name):
    whole = made(name, 8, dtype=dispatch.float64)
    assert whole.shape == (8,) and whole.allclose(whole.flip(0))
    assert made(name, 7, sym=False, dtype=dispatch.float64).allclose(whole[:-1])


@pytest.mark.parametrize("name", windows.__all__)
def test_few_points_are_ones_and_options_are_taken(name):
    assert made(name, 0).tolist() == [] and made(name, 1).tolist() == [1.0]
    window = made(name, 5, dtype=dispatch.float64, requires_grad=True)
    assert window.dtype is dispatch.float64 and window.requires_grad
    with fake.FakeTensorMode():
        assert made(name, 5).shape == (5,)
    assert made(name, 5, device="meta").is_meta


@pytest.mark.parametrize(
    ("name", "options", "values"),
    [
        ("bartlett", {}, [0, 0.5, 1, 0.5, 0]),
        ("blackman", {}, [0, 0.34, 1, 0.34, 0]),
        ("cosine", {}, [math.sin(math.pi * (n + 0.5) / 5) for n in range(5)]),
        ("exponential", {"tau": 2.0}, [math.exp(-abs(n - 2) / 2) for n in range(5)]),
        ("exponential", {"center": 0, "sym": False}, [math.exp(-n) for n in range(5)]),
        ("exponential", {"center": 3, "sym": False}, [math.exp(-abs(n - 3)) for n in range(5)]),
        ("gaussian", {"std": 0.5}, [math.exp(-2 * (n - 2) ** 2) for n in range(5)]),
        ("general_hamming", {"alpha": 0.75}, [0.5, 0.75, 1, 0.75, 0.5]),
        ("hamming", {}, [0.08, 0.54, 1, 0.54, 0.08]),
        ("hann", {}, [0, 0.5, 1, 0.5, 0]),
        ("nuttall", {}, [0.0003628, 0.2269824, 1, 0.2269824, 0.0003628]),
        ("kaiser", {"beta": 0.0}, [1, 1, 1, 1, 1]),
        ("kaiser", {"beta": 2.0}, [0.4386763, 0.8347614, 1, 0.8347614, 0.4386763]),
    ],
)
def test_values(name, options, values):
    found = made(name, 5, dtype=dispatch.float64, **options)
    assert found.tolist() == pytest.approx(values, abs=1e-7)


def test_one_point_of_an_exponential_has_its_place():
    one = windows.exponential(1, center=3.0, sym=False, dtype=dispatch.float64)
    assert one.tolist() == pytest.approx([math.exp(-3)])


@pytest.mark.parametrize(
    ("name", "points", "options", "error", "text"),
    [
        ("cosine", -1, {}, ValueError, "non-negative window length, got M=-1"),
        ("hann", 3, {"dtype": dispatch.int32}, ValueError, "float32 or float64"),
        ("kaiser", 3, {"layout": dispatch.sparse_coo}, ValueError, "strided"),
        ("kaiser", 3, {"beta": -1.0}, ValueError, "beta"),
        ("gaussian", 3, {"std": 0.0}, ValueError, "deviation"),
        ("exponential", 3, {"tau": 0.0}, ValueError, "Tau"),
        ("exponential", 3, {"center": 1.0}, ValueError, "Center"),
    ],
)
def test_parameters_out_of_range_are_refused(name, points, options, error, text):
    with pytest.raises(error, match=text):
        made(name, points, **options)


@pytest.mark.parametrize(("a", "error"), [([], ValueError), (3, TypeError)])
def test_coefficients_are_several(a, error):
    with pytest.raises(error, match="Coefficients"):
        windows.general_cosine(3, a=a)
