"""Functions that are no operators."""

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode
from dispatch.modes import resolve_name
from dispatch.symbolic import ShapeEnv
from dispatch.tensor import questions


def test_shapes_broadcast_together():
    assert dispatch.broadcast_shapes((2, 1), (1, 3), 3) == (2, 3)
    with pytest.raises(RuntimeError, match="fit"):
        dispatch.broadcast_shapes((2,), (3,))


def test_result_type_prefers_tensors_with_dimensions():
    assert dispatch.result_type(dispatch.ones(1), 1) is dispatch.float32
    assert dispatch.result_type(dispatch.tensor(1), 1.5) is dispatch.float32
    half = dispatch.ones(1, dtype=dispatch.float16)
    assert dispatch.result_type(dispatch.tensor(1.0), half) is dispatch.float16
    assert dispatch.result_type(dispatch.ones(1, dtype=dispatch.int32), np.float16(2)) is (
        dispatch.float32
    )
    for name in ("uint16", "uint32", "uint64"):
        wide = dispatch.ones(1, dtype=getattr(dispatch, name))
        assert dispatch.result_type(wide, 1j) is dispatch.complex64
        assert dispatch.result_type(wide, dispatch.tensor(1j)) is dispatch.complex64
        with pytest.raises(RuntimeError, match=name):
            dispatch.result_type(wide, dispatch.tensor([1j]))
    with pytest.raises(TypeError):
        dispatch.result_type("a", 1)


def test_typed_constructors_make_and_recognise_tensors():
    made = dispatch.LongTensor([1])
    assert made.dtype is dispatch.int64
    assert isinstance(made, dispatch.LongTensor)
    assert not isinstance(made, dispatch.FloatTensor)


def test_a_failed_check_raises_its_message():
    with pytest.raises(RuntimeError, match="no good"):
        dispatch._check(False, lambda: "no good")
    with pytest.raises(TypeError):
        dispatch._check(1)


def test_random_state_is_a_tensor_that_can_be_set():
    state = dispatch.get_rng_state()
    first = dispatch.rand(3)
    dispatch.set_rng_state(state)
    assert dispatch.equal(first, dispatch.rand(3))
    with pytest.raises(TypeError):
        dispatch.set_rng_state(first)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"count": 2**64}, ValueError),
        ({"count": 4}, ValueError),
        ({"count": 0}, ValueError),
        ({"offset": 12}, ValueError),
        ({"offset": -1}, ValueError),
        ({"offset": 1}, ValueError),
        ({"count": 1.5}, TypeError),
        ({"count": True}, TypeError),
        ({"offset": None}, TypeError),
        ({"buffer": 3}, ValueError),
        ({"buffer": b""}, ValueError),
        ({"buffer": memoryview(bytearray(12))[::2]}, RuntimeError),
    ],
)
def test_frombuffer_checks_what_it_is_given(arguments, error):
    with pytest.raises(error, match=r"^frombuffer: "):
        dispatch.frombuffer(**{"buffer": bytearray(12), "dtype": dispatch.float32, **arguments})


def test_frombuffer_takes_a_part():
    buffer = bytearray(range(8))
    made = dispatch.frombuffer(buffer, dtype=dispatch.uint8, count=-7, offset=5)
    assert made.tolist() == [5, 6, 7]
    made[0] = 9
    assert buffer[5] == 9


def test_a_type_of_tensors_says_its_dtype_and_takes_tensors_of_it():
    x = dispatch.ones(2)
    assert dispatch.FloatTensor.dtype is dispatch.float32
    assert dispatch.FloatTensor(x).data_ptr() == x.data_ptr()
    assert dispatch.IntTensor(size=(2,), device="cpu").shape == (2,)
    for wrong in (x, 1.5):
        with pytest.raises(TypeError, match="IntTensor"):
            dispatch.IntTensor(wrong)
    with pytest.raises(RuntimeError, match="meta"):
        dispatch.IntTensor(2, device="meta")


def test_sizes_as_plain_numbers_guard_the_symbols():
    mode = FakeTensorMode(shape_env=ShapeEnv(), static_shapes=False)
    x = mode.from_tensor(dispatch.ones(2, 3))
    assert questions._non_sym_sizes(x) == (2, 3)
    assert len(mode.shape_env.guards) == 2


def test_a_type_of_tensors_is_no_base_and_tensor_is_of_the_default_dtype():
    with pytest.raises(TypeError, match=r"'dispatch\.FloatTensor' is not an acceptable base type"):
        type("Sub", (dispatch.FloatTensor,), {})
    for asked in (dispatch.Tensor, "dispatch.Tensor"):
        assert dispatch.ones(1, dtype=dispatch.int32).type(asked).dtype is dispatch.float32


def test_function_modes_see_devices_being_made_and_typed_constructors_not():
    seen = []

    class Names(dispatch.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(resolve_name(func))
            return func(*args, **(kwargs or {}))

    with Names():
        dispatch.device("cpu")
        made = dispatch.FloatTensor(2)
        with pytest.raises(RuntimeError, match="makes tensors on cpu"):
            dispatch.FloatTensor(2, device="meta")
    assert made.shape == (2,)
    assert seen == ["dispatch.device"]
