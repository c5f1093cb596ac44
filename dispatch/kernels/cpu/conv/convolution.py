"""Bodies of convolution, its gradients and col2im: windows laid out as a matrix, then BLAS.

Called by the structured kernels with outputs of the right size. Four ways forward: windows of one
element are a plain matrix product; depthwise layers add up shifted products; everything else
copies windows into a matrix (im2col), a block at a time so that memory stays bounded; a transposed
convolution is the gradient of a plain one. Channels stay where the output has them: first, or
last, where the product is taken the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from dispatch._C.dtypes import (
    bool as boolean,
    complex64,
    complex128,
    dtype,
    int64,
)
from dispatch._C.generated.dtype_sets import FLOATING, INTEGRAL
from dispatch._C.tensor import Tensor
from dispatch.kernels.cpu.arrays import Array, check_dtype, compute, is_narrow, quiet, store, view
from dispatch.kernels.cpu.windows import Geometry, crop, padded, taps

__all__ = ["col2im", "convolution", "convolution_backward"]

Ints = Sequence[int]


# Bytes of a block of windows: bounds the memory; smaller ones make BLAS pack weights more often.
BLOCK = 1 << 23
# Bytes of a block of a depthwise layer, which is read and written once for each tap.
DEPTHWISE_BLOCK = 1 << 19
# Positions in a row below which a depthwise layer works with channels last.
SHORT_ROW = 32


def per_dim(values: Ints, dims: int) -> tuple[int, ...]:
    return tuple(values) * dims if len(values) == 1 else tuple(values)


def geometry(
    weight: Ints, out: Ints, stride: Ints, padding: Ints, dilation: Ints
) -> Geometry:
    """`out`: sizes (batch, channels, positions...) of the side that the windows lead to."""
    dims = len(weight) - 2
    return Geometry(
        tuple(weight[2:]),
        per_dim(stride, dims),
        per_dim(padding, dims),
        per_dim(dilation, dims),
        tuple(out[2:]),
    )


def is_channels_last(x: Array) -> bool:
    """Whether memory is (batch, positions, channels), and not also (batch, channels, positions)."""
    return not x.flags.c_contiguous and np.moveaxis(x, 1, -1).flags.c_contiguous


# ---- forward -----------------------------------------------------------------------------------


def windows_of(x: Array, g: Geometry, first: int, last: int) -> Array:
    """View (..., taps, positions) of a padded input; positions first..last of dimension 0."""
    lead = x.ndim - len(g.out)
    steps = x.strides[lead:]
    out = (last - first, *g.out[1:])
    return as_strided(
        x[(slice(None),) * lead + (slice(first * g.stride[0], None),)],
        x.shape[:lead] + g.kernel + out,
        x.strides[:lead]
        + tuple(d * s for d, s in zip(g.dilation, steps, strict=True))
        + tuple(t * s for t, s in zip(g.stride, steps, strict=True)),
        writeable=False,
    )


def blocks(total: int, unit_bytes: int, budget: int) -> list[tuple[int, int]]:
    """`total` units of `unit_bytes` each, in even runs of at most `budget` bytes (or one unit)."""
    count = max(math.ceil(total * unit_bytes / budget), 1)
    length = max(math.ceil(total / count), 1)
    return [(i, min(i + length, total)) for i in range(0, total, length)]


def add_bias(y: Array, bias: Array | None, axis: int) -> None:
    if bias is not None:
        y += bias.reshape([-1 if i == axis % y.ndim else 1 for i in range(y.ndim)])


def pointwise(y: Array, x: Array, w: Array, bias: Array | None, g: Geometry, groups: int) -> None:
    """Windows of one element: a product of the channels at each position."""
    if any(s > 1 for s in g.stride):
        x = x[(slice(None), slice(None), *(slice(None, None, s) for s in g.stride))]
    x = x[(..., *(slice(0, n) for n in g.out))]
    n, m = len(x), w.shape[0] // groups
    matrix = w.reshape(groups, m, -1)
    if is_channels_last(y):
        rows = np.ascontiguousarray(np.moveaxis(x, 1, -1)).reshape(-1, groups, x.shape[1] // groups)
        target = np.moveaxis(y, 1, -1).reshape(-1, groups, m)
        for i in range(groups):
            np.matmul(rows[:, i], matrix[i].T, out=target[:, i])
    else:
        columns = np.ascontiguousarray(x).reshape(n, groups, x.shape[1] // groups, -1)
        np.matmul(matrix, columns, out=y.reshape(n, groups, m, -1))
    add_bias(y, bias, 1)


def depthwise_first(y: Array, x: Array, w: Array, g: Geometry) -> None:
    """Channels first: y (n, c, m, positions), x (n, c, padded), w (c, m, taps)."""
    dims = len(g.out)
    unit = math.prod(x.shape[2:]) * x.itemsize
    for image, source in zip(y, x, strict=True):
        for a, b in blocks(len(source), unit, DEPTHWISE_BLOCK):
            for j in range(w.shape[1]):
                weight = w[a:b, j].reshape(b - a, -1, *(1,) * dims)
                whole = np.empty((b - a, *g.out), y.dtype)
                product = np.empty_like(whole)
                for number, at in taps(g):
                    into = product if number else whole
                    np.multiply(source[(slice(a, b), *at)], weight[:, number], out=into)
                    if number:
                        whole += product
                image[a:b, j] = whole


def depthwise_last(y: Array, x: Array, w: Array, g: Geometry) -> None:
    """Channels last: y (n, positions, c), x (n, padded, c), w (taps, c)."""
    if g.stride[-1] == 1:            # one weight for each element of a row: numpy's loops get long
        w = np.repeat(w[:, None], g.out[-1], axis=1)
    unit = math.prod(y.shape[2:]) * y.itemsize
    for image, source in zip(y, x, strict=True):
        runs = blocks(len(image), unit, DEPTHWISE_BLOCK)
        product = np.empty_like(image[slice(*runs[0])])
        for a, b in runs:
            part = g._replace(out=(b - a, *g.out[1:]))
            rows, target = source[a * g.stride[0] :], image[a:b]
            for number, at in taps(part):
                into = product[: b - a] if number else target
                np.multiply(rows[at], w[number], out=into)
                if number:
                    target += into


def depthwise(y: Array, x: Array, w: Array, bias: Array | None, g: Geometry) -> None:
    """One input channel a group; each leads to w.shape[0] / groups output channels."""
    n, c = x.shape[:2]
    m = w.shape[0] // c
    last = is_channels_last(y)
    if m == 1 and (last or g.out[-1] < SHORT_ROW):
        source = padded(np.ascontiguousarray(np.moveaxis(x, 1, -1)).transpose(
            0, x.ndim - 1, *range(1, x.ndim - 1)), g)
        whole = np.moveaxis(y, 1, -1) if last else np.empty((n, *g.out, c), y.dtype)
        depthwise_last(whole, np.moveaxis(source, 1, -1), np.ascontiguousarray(
            w.reshape(c, -1).T), g)
        if not last:
            y[...] = np.moveaxis(whole, -1, 1)
    else:
        source = padded(x, g)
        depthwise_first(y.reshape(n, c, m, *g.out), source, w.reshape(c, m, -1), g)
    add_bias(y, bias, 1)


def channels_first(
    y: Array, x: Array, w: Array, bias: Array | None, g: Geometry, groups: int
) -> None:
    """Product of the weights and a matrix (taps of all channels, positions)."""
    m, depth = w.shape[0] // groups, w[0].size
    matrix = w.reshape(groups, m, depth)
    inner = math.prod(g.out[1:])
    row_bytes = groups * depth * inner * x.itemsize
    source = padded(np.ascontiguousarray(x), g)
    images = max(BLOCK // max(row_bytes * g.out[0], 1), 1)
    for i in range(0, len(x), images):
        several = source[i : i + images]
        target = y[i : i + images].reshape(len(several), groups, m, -1)
        for a, b in blocks(g.out[0], row_bytes * len(several), BLOCK):
            columns = np.ascontiguousarray(windows_of(several, g, a, b))
            part = target[..., a * inner : b * inner]
            np.matmul(matrix, columns.reshape(len(several), groups, depth, -1), out=part)
            if bias is not None:
                part += bias.reshape(groups, m, 1)


def channels_last(
    y: Array, x: Array, w: Array, bias: Array | None, g: Geometry, groups: int
) -> None:
    """Product of a matrix (positions, taps and channels) and the weights; y in channels last."""
    dims = len(g.out)
    m, depth = w.shape[0] // groups, w[0].size
    matrix = np.ascontiguousarray(np.moveaxis(w.reshape(groups, m, w.shape[1], -1), 2, 3))
    matrix = matrix.reshape(groups, m, depth).swapaxes(1, 2)
    rows = np.ascontiguousarray(np.moveaxis(x, 1, -1))
    source = padded(np.moveaxis(rows, -1, 1), g)
    target = np.moveaxis(y, 1, -1)
    unit = groups * depth * math.prod(g.out[1:]) * x.itemsize
    order = (*range(dims + 1, 2 * dims + 1), *range(1, dims + 1), 0)
    for image, result in zip(source, target, strict=True):
        split = image.reshape(groups, w.shape[1], *image.shape[1:]) if groups > 1 else image[None]
        for a, b in blocks(g.out[0], unit, BLOCK):
            for i in range(groups):
                seen = windows_of(split[i], g, a, b)         # channels, taps, positions
                lines = np.ascontiguousarray(seen.transpose(order)).reshape(-1, depth)
                part = result[a:b].reshape(-1, groups, m)[:, i]
                np.matmul(lines, matrix[i], out=part)
            if bias is not None:
                result[a:b] += bias


def forward(y: Array, x: Array, w: Array, bias: Array | None, g: Geometry, groups: int) -> None:
    """Fill y, which is contiguous with channels first or last."""
    if math.prod(g.kernel) == 1 and not any(g.padding):
        pointwise(y, x, w, bias, g, groups)
    elif w.shape[1] == 1 and groups > 1:
        depthwise(y, x, w, bias, g)
    elif is_channels_last(y):
        channels_last(y, x, w, bias, g, groups)
    else:
        channels_first(y, x, w, bias, g, groups)


# ---- the way back ------------------------------------------------------------------------------


def scatter(
    product: Callable[[int, int], Array], lead: Ints, g: Geometry, dtype: np.dtype, chunk: int
) -> Array:
    """Add up, where their windows lie, what `product(a, b)` gives for the taps a..b.

    The product has sizes (lead, b - a, positions); the result (lead, g.reach()).
    """
    whole: Array = np.zeros((*lead, *g.reach()), dtype)
    front = (slice(None),) * len(lead)
    places = list(taps(g))
    for a, b in ((i, min(i + chunk, len(places))) for i in range(0, len(places), chunk)):
        part = product(a, b).reshape(*lead, b - a, *g.out)
        for number, at in places[a:b]:
            whole[(..., *at)] += part[(*front, number - a)]
    return whole


def put(whole: Array, g: Geometry, out: Array) -> None:
    """Write a padded result into `out`: 0 where no window lies, without the padding."""
    inside, place = crop(whole, g, out.shape[-len(g.out) :])
    if inside.shape != out.shape:
        out[...] = 0
    out[(..., *place)] = inside


def gradient(y: Array, x: Array, w: Array, bias: Array | None, g: Geometry, groups: int) -> None:
    """From gradients x at windows to gradients y of what they saw; the body of transposed ones."""
    m, c, count = w.shape[0] // groups, w.shape[1], math.prod(g.out)
    number = math.prod(g.kernel)
    # groups, channels, taps, m: a run of taps is a matrix that leads to their columns
    matrix = np.ascontiguousarray(w.reshape(groups, m, c, number).transpose(0, 2, 3, 1))
    unit = groups * c * count * x.itemsize
    for a, b in blocks(len(x), unit * number, 2 * BLOCK):
        rows = np.ascontiguousarray(x[a:b]).reshape(b - a, groups, m, count)

        def product(first: int, last: int, rows: Array = rows) -> Array:
            return np.matmul(matrix[:, :, first:last].reshape(groups, -1, m), rows)

        chunk = max(2 * BLOCK // (unit * (b - a)), 1)
        put(scatter(product, (b - a, y.shape[1]), g, x.dtype, chunk), g, y[a:b])
    add_bias(y, bias, 1)


def weight_gradient(gw: Array, gy: Array, x: Array, g: Geometry, groups: int) -> None:
    """Sum over batch and positions of the gradients gy times what their windows saw of x."""
    m, depth = gw.shape[0] // groups, gw[0].size
    source = padded(np.ascontiguousarray(x), g)
    inner = math.prod(g.out[1:])
    unit = groups * depth * inner * x.itemsize
    total = np.zeros((groups, m, depth), gw.dtype)
    for image, grads in zip(source, gy, strict=True):
        lines = np.ascontiguousarray(grads).reshape(groups, m, -1)
        for a, b in blocks(g.out[0], unit, BLOCK):
            columns = np.ascontiguousarray(windows_of(image, g, a, b)).reshape(groups, depth, -1)
            total += np.matmul(lines[..., a * inner : b * inner], columns.swapaxes(1, 2))
    gw[...] = total.reshape(gw.shape)


# ---- operators ---------------------------------------------------------------------------------


def fill(out: Tensor, body: Callable[[Array], None], keep_layout: bool = True) -> None:
    """Let `body` fill the output's memory, or an array like it where it is not dense or narrow."""
    target = view(out)
    last = keep_layout and is_channels_last(target)
    if not is_narrow(out.dtype) and (last or target.flags.c_contiguous):
        body(target)
        return
    kind = np.float32 if is_narrow(out.dtype) else target.dtype
    shape = target.shape
    if last:
        values = np.moveaxis(np.empty((shape[0], *shape[2:], shape[1]), kind), -1, 1)
    else:
        values = np.empty(shape, kind)
    body(values)
    store(out, values)


