"""`python -m tests.differential [--side S] [--record | --compare PYTHON] [AREA ...] [-k WORD]`."""

import argparse
import importlib
import json
import os
import pathlib
import subprocess
import sys
import traceback
import types

from tests.differential.side import SIDES, Log

HERE = pathlib.Path(__file__).parent
LIMIT_S = 60


def areas() -> list[str]:
    """Names of the program files."""
    return sorted(p.stem for p in (HERE / "programs").glob("*.py") if p.stem != "__init__")


def programs(area: str) -> dict[str, types.FunctionType]:
    """The programs of an area: its public functions, in order."""
    module = importlib.import_module(f"tests.differential.programs.{area}")
    return {
        name: f
        for name, f in vars(module).items()
        if isinstance(f, types.FunctionType)
        and not name.startswith("_")
        and f.__module__ == module.__name__
    }


def run_one(side: types.SimpleNamespace, program: types.FunctionType) -> list[str]:
    """The log of one program; an exception that it lets out is its last line."""
    log = Log(side)
    try:
        program(side, log)
    except Exception as error:
        log("ended by", type(error).__name__)
        log.lines.append("# " + "".join(traceback.format_exception(error))[-1500:])
    return log.lines


def run_forked(side: types.SimpleNamespace, program: types.FunctionType) -> list[str]:
    """Run a program in a child of its own: what it registers, or breaks, stays there."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        with os.fdopen(write, "w") as out:
            json.dump(run_one(side, program), out)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as source:
        text = source.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if status == 0 and text else [f"# died with status {status}"]


def run_area(side: types.SimpleNamespace, area: str, word: str = "") -> dict[str, list[str]]:
    """Logs of all programs of an area."""
    return {n: run_forked(side, p) for n, p in programs(area).items() if word in n}


def public(lines: list[str]) -> list[str]:
    """The lines that count: not the tracebacks."""
    return [line for line in lines if not line.startswith("# ") or line.startswith("# died")]


def compare(area: str, ours: dict[str, list[str]], theirs: dict[str, list[str]]) -> int:
    """Print where logs differ; how many programs do."""
    bad = 0
    for name, lines in ours.items():
        want, got = public(theirs.get(name, ["# not recorded"])), public(lines)
        if want == got:
            continue
        bad += 1
        print(f"{area}.{name}")
        for i in range(max(len(want), len(got))):
            w = want[i] if i < len(want) else "(nothing)"
            g = got[i] if i < len(got) else "(nothing)"
            if w != g:
                print(f"  torch    {w}\n  dispatch {g}")
        for line in lines:
            if line.startswith("# "):
                print("   ", line.replace("\n", "\n    "))
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.differential")
    parser.add_argument("areas", nargs="*")
    parser.add_argument("--side", choices=sorted(SIDES), default="dispatch")
    parser.add_argument("--record", action="store_true", help="write what torch logs")
    parser.add_argument("--compare", metavar="PYTHON", help="a Python that has torch")
    parser.add_argument("--json", action="store_true", help="print the logs as JSON")
    parser.add_argument("-k", default="", metavar="WORD", help="programs whose name has the word")
    args = parser.parse_args()
    chosen = args.areas or areas()
    if args.compare:
        command = [args.compare, "-m", "tests.differential", "--side", "torch", "--json"]
        out = subprocess.run([*command, "-k", args.k, *chosen], stdout=subprocess.PIPE, check=True)
        theirs = json.loads(out.stdout.splitlines()[-1])
    side = SIDES["torch" if args.record else args.side]()
    logs = {area: run_area(side, area, args.k) for area in chosen}
    if args.json:
        print(json.dumps(logs))
        return 0
    if args.record:
        for area, log in logs.items():
            text = json.dumps({n: public(x) for n, x in log.items()}, indent=0)
            (HERE / "recorded" / f"{area}.json").write_text(text + "\n")
            for name, lines in log.items():
                print(f"{area}.{name}: {len(lines)} lines")
                for line in lines:
                    if line.startswith(("# ", "ended by")):
                        print("   ", line)
        return 0
    if not args.compare:
        theirs = {a: json.loads((HERE / "recorded" / f"{a}.json").read_text()) for a in chosen}
    bad = sum(compare(area, logs[area], theirs[area]) for area in chosen)
    total = sum(map(len, logs.values()))
    lines = sum(len(x) for log in logs.values() for x in log.values())
    print(f"{total - bad} of {total} programs equal, {lines} lines")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
