"""Graphs of nodes: made by hand, changed, copied, run; their texts and code."""

import copy
import operator
import pickle
import re


def _lines(log, text):
    """A text of graphs or code, with one name for both packages."""
    text = re.sub(r"\bdispatch\.(as_torch\.)?", "torch.", text)
    text = text.replace("dispatch_tensor_questions__assert", "torch._assert")
    for line in text.split("\n"):
        log("|" + line)


def _graph(s):
    """a + 2 * b, viewed, beside a product that nobody uses."""
    g = s.fx.Graph()
    a, b = g.placeholder("a"), g.placeholder("b", default_value=3)
    total = g.call_function(s.T.add, (a, b), {"alpha": 2})
    flat = g.call_method("view", (total, -1))
    g.call_function(s.T.mul, (a, a))
    g.output((total, [flat, slice(None, 2)]))
    return g


def made_by_hand(s, log):
    g = _graph(s)
    _lines(log, str(g))
    g.lint()
    log(g.eliminate_dead_code(), g.eliminate_dead_code())
    module = s.fx.GraphModule({}, g)
    _lines(log, module.code)
    log(module(s.T.ones(2)), module(s.T.ones(2), 1))
    log(module.graph.owning_module is module, type(module).__name__)
    log([n.name for n in g.nodes], [n.name for n in reversed(g.nodes)], len(g.nodes))
    log(g.find_nodes(op="call_function", target=s.T.add)[0].name)
    log(g.find_nodes(op="call_method", target="view")[0].name, g.output_node().name)
    log.attempt("no target", g.find_nodes, op="call_function")


def copies_and_pickles(s, log):
    g = _graph(s)
    module = s.fx.GraphModule({}, g)
    for other in (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module))):
        _lines(log, other.code)
        log(other(s.T.ones(2), 4), type(other).__name__)
    copied = s.fx.Graph()
    known = {}
    copied.output(copied.graph_copy(g, known))
    _lines(log, str(copied))
    log(len(known), all(n.graph is copied for n in known.values()))
    _lines(log, str(copy.deepcopy(g)))


def _names(*nodes):
    return [n.name for n in nodes]


def nodes_move_and_change(s, log):
    g = s.fx.Graph()
    a = g.placeholder("a")
    out = g.output(a)
    with g.inserting_before(out):
        more = g.call_function(operator.add, (a, 1))
    with g.inserting_after(a):
        twice = g.call_function(operator.mul, (a, 2))
    log(_names(*g.nodes), _names(*sorted([out, more, a, twice])), a < twice <= more, out > a)
    more.prepend(twice)
    log(_names(*g.nodes))
    a.append(more)
    log(_names(*g.nodes), _names(*sorted([out, more, a, twice])), more.next.name, more.prev.name)
    out.args = (more,)
    log(_names(*more.users), _names(*a.users))
    out.replace_input_with(more, twice)
    log(out.args[0].name, _names(*more.users), _names(*twice.users))
    more.update_arg(1, twice)
    more.update_kwarg("k", a)
    more.insert_arg(0, 5)
    log(str(more.args), str(more.kwargs), _names(*more.all_input_nodes))
    log.attempt("used before it is there", g.lint)
    log.attempt("a list", more.args[0:0].__class__, [1])
    log(_names(*a.replace_all_uses_with(twice, lambda user: user is more)), _names(*a.users))
    twice.stack_trace = "here"
    log(twice.stack_trace, str(twice.meta))
    log.attempt("with users", g.erase_node, twice)
    log.attempt("of another graph", s.fx.Graph().erase_node, out)
    g.erase_node(out)
    log(len(g.nodes), _names(*twice.users))


def changes_on_the_way(s, log):
    """Nodes that go and come while somebody iterates."""
    g = _graph(s)
    seen = []
    for node in g.nodes:
        seen.append(node.name)
        if node.op == "call_function" and not node.users:
            g.erase_node(node)
        if node.op == "call_method":
            with g.inserting_after(node):
                g.call_function(s.T.relu, (node,))
    log(seen, _names(*g.nodes))


