"""`python -m tests.stress [threads|leaks] [--seconds N] [--calls N] [-k WORD]`.

Fails on a wrong result, a lost registration, a hang, or memory that grows with the calls.
"""

import argparse
import faulthandler
import sys
import time

from tests.stress import leaks, threads

FEW_BLOCKS, FEW_KIB = 2_000, 8_192


def run_threads(word: str, seconds: float | None) -> int:
    """All scenarios with the word in their name; how many failed."""
    failed = 0
    for name, (scenario, usual) in threads.SCENARIOS.items():
        if word not in name:
            continue
        start = time.monotonic()
        try:
            counts = scenario(seconds or usual)
            said = ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items()))
        except AssertionError as error:
            failed += 1
            said = f"FAILED\n{error}"
        print(f"{name}: {time.monotonic() - start:.0f} s: {said}", flush=True)
    return failed


def run_leaks(word: str, calls: int) -> int:
    """All paths with the word in their name; how many hold memory."""
    failed = 0
    for name, path in leaks.paths():
        if word not in name:
            continue
        n = max(1000, int(calls * path.share))
        blocks, kib = leaks.grown(path, n)
        bad = blocks > min(FEW_BLOCKS, n // 10) or kib > FEW_KIB
        failed += bad
        print(
            f"{name}: {n:,} calls, {blocks} blocks, {kib} KiB{' LEAKS' if bad else ''}", flush=True
        )
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("threads", "leaks"))
    parser.add_argument("--seconds", type=float, help="for each scenario (30 to 60 s otherwise)")
    parser.add_argument("--calls", type=int, default=1_000_000, help="of each path")
    parser.add_argument("-k", default="", metavar="WORD", help="those whose name has the word")
    args = parser.parse_args()
    faulthandler.enable()
    failed = 0
    if args.what != "leaks":
        failed += run_threads(args.k, args.seconds)
    if args.what != "threads":
        failed += run_leaks(args.k, args.calls)
    print(f"{failed} failed" if failed else "all held")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
