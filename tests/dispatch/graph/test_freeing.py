"""Dimensions set free: numbers that an export has baked in follow, and what does not is named."""

import numpy as np
import pytest

import dispatch
from dispatch import graph
from dispatch.graph.freeing import _other_sizes, read_free
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import meta, node, tensor
from tests.dispatch.graph.test_module import EXAMPLE

BOTH = {"x:0": "batch", "x:1": "seq"}


def loaded(tmp_path, content):
    return graph.load(programs.write_json(tmp_path / "fixed.json", content))


def fixed(*calls, out, **values):
    """A program over float tensors: `values` are their sizes; `calls` are (operator, name, first
    argument, further ones)."""
    nodes = [
        node(f"aten.{op}", [("self", tensor(first)), *more], [name])
        for op, name, first, *more in calls
    ]
    inputs = [name for name in values if name not in {row[1] for row in calls}]
    body = programs.graph(inputs, [out], nodes, {n: meta(sizes) for n, sizes in values.items()})
    specs = [
        programs.parameter(n, n) if n.startswith("p_") else programs.user_input(n) for n in inputs
    ]
    return programs.program(body, specs, [programs.user_output(out)])


def size(*items):
    return "size", {"as_ints": list(items)}


def rows(module):
    return [(row.node, row.argument, row.value, row.expr) for row in module.baked]


def test_numbers_follow(tmp_path):
    """The same block exported with fixed sizes gives the expressions of the dynamic one."""
    module = loaded(tmp_path, programs.attention(dynamic=False)).free(BOTH)
    assert rows(module) == [
        ("flat", "size[0]", 6, "batch*seq"),
        ("back", "size[0]", 2, "batch"),
        ("back", "size[1]", 3, "seq"),
    ]
    assert [(s.name, s.names, s.low, s.recorded) for s in module.sizes] == [
        ("batch", ("batch", "x:0"), 1, 2), ("seq", ("seq", "x:1"), 1, 3),
    ]  # fmt: skip
    dynamic = loaded(tmp_path, programs.attention()).run(symbolic=True).expressions
    found = module.run(symbolic=True).expressions
    for ours, theirs in ((found.peak_bytes, dynamic.peak_bytes), (found.flops, dynamic.flops)):
        assert ours == theirs.replace("b", "batch").replace("s", "seq")


def test_runs_at_other_sizes(tmp_path):
    """Fake, symbolic, real and given inputs; at the recorded sizes nothing has changed."""
    plain = loaded(tmp_path, programs.attention(dynamic=False))
    module = plain.free(BOTH)
    before, after = plain.run().to_json(), module.run().to_json()
    for key in ("calls", "storages", "peak_bytes", "outputs"):
        assert before[key] == after[key]
    at = {"batch": 5, "seq": 7}
    report = module.run(sizes=at)
    assert report.outputs[0]["shape"] == [5, 7, 4]
    assert module.run(symbolic=True).at(at).peak_bytes == report.peak_bytes
    given = module.run(np.zeros((4, 9, 4), np.float32))
    assert given.outputs[0]["shape"] == [4, 9, 4]
    module.fill_missing_weights()
    plain.fill_missing_weights()
    (y,) = module(dispatch.ones(5, 7, 4))
    assert tuple(y.shape) == (5, 7, 4)
    x = dispatch.ones(2, 3, 4)
    assert dispatch.allclose(*module(x), *plain(x))
    assert not plain.baked and "baked" not in before and len(after["baked"]) == 3


def test_one_dimension_of_two(tmp_path):
    module = loaded(tmp_path, programs.attention(dynamic=False)).free({"x:1": "n"})
    assert rows(module) == [("flat", "size[0]", 6, "2*n"), ("back", "size[1]", 3, "n")]


def test_a_minus_one_does_not_hide_a_number(tmp_path):
    """(6, 8) as (2, 3, -1) runs with 35 rows too, but is no longer 8 wide."""
    calls = [
        ("view.default", "rows", "x", size(-1, 8)),
        ("view.default", "y", "rows", size(2, 12, -1)),
    ]
    content = fixed(*calls, out="y", x=[2, 12, 8], rows=[24, 8], y=[2, 12, 8])
    module = loaded(tmp_path, content).free(BOTH)
    assert rows(module) == [("y", "size[0]", 2, "batch"), ("y", "size[1]", 12, "seq")]


def test_other_inputs_go_with_it(tmp_path):
    add = ("add.Tensor", "z", "x", ("other", tensor("y")))
    module = loaded(tmp_path, fixed(add, out="z", x=[4, 3], y=[4, 3], z=[4, 3])).free({"x:0": "n"})
    assert rows(module) == [("y", "size 0", 4, "n")]
    assert str(module.baked[0]) == "input y: size 0 = 4 has to be n"
    assert module.sizes[0].names == ("n", "x:0", "y:0")


