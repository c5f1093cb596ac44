"""Open sizes: what they may be called, what they may be, and runs at them."""

import pytest

from dispatch import graph
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import meta, node, symbol, tensor
from tests.dispatch.graph.test_module import dynamic, floats


@pytest.fixture
def module(tmp_path):
    return graph.load(programs.write_json(tmp_path / "dyn.json", dynamic()))


def two_symbols():
    """relu of x, which is (a, b, 3), and of y, which is (a, 2 * b)."""
    a, b = symbol("a", 4), symbol("b", 5)
    text = "Mul(Integer(2), Symbol('b', positive=True, integer=True))"
    doubled = {"as_expr": {"expr_str": text, "hint": {"as_int": 10}}}
    x, y = meta([a, b, 3]), meta([a, doubled])
    tripled = text.replace("2", "3")
    x["strides"][0] = {"as_expr": {"expr_str": tripled, "hint": {"as_int": 15}}}
    y["strides"][0] = doubled
    nodes = [node("aten.relu.default", [("self", tensor(n))], [f"{n}_r"]) for n in "xy"]
    body = programs.graph(["x", "y"], ["x_r", "y_r"], nodes, {"x": x, "y": y})
    specs = [programs.user_input("x"), programs.user_input("y")]
    outputs = [programs.user_output("x_r"), programs.user_output("y_r")]
    return programs.program(body, specs, outputs, a=(1, None), b=(2, 64))


def test_a_symbol_has_the_names_of_its_places(module):
    (size,) = module.sizes
    assert size.names == ("batch", "x:0", "y:0", "s0")
    assert (size.low, size.high, size.recorded, size.places) == (2, 64, 4, ((0, 0), (1, 0)))
    assert str(size) == "batch = x:0 = y:0 = s0 (2 to 64)"


@pytest.mark.parametrize("name", ["batch", "x:0", "y:0", "s0"])
def test_a_run_at_another_size_is_that_of_such_inputs(module, name):
    report = module.run(sizes={name: 7}).to_json()
    given = module.run(floats(7, 3), floats(7)).to_json()
    for key in ("inputs", "outputs", "calls", "peak_bytes", "sizes"):
        assert report[key] == given[key]
    assert report["sizes"][0]["value"] == 7
    assert module.run().sizes[0]["value"] == 4


def test_a_real_run_at_another_size(module):
    report = module.run(sizes={"batch": 7}, fake=False)
    assert report.outputs[0]["shape"] == [21] and report.made_up_inputs == 2
    assert [tuple(x.shape) for x in module.random_inputs(sizes={"batch": 9})] == [(9, 3), (9,)]


def test_expressions_follow_their_symbols(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "two.json", two_symbols()))
    assert [size.names for size in module.sizes] == [
        ("batch", "x:0", "y:0", "a"), ("seq", "x:1", "b"),
    ]  # fmt: skip
    report = module.run(sizes={"b": 9}, device="cuda")
    assert [(o["shape"], o["stride"]) for o in report.outputs] == [
        ([4, 9, 3], [27, 3, 1]), ([4, 18], [18, 1]),
    ]  # fmt: skip
    assert "batch = 4 (1 or more; x:0, y:0, a), seq = 9 (2 to 64; x:1, b)" in str(report)


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ({"bath": 3}, r"dyn\.json: no size 'bath': there is batch = x:0 = y:0 = s0 \(2 to 64\)"),
        ({"batch": 65}, r"batch = 65: out of range: .* \(2 to 64\)"),
        ({"s0": 1}, r"batch = 1: out of range"),
        ({"s0": 5, "x:0": 6}, r"batch cannot be both 5 and 6"),
    ],
)
def test_what_cannot_be_set(module, sizes, problem):
    for fake in (True, False):
        with pytest.raises(ValueError, match=problem):
            module.run(sizes=sizes, fake=fake)


def test_sizes_and_inputs_exclude_each_other(module):
    with pytest.raises(ValueError, match="sizes are those of the inputs"):
        module.run(floats(7, 3), floats(7), sizes={"batch": 7})


