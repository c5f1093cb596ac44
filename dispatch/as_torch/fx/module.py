"""`GraphModule`: a module whose `forward` is made of a graph.

Source of the semantics: `torch/fx/graph_module.py`.
"""

import copy
import itertools
import linecache
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dispatch import Tensor
from dispatch._C import naming
from dispatch.as_torch.fx.code import PythonCode, _PyTreeCodeGen
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.names import BUILT_IN, is_of_package
from dispatch.as_torch.fx.node import Node
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.as_torch.serialization import load, save

__all__ = ["GraphModule"]

_sources: dict[str, str] = {}
_numbers = itertools.count()
retrace: list[Callable[..., Any]] = []  # what gives a pickle its graph; tracers set it


class _Loader:
    """Shows tracebacks the lines of code that was made."""

    @staticmethod
    def get_source(name: str) -> str | None:
        return _sources.get(name)


def _compiled(source: str, names: dict[str, Any], place: str = "") -> Any:
    """`forward` of the source; tracebacks say where the program is (`place`) that it is made of."""
    key = f"<eval_with_key>.{next(_numbers)}{place and f' from {place}'}"
    _sources[key] = source
    names = dict(names, __file__=key, __name__=key, __loader__=_Loader)
    linecache.lazycache(key, names)
    exec(compile(source, key, "exec", dont_inherit=True), names)
    return names["forward"]


