"""What a program takes and gives: its signature checked against its graph, and a caller's inputs
bound to it.

`module` reads it once at load. Each of the graph's inputs has one `Binding`, by slot; outputs that
are mutations name what they are written back to. `bind` checks a caller's tensors against the
recorded metadata and binds size symbols, so that a wrong input is reported by its name before
anything runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from dispatch._C.generated.type_names import EXPORTED_DTYPES
from dispatch.graph.errors import ModelFileError
from dispatch.graph.expr import evaluate, hint_of, symbol_of
from dispatch.graph.program import (
    Argument,
    ExportedProgram,
    Graph,
    InputSpec,
    OutputSpec,
    RangeConstraint,
    TensorMeta,
)
from dispatch.graph.tree import OutputTree, flat_leaves, read_tree

__all__ = ["Binding", "Gradient", "Mutation", "Signature", "read_signature"]

_WEIGHTS = {
    "parameter": "parameter_name",
    "buffer": "buffer_name",
    "tensor_constant": "tensor_constant_name",
}
_MUTATIONS = {
    "buffer_mutation": "buffer_name",
    "parameter_mutation": "parameter_name",
    "user_input_mutation": "user_input_name",
}
_GRADIENTS = {
    "gradient_to_parameter": "parameter_name",
    "gradient_to_user_input": "user_input_name",
}
_ABOUT_INPUTS = _MUTATIONS | _GRADIENTS


class Binding(NamedTuple):
    """One of the graph's inputs, by slot. `target`: the weight's name; `value`: that of an input
    that is no tensor."""

    kind: str
    slot: int
    name: str
    target: str
    meta: TensorMeta | None
    value: Any
    persistent: bool

    @property
    def is_weight(self) -> bool:
        return self.kind in _WEIGHTS

    @property
    def in_state_dict(self) -> bool:
        return self.kind == "parameter" or (self.kind == "buffer" and self.persistent)

    @property
    def is_tensor(self) -> bool:
        return self.meta is not None


class Mutation(NamedTuple):
    """Output number `output` is written to the input at `input_slot` after a run."""

    output: int
    input_slot: int


class Gradient(NamedTuple):
    """Output number `output` is the gradient of the input at `input_slot`."""

    output: int
    input_slot: int


class Signature(NamedTuple):
    bindings: tuple[Binding, ...]
    user_bindings: tuple[Binding, ...]
    mutations: tuple[Mutation, ...]
    gradients: tuple[Gradient, ...]
    user_outputs: tuple[int, ...]
    tree: OutputTree | None
    ranges: Mapping[str, RangeConstraint]

    def deliver(self, values: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Write mutated buffers and inputs back, add gradients to `grad` of what they are of as
        `backward` does, and nest what is left for the user."""
        for mutation in self.mutations:
            values[mutation.input_slot].copy_(outputs[mutation.output])
        for gradient in self.gradients:
            owner, found = values[gradient.input_slot], outputs[gradient.output]
            owner.grad = found if owner.grad is None else owner.grad + found
        return self.nest([outputs[i] for i in self.user_outputs])

    def owners(self, outputs: Sequence[Any]) -> Iterator[tuple[Any, str]]:
        """Those of `outputs` that are gradients, with the name of what each is of."""
        for gradient in self.gradients:
            owner = self.bindings[gradient.input_slot]
            yield outputs[gradient.output], owner.target or owner.name

    def nest(self, leaves: list[Any]) -> Any:
        """The outputs as the exported module returned them; a flat tuple when its tree is not
        known."""
        if self.tree is not None and self.tree.n_leaves == len(leaves):
            return self.tree.fold(leaves)
        return tuple(leaves)

    def bind(self, inputs: Sequence[Any]) -> list[Any]:
        """One value for each of `user_bindings`; constants may be left out. `RuntimeError` for
        inputs that do not fit."""
        given = flat_leaves(list(inputs))
        wanted = [b for b in self.user_bindings if b.is_tensor]
        if len(given) == len(self.user_bindings):
            wanted = list(self.user_bindings)
        elif len(given) != len(wanted):
            names = ", ".join(b.name for b in self.user_bindings)
            raise RuntimeError(
                f"expected {len(self.user_bindings)} inputs ({names}), got {len(given)}"
            )
        symbols: dict[str, int] = {}
        found = {}
        for binding, value in zip(wanted, given, strict=True):
            found[binding.slot] = self._checked(binding, value, symbols)
        return [found.get(b.slot, b.value) for b in self.user_bindings]

    def _checked(self, binding: Binding, value: Any, symbols: dict[str, int]) -> Any:
        if binding.meta is not None:
            _check_tensor(binding, binding.meta, value, symbols, self.ranges)
            return value
        number = value.item() if hasattr(value, "item") else value
        if binding.kind == "constant_input" and number != binding.value:
            raise RuntimeError(f"input {binding.name}: expected {binding.value!r}, got {number!r}")
        return number


