"""`executor`: steps in order, values that die after their last use, results of every form."""

import gc
import json
import threading
import weakref

import pytest

import dispatch
from dispatch.graph import executor
from dispatch.graph.executor import Executable, RunLog
from dispatch.graph.plan import plan_graph
from dispatch.graph.program import read_program
from dispatch.library import Library
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, node, tensor

X = ("self", tensor("x"))


@pytest.fixture
def lib():
    """Operators of this test's own, with Python kernels; gone afterwards."""
    library = Library("graphtest", "DEF")
    yield library
    library._destroy()


def define(library, schema, kernel):
    library.define(schema)
    library.impl(schema.partition("(")[0], kernel, "CompositeExplicitAutograd")


def executable(nodes, outputs, inputs=("x",), device=None, **symbols):
    content = programs.program(programs.graph(inputs, outputs, nodes, {}, **symbols), [], [])
    graph = read_program(json.dumps(content).encode(), "f").graph_module.graph
    plan = plan_graph(graph, "model.pt2", "graph")
    assert plan.missing == ()
    return Executable(plan, device, "model.pt2")


def run(nodes, outputs, values, **options):
    return executable(nodes, outputs, **options).run(list(values), RunLog())


def meta(*sizes):
    return dispatch.empty(sizes, device="meta")


def test_steps_run_in_order(lib):
    seen = []
    define(lib, "see(Tensor self, int n) -> Tensor", lambda x, n: seen.append(n) or x.clone())
    nodes = [node("graphtest.see.default", [X, ("n", as_int(i))], [f"o{i}"]) for i in range(5)]
    run(nodes, ["o4"], [meta(2)])
    assert seen == [0, 1, 2, 3, 4]


def test_a_value_dies_after_its_last_use(lib):
    alive = []

    def make(x):
        out = x.clone()
        alive.append(weakref.ref(out))
        return out

    counts = []
    define(lib, "make(Tensor self) -> Tensor", make)
    define(
        lib,
        "count(Tensor self) -> ()",
        lambda x: counts.append(sum(r() is not None for r in alive)),
    )
    nodes = [
        node("graphtest.make.default", [X], ["a"]),
        node("graphtest.make.default", [("self", tensor("a"))], ["b"]),
        node("graphtest.count.default", [X], [], name="c1"),
        node("graphtest.make.default", [("self", tensor("b"))], ["c"]),
        node("graphtest.make.default", [X], ["unused"]),
        node("graphtest.count.default", [X], [], name="c2"),
    ]
    (out,) = run(nodes, ["c"], [meta(2)])
    assert counts[0] == 1
    assert counts[1] <= 2  # c, and the result that nobody uses
    assert out is alive[2]()


def test_results_of_each_form(lib):
    define(lib, "pair(Tensor self) -> (Tensor, Tensor)", lambda x: (x.clone(), x.clone()))
    define(lib, "many(Tensor self) -> Tensor[]", lambda x: [x.clone() for _ in range(3)])
    define(lib, "nested(Tensor self) -> (Tensor, Tensor[])", lambda x: (x.clone(), [x.clone()]))
    define(lib, "number(Tensor self) -> int", lambda x: x.size(0))
    define(lib, "nothing(Tensor self) -> ()", lambda x: None)
    nodes = [
        node("graphtest.pair.default", [X], ["a", {"as_none": True}]),
        node(
            "graphtest.many.default",
            [X],
            [{"as_tensors": [{"name": "m"}, {"name": "n"}, {"name": "o"}]}],
        ),
        node("graphtest.nested.default", [X], ["p", {"as_tensors": [{"name": "q"}]}]),
        node("graphtest.number.default", [X], [{"as_sym_int": {"as_name": "s"}}]),
        node("graphtest.nothing.default", [X], [], name="nothing"),
        node(
            "_operator.mul",
            [("a", {"as_sym_int": {"as_name": "s"}}), ("b", as_int(3))],
            [{"as_sym_int": {"as_name": "t"}}],
        ),
    ]
    outputs = ["a", "n", "q", {"as_sym_int": {"as_name": "t"}}, {"as_none": True}, as_int(7)]
    result = run(nodes, outputs, [meta(2, 5)])
    assert [tuple(t.shape) for t in result[:3]] == [(2, 5)] * 3
    assert result[3:] == [6, None, 7]


