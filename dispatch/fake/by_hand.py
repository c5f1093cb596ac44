"""The parts of a fake call as methods of FakeTensorMode, for programs that run them alone.

The handler itself does the same in C (`propagate`, `constants`)
(torch._subclasses.fake_tensor.FakeTensorMode).
"""

from collections.abc import Sequence
from typing import Any

from dispatch._C.tags import Tag
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["FALLBACK_NAMESPACES"]

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
    """Refused: AssertionError outside of the mode's block, NotImplementedError in it."""
    if nt_tensor_id is None and not self.enter_stack:
        raise AssertionError("create_symbolic_nested_int: only while the mode is active")
    raise NotImplementedError("create_symbolic_nested_int: there are no symbolic sizes yet")


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
        value: Any = args[i] if i < len(args) else kwargs.get(spec.name)
        written = spec.alias_info is not None and spec.alias_info.is_write
        if written and self.is_our_fake(value) and value.constant is not None:
            self.fake_tensor_converter.invalidate_constant_aliases(value.constant)


def validate_and_convert_non_fake_tensors(
    self: Any, func: Any, converter: Any, flat_args: Sequence[Any], args_spec: Any
) -> tuple[list[Any], list[Any]]:
    """The arguments with real tensors made fake, and the fake tensors among them.

    Raises: AssertionError where the mode does not allow real tensors, or those of another mode.
    """
    from dispatch.fake.settings import fake_tensor_tls

    override = fake_tensor_tls.allow_non_fake_inputs_override
    allowed = self.allow_non_fake_inputs if override is None else override

    def converted(value: Any) -> Any:
        if not isinstance(value, Tensor) or self.is_our_fake(value):
            return value
        if not allowed or Tag.inplace_view in getattr(func, "tags", ()):
            raise AssertionError(
                f"{func}: got a tensor that is no fake tensor of this mode: convert it with "
                "from_tensor, or make the mode with allow_non_fake_inputs"
            )
        return converter.from_real_tensor(self, value)

    values = [converted(a) for a in flat_args]
    return values, [v for v in values if isinstance(v, Tensor)]


def wrap_meta_outputs_with_default_device_logic(
    self: Any, r: Any, func: Any, flat_args: Sequence[Any], device: Any
) -> Any:
    """Give a Meta kernel's outputs the common device of the call, or `device`.

    Raises: FakeTensorDeviceMismatchError; AssertionError when nothing tells the device;
    RuntimeError for a fake output on another one.
    """
    from dispatch.fake.fake_tensor import FakeTensor
    from dispatch.pytree import tree_map

    def wrapped(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        common, numbers_only = FakeTensor._find_common_device(func, flat_args)
        if self.is_our_fake(value):
            if value.device != common:
                raise RuntimeError(f"{func}: an output is on {value.device}, expected {common}")
            return value
        if numbers_only:
            return self.fake_tensor_converter.from_real_tensor(self, value)
        return self.fake_tensor_converter.from_meta_and_device(self, value, device or common)

    return tree_map(wrapped, r)