class GraphModule(Module):
    """A module with a graph, whose `forward` is compiled of it (torch.fx.GraphModule).

    Args:
        root: a module, or a dict of targets, that has what the graph's nodes name.
        graph: assigning another one, or `recompile()` after a change, makes the code anew.
        class_name: what the class is called.

    Each object has a class of its own, as each has a `forward` of its own.

    Raises:
        RuntimeError: `root` lacks a target, or is neither a module nor a dict.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        kind = next(k for k in cls.__mro__ if not k.__dict__.get("_is_of_one_object"))
        own = type("GraphModule", (kind,), {"_is_of_one_object": True, "__module__": __name__})
        return super().__new__(own)

    def __init__(
        self, root: Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        self._begin(class_name)
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            self.training = getattr(root, "training", True)
            names = (*targets, *_all_names(root)) if isinstance(root, _Copied) else targets
            for target in names:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for target in sorted(targets, key=lambda t: t.count(".")):
                if target not in root:
                    problem = "but that target was not provided in ``root``!"
                    raise RuntimeError(f"a node referenced target {target} {problem}")
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {type(root)} passed for root!")
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = None if tracer and "<locals>" in tracer.__qualname__ else tracer
        self._tracer_extras = graph._tracer_extras or {}

    def _begin(self, class_name: str) -> None:
        """Without a graph and attributes yet."""
        super().__init__()
        type(self).__name__ = class_name
        self._replace_hooks: list[Any] = []
        self._create_node_hooks: list[Any] = []
        self._erase_node_hooks: list[Any] = []
        self._deepcopy_hooks: list[Any] = []
        self.meta: dict[str, Any] = {}

    @property
    def graph(self) -> Graph:
        """The graph; assign one to compute another."""
        return self._graph

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(graph)}")
        object.__setattr__(self, "_graph", graph)
        graph.owning_module = self
        self.recompile()

    # ---- the code

    @property
    def code(self) -> str:
        """The source of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Make the code anew of the graph as it is now."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec, self._out_spec = codegen.pytree_info[1:]
        made = self._graph.python_code(root_module="self")
        self._code = made.src
        kind = type(self)
        kind.forward = _compiled(made.src, made.globals, self._graph._place)  # type: ignore[method-assign]
        for child in self.children():
            if isinstance(child, GraphModule):
                child.recompile()
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            last = [frame for frame in frames if not frame.filename.endswith(".pyx")][-1]
            if last.filename in _sources:
                print(f"{traceback.format_exc()}\n{_pointed_at(last)}", file=sys.stderr)
            raise

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False,
        include_device: bool = False, colored: bool = False, **more: Any,
    ) -> str:  # fmt: skip
        """The code as a class with dtypes and sizes, printed too unless told otherwise.

        Args:
            more: what `Graph.python_code` takes: `expanded_def`, `additional_meta`.
        """
        more |= {"include_stride": include_stride, "include_device": include_device}
        text = self._readable(self._get_name(), more)
        if print_output:
            print(text)
        return text

    def _readable(self, name: str, detail: dict[str, Any]) -> str:
        made = self._graph.python_code(root_module="self", verbose=True, **detail)
        package = naming.package_name()
        text = _indented(f"class {name}({package}.nn.Module):\n" + made.src.lstrip("\n"))
        inner = [
            child._readable(name, detail)
            for name, child in self.named_children()
            if isinstance(child, GraphModule)
        ]
        return text + _indented("\n".join(["", *inner]))

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self._code, hint])

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write a package that has the module as a class: its code, and its tensors and children
        in files beside it, which are read where the package is imported from.

        Raises:
            OSError: the folder cannot be made or written to.
        """
        place = Path(folder)
        place.mkdir(exist_ok=True)
        tensors = {n: t for n, t in self._buffers.items() if t is not None}
        save(tensors, place / "buffers.pt")
        save(self.state_dict(), place / "state_dict.pt")
        for name, child in self.named_children():
            save(child, place / f"{name}.pt")
        (place / "module.py").write_text(self._source_of_class(module_name))
        (place / "__init__.py").write_text("from .module import *\n")

    def _source_of_class(self, name: str) -> str:
        lines = ["state = load(Path(__file__).parent / 'state_dict.pt')"]
        lines += ["buffers = load(Path(__file__).parent / 'buffers.pt')"]
        for key in self._buffers:
            kept = key not in self._non_persistent_buffers_set
            lines.append(f"self.register_buffer({key!r}, buffers.get({key!r}), {kept})")
        for key, value in self._parameters.items():
            made = value is not None and f"Parameter(state[{key!r}], {value.requires_grad})"
            lines.append(f"self.register_parameter({key!r}, {made or None})")
        for key, _ in self.named_children():
            place = f"Path(__file__).parent / {key + '.pt'!r}"
            lines.append(f"self.add_module({key!r}, load({place}, weights_only=False))")
        begin = "".join(f"\n        {line}" for line in ("super().__init__()", *lines))
        used = (Module, Parameter, load)
        heads = [f"from {one.__module__} import {one.__name__}" for one in used]
        heads += ["from pathlib import Path", _imports(self._graph.python_code("self").globals)]
        body = self._code.strip("\n").replace("\n", "\n    ")
        return (
            "\n".join(heads)
            + f"\n\n__all__ = [{name!r}]\n\n\nclass {name}(Module):\n"
            + f"    def __init__(self):{begin}\n\n    {body}\n"
        )

    # ---- submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at `target`, making those above it; False where something else stands."""
        *path, name = target.split(".")
        place: Module = self
        for part in path:
            found = getattr(place, part, None)
            if found is None:
                found = Module()
                setattr(place, part, found)
            if not isinstance(found, Module):
                return False
            place = found
        place.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at `target`; False where there is none."""
        *path, name = target.split(".")
        place: Any = self
        for part in path:
            place = getattr(place, part, None)
            if not isinstance(place, Module):
                return False
        if not isinstance(getattr(place, name, None), Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node calls or names, nor one above them."""
        used, there = {""}, dict(self.named_modules())
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module" and node.target in there:
                    called = there[node.target].named_modules()
                    used.update(f"{node.target}.{name}" for name, _ in called if name)
        for name in [name for name in there if name not in used]:
            self.delete_submodule(name)

    # ---- copies and pickles

    def __deepcopy__(self, memo: dict[int, Any]) -> "GraphModule":
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        kept = {key: value for key, value in self.__dict__.items() if key != "_graph"}
        copied = _Copied(copy.deepcopy(kept, memo))
        GraphModule.__init__(made, copied, copy.deepcopy(self._graph))
        for key in ("_state_dict_hooks", "_load_state_dict_pre_hooks",
                    "_load_state_dict_post_hooks", "_replace_hooks", "_create_node_hooks",
                    "_erase_node_hooks", "_deepcopy_hooks", "meta"):  # fmt: skip
            if key in copied.__dict__:
                setattr(made, key, copied.__dict__[key])
        for hook in made._deepcopy_hooks:
            hook(made)
        return made

    def __copy__(self) -> "GraphModule":
        made = GraphModule(self, self.graph)
        made.meta = self.meta
        return made

    def _replicate_for_data_parallel(self) -> "GraphModule":
        """A copy: a replica has no code of its own otherwise."""
        made = self.__copy__()
        made._is_replica = True
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        kept = {key: value for key, value in self.__dict__.items() if key != "_graph"}
        return reduce_graph_module, (kept, _imports(self.recompile().globals))

    # ---- hooks

    @contextmanager
    def _set_replace_hook(self, f: Callable[..., Any]) -> Iterator[None]:
        """Call `f(old=, new=, user=)` when a node's input is replaced, inside a `with`."""
        self._replace_hooks.append(f)
        try:
            yield
        finally:
            self._replace_hooks.remove(f)

    def _register_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f: Callable[..., Any]) -> None:
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Callable[[Node], Any]) -> None:
        self._erase_node_hooks.remove(f)

    def _register_deepcopy_hook(self, f: Callable[["GraphModule"], Any]) -> None:
        self._deepcopy_hooks.append(f)

    def _unregister_deepcopy_hook(self, f: Callable[["GraphModule"], Any]) -> None:
        self._deepcopy_hooks.remove(f)