def _check_tensor(
    binding: Binding,
    meta: TensorMeta,
    value: Any,
    symbols: dict[str, int],
    ranges: Mapping[str, RangeConstraint],
) -> None:
    where = f"input {binding.name}"
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise RuntimeError(f"{where}: expected a tensor, got {type(value).__name__}")
    dtype, shape = str(value.dtype).rpartition(".")[2], tuple(value.shape)
    if dtype != EXPORTED_DTYPES[meta.dtype] or len(shape) != len(meta.sizes):
        expected = f"{EXPORTED_DTYPES[meta.dtype]} with {len(meta.sizes)} dimensions"
        raise RuntimeError(f"{where}: expected {expected}, got {dtype} {list(shape)}")
    for dim, (size, wanted) in enumerate(zip(shape, meta.sizes, strict=True)):
        symbol = symbol_of(wanted)
        if symbol is not None and symbol not in symbols:
            _check_range(f"{where}: dimension {dim}", size, ranges.get(symbol))
            symbols[symbol] = size
        expected_size = evaluate(wanted, symbols)
        if expected_size is not None and expected_size != size:
            problem = f"dimension {dim} is {size}, expected {expected_size}"
            raise RuntimeError(f"{where}: {problem} (shape {list(shape)})")


def _check_range(where: str, size: int, limits: RangeConstraint | None) -> None:
    if limits is None:
        return
    low, high = limits.min_val, limits.max_val
    if (low is not None and size < low) or (high is not None and size > high):
        raise RuntimeError(f"{where} is {size}, expected {low} to {high}")


# -- reading ------------------------------------------------------------------------------------


def read_signature(program: ExportedProgram, path: str, place: str) -> Signature:
    """The signature of `program`, checked; `place` is the member's name and ": ", for errors."""
    return _SignatureReader(program, path, f"{place}graph_module.signature").read()