def names_are_unique(s, log):
    g = s.fx.Graph()
    wished = ["add", "Add", "for", "x.y", "3d", "relu_1", "relu", "relu", "print", "torch", "x", "x",
              "someThing", "", "a__b", "x_7", "x_7"]  # fmt: skip
    log(_names(*(g.create_node("placeholder", n, name=n) for n in wished)))
    targets = (s.T.add, s.ops.aten.add.Tensor, s.ops.aten.add, operator.add, len, s.T.relu)
    nodes = [g.call_function(t, (1, 2)) for t in targets]
    log(_names(*nodes))
    for node in nodes:
        _lines(log, node.format_node())
    nodes[0]._rename("add")
    log(nodes[0].name)
    nodes[0]._rename("fresh")
    log(nodes[0].name)


def mistakes(s, log):
    g = _graph(s)
    one = s.T.ones(1)
    log.attempt("no function", g.create_node, "call_function", "x")
    log.attempt("no name", g.create_node, "call_method", s.T.add)
    log.attempt("no kind", g.create_node, "frob", "x")
    log.attempt("list", g.create_node, "call_method", "x", [1])
    log.attempt("tuple", g.create_node, "call_method", "x", (), (1,))
    log.attempt("root", s.fx.GraphModule, 3, g)
    log.attempt("missing", s.fx.GraphModule, {}, _with_attr(s))
    log.attempt("missing", s.fx.GraphModule, s.nn.Module(), _with_attr(s))
    module = s.fx.GraphModule({"w": one}, _with_attr(s))
    log(module.w, [n for n, _ in module.named_buffers()], module())
    log.attempt("no graph", setattr, module, "graph", 3)
    log.attempt("before", g.inserting_before, next(iter(module.graph.nodes)))
    log.attempt("after", g.inserting_after, next(iter(module.graph.nodes)))
    with g.inserting_before(next(iter(g.nodes))):
        first = g.create_node("placeholder", "first")
    log(_names(*g.nodes)[:2])
    log.attempt("prepend", first.prepend, next(iter(module.graph.nodes)))
    log.attempt("insert", first.insert_arg, 3, 1)
    foreign = s.fx.Graph()
    foreign.call_function(s.T.add, (first, first))
    log.attempt("foreign", foreign.lint)


def _with_attr(s):
    g = s.fx.Graph()
    g.output(g.get_attr("w"))
    return g


class _Says:
    def __init__(self, log):
        self.log = log

    def __call__(self, old=None, new=None, user=None):
        self.log("replaced", old.name, new, user.name)


def hooks_are_told(s, log):
    module = s.fx.GraphModule({}, _graph(s))
    a, b, *_ = module.graph.nodes
    with module._set_replace_hook(_Says(log)):
        b.replace_all_uses_with(a)
        module.graph.output_node().replace_input_with(module.graph.output_node().prev, a)
    module._register_create_node_hook(lambda n: log("made", n.name))
    module._register_erase_node_hook(lambda n: log("gone", n.name))
    node = module.graph.call_function(s.T.relu, (a,))
    module.graph.erase_node(node)


def runs_node_by_node(s, log):
    class Logged(s.fx.Interpreter):
        def call_function(self, target, args, kwargs):
            log("calls", target.__name__)
            return super().call_function(target, args, kwargs)

    class Negative(s.fx.Transformer):
        def call_function(self, target, args, kwargs):
            if target is s.T.add:
                return s.T.sub(*args)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("reshape", args, kwargs)

    module = s.fx.GraphModule({}, _graph(s))
    log(Logged(module).run(s.T.ones(2), 5), Logged(module).run(s.T.ones(2)))
    log.attempt("no argument", s.fx.Interpreter(module).run)
    log.attempt("sizes", s.fx.Interpreter(module).run, s.T.ones(2), s.T.ones(3))
    given = [s.T.ones(2), 1]
    log(s.fx.Interpreter(module).boxed_run(given), given)
    log.attempt("too many", s.fx.Interpreter(module).boxed_run, [1, 2, 3])
    known = {next(iter(module.graph.nodes)): s.T.zeros(2)}
    log(s.fx.Interpreter(module, garbage_collect_values=False).run(9, initial_env=known))
    _lines(log, Negative(module).transform().code)
    kept = s.fx.Interpreter(module, garbage_collect_values=False)
    kept.run(s.T.ones(2))
    log(len(kept.env), len(kept.user_to_last_uses) if hasattr(kept, "user_to_last_uses") else 0)


