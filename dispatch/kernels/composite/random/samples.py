"""Random factories and dropout: memory from `empty`, numbers from the in-place operators.

The device's own `uniform_`, `normal_`, `random_` and `bernoulli_` draw the numbers, so that a
backend needs no more than these.
"""

from __future__ import annotations

from typing import Any

from dispatch._C.dtypes import contiguous_format
from dispatch._C.errors import refused
from dispatch._ops import ops

__all__ = [
    "bernoulli_p",
    "bernoulli_tensor",
    "dropout",
    "dropout_",
    "rand",
    "rand_generator",
    "rand_like",
    "rand_out",
    "randint",
    "randint_generator",
    "randint_low",
    "randint_low_generator",
    "randint_low_out",
    "randint_out",
    "randn",
    "randn_generator",
    "randn_like",
    "randn_out",
    "randperm",
]

_aten = ops.aten
_FUSED_DROPOUT = ("cuda", "xpu", "lazy", "privateuseone")


# ---- factories


def rand(size: list[int], **options: Any) -> Any:
    """Uniform in [0, 1)."""
    return _aten.uniform_.default(_aten.empty.memory_format(size, **options), 0.0, 1.0)


def rand_generator(size: list[int], *, generator: Any, **options: Any) -> Any:
    """`rand` from a generator."""
    made = _aten.empty.memory_format(size, **options)
    return _aten.uniform_.default(made, 0.0, 1.0, generator=generator)


def rand_out(size: list[int], *, out: Any) -> Any:
    """`rand` into `out`."""
    return _aten.uniform_.default(_aten.resize_.default(out, size), 0.0, 1.0)


def rand_like(self: Any, **options: Any) -> Any:
    """`rand` with the geometry of self."""
    return _aten.uniform_.default(_aten.empty_like.default(self, **options), 0.0, 1.0)


def rand_like_generator(self: Any, *, generator: Any, **options: Any) -> Any:
    """`rand_like` from a generator."""
    made = _aten.empty_like.default(self, **options)
    return _aten.uniform_.default(made, 0.0, 1.0, generator=generator)


def randn_like_generator(self: Any, *, generator: Any, **options: Any) -> Any:
    """`randn_like` from a generator."""
    made = _aten.empty_like.default(self, **options)
    return _aten.normal_.default(made, 0.0, 1.0, generator=generator)


def randn(size: list[int], **options: Any) -> Any:
    """Normal with mean 0 and standard deviation 1."""
    return _aten.normal_.default(_aten.empty.memory_format(size, **options), 0.0, 1.0)


def randn_generator(size: list[int], *, generator: Any, **options: Any) -> Any:
    """`randn` from a generator."""
    made = _aten.empty.memory_format(size, **options)
    return _aten.normal_.default(made, 0.0, 1.0, generator=generator)


def randn_out(size: list[int], *, out: Any) -> Any:
    """`randn` into `out`."""
    return _aten.normal_.default(_aten.resize_.default(out, size), 0.0, 1.0)


def randn_like(self: Any, **options: Any) -> Any:
    """`randn` with the geometry of self."""
    return _aten.normal_.default(_aten.empty_like.default(self, **options), 0.0, 1.0)


def _check_bounds(low: int, high: int) -> None:
    if low >= high:
        raise refused(f"low must be less than high, got {low} and {high}")


def randint(high: int, size: list[int], **options: Any) -> Any:
    """Integers from 0 to `high`, which is left out."""
    return randint_low(0, high, size, **options)


def randint_low(low: int, high: int, size: list[int], **options: Any) -> Any:
    """Integers from `low` to `high`, which is left out."""
    _check_bounds(low, high)
    return _draw_integers(_aten.empty.memory_format(size, **options), low, high)


def randint_generator(high: int, size: list[int], *, generator: Any, **options: Any) -> Any:
    """`randint` from a generator."""
    return randint_low_generator(0, high, size, generator=generator, **options)


def randint_low_generator(
    low: int, high: int, size: list[int], *, generator: Any, **options: Any
) -> Any:
    """`randint.low` from a generator."""
    _check_bounds(low, high)
    made = _aten.empty.memory_format(size, **options)
    return getattr(_aten.random_, "from")(made, low, high, generator=generator)


def randint_out(high: int, size: list[int], *, out: Any) -> Any:
    """`randint` into `out`."""
    return randint_low_out(0, high, size, out=out)


def randint_low_out(low: int, high: int, size: list[int], *, out: Any) -> Any:
    """`randint.low` into `out`."""
    _check_bounds(low, high)
    return _draw_integers(_aten.resize_.default(out, size), low, high)


def _draw_integers(out: Any, low: int, high: int) -> Any:
    return getattr(_aten.random_, "from")(out, low, high)


def randperm(n: int, **options: Any) -> Any:
    """The integers from 0 to n - 1 in random order."""
    if n < 0:
        raise refused(f"n must not be negative, got {n}")
    return _aten.randperm.out(n, out=_aten.empty.memory_format([n], **options))


# ---- draws from a given tensor


def bernoulli_p(self: Any, p: float, *, generator: Any) -> Any:
    """Ones with probability `p`, in contiguous memory."""
    out = _aten.empty_like.default(self, memory_format=contiguous_format)
    return _aten.bernoulli_.float(out, p, generator=generator)


def bernoulli_tensor(self: Any, p: Any, *, generator: Any) -> Any:
    """Ones with the probabilities in `p`, with the geometry of self."""
    return _aten.bernoulli_.Tensor(_aten.clone.default(self), p, generator=generator)


def _is_idle(input: Any, p: float, train: bool) -> bool:
    """Whether there is nothing to drop. RuntimeError when `p` is no probability."""
    if not 0 <= p <= 1:
        raise refused(f"p must be between 0 and 1, got {p}")
    return p == 0 or not train or input.numel() == 0


def _noise(input: Any, p: float) -> Any:
    """What `input` is multiplied by: 0 with probability `p`, else 1 / (1 - p)."""
    if p == 1:
        return _aten.zeros.default([], dtype=input.dtype, layout=input.layout, device=input.device)
    noise = _aten.bernoulli_.float(_aten.empty_like.default(input), 1 - p)
    return _aten.div_.Scalar(noise, 1 - p)


def dropout(input: Any, p: float, train: bool) -> Any:
    """`input` with elements zeroed with probability `p` and the others scaled; itself when idle."""
    if _is_idle(input, p, train):
        return input
    if p < 1 and input.device.type in _FUSED_DROPOUT:
        return _aten.native_dropout.default(input, p, train)[0]
    return _aten.mul.Tensor(input, _noise(input, p))


def dropout_(self: Any, p: float, train: bool) -> Any:
    """`dropout` in place."""
    if _is_idle(self, p, train):
        return self
    return _aten.mul_.Tensor(self, _noise(self, p))
