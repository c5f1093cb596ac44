"""What a schema says of mutation and aliases, refined by values (torch::utils::SchemaInfo).

Reads parsed schemas only; nothing calls it but tools that ask before they run an operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dispatch._C.enums import _SchemaArgType
from dispatch._C.tensor import Tensor
from dispatch.codegen.schema import Argument, FunctionSchema
from dispatch.codegen.types import OptionalType, Type

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["_SchemaArgument", "_SchemaInfo"]

# Operators that write running statistics which their schemas do not declare, by the argument
# that says whether they do: normalisation in training mode.
_STATISTICS = ("running_mean", "running_var")
_TRAINING_FLAG = {
    "aten::batch_norm": "training",
    "aten::instance_norm": "use_input_stats",
    "aten::native_batch_norm": "training",
    "aten::cudnn_batch_norm": "training",
    "aten::miopen_batch_norm": "training",
    "aten::_batch_norm_impl_index": "training",
}
_WILDCARD = "*"


class _SchemaArgument:
    """A place in a schema: an index among its arguments or its results."""

    __slots__ = ("index", "type")

    def __init__(self, type: _SchemaArgType, index: int) -> None:
        if not isinstance(type, _SchemaArgType):
            raise TypeError(f"_SchemaArgument: type: expected a _SchemaArgType, got {type!r}")
        if not isinstance(index, int) or index < 0:
            raise TypeError(f"_SchemaArgument: index: expected an int from 0, got {index!r}")
        self.type = type
        self.index = index


class _SchemaInfo:
    """Answers on one schema; argument values that were added make them sharper.

    Raises:
        TypeError: not a FunctionSchema.
    """

    def __init__(self, schema: FunctionSchema) -> None:
        if not isinstance(schema, FunctionSchema):
            raise TypeError(f"_SchemaInfo: expected a FunctionSchema, got {schema!r}")
        self._schema = schema
        self._inputs = schema.arguments
        self._outputs = schema.returns
        self._values: dict[str, object] = {}

    def has_argument(self, name: str) -> bool:
        """Whether the schema has an argument of that name."""
        return any(a.name == name for a in self._inputs)

    def is_mutable(self, argument: str | _SchemaArgument | None = None) -> bool:
        """Whether the call writes the argument (a name or a place), or any.

        Raises:
            RuntimeError: the schema has no such argument.
        """
        if argument is None:
            return any(self._is_written(i) for i in range(len(self._inputs)))
        if isinstance(argument, str):
            return self._is_written(self._index_of(argument))
        place = self._check_place(argument)
        if place.type == _SchemaArgType.input:
            return self._is_written(place.index)
        return self._declared_write(self._outputs[place.index])

    def add_argument_value(self, name: str, value: Any) -> None:
        """Say what an argument will be; RuntimeError for an unknown name."""
        index = self._index_of(self._own_name(name))
        if value is not None:
            self._values[self._inputs[index].name] = value

    def add_argument_values(self, values: dict[str, Any]) -> None:
        """Say what several arguments will be; RuntimeError for an unknown name."""
        for name in values:
            self._index_of(self._own_name(name))
        for name, value in values.items():
            self.add_argument_value(name, value)

    def may_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument) -> bool:
        """Whether the values at the two places may share memory."""
        a, b = self._argument(lhs), self._argument(rhs)
        if _memory(a.type) is None or _memory(a.type) != _memory(b.type):
            return False
        return _declared(a, b) or bool(self._reach(lhs) & self._reach(rhs))

    def may_contain_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument) -> bool:
        """The same, for what lists at these places contain too."""
        if self.may_alias(lhs, rhs):
            return True
        a, b = self._argument(lhs), self._argument(rhs)
        inside_a, inside_b = _contained(a.type), _contained(b.type)
        return (
            bool(inside_a & inside_b)
            or (_is_wildcard(a) and _memory(a.type) in inside_b)
            or (_is_wildcard(b) and _memory(b.type) in inside_a)
        )

    # -- mutation

    def _own_name(self, name: str) -> str:
        """`self` for an `input` that there is not: names of a call say so (torch.fx)."""
        return "self" if name == "input" and not self.has_argument("input") else name

    def _index_of(self, name: str) -> int:
        for i, argument in enumerate(self._inputs):
            if argument.name == name:
                return i
        raise RuntimeError(f"{self._schema.name}: no argument {name!r}\n  {self._schema}")

    def _declared_write(self, argument: Argument) -> bool:
        return argument.alias_info is not None and argument.alias_info.is_write

    def _is_written(self, index: int) -> bool:
        name = self._inputs[index].name
        flag = _TRAINING_FLAG.get(self._schema.name)
        if flag is not None and name in _STATISTICS:
            return bool(self._values.get(flag, True))
        if self._declared_write(self._inputs[index]):
            return True
        return any(
            self._declared_write(self._inputs[i]) for i in self._inputs_sharing(index) if i != index
        )

    def _inputs_sharing(self, index: int) -> Iterator[int]:
        """The arguments whose values share memory with that of this one."""
        mine = self._values.get(self._inputs[index].name)
        for i, argument in enumerate(self._inputs):
            if _share_memory(mine, self._values.get(argument.name)):
                yield i

    # -- aliases

    def _check_place(self, place: _SchemaArgument) -> _SchemaArgument:
        if not isinstance(place, _SchemaArgument):
            raise TypeError(f"_SchemaInfo: expected a _SchemaArgument, got {place!r}")
        listed = self._inputs if place.type == _SchemaArgType.input else self._outputs
        if place.index >= len(listed):
            raise RuntimeError(
                f"{self._schema.name}: no {place.type.name} {place.index}\n  {self._schema}"
            )
        return place

    def _argument(self, place: _SchemaArgument) -> Argument:
        place = self._check_place(place)
        listed = self._inputs if place.type == _SchemaArgType.input else self._outputs
        return listed[place.index]

    def _reach(self, place: _SchemaArgument) -> set[int]:
        """The inputs whose memory is at a place: by declaration, by value, and through others."""
        argument = self._argument(place)
        found = {i for i, a in enumerate(self._inputs) if _declared(a, argument)}
        if place.type == _SchemaArgType.input:
            found.add(place.index)
        for i in list(found):
            found |= {j for j, a in enumerate(self._inputs) if _declared(a, self._inputs[i])}
            found.update(self._inputs_sharing(i))
        return found


def _declared(a: Argument, b: Argument) -> bool:
    """Whether two values of one type have an alias set in common after the call."""
    if a.alias_info is None or b.alias_info is None or _memory(a.type) != _memory(b.type):
        return False
    return bool(a.alias_info.after_set & b.alias_info.after_set)


def _share_memory(a: object, b: object) -> bool:
    return (
        isinstance(a, Tensor)
        and isinstance(b, Tensor)
        and (a is b or a.untyped_storage()._cdata == b.untyped_storage()._cdata)
    )


def _is_wildcard(argument: Argument) -> bool:
    return argument.alias_info is not None and _WILDCARD in argument.alias_info.after_set


def _memory(type_: Type) -> str | None:
    """What kind of memory a value of the type is; None when it is a plain number or text."""
    if isinstance(type_, OptionalType):
        return _memory(type_.element)
    if type_.kind() == "TensorType" or type_.containedTypes():
        return str(type_)
    return None


def _contained(type_: Type) -> set[str | None]:
    """The kinds of memory that a value of the type can hold."""
    if isinstance(type_, OptionalType):
        return _contained(type_.element)
    inner = {_memory(t) for t in type_.containedTypes()}
    for t in type_.containedTypes():
        inner |= _contained(t)
    return inner - {None}
