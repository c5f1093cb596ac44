"""A graph's records -> the steps of a run: names become slot numbers, arguments templates, targets
operators.

`module` plans a program once, at load; `executor` runs the steps. Every name is checked here
(defined once, before its use), every operator is looked up, so a run meets no name. Slots are one
list of values: the graph's inputs first, then what the nodes give; a slot is freed after its last
use. Operators that are not registered are collected, not raised.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import dispatch
from dispatch._C.generated.type_names import (
    EXPORTED_DTYPES,
    EXPORTED_LAYOUTS,
    EXPORTED_MEMORY_FORMATS,
)
from dispatch.graph.arithmetic import NUMBER_OPERATORS
from dispatch.graph.errors import ModelFileError
from dispatch.graph.program import (
    Argument,
    Device,
    Graph,
    NamedArgument,
    Node,
    NodeNotes,
)
from dispatch.graph.weights import device_name

__all__ = [
    "Body",
    "Const",
    "DeviceConst",
    "Items",
    "Plan",
    "Slot",
    "Step",
    "plan_graph",
    "report_name",
]

KEYWORD = 2
_PREFIX = "torch.ops."


class Slot(NamedTuple):
    """The value of a slot."""

    number: int


class Const(NamedTuple):
    """A value that is the same in every run."""

    value: Any


class DeviceConst(NamedTuple):
    """A device argument: what was recorded (None: nothing), unless a run moves the program
    elsewhere."""

    recorded: str | None


class Body(NamedTuple):
    """A branch of the call, as a function."""

    number: int


class Items(NamedTuple):
    """A list (or, with `keys`, a dict) with slots in it: made anew for each call."""

    refs: tuple["Ref", ...]
    keys: tuple[str, ...] | None = None


Ref = Slot | Const | DeviceConst | Items | Body
OutputTemplate = int | tuple[Any, ...] | None


class Step(NamedTuple):
    """One call. `args` are the positional ones and then those named by `kwnames`.

    `outputs` is a slot, a nest of them as the operator returns it, or None when nothing is kept; -1
    stands for a result that has no name. `branches` are the graphs of a higher-order operator.
    `frees` are slots that die with this call, `notes` say where the call comes from.
    """

    node: str
    op: str
    callee: Callable[..., Any] | None
    args: tuple[Ref, ...]
    kwnames: tuple[str, ...]
    outputs: OutputTemplate
    branches: tuple["Plan", ...]
    frees: tuple[int, ...]
    notes: NodeNotes

    @property
    def is_loop(self) -> bool:
        """Of the two branches one says whether the other runs once more."""
        return self.op == _LOOP

    @property
    def rows(self) -> Ref | None:
        """The tensors for whose rows, one after the other, its branch runs."""
        return self.args[_STACKING[self.op]] if self.op in _STACKING else None

    @property
    def is_composed(self) -> bool:
        """Whether calls in its branches do all that it does."""
        return bool(self.branches) and self.op not in _STACKING


class Plan(NamedTuple):
    """A graph ready to run; `last_use` is a step's number by slot, -1 unused, `len(steps)` for
    outputs and inputs."""

    name: str
    slot_names: tuple[str, ...]
    n_inputs: int
    steps: tuple[Step, ...]
    outputs: tuple[Ref, ...]
    last_use: tuple[int, ...]
    missing: tuple[str, ...]


def plan_graph(graph: Graph, path: str, place: str, name: str = "") -> Plan:
    """The plan of `graph`, which stands at `place` in file `path`."""
    return _Planner(graph, path, place, name).plan()


def report_name(target: str) -> str:
    """`torch.ops.aten.add.Tensor` -> `aten::add.Tensor`; `_operator.mul` -> `_operator::mul`."""
    space, _, rest = target.removeprefix(_PREFIX).partition(".")
    return f"{space}::{rest.removesuffix('.default')}"


def find_operator(target: str) -> Callable[..., Any] | None:
    """The operator that `target` names, or None."""
    if not target.startswith(_PREFIX):
        return NUMBER_OPERATORS.get(target)
    found: Any = dispatch.ops
    for part in target.removeprefix(_PREFIX).split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, dispatch.OpOverload) else None


class _Planner:
    """Plans one graph; slots are numbered in the order of definition."""

    def __init__(self, graph: Graph, path: str, place: str, name: str) -> None:
        self.graph = graph
        self.path = path
        self.place = place
        self.name = name
        self.slots: dict[str, int] = {}
        self.refs: list[Slot] = []  # by slot
        self.last_use: list[int] = []
        self.missing: dict[str, None] = {}
        self.schemas: dict[str, tuple[list[str], list[bool], bool]] = {}

    def fail(self, place: str, problem: str) -> ModelFileError:
        return ModelFileError(self.path, f"{self.place}.{place}", problem)

    def plan(self) -> Plan:
        for i, argument in enumerate(self.graph.inputs):
            self._define_input(i, argument)
        n_inputs = len(self.slots)
        steps = [self._step(i, node) for i, node in enumerate(self.graph.nodes)]
        outputs = self._outputs(len(steps))
        for i in range(n_inputs):
            self.last_use[i] = len(steps)
        frees = self._frees(len(steps))
        return Plan(
            self.name, tuple(self.slots), n_inputs,
            tuple(s._replace(frees=tuple(f)) for s, f in zip(steps, frees, strict=True)),
            outputs, tuple(self.last_use), tuple(self.missing),
        )  # fmt: skip

    def _outputs(self, end: int) -> tuple[Ref, ...]:
        refs = []
        for i, argument in enumerate(self.graph.outputs):
            refs.append(self.convert(argument, f"outputs[{i}]", end))
        return tuple(refs)

    def _frees(self, n_steps: int) -> list[list[int]]:
        frees: list[list[int]] = [[] for _ in range(n_steps)]
        for slot, last in enumerate(self.last_use):
            if 0 <= last < n_steps:
                frees[last].append(slot)
        return frees

    # -- names --------------------------------------------------------------------------------

    def _define(self, name: str, place: str) -> int:
        if name in self.slots:
            raise self.fail(place, f"{_shown(name)} is defined twice")
        slot = self.slots[name] = len(self.last_use)
        self.last_use.append(-1)
        self.refs.append(Slot(slot))
        return slot

    def _define_input(self, i: int, argument: Argument) -> None:
        """An input with a name gets it; a constant gets a name that no program can use."""
        name = _name_of(argument)
        self._define(name if name is not None else f"\0constant {i}", f"inputs[{i}]")

    def use(self, name: str, place: str, step: int) -> Slot:
        """The slot of `name`, used by call number `step`."""
        slot = self.slots.get(name)
        if slot is None:
            raise self.fail(place, f"{_shown(name)} is used before it is defined")
        self.last_use[slot] = step
        return self.refs[slot]

    # -- calls --------------------------------------------------------------------------------

    def _step(self, i: int, node: Node) -> Step:
        place = f"nodes[{i}]"
        op = report_name(node.target)
        if node.target.startswith("torch.ops.higher_order."):
            callee, args, names, branches = self._higher_order(i, node, place)
        else:
            branches = ()
            callee = find_operator(node.target)
            if callee is None:
                self.missing[op] = None
            args, names = self._arguments(i, node, place, callee)
        outputs = self._output_template(node, place)
        label = node.name if node.name is not None else _first_name(node.outputs) or op
        return Step(label, op, callee, args, names, outputs, branches, (), node.metadata)

    def _higher_order(
        self, i: int, node: Node, place: str
    ) -> tuple[Callable[..., Any] | None, tuple[Ref, ...], tuple[str, ...], tuple[Plan, ...]]:
        """The branches become plans of their own; the other arguments stay as they are."""
        op = report_name(node.target)
        if op in _CALLED:
            return self._called(i, node, place)
        n_branches = _n_branches(op, node)
        if n_branches is None:
            self.missing[op] = None
        args: list[Ref] = []
        branches: list[Plan] = []
        for j, given in enumerate(node.inputs):
            where = f"{place}.inputs[{j}].arg"
            if given.arg.tag != "as_graph":
                args.append(self.convert(given.arg, where, i))
            elif n_branches is not None:
                branches.append(self._branch(given.arg, where))
        if n_branches is None:
            return None, tuple(args), (), ()
        if len(branches) != n_branches or not args or len(args) < 2:
            problem = f"{op.partition('::')[2]} takes {n_branches} graphs and a list of operands"
            raise self.fail(place, problem)
        lists = [args[0], args[-1]] if op == _LOOP else args[-1:]
        self._check_operands(op.partition("::")[2], branches, lists, place)
        return None, (args[0], args[-1]), (), tuple(branches)

    def _called(
        self, i: int, node: Node, place: str
    ) -> tuple[Callable[..., Any], tuple[Ref, ...], tuple[str, ...], tuple[Plan, ...]]:
        """An operator that is called with its branches as functions."""
        args: list[Ref] = []
        branches: list[Plan] = []
        names: list[str] = []
        for j, given in enumerate(node.inputs):
            where = f"{place}.inputs[{j}].arg"
            if given.kind == KEYWORD:
                names.append(given.name)
            if given.arg.tag == "as_graph":
                args.append(Body(len(branches)))
                branches.append(self._branch(given.arg, where))
            else:
                args.append(self.convert(given.arg, where, i))
        callee = getattr(dispatch.ops.higher_order, report_name(node.target).partition("::")[2])
        return callee, tuple(args), tuple(names), tuple(branches)

    def _check_operands(
        self, kind: str, branches: list[Plan], lists: list[Ref], place: str
    ) -> None:
        count = 0
        for operands in lists:
            items = (
                operands.refs if isinstance(operands, Items) else getattr(operands, "value", None)
            )
            if not isinstance(items, list | tuple):
                raise self.fail(place, f"{kind}: its operands are no list")
            count += len(items)
        for branch in branches:
            if branch.n_inputs != count:
                wanted = f"{_shown(branch.name)} takes {branch.n_inputs} operands"
                raise self.fail(place, f"{kind}: graph {wanted}, given {count}")

    def _branch(self, argument: Argument, place: str) -> Plan:
        branch = argument.value
        where = f"{self.place}.{place}.as_graph.graph"
        plan = plan_graph(branch.graph, self.path, where, branch.name)
        self.missing.update(dict.fromkeys(plan.missing))
        return plan

    def _arguments(
        self, i: int, node: Node, place: str, callee: Callable[..., Any] | None
    ) -> tuple[tuple[Ref, ...], tuple[str, ...]]:
        given = {}
        for j, argument in enumerate(node.inputs):
            where = f"{place}.inputs[{j}]"
            given[argument.name or f"\0{j}"] = self.convert(argument.arg, f"{where}.arg", i)
        if len(given) != len(node.inputs):
            raise self.fail(place, "an argument is given twice")
        schema = getattr(callee, "_schema", None)
        if schema is None:
            return tuple(given.values()), ()
        return self._by_schema(node, given, schema, place)

    def _by_schema(
        self, node: Node, given: dict[str, Ref], schema: Any, place: str
    ) -> tuple[tuple[Ref, ...], tuple[str, ...]]:
        """Positional while the schema's order has no gap, then by name."""
        names, keyword_only, has_device = self._schema_of(node.target, schema)
        for j, argument in enumerate(node.inputs):
            if argument.name not in names:
                problem = f"{_shown(argument.name)} is no argument of {schema}"
                raise self.fail(f"{place}.inputs[{j}].name", problem)
        if has_device and "device" not in given and not _takes_tensor(node.inputs):
            given["device"] = DeviceConst(None)
        kinds = {a.name: a.kind for a in node.inputs}
        n = 0
        while (
            n < len(names)
            and names[n] in given
            and not keyword_only[n]
            and kinds.get(names[n]) != KEYWORD
        ):
            n += 1
        rest = tuple(name for name in names[n:] if name in given)
        return tuple(given[name] for name in (*names[:n], *rest)), rest

    def _schema_of(self, target: str, schema: Any) -> tuple[list[str], list[bool], bool]:
        if target not in self.schemas:
            names = [a.name for a in schema.arguments]
            keyword_only = [bool(a.kwarg_only) for a in schema.arguments]
            self.schemas[target] = names, keyword_only, "device" in names
        return self.schemas[target]

    def _output_template(self, node: Node, place: str) -> OutputTemplate:
        found = [self._output(a, f"{place}.outputs[{k}]") for k, a in enumerate(node.outputs)]
        if not found:
            return None
        alone = len(found) == 1 and not (
            node.target.startswith("torch.ops.higher_order.")
            and (node.is_hop_single_tensor_return is False or report_name(node.target) == _LOOP)
        )
        return found[0] if alone else tuple(found)

    def _output(self, argument: Argument, place: str) -> Any:
        name = _name_of(argument)
        if name is not None:
            return self._define(name, place)
        if argument.tag in _PLAIN_OUTPUTS:
            return -1
        if argument.tag not in ("as_tensors", "as_optional_tensors"):
            raise self.fail(place, f"{argument.tag} cannot be an output")
        items = []
        for k, item in enumerate(argument.value):
            inner = _optional_name(item)
            items.append(-1 if inner is None else self._define(inner, f"{place}[{k}]"))
        return tuple(items)

    # -- arguments ----------------------------------------------------------------------------

    def convert(self, argument: Argument, place: str, step: int) -> Ref:
        """The template of an argument of call number `step`."""
        return _CONVERT[argument.tag](self, argument.value, place, step)


