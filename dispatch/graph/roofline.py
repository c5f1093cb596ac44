"""How long a run takes at least on a device: the roofline model, call by call.

A call takes the longer of its floating-point operations at the device's peak for the dtype, and of
its bytes moved at the memory's bandwidth. Nothing else counts: no launch, no wait, no cache that
is missed; calls do not overlap and none are fused. It is an estimate of a lower bound for running
the calls one by one, and is called so wherever it is shown.
"""

from collections.abc import Callable
from typing import Any

from dispatch.graph.hardware import Hardware

__all__ = ["HOW", "estimate"]

Json = dict[str, Any]
HOW = (
    "estimate of a lower bound: for each call the longer of FLOPs / peak of its dtype and "
    "bytes moved / bandwidth, one call after the other"
)


class _Sum:
    """Times of some calls."""

    def __init__(self) -> None:
        self.calls = self.flops = self.moved_bytes = 0
        self.ns = self.compute_ns = self.memory_bound_ns = 0.0

    def add(self, call: Json, compute: float, memory: float) -> None:
        self.calls += 1
        self.flops += call["flops"]
        self.moved_bytes += call["moved_bytes"]
        self.ns += max(compute, memory)
        self.compute_ns += compute
        self.memory_bound_ns += memory if memory > compute else 0.0

    def row(self, whole: float) -> Json:
        """`utilisation`: the part of the time in which the device computes at its peak."""
        ns = self.ns or 1.0
        return {
            "calls": self.calls,
            "ns": self.ns,
            "share": self.ns / (whole or 1.0),
            "memory_bound_share": self.memory_bound_ns / ns,
            "utilisation": self.compute_ns / ns,
            "flops": self.flops,
            "moved_bytes": self.moved_bytes,
        }


def estimate(report: Json, device: Hardware) -> Json:
    """The times of a report's calls on `device`: in all, by operator and by module."""
    total = _Sum()
    operators: dict[str, _Sum] = {}
    modules: dict[str, _Sum] = {row["path"]: _Sum() for row in report["modules"]}
    calls = []
    for call in report["calls"]:
        compute = call["flops"] / device.peak(call["compute_dtype"]) * 1e9
        memory = call["moved_bytes"] / device.bandwidth * 1e9
        calls.append({"ns": max(compute, memory), "memory_bound": memory > compute})
        total.add(call, compute, memory)
        operators.setdefault(call["op"], _Sum()).add(call, compute, memory)
        for found in _around(call["module"] or "", modules.get):
            found.add(call, compute, memory)
    by_operator = [{"op": op, **found.row(total.ns)} for op, found in operators.items()]
    return {
        "hardware": device.name,
        "title": device.title,
        "memory": device.memory,
        "bandwidth": device.bandwidth,
        "peak_flops": dict(device.flops),
        "how": HOW,
        **total.row(total.ns),
        "fits": report["peak_bytes"] <= device.memory,
        "operators": sorted(by_operator, key=lambda row: (-row["ns"], row["op"])),
        "modules": [
            {"path": row["path"], "depth": row["depth"], **modules[row["path"]].row(total.ns)}
            for row in report["modules"]
        ],
        "by_call": calls,
    }


def _around(path: str, find: Callable[[str], _Sum | None]) -> list[_Sum]:
    """The sums of the module at `path` and of all that it is in."""
    found = []
    while path:
        found.append(find(path))
        path = path.rpartition(".")[0]
    found.append(find(""))
    return [each for each in found if each is not None]
