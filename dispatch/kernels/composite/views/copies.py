"""The operators that functionalization needs: views as copies.

`view_copy` and its kin give a view's values in memory of their own; functionalization calls them
in place of views.
"""

from collections.abc import Callable
from typing import Any

from dispatch._C.dtypes import contiguous_format
from dispatch._C.errors import refused
from dispatch._C.structured import check_placed
from dispatch._C.tensor import Tensor
from dispatch._C.wrapper import share_memory
from dispatch._ops import ops
from dispatch.kernels.meta import rules
from dispatch.kernels.meta.outputs import resize_out

_aten = ops.aten


def _copied(view: Tensor) -> Tensor:
    return _aten.clone(view, memory_format=contiguous_format)


def _copy_of(packet: str, overload: str = "default") -> Callable[..., Any]:
    """The kernel of a `_copy` operator: the view's values, each output in memory of its own."""

    def kernel(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        views = getattr(getattr(_aten, packet), overload)(self, *args, **kwargs)
        return _copied(views) if isinstance(views, Tensor) else [_copied(v) for v in views]

    kernel.__name__ = kernel.__qualname__ = packet.strip("_") + "_copy"
    return kernel


conj_copy = _copy_of("_conj")
neg_view_copy = _copy_of("_neg_view")
reshape_alias_copy = _copy_of("_reshape_alias")
alias_copy = _copy_of("alias")
as_strided_copy = _copy_of("as_strided")
detach_copy = _copy_of("detach")
diagonal_copy = _copy_of("diagonal")
expand_copy = _copy_of("expand")
permute_copy = _copy_of("permute")
select_copy = _copy_of("select", "int")
slice_copy = _copy_of("slice", "Tensor")
split_copy = _copy_of("split", "Tensor")
split_with_sizes_copy = _copy_of("split_with_sizes")
squeeze_copy = _copy_of("squeeze")
squeeze_copy_dim = _copy_of("squeeze", "dim")
squeeze_copy_dims = _copy_of("squeeze", "dims")
t_copy = _copy_of("t")
transpose_copy = _copy_of("transpose", "int")
unbind_copy = _copy_of("unbind", "int")
unfold_copy = _copy_of("unfold")
unsqueeze_copy = _copy_of("unsqueeze")
view_as_complex_copy = _copy_of("view_as_complex")
view_as_real_copy = _copy_of("view_as_real")
view_copy_dtype = _copy_of("view", "dtype")
view_copy = _copy_of("reshape")
values_copy = _copy_of("values")
values_of_coo_copy = _copy_of("_values")
indices_copy = _copy_of("indices")
indices_of_coo_copy = _copy_of("_indices")
crow_indices_copy = _copy_of("crow_indices")
col_indices_copy = _copy_of("col_indices")
ccol_indices_copy = _copy_of("ccol_indices")
row_indices_copy = _copy_of("row_indices")
_narrow_copy = _copy_of("narrow")


def _check_narrowed(self: Tensor, dim: int) -> None:
    """A kernel with data of its own in PyTorch, which words this otherwise."""
    if rules.is_eager(self) and 0 < self.ndim <= dim:
        raise refused(f"expected dim to be below {self.ndim}, got {dim}")


def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`narrow`, copied."""
    _check_narrowed(self, dim)
    return _narrow_copy(self, dim, start, length)


def narrow_copy_out(self: Tensor, dim: int, start: int, length: int, *, out: Tensor) -> Tensor:
    """`narrow`, copied into `out`."""
    _check_narrowed(self, dim)
    return _aten.clone.out(_aten.narrow(self, dim, start, length), out=out)


def _copies_into(packet: str, overload: str, fixed: bool) -> Callable[..., None]:
    """The out variant of an operator that gives a list.

    `fixed`: outputs must have the sizes, and may have any dtype; else they must have the dtype.
    """

    def kernel(self: Tensor, *args: Any, out: list[Tensor], **kwargs: Any) -> None:
        views = getattr(getattr(_aten, packet), overload)(self, *args, **kwargs)
        if len(out) != len(views):
            raise refused(f"expected out to have {len(views)} tensors, got {len(out)}")
        if not fixed:
            check_placed(self, *out)
        for target, view in zip(out, views, strict=True):
            if not fixed and target.dtype is not view.dtype:
                expected = f"expected out tensors to have dtype {view.dtype}"
                raise refused(f"{expected}, got {target.dtype}")
            if not fixed:
                resize_out(target, view.shape)
            _aten.copy_(target, view)

    return kernel


split_copy_out = _copies_into("split", "Tensor", True)
split_with_sizes_copy_out = _copies_into("split_with_sizes", "default", False)
unbind_copy_out = _copies_into("unbind", "int", False)
unsafe_split_out = _copies_into("split", "Tensor", False)
unsafe_split_with_sizes_out = _copies_into("split_with_sizes", "default", False)


def set_source_tensor(self: Tensor, source: Tensor) -> Tensor:
    """Make self share the memory and geometry of `source`."""
    share_memory(self, source)
    return self
