"""Look-ups in tables on the CPU: values, edge cases, errors."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import dispatch
from dispatch import tensor

aten = dispatch.ops.aten


@pytest.mark.parametrize("wrong", [3, -1])
def test_an_index_out_of_range_is_refused(wrong):
    with pytest.raises(IndexError, match=rf"aten::embedding: index out of range in self: {wrong} "):
        aten.embedding(dispatch.ones(3, 2), tensor([0, wrong]))


@pytest.mark.parametrize("name", ["bool", "int16", "float16", "complex32", "complex128"])
def test_rows_of_any_dtype_and_strides(name):
    table = dispatch.zeros(2, 3, dtype=getattr(dispatch, name)).t()
    table[1] = 1
    found = aten.embedding(table, tensor([[1], [0]], dtype=dispatch.int32))
    assert found.dtype is table.dtype
    assert found.to(dispatch.complex64).tolist() == [[[1, 1]], [[0, 0]]]


def test_gradients_of_one_row_add_up_but_for_the_padding():
    grad = tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    index = tensor([1, 1, 0, 9])
    found = aten.embedding_dense_backward(grad, index, 3, 0, False)
    assert found.tolist() == [[0, 0], [4, 6], [0, 0]]
    assert aten.embedding_backward(grad, index, 3, -1, True, False).tolist() == [
        [5, 6],
        [2, 3],
        [0, 0],
    ]


def test_a_gradient_without_a_row_for_each_index_is_refused():
    with pytest.raises(RuntimeError, match="grad_output has 4 elements, expected 2 for each of 3"):
        aten.embedding_dense_backward(dispatch.ones(2, 2), tensor([0, 1, 1]), 3, -1, False)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.integers(0, 4), max_size=8), st.sampled_from(["float32", "float16", "complex64"])
)
def test_gradient_is_the_product_with_the_chosen_rows(index, name):
    kind = getattr(dispatch, name)
    grad = np.arange(2 * len(index)).reshape(-1, 2) % 7
    found = aten.embedding_dense_backward(
        tensor(grad.tolist(), dtype=kind).reshape(-1, 2),
        tensor(index, dtype=dispatch.int64),
        5,
        -1,
        False,
    )
    want = np.eye(5)[np.array(index, int)].T @ grad
    assert np.array_equal(np.asarray(found.to(dispatch.complex128).tolist()), want)


def test_long_rows_are_shortened_once_and_others_stay():
    table = tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    assert aten.embedding_renorm_(table, tensor([0, 0, 1, -3]), 1.0, 2.0) is table
    np.testing.assert_allclose(table.numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-6)


def test_renorm_checks_all_indices_first():
    table = tensor([[3.0, 4.0]])
    with pytest.raises(IndexError, match="aten::embedding_renorm_: index out of range in self: 1"):
        aten.embedding_renorm_(table, tensor([0, 1]), 1.0, 2.0)
    assert table.tolist() == [[3.0, 4.0]]


def test_renorm_into_another_tensor_leaves_self():
    table, out = tensor([[3.0, 4.0]]), dispatch.empty(0)
    aten.embedding_renorm.out(table, tensor([0]), 5e7, 1.0, out=out)
    assert out.tolist() == table.tolist() == [[3.0, 4.0]]
