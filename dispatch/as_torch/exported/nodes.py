"""An exported program's graph as nodes that PyTorch's readers know: `op`, `target`, `users`.

Made from the plan, whose arguments are checked: a slot stands for the node that fills it, as
`torch.fx.Node` stands in a graph there. What is here reads; nothing can be changed, inserted or
compiled.
"""

import math
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import dispatch
from dispatch._C.generated.type_names import EXPORTED_DTYPES
from dispatch.graph import GraphModule
from dispatch.graph.cases import new_symbols
from dispatch.graph.expr import hint_of, symbols_in
from dispatch.graph.fakes import fake_tensor, in_symbols
from dispatch.graph.modules import place_of_notes
from dispatch.graph.notes import text_of
from dispatch.graph.plan import Const, DeviceConst, Items, Plan, Slot
from dispatch.graph.program import Graph as Records
from dispatch.graph.weights import TensorSpec, device_name

__all__ = ["Graph", "Node", "graph_of"]


class Node:
    """One value of a graph: `placeholder`, `get_attr`, `call_function` or `output`.

    `args` and `kwargs` hold nodes where values of others go in; `users` are the nodes that take
    this one, in order; `meta` has "val" (a fake tensor or number), "nn_module_stack" and
    "stack_trace" where the file records them.
    """

    def __init__(
        self, graph: "Graph", name: str, op: str, target: Any, args: Any = (), kwargs: Any = None
    ) -> None:
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs or {}
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self.type: Any = None
        for given in self.all_input_nodes:
            given.users[self] = None

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes among the arguments, each once."""
        leaves = dispatch.pytree.tree_leaves((self.args, self.kwargs))
        return list(dict.fromkeys(leaf for leaf in leaves if isinstance(leaf, Node)))

    @property
    def next(self) -> "Node":
        """The node after this one."""
        return self._beside(1)

    @property
    def prev(self) -> "Node":
        """The node before this one."""
        return self._beside(-1)

    def _beside(self, step: int) -> "Node":
        nodes = self.graph._nodes
        return nodes[(nodes.index(self) + step) % len(nodes)]

    @property
    def stack_trace(self) -> str | None:
        """The lines of Python that made this value."""
        found: str | None = self.meta.get("stack_trace")
        return found

    def __repr__(self) -> str:
        return self.name

    def format_node(self) -> str:
        """`%add : [num_users=1] = call_function[target=...](args = ..., kwargs = ...)`."""
        if self.op == "output":
            return f"return {self.args[0]}"
        what = f"%{self.name} : [num_users={len(self.users)}] = {self.op}[target={_named(self)}]"
        if self.op != "call_function":
            return what
        return f"{what}(args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"


def _named(node: Node) -> str:
    target = node.target
    if isinstance(target, dispatch.OpOverload):
        return f"torch.ops.{target}"
    home = getattr(target, "__module__", None)
    return target if home is None else f"{home.removeprefix('_')}.{target.__name__}"


def _shown(value: Any) -> str:
    """A nest of arguments, nodes as `%name`."""
    if isinstance(value, Node):
        return f"%{value.name}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {_shown(v)}' for k, v in value.items())}}}"
    return str(value)


class Graph:
    """The nodes of a program, or of one branch of it, in the order of a run."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._nodes: list[Node] = []

    @property
    def nodes(self) -> "_Nodes":
        """All nodes, in order; it has a length and can be reversed."""
        return _Nodes(self._nodes)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of this kind, with this target."""
        return [n for n in self._nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self) -> Node:
        """The last node."""
        return self._nodes[-1]

    def lint(self) -> None:
        """Nothing: every name was checked when the program was read."""

    def print_tabular(self) -> None:
        """Print the calls as a table."""
        self._records.print_tabular()

    def __str__(self) -> str:
        lines = [node.format_node() for node in self._nodes]
        return "graph():" + "".join(f"\n    {line}" for line in lines)


class _Nodes:
    """A view on a graph's nodes."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes

    def __len__(self) -> int:
        return len(self._nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self._nodes)

    def __reversed__(self) -> Iterator[Node]:
        return reversed(self._nodes)


# ---- from the plan


def graph_of(module: GraphModule) -> Graph:
    """The nodes of a loaded program."""
    names = [binding.name for binding in module.signature.bindings]
    return _Maker(module.graph, module._plan, _Values(module), names).graph


class _Values:
    """The recorded metadata as fake tensors, with symbols for sizes that the program leaves open
    and for those that depend on data."""

    def __init__(self, module: GraphModule) -> None:
        values = {size.symbol: size.recorded or 0 for size in module.sizes}
        self.symbols = new_symbols(module.sizes, values)
        self.mode = dispatch.FakeTensorMode(shape_env=self.symbols.env)

    def tensor(self, meta: Any) -> Any:
        """A fake tensor; None where an expression is not known here."""
        for size in (*meta.sizes, *meta.strides, meta.storage_offset):
            self._know(size)
        device = device_name(meta.device) or "meta"
        spec = TensorSpec((), (), 0, EXPORTED_DTYPES[meta.dtype], device)
        try:
            with self.mode:
                return fake_tensor(in_symbols(spec, meta, self.symbols), None)
        except LookupError:
            return None

    def _know(self, size: Any) -> None:
        for name in symbols_in(size):
            if name not in self.symbols.numbers:
                self.symbols.numbers[name] = self.symbols.env.create_unbacked_symint()


