"""Diagonals, products and other forms of matrices, written with views and sums.

Called for tensors of all kinds; the operators underneath are those of PyTorch, in its order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.advice import advise_once
from dispatch._C.errors import refused
from dispatch._C.placement import check_together
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "addr",
    "addr_",
    "addr_out",
    "adjoint",
    "cross",
    "cross_out",
    "cumulative_trapezoid_dx",
    "cumulative_trapezoid_x",
    "diag",
    "diag_embed",
    "diag_out",
    "diagflat",
    "fill_diagonal_",
    "fliplr",
    "flipud",
    "mH",
    "mT",
    "outer",
    "outer_out",
    "pixel_shuffle",
    "pixel_unshuffle",
    "rot90",
    "sum_to_size",
    "trapezoid_dx",
    "trapezoid_x",
    "trapz_dx",
    "trapz_x",
    "vdot_out",
]

_aten = ops.aten
_INTEGERS = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)


def _error(text: str) -> RuntimeError:
    return refused(f"{text}")


def _check_dims(self: Tensor, least: int) -> None:
    if self.ndim < least:
        raise _error(
            f"expected total dims >= {least} (Input must be >= {least}-d), got {list(self.shape)}"
        )


def _check_out(self: Tensor, out: Tensor) -> None:
    check_placed(self, out)
    if out.dtype is not self.dtype:
        raise _error(f"expected out to have dtype {self.dtype}, got {out.dtype}")


# ---- diagonals ---------------------------------------------------------------------------------


def _check_diag(self: Tensor) -> None:
    if self.ndim not in (1, 2):
        raise _error(f"Supports 1D or 2D tensors. Got {self.ndim}D")


def diag(self: Tensor, diagonal: int = 0) -> Tensor:
    """A vector as the diagonal of a matrix; a matrix's diagonal, copied."""
    _check_diag(self)
    if self.ndim == 1:
        return _aten.diag_embed(self, diagonal)
    return _aten.diagonal_copy(self, diagonal)


