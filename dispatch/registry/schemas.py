"""Small questions about operators and schemas (torch._library.utils).

Everything here reads an operator's schema and tags and changes nothing; whoever registers, runs
or checks operators asks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag

if TYPE_CHECKING:
    from dispatch.codegen.schema import Argument, FunctionSchema

__all__ = [
    "fill_defaults",
    "get_device_arg_index",
    "get_layout_constraint_tag",
    "has_kwarg_only_args",
    "has_kwarg_only_tensors",
    "has_tensor_arg",
    "is_builtin",
    "is_functional_schema",
    "is_inplace",
    "is_out",
    "is_tensor_like_type",
    "is_tensorlist_like_type",
    "mutated_args_kwargs",
    "mutates_and_returns_first_arg",
    "requires_set_python_module",
    "zip_schema",
]

# Whether an operator that a compiled package defines has to name the module of its fake kernel.
REQUIRES_SET_PYTHON_MODULE = False


def is_builtin(op: OpOverload) -> bool:
    """Whether the operator is the library's own (namespaces aten, prim, prims)."""
    if not isinstance(op, OpOverload):
        raise AssertionError(f"op must be an OpOverload, got {type(op)}")
    return op.namespace in ("aten", "prim", "prims")


def is_out(op: OpOverload) -> bool:
    """Whether the operator is tagged as one that fills its out arguments."""
    return Tag.out in op.tags


def is_inplace(op: OpOverload) -> bool:
    """Whether the operator is tagged as one that writes and returns its first argument."""
    return Tag.inplace in op.tags


def is_functional_schema(schema: Any, *, allow_valid_view: bool = False) -> bool:
    """Whether an operator writes nothing, returns something, and returns no view.

    Args:
        schema: a FunctionSchema, or its text.
        allow_valid_view: a view of the one tensor argument, alone, is allowed.
    """
    from dispatch.codegen.parser import parse_schema
    from dispatch.codegen.schema import FunctionSchema

    if isinstance(schema, str):
        schema = parse_schema(schema)
    if not isinstance(schema, FunctionSchema):
        raise AssertionError(f"schema must be a FunctionSchema, got {type(schema)}")
    if schema.is_mutable or not schema.returns:
        return False
    if all(r.alias_info is None for r in schema.returns):
        return True
    tensors = [sum(a.type.text == "Tensor" for a in s) for s in (schema.arguments, schema.returns)]
    return allow_valid_view and tensors == [1, 1]


def _without_optional(type_: Any) -> Any:
    return type_.getElementType() if type_.kind() == "OptionalType" else type_


def is_tensor_like_type(typ: Any) -> bool:
    """Whether the type is `Tensor` or `Tensor?`."""
    return bool(_without_optional(typ).text == "Tensor")


def is_tensorlist_like_type(typ: Any) -> bool:
    """Whether the type is a list of tensors; the list and its elements may be optional."""
    inner = _without_optional(typ)
    return inner.kind() == "ListType" and is_tensor_like_type(inner.getElementType())


def _holds_tensors(argument: "Argument") -> bool:
    return is_tensor_like_type(argument.type) or is_tensorlist_like_type(argument.type)


def _writes(argument: "Argument") -> bool:
    return argument.alias_info is not None and argument.alias_info.is_write


def mutates_and_returns_first_arg(op: OpOverload) -> bool:
    """Whether an aten operator writes its first argument, returns it and aliases nothing else."""
    schema = op._schema
    if op.namespace != "aten" or len(schema.returns) != 1 or not schema.arguments:
        return False
    first, out = schema.arguments[0].alias_info, schema.returns[0].alias_info
    if first is None or out is None or not first.is_write:
        return False
    same = len(first.after_set) == 1 and first.after_set == out.after_set
    return same and all(a.alias_info is None for a in schema.arguments[1:])


def fill_defaults(
    schema: "FunctionSchema", args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """`args` and `kwargs` with the defaults that a dispatched call leaves out."""
    positional = [a for a in schema.arguments if not a.kwarg_only]
    rest = tuple(a.default_value for a in positional[len(args) :])
    names = {a.name: a.default_value for a in schema.arguments if a.kwarg_only}
    return (*args, *rest), {n: kwargs.get(n, default) for n, default in names.items()}


def zip_schema(
    schema: "FunctionSchema", args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple["Argument", Any]]:
    """Each argument of the schema that was given, with its value."""
    if len(schema.arguments) < len(args) + len(kwargs):
        raise AssertionError(
            f"{schema.name} has {len(schema.arguments)} arguments, got {len(args)} positional "
            f"ones and {len(kwargs)} by keyword"
        )
    for i, argument in enumerate(schema.arguments):
        if not argument.kwarg_only and i < len(args):
            yield argument, args[i]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


def requires_set_python_module() -> bool:
    """Whether operators of compiled packages have to name the module of their fake kernels."""
    return REQUIRES_SET_PYTHON_MODULE


def has_kwarg_only_args(schema: "FunctionSchema") -> bool:
    """Whether some argument is keyword-only."""
    return any(a.kwarg_only for a in schema.arguments)


def has_kwarg_only_tensors(schema: "FunctionSchema") -> bool:
    """Whether some tensor argument is keyword-only."""
    return any(a.kwarg_only and _holds_tensors(a) for a in schema.arguments)


def has_tensor_arg(schema: "FunctionSchema") -> bool:
    """Whether some argument is a tensor, an optional one, or a list of them."""
    return any(_holds_tensors(a) for a in schema.arguments)


def get_device_arg_index(schema: "FunctionSchema") -> int | None:
    """The position of the argument `Device device`; None when there is none."""
    for i, argument in enumerate(schema.arguments):
        if argument.name == "device" and argument.real_type.text == "Device":
            return i
    return None


def mutated_args_kwargs(schema: "FunctionSchema") -> tuple[list[int], list[str]]:
    """Positions of the positional arguments that are written, names of the keyword-only ones."""
    written = [(i, a) for i, a in enumerate(schema.arguments) if _writes(a)]
    positions = [i for i, a in written if not a.kwarg_only]
    return positions, [a.name for _, a in written if a.kwarg_only]


tags_by_priority = [
    Tag.needs_exact_strides,
    Tag.needs_contiguous_strides,
    Tag.needs_fixed_stride_order,
    Tag.flexible_layout,
]


def get_layout_constraint_tag(fn: Any, *, with_default: bool = True) -> Any:
    """The strictest layout tag of an operator; without one the default, or None."""
    for tag in tags_by_priority:
        if tag in fn.tags:
            return tag
    if not with_default:
        return None
    return Tag.flexible_layout if is_builtin(fn) else Tag.needs_exact_strides
