"""Operators that nobody registered: a fake run goes on with the outputs that the file records.

`module` asks for `with_recorded` when a plan has such operators: each gets a stand-in that makes
new tensors of the recorded sizes, types and devices, whatever it is given. What such an operator
aliases or writes to cannot be known; its outputs count as new memory.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from dispatch.graph.errors import ModelFileError
from dispatch.graph.expr import hint_of
from dispatch.graph.plan import Plan, Step
from dispatch.graph.program import Argument, Graph, Node, TensorMeta

__all__ = ["Recorded", "StandIn", "with_recorded"]

_SYMBOLS = {
    "as_sym_int": "sym_int_values",
    "as_sym_float": "sym_float_values",
    "as_sym_bool": "sym_bool_values",
}


class StandIn:
    """Called in an operator's place: gives what `outputs`, one function each, make; a tuple of one
    if `nested`."""

    def __init__(self, outputs: tuple[Callable[[], Any], ...], nested: bool = False) -> None:
        self._outputs = outputs
        self._nested = nested

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        made = tuple(make() for make in self._outputs)
        return made[0] if len(made) == 1 and not self._nested else made or None


class Recorded(NamedTuple):
    """What a graph at `place` of file `path` records; `make(meta, place)` gives a new tensor."""

    graph: Graph
    path: str
    place: str
    make: Callable[[TensorMeta, str], Any]

    def maker(self, argument: Argument, place: str) -> Callable[[], Any]:
        """What makes one output, which stands at `place` in the graph."""
        value = argument.value
        if argument.tag == "as_tensor":
            return self._tensor(value.name, place)
        if argument.tag == "as_optional_tensor" and value.tag == "as_tensor":
            return self._tensor(value.value.name, place)
        if argument.tag in ("as_tensors", "as_optional_tensors"):
            return _list(self._item(item, place) for item in value)
        if argument.tag in _SYMBOLS and value.tag == "as_name":
            recorded = getattr(self.graph, _SYMBOLS[argument.tag]).get(value.value)
            number = hint_of(recorded) if recorded is not None else None
            return lambda: number
        return _nothing

    def _item(self, item: Any, place: str) -> Callable[[], Any]:
        """A TensorArgument, or an OptionalTensorArgument, of a list."""
        if getattr(item, "tag", "") == "as_none":
            return _nothing
        return self._tensor(item.value.name if hasattr(item, "tag") else item.name, place)

    def _tensor(self, name: str, place: str) -> Callable[[], Any]:
        meta = self.graph.tensor_values.get(name)
        if meta is None:
            problem = f"{name[:80]!a} has no entry in graph.tensor_values, and no operator makes it"
            raise ModelFileError(self.path, f"{self.place}.{place}", problem)
        where = f"{self.place}.tensor_values.{name[:80]}"
        return lambda: self.make(meta, where)


def with_recorded(plan: Plan, recorded: Recorded) -> Plan:
    """`plan`, of which no operator is missing.

    Raises `ModelFileError` when the file records nothing of an output.
    """
    if not plan.missing:
        return plan
    nodes = enumerate(zip(plan.steps, recorded.graph.nodes, strict=True))
    steps = tuple(_filled(step, node, recorded, f"nodes[{i}]") for i, (step, node) in nodes)
    return plan._replace(steps=steps, missing=())


def _filled(step: Step, node: Node, recorded: Recorded, place: str) -> Step:
    if step.branches:
        graphs = [given.arg.value.graph for given in node.inputs if given.arg.tag == "as_graph"]
        where = f"{recorded.place}.{place}.as_graph.graph"
        inner = (recorded._replace(graph=graph, place=where) for graph in graphs)
        branches = tuple(map(with_recorded, step.branches, inner))
        return step._replace(branches=branches)
    if step.callee is not None:
        return step
    outputs = enumerate(node.outputs)
    makers = tuple(recorded.maker(output, f"{place}.outputs[{k}]") for k, output in outputs)
    nested = isinstance(step.outputs, tuple) and node.outputs[0].tag == "as_tensor"
    return step._replace(callee=StandIn(makers, nested))


def _nothing() -> None:
    return None


def _list(makers: Iterable[Callable[[], Any]]) -> Callable[[], Any]:
    kept = tuple(makers)
    return lambda: [make() for make in kept]
