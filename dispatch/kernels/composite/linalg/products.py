"""Powers, chains, exponentials and other products of matrices, written with `matmul`."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.placement import check_together
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.kernels.composite.linalg.outputs import check_castable
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.linalg.checks import (
    check_floating,
    check_matrix,
    check_same_dtype,
    check_square,
)
from dispatch.kernels.meta.outputs import resize_out

__all__ = [
    "chain_matmul",
    "linalg_diagonal",
    "linalg_matmul",
    "linalg_matrix_power",
    "matrix_exp",
    "matrix_exp_backward",
    "matrix_power",
    "multi_dot",
    "vander",
    "vecdot",
]

_aten = ops.aten


# ---- powers ------------------------------------------------------------------------------------


def _product(a: Tensor, b: Tensor, out: Tensor | None) -> Tensor:
    return _aten.matmul(a, b) if out is None else _aten.matmul.out(a, b, out=out)


def _power(a: Tensor, n: int, out: Tensor | None) -> Tensor:
    """Products of the squares that the bits of n name, the smallest first; n is 2 or more."""
    if n <= 3:
        return _product(a if n == 2 else _aten.matmul(a, a), a, out)
    square: Tensor | None = None
    result: Tensor | None = None
    while n:
        n, bit = divmod(n, 2)
        square = a if square is None else _aten.matmul(square, square)
        if bit:
            result = square if result is None else _product(result, square, None if n else out)
    assert result is not None
    return result if out is None or out is result else _aten.copy_(out, result)


def _contiguous_copy(self: Tensor) -> Tensor:
    return _aten.clone(self, memory_format=dtypes.contiguous_format)


def linalg_matrix_power(self: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """self multiplied by itself; the inverse for a negative n."""
    check_matrix("self", self)
    check_square("self", self)
    if out is not None:
        check_castable(out, self.dtype)
        check_placed(self, out)
        resize_out(out, self.shape)
    if n == 0:
        if out is None:
            out = _contiguous_copy(self)
        one = _aten.eye(self.shape[-2], dtype=self.dtype, layout=self.layout, device=self.device)
        return _aten.copy_(out, one)
    if n == 1:
        return _contiguous_copy(self) if out is None else _aten.copy_(out, self)
    if n == -1:
        return _aten.linalg_inv(self) if out is None else _aten.linalg_inv.out(self, out=out)
    return _power(_aten.linalg_inv(self) if n < 0 else self, abs(n), out)


def matrix_power(self: Tensor, n: int, *, out: Tensor | None = None) -> Tensor:
    """`linalg_matrix_power` by its older name."""
    if out is None:
        return _aten.linalg_matrix_power(self, n)
    return _aten.linalg_matrix_power.out(self, n, out=out)


def matrix_exp(self: Tensor) -> Tensor:
    """`linalg_matrix_exp` by its older name."""
    return _aten.linalg_matrix_exp(self)


def matrix_exp_backward(self: Tensor, grad: Tensor) -> Tensor:
    """The upper right quarter of the exponential of two adjoints with the gradient between."""
    adjoint, n = _aten.adjoint(self), self.shape[-1]
    sizes = [*grad.shape[:-2], 2 * n, 2 * n]
    wide = _aten.zeros(sizes, dtype=grad.dtype, device=grad.device)
    for top, left, values in ((0, 0, adjoint), (n, n, adjoint), (0, n, grad)):
        part = _aten.narrow(_aten.narrow(wide, -2, top, n), -1, left, n)
        _aten.copy_(part, values)
    result = _aten.linalg_matrix_exp(wide)
    return _aten.narrow(_aten.narrow(result, -2, 0, n), -1, n, n)


# ---- chains ------------------------------------------------------------------------------------


def _as_matrices(tensors: Sequence[Tensor]) -> tuple[list[Tensor], list[int]]:
    """Vectors at the ends as a row and a column, and the sizes of the result."""
    if len(tensors) < 2:
        raise refused(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    matrices, sizes = list(tensors), []
    first, last = tensors[0], tensors[-1]
    for name, t in (("first", first), ("last", last)):
        if t.ndim not in (1, 2):
            raise refused(f"multi_dot(): the {name} tensor must be 1D or 2D but got {t.ndim}D")
    if first.ndim == 1:
        matrices[0] = _aten.unsqueeze(first, 0)
    else:
        sizes.append(first.shape[0])
    if last.ndim == 1:
        matrices[-1] = _aten.unsqueeze(last, -1)
    else:
        sizes.append(last.shape[1])
    for i, t in enumerate(matrices):
        if t.ndim != 2:
            raise refused(f"multi_dot(): tensor {i} must be 2D but got {t.ndim}D")
        for what, mine, theirs in (
            ("have be the same dtype", t.dtype, first.dtype),
            ("be on the same device", t.device, first.device),
        ):
            if mine != theirs:
                raise refused(
                    f"multi_dot(): all tensors must {what} but tensor 0 is "
                    f"{theirs} and tensor {i} {mine}"
                )
        if i and matrices[i - 1].shape[-1] != t.shape[0]:
            raise refused(
                f"multi_dot(): tensors {i - 1} and {i} with shapes {list(tensors[i - 1].shape)} "
                f"and {list(tensors[i].shape)} cannot be multiplied"
            )
    return matrices, sizes


def _splits(matrices: Sequence[Tensor]) -> list[list[int]]:
    """Where to split each run of matrices so that there are the fewest multiplications."""
    n = len(matrices)
    p = [rules.example(k) for k in (matrices[0].shape[0], *(m.shape[1] for m in matrices))]
    cost = [[0] * n for _ in range(n)]
    split = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i][j], split[i][j] = min(
                (cost[i][k] + cost[k + 1][j] + p[i] * p[k + 1] * p[j + 1], k) for k in range(i, j)
            )
    return split


def _chain(matrices: Sequence[Tensor], split: list[list[int]], i: int, j: int) -> Tensor:
    if i == j:
        return matrices[i]
    k = split[i][j]
    return _aten.mm(_chain(matrices, split, i, k), _chain(matrices, split, k + 1, j))


def _ends(matrices: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The two factors of the last product."""
    if len(matrices) == 2:
        return matrices[0], matrices[1]
    if len(matrices) == 3:
        a, b, c = matrices
        w, x, y, z = (rules.example(n) for n in (*a.shape, *c.shape))
        left, right = w * y * (x + z), x * z * (w + y)
        return (a, _aten.mm(b, c)) if left > right else (_aten.mm(a, b), c)
    split, last = _splits(matrices), len(matrices) - 1
    k = split[0][last]
    return _chain(matrices, split, 0, k), _chain(matrices, split, k + 1, last)


