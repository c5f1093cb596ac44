"""A run's inputs from an `.npz` file: arrays of numbers, by name and in order.

The command line reads them for `graph.GraphModule.run`. As with every file, what it claims is
checked before memory is taken for it, values are never unpickled, and a mistake names the file, the
array and what is wrong.
"""

import math
import os
import warnings
import zipfile
from typing import IO, Any

import numpy as np

from dispatch.graph.archive import ZIP_ERRORS, fill, open_regular, opened_zip, shown_name
from dispatch.graph.errors import ModelFileError

__all__ = ["read_inputs"]

_MAX_RATIO = 1100  # no deflated data is denser; zeros reach it
_SUFFIX = ".npy"
_NUMBERS = "biufc"  # kinds of dtype


def read_inputs(path: str | os.PathLike[str]) -> list[Any]:
    """The arrays of an .npz file; those named `in_...` if there are any, else all.

    Raises `OSError` when the file cannot be opened, `ModelFileError` when it is not such a file.
    """
    text = os.fspath(path)
    with opened_zip(text, open_regular) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(_SUFFIX)]
        members = [info for info in members if info.filename.startswith("in_")] or members
        if not members:
            raise ModelFileError(text, "", "no arrays in it (numpy.savez makes such files)")
        size = archive.fp.seek(0, os.SEEK_END) if archive.fp else 0
        if sum(info.compress_size for info in archive.infolist()) > size:
            raise ModelFileError(text, "", "members that overlap or reach past the file's end")
        return [_read_array(archive, text, info) for info in members]


def _read_array(archive: zipfile.ZipFile, path: str, info: zipfile.ZipInfo) -> Any:
    place = shown_name(info.filename.removesuffix(_SUFFIX))
    methods = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED
    if info.compress_type not in methods or info.file_size > info.compress_size * _MAX_RATIO:
        raise ModelFileError(path, place, "stored in a way that numpy does not use")
    try:
        with archive.open(info) as record:
            return _array_of(record, info.file_size)
    except (*ZIP_ERRORS, MemoryError) as error:
        problem = str(error) if isinstance(error, _WrongArrayError) else "no array that is whole"
        raise ModelFileError(path, place, problem) from None


class _WrongArrayError(ValueError):
    """An array that is not taken, with the reason."""


def _array_of(record: IO[bytes], size: int) -> Any:
    """The array that a record of `size` bytes holds in numpy's format."""
    version = np.lib.format.read_magic(record)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise _WrongArrayError(f"version {version} of numpy's format: only 1.0 and 2.0 are read")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a header from Python 2 is read as well
        shape, by_columns, dtype = read_header(record)
    if dtype.kind not in _NUMBERS:
        raise _WrongArrayError(f"dtype {dtype.name[:40]}: expected numbers")
    have = size - record.tell()
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != have:
        raise _WrongArrayError(f"{have} bytes for {dtype.name} {list(shape)[:8]}")
    content = np.empty(have, np.uint8)
    fill(record, content.data)
    array = content.view(dtype).reshape(shape, order="F" if by_columns else "C")
    return array.astype(dtype.newbyteorder("="), copy=False)
