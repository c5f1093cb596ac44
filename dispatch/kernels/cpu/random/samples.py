"""Random numbers on the CPU: in-place draws from a generator's numpy stream.

The composite factories and dropout end here. A kernel checks its arguments (overlap, dtype,
bounds), then draws for all elements at once in logical order, so that results depend on the seed
and the size alone. The numbers are not PyTorch's; ranges, distributions and errors are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.generated.dtype_sets import FLOAT8
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.arrays import RARE_OR_COMPLEX32, Array, compute, quiet, store
from dispatch.tensor.random import Generator, default_generator

__all__ = [
    "bernoulli",
    "bernoulli_",
    "bernoulli_tensor_",
    "native_dropout",
    "normal_",
    "random_",
    "random_from_",
    "random_to_",
    "randperm_out",
    "uniform_",
]

_aten = ops.aten

# Bits of a float's significand: so many random bits make a number in [0, 1) that is exact.
DIGITS = {dtypes.float16: 11, dtypes.bfloat16: 8, dtypes.float32: 24, dtypes.float64: 53}
LARGEST = {
    dtypes.float16: 65504.0,
    dtypes.bfloat16: float.fromhex("0x1.fep127"),
    dtypes.float32: float(np.finfo(np.float32).max),
    dtypes.float64: float(np.finfo(np.float64).max),
}
RANGES = {
    dtypes.uint8: (0, (1 << 8) - 1),
    dtypes.int8: (-(1 << 7), (1 << 7) - 1),
    dtypes.int16: (-(1 << 15), (1 << 15) - 1),
    dtypes.int32: (-(1 << 31), (1 << 31) - 1),
    dtypes.int64: (-(1 << 63), (1 << 63) - 1),
    dtypes.bool: (0, 1),
}
WIDE_RANGES = {
    dtypes.uint16: (0, (1 << 16) - 1),
    dtypes.uint32: (0, (1 << 32) - 1),
    dtypes.uint64: (0, (1 << 64) - 1),
}


def _stream(generator: Generator | None) -> np.random.Generator:
    stream: np.random.Generator = (generator or default_generator).numpy
    return stream


def _refuse(kind: dtype) -> None:
    raise refused(f"no CPU kernel for {kind}", NotImplementedError)


def _check_target(self: Tensor) -> None:
    """An element that several indices name cannot hold several draws."""
    if any(step == 0 and size > 1 for step, size in zip(self.stride(), self.shape, strict=True)):
        raise refused(
            f"expected self not to overlap itself, got shape {list(self.shape)} with "
            f"strides {list(self.stride())}; clone() it before the operation"
        )


# ---- uniform and normal ------------------------------------------------------------------------


def _check_uniform(kind: dtype, low: float, high: float) -> None:
    """RuntimeError unless [low, high) and its length are within the dtype."""
    largest = LARGEST[kind]
    for name, bound in (("from", low), ("to", high)):
        if not -largest <= bound <= largest:
            raise refused(f"{name}={bound} is out of bounds for {kind}")
    if low > high:
        raise refused(f"expected from <= to, got from={low} and to={high}")
    if high - low > largest:
        raise refused(f"expected to - from to fit {kind}, got from={low} and to={high}")


def _fractions(stream: np.random.Generator, kind: dtype, size: tuple[int, ...]) -> Array:
    """Uniform in [0, 1), none of which rounds to 1 in `kind`."""
    if kind is dtypes.float64:
        return stream.random(size)
    if kind is dtypes.float32:
        return stream.random(size, np.float32)
    steps = 1 << DIGITS[kind]
    return stream.integers(0, steps, size, np.int32).astype(np.float32) / np.float32(steps)


@quiet()
def uniform_(self: Tensor, from_: float, to: float, *, generator: Generator | None) -> Tensor:
    """Uniform in [from_, to); both parts of complex numbers are."""
    if self.dtype.is_complex:
        uniform_(_aten.view_as_real(self), from_, to, generator=generator)
        return self
    if self.dtype not in DIGITS:
        _refuse(self.dtype)
    _check_uniform(self.dtype, from_, to)
    _check_target(self)
    values = _fractions(_stream(generator), self.dtype, tuple(self.shape))
    kind = values.dtype.type
    # Rounding may reach `to`, which is no part of the range.
    store(self, _below(values * kind(to - from_) + kind(from_), self.dtype, from_, to))
    return self


def _below(values: Array, kind: dtype, low: float, high: float) -> Array:
    """`values` with those that `kind` rounds to `high` at `low` instead."""
    if low == high or (low, high) == (0, 1):
        return values
    half_step = (abs(high) + (high - low)) * 2.0 ** -(DIGITS[kind] + 1)
    return np.where(values >= high - half_step, values.dtype.type(low), values)


@quiet()
def normal_(self: Tensor, mean: float, std: float, *, generator: Generator | None) -> Tensor:
    """Normal; of complex numbers each part has half the variance."""
    if not std >= 0:
        raise refused(f"expected std to be 0 or more, got {std}")
    if not self.numel():
        return self
    if self.dtype.is_complex:
        normal_(_aten.view_as_real(self), mean, std / math.sqrt(2), generator=generator)
        return self
    if self.dtype not in DIGITS:
        _refuse(self.dtype)
    _check_target(self)
    kind: Any = np.float64 if self.dtype is dtypes.float64 else np.float32
    values = _stream(generator).standard_normal(tuple(self.shape), kind)
    store(self, values * kind(std) + kind(mean))
    return self


# ---- integers ----------------------------------------------------------------------------------


def _check_integer_dtype(kind: dtype) -> None:
    if kind.is_complex:
        raise refused(f"expected integers or floats, got {kind}")
    if kind in FLOAT8:
        _refuse(kind)


def _range(kind: dtype) -> tuple[float, float]:
    """The smallest and the largest value of a dtype."""
    if kind in LARGEST:
        return -LARGEST[kind], LARGEST[kind]
    return RANGES[kind] if kind in RANGES else WIDE_RANGES[kind]


def _last(kind: dtype) -> int:
    """The largest integer when no bound is given: up to there floats hold every integer."""
    if kind in DIGITS:
        return 1 << DIGITS[kind]
    return RANGES[kind][1] if kind in RANGES else WIDE_RANGES[kind][1]


def _draw(self: Tensor, first: int, last: int, generator: Generator | None) -> Tensor:
    """Integers from `first` to `last`, both included."""
    stream = _stream(generator)
    store(self, stream.integers(first, last, tuple(self.shape), np.int64, endpoint=True))
    return self


def _check_bounds(kind: dtype, first: int, last: int) -> None:
    smallest, largest = _range(kind)
    for name, bound in (("from", first), ("to - 1", last)):
        if not smallest <= bound <= largest:
            raise refused(f"{name}={bound} is out of bounds for {kind}")


def _open_end(kind: dtype, first: int) -> int:
    """The last integer when only the first is given; from the smallest int64 on, all 64 bits."""
    if first == RANGES[dtypes.int64][0]:
        if kind in (dtypes.float16, dtypes.bool) or kind in WIDE_RANGES:
            _refuse(kind)
        if kind not in DIGITS and kind is not dtypes.int64:
            raise refused(f"from={first} is out of bounds for {kind}")
        return RANGES[dtypes.int64][1]
    last = _last(kind)
    if kind is dtypes.uint64:
        raise refused(f"expected a bound for {kind}, got to=None")
    if first > last:
        _check_bounds(kind, first, last)
        raise refused(f"expected from to be at most {last}, got {first}")
    return last


def random_(self: Tensor, *, generator: Generator | None) -> Tensor:
    """Integers from 0 to the dtype's largest, of floats as far as they hold every integer."""
    if not self.numel():
        return self
    if self.dtype not in DIGITS and self.dtype not in RANGES:
        _refuse(self.dtype)
    _check_target(self)
    return _draw(self, 0, _last(self.dtype), generator)