def test_a_result_of_another_length_is_an_error(lib):
    define(lib, "many(Tensor self) -> Tensor[]", lambda x: [x.clone()])
    outputs = [{"as_tensors": [{"name": "m"}, {"name": "n"}]}]
    with pytest.raises(RuntimeError, match="expected 2 results, got 1"):
        run([node("graphtest.many.default", [X], outputs)], ["m"], [meta(2)])


def test_an_error_names_file_node_and_operator_and_keeps_its_type(lib):
    def fail(x):
        raise IndexError("no such thing")

    define(lib, "fail(Tensor self) -> Tensor", fail)
    with pytest.raises(IndexError) as caught:
        run([node("graphtest.fail.default", [X], ["a"], name="node_a")], ["a"], [meta(2)])
    assert str(caught.value) == "model.pt2: node_a (graphtest::fail): no such thing"


def test_an_error_leaves_no_value_alive(lib):
    made = []

    def make(x):
        out = x.clone()
        made.append(weakref.ref(out))
        return out

    def fail(x):
        raise ValueError("enough")

    define(lib, "make(Tensor self) -> Tensor", make)
    define(lib, "fail(Tensor self) -> Tensor", fail)
    nodes = [
        node("graphtest.make.default", [X], ["a"]),
        node("graphtest.fail.default", [("self", tensor("a"))], ["b"]),
    ]
    with pytest.raises(ValueError, match="enough"):
        run(nodes, ["a", "b"], [meta(2)])
    gc.collect()
    assert made[0]() is None


def test_device_arguments_follow_the_run():
    inputs = [("size", {"as_ints": [2]}), ("device", {"as_device": {"type": "cpu", "index": None}})]
    nodes = [node("aten.empty.memory_format", inputs, ["e"])]
    assert str(run(nodes, ["e"], [], inputs=(), device="meta")[0].device) == "meta"


def test_fresh_lists_for_each_call(lib):
    kept = []
    define(lib, "keep(Tensor[] items, int[] sizes) -> ()", lambda t, s: kept.append((t, s)))
    inputs = [
        ("items", {"as_tensors": [{"name": "x"}, {"name": "x"}]}),
        ("sizes", {"as_ints": [1, 2]}),
    ]
    nodes = [node("graphtest.keep.default", inputs, [], name=f"k{i}") for i in range(2)]
    value = meta(2)
    run(nodes, [], [value])
    (items, sizes), (again, sizes_again) = kept
    assert items is not again
    assert sizes is not sizes_again
    assert list(items) == [value, value]
    assert list(sizes) == [1, 2]


def cond(predicate):
    def branch(name, op):
        body = [node(f"aten.{op}.default", [("self", tensor("t"))], ["r"])]
        return {"as_graph": {"name": name, "graph": programs.graph(["t"], ["r"], body, {})}}

    inputs = [
        ("", predicate),
        ("", branch("yes", "relu")),
        ("", branch("no", "sin")),
        ("", {"as_tensors": [{"name": "x"}]}),
    ]
    call = node("higher_order.cond", inputs, ["c"], name="choice")
    call["is_hop_single_tensor_return"] = False
    return call


@pytest.mark.parametrize(("flag", "ran"), [(True, "aten::relu"), (False, "aten::sin")])
def test_cond_runs_the_branch_that_the_predicate_names(flag, ran):
    log = RunLog()
    (out,) = executable([cond({"as_bool": flag})], ["c"]).run([meta(2)], log)
    assert tuple(out.shape) == (2,)
    calls = [(e[1].name, e[1].steps[e[2]].op) for e in log.events() if e[0] == "call" and e[2] >= 0]
    assert calls == [("yes" if flag else "no", ran), ("", "higher_order::cond")]


