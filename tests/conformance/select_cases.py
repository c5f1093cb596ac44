"""Selects the records that the tests carry: `python -m tests.conformance.select_cases RECORDINGS`.

RECORDINGS is a folder with `operators/*.jsonl` and `dispatch_tables.json.gz` made from PyTorch.
Writes `data/fake.jsonl.gz` (a few calls of each overload that fits, exceptions included) and
`data/tables.json.gz`. Same input, same bytes.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance.replay import find_overload

__all__ = ["fake_cases", "main"]

DATA = Path(__file__).parent / "data"
FIELDS = ("id", "overload", "args", "kwargs", "storages", "tensors", "fake")
N_CALLS, N_TABLES = 3600, 90
EACH = 3  # calls of an overload
# Calls that PyTorch answers otherwise, with the reason; docs/differences.md tells users.
DELIBERATE = {
    "ba41dcb845bded3b32bf05bd6381e514afd8399f": "fft_ihfftn.out of one dimension leaves its output"
}


def fake_cases(recordings: Path) -> Iterator[dict[str, Any]]:
    """All records with fake metadata of operators that there are, by file, but `DELIBERATE`."""
    for path in sorted((recordings / "operators").glob("*.jsonl")):
        for line in path.read_text().splitlines():
            case = json.loads(line)
            if "fake" not in case or not case["overload"] or case["id"] in DELIBERATE:
                continue
            if find_overload(case["overload"]) is not None:
                yield case


def _interest(case: dict[str, Any]) -> tuple[bool, int, str]:
    """Exceptions first, then what has many unusual things in it."""
    odd = sum(t["offset"] > 0 or 0 in t["shape"] for t in case["tensors"])
    odd += len({t["dtype"] for t in case["tensors"]}) + len(case["kwargs"])
    return ("exc" not in case["fake"], -odd, case["id"])


def _selected(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    by_overload: dict[str, list[dict[str, Any]]] = {}
    for case in cases:
        by_overload.setdefault(case["overload"], []).append(case)
    names = sorted(by_overload)
    step = max(1, EACH * len(names) // N_CALLS)
    chosen = [c for n in names[::step] for c in sorted(by_overload[n], key=_interest)[:EACH]]
    return [{f: c[f] for f in FIELDS} for c in chosen[:N_CALLS]]


def _write(path: Path, text: str) -> None:
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def main(recordings: Path) -> None:
    """Write both files of `data`."""
    DATA.mkdir(exist_ok=True)
    calls = _selected(list(fake_cases(recordings)))
    dump = json.JSONEncoder(separators=(",", ":"), sort_keys=True).encode
    _write(DATA / "fake.jsonl.gz", "".join(dump(c) + "\n" for c in calls))
    with gzip.open(recordings / "dispatch_tables.json.gz", "rt") as file:
        tables = json.load(file)["cases"]
    _write(DATA / "tables.json.gz", dump(tables[:: max(1, len(tables) // N_TABLES)]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
