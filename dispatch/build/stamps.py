"""Whether what a thing was built from has changed: digests of contents, never time stamps.

`BuildExt` asks for each compiled module; run as a script (`make build`), this file asks
for the whole tree and only then starts the build. A stamp is a small JSON file beside what was
built; it is written after the build has succeeded, with digests taken before it started, so an
interrupted build or an edit during one is built again. Standard library only: with nothing
changed, starting Python is most of the time that `make build` takes.
"""

import json
import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

__all__ = ["Stamp", "digest", "file_digest", "toolchain"]

_TOOLS = ("Cython", "Jinja2", "PyYAML", "numpy", "setuptools")
_INPUTS = ("codegen/**/*.py", "codegen/**/*.pxd", "codegen/**/*.j2", "schemas/*.yaml",
           "setup.py", "pyproject.toml", "dispatch/build/*.py",
           "dispatch/kernels/**/*.py",
           "dispatch/**/*.pyx", "dispatch/**/*.pxd", "dispatch/**/*.h")  # fmt: skip
_OUTPUTS = ("dispatch/**/*.so", "codegen/**/*.so", "dispatch/_C/generated/*")
_EMITTED = Path("dispatch/_C/generated")


def digest(parts: Iterable[str]) -> str:
    """One short digest of texts in their order."""
    state = blake2b(digest_size=16)
    for part in parts:
        state.update(part.encode())
        state.update(b"\0")
    return state.hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; a missing file has one of its own."""
    try:
        return blake2b(path.read_bytes(), digest_size=16).hexdigest()
    except FileNotFoundError:
        return "missing"


def toolchain(tools: Iterable[str] = _TOOLS) -> str:
    """The versions that compiled code depends on: the interpreter's and the named packages'."""
    return " ".join([sys.version, str(sysconfig.get_config_var("SOABI")),
                     *(f"{tool}={version(tool)}" for tool in tools)])  # fmt: skip


class Stamp:
    """What was built (`outputs`) and the digest of what it was built from."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_current(self, inputs: str) -> bool:
        """Was the last success made from `inputs`, and is all of it still there?"""
        try:
            record = json.loads(self.path.read_text())
            return record["inputs"] == inputs and all(Path(o).exists() for o in record["outputs"])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def drop(self) -> None:
        """Before the outputs change: a build that is killed leaves them without a stamp."""
        self.path.unlink(missing_ok=True)

    def write(self, inputs: str, outputs: Iterable[Path]) -> None:
        """Record a success."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        record = {"inputs": inputs, "outputs": sorted(map(str, outputs))}
        self.path.write_text(json.dumps(record, indent=1) + "\n")


def _files(patterns: Iterable[str]) -> list[Path]:
    found = (path for pattern in patterns for path in Path().glob(pattern))
    return sorted({path for path in found if path.is_file()})


def _tree_digest() -> str:
    inputs = [path for path in _files(_INPUTS) if _EMITTED not in path.parents]
    flags = os.environ.get("CFLAGS", "")
    return digest([toolchain(), flags, *(f"{path} {file_digest(path)}" for path in inputs)])


def _main(stamp: Stamp, command: list[str]) -> int:
    """Run `command` in the repository's root unless its last success was made from the same."""
    inputs = _tree_digest()
    if stamp.is_current(inputs):
        return 0
    stamp.drop()
    status = subprocess.call(command)
    if status == 0:
        stamp.write(inputs, _files(_OUTPUTS))
    return status


if __name__ == "__main__":
    sys.exit(_main(Stamp(Path(sys.argv[1])), sys.argv[2:]))
