"""How files look: none so long that nobody reads it whole, no line wider than agreed.

Python's lines are ruff's.
"""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 800
# Data, and texts about data, may be as long as what they list.
DATA = ("schemas/", "tests/conformance/data/", "tests/differential/recorded/", "examples/models/")
COLUMNS = {".pyx": 132, ".pxd": 132, ".h": 132, ".j2": 132, ".yaml": 110}
# One operator's schema is one line, as in PyTorch's file.
ONE_LINE_EACH = {"schemas/native_functions.yaml"}


# What stands at the top: the rooms, and what tools look for there.
TOP = {
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "benchmarks",
    "codegen",
    "dispatch",
    "docs",
    "examples",
    "pyproject.toml",
    "schemas",
    "setup.py",
    "tests",
}


def files() -> list[str]:
    """Every text of the repository that somebody wrote."""
    try:
        listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git repository: nobody says which files are its own")
    return [name for name in listed if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def lines(name: str) -> list[str]:
    return (ROOT / name).read_bytes().decode(errors="replace").splitlines()


def test_nothing_lies_about_at_the_top() -> None:
    assert {name.split("/")[0] for name in files()} <= TOP


def test_no_file_is_longer_than_it_should_be() -> None:
    """At 800 lines there is a second idea in it."""
    written = [name for name in files() if not name.startswith(DATA) and not name.endswith(".bin")]
    assert [name for name in written if len(lines(name)) > MOST_LINES] == []


@pytest.mark.parametrize("suffix", COLUMNS)
def test_no_line_is_wider_than_agreed(suffix: str) -> None:
    names = [name for name in files() if name.endswith(suffix) and name not in ONE_LINE_EACH]
    assert names
    wide = [
        f"{name}:{number}: {len(line)} columns"
        for name in names
        for number, line in enumerate(lines(name), 1)
        if len(line) > COLUMNS[suffix]
    ]
    assert not wide, "\n".join(wide)
