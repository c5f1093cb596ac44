"""Operators of sparse tensors that get plain ones: answers, refusals, missing kernels."""

import pytest

import dispatch
from dispatch import ops

X = dispatch.arange(6.0).reshape(2, 3)


def test_a_plain_tensor_has_dense_dimensions_only():
    assert (X.dense_dim(), X.sparse_dim()) == (2, 0)


@pytest.mark.parametrize(
    "name", ["indices", "values", "crow_indices", "col_indices", "coalesce", "is_coalesced"]
)
def test_parts_of_sparse_tensors_are_refused(name):
    with pytest.raises(RuntimeError, match=f"aten::{name}: expected self in sparse"):
        getattr(X, name)()


def test_a_product_is_a_product():
    assert ops.aten._sparse_mm(X, X.t()).tolist() == (X @ X.t()).tolist()
    with pytest.raises(RuntimeError, match="expected sparse tensors"):
        dispatch.smm(X, X.t())


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda: X.to_sparse(), "aten::_to_sparse:"),
        (lambda: X.to_sparse_csr(), "aten::_to_sparse_csr:"),
        (lambda: X._nnz(), "aten::_nnz:"),
        (lambda: dispatch.cudnn_grid_sampler(X, X), "cudnn_grid_sampler:"),
        (lambda: dispatch.quantize_per_tensor(X, 0.1, 0, dispatch.int8), "quantize_per_tensor:"),
    ],
)
def test_a_call_says_which_kernel_is_missing(call, missing):
    with pytest.raises(NotImplementedError, match=f"{missing} no kernel for the key CPU"):
        call()
