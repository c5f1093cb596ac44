"""The parts of a fake call as methods of FakeTensorMode, for programs that run them alone.

What the handler does in C is called from here, never repeated: `propagate`, `constants`, `devices`
(torch._subclasses.fake_tensor, its FakeTensorMode above all).
"""

import functools
from collections.abc import Sequence
from typing import Any

from dispatch._C.schema_info import _SchemaInfo
from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import ops
from dispatch.fake.constants import drop_constant
from dispatch.fake.devices import find_common_device
from dispatch.fake.fake_tensor import FakeTensor
from dispatch.fake.propagate import as_fake

__all__ = [
    "FALLBACK_NAMESPACES",
    "_device_handler",
    "get_schema_info",
    "torch_decomp_decompositions",
    "tree_flatten_only",
]

# PyTorch's list: the fallback is not to be trusted with operators of others.
FALLBACK_NAMESPACES = dict.fromkeys(
    ("debugprims", "prims", "aten", "xla", "vision", "torchtext", "torchaudio", "quantized"), True
)

_SYMBOLIC_CPP_METAS = frozenset((
    "aten::empty.memory_format", "aten::empty_strided", "aten::as_strided_scatter",
    "aten::as_strided", "aten::as_strided_", "aten::zeros", "aten::detach", "aten::view_as_real",
    "aten::view_as_complex", "aten::set_.source_Storage_storage_offset",
    "aten::_sparse_coo_tensor_with_dims_and_tensors",
))  # fmt: skip


def can_run_unsafe_fallback(self: Any, func: Any) -> bool:
    """Whether an operator without a Meta kernel may run its real kernel on zeros."""
    return self.allow_fallback_kernels and func.namespace in FALLBACK_NAMESPACES


def cpp_meta_supports_symint(self: Any, func: Any) -> bool:
    """Whether PyTorch's Meta kernel in C++ takes symbolic sizes."""
    return Tag.view_copy in func.tags or func.name() in _SYMBOLIC_CPP_METAS


def create_symbolic_nested_int(self: Any, *, nt_tensor_id: int | None = None) -> Any:
    """A symbol whose hint is a nested int: the next one, or that of this number."""
    if nt_tensor_id is None:
        if not self.enter_stack:
            raise AssertionError("create_symbolic_nested_int: only while the mode is active")
        nt_tensor_id = self.nt_tensor_id_counter
        self.nt_tensor_id_counter += 1
    from dispatch.symbolic import EphemeralSource, _get_nested_int  # a room that few programs load

    if self.shape_env is None:
        raise AssertionError("create_symbolic_nested_int: the mode has no ShapeEnv")
    hint = _get_nested_int(nt_tensor_id, 1)
    source = EphemeralSource("intermediate_offsets_or_lengths")
    symbol = self.shape_env.create_symbol(hint, source)
    return self.shape_env.create_symintnode(symbol, hint=hint, source=source)


def reset_nt_tensor_id_counter(self: Any) -> None:
    """Start the numbers of nested tensors' offsets anew."""
    self.nt_tensor_id_counter = self.nt_tensor_id_initial_count


def lift_fns(self: Any) -> dict[Any, bool]:
    """The operators that show a new tensor to the modes."""
    return {ops.aten.lift_fresh.default: True, ops.aten.lift_fresh_copy.default: True}


def invalidate_written_to_constants(
    self: Any,
    func: Any,
    flat_arg_fake_tensors: Sequence[Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
) -> None:
    """Forget the values of what shares storage with the arguments that `func` writes to."""
    for i, spec in enumerate(func._schema.arguments):
        if spec.alias_info is not None and spec.alias_info.is_write:
            drop_constant(self, args[i] if i < len(args) else kwargs.get(spec.name))


def validate_and_convert_non_fake_tensors(
    self: Any, func: Any, converter: Any, flat_args: Sequence[Any], args_spec: Any
) -> tuple[list[Any], list[Any]]:
    """The arguments with real tensors made fake, and the fake tensors among them.

    Raises: AssertionError where the mode does not allow real tensors, or those of another mode.
    """
    changes_metadata = Tag.inplace_view in getattr(func, "tags", ())
    values = as_fake(self, converter, func, changes_metadata, list(flat_args))
    return values, [v for v in values if isinstance(v, Tensor)]


def wrap_meta_outputs_with_default_device_logic(
    self: Any, r: Any, func: Any, flat_args: Sequence[Any], device: Any
) -> Any:
    """Give a Meta kernel's outputs the common device of the call, or `device`.

    Raises: FakeTensorDeviceMismatchError; AssertionError when nothing tells the device;
    RuntimeError for a fake output on another one.
    """
    from dispatch.pytree import tree_map_only  # on a path that calls rarely take

    common, numbers_only = find_common_device(func, flat_args)
    converter = self.fake_tensor_converter
    for t in tree_flatten_only(Tensor, r):
        if self.is_our_fake(t) and t.device != common:
            raise RuntimeError(f"{func}: an output is on {t.device}, expected {common}")

    def wrapped(t: Any) -> Any:
        if numbers_only:
            return converter.from_real_tensor(self, t)
        return converter.from_meta_and_device(self, t, device or common)

    return tree_map_only(Tensor, lambda t: t if self.is_our_fake(t) else wrapped(t), r)


def _device_handler(args: Any) -> Any:
    """The answer to `prim.device` for one fake tensor. AssertionError for anything else."""
    if len(args) != 1 or not isinstance(args[0], FakeTensor):
        raise AssertionError("prim.device: expected exactly one fake tensor")
    return args[0].device


@functools.cache
def get_schema_info(func: Any) -> Any:
    """The `_SchemaInfo` of an operator, one for each."""
    return _SchemaInfo(func._schema)


def torch_decomp_decompositions(func: Any) -> bool:
    """Whether PyTorch's Python decomposition of an operator comes before its Meta kernel.

    Raises: KeyError: there are no Python decompositions here.
    """
    raise KeyError(func)


def tree_flatten_only(ty: Any, tree: Any) -> list[Any]:
    """The leaves of a tree that are instances of `ty`."""
    from dispatch.pytree import tree_leaves

    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, ty)]
