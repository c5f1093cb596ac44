"""Records shape rules: `TORCH_PYTHON -m tests.conformance.record_shapes` (needs PyTorch).

Each case is a call on fake tensors whose arguments are drawn at random, mostly right and now and
then wrong in one thing; recorded are sizes, strides and dtype of every output, or the type of the
error. Strides of dimensions of size 1 are left out: no element depends on them. Writes
`data/shapes.json.gz`; same PyTorch, same bytes.
"""

import gzip
import json
import logging
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["DATA", "main"]

DATA = Path(__file__).parent / "data"
CASES = 60  # of each operator
WRONG = 0.25  # of the calls have one argument that may not fit

T = dict[str, Any]  # a tensor: sizes, strides, dtype; {"dtype": name} alone is a dtype argument
FLOATS = ["float32", "float32", "float32", "float64", "float16", "bfloat16"]
DTYPES = [*FLOATS, "int64", "int32", "uint8", "bool", "complex64"]


class Draw(random.Random):
    """Random numbers and things; `wrong` says, for at most one thing of a call, to be wrong."""

    failing = False

    def wrong(self) -> bool:
        if self.failing and self.random() < 0.3:
            self.failing = False
            return True
        return False

    def size(self, least: int = 1, most: int = 5) -> int:
        return self.randint(least, most)

    def tensor(self, *sizes: int, dtype: str = "float32") -> T:
        """Of these sizes, now and then not contiguous."""
        strides = [1] * len(sizes)
        order = list(range(len(sizes)))[::-1]
        kind = self.random()
        if kind < 0.15:
            self.shuffle(order)
        elif kind < 0.3 and len(sizes) in (4, 5):  # channels last
            order = [1, *range(len(sizes) - 1, 1, -1), 0]
        step = 1
        for dim in order:
            strides[dim] = step
            step *= max(sizes[dim], 1)
        sizes_given = list(sizes)
        if sizes and self.wrong():
            sizes_given[self.randrange(len(sizes))] += self.choice([1, 2])
            return self.plain(sizes_given, dtype)
        return {"sizes": sizes_given, "strides": strides, "dtype": dtype}

    def plain(self, sizes: list[int], dtype: str) -> T:
        strides, step = [], 1
        for n in reversed(sizes):
            strides.insert(0, step)
            step *= max(n, 1)
        return {"sizes": sizes, "strides": strides, "dtype": dtype}

    def number(self, *choices: Any, bad: Any = -1) -> Any:
        return bad if self.wrong() else self.choice(choices)

    def dim(self, ndim: int) -> int:
        if self.wrong():
            return ndim + 1
        return self.randint(-ndim, ndim - 1) if ndim else self.choice([0, -1])

    def dims(self, ndim: int) -> list[int]:
        found = self.sample(range(ndim), self.randint(0, ndim))
        if found and self.wrong():
            found.append(found[0])
        return [d - self.choice([0, ndim]) for d in found]

    def sizes(self, most: int = 4) -> list[int]:
        return [self.choice([1, 2, 3, 4]) for _ in range(self.randint(0, most))]

    def broadcast(self, sizes: list[int]) -> list[int]:
        out = [n if self.random() < 0.7 else 1 for n in sizes]
        return out[self.randint(0, len(out)) :] if self.random() < 0.4 else out


