"""The kept list of faults: `data/ROOM.yaml`, read and checked against the sources.

A file maps a source file to the tests nearest to it and its faults:

    dispatch/fake/cache.pyx:
      tests: [tests/dispatch/fake]            # run first; the rest of the suite follows
      faults:
      - breaks: the offset is not part of the key
        old: put(k, <uint64_t>(<FakeTensor>o).c_offset)
        new: put(k, 0)
      - breaks: ...
        old: ...
        new: ...
        tests: [tests/dispatch/test_ops.py]   # instead of the file's
        rebuild: [dispatch/fake/mode.pyx]     # modules to compile beside the file itself
        survives: why no test can tell, or why none should

`old` is exact text that the file holds once; a list that does not fit the sources is an error.
"""

from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from codegen.source import SourceError, load

__all__ = ["DATA", "ROOT", "CatalogError", "Fault", "read_catalog", "read_file"]

ROOT = Path(__file__).parent.parent.parent
DATA = Path(__file__).parent / "data"
_KEYS = {"breaks", "old", "new", "tests", "rebuild", "survives"}


class CatalogError(Exception):
    """The list is wrong or does not fit the sources."""


class Fault(NamedTuple):
    """One change of one source file."""

    file: str
    breaks: str
    old: str
    new: str
    tests: tuple[str, ...]
    rebuild: tuple[str, ...]
    survives: str | None

    @property
    def key(self) -> str:
        """What the fault is remembered by."""
        parts = "\0".join((self.file, self.old, self.new))
        return blake2b(parts.encode(), digest_size=8).hexdigest()

    def __str__(self) -> str:
        return f"{self.file}: {self.breaks}"

    def applied(self, root: Path = ROOT) -> str:
        """The file's text with the fault in it. CatalogError unless `old` stands there once."""
        try:
            text = (root / self.file).read_text()
        except OSError as error:
            raise CatalogError(f"{self}: {error.strerror}") from None
        found = text.count(self.old)
        if found != 1:
            raise CatalogError(
                f"{self}: the old text occurs {found} times: {self.old!r}\n"
                "  the source changed: change tests/mutants/data with it, or drop the fault"
            )
        return text.replace(self.old, self.new)


def read_catalog(folder: Path = DATA) -> list[Fault]:
    """All faults, in the order of the files and their lists."""
    faults = [fault for path in sorted(folder.glob("*.yaml")) for fault in read_file(path)]
    known: dict[str, Fault] = {}
    for fault in faults:
        if known.setdefault(fault.key, fault) is not fault:
            raise CatalogError(f"{fault}: the same as {known[fault.key]}")
    return faults


def read_file(path: Path) -> list[Fault]:
    """The faults of one file of the list."""
    try:
        listed = load(path)  # a section that stands there twice would hide the first
    except SourceError as error:
        raise CatalogError(str(error)) from None
    if not isinstance(listed, dict):
        raise CatalogError(f"{path.name}: expected a mapping of source files")
    faults = []
    for file, entry in listed.items():
        for given in entry["faults"]:
            faults.append(_fault(path.name, file, entry, given))
    return faults


def _fault(name: str, file: str, entry: dict[str, Any], given: dict[str, Any]) -> Fault:
    missing = {"breaks", "old", "new"} - set(given)
    unknown = set(given) - _KEYS
    if missing or unknown:
        raise CatalogError(f"{name}: {file}: {sorted(missing)} missing, {sorted(unknown)} unknown")
    for key in ("breaks", "old", "new"):
        if not isinstance(given[key], str):
            raise CatalogError(f"{name}: {file}: {key}: expected text, got {given[key]!r}")
    if given["old"] == given["new"]:
        raise CatalogError(f"{name}: {file}: {given['breaks']}: old and new are the same")
    return Fault(
        file,
        given["breaks"],
        given["old"],
        given["new"],
        tuple(given.get("tests", entry["tests"])),
        tuple(given.get("rebuild", ())),
        given.get("survives"),
    )
