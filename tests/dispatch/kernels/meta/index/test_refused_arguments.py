"""Indices and tables refuse what does not fit, with PyTorch's type of error."""

import functools

import pytest

from tests.dispatch.refused import (
    A,
    b8,
    check_refused,
    i16,
    i32,
    i64,
    o,
    tensor,
    z,
)  # fmt: skip

# A call that is right, to be made wrong in one argument.
bags_gradient = functools.partial(
    A._embedding_bag_dense_backward,
    grad=o(2, 2, 2),
    indices=tensor([0, 1]),
    offset2bag=tensor([0, 1]),
    bag_size=tensor([1, 1]),
    maximum_indices=tensor([1, 1]),
    num_weights=3,
    scale_grad_by_freq=False,
    mode=0,
    per_sample_weights=None,
)

CALLS = [
    (
        lambda: A._embedding_bag(o(3, 2), tensor(1), tensor([0])),
        RuntimeError,
        "expected indices to have 1 or 2 dimensions, got []",
    ),
    (
        lambda: A._embedding_bag(o(3, 2), z(2, 2, 2, dtype=i64), tensor([0])),
        RuntimeError,
        "expected indices to have 1 or 2 dimensions, got [2, 2, 2]",
    ),
    (
        lambda: A._embedding_bag(
            o(3, 2), tensor([1]), z(0, dtype=i64), False, 0, False, None, True
        ),
        RuntimeError,
        "include_last_offset needs at least one offset",
    ),
    (
        lambda: bags_gradient(),
        RuntimeError,
        "expected grad to have 2 dimensions, got [2, 2, 2]",
    ),
    (
        lambda: bags_gradient(grad=o(2)),
        IndexError,
        "expected grad to have 2 dimensions, got [2]",
    ),
    (
        lambda: bags_gradient(grad=o(2, 2), maximum_indices=z(3, 2, dtype=i64), mode=2),
        RuntimeError,
        "expected maximum_indices of grad's shape [2, 2], got [3, 2]",
    ),
    (
        lambda: A._embedding_bag_per_sample_weights_backward(
            o(2, 2), o(3, 2), tensor([0, 1]), tensor([0, 1]), tensor([0, 1]), 1
        ),
        RuntimeError,
        "per_sample_weights are only for mode 0 (sum), got 1",
    ),
    (
        lambda: A._embedding_bag_per_sample_weights_backward(
            o(2, 2), o(3, 3), tensor([0, 1]), tensor([0, 1]), tensor([0, 1]), 0
        ),
        RuntimeError,
        "grad of shape [2, 2] does not fit weight of [3, 3]",
    ),
    (
        lambda: A.embedding(o(3, 2), z([1] * 64, dtype=i64)),
        RuntimeError,
        "a result of more than 64 dimensions",
    ),
    (
        lambda: A.index(o(3), [o(2, 2, dtype=b8)]),
        IndexError,
        "too many indices for a tensor of 1 dimensions",
    ),
    (
        lambda: A.index(o(3), [tensor([0]), o(2, dtype=b8)]),
        IndexError,
        "too many indices for a tensor of 1 dimensions",
    ),
    (
        lambda: A.index(o([2] + [1] * 63), [z([1] * 2, dtype=i64)]),
        RuntimeError,
        "a result of more than 64 dimensions",
    ),
    (
        lambda: A.index_select(o(3), 0, z(2, 2, dtype=i64)),
        IndexError,
        "expected index to have 0 or 1 dimensions, got [2, 2]",
    ),
    (
        lambda: A.index_add(o(3), 0, z(1, 1, dtype=i64), o(1)),
        IndexError,
        "Index is supposed to be a vector, but got [1, 1]",
    ),
    (
        lambda: A.index_copy(o(3), 0, z(1, 1, dtype=i64), o(1)),
        IndexError,
        "Index should have dimension 1 or 0 (got 2)",
    ),
    (lambda: A.index_copy(o(3), 0, z(2, dtype=i64), o(())), IndexError, "2 indices for one number"),
    (
        lambda: A.index_copy(o(3, 3), 0, z(2, dtype=i64), o(2)),
        IndexError,
        "expected as many dimensions in source as in self, got [2] and",
    ),
    (
        lambda: A.index_fill(o(3), 0, z(1, dtype=i32), 1),
        IndexError,
        "Expected dtype int64 for index, got dispatch.int32",
    ),
    (
        lambda: A.index_fill(o(3), 0, z(1, dtype=i64), o(1)),
        RuntimeError,
        "only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).",
    ),
    (
        lambda: A.index_fill(o(3), 0, z(1, dtype=i64), 1j),
        RuntimeError,
        "a complex value needs a complex tensor",
    ),
    (
        lambda: A.index_reduce(o(3), 0, z(1, dtype=i64), o(1), "sum"),
        RuntimeError,
        "Expected reduce to be one of mean, amax, amin, or prod but got sum",
    ),
    (
        lambda: A.index_reduce(o(3), 0, z(1, dtype=i16), o(1), "prod"),
        RuntimeError,
        "expected an index of dtype int32 or int64, got dispatch.int16",
    ),
    (
        lambda: A.index_reduce(o(3), 0, z(1, 1, dtype=i64), o(1), "prod"),
        IndexError,
        "Index should have dimension 1 or 0 (got 2)",
    ),
    (
        lambda: A.searchsorted(o(()), o(2)),
        RuntimeError,
        "boundaries tensor should have positive dimension, but got 0 dimension",
    ),
    (
        lambda: A.bucketize(o(2), o(())),
        RuntimeError,
        "boundaries tensor must be 1 dimension, but got dim(0)",
    ),
    (
        lambda: A.searchsorted(o(3), o(2), sorter=z(3, dtype=i32)),
        RuntimeError,
        "sorter must be a tensor of long dtype but got dispatch.int32",
    ),
    (
        lambda: A.searchsorted(o(2, 3), 1),
        RuntimeError,
        "input value can be a scalar only when boundaries tensor dimension is 1, but we got "
        "boundaries of shape [2, 3]",
    ),
    (
        lambda: A.searchsorted(o(3), o(2), sorter=z(2, dtype=i64)),
        RuntimeError,
        "boundary and sorter must have the same size, but got boundary tensor [3]and got "
        "sorter tensor [2]",
    ),
    (
        lambda: A.searchsorted(o(3), o(2), side="middle"),
        RuntimeError,
        "side can only be 'left' or 'right' but got middle",
    ),
    (
        lambda: A.searchsorted(o(3), o(2), side="left", right=True),
        RuntimeError,
        "side and right can't be set to opposites, got side of left while right was True",
    ),
    (
        lambda: A.searchsorted(o(2, 3), o(3, 2)),
        RuntimeError,
        "the first N-1 dimensions of boundaries tensor and input value tensor must match, but"
        " we got [2, 3] and [3, 2]",
    ),
    (
        lambda: A.searchsorted(o(2, 3), o(2)),
        RuntimeError,
        "the first N-1 dimensions of boundaries tensor and input value tensor must match, but"
        " we got [2, 3] and [2]",
    ),
    (
        lambda: A.index_add(o(3), 0, z(1, dtype=i16), o(1)),
        RuntimeError,
        "Expected dtype int64 for index, got dispatch.int16",
    ),
    (
        lambda: A.index_add(o(3), 0, z(1, dtype=i64), o(1, dtype=i64)),
        RuntimeError,
        "expected self and source to have the same dtype",
    ),
    (
        lambda: A.index_add(o(3), 0, z(2, dtype=i64), o(1)),
        RuntimeError,
        "Number of indices (2) should be equal to source.size(dim), dim 0 of [1]",
    ),
    (
        lambda: A.index_add(o(3, 2), 1, z(1, dtype=i64), o(2)),
        RuntimeError,
        "Number of indices (1) should be equal to source.size(dim), dim 1 of [2]",
    ),
    (
        lambda: A.index_add(o(3, 2), 0, z(1, dtype=i64), o(1, 3)),
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension."
        " Got self.shape = [3, 2] source.shape = [1, 3]",
    ),
    (
        lambda: A.index_add(o(()), 0, z(1, dtype=i64), o(1)),
        RuntimeError,
        "source tensor shape must match self tensor shape, excluding the specified dimension."
        " Got self.shape = [] source.shape = [1]",
    ),
]


@pytest.mark.parametrize(("call", "error", "text"), CALLS)
def test_it_is_refused(call, error, text):
    check_refused(call, error, text)
