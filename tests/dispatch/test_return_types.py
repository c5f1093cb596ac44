"""Named results of functions and methods."""

import pickle

import dispatch
from dispatch import ops

X = dispatch.tensor([[3.0, 1.0], [2.0, 5.0]])


def test_functions_name_their_results_and_operators_do_not():
    found = X.max(1)
    assert isinstance(found, dispatch.return_types.max)
    assert found.values.tolist() == [3.0, 5.0]
    assert found.indices.tolist() == [0, 1]
    assert type(ops.aten.max.dim(X, 1)) is tuple


def test_named_results_survive_pickling():
    found = pickle.loads(pickle.dumps(X.max(1)))
    assert isinstance(found, dispatch.return_types.max)
    assert dispatch.equal(found.values, X.max(1).values)


def test_several_results_are_written_into_a_tuple():
    out = (dispatch.empty(0), dispatch.empty(0, dtype=dispatch.int64))
    found = dispatch.max(X, 1, out=out)
    assert found.values is out[0]
    assert found.indices is out[1]


def test_no_out_is_no_argument():
    assert dispatch.add(X, X, out=None).tolist() == (X + X).tolist()
