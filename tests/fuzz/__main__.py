"""Broken copies of FILEs: `python -m tests.fuzz FILE... [--n N] [--seed N] [--fake] [--keep DIR]`.

Fails when a file crashes or hangs the process, raises what is no error of a file, takes more memory
than the file justifies, or when more than 1 % of the errors do not name the file.
"""

import argparse
import random
import sys
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

from tests.fuzz.mutations import mutated
from tests.fuzz.trial import Outcome, attempt


def _sizes(path: Path) -> tuple[int, int]:
    """(bytes of JSON, bytes of the rest) as an honest archive has them; all JSON if it is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except Exception:
        return path.stat().st_size, 0
    sizes = [(min(i.file_size, 1 << 29), i.filename.endswith(".json")) for i in infos]
    return sum(n for n, is_json in sizes if is_json), sum(n for n, is_json in sizes if not is_json)


def _judge(outcome: Outcome, path: Path) -> str | None:
    if outcome.kind in ("bug", "killed"):
        return f"{outcome.kind}: {outcome.text}"
    if path.suffix == ".pt2" and not outcome.within(*_sizes(path)):
        return f"took {outcome.peak >> 20} MiB"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fake", action="store_true", help="do not compute: for large models")
    parser.add_argument("--keep", type=Path, help="a folder for the files that failed")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    failures = unnamed = slowest = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(options.n):
            source = options.files[i % len(options.files)]
            what, data = mutated(random.Random(f"{options.seed} {i}"), source.read_bytes())
            path = Path(folder, f"stranger{''.join(source.suffixes[-2:])}")
            path.write_bytes(data)
            outcome = attempt(path, compute=not options.fake)
            counts[outcome.kind] += 1
            slowest = max(slowest, outcome.seconds)
            problem = _judge(outcome, path)
            if outcome.kind == "error" and not outcome.named(path):
                unnamed += 1
                print(f"{i} {source.name} {what}: no name in {outcome.text[:300]}", flush=True)
            if problem:
                failures += 1
                print(f"{i} {source.name} {what}: {problem[:400]}", flush=True)
            if problem and options.keep:
                options.keep.mkdir(parents=True, exist_ok=True)
                Path(options.keep, f"{i}-{source.name}").write_bytes(data)
    verdict = "failed" if failures or unnamed > counts["error"] // 100 else "passed"
    print(f"{verdict}: {dict(counts)}, {failures} failures, {unnamed} errors without the name, "
          f"slowest {slowest:.1f} s")  # fmt: skip
    return int(verdict == "failed")


if __name__ == "__main__":
    sys.exit(main())