def _conv(d: Draw) -> list[Any]:
    dims, groups = d.choice([1, 2, 2, 3]), d.choice([1, 1, 2])
    transposed = d.random() < 0.3
    c_in, c_out = d.size(1, 3) * groups, d.size(1, 3) * groups
    kernel = [d.choice([1, 2, 3]) for _ in range(dims)]
    image = [d.randint(1, 8) for _ in range(dims)]
    w = [c_in, c_out // groups] if transposed else [c_out, c_in // groups]
    many = lambda *values, bad=-1: [  # noqa: E731
        d.number(*values, bad=bad) for _ in range(d.choice([1, dims]))
    ]
    stride = many(1, 1, 2, 3, bad=0)
    out_pad = [d.randint(0, max(0, min(stride) - 1)) for _ in range(dims)] if transposed else [0]
    dtype = d.choice(["float32", "float64"])
    x = d.tensor(d.size(0, 3) if d.random() < 0.1 else 2, c_in, *image, dtype=dtype)
    bias = d.tensor(c_out, dtype=dtype) if d.random() < 0.4 else None
    weight = d.tensor(*w, *kernel, dtype=d.number(dtype, bad="int64"))
    padding, dilation = many(0, 0, 1, 2), many(1, 1, 2, 3)
    groups = d.number(groups, bad=0)
    return [x, weight, bias, stride, padding, dilation, transposed, out_pad, groups]


def _window(d: Draw, dims: int, dilated: bool) -> tuple[T, list[Any]]:
    kernel = [d.number(1, 2, 3, 4, bad=0) for _ in range(d.choice([1, dims]))]
    stride = d.choice([[], [d.number(1, 2, 3, bad=0)], [d.randint(1, 3) for _ in range(dims)]])
    half = min(kernel) // 2
    padding = [d.number(*range(half + 1), bad=d.choice([-1, half + 1])) for _ in range(dims)]
    lead = [d.size(1, 3)] * d.choice([1, 2])
    if d.random() < 0.05:
        lead[0] = 0
    x = d.tensor(*lead, *(d.randint(3, 9) for _ in range(dims)), dtype=d.choice(FLOATS))
    dilation = [[d.number(1, 1, 2, bad=0) for _ in range(dims)]] if dilated else []
    return x, [kernel, stride, padding, *dilation, d.random() < 0.5]


def _max_pool(dims: int) -> Callable[[Draw], list[Any]]:
    def draw(d: Draw) -> list[Any]:
        x, window = _window(d, dims, True)
        return [x, *window]

    return draw


def _avg_pool(dims: int) -> Callable[[Draw], list[Any]]:
    def draw(d: Draw) -> list[Any]:
        x, window = _window(d, dims, False)
        return [x, *window, True, d.number(None, 2, bad=0)]

    return draw


def _adaptive(dims: int) -> Callable[[Draw], list[Any]]:
    def draw(d: Draw) -> list[Any]:
        lead = [d.size(1, 3)] * d.choice([1, 2])
        x = d.tensor(*lead, *(d.randint(1, 6) for _ in range(dims)))
        return [x, [d.number(1, 2, 5, bad=-1) for _ in range(dims)]]

    return draw


def _binary(d: Draw) -> list[Any]:
    sizes = d.sizes()
    a, b = d.choice(DTYPES), d.choice(DTYPES)
    one, other = d.broadcast(sizes), d.broadcast(sizes)
    return [d.tensor(*one, dtype=a), d.tensor(*other, dtype=b)]


def _where(d: Draw) -> list[Any]:
    sizes = d.sizes()
    parts = [d.broadcast(sizes) for _ in range(3)]
    return [
        d.tensor(*parts[0], dtype="bool"),
        *(d.tensor(*p, dtype=d.choice(["float32", "float64", "int64"])) for p in parts[1:]),
    ]


def _scalar(d: Draw) -> list[Any]:
    return [d.tensor(*d.sizes(), dtype=d.choice(DTYPES)), d.choice([2, 2.5, True])]


def _unary(d: Draw) -> list[Any]:
    return [d.tensor(*d.sizes(), dtype=d.choice([t for t in DTYPES if t != "bool"]))]


def _matmul(d: Draw) -> list[Any]:
    n, k, m = d.size(), d.size(), d.size()
    return [d.tensor(n, k), d.tensor(k, m, dtype=d.number("float32", bad="float64"))]


def _bmm(d: Draw) -> list[Any]:
    b, n, k, m = (d.size() for _ in range(4))
    return [d.tensor(b, n, k), d.tensor(b, k, m)]


def _addmm(d: Draw) -> list[Any]:
    n, k, m = d.size(), d.size(), d.size()
    bias = d.choice([[m], [n, m], [1, m], [n, 1], [1]])
    return [d.tensor(*bias), d.tensor(n, k), d.tensor(k, m)]


def _baddbmm(d: Draw) -> list[Any]:
    b, n, k, m = (d.size() for _ in range(4))
    bias = d.choice([[b, n, m], [n, m], [1, 1, m], [m]])
    return [d.tensor(*bias), d.tensor(b, n, k), d.tensor(b, k, m)]


def _any_matmul(d: Draw) -> list[Any]:
    k = d.size()
    lead = d.sizes(2)
    one = d.choice([[k], [d.size(), k], [*d.broadcast(lead), d.size(), k]])
    other = d.choice([[k], [k, d.size()], [*d.broadcast(lead), k, d.size()]])
    return [d.tensor(*one), d.tensor(*other)]


def _reduce(d: Draw) -> list[Any]:
    sizes = d.sizes()
    return [d.tensor(*sizes, dtype=d.choice(DTYPES)), d.dims(len(sizes)), d.random() < 0.5]


def _mean(d: Draw) -> list[Any]:
    x, dims, keep = _reduce(d)
    return [x | {"dtype": d.number(*FLOATS, bad="int64")}, dims, keep]


def _logsumexp(d: Draw) -> list[Any]:
    x, dims, keep = _mean(d)
    return [x, dims or [0], keep]


def _var(d: Draw) -> list[Any]:
    x, dims, keep = _mean(d)
    return [x, dims, d.random() < 0.5, keep]


def _along(d: Draw) -> list[Any]:
    sizes = d.sizes()
    return [d.tensor(*sizes, dtype=d.choice(DTYPES[:-1])), d.dim(len(sizes))]


def _along_kept(d: Draw) -> list[Any]:
    return [*_along(d), d.random() < 0.5]


def _topk(d: Draw) -> list[Any]:
    sizes = d.sizes() or [2]
    dim = d.dim(len(sizes))
    n = sizes[dim] if -len(sizes) <= dim < len(sizes) else 1
    return [d.plain(sizes, "float32"), d.number(*range(n + 1), bad=n + 1), dim]


def _sort(d: Draw) -> list[Any]:
    sizes = d.sizes() or [2]
    dim = d.randrange(-len(sizes), len(sizes))
    return [d.tensor(*sizes, dtype=d.choice(DTYPES[:-1])), dim]


def _softmax(d: Draw) -> list[Any]:
    sizes = d.sizes()
    return [d.tensor(*sizes, dtype=d.choice(FLOATS)), d.dim(len(sizes)), False]


def _index_select(d: Draw) -> list[Any]:
    sizes = d.sizes() or [3]
    index = d.tensor(d.size(0, 4), dtype=d.choice(["int64", "int32"]))
    return [d.tensor(*sizes), d.dim(len(sizes)), index]


def _gather(d: Draw) -> list[Any]:
    sizes = d.sizes() or [3]
    dim = d.dim(len(sizes))
    index = [n if i == dim % len(sizes) else d.randint(1, n) for i, n in enumerate(sizes)]
    return [d.plain(sizes, "float32"), dim, d.tensor(*index, dtype=d.number("int64", bad="int16"))]


def _scatter(d: Draw) -> list[Any]:
    x, dim, index = _gather(d)
    return [x, dim, index, d.plain(list(index["sizes"]), d.number("float32", bad="float64"))]


def _embedding(d: Draw) -> list[Any]:
    indices = d.tensor(*d.sizes(3), dtype=d.number("int64", "int32", bad="float32"))
    return [d.tensor(*([7, 3] if not d.wrong() else [7])), indices]


def _cat(d: Draw) -> list[Any]:
    sizes = d.sizes() or [2]
    dim = d.dim(len(sizes))
    parts = []
    for _ in range(d.size(1, 3)):
        part = list(sizes)
        part[dim % len(sizes)] = d.size(0, 3)
        parts.append(d.tensor(*part, dtype=d.choice(["float32", "float32", "int64", "float64"])))
    return [parts, dim]


def _stack(d: Draw) -> list[Any]:
    sizes = d.sizes()
    return [[d.tensor(*sizes) for _ in range(d.size(1, 3))], d.dim(len(sizes) + 1)]


def _pad(d: Draw) -> list[Any]:
    sizes = d.sizes()
    count = 2 * d.randint(0, len(sizes)) + d.number(0, bad=d.choice([1, 4]))
    return [d.tensor(*sizes), [d.choice([0, 0, 1, 2, -1]) for _ in range(count)], 0]


def _layer_norm(d: Draw) -> list[Any]:
    sizes = [d.size() for _ in range(d.size(1, 4))]
    inner = sizes[d.randrange(len(sizes)) :]
    weight = d.tensor(*inner) if d.random() < 0.6 else None
    return [d.tensor(*sizes), inner, weight, d.tensor(*inner) if weight else None, 1e-5]


def _group_norm(d: Draw) -> list[Any]:
    n, c, hw = d.size(1, 3), d.choice([2, 4, 6]), d.size()
    groups = d.number(1, 2, bad=5)
    weight = d.tensor(c) if d.random() < 0.5 else None
    return [d.plain([n, c, hw], "float32"), weight, None, n, c, hw, groups, 1e-5]


def _batch_norm(d: Draw) -> list[Any]:
    c = d.size()
    x = d.tensor(d.size(), c, *d.sizes(3), dtype="float32")
    train = d.random() < 0.6
    stats = (
        [d.plain([c], "float32") for _ in range(2)] if not train or d.random() < 0.5 else [None] * 2
    )
    weight = [d.plain([c], "float32") for _ in range(2)] if d.random() < 0.5 else [None] * 2
    return [x, *weight, *stats, train, 0.1, 1e-5]


def _upsample(dims: int, linear: bool) -> Callable[[Draw], list[Any]]:
    def draw(d: Draw) -> list[Any]:
        x = d.tensor(d.size(1, 2), d.size(1, 3), *(d.size() for _ in range(dims)))
        out = [d.choice([1, 3, 6]) for _ in range(dims)]
        return [x, out, *([d.random() < 0.5] if linear else [])]

    return draw


def _col2im(d: Draw) -> list[Any]:
    pairs = [[d.number(1, 2, 3, bad=0) for _ in range(2)] for _ in range(2)]
    kernel, stride = pairs
    padding = [d.number(0, 1, bad=-1) for _ in range(2)]
    dilation = [d.number(1, 1, 2, bad=0) for _ in range(2)]
    out = [d.randint(5, 8) for _ in range(2)]
    blocks = 1
    for o, k, p, s, dil in zip(out, kernel, padding, stride, dilation, strict=True):
        blocks *= (o + 2 * p - dil * (k - 1) - 1) // max(s, 1) + 1
    x = d.tensor(2, 3 * max(kernel[0] * kernel[1], 1), max(blocks, 1))
    return [x, out, kernel, dilation, padding, stride]


def _nll(d: Draw) -> list[Any]:
    n, c = d.size(), d.size()
    weight = d.plain([c], "float32") if d.random() < 0.5 else None
    target = d.tensor(n, dtype="int64")
    return [d.plain([n, c], "float32"), target, weight, d.choice([0, 1, 2]), -100]


def _arange(d: Draw) -> list[Any]:
    step = d.number(1, 2, -1, 0.5, bad=0)
    return [d.choice([0, 1, 2.5]), d.choice([7, 0, -3, 4.5]), step]


def _index(d: Draw) -> list[Any]:
    sizes = d.sizes() or [2]
    where = d.broadcast([2, 3])
    given = [d.tensor(*where, dtype="int64") if d.random() < 0.6 else None for _ in sizes]
    if all(i is None for i in given):
        given[0] = d.tensor(*where, dtype="int64")
    while given and given[-1] is None:
        given.pop()
    return [d.plain(sizes, "float32"), given]


OPERATORS: dict[str, Callable[[Draw], list[Any]]] = {
    "_adaptive_avg_pool2d.default": _adaptive(2),
    "_adaptive_avg_pool3d.default": _adaptive(3),
    "_log_softmax.default": _softmax,
    "_softmax.default": _softmax,
    "add.Scalar": _scalar,
    "add.Tensor": _binary,
    "addmm.default": _addmm,
    "all.dim": _along_kept,
    "amax.default": _reduce,
    "any.dim": _along_kept,
    "arange.start_step": _arange,
    "argmax.default": _along_kept,
    "avg_pool2d.default": _avg_pool(2),
    "avg_pool3d.default": _avg_pool(3),
    "baddbmm.default": _baddbmm,
    "bitwise_and.Tensor": _binary,
    "bmm.default": _bmm,
    "cat.default": _cat,
    "col2im.default": _col2im,
    "constant_pad_nd.default": _pad,
    "convolution.default": _conv,
    "cumsum.default": _along,
    "div.Tensor": _binary,
    "embedding.default": _embedding,
    "eq.Tensor": _binary,
    "exp.default": _unary,
    "gather.default": _gather,
    "index.Tensor": _index,
    "index_select.default": _index_select,
    "logsumexp.default": _logsumexp,
    "lt.Scalar": _scalar,
    "matmul.default": _any_matmul,
    "max.dim": _along_kept,
    "max_pool2d_with_indices.default": _max_pool(2),
    "max_pool3d_with_indices.default": _max_pool(3),
    "maximum.default": _binary,
    "mean.dim": _mean,
    "mm.default": _matmul,
    "mul.Tensor": _binary,
    "native_batch_norm.default": _batch_norm,
    "native_group_norm.default": _group_norm,
    "native_layer_norm.default": _layer_norm,
    "nll_loss_forward.default": _nll,
    "pow.Tensor_Scalar": _scalar,
    "pow.Tensor_Tensor": _binary,
    "scatter.src": _scatter,
    "sort.default": _sort,
    "stack.default": _stack,
    "sub.Tensor": _binary,
    "sum.dim_IntList": _reduce,
    "topk.default": _topk,
    "upsample_bilinear2d.default": _upsample(2, True),
    "upsample_nearest2d.default": _upsample(2, False),
    "var.dim": _var,
    "where.self": _where,
}


def build(module: Any, value: Any) -> Any:
    """An argument of a case as an object of `module` (torch, or this library)."""
    if isinstance(value, dict):
        dtype = getattr(module, value["dtype"])
        empty = module.ops.aten.empty_strided.default
        return empty(value["sizes"], value["strides"], dtype=dtype)
    return [build(module, v) for v in value] if isinstance(value, list) else value


def _told(call: Callable[[], Any]) -> Any:
    try:
        result = call()
    except Exception as error:
        return type(error).__name__
    outputs = result if isinstance(result, (list, tuple)) else [result]
    return [[list(t.shape), strides_of(t), str(t.dtype).partition(".")[2]] for t in outputs]


def strides_of(t: Any) -> list[int | None]:
    """None where the size is 1 or there are no elements."""
    seen = zip(t.shape, t.stride(), strict=True)
    return [stride if n > 1 and t.numel() else None for n, stride in seen]


def main() -> None:
    """Write `data/shapes.json.gz`."""
    import torch
    from torch._subclasses import FakeTensorMode

    logging.disable(logging.ERROR)
    cases = []
    for name, arguments in sorted(OPERATORS.items()):
        draw = Draw(name)
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload)
        for _ in range(CASES):
            draw.failing = draw.random() < WRONG
            args = arguments(draw)
            with FakeTensorMode():
                given = [build(torch, a) for a in args]
                cases.append([name, args, _told(lambda op=op, given=given: op(*given))])
    text = json.dumps(cases, separators=(",", ":"))
    (DATA / "shapes.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
