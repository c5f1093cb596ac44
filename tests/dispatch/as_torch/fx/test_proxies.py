"""`make_fx`: what the recorded programs of `tests/differential` do not show."""

import math

import pytest

import dispatch
from dispatch import FakeTensorMode, pytree
from dispatch._C import _set_grad_enabled
from dispatch._higher_order_ops import hints_wrapper, strict_mode
from dispatch._higher_order_ops.cond import cond
from dispatch._higher_order_ops.invoke_subgraph import invoke_subgraph
from dispatch._higher_order_ops.map import map as higher_map
from dispatch._higher_order_ops.out_dtype import out_dtype
from dispatch._higher_order_ops.print import print as higher_print
from dispatch._higher_order_ops.scan import scan
from dispatch._higher_order_ops.while_loop import while_loop
from dispatch.as_torch import fx
from dispatch.as_torch.fx import proxies, shapes
from dispatch.as_torch.nn import modules
from dispatch.symbolic import DimDynamic, ShapeEnv, StatelessSymbolicContext

aten = dispatch.ops.aten


@pytest.mark.parametrize(
    "program",
    [
        lambda x: x.new_zeros(dispatch.sym_max(x.shape[0], x.shape[1]) + 2 * x.shape[0] - 1),
        lambda x: x.new_zeros(dispatch.sym_min(x.shape[0], x.shape[1]), x.shape[0] % 2 + 1),
        lambda x: x.new_zeros((x.shape[0] + x.shape[1]) // 2, x.shape[0] ** 2),
        lambda x: x.sum() * dispatch.sym_sqrt(x.shape[0]) + x.shape[0] / x.shape[1],
        lambda x: x.new_zeros(
            dispatch.sym_ite(x.shape[0] > x.shape[1], x.shape[0], 3 * x.shape[1])
        ),
        lambda x: x.new_zeros(dispatch.sym_int(x.shape[0] / 2), x.numel(), x.t().stride(0)),
        lambda x: x.new_zeros(math.floor(x.shape[0] / 2), math.ceil(x.shape[1] / 2)),
        lambda x: x[1:].as_strided((x.shape[0],), (1,), x[1:].storage_offset() // 2),
        lambda x: dispatch.cat([x, x])[: x.shape[0] + 1].reshape(-1),
    ],
)
def test_sizes_are_computed_for_other_sizes(program):
    module = fx.proxies.make_fx(program, tracing_mode="symbolic")(dispatch.ones(6, 4))
    for sizes in ((6, 4), (5, 3), (3, 7)):
        x = dispatch.arange(float(sizes[0] * sizes[1])).view(sizes)
        got, want = module(x), program(x)
        assert got.shape == want.shape and got.equal(want)


def test_sizes_that_data_decide_are_items_and_questions():
    def program(x):
        found = x.nonzero()
        return found * 2, x.new_zeros(found.shape[0])

    module = proxies.make_fx(program, tracing_mode="symbolic")(dispatch.tensor([1.0, 0.0, 2.0]))
    out, zeros = module(dispatch.tensor([0.0, 0.0, 0.0, 5.0]))
    assert out.tolist() == [[6]] and zeros.shape == (1,)


def test_fake_arguments_keep_their_mode():
    mode = FakeTensorMode(shape_env=ShapeEnv())
    context = StatelessSymbolicContext([DimDynamic.DYNAMIC, DimDynamic.STATIC])
    x = mode.from_tensor(dispatch.ones(3, 2), symbolic_context=context)
    module = proxies.make_fx(lambda x: x.flatten() + x.shape[0], tracing_mode="symbolic")(x)
    assert module.shape_env is mode.shape_env
    assert module(dispatch.ones(4, 2)).tolist() == [5.0] * 8
    assert all(n.meta["val"].fake_mode is mode for n in module.graph.find_nodes(op="placeholder"))


def test_real_values_are_fake_in_nodes():
    module = proxies.make_fx(lambda x: x.t())(dispatch.ones(2, 3))
    _, node, _ = module.graph.nodes
    assert isinstance(node.meta["val"], dispatch.FakeTensor)
    assert node.meta["val"].stride() == (1, 3) == node.meta["tensor_meta"].stride


def test_questions_for_data_may_be_allowed():
    def program(x):
        return x * 2 if x.sum().item() > 0 else x

    with pytest.raises(RuntimeError, match="get value out of a tracing tensor"):
        proxies.make_fx(program)(dispatch.ones(2))
    module = proxies.make_fx(program, _error_on_data_dependent_ops=False)(dispatch.ones(2))
    assert aten.mul.Tensor in {n.target for n in module.graph.nodes}
    assert proxies.get_proxy_mode() is None


def test_composites_are_decomposed_in_inference_mode():
    with dispatch.inference_mode():
        module = proxies.make_fx(lambda x: x.flatten())(dispatch.ones(2, 3))
    assert [n.target for n in module.graph.nodes][1] is aten.view.default


def test_tables_decompose_inside_a_block():
    x = dispatch.ones(2)

    def program(x):
        with proxies.decompose({aten.sin.default: lambda x: x.cos()}):
            y = x.sin()
        return y, x.sin()

    targets = [n.target for n in proxies.make_fx(program)(x).graph.nodes]
    assert targets[1:3] == [aten.cos.default, aten.sin.default]
    with proxies.decompose({1: 2}) as table:
        assert table == {1: 2}


def test_what_is_not_tracked_is_said():
    tracer = proxies.PythonKeyTracer()
    x = dispatch.ones(1)
    with pytest.raises(RuntimeError, match="is not tracked with proxy"):
        proxies.get_proxy_slot(x, tracer)
    assert proxies.get_proxy_slot(x, tracer, None) is None
    assert tracer.unwrap_proxy(x) is x and tracer.unwrap_proxy(3) == 3


def test_a_call_becomes_a_function_of_a_list():
    wrapped, leaves = proxies.wrapper_and_args_for_make_fx(
        lambda a, *, b: a[0] - b, ([dispatch.ones(1)],), {"b": 2}
    )
    assert len(leaves) == 2 and wrapped(leaves).item() == -1
    module = proxies.make_fx(wrapped)(leaves)
    assert module([dispatch.ones(1), 5]).item() == -1  # numbers are constants


def test_every_value_of_a_model_equals_that_of_its_graph():
    dispatch.manual_seed(0)
    model = modules.TransformerEncoderLayer(8, 2, 16, batch_first=True).train()
    model.dropout.p = model.dropout1.p = model.dropout2.p = model.self_attn.dropout = 0.0
    x = dispatch.randn(2, 5, 8)
    for mode in ("real", "fake"):
        module = proxies.make_fx(model, tracing_mode=mode, _allow_non_fake_inputs=True)(x)
        assert dispatch.allclose(module(x), model(x), atol=1e-6)


def test_fake_runs_say_what_comes_out():
    module = fx.symbolic_trace(lambda x: (x @ x.t(), x.shape[0]))
    mode = FakeTensorMode()
    with mode:
        x = dispatch.ones(3, 2)
    result = shapes.FakeTensorProp(module, mode).propagate(x)
    assert result[0].shape == (3, 3) and result[1] == 3
    found = {n.name: n.meta.get("val") for n in module.graph.nodes}
    assert found["t"].shape == (2, 3) and found["getitem"] == 3
    shapes.ShapeProp(module, mode).propagate(dispatch.ones(4, 2))
    metas = {n.name: n.meta.get("tensor_meta") for n in module.graph.nodes}
    assert metas["matmul"].shape == (4, 4) and metas["getitem"] is None
    failing = fx.symbolic_trace(lambda x: x.view(7))
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%view"):
        shapes.ShapeProp(failing).propagate(dispatch.ones(2))


def test_leaves_of_a_nest_are_tracked_with_it():
    graph = fx.Graph()
    tracer = proxies._Appending(graph)
    proxy = fx.Proxy(graph.placeholder("x"), tracer)
    nest = {"a": dispatch.ones(1), "b": (dispatch.ones(2), 3)}
    assert proxies.track_tensor_tree(nest, proxy, constant=None, tracer=tracer) is nest
    slots = [tracer.tensor_tracker.get(t) for t in pytree.tree_leaves(nest)[:2]]
    assert [s.proxy.node.name for s in slots] == ["getitem", "getitem_2"]


@pytest.mark.parametrize("tracing_mode", ["real", "fake", "symbolic"])
def test_out_dtype_is_a_node(tracing_mode):
    def program(x, y):
        return out_dtype(aten.mm.default, dispatch.int32, x, y) + 1

    x = dispatch.full((2, 3), 100, dtype=dispatch.int8)
    graph = proxies.make_fx(program, tracing_mode=tracing_mode)(x, x.t())
    node = next(n for n in graph.graph.nodes if n.target is out_dtype)
    assert (node.name, node.args[:2]) == ("out_dtype", (aten.mm.default, dispatch.int32))
    assert [a.name for a in node.args[2:]] == ["x_1", "y_1"]
    assert node.meta["val"].dtype is dispatch.int32
    assert "ops.higher_order.out_dtype(dispatch.ops.aten.mm.default, dispatch.int32" in graph.code
    assert graph(x, x.t()).tolist() == [[30001, 30001], [30001, 30001]]


def test_branches_take_what_they_use_as_operands():
    """A value that the program computes would stand in the branch as it was in the traced run."""
    higher = dispatch.ops.higher_order
    x = dispatch.ones(3)

    def closes(x):
        y = x * 2
        return higher.cond(x.sum() > 0, lambda z: (z + y,), lambda z: (z,), (x,))

    with pytest.raises(RuntimeError, match="not among its operands"):
        proxies.make_fx(closes)(x)
    kept = dispatch.full((3,), 5.0)
    module = proxies.make_fx(
        lambda x: higher.cond(x.sum() > 0, lambda z: (z + kept,), lambda z: (z,), (x,))
    )(x)
    assert module(x)[0].tolist() == [6, 6, 6] and module(-x)[0].tolist() == [-1, -1, -1]
    assert "_tensor_constant0" in module.true_graph_0.code


def test_functions_of_rows_are_graphs():
    rows = dispatch.arange(6.0).view(3, 2)
    map_rows = proxies.make_fx(lambda x, y: higher_map(lambda r, y: {"r": r * y}, x, y))
    module = map_rows(rows, dispatch.ones(2) * 2)
    assert module(rows, dispatch.ones(2) * 3)["r"].tolist() == (rows * 3).tolist()
    assert module.body_graph_0.graph.find_nodes(op="placeholder")[0].meta["val"].shape == (2,)
    summed = proxies.make_fx(lambda x: scan(lambda c, r: (c + r, c * r), x[0], x, dim=0))(rows)
    last, products = summed(rows + 1)
    want, wanted = scan(lambda c, r: (c + r, c * r), rows[0] + 1, rows + 1, dim=0)
    assert last.equal(want) and products.equal(wanted)
    assert summed.graph.find_nodes(op="get_attr")[0].target == "scan_combine_graph_0"


def test_results_of_branches_nest_alike():
    x = dispatch.ones(2)
    found = cond(x.sum() > 0, lambda x: {"a": [x + 1]}, lambda x: {"a": [x]}, (x,))
    assert found["a"][0].tolist() == [2, 2]
    module = proxies.make_fx(
        lambda x: cond(x.sum() > 0, lambda x: {"a": [x + 1]}, lambda x: {"a": [x]}, (x,))
    )(x)
    assert module(-x)["a"][0].tolist() == [-1, -1]
    with FakeTensorMode(), pytest.raises(RuntimeError, match="different structures"):
        x = dispatch.ones(2)
        cond(x.sum() > 0, lambda x: [x], lambda x: (x,), (x,))


def test_calls_stand_as_the_program_makes_them():
    """`pre_dispatch`: neither `matmul` nor `linear` is decomposed; the mode is off after it."""

    def program(x):
        return aten.linear.default(dispatch.matmul(x, dispatch.ones(2, 2)), x)

    module = proxies.make_fx(program, pre_dispatch=True)(dispatch.ones(2, 2))
    targets = [n.target for n in module.graph.nodes if n.op == "call_function"]
    assert targets == [aten.ones.default, aten.matmul.default, aten.linear.default]
    assert proxies.get_proxy_mode() is None
    assert module(dispatch.ones(2, 2) * 2).tolist() == [[16, 16], [16, 16]]


def test_nodes_say_in_which_modules_they_are():
    inner = modules.ReLU()
    root = modules.Sequential(inner, inner)

    def program(x):
        return root(x).sin()

    program._orig_mod = root
    module = proxies.make_fx(program, record_module_stack=True)(dispatch.ones(2))
    told = [n.meta.get("nn_module_stack") for n in module.graph.nodes]
    outer = ("", ("", f"{modules.Sequential.__module__}.Sequential"))
    name = f"{modules.ReLU.__module__}.ReLU"
    assert [list(found.items()) if found else None for found in told] == [
        None, [outer, ("0", ("0", name))], [outer, ("0@1", ("0", name))], None, None,
    ]  # fmt: skip
    module = proxies.make_fx(program)(dispatch.ones(2))
    assert not any("nn_module_stack" in n.meta for n in module.graph.nodes)


def test_switches_of_gradient_mode_stand_in_graphs_of_calls():
    def program(x):
        with dispatch.no_grad():
            y = x.sin()
        return y.cos()

    module = proxies.make_fx(program, pre_dispatch=True)(dispatch.ones(2, requires_grad=True))
    nodes = [n for n in module.graph.nodes if n.target is _set_grad_enabled]
    assert [n.args for n in nodes] == [(False,), (True,)]
    assert all(n.meta["val"] is None for n in nodes) and dispatch.is_grad_enabled()
    module = proxies.make_fx(program)(dispatch.ones(2, requires_grad=True))
    assert all(n.target is not _set_grad_enabled for n in module.graph.nodes)


@pytest.mark.parametrize("tracing_mode", ["fake", "symbolic"])
def test_numbers_that_a_loop_carries_are_values_of_its_graphs(tracing_mode):
    def program(x):
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, x))

    module = proxies.make_fx(program, tracing_mode=tracing_mode)(dispatch.ones(2))
    count, doubled = module(dispatch.ones(2))
    assert count == 3 and doubled.tolist() == [8, 8]
    with pytest.raises(RuntimeError, match="carries a number"):
        proxies.make_fx(program)(dispatch.ones(2))


