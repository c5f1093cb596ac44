"""Promotion, broadcasting, dimensions, strides: the rules that all shape functions share.

Tables are recorded from PyTorch 2.13; properties compare with numpy where it has the same rule.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch._C import arrays, dtypes, tensor as core
from dispatch._C.storage import _new_storage
from dispatch.kernels.meta import rules

Ints = tuple[int, ...]
Geometry = tuple[Ints, Ints]

STORAGE = _new_storage(1 << 16)


def strided(sizes: Ints, strides: Ints, dtype: dtypes.dtype = dtypes.float32) -> core.Tensor:
    return arrays._new_strided(STORAGE, dtype, sizes, strides, 0)


def empty(ndim: int, dtype: str) -> core.Tensor:
    return strided((2,) * ndim, rules.contiguous_strides((2,) * ndim), getattr(dtypes, dtype))


@pytest.fixture
def default_dtype() -> Iterator[None]:
    before = dtypes.get_default_dtype()
    yield
    dtypes.set_default_dtype(before)


@st.composite
def permuted(draw: st.DrawFn, max_dims: int = 5, min_size: int = 0) -> Geometry:
    """Sizes, and strides of a permuted tensor with gaps and broadcast dimensions here and there."""
    sizes = draw(st.lists(st.integers(min_size, 4), max_size=max_dims))
    strides = [0] * len(sizes)
    step = 1
    for dim in draw(st.permutations(range(len(sizes)))):
        strides[dim] = step * draw(st.sampled_from([1, 1, 1, 1, 0]))
        step *= max(sizes[dim], 1) * draw(st.sampled_from([1, 1, 2]))
    return tuple(sizes), tuple(strides)


@st.composite
def reshapes(draw: st.DrawFn, sizes: Ints) -> list[int]:
    """Other sizes with as many elements."""
    left = math.prod(sizes)
    if left == 0:
        return draw(st.sampled_from([[0], [2, 0], [0, 3, 2], list(sizes)]))
    new = draw(st.lists(st.just(1), max_size=2))
    while left > 1:
        size = draw(st.sampled_from([d for d in range(2, left + 1) if left % d == 0]))
        new.append(size)
        left //= size
    return draw(st.permutations(new))


def positions(sizes: Ints, strides: Ints) -> list[int]:
    """Offset of each element, in row-major order of the indices."""
    return [sum(i * s for i, s in zip(ix, strides, strict=True)) for ix in np.ndindex(*sizes)]


# ---- dtypes


@pytest.mark.parametrize(
    "operands, expected",
    [
        # a tensor with dimensions, a 0-d tensor, a number: the category decides between ranks
        (["int8*", "int64."], "int8"),
        (["int8*", 3], "int8"),
        (["int8*", 2.5], "float32"),
        (["int8*", "float64."], "float64"),
        (["float16*", "float64."], "float16"),
        (["float16*", 1j], "complex32"),
        (["bfloat16*", 1j], "complex64"),
        (["float16*", "complex128."], "complex32"),
        (["bool*", 3], "int64"),
        (["bool*", "uint8."], "uint8"),
        (["bool*", True], "bool"),
        ([True, False], "bool"),
        (["complex64*", "complex128."], "complex64"),
        (["complex64*", "float64."], "complex64"),
        (["uint8*", True], "uint8"),
        (["uint8.", 2.5], "float32"),
        (["int32.", "int64*"], "int64"),
        (["uint8*", "int8*"], "int16"),
        (["int32*", "float16.", 1.5], "float16"),
        (["float64.", "float32."], "float64"),
        (["uint16*", 1j], "complex64"),
        (["uint16*", 2.5], "float32"),
        ([1, 2.5], "float32"),
        ([True, 1], "int64"),
        ([None, "float64*"], "float64"),
    ],
    ids=str,
)
def test_result_type(operands: list, expected: str) -> None:
    """`int8*` is a tensor with one dimension, `int8.` a 0-d one."""
    items = [empty("*" in x, x[:-1]) if isinstance(x, str) else x for x in operands]
    assert rules.result_type(*items) is getattr(dtypes, expected)


@pytest.mark.parametrize(
    "default, number, expected",
    [
        ("float64", 2.5, "float64"),
        ("float64", 1j, "complex128"),
        ("float16", 1j, "complex32"),
        ("bfloat16", 2.5, "bfloat16"),
        ("bfloat16", 1j, "complex64"),
        ("float64", 2, "int32"),
    ],
)
def test_numbers_count_as_the_default_dtype(
    default_dtype: None, default: str, number: complex, expected: str
) -> None:
    dtypes.set_default_dtype(getattr(dtypes, default))
    assert rules.result_type(empty(1, "int32"), number) is getattr(dtypes, expected)


def test_result_type_without_promotion_names_the_dtypes() -> None:
    with pytest.raises(RuntimeError, match=r"uint16.*int32"):
        rules.result_type(empty(1, "uint16"), empty(1, "int32"))


def test_result_type_refuses_other_objects() -> None:
    with pytest.raises(TypeError, match="str"):
        rules.result_type("1")
    with pytest.raises(ValueError, match="result_type"):
        rules.result_type()


@pytest.mark.parametrize(
    "dtype, as_sum, as_float",
    [
        ("bool", "int64", "float32"),
        ("uint16", "int64", "float32"),
        ("int32", "int64", "float32"),
        ("bfloat16", "bfloat16", "bfloat16"),
        ("complex64", "complex64", "complex64"),
    ],
)
def test_types_of_sums_and_of_float_operators(dtype: str, as_sum: str, as_float: str) -> None:
    d = getattr(dtypes, dtype)
    assert rules.sum_type(d) is getattr(dtypes, as_sum)
    assert rules.float_type(d) is getattr(dtypes, as_float)


def test_a_given_type_of_sum_wins() -> None:
    assert rules.sum_type(dtypes.int8, dtypes.float16) is dtypes.float16


# ---- sizes


@given(st.lists(st.lists(st.sampled_from([1, 1, 0, 2, 3]), max_size=4), min_size=1, max_size=4))
def test_broadcasting_agrees_with_numpy(shapes: list[list[int]]) -> None:
    try:
        expected = np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        with pytest.raises(RuntimeError, match="do not broadcast"):
            rules.broadcast_shapes(*shapes)
    else:
        assert rules.broadcast_shapes(*shapes) == expected


def test_broadcast_error_names_sizes_and_dimension() -> None:
    with pytest.raises(RuntimeError, match=r"\(3\) .* \(4\) .*dimension 1: \(2, 3\) and \(4,\)"):
        rules.broadcast_shapes((2, 3), (4,))


def test_broadcast_takes_an_int_for_one_dimension() -> None:
    assert rules.broadcast_shapes(3, (2, 1)) == (2, 3)


@pytest.mark.parametrize("dim, ndim, expected", [(0, 1, 0), (-1, 3, 2), (2, 3, 2), (-1, 0, 0)])
def test_wrap_dim(dim: int, ndim: int, expected: int) -> None:
    assert rules.wrap_dim(dim, ndim) == expected


@pytest.mark.parametrize(
    "dim, ndim, scalar", [(3, 3, True), (-4, 3, True), (1, 0, True), (-2, 0, True), (0, 0, False)]
)
def test_dim_out_of_range_is_an_index_error(dim: int, ndim: int, scalar: bool) -> None:
    with pytest.raises(IndexError, match=f"imension.* {dim}"):
        rules.wrap_dim(dim, ndim, scalar)


def test_wrap_dims() -> None:
    assert rules.wrap_dims([-1, 0], 3) == (2, 0)
    assert rules.wrap_dims([], 3) == ()


@pytest.mark.parametrize("dims, ndim", [([0, 0], 2), ([1, -1], 2), ([0, -1], 0)])
def test_a_dim_given_twice_is_a_runtime_error(dims: list[int], ndim: int) -> None:
    with pytest.raises(RuntimeError, match="appears multiple times"):
        rules.wrap_dims(dims, ndim)


@given(st.data(), st.lists(st.integers(0, 3), max_size=5), st.booleans())
def test_reduced_sizes_agree_with_numpy(data: st.DataObject, sizes: list[int], keep: bool) -> None:
    dims = data.draw(
        st.lists(st.sampled_from(range(len(sizes))), unique=True) if sizes else st.none()
    )
    axis = tuple(dims) if dims else None
    expected = np.zeros(sizes).sum(axis=axis, keepdims=keep).shape
    assert rules.reduced_sizes(sizes, dims, keep) == expected


def test_a_number_without_dimensions_has_one_to_reduce() -> None:
    assert rules.reduced_sizes((), (0,)) == rules.reduced_sizes((), (-1,), True) == ()
    with pytest.raises(IndexError):
        rules.reduced_sizes((), (1,))


@pytest.mark.parametrize(
    "sizes, expected", [((), 1), ((2, 0), 0), ((2, 3), 6), ((0, 1 << 40, 1 << 40), 0)]
)
def test_numel(sizes: Ints, expected: int) -> None:
    assert rules.numel(sizes) == expected


@pytest.mark.parametrize(
    "sizes, text",
    [((2, -1), "negative"), ((1 << 62, 4), "overflow"), ((1 << 40, 1 << 40, 0), "overflow")],
)
def test_numel_of_impossible_sizes_is_an_error(sizes: Ints, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        rules.numel(sizes)


@pytest.mark.parametrize(
    "shape, numel, expected",
    [
        ((-1,), 6, (6,)),
        ((2, -1), 6, (2, 3)),
        ((2, 3), 6, (2, 3)),
        ((), 1, ()),
        ((2, -1), 0, (2, 0)),
    ],
)
def test_infer_size(shape: Ints, numel: int, expected: Ints) -> None:
    assert rules.infer_size(shape, numel) == expected


@pytest.mark.parametrize(
    "shape, numel, text",
    [
        ((-1, -1), 6, "only one"),
        ((4, -1), 6, "invalid"),
        ((4,), 6, "invalid"),
        ((-2, 3), 6, "invalid shape dimension -2"),
        ((0, -1), 0, "can be any value"),
        ((0, -1), 6, "invalid"),
        ((1 << 62, 4), 0, "invalid"),
        ((1 << 62, 4, -1), 0, "invalid"),
    ],
)
def test_shape_that_does_not_fit_is_an_error(shape: Ints, numel: int, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        rules.infer_size(shape, numel)


def test_more_than_64_dimensions_are_an_error() -> None:
    for rule in (rules.numel, rules.contiguous_strides, rules.broadcast_shapes):
        with pytest.raises(RuntimeError, match="64"):
            rule([1] * 65)


# ---- memory formats


@pytest.mark.parametrize(
    "sizes, strides",
    [((2, 0, 3), (3, 3, 1)), ((0, 3, 4), (12, 4, 1)), ((3, 0), (1, 1)), ((), ()), ((2, 3), (3, 1))],
)
def test_contiguous_strides(sizes: Ints, strides: Ints) -> None:
    assert rules.contiguous_strides(sizes) == strides


@pytest.mark.parametrize(
    "sizes, strides",
    [
        ((2, 3, 4, 5), (60, 1, 15, 3)),
        ((2, 3, 1, 1), (3, 1, 3, 3)),
        ((2, 0, 3, 4), (0, 1, 0, 0)),
        ((2, 3, 0, 4), (0, 1, 12, 3)),
        ((1, 2, 3, 4, 5), (120, 1, 40, 10, 2)),
        ((1, 2, 0, 4, 5), (0, 1, 40, 10, 2)),
    ],
)
def test_channels_last_strides(sizes: Ints, strides: Ints) -> None:
    assert rules.channels_last_strides(sizes) == strides


@pytest.mark.parametrize(
    "sizes, fmt",
    [((2, 3, 4), "channels_last"), ((1, 2, 3, 4), "channels_last_3d"), ((2,), "preserve_format")],
)
def test_a_format_that_does_not_fit_is_an_error(sizes: Ints, fmt: str) -> None:
    with pytest.raises(RuntimeError, match=fmt):
        rules.strides_for(sizes, getattr(dtypes, fmt))


@pytest.mark.parametrize(
    "sizes, strides, fmt",
    [
        ((2, 3, 4, 5), (60, 20, 5, 1), "contiguous_format"),
        ((2, 3, 4, 5), (60, 1, 15, 3), "channels_last"),
        ((2, 3, 4, 5), (240, 1, 30, 3), "channels_last"),  # with gaps
        ((2, 3, 1, 1), (3, 1, 3, 3), "channels_last"),
        ((2, 3, 1, 1), (3, 1, 1, 1), "contiguous_format"),
        ((2, 1, 1, 1), (1, 1, 1, 1), "contiguous_format"),
        ((1, 1, 4, 4), (16, 1, 4, 1), "channels_last"),
        ((1, 1, 4, 4), (16, 16, 4, 1), "contiguous_format"),
        ((2, 3, 0, 5), (0, 1, 15, 3), "contiguous_format"),
        ((2, 3, 4, 5), (60, 0, 15, 3), "contiguous_format"),
        ((2, 2, 3, 4, 5), (120, 1, 40, 10, 2), "channels_last_3d"),
        ((2, 3, 4), (12, 1, 3), "contiguous_format"),
    ],
)
def test_suggest_memory_format(sizes: Ints, strides: Ints, fmt: str) -> None:
    assert rules.suggest_memory_format(strided(sizes, strides)) is getattr(dtypes, fmt)


# ---- the order of dimensions


@given(permuted())
def test_dense_means_each_place_is_used_once(geometry: Geometry) -> None:
    sizes, strides = geometry
    dense = sorted(positions(sizes, strides)) == list(range(math.prod(sizes)))
    assert rules.is_non_overlapping_and_dense(sizes, strides) == dense


@given(permuted())
def test_tensors_own_flags_follow_these_rules(geometry: Geometry) -> None:
    assert rules.is_contiguous(*geometry) == strided(*geometry).is_contiguous()


@pytest.mark.parametrize(
    "sizes, strides, expected",
    [
        ((4, 2, 3), (1, 12, 4), (1, 12, 4)),
        ((3, 5, 4), (4, 0, 1), (20, 4, 1)),
        ((3, 4), (1, 1), (1, 3)),
        ((4, 3), (6, 2), (3, 1)),
        ((2, 3, 2, 5), (60, 1, 30, 3), (30, 1, 15, 3)),
        ((3, 1), (1, 7), (1, 7)),
        ((2, 1, 3), (6, 100, 2), (3, 6, 1)),
        ((2, 1, 3, 1), (6, 100, 2, 0), (3, 6, 1, 1)),
        ((0, 3), (1, 0), (1, 0)),
        ((2, 4, 2, 3), (1, 0, 2, 0), (3, 6, 24, 1)),
        ((3, 4, 2), (0, 1, 4), (8, 1, 4)),
        ((), (), ()),
    ],
)
def test_strides_of_empty_like(sizes: Ints, strides: Ints, expected: Ints) -> None:
    assert rules.dense_like_strides(strided(sizes, strides)) == expected


# sizes and strides of the operands; strides of the output on CPU, and as Meta kernels give them
ELEMENTWISE: list[tuple[list[Geometry], Ints, Ints]] = [
    ([((2, 3), (3, 1)), ((2, 3), (3, 1))], (3, 1), (3, 1)),
    ([((3, 2), (1, 3)), ((3, 2), (1, 3))], (1, 3), (1, 3)),
    ([((3, 2), (1, 3)), ((3, 2), (2, 1))], (1, 3), (1, 3)),
    ([((3, 2), (2, 1)), ((3, 2), (1, 3))], (2, 1), (2, 1)),
    ([((2, 3, 4), (4, 8, 1)), ((4,), (1,))], (4, 8, 1), (4, 8, 1)),
    ([((2, 3, 4), (1, 2, 6)), ((3, 1), (1, 1))], (1, 2, 6), (1, 2, 6)),
    ([((2, 3, 4, 5), (60, 1, 15, 3)), ((3, 1, 1), (1, 1, 1))], (60, 1, 15, 3), (60, 1, 15, 3)),
    (
        [((2, 3, 4, 5), (60, 1, 15, 3)), ((2, 3, 4, 5), (60, 20, 5, 1))],
        (60, 1, 15, 3),
        (60, 1, 15, 3),
    ),
    ([((2, 3, 1, 1), (3, 1, 3, 3)), ((2, 3, 1, 1), (3, 1, 3, 3))], (3, 1, 1, 1), (3, 1, 3, 3)),
    ([((2, 3, 1, 1), (3, 1, 3, 3)), ((1,), (1,))], (3, 1, 3, 3), (3, 1, 3, 3)),
    ([((2, 2, 3, 4, 5), (120, 1, 40, 10, 2))], (120, 1, 40, 10, 2), (120, 1, 40, 10, 2)),
    ([((3, 1), (1, 7))], (1, 1), (1, 1)),
    ([((2, 4, 1, 1), (4, 1, 1, 100))], (4, 1, 1, 1), (4, 1, 1, 8)),
    ([((4, 2, 1), (1, 4, 0))], (1, 4, 0), (1, 4, 1)),
    ([((3, 4), (8, 1))], (4, 1), (4, 1)),
    ([((3, 4), (1, 6))], (1, 3), (1, 3)),
    ([((3, 4), (0, 1))], (4, 1), (4, 1)),
    ([((3, 4), (0, 1)), ((3, 4), (1, 3))], (1, 3), (1, 3)),
    ([((3, 1), (1, 1)), ((1, 4), (4, 1))], (4, 1), (4, 1)),
    ([((), ()), ((3, 4), (1, 3))], (1, 3), (1, 3)),
    ([((1, 1, 3), (100, 50, 1)), ((), ())], (3, 3, 1), (3, 3, 1)),
    ([((1, 3), (1, 1)), ((), ())], (1, 1), (1, 1)),
    ([((2, 0, 3), (1, 2, 2))], (3, 3, 1), (3, 3, 1)),
    ([((2, 0, 3), (1, 2, 2)), ((), ())], (1, 2, 0), (3, 3, 1)),
    ([((3, 0, 2), (1, 6, 3)), ((2,), (1,))], (1, 6, 3), (2, 2, 1)),
    ([((0,), (5,))], (1,), (1,)),
    ([((2, 2, 2), (1, 1, 1)), ((2, 2, 2), (1, 2, 4))], (1, 2, 4), (1, 2, 4)),
    ([((3, 2, 2), (2, 2, 1)), ((3, 2, 2), (1, 3, 6))], (2, 6, 1), (2, 6, 1)),
    ([((1, 1, 3, 1), (9, 5, 2, 5)), ((1, 4, 1, 1), (1, 2, 8, 8))], (12, 3, 1, 12), (12, 3, 1, 12)),
    ([((3, 1, 2, 4), (0, 12, 24, 4)), ((3, 1, 2, 4), (16, 48, 8, 1))], (8, 4, 4, 1), (8, 4, 4, 1)),
    (
        [((2, 1, 2), (0, 1, 2)), ((2, 3, 1), (1, 2, 1)), ((1, 1, 2), (1, 1, 1))],
        (2, 4, 1),
        (2, 4, 1),
    ),
]


@pytest.mark.parametrize("operands, cpu, meta", ELEMENTWISE, ids=str)
def test_elementwise_strides(operands: Sequence[Geometry], cpu: Ints, meta: Ints) -> None:
    shape = rules.broadcast_shapes(*(sizes for sizes, _ in operands))
    tensors = [strided(*geometry) for geometry in operands]
    assert rules.elementwise_strides(shape, tensors) == cpu
    assert rules.elementwise_strides_meta(shape, tensors) == meta


@pytest.mark.parametrize(
    ("sizes", "strides", "expected"),
    [((1, 4), (1, 2), (1, 1)), ((4, 1), (3, 7), (1, 4)), ((4, 1), (7, 3), (1, 1))],
)
def test_dimensions_of_size_1_keep_their_place_on_meta(
    sizes: Ints, strides: Ints, expected: Ints
) -> None:
    """Contiguous or not is the same for them, their strides are not."""
    x = dispatch.empty(32, device="meta").as_strided(sizes, strides)
    assert (-x).stride() == (x + 1).stride() == (x > x).stride() == expected


@pytest.mark.parametrize(
    ("sizes", "strides"), [((2, 1, 4, 5), (20, 1, 5, 1)), ((2, 3, 1, 1), (3, 1, 3, 3))]
)
def test_what_is_contiguous_and_channels_last_keeps_its_strides_on_meta(
    sizes: Ints, strides: Ints
) -> None:
    """One channel, or one pixel: neither format's short cut is taken."""
    x = dispatch.empty(sizes, device="meta").to(memory_format=dispatch.channels_last)
    assert x.stride() == strides
    for y in (x.relu(), x + x, x > x, x.clamp(0), x / 2):
        assert y.stride() == strides
    plain = dispatch.zeros(sizes).to(memory_format=dispatch.channels_last)
    assert plain.relu().stride() == dispatch.zeros(sizes).stride()


