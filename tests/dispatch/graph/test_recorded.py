"""`recorded`: a fake run goes on where nobody registered an operator."""

import pytest

import dispatch
from dispatch import graph
from dispatch.graph.errors import ModelFileError
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, symbol, tensor
from tests.dispatch.graph.test_executor import cond

X = ("self", tensor("x"))


def load(tmp_path, nodes, outputs, values=(), **symbols):
    body = programs.graph(["x"], outputs, nodes, {"x": meta([2, 3]), **dict(values)}, **symbols)
    specs = [programs.user_output(o) for o in outputs]
    content = programs.program(body, [programs.user_input("x")], specs)
    return graph.load(programs.write_json(tmp_path / "m.json", content))


def test_outputs_are_as_recorded_on_the_device_of_the_run(tmp_path):
    nodes = [
        node("graphtest.absent.default", [X, ("n", as_int(3))], ["a"]),
        node("aten.relu.default", [("self", tensor("a"))], ["b"]),
    ]
    module = load(tmp_path, nodes, ["b"], {"a": meta([5, 7], dtype=13, strides=[1, 5])})
    report = module.run(device="cuda")
    found = report.calls[0]["outputs"][0]
    assert (found["shape"], found["stride"], found["dtype"]) == ([5, 7], [1, 5], "bfloat16")
    assert found["device"].startswith("cuda")
    assert report.calls[0]["new_bytes"] == 70
    assert report.outputs[0]["shape"] == [5, 7]
    assert report.unregistered == module.missing_operators == ("graphtest::absent",)
    assert report.to_json()["unregistered"] == ["graphtest::absent"]
    assert "graphtest::absent: outputs as the file records them" in str(report)


def test_several_outputs_lists_and_numbers(tmp_path):
    nodes = [
        node("graphtest.two.default", [X], ["a", "b"]),
        node("graphtest.list.default", [X],
             [{"as_tensors": [{"name": "p"}, {"name": "q"}]}], name="l"),
        node("graphtest.maybe.default", [X],
             [{"as_optional_tensors": [{"as_none": True}, tensor("m")]}], name="o"),
        node("graphtest.size.default", [X], [{"as_sym_int": {"as_name": "s"}}], name="s"),
        node("graphtest.nothing.default", [X], [], name="n"),
        node("aten.full.default", [
            ("size", {"as_sym_ints": [{"as_name": "s"}]}), ("fill_value", as_int(1))], ["f"]),
    ]  # fmt: skip
    values = {n: meta([i + 1]) for i, n in enumerate("abpqm")}
    report = load(tmp_path, nodes, ["f", "a"], values, s=symbol("u0", 9)).run()
    shapes = [[o and o["shape"] for o in call["outputs"]] for call in report.calls]
    assert shapes == [[[1], [2]], [[3], [4]], [None, [5]], [], [], [[9]]]


def test_within_a_branch_and_an_unknown_higher_order_operator(tmp_path):
    choice = cond({"as_bool": True})
    inner = choice["inputs"][1]["arg"]["as_graph"]["graph"]
    inner["nodes"][0]["target"] = "torch.ops.graphtest.absent.default"
    inner["tensor_values"]["r"] = meta([2, 3])
    strange = node("torch.ops.higher_order.strange", [
        ("", tensor("c")), ("", {"as_graph": {"name": "g", "graph": inner}})], ["d"])  # fmt: skip
    report = load(tmp_path, [choice, strange], ["d"], {"d": meta([4])}).run()
    assert report.unregistered == ("graphtest::absent", "higher_order::strange")
    assert report.outputs[0]["shape"] == [4]
    used = next(row for row in report.storages if row["name"] == "r")
    assert used["last_used"] == len(report.calls) - 1


def test_an_unknown_higher_order_operator_may_give_a_list_of_one(tmp_path):
    strange = node("torch.ops.higher_order.strange", [("", tensor("x"))], ["d"])
    strange["is_hop_single_tensor_return"] = False
    report = load(tmp_path, [strange], ["d"], {"d": meta([4])}).run()
    assert [o["shape"] for o in report.calls[0]["outputs"]] == [[4]]


def test_nothing_recorded_is_an_error_with_its_place(tmp_path):
    module = load(tmp_path, [node("graphtest.absent.default", [X], ["a"])], ["a"])
    with pytest.raises(ModelFileError, match=r"graph\.nodes\[0\]\.outputs\[0\].*'a' has no entry"):
        module.run()


def test_an_operator_that_is_registered_later_is_used(tmp_path):
    nodes = [node("graphtest_late.twice.default", [X], ["a"])]
    module = load(tmp_path, nodes, ["a"], {"a": meta([2, 3])})
    assert module.run().unregistered == ("graphtest_late::twice",)
    library = dispatch.Library("graphtest_late", "DEF")
    library.define("twice(Tensor self) -> Tensor")
    library.impl("twice", lambda x: dispatch.cat([x, x]), "CompositeExplicitAutograd")
    report = module.run()
    assert report.unregistered == ()
    assert report.outputs[0]["shape"] == [4, 3]
    library._destroy()