class _Maker:
    """One graph's nodes, by slot."""

    def __init__(
        self, records: Records, plan: Plan, values: _Values, inputs: Iterable[str]
    ) -> None:
        self.records, self.plan, self.values = records, plan, values
        self.graph = Graph(records)
        self.by_slot: dict[int, Node] = {}
        for slot, name in enumerate(inputs):
            self._fill(slot, self._add(name, "placeholder", name))
        for step, record in zip(plan.steps, records.nodes, strict=True):
            self._call(step, record)
        results = tuple(self._given(ref) for ref in plan.outputs)
        self._add("output", "output", "output", (results,))

    def _add(self, name: str, op: str, target: Any, args: Any = (), kwargs: Any = None) -> Node:
        node = Node(self.graph, name, op, target, args, kwargs)
        self.graph._nodes.append(node)
        return node

    def _fill(self, slot: int, node: Node, notes: Mapping[str, Any] | None = None) -> None:
        """This node's value is that of the slot."""
        self.by_slot[slot] = node
        node.meta.update(notes or {})
        name = self.plan.slot_names[slot]
        meta = self.records.tensor_values.get(name)
        if meta is not None:
            node.meta["val"] = self.values.tensor(meta)
        for table in ("sym_int_values", "sym_float_values", "sym_bool_values"):
            number = getattr(self.records, table).get(name)
            if number is not None:
                node.meta["val"] = hint_of(number)

    def _given(self, ref: Any) -> Any:
        if isinstance(ref, Slot):
            return self.by_slot[ref.number]
        if isinstance(ref, Const):
            return list(ref.value) if isinstance(ref.value, tuple) else ref.value
        if isinstance(ref, DeviceConst):
            return None if ref.recorded is None else dispatch.device(ref.recorded)
        assert isinstance(ref, Items)
        values = [self._given(item) for item in ref.refs]
        return values if ref.keys is None else dict(zip(ref.keys, values, strict=True))

    def _call(self, step: Any, record: Any) -> None:
        args, kwargs = self._arguments(step, record)
        notes = _notes(record.metadata)
        if step.branches:  # condition, branches, operands
            graphs = zip(step.branches, _graphs(record), strict=True)
            args = (args[0], *(self._branch(*both, notes) for both in graphs), *args[1:])
        target = _target(step.callee, record.target)
        outputs = step.outputs
        if isinstance(outputs, int) and outputs >= 0:
            node = self._add(self.plan.slot_names[outputs], "call_function", target, args, kwargs)
            self._fill(outputs, node, notes)
            return
        node = self._add(step.node, "call_function", target, args, kwargs)
        node.meta.update(notes)
        for i, slot in enumerate(outputs if isinstance(outputs, tuple) else ()):
            if isinstance(slot, int) and slot >= 0:
                name = self.plan.slot_names[slot]
                item = self._add(name, "call_function", operator.getitem, (node, i))
                self._fill(slot, item, notes)

    def _arguments(self, step: Any, record: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and named ones as the file says; devices that a run adds are left out."""
        values = [self._given(ref) for ref in step.args]
        n = len(values) - len(step.kwnames)
        given = {a.name for a in record.inputs}
        named = dict(zip(step.kwnames, values[n:], strict=True))
        return tuple(values[:n]), {k: v for k, v in named.items() if k in given}

    def _branch(self, plan: Plan, argument: Any, notes: Mapping[str, Any]) -> Node:
        names = plan.slot_names[: plan.n_inputs]
        node = self._add(argument.name, "get_attr", argument.name)
        node.meta.update(notes, graph=_Maker(argument.graph, plan, self.values, names).graph)
        return node


def _graphs(record: Any) -> list[Any]:
    return [a.arg.value for a in record.inputs if a.arg.tag == "as_graph"]


def _target(callee: Any, name: str) -> Any:
    """What PyTorch has as a node's target; the file's text where nobody registered it."""
    if isinstance(callee, dispatch.OpOverload):
        return callee
    space, _, last = name.rpartition(".")
    if space == "torch.ops.higher_order":
        return getattr(dispatch.ops.higher_order, last, name)
    home = {"_operator": operator, "math": math}.get(space)
    return getattr(home, last) if home is not None else callee or name


def _notes(notes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    modules = place_of_notes(notes).modules
    if modules:
        found["nn_module_stack"] = OrderedDict((path, (path, kind)) for path, kind, _ in modules)
    trace = text_of(notes.stack_trace)
    if trace:
        found["stack_trace"] = trace
    return found
