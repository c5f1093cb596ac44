"""Calls that name all arguments, or use operators (torch.fx.experimental.normalize)."""

import operator
from typing import Any, ClassVar

import dispatch
from dispatch.as_torch.fx.interpreter import Transformer
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_aggregate
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.operator_schemas import (
    create_type_hint,
    normalize_function,
    normalize_module,
)  # fmt: skip

__all__ = ["NormalizeArgs", "NormalizeOperators"]


class NormalizeArgs(Transformer):
    """Gives calls of functions and modules all arguments, by name.

    Args:
        module: the module.
        normalize_to_only_use_kwargs: False: those that were by place stay so.
    """

    def __init__(self, module: GraphModule, normalize_to_only_use_kwargs: bool = True) -> None:
        super().__init__(module)
        self.node_map: dict[Proxy, Node] = {}
        self.normalize_to_only_use_kwargs = normalize_to_only_use_kwargs

    def run_node(self, n: Node) -> Any:
        """The node with other arguments; it keeps its meta and type."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)

        def kind(value: Any) -> Any:
            return n.meta.get("type") if isinstance(value, Node) else type(value)

        if n.op == "call_function":
            kinds = tuple(map(create_type_hint, map_aggregate(n.args, kind)))
            named = {key: kind(value) for key, value in kwargs.items()}
            result = self.call_function(n.target, args, kwargs, kinds, named)
        else:
            result = super().run_node(n)
        if n.op != "output":
            self.node_map[result] = n
            result.node.meta, result.node.type = n.meta, n.type
        return result

    def call_function(
        self, target: Any, args: Any, kwargs: Any, arg_types: Any = None, kwarg_types: Any = None
    ) -> Any:
        """The call, with what `normalize_function` makes of its arguments."""
        by_name = self.normalize_to_only_use_kwargs
        found = normalize_function(target, args, kwargs, arg_types, kwarg_types, by_name)
        return super().call_function(target, *(found or (args, kwargs)))

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The call, with what `normalize_module` makes of its arguments."""
        by_name = self.normalize_to_only_use_kwargs
        found = normalize_module(self.module, target, args, kwargs, by_name)
        return super().call_module(target, *(found or (args, kwargs)))


class NormalizeOperators(Transformer):
    """Calls `operator.add` for `torch.add` of two arguments, and so for its like."""

    binary_magic_method_remap: ClassVar[dict[Any, Any]] = {
        dispatch.add: operator.add,
        dispatch.mul: operator.mul,
        dispatch.sub: operator.sub,
        dispatch.div: operator.truediv,
        dispatch.floor_divide: operator.floordiv,
        dispatch.remainder: operator.mod,
        dispatch.eq: operator.eq,
        dispatch.ne: operator.ne,
        dispatch.lt: operator.lt,
        dispatch.le: operator.le,
        dispatch.gt: operator.gt,
        dispatch.ge: operator.ge,
    }

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The call, or that of the operator."""
        found = self.binary_magic_method_remap.get(target)
        if found is None or kwargs or len(args) != 2:
            return super().call_function(target, args, kwargs)
        return super().call_function(found, args, {})
