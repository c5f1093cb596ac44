"""`torch.save` and `torch.load` without PyTorch."""

import io
import pickle
from collections import OrderedDict
from pathlib import Path

import pytest

import dispatch
from dispatch.as_torch import serialization


class Marked(dispatch.Tensor):
    """A class that has to be named as safe."""


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
