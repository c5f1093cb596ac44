"""Factories of sparse tensors: wrong parts are refused, right ones lack a backend."""

import pytest

import dispatch

COO = dispatch.tensor([[0, 1], [1, 2]])
STARTS, PLACES = dispatch.tensor([0, 2, 3]), dispatch.tensor([0, 1, 2])
VALUES = dispatch.ones(3)


@pytest.mark.parametrize(
    ("call", "missing"),
    [
        (lambda: dispatch.sparse_coo_tensor(COO, dispatch.ones(2)),
         "_sparse_coo_tensor_with_dims_and_tensors: no kernel"),
        (lambda: dispatch.sparse_coo_tensor([2, 3]), "_sparse_coo_tensor_with_dims: no kernel"),
        (lambda: dispatch.sparse_csr_tensor(STARTS, PLACES, VALUES), "layout dispatch.sparse_csr"),
        (lambda: dispatch.sparse_csc_tensor(STARTS, PLACES, VALUES, [3, 2]),
         "layout dispatch.sparse_csc"),
        (lambda: dispatch.sparse_bsr_tensor(STARTS, PLACES, dispatch.ones(3, 2, 2)),
         "layout dispatch.sparse_bsr"),
    ],
)  # fmt: skip
def test_right_parts_lack_a_backend(call, missing):
    with pytest.raises(NotImplementedError, match=missing):
        call()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: dispatch.sparse_coo_tensor(COO, dispatch.ones(2), [2, 2]), "does not fit size 2"),
        (lambda: dispatch.sparse_coo_tensor(COO[0], dispatch.ones(2)), "indices to be a matrix"),
        (lambda: dispatch.sparse_csr_tensor(STARTS, PLACES, VALUES, [3, 3]), "compressed_indices"),
        (lambda: dispatch.sparse_csc_tensor(STARTS, PLACES, VALUES, [2, 3]), "compressed_indices"),
        (lambda: dispatch.sparse_compressed_tensor(STARTS, PLACES, VALUES), "got None"),
    ],
)
def test_wrong_parts_are_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()
