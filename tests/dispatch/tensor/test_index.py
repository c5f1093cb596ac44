"""Indexing: which operators `x[...]` becomes, the views it gives, and its errors."""

from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch._C.slots import _set_tensor_hook
from dispatch._C.torch_function import _watch_slot
from dispatch.modes import TorchDispatchMode
from dispatch.tensor.index import getitem, setitem

INDICES: list[Any] = [
    0, -1, slice(None), slice(1, None), slice(None, None, 2), None, Ellipsis,
    (0, 1), (0, slice(1, 3)), (Ellipsis, 0), (None, 0, Ellipsis, None),
    (slice(None), -1, slice(0, 2)),
    (0, 0, 0), (slice(5, 9),), (slice(-2, -1), Ellipsis, slice(1, 2)),
]  # fmt: skip


def numbers(*sizes: int) -> dispatch.Tensor:
    return dispatch.arange(int(np.prod(sizes))).reshape(list(sizes))


class Calls(TorchDispatchMode):
    """Collects the names of operators."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(func._packet_name() if hasattr(func, "_packet_name") else str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_basic_index_is_a_view_like_numpy(index: Any) -> None:
    base = numbers(2, 3, 4)
    made = base[index]
    assert made.untyped_storage() is base.untyped_storage()
    assert made is not base
    np.testing.assert_array_equal(made.numpy(), base.numpy()[index])


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_assignment_writes_where_numpy_writes(index: Any) -> None:
    base = numbers(2, 3, 4)
    expected = base.numpy().copy()
    base[index] = 7
    expected[index] = 7
    np.testing.assert_array_equal(base.numpy(), expected)


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ((0, slice(None), None, Ellipsis, slice(1, 2)), ["select", "unsqueeze", "slice"]),
        (slice(None), ["slice"]),
        (Ellipsis, ["alias"]),
        (None, ["unsqueeze"]),
    ],
)
def test_operators_are_those_of_pytorch(index: Any, names: list[str]) -> None:
    base = numbers(2, 3, 4)
    with Calls() as calls:
        base[index]
    assert calls.names == names


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        ([0, 1], (2, 3, 4, 5)),
        (True, (1, 2, 3, 4, 5)),
        (([0, 1], [0, 1]), (2, 4, 5)),
        (([0, 1], slice(None)), (2, 3, 4, 5)),
        ((slice(None), [[0], [1]]), (2, 2, 1, 4, 5)),
    ],
    ids=str,
)
def test_lists_gather_on_meta(index: Any, shape: tuple) -> None:
    assert tuple(numbers(2, 3, 4, 5).to("meta")[index].shape) == shape


def test_a_list_of_other_than_numbers_is_a_tuple() -> None:
    with pytest.warns(UserWarning, match=r"^x\[list\]"):
        assert tuple(numbers(2, 3, 4, 5).to("meta")[[[0, 1], slice(None)]].shape) == (2, 3, 4, 5)


def test_integer_tensors_select() -> None:
    base = numbers(2, 3)
    assert base[dispatch.tensor(1)].tolist() == [3, 4, 5]
    assert base[np.int64(1), np.int32(0)].item() == 3


@pytest.mark.filterwarnings("ignore:x.list. for x:UserWarning")  # a text is a sequence
@pytest.mark.parametrize(
    ("index", "error"),
    [
        (2, IndexError),
        ((0, -4), IndexError),
        ((0, 0, 0), IndexError),
        (1.0, IndexError),
        ("a", TypeError),
        (slice(None, None, -1), ValueError),
        (slice(1.0, 2), TypeError),
    ],
    ids=str,
)
def test_bad_index_raises_and_writes_nothing(index: Any, error: type) -> None:
    base = numbers(2, 3)
    with pytest.raises(error):
        base[index]
    with pytest.raises(error):
        base[index] = 1
    assert base.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_0d_tensor_has_no_elements_to_choose() -> None:
    value = dispatch.tensor(1.0)
    assert value[...].item() == 1 and tuple(value[None].shape) == (1,)
    with pytest.raises(IndexError):
        value[0]
    with pytest.raises(IndexError):
        value[:]
    with pytest.raises(IndexError):
        value[:] = 2
    assert value.item() == 1


def test_assigned_tensors_are_broadcast() -> None:
    base = numbers(2, 3)
    base[:, 1] = dispatch.tensor([[8, 9]])
    assert base.tolist() == [[0, 8, 2], [3, 9, 5]]
    with pytest.raises(RuntimeError):
        base[0] = dispatch.tensor([1, 2])
    with pytest.raises(TypeError):
        base[0] = [1, 2, 3]
    base[False] = 5
    assert base.tolist() == [[0, 8, 2], [3, 9, 5]]


def test_a_dict_is_no_index():
    with pytest.raises(IndexError, match="dict"):
        dispatch.ones(2)[{}]


class Sized(dispatch.Tensor):
    """A wrapper that answers for its sizes; what operators return does not."""

    calls: list[str] = []

    @classmethod
    def of(cls, inner, policy=None):
        made = dispatch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, dispatch_sizes_strides_policy=policy
        )
        made.inner = inner
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(str(func).split(".")[1])
        found = func(*[x.inner if isinstance(x, cls) else x for x in args], **(kwargs or {}))
        return cls.of(found) if isinstance(found, dispatch.Tensor) else found


@pytest.mark.parametrize(
    ("index", "read", "written"),
    [
        (0, "sym_size select", "sym_size select fill_"),
        (slice(0, 1), "sym_size slice", "sym_size slice fill_"),
        (slice(None), "sym_size slice", "sym_size sym_size fill_"),
        (Ellipsis, "sym_size alias", "sym_size sym_size fill_"),
        (None, "sym_size unsqueeze", "sym_size unsqueeze fill_"),
        (True, "sym_size unsqueeze index", "sym_size unsqueeze fill_"),
        ((0, 1), "dim sym_size select select", "dim sym_size select select copy_"),
        ((..., 1), "dim sym_size dim sym_size select", "dim sym_size dim sym_size select fill_"),
        ([0, 1], "dim sym_size index", "dim sym_size index_put_"),
    ],
)  # fmt: skip
def test_a_wrapper_is_asked_for_its_sizes_once_for_an_entry(index, read, written):
    wrapper = Sized.of(dispatch.ones(2, 3), "sizes")
    Sized.calls = []
    wrapper[index]
    assert Sized.calls == read.split()
    Sized.calls.clear()
    wrapper[index] = 5.0
    assert Sized.calls == written.split()


def test_a_value_with_the_sizes_of_its_place_is_not_expanded():
    x = dispatch.ones(2)
    with Calls() as seen:
        x[0] = dispatch.zeros(1)
    assert "aten.expand.default" not in seen.names
    assert x.tolist() == [0, 1]


def test_a_number_chooses_within_its_dimension_only() -> None:
    x = dispatch.arange(6).view(2, 3)
    assert (x[1].tolist(), x[-2].tolist(), x[1, -3].item(), x[:, 2].tolist()) == (
        [3, 4, 5], [0, 1, 2], 3, [2, 5],
    )  # fmt: skip
    for index in (2, -3, (0, 3), (slice(None), -4)):
        with pytest.raises(IndexError, match=r"aten::select.*out of bounds for dimension"):
            x[index]
    for index in (1 << 63, -(1 << 63) - 1):
        with pytest.raises(ValueError, match="64 bits"):
            x[index]
    with pytest.raises(IndexError, match="0-dim"):
        x[0, 0][0]
    with pytest.raises(IndexError, match="size 0"):
        dispatch.empty(0, 2)[0]


def test_whoever_registers_indexing_again_is_asked() -> None:
    x = dispatch.ones(2)
    try:
        _set_tensor_hook("__getitem__", lambda self, index: ("got", index))
        _set_tensor_hook("__setitem__", lambda self, index, value: seen.append((index, value)))
        seen: list = []
        x[0] = 5
        assert x[1] == ("got", 1) and seen == [(0, 5)]
    finally:
        for function in (getitem, setitem):
            name = f"__{function.__name__}__"
            _set_tensor_hook(name, _watch_slot(function, name, counts_self=False))
    assert x.tolist() == [1, 1] and x[0].item() == 1


def test_a_text_as_an_index_is_advised_against_as_any_sequence_and_refused():
    with pytest.warns(UserWarning, match="tuple"), pytest.raises(TypeError):
        dispatch.ones(2)["a"]
