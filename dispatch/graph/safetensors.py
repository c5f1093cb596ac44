"""Weights in safetensors files: a header of JSON, then the tensors' bytes, one after the other.

`GraphModule.load_safetensors` calls `read_tensors` with the names that it needs; no other tensor is
read. The header is a stranger's: every entry is checked against the file's size before a byte is
read, and errors name file and tensor.

Kept beside the package `safetensors`: as fast, less than half of its memory, and its arrays have no
bfloat16 and float8 (`python -m benchmarks.reading`, `benchmarks/reading.txt`).
"""

import math
import os
from collections.abc import Container, Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

import dispatch
from dispatch._C.generated.type_names import DTYPE_BYTES, SAFETENSORS_DTYPES
from dispatch.graph.errors import ModelFileError
from dispatch.graph.reader import Shape, read_json
from dispatch.graph.tensors import storage_over, tensor_on

__all__ = ["read_tensors"]

_MAX_HEADER = 100_000_000  # the format's own limit
_MAX_DIMS = 64


class _Entry(NamedTuple):
    """One tensor of the header; the file's `__metadata__` reads as an entry with nothing in it."""

    dtype: str | None
    shape: tuple[int, ...] | None
    data_offsets: tuple[int, ...] | None


def _header_shape() -> Shape:
    numbers = Shape("list", "a list", item=Shape("int", "a whole number"))
    fields = {
        "dtype": Shape("str", "a string"),
        "shape": numbers,
        "data_offsets": numbers,
    }
    entry = Shape("record", "an object", cls=_Entry)
    entry.define(fields, dict.fromkeys(fields))
    return Shape("dict", "an object", item=entry)


_HEADER = _header_shape()


def read_tensors(
    path: str | os.PathLike[str], wanted: Container[str] | None = None, prefix: str = ""
) -> dict[str, Any]:
    """The tensors of a safetensors file by `prefix` + name; those in `wanted` if that is given.

    Raises `OSError` when the file cannot be opened, `ModelFileError` when it is not whole.
    """
    text = os.fspath(path)
    with open(text, "rb") as file:
        entries, start = _read_header(file, text)
        return {
            prefix + name: _read_tensor(file, text, name, entry, start)
            for name, entry in entries.items()
            if wanted is None or prefix + name in wanted
        }


def _read_header(file: BinaryIO, path: str) -> tuple[Mapping[str, _Entry], int]:
    """The checked entries, and where in the file the data starts."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or not 2 <= length <= min(_MAX_HEADER, size - 8):
        raise ModelFileError(path, "", f"no safetensors file: a header of {length} bytes")
    header = read_json(file.read(length), _HEADER, path, "header")
    header.pop("__metadata__", None)
    _check_layout(path, header, size - 8 - length)
    return header, 8 + length


def _check_layout(path: str, entries: Mapping[str, _Entry], nbytes: int) -> None:
    """The tensors fill the data one after the other, without gap or overlap."""
    spans: list[tuple[int, int, str]] = []
    for name, entry in entries.items():
        problem = _problem(entry)
        if problem or entry.data_offsets is None:
            raise ModelFileError(path, f"header: {name[:80]!a}", problem)
        begin, end = entry.data_offsets
        spans.append((begin, end, name))
    at = 0
    for begin, end, name in sorted(spans):
        if begin != at or end > nbytes:
            problem = f"bytes {begin} to {end}, expected to start at {at} and end by {nbytes}"
            raise ModelFileError(path, f"header: {name[:80]!a}", problem)
        at = end
    if at != nbytes:
        raise ModelFileError(path, "", f"{nbytes} bytes of data, of which tensors use {at}")


def _problem(entry: _Entry) -> str:
    """What is wrong with an entry taken alone; "" for nothing."""
    if entry.dtype is None or entry.shape is None or entry.data_offsets is None:
        return "dtype, shape or data_offsets is missing"
    if entry.dtype not in SAFETENSORS_DTYPES:
        return f"dtype {entry.dtype[:20]!a} is not known"
    if len(entry.shape) > _MAX_DIMS or any(n < 0 for n in entry.shape):
        return f"a shape of {len(entry.shape)} dimensions, the least {min(entry.shape)}"
    if len(entry.data_offsets) != 2:
        return f"{len(entry.data_offsets)} data_offsets, expected 2"
    need = math.prod(entry.shape) * DTYPE_BYTES[SAFETENSORS_DTYPES[entry.dtype]]
    begin, end = entry.data_offsets
    return "" if end - begin == need else f"{end - begin} bytes, the tensor needs {need}"


def _read_tensor(file: BinaryIO, path: str, name: str, entry: _Entry, start: int) -> Any:
    assert entry.dtype is not None and entry.shape is not None and entry.data_offsets is not None
    begin, end = entry.data_offsets
    array = np.empty(end - begin, np.uint8)
    file.seek(start + begin)
    if file.readinto(array.data) != end - begin:  # type: ignore[attr-defined]
        raise ModelFileError(path, name[:80], "the file ends too early")
    steps = [math.prod(entry.shape[i + 1 :]) for i in range(len(entry.shape))]
    dtype = getattr(dispatch, SAFETENSORS_DTYPES[entry.dtype])
    return tensor_on(storage_over(array), dtype, entry.shape, tuple(steps), 0)
