"""Programs over symbolic sizes, traced at the dispatcher: code, sizes and strides, guards, ranges."""

from tests.differential.programs.graphs import _lines


def _size_of(value):
    return [str(n) for n in value]


def _traced(s, log, f, *args, mode="symbolic", code=True):
    try:
        module = s.fx.make_fx(f, tracing_mode=mode)(*args)
    except Exception as error:
        log("raises", type(error).__name__)
        return None
    if code:
        _lines(log, module.code)
    for node in module.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, s.T.Tensor):
            log(node.op, _size_of(value.shape), _size_of(value.stride()), value.dtype)
        elif code and isinstance(value, (s.T.SymInt, s.T.SymFloat, s.T.SymBool)):
            log(type(value).__name__, str(value))
    if mode == "symbolic":
        env = module.shape_env
        log([str(guard.expr) for guard in env.guards])
        log({str(name): str(r) for name, r in env.var_to_range.items()})
    return module


def arithmetic(s, log):
    a, b = s.T.ones(5, 4), s.T.ones(3, 7)
    _traced(s, log, lambda a, b: a.new_zeros(b.shape[0] * 2, b.shape[1] + a.shape[0]), a, b)
    _traced(s, log, lambda a: a / a.size(-1) ** 0.5 + a.shape[0] / 5, a)
    _traced(
        s, log, lambda a: (a.shape[0] // 2, -a.shape[1] + 10, a.shape[0] - 1.5, 3 - a.size(0)), a
    )
    _traced(
        s, log, lambda a: (s.T.sym_max(a.shape[0], 3), s.T.sym_float(a.shape[1]), a.size(0) % 2), a
    )
    _traced(s, log, lambda a: (int(a.shape[0]) + 1, abs(a.size(1))), a)
    _traced(s, log, lambda a: a.new_ones(a.shape[0] * 1) if a.shape[0] * a.shape[1] > 7 else a, a)
    _traced(s, log, lambda a: s.T.add(a.shape[0], 2.5), a)
    _traced(s, log, lambda a, n: s.T.add(s.T.sym_float(a.shape[0]), n), a, 3)


def views(s, log):
    x, y = s.T.ones(3, 4, 5), s.T.ones(7)
    n = lambda t: t.shape  # noqa: E731
    _traced(s, log, lambda x: x.view(n(x)[0] * n(x)[1], n(x)[2]).flatten(), x, code=False)
    _traced(
        s, log, lambda x, y: x.repeat_interleave(n(y)[0], 1).view(n(x)[0], -1), x, y, code=False
    )
    _traced(s, log, lambda x: s.T.stack([x, x]).view(-1, n(x)[2]).t(), x, code=False)
    _traced(s, log, lambda x: x.transpose(0, 1).reshape(-1, n(x)[2])[:, None], x, code=False)
    for one in (lambda x: x[: n(x)[0]], lambda x: x[:], lambda x: x[:, 1], lambda x: x[:, :, None]):
        _traced(s, log, one, x, code=False)


def composed(s, log):
    def sizes(f, *args):
        module = s.fx.make_fx(lambda *a: f(*a), tracing_mode="symbolic")(*args)
        (found,) = next(node for node in module.graph.nodes if node.op == "output").args
        for node in found if isinstance(found, (tuple, list)) else [found]:
            value = node.meta["val"]
            tensor = isinstance(value, s.T.Tensor)
            log(_size_of(value.shape) + _size_of(value.stride()) if tensor else str(value))

    x, image, places = s.T.ones(7, 4, 4), s.T.ones(2, 3, 6, 6), s.T.tensor([2, 5])
    sizes(lambda x: x.chunk(3), x)
    sizes(lambda x: s.T.unsafe_chunk(x, 3, 1)[:1], x)
    sizes(lambda x: s.T.diag_embed(x, 2), x)
    sizes(lambda i: s.T.unravel_index(i, (3, 4)), places)
    sizes(lambda x, i: s.T.tensor_split(x, i)[0].shape[0], x, places)
    resized = s.nn.functional.interpolate
    sizes(lambda x: resized(x, scale_factor=0.6, recompute_scale_factor=True), image)
    spectrum, window = s.T.ones(1, 5, 9, dtype=s.T.complex64), s.T.hann_window(8)
    sizes(lambda z, w: s.T.istft(z, 8, window=w), spectrum, window)


def comparisons(s, log):
    x = s.T.ones(7, 4)
    _traced(s, log, lambda x: x.sin() if 3 < x.shape[0] else x, x, code=False)
    _traced(s, log, lambda x: x.split_with_sizes([3, 4]), x, code=False)
    _traced(s, log, lambda x: x.topk(2, 0).values, x, code=False)


def _zeroed_where(x, mask):
    x[mask, 0] = x[mask, 0] * -1


def _flipped_where(x, mask):
    kept = x[mask]
    x[mask] = kept.flip(-1)
    return kept[:, 1]


def counts_that_data_decide(s, log):
    mask = s.T.ones(6, dtype=s.T.bool)
    for mode in ("fake", "symbolic"):
        _traced(s, log, _zeroed_where, s.T.ones(6, 4), mask, mode=mode)
        _traced(s, log, _flipped_where, s.T.ones(6, 3), mask, mode=mode)
        _traced(s, log, lambda n: s.T.zeros(list(n) + [2]), s.T.tensor([3, 4]), mode=mode)
    _traced(s, log, lambda x: x.nonzero().shape[0] == x.shape[0], s.T.ones(4))


def numbers_in_tensors(s, log):
    for value in (
        s.T.tensor(5),
        s.T.tensor(2.5, dtype=s.T.float64),
        s.T.tensor(2.5),
        s.T.tensor(5).int(),
    ):
        _traced(s, log, lambda x, n: x + n.item(), s.T.ones(3), value)
    module = _traced(s, log, lambda n: n.item() > 3 and n * 2, s.T.tensor(5))
    log(module(s.T.tensor(9)))
