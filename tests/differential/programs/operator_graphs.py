"""Programs traced at the dispatcher, as graphs of operators (make_fx)."""

from tests.differential.programs.graphs import _lines


def _traced(s, log, f, *args, **how):
    try:
        module = s.fx.make_fx(f, **how)(*args)
    except Exception as error:
        log("raises", type(error).__name__)
        return None
    _lines(log, module.code)
    return module


def real_runs(s, log):
    x, w = s.T.ones(3, 4), s.T.full((4, 4), 2.0)
    F = s.nn.functional
    module = _traced(s, log, lambda x, y: F.linear(x, y).relu().sum(0), x, w)
    log(module(x, w))
    _lines(log, str(module.graph))
    for node in module.graph.nodes:
        value, meta = node.meta.get("val"), node.meta.get("tensor_meta")
        log(node.name, type(value).__name__, getattr(value, "shape", None), meta and meta.stride)
    _traced(s, log, lambda x: x.view(-1).softmax(0) * 2 + s.T.ones(12), x)
    _traced(s, log, lambda x: s.T.split(x, 2)[1] + x.max(1).values[0], x)
    _traced(s, log, lambda x: (x, [x.sin(), 3, None]), x)
    _traced(s, log, lambda d: {"o": d["a"] + d["b"][0]}, {"a": x, "b": [w[:3]]})
    _traced(s, log, lambda *a: a[0] + a[1], x, x)
    _traced(s, log, lambda x: s.T.rand(3) + x[:, 0].bernoulli(), x)


def _writing(x):
    y = x.clone()
    y.add_(1)
    y[0] = 3.0
    y[:, 1].mul_(2)
    return y, y.t()


def writes(s, log):
    x = s.T.ones(3, 4)
    module = _traced(s, log, _writing, x)
    log(module(x))
    _traced(s, log, s.functional.functionalize(_writing), x)
    views = s.functional.functionalize(_writing, remove="mutations_and_views")
    module = _traced(s, log, views, x)
    log(module(x)[0])


def weights_and_constants(s, log):
    s.T.manual_seed(0)
    x = s.T.ones(3, 4)
    net = s.nn.Sequential(s.nn.Linear(4, 2), s.nn.BatchNorm1d(2)).eval()
    module = _traced(s, log, net, x)
    log(list(module.state_dict()), [n for n, _ in module.named_parameters()])
    log(module(x).equal(net(x)))
    constant = s.T.arange(4.0)
    module = _traced(s, log, lambda x: x + constant, x)
    log([(n, b) for n, b in module.named_buffers()])


def values_that_programs_ask_for(s, log):
    x = s.T.ones(3, 4)
    _traced(s, log, lambda x: x + 1 if x.sum() > 0 else x, x)
    _traced(s, log, lambda x: x * s.T.tensor(3.0).item(), x)
    _traced(s, log, lambda x: x * (s.T.tensor(3.0) + 1).item(), x)
    _traced(s, log, lambda x: x * s.T.tensor([3.0, 2.0]).sum().item(), x)
    _traced(s, log, lambda x: x + 1 if s.T.tensor(True) else x, x)
    _traced(s, log, lambda x: x.sum().item(), x, tracing_mode="fake")