def test_a_number_is_an_operand_without_dimensions() -> None:
    """So the short cut for operands of one shape is not taken, and the strides count."""
    t = strided((1, 3), (1, 1))
    assert rules.elementwise_strides((1, 3), [t]) == (3, 1)
    assert rules.elementwise_strides((1, 3), [t, 2]) == (1, 1)
    assert rules.elementwise_strides((), [1, 2.5]) == ()


def test_none_is_no_operand() -> None:
    assert rules.elementwise_strides((1, 3), [strided((1, 3), (1, 1)), None]) == (3, 1)


@pytest.mark.parametrize(
    "first, second, converted, kept",
    [
        (((1, 3, 1), (0, 2, 3)), ((1, 3, 1), (6, 1, 1)), (3, 1, 1), (3, 1, 3)),
        (((3, 4), (0, 1)), ((3, 4), (1, 3)), (4, 1), (1, 3)),
    ],
)
def test_an_operand_of_another_dtype_counts_as_its_dense_copy(
    first: Geometry, second: Geometry, converted: Ints, kept: Ints
) -> None:
    tensors = [strided(*first, dtypes.int32), strided(*second)]
    assert rules.elementwise_strides(first[0], tensors, dtypes.float32) == converted
    assert rules.elementwise_strides(first[0], tensors) == kept


