"""Recorded calls as rows: for each overload the first call that a folder of cases has of it.

A folder holds a `NAME.jsonl` for each packet, one call a line, and a `NAME.npz` with the arrays of
their tensors. The call is made again with tensors of the recorded values, sizes and strides, its
arguments written out, so that nothing but the call is timed. What changes its argument's sizes
gets a fresh tensor for each call, made before the clock starts.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from types import SimpleNamespace
from typing import Any

import numpy as np

from .rows import Row

__all__ = ["first_cases", "rows"]

_BITS = ("bfloat16", "float8_")  # of these dtypes numpy has the bits only
Json = dict[str, Any]


def first_cases(folder: Path) -> Iterator[tuple[Path, Json]]:
    """The first call of each overload that does not have to raise, with its file."""
    for path in sorted(folder.glob("*.jsonl")):
        seen = set()
        for line in path.read_text().splitlines():
            case = json.loads(line)
            name = case["overload"]
            if name is not None and "error" not in case and name not in seen:
                seen.add(name)
                yield path, case


def rows(api: SimpleNamespace, folder: Path) -> dict[str, Callable[[], Row]]:
    """Overload -> what sets its row up."""
    return {case["overload"]: partial(_row, api, p, case) for p, case in first_cases(folder)}


def _row(api: SimpleNamespace, path: Path, case: Json) -> Row:
    arrays = np.load(path.with_suffix(".npz")) if case["storages"] else {}
    op = _overload(api, case["overload"])
    make = partial(_arguments, api, case, arrays)
    if any(str(tag).endswith("inplace_view") for tag in op.tags):
        return _FreshRow("op(*args, **kwargs)", {"op": op, "make": make})
    args, kwargs = make()
    names = {"op": op} | {f"a{i}": value for i, value in enumerate(args)}
    given = [f"a{i}" for i in range(len(args))]
    for name, value in kwargs.items():
        names[f"k_{name}"] = value
        given.append(f"{name}=k_{name}")
    return Row(f"op({', '.join(given)})", names)


class _FreshRow(Row):
    """A call that changes the sizes of its argument: one made for it each time."""

    def run(self, calls: int) -> float:
        op, make = self.names["op"], self.names["make"]
        fresh = [make() for _ in range(calls)]  # type: ignore[operator]
        begin = perf_counter()
        for args, kwargs in fresh:
            op(*args, **kwargs)  # type: ignore[operator]
        return perf_counter() - begin


def _overload(api: SimpleNamespace, name: str) -> Any:
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(api.ops, namespace), packet), overload or "default")


def _arguments(api: SimpleNamespace, case: Json, arrays: Any) -> tuple[list[Any], Json]:
    storages = [_storage(api, arrays[s["a"]], s["dtype"]) for s in case["storages"]]
    tensors = [
        api.T.as_strided(storages[t["storage"]], t["shape"], t["stride"], t["offset"])
        for t in case["tensors"]
    ]
    decode = partial(_decoded, api, tensors)
    return [decode(v) for v in case["args"]], {k: decode(v) for k, v in case["kwargs"].items()}


def _storage(api: SimpleNamespace, array: Any, dtype: str) -> Any:
    tensor = api.T.from_numpy(array.copy())
    if dtype.startswith(_BITS):
        tensor = tensor.view(getattr(api.T, dtype))
    return tensor.clone()  # in memory of its own: an `out` may be resized


def _decoded(api: SimpleNamespace, tensors: list[Any], value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(api, tensors, v) for v in value]
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "t":
        return tensors[content]
    if kind == "float":
        return float(content)
    if kind == "complex":
        return complex(*(float(v["float"]) if isinstance(v, dict) else v for v in content))
    return api.T.device(content) if kind == "device" else getattr(api.T, content)
