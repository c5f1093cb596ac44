"""The driver of generated loops against numpy: sizes, strides, dtypes, aliases, threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import ops

REAL = {
    "uint8": np.uint8,
    "int16": np.int16,
    "int64": np.int64,
    "float32": np.float32,
    "float64": np.float64,
}


@pytest.fixture(autouse=True)
def _threads() -> Iterator[None]:
    before = dispatch.get_num_threads()
    yield
    dispatch.set_num_threads(before)


@st.composite
def strided(draw: st.DrawFn, sizes: tuple[int, ...]) -> dispatch.Tensor:
    """A tensor of `sizes` over a larger storage: any strides, 0 and overlapping ones too."""
    name = draw(st.sampled_from(sorted(REAL)))
    room = draw(st.integers(40, 60))
    values = np.arange(1, room + 1).astype(REAL[name])
    strides = [draw(st.integers(0, 4)) for _ in sizes]
    reach = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) if all(sizes) else 0
    offset = draw(st.integers(0, room - 1 - reach))
    return dispatch.from_numpy(values).as_strided(sizes, strides, offset)


@st.composite
def operands(draw: st.DrawFn) -> tuple[dispatch.Tensor, dispatch.Tensor]:
    sizes = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    some = tuple(1 if draw(st.integers(0, 4)) == 0 else n for n in sizes)
    return draw(strided(sizes)), draw(strided(some[draw(st.integers(0, len(sizes))) :]))


def _arrays(*tensors: dispatch.Tensor) -> tuple[Any, ...]:
    kind = dispatch.result_type(*tensors)
    return tuple(t.numpy().astype(REAL[str(kind).rpartition(".")[2]]) for t in tensors)


@given(operands())
def test_products_equal_numpys(given_operands: tuple[dispatch.Tensor, dispatch.Tensor]) -> None:
    a, b = given_operands
    x, y = _arrays(a, b)
    assert np.array_equal((a * b).numpy(), x * y)
    assert np.array_equal((a < b).numpy(), x < y)
    assert np.array_equal(dispatch.where(a < b, a, b).numpy(), np.where(x < y, x, y))


@given(operands(), st.sampled_from(["float32", "float64"]), st.permutations(range(4)))
def test_an_output_of_another_dtype_and_order(
    given_operands: tuple[dispatch.Tensor, dispatch.Tensor], kind: str, order: list[int]
) -> None:
    a, b = (t.to(getattr(dispatch, kind)) for t in given_operands)
    order = [d for d in order if d < a.ndim]
    out = dispatch.zeros([a.shape[d] for d in order], dtype=dispatch.float64)
    out = out.permute([order.index(d) for d in range(a.ndim)])
    assert ops.aten.mul.out(a, b, out=out) is out
    assert np.array_equal(out.numpy(), a.numpy() * b.numpy())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 3), max_size=1),
    st.integers(1, 700),
    st.integers(1, 140),
    st.sampled_from(["float32", "float64", "int16", "bfloat16"]),
    st.sampled_from(["float32", "int64", "bfloat16"]),
    st.integers(1, 3),
)
def test_short_rows_that_are_broadcast(
    outer: list[int], n: int, short: int, kind: str, other: str, step: int
) -> None:
    """Rows of a few elements are written out many times over, with a rest at the end."""
    sizes = (*outer, n, short)
    values = np.arange(np.prod(sizes)).reshape(sizes) % 97
    line = (np.arange(short * step) % 61)[::step]
    row = dispatch.from_numpy(line).to(getattr(dispatch, other))
    x = dispatch.from_numpy(values).to(getattr(dispatch, kind))
    assert np.array_equal((x - row).double().numpy(), values - line)
    assert np.array_equal((row < x).numpy(), line < values)
    if dispatch.result_type(x, row) is x.dtype:
        assert np.array_equal(x.sub_(row).double().numpy(), values - line)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3),
    st.integers(14, 300),
    st.integers(1, 33) | st.integers(62, 130),
    st.sampled_from(
        ["uint8", "int16", "float32", "float64", "float16", "bfloat16", "complex64"]
    ),
    st.sampled_from([(1, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (1, 0, 0)]),
    st.booleans(),
)
def test_short_rows_that_lie_apart(
    outer: int, n: int, short: int, kind: str, kept: tuple[int, ...], turned: bool
) -> None:
    """One operand is broadcast, or a part of a larger one; the other is whole, or turned."""
    dtype = getattr(dispatch, kind)
    sizes = (outer, n, short)
    whole = np.arange(outer * n * short).reshape(sizes) % 7
    part = np.arange(outer * n * (short + 2)).reshape(outer, n, short + 2) % 5
    part = part[: outer if kept[0] else 1, : n if kept[1] else 1, 1 : short + 1 if kept[2] else 2]
    x, y = dispatch.from_numpy(whole).to(dtype), dispatch.from_numpy(part.copy()).to(dtype)
    wide = dispatch.zeros(*y.shape[:2], y.shape[2] + 2, dtype=dtype)
    y = wide[..., 1:-1].copy_(y)
    x = x.transpose(1, 2).contiguous().transpose(1, 2) if turned else x
    want = dispatch.from_numpy(whole * part).to(dtype)
    assert dispatch.equal(x * y, want) and dispatch.equal(y * x, want)
    assert dispatch.equal(
        dispatch.where(y == 3, x, y),
        dispatch.from_numpy(np.where(part == 3, whole, part)).to(dtype),
    )
    assert dispatch.equal(x.mul_(y), want)


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32", "float64", "bfloat16", "complex64"])
@pytest.mark.parametrize("step", [2, 3])
def test_elements_that_lie_apart_go_through_blocks(kind: str, step: int) -> None:
    values = np.arange(3 * 1100 * step).reshape(3, -1) % 50
    memory = dispatch.from_numpy(values).to(getattr(dispatch, kind))
    x, want = memory[:, ::step], values[:, ::step]
    assert (x + x).tolist() == (want + want).tolist()
    x.add_(1)
    values[:, ::step] += 1
    assert memory.tolist() == values.tolist()


@given(st.integers(2, 12), st.integers(1, 12))
def test_operands_that_overlap_the_output_are_read_first(n: int, gap: int) -> None:
    """An operand with gaps reaches over memory that the output has written by then."""
    values = np.arange(200.0)
    memory = dispatch.from_numpy(values.copy())
    out, other = memory.as_strided([n], [1]), memory.as_strided([n], [1 + gap])
    out.add_(other)
    assert np.array_equal(out.numpy(), values[:n] + values[:: 1 + gap][:n])


def test_a_transposed_view_of_the_output_is_copied_first() -> None:
    x = dispatch.arange(20.0).reshape(4, 5)[:, :4]
    want = x.numpy() + x.numpy().T
    x.add_(x.t())
    assert np.array_equal(x.numpy(), want)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([1, 2, 3]), st.integers(0, 70), st.booleans())
def test_threads_change_nothing(threads: int, extra: int, transposed: bool) -> None:
    dispatch.set_num_threads(threads)
    values = np.arange(600 * (600 + extra), dtype=np.float64).reshape(600, -1)
    x = dispatch.from_numpy(values)
    if transposed:
        x, values = x.t(), values.T
    assert np.array_equal((x * 3 + x).numpy(), values * 3 + values)
    half = x.to(dispatch.bfloat16)
    assert ((half + half) == half * 2).all().item()


def test_number_of_threads() -> None:
    dispatch.set_num_threads(2)
    assert dispatch.get_num_threads() == 2
    with pytest.raises(RuntimeError, match="set_num_threads: expected a positive number, got 0"):
        dispatch.set_num_threads(0)
    assert dispatch.get_num_threads() == 2


@pytest.mark.parametrize("kind", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_narrow_floats_are_rounded_once(kind: str) -> None:
    dtype = getattr(dispatch, kind)
    x = dispatch.tensor([1.0, 1.5, -3.0, float("inf"), float("nan"), 0.0]).to(dtype)
    want = (x.float() * 1.25).to(dtype)
    got = x * dispatch.tensor(1.25)
    assert got.dtype is dtype
    assert str(got.float().tolist()) == str(want.float().tolist())


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["float16", "bfloat16"]),
    st.lists(st.sampled_from([1, 2, 5, 31, 32, 33, 70]), max_size=3),
    st.data(),
)
def test_loops_of_halves_take_any_operand(kind: str, sizes: list[int], data: st.DataObject) -> None:
    """Rows that are whole or end early, lie apart, stand still or are broadcast."""
    dtype, rng = getattr(dispatch, kind), np.random.default_rng(0)

    def operand() -> dispatch.Tensor:
        own = [n if data.draw(st.booleans()) else 1 for n in sizes]
        x = dispatch.from_numpy(np.asarray(rng.normal(size=own) + 3)).to(dtype)
        if own and data.draw(st.booleans()):
            return x.transpose(0, -1).clone().transpose(0, -1)
        return dispatch.stack([x, x], -1)[..., 0] if data.draw(st.booleans()) else x

    x, y, z = (operand() for _ in range(3))
    a, b, c = (t.float().numpy() for t in (x, y, z))

    def check(got: dispatch.Tensor, want: Any) -> None:
        rounded = dispatch.from_numpy(np.array(want, dtype=np.float32)).to(dtype)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got.float().numpy(), rounded.float().numpy())

    check(x * y, a * b)
    check(x / y, a / b)
    check(x * 2.1, a * np.float32(2.1))
    check(x.abs().sqrt(), np.sqrt(abs(a)))
    check(ops.aten.addcmul(x, y, z), a + b * c)
    np.testing.assert_array_equal((x < y).numpy(), a < b)


def test_unaligned_memory_is_read_through_buffers() -> None:
    raw = np.zeros(33, np.uint8)
    view = raw[1:].view(np.float64)
    view[:] = [1.0, 2.0, 3.0, 4.0]
    x = dispatch.from_numpy(view)
    assert (x + x).tolist() == [2.0, 4.0, 6.0, 8.0]
    assert x.neg_().tolist() == [-1.0, -2.0, -3.0, -4.0]


def test_numbers_that_do_not_fit_are_refused() -> None:
    x = dispatch.tensor([1], dtype=dispatch.int8)
    with pytest.raises(RuntimeError, match=r"add.*alpha 1000 does not fit in"):
        x.add(x, alpha=1000)
    assert x.tolist() == [1]


def test_a_number_that_pytorchs_kernel_keeps_in_the_narrow_dtype_is_rounded_to_it() -> None:
    wide = 1.0039  # 1 in bfloat16; without rounding the sum is 302
    x = dispatch.full([40], 300.0, dtype=dispatch.bfloat16)
    assert dispatch.zeros_like(x).add(x, alpha=wide)[0] == 300
    assert dispatch.zeros_like(x).sub(x, alpha=wide)[0] == -300
    one = dispatch.ones(1, dtype=dispatch.bfloat16)
    assert ops.aten.hardshrink(one, 0.9999) == 0
    assert ops.aten.softshrink(one, 0.9999) > 0  # which subtracts in float32
    assert ops.aten.hardshrink_backward(one, one, 0.9999) == 0


@pytest.mark.parametrize(
    ("call", "fits"),
    [
        (lambda x: ops.aten.elu(x, 1e9), True),
        (lambda x: ops.aten.elu(x, 1e39), False),
        (lambda x: x.add(x, alpha=1e9), False),
        (lambda x: ops.aten.hardshrink(x, 1e9), False),
        (lambda x: ops.aten.softshrink(x, 1e9), False),
        (lambda x: ops.aten.softshrink(x, float("nan")), False),
        (lambda x: ops.aten.softshrink(x, 65504), True),
        (lambda x: ops.aten.softshrink(x.float(), 1e9), True),
        (lambda x: ops.aten.logit(x, 1e9), False),
    ],
)
def test_the_dtype_that_must_hold_a_number_is_the_one_that_pytorchs_kernel_keeps_it_in(
    call: Any, fits: bool
) -> None:
    x = dispatch.ones(2, dtype=dispatch.float16)
    if fits:
        call(x)
    else:
        with pytest.raises(RuntimeError, match=r"does not fit in dispatch.float|must be in range"):
            call(x)


def test_integers_wrap_around() -> None:
    x = dispatch.tensor([127, -128], dtype=dispatch.int8)
    assert (x + x).tolist() == [-2, 0]
    assert (-x).tolist() == [-127, -128]
    low = dispatch.tensor([-(2**63)])
    assert (low // dispatch.tensor([-1])).tolist() == [-(2**63)]


def test_a_check_refuses_before_anything_is_written() -> None:
    x = dispatch.tensor([8, 9])
    with pytest.raises(RuntimeError, match=r"floor_divide_.*ZeroDivisionError"):
        x.floor_divide_(dispatch.tensor([2, 0]))
    assert x.tolist() == [8, 9]


LARGE = np.random.default_rng(0).normal(size=(700, 900))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.t().contiguous(),
        lambda x: x.clone(),
        lambda x: x.to(dispatch.float32),
        lambda x: x.sum(),
        lambda x: x.sum(0),
        lambda x: x.mean(1),
        lambda x: ops.aten.mean(x),
        lambda x: ops.aten.amax(x, [0]),
        lambda x: ops.aten.amin(x),
        lambda x: ops.aten.nansum(x.t()),
        lambda x: ops.aten.softmax(x, 0),
        lambda x: ops.aten.log_softmax(x, 1),
        lambda x: ops.aten.cumsum(x, 1),
        lambda x: ops.aten.sort(x, 1)[1],
        lambda x: ops.aten.zero_(x.clone()),
        lambda x: ops.aten.layer_norm(x, [900]),
    ],
)
def test_threads_change_nothing_beyond_a_rounding(call: Any) -> None:
    found = []
    for threads in (1, 2, 5):
        dispatch.set_num_threads(threads)
        found.append(call(dispatch.from_numpy(LARGE)).numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-13, atol=1e-12)
    np.testing.assert_allclose(found[2], found[0], rtol=1e-13, atol=1e-12)


def test_a_sum_in_parts_of_infinity_is_not_a_number() -> None:
    dispatch.set_num_threads(2)
    values = LARGE.copy()
    values[0, 0], values[-1, -1] = np.inf, -np.inf
    assert np.isnan(dispatch.from_numpy(values).sum().item())


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("order", [(1, 0, 2), (2, 1, 0), (0, 2, 1), (2, 0, 1)])
def test_operands_in_other_orders(dtype: str, order: tuple[int, ...]) -> None:
    """Several of such operands, some that are converted or broadcast."""
    kind = getattr(dispatch, dtype)
    x = (dispatch.arange(70 * 37 * 133) % 101).to(kind).view(70, 37, 133)
    turned, sizes = x.permute(order), [x.shape[d] for d in order]
    plain = turned.contiguous()
    other = (dispatch.arange(plain.numel()) % 7).to(dispatch.int64).view(sizes)
    row = (dispatch.arange(sizes[2]) % 5).to(kind)
    for f in (dispatch.mul, dispatch.add):
        assert dispatch.equal(f(turned, plain.mul(2)), f(plain, plain.mul(2)))
        assert dispatch.equal(f(other, turned), f(other, plain))
        assert dispatch.equal(f(turned, row), f(plain, row))
        assert dispatch.equal(f(plain, turned.flip(2)), f(plain, plain.flip(2)))
    out = dispatch.empty(sizes, dtype=kind)
    dispatch.add(turned, turned, out=out)
    assert dispatch.equal(out, plain + plain)
    assert dispatch.equal(dispatch.where(other > 3, turned, plain), plain)


def test_turned_operands_on_threads() -> None:
    x = dispatch.randn(600, 700)
    y = dispatch.randn(700, 600).t()
    dispatch.set_num_threads(1)
    alone = x + y
    dispatch.set_num_threads(3)
    assert dispatch.equal(x + y, alone)
    assert dispatch.equal(alone, x + y.contiguous())
