"""`ExportedProgram`: a loaded program under the names of `torch.export`'s.

It holds a `dispatch.graph.GraphModule`; what it shows is made at the first question. Programs are
made and transformed where PyTorch is: methods for that say so.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from dispatch import pytree, symbolic
from dispatch.as_torch import fx
from dispatch.as_torch.exported import signature
from dispatch.as_torch.exported.module import ExportedModule, weights_of
from dispatch.as_torch.exported.nodes import graph_of, module_of
from dispatch.graph import GraphModule as Program, load as read

__all__ = ["CallSpec", "ExportedProgram", "ModuleCallEntry", "ModuleCallSignature", "load"]


def load(
    f: str | os.PathLike[str],
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> "ExportedProgram":
    """Read what `torch.export.save` wrote: a `.pt2` archive.

    Raises:
        OSError: the file cannot be opened.
        RuntimeError: it is no exported program, or a broken one; the text names the place.
        NotImplementedError: extra files and opset versions are not read.
    """
    if extra_files or expected_opset_version:
        raise NotImplementedError("torch.export.load: extra_files and opset versions are not read")
    return ExportedProgram(read(f))


@dataclass
class ModuleCallSignature:
    """How a module is called: the nodes it takes and gives, and how they are nested."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: Any
    out_spec: Any
    forward_arg_names: list[str] | None = None


@dataclass
class ModuleCallEntry:
    """A module by its name, and how it is called if that was kept."""

    fqn: str
    signature: ModuleCallSignature | None = None


def _call_signature(call: Any) -> ModuleCallSignature | None:
    if call is None:
        return None
    names = call.forward_arg_names
    return ModuleCallSignature(
        [signature.argument(given) for given in call.inputs],
        [signature.argument(given) for given in call.outputs],
        pytree.treespec_loads(call.in_spec) if call.in_spec else None,
        pytree.treespec_loads(call.out_spec) if call.out_spec else None,
        None if names is None else list(names),
    )


class CallSpec:
    """How arguments and results are nested."""

    def __init__(self, in_spec: Any, out_spec: Any) -> None:
        self.in_spec, self.out_spec = in_spec, out_spec

    def __repr__(self) -> str:
        return f"CallSpec(in_spec={self.in_spec!r}, out_spec={self.out_spec!r})"


class ExportedProgram:
    """A program that `torch.export` saved: graph, signature, weights; `module()` is called."""

    def __init__(self, loaded: Program) -> None:
        self._loaded = loaded
        self.verifiers: list[Any] = []

    @cached_property
    def _weights(self) -> dict[str, Any]:
        return weights_of(self._loaded)

    def _some_weights(self, names: Any) -> dict[str, Any]:
        return {name: self._weights[name] for name in names}

    @property
    def state_dict(self) -> dict[str, Any]:
        """Parameters and persistent buffers by name."""
        return self._some_weights(self._loaded.state_dict)

    @property
    def constants(self) -> dict[str, Any]:
        """Other buffers and tensors that stood in the source, by name."""
        return self._some_weights(self._loaded.constants)

    @property
    def tensor_constants(self) -> dict[str, Any]:
        """`constants`."""
        return self.constants

    @cached_property
    def graph_signature(self) -> signature.ExportGraphSignature:
        """What the graph takes and gives."""
        return signature.read(self._loaded.program.graph_module.signature)

    @cached_property
    def graph_module(self) -> fx.GraphModule:
        """The graph as a module that takes weights and inputs one after the other."""
        return module_of(graph_of(self._loaded))

    @property
    def graph(self) -> fx.Graph:
        """The graph, with weights as inputs; the program does not change with it."""
        return self.graph_module.graph

    @cached_property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """How each module that was kept is called; the first is the whole program."""
        entries = self._loaded.program.graph_module.module_call_graph
        return [ModuleCallEntry(e.fqn, _call_signature(e.signature)) for e in entries]

    @property
    def call_spec(self) -> CallSpec:
        """How arguments and results are nested."""
        call = next((e.signature for e in self.module_call_graph), None)
        return CallSpec(None, None) if call is None else CallSpec(call.in_spec, call.out_spec)

    @property
    def range_constraints(self) -> dict[Any, symbolic.ValueRanges]:
        """The least and the largest value of each symbol."""
        ranges = self._loaded.program.range_constraints
        return {_Symbol(name): _range(r.min_val, r.max_val) for name, r in ranges.items()}

    @property
    def example_inputs(self) -> None:
        """None: they are not read."""
        return

    @property
    def dialect(self) -> str:
        """Which operators the program is written with, as its exporter checked."""
        return next(iter(self._loaded.program.verifiers), "TRAINING")

    def named_parameters(self) -> Iterator[tuple[str, Any]]:
        """(name, parameter) of each."""
        for name in self.graph_signature.parameters:
            yield name, self._weights[name]

    def parameters(self) -> Iterator[Any]:
        """Each parameter."""
        for _, parameter in self.named_parameters():
            yield parameter

    def named_buffers(self) -> Iterator[tuple[str, Any]]:
        """(name, buffer) of each."""
        for name in self.graph_signature.buffers:
            yield name, self._weights[name]

    def buffers(self) -> Iterator[Any]:
        """Each buffer."""
        for _, buffer in self.named_buffers():
            yield buffer

    def module(self, check_guards: bool = True) -> ExportedModule:
        """A module that computes the program; its tensors are those of `state_dict`."""
        return ExportedModule(self._loaded, self._weights)

    def validate(self) -> None:
        """RuntimeError unless the graph is well formed: what a file says was checked when read."""
        self.graph.lint()

    def print_readable(self, print_output: bool = True) -> str:
        """The graph as Python-like code, printed too unless told otherwise."""
        return self._loaded.print_readable(print_output)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """RuntimeError: what is called is `module()`."""
        raise RuntimeError(
            "Unable to call ExportedProgram directly: use `exported_program.module()` instead"
        )

    def run_decompositions(self, *args: Any, **kwargs: Any) -> NoReturn:
        """RuntimeError: programs are transformed where PyTorch is."""
        raise RuntimeError("run_decompositions: exported programs are read here, not transformed")

    def __str__(self) -> str:
        code = self.graph_module.print_readable(print_output=False).replace("\n", "\n    ")
        specs = str(self.graph_signature).replace("\n", "\n    ")
        ranges = self.range_constraints
        return (
            f"ExportedProgram:\n    {code}\nGraph signature: {specs}\nRange constraints: {ranges}\n"
        )

    __repr__ = object.__repr__


class _Symbol(str):
    """A symbol's name, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _range(low: int | None, high: int | None) -> Any:
    from_ = -symbolic.int_oo if low is None else low
    return symbolic.ValueRanges(from_, symbolic.int_oo if high is None else high)
