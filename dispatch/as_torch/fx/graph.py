"""`Graph`: nodes in order, with what inserts, copies, checks and removes them.

Source of the semantics: `torch/fx/graph.py`.
"""

import copy
import inspect
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import dispatch
from dispatch.as_torch.fx.code import CodeGen, PythonCode
from dispatch.as_torch.fx.names import Names, snake_case
from dispatch.as_torch.fx.node import KINDS, Node, map_arg
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter

__all__ = ["Graph"]


class Graph:
    """The nodes of a program in the order of a run (torch.fx.Graph).

    Args:
        owning_module: the module whose `forward` it is.
        tracer_cls, tracer_extras: what traced it, for copies and pickles of the module.
    """

    def __init__(
        self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None
    ) -> None:
        self._root = Node(self, "", "root", "")
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._graph_namespace = Names()
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._place = ""  # of the function that it was traced from

    @property
    def owning_module(self) -> Any:
        """The module whose `forward` this is, if there is one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> "_Nodes":
        """All nodes in order: it has a length and can be reversed; nodes may go on the way."""
        return _Nodes(self, "_next")

    def output_node(self) -> Node:
        """The last node, which is the output."""
        last = self._root._prev
        if last.op != "output":
            raise AssertionError(f"the last node is no output: {last.op}")
        return last

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of a kind, with this target if one is given; calls of functions need one."""
        if op == "call_function" and target is None:
            raise AssertionError("target must not be None for call_function op")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def _tell(self, hooks: str, *args: Any, **kwargs: Any) -> None:
        """Call the owning module's hooks of this kind."""
        for hook in getattr(self.owning_module, hooks, None) or ():
            hook(*args, **kwargs)

    # ---- making nodes

    def create_node(
        self, op: str, target: Any, args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None, name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Make a node and insert it, at the end unless inside `inserting_before` or `_after`.

        Args:
            op, target, args, kwargs: see `Node`.
            name: what it should be called; a number is added where that is taken.
            type_expr: an annotation of the value.
        """
        if args is not None and not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if kwargs is not None and not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args or (), kwargs, type_expr)
        self._tell("_create_node_hooks", node)
        self._graph_namespace.associate_name_with_obj(name, node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        name: str = target.__name__ if callable(target) else target
        if not callable(target) and name.startswith("__") and name.endswith("__"):
            name = name[2:-2]
        return snake_case(name)

    def placeholder(
        self, name: str, type_expr: Any = None, default_value: Any = inspect.Signature.empty
    ) -> Node:
        """An input, with a default if one is given."""
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """A parameter, buffer or module of the owning module; warns if it has none there."""
        if self.owning_module is not None and not _has(self.owning_module, qualified_name):
            text = "Attempted to insert a get_attr Node with no underlying reference in the owning "
            text += f"GraphModule, which has no attribute {qualified_name!r}"
            warnings.warn(text, stacklevel=2)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """A call of a submodule of the owning module."""
        if self.owning_module is not None and not _has(self.owning_module, module_name):
            text = f"call_module: the owning GraphModule has no module {module_name!r}"
            warnings.warn(text, stacklevel=2)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self, method_name: str, args: Any = None, kwargs: Any = None, type_expr: Any = None
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Any, args: Any = None, kwargs: Any = None, type_expr: Any = None,
        name: str | None = None,
    ) -> Node:  # fmt: skip
        """A call of a function or operator."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def create_size_node(self, tensor_node: Node, dim: int) -> Node:
        """A call that gives one size of a tensor, as a symbol where it is one."""
        return self._question("sym_size", "size", tensor_node, dim)

    def create_stride_node(self, tensor_node: Node, dim: int) -> Node:
        """A call that gives one stride of a tensor."""
        return self._question("sym_stride", "stride", tensor_node, dim)

    def create_storage_offset_node(self, tensor_node: Node) -> Node:
        """A call that gives the offset of a tensor in its storage."""
        return self._question("sym_storage_offset", "storage_offset", tensor_node)

    def _question(self, operator: str, method: str, tensor_node: Node, *args: Any) -> Node:
        packet = getattr(dispatch.ops.aten, operator)
        node = self.call_function(packet.int if args else packet.default, (tensor_node, *args))
        for key in ("val", "example_value"):
            if key in tensor_node.meta:
                node.meta[key] = getattr(tensor_node.meta[key], method)(*args)
                break
        return node

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """What the program gives."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def inserting_before(self, n: Node | None = None) -> "_Insertion":
        """New nodes come before this one, inside a `with` or from now on; None: at the start."""
        if n is None:
            return self.inserting_after(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")
        return _Insertion(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> "_Insertion":
        """New nodes come after this one, inside a `with` or from now on; None: at the end."""
        if n is None:
            return self.inserting_before(self._root)
        if n.graph is not self:
            raise AssertionError("Node to insert after is not in graph.")
        return _Insertion(self, n.append)

    # ---- copies

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """A node like one of another graph; `arg_transform` gives the nodes for its arguments."""
        args, kwargs = map_arg((node.args, node.kwargs), arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(
        self, g: "Graph", val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Copy the nodes of `g` here, all but the output.

        Args:
            val_map: nodes of `g` that have one here already; gets the copies.

        Returns: what `g` gives, in nodes of this graph, and with `return_output_node` the node
        too; None if it gives nothing.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: Any = None) -> "Graph":
        copied = Graph(tracer_cls=self._tracer_cls)
        found = copied.graph_copy(self, memo or {}, return_output_node=True)
        copied._codegen = copy.deepcopy(self._codegen)
        if found is not None:
            result, old = found
            copied.output(result, type_expr=old.type).meta = copy.copy(old.meta)
        return copied

    # ---- changes and checks

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nobody uses.

        Raises:
            RuntimeError: it has users, or is of another graph.
        """
        if to_erase.users:
            problem = f"it still had {len(to_erase.users)} users in the graph: {to_erase.users}!"
            raise RuntimeError(f"Tried to erase Node {to_erase} but {problem}")
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        self._tell("_erase_node_hooks", to_erase)
        to_erase._unlink()
        to_erase._erased = True  # whoever iterates finds the way from it
        self._len -= 1
        to_erase._set_arguments(*map_arg((to_erase._args, to_erase._kwargs), lambda node: None))

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Remove nodes without users whose calls do nothing but compute.

        Args:
            is_impure_node: says of a node whether it stays; `Node.is_impure` otherwise.

        Returns: whether any went.
        """
        self.lint()
        stays = Node.is_impure if is_impure_node is None else is_impure_node
        count = self._len
        for node in reversed(self.nodes):
            if not node.users and not stays(node):
                self.erase_node(node)
        return self._len < count

    def lint(self) -> None:
        """Check the order of nodes, their names, graphs and targets.

        Raises:
            RuntimeError: something does not fit; the text says which node.
        """
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in KINDS:
                raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
            if node.graph is not self:
                raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
            for given in node._input_nodes:
                self._check_given(given, node, seen)
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_place(node)

    def _check_given(self, given: Node, node: Node, seen: set[Node]) -> None:
        text = f"Argument '{given}' of Node '{node}' "
        if given.graph is not self:
            raise RuntimeError(f"{text}does not belong to this Graph, but was used as an argument!")
        if given not in seen:
            raise RuntimeError(f"{text}was used before it has been defined!\n{self}")

    def _check_place(self, node: Node) -> None:
        place, path = self.owning_module, node.target.split(".")
        for i, part in enumerate(path):
            place = getattr(place, part, None)
            if place is None:
                problem = f"references nonexistent attribute {part} of {'.'.join(path[:i])}"
                raise RuntimeError(f"Node {node} target {node.target} {problem}")
            if node.op == "call_module" and not isinstance(place, Module):
                problem = f"{part} of {'.'.join(path[:i])} does not reference an nn.Module"
                raise RuntimeError(f"Node {node} target {node.target} {problem}")

    # ---- code and texts

    def python_code(
        self, root_module: str, *, verbose: bool = False, include_stride: bool = False,
        include_device: bool = False, colored: bool = False, expanded_def: bool = False,
        additional_meta: list[str] | None = None, **unused: Any,
    ) -> PythonCode:  # fmt: skip
        """The program as Python: the source of `forward`, and the globals that it needs.

        Args:
            root_module: what the module is called there: "self".
            verbose: with dtypes and sizes (`include_stride`, `include_device`: those too).
            colored: accepted; there are no colours.
            expanded_def: inputs stand on lines of their own.
            additional_meta: keys of `meta` whose values are shown too.
        """
        names = Names()
        for node in self.nodes:
            node._repr_fn = lambda n: names.create_name(n.name, n)
        try:
            return self._codegen._gen_python_code(
                self.nodes, root_module, names, verbose=verbose, include_stride=include_stride,
                include_device=include_device, expanded_def=expanded_def,
                additional_meta=additional_meta,
            )  # fmt: skip
        finally:
            for node in self.nodes:
                node._repr_fn = None

    def set_codegen(self, codegen: CodeGen) -> None:
        """Let `codegen` make the code from now on."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> "_Transformed":
        """Change the lines of code: `make_transformer` gets the function that did it until now, or
        None, and gives the one that does it from now on, or inside a `with`."""
        return _Transformed(self._codegen, make_transformer(self._codegen._body_transformer))

    def process_inputs(self, *args: Any) -> Any:
        """Arguments of the module as the graph's inputs."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the graph gives as the module's result."""
        return self._codegen.process_outputs(out)

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        from rich.console import Console  # only who prints needs it
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for head in ("opcode", "name", "target", "args", "kwargs"):
            table.add_column(head, overflow="fold")
        for n in self.nodes:
            table.add_row(*map(str, (n.op, n.name, n.target, n.args, n.kwargs)))
        Console(markup=False, highlight=False).print(table)

    def __str__(self) -> str:
        return "graph():" + "".join(f"\n    {node.format_node()}" for node in self.nodes)


def _has(module: Any, qualified_name: str) -> bool:
    """Whether there is a module, parameter or buffer."""
    path, _, name = qualified_name.rpartition(".")
    try:
        place = module.get_submodule(path)
    except AttributeError:
        return False
    found = getattr(place, name, None)
    return isinstance(found, Module | Parameter) or name in place._buffers


class _Nodes:
    """A view on a graph's nodes; nodes may be erased and inserted on the way."""

    def __init__(self, graph: Graph, direction: str) -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        node = getattr(self.graph._root, self.direction)
        while node is not self.graph._root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> Iterator[Node]:
        return iter(_Nodes(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _Insertion:
    """Where nodes are inserted: from now on, and until the end of a `with`."""

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self._graph, self._before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._graph._insert = self._before


class _Transformed:
    """What changes the lines of code: from now on, and until the end of a `with`."""

    def __init__(self, codegen: CodeGen, transformer: Any) -> None:
        self._codegen, self._before = codegen, codegen._body_transformer
        codegen._body_transformer = transformer

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self._codegen._body_transformer = self._before
