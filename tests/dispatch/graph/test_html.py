"""`html`: the page of a report, whole, small, and safe with what a stranger named."""

import json
import re

import pytest

from dispatch import graph
from dispatch.graph.html import html_page
from tests.dispatch.graph import programs

NASTY = "</script><script>alert(1)</script>\u202e\x1b[2J&amp;"


@pytest.fixture
def report(tmp_path):
    path = programs.write_json(tmp_path / "add_relu.json", programs.add_relu())
    return graph.load(path).run().to_json()


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found[1])


def test_the_page_holds_the_report(report):
    data = data_of(html_page(report))
    assert data["ops"] == ["aten::add.Tensor", "aten::relu", "aten::mul.Tensor"]
    assert [call[0] for call in data["calls"]] == ["sum", "act", "out"]
    assert [call[3] for call in data["calls"]] == [c["during_bytes"] for c in report["calls"]]
    assert data["calls"][0][4:] == [24, 0, None, "float32[2, 3]", -1, ""]
    assert [row[0] for row in data["storages"]] == ["x", "y", "sum", "act", "out"]
    assert data["op_outputs"] == [24, 24, 24]
    assert data["peak_bytes"] == report["peak_bytes"]


def test_the_page_needs_nothing_else(report):
    page = html_page(report)
    assert not re.search(r"(src|href)=|url\(|import |https?://(?!www\.w3\.org)", page)
    assert "default-src 'none'" in page
    assert not re.search("@[A-Z]+@", page)


def test_the_facts_stand_there_without_scripts(report):
    page = html_page(report)
    head = page[: page.index("<script")]
    assert "96 B during call 1, act (aten::relu)" in head
    assert "<noscript>" in head


def test_a_strangers_names_are_only_text(report):
    report["model"] = report["calls"][0]["node"] = report["calls"][1]["op"] = NASTY
    page = html_page(report)
    assert page.count("<script") == page.count("</script>") == 2
    assert not {"\u202e", "\x1b"} & set(page)
    assert "alert(1)" in data_of(page)["calls"][0][0]


def test_holes_in_names_stay_names(report):
    report["model"] = "@REPORT@ @TITLE@"
    assert data_of(html_page(report))["model"] == "@REPORT@ @TITLE@"


def test_ten_thousand_calls_make_a_small_page(report):
    report["calls"] = report["calls"] * 3334
    page = html_page(report)
    assert len(data_of(page)["calls"]) == 10_002
    assert len(page) < 1 << 20


def test_a_program_without_calls_has_a_page(report):
    report.update(calls=[], storages=[], operators=[], alive_at_peak=[])
    report.update(peak_bytes=0, peak_index=-1)
    assert data_of(html_page(report))["calls"] == []