def test_texts_and_parts_are_nodes(capsys):
    part = proxies.make_fx(lambda x: (x.sin(),))(dispatch.ones(2))

    def program(x):
        higher_print("sum {}", x)
        return invoke_subgraph(part, "part", x)[0] + invoke_subgraph(part, "part", x + 1)[0]

    module = proxies.make_fx(program)(dispatch.ones(2))
    assert capsys.readouterr().out == ""
    want = dispatch.zeros(2).sin() + dispatch.ones(2).sin()
    assert module(dispatch.zeros(2)).equal(want)
    assert capsys.readouterr().out == "sum tensor([0., 0.])\n"
    assert [n for n, _ in module.named_children()] == ["repeated_subgraph0", "repeated_subgraph1"]
    assert not module.graph.eliminate_dead_code()  # the text stays, though nobody uses it


def test_wrapped_functions_are_graphs_of_their_own():
    def program(x):
        (strict,) = strict_mode(lambda a: (a.sin(),), (x,))
        return hints_wrapper(lambda a: a + 1, (strict,), {}, hints={"level": 3})

    module = proxies.make_fx(program)(dispatch.ones(2))
    children = [name for name, _ in module.named_children()]
    assert children == ["strict_graph_0", "hints_wrapper_body_graph_0"]
    last = list(module.graph.nodes)[-2]
    assert last.target is hints_wrapper and last.kwargs == {"hints": {"level": 3}}
    assert module(dispatch.zeros(2)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("index", [0, ..., [0, 1]])
def test_a_size_that_is_assigned_is_made_a_tensor(index):
    def program(x):
        x[index] = x.size(0)
        return x

    module = proxies.make_fx(program, tracing_mode="symbolic")(dispatch.ones(3, 3))
    (made,) = module.graph.find_nodes(op="call_function", target=aten.scalar_tensor.default)
    assert made.kwargs["dtype"] is dispatch.float32
    assert module(dispatch.ones(5, 2)).equal(program(dispatch.ones(5, 2)))
