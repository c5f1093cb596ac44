"""`python -m codegen`: generate (or check) the emitted files of a package from its YAML files.

Without `--package` it serves the project's own tree; installed it is `dispatch-codegen`, run from
the folder that holds a user's package and its `schemas`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .generate import Job, generate
from .source import SourceError

__all__ = ["main"]

_ROOT = Path(__file__).resolve().parent.parent
_OWN = "dispatch"


def _parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="codegen", description="Generate the C tables and Cython modules of a package."
    )
    parser.add_argument(
        "--schemas",
        type=Path,
        metavar="DIR",
        help="folder of native_functions.yaml (default: schemas)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder that the emitted files go to (default: generated, in the package)",
    )
    parser.add_argument(
        "--package", default=_OWN, metavar="NAME", help="dotted name of the package (%(default)s)"
    )
    parser.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 and name the files that differ",
    )
    return parser.parse_args(argv)


def _job(options: argparse.Namespace) -> Job:
    own = options.package == _OWN
    schemas = _ROOT / "schemas" if own else Path("schemas")
    folder = _ROOT / "dispatch" / "_C" if own else Path(*options.package.split("."))
    out = options.out or folder / "generated"
    return Job(options.schemas or schemas, out, options.package, options.check)


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 (`--check` found differences) or 2 (bad input)."""
    job = _job(_parse(argv))
    try:
        output = generate(job)
    except SourceError as error:
        print(error, file=sys.stderr)
        return 2
    if job.check and output.stale:
        for name in output.stale:
            print(f"differs: {job.out / name}", file=sys.stderr)
        return 1
    if job.check:
        print(f"nothing differs: {len(output.written)} files in {job.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
