"""Which operators a mode sees of functions that are composed of others."""


def _told(value):
    return str(value).replace("dispatch.", "torch.")[:40]


def _seen(s, log, label, function, *args, **kwargs):
    class Logged(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            shown = [list(a.shape) if isinstance(a, s.Tensor) else a for a in args]
            named = sorted((kwargs or {}).items())
            log(f"{label}: {func}", *map(str, shown), *(f"{k}={_told(v)}" for k, v in named))
            return func(*args, **(kwargs or {}))

    try:
        with Logged():
            result = function(*args, **kwargs)
    except Exception as error:
        log(label, "raises", type(error).__name__)
        return
    log(label, [list(r.shape) for r in result] if isinstance(result, (tuple, list)) else result.shape)


def losses_of_more_dimensions(s, log):
    nll, aten = s.ops.aten.nll_loss_nd, s.ops.aten
    for sizes in ((2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 2, 2), (0, 3, 4), (2, 3, 0)):
        x = s.T.ones(sizes)
        target = s.T.zeros((sizes[0], *sizes[2:]), dtype=s.T.int64)
        for reduction in (0, 1):
            _seen(s, log, str(sizes), nll, x, target, None, reduction)
        turned = s.T.ones(sizes[::-1]).permute(*range(len(sizes) - 1, -1, -1))
        _seen(s, log, "turned", nll, turned, target)
    x, y = s.T.ones(3, 4), s.T.full((3, 4), 2.0)
    signs = s.T.tensor([1.0, -1.0, 1.0])
    _seen(s, log, "ranking", aten.margin_ranking_loss, x, y, y)
    _seen(s, log, "poisson", aten.poisson_nll_loss, x, y, True, False, 1e-8, 1)


def norms_and_values_of_matrices(s, log):
    x, aten, F = s.T.eye(3).expand(2, 3, 3).clone(), s.ops.aten, s.T
    _seen(s, log, "nuclear", F.norm, x, "nuc", (0, 1))
    _seen(s, log, "nuclear", F.norm, x[0], "nuc")
    _seen(s, log, "kept", F.norm, x[0], "nuc", keepdim=True)
    _seen(s, log, "wide", F.norm, x[0], "nuc", dtype=s.T.float64)
    _seen(s, log, "three", F.norm, x, "nuc")
    _seen(s, log, "one", F.norm, x, "nuc", 1)
    _seen(s, log, "nobody's", F.norm, x, "foo")
    _seen(s, log, "of all", F.norm, x, "fro", (0, 1, 2))
    _seen(s, log, "out", F.norm, x[0], "nuc", out=s.T.empty(0))
    for name in ("linalg_svdvals", "linalg_eigvals", "linalg_eigvalsh", "linalg_cond"):
        _seen(s, log, name, getattr(aten, name), x)
    _seen(s, log, "inverse", aten.pinverse, x[0])
    _seen(s, log, "logdet", aten.logdet, x)
    _seen(s, log, "power", aten.linalg_matrix_power, x[0], 0)


def statistics_and_signals(s, log):
    x, aten = s.T.arange(12.0).view(3, 4), s.ops.aten
    _seen(s, log, "std_mean", aten.std_mean.default, x)
    _seen(s, log, "std_mean", aten.std_mean.default, x, False)
    _seen(s, log, "quantile", aten.quantile, x, s.T.tensor(0.5))
    _seen(s, log, "close", aten.isclose, x, x, equal_nan=True)
    _seen(s, log, "close", aten.isclose, x, x, 0.0, 0.0, True)
    _seen(s, log, "padded", aten.fft_fft, x, 7)
    _seen(s, log, "power", aten.float_power.Tensor_Tensor, x, x[:1])
    _seen(s, log, "ndtr", aten.special_ndtr, x)
    parts = s.T.complex(s.T.ones(5, 4), s.T.zeros(5, 4))
    _seen(s, log, "istft", aten.istft, parts, 8, 4, 8, s.T.ones(8))


def layers_with_the_batch_first(s, log):
    """In double precision: for float32 PyTorch's LSTM is one operator of a library."""
    aten, wide = s.ops.aten, s.T.float64
    x, h = s.T.ones(2, 1, 3, dtype=wide), s.T.zeros(1, 2, 4, dtype=wide)
    for name, n in (("gru", 3), ("rnn_tanh", 1), ("lstm", 4)):
        params = [s.T.ones(n * 4, 3, dtype=wide), s.T.ones(n * 4, 4, dtype=wide)]
        states = [h, h] if name == "lstm" else h
        rest = (params, False, 1, 0.0, False, False, True)
        names = []

        class Names(s.modes.TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None, names=names):
                names.append(str(func))
                return func(*args, **(kwargs or {}))

        with Names():
            getattr(aten, name).input(x, states, *rest)
        log(name, *names)


def contractions_differences_and_lengths(s, log):
    x, m, aten, T = s.T.ones(5), s.T.ones(2, 3), s.ops.aten, s.T
    for label, other, dims in (
        ("all", m, ([0, 1], [0, 1])),
        ("none", m, ([], [])),
        ("one", m, ([1], [1])),
        ("turned", m.t(), ([0, 1], [1, 0])),
        ("broadcast", m[:1], ([0, 1], [0, 1])),
    ):
        _seen(s, log, label, aten.tensordot, m, other, *dims)
    for spacing in (None, 2.0):
        for order in (1, 2):
            options = {"spacing": spacing, "edge_order": order}
            _seen(s, log, "gradient", aten.gradient.scalarint, x, **options)
    rows = T.ones(2, 2, 3).log_softmax(-1)
    targets = T.tensor([[1], [2]])
    two, one = T.tensor([2, 2]), T.tensor([1, 1])
    for reduction in (0, 1, 2):
        _seen(s, log, "ctc", aten.ctc_loss.Tensor, rows, targets, two, one, 0, reduction)
        _seen(s, log, "ctc", aten.ctc_loss.Tensor, rows, targets, two, one, 0, reduction, True)
    one_row = (rows[:, 0], targets[0], two[0], one[0])
    _seen(s, log, "ctc of one", aten.ctc_loss.Tensor, *one_row, 0, 0)
    _seen(s, log, "floats", aten.ctc_loss.Tensor, rows, targets, two.float(), one)
