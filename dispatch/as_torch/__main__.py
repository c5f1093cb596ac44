"""`python -m dispatch.as_torch`: run a program that says `import torch`, or read what it uses."""

import runpy
import sys
from pathlib import Path

from dispatch import as_torch
from dispatch.as_torch.report import report, table

USAGE = """usage: python -m dispatch.as_torch SCRIPT [ARGS]
       python -m dispatch.as_torch -m MODULE [ARGS]
       python -m dispatch.as_torch --report FILE ...
       python -m dispatch.as_torch --table"""


def main(arguments: list[str]) -> int:
    """The exit status; what a program that is run raises passes through."""
    match arguments:
        case ["--table"]:
            print(table())
        case ["--report", *files] if files:
            found = report(*files)
            print(found)
            return 1 if found.missing else 0
        case ["-m", module, *_]:
            as_torch.install()
            sys.argv = arguments[1:]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [script, *_] if not script.startswith("-"):
            as_torch.install()
            sys.argv = arguments
            sys.path[0] = str(Path(script).resolve().parent)
            runpy.run_path(script, run_name="__main__")
        case ["-h"] | ["--help"]:
            print(USAGE)
        case _:
            print(USAGE, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
