"""What operators of `drawn_kernels` are called with: mostly what fits, now and then not."""

from collections.abc import Callable, Sequence
from typing import Any

from tests.conformance.drawing import ALL, FLOATS, NUMBERS, Draw, Drawn, Told, dense

__all__ = [
    "along",
    "along_index",
    "avg_pool",
    "backward",
    "batch_norm",
    "cast",
    "columns",
    "constant_pad",
    "convolution",
    "convolution_backward",
    "copied",
    "correction",
    "diagonal_scatter",
    "distances",
    "embedding_backward",
    "flag",
    "from_columns",
    "gather",
    "gathered",
    "grid",
    "group_norm",
    "in_format",
    "index",
    "index_put",
    "indices_first",
    "joined",
    "kth",
    "layer_norm",
    "loss",
    "margins",
    "masked",
    "masked_scatter",
    "max_pool",
    "mode",
    "nll",
    "of",
    "one",
    "order",
    "out",
    "over",
    "pad",
    "pair",
    "positive",
    "products",
    "resample",
    "resample_backward",
    "rolled",
    "scalar",
    "scatter",
    "select_scatter",
    "shuffled",
    "sized",
    "slice_scatter",
    "small",
    "softmax_backward",
    "sorted_search",
    "stacked",
    "take",
    "three",
    "topk",
    "unpool",
]


def out(forward: str, draw: Draw, *names: str) -> Draw:
    """The call with outputs that lie in other ways, now and then of another size or dtype."""

    def drawn(r: Drawn) -> list[Any]:
        args, outs = draw(r), {}
        for name, told in zip(names or ("out",), r.results(forward, args), strict=False):
            dtype = told["dtype"] if r.random() < 0.9 else r.choice(("float32", "int64"))
            shape = told["shape"] if r.random() < 0.8 else r.choice(([0], [2, 3]))
            outs[name] = r.t(shape, dtype, repeats=False)
        return [*args, {"keywords": outs}]

    return drawn


def window(r: Drawn, n: int, dilated: bool = False) -> list[Any]:
    """Kernel, stride, padding, dilation."""
    kernel = r.ints(r.choice((1, n)), 1, 3)
    stride = r.choice(([], r.ints(n, 1, 3), r.ints(1, 1, 3)))
    padding = r.choice(([0], r.ints(n, 0, 1), [1]))
    return [kernel, stride, padding] + ([r.choice(([1], r.ints(n, 1, 2)))] if dilated else [])


def max_pool(n: int) -> Draw:
    return lambda r: [
        r.t(r.image(n, 3), (*NUMBERS, "float32")), *window(r, n, True), r.flag(),
    ]  # fmt: skip


def avg_pool(n: int) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        count = [r.flag(), r.maybe(r.randint(0, 4), 0.3)] if n > 1 else [r.flag()]
        return [r.t(r.image(n, 3), (*FLOATS, "int64")), *window(r, n), r.flag(), *count]

    return draw


def backward(forward: str, draw: Draw, order: str, result: int = 0) -> Draw:
    """Of a gradient: `order` says where the result's gradient goes (g), the input (x), the
    remaining arguments (*) and the indices that came back (i)."""

    def drawn(r: Drawn) -> list[Any]:
        x, *others = draw(r)
        shapes = r.shapes_of(forward, x, *others)
        args: list[Any] = []
        for part in order:
            if part == "*":
                args += others
            elif part == "i":
                below = 1
                for m in x["shape"][-(2 if "2d" in forward else 3) :]:
                    below *= m
                shape = shapes[1] if len(shapes) > 1 else [1]
                index = r.indices(shape, below, beyond=0)  # PyTorch reads them as if contiguous
                args.append(
                    index | {"stride": dense(shape), "offset": 0, "numbers": index["numbers"]}
                )
            else:
                args.append(r.same(x, shapes[result]) if part == "g" else x)
        return args

    return drawn


def sized(n: int, dtypes: Sequence[str] = FLOATS) -> Draw:
    """An image and the size that it is to have."""
    return lambda r: [r.t(r.image(n), dtypes), r.sizes(n, 1, 7)]


def unpool(n: int) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        image, out = r.image(n), [m + r.randint(0, 2) for m in r.sizes(n, 6, 7)]
        below = 1
        for m in out:
            below *= m
        args = [r.t(image, FLOATS), r.indices(image, below), out]
        return args + ([r.ints(n, 1, 3), r.ints(n, 0, 1)] if n == 3 else [])

    return draw


def pad(n: int, dtypes: Sequence[str] = ALL, low: int = -1) -> Draw:
    return lambda r: [r.t(r.image(n), dtypes), r.ints(2 * n, low, 2)]