def test_a_program_of_fixed_sizes_has_none(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "fixed.json", programs.add_relu()))
    assert module.sizes == () and module.run().sizes == []
    with pytest.raises(ValueError, match="exported with fixed sizes; free a dimension"):
        module.run(sizes={"batch": 3})


def test_a_number_that_is_an_input_is_set_too(tmp_path):
    content = dynamic()
    sym = {"as_sym_int": {"as_name": "s"}}
    content["graph_module"]["graph"]["inputs"].append(sym)
    content["graph_module"]["signature"]["input_specs"].append({"user_input": {"arg": sym}})
    content["graph_module"]["graph"]["nodes"].pop(0)
    module = graph.load(programs.write_json(tmp_path / "number.json", content))
    assert module.sizes[0].names == ("batch", "x:0", "y:0", "s", "s0")
    assert module.run(sizes={"s": 7}).outputs[0]["shape"] == [21]


def test_outputs_that_are_only_recorded_do_not_follow(tmp_path):
    content = dynamic()
    body = content["graph_module"]["graph"]
    body["nodes"][-1]["target"] = "torch.ops.nobody.knows.default"
    body["tensor_values"]["r"] = meta([symbol("s0", 4)])
    module = graph.load(programs.write_json(tmp_path / "unknown.json", content))
    assert module.run().unregistered
    with pytest.raises(RuntimeError, match="known at the recorded sizes only"):
        module.run(sizes={"batch": 7})


def test_a_size_without_a_name_of_its_own_must_be_set(tmp_path):
    content = two_symbols()
    values = content["graph_module"]["graph"]["tensor_values"]
    values["x"]["sizes"][1], values["x"]["strides"][0] = {"as_int": 5}, {"as_int": 15}
    square = {"expr_str": "Pow(Symbol('b'), Integer(2))", "hint": {"as_int": 25}}
    values["y"]["sizes"][1] = values["y"]["strides"][0] = {"as_expr": square}
    module = graph.load(programs.write_json(tmp_path / "derived.json", content))
    assert module.sizes[1].names == ("b",) and module.run().sizes[1]["value"] is None
    with pytest.raises(ValueError, match="b has no recorded value: set it"):
        module.run(sizes={"batch": 2})
    assert module.run(sizes={"batch": 2, "b": 3}).outputs[1]["shape"] == [2, 9]


def test_a_symbol_that_is_nowhere_alone(tmp_path):
    """An input of 2 * n rows: n is what the rows say, recorded, set or given."""
    text = "Mul(Integer(2), Symbol('n', positive=True, integer=True))"
    rows = {"as_expr": {"expr_str": text, "hint": {"as_int": 6}}}
    values = {"x": meta([rows, 3]), "y": meta([rows, 3])}
    body = programs.graph(
        ["x"], ["y"], [node("aten.relu.default", [("self", tensor("x"))], ["y"])], values
    )
    specs = [programs.user_input("x")], [programs.user_output("y")]
    content = programs.program(body, *specs, n=(1, 50))
    module = graph.load(programs.write_json(tmp_path / "double.json", content))
    assert [(size.name, size.recorded, size.places) for size in module.sizes] == [("n", 3, ())]
    assert module.run(sizes={"n": 7}).outputs[0]["shape"] == [14, 3]
    assert module.run(floats(8, 3)).sizes[0]["value"] == 4
    found = module.run(symbolic=True)
    assert found.to_json()["calls"][0]["outputs_expr"][0]["shape"] == ["2*n", 3]
    assert found.at({"n": 7}).peak_bytes == module.run(sizes={"n": 7}).peak_bytes


def test_no_size_is_called_batch_where_inputs_begin_with_two(tmp_path):
    content = two_symbols()
    sizes = content["graph_module"]["graph"]["tensor_values"]["y"]["sizes"]
    sizes[0] = symbol("b", 5)
    module = graph.load(programs.write_json(tmp_path / "two.json", content))
    assert [size.names for size in module.sizes] == [("x:0", "a"), ("seq", "x:1", "y:0", "b")]
