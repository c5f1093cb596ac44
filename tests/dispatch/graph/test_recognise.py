"""`recognise`: what a file is that is no exported program, and versions of those that are."""

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pytest

from dispatch import graph
from dispatch.graph.errors import ModelFileError
from tests.dispatch.graph import programs


def zipped(*names):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return made.getvalue()


def arrays():
    made = io.BytesIO()
    np.savez(made, a=np.zeros(3))
    return made.getvalue()


def safetensors():
    head = json.dumps({"w": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]}}).encode()
    return struct.pack("<Q", len(head)) + head


ONNX = b"\x08\x09\x12\x07pytorch\x1a\x032.13:"  # ir_version 9, producer_name, its version
FILES = {
    "ONNX": (ONNX, "an ONNX model"),
    "GGUF": (b"GGUF" + struct.pack("<IQQ", 3, 1, 1), "a GGUF model"),
    "safetensors": (safetensors(), "a safetensors file"),
    "pickle": (pickle.dumps({"a": 1}, 2), "a pickle"),
    "torch.save": (zipped("m/data.pkl", "m/version", "m/data/0"), "a pickle (torch.save"),
    "TorchScript": (
        zipped("m/data.pkl", "m/constants.pkl", "m/code/a"),
        "a TorchScript program",
    ),
    "old export": (zipped("serialized_exported_program.json"), "an exported program of before"),
    "npz": (arrays(), "numpy's arrays"),
    "npy": (b"\x93NUMPY\x01\x00", "an array of numpy"),
    "Git LFS": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "page": (b"<!DOCTYPE html>\n<html>", "a web page"),
    "TFLite": (b"\x1c\x00\x00\x00TFL3", "a TensorFlow Lite model"),
    "HDF5": (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "xz": (b"\xfd7zXZ\x00", "unpack it first"),
    "index": (b'{"metadata": {}, "weight_map": {}}', "the index of a model in safetensors"),
    "configuration": (b'{"architectures": ["Gpt"]}', "the configuration of a model"),
    "report": (b'{"calls": [{"during_bytes": 1}]}', "a report of dispatch inspect"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_told_by_its_content(tmp_path, name):
    content, words = FILES[name]
    path = tmp_path / "model.pt2"
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        graph.load(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize("content", [b"\x08", b"\x80", b"\x08\x09", b"GG", b"\x00" * 64, b"text"])
def test_what_nobody_knows_is_said_to_be_so(tmp_path, content):
    path = tmp_path / "model.pt2"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"neither a \.pt2 archive"):
        graph.load(path)


def test_json_without_a_program_is_said_to_be_so(tmp_path):
    path = tmp_path / "notes.json"
    path.write_text('{"x": 1}')
    with pytest.raises(ModelFileError) as caught:
        graph.load(path)
    assert str(caught.value) == (
        f"{path}: JSON, but no exported program ('graph_module' is missing) (docs/exporting.md)"
    )


def test_a_program_with_a_mistake_is_not_taken_for_something_else(tmp_path):
    content = programs.add_relu()
    content["graph_module"]["graph"]["architectures"] = []
    del content["graph_module"]["signature"]
    with pytest.raises(ModelFileError, match="'signature' is missing"):
        graph.load(programs.write_json(tmp_path / "m.json", content))


@pytest.mark.parametrize(("version", "loads"), [
    ((8, 20), True), ((8, 0), True), ((8, 99), True), ((0, 0), True),
    ((9, 0), False), ((7, 3), False), ((0, 1), False), ((-8, 0), False),
])  # fmt: skip
def test_versions_are_compared_as_pytorch_compares_them(tmp_path, version, loads):
    content = programs.add_relu()
    content["schema_version"] = dict(zip(("major", "minor"), version, strict=True))
    path = programs.write_json(tmp_path / "m.json", content)
    if loads:
        assert graph.load(path).n_calls == 3
        return
    with pytest.raises(ModelFileError, match=r"schema_version: .*only 8 is read"):
        graph.load(path)


def test_another_version_is_the_reason_when_nothing_is_understood(tmp_path):
    content = {"schema_version": {"major": 9, "minor": 1}, "graph_module": {"new": 1}}
    with pytest.raises(ModelFileError, match=r"schema_version: 9\.1, and only 8 is read"):
        graph.load(programs.write_json(tmp_path / "m.json", content))
    archive = programs.write_archive(tmp_path / "m.pt2", content)
    with pytest.raises(ModelFileError, match=r"models/model\.json: schema_version: 9\.1"):
        graph.load(archive)
