"""`dispatch ops --coverage`: which kernels each operator has, how many recorded calls it answers.

Everything is asked of the dispatcher: what is registered, and what its tables compute from that.
An operator's family is the folder of its kernels; one that is made from another (an out variant, a
number for a tensor) belongs to the family of its packet. Recorded calls are a folder of cases
with `replay_dispatch.py` in it or beside it, which replays them in a process of its own.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from dispatch import _C

__all__ = ["KINDS", "Coverage", "coverage", "family_rows", "known", "markdown", "replayed"]

KINDS = ("CPU", "Meta", "composite", "Autograd")
_HOME = Path(__file__).resolve().parents[2]
_FAMILY = re.compile(r"\.kernels_(\w+)|\.kernels\.(?:meta|cpu|composite)\.(\w+)")
_OTHERS, _NONE = "made from others", "without a kernel"
_SCRIPT = "script"  # overloads of numbers, in packets that are another family's
_REAL = ("CPU", "Meta")
_REPLAY = "replay_dispatch.py"
_REASONS = {"kernel": "kernel", "math kernel": "decomposed", "backend fallback": "fallback"}
_MODES = ("values", "fake", "errors")
Cases = Mapping[str, Mapping[str, Mapping[str, int]]]


class Coverage(NamedTuple):
    """One operator. Each kind of kernel: what there is, "" where there is none."""

    name: str
    family: str
    kernels: dict[str, str]
    passed: int
    cases: int

    @property
    def runs(self) -> bool:
        """Whether a call with plain tensors on the CPU finds a kernel."""
        return bool(self.kernels["CPU"] or self.kernels["composite"])


def coverage(names: Iterable[str], cases: Cases | None = None) -> list[Coverage]:
    """The operators of these names, by family."""
    dumps = {name: _C._dispatch_dump(name) for name in names}
    families = _families(dumps)
    found = []
    for name, dump in dumps.items():
        passed, total = _counts((cases or {}).get(name, {}))
        found.append(Coverage(name, families[name], _kernels(name, dump), passed, total))
    return sorted(found, key=lambda row: (row.family, row.name))


def known(names: Iterable[str]) -> list[str]:
    """Those of these names that operators have here."""
    here = set(_C._dispatch_get_all_op_names())
    return [name for name in names if name in here]


def _counts(modes: Mapping[str, Mapping[str, int]]) -> tuple[int, int]:
    counts = [modes.get(mode, {}) for mode in _MODES]
    return sum(c.get("pass", 0) for c in counts), sum(sum(c.values()) for c in counts)


def _registered(dump: str) -> dict[str, str]:
    """Key -> what is registered there, out of `_dispatch_dump`."""
    lines = (line.partition(": ") for line in dump.splitlines()[2:])
    return {key.removesuffix("[alias]"): text for key, found, text in lines if found}


def _kernels(name: str, dump: str) -> dict[str, str]:
    registered = _registered(dump)
    composites = [key for key in registered if key.startswith("Composite")]
    computed = _C._dispatch_dump_table(name)
    return {
        "CPU": "kernel" if "CPU" in registered else "",
        "Meta": "kernel" if "Meta" in registered else "",
        "composite": ", ".join(key.removeprefix("Composite") for key in composites),
        "Autograd": _autograd(computed),
    }


def _autograd(computed: str) -> str:
    line = next((x for x in computed.splitlines() if x.startswith("AutogradCPU: ")), "")
    return next((word for reason, word in _REASONS.items() if line.endswith(f"[{reason}]")), "")


def _families(dumps: Mapping[str, str]) -> dict[str, str]:
    """Operator -> family: its own kernels', else that of others of its packet."""
    own = {name: _family(dump) for name, dump in dumps.items()}
    by_packet: dict[str, str] = {}
    for name, family in own.items():
        if family and family != _SCRIPT:
            by_packet.setdefault(_packet(name), family)
    return {
        name: own[name] or by_packet.get(_packet(name)) or (_OTHERS if _made(dump) else _NONE)
        for name, dump in dumps.items()
    }


