"""Factories of sparse tensors: sizes are found, parts are checked, and a backend makes the tensor.

No backend here does: a call with right parts ends in the error that names the kernel that is
missing, one with wrong parts in an error about them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dispatch._C import dtypes
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "gather_sparse_backward",
    "sparse_bsc_tensor_ccol_row_value",
    "sparse_bsc_tensor_ccol_row_value_size",
    "sparse_bsc_tensor_unsafe",
    "sparse_bsr_tensor_crow_col_value",
    "sparse_bsr_tensor_crow_col_value_size",
    "sparse_bsr_tensor_unsafe",
    "sparse_compressed_tensor_comp_plain_value",
    "sparse_compressed_tensor_comp_plain_value_size",
    "sparse_compressed_tensor_unsafe",
    "sparse_coo_tensor_indices",
    "sparse_coo_tensor_indices_size",
    "sparse_coo_tensor_size",
    "sparse_coo_tensor_unsafe",
    "sparse_csc_tensor_ccol_row_value",
    "sparse_csc_tensor_ccol_row_value_size",
    "sparse_csc_tensor_unsafe",
    "sparse_csr_tensor_crow_col_value",
    "sparse_csr_tensor_crow_col_value_size",
    "sparse_csr_tensor_unsafe",
]

Ints = Sequence[int]
_aten: Any = ops.aten
_ROWS = (dtypes.sparse_csr, dtypes.sparse_bsr)
_BLOCKS = (dtypes.sparse_bsr, dtypes.sparse_bsc)


# -- coordinates


def sparse_coo_tensor_size(size: Ints, **options: Any) -> Tensor:
    """Without values."""
    return _aten._sparse_coo_tensor_with_dims(
        len(size), 0, size, **{**options, "layout": dtypes.sparse_coo}
    )


def sparse_coo_tensor_indices(
    indices: Tensor, values: Tensor, *, is_coalesced: bool | None = None, **options: Any
) -> Tensor:
    """As large as the indices need."""
    if indices.ndim != 2:
        raise refused(f"expected indices to be a matrix, got {list(indices.shape)}")
    size = [0] * indices.size(0)
    if indices.numel():
        size = [n + 1 for n in _aten.amax(indices, [1], False).tolist()]
    size += values.shape[1:]
    return sparse_coo_tensor_indices_size(
        indices, values, size, is_coalesced=is_coalesced, **options
    )


def sparse_coo_tensor_indices_size(
    indices: Tensor,
    values: Tensor,
    size: Ints,
    *,
    is_coalesced: bool | None = None,
    **options: Any,
) -> Tensor:
    """With a value for each column of indices."""
    _aten._validate_sparse_coo_tensor_args(indices, values, size, is_coalesced)
    return sparse_coo_tensor_unsafe(indices, values, size, is_coalesced=is_coalesced, **options)


def sparse_coo_tensor_unsafe(
    indices: Tensor,
    values: Tensor,
    size: Ints,
    *,
    is_coalesced: bool | None = None,
    **options: Any,
) -> Tensor:
    """The same, unchecked."""
    given = {"dtype": values.dtype, "device": values.device} | {
        name: option for name, option in options.items() if option is not None
    }
    given["layout"] = dtypes.sparse_coo
    sparse = indices.size(0)
    return _aten._sparse_coo_tensor_with_dims_and_tensors(
        sparse, len(size) - sparse, size, indices, values, is_coalesced=is_coalesced, **given
    )


def gather_sparse_backward(self: Tensor, dim: int, index: Tensor, grad: Tensor) -> Tensor:
    """The gradient of gather: a value for each place that was read."""
    if not grad.ndim or not self.ndim:
        return sparse_coo_tensor_unsafe(_aten.view(index, [1, 1]), grad, self.shape)
    places = []
    for d, length in enumerate(grad.shape):
        if d == dim % self.ndim:
            places.append(_aten.reshape(index, [-1]))
        else:
            steps = _aten.arange(length, dtype=dtypes.int64, device=grad.device)
            shape = [-1 if i == d else 1 for i in range(grad.ndim)]
            places.append(_aten.reshape(_aten.expand(_aten.view(steps, shape), grad.shape), [-1]))
    return sparse_coo_tensor_unsafe(_aten.stack(places), _aten.reshape(grad, [-1]), self.shape)


# -- compressed rows and columns


def sparse_compressed_tensor_unsafe(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Ints,
    *,
    layout: dtypes.layout | None = None,
    **options: Any,
) -> Tensor:
    """Unchecked; nothing here makes one."""
    raise refused(f"no kernel makes a tensor in layout {layout}", NotImplementedError)


def sparse_compressed_tensor_comp_plain_value_size(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Ints,
    *,
    layout: dtypes.layout | None = None,
    **options: Any,
) -> Tensor:
    """With a value for each of the plain indices."""
    if layout is None:
        raise refused("expected a compressed sparse layout, got None")
    parts = (compressed_indices, plain_indices, values, size)
    _aten._validate_sparse_compressed_tensor_args(*parts, layout)
    return _aten._sparse_compressed_tensor_unsafe(*parts, layout=layout, **options)


def sparse_compressed_tensor_comp_plain_value(
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    *,
    layout: dtypes.layout | None = None,
    **options: Any,
) -> Tensor:
    """As large as the indices need."""
    if layout is None:
        raise refused("expected a compressed sparse layout, got None")
    batch = compressed_indices.ndim - 1
    block = list(values.shape[batch + 1 : batch + 3]) if layout in _BLOCKS else [1, 1]
    n_plain = _aten.item(_aten.max(plain_indices)) + 1 if plain_indices.numel() else 0
    counts = [compressed_indices.size(-1) - 1, n_plain]
    if layout not in _ROWS:
        counts.reverse()
    lengths = [count * width for count, width in zip(counts, block, strict=True)]
    dense = values.shape[batch + 1 + (2 if layout in _BLOCKS else 0) :]
    size = [*compressed_indices.shape[:-1], *lengths, *dense]
    parts = (compressed_indices, plain_indices, values, size)
    return sparse_compressed_tensor_comp_plain_value_size(*parts, layout=layout, **options)


def _with_layout(call: Callable[..., Tensor], layout: dtypes.layout) -> Callable[..., Tensor]:
    """The same for one layout; another one that is asked for is refused."""

    def kernel(*parts: Any, **options: Any) -> Tensor:
        asked = options.pop("layout", None)
        if asked not in (None, dtypes.strided, layout):
            raise refused(f"expected layout {layout}, got {asked}")
        return call(*parts, layout=layout, **options)

    return kernel


_plain = sparse_compressed_tensor_comp_plain_value
_sized = sparse_compressed_tensor_comp_plain_value_size
_unsafe = sparse_compressed_tensor_unsafe

sparse_csr_tensor_crow_col_value = _with_layout(_plain, dtypes.sparse_csr)
sparse_csr_tensor_crow_col_value_size = _with_layout(_sized, dtypes.sparse_csr)
sparse_csr_tensor_unsafe = _with_layout(_unsafe, dtypes.sparse_csr)
sparse_csc_tensor_ccol_row_value = _with_layout(_plain, dtypes.sparse_csc)
sparse_csc_tensor_ccol_row_value_size = _with_layout(_sized, dtypes.sparse_csc)
sparse_csc_tensor_unsafe = _with_layout(_unsafe, dtypes.sparse_csc)
sparse_bsr_tensor_crow_col_value = _with_layout(_plain, dtypes.sparse_bsr)
sparse_bsr_tensor_crow_col_value_size = _with_layout(_sized, dtypes.sparse_bsr)
sparse_bsr_tensor_unsafe = _with_layout(_unsafe, dtypes.sparse_bsr)
sparse_bsc_tensor_ccol_row_value = _with_layout(_plain, dtypes.sparse_bsc)
sparse_bsc_tensor_ccol_row_value_size = _with_layout(_sized, dtypes.sparse_bsc)
sparse_bsc_tensor_unsafe = _with_layout(_unsafe, dtypes.sparse_bsc)
