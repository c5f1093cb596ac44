"""mvlgamma and ndtr: values, errors, other names."""

import math

import pytest

import dispatch as d
from dispatch import ops

aten = ops.aten


def test_mvlgamma_of_one_dimension_is_lgamma() -> None:
    x = d.tensor([1.5, 4.0], dtype=d.float64)
    assert d.mvlgamma(x, 1).tolist() == d.lgamma(x).tolist()
    two = [math.lgamma(v) + math.lgamma(v - 0.5) + math.log(math.pi) / 2 for v in (1.5, 4.0)]
    assert all(map(math.isclose, d.mvlgamma(x, 2).tolist(), two))
    assert aten.special_multigammaln(x, 2).tolist() == d.mvlgamma(x, 2).tolist()


def test_mvlgamma_refuses_bools_integers_in_place_and_no_dimension() -> None:
    with pytest.raises(RuntimeError, match="p has to be greater than or equal to 1"):
        d.mvlgamma(d.ones(2), 0)
    with pytest.raises(RuntimeError, match="mvlgamma: expected numbers"):
        d.mvlgamma(d.ones(2, dtype=d.bool), 1)
    whole = d.tensor([3, 4])
    with pytest.raises(RuntimeError, match="mvlgamma_: expected a floating-point"):
        whole.mvlgamma_(1)
    assert whole.tolist() == [3, 4]
    assert d.mvlgamma(whole, 1).dtype is d.float32
    with pytest.raises(RuntimeError, match=r"mvlgamma\.out: expected out"):
        d.mvlgamma(d.ones(2), 1, out=whole)


def test_ndtr_into_an_output() -> None:
    out = d.empty(0)
    assert aten.special_ndtr.out(d.zeros(2), out=out) is out
    assert out.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("special_psi", "digamma"),
        ("special_expit", "sigmoid"),
        ("special_gammaln", "lgamma"),
        ("special_sinc", "sinc"),
        ("special_exp2", "exp2"),
    ],
)
def test_other_names_are_the_same_operators(alias: str, name: str) -> None:
    x = d.tensor([0.3, 2.0])
    assert getattr(aten, alias)(x).tolist() == getattr(aten, name)(x).tolist()
