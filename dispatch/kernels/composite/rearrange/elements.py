"""diff, repeat_interleave, tile and pad, written with other operators."""

from collections.abc import Callable

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_pad_circular",
    "_pad_enum",
    "diff",
    "diff_out",
    "pad",
    "repeat_interleave",
    "repeat_interleave_int",
    "tile",
]


# ---- diff --------------------------------------------------------------------------------------


def _check_diff(self: Tensor, n: int, prepend: Tensor | None, append: Tensor | None) -> None:
    if self.ndim == 0:
        raise refused("diff expects input to be at least one-dimensional")
    if n < 0:
        raise refused(f"order must be non-negative but got {n}")
    for name, other in (("prepend", prepend), ("append", append)):
        if other is not None and other.ndim != self.ndim:
            raise refused(
                "diff expects prepend or append to be the same dimension as input, got "
                f"{list(other.shape)} for {name}"
            )


def _check_diff_sizes(self: Tensor, dim: int, name: str, other: Tensor) -> None:
    for d in range(self.ndim):
        if d != dim and other.shape[d] != self.shape[d]:
            raise refused(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension {dim}, got {list(other.shape)} for {name}"
            )


def _extended(self: Tensor, dim: int, prepend: Tensor | None, append: Tensor | None) -> Tensor:
    """self between `prepend` and `append`."""
    for name, other in (("prepend", prepend), ("append", append)):
        if other is not None:
            _check_diff_sizes(self, dim % self.ndim, name, other)
    if prepend is None and append is None:
        return self
    return ops.aten.cat([t for t in (prepend, self, append) if t is not None], dim)