def fake_runs(s, log):
    x, w = s.T.ones(3, 4), s.T.full((4, 4), 2.0)
    F = s.nn.functional
    for mode in ("fake", "symbolic"):
        _traced(s, log, lambda x, y: F.linear(x, y).relu().sum(0), x, w, tracing_mode=mode)
        _traced(
            s, log, lambda x: x.view(x.shape[0] * x.shape[1]) + x.shape[0], x, tracing_mode=mode
        )
        _traced(s, log, lambda x: s.T.cat([x, x]).reshape(-1, 2), x, tracing_mode=mode)
        _traced(s, log, lambda x, n: x.sum() * n, x, 5, tracing_mode=mode)
        _traced(s, log, lambda x: s.T.empty(x.shape[0] + 1, x.shape[1] // 2), x, tracing_mode=mode)
        _traced(s, log, lambda x: F.layer_norm(x, (4,)).flatten(), x, tracing_mode=mode)
        _traced(s, log, lambda x: x.nonzero(), x, tracing_mode=mode)
        _traced(s, log, lambda x: x.new_zeros(x.size(0)), x, tracing_mode=mode)
    module = s.fx.make_fx(lambda x: s.T.cat([x, x]).reshape(-1, 2), tracing_mode="symbolic")(x)
    log(module(s.T.ones(5, 6)).shape, type(module.shape_env).__name__)
    log.attempt("no mode", s.fx.make_fx, lambda x: x, tracing_mode="unreal")


def decompositions(s, log):
    x = s.T.ones(3, 4)
    aten = s.ops.aten
    table = {
        aten.std.correction: lambda x, dim=None, correction=None, keepdim=False: (x * x).mean(),
        aten.addmm.default: lambda b, x, y, beta=1, alpha=1: b + x @ y,
        aten.sin.default: lambda x: NotImplemented,
    }
    _traced(s, log, lambda x: x.std() + x.sin(), x, decomposition_table=table)
    w, b = s.T.ones(2, 4), s.T.ones(2)
    linear = s.nn.functional.linear
    module = _traced(s, log, lambda x, w, b: linear(x, w, b), x, w, b)
    graph = s.fx.Graph()
    s.fx.DecompositionInterpreter(module, graph, decomposition_table=table).run(x, w, b)
    _lines(log, s.fx.GraphModule(module, graph).code)


def what_is_on(s, log):
    x = s.T.ones(3)

    def asks(x):
        mode = s.fx.get_proxy_mode()
        log(type(mode).__name__, mode.tracing_mode, mode.enable_tracing)
        with s.fx.disable_proxy_modes_tracing() as off:
            log(off is mode, s.fx.get_proxy_mode())
            y = x + 1
        inner = s.fx.make_fx(lambda x: x * 3)(x)
        log([n.name for n in inner.graph.nodes], s.fx.get_proxy_mode() is mode)
        return x * 2 + s.T.zeros(3), y

    _traced(s, log, asks, x)
    log(s.fx.get_proxy_mode())
    graph = s.fx.get_isolated_graphmodule(lambda x, k: x + k, (x,), {"k": x}).graph
    log([n.op for n in graph.nodes])

    class Logged(s.modes.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            log("mode", str(func))
            return func(*args, **(kwargs or {}))

    def under_a_mode(x):
        with Logged():
            return x.sin() + 1

    _traced(s, log, under_a_mode, x)

    class Wrapper(s.Tensor):
        @staticmethod
        def __new__(cls, inner):
            return s.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

        def __init__(self, inner):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            given = s.pytree.tree_map_only(cls, lambda w: w.inner, (args, kwargs or {}))
            return cls(func(*given[0], **given[1]))

    _traced(s, log, lambda x: (Wrapper(x) + 1).sin().inner, x)


def own_operators(s, log):
    @s.library.custom_op("operator_graphs::scaled", mutates_args=())
    def scaled(x: s.T.Tensor, n: int) -> s.T.Tensor:
        return x * n

    @scaled.register_fake
    def _(x, n):
        return s.T.empty_like(x)

    x = s.T.ones(3)
    for mode in ("real", "fake", "symbolic"):
        _traced(s, log, lambda x: scaled(x, 3) + 1, x, tracing_mode=mode)


def branches_and_loops(s, log):
    x, higher = s.T.arange(4.0), s.ops.higher_order

    def shown(f, *args, **how):
        module = _traced(s, log, f, *args, **how)
        for name, child in module.named_children():
            log(name, type(child).__name__)
            _lines(log, child.code)
        log(module(*args))
        return module

    for mode in ("real", "fake"):
        f = lambda x: higher.cond(  # noqa: E731
            x.sum() > 0, lambda y: (y.sin(), y + 1), lambda y: (y.cos(), y * 2), (x,)
        )
        shown(f, x, tracing_mode=mode)
    carried = (s.T.zeros(1), x)
    counts = lambda i, y: i.sum() < 3  # noqa: E731
    steps = lambda i, y: (i + 1, y * 2)  # noqa: E731
    shown(lambda i, x: higher.while_loop(counts, steps, (i, x), ()), *carried)

    def nested(x):
        inner = lambda y: higher.cond(y.max() > 2, lambda z: (z + 1,), lambda z: (z,), (y,))  # noqa: E731
        return higher.cond(x.sum() > 0, inner, lambda y: (y,), (x,)), inner(x)

    module = shown(nested, x)
    log(module(-x), [n for n, _ in module.named_modules()])


def calls_that_write(s, log):
    @s.library.custom_op("operator_graphs::plus", mutates_args={"x"})
    def plus(x: s.T.Tensor, n: int) -> None:
        x.add_(n)

    def f(x):
        y = x.clone()
        plus(y, 3)
        return y

    x = s.T.ones(2)
    _traced(s, log, f, x)
    module = _traced(s, log, s.functional.functionalize(f), x)
    log(module(x))
    op = s.ops.operator_graphs.plus.default
    _traced(s, log, lambda x: s.ops.higher_order.auto_functionalized(op, x=x, n=2), x)