def submodules_come_and_go(s, log):
    root = s.nn.Sequential(s.nn.Linear(2, 2), s.nn.ReLU())
    module = s.fx.symbolic_trace(root)
    log(module.add_submodule("a.b.c", s.nn.ReLU()), module.add_submodule("a.b.d", s.nn.ReLU()))
    log([n for n, _ in module.named_modules()])
    log(module.delete_submodule("a.b.c"), module.delete_submodule("a.x"))
    log(module.delete_submodule("0.weight"), module.delete_submodule("a.b.d.e"))
    module.delete_all_unused_submodules()
    log([n for n, _ in module.named_modules()])
    with module.graph.inserting_before(module.graph.output_node()):
        module.graph.call_module("1", (next(iter(module.graph.nodes)),))
    module.recompile()
    _lines(log, module.code)


def code_is_changed(s, log):
    g = _graph(s)
    with g.on_generate_code(lambda before: lambda body: ["print('hi')\n", *body]):
        _lines(log, g.python_code("self").src)
    _lines(log, g.python_code("root").src)

    class Named(s.fx.CodeGen):
        def gen_fn_def(self, free_vars, annotation):
            return super().gen_fn_def(free_vars, annotation).replace("forward", "run")

        def additional_globals(self):
            return [("three", 3)]

    g.set_codegen(Named())
    code = g.python_code("self")
    _lines(log, code.src)
    log(code.globals["three"], sorted(code.globals.keys() - {"dispatch", "torch"}))


def proxies_by_hand(s, log):
    g = s.fx.Graph()
    x = s.fx.Proxy(g.placeholder("x"))
    y = x.relu() + 1
    z = s.T.cat([y, 2 - y], dim=0)[1:]
    w = abs(z) @ z.T.contiguous() if z is not None else 0
    g.output((w ** x.shape[0], -w, ~w, w // 2, w % 3, w == 1, w[0, ...], w(3)).__class__(
        p.node for p in (w ** x.shape[0], -w, ~w, w // 2, w % 3, w == 1, w[0, ...], w(3))
    ))  # fmt: skip
    _lines(log, s.fx.GraphModule({}, g).code)
    log(str(x), str(x.shape))
    for name in ("bool", "len", "iter"):
        log.attempt(name, {"bool": bool, "len": len, "iter": iter}[name], x)
    a, b = x
    log(str(a), str(b))
    other = s.fx.Proxy(s.fx.Graph().placeholder("x"))
    log.attempt("two tracers", s.T.add, x, other)
    log(s.fx.map_arg((x.node, [1, {"k": x.node}]), lambda n: n.name))


def printed(s, log):
    module = s.fx.symbolic_trace(s.nn.Sequential(s.nn.Linear(2, 3), s.nn.Softmax(-1)))
    _lines(log, module.print_readable(print_output=False))
    s.fx.ShapeProp(module).propagate(s.T.ones(4, 2))
    _lines(log, module.print_readable(print_output=False))
    for node in module.graph.nodes:
        meta = node.meta.get("tensor_meta")
        log(node.name, meta.shape, str(meta.dtype)[-7:], meta.stride, meta.requires_grad)
    mode = s.fake.FakeTensorMode(allow_non_fake_inputs=True)
    s.fx.FakeTensorProp(module, mode).propagate(s.T.ones(5, 2))
    source = module.graph.python_code(
        "self", verbose=True, include_stride=True, include_device=True
    )
    _lines(log, source.src)
    _lines(log, str(module).rpartition("\n")[2])