@given(st.lists(permuted(max_dims=4, min_size=1), min_size=1, max_size=3))
def test_elementwise_outputs_are_dense(operands: list[Geometry]) -> None:
    try:
        shape = rules.broadcast_shapes(*(sizes for sizes, _ in operands))
    except RuntimeError:
        return
    tensors = [strided(*geometry) for geometry in operands]
    for rule in (rules.elementwise_strides, rules.elementwise_strides_meta):
        assert rules.is_non_overlapping_and_dense(shape, rule(shape, tensors))


# ---- views


@given(permuted(max_dims=4), st.data())
def test_views_exist_where_numpy_reshapes_without_a_copy(
    geometry: Geometry, data: st.DataObject
) -> None:
    sizes, strides = geometry
    new = data.draw(reshapes(sizes))
    array = np.lib.stride_tricks.as_strided(np.arange(4096), sizes, [8 * s for s in strides])
    found = rules.compute_view_strides(sizes, strides, new)
    if found is None:
        assert not np.may_share_memory(array.reshape(new), array)
    else:
        assert positions(tuple(new), found) == array.reshape(-1).tolist()


@pytest.mark.parametrize(
    "sizes, strides, new, expected",
    [
        ((2, 3), (1, 2), (6,), None),
        ((2, 3), (6, 1), (6,), None),
        ((2, 3), (6, 2), (6,), (2,)),
        ((6,), (2,), (2, 3), (6, 2)),
        ((4, 3), (1, 8), (2, 2, 3), (2, 1, 8)),
        ((2, 3), (3, 1), (2, 1, 3), (3, 3, 1)),
        ((2, 1, 3), (3, 50, 1), (6,), (1,)),
        ((), (), (1, 1), (1, 1)),
        ((2, 0), (5, 7), (2, 0), (5, 7)),
        ((2, 0), (5, 7), (0, 3), (3, 1)),
        ((2, 3), (0, 1), (6,), None),
        ((3, 2), (0, 0), (6,), (0,)),
        ((2, 3), (3, 1), (4,), None),
    ],
)
def test_view_strides(sizes: Ints, strides: Ints, new: Ints, expected: Ints | None) -> None:
    assert rules.compute_view_strides(sizes, strides, new) == expected


