"""`inputs`: arrays from .npz files, and what is refused with the file's and the array's name."""

import io
import os
import struct
import zipfile

import numpy as np
import pytest

from dispatch.graph.errors import ModelFileError
from dispatch.graph.inputs import read_inputs


def test_arrays_named_in_come_first_and_alone(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, out_0=np.ones(1), in_0=np.arange(6).reshape(2, 3), in_1=np.float32(2))
    first, second = read_inputs(path)
    assert first.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert (second.shape, second.dtype, float(second)) == ((), np.float32, 2)


def test_all_arrays_else(tmp_path):
    path = tmp_path / "a.npz"
    arrays = [np.zeros((3, 0)), np.asfortranarray(np.arange(6).reshape(2, 3)), np.ones(2, ">f4")]
    np.savez_compressed(path, *arrays, np.zeros(1 << 20))
    *given, zeros = read_inputs(path)
    assert [a.tolist() for a in given] == [a.tolist() for a in arrays]
    assert given[2].dtype == np.float32
    assert zeros.shape == (1 << 20,)


def written(path, name, content, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, content)


def npy(header, data=b"", version=b"\x01\x00"):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text + data


def header(dtype="<f4", shape="(2,)"):
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npy(header(), bytes(4)), "in_x: 4 bytes for float32 [2]"),
        (npy(header(), bytes(12)), "in_x: 12 bytes for float32 [2]"),
        (npy(header(shape="(1 << 40,)"), bytes(4)), "in_x: no array that is whole"),
        (npy(header(shape="(1099511627776, 1099511627776)"), bytes(4)), "in_x: 4 bytes for"),
        (npy(header(shape="(-1,)"), bytes(4)), "in_x: 4 bytes for float32 [-1]"),
        (npy(header("|O"), b"cos"), "in_x: dtype object: expected numbers"),
        (npy(header("|S4"), bytes(8)), "in_x: dtype bytes32: expected numbers"),
        (npy(header("no such"), bytes(8)), "in_x: no array that is whole"),
        (npy(header(), bytes(8), b"\x09\x00"), "in_x: version (9, 0) of numpy's format"),
        (b"", "in_x: no array that is whole"),
        (b"\x93NUMPY\x01\x00\xff\xff", "in_x: no array that is whole"),
    ],
)
def test_a_wrong_array_is_an_error_with_its_place(tmp_path, content, words):
    path = tmp_path / "a.npz"
    written(path, "in_x.npy", content)
    with pytest.raises(ModelFileError) as error:
        read_inputs(path)
    assert str(error.value).startswith(f"{path}: {words}")


def test_values_are_never_unpickled(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, np.array([object], dtype=object), allow_pickle=True)
    with pytest.raises(ModelFileError, match="arr_0: dtype object: expected numbers"):
        read_inputs(path)


def lying(path, size):
    """An archive whose one array claims `size` bytes."""
    written(path, "in_x.npy", npy(header(), bytes(8)), zipfile.ZIP_DEFLATED)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02") + 24
    data[at : at + 4] = struct.pack("<L", size)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_bytes(b""), "not a zip archive"),
        (lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)), "no arrays in it"),
        (lambda path: path.write_bytes(npy(header(), bytes(8))), "not a zip archive"),
        (lambda path: lying(path, 1 << 30), "stored in a way that numpy does not use"),
        (lambda path: lying(path, 1 << 10), "in_x: "),
        (lambda path: written(path, "a\x1b[2J.npy", b""), r"'a\x1b[2J': no array"),
        (
            lambda path: written(path, "a.npy", b"", zipfile.ZIP_LZMA),
            "a: stored in a way that numpy does not use",
        ),
    ],
)
def test_a_wrong_file_is_an_error_that_names_it(tmp_path, make, words):
    path = tmp_path / "a.npz"
    make(path)
    with pytest.raises(ModelFileError) as error:
        read_inputs(path)
    assert str(error.value).startswith(f"{path}: ")
    assert words in str(error.value)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path, make):
    path = tmp_path / "a.npz"
    make(path)
    with pytest.raises(OSError, match="not a file, but a pipe or a device"):
        read_inputs(path)


def test_nothing_but_the_arrays_is_read(tmp_path):
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    np.save(buffer, np.ones(2))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "no array")
        archive.writestr("x.npy", buffer.getvalue())
    assert [a.tolist() for a in read_inputs(path)] == [[1, 1]]
