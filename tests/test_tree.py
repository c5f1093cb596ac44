"""How files look: none is so long that nobody reads it whole."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_LINES = 800
# Data, and texts about data, may be as long as what they list.
DATA = ("schemas/", "tests/conformance/data/", "tests/differential/recorded/", "examples/models/")
# Split these: the table only shrinks.
STILL_TOO_LONG = {
    "dispatch/_C/tensor.pyx",
    "dispatch/kernels/composite/views/geometry.pyx",
    "dispatch/kernels/meta/rules.pyx",
}


def files() -> list[str]:
    """Every text of the repository that somebody wrote."""
    try:
        listed = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines()
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git repository: nobody says which files are its own")
    written = (name for name in listed if not name.startswith(DATA))
    return [name for name in written if (ROOT / name).is_file() and not (ROOT / name).is_symlink()]


def lines(name: str) -> list[str]:
    return (ROOT / name).read_bytes().decode(errors="replace").splitlines()


def test_no_file_is_longer_than_it_should_be() -> None:
    """At 800 lines there is a second idea in it."""
    long = {name for name in files() if len(lines(name)) > MOST_LINES}
    assert long <= STILL_TOO_LONG
