# cython: annotation_typing=False
"""conv1d, conv2d, conv3d and transposed ones: `convolution` with a batch, names, complex numbers.

Called for every convolution of a model, so the usual way is short: one look at the input's
dimensions, then `convolution`. All sizes are checked there.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch._C.advice import advise_once
from dispatch._C.errors import refused
from dispatch._C.tensor import Tensor
from dispatch._ops import ops

__all__ = [
    "_convolution",
    "_convolution_deprecated",
    "_convolution_mode",
    "conv1d",
    "conv1d_padding",
    "conv2d",
    "conv2d_padding",
    "conv3d",
    "conv3d_padding",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

Ints = Sequence[int]

_add = ops.aten.add.Tensor
_constant_pad_nd = ops.aten.constant_pad_nd.default
_convolve = ops.aten.convolution.default
_convolution_flags = ops.aten._convolution.default
_mul = ops.aten.mul.Scalar
_resolve_conj = ops.aten.resolve_conj.default
_select = ops.aten.select.int
_squeeze = ops.aten.squeeze.dim
_sub = ops.aten.sub.Tensor
_unsqueeze = ops.aten.unsqueeze.default
_view_as_real = ops.aten.view_as_real.default

_ZERO = ([0], [0, 0], [0, 0, 0])
_VALID = [0]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
) -> Tensor:
    return convolve(1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1),
    padding: Ints = (0, 0),
    dilation: Ints = (1, 1),
    groups: int = 1,
) -> Tensor:
    return convolve(2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: Ints = (0, 0, 0),
    dilation: Ints = (1, 1, 1),
    groups: int = 1,
) -> Tensor:
    return convolve(3, input, weight, bias, stride, padding, dilation, groups)


def conv1d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: str = "valid",
    dilation: Ints = (1,),
    groups: int = 1,
) -> Tensor:
    return convolve(1, input, weight, bias, stride, named(padding), dilation, groups)


def conv2d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1),
    padding: str = "valid",
    dilation: Ints = (1, 1),
    groups: int = 1,
) -> Tensor:
    return convolve(2, input, weight, bias, stride, named(padding), dilation, groups)


def conv3d_padding(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: str = "valid",
    dilation: Ints = (1, 1, 1),
    groups: int = 1,
) -> Tensor:
    return convolve(3, input, weight, bias, stride, named(padding), dilation, groups)


def named(padding: str) -> Ints | None:
    """Padding by name; None keeps the input's size."""
    if padding not in ("valid", "same"):
        raise refused(f"Invalid padding string: {padding!r} is neither 'valid' nor 'same'")
    return _VALID if padding == "valid" else None


def conv_transpose1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    output_padding: Ints = (0,),
    groups: int = 1,
    dilation: Ints = (1,),
) -> Tensor:
    return convolve(
        1, input, weight, bias, stride, padding, dilation, groups, output_padding
    )


def conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1),
    padding: Ints = (0, 0),
    output_padding: Ints = (0, 0),
    groups: int = 1,
    dilation: Ints = (1, 1),
) -> Tensor:
    return convolve(
        2, input, weight, bias, stride, padding, dilation, groups, output_padding
    )


def conv_transpose3d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1, 1, 1),
    padding: Ints = (0, 0, 0),
    output_padding: Ints = (0, 0, 0),
    groups: int = 1,
    dilation: Ints = (1, 1, 1),
) -> Tensor:
    return convolve(
        3, input, weight, bias, stride, padding, dilation, groups, output_padding
    )


# ---- with the settings of backends, which mean nothing here --------------------------------------


