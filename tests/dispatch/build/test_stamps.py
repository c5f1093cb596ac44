"""`dispatch.build.stamps`: something is built again when contents changed, and only then."""

import os

import pytest

from dispatch.build.stamps import Stamp, digest, file_digest


@pytest.fixture
def built(tmp_path):
    """A stamp of one output made from the inputs "a"."""
    output = tmp_path / "output"
    output.touch()
    stamp = Stamp(tmp_path / "deep" / "stamp.json")
    stamp.write("a", [output])
    return stamp, output


def test_same_inputs_are_current(built):
    assert built[0].is_current("a")


def test_other_inputs_are_not_current(built):
    assert not built[0].is_current("b")


def test_missing_output_is_not_current(built):
    stamp, output = built
    output.unlink()
    assert not stamp.is_current("a")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"inputs": "a", "outputs": 1}'])
def test_damaged_stamp_is_not_current(built, text):
    stamp, _ = built
    stamp.path.write_text(text)
    assert not stamp.is_current("a")


def test_never_written_is_not_current(tmp_path):
    assert not Stamp(tmp_path / "stamp.json").is_current("a")


def test_file_digest_follows_contents_and_not_time(tmp_path):
    path = tmp_path / "file"
    assert file_digest(path) == "missing"
    path.write_text("x")
    before = file_digest(path)
    os.utime(path, (1, 1))
    assert file_digest(path) == before
    path.write_text("y")
    assert file_digest(path) != before


def test_digest_keeps_parts_apart():
    assert digest(["ab", "c"]) != digest(["a", "bc"])
