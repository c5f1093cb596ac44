"""Tensors out of Python data, and copies of tensors: dtypes, sharing, errors, pickles."""

import array
import copy
import gc
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import dispatch
from dispatch import Tensor, as_tensor, asarray, tensor
from dispatch.symbolic import ShapeEnv
from tests.dispatch.symbolic.making import size


@pytest.mark.parametrize(
    ("data", "dtype", "shape"),
    [
        (1, "int64", ()), (1.5, "float32", ()), (True, "bool", ()), (1j, "complex64", ()),
        ([], "float32", (0,)), ([[], []], "float32", (2, 0)), ([1, 2.5], "float32", (2,)),
        ([True, 2], "int64", (2,)), ([1, 2j], "complex64", (2,)), (range(3), "int64", (3,)),
        (np.float64(1), "float64", ()), ([np.float64(1), 1.0], "float64", (2,)),
        ([np.int32(1)], "int32", (1,)), (np.ones((2, 3), np.float16), "float16", (2, 3)),
        ([np.ones(2), np.zeros(2)], "float64", (2, 2)),
    ],
    ids=str,
)  # fmt: skip
def test_dtype_and_shape_are_inferred(data: Any, dtype: str, shape: tuple) -> None:
    made = tensor(data)
    assert (made.dtype, tuple(made.shape)) == (getattr(dispatch, dtype), shape)


@pytest.mark.parametrize(
    ("data", "dtype", "error"),
    [
        ([[1, 2], [3]], None, ValueError), ([[1, 2], 3], None, TypeError), ("a", None, TypeError),
        (["a"], None, ValueError), (None, None, RuntimeError), ([None], None, RuntimeError),
        ({}, None, RuntimeError), ({1}, None, RuntimeError), (2**63, None, ValueError),
        ([300], "uint8", RuntimeError), ([float("nan")], "int32", RuntimeError),
        ([1j], "float32", TypeError), ([1j], "int32", TypeError),
    ],
    ids=str,
)  # fmt: skip
def test_data_without_a_tensor_is_refused(data: Any, dtype: str | None, error: type) -> None:
    with pytest.raises(error):
        tensor(data, dtype=None if dtype is None else getattr(dispatch, dtype))


def test_values_are_converted_to_the_given_dtype() -> None:
    assert tensor([1.7, -1.7], dtype=dispatch.int8).tolist() == [1, -1]
    assert tensor([-1], dtype=dispatch.uint8).tolist() == [255]
    assert tensor([1e300]).tolist() == [float("inf")]
    assert tensor([2**63], dtype=dispatch.uint64).tolist() == [2**63]


def test_symbolic_numbers_are_asked_for_their_values() -> None:
    env = ShapeEnv()
    a = size(env, 5, "a")
    assert tensor(a).tolist() == 5 and tensor(a).dtype is dispatch.int64
    assert tensor([[a, 2.5]]).tolist() == [[5.0, 2.5]]
    half = tensor(dispatch.sym_float(a) / 2)
    assert (half.item(), half.dtype) == (2.5, dispatch.float32)
    assert [str(g.expr) for g in env.guards][:1] == ["Eq(s99, 5)"]


def test_data_that_contains_itself_is_refused() -> None:
    data: list[Any] = []
    data.append(data)
    with pytest.raises((ValueError, RecursionError)):
        tensor(data)
    data.insert(0, 1)
    with pytest.raises(TypeError, match="self-referential"):
        tensor(data)


def test_tensor_copies_and_as_tensor_shares() -> None:
    array = np.zeros(2)
    copied, shared, also = tensor(array), as_tensor(array), asarray(array)
    array[0] = 5
    assert copied.tolist() == [0, 0]
    assert shared.tolist() == also.tolist() == [5, 0]
    assert as_tensor(copied) is copied
    assert asarray(array, copy=True).untyped_storage() is not shared.untyped_storage()
    with pytest.raises(ValueError, match="share"):
        asarray([1], copy=False)


def test_requires_grad_is_set_on_leaves() -> None:
    assert tensor([1.0], requires_grad=True).requires_grad
    base = dispatch.zeros(1, requires_grad=True)
    with pytest.warns(UserWarning, match="better copied"):
        assert not tensor(base).requires_grad
    assert as_tensor(base).requires_grad


def test_legacy_constructor_makes_float_tensors() -> None:
    assert tuple(Tensor(2, 3).shape) == (2, 3) and tuple(Tensor().shape) == (0,)
    assert Tensor([1, 2]).tolist() == [1.0, 2.0]
    base = dispatch.zeros(2)
    assert Tensor(base).untyped_storage() is base.untyped_storage()
    for bad in ("a", 1.5):
        with pytest.raises(TypeError):
            Tensor(bad)


