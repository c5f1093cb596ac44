"""Try the faults of the list: `python -m tests.mutants [--only TEXT] [--shard I/N] [--jobs N]`.

Verdicts are kept in `build/mutants/verdicts.json`, so a run that was stopped goes on where it was:
what was killed is not tried again without --again. Fails when a fault that the list does not
excuse survives, when more than 3 % survive, or when one does not compile.
"""

import argparse
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from tests.mutants.catalog import ROOT, CatalogError, Fault, read_catalog
from tests.mutants.trial import ALL, Outcome, Tree, new_tree

FOLDER = ROOT / "build" / "mutants"
ALLOWED = 0.03


class Verdicts:
    """What became of each fault, on disk after each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, fault: Fault) -> str | None:
        return self.known.get(fault.key, [None])[0]

    def add(self, fault: Fault, outcome: Outcome) -> None:
        self.known[fault.key] = [outcome.verdict, outcome.by, str(fault)]
        beside = self.path.with_suffix(".new")
        beside.write_text(json.dumps(self.known, indent=1) + "\n")
        beside.replace(self.path)


def _chosen(options: argparse.Namespace, faults: list[Fault]) -> list[Fault]:
    index, _, count = options.shard.partition("/")
    chosen = [f for f in faults if all(word in str(f) for word in options.only)]
    return chosen[int(index) - 1 :: int(count)]


def _try_all(faults: list[Fault], verdicts: Verdicts, options: argparse.Namespace) -> None:
    trees: SimpleQueue[Tree] = SimpleQueue()
    for n in range(min(options.jobs, len(faults))):
        trees.put(new_tree(FOLDER / f"tree{n}"))

    def check_sound(tests: tuple[str, ...]) -> None:
        tree = trees.get()
        try:
            tree.check_sound(tests)
        finally:
            trees.put(tree)

    def attempt(fault: Fault) -> tuple[Fault, Outcome, float]:
        tree, start = trees.get(), time.monotonic()
        try:
            return fault, tree.attempt(fault, options.near), time.monotonic() - start
        finally:
            trees.put(tree)

    needed = {fault.tests for fault in faults} | (set() if options.near else {ALL})
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(check_sound, sorted(needed)))
        for fault, outcome, seconds in pool.map(attempt, faults):
            verdicts.add(fault, outcome)
            print(f"{outcome.verdict:8} {seconds:4.0f} s  {fault}  {outcome.by}", flush=True)


def _judge(faults: list[Fault], verdicts: Verdicts) -> int:
    """Print what survived; the exit status."""
    by_verdict: dict[str | None, list[Fault]] = {}
    for fault in faults:
        by_verdict.setdefault(verdicts.of(fault), []).append(fault)
    survivors, broken = by_verdict.get("survived", []), by_verdict.get("broken", [])
    print(", ".join(f"{len(found)} {name or 'not tried'}" for name, found in by_verdict.items()))
    for fault in [*survivors, *broken]:
        print(f"{verdicts.of(fault)}: {fault} ({fault.survives or 'no reason is given'})")
    unexcused = [fault for fault in survivors if fault.survives is None]
    return bool(unexcused or broken or len(survivors) > ALLOWED * len(faults))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="TEXT",
                        help="faults whose file and description hold TEXT")  # fmt: skip
    parser.add_argument("--shard", default="1/1", metavar="I/N", help="the I-th of N parts")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--near", action="store_true", help="the nearest tests alone")
    parser.add_argument("--again", action="store_true", help="also what was killed before")
    options = parser.parse_args()
    try:
        faults = read_catalog()
        for fault in faults:
            fault.applied()
    except CatalogError as error:
        print(error, file=sys.stderr)
        return 2
    FOLDER.mkdir(parents=True, exist_ok=True)
    verdicts = Verdicts(FOLDER / "verdicts.json")
    chosen = _chosen(options, faults)
    _try_all([f for f in chosen if options.again or verdicts.of(f) != "killed"], verdicts, options)
    return _judge(chosen, verdicts)


if __name__ == "__main__":
    sys.exit(main())
