"""Tensors over the memory of files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dispatch._C.arrays import from_numpy
from dispatch._C.dtypes import get_default_dtype
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["from_file"]


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool | None = None,
) -> Tensor:
    """The first `size` elements of a file, mapped into memory.

    With `shared`, writes go to the file, which is made or made longer where it is too short; else
    they stay in memory. RuntimeError for a file that is missing or too short.
    """
    if pin_memory:
        raise refused("pin_memory needs an accelerator, and there is none")
    kind, count = dtype or get_default_dtype(), size or 0
    nbytes, path = count * kind.itemsize, Path(filename)
    try:
        there = path.stat().st_size if path.exists() else -1
        if there < nbytes:
            if not shared:
                raise refused(f"file {filename} has fewer than {nbytes} bytes")
            with path.open("ab") as file:
                file.truncate(nbytes)
        if nbytes == 0:
            return ops.aten.empty.memory_format([0], dtype=kind)
        memory = np.memmap(path, np.uint8, "r+" if shared else "c", shape=(nbytes,))
    except OSError as error:
        raise refused(f"file {filename} cannot be read: {error}") from None
    return ops.aten.view.dtype(from_numpy(memory), kind)