# Of what a file can hold millions in a few bytes each, there is one object.
_NONE = Const(None)
_EMPTY = Const(())


def _shown(name: str) -> str:
    return ascii(name if len(name) <= 80 else name[:77] + "...")


def _name_of(argument: Argument) -> str | None:
    """The name that an argument or output gives or uses, when it is one named value."""
    if argument.tag in ("as_tensor", "as_custom_obj"):
        return str(argument.value.name)
    if argument.tag in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        return argument.value.value if argument.value.tag == "as_name" else None
    if argument.tag == "as_optional_tensor":
        return _optional_name(argument.value)
    return None


def _optional_name(value: Any) -> str | None:
    """The name in a TensorArgument or an OptionalTensorArgument."""
    if getattr(value, "tag", "as_tensor") == "as_none":
        return None
    return str(value.value.name if hasattr(value, "tag") else value.name)


def _first_name(outputs: Iterable[Argument]) -> str | None:
    return next((name for name in map(_name_of, outputs) if name is not None), None)


def _takes_tensor(inputs: Iterable[NamedArgument]) -> bool:
    return any("tensor" in a.arg.tag for a in inputs)


def _items(refs: Iterable[Ref], keys: tuple[str, ...] | None = None) -> Ref:
    """A constant list when all of it is constant; else one to be made for each call."""
    found = tuple(refs)
    if not found and keys is None:
        return _EMPTY
    if keys is None and all(isinstance(r, Const) for r in found):
        return Const(tuple(r.value for r in found))  # type: ignore[union-attr]
    return Items(found, keys)


