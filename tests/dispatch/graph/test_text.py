"""`text`: figures with units, tables, Markdown; a stranger's names stay text."""

import pytest

from dispatch import graph
from dispatch.graph import text
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_module import EXAMPLE


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (text.bytes_text(0), "0 B"),
        (text.bytes_text(999), "999 B"),
        (text.bytes_text(96_734_784), "96.7 MB"),
        (text.bytes_text(999_960), "1.0 MB"),
        (text.count_text(1_966_080), "1.97 M"),
        (text.time_text(None), ""),
        (text.time_text(870), "870 ns"),
        (text.time_text(27_100), "27.1 us"),
        (text.time_text(27_100_000), "27.1 ms"),
        (text.time_text(61_000_000_000), "61.0 s"),
    ],
)
def test_a_figure_has_the_unit_that_fits(shown, expected):
    assert shown == expected


@pytest.mark.parametrize(("count", "last"), [(30, "r29"), (31, "and 1 more"), (45, "and 15 more")])
def test_a_long_table_says_how_much_is_left_out(count, last):
    table = text.Table("rows", ("name",), ("name",), [[f"r{i}"] for i in range(count)])
    shown = text._columns(table)
    assert shown[:2] == ["name", "r0"] and shown[-1] == last
    assert len(shown) == 1 + min(count, 30) + (count > 30)


def test_the_tools_time_is_not_the_models():
    facts = dict(text.facts(graph.load(EXAMPLE).run(device="cuda").to_json()))
    assert facts["run"].startswith("fake on cuda")
    assert "nothing is computed" in facts["run"]
    assert "not the model's time" in facts["this tool"]
    assert "during call 69, mul_2" in facts["peak memory"]


@pytest.mark.parametrize(
    ("count", "says"),
    [
        (1, "1 call (views, in place) allocates nothing"),
        (2, "2 calls (views, in place) allocate nothing"),
    ],
)
def test_one_call_allocates_and_two_allocate(count, says):
    report = graph.load(EXAMPLE).run().to_json()
    views = [c for c in report["calls"] if c["outputs"] and not c["new_bytes"]]
    facts = dict(text.facts({**report, "calls": views[:count], "peak_index": -1}))
    assert facts["no new memory"].startswith(says)


def test_the_tree_is_cut_at_a_depth():
    report = graph.load(EXAMPLE).run().to_json()
    assert [row[0] for row in text.module_table(report, 1).rows] == ["(model)", "  m"]
    assert text.fitting_depth(report, 12) == 4
    assert len(text.module_table(report).rows) == len(report["modules"])


def test_markdown_is_whole_and_a_strangers_name_is_no_markup(tmp_path):
    content = programs.add_relu()
    content["graph_module"]["graph"]["nodes"][1]["name"] = "<img src=x>|`*\n"
    report = graph.load(programs.write_json(tmp_path / "a|b.json", content)).run().to_json()
    shown = text.markdown(report, [("peak_bytes < 1", False), ("calls > 0", True)])
    assert shown.startswith("## a\\|b.json\n")
    assert "<img" not in shown
    assert "| peak\\_bytes &lt; 1 | FAILED |" in shown
    assert shown.count("<details>") == shown.count("</details>") == 4
    for line in shown.splitlines():
        assert not line.startswith("|") or line.endswith("|")


def test_weights_are_one_row_beside_activations():
    report = graph.load(EXAMPLE).run().to_json()
    folded = text.alive_table(report, report["alive_at_peak"], at_most=4)
    assert [row[0] for row in folded.rows] == [
        "28 parameters", "addmm_2", "mul_1", "pow_1", "and 5 more",
    ]  # fmt: skip
    whole = text.alive_table(report, report["alive_at_peak"], at_most=99, folded=False)
    assert len(whole.rows) == len(report["alive_at_peak"]) == 36


def test_a_narrow_table_lets_columns_go_and_empty_ones_never_stand():
    rows = [["long name", "1", "x" * 20, ""], ["b", "2", "y", ""]]
    table = text.Table("t", ("what", "n", "note", "empty"), ("what", "note"), rows, ("note", "n"))
    assert table.within(80).columns == ("what", "n", "note")
    assert table.within(20).columns == ("what", "n")
    assert table.within(5).columns == ("what",)
    assert table.within(5).rows == [["long name"], ["b"]]


def test_the_tables_of_a_report_fit_eighty_columns():
    report = graph.load(EXAMPLE).run().to_json()
    alive = text.alive_table(report, report["alive_at_peak"])
    for table in (text.operator_table(report), text.module_table(report, 4), alive):
        shown = table.within(80)
        widths = [max(map(len, cells)) for cells in zip(shown.columns, *shown.rows, strict=True)]
        assert sum(widths) + 2 * len(widths) <= 80
