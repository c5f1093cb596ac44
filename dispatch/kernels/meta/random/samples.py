"""Random numbers on Meta: the checks that need no values, and the geometry of new outputs.

The in-place kernels return self untouched. What PyTorch checks on the CPU only (probabilities,
bounds that a dtype cannot hold) is not checked here, as it is not for its fake tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dispatch._C.dtypes import bool as bool_dtype, can_cast, int64, uint8
from dispatch._C.errors import refused
from dispatch._C.placement import check_kept
from dispatch._C.structured import TensorSpec, check_placed
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "bernoulli",
    "bernoulli_",
    "bernoulli_tensor_",
    "cauchy_",
    "cauchy_out",
    "exponential_",
    "exponential_out",
    "fused_dropout",
    "geometric_",
    "geometric_out",
    "log_normal_",
    "log_normal_out",
    "multinomial",
    "multinomial_out",
    "native_dropout",
    "normal_",
    "normal_float_tensor",
    "normal_float_tensor_out",
    "normal_out",
    "normal_tensor_float",
    "normal_tensor_float_out",
    "normal_tensor_tensor",
    "normal_tensor_tensor_out",
    "poisson",
    "poisson_out",
    "random_",
    "random_from_",
    "random_to_",
    "randperm_generator_out",
    "rrelu_with_noise",
    "rrelu_with_noise_",
    "rrelu_with_noise_backward",
    "rrelu_with_noise_out",
    "standard_gamma",
    "standard_gamma_out",
    "uniform_",
]

_aten = ops.aten


def bernoulli(self: Any, generator: Any) -> TensorSpec:
    """Like self, but always contiguous; a real output may have any dtype."""
    cast = "any" if rules.is_eager(self) else "safe"
    return TensorSpec(self.shape, self.dtype, cast=cast, overlap="any")


def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """The output and its mask; where nothing is dropped the output is `input`, as in PyTorch."""
    mask = _aten.empty_like.default(input, dtype=bool_dtype)
    if train is False or p == 0:
        return input, mask
    if p != 1 and not input.dtype.is_floating_point:
        raise refused(f"expected a floating-point input, got {input.dtype}")
    return _aten.empty_like.default(input), mask


def normal_(self: Any, mean: float, std: float, *, generator: Any) -> Any:
    """Checks `std` and the dtype."""
    if not std >= 0:
        raise refused(f"std must not be negative, got {std}")
    if not (self.dtype.is_floating_point or self.dtype.is_complex):
        raise refused(f"expected a floating-point or complex self, got {self.dtype}")
    return self


def bernoulli_(self: Any, p: float, *, generator: Any) -> Any:
    """self."""
    return self


def bernoulli_tensor_(self: Any, p: Any, *, generator: Any) -> Any:
    """self."""
    check_kept(self)
    return self


def uniform_(self: Any, from_: float, to: float, *, generator: Any) -> Any:
    """self."""
    return self


def random_(self: Any, *, generator: Any) -> Any:
    """self."""
    return self


def random_to_(self: Any, to: int, *, generator: Any) -> Any:
    """self."""
    return self


def random_from_(self: Any, from_: int, to: int | None, *, generator: Any) -> Any:
    """self."""
    return self


def randperm_generator_out(n: int, *, generator: Any, out: Any) -> Any:
    """`out` with `n` elements, of whatever dtype."""
    if n < 0:
        raise refused(f"expected n to be 0 or more, got {n}")
    return _aten.resize_.default(out, [n])


def cauchy_(self: Any, median: float, sigma: float, *, generator: Any) -> Any:
    """Checks `sigma` and the dtype."""
    if not sigma > 0:
        raise refused(f"expected sigma to be positive, got {sigma}")
    return _check_floating(self)


def exponential_(self: Any, lambd: float, *, generator: Any) -> Any:
    """Checks `lambd` and the dtype."""
    if not lambd > 0:
        raise refused(f"expected lambd to be positive, got {lambd}")
    return _check_floating(self)


def geometric_(self: Any, p: float, *, generator: Any) -> Any:
    """Checks `p` and the dtype."""
    if not 0 < p < 1:
        raise refused(f"expected p between 0 and 1, both left out, got {p}")
    if self.dtype.is_complex or self.dtype is bool_dtype:
        raise refused(f"expected integers or floats, got {self.dtype}")
    return self


def log_normal_(self: Any, mean: float, std: float, *, generator: Any) -> Any:
    """Checks `std` and the dtype."""
    if not std > 0:
        raise refused(f"expected std to be positive, got {std}")
    if not self.dtype.is_floating_point:
        raise refused(f"expected a floating-point self, got {self.dtype}")
    return self


def _check_floating(self: Any) -> Any:
    if not self.dtype.is_floating_point:
        raise refused(f"expected a floating-point self, got {self.dtype}")
    return self


def _into(fill: Callable[..., Any]) -> Callable[..., Any]:
    """The out variant of a draw: a tensor like self into `out`, which may have another dtype."""

    def kernel(self: Any, *args: Any, generator: Any = None, out: Any) -> Any:
        return _put(fill(_aten.empty_like.default(self), *args, generator=generator), out)

    return kernel


cauchy_out = _into(cauchy_)
exponential_out = _into(exponential_)
geometric_out = _into(geometric_)
log_normal_out = _into(log_normal_)
normal_out = _into(normal_)


def poisson_out(self: Any, generator: Any, *, out: Any) -> Any:
    """`out` with self's sizes."""
    return _put(self, out)