def _made(dump: str) -> bool:
    return any(key in _REAL or key.startswith("Composite") for key in _registered(dump))


def _packet(name: str) -> str:
    return name.partition(".")[0].rstrip("_")


def _family(dump: str) -> str:
    places = (_FAMILY.search(text) for text in _registered(dump).values())
    return next((found[1] or found[2] for found in places if found), "")


# -- recorded calls


def replayed(folder: Path) -> Cases:
    """What the replay of a folder of recorded calls counts, by operator."""
    script = next((p for p in (folder / _REPLAY, folder.parent / _REPLAY) if p.is_file()), None)
    if script is None:
        raise FileNotFoundError(f"{folder}: no {_REPLAY} in it or beside it")
    with tempfile.TemporaryDirectory() as scratch:
        counts = Path(scratch) / "counts.json"
        command = [sys.executable, str(script), str(folder), "--json", str(counts)]
        command += ["--noise", "4", "--skip-ambiguous", "--quiet"]
        home = os.pathsep.join((str(_HOME), os.environ.get("PYTHONPATH", "")))
        environment = {**os.environ, "PYTHONPATH": home}  # this package, wherever it stands
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if not counts.is_file():
            raise RuntimeError(f"{script} failed: {done.stderr.strip()[-300:]}")
        found: Cases = json.loads(counts.read_text())["overloads"]
    return found


# -- totals and pages


def family_rows(rows: Iterable[Coverage]) -> Iterator[dict[str, Any]]:
    """For each family, and last for all: how many operators, and how many have which kernel."""
    rows = list(rows)
    groups: dict[str, list[Coverage]] = {}
    for row in rows:
        groups.setdefault(row.family, []).append(row)
    for family, group in [*groups.items(), ("total", rows)]:
        yield {
            "family": family,
            "operators": len(group),
            **{kind: sum(bool(row.kernels[kind]) for row in group) for kind in KINDS[:3]},
            "none": sum(not row.runs for row in group),
            "passed": sum(row.passed for row in group),
            "cases": sum(row.cases for row in group),
        }


_HEAD = """\
# Coverage

Made by `make coverage`; `dispatch ops --coverage` prints it operator by operator. *CPU*: a kernel
of its own for plain tensors. *Meta*: a shape function of its own. *composite*: a kernel written
with other operators, for every device. *none*: no kernel for plain tensors, a call says so. For
Autograd every operator that is not decomposed (CompositeImplicitAutograd) has the dispatcher's
fallback or a kernel of its own.
"""


def markdown(rows: Iterable[Coverage]) -> str:
    """The page: totals, then the operators of each family by what they have."""
    rows = list(rows)
    totals = list(family_rows(rows))
    lines = [_HEAD, _line("family", "operators", *KINDS[:3], "none"), _rule(6)]
    for total in totals:
        shown = [str(total[kind]) for kind in (*KINDS[:3], "none")]
        lines.append(_line(total["family"], str(total["operators"]), *shown))
    groups: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        groups.setdefault(row.family, {}).setdefault(_pattern(row), []).append(row.name)
    for family, patterns in groups.items():
        lines += ["", f"## {family}", "", _line("kernels", "operators"), "|---|---|"]
        lines += [_line(pattern, _names(names)) for pattern, names in sorted(patterns.items())]
    if totals[-1]["cases"]:
        lines += ["", "## Recorded calls", "", _line("family", "passed", "of"), _rule(3)]
        counted = (total for total in totals if total["cases"])
        lines += [_line(t["family"], f"{t['passed']:,}", f"{t['cases']:,}") for t in counted]
    return "\n".join(lines) + "\n"


def _pattern(row: Coverage) -> str:
    return ", ".join(row.kernels[kind] if kind == "composite" else kind
                     for kind in KINDS[:3] if row.kernels[kind]) or "none"  # fmt: skip


def _names(names: Iterable[str]) -> str:
    return " ".join(f"`{name.removeprefix('aten::')}`" for name in names)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return f"|---|{'---:|' * (columns - 1)}"
