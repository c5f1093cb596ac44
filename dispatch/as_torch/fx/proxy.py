"""`Proxy`: stands for a value while a program is traced, and writes what is done with it.

Source of the semantics: `torch/fx/proxy.py`.
"""

import bisect
import copy
import dis
import enum
import inspect
import operator
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import dispatch
from dispatch import HigherOrderOperator, OpOverload, pytree
from dispatch.as_torch.fx import traceback as notes
from dispatch.as_torch.fx.code import magic_methods, reflectable_magic_methods
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.names import snake_case
from dispatch.as_torch.fx.node import Node, base_types, map_arg
from dispatch.as_torch.operator_schemas import check_for_mutable_operation
from dispatch.modes.function import is_tensor_method_or_property

__all__ = [
    "Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "TraceError",
    "TracerBase",
]  # fmt: skip


_ROOT = str(Path(dispatch.__file__).parent)


class TraceError(ValueError):
    """A program asks what a value is, which nobody knows while it is traced."""


class Scope:
    """The module that is being traced: its path and class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path, self.module_type = module_path, module_type


class TracerBase:
    """Writes nodes for what programs do with proxies (torch.fx.proxy.TracerBase).

    `create_node`, `create_arg`, `proxy`, `to_bool`, `iter` and `keys` are there to be overridden.
    """

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def __init__(self) -> None:
        self.scope = Scope("", None)
        self.module_stack: OrderedDict[str, tuple[str, Any]] = OrderedDict()
        self.node_name_to_scope: dict[str, tuple[str, Any]] = {}

    @contextmanager
    def _within(self, path: str, kind: Any) -> Iterator[Scope]:
        outer = self.scope.module_path, self.scope.module_type
        self.scope.module_path, self.scope.module_type = path, kind
        try:
            yield self.scope
        finally:
            self.scope.module_path, self.scope.module_type = outer

    def create_node(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Write a node of values that `create_arg` gave.

        Raises:
            RuntimeError: an operator that writes to its arguments, with `check_mutable_operations`.
        """
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if notes.has_preserved_node_meta():
            notes.note(node)
        elif self.module_stack:
            node.meta["nn_module_stack"] = OrderedDict(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            lines = self._filter_traceback_frames(traceback.extract_stack())
            if lines:
                node.stack_trace = "".join(lines.format()).strip()
        return node

    def _filter_traceback_frames(
        self, user_stack_summary: traceback.StackSummary
    ) -> traceback.StackSummary:
        """The lines of a stack trace that nodes keep: from `forward` on, none of this package."""
        first = next((i for i, f in enumerate(user_stack_summary) if f.name == "forward"), None)
        frames = [] if first is None else user_stack_summary[first:]
        kept = (f for f in frames if not f.filename.startswith(_ROOT))
        return traceback.StackSummary.from_list(kept)

    def proxy(self, node: Node) -> "Proxy":
        """What stands for the value of a node."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Any, args: Any, kwargs: Any, name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], "Proxy"] | None = None,
    ) -> "Proxy":  # fmt: skip
        """Write a node of any values, and give what stands for its own."""
        given, named = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, given, named, name, type_expr)
        return (proxy_factory_fn or self.proxy)(node)

    def create_arg(self, a: Any) -> Any:
        """A value as nodes hold it: proxies become nodes, also inside lists and dicts.

        Raises:
            NotImplementedError: values of this type cannot stand in a graph.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice | range):
            return type(a)(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if is_dataclass(a) and not isinstance(a, type):
            named = {field.name: self.create_arg(getattr(a, field.name)) for field in fields(a)}
            return self.create_node("call_function", type(a), (), named)
        known = (*base_types, enum.Enum, OpOverload, HigherOrderOperator)
        if a is None or a is ... or isinstance(a, known):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        if isinstance(key, str):
            return key
        key = self.create_arg(key)
        map_arg(key, _refuse_key)
        return key

    def to_bool(self, obj: "Proxy") -> bool:
        """TraceError: what a condition depends on is not known."""
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: "Proxy") -> Iterator[Any]:
        """TraceError: how many values there are is not known."""
        raise TraceError("Proxy object cannot be iterated: its length is not known")

    def keys(self, obj: "Proxy") -> Any:
        """What `**proxy` asks for: a call of `keys`."""
        return Attribute(obj, "keys")()


def _refuse_key(node: Node) -> NoReturn:
    raise RuntimeError(f"Keys of dicts that are arguments cannot contain a Node. Got key: {node}")


