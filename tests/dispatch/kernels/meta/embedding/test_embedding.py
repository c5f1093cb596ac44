"""Look-ups in tables and bags of rows: sizes and errors, on meta tensors.

Expected values are PyTorch 2.13's for fake tensors.
"""

from __future__ import annotations

import pytest

from dispatch import ops
from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch.kernels.meta import rules

aten = ops.aten
Ints = tuple[int, ...]


def meta(sizes: Ints, strides: Ints | None = None, dtype: str = "float32") -> core.Tensor:
    steps = rules.contiguous_strides(sizes) if strides is None else strides
    storage = _new_storage(1 << 16, "meta")
    return arrays._new_strided(storage, getattr(dtypes, dtype), sizes, steps, 0)


def index_of(*sizes: int, dtype: str = "int64") -> core.Tensor:
    return meta(sizes, dtype=dtype)


@pytest.mark.parametrize(
    ("indices", "sizes"), [(index_of(), (4,)), (index_of(2, 3), (2, 3, 4)), (index_of(0), (0, 4))]
)
def test_embedding_adds_the_rows_to_the_indices(indices: core.Tensor, sizes: Ints) -> None:
    assert tuple(aten.embedding(meta((10, 4)), indices).shape) == sizes


def test_embedding_refuses_a_weight_that_is_no_matrix() -> None:
    """PyTorch's Meta kernel asserts it."""
    with pytest.raises(AssertionError, match=r"aten::embedding.*weight"):
        aten.embedding(meta((4,)), index_of(2))
    with pytest.raises(RuntimeError, match=r"aten::embedding.*indices"):
        aten.embedding(meta((4, 4)), index_of(2, dtype="float32"))


@pytest.mark.parametrize(
    ("mode", "last_offset", "padding_idx", "sizes"),
    [
        (0, False, -1, [(3, 4), (0,), (3,), (3,)]),
        (0, False, 1, [(3, 4), (6,), (3,), (3,)]),
        (1, True, -1, [(2, 4), (6,), (2,), (2,)]),
        (2, True, -1, [(2, 4), (6,), (2,), (2, 4)]),
    ],
)
def test_embedding_bag_gives_what_the_cpu_kernel_notes(
    mode: int, last_offset: bool, padding_idx: int, sizes: list[Ints]
) -> None:
    weight, indices, offsets = meta((5, 4)), index_of(6), index_of(3)
    result = aten._embedding_bag(
        weight, indices, offsets, False, mode, False, None, last_offset, padding_idx
    )
    assert [tuple(t.shape) for t in result] == sizes