def test_numbers_of_calls_before(tmp_path):
    """What the addition needs was made two calls before, with two numbers."""
    calls = [
        ("new_ones.default", "a", "x", size(4, 1)),
        ("expand.default", "b", "a", size(4, 3)),
        ("add.Tensor", "z", "x", ("other", tensor("b"))),
    ]
    content = fixed(*calls, out="z", x=[4, 3], a=[4, 1], b=[4, 3], z=[4, 3])
    module = loaded(tmp_path, content).free({"x:0": "n"})
    assert rows(module) == [("a", "size[0]", 4, "n"), ("b", "size[0]", 4, "n")]


def test_a_call_that_does_not_follow_is_named(tmp_path):
    add = ("add.Tensor", "z", "x", ("other", tensor("p_y")))
    content = fixed(add, out="z", x=[4, 3], p_y=[4, 3], z=[4, 3])
    module = loaded(tmp_path, content).free({"x:0": "n"})
    (row,) = module.baked
    assert (row.node, row.op, row.expr) == ("z", "aten::add.Tensor", "")
    assert "do not broadcast" in row.problem
    report = module.run()
    assert report.outputs[0]["shape"] == [4, 3]
    assert "call z (aten::add.Tensor) does not follow" in str(report)
    with pytest.raises(RuntimeError, match=r"z \(aten::add\.Tensor"):
        module.run(sizes={"n": 5})


def test_a_size_that_cannot_follow_does_not_hold_back_another(tmp_path):
    """The addition of a weight pins seq; the view after it has batch baked in all the same."""
    calls = [
        ("add.Tensor", "z", "x", ("other", tensor("p_y"))),
        ("view.default", "v", "z", size(4, 1, 3)),
    ]
    content = fixed(*calls, out="v", x=[4, 3], p_y=[3], z=[4, 3], v=[4, 1, 3])
    module = loaded(tmp_path, content).free(BOTH)
    assert rows(module)[0] == ("v", "size[0]", 4, "batch")
    assert [row.node for row in module.baked if row.problem] == ["z"]
    assert module.run(sizes={"batch": 7}).outputs[0]["shape"] == [7, 1, 3]


def test_a_size_of_one_is_freed(tmp_path):
    view = ("view.default", "y", "x", size(1, 6))
    module = loaded(tmp_path, fixed(view, out="y", x=[1, 2, 3], y=[1, 6])).free({"x:0": "n"})
    assert rows(module) == [("y", "size[0]", 1, "n")]
    report = module.run(symbolic=True)
    assert report.sizes[0]["value"] == 2 and module.run().sizes[0]["value"] == 1
    assert report.expressions.peak_bytes == "24*n"


def test_the_example_follows_wholly():
    module = graph.load(EXAMPLE).free({"input_ids:0": "batch", "input_ids:1": "seq"})
    assert all(row.expr for row in module.baked)
    at = {"batch": 3, "seq": 11}
    assert module.run(sizes=at).outputs[0]["shape"] == [3, 11, 128]
    assert module.run(symbolic=True).at(at).peak_bytes == module.run(sizes=at).peak_bytes


@pytest.mark.parametrize(
    ("dimensions", "problem"),
    [
        ({"y:0": "n"}, r"no dimension y:0: there is x\[2, 3, 4\]"),
        ({"x:3": "n"}, "no dimension x:3"),
        ({"x": "n"}, "no dimension x:"),
        ({"x:0": "n", "x:1": "n"}, "x:1 is 3, another n is 2"),
    ],
)
def test_mistakes(tmp_path, dimensions, problem):
    module = loaded(tmp_path, programs.attention(dynamic=False))
    with pytest.raises(ValueError, match=problem):
        module.free(dimensions)


def test_what_is_open_is_not_freed(tmp_path):
    module = loaded(tmp_path, programs.attention())
    with pytest.raises(ValueError, match="x:0 is open already"):
        module.free({"x:0": "n"})
    with pytest.raises(ValueError, match="there is a size seq already"):
        module.free({"x:2": "seq"})
    freed = loaded(tmp_path, programs.attention(dynamic=False)).free({"x:0": "n"})
    with pytest.raises(ValueError, match="all dimensions at once"):
        freed.free({"x:1": "m"})


def test_settings():
    assert read_free(["ids:0=batch", " ids:01 = n "]) == {"ids:0": "batch", "ids:1": "n"}
    for text in ("ids=batch", "ids:0", "ids:0=2", "ids:0=u0", "ids:x=n"):
        with pytest.raises(ValueError, match="expected INPUT:DIMENSION=NAME"):
            read_free([text])
    with pytest.raises(ValueError, match="ids:0 is a and b"):
        read_free(["ids:0=a", "ids:0=b"])


def test_a_size_is_not_tried_as_another_that_the_program_recorded():
    tried = _other_sizes({"batch": 8, "seq": 7}, 0)
    assert not {*tried.values()} & {7, 8} and len({*tried.values()}) == 2
