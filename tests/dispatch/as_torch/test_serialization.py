"""`torch.save` and `torch.load` without PyTorch."""

import io
import pickle
from collections import Counter, OrderedDict
from pathlib import Path

import pytest

import dispatch
from dispatch.as_torch import serialization
from dispatch.as_torch.nn import Parameter
from dispatch.tensor import copy


class Marked(dispatch.Tensor):
    """A class that has to be named as safe."""


class Wrapper(dispatch.Tensor):
    """A tensor without memory around another one."""

    @staticmethod
    def __new__(cls, elem):
        made = cls._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype)
        made.elem = elem
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise NotImplementedError(func)


def again(value: object, **options: object) -> object:
    file = io.BytesIO()
    serialization.save(value, file)
    file.seek(0)
    return serialization.load(file, **options)


def test_tensors_in_containers_come_back(tmp_path: Path):
    x = dispatch.arange(6).reshape(2, 3).t()
    state = OrderedDict(x=x, dtype=dispatch.int8, size=dispatch.Size([1]), n={1, 2}, d=x.device)
    found = again(state)
    assert found["x"].equal(x)
    assert found["x"].stride() == x.stride()
    assert {k: v for k, v in found.items() if k != "x"} == {
        "dtype": dispatch.int8, "size": (1,), "n": {1, 2}, "d": x.device,
    }  # fmt: skip
    serialization.save(x, tmp_path / "x")
    assert serialization.load(tmp_path / "x").equal(x)


@pytest.mark.parametrize("weights_only", [True, False])
def test_tensors_that_share_memory_share_it_again(weights_only: bool):
    whole = dispatch.ones(4)
    tensors = {"whole": whole, "rest": whole[1:], "own": dispatch.ones(4)}
    made = again(tensors, weights_only=weights_only)
    made["whole"][1] = 7
    assert made["rest"].tolist() == [7, 1, 1] and made["own"].tolist() == [1] * 4
    assert made["rest"].untyped_storage().data_ptr() == made["whole"].data_ptr()


def test_tensors_go_where_they_are_told():
    x = dispatch.ones(2)
    assert again(x, map_location="meta").device.type == "meta"
    assert again([x], map_location={"cpu": "meta"})[0].device.type == "meta"
    assert again(x, map_location=dispatch.device("cpu")).tolist() == [1, 1]


def test_classes_are_made_only_where_they_are_safe():
    x = dispatch.ones(2).as_subclass(Marked)
    with pytest.raises(pickle.UnpicklingError, match="Marked"):
        again(x)
    with serialization.safe_globals([Marked]):
        assert type(again(x)) is Marked
        assert serialization.get_safe_globals() == [Marked]
    assert type(again(x, weights_only=False)) is Marked
    assert serialization.get_safe_globals() == []


def test_wrappers_come_back_with_what_they_wrap():
    x = Wrapper(dispatch.arange(3))
    with pytest.raises(pickle.UnpicklingError, match="Wrapper"):
        again(x)
    with serialization.safe_globals([Wrapper]):
        found = again(x)
    assert type(found) is Wrapper
    assert (found.dtype, found.shape) == (dispatch.int64, (3,))
    assert found.elem.tolist() == [0, 1, 2]


def test_a_file_calls_nothing_else():
    class Call:
        def __reduce__(self):
            return print, ("called",)

    for module, name in (("os", "system"), ("torch", "from_file"), ("dispatch", "ops")):
        text = f"c{module}\n{name}\n."
        with pytest.raises(pickle.UnpicklingError, match=name):
            serialization.load(io.BytesIO(text.encode()))
    with pytest.raises(pickle.UnpicklingError, match="print"):
        again(Call())


@pytest.mark.parametrize(
    ("module", "name"),
    [("collections", "Counter"), ("torch", "Size"), ("torch.nn.parameter", "_parameter"),
     ("dispatch.tensor.copy", "_restored"), ("collections", "OrderedDict"), ("torch", "device")],
)  # fmt: skip
def test_a_file_sets_no_attribute_of_what_it_calls(module: str, name: str):
    file = f"c{module}\n{name}\n".encode() + b"N}X\x05\x00\x00\x00alienK\x01s\x86b."
    with pytest.raises((pickle.UnpicklingError, TypeError)):
        serialization.load(io.BytesIO(file))
    assert not hasattr(Counter, "alien")
    assert not hasattr(dispatch.Size, "alien")
    assert not hasattr(copy._restored, "alien")
    assert again([Counter("aab"), dispatch.Size([2])]) == [Counter("aab"), dispatch.Size([2])]


def test_parameters_are_safe():
    x = Parameter(dispatch.ones(2), requires_grad=False)
    x.grad, x.note = dispatch.zeros(2), 3
    found = again({"x": x})["x"]
    assert (type(found), found.requires_grad, found.tolist()) == (Parameter, False, [1, 1])
    assert (found.note, found.grad) == (3, None)


@pytest.mark.parametrize(
    "place, device", [(None, "cpu"), ("cuda:1", "cuda:1"), ({"cpu": "xpu"}, "xpu:0")]
)
def test_under_a_fake_mode_tensors_are_fake_and_lie_where_they_are_told(place, device):
    file = io.BytesIO()
    serialization.save(dispatch.arange(6.0)[1:].reshape(5, 1).requires_grad_(), file)
    file.seek(0)
    with dispatch.FakeTensorMode() as mode:
        found = serialization.load(file, map_location=place)
        assert type(found) is dispatch.FakeTensor and found.fake_mode is mode
    assert (str(found.device), found.shape, found.requires_grad) == (device, (5, 1), True)


def test_a_length_beyond_64_bits_is_no_pickle() -> None:
    with pytest.raises(pickle.UnpicklingError, match="load: FRAME length"):
        serialization.load(io.BytesIO(b"\x80\x04\x95" + b"\xff" * 8 + b"N."))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("weights_only", [True, False])
def test_typed_storages_come_back_and_share_memory(weights_only: bool):
    x = dispatch.arange(4)
    made, storage = again([x, x.storage()], weights_only=weights_only)
    storage[0] = 7
    assert made.tolist() == [7, 1, 2, 3] and storage.dtype is dispatch.int64


def test_a_function_places_storages():
    seen = []

    def place(storage: object, device: str) -> object:
        seen.append((type(storage), device))
        return None if len(seen) == 1 else dispatch.ones(2).untyped_storage()

    found = again([dispatch.zeros(2), dispatch.zeros(2)], map_location=place)
    assert [t.tolist() for t in found] == [[0, 0], [1, 1]]
    assert seen == [(type(dispatch.ones(1).untyped_storage()), "cpu")] * 2


def test_the_unpickler_may_be_anothers():
    class Module:
        class Unpickler(pickle.Unpickler):
            def load(self):
                return [super().load()]

    assert again(1, pickle_module=Module, weights_only=False) == [1]
    with pytest.raises(RuntimeError, match="explicit pickle_module"):
        again(1, pickle_module=Module)


def test_files_are_flushed_and_have_to_be_sought(tmp_path: Path):
    class Pipe:
        def read(self):
            return b""

    with (tmp_path / "x").open("wb") as file:
        serialization.save(1, file, _use_new_zipfile_serialization=False)
        assert serialization.load(tmp_path / "x") == 1
    with pytest.raises(AttributeError, match="from a file that is seekable"):
        serialization.load(Pipe())
    with pytest.raises(AttributeError, match="open file, got Pipe"):
        serialization.save(1, Pipe())