def _const(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    return Const(value)


def _none(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    return _NONE


def _tensor(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    return planner.use(value.name, place, step)


def _optional_tensor(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    name = _optional_name(value)
    return _NONE if name is None else planner.use(name, place, step)


def _list_of(one: Callable[..., Ref]) -> Callable[..., Ref]:
    def convert(planner: _Planner, value: Any, place: str, step: int) -> Ref:
        refs: list[Ref] = []
        try:
            for item in value:
                refs.append(one(planner, item, place, step))
        except ModelFileError as error:
            # Only now is the number of the item worth a string.
            where = error.place.replace(place, f"{place}[{len(refs)}]", 1)
            raise ModelFileError(error.path, where, error.problem) from None
        return _items(refs)

    return convert


def _symbol(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    if value.tag != "as_name":
        return Const(value.value)
    return planner.use(value.value, place, step)


def _named(table: dict[int, str]) -> Callable[..., Ref]:
    def convert(planner: _Planner, value: Any, place: str, step: int) -> Ref:
        found = getattr(dispatch, table[value], None)
        if found is None:
            raise planner.fail(place, f"{table[value]} is not supported here")
        return Const(found)

    return convert


def _device(planner: _Planner, value: Device, place: str, step: int) -> Ref:
    name = device_name(value)
    if name is None:
        raise planner.fail(place, f"no such device: {value.type[:40]!a}")
    return DeviceConst(name)


def _complex(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    return Const(complex(value.real, value.imag))


def _operator(planner: _Planner, value: str, place: str, step: int) -> Ref:
    found = find_operator(value)
    if found is None:
        planner.missing[report_name(value)] = None
    return Const(found)


def _mapping(planner: _Planner, value: dict[str, Argument], place: str, step: int) -> Ref:
    refs = (planner.convert(v, f"{place}.{k}", step) for k, v in value.items())
    return _items(refs, tuple(value))


def _unsupported(planner: _Planner, value: Any, place: str, step: int) -> Ref:
    raise planner.fail(place, f"a {type(value).__name__} is not supported here")


_CONVERT: dict[str, Callable[[_Planner, Any, str, int], Ref]] = {
    "as_none": _none,
    "as_tensor": _tensor,
    "as_tensors": _list_of(_tensor),
    "as_int": _const,
    "as_ints": _const,
    "as_float": _const,
    "as_floats": _const,
    "as_string": _const,
    "as_strings": _const,
    "as_sym_int": _symbol,
    "as_sym_ints": _list_of(_symbol),
    "as_scalar_type": _named(EXPORTED_DTYPES),
    "as_memory_format": _named(EXPORTED_MEMORY_FORMATS),
    "as_layout": _named(EXPORTED_LAYOUTS),
    "as_device": _device,
    "as_bool": _const,
    "as_bools": _const,
    "as_sym_bool": _symbol,
    "as_sym_bools": _list_of(_symbol),
    "as_graph": _unsupported,
    "as_optional_tensors": _list_of(_optional_tensor),
    "as_custom_obj": _unsupported,
    "as_operator": _operator,
    "as_sym_float": _symbol,
    "as_sym_floats": _list_of(_symbol),
    "as_optional_tensor": _optional_tensor,
    "as_complex": _complex,
    "as_nested_tensors": _list_of(_list_of(_tensor)),
    "as_int_lists": _const,
    "as_string_to_argument": _mapping,
    "as_float_lists": _const,
}
# Results that no later call can name.
_PLAIN_OUTPUTS = frozenset(
    (
        "as_none", "as_int", "as_float", "as_bool", "as_string", "as_sym_int", "as_sym_float",
        "as_sym_bool", "as_optional_tensor",
    )
)  # fmt: skip
# Higher-order operators that run here, with the number of graphs they take.
_LOOP = "higher_order::while_loop"
_HIGHER_ORDER = {"higher_order::cond": 2, _LOOP: 2}
# Those that stack what a function makes of rows, with the argument that has them; and all that are
# called as they are.
_STACKING = {"higher_order::map_impl": 1, "higher_order::scan": 2}
_CALLED = _STACKING.keys() | {
    f"higher_order::{name}"
    for name in ("invoke_subgraph", "out_dtype", "wrap", "wrap_with_autocast",
                 "wrap_with_set_grad_enabled")
}  # fmt: skip


def _n_branches(op: str, node: Node) -> int | None:
    """How many graphs it runs; None: it is not run. Nor is a loop that carries numbers, which data
    decide."""
    carried = next((x.arg.tag for x in node.inputs if x.arg.tag != "as_graph"), None)
    return _HIGHER_ORDER.get(op) if op != _LOOP or carried == "as_tensors" else None