@pytest.mark.parametrize(
    "name", ["float32", "bfloat16", "int16", "bool", "complex64", "float8_e5m2"]
)
def test_pickles_keep_values_and_geometry(name: str) -> None:
    base = tensor([[0, 1, 1], [1, 0, 1]], dtype=getattr(dispatch, name)).t()
    made = pickle.loads(pickle.dumps(base))
    assert (made.dtype, made.shape, made.stride()) == (base.dtype, base.shape, base.stride())
    assert made.tolist() == base.tolist()


class Marked(Tensor):
    """A subclass with an attribute."""


def test_pickles_keep_class_attributes_and_flags() -> None:
    base = dispatch.zeros(2).as_subclass(Marked)
    base.mark = 3
    base.requires_grad_(True)
    made = pickle.loads(pickle.dumps(base))
    assert (type(made), made.mark, made.requires_grad) == (Marked, 3, True)
    conj = tensor([1j]).conj()
    assert pickle.loads(pickle.dumps(conj)).is_conj()


def test_meta_tensors_are_copied_without_bytes() -> None:
    base = dispatch.zeros(2, 3, device="meta").t()
    for made in (copy.deepcopy(base), pickle.loads(pickle.dumps(base))):
        assert made.is_meta and made.stride() == (1, 3)
        assert made.untyped_storage().nbytes() == 24


def test_deep_copies_of_views_share_one_new_storage() -> None:
    base = dispatch.zeros(4)
    copied, view = copy.deepcopy([base, base[1:]])
    copied[1] = 5
    assert view.tolist() == [5, 0, 0] and base.tolist() == [0] * 4
    with pytest.raises(RuntimeError, match="leaf"):
        copy.deepcopy(dispatch.zeros(1, requires_grad=True).view(1))


def test_pickled_tensors_each_take_their_storage_along() -> None:
    """As in PyTorch: only one and the same tensor stays one."""
    base = dispatch.arange(4)
    first, same, view = pickle.loads(pickle.dumps([base, base, base[1:]]))
    assert first is same and first.data_ptr() != view.data_ptr() - base.element_size()
    assert view.untyped_storage().nbytes() == base.untyped_storage().nbytes()
    assert copy.copy(base).data_ptr() == base.data_ptr()


def test_elements_cannot_be_deleted() -> None:
    with pytest.raises(TypeError, match="item deletion"):
        del dispatch.arange(3)[0]


def test_set_refuses_a_storage_of_another_device() -> None:
    fake = dispatch.FakeTensorMode()
    storage = dispatch.ones(2).untyped_storage()
    with pytest.raises(RuntimeError, match="storage is on cpu"):
        dispatch.empty(0, device="meta").set_(storage)
    with fake, pytest.raises(RuntimeError, match="storage is on cpu"):
        dispatch.empty(0).set_(storage)
    with fake:
        assert dispatch.ones(3).set_().shape == (0,)


@pytest.mark.parametrize("shape", [(2**30, 2**25), (2**40, 0)])
def test_data_that_stands_for_more_than_there_is_memory_is_refused_at_once(shape):
    many = np.lib.stride_tricks.as_strided(np.zeros(1, "f4"), shape, (0, 0))
    with pytest.raises(RuntimeError, match="could not allocate"):
        tensor([many, many])


def test_a_size_beyond_64_bits_is_told_in_our_words():
    with pytest.raises(ValueError, match="an integer of 64 bits"):
        dispatch.ones(2).untyped_storage().resize_(2**70)


def test_asarray_reads_the_memory_of_any_buffer():
    """As the default dtype, unless one is given; a number of numpy is a number."""
    memory = array.array("i", [1, 2])
    shared = dispatch.asarray(memory, dtype=dispatch.int32)
    memory[0] = 5
    assert shared.tolist() == [5, 2]
    assert dispatch.asarray(memory).dtype is dispatch.float32
    assert dispatch.asarray(np.float32(3)).item() == 3


def test_new_takes_sizes_or_a_sequence():
    x = dispatch.ones(1)
    assert x.new(dispatch.Size([2, 3])).shape == (2, 3)
    with pytest.raises(TypeError, match="new"):
        x.new(1.5)


@pytest.mark.parametrize(
    ("number", "dtype", "error"),
    [
        (-0.5, "uint8", RuntimeError),
        (-256, "uint8", RuntimeError),
        (2**63, "uint8", ValueError),
        (2**63, "int64", ValueError),
        (-1, "uint64", OverflowError),
        (2**64, "uint64", OverflowError),
        (1.5, "uint64", TypeError),
        (float("nan"), "int8", RuntimeError),
        (1j, "int8", TypeError),
    ],
)
def test_numbers_that_no_integer_of_a_dtype_is(number, dtype, error):
    for data in (number, [number]):
        with pytest.raises(error, match="tensor"):
            tensor(data, dtype=getattr(dispatch, dtype))


