"""What a model must keep to: `peak_bytes < 16GB`, read from text and held against a report.

The command line's `--assert` reads each with `read_check` before anything runs, so that a typing
error is found at once. A unit multiplies: kB, MB, ... by 1000, KiB, MiB, ... by 1024.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dispatch.graph.text import bytes_text

__all__ = ["Check", "read_amount", "read_check"]

Json = dict[str, Any]
_NUMBER = r"\s*(\d[\d_,]*(?:\.\d*)?(?:[eE][+-]?\d{1,3})?)\s*([A-Za-z]*)\s*"
_AMOUNT = re.compile(_NUMBER)
_FORM = re.compile(r"\s*(\w+)\s*(<=|>=|==|!=|<|>)" + _NUMBER)
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_UNITS = {"": 1, "b": 1} | {
    letter + end: base**power
    for power, letter in enumerate("kmgtp", 1)
    for end, base in (("", 1000), ("b", 1000), ("ib", 1024), ("i", 1024))
}


def _at_peak(report: Json, kind: str) -> int:
    return sum(row["bytes"] for row in report["alive_at_peak"] if row["kind"] == kind)


_VALUES: Mapping[str, Callable[[Json], int]] = {
    "peak_bytes": lambda r: r["peak_bytes"],
    "parameters": lambda r: r["parameters"],
    "parameter_bytes": lambda r: r["parameter_bytes"],
    "activation_bytes": lambda r: _at_peak(r, "activation"),
    "gradient_bytes": lambda r: _at_peak(r, "gradient"),
    "new_bytes": lambda r: sum(call["new_bytes"] for call in r["calls"]),
    "flops": lambda r: r["flops"],
    "calls": lambda r: len(r["calls"]),
    "operators": lambda r: len(r["operators"]),
    "modules": lambda r: len(r["modules"]),
    "unregistered": lambda r: len(r["unregistered"]),
    "wall_ns": lambda r: r["wall_ns"],
}


class Check(NamedTuple):
    """`name` compared with `limit`; `text` is what the user wrote."""

    text: str
    name: str
    relation: str
    limit: float

    def __str__(self) -> str:
        return self.text

    def value(self, report: Json) -> int:
        """What the report has."""
        return _VALUES[self.name](report)

    def holds(self, report: Json) -> bool:
        """Whether the report keeps to it."""
        return _COMPARE[self.relation](self.value(report), self.limit)

    def failure(self, report: Json) -> str:
        """The check and what was found, for one that does not hold."""
        value = self.value(report)
        is_long = self.name.endswith("_bytes") and value >= 1_000
        shown = f" ({bytes_text(value)})" if is_long else ""
        return f"{self.text}: {self.name} is {value:,}{shown}"


def read_amount(text: str, where: str) -> float:
    """A number, perhaps with a unit: `80GB`; `ValueError` that begins with `where` for others."""
    found = _AMOUNT.fullmatch(text)
    if found is None or found[2].lower() not in _UNITS:
        raise ValueError(f"{where}: expected an amount like 80GB, got {text!r}")
    return _amount(found[1], found[2])


def _amount(number: str, unit: str) -> float:
    return float(number.replace(",", "").replace("_", "")) * _UNITS[unit.lower()]


def read_check(text: str) -> Check:
    """The check that `text` is: NAME, one of < <= > >= == !=, a number, perhaps a unit.

    Raises `ValueError` naming what is expected.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"--assert {text!r}: expected a check like 'peak_bytes < 16GB'")
    name, relation, number, unit = found.groups()
    if name not in _VALUES:
        raise ValueError(f"--assert {text!r}: no {name!r}: there are {', '.join(_VALUES)}")
    if unit.lower() not in _UNITS:
        raise ValueError(f"--assert {text!r}: no unit {unit!r}: expected one like MB, GiB, G")
    return Check(text.strip(), name, relation, _amount(number, unit))