class _Copied(Module):
    """What a graph module kept, without its graph: the root of its copy."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _all_names(root: Module) -> Iterator[str]:
    """Its own children, then parameters and buffers of all."""
    for names in (root.named_children(), root.named_buffers(), root.named_parameters()):
        for name, _ in names:
            yield name


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """The module of a pickle: its code is traced once more, so that it has a graph."""
    forward = _compiled(import_block + body["_code"], {})
    made: Module = retrace[0](_Copied(body), forward)
    return made


def _imports(names: dict[str, Any]) -> str:
    """The lines that bring the names of generated code."""
    lines = {"import torch" if naming.package_name() == "torch" else "import dispatch"}
    for name, value in names.items():
        if name in BUILT_IN:
            lines.add(_import_of(name))
        elif name != naming.package_name() and not is_of_package(value):
            lines.add(f"from {value.__module__} import {value.__qualname__} as {name}")
    return "\n".join(sorted(lines))


def _import_of(name: str) -> str:
    line = BUILT_IN[name][0]
    if naming.package_name() == "torch":
        return line
    places = (
        ("torch.utils._pytree", "dispatch.pytree"),
        ("torch.fx._pytree", "dispatch.as_torch.fx.flat"),
        ("from torch", "from dispatch"),
    )  # fmt: skip
    for theirs, ours in places:
        line = line.replace(theirs, ours)
    return line


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Let `to_module` have what `from_module` has at `target`, under modules of its own."""
    *path, name = target.split(".")
    for part in path:
        source, place = getattr(from_module, part), getattr(to_module, part, None)
        if source is place:
            return
        if place is None:
            place = Module()
            setattr(to_module, part, place)
        from_module, to_module = source, place
    _assign_attr(getattr(from_module, name), to_module, name)


def _assign_attr(value: Any, module: Any, target: str) -> None:
    """Put a value at `target`; tensors become buffers."""
    *path, name = target.split(".")
    for part in path:
        if getattr(module, part, None) is None:
            setattr(module, part, Module())
        module = getattr(module, part)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        module.register_buffer(name, value)
    else:
        setattr(module, name, value)


def _indented(text: str) -> str:
    """All lines but the first four further in, blank ones empty."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"    {line}" if line.strip() else "" for line in rest)])


def _pointed_at(frame: traceback.FrameSummary) -> str:
    """What stood where a call of generated code failed."""
    line, number = frame.line or "", frame.lineno or 0
    lines = linecache.getlines(frame.filename)
    what = f"line {number} of the traced Module's generated forward function:"
    after = "\n".join(lines[number : number + 2])
    mark = "~" * len(line) + "~~~ <--- HERE"
    before = "".join(lines[number - 2 : number])
    return f"Call using an FX-traced Module, {what}\n{before}\n{mark}\n{after}"
