"""FunctionalTensor: the subclass that a FunctionalTensorMode hands to programs.

It holds a functional wrapper (`elem`) and answers questions about metadata itself; every other
call belongs to the mode, and a call that comes here without one is an error.
"""

from collections.abc import Callable, Sequence
from typing import Any

from dispatch import _C
from dispatch._C import dtypes
from dispatch._C.dtypes import device as _device
from dispatch._C.keys import DispatchKey
from dispatch._C.tensor import Tensor
from dispatch._ops import OpOverload, ops
from dispatch.fake import FakeTensor
from dispatch.functional import wrappers
from dispatch.modes.stack import _detect_infra_mode

__all__ = ["FunctionalTensor", "mb_unwrap_functional_tensor"]

_aten = ops.aten


def has_foreign_classes(types: Sequence[type]) -> bool:
    """Whether a class that functionalization does not know is among `types`."""
    return any(t not in (Tensor, FakeTensor, FunctionalTensor) for t in types)


def _conversion(**fixed: Any) -> Callable[..., Any]:
    """`float()` and its kin by way of `to`, which the mode sees when it exports."""

    def convert(self: "FunctionalTensor", *args: Any, **kwargs: Any) -> Any:
        return self.to(*args, **{**kwargs, **fixed})

    convert.__doc__ = f"As `to`, with {', '.join(f'{k}={v}' for k, v in fixed.items())}."
    return convert


def active_mode() -> Any:
    """The FunctionalTensorMode on the stack, or on that of the PreDispatch key."""
    return _detect_infra_mode(_C._TorchDispatchModeKey.FUNCTIONAL)


def _needed_mode() -> Any:
    mode = active_mode()
    if mode is None:
        raise AssertionError("a FunctionalTensorMode must be active")
    return mode


