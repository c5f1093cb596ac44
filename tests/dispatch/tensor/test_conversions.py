"""What a tensor becomes: other dtypes and devices, arrays, lists, one number."""

from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import Tensor, tensor


def meta(*sizes: int, dtype: Any = None) -> Tensor:
    return dispatch.empty(list(sizes), device="meta", dtype=dtype)


def test_one_element_has_a_truth_a_number_and_an_index() -> None:
    assert bool(tensor([2.0])) and not tensor(0)
    assert (int(tensor(1.7)), float(tensor(2)), complex(tensor(1j))) == (1, 2.0, 1j)
    assert [1, 2, 3][tensor(1)] == 2
    for bad in (dispatch.zeros(2), dispatch.zeros(0)):
        with pytest.raises(RuntimeError):
            bool(bad)
        with pytest.raises(ValueError, match="elements"):
            int(bad)
    with pytest.raises(TypeError):
        [1, 2][tensor(1.0)]
    with pytest.raises(RuntimeError, match="overflow"):
        int(tensor(1j))


class Answering(Tensor):
    """Two elements for us, `n` for who asks it."""

    @staticmethod
    def __new__(cls, n):
        return Tensor._make_wrapper_subclass(cls, (2,), dispatch_sizes_strides_policy="sizes")

    def __init__(self, n):
        self.n = n

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        name = func.name().partition("::")[2]
        return 2.5 if name == "_local_scalar_dense" else {"numel": args[0].n}[name[-5:]]


def test_whoever_answers_its_sizes_says_whether_it_is_one_number() -> None:
    one, three = Answering(1), Answering(3)
    assert (float(one), int(one), bool(one), one.item()) == (2.5, 2, True, 2.5)
    for kind in (float, int):
        with pytest.raises(ValueError, match="3 elements"):
            kind(three)
    for question in (bool, Tensor.item):
        with pytest.raises(RuntimeError, match=r"more than one value|3 elements"):
            question(three)


@pytest.mark.parametrize(
    ("args", "kwargs", "dtype", "device"),
    [
        ((dispatch.int32,), {}, "int32", "cpu"), (("meta",), {}, "float32", "meta"),
        (("meta", dispatch.int32), {}, "int32", "meta"),
        ((), {"dtype": dispatch.half}, "float16", "cpu"),
        ((), {"device": "meta"}, "float32", "meta"), ((float,), {}, "float64", "cpu"),
        ((dispatch.device("meta"), None, True, True), {}, "float32", "meta"),
        ((dispatch.zeros(1, dtype=dispatch.int8),), {}, "int8", "cpu"),
        ((), {}, "float32", "cpu"),
        ((1.5,), {}, "float64", "cpu"), ((True,), {}, "bool", "cpu"),
        ((1j,), {}, "complex128", "cpu"),
        ((0, True), {}, "int64", "cpu"), ((np.float32(1),), {}, "float64", "cpu"),
        ((), {"tensor": dispatch.zeros(1, dtype=dispatch.int8), "copy": True}, "int8", "cpu"),
        ((None,), {"dtype": int}, "int64", "cpu"),
        (("cpu", None, False, True), {}, "float32", "cpu"),
    ],
)  # fmt: skip
def test_to_takes_every_form(args: tuple, kwargs: dict, dtype: str, device: str) -> None:
    made = dispatch.zeros(2).to(*args, **kwargs)
    assert (made.dtype, made.device.type) == (getattr(dispatch, dtype), device)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (([1],), {}), ((dispatch.int32, 3), {}), (("cpu", True), {}), ((None, True), {}),
        ((dispatch.int8, None), {}), (("nowhere", True), {}), ((dispatch.int8,), {"device": "cpu"}),
        ((), {"device": dispatch.zeros(1)}), ((), {"other": dispatch.zeros(1)}),
        ((dispatch.zeros(1),), {"device": "cpu"}), ((), {"copy": 1}), (("cpu",) * 5, {}),
    ],
)  # fmt: skip
def test_to_refuses_what_fits_no_signature(args: tuple, kwargs: dict) -> None:
    with pytest.raises(TypeError):
        dispatch.zeros(2).to(*args, **kwargs)
    with pytest.raises(RuntimeError):
        dispatch.zeros(2).to("nowhere")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x.float(dispatch.preserve_format), lambda x: x.float(memory_format=1),
        lambda x: x.cpu("cpu"), lambda x: x.cpu(non_blocking=True),
        lambda x: x.cpu(memory_format=1),
        lambda x: x.type(True), lambda x: x.type(memory_format=1), lambda x: x.cuda(copy=True),
    ],
)  # fmt: skip
def test_conversion_methods_take_a_format_by_keyword_alone(call) -> None:
    with pytest.raises(TypeError):
        call(dispatch.zeros(2))


def test_a_method_for_one_kind_of_device_refuses_others() -> None:
    with pytest.raises(RuntimeError, match="must be cuda device"):
        dispatch.zeros(2).cuda("cpu")


@pytest.mark.parametrize("kwargs", [{"dtype": "int8"}, {"dtype": []}, {"memory_format": 1}])
def test_to_refuses_what_is_no_dtype_and_no_format(kwargs: dict) -> None:
    with pytest.raises(TypeError, match="expected a dtype, device or tensor"):
        dispatch.zeros(2).to(**kwargs)


def test_conversion_methods_and_type_names() -> None:
    base = dispatch.zeros(2)
    assert base.double().dtype == dispatch.float64 and base.long().dtype == dispatch.int64
    assert base.type() == "dispatch.FloatTensor"
    assert base.type("dispatch.IntTensor").dtype == dispatch.int32
    assert base.type(dispatch.IntTensor).dtype == dispatch.int32
    with pytest.raises((RuntimeError, TypeError), match="must be"):
        base.type(list)
    assert base.half().type() == "dispatch.HalfTensor" and base.cpu() is base


def test_numpy_shares_memory_and_refuses_what_it_cannot_show() -> None:
    base = dispatch.zeros(2, 3)
    base.numpy()[0] = 5
    assert base.tolist() == [[5, 5, 5], [0, 0, 0]]
    assert np.asarray(base, dtype=np.int32).dtype == np.int32
    assert base.to(dispatch.bfloat16).numpy().dtype.name == "bfloat16"
    with pytest.raises(TypeError, match="meta"):
        meta(2).numpy()
    for bad in (
        dispatch.zeros(1, requires_grad=True),
        tensor([1j]).conj(),
        tensor([1j]).conj().imag,
    ):
        with pytest.raises(RuntimeError):
            bad.numpy()
        assert bad.numpy(force=True).shape == (1,)


def test_tolist_nests_python_numbers() -> None:
    assert tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert tensor(1.5).tolist() == 1.5
    assert dispatch.zeros(2, 0).tolist() == [[], []]
    assert tensor([1j]).conj().tolist() == [-1j]
    with pytest.raises(NotImplementedError):
        meta(2).tolist()
