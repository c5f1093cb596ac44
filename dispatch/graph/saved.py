"""Reports that were saved: the JSON that `inspect --json` wrote, read again to be compared.

`dispatch diff` takes them beside models. What a comparison reads is looked over here, so that a
file that is cut off, or of a version without a key, is an error with the file and the key.
"""

import gzip
import json
import os
import re
from typing import Any

from dispatch.graph.errors import ModelFileError

__all__ = ["read_report"]

_GZIP = b"\x1f\x8b"
_HEAD = 1 << 12
_BEGIN = re.compile(rb'\s*\{\s*"model"\s*:')
_NUMBERS = ("parameters", "parameter_bytes", "peak_bytes", "flops")
_LISTS: dict[str, tuple[str, ...]] = {
    "calls": ("op", "outputs", "module", "new_bytes"),
    "modules": ("path", "class", "parameters", "bytes", "flops", "calls"),
    "storages": ("name", "kind", "dtype", "shape"),
    "inputs": ("shape", "dtype", "stride", "device"),
    "outputs": ("shape", "dtype", "stride", "device"),
}


def read_report(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The report in a file; None when its JSON, or whatever it is, begins like no report.

    Raises: OSError for a file that cannot be read, ModelFileError for half a report, one without
    what a comparison reads, and one with sizes left open.
    """
    if not os.path.isfile(path):  # a pipe can be read once only
        return None
    with open(path, "rb") as file:
        head = file.read(2)
    opener: Any = gzip.open if head == _GZIP else open
    name = os.fspath(path)
    try:
        with opener(path, "rb") as file:
            start = file.read(_HEAD)
            if not _BEGIN.match(start):
                return None
            report = json.loads(start + file.read())
    except (ValueError, EOFError, RecursionError) as error:
        raise ModelFileError(name, "", f"a report that is not whole: {error}") from None
    _check(name, report)
    found: dict[str, Any] = report
    return found


def _check(path: str, report: dict[str, Any]) -> None:
    for key in _NUMBERS:
        if isinstance(report.get(key), str):
            raise ModelFileError(path, key, "sizes are open: save a report with numbers (--set)")
        if type(report.get(key)) is not int:
            raise ModelFileError(path, key, "expected a number: a report of another version?")
    for key, fields in _LISTS.items():
        rows = report.get(key)
        if not isinstance(rows, list):
            raise ModelFileError(path, key, "expected a list: a report of another version?")
        for i, row in enumerate(rows):
            missing = [f for f in fields if not isinstance(row, dict) or f not in row]
            if missing and not (row is None and key == "outputs"):
                place = f"{key}[{i}].{missing[0]}"
                raise ModelFileError(path, place, "is not there: a report of another version?")
    if not isinstance(report.get("model"), str):
        raise ModelFileError(path, "model", "expected a name")
