"""What fake implementations are chosen by, and dtypes of results that data size."""

import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from dispatch.fake import _is_tensor_constructor, ordered_set
from dispatch.symbolic import ShapeEnv


@pytest.mark.parametrize(
    ("schema", "makes"),
    [
        ("(int n) -> Tensor", True),
        ("(int n, Device? device=None) -> Tensor", True),
        ("(int n) -> int", False),
        ("(int n) -> ()", False),
        ("(int n) -> Tensor[]", False),
        ("(int n) -> (Tensor, Tensor)", False),
        ("(Tensor x) -> Tensor", False),
        ("(int n, Tensor? x=None) -> Tensor", False),
        ("(Tensor[] xs) -> Tensor", False),
    ],
)
def test_a_constructor_takes_no_tensor_and_gives_one(library, schema, makes):
    library("fake_constructors", "DEF").define(f"f{schema}")
    assert _is_tensor_constructor(ops.fake_constructors.f.default) is makes


def test_a_set_in_order_is_a_dictionary():
    assert list(ordered_set(3, 1, 3, 2).items()) == [(3, True), (1, True), (2, True)]


@pytest.mark.parametrize(
    ("weights", "dtype"),
    [(None, "int64"), ("float32", "float32"), ("float64", "float64"), ("float16", "float64"),
     ("int64", "float64")],
)  # fmt: skip
def test_counts_have_the_dtype_of_their_weights(weights, dtype):
    with FakeTensorMode(shape_env=ShapeEnv()):
        x = dispatch.ones(3, dtype=dispatch.int64)
        given = [] if weights is None else [dispatch.ones(3, dtype=getattr(dispatch, weights))]
        assert dispatch.bincount(x, *given).dtype is getattr(dispatch, dtype)


def test_a_complex_number_has_no_symbol():
    x = FakeTensorMode(shape_env=ShapeEnv()).from_tensor(dispatch.ones(1, dtype=dispatch.complex64))
    with pytest.raises(NotImplementedError, match=r"_local_scalar_dense.*complex64"):
        x.item()
