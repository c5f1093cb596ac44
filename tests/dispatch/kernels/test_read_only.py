"""Memory that its array or buffer calls read-only: everybody may read it, nobody writes to it."""

import random

import numpy as np
import pytest

import dispatch
from dispatch import Tensor, ops
from tests.fuzz.near import Near, recorded

READ_ONLY = "the memory is read-only"


def _locked(values):
    array = np.array(values)
    array.flags.writeable = False
    return dispatch.from_numpy(array)


def _case_in_locked_memory(case):
    """A recorded case's arguments over read-only copies of its storages, and the arrays."""
    near = Near(random.Random("0"), case, 0)
    made: dict[int, tuple[np.ndarray, Tensor]] = {}

    def moved(value):
        if isinstance(value, list | tuple):
            return type(value)(map(moved, value))
        if not isinstance(value, Tensor):
            return value
        storage = value.untyped_storage()
        if storage._cdata not in made:
            array = np.array(storage.tolist(), np.uint8)
            array.flags.writeable = False
            made[storage._cdata] = array, dispatch.from_numpy(array)
        whole = made[storage._cdata][1].view(value.dtype)
        return whole.as_strided(value.shape, value.stride(), value.storage_offset())

    args, kwargs = moved(near.args), {name: moved(v) for name, v in near.kwargs.items()}
    return args, kwargs, [array for array, _ in made.values()]


CALLS = {op: cases[0] for op, cases in recorded(most=1).items()}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("below", [False, True])
def test_no_operator_writes_there(below):
    written, refused = [], 0
    for op, case in CALLS.items():
        if any(s["numel"] == 0 for s in case["storages"]):
            continue
        args, kwargs, arrays = _case_in_locked_memory(case)
        before = [array.tobytes() for array in arrays]
        try:
            with dispatch.inference_mode(below):
                op(*args, **kwargs)
        except RuntimeError as error:
            refused += READ_ONLY in str(error)
        except (NotImplementedError, IndexError, ValueError, TypeError, AssertionError):
            pass
        if before != [array.tobytes() for array in arrays]:
            written.append(str(op))
    assert not written
    assert refused > 100


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.copy_(dispatch.ones(3)),
        lambda t: t.__setitem__(0, 2.0),
        lambda t: t[1:].fill_(2.0),
        lambda t: dispatch.add(t, 1, out=t),
        lambda t: dispatch._foreach_add_([dispatch.ones(3), t], 1),
        lambda t: t.detach().random_(),
        lambda t: t.data.zero_(),
        lambda t: t.untyped_storage().fill_(1),
        lambda t: t.untyped_storage().__setitem__(0, 1),
        lambda t: t.view(dispatch.int64).neg_(),
    ],
)
def test_writes_are_refused_and_leave_the_values(write):
    t = _locked([1.0, 2.0, 3.0])
    with pytest.raises(RuntimeError, match=READ_ONLY):
        write(t)
    assert t.tolist() == [1, 2, 3]
    assert (t + 1).tolist() == [2, 3, 4]
    assert t.clone().add_(1).tolist() == [2, 3, 4]


def test_running_statistics_are_refused_too():
    mean, var = _locked(np.zeros(2, "f4")), _locked(np.ones(2, "f4"))
    x = dispatch.ones(3, 2)
    with pytest.raises(RuntimeError, match=f"native_batch_norm: {READ_ONLY}"):
        ops.aten.native_batch_norm(x, None, None, mean, var, True, 0.1, 1e-5)
    ops.aten.native_batch_norm(x, None, None, mean, var, False, 0.1, 1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda a: dispatch.from_numpy(a),
        lambda a: dispatch.as_tensor(a),
        lambda a: dispatch.asarray(a),
        lambda a: dispatch.frombuffer(memoryview(a), dtype=dispatch.float64),
        lambda a: dispatch.from_dlpack(a),
        lambda a: dispatch.from_dlpack(dispatch.from_numpy(a)),
    ],
)
def test_every_way_in_keeps_the_mark(make):
    array = np.ones(3)
    array.flags.writeable = False
    t = make(array)
    with pytest.raises(RuntimeError, match=READ_ONLY):
        t.add_(1)
    assert array.tolist() == [1, 1, 1]


def test_every_way_out_keeps_the_mark():
    t = _locked([1.0, 2.0])
    assert not t.numpy().flags.writeable
    assert not np.asarray(t).flags.writeable
    assert not np.from_dlpack(t).flags.writeable
    assert t.clone().numpy().flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        t.__dlpack__()
    assert dispatch.from_dlpack(t.__dlpack__(copy=True)).add_(1).tolist() == [2, 3]


def test_what_a_subclass_says_of_itself_is_not_asked():
    class Liar(np.ndarray):
        dtype = np.dtype("float64")
        shape = (1000,)
        strides = (8,)
        nbytes = 8000
        ndim = 1

    t = dispatch.from_numpy(np.arange(4, dtype="int8").view(Liar))
    assert t.dtype == dispatch.int8
    assert t.tolist() == [0, 1, 2, 3]
    assert t.untyped_storage().nbytes() == 4
