"""What an exported program takes and gives, as records of `torch.export.graph_signature`.

`read` makes them from the program's own records (`dispatch.graph.program`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType
from typing import Any

from dispatch.graph.program import Argument, GraphSignature

__all__ = [
    "ConstantArgument", "CustomObjArgument", "ExportGraphSignature", "InputKind", "InputSpec",
    "OutputKind", "OutputSpec", "SymBoolArgument", "SymFloatArgument", "SymIntArgument",
    "TensorArgument", "TokenArgument",
]  # fmt: skip


@dataclass
class TensorArgument:
    """A tensor, by the name of its node."""

    name: str


@dataclass
class TokenArgument:
    """What orders effects."""

    name: str


@dataclass
class SymIntArgument:
    """A symbolic integer, by the name of its node."""

    name: str


@dataclass
class SymFloatArgument:
    """A symbolic float, by the name of its node."""

    name: str


@dataclass
class SymBoolArgument:
    """A symbolic truth value, by the name of its node."""

    name: str


@dataclass
class CustomObjArgument:
    """An object of a class that the program's author registered."""

    name: str
    class_fqn: str
    fake_val: Any = None


@dataclass
class ConstantArgument:
    """A plain number, text or None."""

    name: str
    value: int | float | bool | str | None


class InputKind(Enum):
    """What an input is for."""

    USER_INPUT = auto()
    PARAMETER = auto()
    BUFFER = auto()
    CONSTANT_TENSOR = auto()
    CUSTOM_OBJ = auto()
    TOKEN = auto()


class OutputKind(Enum):
    """What an output is for."""

    USER_OUTPUT = auto()
    LOSS_OUTPUT = auto()
    BUFFER_MUTATION = auto()
    PARAMETER_MUTATION = auto()
    GRADIENT_TO_PARAMETER = auto()
    GRADIENT_TO_USER_INPUT = auto()
    USER_INPUT_MUTATION = auto()
    TOKEN = auto()


def _target_text(target: str | None) -> str:
    return "" if target is None else f" target='{target}'"


@dataclass
class InputSpec:
    """One input of the graph; `target`: the weight's name."""

    kind: InputKind
    arg: Any
    target: str | None
    persistent: bool | None = None

    def __str__(self) -> str:
        kept = "" if self.persistent is None else f" persistent={self.persistent}"
        return f"{self.arg.name}: {self.kind.name}{_target_text(self.target)}{kept}"


@dataclass
class OutputSpec:
    """One output of the graph; `target`: what it is written back to."""

    kind: OutputKind
    arg: Any
    target: str | None

    def __str__(self) -> str:
        return f"{self.arg.name}: {self.kind.name}{_target_text(self.target)}"


def _shown(arg: Any) -> Any:
    return arg.value if isinstance(arg, ConstantArgument) else arg.name


@dataclass
class ExportGraphSignature:
    """The graph's inputs and outputs, in order."""

    input_specs: list[InputSpec]
    output_specs: list[OutputSpec]

    def _targets(self, wanted: Callable[[InputSpec], bool]) -> tuple[Any, ...]:
        return tuple(s.target for s in self.input_specs if wanted(s))

    def _inputs(self, kind: InputKind) -> Mapping[str, Any]:
        return MappingProxyType({s.arg.name: s.target for s in self.input_specs if s.kind is kind})

    def _outputs(self, kind: OutputKind) -> Mapping[str, Any]:
        return MappingProxyType({s.arg.name: s.target for s in self.output_specs if s.kind is kind})

    @property
    def parameters(self) -> tuple[str, ...]:
        """The parameters' names."""
        return self._targets(lambda s: s.kind is InputKind.PARAMETER)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The buffers' names."""
        return self._targets(lambda s: s.kind is InputKind.BUFFER)

    @property
    def non_persistent_buffers(self) -> tuple[str, ...]:
        """Names of the buffers that no state dict has."""
        return self._targets(lambda s: s.kind is InputKind.BUFFER and not s.persistent)

    @property
    def lifted_tensor_constants(self) -> tuple[str, ...]:
        """Names of the tensors that stood in the source."""
        return self._targets(lambda s: s.kind is InputKind.CONSTANT_TENSOR)

    @property
    def lifted_custom_objs(self) -> tuple[str, ...]:
        """Names of the objects of registered classes."""
        return self._targets(lambda s: s.kind is InputKind.CUSTOM_OBJ)

    @property
    def user_inputs(self) -> tuple[Any, ...]:
        """Names of what a caller gives; constants themselves."""
        return tuple(_shown(s.arg) for s in self.input_specs if s.kind is InputKind.USER_INPUT)

    @property
    def user_outputs(self) -> tuple[Any, ...]:
        """Names of what a caller gets; constants themselves."""
        kinds = OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT
        return tuple(_shown(s.arg) for s in self.output_specs if s.kind in kinds)

    @property
    def inputs_to_parameters(self) -> Mapping[str, str]:
        """Parameters by their inputs."""
        return self._inputs(InputKind.PARAMETER)

    @property
    def inputs_to_buffers(self) -> Mapping[str, str]:
        """Buffers by their inputs."""
        return self._inputs(InputKind.BUFFER)

    @property
    def inputs_to_lifted_tensor_constants(self) -> Mapping[str, str]:
        """Constants by their inputs."""
        return self._inputs(InputKind.CONSTANT_TENSOR)

    @property
    def buffers_to_mutate(self) -> Mapping[str, str]:
        """Buffers by the outputs that are written back to them."""
        return self._outputs(OutputKind.BUFFER_MUTATION)

    @property
    def parameters_to_mutate(self) -> Mapping[str, str]:
        """Parameters by the outputs that are written back to them."""
        return self._outputs(OutputKind.PARAMETER_MUTATION)

    @property
    def user_inputs_to_mutate(self) -> Mapping[str, str]:
        """A caller's inputs by the outputs that are written back to them."""
        return self._outputs(OutputKind.USER_INPUT_MUTATION)

    @property
    def backward_signature(self) -> None:
        """None: programs that were loaded have no backward."""
        return

    @property
    def assertion_dep_token(self) -> None:
        """None: programs of today have no such token."""
        return

    @property
    def input_tokens(self) -> tuple[str, ...]:
        """Names of the tokens taken."""
        return tuple(s.arg.name for s in self.input_specs if s.kind is InputKind.TOKEN)

    @property
    def output_tokens(self) -> tuple[str, ...]:
        """Names of the tokens given."""
        return tuple(s.arg.name for s in self.output_specs if s.kind is OutputKind.TOKEN)

    def replace_all_uses(self, old: str, new: str) -> None:
        """Give a node another name wherever it is an input or an output."""
        given = [spec.arg for spec in self.input_specs]
        for arg in (*given, *(spec.arg for spec in self.output_specs)):
            if not isinstance(arg, ConstantArgument) and arg.name == old:
                arg.name = new

    def __str__(self) -> str:
        def lines(specs: Iterable[Any]) -> str:
            return "\n".join(map(str, specs))

        return f"\n# inputs\n{lines(self.input_specs)}\n\n# outputs\n{lines(self.output_specs)}\n"


