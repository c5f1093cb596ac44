"""`Node`: one value of a graph, in a list of nodes that know who uses them.

Source of the semantics: `torch/fx/node.py`.
"""

import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

import dispatch
from dispatch import HigherOrderOperator, OpOverload, OpOverloadPacket
from dispatch._C.tags import Tag
from dispatch.as_torch.dtype_abbrs import dtype_abbrs
from dispatch.as_torch.fx.names import place_of, type_text
from dispatch.as_torch.immutable import immutable_dict, immutable_list
from dispatch.as_torch.operator_schemas import ArgsKwargsPair, normalize_function, normalize_module
from dispatch.functional.effects import _get_effect

__all__ = [
    "Argument", "ArgumentT", "Node", "Target", "base_types", "has_side_effect", "map_aggregate",
    "map_arg",
]  # fmt: skip

KINDS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output")
base_types = (
    str, int, float, bool, complex, dispatch.dtype, dispatch.Tensor, dispatch.device,
    dispatch.memory_format, dispatch.layout, OpOverload, dispatch.SymInt, dispatch.SymBool,
    dispatch.SymFloat,
)  # fmt: skip
Target = Callable[..., Any] | str
Argument = Any  # a nest of tuples, lists, dicts and slices, with nodes and `base_types`
ArgumentT = TypeVar("ArgumentT", bound=Argument)