def random_to_(self: Tensor, to: int, *, generator: Generator | None) -> Tensor:
    """Integers from 0 to `to`, which is left out."""
    return random_from_(self, 0, to, generator=generator)


def random_from_(
    self: Tensor, from_: int, to: int | None, *, generator: Generator | None
) -> Tensor:
    """Integers from `from_` to `to`, which is left out; None: to the dtype's largest."""
    if to is not None and from_ >= to:
        raise refused(f"expected from < to, got from={from_} and to={to}")
    _check_integer_dtype(self.dtype)
    last = _open_end(self.dtype, from_) if to is None else to - 1
    if to is not None or from_ != RANGES[dtypes.int64][0]:
        _check_bounds(self.dtype, from_, last)
    _check_target(self)
    return _draw(self, from_, last, generator)


# Permutations: how many elements a dtype tells apart (PyTorch asks for no more of bfloat16).
PERMUTED = {
    dtypes.float16: (1 << 11) + 1,
    dtypes.bfloat16: 1 << 63,
    dtypes.float32: (1 << 24) + 1,
    dtypes.float64: (1 << 53) + 1,
    **{kind: last + 1 for kind, (_, last) in RANGES.items() if kind is not dtypes.bool},
}


def randperm_out(n: int, *, out: Tensor) -> Tensor:
    """The integers below `n` in random order, in `out`."""
    if n < 0:
        raise refused(f"expected n to be 0 or more, got {n}")
    if out.dtype in PERMUTED and n > PERMUTED[out.dtype]:
        raise refused(f"n={n} is too large for {out.dtype}")
    _aten.resize_(out, [n])
    if out.dtype not in PERMUTED:
        _refuse(out.dtype)
    store(out, _stream(None).permutation(n))
    return out