def test_view_within_the_storage_is_accepted() -> None:
    rules.check_bounds((2, 2), (2, 1), 1, 4, 20)
    rules.check_bounds((0, 5), (1, 1), 100, 4, 0)


@pytest.mark.parametrize(
    "sizes, strides, offset, text",
    [
        ((2, 2), (2, 1), 0, "a storage size of 16 are out of bounds"),
        ((2,), (-1,), 1, "Negative strides"),
        ((2,), (1,), -1, "offset -1"),
        ((-1,), (1,), 0, r"negative dimension -1: \[-1\]"),
        ((1 << 40, 2), (1 << 40, 1), 0, "Storage size calculation overflowed"),
        ((2, 2), (1,), 0, "differ in length"),
    ],
)
def test_view_out_of_bounds_is_an_error(sizes: Ints, strides: Ints, offset: int, text: str) -> None:
    with pytest.raises(RuntimeError, match=text):
        rules.check_bounds(sizes, strides, offset, 4, 12)


def test_an_offset_needs_bytes_too() -> None:
    rules.check_bounds((2,), (1,), 3, 4, 20)
    for offset, nbytes in ((3, 19), (4, 20)):
        with pytest.raises(RuntimeError, match=f"storage of size {nbytes}"):
            rules.check_bounds((2,), (1,), offset, 4, nbytes)


