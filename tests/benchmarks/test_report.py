"""`benchmarks.report`: ratios, the table, README's copy of it."""

import pytest

from benchmarks.report import BEGIN, END, markdown, refresh, result

HEAD = {"cpu": "A CPU, 2 cores", "python": "3.11", "commit": "abc"}


def test_ratio_compares_the_best():
    row = result("add", {"ours": [10.0, 20.0], "theirs": [40.0, 30.0]})
    assert row["ratio"] == 3.0
    assert row["ours"] == {"best": 10.0, "median": 15.0}


def test_row_that_one_side_lacks_has_no_ratio():
    assert result("add", {"ours": [1.0], "theirs": []})["ratio"] is None


def test_table_says_when_there_was_no_torch():
    table = markdown(HEAD, [result("add", {"ours": [1.0]})])
    assert "PyTorch (not asked)" in table
    assert "A CPU, 2 cores" in table


def test_refresh_replaces_what_is_between_the_markers(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text(f"above\n{BEGIN}\nold\n{END}\nbelow\n")
    refresh(readme, "new")
    assert readme.read_text() == f"above\n{BEGIN}\nnew\n{END}\nbelow\n"


def test_refresh_without_markers_changes_nothing(tmp_path):
    readme = tmp_path / "README.md"
    readme.write_text("text\n")
    with pytest.raises(ValueError, match="README"):
        refresh(readme, "new")
    assert readme.read_text() == "text\n"
