"""Random numbers on the CPU: range, distribution, dtype, seeds and errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import ops
from dispatch.tensor.random import Generator, manual_seed

aten = ops.aten
random_from_ = getattr(aten.random_, "from")
FLOATS = ["float16", "bfloat16", "float32", "float64"]


@pytest.fixture(autouse=True)
def seeded() -> None:
    manual_seed(7)


def empty(*sizes: int, dtype: str = "float32") -> dispatch.Tensor:
    return aten.empty.memory_format(list(sizes), dtype=getattr(dispatch, dtype))


def numbers(t: dispatch.Tensor) -> np.ndarray:
    return aten._to_copy(t, dtype=dispatch.float64).numpy()


# ---- seeds


def test_the_same_seed_gives_the_same_numbers() -> None:
    first = aten.rand([5]).tolist()
    second = aten.rand([5]).tolist()
    manual_seed(7)
    assert aten.rand([5]).tolist() == first != second


def test_a_generator_of_its_own_leaves_the_default_one_alone() -> None:
    expected = aten.randn([3]).tolist()
    manual_seed(7)
    own = [aten.normal_(empty(3), generator=Generator().manual_seed(n)).tolist() for n in (1, 1, 2)]
    assert own[0] == own[1] != own[2]
    assert aten.randn([3]).tolist() == expected


# ---- uniform and normal


@pytest.mark.parametrize("dtype", FLOATS)
def test_uniform_fills_its_range_and_leaves_out_the_end(dtype: str) -> None:
    x = numbers(aten.uniform_(empty(20000, dtype=dtype), 2, 5))
    assert x.min() >= 2 and x.max() < 5
    assert abs(x.mean() - 3.5) < 0.05 and abs(x.std() - 3 / math.sqrt(12)) < 0.05
    unit = numbers(aten.rand([20000], dtype=getattr(dispatch, dtype)))
    assert unit.min() >= 0 and unit.max() < 1


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_has_its_mean_and_deviation(dtype: str) -> None:
    x = numbers(aten.normal_(empty(20000, dtype=dtype), 3, 0.5))
    assert abs(x.mean() - 3) < 0.05 and abs(x.std() - 0.5) < 0.05
    assert abs(np.mean(np.abs(x - 3) < 0.5) - 0.683) < 0.02


def test_complex_numbers_share_the_variance_between_their_parts() -> None:
    z = aten.randn([20000], dtype=dispatch.complex64).numpy()
    assert abs(z.real.var() - 0.5) < 0.03 and abs(z.imag.var() - 0.5) < 0.03
    u = aten.uniform_(empty(3, dtype="complex64"), 1, 2).numpy()
    assert (u.real >= 1).all() and (u.imag >= 1).all()


@pytest.mark.parametrize(
    ("low", "high"), [(1, 0), (0, math.inf), (math.nan, 1), (-3e38, 3e38), (0, 1e39)]
)
def test_uniform_refuses_bounds_that_are_no_range(low: float, high: float) -> None:
    x = aten.zeros([2])
    with pytest.raises(RuntimeError, match="aten::uniform_"):
        aten.uniform_(x, low, high)
    assert x.tolist() == [0, 0]


def test_normal_refuses_a_negative_deviation_even_of_nothing() -> None:
    for std in (-1.0, math.nan):
        with pytest.raises(RuntimeError, match="aten::normal_"):
            aten.normal_(empty(0), 0, std)


@pytest.mark.parametrize("name", ["uniform_", "normal_"])
def test_integers_are_not_drawn_from_continuous_distributions(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"aten::{name}.*int64"):
        getattr(aten, name)(empty(2, dtype="int64"))


@pytest.mark.parametrize("name", ["uniform_", "normal_", "random_", "bernoulli_"])
def test_a_target_that_overlaps_itself_is_refused(name: str) -> None:
    x = aten.expand(aten.zeros([1]), [3])
    with pytest.raises(RuntimeError, match=rf"aten::{name}.*overlap"):
        (aten.bernoulli_.float if name == "bernoulli_" else getattr(aten, name))(x)


# ---- integers


@pytest.mark.parametrize(
    ("dtype", "last"), [("bool", 1), ("uint8", 255), ("int8", 127), ("bfloat16", 256)]
)
def test_random_reaches_every_value_of_a_small_dtype(dtype: str, last: int) -> None:
    x = numbers(aten.random_(empty(20000, dtype=dtype)))
    assert set(x) == set(range(last + 1))


def test_random_from_draws_each_integer_of_its_range() -> None:
    assert set(random_from_(empty(1000, dtype="int64"), -2, 3).tolist()) == {-2, -1, 0, 1, 2}
    assert set(aten.randint(2, [1000]).tolist()) == {0, 1}
    open_end = random_from_(empty(1000, dtype="uint8"), 200, None).tolist()
    assert min(open_end) >= 200
    whole = random_from_(empty(1000, dtype="int64"), -(1 << 63), None).tolist()
    assert min(whole) < 0 < max(whole)


@pytest.mark.parametrize(
    ("dtype", "first", "to"),
    [("int64", 1, 1), ("uint8", -1, 1), ("int8", 0, 129), ("bool", 0, 3), ("float16", 3000, None)],
)
def test_bounds_outside_the_dtype_are_refused(dtype: str, first: int, to: int | None) -> None:
    with pytest.raises(RuntimeError, match="aten::random_"):
        random_from_(empty(2, dtype=dtype), first, to)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "float16"])
def test_randperm_is_a_permutation(dtype: str) -> None:
    x = aten.randperm(100, dtype=getattr(dispatch, dtype))
    assert sorted(x.tolist()) == list(range(100)) != x.tolist()


def test_randperm_refuses_more_numbers_than_the_dtype_has() -> None:
    for dtype, n in (("uint8", 257), ("float16", 2050)):
        with pytest.raises(RuntimeError, match="aten::randperm"):
            aten.randperm(n, dtype=getattr(dispatch, dtype))
    with pytest.raises(NotImplementedError, match=r"aten::randperm.*bool"):
        aten.randperm(1, dtype=dispatch.bool)


# ---- coins and dropout


def test_bernoulli_has_its_probability_in_every_dtype() -> None:
    for dtype in ("float32", "int64", "bool", "bfloat16"):
        x = numbers(aten.bernoulli_.float(empty(20000, dtype=dtype), 0.3))
        assert set(x) == {0, 1} and abs(x.mean() - 0.3) < 0.02


def test_bernoulli_takes_probabilities_by_element() -> None:
    p = dispatch.from_numpy(np.array([0.0, 1.0]))
    assert aten.bernoulli(p).tolist() == [0, 1]
    assert aten.bernoulli_.Tensor(empty(2, 2), p).tolist() == [[0, 1], [0, 1]]
    out = empty(2, dtype="int64")
    assert aten.bernoulli.out(p, out=out).tolist() == [0, 1]


def test_bernoulli_refuses_what_is_no_probability() -> None:
    with pytest.raises(RuntimeError, match="aten::bernoulli_"):
        aten.bernoulli_.float(empty(0), 1.5)
    for wrong in (1.5, -0.1, math.nan):
        with pytest.raises(RuntimeError, match="aten::bernoulli"):
            aten.bernoulli(aten.full([2], wrong))
    with pytest.raises(NotImplementedError, match="aten::bernoulli"):
        aten.bernoulli(aten.zeros([2], dtype=dispatch.int64))


def test_native_dropout_scales_what_its_mask_keeps() -> None:
    x = aten.ones([20000])
    out, mask = aten.native_dropout(x, 0.25, True)
    kept = mask.numpy()
    assert mask.dtype is dispatch.bool and abs(kept.mean() - 0.75) < 0.02
    assert np.array_equal(out.numpy(), kept * np.float32(1 / 0.75))
    idle, everything = aten.native_dropout(x, 0.25, False)
    assert idle is not x and idle.tolist() == x.tolist() and all(everything.tolist())


def test_dropout_in_training_zeroes_and_scales() -> None:
    x = aten.ones([20000])
    out = aten.dropout(x, 0.5, True).numpy()
    assert set(out.tolist()) == {0, 2} and abs(out.mean() - 1) < 0.05
    assert not aten.dropout(x, 1.0, True).numpy().any()
    with pytest.raises(RuntimeError, match="aten::native_dropout"):
        aten.native_dropout(x, 2.0, True)


@pytest.mark.parametrize("dtype", [dispatch.float32, dispatch.float64])
def test_gradients_of_dirichlet_draws(dtype: Any) -> None:
    x, alpha, total = (dispatch.tensor(v, dtype=dtype) for v in ([0.2, 0.3], [1.5, 2], [3.5, 3.5]))
    found = ops.aten._dirichlet_grad(x, alpha, total)
    assert found.tolist() == pytest.approx([0.2284, 0.2390], abs=1e-4)


def test_bounds_that_a_float_leaves_out_are_told():
    half = dispatch.empty(3, dtype=dispatch.float16)
    with pytest.warns(UserWarning, match=r"^from is out of bounds \[-\(2\^11\), 2\^11\]"):
        half.random_(-4000, 5)
    with pytest.warns(UserWarning, match="^to - 1 is out of bounds"):
        half.random_(5000)
    with pytest.raises(RuntimeError, match=r"from is out of bounds for .*float16: -100000"):
        half.random_(-100000, 5)
    with pytest.raises(RuntimeError, match="'from' to be less than 'to', but got from=5 >= to=5"):
        half.random_(5, 5)


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_outputs_of_normal_are_resized_with_a_warning(device):
    x, one = dispatch.ones(2, 3, device=device), dispatch.ones(1, device=device)
    for mean, std in ((x, one), (x, 1.0), (1.0, x)):
        out = dispatch.zeros(3, device=device)
        with pytest.warns(UserWarning, match="was resized since it had shape"):
            assert dispatch.normal(mean, std, out=out).shape == (2, 3)
