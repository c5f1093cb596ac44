"""`advice`: what would lower a peak, with the peak that is left."""

from dispatch import graph
from dispatch.graph import text
from dispatch.graph.html import html_page
from tests.dispatch.graph.programs import linear, linear_archive, meta, node, tensor, write_json
from tests.dispatch.graph.test_memory import MATRIX, X, run


def ideas(report):
    return {row["what"].partition(" (")[0]: row["peak_bytes"] // MATRIX for row in report.advice}


def chain(*ops):
    names = ["x", *"abcdef"]
    return [
        node(f"aten.{op}.default", [("self", tensor(names[i]))], [names[i + 1]])
        for i, op in enumerate(ops)
    ]


def test_writing_in_place_saves_the_new_storage(tmp_path):
    """x, a, b at the peak; in place b is a."""
    found = run(tmp_path, chain("relu", "relu", "relu"), ["c"])
    assert ideas(found)["write in place in 2 calls"] == 2


def test_no_in_place_form_or_a_value_that_is_needed_later_saves_nothing(tmp_path):
    found = run(tmp_path, chain("clone", "clone", "clone"), ["c"])
    assert not any("in place" in what for what in ideas(found))
    nodes = [*chain("relu", "relu"), node("aten.add.Tensor", [
        ("self", tensor("a")), ("other", tensor("b"))], ["s"])]  # fmt: skip
    found = run(tmp_path, nodes, ["s"])
    assert found.peak_bytes == 4 * MATRIX
    assert ideas(found)["write in place in 1 call"] == 3


def test_a_second_argument_cannot_be_written_over(tmp_path):
    """addmm writes over its first argument; here only the product dies."""
    values = {"bias": meta([3]), "x": meta([2, 3])}
    square = ("mat2", tensor("sq"))
    nodes = [
        node("aten.relu.default", [X], ["r"]),
        node("aten.mm.default", [
            ("self", tensor("t")), ("mat2", tensor("x"))], ["sq"]),
    ]  # fmt: skip
    turned = node("aten.t.default", [X], ["t"])
    last = node("aten.addmm.default", [("self", tensor("x")), ("mat1", tensor("r")), square], ["o"])
    assert values
    found = run(tmp_path, [turned, *nodes, last], ["o"])
    assert not any("addmm" in row["what"] for row in found.advice)


def test_inputs_and_weights_that_are_not_needed_any_more(tmp_path):
    found = run(tmp_path, chain("relu", "clone", "clone"), ["c"], ("x", "idle"))
    assert ideas(found)["free 2 inputs after the last use"] == 2


def test_an_unused_weight_may_be_tied_where_the_file_has_no_data(tmp_path):
    """With data it is known: the second name is on the same storage; nothing can be left out."""
    bare = graph.load(write_json(tmp_path / "m.json", linear(tied=True))).run().advice
    assert [row["what"] for row in bare if "no call uses" in row["what"]] == [
        "leave out 1 weight that no call uses (t; the file has no data, so t may be tied to w:"
        " then nothing is saved)"
    ]
    whole = graph.load(linear_archive(tmp_path / "m.pt2", tied=True)).run().advice
    assert not any("no call uses" in row["what"] for row in whole)


def test_a_weight_that_no_call_uses_names_the_one_that_it_may_be(tmp_path):
    """In the table and on the page; a file with data says which weights are one."""
    bare = graph.load(write_json(tmp_path / "m.json", linear(tied=True))).run()
    assert {row["name"]: row["may_be"] for row in bare.storages if row["may_be"]} == {"t": "w"}
    cells = text.alive_table(bare.to_json(), bare.alive_at_peak, folded=False).rows
    assert {row[0]: row[5] for row in cells if "never" in row[5]} == {"t": "never; may be w"}
    assert '"never; may be w"' in html_page(bare.to_json())
    whole = graph.load(linear_archive(tmp_path / "m.pt2", tied=True)).run()
    assert not any(row["may_be"] for row in whole.storages)
