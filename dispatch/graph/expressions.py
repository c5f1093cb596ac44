"""What a symbolic run needs, as expressions of the open sizes: every call's sizes, memory,
operations.

`report` takes these texts for its rows and its JSON: keys that end in `_expr` beside the numbers.
A size that is no expression is a number there too. The peak is the largest of a few amounts, one
for each call where it can be; the ranges of the sizes have ruled the others out.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from math import prod
from typing import Any

from dispatch.graph.cases import Case, Memory, Size
from dispatch.graph.memory import Call, Walk, is_tensor, meta_of, sizes_of, value_of
from dispatch.graph.polynomial import Polynomial
from dispatch.tools.formulas import FlopCall, count_flops, has_formula

__all__ = ["Expressions", "call_flops"]

Json = dict[str, Any]
Text = int | str


class Expressions:
    """The texts of one symbolic run."""

    def __init__(self, case: Case, walk: Walk) -> None:
        self.case = case
        self._walk = walk

    @cached_property
    def _memory(self) -> Memory:
        return self.case.memory(self._walk)

    @cached_property
    def _flops(self) -> list[Polynomial]:
        return [_polynomial(call_flops(call, self._exact)) for call in self._walk.calls]

    def _exact(self, size: int) -> Any:
        """A size as a number that formulas can compute with."""
        found = getattr(size, "expr", size)
        return found if isinstance(found, int) else self.case.env.create_symintnode(found)

    @cached_property
    def calls(self) -> list[Json]:
        """For each call its expressions; `outputs_expr` has the sizes of its tensors."""
        memory = self._memory
        return [
            {
                "outputs_expr": [_meta_texts(r) for r in call.records if r[1] is not ...],
                "live_bytes_expr": memory.live[i].plain,
                "during_bytes_expr": memory.during[i].plain,
                "new_bytes_expr": 0 if call.step.is_composed else memory.new[i].plain,
                "flops_expr": self._flops[i].plain,
            }
            for i, call in enumerate(self._walk.calls)
        ]

    @property
    def peak_bytes(self) -> Text:
        """The peak: one amount, or the largest of several."""
        texts = [amount.plain for _, amount in self.case.peaks] or [0]
        return texts[0] if len(texts) == 1 else f"Max({', '.join(map(str, texts))})"

    @property
    def peaks(self) -> list[Json]:
        """The calls where the peak can be, and what is there during each."""
        calls = self._walk.calls
        return [
            {"index": i, "node": calls[i].node, "op": calls[i].step.op, "bytes_expr": e.plain}
            for i, e in self.case.peaks
        ]

    @cached_property
    def flops(self) -> Text:
        """The operations of all calls."""
        return _total(self._flops).plain

    def modules(self, paths: Sequence[str | None]) -> dict[str, Json]:
        """{path: bytes and operations of the calls in that module and below}; `paths` has the
        module of each call."""
        parts: defaultdict[str, tuple[list[Polynomial], list[Polynomial]]] = defaultdict(
            lambda: ([], [])
        )
        memory = self._memory
        for i, (call, path) in enumerate(zip(self._walk.calls, paths, strict=True)):
            names = (path or "").split(".")
            above = {".".join(names[:n]) for n in range(len(names) + 1)}
            for place in above:
                if not call.step.is_composed:
                    parts[place][0].append(memory.new[i])
                parts[place][1].append(self._flops[i])
        return {
            path: {"bytes_expr": _total(new).plain, "flops_expr": _total(flops).plain}
            for path, (new, flops) in parts.items()
        }

    @property
    def guards(self) -> list[Json]:
        """The conditions under which the expressions hold, each with the call that asked."""
        calls = self._walk.calls
        return [
            {
                "expr": str(guard.expr),
                "index": guard.call,
                "node": calls[guard.call].node if guard.call >= 0 else "",
            }
            for guard in self.case.guards
        ]

    @property
    def asserts(self) -> list[str]:
        """What must hold of numbers that data decide."""
        return [str(expr) for expr in self.case.asserts]

    def to_json(self) -> Json:
        """The keys that a symbolic run adds to the report."""
        return {
            "peak_bytes_expr": self.peak_bytes,
            "peaks": self.peaks,
            "flops_expr": self.flops,
            "guards": self.guards,
            "asserts": self.asserts,
        }


def _total(amounts: Iterable[Polynomial]) -> Polynomial:
    return sum(amounts, Polynomial({}))


def _polynomial(value: Any) -> Polynomial:
    """Of an int or a SymInt."""
    return Polynomial.of(value.node.expr if hasattr(value, "node") else value)


def _text(size: int) -> Text:
    found = getattr(size, "expr", size)
    return found if isinstance(found, int) else str(found)


def _meta_texts(record: Any) -> Json | None:
    """A tensor's sizes, strides and offset as expressions."""
    meta = meta_of(record)
    if meta is None:
        return None
    return {
        "shape": [_text(n) for n in meta["shape"]],
        "stride": [_text(n) for n in meta["stride"]],
        "storage_offset": _text(meta["storage_offset"]),
    }


def call_flops(call: Call, size: Callable[[int], Any] = int) -> Any:
    """The operations of a call, as its formula counts them; `size` gives each size to it."""
    step = call.step
    schema = getattr(step.callee, "_schema", None)
    if schema is None or not has_formula(step.op):
        return 0
    n_positional = len(step.args) - len(step.kwnames)
    names = [a.name for a in schema.arguments][:n_positional] + list(step.kwnames)
    args = {
        name: _sized(value_of(ref, call.values), size)
        for name, ref in zip(names, step.args, strict=True)
    }
    # What was left out has the schema's default; formulas tell variants apart by what there is.
    for argument in schema.arguments:
        args.setdefault(argument.name, None)
    shapes = [_sized(sizes_of(r), size) for r in call.records if is_tensor(r)]
    return prod(_sized(call.rounds, size), start=count_flops(step.op, FlopCall(args, shapes)))


def _sized(value: Any, size: Callable[[int], Any]) -> Any:
    if isinstance(value, tuple | list):
        return type(value)(_sized(item, size) for item in value)
    return size(value) if isinstance(value, Size) else value