def _ends(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """All but the first and all but the last along `dim`."""
    n = x.size(dim) - 1
    before = ops.aten.narrow(x, dim, 0, n)
    return ops.aten.narrow(x, dim, 1, n), before


def _step(x: Tensor, dim: int) -> Tensor:
    after, before = _ends(x, dim)
    if x.dtype is dtypes.bool:
        return ops.aten.logical_xor(after, before)
    return ops.aten.sub(after, before)


def diff(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along `dim`, `n` times over."""
    _check_diff(self, n, prepend, append)
    self.size(dim)  # IndexError
    if n == 0:
        return ops.aten.copy_(ops.aten.zeros_like(self), self)
    x = _extended(self, dim, prepend, append)
    if n >= x.size(dim):
        return ops.aten.zeros_like(
            ops.aten.narrow(x, dim, 0, 0), memory_format=dtypes.contiguous_format
        )
    for _ in range(n):
        x = _step(x, dim)
    return x


def diff_out(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
    *,
    out: Tensor,
) -> Tensor:
    """The same, the last time into `out`."""
    _check_diff(self, n, prepend, append)
    self.size(dim)  # IndexError
    if n == 0:
        return _copied(self, out)
    x = _extended(self, dim, prepend, append)
    n = min(n, x.size(dim))
    for _ in range(n - 1):
        x = _step(x, dim)
    if x.size(dim) == 0:
        return _copied(x, out)
    after, before = _ends(x, dim)
    if x.dtype is dtypes.bool:
        return ops.aten.logical_xor.out(after, before, out=out)
    return ops.aten.sub.out(after, before, out=out)


def _copied(self: Tensor, out: Tensor) -> Tensor:
    if out.dtype is not self.dtype:
        raise refused(f"expected out to have dtype {self.dtype}, got {out.dtype}")
    return ops.aten.clone.out(self, out=out)


# ---- repeat_interleave -------------------------------------------------------------------------


def _along(self: Tensor, dim: int | None) -> tuple[Tensor, int]:
    return (ops.aten.flatten(self), 0) if dim is None else (self, dim)


def repeat_interleave(
    self: Tensor, repeats: Tensor, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice along `dim` as often as `repeats` says; `output_size` is their sum, if known."""
    self, dim = _along(self, dim)
    size = self.size(dim)
    if repeats.ndim > 1:
        raise refused(f"repeats must be 0-dim or 1-dim tensor, got {list(repeats.shape)}")
    if repeats.ndim == 0 or repeats.size(0) == 1:
        repeats = ops.aten.expand(ops.aten.reshape(repeats, [1]), [size])
    elif repeats.size(0) != size:
        raise refused(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{repeats.size(0)} and input.size({dim}) = {size}"
        )
    index = ops.aten.repeat_interleave.Tensor(repeats, output_size=output_size)
    return ops.aten.index_select(self, dim, index)


def repeat_interleave_int(
    self: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each slice along `dim`, `repeats` times."""
    self, dim = _along(self, dim)
    if repeats < 0:
        raise refused(f"repeats can not be negative, got {repeats}")
    dim = dim + self.ndim if dim < 0 else dim
    sizes = list(self.shape)
    copies = ops.aten.unsqueeze(self, dim + 1)
    sizes[dim + 1 : dim + 1] = [repeats]
    total = sizes[dim] * repeats
    if output_size is not None and output_size != total:
        raise refused(f"expected output_size {total}, got {output_size}")
    copies = ops.aten.clone(ops.aten.expand(copies, sizes), memory_format=dtypes.contiguous_format)
    return ops.aten.flatten(copies, dim, dim + 1)


def tile(self: Tensor, dims: list[int]) -> Tensor:
    """`repeat`, with ones for dimensions that are not named."""
    return ops.aten.repeat.default(self, [1] * (self.dim() - len(dims)) + dims)


# ---- pad ---------------------------------------------------------------------------------------

_MODES = ("reflect", "replicate", "circular", "constant")  # numbered as at::padding_mode


def pad(self: Tensor, pad: list[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Pad the last dimensions: two numbers for each, the last dimension first."""
    if mode not in _MODES:
        known = ", ".join(_MODES)
        raise refused(f"Unrecognised padding mode {mode}: expected {known}", NotImplementedError)
    return _pad_enum(self, pad, _MODES.index(mode), value)


def _pad_enum(self: Tensor, pad: list[int], mode: int, value: float | None = None) -> Tensor:
    """The same with the mode's number."""
    if len(pad) % 2:
        raise refused(f"Padding length must be divisible by 2, got {pad}")
    if len(pad) > 2 * self.ndim:
        raise refused(
            "Padding length should be less than or equal to two times the input dimension: "
            f"{2 * self.ndim}, got {pad}"
        )
    if mode == _MODES.index("constant"):
        return ops.aten.constant_pad_nd(self, pad, 0.0 if value is None else value)
    if value:
        raise refused("value is for mode constant alone")
    n = len(pad) // 2
    kernel = _ROUTES.get((mode, n))
    if kernel is None or self.ndim not in (n + 1, n + 2):
        raise refused(
            f"modes other than constant pad the last 1 to 3 dimensions of a tensor of one or two "
            f"dimensions more, got pad {pad} for shape {list(self.shape)}",
            NotImplementedError,
        )
    return kernel(self, pad)


def _check_circular(self: Tensor, dim: int, before: int, after: int) -> None:
    size = self.size(dim)
    if before > size or after > size:
        raise refused(
            f"Padding value causes wrapping around more than once: ({before}, {after}) of "
            f"dimension {dim} of shape {list(self.shape)}"
        )
    if before + size + after <= 0:
        raise refused(
            f"circular padding ({before}, {after}) leaves nothing of dimension {dim} "
            f"of shape {list(self.shape)}"
        )


def _pad_circular(self: Tensor, pad: list[int]) -> Tensor:
    """self in the middle, then each dimension's ends from its other end."""
    pairs = [(self.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]) for i in range(len(pad) // 2)]
    sizes = list(self.shape)
    for dim, before, after in pairs:
        _check_circular(self, dim, before, after)
        sizes[dim] += before + after
    result = ops.aten.new_empty(
        self, sizes, dtype=self.dtype, layout=self.layout, device=self.device
    )
    middle, source = result, self
    for dim, before, after in pairs:
        length = sizes[dim] - max(before, 0) - max(after, 0)
        middle = ops.aten.narrow(middle, dim, max(before, 0), length)
        source = ops.aten.narrow(source, dim, max(-before, 0), length)
    ops.aten.copy_(middle, source)
    for dim, before, after in pairs:
        _wrap_ends(result, dim, before, after)
    return result


def _wrap_ends(result: Tensor, dim: int, before: int, after: int) -> None:
    size = result.size(dim)
    if before > 0:
        edge = ops.aten.narrow(result, dim, 0, before)
        start = size - before - max(after, 0)
        ops.aten.copy_(edge, ops.aten.narrow(result, dim, start, before))
    if after > 0:
        edge = ops.aten.narrow(result, dim, size - after, after)
        ops.aten.copy_(edge, ops.aten.narrow(result, dim, max(before, 0), after))


_ROUTES: dict[tuple[int, int], Callable[[Tensor, list[int]], Tensor]] = {
    (0, 1): ops.aten.reflection_pad1d,
    (0, 2): ops.aten.reflection_pad2d,
    (0, 3): ops.aten.reflection_pad3d,
    (1, 1): ops.aten.replication_pad1d,
    (1, 2): ops.aten.replication_pad2d,
    (1, 3): ops.aten.replication_pad3d,
    **{(2, n): _pad_circular for n in (1, 2, 3)},
}  # by the mode's number and how many dimensions are padded
