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
_TEXT, _NAME, _NUMBER, _LIST, _ANY = (str,), (str, type(None)), (int,), (list,), ()
_TENSOR: dict[str, tuple[type, ...]] = dict.fromkeys(("shape", "dtype", "stride", "device"), _ANY)
_OUTPUT: dict[str, tuple[type, ...]] = {"shape": _ANY, "dtype": _ANY}
_WORDS: dict[type, str] = {str: "a text", int: "a number", list: "a list", type(None): "null"}
# What each row of a list has, and of which type where that matters.
_LISTS: dict[str, dict[str, tuple[type, ...]]] = {
    "calls": {"op": _TEXT, "outputs": _LIST, "module": _NAME, "new_bytes": _NUMBER},
    "modules": {
        "path": _TEXT,
        "class": _NAME,
        **dict.fromkeys(("parameters", "bytes", "flops", "calls"), _NUMBER),
    },
    "storages": {"name": _TEXT, "kind": _TEXT, "dtype": _ANY, "shape": _ANY},
    "inputs": _TENSOR,
    "outputs": _TENSOR,
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
        if not _fits(report.get(key), _NUMBER):
            raise ModelFileError(path, key, "expected a number: a report of another version?")
    for key, fields in _LISTS.items():
        rows = report.get(key)
        if not isinstance(rows, list):
            raise ModelFileError(path, key, "expected a list: a report of another version?")
        for i, row in enumerate(rows):
            if row is not None or key != "outputs":
                _check_row(path, f"{key}[{i}]", row, fields)
    for i, call in enumerate(report["calls"]):
        for j, row in enumerate(call["outputs"]):
            if row is not None:
                _check_row(path, f"calls[{i}].outputs[{j}]", row, _OUTPUT)
    if not isinstance(report.get("model"), str):
        raise ModelFileError(path, "model", "expected a name")


def _check_row(path: str, place: str, row: Any, fields: dict[str, tuple[type, ...]]) -> None:
    for field, kinds in fields.items():
        if not isinstance(row, dict) or field not in row:
            problem = "is not there: a report of another version?"
            raise ModelFileError(path, f"{place}.{field}", problem)
        if kinds and not _fits(row[field], kinds):
            names = " or ".join(_WORDS[kind] for kind in kinds)
            problem = f"expected {names}: a report of another version?"
            raise ModelFileError(path, f"{place}.{field}", problem)


def _fits(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of the types; numbers have 64 bits."""
    return type(value) in kinds and (type(value) is not int or -(2**63) <= value < 2**63)