def diag_out(self: Tensor, diagonal: int = 0, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    _check_diag(self)
    if self.ndim == 1:
        return _aten.diag_embed.out(self, diagonal, out=out)
    return _aten.diagonal_copy.out(self, diagonal, out=out)


def diagflat(self: Tensor, offset: int = 0) -> Tensor:
    """All elements as a diagonal."""
    return _aten.diag(_aten.view(_aten.contiguous(self), [-1]), offset)


def diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The last dimension as diagonals of two new ones."""
    n = self.ndim + 1
    first, second = rules.wrap_dim(dim1, n), rules.wrap_dim(dim2, n)
    if first == second:
        raise _error(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    if self.ndim == 0:
        raise refused("self has no dimensions", IndexError)
    size = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for d in sorted((first, second)):
        sizes.insert(d, size)
    result = _aten.zeros(sizes, dtype=self.dtype, layout=self.layout, device=self.device)
    _aten.copy_(_aten.diagonal(result, offset, first, second), self)
    return result


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Fill the main diagonal; `wrap`: of a high matrix, again and again below it."""
    sizes, strides = list(self.shape), list(self.stride())
    if self.ndim < 2:
        raise _error(f"expected at least 2 dimensions, got {sizes}")
    if self.ndim > 2 and any(n != sizes[0] for n in sizes[1:]):
        raise _error(f"expected dimensions of one size, got {sizes}")
    offset, step, size = self.storage_offset(), sum(strides), min(sizes)
    _aten.fill_.Scalar(_aten.as_strided(self, [size], [step], offset), fill_value)
    if wrap and self.ndim == 2 and sizes[0] > sizes[1] + 1:
        again = -(-self.numel() // (sizes[1] + 1)) - size
        offset += strides[0] * (sizes[1] + 1)
        _aten.fill_.Scalar(_aten.as_strided(self, [again], [step], offset), fill_value)
    return self


# ---- other orders ------------------------------------------------------------------------------


def fliplr(self: Tensor) -> Tensor:
    """The second dimension reversed."""
    _check_dims(self, 2)
    return _aten.flip(self, [1])


def flipud(self: Tensor) -> Tensor:
    """The first dimension reversed."""
    _check_dims(self, 1)
    return _aten.flip(self, [0])


def rot90(self: Tensor, k: int = 1, dims: Sequence[int] = (0, 1)) -> Tensor:
    """Turned `k` times by a right angle in the plane of two dimensions."""
    if len(dims) != 2:
        raise _error(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    _check_dims(self, 2)
    first, second = (rules.wrap_dim(dim, self.ndim) for dim in dims)
    if first == second:
        raise _error(f"expected rotation dims to be different, but got {list(dims)}")
    turns = k % 4
    if turns == 1:
        return _aten.transpose_(_aten.flip(self, [dims[1]]), dims[0], dims[1])
    if turns == 2:
        return _aten.flip(self, list(dims))
    if turns == 3:
        return _aten.transpose_(_aten.flip(self, [dims[0]]), dims[0], dims[1])
    return _aten.clone(self, memory_format=dtypes.contiguous_format)


def mT(self: Tensor) -> Tensor:
    """The last two dimensions exchanged; a number stays."""
    if self.ndim == 0:
        return self
    _check_dims(self, 2)
    return _aten.transpose.int(self, -2, -1)


def _adjoint(self: Tensor) -> Tensor:
    if self.ndim:
        _check_dims(self, 2)
    swapped = _aten.transpose.int(self, -2, -1) if self.ndim else self
    return _aten.conj(swapped) if self.dtype.is_complex else swapped


def mH(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, and conjugated."""
    return _adjoint(self)


def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged, and conjugated."""
    return _adjoint(self)


def _check_factor(name: str, factor: int) -> None:
    if factor <= 0:
        op = "pixel_shuffle" if name == "upscale_factor" else "pixel_unshuffle"
        raise _error(f"{op} expects a positive {name}, got {factor}")


def pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    """Blocks of channels spread over the last two dimensions."""
    _check_dims(self, 3)
    _check_factor("upscale_factor", upscale_factor)
    *lead, c, h, w = self.shape
    r = upscale_factor
    if c % (r * r):
        raise _error(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square "
            f"of upscale_factor: {c} by {r} squared"
        )
    parts = _aten.reshape(self, [*lead, c // (r * r), r, r, h, w])
    return _rearranged(self, parts, [0], [3, 1, 4, 2], [*lead, c // (r * r), h * r, w * r])


def pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    """Blocks of the last two dimensions gathered into channels."""
    _check_dims(self, 3)
    _check_factor("downscale_factor", downscale_factor)
    *lead, c, h, w = self.shape
    r = downscale_factor
    for what, n in (("height", h), ("width", w)):
        if n % r:
            raise _error(
                f"pixel_unshuffle expects {what} to be divisible by downscale_factor: {n} by {r}"
            )
    parts = _aten.reshape(self, [*lead, c, h // r, r, w // r, r])
    return _rearranged(self, parts, [0, 2, 4], [1, 3], [*lead, c * r * r, h // r, w // r])


def _rearranged(
    self: Tensor,
    parts: Tensor,
    channels: Sequence[int],
    space: Sequence[int],
    sizes: Sequence[int],
) -> Tensor:
    """A tensor of `sizes`, of the dimensions of `parts` that are its channels and its space.

    They are counted from behind the batch. channels_last stays, and is written at once.
    """
    n = len(sizes) - 3
    last = rules.suggest_memory_format(self) is dtypes.channels_last
    order = [*space, *channels] if last else [*channels, *space]
    moved = _aten.permute(parts, [*range(n), *(n + d for d in order)])
    moved = _aten.clone(moved, memory_format=dtypes.contiguous_format)
    if not last:
        return _aten.view(moved, list(sizes))
    return _aten.permute(_aten.view(moved, [sizes[0], *sizes[2:], sizes[1]]), [0, 3, 1, 2])


# ---- products ----------------------------------------------------------------------------------


def _check_vector(name: str, t: Tensor) -> None:
    if t.ndim != 1:
        raise _error(f"Expected 1-D argument {name}, but got {t.ndim}-D")


def _column(self: Tensor, vec2: Tensor) -> Tensor:
    _check_vector("self", self)
    _check_vector("vec2", vec2)
    return _aten.reshape(self, [self.shape[0], 1])


def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """All products of an element of self and one of vec2."""
    return _aten.mul.Tensor(_column(self, vec2), vec2)


def outer_out(self: Tensor, vec2: Tensor, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    return _aten.mul.out(_column(self, vec2), vec2, out=out)


def _cross_dim(self: Tensor, other: Tensor, dim: int | None) -> int:
    if dim is not None:
        return dim
    advise_once("cross", "dim is deprecated as None: its default will be that of linalg.cross")
    for d, size in enumerate(self.shape):
        if size == 3:
            return d
    raise _error(f"no dimension of size 3 in input, got {list(self.shape)}")


def cross(self: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Cross products along `dim`, or the first dimension of size 3."""
    return _aten.linalg_cross(self, other, dim=_cross_dim(self, other, dim))


def cross_out(self: Tensor, other: Tensor, dim: int | None = None, *, out: Tensor) -> Tensor:
    """The same into `out`."""
    return _aten.linalg_cross.out(self, other, dim=_cross_dim(self, other, dim), out=out)


def vdot_out(self: Tensor, other: Tensor, *, out: Tensor) -> Tensor:
    """`vdot` into `out`."""
    _check_out(self, out)
    if not self.dtype.is_complex:
        return _aten.dot.out(self, other, out=out)
    return _aten.fill_.Tensor(resize_out(out, []), _aten.vdot(self, other))


def _check_scale(kind: dtypes.dtype, **factors: Any) -> None:
    """Whether a result of dtype `kind` can take the factors."""
    whole = not (kind.is_floating_point or kind.is_complex)
    for name, factor in factors.items():
        if isinstance(factor, bool) and kind is not dtypes.bool:
            raise _error(f"Boolean {name} only supported for Boolean results.")
        if whole and isinstance(factor, (float, complex)):
            raise _error(
                f"For integral input tensors, argument {name} must not be a floating point number."
            )
        if isinstance(factor, complex) and not kind.is_complex:
            raise _error(f"a complex {name} is for complex tensors only, got {factor}")


def _check_addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any, alpha: Any) -> None:
    _check_vector("vec1", vec1)
    _check_vector("vec2", vec2)
    _check_scale(rules.result_type(self, vec1, vec2), beta=beta, alpha=alpha)


def _outer_scaled(vec1: Tensor, vec2: Tensor, alpha: Any) -> Tensor:
    product = _aten.outer(vec1, vec2)
    return product if alpha == 1 else _aten.mul.Scalar(product, alpha)


def _in_one_pass(self: Tensor, vec1: Tensor, vec2: Tensor, alpha: Any) -> bool:
    """Whether all are float32, all float64, or one kind of integers that are added unscaled."""
    kind = self.dtype
    if kind is not vec1.dtype or kind is not vec2.dtype:
        return False
    whole = alpha == 1 and kind in _INTEGERS
    return whole or kind is dtypes.float32 or kind is dtypes.float64


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * self + alpha * outer(vec1, vec2)."""
    _check_addr(self, vec1, vec2, beta, alpha)
    self = _aten.expand(self, [vec1.shape[0], vec2.shape[0]])
    if vec1.dtype is dtypes.bool and vec2.dtype is dtypes.bool and self.dtype is dtypes.bool:
        product = _aten.outer(vec1, vec2)
        product = product if alpha else _aten.zeros_like(product)
        return _aten.logical_or(self, product) if beta else product
    if beta == 1 and _in_one_pass(self, vec1, vec2, alpha):
        return _aten.addcmul(self, vec2, _aten.unsqueeze(vec1, 1), value=alpha)
    product = _outer_scaled(vec1, vec2, alpha)
    if beta == 0:
        kind = rules.result_type(self, product)
        total = product
    else:
        scaled = self if beta == 1 else _aten.mul.Scalar(self, beta)
        total = _aten.add.Tensor(scaled, product)
        kind = total.dtype
    if rules.is_eager(self):  # elsewhere a factor times bools is int64
        kind = rules.result_type(self, vec1, vec2)
    return total if total.dtype is kind else _aten._to_copy(total, dtype=kind)


def addr_(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """The same into self."""
    _check_addr(self, vec1, vec2, beta, alpha)
    if tuple(self.shape) != (vec1.shape[0], vec2.shape[0]):
        raise _error(f"self of shape {list(self.shape)} would change its shape")
    return addr_out(self, vec1, vec2, beta=beta, alpha=alpha, out=self)


def addr_out(
    self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Tensor
) -> Tensor:
    """The same into `out`."""
    check_together(self=self, vec1=vec1, vec2=vec2)
    if out.dtype is self.dtype and _in_one_pass(self, vec1, vec2, alpha):
        _check_addr(self, vec1, vec2, beta, alpha)
        column = _aten.unsqueeze(vec1, 1)
        if beta == 0:
            found = _aten.mul.out(column, vec2, out=out)
            return found if alpha == 1 else _aten.mul_.Scalar(found, alpha)
        self = _aten.expand(self, [vec1.shape[0], vec2.shape[0]])
        self = self if beta == 1 else _aten.mul.Scalar(self, beta)
        return _aten.addcmul.out(self, vec2, column, value=alpha, out=out)
    result = addr(self, vec1, vec2, beta=beta, alpha=alpha)
    if not dtypes.can_cast(result.dtype, out.dtype):
        raise _error(
            f"result type {result.dtype} can't be cast to the desired output type {out.dtype}"
        )
    check_placed(result, out)
    return _aten.copy_(resize_out(out, result.shape), result)


# ---- sums --------------------------------------------------------------------------------------


def sum_to_size(self: Tensor, size: Sequence[int]) -> Tensor:
    """Summed over the dimensions that would be expanded."""
    if not len(size):
        return _aten.sum(self)
    lead = self.ndim - len(size)
    shape = list(self.shape)
    fits = lead >= 0 and all(
        s in (1, n) for s, n in zip(size, shape[lead:] if lead >= 0 else shape, strict=False)
    )
    if not fits:
        raise _error(f"size {list(size)} is not expandable to size {shape}")
    dims = list(range(lead))
    dims += [d + lead for d, s in enumerate(size) if s == 1 and shape[d + lead] != 1]
    result = _aten.sum.dim_IntList(self, dims, True) if dims else self
    return _aten.view(result, list(size)) if lead > 0 else result


def trapezoid_dx(y: Tensor, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral of values at equal distances."""
    if y.size(dim) == 0:
        return _zeros_without(y, dim)
    if y.dtype is dtypes.bool:
        raise _error(f"y must not be of {y.dtype}")
    if isinstance(dx, (complex, bool)):
        raise _error(f"dx must be a real number, got {dx!r}")
    last = _aten.select(y, dim, -1)
    half = _aten.mul.Scalar(_aten.add.Tensor(_aten.select(y, dim, 0), last), 0.5)
    inner_sum = _aten.sub.Tensor(_aten.sum.dim_IntList(y, [dim]), half)
    return _aten.mul.Scalar(inner_sum, float(dx))


def _zeros_without(y: Tensor, dim: int) -> Tensor:
    sizes = list(y.shape)
    del sizes[rules.wrap_dim(dim, y.ndim)]
    return _aten.zeros(sizes, dtype=y.dtype, layout=y.layout, device=y.device)


def _along(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """A vector of places as a tensor beside y; another one with dimensions in front."""
    if x.ndim == 1:
        if x.shape[0] != y.shape[dim]:
            raise _error(
                f"There must be one `x` value for each sample point: expected {y.shape[dim]}, got "
                f"{x.shape[0]}"
            )
        sizes = [1] * y.ndim
        sizes[dim] = x.shape[0]
        return _aten.view(x, sizes)
    if x.ndim < y.ndim:
        return _aten.view(x, [1] * (y.ndim - x.ndim) + list(x.shape))
    return x


def _pairs(t: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _aten.slice(t, dim, 0, -1), _aten.slice(t, dim, 1)


def _areas(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Twice the area between each two places."""
    if isinstance(x, Tensor) and (x.dtype is dtypes.bool or y.dtype is dtypes.bool):
        raise _error("y and x must not be bool tensors")
    low, high = _pairs(_along(y, x, dim), dim)
    dx = _aten.sub.Tensor(high, low)
    left, right = _pairs(y, dim)
    return _aten.mul.Tensor(_aten.add.Tensor(left, right), dx)


def trapezoid_x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor:
    """The integral of values at the places `x`."""
    dim = rules.wrap_dim(dim, y.ndim)
    if y.size(dim) == 0:
        return _zeros_without(y, dim)
    total = _aten.sum.dim_IntList(_areas(y, x, dim), [dim])
    return _aten.div.Scalar(total, 2.0)


trapz_x = trapezoid_x


def trapz_dx(y: Tensor, *, dx: float = 1.0, dim: int = -1) -> Tensor:
    """`trapezoid` by its older name."""
    return _aten.trapezoid.dx(y, dx=dx, dim=dim)


def cumulative_trapezoid_dx(y: Tensor, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The integral up to each place."""
    if y.dtype is dtypes.bool:
        raise _error(f"y must not be of {y.dtype}")
    if isinstance(dx, (complex, bool)):
        raise _error(f"dx must be a real number, got {dx!r}")
    left, right = _pairs(y, dim)
    both = _aten.add.Tensor(left, right)
    return _aten.cumsum(_aten.mul.Scalar(both, dx / 2.0), dim)


def cumulative_trapezoid_x(y: Tensor, x: Tensor, *, dim: int = -1) -> Tensor:
    """The integral up to each place, for values at the places `x`."""
    dim = rules.wrap_dim(dim, y.ndim)
    return _aten.div.Scalar(_aten.cumsum(_areas(y, x, dim), dim), 2.0)
