"""`archive`: records are read when asked for; what a stranger claims is checked."""

import gzip
import io
import json
import os
import struct
import zipfile

import pytest

from dispatch.graph import archive
from dispatch.graph.archive import Archive, JsonFile, open_archive
from dispatch.graph.errors import ModelFileError
from dispatch.graph.weights import resolve_weights
from tests.dispatch.graph import programs


class CountingFile(io.BufferedReader):
    """A file that adds up the bytes that are read from it."""

    total = 0

    def read(self, *args):
        data = super().read(*args)
        CountingFile.total += len(data)
        return data

    def readinto(self, buffer):
        count = super().readinto(buffer)
        CountingFile.total += count
        return count


def counting_opener(path):
    return CountingFile(io.FileIO(path))


@pytest.fixture
def saved(tmp_path):
    return programs.linear_archive(tmp_path / "renamed.pt2")


def test_records_are_named_without_the_root_folder(saved):
    found = open_archive(saved)
    assert isinstance(found, Archive)
    assert found.root == "saved/"
    assert found.place == "models/model.json"
    assert found.has("data/weights/weight_0")
    assert found.size("data/weights/weight_0") == 48
    assert json.loads(found.read_model())["torch_version"] == "2.13.0"


def test_opening_reads_no_record(tmp_path):
    big = bytes(1 << 20)
    path = programs.linear_archive(tmp_path / "m.pt2", data=big)
    CountingFile.total = 0
    found = open_archive(path, counting_opener)
    found.read_model()
    assert 0 < CountingFile.total < 1 << 18
    buffer = bytearray(1 << 20)
    found.read_into({"data/weights/weight_0": memoryview(buffer)})
    assert CountingFile.total > 1 << 20


@pytest.mark.parametrize("suffix", [".json", ".json.gz"])
def test_json_alone(tmp_path, suffix):
    text = json.dumps(programs.add_relu()).encode()
    path = tmp_path / f"m{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
    found = open_archive(path)
    assert isinstance(found, JsonFile)
    assert found.read_model() == text


@pytest.mark.parametrize("cut", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_truncated_archive_is_an_error_with_its_name(saved, cut):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(ModelFileError, match=r"renamed\.pt2: ."):
        open_archive(saved).read_model()


def test_a_changed_byte_is_found_by_the_checksum(saved):
    data = bytearray(saved.read_bytes())
    at = data.index(b"torch.ops.aten.mm")
    data[at] ^= 1
    saved.write_bytes(data)
    with pytest.raises(ModelFileError, match=r"models/model\.json: broken zip data.*CRC"):
        open_archive(saved).read_model()


def test_a_missing_record_is_named(saved):
    with pytest.raises(ModelFileError, match="data/weights/weight_7: no such record"):
        open_archive(saved).size("data/weights/weight_7")


def test_compressed_members_are_read(tmp_path):
    path = programs.write_archive(
        tmp_path / "m.pt2", programs.add_relu(), method=zipfile.ZIP_DEFLATED
    )
    assert json.loads(open_archive(path).read_model())["schema_version"]["major"] == 8


def test_a_zip_bomb_is_refused(tmp_path):
    path = tmp_path / "m.pt2"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("m/models/model.json", b" " * (8 << 20))
    with pytest.raises(ModelFileError, match="200:1"):
        open_archive(path).read_model()


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(tmp_path):
    path = tmp_path / "m.json.gz"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    with pytest.raises(ModelFileError, match=r"m\.json\.gz: JSON compressed more than 200:1"):
        open_archive(path).read_model()


def test_huge_json_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_JSON_BYTES", 100)
    path = programs.write_json(tmp_path / "m.json", programs.add_relu())
    with pytest.raises(ModelFileError, match="is refused"):
        open_archive(path).read_model()


def test_a_size_that_the_file_cannot_hold(saved):
    data = bytearray(saved.read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<LL", data, at + 20, 1 << 30, 1 << 30)
    saved.write_bytes(data)
    with pytest.raises(ModelFileError, match="past the file's end"):
        open_archive(saved).size("data/weights/weight_0")


def test_a_broken_gzip(tmp_path):
    path = tmp_path / "m.json.gz"
    path.write_bytes(gzip.compress(b"{}" * 500)[:-9])
    with pytest.raises(ModelFileError, match="ends too early"):
        open_archive(path).read_model()
    path.write_bytes(b"\x1f\x8b" + bytes(40))
    with pytest.raises(ModelFileError, match="broken gzip"):
        open_archive(path).read_model()


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x02}q", b"[1]"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "m.bin"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"m\.bin: "):
        open_archive(path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_archive(tmp_path / "none.pt2")


def test_a_directory_of_a_million_entries_is_refused(tmp_path):
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 6, *[0] * 3, *[0] * 5, 0, 0)
    directory = entry * 120_000
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), 0, 0)
    path = tmp_path / "m.pt2"
    path.write_bytes(directory + end)
    with pytest.raises(ModelFileError, match="table of contents of 5520000 bytes"):
        open_archive(path)


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_not_waited_for(tmp_path, make):
    path = tmp_path / "m.pt2"
    make(path)
    with pytest.raises(OSError, match="not a file, but a pipe or a device") as error:
        open_archive(path)
    assert error.value.filename == str(path)


def test_an_archive_comes_through_a_pipe(saved):
    reader, writer = os.pipe()
    with open(writer, "wb") as pipe:
        pipe.write(saved.read_bytes())
    found = open_archive(f"/dev/fd/{reader}")
    os.close(reader)
    assert isinstance(found, Archive)
    buffer = bytearray(48)
    found.read_into({"data/weights/weight_0": memoryview(buffer)})
    assert struct.unpack("<12f", buffer) == tuple(range(12))


@pytest.mark.parametrize(("head", "limit"), [(b"PK", "MAX_PIPED_BYTES"), (b"{", "MAX_JSON_BYTES")])
def test_a_pipe_gives_no_more_than_its_limit(monkeypatch, head, limit):
    monkeypatch.setattr(archive, limit, 1 << 10)
    monkeypatch.setattr(archive, "_CHUNK", 1 << 9)
    reader, writer = os.pipe()
    with open(writer, "wb") as pipe:
        pipe.write(head + bytes(2000))
    with pytest.raises(ModelFileError, match="MiB through a pipe"):
        open_archive(f"/dev/fd/{reader}")
    os.close(reader)


@pytest.mark.parametrize(
    "path", ["/dev/fd/99999999", "/dev/fd/x", "/dev/fd/", "/dev/fd/123456789012"]
)
def test_a_handle_that_is_not_there_is_an_os_error(path):
    with pytest.raises(OSError):
        open_archive(path)


@pytest.mark.parametrize("order", ["big", "", "little, or so", "a much longer word"])
def test_an_archive_of_another_byte_order_is_refused(saved, order):
    with zipfile.ZipFile(saved) as source:
        members = {name: source.read(name) for name in source.namelist()}
    members["saved/byteorder"] = order.encode()
    with zipfile.ZipFile(saved, "w") as target:
        for name, data in members.items():
            target.writestr(name, data)
    with pytest.raises(
        ModelFileError, match=f"byteorder: b'{order}': only little is read"
    ) as error:
        resolve_weights(open_archive(saved))
    assert error.value.path == str(saved)
