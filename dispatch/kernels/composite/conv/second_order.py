"""The gradient of a convolution's gradients: convolutions of what comes in with what went in.

Called by autograd formulas through `_convolution_double_backward`. Source of the semantics:
PyTorch's function of that name in native/Convolution.cpp: what nothing came in for is None,
whatever the mask says.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = ["_convolution_double_backward"]

Ints = Sequence[int]

_add = ops.aten.add.Tensor
_cat = ops.aten.cat.default
_convolution = ops.aten.convolution.default
_expand = ops.aten.expand.default
_narrow = ops.aten.narrow.default
_transpose = ops.aten.transpose.int
_view = ops.aten.view.default


def total(a: Tensor | None, b: Tensor) -> Tensor:
    return b if a is None else _add(a, b)


def cropped(tensor: Tensor, sizes: Ints) -> Tensor:
    """Without what lies beyond `sizes` along the spatial dimensions."""
    for d in range(2, tensor.ndim):
        if tensor.shape[d] > sizes[d]:
            tensor = _narrow(tensor, d, 0, sizes[d])
    return tensor


def of_output(
    input: Tensor,
    weight: Tensor,
    like: Tensor,
    grads: tuple[Tensor | None, Tensor | None, Tensor | None],
    geometry: tuple[Ints, Ints, Ints, bool, Ints, int],
) -> Tensor | None:
    """conv(ggI, w) + conv(i, ggW) + ggb"""
    of_input, of_weight, of_bias = grads
    out = None
    if input.numel() != 0:
        if of_input is not None:
            out = _convolution(of_input, weight, None, *geometry)
        if of_weight is not None:
            out = total(out, _convolution(input, of_weight, None, *geometry))
    if of_bias is not None:
        sizes = [1, of_bias.shape[0], *(1,) * (like.ndim - 2)]
        out = total(out, _expand(_view(of_bias, sizes), like.shape))
    return out


def of_weight(
    of_input: Tensor,
    grad: Tensor,
    weight: Tensor,
    geometry: tuple[Ints, Ints, Ints, bool, Ints, int],
) -> Tensor:
    """conv(ggI, gO), over the batch as channels, group by group."""
    stride, padding, dilation, transposed, output_padding, groups = geometry
    swapped = dilation, padding, stride, False, output_padding, 1
    grads, inputs = _transpose(grad, 0, 1), _transpose(of_input, 0, 1)
    parts = []
    for g in range(groups):
        n, m = grads.shape[0] // groups, inputs.shape[0] // groups
        a, b = _narrow(inputs, 0, g * m, m), _narrow(grads, 0, g * n, n)
        if transposed:
            a, b = b, a
        parts.append(_convolution(a, b, None, *swapped))
    made = parts[0] if groups == 1 else _cat(parts, 1)
    return cropped(_transpose(made, 0, 1), weight.shape)


def of_input(
    grad: Tensor,
    of_weight: Tensor,
    input: Tensor,
    geometry: tuple[Ints, Ints, Ints, bool, Ints, int],
) -> Tensor:
    """The convolution of gO with ggW, transposed where the first one was not."""
    stride, padding, dilation, transposed, output_padding, groups = geometry
    if transposed:
        there = stride, padding, dilation, False, output_padding, groups
        return cropped(_convolution(grad, of_weight, None, *there), input.shape)
    dims = input.ndim - 2
    s, p, d = (list(v) * dims if len(v) == 1 else v for v in (stride, padding, dilation))
    after = [
        input.shape[i + 2]
        - ((of_weight.shape[i + 2] - 1) * d[i] - 2 * p[i] + s[i] * (grad.shape[i + 2] - 1) + 1)
        for i in range(dims)
    ]
    return _convolution(grad, of_weight, None, stride, padding, dilation, True, after, groups)


def _convolution_double_backward(
    ggI: Tensor | None,
    ggW: Tensor | None,
    ggb: Tensor | None,
    gO: Tensor,
    weight: Tensor,
    self: Tensor,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    geometry = stride, padding, dilation, transposed, output_padding, groups
    filled = self.numel() != 0
    ggO = of_output(self, weight, gO, (ggI, ggW, ggb), geometry)
    gI = of_input(gO, ggW, self, geometry) if filled and ggW is not None else None
    gW = of_weight(ggI, gO, weight, geometry) if filled and ggI is not None else None
    return ggO, gI, gW
