"""The module of an exported program: what `ExportedProgram.module()` gives.

Its parameters and buffers stand in modules named as those that were exported; a call flattens its
arguments as the exported module's were, and the loaded program computes with the tensors that the
modules have then.
"""

import copy
import json
from typing import Any

from dispatch import Tensor, pytree
from dispatch._C.generated.type_names import EXPORTED_DTYPES
from dispatch.as_torch import fx
from dispatch.as_torch.exported.nodes import modules_of, needs_grad, unlifted
from dispatch.as_torch.nn.modules.module import Module
from dispatch.as_torch.nn.parameter import Parameter
from dispatch.graph import GraphModule as Program

__all__ = ["ExportedModule", "weights_of"]


def weights_of(program: Program) -> dict[str, Any]:
    """Parameters, buffers and constants by name, parameters as such; they share the memory that
    runs use."""
    found: dict[str, Any] = {}
    for binding in program.signature.bindings:
        if binding.is_weight:
            tensor = program._store_of(binding.target)[binding.target]
            if binding.kind == "parameter":
                tensor = Parameter(tensor, requires_grad=needs_grad(binding.meta, tensor))
            found[binding.target] = tensor
    return found


class ExportedModule(fx.GraphModule):
    """A loaded program that is called like the module that was exported.

    The program computes; `graph` and `code` are made of it when somebody asks, and compute from
    `recompile()` on, or when another graph is assigned.
    """

    def __init__(self, program: Program, weights: dict[str, Any]) -> None:
        self._begin("GraphModule")
        object.__setattr__(self, "_program", program)
        object.__setattr__(self, "_used", dict(weights))
        for binding in program.signature.bindings:
            if binding.is_weight:
                *path, name = binding.target.split(".")
                place: Module = self
                for part in path:
                    if part not in place._modules:
                        place.add_module(part, Module())
                    place = place._modules[part]
                tensor = weights[binding.target]
                if binding.kind == "parameter":
                    place.register_parameter(name, tensor)
                elif binding.kind == "tensor_constant":
                    setattr(place, name, tensor)
                else:
                    place.register_buffer(name, tensor, binding.in_state_dict)

    @property
    def _graph(self) -> fx.Graph:
        made = self.__dict__.get("_made")
        if made is None:
            made = unlifted(self._program)
            for name, module in modules_of(made).items():
                self.add_module(name, module)
            made.owning_module = self
            self.__dict__["_made"] = made
        return made

    @_graph.setter
    def _graph(self, graph: fx.Graph) -> None:
        self.__dict__["_made"] = graph

    @property
    def code(self) -> str:
        """The source of the graph as Python."""
        return self._graph.python_code(root_module="self").src

    _code = code

    def _as_plain(self) -> fx.GraphModule:
        """A graph module like others, whose code computes."""
        return fx.GraphModule(self, copy.deepcopy(self._graph))

    def __deepcopy__(self, memo: dict[int, Any]) -> fx.GraphModule:
        return copy.deepcopy(self._as_plain(), memo)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._as_plain().__reduce__()

    def train(self, mode: bool = True) -> Any:
        """NotImplementedError: what was exported is fixed."""
        raise NotImplementedError("Calling train() is not supported yet.")

    def eval(self) -> Any:
        """NotImplementedError: what was exported is fixed."""
        raise NotImplementedError("Calling eval() is not supported yet.")

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute.

        Raises:
            ValueError: arguments of another structure than the exported ones.
            AssertionError: sizes that do not fit; RuntimeError: other mistakes.
        """
        leaves = _flattened(self._program, args, kwargs)
        self._take_weights()
        try:
            self._program.signature.bind(leaves)
        except RuntimeError as error:
            if self._has_types(leaves):
                raise AssertionError(f"{self._program.name}: {error}") from None
        return self._program(*leaves)

    def _has_types(self, leaves: list[Any]) -> bool:
        """Whether all tensors are of the recorded types and ranks: a mistake is one of sizes."""
        wanted = [b.meta for b in self._program.signature.user_bindings]
        return len(leaves) == len(wanted) and all(
            meta is None
            or (
                isinstance(leaf, Tensor)
                and str(leaf.dtype).endswith(f".{EXPORTED_DTYPES[meta.dtype]}")
                and leaf.dim() == len(meta.sizes)
            )
            for leaf, meta in zip(leaves, wanted, strict=True)
        )

    def _take_weights(self) -> None:
        """Compute with the tensors that stand here now."""
        own = {n: self._tensor_at(n) for n in self._used}
        changed = {n: t for n, t in own.items() if t is not self._used[n]}
        if changed:
            self._program.load_state_dict(
                {n: t.data if isinstance(t, Parameter) else t for n, t in changed.items()}, False
            )
            self._used.update(changed)

    def _tensor_at(self, name: str) -> Any:
        path, _, last = name.rpartition(".")
        return getattr(self.get_submodule(path), last)


def _flattened(program: Program, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves of the arguments, in the order of the program's inputs."""
    call = next((e.signature for e in program.program.graph_module.module_call_graph), None)
    if call is None or not call.in_spec:
        return pytree.tree_leaves((args, kwargs))
    wanted = pytree.treespec_loads(call.in_spec)
    keys = json.loads(json.loads(call.in_spec)[1]["children_spec"][1]["context"] or "[]")
    if kwargs.keys() != set(keys):
        given = f"given by name were {sorted(kwargs)}"
        raise ValueError(f"{program.name}: exported with {sorted(keys)} by name; {given}")
    try:
        leaves: list[Any] = wanted.flatten_up_to((args, {key: kwargs[key] for key in keys}))
    except ValueError as error:
        problem = f"the arguments are not nested as the exported ones: {error}"
        raise ValueError(f"{program.name}: {problem}") from None
    return leaves
