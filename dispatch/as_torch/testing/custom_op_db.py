"""Samples of the operators that numpy computes, and six operators with fake kernels from this file.

`torch.testing._internal.custom_op_db` is this module and `numpy_ops`. A fake kernel's `source`
names the file that registers it, in every way to register one: `source0` to `source5` are of this.
"""

from collections.abc import Callable, Iterator
from typing import Any

import dispatch
from dispatch import Tensor
from dispatch.as_torch.testing import dtype_lists, numpy_ops
from dispatch.as_torch.testing.making import make_tensor
from dispatch.as_torch.testing.opinfo import OpInfo, SampleInput
from dispatch.library import Library, custom_op, register_fake

__all__ = ["custom_op_db", "source4", "source5"]

_Make = Callable[..., Tensor]


def _samples(make: Callable[[_Make], SampleInput]) -> Callable[..., Iterator[SampleInput]]:
    """One sample; `make` gets what draws values from 0.9 to 2, of the sizes that it names."""

    def samples(
        info: OpInfo, device: Any, dtype: Any, requires_grad: bool, **kwargs: Any
    ) -> Iterator[SampleInput]:
        def drawn(*shape: int, low: float = 0.9, high: float = 2, grad: bool = True) -> Tensor:
            wanted = requires_grad and grad
            made: Tensor = make_tensor(
                shape, device=device, dtype=dtype, low=low, high=high, requires_grad=wanted
            )
            return made

        yield make(drawn)

    return samples


def _of_sort(make: _Make) -> SampleInput:
    return SampleInput(make(3, 5), 1)


def _of_take(make: _Make) -> SampleInput:
    order = dispatch.tensor([[2, 0, 1], [0, 2, 1]])
    return SampleInput(make(2, 3), order, order.argsort(1), 1)


def _of_nms(make: _Make) -> SampleInput:
    low, size = make(64, 2, low=0, high=28, grad=False), make(64, 2, low=0, high=4, grad=False)
    boxes = dispatch.cat([low, low + size], dim=1).requires_grad_(size.requires_grad)
    return SampleInput(boxes, make(64, low=0, high=1), 0.5)


def _of_split(make: _Make) -> SampleInput:
    return SampleInput(make(2, 9), [1, 3, 6], 1)


_DTYPES = dtype_lists.all_types_and(dispatch.bool, dispatch.half)
_ROWS: list[tuple[str, Any, bool, Callable[[_Make], SampleInput]]] = [
    ("Cube", numpy_ops.numpy_cube, True, lambda make: SampleInput(make(2))),
    ("Mul", numpy_ops.numpy_mul, True, lambda make: SampleInput(make(4), make(3, 4))),
    ("MulScalar", numpy_ops.numpy_mul_scalar, True, lambda m: SampleInput(m(4), scalar=3.14)),
    ("Sort", numpy_ops.numpy_sort, True, _of_sort),
    ("Take", numpy_ops.numpy_take, True, _of_take),
    ("Nonzero", numpy_ops.numpy_nonzero, False, lambda make: SampleInput(make(3, 4))),
    ("NMS", numpy_ops.numpy_nms, False, _of_nms),
    ("ViewCopy", numpy_ops.numpy_view_copy, True, lambda m: SampleInput(m(2, 3, 4), [2, 12])),
    (
        "Cat", numpy_ops.numpy_cat, True,
        lambda make: SampleInput([make(n, 3, 4) for n in (2, 4, 5)], 0),
    ),
    ("SplitCopy", numpy_ops.numpy_split_copy, True, _of_split),
    ("SplitCopyWithInt", numpy_ops.numpy_split_copy_with_int, True, _of_split),
]  # fmt: skip

custom_op_db = [
    OpInfo(
        f"Numpy{name}CustomOp",
        getattr(dispatch.ops._torch_testing, op._name),
        _DTYPES,
        _samples(make),
        supports_autograd=differentiable,
        supports_out=False,
    )
    for name, op, differentiable, make in _ROWS
]

_lib = Library("_torch_testing", "FRAGMENT")


def _clone(x: Any) -> Any:
    return x.clone()


for _n, _as_decorator in enumerate((True, False, True, False)):
    _name = f"_torch_testing::source{_n}"
    _lib.define(f"source{_n}(Tensor x) -> Tensor")
    if _as_decorator:
        register_fake(_name, lib=_lib)(_clone)
    else:
        register_fake(_name, _clone, lib=_lib)


@custom_op("_torch_testing::source4", mutates_args=())
def source4(x: Tensor) -> Tensor:
    """A copy of `x`."""
    return x.clone()


@source4.register_fake
def _fake4(x: Any) -> Any:
    return x.clone()


@custom_op("_torch_testing::source5", mutates_args=())
def source5(x: Tensor) -> Tensor:
    """A copy of `x`."""
    return x.clone()


source5.register_fake(_clone)