@pytest.mark.parametrize("a, b", [(3, 5), (5, 3), (4, 4), (-2, 0)])
def test_minima_and_maxima_of_numbers_are_numbers(a: int, b: int) -> None:
    assert (rules.smaller(a, b), rules.larger(a, b)) == (min(a, b), max(a, b))


def test_sizes_are_the_same_when_all_of_them_are() -> None:
    assert rules.same_sizes((2, 3), [2, 3])
    assert not rules.same_sizes((2, 3), (2, 4))
    assert not rules.same_sizes((2, 3), (2, 3, 1))


def test_a_number_is_its_own_example() -> None:
    assert rules.example(7) == 7
    assert rules.root(16) == 4.0


LIKE = {
    "empty_like": dispatch.empty_like,
    "zeros_like": dispatch.zeros_like,
    "fill": lambda t: dispatch.ops.aten.fill.Scalar(t, 1),
    "flip": lambda t: dispatch.flip(t, [0]),
    "nan_to_num": dispatch.nan_to_num,
    "frexp": lambda t: dispatch.frexp(t)[0],
    "hardtanh": lambda t: dispatch.ops.aten.hardtanh(t),
    "abs": lambda t: dispatch.abs(dispatch.empty_like(t, dtype=dispatch.complex64)),
    "prelu": lambda t: dispatch.ops.aten._prelu_kernel(t, t.new_ones((1, 1))),
}


