"""Parts of graphs that are found and replaced."""

from tests.differential.programs.graphs import _lines, _names


def _replaced(s, log, program, pattern, replacement, **how):
    module = program if isinstance(program, s.nn.Module) else s.fx.symbolic_trace(program)
    try:
        done = s.fx.replace_pattern_with_filters(module, pattern, replacement, **how)
    except Exception as error:
        log("raises", type(error).__name__)
        return module
    for one in done:
        log(one.anchor.name, [(p.name, getattr(n, "name", n)) for p, n in one.nodes_map.items()],
            _names(*(n for n in one.replacements if isinstance(n, s.fx.Node))))  # fmt: skip
    _lines(log, module.code)
    return module


def functions(s, log):
    F = s.T
    module = _replaced(s, log, lambda x: F.relu(F.neg(x)) + F.relu(F.neg(x + 1)),
                       lambda x: F.relu(F.neg(x)), lambda x: F.sigmoid(x))  # fmt: skip
    log(module(s.T.zeros(2)))
    _replaced(s, log, lambda x: F.neg(F.neg(F.neg(F.neg(x)))), lambda x: F.neg(F.neg(x)), lambda x: x * 1)
    _replaced(s, log, lambda x, y: x + y, lambda a, b: a + b, lambda a, b: b - a)
    _replaced(s, log, lambda x, w: F.cat([F.relu(x), w]), lambda x, y: F.cat([x, y]),
              lambda x, y: F.stack([y, x]))  # fmt: skip
    _replaced(s, log, lambda x: x.view(2, 3).relu(), lambda x, n: x.view(n, 3), lambda x, n: x.view(3, n))
    _replaced(s, log, lambda x: F.add(x, x), lambda x, y: F.add(x, y), lambda x, y: F.sub(x, y))
    _replaced(s, log, lambda x: x * 2 + x * 3, lambda x: x * 2, lambda x: x / 5)
    _replaced(s, log, lambda x: x * 2 + x * 3, lambda x: x * 2, lambda x: x / 5, ignore_literals=True)
    done = s.fx.replace_pattern(s.fx.symbolic_trace(lambda x: x.relu()), lambda x: x.relu(), lambda x: x)
    log(len(done), type(done[0]).__name__, done[0].anchor.name)


def what_does_not_fit(s, log):
    F = s.T

    def used_outside(x):
        y = F.neg(x)
        return F.relu(y) + y

    _replaced(s, log, used_outside, lambda x: F.relu(F.neg(x)), lambda x: x)

    def comes_back(x):
        y = F.neg(x)
        return F.add(y, F.relu(y))

    pattern = lambda x, z: (lambda y: (y, F.add(y, z)))(F.neg(x))  # noqa: E731
    _replaced(s, log, comes_back, pattern, lambda x, z: (x, z))
    _replaced(s, log, used_outside, lambda x: F.relu(x), lambda x, y: x + y)
    _replaced(s, log, used_outside, lambda x: F.relu(x), lambda x: (x, x))
    _replaced(s, log, used_outside, lambda x: F.relu(x), None)
    log.attempt("empty", s.fx.SubgraphMatcher, s.fx.Graph())
    dead = s.fx.Graph()
    x = dead.placeholder("x")
    dead.call_function(F.neg, (x,))
    dead.output(x)
    log.attempt("dead", s.fx.SubgraphMatcher, dead)


def filters_and_callbacks(s, log):
    F = s.T

    def second(match, graph, pattern):
        log("asked", match.anchors[0].name, _names(*match.placeholder_nodes), len(graph.nodes))
        return match.returning_nodes[0].name.endswith("_1")

    program = lambda x: F.relu(F.neg(x)) + F.relu(x)  # noqa: E731
    _replaced(s, log, program, lambda x: F.relu(x), lambda x: F.abs(x), match_filters=[second])

    def chosen(match, graph, pattern):
        first = match.returning_nodes[0].name == "relu"
        return s.fx.symbolic_trace((lambda x: x + 1) if first else (lambda x: x - 1)).graph

    _replaced(s, log, program, lambda x: F.relu(x), None, replacement_callback=chosen)
    _replaced(s, log, program, lambda x: F.abs(x), lambda x: x + 1, node_name_match="relu_1")
    aten = s.ops.aten
    same = lambda x: aten.sum.dim_IntList(aten.add.Tensor(x, 1), [0], False)  # noqa: E731
    _replaced(s, log, same, lambda x: aten.sum.dim_IntList(aten.add.Tensor(x, 1, alpha=1), [0]),
              lambda x: x.sum(0))  # fmt: skip


def modules(s, log):
    class Old(s.nn.Module):
        def __init__(self):
            super().__init__()
            self.one = s.nn.Linear(2, 2)
            self.two = s.nn.ReLU()
            self.weight = s.nn.Parameter(s.T.ones(2))

        def forward(self, x):
            return self.two(self.one(x)) * self.weight

    class New(s.nn.Module):
        def __init__(self):
            super().__init__()
            self.two = s.nn.Sigmoid()
            self.three = s.nn.Tanh()

        def forward(self, x):
            return self.three(self.two(x))

    class Pattern(s.nn.Module):
        def __init__(self):
            super().__init__()
            self.two = s.nn.ReLU()

        def forward(self, x):
            return self.two(x)

    traced = s.fx.symbolic_trace
    module = _replaced(s, log, traced(Old()), traced(Pattern()), traced(New()))
    log([(n, type(m).__name__) for n, m in module.named_modules()])

    class Scaled(s.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = s.nn.Parameter(s.T.zeros(2))

        def forward(self, x):
            return x * self.w

    module = _replaced(s, log, traced(Old()), traced(Scaled()), lambda x: x + 1)
    log([n for n, _ in module.named_parameters()])
