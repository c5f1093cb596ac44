"""Python code of a graph: what `GraphModule` compiles, and what `print_readable` shows.

Source of the semantics: `CodeGen` and `_PyTreeCodeGen` in `torch/fx/graph.py`.
"""

import enum
import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import dispatch
from dispatch import HigherOrderOperator, OpOverload, pytree
from dispatch._C import naming
from dispatch.as_torch.dtype_abbrs import dtype_abbrs
from dispatch.as_torch.fx.names import BUILT_IN, Names, is_of_package, qualified_name, type_text
from dispatch.as_torch.fx.node import Node

__all__ = ["CodeGen", "PythonCode", "inplace_methods", "magic_methods", "reflectable_magic_methods"]

reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}",
    "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}",
    "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}  # fmt: skip
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}",
    "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}",
} | reflectable_magic_methods  # fmt: skip
inplace_methods = {
    f"i{name.rstrip('_')}": "{} " + text.split(" ")[1] + "= {}"
    for name, text in reflectable_magic_methods.items()
    if name not in ("div", "getitem")
} | {"setitem": "{}[{}] = {}"}


@dataclass
class PythonCode:
    """Source, the globals that it needs, and which node each line is of."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """How arguments and results of a module nest where its graph has them flat."""

    orig_args: list[str]
    in_spec: Any
    out_spec: Any


class CodeGen:
    """Makes the code of a graph; derive from it to change what is made (torch.fx.graph.CodeGen)."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        """The line `def forward(self, ...):`."""
        if not free_vars or free_vars[0] != "self":
            free_vars.insert(0, "self")
        given = ", ".join(free_vars)
        if expanded_def:
            given = "\n" + "".join(f"    {name},\n" for name in free_vars)
        return f"def {self._func_name}({given}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        """The line that returns."""
        return f"return {repr_fn(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """Arguments of the module as the graph's inputs."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What the graph gives as the module's result."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """More names for the code to use."""
        return []

    def _gen_python_code(
        self, nodes: Iterable[Node], root_module: str, namespace: Names, *, verbose: bool = False,
        include_stride: bool = False, include_device: bool = False, expanded_def: bool = False,
        additional_meta: list[str] | None = None, **unused: Any,
    ) -> PythonCode:  # fmt: skip
        meta = tuple(additional_meta or ())
        detail = _Detail(verbose, include_stride, include_device, meta)
        writer = _Writer(root_module, namespace, detail)
        for number, node in enumerate(list(nodes)):
            writer.node(number, node, self)
        body = writer.body or ["pass\n"]
        if self._body_transformer is not None:
            body = self._body_transformer(body)
        for name, value in self.additional_globals():
            writer.global_name(name, value)
        head = self.gen_fn_def(
            writer.inputs, writer.result, **({"expanded_def": True} if expanded_def else {})
        )
        wraps = writer.wrap_lines()
        lines, line_of = _numbered(body, head.count("\n") + 1)
        code = "\n".join(lines).lstrip("\n")
        code = "\n".join("    " + line for line in code.split("\n"))
        source = f"\n{wraps}\n\n{head}\n{code}"
        return PythonCode(source, writer.globals, line_of, wraps.count("\n") + 4)


_COUNTER = re.compile(r"# COUNTER: (\d+)")


def _numbered(body: list[str], first: int) -> tuple[list[str], dict[int, int | None]]:
    """The lines without their counters, and the node of each."""
    lines: list[str] = []
    line_of: dict[int, int | None] = {}
    current = None
    for line in "".join(body).split("\n"):
        found = _COUNTER.search(line)
        if found:
            current = int(found.group(1))
        else:
            line_of[len(lines) + first] = current
            lines.append(line)
    return lines, line_of


_OF_TYPING: dict[Any, Any] = {
    list: typing.List, dict: typing.Dict, set: typing.Set, tuple: typing.Tuple,  # noqa: UP006
    frozenset: typing.FrozenSet,  # noqa: UP006
}  # fmt: skip


class _Detail(NamedTuple):
    verbose: bool
    stride: bool
    device: bool
    meta: tuple[str, ...]


class _Writer:
    """The lines of one graph."""

    def __init__(self, root: str, names: Names, detail: _Detail) -> None:
        self.root, self.names, self.detail = root, names, detail
        self.inputs: list[str] = []
        self.body: list[str] = []
        self.result = ""
        self.globals: dict[str, Any] = {}
        self.wrapped: dict[str, None] = {}
        self.place = ""
        package = naming.package_name()
        for name, (_, value) in BUILT_IN.items():
            self.global_name(name, value)
        self.globals[package] = sys.modules[package]

    def global_name(self, hint: str, value: Any) -> str:
        """What the code calls something outside of the graph."""
        if is_of_package(value) and value is not dispatch.device:
            return qualified_name(value)
        name = self.names.create_name(hint, value)
        self.globals.setdefault(name, value)
        return name

    # -- values

    def text(self, value: Any) -> str:
        """An argument."""
        if isinstance(value, Node):
            return repr(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            kind = type(value)
            return f"{self.global_name(qualified_name(kind), kind)}{tuple(value)!r}"
        if isinstance(value, OpOverload | HigherOrderOperator):
            return self.global_name(qualified_name(value), value)
        if isinstance(value, enum.Enum):
            return f"{self.global_name(type(value).__name__, type(value))}.{value.name}"
        if isinstance(value, dispatch.Tensor):
            dtype = str(value.dtype).rpartition(".")[2]
            package = naming.package_name()
            return f"{package}.Tensor(size={list(value.size())}, dtype={dtype})"
        if isinstance(value, tuple):
            return f"({', '.join(map(self.text, value))}{',' if len(value) == 1 else ''})"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.text, (value.start, value.stop, value.step)))})"
        return repr(value)

    def arguments(self, args: Iterable[Any], kwargs: dict[str, Any]) -> str:
        named = (f"{name} = {self.text(value)}" for name, value in kwargs.items())
        return ", ".join([*map(self.text, args), *named])

    def annotation(self, kind: Any) -> str:
        """A type as the code names it."""
        if kind == ():
            return "()"
        name = type_text(kind)
        if isinstance(kind, types.UnionType) and "|" in name:
            return "|".join(map(self.annotation, typing.get_args(kind)))
        origin = typing.get_origin(kind)
        if origin is None:
            return self.global_name(name, kind)
        if type(kind).__module__ == "typing":  # `List[int]` stays one
            origin = _OF_TYPING.get(origin, origin)
        base = self.global_name(type_text(origin), origin)
        inner = ",".join(map(self.annotation, typing.get_args(kind)))
        return f"{base}[{inner}]" if inner else base

    # -- lines

    def node(self, number: int, node: Node, codegen: CodeGen) -> None:
        """The lines of one node, and the end of values that nobody uses after it."""
        if self.detail.verbose and node.op not in ("placeholder", "output"):
            self._say_place(node)
        self.body.append(f"# COUNTER: {number}\n")
        kind = "" if node.type is None else f" : {self.annotation(node.type)}"
        if self.detail.verbose:
            kind = self._described(node) or kind
        if node.op == "placeholder":
            self._input(node, kind)
            return
        if node.op == "output":
            if node.type is not None:
                self.result = f" -> {self.annotation(node.type)}"
            made = codegen.generate_output
            known = inspect.signature(made).parameters  # those of programs may take no `repr_fn`
            given = {"repr_fn": self.text} if "repr_fn" in known else {}
            self.body += [made(node.args[0], **given), "\n"]
            return
        self.body.append(getattr(self, f"_{node.op}")(node, f"{node!r}{kind}"))
        dead = [repr(n) for n in _ended_by(node)]
        self.body.append(f";  {' = '.join([*dead, 'None'])}\n" if dead else "\n")

    def _input(self, node: Node, kind: str) -> None:
        default = f" = {self.text(node.args[0])}" if node.args else ""
        self.inputs.append(f"{node.target}{kind}{default}")
        given = node.target.replace("*", "")
        if given != repr(node):
            self.body.append(f"{node!r} = {given}\n")

    def _call_method(self, node: Node, result: str) -> str:
        given = self.arguments(node.args[1:], node.kwargs)
        return f"{result} = {_reached(self.text(node.args[0]), node.target)}({given})"

    def _call_function(self, node: Node, result: str) -> str:
        target, args = node.target, node.args
        if getattr(target, "__module__", "") == "_operator":
            shown = [self.text(arg) for arg in args]
            if target.__name__ in magic_methods:
                return f"{result} = {magic_methods[target.__name__].format(*shown)}"
            if target.__name__ in inplace_methods:
                change = inplace_methods[target.__name__].format(*shown)
                return f"{change};  {result} = {shown[0]}"
        name = self.global_name(qualified_name(target), target)
        if name == "getattr" and len(args) == 2 and str(args[1]).isidentifier():
            return f"{result} = {_reached(self.text(args[0]), args[1])}"
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(name)
        return f"{result} = {name}({self.arguments(args, node.kwargs)})"

    def _call_module(self, node: Node, result: str) -> str:
        given = self.arguments(node.args, node.kwargs)
        return f"{result} = {_reached(self.root, node.target)}({given})"

    def _get_attr(self, node: Node, result: str) -> str:
        return f"{result} = {_reached(self.root, node.target)}"

    def wrap_lines(self) -> str:
        """Functions that a tracer leaves alone are so in this code too."""
        package = naming.package_name()
        place = "torch.fx._symbolic_trace" if package == "torch" else "dispatch.as_torch.fx.tracer"
        return "\n".join(f'{place}.wrap("{name}")' for name in self.wrapped)

    # -- what only readers need

    def _say_place(self, node: Node) -> None:
        custom = {key: _short(value) for key, value in node.meta.get("custom", {}).items()}
        noted = f" Annotation: {custom}" if custom else ""
        asked = [f"{key}: {node.meta[key]}" for key in self.detail.meta if key in node.meta]
        before = f"# {', '.join(asked)} " if asked else ""
        place = f"\n{before}#{noted} {_summary(node.stack_trace)}\n"
        if place != self.place:
            self.place = place
            self.body.append(place)

    def _described(self, node: Node) -> str:
        value = node.meta.get("val", node.meta.get("tensor_meta", node.meta.get("example_value")))
        if isinstance(value, dispatch.Tensor):
            text = f"{dtype_abbrs[value.dtype]}{_sizes(value.shape)}"
            text += _sizes(value.stride()) if self.detail.stride else ""
            text += str(value.device) if self.detail.device else ""
            plain = type(value) is dispatch.Tensor or isinstance(value, dispatch.FakeTensor)
            return f': "{text}"' if plain else f': "{type(value).__name__}({text})"'
        if isinstance(value, dispatch.SymInt | dispatch.SymFloat | dispatch.SymBool):
            return f': "Sym({value!r})"'
        if value is not None and hasattr(value, "memory_format"):
            return f': "{dtype_abbrs[value.dtype]}{_sizes(value.shape)}"'
        return ""


def _sizes(sizes: Iterable[Any]) -> str:
    return f"[{', '.join(map(str, sizes))}]"


def _ended_by(node: Node) -> list[Node]:
    """The values whose last use this is; the node itself, if nobody uses it."""
    ended = [given for given in node._input_nodes if max(given.users) is node]
    return ended if node.users else [*ended, node]


def _reached(base: str, path: str) -> str:
    for part in path.split("."):
        base = f"{base}.{part}" if part.isidentifier() else f'getattr({base}, "{part}")'
    return base


_FRAME = re.compile(r'File "(.+)", line (\d+), in (.+)$')


def _short(value: Any) -> Any:
    """The value, or the beginning of a long text of it."""
    text = str(value)
    return f"{text[:40]}..." if len(text) > 40 else value


def _summary(trace: str | None) -> str:
    """The innermost line of a stack trace, as one line."""
    lines = (trace or "").strip().split("\n")
    for i in range(len(lines) - 2, -1, -1):
        found = _FRAME.match(lines[i].strip())
        if found:
            file, line, name = found.groups()
            return f"File: {file}:{line} in {name}, code: {lines[i + 1].strip()}"
    return "No stacktrace found for following nodes"


class _PyTreeCodeGen(CodeGen):
    """Code of a graph whose inputs and outputs are flat, where its module's are nests."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info.out_spec is None:
            return out
        leaves = out if isinstance(out, list | tuple) else [out]
        return pytree.tree_unflatten(leaves, self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars: list[str], maybe_return_annotation: str, *, expanded_def: bool = False
    ) -> str:
        given = list(self.pytree_info.orig_args)
        flat = ["self", *free_vars] if given[:1] == ["self"] else free_vars
        head = super().gen_fn_def(list(given), maybe_return_annotation, expanded_def=expanded_def)
        if not flat:
            return head
        noted = [name for name in flat if ":" in name]
        if noted:
            head += "\n    " + "".join(f"{name}; " for name in noted) + "\n"
        names = ", ".join(name.split(":")[0].split("#")[0] for name in flat)
        return f"{head}\n    {names}, = fx_pytree.tree_flatten_spec({self._nested(given)})"

    def _nested(self, given: list[str]) -> str:
        spec = self.pytree_info.in_spec
        children = spec.children() if spec.type is tuple else []
        if [child.type for child in children] == [tuple, dict]:
            count = children[0].num_children
            named = zip(children[1].context, given[count:], strict=False)
            kwargs = ", ".join(f"'{key}':{name}" for key, name in named)
            return f"([{', '.join(given[:count])}], {{{kwargs}}}), self._in_spec"
        return f"[{', '.join(given)}], self._in_spec"

    def generate_output(self, output_args: Any, *, repr_fn: Callable[[Any], str] = repr) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args, repr_fn=repr_fn)
        return f"return pytree.tree_unflatten({repr_fn(output_args)}, self._out_spec)"
