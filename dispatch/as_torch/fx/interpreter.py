"""Running a graph node by node, as it is or to make another one.

Source of the semantics: `torch/fx/interpreter.py`.
"""

import inspect
from collections.abc import Iterator
from typing import Any

from dispatch.as_torch.fx import traceback as notes
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_aggregate, map_arg
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.fx.tracer import Tracer
from dispatch.as_torch.nn.modules.module import Module

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph; derive from it to do something else at each node (torch.fx.Interpreter).

    Args:
        module: has the attributes and modules that nodes name, and the graph.
        garbage_collect_values: values go after their last use.
        graph: another one than the module's.
    """

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph: Graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for user in reversed(self.graph.nodes):
                for node in user._input_nodes:
                    if node not in seen:
                        seen.add(node)
                        self.user_to_last_uses.setdefault(user, []).append(node)

    def run(
        self, *args: Any, initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:  # fmt: skip
        """Run the graph.

        Args:
            initial_env: values of nodes that are not run.
            enable_io_processing: arguments and results nest as the module's do.

        Raises: what a node raises; its text says which node it was.
        """
        self.env = {} if initial_env is None else initial_env
        given = self.graph.process_inputs(*args) if enable_io_processing else args
        self.args_iter = iter(given)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            self.env[node] = self._run_or_tell(node)
            for ended in self.user_to_last_uses.get(node, ()):
                del self.env[ended]
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def _run_or_tell(self, node: Node) -> Any:
        try:
            return self.run_node(node)
        except Exception as error:
            if not self.extra_traceback:
                raise
            text = f"While executing {node.format_node()}\nOriginal traceback:\n{node.stack_trace}"
            text = f"{error.args[0]}\n\n{text}" if error.args else text
            error.args = (text, *error.args[1:])
            if isinstance(error, KeyError):
                raise RuntimeError(*error.args) from error
            raise

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run with the values of a list, which is emptied so that they can go.

        Raises:
            RuntimeError: more or fewer than the graph has inputs.
        """
        inputs = [node for node in self.graph.nodes if node.op == "placeholder"]
        if len(args_list) != len(inputs):
            problem = "extra" if len(args_list) > len(inputs) else "missing"
            raise RuntimeError(
                f"Interpreter.boxed_run: {problem} arguments: the graph has {len(inputs)} "
                f"placeholders, {len(args_list)} values came"
            )
        env = dict(zip(inputs, args_list, strict=True))
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n: Node) -> Any:
        """The value of a node: calls the method that its `op` names."""
        with notes.set_current_meta(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The next argument, or the input's default.

        Raises:
            RuntimeError: neither is there.
        """
        if target.startswith("*"):
            return list(self.args_iter)
        for value in self.args_iter:
            return value
        if args:
            return args[0]
        problem = f"Expected positional argument for parameter {target}, but one was not passed in!"
        raise RuntimeError(problem)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call of a function."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call of a method of the first argument."""
        owner, *rest = args
        return getattr(owner, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """A call of a submodule."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The result."""
        return args[0]

    def fetch_attr(self, target: str) -> Any:
        """What the module has at a path.

        Raises:
            RuntimeError: nothing.
        """
        found = self.module
        for i, part in enumerate(path := target.split(".")):
            if not hasattr(found, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(path[: i + 1])}")
            found = getattr(found, part)
        return found

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """A node's arguments as values."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """A nest with values for nodes.

        Raises:
            RuntimeError: a node has none yet.
        """

        def value_of(given: Node) -> Any:
            if given not in self.env:
                problem = f"referenced nonexistent value {given}! Run Graph.lint()"
                raise RuntimeError(f"Node {n} {problem}")
            return self.env[given]

        return map_arg(args, value_of)


class _Following(Tracer):
    """Writes to the graph of a transformer; all modules are one node."""

    def __init__(self, graph: Graph, root: Module) -> None:
        super().__init__()
        self.graph, self.root = graph, root

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Runs a graph on proxies; what its methods do becomes another one (torch.fx.Transformer)."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer: Tracer = _Following(self.new_graph, module)

    def placeholder(self, target: Any, args: Any, kwargs: Any) -> Any:
        """An input of the new graph."""
        default = args[0] if args else inspect.Signature.empty
        return Proxy(self.new_graph.placeholder(target, default_value=default), self.tracer)

    def get_attr(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The same attribute."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The same module."""
        module = self.fetch_attr(target)
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        """The same function."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The module of the new graph."""
        with notes.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            nodes = map_aggregate(result, lambda v: v.node if isinstance(v, Proxy) else v)
            self.new_graph.output(nodes).meta.update(self.graph.output_node().meta)
        return GraphModule(self.module, self.new_graph)
