"""Checks of what a sparse tensor is made from: indices and values, which are plain tensors.

Each returns nothing and raises a RuntimeError for the first rule that does not hold, in the order
of PyTorch's own checks: layouts, dimensions, sizes, dtypes, and then what the indices say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "validate_sparse_bsc_tensor_args",
    "validate_sparse_bsr_tensor_args",
    "validate_sparse_compressed_tensor_args",
    "validate_sparse_coo_tensor_args",
    "validate_sparse_csc_tensor_args",
    "validate_sparse_csr_tensor_args",
]

_aten = ops.aten
_ROWS = (dtypes.sparse_csr, dtypes.sparse_bsr)
_BLOCKS = (dtypes.sparse_bsr, dtypes.sparse_bsc)
_COMPRESSED = (*_ROWS, dtypes.sparse_csc, dtypes.sparse_bsc)


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise refused(text)


def validate_sparse_coo_tensor_args(
    indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    is_coalesced: bool | None = None,
    check_pinning: bool | None = None,
) -> None:
    """Columns of indices, none of them out of `size`, and the dense sizes of the values."""
    _check(indices.ndim == 2, f"expected indices to be a matrix, got {list(indices.shape)}")
    _check(
        not indices.dtype.is_floating_point and not indices.dtype.is_complex,
        f"expected indices of integers, got {indices.dtype}",
    )
    sparse, dense = indices.size(0), values.ndim - 1
    _check(
        len(size) == sparse + dense,
        f"expected {sparse} sparse and {dense} dense dimensions, got size {list(size)}",
    )
    wanted = list(size[sparse:])
    got = list(values.shape[1:])
    _check(got == wanted, f"expected values with dense sizes {wanted}, got {got}")
    if not indices.numel():
        return
    lowest = _aten.amin(indices, [1], False).tolist()
    highest = _aten.amax(indices, [1], False).tolist()
    for d in range(sparse):
        _check(lowest[d] >= 0, f"found index {lowest[d]} for dimension {d}")
        _check(highest[d] < size[d], f"index {highest[d]} does not fit size {size[d]} of {d}")
    if is_coalesced:
        places = indices[0]
        for d in range(1, sparse):
            places = places * size[d] + indices[d]
        ordered = bool((places[1:] > places[:-1]).all())
        _check(ordered, "indices that are coalesced must ascend, each once")


def validate_sparse_compressed_tensor_args(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    layout: dtypes.layout,
    check_pinning: bool | None = None,
) -> None:
    """Starts of rows (or columns), and for each value its place in them."""
    _check(layout in _COMPRESSED, f"expected a compressed layout, got {layout}")
    for name, t in (("compressed", compressed_indices), ("plain", plain_indices)):
        _check(t.layout is dtypes.strided, f"expected strided {name}_indices, got {t.layout}")
        _check(t.ndim >= 1, f"expected {name}_indices of 1 dimension or more, got {t.ndim}")
    _check(compressed_indices.ndim == plain_indices.ndim, "indices differ in their dimensions")
    batch, block = compressed_indices.ndim - 1, 2 if layout in _BLOCKS else 0
    dense = values.ndim - batch - block - 1
    _check(dense >= 0, f"values of {values.ndim} dimensions, {batch + block + 1} or more expected")
    _check(
        len(size) == batch + 2 + dense,
        f"expected size of {batch} + 2 + {dense} dimensions, got {list(size)}",
    )
    batches = [list(t.shape[:batch]) for t in (compressed_indices, plain_indices, values)]
    _check(
        all(shape == list(size[:batch]) for shape in batches),
        f"expected batches of {list(size[:batch])}, got {batches}",
    )
    blocks = list(values.shape[batch + 1 : batch + 1 + block]) or [1, 1]
    _check(
        all(b > 0 and size[batch + i] % b == 0 for i, b in enumerate(blocks)),
        f"blocks of {blocks} do not divide size {list(size[batch : batch + 2])}",
    )
    counts = [size[batch + i] // blocks[i] for i in range(2)]
    n_compressed, n_plain = counts if layout in _ROWS else counts[::-1]
    _check(
        list(values.shape[batch + 1 + block :]) == list(size[batch + 2 :]),
        f"values of shape {list(values.shape)} do not fit size {list(size)}",
    )
    nnz = plain_indices.size(-1)
    _check(values.size(batch) == nnz, f"{nnz} plain_indices for {values.size(batch)} values")
    _check(
        compressed_indices.size(-1) == n_compressed + 1,
        f"expected {n_compressed + 1} compressed_indices, got {compressed_indices.size(-1)}",
    )
    kind = compressed_indices.dtype
    _check(
        kind in (dtypes.int32, dtypes.int64) and plain_indices.dtype is kind,
        f"expected both indices in int32 or int64, got {kind} and {plain_indices.dtype}",
    )
    _aten._validate_compressed_sparse_indices(
        layout in _ROWS, compressed_indices, plain_indices, n_compressed, n_plain, nnz
    )


def _of(layout: dtypes.layout) -> Callable[..., None]:
    def kernel(
        compressed: Tensor,
        plain: Tensor,
        values: Tensor,
        size: Sequence[int],
        check_pinning: bool | None = None,
    ) -> None:
        validate_sparse_compressed_tensor_args(compressed, plain, values, size, layout)

    return kernel


validate_sparse_csr_tensor_args = _of(dtypes.sparse_csr)
validate_sparse_csc_tensor_args = _of(dtypes.sparse_csc)
validate_sparse_bsr_tensor_args = _of(dtypes.sparse_bsr)
validate_sparse_bsc_tensor_args = _of(dtypes.sparse_bsc)
