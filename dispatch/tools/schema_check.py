"""A mode that checks what operators do against what their schemas say.

On each call the arguments are compared before and after, and the memory of results with that of
arguments: writing or aliasing that the schema does not declare is an error
(torch._subclasses.schema_check_mode).
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

from dispatch import pytree
from dispatch._C.mode import TorchDispatchMode
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["Aliasing", "Mutation", "SchemaCheckMode"]

# Named unsafe because they alias without saying so; lifting may return its argument.
_MAY_ALIAS = ("aten::_unsafe_view", "aten::unsafe_split")
_MAY_RETURN_INPUT = ("aten::lift", "aten::lift_fresh")


class Mutation(NamedTuple):
    """An operator wrote an argument."""

    op_name: str
    arg_name: str


class Aliasing(NamedTuple):
    """A result (`output_0`) of an operator shares memory with an argument."""

    op_name: str
    arg_name: str
    output_number: str


class _Before(NamedTuple):
    """A tensor as it was before the call."""

    values: Tensor
    stride: tuple[int, ...]
    storage: Any


class SchemaCheckMode(TorchDispatchMode):
    """Raises RuntimeError when a call writes or aliases against its schema, or returns an input.

    Attributes: `ops`, the names of the operators called; `mutated` and `aliasing`, the writes and
    aliases that schemas declare and that took place.
    """

    def __init__(self) -> None:
        super().__init__()
        self.ops: list[str] = []
        self.mutated: list[Mutation] = []
        self.aliasing: list[Aliasing] = []

    def reset_cache(self) -> None:
        """Forget what was recorded."""
        self.ops.clear()
        self.mutated.clear()
        self.aliasing.clear()

    def display_ops(self) -> None:
        """Print the names of the operators called."""
        print(*self.ops, sep=",")

    def __torch_dispatch__(
        self, func: Any, types: tuple[type, ...], args: Any = (), kwargs: Any = None
    ) -> Any:
        from dispatch._C import _SchemaArgType, _SchemaArgument, _SchemaInfo

        kwargs = kwargs or {}
        schema = func._schema
        self.ops.append(schema.name)
        given = dict(zip((a.name for a in schema.arguments), args, strict=False)) | kwargs
        before = {name: _remember(value) for name, value in given.items()}
        out = func(*args, **kwargs)
        outputs = out if isinstance(out, tuple) else (out,)
        info = _SchemaInfo(schema)
        info.add_argument_values(given)
        for i, argument in enumerate(schema.arguments):
            if given.get(argument.name) is None:
                continue
            place = _SchemaArgument(_SchemaArgType.input, i)
            shown = "input" if argument.name == "self" else argument.name
            value = _unwrapped(given[argument.name])
            for j, output in enumerate(outputs):
                target = _SchemaArgument(_SchemaArgType.output, j)
                self._check_output(
                    schema.name, shown, value, j, _unwrapped(output), info, place, target
                )
            changed = _has_changed(before[argument.name], given[argument.name])
            self._check_mutation(schema.name, shown, changed, info.is_mutable(place))
        for i, j in combinations(range(min(len(schema.returns), len(outputs))), 2):
            if _overlap(_unwrapped(outputs[i]), _unwrapped(outputs[j])):
                places = (_SchemaArgument(_SchemaArgType.output, n) for n in (i, j))
                if not info.may_contain_alias(*places):
                    raise RuntimeError(f"Outputs {i} and {j} alias unexpectedly: {schema.name}")
        return out

    def _check_output(
        self, op: str, name: str, value: Any, number: int, output: Any, info: Any,
        place: Any, target: Any,
    ) -> None:  # fmt: skip
        if _overlap(output, value) and op not in _MAY_ALIAS:
            if not info.may_contain_alias(target, place):
                raise RuntimeError(
                    f"Argument {name} is not defined to alias output but was aliasing: {op}"
                )
            self.aliasing.append(Aliasing(op, name, f"output_{number}"))
        returned = value is output and isinstance(value, Tensor)
        if returned and not info.is_mutable(place) and op not in _MAY_RETURN_INPUT:
            raise RuntimeError(
                "Dispatcher operators below autograd are not allowed to directly return inputs. "
                f"However, we found that `outputs[{number}]` is {name}: {op}"
            )

    def _check_mutation(self, op: str, name: str, changed: bool, allowed: bool) -> None:
        if changed and not allowed:
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated: {op}")
        if changed:
            self.mutated.append(Mutation(op, name))


def _unwrapped(value: Any) -> Any:
    """What a wrapper holds as `elem`, in nests too."""
    if isinstance(value, Tensor):
        return getattr(value, "elem", value) if type(value) is not Tensor else value
    return pytree.tree_map(_unwrapped, value) if isinstance(value, (list, tuple)) else value


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, Tensor)]


def _plain(value: Any) -> list[Tensor]:
    """The plain tensors in an argument, or in what its wrappers hold now."""
    return [t for t in _tensors(_unwrapped(value)) if type(t) is Tensor]


def _remember(value: Any) -> list[_Before]:
    """Copies of the plain tensors in an argument."""
    return [
        _Before(t.detach().clone(), tuple(t.stride()), t.untyped_storage()) for t in _plain(value)
    ]


def _has_changed(before: list[_Before], value: Any) -> bool:
    """Whether an argument has other tensors than before, or the same with other contents."""
    return any(_differs(b, now) for b, now in zip(before, _plain(value), strict=False))


def _differs(before: _Before, now: Tensor) -> bool:
    if tuple(now.stride()) != before.stride or now.untyped_storage() is not before.storage:
        return True
    return now.shape != before.values.shape or not _same_values(now.detach(), before.values)


def _same_values(a: Tensor, b: Tensor) -> bool:
    """Equal, a NaN being equal to a NaN; tensors without values are."""
    if a.device.type == "meta" or a.numel() == 0:
        return True
    equal = ops.aten.eq.Tensor(a, b)
    if a.dtype.is_floating_point or a.dtype.is_complex:
        both = ops.aten.ne.Tensor(a, a).logical_and(ops.aten.ne.Tensor(b, b))
        equal = equal.logical_or(both)
    return bool(equal.all())


def _overlap(a: Any, b: Any) -> bool:
    """Whether some tensor of `a` shares storage with one of `b`."""
    storages = {id(t.untyped_storage()) for t in _tensors(a)}
    return any(id(t.untyped_storage()) in storages for t in _tensors(b))
