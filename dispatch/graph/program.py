"""The exported program as immutable records: `models/model.json` read field by field.

Each record is a named tuple whose fields are those of PyTorch's serialised schema (version 8) that
a reader needs; each union is `(tag, value)`. The annotations are the format: shapes for `reader`
are made from them, and a field that is not named here (most of a node's metadata, guards) is
skipped unread.
Names are not looked up here: `plan` resolves and checks them.
"""

import typing
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, NamedTuple

from dispatch._C.generated.type_names import (
    EXPORTED_DTYPES,
    EXPORTED_LAYOUTS,
    EXPORTED_MEMORY_FORMATS,
)
from dispatch.graph import printing
from dispatch.graph.errors import ModelFileError
from dispatch.graph.reader import Shape, read_json
from dispatch.graph.recognise import json_kind

__all__ = [
    "Argument",
    "BufferMutationSpec",
    "ComplexValue",
    "ConstantValue",
    "CustomObjArgument",
    "Device",
    "ExportedProgram",
    "Graph",
    "GraphArgument",
    "GraphModule",
    "GraphSignature",
    "InputSpec",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "NamedArgument",
    "Node",
    "NodeNotes",
    "OutputSpec",
    "PayloadConfig",
    "PayloadMeta",
    "RangeConstraint",
    "SchemaVersion",
    "SymInt",
    "Tagged",
    "TensorArgument",
    "TensorMeta",
    "read_payload_config",
    "read_program",
]

_MAJOR = 8  # of the serialised schema; a minor version only adds fields
ScalarType = typing.NewType("ScalarType", int)
Layout = typing.NewType("Layout", int)
MemoryFormat = typing.NewType("MemoryFormat", int)
ArgumentKind = typing.NewType("ArgumentKind", int)
Note = typing.NewType("Note", bytes)  # a string's bytes as they stand in the JSON, escapes and all
_ENUMS: dict[Any, tuple[str, typing.Iterable[int]]] = {
    ScalarType: ("dtype number", EXPORTED_DTYPES),
    Layout: ("layout number", EXPORTED_LAYOUTS),
    MemoryFormat: ("memory format number", EXPORTED_MEMORY_FORMATS),
    ArgumentKind: ("argument kind (0, 1 or 2)", (0, 1, 2)),
}


Tags = dict[str, Any]


class Tagged(NamedTuple):
    """A union's value: one key of a JSON object."""

    tag: str
    value: Any


# -- values -------------------------------------------------------------------------------------


class Device(NamedTuple):
    type: str
    index: int | None = None  # type: ignore[assignment]  # the format's name


class ComplexValue(NamedTuple):
    real: float
    imag: float