class _SignatureReader:
    def __init__(self, program: ExportedProgram, path: str, place: str) -> None:
        self.program = program
        self.graph: Graph = program.graph_module.graph
        self.path = path
        self.place = place

    def fail(self, place: str, problem: str) -> ModelFileError:
        return ModelFileError(self.path, f"{self.place}.{place}", problem)

    def read(self) -> Signature:
        specs = self.program.graph_module.signature
        self._check_lengths("input_specs", specs.input_specs, self.graph.inputs)
        self._check_lengths("output_specs", specs.output_specs, self.graph.outputs)
        bindings = tuple(self._binding(i, s) for i, s in enumerate(specs.input_specs))
        mutations, gradients, outputs = self._outputs(specs.output_specs, bindings)
        user = tuple(b for b in bindings if not b.is_weight)
        ranges = self.program.range_constraints
        return Signature(bindings, user, mutations, gradients, outputs, self._tree(), ranges)

    def _check_lengths(self, name: str, specs: Sequence[Any], values: Sequence[Any]) -> None:
        if len(specs) != len(values):
            kind = name.partition("_")[0]
            problem = f"{len(specs)} specs for the graph's {len(values)} {kind}s"
            raise self.fail(name, problem)

    def _tree(self) -> OutputTree | None:
        calls = self.program.graph_module.module_call_graph
        signature = calls[0].signature if calls else None
        return read_tree(signature.out_spec) if signature is not None else None

    def _binding(self, i: int, spec: InputSpec) -> Binding:
        place = f"input_specs[{i}]"
        if spec.tag in _WEIGHTS:
            name = spec.value.arg.name
            self._check_name(place, name, self.graph.inputs[i])
            target = getattr(spec.value, _WEIGHTS[spec.tag])
            persistent = getattr(spec.value, "persistent", True)
            return Binding(spec.tag, i, name, target, self._meta(place, name), None, persistent)
        if spec.tag == "constant_input":
            return self._constant(i, spec.value.name, spec.value.value)
        if spec.tag == "user_input":
            return self._user_input(i, place, spec.value.arg)
        raise self.fail(place, f"an input that is a {spec.tag} is not supported here")

    def _constant(self, i: int, name: str, value: Any) -> Binding:
        constant = None if value.tag == "as_none" else value.value
        return Binding("constant_input", i, name, "", None, constant, True)

    def _user_input(self, i: int, place: str, argument: Argument) -> Binding:
        value = argument.value
        if argument.tag == "as_tensor":
            self._check_name(place, value.name, self.graph.inputs[i])
            return Binding(
                "user_input", i, value.name, "", self._meta(place, value.name), None, True
            )
        if argument.tag in ("as_none", "as_int", "as_float", "as_bool", "as_string"):
            return self._constant(i, f"input {i}", argument)
        if argument.tag in _SYMBOLS:
            return self._symbol(i, place, argument)
        raise self.fail(place, f"an input given {argument.tag} is not supported here")

    def _symbol(self, i: int, place: str, argument: Argument) -> Binding:
        value = argument.value
        if value.tag != "as_name":
            return self._constant(i, f"input {i}", value)
        recorded = getattr(self.graph, _SYMBOLS[argument.tag]).get(value.value)
        if recorded is None:
            raise self.fail(place, f"{value.value[:80]!a} has no recorded value")
        return Binding("user_input", i, value.value, "", None, hint_of(recorded), True)

    def _check_name(self, place: str, name: str, argument: Argument) -> None:
        if argument.tag != "as_tensor" or argument.value.name != name:
            problem = f"{name[:80]!a} is not what the graph takes at this place"
            raise self.fail(place, problem)

    def _meta(self, place: str, name: str) -> TensorMeta:
        meta = self.graph.tensor_values.get(name)
        if meta is None:
            raise self.fail(place, f"{name[:80]!a} has no entry in graph.tensor_values")
        return meta

    def _outputs(
        self, specs: Sequence[OutputSpec], bindings: Sequence[Binding]
    ) -> tuple[tuple[Mutation, ...], tuple[Gradient, ...], tuple[int, ...]]:
        mutations, gradients, outputs = [], [], []
        slots: dict[str, Callable[[str], int | None]] = {
            "user_input_mutation": {b.name: b.slot for b in bindings}.get,
            "buffer_mutation": {b.target: b.slot for b in bindings if b.is_weight}.get,
        }
        slots["parameter_mutation"] = slots["buffer_mutation"]
        slots["gradient_to_parameter"] = slots["buffer_mutation"]
        slots["gradient_to_user_input"] = slots["user_input_mutation"]
        for i, spec in enumerate(specs):
            if spec.tag in _ABOUT_INPUTS:
                name = getattr(spec.value, _ABOUT_INPUTS[spec.tag])
                slot = slots[spec.tag](name)
                if slot is None or not bindings[slot].is_tensor:
                    what = "write to" if spec.tag in _MUTATIONS else "give a gradient to"
                    raise self.fail(f"output_specs[{i}]", f"no input {name[:80]!a} to {what}")
                if spec.tag in _MUTATIONS:
                    mutations.append(Mutation(i, slot))
                else:
                    gradients.append(Gradient(i, slot))
            elif spec.tag in ("user_output", "loss_output"):
                outputs.append(i)
        return tuple(mutations), tuple(gradients), tuple(outputs)


_SYMBOLS = {
    "as_sym_int": "sym_int_values",
    "as_sym_float": "sym_float_values",
    "as_sym_bool": "sym_bool_values",
}