# ---- nests of arguments


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The nest with `fn` of each value; lists and dicts become ones that nobody changes."""
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict((key, map_aggregate(value, fn)) for key, value in a.items())
    if isinstance(a, slice):
        return slice(*(map_aggregate(part, fn) for part in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[["Node"], Any]) -> Any:
    """The nest with `fn` of each node."""
    return map_aggregate(a, lambda value: fn(value) if isinstance(value, Node) else value)


def _nodes_in(*nests: Any) -> dict["Node", None]:
    found: dict[Node, None] = {}
    for nest in nests:
        map_arg(nest, found.setdefault)
    return found


# ---- what must not be dropped


_side_effectful_functions: set[Any] = {operator.setitem, dispatch._assert}
_OF_RANDOM = frozenset(
    ("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like", "normal",
     "poisson", "bernoulli", "multinomial")
)  # fmt: skip
_OF_CHECKS = frozenset(
    ("_assert_async", "_assert_scalar", "_assert_tensor_metadata", "sym_constrain_range",
     "sym_constrain_range_for_size")
)  # fmt: skip


def has_side_effect(fn: Any) -> Any:
    """`fn`, whose calls dead code elimination keeps from now on (torch.fx.has_side_effect)."""
    _side_effectful_functions.add(fn)
    return fn


def is_impure(op: Any, args: Any = None, kwargs: Any = None, impure_random: bool = True) -> bool:
    """Whether a call does more than giving a result: it writes, draws, checks, or is marked."""
    if op in _side_effectful_functions:
        return True
    if isinstance(op, OpOverloadPacket):
        return "default" in op.overloads() and is_impure(op.default, args, kwargs, impure_random)
    if isinstance(op, HigherOrderOperator):
        if op.__name__.startswith("auto_functionalized") and args:
            return args[0] in _side_effectful_functions
        return _get_effect(op) is not None
    if isinstance(op, OpOverload):
        name = op._schema.name.removeprefix("aten::")
        if op._schema.is_mutable or name in _OF_CHECKS or _get_effect(op) is not None:
            return True
        return impure_random and Tag.nondeterministic_seeded in op.tags
    place = getattr(op, "__module__", None), getattr(op, "__name__", None)
    return place[1] in _OF_RANDOM and getattr(dispatch, str(place[1]), None) is op


# ---- nodes


class Node:
    """One value: an input, an attribute, a call, or the output (torch.fx.Node).

    Args:
        graph: where it will stand; `Graph.create_node` makes nodes and puts them there.
        name: unique there.
        op: "placeholder", "get_attr", "call_function", "call_method", "call_module" or "output".
        target: what is called, a function or the name of a method or module; else a name.
        args, kwargs: nests of values, with nodes where those of others go in.
        return_type: an annotation of the value.

    `users` are the nodes that take this one, in order; `meta` is for whoever works on the graph.

    Raises:
        ValueError: a target of the wrong kind.
    """

    def __init__(
        self, graph: Any, name: str, op: str, target: Any, args: Any = (), kwargs: Any = None,
        return_type: Any = None,
    ) -> None:  # fmt: skip
        if op == "call_function" and not callable(target):
            problem = f"{type(target).__name__} but a Callable is expected"
            raise ValueError(f"Node [name = '{name}'] target {target} has type {problem}")
        if op != "call_function" and not isinstance(target, str):
            problem = f"{type(target).__name__} but a str is expected"
            raise ValueError(f"Node [name = '{name}'] target {target} has type {problem}")
        if op not in (*KINDS, "root"):
            raise AssertionError(f"op '{op}' is not in {KINDS}")
        self.graph, self._name, self.op, self.target = graph, name, op, target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Any, ...] = ()
        self._kwargs: dict[str, Any] = immutable_dict()
        self._prev = self._next = self
        self._sort_key: Any = Fraction(0)
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._set_arguments(args, kwargs or {})

    # -- the list

    @property
    def next(self) -> "Node":
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> "Node":
        """The node before this one."""
        return self._prev

    def prepend(self, x: "Node") -> None:
        """Put `x`, of the same graph, before this node; it may stand elsewhere until then."""
        if self.graph is not x.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._unlink()
        before, after = self._prev, self
        x._prev, x._next = before, after
        before._next = after._prev = x
        low = before._sort_key
        last = after.op == "root"
        x._sort_key = low + 1 if last else (low + after._sort_key) / 2

    def append(self, x: "Node") -> None:
        """Put `x` after this node."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def __lt__(self, other: "Node") -> bool:
        return bool(self._sort_key < other._sort_key)

    def __gt__(self, other: "Node") -> bool:
        return bool(self._sort_key > other._sort_key)

    def __le__(self, other: "Node") -> bool:
        return self is other or self < other

    def __ge__(self, other: "Node") -> bool:
        return self is other or self > other

    # -- arguments and users

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; assign to change them."""
        return self._args

    @args.setter
    def args(self, args: tuple[Any, ...]) -> None:
        self._set_arguments(args, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The arguments by name; assign to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, kwargs: dict[str, Any]) -> None:
        self._set_arguments(self._args, kwargs)

    def _set_arguments(self, args: Any, kwargs: Any) -> None:
        args, kwargs = map_aggregate(args, _itself), map_aggregate(kwargs, _itself)
        inputs = _nodes_in(args, kwargs)
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._args, self._kwargs, self._input_nodes = args, kwargs, inputs
        for node in inputs:
            node.users.setdefault(self)

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Change one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put a positional argument before that of number `idx`."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_arg: index {idx} is not in 0 to {len(self.args)}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Change or add an argument by name."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: "Node", new_input: "Node") -> None:
        """Take `new_input` wherever this node takes `old_input`."""
        self.graph._tell("_replace_hooks", old=old_input, new=new_input.name, user=self)
        self._take_instead(old_input, new_input)

    def _take_instead(self, old: "Node", new: "Node") -> None:
        swapped = map_arg((self._args, self._kwargs), lambda node: new if node is old else node)
        self._set_arguments(*swapped)

    def replace_all_uses_with(
        self, replace_with: "Node", delete_user_cb: Callable[["Node"], bool] | None = None, *,
        propagate_meta: bool = False,
    ) -> list["Node"]:  # fmt: skip
        """Let those that use this node use `replace_with`.

        Args:
            delete_user_cb: asked for each; False leaves it.
            propagate_meta: `replace_with`, which has no `meta` yet, gets this node's.

        Returns: the nodes that changed.
        """
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("propagate_meta: the node to use already has meta")
            replace_with.meta.update(self.meta)
        changed = [u for u in self.users if delete_user_cb is None or delete_user_cb(u)]
        for user in changed:
            self.graph._tell("_replace_hooks", old=self, new=replace_with.name, user=user)
            user._take_instead(self, replace_with)
        return changed

    # -- questions

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it stays without users: it is an input or output, or does more than compute."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("the graph has no module that would tell about its modules")
            return bool(getattr(owner.get_submodule(self.target), "_is_impure", False))
        if self.op != "call_function":
            return False
        return is_impure(self.target, self.args, self.kwargs, impure_random)

    def normalized_arguments(
        self, root: Any, arg_types: Any = None, kwarg_types: Any = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> ArgsKwargsPair | None:  # fmt: skip
        """The arguments with defaults, by the signature of a function, or of a module of `root`.

        None where it has none.
        """
        by_name = normalize_to_only_use_kwargs
        given = self.args, self.kwargs
        if self.op == "call_module":
            return normalize_module(root, self.target, *given, by_name)
        if self.op != "call_function":
            return None
        return normalize_function(self.target, *given, arg_types, kwarg_types, by_name)

    @property
    def stack_trace(self) -> str | None:
        """The lines of Python that made this value."""
        found: str | None = self.meta.get("stack_trace")
        return found

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    @property
    def name(self) -> str:
        """Its name, unique in the graph."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        for user in self.users:
            self.graph._tell("_replace_hooks", old=self, new=name, user=user)
        self._name = name

    def _rename(self, candidate: str) -> None:
        """Take this name, or one like it that is free."""
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    # -- texts

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name

    def format_node(
        self, placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None, *, include_tensor_metadata: bool = False,
    ) -> str | None:  # fmt: skip
        """`%add : [num_users=1] = call_function[target=...](args = ..., kwargs = ...)`.

        With a list for names an input writes itself there and is None here; the output's type
        goes into the other list.
        """
        kind = f"{type_text(self.type)} " if self.type is not None else ""
        if self.op == "placeholder":
            if placeholder_names:
                placeholder_names.append(f"{self.target}{kind and f': {kind.rstrip()}'}")
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return self._headed(kind, f"{self.target}]{default}")
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_text(self.type)}"
            return f"return {self.args[0]}"
        place = place_of(self.target)
        if self.op == "get_attr":
            return self._headed(kind, f"{place}]")
        if include_tensor_metadata:
            kind = _described(self.meta) or kind
        given = f"(args = {_shown(self.args)}, kwargs = {_shown(self.kwargs)})"
        return self._headed(kind, f"{place}]{given}")

    def _headed(self, kind: str, rest: str) -> str:
        return f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}[target={rest}"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__


def _itself(value: Any) -> Any:
    return value


def _described(meta: dict[str, Any]) -> str:
    value = meta.get("val", meta.get("tensor_meta", meta.get("example_value")))
    if not isinstance(value, dispatch.Tensor):
        return ""
    sizes, strides = (", ".join(map(str, n)) for n in (value.shape, value.stride()))
    return f'Tensor "{dtype_abbrs[value.dtype]}[{sizes}][{strides}]{value.device}"'


def _shown(value: Any) -> str:
    """A nest of arguments, nodes as `%name`."""
    if hasattr(value, "_custom_fx_repr_fn"):
        return str(value._custom_fx_repr_fn())
    if isinstance(value, Node):
        return f"%{value}"
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {_shown(v)}' for k, v in value.items())}}}"
    return str(value)
