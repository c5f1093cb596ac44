"""Programs traced by proxies: functions, modules, what is known, what cannot be."""

import math
import typing

from tests.differential.programs.graphs import _lines


def _traced(s, log, root, *args, **known):
    module = s.fx.symbolic_trace(root, **known)
    _lines(log, module.code)
    if args:
        log(module(*args))
    return module


def functions(s, log):
    x = s.T.arange(6.0).view(3, 2)
    _traced(s, log, lambda x, y: s.T.relu(x + y).sum() * 2, x, x)
    _traced(s, log, lambda x: (x[:, 0], {"a": [x.t(), 1]}, -x, 3 - x, x**2, x @ x.T), x)
    _traced(s, log, lambda x: x.split(2)[0].mean(dim=0, keepdim=True), x)
    _traced(s, log, lambda x: s.T.dropout(x, 0.0, False), x)
    _traced(s, log, lambda x: math.sqrt(4) * x.size(0) + x.shape[1], x)
    _traced(s, log, lambda x: x.to(s.T.complex64).real.to(s.T.float64), x)
    _traced(s, log, lambda x: s.ops.aten.add.Tensor(x, s.ops.aten.sin(x)), x)

    def writes(x):
        x += 1
        x.mul_(2)
        return x

    _traced(s, log, writes, x.clone())

    def unpacks(x):
        a, b, c = x.unbind()
        return a + b, c

    _traced(s, log, unpacks, x)

    def annotated(
        x: s.T.Tensor, n: int, k: list[int], o: typing.Optional[int] = None
    ) -> s.T.Tensor:  # noqa: UP045
        return x + n

    module = s.fx.symbolic_trace(annotated)
    log([getattr(n.type, "__name__", str(n.type)) for n in module.graph.nodes])


class _Parts:
    """Modules of a program's own, for a side."""

    def __init__(self, s):
        nn = s.nn

        class Block(nn.Module):
            def __init__(self, size):
                super().__init__()
                self.inner = nn.Linear(size, size)
                self.scale = nn.Parameter(s.T.ones(size))
                self.register_buffer("shift", s.T.zeros(size))
                self.constant = s.T.full((size,), 2.0)

            def forward(self, x, *, factor: float = 2.0):
                return self.inner(x * self.scale - self.shift + self.constant) * factor

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([Block(2), Block(2)])
                self.last = nn.Sequential(nn.ReLU(), nn.Linear(2, 1))

            def forward(self, x):
                for block in self.blocks:
                    x = block(x, factor=3.0)
                return self.last(x), x.shape

        self.Block, self.Net = Block, Net


def modules(s, log):
    parts = _Parts(s)
    s.T.manual_seed(0)
    net = parts.Net()
    module = _traced(s, log, net)
    x = s.T.ones(3, 2)
    log(module(x)[0].equal(net(x)[0]), type(module).__name__)
    log([n for n, _ in module.named_parameters()], [n for n, _ in module.named_buffers()])
    for node in module.graph.nodes:
        stack = node.meta.get("nn_module_stack", {})
        log(node.op, node.name, str(node.target)[:20] if node.op != "call_function" else "",
            [(k, v[0], v[1].__name__) for k, v in stack.items()])  # fmt: skip
    _traced(s, log, module)

    class Whole(s.fx.Tracer):
        def is_leaf_module(self, m, name):
            return not isinstance(m, (s.nn.Linear, s.nn.Sequential)) and m is not net

    _lines(log, str(Whole().trace(s.nn.Sequential(s.nn.Linear(2, 2), s.nn.ReLU()))))

    class Counted(s.fx.Tracer):
        def create_proxy(self, kind, *args, **kwargs):
            log("proxy", kind)
            return super().create_proxy(kind, *args, **kwargs)

    Counted().trace(parts.Block(2))
    tracer = s.fx.Tracer(param_shapes_constant=True)

    class Shaped(s.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = s.nn.Parameter(s.T.ones(3, 2))

        def forward(self, x):
            return x.view(self.w.shape[0], -1) if self.w.dim() == 2 else x

    _lines(log, str(tracer.trace(Shaped())))
    log.attempt("a parameter of nobody", s.fx.symbolic_trace, lambda x: x + net.blocks[0].scale)


def what_is_known(s, log):
    def chosen(x, flag, y=None):
        return x + 1 if flag else x - 1

    module = s.fx.symbolic_trace(chosen, concrete_args={"flag": True})
    _lines(log, module.code)
    log.attempt("as it was", module, s.T.ones(1), True)
    log.attempt("otherwise", module, s.T.ones(1), False)
    module = s.fx.symbolic_trace(chosen, concrete_args={"flag": False, "y": None})
    log(module(s.T.ones(1), False, None))
    log.attempt("not None", module, s.T.ones(1), False, 3)

    def nested(d, k):
        return d["a"] + d["b"][0] * k, {"r": d["a"]}

    known = {"d": {"a": s.fx.PH, "b": [s.fx.PH]}}
    module = _traced(s, log, nested, {"a": s.T.ones(1), "b": [s.T.ones(1)]}, 2, concrete_args=known)
    log.attempt("another nest", module, {"a": s.T.ones(1)}, 2)
    log(module.graph.process_inputs({"a": 1, "b": [2]}, 3), module.graph.process_outputs([1, 2]))


def what_cannot_be_traced(s, log):
    programs = {
        "condition": lambda x: 1 if x > 0 else 2,
        "loop": lambda x: [i for i in x],  # noqa: C416
        "length": lambda x: len(x),
        "range": lambda x: range(x.size(0)),
        "number": lambda x: float(x),
        "type": lambda x: object(),
    }
    for name, program in programs.items():
        log.attempt(name, s.fx.symbolic_trace, program)

    def stars(x, *args, **kwargs):
        return x + args[0] + kwargs["k"]

    log.attempt("stars", s.fx.symbolic_trace, lambda *a: s.T.cat(*a))
    _traced(s, log, stars)