def constant_pad(r: Drawn) -> list[Any]:
    shape = r.any_sizes()
    pads = r.ints(2 * r.randint(0, len(shape)), -1, 2)
    return [r.t(shape, ALL), pads, r.choice((0, 1, 2.5))]


def resample(n: int, corners: bool, dtypes: Sequence[str] = (*FLOATS, "uint8")) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        shape = r.sizes(2, 1, 3) + r.sizes(n, 2, 6)
        flags = [r.flag()] if corners else []
        scales = [r.maybe(r.choice((0.5, 1.3, 2.0)), 0.3) for _ in range(n)]
        return [r.t(shape, dtypes), r.sizes(n, 1, 7), *flags, *scales]

    return draw


def resample_backward(n: int, corners: bool) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        lead, out = r.sizes(2, 1, 3), r.sizes(n, 1, 7)
        flags = [r.flag()] if corners else []
        scales = [r.maybe(r.choice((0.5, 1.3, 2.0)), 0.3) for _ in range(n)]
        return [r.t(lead + out), out, lead + r.sizes(n, 2, 6), *flags, *scales]

    return draw


def grid(n: int) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        batch, dtype = r.randint(1, 2), r.choice(FLOATS)
        x = r.t([batch, r.randint(1, 3), *r.sizes(n, 1, 5)], dtype)
        grid = r.t([batch, *r.sizes(n, 1, 4), n], dtype)
        return [x, grid, r.randint(0, 2 if n == 2 else 1), r.randint(0, 2), r.flag()]

    return draw


def along(dtypes: Sequence[str], *more: Callable[["Drawn"], Any], repeats: bool = True) -> Draw:
    """A tensor, one of its dimensions, and more."""

    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        return [r.t(shape, dtypes, repeats), r.dim(len(shape)), *(f(r) for f in more)]

    return draw


def over(dtypes: Sequence[str], *more: Callable[["Drawn"], Any]) -> Draw:
    """A tensor, some of its dimensions, and more."""

    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        return [r.t(shape, dtypes), r.dims(len(shape)), *(f(r) for f in more)]

    return draw


def kth(r: Drawn) -> list[Any]:
    shape = r.any_sizes()
    dim = r.dim(len(shape))
    n = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
    return [r.t(shape, NUMBERS, repeats=False), r.randint(1, max(n, 1)), dim, r.flag()]


def topk(r: Drawn) -> list[Any]:
    return [*kth(r), True]


def sorted_search(r: Drawn) -> list[Any]:
    lead, dtype = r.any_sizes(0, 2), r.choice(("float32", "int64", "float64", "int32"))
    n = r.randint(0, 6)
    numbers = sorted(r.randint(-20, 20) for _ in range(n))
    rows = 1
    for m in lead:
        rows *= m
    one_row = r.flag()
    shape = [n] if one_row else [*lead, n]
    bounds = {"dtype": dtype, "shape": shape, "stride": dense(shape), "offset": 0,
              "numbers": numbers * (1 if one_row else rows)}  # fmt: skip
    return [bounds, r.t([*lead, r.randint(1, 4)], dtype), r.flag(), r.flag()]


def normalised(r: Drawn) -> tuple[Told, Told | None, Told | None]:
    """A tensor and a weight and bias of its channels."""
    shape = r.sizes(2, 2, 4) + r.any_sizes(0, 2)
    x = r.t(shape)
    return x, r.maybe(r.t(shape[1:2], x["dtype"])), r.maybe(r.t(shape[1:2], x["dtype"]))


def layer_norm(r: Drawn) -> list[Any]:
    shape = r.sizes(r.randint(1, 4), 1, 4)
    last = shape[-r.randint(1, len(shape)) :]
    x = r.t(shape)
    weights = [r.maybe(r.t(last, x["dtype"])) for _ in "wb"]
    return [x, last, *weights, r.choice((1e-5, 0.1))]


def group_norm(r: Drawn) -> list[Any]:
    group, of_each = r.randint(1, 3), r.randint(1, 2)
    n, c = r.randint(1, 3), group * of_each
    tail = r.any_sizes(0, 2)
    x = r.t([n, c, *tail])
    hxw = 1
    for m in tail:
        hxw *= m
    return [x, r.maybe(r.t([c], x["dtype"])), r.maybe(r.t([c], x["dtype"])), n, c, hxw, group, 1e-5]


def batch_norm(r: Drawn) -> list[Any]:
    x, weight, bias = normalised(r)
    c, train = x["shape"][1:2], r.flag()
    stats = [r.t(c, x["dtype"]) | {"numbers": [1 + k % 3 for k in range(60)]} for _ in "mv"]
    stats = [None, None] if train and r.flag() else stats
    return [x, weight, bias, *stats, train, 0.1, r.choice((1e-5, 0.1))]