def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The product of all, in the order that takes the fewest multiplications."""
    matrices, sizes = _as_matrices(tensors)
    if out is None:
        return _aten.view(_aten.mm(*_ends(matrices)), sizes)
    kind, device = matrices[0].dtype, matrices[0].device
    if out.dtype is not kind:
        raise refused(f"multi_dot(): expected out tensor to have dtype {kind} but got {out.dtype}")
    if out.device != device:
        raise refused(f"multi_dot(): expected out tensor to be on {device} but got {out.device}")
    resize_out(out, sizes)
    square = _aten.view(out, [matrices[0].shape[0], matrices[-1].shape[-1]])
    _aten.mm.out(*_ends(matrices), out=square)
    return out


def chain_matmul(matrices: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """The same for matrices only, by its older name."""
    if any(m.ndim != 2 for m in matrices):
        raise refused(f"expected matrices, got {[list(m.shape) for m in matrices]}")
    if not len(matrices):
        raise refused("expected at least one matrix, got none")
    if len(matrices) == 1:
        only = matrices[0]
        return _aten.clone(only) if out is None else _aten.copy_(resize_out(out, only.shape), only)
    if out is None:
        return _aten.linalg_multi_dot(matrices)
    return _aten.linalg_multi_dot.out(matrices, out=out)


# ---- others ------------------------------------------------------------------------------------


def linalg_matmul(self: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`matmul` by another name."""
    return _product(self, other, out)


def linalg_diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """`diagonal` of the last two dimensions."""
    return _aten.diagonal(A, offset, dim1, dim2)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """Rows of powers, from 0 up, of each number."""
    kind = x.dtype
    if kind is dtypes.bool or (kind.is_floating_point and kind.itemsize < 4):
        raise refused(f"expected x of integers, float32, float64 or complex numbers, got {kind}")
    if x.ndim == 0:
        x = _aten.unsqueeze(x, -1)
    sizes = list(x.shape)
    n = sizes[-1] if N is None else N
    if n <= 1:
        raise refused(f"N must be greater than 1, got {n}")
    wide = _aten.expand(_aten.unsqueeze(x, -1), [*sizes, n - 1])
    powers = _aten.cumprod(wide, -1)
    return _aten.cat([_aten.new_ones(powers, [*sizes, 1]), powers], -1)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor:
    """Products of the conjugate of x and y, summed along a dimension."""
    check_floating("x", x)
    check_same_dtype("x", x, "y", y)
    if out is not None and out.dtype is not x.dtype:
        raise refused(f"expected out of dtype {x.dtype} but found {out.dtype}")
    check_together(x=x, y=y)
    if x.ndim == y.ndim == 1:
        return _aten.vdot(x, y) if out is None else _aten.vdot.out(x, y, out=out)
    product = _aten.mul.Tensor(_aten.conj(x), y)
    if out is None:
        return _aten.sum.dim_IntList(product, [dim])
    return _aten.sum.IntList_out(product, [dim], out=out)
