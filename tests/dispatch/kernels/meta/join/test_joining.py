"""cat and stack: dtype, sizes, memory format and errors, on meta tensors."""

from __future__ import annotations

import pytest

from dispatch import ops
from dispatch._C import tensor as core
from tests.dispatch.kernels.meta.index.test_indexing import Ints, geometry, meta

aten = ops.aten
CHANNELS_LAST = (48, 1, 12, 3)


def image() -> core.Tensor:
    return meta((2, 3, 4, 4), CHANNELS_LAST)


def test_cat_keeps_a_memory_format_that_all_tensors_have() -> None:
    assert geometry(aten.cat([image(), image()], 1)) == ((2, 6, 4, 4), (96, 1, 24, 6))
    mixed = aten.cat([image(), meta((2, 3, 4, 4))], 1)
    assert geometry(mixed) == ((2, 6, 4, 4), (96, 16, 4, 1))


@pytest.mark.parametrize("dim", [0, 1])
def test_cat_of_several_memory_formats_is_contiguous(dim: int) -> None:
    plain, last = meta((2, 3, 4, 4)), image()
    for tensors in ([plain, last], [last, plain], [last, last, plain], [last, meta((0,))]):
        assert aten.cat(tensors, dim).is_contiguous()
    assert not aten.cat([last, last], dim).is_contiguous()


def test_cat_skips_empty_tensors_of_one_dimension_but_not_their_dtype() -> None:
    joined = aten.cat([meta((0,), dtype="float64"), image()], 1)
    assert geometry(joined) == ((2, 3, 4, 4), (48, 16, 4, 1))
    assert joined.dtype.itemsize == 8
    assert geometry(aten.cat([meta((0,)), meta((0,))], 5)) == ((0,), (1,))


@pytest.mark.parametrize(
    ("sizes", "dim", "error"),
    [
        ([(2, 3), (3, 3)], 1, RuntimeError),
        ([(2, 3), (2, 3, 1)], 0, RuntimeError),
        ([(2, 3), (3,)], 0, RuntimeError),
        ([(2, 3), (2, 4)], 0, RuntimeError),
        ([(2, 3, 4), (2, 3, 5)], 1, RuntimeError),
        ([(2, 3), (2, 3)], 2, IndexError),
        ([(), ()], 0, IndexError),
    ],
)
def test_cat_refuses_what_does_not_fit(sizes: list[Ints], dim: int, error: type[Exception]) -> None:
    with pytest.raises(error):
        aten.cat([meta(s) for s in sizes], dim)


def test_cat_into_out_casts_and_resizes() -> None:
    out = meta((0,), dtype="float64")
    assert aten.cat.out([image(), image()], 1, out=out) is out
    assert geometry(out) == ((2, 6, 4, 4), (96, 16, 4, 1))
    with pytest.raises(RuntimeError, match=r"aten::cat.out"):
        aten.cat.out([image()], out=meta((0,), dtype="int64"))


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        (0, ((2, 2, 3, 4, 4), (96, 48, 1, 12, 3))),
        (-1, ((2, 3, 4, 4, 2), (96, 32, 8, 2, 1))),
    ],
)
def test_stack_is_a_view_of_cat(dim: int, expected: tuple[Ints, Ints]) -> None:
    assert geometry(aten.stack([image(), image()], dim)) == expected


def test_stack_wants_equal_sizes() -> None:
    for dim in (0, 1):
        with pytest.raises(RuntimeError, match=r"aten::stack.*\[3\] at entry 1"):
            aten.stack([meta((2,)), meta((3,))], dim)
    with pytest.raises(IndexError):
        aten.stack([meta((2,))], 2)
