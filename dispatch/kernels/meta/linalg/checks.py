"""What matrices must be: checks and strides that linear algebra's shape functions share.

PyTorch's are in LinearAlgebraUtils.h; their names are in the doc strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C import dtypes
from dispatch._C.dtypes import dtype
from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta import rules

__all__ = [
    "REAL_OF",
    "broadcast_batches",
    "check_floating",
    "check_matrix",
    "check_same_dtype",
    "check_solver",
    "check_solver_sides",
    "check_square",
    "column_major",
    "column_strides",
    "complex_of",
    "info_of",
    "is_vector_rhs",
    "real_of",
    "unstructured",
]

Ints = Sequence[int]

REAL_OF = {
    dtypes.complex32: dtypes.float16,
    dtypes.complex64: dtypes.float32,
    dtypes.complex128: dtypes.float64,
}
_COMPLEX_OF = {real: kind for kind, real in REAL_OF.items()}
_FULL = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


def real_of(kind: dtype) -> dtype:
    """The dtype of absolute values (toRealValueType)."""
    return REAL_OF.get(kind, kind)


def complex_of(kind: dtype) -> dtype:
    """The dtype of eigenvalues (toComplexType)."""
    if kind.is_complex:
        return kind
    if kind not in _COMPLEX_OF:
        raise refused(f"expected a dtype that has a complex one, got {kind}")
    return _COMPLEX_OF[kind]


def check_matrix(name: str, t: Tensor) -> None:
    """checkIsMatrix."""
    if t.ndim < 2:
        raise refused(f"expected {name} to have at least 2 dimensions, got shape {list(t.shape)}")


def check_square(name: str, t: Tensor) -> None:
    """squareCheckInputs."""
    check_matrix(name, t)
    if t.shape[-1] != t.shape[-2]:
        raise refused(f"expected {name} to have square matrices, got shape {list(t.shape)}")


def check_floating(name: str, t: Tensor, narrow: bool = True) -> None:
    """checkFloatingOrComplex; `narrow`: floats of 16 bits too."""
    kind = t.dtype
    if not (kind.is_floating_point or kind.is_complex) or not (narrow or kind in _FULL):
        raise refused(f"expected {name} of a floating-point or complex dtype, got {kind}")


def check_same_dtype(a_name: str, a: Tensor, b_name: str, b: Tensor) -> None:
    """Both of one dtype."""
    if a.dtype is not b.dtype:
        raise refused(
            f"expected {a_name} and {b_name} to have the same dtype, got {a.dtype} and {b.dtype}"
        )


def check_solver_sides(a: Tensor, b: Tensor) -> None:
    """linearSolveCheckInputs: b @ x = a with square matrices a."""
    check_same_dtype("self", b, "the coefficients", a)
    if a.shape[-1] != a.shape[-2]:
        raise refused(f"expected square matrices of coefficients, got {list(a.shape)}")
    if a.shape[-1] != b.size(-2):
        raise refused(f"sizes {list(a.shape)} and {list(b.shape)} do not fit each other")


def check_solver(a: Tensor, b_shape: Ints, left: bool, name: str = "A") -> None:
    """checkInputsSolver: the sides of AX = B, or of XA = B."""
    check_square(name, a)
    if len(b_shape) < 2:
        raise refused(f"expected B to have at least 2 dimensions, got shape {list(b_shape)}")
    if (a.shape[-2] != b_shape[-2]) if left else (a.shape[-1] != b_shape[-1]):
        raise refused(
            f"{name} of {list(a.shape)} and B of {list(b_shape)} do not fit "
            f"{'AX = B' if left else 'XA = B'}"
        )


def broadcast_batches(a: Ints, b: Ints) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Both shapes with their batch dimensions broadcast (_linalg_broadcast_batch_dims)."""
    batch = rules.broadcast_shapes(a[:-2], b[:-2])
    return (*batch, *a[-2:]), (*batch, *b[-2:])


def is_vector_rhs(a: Tensor, b: Tensor) -> bool:
    """Whether b holds vectors, one for each matrix of a (linalg_solve_is_vector_rhs)."""
    return b.ndim == 1 or (a.ndim - 1 == b.ndim and tuple(b.shape) == tuple(a.shape[:-1]))


def column_strides(sizes: Ints) -> tuple[int, ...]:
    """Strides of a batch of matrices whose columns are contiguous."""
    strides = rules.contiguous_strides(sizes)
    if len(sizes) < 2:
        return strides
    return (*strides[:-2], 1, rules.larger(sizes[-2], 1))


def column_major(sizes: Ints, kind: dtype, copied: bool = False) -> TensorSpec:
    """An output of such matrices; `copied` as in TensorSpec."""
    return TensorSpec(sizes, kind, column_strides(sizes), copied=copied)


def unstructured(sizes: Ints, kind: dtype, strides: Ints | None = None) -> TensorSpec:
    """An output of an operator that PyTorch has not as a structured one."""
    return TensorSpec(sizes, kind, strides, cast="safe", overlap="any", copied=True)


def info_of(a: Tensor, copied: bool = False) -> TensorSpec:
    """A number for each matrix that says how LAPACK fared."""
    return TensorSpec(a.shape[:-2], dtypes.int32, copied=copied)