class GraphAppendingTracer(TracerBase):
    """Writes to the end of a graph: what proxies made by hand use."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph


class Proxy:
    """Stands for the value of a node; what is done with it becomes nodes (torch.fx.Proxy).

    Args:
        node: whose value.
        tracer: who writes; the end of the node's graph otherwise.

    Conditions, loops and `len` on it raise: nobody knows the value.
    """

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> "Attribute":
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __deepcopy__(self, memo: dict[int, Any]) -> "Proxy":
        made = object.__new__(type(self))
        made.__dict__.update({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items()})
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ = state

    def __call__(self, *args: Any, **kwargs: Any) -> "Proxy":
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator["Proxy"]:
        asked = _instruction(inspect.currentframe())
        if asked is not None and asked.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(asked.argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> "Proxy":
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_asserted(inspect.currentframe()):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What `**proxy` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default: "
            "torch.fx.wrap('len') at module scope lets the call be recorded"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: Any = None, kwargs: Any = None
    ) -> Any:
        """Write a call of a function, or of a method of tensors, that got proxies."""
        args, kwargs = args or (), kwargs or {}
        leaves = pytree.tree_leaves((args, kwargs))
        tracers = dict.fromkeys(leaf.tracer for leaf in leaves if isinstance(leaf, cls))
        if len(tracers) > 1:
            raise RuntimeError(f"{orig_method} got proxies of different tracers: {list(tracers)}")
        tracer = next(iter(tracers))
        name = orig_method.__name__
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", name, args, kwargs)
        if isinstance(orig_method, HigherOrderOperator):
            _refuse_functions(orig_method, leaves)
        candidate = snake_case(name)
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=candidate)


def _refuse_functions(op: Any, leaves: list[Any]) -> None:
    for leaf in leaves:
        if inspect.isroutine(leaf):
            what = f"Unable to symbolically trace the HigherOrderOperator {op}"
            raise RuntimeError(f"{what}: it got an arbitrary callable argument {leaf}: use make_fx")


def _place(frame: FrameType | None) -> tuple[list[dis.Instruction], int] | None:
    """The instructions of the caller of a method, and which of them runs."""
    caller = frame.f_back if frame is not None else None
    if caller is None:
        return None
    found = list(dis.get_instructions(caller.f_code))
    return found, bisect.bisect_left(found, caller.f_lasti, key=lambda one: one.offset)


def _instruction(frame: FrameType | None) -> dis.Instruction | None:
    place = _place(frame)
    return None if place is None else place[0][place[1]]


def _is_asserted(frame: FrameType | None) -> bool:
    """Whether the caller asks for an `assert`."""
    place = _place(frame)
    if place is None:
        return False
    instructions, at = place
    after = instructions[at + 1 : at + 3]
    return instructions[at].opname.startswith("POP_JUMP") and any(
        one.opname == "LOAD_ASSERTION_ERROR" for one in after
    )


def assert_fn(x: Any) -> None:
    """AssertionError unless `x` holds: an `assert` that was traced."""
    if not x:
        raise AssertionError("Assertion failed")


class Attribute(Proxy):
    """An attribute of a proxy: a call of its method, unless somebody wants the value."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that reads it, written when somebody asks."""
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Stands for a parameter whose sizes are known."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """Its sizes."""
        return self.param.shape

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return int(self.param.ndim)

    def size(self) -> Any:
        """Its sizes."""
        return self.param.size()

    def dim(self) -> int:
        """How many dimensions it has."""
        return int(self.param.dim())

    def numel(self) -> int:
        """How many elements it has."""
        return int(self.param.numel())

    nelement = numel


def _define_operators() -> None:
    """`a + b` and its like write calls of `operator`'s functions."""

    def of_self(function: Any) -> Callable[..., Proxy]:
        return lambda *args, **kwargs: args[0].tracer.create_proxy(
            "call_function", function, args, kwargs
        )

    def of_other(function: Any) -> Callable[..., Proxy]:
        return lambda self, other: self.tracer.create_proxy(
            "call_function", function, (other, self), {}
        )

    for name in magic_methods:
        function = getattr(operator, name, None)
        if function is not None:
            setattr(Proxy, f"__{name.strip('_')}__", of_self(function))
            if name in reflectable_magic_methods:
                setattr(Proxy, f"__r{name.strip('_')}__", of_other(function))


_define_operators()