def test_fake_cond_runs_both_branches():
    log = RunLog(fake=True)
    executable([cond(tensor("x"))], ["c"]).run([meta(2)], log)
    calls = [e[1].steps[e[2]].op for e in log.events() if e[0] == "call" and e[2] >= 0]
    assert calls == ["aten::sin", "aten::relu", "higher_order::cond"]


def called(name, before, body, after, outputs=("c",), op="relu"):
    """A higher-order operator whose function is `op` of its operand `t`."""
    nodes = [node(f"aten.{op}.default", [("self", tensor("t"))], ["r"])]
    inside = {"as_graph": {"name": "body", "graph": programs.graph(["t"], ["r"], nodes, {})}}
    inputs = [("", a) for a in (*before, *([inside] if body else []), *after)]
    call = node(f"higher_order.{name}", inputs, list(outputs))
    call["is_hop_single_tensor_return"] = False
    return call


def steps_of(log):
    return [e[1].steps[e[2]].op for e in log.events() if e[0] == "call" and e[2] >= 0]


@pytest.mark.parametrize("flag", [True, False])
def test_a_block_without_gradients_runs_as_one(lib, flag):
    seen = []

    def asks(x):
        seen.append(dispatch.is_grad_enabled())
        return x + 1

    define(lib, "asks(Tensor x) -> Tensor", asks)
    call = called("wrap_with_set_grad_enabled", [{"as_bool": flag}], True, [tensor("x")])
    graph = call["inputs"][1]["arg"]["as_graph"]["graph"]
    graph["nodes"] = [node("graphtest.asks.default", [("x", tensor("t"))], ["r"])]
    log = RunLog()
    (out,) = executable([call], ["c"]).run([dispatch.ones(2)], log)
    assert out.tolist() == [2, 2]
    assert seen == [flag]
    assert steps_of(log) == ["graphtest::asks", "higher_order::wrap_with_set_grad_enabled"]


def test_a_block_of_autocast_casts(lib):
    setting = [{"as_string": "cpu"}, {"as_scalar_type": 13}, {"as_bool": True}, {"as_bool": False}]
    call = called("wrap_with_autocast", setting, True, [tensor("x")])
    graph = call["inputs"][4]["arg"]["as_graph"]["graph"]
    operands = [("self", tensor("t")), ("mat2", tensor("t"))]
    graph["nodes"] = [node("aten.mm.default", operands, ["r"])]
    (out,) = executable([call], ["c"]).run([dispatch.ones(2, 2)], RunLog())
    assert out.dtype == dispatch.bfloat16


@pytest.mark.parametrize(("fake", "rounds"), [(False, 3), (True, 1)])
def test_map_stacks_what_it_makes_of_rows_and_runs_once_on_fake_tensors(fake, rounds):
    rows = [{"as_tensors": [{"name": "x"}]}, {"as_tensors": []}]
    log = RunLog(fake=fake)
    step = executable([called("map_impl", [], True, rows)], ["c"])
    x = dispatch.tensor([-1.0, 0.0, 2.0])
    if fake:
        with dispatch.FakeTensorMode() as mode:
            (out,) = step.run([mode.from_tensor(x)], log)
    else:
        (out,) = step.run([x], log)
        assert out.tolist() == [0, 0, 2]
    assert tuple(out.shape) == (3,)
    assert steps_of(log) == ["aten::relu"] * rounds + ["higher_order::map_impl"]


def test_an_operator_with_another_dtype_takes_no_graph():
    operands = [{"as_operator": "torch.ops.aten.mm.default"}, {"as_scalar_type": 4}]
    call = called("out_dtype", operands, False, [tensor("x"), tensor("x")])
    del call["is_hop_single_tensor_return"]
    x = dispatch.full((2, 2), 100, dtype=dispatch.int8)
    (out,) = executable([call | {"is_hop_single_tensor_return": True}], ["c"]).run([x], RunLog())
    assert out.tolist() == [[20_000, 20_000]] * 2