standard_gamma_out = poisson_out


def poisson(self: Any, generator: Any) -> Any:
    """Like self, its strides too."""
    return _aten.empty_like.default(self)


standard_gamma = poisson


def fused_dropout(self: Any, p: float, generator: Any) -> tuple[Any, Any]:
    """The output and its mask of bytes."""
    return _aten.empty_like.default(self), _aten.empty_like.default(self, dtype=uint8)


# ---- normal, with a mean or a deviation for each element: PyTorch's Meta kernel computes
# ---- std * samples + mean, of which the strides follow


def _computed(mean: Any, std: Any) -> Any:
    tensors = [t for t in (mean, std) if not isinstance(t, float)]
    # A number that a caller may leave out takes no part in promotion.
    is_left_out = isinstance(std, float) and std == 1.0
    dtype = mean.dtype if is_left_out else rules.result_type(mean, std)
    if not (dtype.is_floating_point or dtype.is_complex):
        raise refused(f"expected floating-point or complex mean and std, got {dtype}")
    mean, std = (
        t if isinstance(t, float) else _aten._to_copy.default(t, dtype=dtype) for t in (mean, std)
    )
    size = rules.broadcast_shapes(*(t.shape for t in tensors))
    drawn = _aten.new_empty.default(tensors[0], size, dtype=dtype)
    drawn = _aten.mul.Scalar(drawn, std) if isinstance(std, float) else _aten.mul(std, drawn)
    return _aten.add.Scalar(drawn, mean) if isinstance(mean, float) else _aten.add(drawn, mean)


def _put(made: Any, out: Any) -> Any:
    check_placed(made, out)
    if not can_cast(made.dtype, out.dtype):
        raise refused(f"expected out to be {made.dtype} or wider, got {out.dtype}")
    return resize_out(out, made.shape)


def normal_tensor_tensor(mean: Any, std: Any, *, generator: Any) -> Any:
    """Of the sizes that both broadcast to."""
    return _computed(mean, std)


def normal_tensor_float(mean: Any, std: float, *, generator: Any) -> Any:
    """Of mean's sizes."""
    if not std >= 0:
        raise refused(f"normal expects std >= 0.0, but found std {std}")
    return _computed(mean, std)


def normal_float_tensor(mean: float, std: Any, *, generator: Any) -> Any:
    """Of std's sizes."""
    return _computed(mean, std)


def normal_tensor_tensor_out(mean: Any, std: Any, *, generator: Any, out: Any) -> Any:
    """`out` with the sizes that both broadcast to."""
    return _put(_computed(mean, std), out)


def normal_tensor_float_out(mean: Any, std: float, *, generator: Any, out: Any) -> Any:
    """`out` with mean's sizes."""
    return _put(normal_tensor_float(mean, std, generator=generator), out)


def normal_float_tensor_out(mean: float, std: Any, *, generator: Any, out: Any) -> Any:
    """`out` with std's sizes."""
    return _put(_computed(mean, std), out)


# ---- multinomial and rrelu


def _multinomial_sizes(self: Any, num_samples: int) -> list[Any]:
    if not 1 <= self.ndim <= 2:
        raise refused(f"prob_dist must be 1 or 2 dim, got {self.ndim}")
    return [*self.shape[:-1], num_samples]


def multinomial(self: Any, num_samples: int, replacement: bool, *, generator: Any) -> Any:
    """`num_samples` places for each row."""
    sizes = _multinomial_sizes(self, num_samples)
    return _aten.empty.memory_format(sizes, dtype=int64, device=self.device)


def multinomial_out(
    self: Any, num_samples: int, replacement: bool, *, generator: Any, out: Any
) -> Any:
    """The same in `out`."""
    return _put(multinomial(self, num_samples, replacement, generator=generator), out)


def rrelu_with_noise(
    self: Any, noise: Any, lower: Any, upper: Any, training: bool, generator: Any
) -> Any:
    """Of self's geometry."""
    if training:
        return _aten.where.self(_aten.le.Scalar(self, 0), self, self)
    return _aten.add.Tensor(self, self)


def rrelu_with_noise_(
    self: Any, noise: Any, lower: Any, upper: Any, training: bool, generator: Any
) -> Any:
    """self."""
    rrelu_with_noise(self, noise, lower, upper, training, generator)
    return self


def rrelu_with_noise_out(
    self: Any, noise: Any, lower: Any, upper: Any, training: bool, generator: Any, *, out: Any
) -> Any:
    """`out` with self's sizes."""
    return _put(rrelu_with_noise(self, noise, lower, upper, training, generator), out)


def rrelu_with_noise_backward(
    grad_output: Any,
    self: Any,
    noise: Any,
    lower: Any,
    upper: Any,
    training: bool,
    self_is_result: bool,
) -> Any:
    """Of the geometry of a product of `grad_output` and what it is multiplied by."""
    is_random = training and upper - lower > 1e-6
    return _aten.mul.Tensor(grad_output, noise if is_random else self)
