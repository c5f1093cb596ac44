"""What a graph's values are like, found by running it: `ShapeProp` and `FakeTensorProp`.

Source of the semantics: `torch/fx/passes/shape_prop.py` and `fake_tensor_prop.py`.
"""

from typing import Any, NamedTuple

import dispatch
from dispatch import FakeTensor, FakeTensorMode, SymBool, SymFloat, SymInt, Tensor
from dispatch.as_torch.fx.interpreter import Interpreter
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, map_aggregate
from dispatch.as_torch.guards import detect_fake_mode
from dispatch.symbolic import compute_unbacked_bindings, rebind_unbacked

__all__ = ["FakeTensorProp", "PropagateUnbackedSymInts", "ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """Sizes, dtype and memory of a tensor."""

    shape: Any
    dtype: Any
    requires_grad: bool
    stride: tuple[Any, ...]
    memory_format: Any
    is_quantized: bool
    qparams: dict[str, Any]


def _extract_tensor_metadata(result: Tensor, include_contiguity: bool = True) -> TensorMetadata:
    """What `meta["tensor_meta"]` has of a tensor."""
    formats = (
        dispatch.contiguous_format, dispatch.channels_last, dispatch.channels_last_3d,
    )  # fmt: skip
    known = None
    if include_contiguity:
        fits = (f for f in formats if result.is_contiguous(memory_format=f))
        known = next(fits, None)
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), known, False, {}
    )


class ShapeProp(Interpreter):
    """Runs a graph; its nodes say in `meta["tensor_meta"]` and `["type"]` what came out.

    Args:
        gm: the module.
        fake_mode: runs on fake tensors of this mode; parameters become such, too.
    """

    def __init__(self, gm: GraphModule, fake_mode: FakeTensorMode | None = None) -> None:
        super().__init__(gm)
        self.fake_mode = fake_mode

    def fetch_attr(self, target: str) -> Any:
        """An attribute of the module, fake under a fake mode."""
        found = super().fetch_attr(target)
        if self.fake_mode is not None and isinstance(found, Tensor):
            return self.fake_mode.from_tensor(found)
        return found

    def run_node(self, n: Node) -> Any:
        """Run it, and say what came out.

        Raises:
            RuntimeError: it failed; the text has the node.
        """
        try:
            result = super().run_node(n)
        except Exception as error:
            problem = f"node={n.format_node()} with meta={n.meta}"
            raise RuntimeError(f"ShapeProp error for: {problem}") from error
        found = False

        def described(value: Any) -> Any:
            nonlocal found
            if not isinstance(value, Tensor):
                return value
            found = True
            return _extract_tensor_metadata(value)

        meta = map_aggregate(result, described)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args: Any) -> Any:
        """Run with these arguments. Returns the result."""
        if self.fake_mode is None:
            return self.run(*args)
        mode = self.fake_mode
        given = [mode.from_tensor(a) if isinstance(a, Tensor) else a for a in args]
        with mode:
            return self.run(*given)


class FakeTensorProp(Interpreter):
    """Runs a graph on fake tensors; its nodes get them as `meta["val"]`.

    Args:
        module: the module.
        mode: whose tensors; a new one otherwise.
    """

    def __init__(self, module: GraphModule, mode: FakeTensorMode | None = None) -> None:
        super().__init__(module)
        self._mode = FakeTensorMode() if mode is None else mode

    def fetch_attr(self, target: str) -> Any:
        """An attribute of the module, as a fake tensor where it is a tensor."""
        found = super().fetch_attr(target)
        if isinstance(found, Tensor) and not isinstance(found, FakeTensor):
            return self._mode.from_tensor(found, static_shapes=True)
        return found

    def run_node(self, n: Node) -> Any:
        """Run it, and keep what came out; the symbols of data are those of the node's last run."""
        result = super().run_node(n)
        env = self._mode.shape_env
        rebind_unbacked(env, n, result)

        def kept(value: Any) -> Any:
            if isinstance(value, FakeTensor):
                return value.detach()
            if isinstance(value, Tensor):
                return self._mode.from_tensor(value, static_shapes=True)
            numbers = (SymInt, SymFloat, SymBool, int, float, bool)
            return value if isinstance(value, numbers) else None

        meta = map_aggregate(result, kept)
        if meta is not None:
            n.meta["val"] = meta
            made = compute_unbacked_bindings(env, result)
            if made:
                n.meta["unbacked_bindings"] = made
        return result

    def propagate(self, *args: Any) -> Any:
        """Run with these arguments as fake tensors. Returns the result."""
        fakes = [self._mode.from_tensor(a) if isinstance(a, Tensor) else a for a in args]
        return self.propagate_dont_convert_inputs(*fakes)

    def propagate_dont_convert_inputs(self, *args: Any) -> Any:
        """Run with these arguments. Returns the result."""
        with self._mode:
            return self.run(*args)


class PropagateUnbackedSymInts(Interpreter):
    """Runs a graph again: the symbols of data that come out are those that its nodes had before."""

    def run_node(self, n: Node) -> Any:
        """Run it, and bind the symbols of its result again.

        Raises:
            AssertionError: no fake mode is active.
        """
        result = super().run_node(n)
        mode = detect_fake_mode()
        if mode is None:
            raise AssertionError("PropagateUnbackedSymInts: no fake mode is active")
        rebind_unbacked(mode.shape_env, n, result)
        return result
