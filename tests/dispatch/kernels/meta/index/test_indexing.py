"""Reading and writing by index and by mask: sizes, strides and errors, on meta tensors.

Expected values are PyTorch 2.13's for fake tensors.
"""

from __future__ import annotations

from typing import Any

import pytest

import dispatch
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


def geometry(t: core.Tensor) -> tuple[Ints, Ints]:
    return tuple(t.shape), tuple(t.stride())


@pytest.mark.parametrize(
    ("indices", "sizes"),
    [
        ([index_of(2)], (2, 3, 4, 5)),
        ([None, index_of(7)], (2, 7, 4, 5)),
        ([None, index_of(2, 1), index_of(3)], (2, 2, 3, 5)),
        ([index_of(6), None, index_of(6)], (6, 3, 5)),
        ([None, index_of(2, 1), None, index_of(3)], (2, 3, 2, 4)),
        ([index_of()], (3, 4, 5)),
        ([index_of(2, dtype="int32")] * 4, (2,)),
    ],
)
def test_indices_replace_their_dimensions_or_come_first(indices: list[Any], sizes: Ints) -> None:
    """Indices that are not side by side put their dimensions in front."""
    assert tuple(aten.index.Tensor(meta((2, 3, 4, 5)), indices).shape) == sizes


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([index_of(2)], ((2, 3, 2, 4), (24, 4, 12, 1))),
        ([None, index_of(2)], ((5, 2, 2, 4), (1, 20, 40, 5))),
        ([index_of(2), None, index_of(2)], ((2, 3, 4), (12, 4, 1))),
        ([index_of()], ((3, 2, 4), (1, 3, 6))),
    ],
)
def test_result_of_index_keeps_the_order_of_permuted_dimensions(
    indices: list[Any], expected: tuple[Ints, Ints]
) -> None:
    """The last case is what PyTorch's Meta kernel makes of a 0-d index."""
    permuted = meta((5, 3, 2, 4), (1, 20, 60, 5))
    assert geometry(aten.index.Tensor(permuted, indices)) == expected