def convolution(r: Drawn) -> list[Any]:
    n, groups, transposed = r.randint(1, 3), r.choice((1, 1, 2)), r.random() < 0.35
    each_in, each_out = r.randint(1, 2), r.randint(1, 2)
    kernel = r.ints(n, 1, 3)
    dtype = r.choice(("float32", "float64", "bfloat16"))  # PyTorch crashes on some of float16
    x = r.t([r.randint(1, 2), groups * each_in, *r.sizes(n, 3, 5)], dtype)
    weight = [groups * each_in, each_out] if transposed else [groups * each_out, each_in]
    bias = r.maybe(r.t([groups * each_out], dtype))
    stride, dilation = r.ints(n, 1, 2), r.ints(n, 1, 2)
    extra = [r.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation, strict=True)]
    return [x, r.t([*weight, *kernel], dtype), bias, stride, r.ints(n, 0, 2), dilation, transposed,
            extra if transposed else [0] * n, groups]  # fmt: skip


def convolution_backward(r: Drawn) -> list[Any]:
    args = convolution(r)
    x, weight, bias, *others = args
    (shape,) = r.shapes_of("convolution", *args)
    channels = shape[1:2]
    masks = [r.flag(), r.flag(), r.flag()]
    return [r.same(x, shape), x, weight, channels if bias else r.maybe(channels), *others, masks]


def columns(r: Drawn) -> list[Any]:
    x = r.t(r.image(2, 3), (*FLOATS, "complex64"))
    return [x, r.ints(2, 1, 3), r.ints(2, 1, 2), r.ints(2, 0, 1), r.ints(2, 1, 2)]


def from_columns(r: Drawn) -> list[Any]:
    args = columns(r)
    x, *others = args
    (shape,) = r.shapes_of("im2col", *args)
    return [r.same(x, shape), x["shape"][-2:], *others]