def test_negative_integers_wrap_around_in_narrow_unsigned_dtypes():
    assert tensor(-1, dtype=dispatch.uint8).item() == 255
    assert tensor([-0.5], dtype=dispatch.int8).tolist() == [0]


@pytest.mark.parametrize("copied", [tensor, dispatch.zeros(2).new_tensor])
def test_a_tensor_copied_as_data_is_advised_at_the_line_that_does_it(copied) -> None:
    with pytest.warns(UserWarning, match=r"detach\(\)\.clone\(\)") as told:
        made = copied(dispatch.ones(2))
    assert made.tolist() == [1, 1] and [w.filename for w in told] == [__file__]


@given(st.data())
def test_lists_of_plain_numbers_hold_what_numpy_makes_of_them(given_data) -> None:
    shape = given_data.draw(st.lists(st.integers(1, 3), max_size=3))
    kinds = [st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(width=32)]
    leaves = st.one_of(*given_data.draw(st.sets(st.sampled_from(range(3)), min_size=1).map(
        lambda chosen: [kinds[i] for i in chosen])))  # fmt: skip
    flat = given_data.draw(st.lists(leaves, min_size=math.prod(shape), max_size=math.prod(shape)))
    numbers = iter(flat)

    def nested(dims: list[int]) -> Any:
        if not dims:
            return next(numbers)
        kind = given_data.draw(st.sampled_from((list, tuple)))
        return kind([nested(dims[1:]) for _ in range(dims[0])])

    found = {type(x) for x in flat}
    dtype = np.float32 if float in found else np.int64 if int in found else np.bool_
    data = nested(shape)
    made = tensor(data)
    assert made.numpy().dtype == dtype
    assert list(made.shape) == shape
    wanted = np.array([float(x) for x in flat]) if float in found else np.array(flat)
    np.testing.assert_array_equal(made.numpy(), wanted.astype(dtype).reshape(shape))
    np.testing.assert_array_equal(
        tensor(data, dtype=dispatch.float64).numpy().ravel(), [float(x) for x in flat]
    )


@pytest.mark.parametrize("data", [2**63, [1.0, -(2**63) - 1], [[1, 2], [3]], [1, [2]], [[1], 2]])
def test_lists_that_no_integers_or_no_shape_hold_are_refused(data: Any) -> None:
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        tensor(data, dtype=dispatch.int64)


def test_lists_that_the_collector_changes_are_read_as_they_are_then() -> None:
    class Clears:
        def __init__(self, items: list) -> None:
            self.itself, self.items = self, items

        def __del__(self) -> None:
            self.items.clear()

    before = gc.get_threshold()
    try:
        for _ in range(20):
            data = [[1.0] * 50 for _ in range(3)]
            Clears(data[1])
            gc.set_threshold(1)
            try:
                assert tensor(data).shape == (3, 50)
            except ValueError:
                assert data[1] == []
            finally:
                gc.set_threshold(*before)
    finally:
        gc.set_threshold(*before)


def test_asarray_takes_a_capsule_once():
    x = dispatch.ones(2)
    capsule = x.__dlpack__()
    dispatch.asarray(capsule, copy=False)[0] = 5
    assert x.tolist() == [5, 1]
    with pytest.raises(RuntimeError, match="PyCapsule"):
        dispatch.asarray(capsule)


def test_asarray_cuts_gradients_off_where_it_is_told():
    x = dispatch.ones(2, requires_grad=True)
    assert dispatch.asarray(x) is x and dispatch.asarray(x, requires_grad=True) is x
    cut = dispatch.asarray(x, requires_grad=False)
    assert not cut.requires_grad and cut.data_ptr() == x.data_ptr() and x.requires_grad


class Closed:
    """A sequence that gives nothing."""

    def __len__(self):
        return 2

    def __getitem__(self, place):
        raise KeyError(place)


@pytest.mark.parametrize(
    ("data", "error", "wrong"),
    [
        (Closed(), ValueError, "could not determine the shape of a Closed"),
        ([Closed()], ValueError, "could not determine the shape of a Closed"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ([0, "a"], TypeError, "invalid data type 'str'"),
        ([0, [1]], TypeError, "too many dimensions at list"),
    ],
    ids=str,
)
def test_what_is_no_number_is_told_by_its_place(data, error, wrong):
    with pytest.raises(error, match=wrong):
        tensor(data)
