"""Random operators on the CPU that are made of others: checks and arrangement around the draws.

The draws themselves are in `inplace` and `sampled` beside this file; PyTorch makes these operators
of the same steps, which is what their numbers follow from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused, scalar_type
from dispatch._C.generator import Generator
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.cpu.random import sampled
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "multinomial",
    "multinomial_out",
    "native_dropout",
    "normal_float_tensor",
    "normal_float_tensor_out",
    "normal_tensor_float",
    "normal_tensor_float_out",
    "normal_tensor_tensor",
    "normal_tensor_tensor_out",
    "rrelu_with_noise",
    "rrelu_with_noise_",
    "rrelu_with_noise_out",
]

_aten = ops.aten


# ---- coins -------------------------------------------------------------------------------------


def native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    """The output and its mask of what was kept; kept elements are scaled by 1 / (1 - p)."""
    if not input.numel():
        return input, _aten.empty_like(input)
    if train is False:
        return _aten.clone(input), _aten.ones_like(input, dtype=dtypes.bool)
    if not 0 <= p <= 1:
        raise refused(f"expected p between 0 and 1, got {p}")
    mask = _aten.bernoulli_.float(_aten.empty_like(input, dtype=dtypes.bool), 1 - p)
    scale = 0.0 if p == 1 else 1 / (1 - p)
    return _aten.mul_.Scalar(_aten.mul(input, mask), scale), mask


# ---- normal, with a mean or a deviation for each element ---------------------------------------


def _check_deviations(std: Tensor) -> None:
    if std.dtype.is_complex:
        raise refused(f"normal expects standard deviation to be non-complex, got {std.dtype}")
    if std.numel() and not _aten.ge.Scalar(_aten.min(std), 0).item():
        raise refused("normal expects all elements of std >= 0.0")


def _check_deviation(std: float) -> None:
    if not std >= 0:
        raise refused(f"normal expects std >= 0.0, but found std {std}")


def _drawn(out: Tensor, size: tuple[int, ...], std: float, generator: Generator | None) -> Tensor:
    """`out` with these sizes, normal around 0."""
    drawn: Tensor = _aten.normal_(resize_out(out, size), 0.0, std, generator=generator)
    return drawn


def _packed(size: Sequence[int], like: Tensor) -> Tensor:
    packed: Tensor = _aten.empty.memory_format(size, dtype=like.dtype)
    return packed


def _sizes(mean: Tensor, std: Tensor) -> tuple[int, ...]:
    return rules.broadcast_shapes(mean.shape, std.shape)


def normal_tensor_float_out(
    mean: Tensor, std: float, *, generator: Generator | None, out: Tensor
) -> Tensor:
    """Normal around each element of `mean`, in `out`; what `out` holds takes part in the sizes."""
    _check_deviation(std)
    size = _sizes(mean, out)
    return _aten.add_.Tensor(_drawn(out, size, std, generator), mean)


def normal_tensor_float(mean: Tensor, std: float, *, generator: Generator | None) -> Tensor:
    """Normal around each element of `mean`, contiguous."""
    _check_deviation(std)
    made = _packed(tuple(mean.shape), mean)
    return normal_tensor_float_out(mean, std, generator=generator, out=made)


def normal_float_tensor_out(
    mean: float, std: Tensor, *, generator: Generator | None, out: Tensor
) -> Tensor:
    """Normal around `mean` with each element of `std`, in `out`."""
    _check_deviations(std)
    drawn = _aten.mul_.Tensor(_drawn(out, tuple(std.shape), 1.0, generator), std)
    return _aten.add_.Tensor(drawn, _aten.full([], mean, dtype=out.dtype))


def normal_float_tensor(mean: float, std: Tensor, *, generator: Generator | None) -> Tensor:
    """Normal around `mean` with each element of `std`, contiguous."""
    _check_deviations(std)
    made = _packed(tuple(std.shape), std)
    return normal_float_tensor_out(mean, std, generator=generator, out=made)


def normal_tensor_tensor_out(
    mean: Tensor, std: Tensor, *, generator: Generator | None, out: Tensor
) -> Tensor:
    """Normal around each element of `mean` with each of `std`, in `out`."""
    _check_deviations(std)
    drawn = _drawn(out, _sizes(mean, std), 1.0, generator)
    return _aten.add_.Tensor(_aten.mul_.Tensor(drawn, std), mean)


def normal_tensor_tensor(mean: Tensor, std: Tensor, *, generator: Generator | None) -> Tensor:
    """Normal around each element of `mean` with each of `std`, in mean's dtype."""
    _check_deviations(std)
    made = _packed(_sizes(mean, std), mean)
    return normal_tensor_tensor_out(mean, std, generator=generator, out=made)


# ---- multinomial -------------------------------------------------------------------------------

_CATEGORIES = 1 << 24


