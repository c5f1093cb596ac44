"""The same seed gives the numbers that PyTorch draws: recorded on PyTorch 2.13."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import dispatch as d
from dispatch import Generator, Tensor, manual_seed, ops

aten = ops.aten


def f(*values: float) -> Tensor:
    return d.tensor(values, dtype=d.float32)


# What is drawn after manual_seed(0).
DRAWN: list[tuple[Callable[[], Tensor], list[Any]]] = [
    (lambda: d.rand(3), [0.49625658988952637, 0.7682217955589294, 0.08847743272781372]),
    (lambda: d.rand(2, dtype=d.float64), [0.9700530018065531, 0.707819864399788]),
    (lambda: d.randn(3), [1.5409960746765137, -0.293428897857666, -2.1787893772125244]),
    (lambda: d.randn(17)[-3:], [0.946298360824585, -0.843676745891571, 0.9318265914916992]),
    (lambda: d.randn(3, dtype=d.bfloat16), [1.5390625, -0.29296875, -2.171875]),
    (lambda: d.randint(10, (5,)), [4, 9, 3, 0, 3]),
    (lambda: d.randint(1 << 40, (2,)), [741280623151, 506137267392]),
    (lambda: d.empty(3, dtype=d.uint8).random_(), [172, 47, 117]),
    (lambda: d.randperm(6), [2, 5, 3, 0, 1, 4]),
    (lambda: d.empty(3).exponential_(), [3.508326292037964, 1.2303847074508667, 0.615044116973877]),
    (lambda: d.empty(3).cauchy_(), [10.597729682922363, 0.7647672891616821, -0.12829934060573578]),
    (
        lambda: d.empty(3).log_normal_(),
        [59.2634162902832, 1.5115599632263184, 0.03481946140527725],
    ),
    (lambda: d.empty(4).geometric_(0.2), [1, 2, 4, 1]),
    (lambda: d.bernoulli(d.full((6,), 0.5)), [1, 0, 1, 1, 1, 0]),
    (lambda: d.empty(6).bernoulli_(0.5), [0, 0, 1, 0, 0, 0]),
    (lambda: d.poisson(f(0.5, 3, 40)), [2, 4, 41]),
    (
        lambda: aten._standard_gamma(f(0.5, 3, 40)),
        [0.0007893581641837955, 1.2728434801101685, 40.68537139892578],
    ),
    (lambda: d.binomial(f(3, 50, 1000), f(0.5, 0.3, 0.9)), [2, 20, 891]),
    (lambda: d.multinomial(f(1, 2, 3, 4), 3), [2, 1, 3]),
    (lambda: d.multinomial(f(1, 2, 3, 4), 5, True), [3, 3, 2, 3, 3]),
    (
        lambda: aten._sample_dirichlet(f(0.5, 3, 40)),
        [1.8812606867868453e-05, 0.030335407704114914, 0.9696457982063293],
    ),
    (lambda: d.normal(f(0, 10), f(1, 2)), [1.5409960746765137, 9.413142204284668]),
    (
        lambda: d.rrelu(f(-1, 2, -3), 0.1, 0.3, True),
        [-0.29401060938835144, 2.0, -0.7246919274330139],
    ),
    (lambda: d.feature_dropout(d.ones(2, 3), 0.5, True), [[0, 0, 2], [0, 0, 0]]),
]


@pytest.mark.parametrize(("draw", "numbers"), DRAWN)
def test_seed_gives_pytorchs_numbers(draw: Callable[[], Tensor], numbers: list[Any]) -> None:
    manual_seed(0)
    assert draw().tolist() == numbers


def test_elements_are_drawn_in_the_order_in_which_they_lie_in_memory() -> None:
    manual_seed(0)
    flat = d.rand(6).tolist()
    manual_seed(0)
    assert d.zeros(2, 3).t().uniform_().t().tolist() == [flat[:3], flat[3:]]


def test_normal_numbers_come_in_pairs_until_there_are_16() -> None:
    """The second of a pair waits in the generator; a block of 16 leaves it alone."""
    one, two = Generator().manual_seed(5), Generator().manual_seed(5)
    pair = d.randn(2, generator=one).tolist()
    first = d.randn(1, generator=two).tolist()
    block = d.randn(16, generator=two)
    assert first + d.randn(1, generator=two).tolist() == pair
    assert block.shape == (16,)


def test_the_last_16_of_many_are_drawn_anew() -> None:
    manual_seed(3)
    whole = d.randn(32).tolist()
    manual_seed(3)
    part = d.randn(31).tolist()
    assert part[:15] == whole[:15] and part[15:] != whole[15:31]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 1000, 40000])
def test_large_and_small_draws_leave_the_same_state(dtype: str, size: int) -> None:
    """Pieces, blocks and the way without the interpreter's lock draw as many words."""
    one, two = Generator(), Generator()
    kind = getattr(d, dtype)
    d.rand(size, dtype=kind, generator=one)
    for _ in range(size // 1000):
        d.rand(1000, dtype=kind, generator=two)
    d.rand(size % 1000, dtype=kind, generator=two)
    assert one.get_state().tolist() == two.get_state().tolist()


def test_what_is_no_parameter_is_refused_by_name() -> None:
    x = d.zeros(2)
    for wrong, text in (
        (lambda: x.cauchy_(0, -1), "cauchy_: expected sigma"),
        (lambda: x.exponential_(0), "exponential_: expected lambd"),
        (lambda: x.geometric_(1), "geometric_: expected p"),
        (lambda: x.log_normal_(0, 0), "log_normal_: expected std"),
        (lambda: d.poisson(f(1, math.nan)), "poisson: expected all rates"),
        (lambda: d.normal(x, -d.ones(2)), "normal.*: normal expects all elements of std"),
        (lambda: d.rrelu(x, 2, 1), "rrelu: Lower bound"),
        (lambda: d.feature_dropout(x, 0.5, True), "feature_dropout: expected input"),
    ):
        with pytest.raises(RuntimeError, match=text):
            wrong()
    assert x.tolist() == [0, 0]


def test_dtypes_without_a_distribution_are_refused() -> None:
    whole = d.ones(2, dtype=d.int64)
    for draw in (d.poisson, aten._standard_gamma, aten._sample_dirichlet, d.Tensor.log_normal_):
        with pytest.raises(NotImplementedError, match="int64"):
            draw(whole)
    for draw in (d.Tensor.cauchy_, d.Tensor.exponential_):
        with pytest.raises(RuntimeError, match="floating-point"):
            draw(whole)
    with pytest.raises(ValueError, match="count"):
        d.binomial(whole, d.ones(2))
    with pytest.raises(RuntimeError, match="prob to be"):
        d.binomial(d.ones(2), d.ones(2, dtype=d.float64))


@pytest.mark.parametrize(
    ("weights", "samples", "text"),
    [
        ([1, 1], 0, "n_sample"),
        ([1, 1], 3, "n_sample"),
        ([0, 0], 1, "sum of probabilities"),
        ([-1, 1], 1, "either `inf`, `nan`"),
        ([math.inf, 1], 1, "either `inf`, `nan`"),
        ([math.nan, 1], 1, "either `inf`, `nan`"),
    ],
)
def test_multinomial_refuses_what_is_no_distribution(
    weights: list[float], samples: int, text: str
) -> None:
    with pytest.raises(RuntimeError, match=rf"multinomial: .*{text}"):
        d.multinomial(f(*weights), samples)
    if samples == 1:
        with pytest.raises(RuntimeError, match=rf"multinomial: .*{text}"):
            d.multinomial(f(*weights), 2, True)


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_multinomial_of_rows_draws_for_one_after_the_other(rows: int) -> None:
    weights = d.rand(rows, 30)
    d.manual_seed(5)
    together = d.multinomial(weights, 6, True).tolist()
    d.manual_seed(5)
    assert together == [d.multinomial(row, 6, True).tolist() for row in weights]


def test_multinomial_without_replacement_takes_each_place_once() -> None:
    drawn = d.multinomial(d.ones(3, 50), 50)
    assert all(sorted(row) == list(range(50)) for row in drawn.tolist())


def cumulative(alpha: float, x: float) -> float:
    """Of Gamma(alpha), by its series."""
    terms = (x**n / math.gamma(alpha + n + 1) for n in range(60))
    return x**alpha * math.exp(-x) * sum(terms)


@pytest.mark.parametrize(
    ("alpha", "x"), [(1.0, 0.5), (1.0, 1.5), (3.0, 2.5), (12.0, 12.1), (12.0, 7.0)]
)
def test_gradients_of_gamma_are_finite_differences(alpha: float, x: float) -> None:
    """A draw moves with alpha so that the distribution function at it stays."""
    density = x ** (alpha - 1) * math.exp(-x) / math.gamma(alpha)
    slope = (cumulative(alpha + 1e-4, x) - cumulative(alpha - 1e-4, x)) / 2e-4
    got = aten._standard_gamma_grad(d.tensor(alpha), d.tensor(x)).item()
    assert math.isclose(got, -slope / density, rel_tol=2e-3)


@pytest.mark.parametrize("size", [1, 5, 9, 100, 5000])
@pytest.mark.parametrize("dtype", [d.float32, d.float64])
def test_shares_of_a_dirichlet_draw_sum_to_1(size: int, dtype: d.dtype) -> None:
    shares = aten._sample_dirichlet(d.full((2, size), 0.5, dtype=dtype))
    assert shares.dtype is dtype and all(0 < x < 1 for row in shares.tolist() for x in row)
    assert all(math.isclose(math.fsum(row), 1.0, rel_tol=1e-5) for row in shares.tolist())
    assert aten._sample_dirichlet(d.ones(3, 0)).shape == (3, 0)


def test_gradients_need_one_dtype() -> None:
    with pytest.raises(RuntimeError, match="_standard_gamma_grad: expected output to be"):
        aten._standard_gamma_grad(f(1.0), d.ones(1, dtype=d.float64))


@pytest.mark.parametrize(
    ("x", "alpha", "total", "want"),
    [
        (0.3, 20.0, 50.0, 0.017511554),
        (0.5, 30.0, 70.0, 0.015577999),
        (0.7, 7.0, 15.0, 0.08511524),
        (0.4, 12.0, 30.0, 0.034171678),
    ],
)
def test_gradients_of_dirichlet_for_large_totals(x, alpha, total, want):
    given = (d.tensor([v], dtype=d.float64) for v in (x, alpha, total))
    assert d.ops.aten._dirichlet_grad(*given).item() == pytest.approx(want, abs=1e-9)
