"""`TwoTensor`: a wrapper of two tensors on which every operator runs twice.

(torch.testing._internal.two_tensor.) It shows the metadata of `a`; `TwoTensorMode` makes such a
wrapper of what functions of a block make out of nothing.
"""

from typing import Any

from dispatch import Tensor, TorchDispatchMode, pytree
from dispatch.modes import return_and_correct_aliasing

__all__ = ["TwoTensor", "TwoTensorMode"]


class TwoTensor(Tensor):
    """Two tensors of one class, dtype, device, layout and size."""

    a: Tensor
    b: Tensor

    @staticmethod
    def __new__(
        cls,
        a: Tensor,
        b: Tensor,
        outer_size: Any = None,
        outer_stride: Any = None,
        *,
        requires_grad: bool | None = None,
    ) -> Any:
        for name in ("device", "layout", "requires_grad", "dtype"):
            if getattr(a, name) != getattr(b, name):
                raise AssertionError(
                    f"TwoTensor: {name} differs: {getattr(a, name)} and {getattr(b, name)}"
                )
        made = Tensor._make_wrapper_subclass(
            cls,
            a.size() if outer_size is None else outer_size,
            strides=a.stride() if outer_stride is None else outer_stride,
            storage_offset=a.storage_offset(),
            device=a.device,
            layout=a.layout,
            requires_grad=bool(requires_grad or a.requires_grad),
            dtype=a.dtype,
        )
        for part in (a, b):
            if part.shape != a.shape or part.stride() != a.stride():
                raise AssertionError("TwoTensor: the sizes or strides of the two differ")
        return made

    def __init__(
        self,
        a: Tensor,
        b: Tensor,
        outer_size: Any = None,
        outer_stride: Any = None,
        *,
        requires_grad: bool | None = None,
    ) -> None:
        self.a, self.b = a, b

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"TwoTensor({self.a!r}, {self.b!r})"

    def __tensor_flatten__(self) -> tuple[list[str], Any]:
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner: Any, meta: Any, outer_size: Any, outer_stride: Any) -> Any:
        if meta is not None:
            raise AssertionError("TwoTensor has no context of its own")
        return TwoTensor(inner["a"], inner["b"], outer_size, outer_stride)

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}

        def run(name: str) -> Any:
            parts = pytree.tree_map_only(TwoTensor, lambda t: getattr(t, name), (args, kwargs))
            return func(*parts[0], **parts[1])

        of_a, shape = pytree.tree_flatten(run("a"))
        of_b = pytree.tree_leaves(run("b"))
        pairs = [cls(x, y) if isinstance(x, Tensor) else x for x, y in zip(of_a, of_b, strict=True)]
        found = pytree.tree_unflatten(pairs, shape)
        return return_and_correct_aliasing(func, args, kwargs, found)

    def get_elem_a(self) -> Tensor:
        """`a`."""
        return self.a


class TwoTensorMode(TorchDispatchMode):
    """Tensors that a block makes out of no other tensors are two."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        given = pytree.tree_leaves((args, kwargs or {}))
        if isinstance(made, Tensor) and not any(isinstance(t, Tensor) for t in given):
            return TwoTensor(made, made.clone())
        return made
