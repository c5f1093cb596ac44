"""`dispatch.cli.files`: reports are whole or not there, and never over what is read."""

import os
import stat

import pytest

from dispatch.cli.files import check_paths, write_report


@pytest.mark.parametrize("old", [None, "before"])
def test_a_report_is_written_beside_and_renamed(tmp_path, old):
    target, other = tmp_path / "report", tmp_path / "other name"
    if old is not None:
        target.write_text(old)
        os.link(target, other)
    write_report(str(target), "text")
    assert target.read_text() == "text"
    assert old is None or other.read_text() == old
    assert {path.name for path in tmp_path.iterdir()} <= {"report", "other name"}


def test_the_mode_stays(tmp_path):
    target = tmp_path / "report"
    target.write_text("")
    target.chmod(0o640)
    write_report(str(target), "text")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_link_stays_one(tmp_path):
    target, link = tmp_path / "report", tmp_path / "link"
    link.symlink_to(target)
    write_report(str(link), "text")
    assert link.is_symlink()
    assert target.read_text() == "text"


def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch):
    target = tmp_path / "report"
    target.write_text("before")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left") as error:
        write_report(str(target), "text")
    assert error.value.filename == str(target)
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (lambda path: path.mkdir(), IsADirectoryError),
        (os.mkfifo, OSError),
        (lambda path: path.symlink_to("/dev/full"), OSError),
        (lambda path: path.symlink_to(path), OSError),
    ],
    ids=["folder", "pipe without a reader", "full", "link to itself"],
)
def test_what_cannot_be_written_is_told_with_its_path(tmp_path, make, kind):
    target = tmp_path / "report"
    make(target)
    with pytest.raises(kind) as error:
        write_report(str(target), "text")
    assert error.value.filename == str(target)


def test_a_folder_that_is_not_there(tmp_path):
    target = tmp_path / "no" / "report"
    with pytest.raises(FileNotFoundError) as error:
        write_report(str(target), "text")
    assert error.value.filename == str(target)


@pytest.mark.parametrize("second", ["a", "./a", "link", "hard link", "folder/../a"])
def test_one_file_has_one_use(tmp_path, monkeypatch, second):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").write_text("")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("a")
    os.link("a", "hard link")
    with pytest.raises(ValueError, match="--html would write over --json"):
        check_paths({"--json": "a", "--html": second}, {})
    with pytest.raises(ValueError, match="--json would write over MODEL"):
        check_paths({"--json": second, "--html": None}, {"MODEL": "a"})


def test_one_file_that_is_not_there_yet_has_one_use(tmp_path):
    new = str(tmp_path / "new")
    with pytest.raises(ValueError, match="--html would write over --json"):
        check_paths({"--json": new, "--html": f"{tmp_path}/./new"}, {})


def test_different_files_and_devices_are_fine(tmp_path):
    (tmp_path / "model").write_text("")
    check_paths({"--json": "/dev/null", "--html": "/dev/null"}, {"MODEL": str(tmp_path / "model")})
    check_paths({"--json": str(tmp_path / "a"), "--html": str(tmp_path / "b")}, {"MODEL": "-"})
    with pytest.raises(ValueError, match="--html would write over --json"):
        check_paths({"--json": "-", "--html": "-"}, {})