class SymExprHint(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_int": int, "as_bool": bool, "as_float": float}


class SymExpr(NamedTuple):
    expr_str: str
    hint: SymExprHint | None = None


class SymInt(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_expr": SymExpr, "as_int": int}


class SymBool(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_expr": SymExpr, "as_bool": bool}


class SymFloat(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_expr": SymExpr, "as_float": float}


class TensorMeta(NamedTuple):
    """A tensor without its data; sizes, strides and offset in elements."""

    dtype: ScalarType
    sizes: tuple[SymInt, ...]
    requires_grad: bool
    device: Device
    strides: tuple[SymInt, ...]
    storage_offset: SymInt
    layout: Layout


# -- arguments ----------------------------------------------------------------------------------


class TensorArgument(NamedTuple):
    name: str


class TokenArgument(NamedTuple):
    name: str


class CustomObjArgument(NamedTuple):
    name: str
    class_fqn: str


class OptionalTensorArgument(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_tensor": TensorArgument, "as_none": bool}


class SymIntArgument(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_name": str, "as_int": int}


class SymFloatArgument(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_name": str, "as_float": float}


class SymBoolArgument(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {"as_name": str, "as_bool": bool}


class GraphArgument(NamedTuple):
    """A branch: a whole graph as an argument."""

    name: str
    graph: "Graph"


class Argument(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {
        "as_none": bool,
        "as_tensor": TensorArgument,
        "as_tensors": tuple[TensorArgument, ...],
        "as_int": int,
        "as_ints": tuple[int, ...],
        "as_float": float,
        "as_floats": tuple[float, ...],
        "as_string": str,
        "as_strings": tuple[str, ...],
        "as_sym_int": SymIntArgument,
        "as_sym_ints": tuple[SymIntArgument, ...],
        "as_scalar_type": ScalarType,
        "as_memory_format": MemoryFormat,
        "as_layout": Layout,
        "as_device": Device,
        "as_bool": bool,
        "as_bools": tuple[bool, ...],
        "as_sym_bool": SymBoolArgument,
        "as_sym_bools": tuple[SymBoolArgument, ...],
        "as_graph": GraphArgument,
        "as_optional_tensors": tuple[OptionalTensorArgument, ...],
        "as_custom_obj": CustomObjArgument,
        "as_operator": str,
        "as_sym_float": SymFloatArgument,
        "as_sym_floats": tuple[SymFloatArgument, ...],
        "as_optional_tensor": OptionalTensorArgument,
        "as_complex": ComplexValue,
        "as_nested_tensors": tuple[tuple[TensorArgument, ...], ...],
        "as_int_lists": tuple[tuple[int, ...], ...],
        "as_string_to_argument": "dict[str, Argument]",
        "as_float_lists": tuple[tuple[float, ...], ...],
    }


class NamedArgument(NamedTuple):
    """One given argument; `name` is the schema's, `kind` 1 positional, 2 keyword."""

    name: str
    arg: Argument
    kind: ArgumentKind | None = None


# -- the graph ----------------------------------------------------------------------------------


class NodeNotes(NamedTuple):
    """Where a call comes from: the modules that it was made in, and the lines of Python."""

    nn_module_stack: Note | None = None
    stack_trace: Note | None = None


class Node(NamedTuple):
    """One call; arguments that are not in `inputs` take the schema's defaults."""

    target: str
    inputs: tuple[NamedArgument, ...]
    outputs: tuple[Argument, ...]
    is_hop_single_tensor_return: bool | None = None
    name: str | None = None
    metadata: NodeNotes = NodeNotes()


class Graph(NamedTuple):
    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    nodes: tuple[Node, ...]
    tensor_values: dict[str, TensorMeta]
    sym_int_values: dict[str, SymInt]
    sym_bool_values: dict[str, SymBool]
    is_single_tensor_return: bool = False
    custom_obj_values: Mapping[str, CustomObjArgument] = {}
    sym_float_values: Mapping[str, SymFloat] = {}

    def __repr__(self) -> str:
        return printing.line(self)

    def print_readable(self, print_output: bool = True) -> str:
        """The graph as Python-like code, printed too unless told otherwise."""
        return _printed(printing.readable(self), print_output)

    def print_tabular(self, print_output: bool = True) -> str:
        """The graph as a table, printed too unless told otherwise."""
        return _printed(printing.tabular(self), print_output)


def _printed(text: str, print_output: bool) -> str:
    if print_output:
        print(text)
    return text


# -- the signature ------------------------------------------------------------------------------


class UserInputSpec(NamedTuple):
    arg: Argument


class InputToParameterSpec(NamedTuple):
    arg: TensorArgument
    parameter_name: str


class InputToBufferSpec(NamedTuple):
    arg: TensorArgument
    buffer_name: str
    persistent: bool


class InputToTensorConstantSpec(NamedTuple):
    arg: TensorArgument
    tensor_constant_name: str


class InputToCustomObjSpec(NamedTuple):
    arg: CustomObjArgument
    custom_obj_name: str


class InputTokenSpec(NamedTuple):
    arg: TokenArgument


class ConstantValue(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {
        "as_none": bool,
        "as_int": int,
        "as_float": float,
        "as_string": str,
        "as_bool": bool,
    }


class InputToConstantInputSpec(NamedTuple):
    name: str
    value: ConstantValue


class InputSpec(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {
        "user_input": UserInputSpec,
        "parameter": InputToParameterSpec,
        "buffer": InputToBufferSpec,
        "tensor_constant": InputToTensorConstantSpec,
        "custom_obj": InputToCustomObjSpec,
        "token": InputTokenSpec,
        "constant_input": InputToConstantInputSpec,
    }


class UserOutputSpec(NamedTuple):
    arg: Argument


class LossOutputSpec(NamedTuple):
    arg: TensorArgument


class BufferMutationSpec(NamedTuple):
    arg: TensorArgument
    buffer_name: str


class ParameterMutationSpec(NamedTuple):
    arg: TensorArgument
    parameter_name: str


class UserInputMutationSpec(NamedTuple):
    arg: TensorArgument
    user_input_name: str


class GradientToParameterSpec(NamedTuple):
    arg: TensorArgument
    parameter_name: str


class GradientToUserInputSpec(NamedTuple):
    arg: TensorArgument
    user_input_name: str


class OutputTokenSpec(NamedTuple):
    arg: TokenArgument


class OutputSpec(Tagged):
    __slots__ = ()
    TAGS: ClassVar[Tags] = {
        "user_output": UserOutputSpec,
        "loss_output": LossOutputSpec,
        "buffer_mutation": BufferMutationSpec,
        "gradient_to_parameter": GradientToParameterSpec,
        "gradient_to_user_input": GradientToUserInputSpec,
        "user_input_mutation": UserInputMutationSpec,
        "token": OutputTokenSpec,
        "parameter_mutation": ParameterMutationSpec,
    }


class GraphSignature(NamedTuple):
    input_specs: tuple[InputSpec, ...]
    output_specs: tuple[OutputSpec, ...]


# -- the program --------------------------------------------------------------------------------


class ModuleCallSignature(NamedTuple):
    """`in_spec` and `out_spec` are pytree specs as JSON text (`tree` reads them)."""

    in_spec: str
    out_spec: str
    forward_arg_names: tuple[str, ...] | None = None
    inputs: tuple[Argument, ...] = ()
    outputs: tuple[Argument, ...] = ()


class ModuleCallEntry(NamedTuple):
    fqn: str
    signature: ModuleCallSignature | None = None


class GraphModule(NamedTuple):
    graph: Graph
    signature: GraphSignature
    module_call_graph: tuple[ModuleCallEntry, ...]


class RangeConstraint(NamedTuple):
    min_val: int | None
    max_val: int | None


class SchemaVersion(NamedTuple):
    major: int
    minor: int


class ExportedProgram(NamedTuple):
    graph_module: GraphModule
    range_constraints: dict[str, RangeConstraint]
    schema_version: SchemaVersion
    torch_version: str = "<=2.4"
    verifiers: tuple[str, ...] = ()


class PayloadMeta(NamedTuple):
    """Where a weight or constant is: the record `path_name` and the tensor on its bytes."""

    path_name: str
    is_param: bool
    use_pickle: bool
    tensor_meta: TensorMeta | None


class PayloadConfig(NamedTuple):
    config: dict[str, PayloadMeta]


# -- reading ------------------------------------------------------------------------------------

_SIMPLE = {
    int: Shape("int", "a whole number"),
    float: Shape("float", "a number"),
    bool: Shape("bool", "true or false"),
    str: Shape("str", "a string"),
    Note: Shape("note", "a string"),
}
_shapes: dict[Any, Shape] = {}


def _shape_of(annotation: Any) -> Shape:
    """The shape that an annotation stands for; records and unions are made once and may be
    recursive."""
    if isinstance(annotation, str):
        annotation = eval(annotation, globals())  # our own annotations above, never a file's text
    if annotation in _SIMPLE:
        return _SIMPLE[annotation]
    if annotation in _ENUMS:
        label, values = _ENUMS[annotation]
        return Shape("enum", label, values=values)
    if typing.get_origin(annotation) is not None or isinstance(annotation, UnionType):
        return _generic_shape(annotation)
    return _shapes[annotation] if annotation in _shapes else _named_shape(annotation)


def _generic_shape(annotation: Any) -> Shape:
    args = typing.get_args(annotation)
    if NoneType in args:
        item = _shape_of(args[0])
        return Shape("optional", item.label + " or null", item=item)
    if typing.get_origin(annotation) is tuple:
        return Shape("list", "a list", item=_shape_of(args[0]))
    return Shape("dict", "an object", item=_shape_of(args[1]))


def _named_shape(cls: Any) -> Shape:
    union = issubclass(cls, Tagged)
    kind, label = ("union", cls.__name__) if union else ("record", f"an object ({cls.__name__})")
    shape = _shapes[cls] = Shape(kind, label, cls=cls)
    hints = cls.TAGS if union else typing.get_type_hints(cls)
    defaults = {} if union else cls._field_defaults
    shape.define({name: _shape_of(hint) for name, hint in hints.items()}, defaults)
    return shape


class _Versioned(NamedTuple):
    """Of a program that cannot be read whole, what says why."""

    schema_version: SchemaVersion


def read_program(data: bytes, path: str, member: str = "") -> ExportedProgram:
    """The exported program in `data`; `ModelFileError` with the place of the first mistake
    otherwise. A program of another major version is refused, as PyTorch refuses it."""
    try:
        program: ExportedProgram = read_json(data, _shape_of(ExportedProgram), path, member)
    except ModelFileError as error:
        _check_readable(data, path, member)
        known = json_kind(data, error.problem) if not member else None
        raise (ModelFileError(path, "", known) if known else error) from None
    _check_version(program.schema_version, path, member)
    return program


def _check_readable(data: bytes, path: str, member: str) -> None:
    """Raise when a program was not understood because it is of another version."""
    try:
        found: _Versioned = read_json(data, _shape_of(_Versioned), path, member)
    except ModelFileError:
        return
    _check_version(found.schema_version, path, member)


def _check_version(version: SchemaVersion, path: str, member: str) -> None:
    if version.major != _MAJOR and version != (0, 0):
        place = f"{member}: schema_version" if member else "schema_version"
        problem = (
            f"{version.major}.{version.minor}, and only {_MAJOR} is read: "
            "export the model with a PyTorch that writes that, such as 2.13"
        )
        raise ModelFileError(path, place, problem)


def read_payload_config(data: bytes, path: str, member: str = "") -> dict[str, PayloadMeta]:
    """The weights or constants config in `data`, by state-dict name."""
    payload: PayloadConfig = read_json(data, _shape_of(PayloadConfig), path, member)
    return payload.config