class FunctionalTensor(Tensor):
    """A tensor of a program under `FunctionalTensorMode`: `elem` is its functional wrapper.

    Args:
        elem: a functional wrapper (`_to_functional_tensor`).
        mode: the mode that the tensor belongs to.

    Raises:
        AssertionError: `elem` is not functional.
    """

    elem: Tensor
    _mode_key = _C._TorchDispatchModeKey.FUNCTIONAL
    _extra_dispatch_keys = _C._additional_keys_to_prop_for_wrapper_tensors.add(
        DispatchKey.ZeroTensor
    )
    metadata_fns = frozenset(
        {
            _aten.is_contiguous.default,
            _aten.is_contiguous.memory_format,
            _aten.is_strides_like_format.default,
            _aten.is_non_overlapping_and_dense.default,
            _aten.size.default,
            _aten.sym_size.default,
            _aten.stride.default,
            _aten.sym_stride.default,
            _aten.storage_offset.default,
            _aten.sym_storage_offset.default,
            _aten.numel.default,
            _aten.sym_numel.default,
            _aten.dim.default,
            ops.prim.device.default,
        }
    )
    _inference_mode_base: "FunctionalTensor | None" = None

    def __new__(cls, elem: Tensor, mode: Any) -> "FunctionalTensor":
        if not wrappers._is_functional_tensor(elem):
            raise AssertionError("elem must be a functional tensor")
        out = Tensor._make_wrapper_subclass(
            cls,
            elem.shape,
            elem.stride(),
            elem.storage_offset(),
            None,
            elem.dtype,
            elem.layout,
            elem.device,
            False,
            elem.requires_grad,
            None,
            False,
            False,
            FunctionalTensor._extra_dispatch_keys & _C._dispatch_keys(elem),
        )
        out.elem = elem
        return out

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Metadata of the value; anything else needs a mode (RuntimeError)."""
        if has_foreign_classes(types):
            return NotImplemented
        if func in FunctionalTensor.metadata_fns:
            if kwargs:
                raise AssertionError(f"{func} takes no keyword arguments")
            if not args or not isinstance(args[0], FunctionalTensor):
                raise AssertionError(f"{func}: expected a FunctionalTensor first")
            return func(wrappers._from_functional_tensor(args[0].elem), *args[1:])
        alone = len(args) == 1 and isinstance(args[0], FunctionalTensor)
        if func is _aten.detach.default and alone:
            return args[0]
        raise RuntimeError(
            f"{func}: a FunctionalTensor works only under its FunctionalTensorMode, which is "
            "not active"
        )

    def __repr__(self, *, tensor_contents: object = None) -> str:
        return f"FunctionalTensor({self.elem!r})"

    @staticmethod
    def to_functional(x: Tensor) -> "FunctionalTensor":
        """`x` as a tensor of the active mode, with its requires_grad.

        Raises:
            AssertionError: `x` is functional already, or no mode is active.
        """
        if wrappers._is_functional_tensor(x):
            raise AssertionError("x must not be a functional tensor already")
        wrapper = wrappers._to_functional_tensor(x)
        mode = _needed_mode()
        with mode:
            wrappers._mirror_autograd_meta_to(x, wrapper)
            out = FunctionalTensor(wrapper, mode)
            wrappers._mirror_autograd_meta_to(wrapper, out)
        return out

    def from_functional(self) -> Tensor:
        """The value, up to date."""
        wrappers._sync(self)
        return wrappers._from_functional_tensor(self.elem)

    def is_base_tensor(self) -> bool:
        """Whether it is no view."""
        return wrappers._is_functional_tensor_base(self.elem)

    def replace_(self, output: Tensor) -> None:
        """Give the wrapper the value `output`; `commit_update` tells its aliases."""
        wrappers._functionalize_replace(self.elem, output)

    def commit_update(self) -> None:
        """Queue the value for the aliases."""
        wrappers._functionalize_commit_update(self.elem)

    def sync(self) -> None:
        """Bring the value up to date."""
        wrappers._functionalize_sync(self.elem)

    def mark_mutation_hidden_from_autograd(self) -> None:
        """The last write is none that autograd should see."""
        wrappers._functionalize_mark_mutation_hidden_from_autograd(self.elem)

    def tolist(self) -> Any:
        """The values of up to one dimension (RuntimeError for more, as in PyTorch)."""
        if self.elem.dim() == 0:
            return self.elem.item()
        if self.elem.dim() == 1:
            return [t.item() for t in self.elem]
        return [t.tolist() for t in self.elem]

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """As `Tensor.to`; the mode must be active (AttributeError)."""
        if active_mode().export:
            _aten._assert_tensor_metadata(
                self, dtype=self.dtype, device=self.device, layout=self.layout
            )
        return super().to(*args, **kwargs)

    def cuda(self, device: Any = None, *args: Any, **kwargs: Any) -> Any:
        """A copy on `device`, cuda:0 unless given."""
        where = _device("cuda", 0) if device is None else _device(device)
        return self.to(where, *args, **kwargs) if args else self.to(device=where, **kwargs)

    char = _conversion(dtype=dtypes.int8)
    cpu = _conversion(device=_device("cpu"))
    bfloat16 = _conversion(dtype=dtypes.bfloat16)
    byte = _conversion(dtype=dtypes.uint8)
    double = _conversion(dtype=dtypes.float64)
    float = _conversion(dtype=dtypes.float32)
    bool = _conversion(dtype=dtypes.bool)
    half = _conversion(dtype=dtypes.float16)
    int = _conversion(dtype=dtypes.int32)
    long = _conversion(dtype=dtypes.int64)

    def to_dense(self, dtype: Any = None, *, masked_grad: Any = None) -> Any:
        """Itself, in another dtype if one is given: there are only dense tensors."""
        return self if dtype is None else self.to(dtype=dtype)

    @property
    def layout(self) -> Any:
        """That of the wrapper."""
        return self.elem.layout

    def __bool__(self) -> Any:
        return self.item() != 0


def mb_unwrap_functional_tensor(tensor: Tensor) -> Tensor:
    """The value of a FunctionalTensor; any other tensor as it is."""
    if isinstance(tensor, FunctionalTensor):
        return wrappers._from_functional_tensor(tensor.elem)
    return tensor