def _convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
    allow_tf32: bool,
) -> Tensor:
    return _convolve(
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


def _convolution_deprecated(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
) -> Tensor:
    geometry = stride, padding, dilation, transposed, output_padding, groups
    settings = benchmark, deterministic, cudnn_enabled, True
    return _convolution_flags(input, weight, bias, *geometry, *settings)


def _convolution_mode(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: str,
    dilation: Ints,
    groups: int,
) -> Tensor:
    if named(padding) is None:
        return convolve_same(input, weight, bias, stride, dilation, groups)
    zero = [0] * (weight.ndim - 2)
    return _convolve(input, weight, bias, stride, _VALID, dilation, False, zero, groups)


def convolve(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints | None,
    dilation: Ints,
    groups: int,
    output_padding: Ints | None = None,
) -> Tensor:
    """`padding` None keeps the input's size ("same"); `output_padding`: of a transposed one."""
    kind = input.dtype
    transposed = output_padding is not None
    if bias is not None and bias.dtype is not kind and not transposed:
        raise refused(f"Input type ({kind}) and bias type ({bias.dtype}) should be the same")
    ndim = input.ndim
    batched = ndim == dims + 2
    if not batched:
        if ndim != dims + 1:
            raise refused(
                f"Expected {dims + 1}D (unbatched) or {dims + 2}D (batched) input to "
                f"conv{'_transpose' * transposed}{dims}d, got {list(input.shape)}"
            )
        input = _unsqueeze(input, 0)
    if kind.is_complex:
        geometry = stride, padding, dilation, groups, output_padding
        out = convolve_complex(dims, input, weight, bias, *geometry)
    elif padding is None:
        out = convolve_same(input, weight, bias, stride, dilation, groups)
    else:
        after = output_padding or (padding if padding is _VALID else _ZERO[dims - 1])
        out = _convolve(
            input, weight, bias, stride, padding, dilation, transposed, after, groups
        )
    return out if batched else _squeeze(out, 0)


def convolve_same(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    dilation: Ints,
    groups: int,
) -> Tensor:
    """Padding that keeps the size; where it is odd, the input gets one more on the right."""
    kernel = weight.shape[2:]
    if any(s != 1 for s in stride):
        raise refused(f"padding='same' is not supported for strided convolutions: {list(stride)}")
    steps = list(dilation) * len(kernel) if len(dilation) == 1 else dilation
    total = [d * (k - 1) for d, k in zip(steps, kernel, strict=False)]
    if any(t % 2 for t in total):
        advise_once("padding='same' of an even kernel", "the input is copied to be one longer")
        sides = [side for t in reversed(total) for side in (0, t % 2)]
        input = _constant_pad_nd(input, sides, 0)
    padding, zero = [t // 2 for t in total], [0] * len(total)
    return _convolve(input, weight, bias, stride, padding, dilation, False, zero, groups)


def parts(tensor: Tensor) -> tuple[Tensor, Tensor]:
    """Real and imaginary part, as views."""
    pairs = _view_as_real(_resolve_conj(tensor))
    last = tensor.ndim
    return _select(pairs, last, 0), _select(pairs, last, 1)


def convolve_complex(
    dims: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints | None,
    dilation: Ints,
    groups: int,
    output_padding: Ints | None,
) -> Tensor:
    """Three real convolutions: of the real parts, of the imaginary ones, and of the sums."""
    if input.dtype is not weight.dtype:
        raise refused(
            f"Input type ({input.dtype}) and weight type ({weight.dtype}) should be the same"
        )

    def real(x: Tensor, w: Tensor, b: Tensor | None) -> Tensor:
        if padding is None:
            return convolve_same(x, w, b, stride, dilation, groups)
        after = output_padding or (padding if padding is _VALID else _ZERO[dims - 1])
        transposed = output_padding is not None
        return _convolve(x, w, b, stride, padding, dilation, transposed, after, groups)

    (xr, xi), (wr, wi) = parts(input), parts(weight)
    br, bi = (None, None) if bias is None else parts(bias)
    a, b = real(xr, wr, br), real(xi, wi, None)
    both = None if bi is None else _add(br, bi)
    w_both = _add(wr, wi)
    c = real(_add(xr, xi), w_both, both)
    turned = _mul(_sub(_sub(c, a), b), 1j)
    return _add(_sub(a, b), turned)
