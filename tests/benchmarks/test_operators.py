"""`benchmarks.operators`: recorded calls as rows, tables by family, rows with large tensors."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import benchmarks.__main__ as program
from benchmarks import cases, large, operators, ours


def row(name, ours_ns, theirs_ns):
    sides = {"ours": {"best": ours_ns}, "theirs": {"best": theirs_ns}}
    return {"name": name, "ratio": theirs_ns / ours_ns, **sides}


@pytest.fixture
def recorded(tmp_path):
    """A folder with two overloads, a call that raises, and one that changes sizes."""
    tensor = {"storage": 0, "dtype": "float32", "shape": [2, 3], "stride": [3, 1], "offset": 0}
    found = {"storages": [{"a": "s", "dtype": "float32", "numel": 6}], "tensors": [tensor]}
    lines = [
        {"overload": "aten::add.Scalar", "args": [], "kwargs": {}, "error": {"type": "X"}},
        {"overload": "aten::add.Scalar", "args": [{"t": 0}, 1], "kwargs": {}},
        {"overload": "aten::add.Scalar", "args": [{"t": 0}, 2], "kwargs": {}},
        {"overload": "aten::full", "args": [[2], {"float": "inf"}],
         "kwargs": {"dtype": {"dtype": "bfloat16"}}},
        {"overload": "aten::unsqueeze_", "args": [{"t": 0}, 0], "kwargs": {}},
    ]  # fmt: skip
    text = "".join(json.dumps({**found, **line}) + "\n" for line in lines)
    (tmp_path / "add.jsonl").write_text(text)
    np.savez(tmp_path / "add.npz", s=np.arange(6, dtype=np.float32))
    return tmp_path


def test_the_first_call_that_need_not_raise_is_the_row(recorded):
    found = {case["overload"]: case["args"] for _, case in cases.first_cases(recorded)}
    assert list(found) == ["aten::add.Scalar", "aten::full", "aten::unsqueeze_"]
    assert found["aten::add.Scalar"] == [{"t": 0}, 1]


def test_a_row_is_the_call_with_its_arguments_written_out(recorded):
    rows = cases.rows(ours.API, recorded)
    plain = rows["aten::add.Scalar"]()
    assert plain.statement == "op(a0, a1)"
    assert eval(plain.statement, plain.names).tolist() == [[1, 2, 3], [4, 5, 6]]
    full = rows["aten::full"]()
    assert eval(full.statement, full.names).tolist() == [float("inf")] * 2


def test_what_changes_sizes_gets_a_fresh_tensor_each_time(recorded):
    assert cases.rows(ours.API, recorded)["aten::unsqueeze_"]().run(100) > 0


def test_tables_count_by_family_and_begin_with_the_slowest():
    rows = [row("a", 100, 50), row("b", 100, 300), row("c", 100, 100), row("d", 10, 1)]
    rows.append({"name": "not there", "ratio": None, "ours": None})
    family = {"a": "one", "b": "one", "c": "two", "d": "two"}.get
    *_, total = found = list(operators.families(rows, family))
    assert [(f["family"], f["rows"], f["as fast"]) for f in found[:-1]] == [
        ("one", 2, 0.5),
        ("two", 2, 0.5),
    ]
    assert (total["rows"], total["least"], total["median"]) == (4, 0.1, 0.75)
    text = operators.summary(rows, family)
    assert re.findall(r"\| `(.)` \|", text) == ["d", "a", "c", "b"]


def test_every_name_of_a_large_row_is_an_input():
    for texts in large.FAMILIES.values():
        for text in texts:
            tree = compile(text, text, "eval")
            assert set(tree.co_names) & large.INPUTS.keys() or "T" in tree.co_names, text
    used = " ".join(text for texts in large.FAMILIES.values() for text in texts)
    assert [name for name in large.INPUTS if not re.search(rf"\b{name}\b", used)] == []


def test_the_command_times_recorded_calls(recorded, monkeypatch):
    command = ["operators", "--cases", str(recorded), "--rounds", "1", "--op", "full|nothing"]
    said = CliRunner().invoke(program.main, command)
    assert said.exit_code == 0, said.output
    assert re.search(r"^aten::full: [\d,]+ ns$", said.output, re.MULTILINE)