def indexed(r: Drawn) -> tuple[Told, list[Any], list[int]]:
    """A tensor, indices of some of its dimensions, and the sizes of what they pick."""
    shape = r.sizes(r.randint(1, 4), 2, 4)
    common = r.any_sizes(0, 2)
    indices: list[Any] = []
    for n in shape[: r.randint(1, len(shape))]:
        one = [m if r.random() < 0.8 else 1 for m in common][
            r.choice((0, 0, 0, len(common) // 2)) :
        ]
        kind = r.random()
        if kind < 0.25:
            indices.append(None)
        elif kind < 0.35:
            indices.append(r.t([n], "bool"))
        else:
            indices.append(r.indices(one, n, r.choice(("int64", "int64", "int32")), -n))
    return r.t(shape, ALL), indices, []


def index(r: Drawn) -> list[Any]:
    x, indices, _ = indexed(r)
    return [x, indices]


def index_put(r: Drawn) -> list[Any]:
    x, indices, _ = indexed(r)
    (shape,) = r.shapes_of("index.Tensor", x, indices)
    if any(i and i["dtype"] == "bool" for i in indices):
        shape = []
    shape = [m if r.random() < 0.9 else 1 for m in shape]
    return [x, indices, r.t(shape[r.choice((0, 0, 1)) :], x["dtype"]), r.flag()]


def gathered(r: Drawn) -> tuple[Told, int, Told, list[int]]:
    shape = r.any_sizes()
    dim = r.dim(len(shape))
    n = shape[dim] if shape and -len(shape) <= dim < len(shape) else 1
    picked = [r.randint(0 if r.random() < 0.1 else 1, m) if m else 0 for m in shape]
    if picked and -len(shape) <= dim < len(shape):
        picked[dim] = r.randint(1, 5)
    return r.t(shape, ALL), dim, r.indices(picked, n), picked


def gather(r: Drawn) -> list[Any]:
    x, dim, index, _ = gathered(r)
    return [x, dim, index, r.flag()]


def scatter(*more: Callable[["Drawn"], Any], number: bool = False) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        x, dim, index, picked = gathered(r)
        source = [m + r.choice((0, 0, 1)) for m in picked]
        given = r.choice((2, 0)) if number else r.t(source, x["dtype"])
        return [x, dim, index, given, *(f(r) for f in more)]

    return draw


def along_index(source: bool, *more: Callable[["Drawn"], Any]) -> Draw:
    """Rows that an index of one dimension names."""

    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        dim = r.dim(len(shape))
        fits = bool(shape) and -len(shape) <= dim < len(shape)
        count = r.randint(0 if r.flag() else 1, 4)
        index = r.indices([count] if r.random() < 0.9 else [], shape[dim] if fits else 1,
                          r.choice(("int64", "int64", "int32")))  # fmt: skip
        x = r.t(shape, ALL)
        picked = [*shape]
        if fits:
            picked[dim] = index["shape"][0] if index["shape"] else 1
        return [x, dim, index, *([r.same(x, picked)] if source else []), *(f(r) for f in more)]

    return draw


def take(source: bool) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        count = 1
        for m in shape:
            count *= m
        x, index = r.t(shape, ALL), r.indices(r.any_sizes(0, 2), count, "int64", -count)
        return [x, index, *([r.t(index["shape"], x["dtype"]), r.flag()] if source else [])]

    return draw


def broadcast(r: Drawn, shape: list[int]) -> list[int]:
    found = [m if r.random() < 0.75 else 1 for m in shape]
    return found[r.choice((0, 0, 0, 1, 2)) :]


def pair(first: Sequence[str], second: Sequence[str] | None = None) -> Draw:
    """Two tensors that broadcast, half of the time of one dtype."""

    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        a = r.t(broadcast(r, shape), first)
        other = a["dtype"] if r.flag() and second is None else r.choice(second or first)
        return [a, r.t(broadcast(r, shape), other)]

    return draw


def three(dtypes: Sequence[str], mask: bool = False) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        shape, dtype = r.any_sizes(), r.choice(dtypes)
        found = [r.t(broadcast(r, shape), dtype) for _ in range(3)]
        if mask:
            found[0] = r.t(broadcast(r, shape), "bool")
        return found

    return draw


def one(dtypes: Sequence[str] = ALL, *more: Callable[["Drawn"], Any]) -> Draw:
    return lambda r: [r.t(r.any_sizes(), dtypes), *(f(r) for f in more)]


def masked(more: Callable[["Drawn"], Any] | None) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        shape = r.any_sizes()
        x = r.t(broadcast(r, shape), ALL)
        mask = r.t(broadcast(r, shape), "bool")
        return [x, mask] if more is None else [x, mask, more(r)]

    return draw


def masked_scatter(r: Drawn) -> list[Any]:
    x, mask = masked(None)(r)
    return [x, mask, r.t(r.sizes(2, 2, 9), x["dtype"])]


def products(*shapes: str, add: bool = False) -> Draw:
    """Tensors whose dimensions are named by letters; `add`: the first broadcasts."""

    def draw(r: Drawn) -> list[Any]:
        sizes = {letter: r.sizes(1, 1, 4)[0] for letter in "bnmk"}
        dtype = r.choice((*FLOATS, "int64", "complex64"))
        made = [r.t([sizes[letter] for letter in shape], dtype) for shape in shapes]
        if add:
            made[0] = r.t(broadcast(r, made[0]["shape"]), dtype)
        return made

    return draw


def rolled(r: Drawn) -> list[Any]:
    shape = r.any_sizes()
    dims = r.dims(len(shape))
    return [r.t(shape, ALL), r.ints(len(dims) or 1, -5, 5), dims]


def shuffled(up: bool) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        f = r.randint(1, 3)
        lead, c, h, w = r.any_sizes(0, 2), r.randint(1, 2), r.randint(1, 3), r.randint(1, 3)
        shape = [*lead, c * f * f, h, w] if up else [*lead, c, h * f, w * f]
        return [r.t(shape, ALL), f]

    return draw


def joined(r: Drawn) -> list[Any]:
    shape = r.sizes(r.randint(1, 4), 1, 4)
    dim, dtype = r.dim(len(shape)), r.choice(ALL)
    made = []
    for _ in range(r.randint(1, 4)):
        one = [*shape]
        one[dim % len(shape)] = r.randint(0, 4)
        made.append(
            r.t(one if r.random() < 0.95 else [0], dtype if r.random() < 0.8 else r.choice(ALL))
        )
    return [made, dim]


def stacked(r: Drawn) -> list[Any]:
    shape, dtype = r.any_sizes(), r.choice(ALL)
    return [[r.t(shape, dtype) for _ in range(r.randint(1, 3))], r.dim(len(shape) + 1)]


def nll(n: int) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        lead, c = r.randint(1, 3), r.randint(1, 4)
        tail = r.sizes(2, 1, 3) if n == 2 else []
        x = r.t([lead, c, *tail])
        if n == 1 and r.random() < 0.2:
            x = r.t([c], x["dtype"])
        target = r.indices([lead, *tail] if len(x["shape"]) > 1 else [], c)
        return [x, target, r.maybe(r.t([c], x["dtype"])), r.randint(0, 2), r.choice((-100, 0, 1))]

    return draw


def margins(*more: Callable[["Drawn"], Any]) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        n, c = r.randint(1, 3), r.randint(1, 4)
        x = r.t([n, c])
        return [x, r.indices([n], c), *(f(r) for f in more)]

    return draw


def loss(*more: Callable[["Drawn"], Any]) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        x = r.t(r.any_sizes())
        return [x, r.same(x), r.randint(0, 2), *(f(r) for f in more)]

    return draw


def memory_format(r: Drawn) -> str:
    return r.choice(("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"))


def in_format(r: Drawn) -> list[Any]:
    x = r.t(r.sizes(r.choice((4, 4, 4, 5, 3, 2, 0)), 1, 3), ALL)
    return [x, {"keywords": {"memory_format": {"named": memory_format(r)}}}]


def cast(r: Drawn) -> list[Any]:
    return [r.t(r.any_sizes(), ALL), {"keywords": {"dtype": {"named": r.choice(ALL)}}}]


def copied(r: Drawn) -> list[Any]:
    shape = r.any_sizes()
    return [r.t(shape, ALL, repeats=False), r.t(broadcast(r, shape), ALL), False]


def indices_first(*more: Callable[["Drawn"], Any]) -> Draw:
    def draw(r: Drawn) -> list[Any]:
        rows = r.randint(2, 5)
        return [
            r.t([rows, r.randint(1, 4)]),
            r.indices(r.any_sizes(0, 3), rows),
            *(f(r) for f in more),
        ]

    return draw


def embedding_backward(r: Drawn) -> list[Any]:
    rows, columns = r.randint(2, 5), r.randint(1, 4)
    index = r.indices(r.any_sizes(0, 3), rows, beyond=0)
    return [r.t([*index["shape"], columns]), index, rows, r.choice((-1, 0, 1)), r.flag()]


def softmax_backward(r: Drawn) -> list[Any]:
    shape = r.any_sizes()
    x = r.t(shape)
    return [x, r.same(x), r.dim(len(shape)), {"named": x["dtype"]}]


def distances(r: Drawn) -> list[Any]:
    lead, m, dtype = r.any_sizes(0, 2), r.randint(1, 4), r.choice(("float32", "float64"))
    first = r.t([*broadcast(r, lead), r.sizes(1, 1, 4)[0], m], dtype)
    second = r.t([*broadcast(r, lead), r.sizes(1, 1, 4)[0], m], dtype)
    return [first, second, r.choice((0.0, 1.0, 2.0, 3.0, float("inf"))), r.choice((None, 1, 2))]


def placed(r: Drawn) -> tuple[list[int], Told]:
    shape = r.sizes(r.randint(1, 4), 2, 4)
    return shape, r.t(shape, ALL)


def select_scatter(r: Drawn) -> list[Any]:
    shape, x = placed(r)
    dim = r.dim(len(shape))
    at = dim % len(shape)
    return [x, r.same(x, shape[:at] + shape[at + 1 :]), dim, r.randint(-shape[at], shape[at])]


def slice_scatter(r: Drawn) -> list[Any]:
    shape, x = placed(r)
    dim = r.dim(len(shape))
    args = [dim, r.choice((None, 0, 1, -2)), r.choice((None, 2, 9, -1)), r.randint(1, 2)]
    (picked,) = r.shapes_of("slice.Tensor", x, *args)
    return [x, r.same(x, picked), *args]


def diagonal_scatter(r: Drawn) -> list[Any]:
    shape, x = placed(r)
    args = [r.randint(-2, 2), r.dim(len(shape)), r.dim(len(shape))]
    (picked,) = r.shapes_of("diagonal", x, *args)
    return [x, r.same(x, picked), *args]


def flag(r: Drawn) -> bool:
    return r.flag()


def small(r: Drawn) -> int:
    return r.randint(-2, 3)


def scalar(r: Drawn) -> Any:
    return r.choice((0, 1, 2, -1, 2.5, True))


def positive(r: Drawn) -> float:
    return r.choice((0.5, 1.0, 2.0))


def order(r: Drawn) -> Any:
    return r.choice((0, 1, 2, 3, 0.5, float("inf"), -float("inf")))


def correction(r: Drawn) -> dict[str, Any]:
    return {"keywords": {"correction": r.choice((0, 1, 2)), "keepdim": r.flag()}}


def mode(r: Drawn) -> dict[str, Any]:
    return {"keywords": {"rounding_mode": r.choice((None, "floor", "trunc"))}}


def of(*values: Any) -> Callable[["Drawn"], Any]:
    return lambda r: r.choice(values)