def test_a_function_that_is_given_other_operands_is_refused():
    call = called("wrap", [], True, [tensor("x"), tensor("x")])
    with pytest.raises(RuntimeError, match="graph body takes 1 operands, given 2"):
        executable([call], ["c"]).run([meta(2)], RunLog())


def loop(carried="as_tensors", body="aten.add.Tensor"):
    """x + 1 while its sum is less than the number in `limit`."""

    def graph(name, *nodes):
        inside = programs.graph(["t", "most"], ["r"], list(nodes), {})
        return {"as_graph": {"name": name, "graph": inside}}

    less = [("self", tensor("s")), ("other", tensor("most"))]
    values = [{"name": "x"}] if carried == "as_tensors" else [1]
    inputs = [
        ("", graph("test", node("aten.sum.default", [("self", tensor("t"))], ["s"]),
                   node("aten.lt.Tensor", less, ["r"]))),
        ("", graph("round", node(body, [("self", tensor("t")), ("other", as_int(1))], ["r"]))),
        ("", {carried: values}),
        ("", {"as_tensors": [{"name": "limit"}]}),
    ]  # fmt: skip
    return node("higher_order.while_loop", inputs, ["c"])


def run_loop(value, limit, log, **how):
    (out,) = executable([loop(**how)], ["c"], ["x", "limit"]).run([value, limit], log)
    steps = [e[1].steps[e[2]].op for e in log.events() if e[0] == "call" and e[2] >= 0]
    return out, steps


@pytest.mark.parametrize(("limit", "rounds"), [(-1.0, 0), (1.0, 1), (5.0, 3)])
def test_a_loop_runs_while_its_condition_holds(limit, rounds):
    x = dispatch.zeros(2)
    out, steps = run_loop(x, dispatch.tensor(limit), RunLog())
    assert out.tolist() == [rounds, rounds]
    assert out is not x and x.tolist() == [0, 0]
    assert steps.count("aten::add.Tensor") == rounds


def test_a_fake_loop_makes_one_round():
    out, steps = run_loop(meta(2), meta(), RunLog(fake=True))
    assert tuple(out.shape) == (2,)
    assert steps == ["aten::sum", "aten::lt.Tensor", "aten::add.Tensor", "higher_order::while_loop"]


def test_a_round_must_give_what_is_carried():
    with pytest.raises(RuntimeError, match=r"while_loop: what is carried and a round differ in"):
        run_loop(meta(2), meta(), RunLog(fake=True), body="aten.ge.Scalar")


def test_progress_and_threads(lib):
    define(lib, "same(Tensor self) -> Tensor", lambda x: x.clone())
    nodes = [node("graphtest.same.default", [X], [f"o{i}"]) for i in range(200)]
    ready = executable(nodes, ["o199"])
    seen = []
    ready.run([meta(2)], RunLog(), seen.append)
    assert seen == [64, 128, 192]
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(ready.run([meta(3)], RunLog())))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [tuple(r[0].shape) for r in results] == [(3,)] * 4


def test_log_gives_metadata_without_keeping_tensors():
    nodes = [node("aten.transpose.int", [X, ("dim0", as_int(0)), ("dim1", as_int(1))], ["t"])]
    log = RunLog()
    value = meta(2, 3)
    executable(nodes, ["t"]).run([value], log)
    ((kind, plan, step, ns, (record,)),) = log.events()
    assert (kind, step, ns) == ("call", 0, None)
    assert plan.slot_names[record[0]] == "t"
    assert record[2:] == (24, "float32", "meta", 0, (3, 2), (1, 3))


def test_a_branch_that_no_run_made_is_refused():
    """What a handler of `cond` is given has a class, whose instances have no program."""
    made_by_runs = vars(executor)["_Body"]
    body = made_by_runs.__new__(made_by_runs)
    with pytest.raises(RuntimeError, match="made by a graph's run only"):
        body(dispatch.ones(1))