def check_forward(kind: dtype, dilated: bool, transposed: bool) -> None:
    if transposed or dilated:
        check_dtype(kind, (*FLOATING, int64))
    else:
        check_dtype(kind, (*FLOATING, *INTEGRAL))


@quiet()
def convolution(
    out: Tensor,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
) -> None:
    if 0 in out.shape:
        return
    check_forward(input.dtype, any(d > 1 for d in dilation), transposed)
    x, w = compute(input), compute(weight)
    b = None if bias is None else compute(bias)
    body = gradient if transposed else forward
    positions = input.shape if transposed else out.shape
    g = geometry(weight.shape, positions, stride, padding, dilation)
    if 0 in x.shape or 0 in w.shape:
        store(out, 0)
        if b is not None:
            store(out, b.reshape(-1, *(1,) * len(g.out)))
        return
    fill(out, lambda y: body(y, x, w, b, g, groups), not transposed)


@quiet()
def convolution_backward(
    grad_input: Tensor | None,
    grad_weight: Tensor | None,
    grad_bias: Tensor | None,
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Ints | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    transposed: bool,
    output_padding: Ints,
    groups: int,
    output_mask: Sequence[bool],
) -> None:
    results = [t for t in (grad_input, grad_weight, grad_bias) if t is not None]
    if 0 in grad_output.shape or 0 in input.shape or 0 in weight.shape:
        for result in results:
            store(result, 0)
        return
    dilated = any(d > 1 for d in dilation)
    check_dtype(grad_output.dtype,
                (*FLOATING, int64) if dilated and not transposed else FLOATING)
    gy, x, w = compute(grad_output), compute(input), compute(weight)
    if grad_bias is not None:
        store(grad_bias, gy.sum(axis=(0, *range(2, gy.ndim)), dtype=gy.dtype))
    positions = input.shape if transposed else grad_output.shape
    g = geometry(weight.shape, positions, stride, padding, dilation)
    if grad_input is not None:
        body = forward if transposed else gradient
        fill(grad_input, lambda y: body(y, gy, w, None, g, groups), transposed)
    if grad_weight is not None:
        at, seen = (x, gy) if transposed else (gy, x)
        fill(grad_weight, lambda y: weight_gradient(y, at, seen, g, groups), False)


@quiet()
def col2im(
    out: Tensor,
    self: Tensor,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints,
    padding: Ints,
    stride: Ints,
) -> None:
    check_dtype(self.dtype, (*FLOATING, boolean, complex64, complex128))
    k, s, p, d = (tuple(v) for v in (kernel_size, stride, padding, dilation))
    positions = tuple(
        (output_size[i] + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(2)
    )
    x = np.ascontiguousarray(compute(self))
    taken = k[0] * k[1]
    columns = x.reshape(*x.shape[:-2], x.shape[-2] // taken, taken, x.shape[-1])
    g = Geometry(k, s, p, d, positions)
    whole = scatter(lambda a, b: columns[..., a:b, :], columns.shape[:-2], g, x.dtype, taken)
    fill(out, lambda y: put(whole, g, y), False)