@pytest.mark.parametrize(
    ("indices", "error"),
    [
        ([], RuntimeError),
        ([index_of(2, dtype="float32")], RuntimeError),
        ([index_of(2)] * 3, RuntimeError),
        ([index_of(2), index_of(3)], RuntimeError),
        ([index_of(3, dtype="bool")], NotImplementedError),
    ],
)
def test_bad_indices_raise_the_types_of_the_meta_kernel(
    indices: list[Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"aten::|broadcast"):
        aten.index.Tensor(meta((3, 4)), indices)


def test_index_put_takes_a_mask_without_knowing_its_count() -> None:
    self = meta((4, 3), (1, 4))
    put = aten.index_put(self, [index_of(4, dtype="bool")], meta((3,)))
    assert geometry(put) == ((4, 3), (1, 4))
    assert aten.index_put_(self, [index_of(4, dtype="bool")], meta((3,))) is self


@pytest.mark.parametrize(
    ("indices", "values", "error"),
    [
        ([index_of(2)], meta((3, 4)), RuntimeError),
        ([index_of(2)], meta((2, 4), dtype="float64"), RuntimeError),
        ([index_of(2)], meta((1,), dtype="float64"), RuntimeError),
        ([index_of(2, dtype="float32")], meta((4,)), IndexError),
        ([index_of(4, dtype="bool")], meta((4,)), IndexError),
        ([index_of(2)] * 3, meta((2,)), IndexError),
    ],
)
def test_index_put_refuses_what_does_not_fit(
    indices: list[Any], values: core.Tensor, error: type[Exception]
) -> None:
    """With data alone: PyTorch's Meta kernel checks nothing."""
    assert aten.index_put(meta((3, 4)), indices, values).shape == (3, 4)
    *places, new = (dispatch.zeros(*t.shape, dtype=t.dtype) for t in (*indices, values))
    with pytest.raises(error, match="aten::index_put"):
        aten.index_put(dispatch.zeros(3, 4), places, new)


def test_gather_is_contiguous_of_the_shape_of_index() -> None:
    index = meta((3, 2), (1, 3), "int64")
    assert geometry(aten.gather(meta((3, 4)), 1, index)) == ((3, 2), (2, 1))
    assert geometry(aten.gather(meta((3, 4)), 0, meta((0,)))) == ((0,), (1,))


@pytest.mark.parametrize(
    ("dim", "index", "error"),
    [
        (2, index_of(2, 2), IndexError),
        (0, index_of(2), RuntimeError),
        (0, index_of(2, 5), RuntimeError),
        (0, index_of(2, 2, dtype="float32"), RuntimeError),
    ],
)
def test_gather_refuses_what_does_not_fit(
    dim: int, index: core.Tensor, error: type[Exception]
) -> None:
    with pytest.raises(error):
        aten.gather(meta((3, 4)), dim, index)


def test_gather_does_not_write_to_what_it_reads() -> None:
    self, index = meta((3,)), index_of(3)
    for out in (self, meta((3,), (0,))):
        with pytest.raises(RuntimeError, match=r"aten::gather.out.*clone"):
            aten.gather.out(self, 0, index, out=out)


def test_scatter_may_write_to_self_but_not_to_src() -> None:
    self, index, src = meta((3, 4)), index_of(2, 2), meta((3, 4))
    assert aten.scatter.src_out(self, 0, index, src, out=self) is self
    with pytest.raises(RuntimeError, match="argument 'src'"):
        aten.scatter.src_out(self, 0, index, src, out=src)


@pytest.mark.parametrize("op", [aten.scatter.src, aten.scatter_add, aten.scatter_.src])
@pytest.mark.parametrize(
    ("index", "src"),
    [
        (index_of(2, 5), meta((2, 5))),
        (index_of(2, 3), meta((2, 2))),
        (index_of(2, 2), meta((2, 2), dtype="float64")),
        (index_of(2), meta((2, 2))),
        (index_of(2, 2, dtype="int16"), meta((2, 2))),
    ],
)
def test_scatter_refuses_what_does_not_fit(op: Any, index: core.Tensor, src: core.Tensor) -> None:
    with pytest.raises(RuntimeError, match="aten::scatter"):
        op(meta((3, 4)), 0, index, src)


def test_scatter_reduce_knows_its_reductions() -> None:
    arguments = meta((3, 4)), 0, index_of(2, 2), meta((2, 2))
    assert geometry(aten.scatter_reduce.two(*arguments, "amax")) == ((3, 4), (4, 1))
    with pytest.raises(RuntimeError, match="reduce argument must be either sum, prod,"):
        aten.scatter_reduce.two(*arguments, "add")


def test_index_select_along_any_dimension() -> None:
    self = meta((2, 3, 4, 4), (48, 1, 12, 3))
    assert geometry(aten.index_select(self, -3, index_of(5))) == ((2, 5, 4, 4), (80, 16, 4, 1))
    assert geometry(aten.index_select(meta(()), 0, index_of(1))) == ((), ())
    with pytest.raises(IndexError):
        aten.index_select(self, 4, index_of(5))


def test_masked_fill_is_contiguous_and_broadcasts() -> None:
    mask = meta((2, 1), dtype="bool")
    filled = aten.masked_fill.Scalar(meta((2, 3), (1, 2)), mask, 1.0)
    assert geometry(filled) == ((2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="broadcast"):
        aten.masked_fill_.Scalar(meta((1,)), mask, 1.0)


@pytest.mark.parametrize(
    ("mask", "value"),
    [
        (meta((3,), dtype="uint8"), meta(())),
        (meta((3,), dtype="bool"), meta((1,))),
        (meta((3,), dtype="bool"), meta((), dtype="complex64")),
    ],
)
def test_masked_fill_refuses_other_masks_and_values(mask: core.Tensor, value: core.Tensor) -> None:
    with pytest.raises(RuntimeError, match="aten::masked_fill"):
        aten.masked_fill.Tensor(meta((3,)), mask, value)


def test_masked_scatter_takes_bytes_where_there_is_no_data() -> None:
    result = aten.masked_scatter(meta((3,)), meta((2, 3), dtype="uint8"), meta((6,)))
    assert geometry(result) == ((2, 3), (3, 1))
    with pytest.raises(RuntimeError, match="mask"):
        aten.masked_scatter(meta((3,)), meta((3,)), meta((6,)))


def test_nonzero_has_no_sizes_without_values() -> None:
    with pytest.raises(NotImplementedError, match="aten::nonzero"):
        aten.nonzero(meta((3,)))


def test_without_data_what_is_added_by_index_has_any_sizes_beside_the_dimension() -> None:
    """PyTorch's Meta kernel counts indices, and leaves the rest to a write without checks."""
    index = dispatch.zeros(2, dtype=dispatch.int64)
    for source in (dispatch.ones(2), dispatch.ones(2, 2, dtype=dispatch.float64)):
        with pytest.raises(RuntimeError):
            ops.aten.index_add(dispatch.zeros(3, 2), 0, index, source)
        given = dispatch.zeros(3, 2, device="meta"), index.to("meta"), source.to("meta")
        assert ops.aten.index_add(given[0], 0, *given[1:]).shape == (3, 2)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("name", ["index_add", "index_copy", "index_reduce"])
def test_a_written_copy_is_contiguous(name: str, device: str) -> None:
    x = ops.aten.permute(ops.aten.ones([4, 5, 6], device=device), [2, 0, 1])
    index = ops.aten.arange(3, device=device)
    more = ["amin"] if name == "index_reduce" else []
    written = getattr(ops.aten, name)(x, 0, index, ops.aten.ones([3, 4, 5], device=device), *more)
    assert written.stride() == (20, 5, 1)


@pytest.mark.parametrize("place", [dispatch.tensor([0, 1]), dispatch.tensor([True, True, False])])
def test_values_are_judged_by_their_shape_before_their_dtype(place):
    for values, wrong in ((dispatch.zeros(5), "shape mismatch"), (dispatch.zeros(2), "same dtype")):
        with pytest.raises(RuntimeError, match=wrong):
            dispatch.zeros(3, dtype=dispatch.int64)[place] = values


def test_no_index_fits_in_a_dimension_of_size_0():
    for dim, sizes in enumerate([(0, 3), (3, 0)]):
        at = (slice(None),) * dim + (dispatch.tensor([0]),)
        with pytest.raises(IndexError, match=f"dimension with size 0: dimension {dim}"):
            dispatch.ones(sizes)[at]
    assert dispatch.ones(0, 3)[dispatch.tensor([], dtype=dispatch.int64)].shape == (0, 3)


@pytest.mark.parametrize("indices", [[None, None], [dispatch.tensor([0]), None, None]])
def test_places_without_an_index_count_too(indices):
    with pytest.raises(IndexError, match="too many indices"):
        ops.aten.index.Tensor(dispatch.ones(2), indices)


def test_on_meta_int8_is_a_mask_and_uint8_an_error() -> None:
    x = meta((2, 3))
    with pytest.raises(NotImplementedError, match="index"):
        aten.index(x, [index_of(2, dtype="int8")])
    with pytest.raises(RuntimeError, match=r"index.*uint8"):
        aten.index(x, [index_of(2, dtype="uint8")])
    with pytest.raises(IndexError, match=r"index.*int8"):
        aten.index(dispatch.zeros(2, 3), [dispatch.zeros(2, dtype=dispatch.int8)])


@pytest.mark.parametrize("truth", [True, False])
def test_a_mask_without_dimensions_names_none(truth: bool) -> None:
    x, mask = dispatch.arange(6.0).reshape(2, 3), dispatch.tensor(truth)
    row = aten.index(x, [mask, dispatch.tensor(1)])
    assert row.tolist() == [3.0, 4.0, 5.0]
    put = aten.index_put(x, [dispatch.tensor(1), mask], dispatch.ones(3))
    assert put.tolist() == [[0.0, 1.0, 2.0], [1.0, 1.0, 1.0]]
