"""An exported program as a graph of `torch.fx`.

Made from the plan, whose arguments are checked: a slot stands for the node that fills it. The graph
is a copy: what changes it does not change the program.
"""

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any

import dispatch
from dispatch._C.generated.type_names import EXPORTED_DTYPES
from dispatch.as_torch.fx import Graph, GraphModule as Whole, Node
from dispatch.as_torch.fx.code import _PyTreeCodeGen, _PyTreeInfo
from dispatch.as_torch.nn.modules.module import Module
from dispatch.graph import GraphModule
from dispatch.graph.cases import new_symbols
from dispatch.graph.expr import symbolic_value, symbols_in
from dispatch.graph.fakes import fake_tensor, in_symbols
from dispatch.graph.modules import stack_entries
from dispatch.graph.notes import text_of
from dispatch.graph.plan import Const, DeviceConst, Items, Plan, Slot
from dispatch.graph.program import Graph as Records
from dispatch.graph.weights import TensorSpec, device_name

__all__ = ["graph_of", "module_of", "modules_of", "needs_grad", "unlifted"]


def graph_of(module: GraphModule) -> Graph:
    """The nodes of a loaded program."""
    bindings = module.signature.bindings
    maker = _Maker(module.graph, module._plan, _Values(module), [b.name for b in bindings])
    for binding in bindings:
        if not binding.is_tensor:
            maker.by_slot[binding.slot].meta.setdefault("val", binding.value)
    return maker.graph


def needs_grad(meta: Any, tensor: dispatch.Tensor) -> bool:
    """Whether a tensor was recorded as one that requires grad, and can."""
    return bool(meta.requires_grad) and (tensor.is_floating_point() or tensor.is_complex())


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
                made = fake_tensor(in_symbols(spec, meta, self.symbols), None)
        except LookupError:
            return None
        return made.requires_grad_() if needs_grad(meta, made) else made

    def number(self, number: Any) -> Any:
        """A number or a symbolic one; None where an expression is not known here."""
        self._know(number)
        try:
            return symbolic_value(number, self.symbols.numbers)
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
        self.graph = Graph()
        self.by_slot: dict[int, Node] = {}
        for slot, name in enumerate(inputs):
            self._fill(slot, self._add(name, "placeholder", name))
        for step, record in zip(plan.steps, records.nodes, strict=True):
            self._call(step, record)
        results = tuple(self._given(ref) for ref in plan.outputs)
        self._add("output", "output", "output", (results,))

    def _add(self, name: str, op: str, target: Any, args: Any = (), kwargs: Any = None) -> Node:
        node = self.graph.create_node(op, target, args, kwargs, name)
        node._name = name  # as the file has it, also where it is one of Python's own
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
                node.meta["val"] = self.values.number(number)

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
    return getattr(home, last) if home is not None else callee or _unregistered(space, last)


def _unregistered(space: str, name: str) -> Any:
    """What stands for an operator that nobody registered."""

    def call(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"{space}.{name} is not registered here")

    call.__name__ = call.__qualname__ = name
    call.__module__ = space
    return call


def unlifted(program: GraphModule) -> Graph:
    """The graph with parameters, buffers and constants as attributes instead of inputs, and writes
    to them as calls instead of outputs; code made of it nests arguments and results as the exported
    module did."""
    graph = graph_of(program)
    if program.program.verifiers[:1] != ("TRAINING",):
        graph.eliminate_dead_code()
    nodes = [node for node in graph.nodes if node.op == "placeholder"]
    for i, binding in enumerate(program.signature.bindings):
        if binding.is_weight:
            with graph.inserting_before(nodes[i]):
                found = graph.create_node("get_attr", binding.target)
            found.meta = nodes[i].meta
            nodes[i].replace_all_uses_with(found)
            graph.erase_node(nodes[i])
            nodes[i] = found
    last = graph.output_node()
    (results,) = last.args
    copies: dict[Node, Node] = {}
    with graph.inserting_before(last):
        for mutation in program.signature.mutations:
            written = (nodes[mutation.input_slot], results[mutation.output])
            copies[written[1]] = graph.call_function(dispatch.ops.aten.copy_.default, written)
    given_back = (results[i] for i in program.signature.user_outputs)
    last.args = (tuple(copies.get(r, r) if isinstance(r, Node) else r for r in given_back),)
    call = next((e.signature for e in program.program.graph_module.module_call_graph), None)
    if call is not None and call.in_spec:
        given, result = map(dispatch.pytree.treespec_loads, (call.in_spec, call.out_spec))
        positional, named = given.children()
        names = [f"arg_{i}" for i in range(positional.num_children)]
        names += map(str, named.context or ())
        info = _PyTreeInfo(list(call.forward_arg_names or names), given, result)
        graph.set_codegen(_PyTreeCodeGen(info))
    return graph


def modules_of(graph: Graph) -> dict[str, Module]:
    """The branches that nodes name, as modules."""
    named = graph.find_nodes(op="get_attr")
    return {node.target: module_of(node.meta["graph"]) for node in named if "graph" in node.meta}


def module_of(graph: Graph) -> Whole:
    """A module that computes a graph without attributes but branches."""
    made: Whole = Whole(dict(modules_of(graph)), graph)
    return made


def _notes(notes: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    stack = text_of(notes.nn_module_stack)
    if stack:
        entries = stack_entries(stack)
        found["nn_module_stack"] = {key: (path, kind) for key, path, kind in entries}
    trace = text_of(notes.stack_trace)
    if trace:
        found["stack_trace"] = trace
    return found
