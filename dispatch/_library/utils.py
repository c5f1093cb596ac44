"""Small questions about operators and schemas (torch._library.utils).

Everything here reads an operator's schema, tags and registrations and changes nothing.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dispatch import _ops
from dispatch._C import _dispatch_has_kernel_for_dispatch_key
from dispatch._C.overload import OpOverload
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor

if TYPE_CHECKING:
    from dispatch.codegen.schema import Argument, FunctionSchema

__all__ = [
    "Kernel",
    "RegistrationHandle",
    "can_generate_trivial_fake_impl",
    "check_aliasing_constraint",
    "fill_defaults",
    "generate_trivial_fake_impl",
    "get_device_arg_index",
    "get_layout_constraint_tag",
    "get_source",
    "handle_dispatch_mode",
    "has_fake_kernel",
    "has_kwarg_only_args",
    "has_kwarg_only_tensors",
    "has_tensor_arg",
    "is_builtin",
    "is_functional_schema",
    "is_inplace",
    "is_out",
    "is_tensor_like_type",
    "is_tensorlist_like_type",
    "iter_tensors",
    "lookup_op",
    "mutated_args_kwargs",
    "mutates_and_returns_first_arg",
    "parse_namespace",
    "requires_set_python_module",
    "zip_schema",
]

# Whether an operator that a compiled package defines has to name the module of its fake kernel.
REQUIRES_SET_PYTHON_MODULE = False


class Kernel:
    """A function and the place where it was registered."""

    __slots__ = ("func", "source")

    def __init__(self, func: Callable[..., Any], source: str) -> None:
        self.func = func
        self.source = source

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.func(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Kernel(func={self.func!r}, source={self.source!r})"


class RegistrationHandle:
    """Takes one registration back when `destroy` is called."""

    def __init__(self, on_destroy: Callable[[], object]) -> None:
        self._on_destroy = on_destroy

    def destroy(self) -> None:
        """Take the registration back."""
        self._on_destroy()


def get_source(stacklevel: int) -> str:
    """`file:line` of a caller: 1 is who calls this function, 2 who called that one."""
    frame = sys._getframe(stacklevel)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def parse_namespace(qualname: str) -> tuple[str, str]:
    """("aten", "sin") of "aten::sin"; ValueError for any other form."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(f'expected a name of the form "namespace::name", got {qualname!r}')
    return parts[0], parts[1]


def lookup_op(qualname: str) -> OpOverload:
    """The overload called "namespace::name.overload"; AttributeError when there is none."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    packet = getattr(getattr(_ops.ops, namespace), name)
    found: OpOverload = getattr(packet, overload or "default")
    return found


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


def can_generate_trivial_fake_impl(op: OpOverload) -> bool:
    """Whether what an operator of others returns is known without running it.

    Out and in-place operators (by tag) return arguments; one that writes and returns nothing
    returns None.
    """
    if is_builtin(op):
        return False
    if is_out(op) or is_inplace(op):
        return True
    return op._schema.is_mutable and not op._schema.returns


def generate_trivial_fake_impl(op: OpOverload, *args: Any, **kwargs: Any) -> Any:
    """What such an operator returns: its out arguments, its first argument, or None."""
    if is_out(op):
        outs = tuple(kwargs[name] for name in mutated_args_kwargs(op._schema)[1])
        return outs[0] if len(outs) == 1 else outs
    return args[0] if is_inplace(op) else None


def requires_set_python_module() -> bool:
    """Whether operators of compiled packages have to name the module of their fake kernels."""
    return REQUIRES_SET_PYTHON_MODULE


def handle_dispatch_mode(curr_mode: Any, op_overload: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a mode's `__torch_dispatch__` with the types that the dispatcher would give it."""
    from dispatch import pytree
    from dispatch._C.keys import DispatchKey
    from dispatch._C.tensor import _dispatch_keys
    from dispatch.modes import TorchDispatchMode

    if not isinstance(curr_mode, TorchDispatchMode):
        raise AssertionError(f"curr_mode must be a TorchDispatchMode, got {type(curr_mode)}")
    leaves = pytree.tree_leaves((args, list(kwargs.values())))
    tensors = [t for t in leaves if isinstance(t, Tensor)]
    types = [type(t) for t in tensors if _dispatch_keys(t).has(DispatchKey.Python)]
    return curr_mode.__torch_dispatch__(op_overload, types, args, kwargs)


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


def iter_tensors(
    args: Sequence[Any], kwargs: Mapping[str, Any], allowed_nesting: int = 1
) -> Iterator[Tensor]:
    """The tensors among the arguments and in lists and tuples of them."""
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif allowed_nesting > 0 and isinstance(value, (tuple, list)):
            yield from iter_tensors(value, {}, allowed_nesting - 1)


def check_aliasing_constraint(
    name: str, prev: Sequence[Any], result: Any, get_module: Callable[[], Any] = lambda: "???"
) -> None:
    """RuntimeError when a result shares memory with a tensor in `prev` or with another result."""
    seen = {t.untyped_storage()._cdata for t in prev if isinstance(t, Tensor)}
    for tensor in iter_tensors(result if isinstance(result, tuple) else (result,), {}):
        storage = tensor.untyped_storage()._cdata
        if storage in seen:
            raise RuntimeError(
                f"{name} (implemented in {get_module()}): a result of a custom operator may not "
                "be or alias one of its arguments or another result: return a clone"
            )
        seen.add(storage)


def has_fake_kernel(op: OpOverload) -> bool:
    """Whether the operator runs on fake tensors, as far as registrations tell."""
    from dispatch._library.custom_ops import _maybe_get_opdef
    from dispatch._library.simple_registry import singleton

    name = op._name
    if can_generate_trivial_fake_impl(op):
        return True
    if _dispatch_has_kernel_for_dispatch_key(name, "CompositeImplicitAutograd"):
        return True
    opdef = _maybe_get_opdef(name)
    if opdef is not None:
        return opdef._abstract_fn is not None
    if singleton.find(name).fake_impl.kernel is not None:
        return True
    keys = ("CompositeExplicitAutograd", "Meta")
    return any(_dispatch_has_kernel_for_dispatch_key(name, key) for key in keys)


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
