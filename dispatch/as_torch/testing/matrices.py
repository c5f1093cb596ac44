"""Random matrices with a property, as tests of linear algebra draw them (`common_utils`)."""

from typing import Any

import dispatch
from dispatch.as_torch.testing.making import make_tensor

__all__ = [
    "make_fullrank_matrices_with_distinct_singular_values", "make_symmetric_matrices",
    "make_symmetric_pd_matrices", "random_hermitian_matrix", "random_hermitian_pd_matrix",
    "random_hermitian_psd_matrix", "random_lowrank_matrix", "random_matrix",
    "random_square_matrix_of_rank", "random_symmetric_matrix", "random_symmetric_pd_matrix",
    "random_symmetric_psd_matrix", "random_well_conditioned_matrix",
]  # fmt: skip

Tensor = dispatch.Tensor


def _square(size: int, batches: tuple[int, ...], kwargs: Any) -> Tensor:
    dtype = kwargs.get("dtype", dispatch.double)
    return dispatch.randn((*batches, size, size), dtype=dtype, device=kwargs.get("device", "cpu"))


def _near_zero(like: Tensor, scale: float = 1e-5) -> Tensor:
    return dispatch.eye(like.shape[-1], dtype=like.dtype, device=like.device) * scale


def _drawn_square(shape: tuple[int, ...], device: Any, dtype: Any) -> Tensor:
    if shape[-1] != shape[-2]:
        raise AssertionError(f"square matrices have equal last sizes, not {shape}")
    drawn: Tensor = make_tensor(shape, device=device, dtype=dtype)
    return drawn


def random_symmetric_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Equal to its transpose."""
    a = _square(size, batches, kwargs)
    return (a + a.mT).div_(2)


def random_hermitian_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Equal to its adjoint."""
    a = _square(size, batches, kwargs)
    return (a + a.mH).div_(2)


def random_symmetric_psd_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Symmetric, no eigenvalue below 0."""
    a = _square(size, batches, kwargs)
    return a @ a.mT


def random_hermitian_psd_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Hermitian, no eigenvalue below 0."""
    a = _square(size, batches, kwargs)
    return a @ a.mH


def random_symmetric_pd_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Symmetric, all eigenvalues above 0."""
    a = _square(size, batches, kwargs)
    return a @ a.mT + _near_zero(a)


def random_hermitian_pd_matrix(size: int, *batches: int, **kwargs: Any) -> Tensor:
    """Hermitian, all eigenvalues at least 1."""
    a = _square(size, batches, kwargs)
    return a @ a.mH + _near_zero(a, 1)


def make_symmetric_matrices(*shape: int, device: Any, dtype: Any) -> Tensor:
    """Of this shape, equal to their transposes."""
    t = _drawn_square(shape, device, dtype)
    return (t + t.mT).div_(2)


def make_symmetric_pd_matrices(*shape: int, device: Any, dtype: Any) -> Tensor:
    """Of this shape, symmetric, all eigenvalues above 0."""
    t = _drawn_square(shape, device, dtype)
    return t @ t.mT + _near_zero(t)


def random_square_matrix_of_rank(
    size: int, rank: int, dtype: Any = dispatch.double, device: Any = "cpu"
) -> Tensor:
    """Square, of this rank."""
    if rank > size:
        raise AssertionError(f"a matrix of {size} rows has no rank {rank}")
    u, s, vh = dispatch.linalg.svd(dispatch.randn(size, size, dtype=dtype, device=device), False)
    s[:rank][s[:rank] == 0] = 1
    s[rank:] = 0
    return (u * s.to(dtype).unsqueeze(-2)) @ vh


def random_matrix(rows: int, columns: int, *batches: int, **kwargs: Any) -> Tensor:
    """Singular values from 1 down to 1/(k+1); `singular=True`: the last is 0, and the first too."""
    dtype, device = kwargs.get("dtype", dispatch.double), kwargs.get("device", "cpu")
    a = dispatch.randn((*batches, rows, columns), dtype=dtype, device=device)
    if a.numel() == 0:
        return a
    u, _, vh = dispatch.linalg.svd(a, full_matrices=False)
    k = min(rows, columns)
    s = dispatch.linspace(1 / (k + 1), 1, k, dtype=dtype, device=device)
    if kwargs.get("singular"):
        s[k - 1] = 0
        if k > 2:
            s[0] = 0
    return (u * s.unsqueeze(-2)) @ vh


def random_lowrank_matrix(
    rank: int, rows: int, columns: int, *batches: int, **kwargs: Any
) -> Tensor:
    """Of this rank."""
    left = random_matrix(rows, rank, *batches, **kwargs)
    return left.matmul(random_matrix(rank, columns, *batches, **kwargs))


def random_well_conditioned_matrix(
    *shape: int, dtype: Any, device: Any, mean: float = 1.0, sigma: float = 0.001
) -> Tensor:
    """Singular values around `mean`, the nearer the smaller `sigma` is."""
    x = dispatch.rand(shape, dtype=dtype, device=device)
    u, s, vh = dispatch.linalg.svd(x, full_matrices=False)
    s = dispatch.randn(s.shape, dtype=s.dtype, device=device) * sigma + mean
    return (u * s.sort(-1, descending=True).values.to(dtype).unsqueeze(-2)) @ vh


def make_fullrank_matrices_with_distinct_singular_values(
    *shape: int, device: Any, dtype: Any, requires_grad: bool = False
) -> Tensor:
    """Singular values between 2/3 and 3/2, no two of them equal."""
    with dispatch.no_grad():
        t = make_tensor(shape, device=device, dtype=dtype)
        u, s, vh = dispatch.linalg.svd(t, full_matrices=False)
        s = dispatch.arange(2, s.shape[-1] + 2, dtype=s.dtype, device=device)
        s[1::2] *= -1.0
        s.reciprocal_().add_(1.0)
        x = (u * s.to(u.dtype)) @ vh
    return x.requires_grad_(requires_grad)