@pytest.mark.parametrize("name", LIKE)
def test_with_values_a_result_that_is_made_like_an_operand_keeps_all_its_strides(name: str) -> None:
    """Recorded; without values PyTorch's references give a dimension of size 1 another stride."""
    made = dispatch.empty_strided((1, 3), (1, 1))
    assert LIKE[name](made).stride() == (1, 1)
    with dispatch.FakeTensorMode() as mode:
        if name != "prelu":
            assert LIKE[name](mode.from_tensor(made)).stride() == (3, 1)
        assert mode.from_tensor(made).clone().stride() == (1, 1)


def test_halves_and_turns_without_gaps_are_contiguous() -> None:
    assert dispatch.ops.aten.glu(dispatch.ones(1, 4, 6), 1).stride() == (12, 6, 1)
    empty = dispatch.empty_strided((1, 0, 3), (6, 6, 2))
    assert (empty.roll(1).stride(), empty.roll(1, 2).stride()) == ((3, 3, 1), (6, 6, 2))


def test_numbers_of_others_count_by_what_they_can_become():
    class Half:
        def __float__(self):
            return 0.5

    class Whole:
        def __index__(self):
            return 3

    small = dispatch.ones(2, dtype=dispatch.int8)
    assert rules.result_type(small, Whole()) is dispatch.int8
    assert dispatch.result_type(small, np.int64(3)) is dispatch.int8
    assert dispatch.result_type(small, np.float32(3)) is dispatch.float32
    assert rules.result_type(small, Half()) is dispatch.float32


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.aten.sort.default(x)[0],
        lambda x: ops.aten.sort.default(x)[1],
        lambda x: ops.aten.index_put.default(x, [x > 1], x[0, 0, 0, 0]),
        lambda x: ops.aten._scaled_dot_product_flash_attention_for_cpu.default(x, x, x)[0],
    ],
)
def test_a_stride_of_a_size_of_one_is_kept_with_data_alone(call):
    x = dispatch.zeros(192).as_strided((2, 3, 1, 32), (96, 32, 96, 1))
    assert call(x).stride() == (96, 32, 96, 1)
    mode = FakeTensorMode()
    with mode:
        assert call(mode.from_tensor(x)).stride() == (96, 32, 32, 1)
