"""Selects calls of kernels: `python -m tests.conformance.select_kernels FILE`.

FILE is what `record_kernels` wrote. Writes `data/kernels.json.gz`: of each operator some calls that
differ in how tensors lie, their dtypes and the other arguments, of those answered here as in
PyTorch. The others are printed: they are for somebody to judge.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dispatch
from tests.conformance.compare_calls import differs
from tests.conformance.record_kernels import answer

__all__ = ["DATA", "differing", "main"]

DATA = Path(__file__).parent / "data" / "kernels.json.gz"
KEPT = 30  # calls of an operator
_ERRORS = 4  # of them, at most, errors


def differing(call: dict[str, Any]) -> list[Any]:
    """(device, what was recorded, what came back) where this library answers otherwise."""
    places = ((device, answer(dispatch, call, device)) for device in ("cpu", "meta"))
    return [(place, call[place], got) for place, got in places if differs(call[place], got, True)]


def _traits(call: dict[str, Any]) -> Iterator[Any]:
    """What a call may decide that others do not."""
    for place, value in [*enumerate(call["args"]), *call["kwargs"].items()]:
        if not isinstance(value, dict) or "shape" not in value:
            yield place, json.dumps(value)[:40]
            continue
        shape, strides = value["shape"], value["stride"]
        order = sorted(range(len(shape)), key=lambda d, s=strides: -s[d])
        yield place, "dtype", value["dtype"]
        yield place, "dimensions", len(shape), 0 in shape, 1 in shape
        yield place, "memory", value["offset"] > 0, 0 in strides, min(strides, default=1)
        yield place, "order", tuple(order)
    yield "end", call["cpu"] if isinstance(call["cpu"], str) else 0, isinstance(call["meta"], str)


def _selected(calls: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Each time the call that adds the most traits, the first of them."""
    left, seen, errors = list(calls), set[Any](), 0
    for _ in range(min(KEPT, len(left))):
        best = max(left, key=lambda c: len(set(_traits(c)) - seen))
        left.remove(best)
        seen |= set(_traits(best))
        errors += isinstance(best["cpu"], str)
        if errors == _ERRORS:
            left = [c for c in left if not isinstance(c["cpu"], str)]
        yield best
        if not left:
            return


def main(file: Path) -> None:
    """Write the file."""
    by_op: dict[str, list[dict[str, Any]]] = {}
    for line in file.read_text().splitlines():
        call = json.loads(line)
        if found := differing(call):
            print(call["op"], call["args"], call["kwargs"], found)
        else:
            by_op.setdefault(call["op"], []).append(call)
    kept = [call for calls in by_op.values() for call in _selected(calls)]
    text = "".join(json.dumps(c, separators=(",", ":"), sort_keys=True) + "\n" for c in kept)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