# ---- coins -------------------------------------------------------------------------------------


def _check_coins(self: Tensor) -> None:
    if self.dtype in RARE_OR_COMPLEX32 or self.dtype.is_complex:
        _refuse(self.dtype)


def bernoulli_(self: Tensor, p: float, *, generator: Generator | None) -> Tensor:
    """Ones with probability `p`, else zeros."""
    if not 0 <= p <= 1:
        raise refused(f"expected p between 0 and 1, got {p}")
    if not self.numel():
        return self
    _check_target(self)
    _check_coins(self)
    store(self, _stream(generator).random(tuple(self.shape)) < p)
    return self


def _toss(target: Tensor, p: Tensor, generator: Generator | None) -> None:
    """Ones in `target` with the probabilities in `p`, which broadcasts to it."""
    if not target.numel():
        return
    _check_coins(target)
    if p.dtype not in DIGITS:
        _refuse(p.dtype)
    chances = compute(p)
    if not ((chances >= 0) & (chances <= 1)).all():
        raise refused("expected all probabilities to be between 0 and 1")
    store(target, _stream(generator).random(tuple(target.shape)) < chances)


def bernoulli(out: Tensor, self: Tensor, generator: Generator | None) -> None:
    """Ones with the probabilities in self."""
    _check_target(out)
    _toss(out, self, generator)


def bernoulli_tensor_(self: Tensor, p: Tensor, *, generator: Generator | None) -> Tensor:
    """Ones with the probabilities in `p`."""
    _check_target(self)
    _toss(self, _aten.expand(p, list(self.shape)), generator)
    return self


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """The output and its mask of what was kept; kept elements are scaled by 1 / (1 - p)."""
    if not input.numel():
        return input, _aten.empty_like(input)
    if train is False:
        return _aten.clone(input), _aten.ones_like(input, dtype=dtypes.bool)
    if not 0 <= p <= 1:
        raise refused(f"expected p between 0 and 1, got {p}")
    mask = bernoulli_(_aten.empty_like(input, dtype=dtypes.bool), 1 - p, generator=None)
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return _aten.mul_.Scalar(_aten.mul(input, mask), scale), mask