def _check_multinomial(self: Tensor, num_samples: int, replacement: bool, out: Tensor) -> None:
    if not 1 <= self.ndim <= 2:
        raise refused(f"prob_dist must be 1 or 2 dim, got {self.ndim}")
    if not self.dtype.is_floating_point:
        raise refused(
            f"multinomial only supports floating-point dtypes for input, got: "
            f"{scalar_type(self.dtype)}"
        )
    if out.dtype is not dtypes.int64:
        raise refused(f"multinomial expects Long tensor out, got: {out.dtype}")
    if num_samples <= 0:
        raise refused(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and num_samples > self.shape[-1]:
        raise refused(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement, of "
            f"{self.shape[-1]} "
            f"got {num_samples}"
        )
    if self.shape[-1] > _CATEGORIES:
        raise refused(f"expected at most {_CATEGORIES} categories, got {self.shape[-1]}")


def _check_probabilities(self: Tensor) -> None:
    if not self.numel():
        raise refused(f"expected some categories, got shape {list(self.shape)}")
    if not sampled.has_weights(self):
        raise refused(
            "probability tensor contains either `inf`, `nan` or element < 0, or it is an invalid "
            "multinomial distribution (sum of probabilities <= 0)"
        )


def multinomial_out(
    self: Tensor, num_samples: int, replacement: bool, *, generator: Generator | None, out: Tensor
) -> Tensor:
    """Places in the rows of self, drawn with the weights that stand there.

    Without replacement, and for one sample, the places of the largest weight / exponential number
    win: the first of so many independent waiting times (as PyTorch draws them).
    """
    _check_multinomial(self, num_samples, replacement, out)
    _aten.resize_(out, [*self.shape[:-1], num_samples])
    if not out.numel():
        return out
    _check_probabilities(self)
    if replacement and num_samples > 1:
        made = _aten.empty.memory_format(list(out.shape), dtype=dtypes.int64)
        sampled.multinomial_with_replacement(made, self, generator)
        return _aten.copy_(out, made)
    waiting = _aten.exponential_(_aten.empty_like(self), 1.0, generator=generator)
    waiting = _aten.div.out(self, waiting, out=waiting)
    if num_samples == 1:
        return _aten.argmax.out(waiting, -1, True, out=out)
    return _aten.copy_(out, _aten.topk(waiting, num_samples)[1])


def multinomial(
    self: Tensor, num_samples: int, replacement: bool, *, generator: Generator | None
) -> Tensor:
    """`multinomial_out` into a new tensor."""
    made = _aten.empty.memory_format([0], dtype=dtypes.int64)
    return multinomial_out(self, num_samples, replacement, generator=generator, out=made)


# ---- rrelu -------------------------------------------------------------------------------------


def rrelu_with_noise_out(
    self: Tensor,
    noise: Tensor,
    lower: Any,
    upper: Any,
    training: bool,
    generator: Generator | None,
    *,
    out: Tensor,
) -> Tensor:
    """Negative elements times slopes between `lower` and `upper`, which `noise` gets."""
    if self.shape != noise.shape:
        raise refused(
            f"expected noise to have self's shape {list(self.shape)}, got {list(noise.shape)}"
        )
    if not training:
        return _aten.leaky_relu.out(self, (lower + upper) / 2, out=out)
    if self.dtype.is_floating_point and not (self.dtype is noise.dtype is out.dtype):
        raise refused(f"expected {self.dtype} for all, got {noise.dtype} and {out.dtype}")
    if out.shape != self.shape:
        _aten.resize_(out, list(self.shape))
    if self.dtype is not dtypes.bfloat16 and all(t.is_contiguous() for t in (self, noise, out)):
        sampled.rrelu_train(out, self, noise, lower, upper, generator)
        return out
    kind = dtypes.float32 if self.dtype is dtypes.bfloat16 else self.dtype
    x = _aten.contiguous(_aten.to.dtype(self, kind))
    made, slopes = _packed(x.shape, x), _packed(x.shape, x)
    sampled.rrelu_train(made, x, slopes, lower, upper, generator)
    _aten.copy_(noise, slopes)
    return _aten.copy_(out, made)


def rrelu_with_noise(
    self: Tensor,
    noise: Tensor,
    lower: Any,
    upper: Any,
    training: bool,
    generator: Generator | None,
) -> Tensor:
    """`rrelu_with_noise_out` into a new contiguous tensor."""
    made = _packed(tuple(self.shape), self)
    return rrelu_with_noise_out(self, noise, lower, upper, training, generator, out=made)


def rrelu_with_noise_(
    self: Tensor,
    noise: Tensor,
    lower: Any,
    upper: Any,
    training: bool,
    generator: Generator | None,
) -> Tensor:
    """`rrelu_with_noise_out` in place."""
    return rrelu_with_noise_out(self, noise, lower, upper, training, generator, out=self)