# ---- from the file's records

_INPUTS = {
    "user_input": (InputKind.USER_INPUT, None),
    "parameter": (InputKind.PARAMETER, "parameter_name"),
    "buffer": (InputKind.BUFFER, "buffer_name"),
    "tensor_constant": (InputKind.CONSTANT_TENSOR, "tensor_constant_name"),
    "custom_obj": (InputKind.CUSTOM_OBJ, "custom_obj_name"),
    "token": (InputKind.TOKEN, None),
}
_OUTPUTS = {
    "user_output": (OutputKind.USER_OUTPUT, None),
    "loss_output": (OutputKind.LOSS_OUTPUT, None),
    "buffer_mutation": (OutputKind.BUFFER_MUTATION, "buffer_name"),
    "parameter_mutation": (OutputKind.PARAMETER_MUTATION, "parameter_name"),
    "gradient_to_parameter": (OutputKind.GRADIENT_TO_PARAMETER, "parameter_name"),
    "gradient_to_user_input": (OutputKind.GRADIENT_TO_USER_INPUT, "user_input_name"),
    "user_input_mutation": (OutputKind.USER_INPUT_MUTATION, "user_input_name"),
    "token": (OutputKind.TOKEN, None),
}
_SYMBOLS = {
    "as_sym_int": SymIntArgument,
    "as_sym_float": SymFloatArgument,
    "as_sym_bool": SymBoolArgument,
}


def argument(given: Any) -> Any:
    """The record of one argument; those that are tensors only stand without a tag."""
    if not isinstance(given, Argument):
        kind = getattr(given, "class_fqn", None)
        return TensorArgument(given.name) if kind is None else CustomObjArgument(given.name, kind)
    value = given.value
    if given.tag in _SYMBOLS and value.tag == "as_name":
        return _SYMBOLS[given.tag](value.value)
    if given.tag == "as_custom_obj":
        return CustomObjArgument(value.name, value.class_fqn)
    if hasattr(value, "name"):
        return TensorArgument(value.name)
    plain = value.value if given.tag in _SYMBOLS else None if given.tag == "as_none" else value
    return ConstantArgument("", plain)


def _input(spec: Any) -> InputSpec:
    value = spec.value
    if spec.tag == "constant_input":
        number = None if value.value.tag == "as_none" else value.value.value
        return InputSpec(InputKind.USER_INPUT, ConstantArgument(value.name, number), None)
    kind, attribute = _INPUTS[spec.tag]
    target = getattr(value, attribute) if attribute else None
    if kind is InputKind.TOKEN:
        return InputSpec(kind, TokenArgument(value.arg.name), None)
    return InputSpec(kind, argument(value.arg), target, getattr(value, "persistent", None))


def _output(spec: Any) -> OutputSpec:
    kind, attribute = _OUTPUTS[spec.tag]
    if kind is OutputKind.TOKEN:
        return OutputSpec(kind, TokenArgument(spec.value.arg.name), None)
    target = getattr(spec.value, attribute) if attribute else None
    return OutputSpec(kind, argument(spec.value.arg), target)


def read(signature: GraphSignature) -> ExportGraphSignature:
    """The records of a program's signature."""
    return ExportGraphSignature(
        [_input(s) for s in signature.input_specs], [_output(s) for s in signature.output_specs]
    )
