"""Random operators without data: geometry, promotion, what is refused all the same."""

from __future__ import annotations

import pytest

import dispatch as d
from dispatch import Tensor, ops

aten = ops.aten


def meta(*sizes: int, dtype: d.dtype = d.float32) -> Tensor:
    return d.empty(*sizes, dtype=dtype, device="meta")


@pytest.mark.parametrize("name", ["cauchy", "exponential", "log_normal", "poisson"])
def test_functional_draws_keep_strides(name: str) -> None:
    drawn = getattr(aten, name)(meta(4, 3).t())
    assert drawn.shape == (3, 4) and drawn.stride() == (1, 3)


def test_outputs_may_have_a_wider_or_narrower_dtype_of_their_kind() -> None:
    out = meta(0, dtype=d.float64)
    assert aten.exponential.out(meta(3, 4).t(), out=out) is out
    assert out.shape == (4, 3) and out.stride() == (3, 1)
    with pytest.raises(RuntimeError, match="expected out"):
        aten.exponential.out(meta(3), out=meta(3, dtype=d.int64))


def test_parameters_are_checked_without_data() -> None:
    x = meta(2)
    for wrong in (
        lambda: x.cauchy_(0, 0),
        lambda: x.exponential_(0),
        lambda: x.geometric_(1),
        lambda: meta(2, dtype=d.bool).geometric_(0.5),
        lambda: x.log_normal_(0, 0),
        lambda: meta(2, dtype=d.int64).cauchy_(),
    ):
        with pytest.raises(RuntimeError, match="expected"):
            wrong()


def test_normal_promotes_what_was_given() -> None:
    whole = meta(3, 4, dtype=d.int64)
    assert d.normal(whole, 2.0).dtype is d.float32
    with pytest.raises(RuntimeError, match="floating-point"):
        d.normal(whole, 1.0)
    assert d.normal(meta(3), meta(3, dtype=d.float64)).dtype is d.float64
    assert d.normal(meta(3, 1), meta(4)).shape == (3, 4)
    with pytest.raises(RuntimeError, match="std"):
        d.normal(meta(3), -1.0)


def test_multinomial_gives_places_for_each_row() -> None:
    drawn = d.multinomial(meta(5, 3), 2)
    assert drawn.shape == (5, 2) and drawn.dtype is d.int64
    assert d.multinomial(meta(5), 7).shape == (7,)
    with pytest.raises(RuntimeError, match="prob_dist must be 1 or 2 dim, got 3"):
        d.multinomial(meta(2, 2, 2), 1)


def test_rrelu_keeps_the_geometry_that_pytorchs_kernels_give() -> None:
    x, noise = meta(4, 3).t(), meta(3, 4)
    assert aten.rrelu_with_noise(x, noise, 0.1, 0.2, True).stride() == (1, 3)
    out, drawn = aten.rrelu_with_noise_functional(x, noise, 0.1, 0.2, True)
    assert out.stride() == (1, 3) and drawn.stride() == (4, 1)
    grad = aten.rrelu_with_noise_backward(x, x, noise, 0.1, 0.2, True, False)
    assert grad.stride() == (1, 3)


def test_philox_keys_are_pairs_of_words() -> None:
    key = meta(5, 2, dtype=d.uint64)
    assert aten._philox_key_split(key, 3).shape == (3, 5, 2)
    assert aten._philox_key_fold_in(key, 3).shape == (5, 2)
    x = meta(5)
    assert aten._philox_uniform_(x, key) is x
    assert aten._philox_normal(x, key[0]).shape == (5,)
    for wrong in (
        lambda: aten._philox_key_split(key, 0),
        lambda: aten._philox_key_split(meta(2), 1),
        lambda: aten._philox_key_fold_in(meta(3, dtype=d.uint64), 1),
        lambda: aten._philox_uniform_(meta(4), key),
        lambda: aten._philox_uniform_(meta(4, 4), key),
        lambda: aten._philox_normal_(meta(5, dtype=d.int64), key),
    ):
        with pytest.raises(RuntimeError, match=r"_philox_.*expected"):
            wrong()
