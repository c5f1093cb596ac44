"""Selects calls that are nearly right: `python -m tests.conformance.select_near FOLDER`.

FOLDER holds what `record_near` wrote. Writes `data/near.json.gz`: of each overload the calls that
ended most differently, of those that end here as in PyTorch. How many do not is printed, with the
overloads: they are for somebody to judge.
"""

import gzip
import json
import math
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import dispatch
from dispatch import FakeTensorMode
from tests.conformance.record_near import answer, order
from tests.conformance.replay import find_overload

__all__ = ["DATA", "differing", "main"]

DATA = Path(__file__).parent / "data" / "near.json.gz"
KEPT = 8  # calls of an overload


def _same(want: Any, got: Any) -> bool:
    """Sums as far as loops that add in another order agree."""
    if isinstance(want, float) and isinstance(got, float):
        return math.isclose(want, got, rel_tol=1e-2, abs_tol=1e-3)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(_same, want, got))
    return bool(want == got)


def differing(call: dict[str, Any]) -> list[Any]:
    """(where, what was recorded, what came back) where this library answers otherwise."""
    op, found = find_overload(call["overload"]), []
    for place, mode in (("fake", FakeTensorMode()), ("cpu", None)):
        if place in call and not _same(call[place], got := answer(dispatch, op, call, mode)):
            found.append((place, call[place], got))
    return found


def _selected(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of what ends alike only one or two, errors no more than half."""
    calls = sorted(calls, key=order)
    failing = [c for c in calls if isinstance(c["fake"], str)]
    others = [c for c in calls if not isinstance(c["fake"], str)]
    seen: set[str] = set()
    distinct = []
    for c in others:
        text = json.dumps([c["fake"], c.get("cpu")])
        if text not in seen:
            seen.add(text)
            distinct.append(c)
    n = max(KEPT // 2, KEPT - len(distinct))
    chosen = failing[:n]
    return chosen + distinct[: KEPT - len(chosen)]


def main(folder: Path) -> None:
    """Write the file."""
    warnings.filterwarnings("ignore")
    by_overload: dict[str, dict[str, dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            call = json.loads(line)
            by_overload.setdefault(call["overload"], {})[str(order(call))] = call
    kept, left_out = [], Counter[str]()
    for name, calls in sorted(by_overload.items()):
        if find_overload(name) is None:
            continue
        alike = [c for c in calls.values() if not differing(c)]
        left_out[name] = len(calls) - len(alike)
        kept += _selected(alike)
    print(left_out.total(), "of", sum(map(len, by_overload.values())), "end otherwise:", +left_out)
    text = "".join(json.dumps(c, separators=(",", ":"), sort_keys=True) + "\n" for c in kept)
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
