"""What shape functions return; that bodies get what is handed over stands in `test_crossing`."""

import numpy as np
import pytest

import dispatch
from dispatch import from_numpy, ops
from dispatch._C.structured import Shaped, TensorSpec


def _spec(**given):
    return TensorSpec((2,), dispatch.float32, **given)


def test_specs_are_equal_when_all_they_say_is():
    assert _spec(cast="safe", overlap="any") == _spec(cast="safe", overlap="any")
    assert _spec() != _spec(cast="safe")
    assert _spec() != _spec(device=dispatch.device("meta"))
    assert _spec() != ((2,), dispatch.float32)


@pytest.mark.parametrize("given", [{"cast": 1}, {"cast": "unsafe"}, {"overlap": "all"}])
def test_unknown_words_are_refused(given):
    with pytest.raises(ValueError, match="expected cast to be one of"):
        _spec(**given)


def test_no_more_is_handed_over_than_there_is_room_for():
    assert Shaped(_spec(), *range(8)).handed == tuple(range(8))
    with pytest.raises(ValueError, match="at most 8"):
        Shaped(_spec(), *range(9))


A = ops.aten


def _of_numpy(n, dtype=np.float32):
    return from_numpy(np.ones(n, dtype))


@pytest.mark.parametrize(
    "call",
    [
        lambda out: A.add.out(dispatch.ones(1000), 1, out=out),
        lambda out: A.sin.out(dispatch.ones(1000), out=out),
        lambda out: A.cat.out([dispatch.ones(500)] * 2, out=out),
        lambda out: A.sum.IntList_out(dispatch.ones(2, 1000), [0], out=out),
        lambda out: A.arange.start_out(0, 1000, out=out),
        lambda out: A.resize_.default(out, [1000]),
        lambda out: A.sort.values(
            dispatch.ones(1000), values=out, indices=dispatch.empty(0, dtype=dispatch.int64)
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:.*was resized")
def test_an_output_over_memory_that_cannot_grow_stays_as_it_was(call):
    out = _of_numpy(2)
    with pytest.raises(RuntimeError, match="Trying to resize storage that is not resizable"):
        call(out)
    assert out.shape == (2,) and out.tolist() == [1.0, 1.0]


@pytest.mark.filterwarnings("ignore:.*was resized")
def test_no_output_changes_when_one_of_them_is_refused():
    values, indices = dispatch.ones(2), _of_numpy(2, np.int64)
    with pytest.raises(RuntimeError, match="not resizable"):
        A.sort.values(dispatch.ones(1000), values=values, indices=indices)
    assert values.shape == (2,) and values.untyped_storage().nbytes() == 8


@pytest.mark.filterwarnings("error:.*was resized")
def test_a_warning_that_is_an_error_leaves_the_output():
    out = dispatch.ones(2)
    with pytest.raises(UserWarning, match="was resized"):
        A.add.out(dispatch.ones(3), 1, out=out)
    assert out.shape == (2,)


def test_an_operand_that_would_be_resized_is_refused():
    x = dispatch.ones(3)
    with pytest.raises(RuntimeError, match=r"shape \[3\] doesn't match the broadcast shape"):
        A.add.out(x, dispatch.ones(2, 3), out=x)
    assert x.shape == (3,)
