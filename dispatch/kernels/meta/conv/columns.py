"""The shape function of col2im: columns back to the image that they were taken from."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.errors import refused
from dispatch._C.structured import TensorSpec
from dispatch._C.tensor import Tensor
from dispatch.kernels.meta.rules import is_eager

__all__ = ["col2im"]

Ints = Sequence[int]


def check_two(name: str, values: Ints, least: int) -> None:
    if len(values) != 2:
        raise refused(f"{name} must have 2 numbers, got {list(values)}")
    if any(v < least for v in values):
        raise refused(f"{name} must be at least {least}, got {list(values)}")


def col2im(
    self: Tensor,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> TensorSpec:
    check_two("output_size", output_size, 1)
    check_two("kernel_size", kernel_size, 1)
    check_two("dilation", dilation, 1)
    check_two("padding", padding, 0)
    check_two("stride", stride, 1)
    sizes = self.shape
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise refused(
            f"self must have 2 or 3 dimensions, only the batch may be 0, got {list(sizes)}"
        )
    taps = kernel_size[0] * kernel_size[1]
    if sizes[-2] % taps:
        raise refused(
            f"expected size {sizes[-2]} of self {list(sizes)} to be divisible by the product of "
            f"kernel_size {list(kernel_size)}"
        )
    rows = zip(output_size, padding, dilation, kernel_size, stride, strict=True)
    places = [(n + 2 * pad - gap * (k - 1) - 1) // step + 1 for n, pad, gap, k, step in rows]
    if sizes[-1] != places[0] * places[1]:
        raise refused(
            f"expected size {sizes[-1]} of self {list(sizes)} to match the calculated number of "
            f"sliding blocks {places[0] * places[1]} of output_size {list(output_size)}"
        )
    if min(places) < 1:
        raise refused(
            f"calculated shape of the array of sliding blocks as {places} of output_size "
            f"{list(output_size)}, which has to be positive"
        )
    made = (*sizes[:-2], sizes[-2] // taps, *output_size)
    if 0 in made and is_eager(self):     # nothing is written, so PyTorch looks at no dtype
        return TensorSpec(made, self.dtype, cast="any", overlap="any")
    return TensorSpec(made, self.dtype, copied=True)
