"""`safetensors`: files read into a model's weights, and broken ones refused by name."""

import json
import struct

import numpy as np
import pytest

from dispatch import graph
from dispatch.graph.errors import ModelFileError
from dispatch.graph.safetensors import read_tensors
from tests.dispatch.graph import programs


def write(path, header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def entry(begin, end, shape, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.fixture
def linear(tmp_path):
    return graph.load(programs.write_json(tmp_path / "m.json", programs.linear()))


FLOATS = struct.pack("<12f", *range(12))


def test_tensors_by_name(tmp_path):
    header = {
        "__metadata__": {"format": "pt"},
        "w": entry(0, 48, [3, 4]),
        "half": entry(48, 52, [2], "BF16"),
        "none": entry(52, 52, [0, 3], "I64"),
    }
    path = write(tmp_path / "w.safetensors", header, FLOATS + bytes.fromhex("803f0040"))
    found = read_tensors(path)
    assert found["w"].tolist() == np.arange(12).reshape(3, 4).tolist()
    assert found["half"].tolist() == [1, 2]
    assert found["none"].shape == (0, 3)


def test_a_loaded_model_computes_with_them(tmp_path, linear):
    path = write(tmp_path / "w.safetensors", {"w": entry(0, 48, [3, 4])}, FLOATS)
    linear.load_safetensors(path)
    assert linear(np.eye(2, 3, dtype=np.float32))[0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_names_get_a_prefix(tmp_path):
    path = write(tmp_path / "w.safetensors", {"w": entry(0, 4, [1])}, bytes(4))
    assert list(read_tensors(path, prefix="m.")) == ["m.w"]


def test_a_tied_weight_is_found_under_its_other_name(tmp_path):
    content = programs.linear_archive(tmp_path / "m.pt2", tied=False)
    module = graph.load(content)
    weights = module._weights
    weights["other"] = weights["w"]
    module.state_dict._weights["other"] = weights["w"]
    path = write(tmp_path / "w.safetensors", {"other": entry(0, 48, [3, 4])}, FLOATS[::-1])
    module.load_safetensors(path)
    assert module.state_dict["w"] is module.state_dict["other"]


@pytest.mark.parametrize(
    ("header", "text"),
    [
        ({"v": entry(0, 48, [3, 4])}, "missing weights"),
        ({"w": entry(0, 48, [4, 3])}, "expected float32"),
    ],
)
def test_weights_that_do_not_fit_name_the_file_and_change_nothing(tmp_path, linear, header, text):
    path = write(tmp_path / "w.safetensors", header, FLOATS)
    with pytest.raises(RuntimeError, match=rf"w\.safetensors.*{text}"):
        linear.load_safetensors(path)
    assert linear.without_data() == ["w"]


def test_what_is_not_strict_takes_what_there_is(tmp_path, linear):
    header = {"w": entry(0, 48, [3, 4]), "v": entry(48, 52, [1])}
    path = write(tmp_path / "w.safetensors", header, FLOATS + bytes(4))
    linear.load_safetensors(path, strict=False)
    assert linear.without_data() == []


@pytest.mark.parametrize(
    ("header", "data", "text"),
    [
        (b"", b"", "a header of 0 bytes"),
        (b"[]", b"", "expected an object"),
        (b'{"w": 3}', b"", "w: expected an object"),
        (b'{"w": ' + b"[" * 100_000, b"", "w"),
        ({"w": {"dtype": "F32"}}, b"", "missing"),
        ({"w": entry(0, 4, [1], "F33")}, bytes(4), "'F33' is not known"),
        ({"w": entry(0, 4, [2])}, bytes(4), "needs 8"),
        ({"w": entry(0, 4, [-1])}, bytes(4), "-1"),
        ({"w": entry(0, 4, [1])}, bytes(3), "end by 3"),
        ({"w": entry(0, 4, [1])}, bytes(5), "of which tensors use 4"),
        ({"w": entry(0, 4, [1]), "v": entry(2, 6, [1])}, bytes(6), "start at 4"),
        ({"w": entry(0, 2**62, [2**60])}, bytes(6), "end by 6"),
        ({"w": entry(0, 4, [2**62, 2**62, 4])}, bytes(4), "needs"),
    ],
)
def test_broken_files_are_refused_by_name(tmp_path, header, data, text):
    path = write(tmp_path / "w.safetensors", header, data)
    with pytest.raises(ModelFileError) as caught:
        read_tensors(path)
    assert text in str(caught.value) and "w.safetensors" in str(caught.value)


def test_a_short_file_is_refused(tmp_path):
    path = tmp_path / "w.safetensors"
    path.write_bytes(b"\x01\x02")
    with pytest.raises(ModelFileError, match=r"w\.safetensors"):
        read_tensors(path)


def test_files_of_the_package_safetensors(tmp_path):
    saver = pytest.importorskip("safetensors.numpy")
    arrays = {"a": np.arange(6, dtype=np.int64).reshape(2, 3), "b": np.ones((), np.float16)}
    saver.save_file(arrays, tmp_path / "w.safetensors", {"format": "np"})
    found = read_tensors(tmp_path / "w.safetensors")
    assert {n: t.tolist() for n, t in found.items()} == {n: a.tolist() for n, a in arrays.items()}
