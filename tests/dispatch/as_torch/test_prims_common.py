"""Dtypes, dimensions and strides of results, as functions written in Python find them."""

import pytest

import dispatch
from dispatch.as_torch import prims, prims_dtypes as d, prims_shapes as s, refs

KINDS = d.ELEMENTWISE_TYPE_PROMOTION_KIND
HALF, INT = dispatch.ones(2, dtype=dispatch.half), dispatch.ones(2, dtype=dispatch.int8)
DOUBLE = dispatch.ones((), dtype=dispatch.float64)


@pytest.mark.parametrize(
    ("args", "kind", "expected"),
    [
        ((HALF, 2.0), "DEFAULT", (dispatch.float32, dispatch.half)),
        ((HALF, DOUBLE), "NO_OPMATH", (dispatch.half, dispatch.half)),
        ((INT, DOUBLE), "DEFAULT", (dispatch.float64, dispatch.float64)),
        ((INT, None), "INT_TO_FLOAT", (dispatch.float32, dispatch.float32)),
        ((HALF, 1j), "COMPLEX_TO_FLOAT", (dispatch.complex64, dispatch.half)),
        ((True, False), "BOOL_TO_LONG", (dispatch.int64, dispatch.int64)),
        ((INT, 2), "ALWAYS_BOOL", (dispatch.int8, dispatch.bool)),
    ],
)
def test_dtypes_of_functions_of_elements(args, kind, expected):
    assert d.elementwise_dtypes(*args, type_promotion_kind=KINDS[kind]) == expected


def test_what_is_no_number_has_no_dtype():
    with pytest.raises(ValueError, match="str"):
        d.elementwise_dtypes("a", type_promotion_kind=KINDS.DEFAULT)
    with pytest.raises(RuntimeError):
        d.get_higher_type(int, str)


def test_dtypes_of_functions_that_fold():
    kinds = d.REDUCTION_OUTPUT_TYPE_KIND
    c = dispatch.ones(2, dtype=dispatch.complex64)
    wide = dispatch.float32
    assert d.reduction_dtypes(HALF, kinds.SAME) == (wide, dispatch.half)
    assert d.reduction_dtypes(HALF, kinds.KEEP_PROMOTED_TYPE) == (wide, None)
    assert d.reduction_dtypes(c, kinds.COMPLEX_TO_FLOAT) == (dispatch.complex64, wide)


@pytest.mark.parametrize(
    ("tensors", "strides"),
    [
        ((dispatch.ones(3, 2).t(), dispatch.ones(2, 3)), (1, 2)),
        ((dispatch.ones(2, 3), dispatch.ones(3, 2).t()), (3, 1)),
        ((dispatch.ones(3, 1, 2).permute(2, 1, 0),), (1, 2, 2)),
        ((dispatch.ones(1, 3).expand(2, 3), dispatch.ones(3, 2).t()), (1, 2)),
        ((dispatch.ones(()),), ()),
    ],
)
def test_strides_follow_the_arguments(tensors, strides):
    assert s.compute_elementwise_output_strides(*tensors) == strides


@pytest.mark.parametrize(
    ("sizes", "steps", "order", "strides"),
    [
        ((1, 1, 3, 1), (1, 12, 1, 2), [1, 3, 2, 0], (1, 3, 1, 3)),  # contiguous, channels_last too
        ((2, 1, 3, 1), (3, 6, 1, 6), [1, 3, 0, 2], (3, 6, 1, 6)),
        ((2, 2, 3, 1), (6, 1, 2, 1), [0, 2, 3, 1], (6, 1, 2, 2)),  # channels_last alone
        ((2, 1, 3, 4), (12, 5, 4, 1), [0, 1, 2, 3], (12, 12, 4, 1)),  # contiguous alone
    ],
)
def test_the_order_in_memory_is_that_of_the_strides(sizes, steps, order, strides):
    x = dispatch.ones(100).as_strided(sizes, steps)
    assert s.compute_elementwise_output_logical_to_physical_perm(x) == (order, False)
    assert s.compute_elementwise_output_strides(x, x) == strides


def test_permutations_and_dimensions():
    assert s.invert_perm([2, 0, 1]) == [1, 2, 0] and s.apply_perm("abc", [2, 0, 1])[0] == "c"
    assert s.canonicalize_dims(3, [-1, 0]) == (2, 0) and s.reduction_dims((2, 3), None) == (0, 1)
    with pytest.raises(IndexError):
        s.canonicalize_dim(2, 2)
    with pytest.raises(RuntimeError, match="duplicate"):
        s.reduction_dims((2, 3), [0, -2])


def test_copies_keep_gaps_and_offsets():
    x = dispatch.arange(12.0)[1:].as_strided((2, 3), (4, 1))
    y = s.clone_preserve_strides(x)
    assert (y.stride(), y.storage_offset()) == ((4, 1), 1) and dispatch.equal(x, y)


def test_the_older_check_warns():
    with pytest.warns(FutureWarning, match="removed in the future"), pytest.raises(TypeError):
        s.check(False, lambda: "no", TypeError)


def test_references_are_the_operators():
    a = dispatch.ones(5, 5)
    assert refs.view(a, 1, 5, 1, 5).shape == (1, 5, 1, 5) and refs.sin is dispatch.sin
    assert refs.functional.dropout(a, p=0.0).shape == (5, 5)
    assert refs.linalg.norm is dispatch.linalg.norm and refs.fft.fft is dispatch.fft.fft
    with pytest.raises(AttributeError):
        refs.no_such_function  # noqa: B018
    assert prims._clone_meta(dispatch.ones(3, 2).t()).stride() == (1, 2)
