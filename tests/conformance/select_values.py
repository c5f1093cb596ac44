"""Selects calls with values: `python -m tests.conformance.select_values RECORDINGS`.

Out of the folder that `select_cases` reads. Writes `data/values.json.gz`: of each overload a few
calls that differ in what decides about kernels (dtypes, dimensions, truth values, texts, which
arguments are given, layout in memory, emptiness), the small ones first, and all calls that must
fail. A call that is answered otherwise is left out only if `OTHERWISE` names it.
"""

import base64
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.replay import find_overload
from tests.conformance.select_cases import DATA

__all__ = ["main"]

EACH = 5  # calls of an overload
MOST = 600  # bytes of the arrays of a call; more only where an overload has nothing smaller
# (overload, dtype of the first tensor) of what PyTorch answers otherwise; docs/differences.md too.
OTHERWISE = {
    ("aten::fft_ihfftn.out", "float32"): "PyTorch leaves the output of one dimension as it was",
    ("aten::matrix_exp", "bfloat16"): "PyTorch comes to nan where the result is finite",
    ("aten::linalg_matrix_exp", "bfloat16"): "PyTorch comes to nan where the result is finite",
}
_SIGNS = {-1: "less", 0: "0", 1: "more"}


def _parts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """What an argument decides: its kind and, of a number, what is special about it."""
    if isinstance(value, list):
        yield place, f"{min(len(value), 3)} elements"
        for i, v in enumerate(value[:3]):
            yield from _parts(v, f"{place}.{i}")
    elif isinstance(value, (bool, str)) or value is None:
        yield place, repr(value)
    elif isinstance(value, int):
        yield place, _SIGNS[(value > 0) - (value < 0)] if abs(value) != 1 else str(value)
    elif isinstance(value, float):
        yield place, f"float {_SIGNS[(value > 0) - (value < 0)]}"
    else:
        yield place, next(iter(value)) if "t" in value else json.dumps(value)


def _traits(case: dict[str, Any]) -> set[tuple[str, str]]:
    found = {part for i, v in enumerate(case["args"]) for part in _parts(v, str(i))}
    found |= {part for name, v in case["kwargs"].items() for part in _parts(v, name)}
    for i, t in enumerate(case["tensors"][:4]):
        found |= {(f"dtype {i}", t["dtype"]), (f"dimensions {i}", str(len(t["shape"])))}
        dense = [int(np.prod(t["shape"][k + 1 :], dtype=int)) for k in range(len(t["shape"]))]
        lying = "empty" if 0 in t["shape"] else "dense" if t["stride"] == dense else "strided"
        found.add((f"memory {i}", lying))
    return found | {("results", str(len(case.get("outs", ()))))}


def _size(case: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> int:
    return sum(arrays[a].nbytes for a in _names(case))


def _names(case: dict[str, Any]) -> list[str]:
    results = [*case.get("outs", ()), *case.get("post", ())]
    return [part["a"] for part in (*case["storages"], *results) if part.get("a")]


def _selected(
    cases: list[dict[str, Any]], arrays: dict[str, np.ndarray[Any, Any]]
) -> Iterator[dict[str, Any]]:
    """Each time the call that adds the most traits."""
    left = sorted(cases, key=lambda c: (_size(c, arrays), c["id"]))
    left = [c for c in left if _size(c, arrays) <= MOST] or left[:1]
    seen: set[tuple[str, str]] = set()
    for _ in range(EACH):
        best = max(left, key=lambda c: len(_traits(c) - seen), default=None)
        if best is None or not _traits(best) - seen:
            return
        seen |= _traits(best)
        left.remove(best)
        yield best


class _Kept:
    """The arrays of what was chosen, numbered."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.texts: list[str] = []

    def number(self, name: str, array: np.ndarray[Any, Any]) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.texts)
            self.texts.append(base64.b64encode(np.ascontiguousarray(array).tobytes()).decode())
        return self.numbers[name]


def _kept(case: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]], kept: _Kept) -> Any:
    fields = ("overload", "packet", "args", "kwargs", "tensors", "values", "result")
    record = {f: case[f] for f in fields if f in case}
    for part in ("storages", "outs", "post"):
        if part in case:
            record[part] = [
                p | {"a": kept.number(p["a"], arrays[p["a"]])} if p.get("a") else p
                for p in case[part]
            ]
    if case.get("ambiguous") or case.get("fragile"):
        record["values"] = False
    if "error" in case:
        record["error"] = case["error"]["type"]
    return record


def main(recordings: Path) -> None:
    """Write the file."""
    kept, chosen = _Kept(), []
    for path in sorted((recordings / "operators").glob("*.jsonl")):
        cases = [json.loads(line) for line in path.read_text().splitlines()]
        cases = [c for c in cases if not c["overload"] or find_overload(c["overload"]) is not None]
        firsts = [(c["overload"], c["tensors"][0]["dtype"] if c["tensors"] else "") for c in cases]
        cases = [c for c, first in zip(cases, firsts, strict=True) if first not in OTHERWISE]
        arrays = {}
        if path.with_suffix(".npz").exists():  # else none of the calls has a tensor
            with np.load(path.with_suffix(".npz")) as file:
                arrays = {name: file[name] for name in file.files}
        by_overload: dict[str, list[dict[str, Any]]] = {}
        for case in cases:
            if "error" in case:
                chosen.append(_kept(case, arrays, kept))
            else:
                by_overload.setdefault(case["overload"], []).append(case)
        for name in sorted(by_overload):
            chosen += [_kept(c, arrays, kept) for c in _selected(by_overload[name], arrays)]
    dump = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
    text = dump({"arrays": kept.texts, "calls": chosen})
    (DATA / "values.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
