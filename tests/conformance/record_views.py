"""Records the geometry of views: `TORCH_PYTHON -m tests.conformance.record_views` (needs PyTorch).

Each case is a call on a strided view of a base of `BASE` elements, drawn at random; recorded are
sizes, strides and offset of every output of eager PyTorch, or the type of the error, and for views
what its fake tensors have (null where it fails or is no view). Writes `data/views.json.gz`; same
PyTorch, same bytes.
"""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["BASE", "main"]

BASE = 400
DATA = Path(__file__).parent / "data"
CASES = 40  # of each operator


def _dim(rng: random.Random, ndim: int) -> int:
    """Mostly a dimension, from either end, sometimes one too far."""
    return (
        rng.randint(-ndim, ndim - 1)
        if ndim and rng.random() < 0.93
        else rng.choice([-ndim - 1, ndim])
    )


def _size_along(rng: random.Random, sizes: list[int]) -> tuple[int, int]:
    dim = _dim(rng, len(sizes))
    return dim, sizes[dim] if -len(sizes) <= dim < len(sizes) else 2


def _select(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    return [dim, rng.randint(-n - 1, n)]


def _slice(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    start, end = (rng.choice([None, *range(-n - 2, n + 3), 1 << 62]) for _ in range(2))
    return [dim, start, end, rng.choice([1, 1, 2, 3, 7, 0])]


def _narrow(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    return [dim, rng.randint(-n - 1, n + 1), rng.randint(-1 if rng.random() < 0.1 else 0, n)]


def _permute(rng: random.Random, sizes: list[int]) -> list[Any]:
    dims = list(range(len(sizes)))
    rng.shuffle(dims)
    dims = [d - rng.choice([0, len(sizes)]) for d in dims]
    if dims and rng.random() < 0.1:
        dims[0] = dims[-1]
    return [dims if rng.random() < 0.95 else dims[1:]]


def _factors(rng: random.Random, sizes: list[int]) -> list[int]:
    count = 1
    for n in sizes:
        count *= n
    out = []
    while count > 1 and len(out) < 5:
        n = rng.choice([d for d in range(1, count + 1) if count % d == 0])
        out.append(n)
        count //= n
    out.append(count)
    rng.shuffle(out)
    return out


def _view(rng: random.Random, sizes: list[int]) -> list[Any]:
    out = list(sizes)
    if rng.random() < 0.7:
        out = _factors(rng, sizes)
    else:  # merge two neighbours, or part one, where a view is most often possible
        at = rng.randrange(max(len(out) - 1, 1))
        if len(out) > 1 and rng.random() < 0.5:
            out[at : at + 2] = [out[at] * out[at + 1]]
        elif out:
            out[at : at + 1] = rng.choice([[out[at], 1], [1, out[at]], [2, out[at] // 2 or 1]])
    if out and rng.random() < 0.3:
        out[rng.randrange(len(out))] = -1
    if rng.random() < 0.05:
        out.append(rng.choice([-1, 3, -2]))
    return [out]


def _expand(rng: random.Random, sizes: list[int]) -> list[Any]:
    out = [rng.choice([n, -1]) if n != 1 else rng.choice([1, -1, 0, 3]) for n in sizes]
    lead = [rng.choice([1, 2, 0]) for _ in range(rng.randint(0, 2))]
    if rng.random() < 0.1:
        lead.insert(0, -1)
    if out and rng.random() < 0.1:
        out[-1] = 9
    return [lead + out if rng.random() < 0.95 else out[1:]]


def _as_strided(rng: random.Random, sizes: list[int]) -> list[Any]:
    n = rng.randint(0, 3)
    strides = [rng.choice([0, 1, 2, 5, 9]) for _ in range(n)]
    if n and rng.random() < 0.1:
        strides[0] = rng.choice([-1, 300])
    if rng.random() < 0.05:
        strides.append(1)
    return [[rng.choice([0, 1, 2, 4]) for _ in range(n)], strides, rng.choice([None, 0, 3, 50, -1])]


def _diagonal(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [rng.randint(-4, 4), _dim(rng, len(sizes)), _dim(rng, len(sizes))]


def _unfold(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    return [dim, rng.randint(0, n + (rng.random() < 0.1)), rng.choice([1, 1, 2, 3, 0])]


def _split(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    return [rng.randint(-1 if rng.random() < 0.1 else 0, n + 1), dim]


def _split_with_sizes(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    first = rng.randint(0, n)
    return [rng.choice([[first, n - first], [n], [first, 0, n - first], [first, n]]), dim]


def _squeeze_dims(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [[_dim(rng, len(sizes)) for _ in range(rng.randint(0, 3))]]


def _flatten(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [_dim(rng, len(sizes)), _dim(rng, len(sizes))]


def _two_dims(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [_dim(rng, len(sizes)), _dim(rng, len(sizes))]


def _one_dim(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [_dim(rng, len(sizes))]


def _new_dim(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [_dim(rng, len(sizes) + 1)]


def _chunk(rng: random.Random, sizes: list[int]) -> list[Any]:
    return [rng.choice([1, 2, 3, 5, 0]), _dim(rng, len(sizes))]


def _unflatten(rng: random.Random, sizes: list[int]) -> list[Any]:
    dim, n = _size_along(rng, sizes)
    return [dim, rng.choice([[n], [1, n], [-1, 1], [2, -1], [n, 1, 1], []])]


def _movedim(rng: random.Random, sizes: list[int]) -> list[Any]:
    dims = random.Random(rng.random()).sample(range(len(sizes)), min(2, len(sizes)))
    return [dims, dims[::-1] if rng.random() < 0.5 else [_dim(rng, len(sizes)) for _ in dims]]


def _none(rng: random.Random, sizes: list[int]) -> list[Any]:
    return []


Arguments = dict[str, Callable[[random.Random, list[int]], list[Any]]]

VIEWS: Arguments = {
    "alias.default": _none,
    "as_strided.default": _as_strided,
    "chunk.default": _chunk,
    "detach.default": _none,
    "diagonal.default": _diagonal,
    "expand.default": _expand,
    "flatten.using_ints": _flatten,
    "movedim.intlist": _movedim,
    "narrow.default": _narrow,
    "permute.default": _permute,
    "reshape.default": _view,
    "select.int": _select,
    "slice.Tensor": _slice,
    "split.Tensor": _split,
    "split_with_sizes.default": _split_with_sizes,
    "squeeze.default": _none,
    "squeeze.dim": _one_dim,
    "squeeze.dims": _squeeze_dims,
    "t.default": _none,
    "transpose.int": _two_dims,
    "unbind.int": _one_dim,
    "unflatten.int": _unflatten,
    "unfold.default": _unfold,
    "unsqueeze.default": _new_dim,
    "view.default": _view,
}

# Outputs of new memory, whose strides follow the argument's.
COPIES: Arguments = {
    "clone.default": _none,
    "empty_like.default": _none,
    "relu.default": _none,
    "contiguous.default": _none,
    "sum.dim_IntList": lambda rng, sizes: [[_dim(rng, len(sizes))], rng.random() < 0.5],
    "cumsum.default": _one_dim,
    "flip.default": lambda rng, sizes: [[_dim(rng, len(sizes))]],
    "repeat.default": lambda rng, sizes: [[rng.randint(0, 2) for _ in range(rng.randint(0, 4))]],
    "tril.default": lambda rng, sizes: [rng.randint(-2, 2)],
    "softmax.int": _one_dim,
    "argmax.default": lambda rng, sizes: [_dim(rng, len(sizes)), rng.random() < 0.5],
    "sort.default": lambda rng, sizes: [_dim(rng, len(sizes))],
}


def _argument(rng: random.Random, least: int = 0) -> tuple[list[int], list[int], int]:
    """Sizes, strides and offset of a view of the base: permuted, with gaps, broadcast or sliced."""
    ndim = max(rng.choice([0, 1, 2, 2, 3, 3, 4]), least)
    sizes = [rng.choice([1, 2, 3, 4, 4]) if rng.random() < 0.95 else 0 for _ in range(ndim)]
    strides = [0] * ndim
    order = list(range(ndim))
    if rng.random() < 0.5:
        order.reverse()  # contiguous
    else:
        rng.shuffle(order)
    step = 1
    for dim in order:
        strides[dim] = step
        if rng.random() < 0.1:
            strides[dim] = rng.choice([0, step * 2, 7])
        step = max(strides[dim], 1) * max(sizes[dim], 1)
    last = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True) if n)
    if last >= BASE - 10:
        return _argument(rng, least)
    return sizes, strides, rng.choice([0, 0, 1, 7])


def _told(call: Callable[[], Any]) -> Any:
    try:
        result = call()
    except Exception as error:
        return type(error).__name__
    outputs = result if isinstance(result, (list, tuple)) else [result]
    return [[list(t.shape), list(t.stride()), t.storage_offset()] for t in outputs]


def main() -> None:
    """Write `data/views.json.gz`."""
    import torch
    from torch._subclasses import FakeTensorMode

    cases = []
    for name, arguments in sorted((VIEWS | COPIES).items()):
        rng = random.Random(name)
        packet, _, overload = name.partition(".")
        op = getattr(getattr(torch.ops.aten, packet), overload)
        for _ in range(CASES):
            geometry = _argument(rng, name == "unflatten.int")
            args = arguments(rng, geometry[0])
            x = torch.arange(float(BASE)).as_strided(*geometry)
            eager = _told(lambda x=x, op=op, args=args: op(x, *args))
            fake = None
            if name in VIEWS and not isinstance(eager, str):
                with FakeTensorMode():
                    x = torch.empty(BASE).as_strided(*geometry)
                    fake = _told(lambda x=x, op=op, args=args: op(x, *args))
            cases.append([name, *geometry, args, eager, fake])
    text = json.dumps(cases, separators=(",", ":"))
    (DATA / "views.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
