"""The page of what fits: curves, frontier and tables in a real Chromium, without a script."""

import pytest

from dispatch import graph
from dispatch.graph import text
from dispatch.graph.fit_page import fit_page
from tests.browser import CHROMIUM, Browser
from tests.dispatch.graph import programs


@pytest.fixture
def module(tmp_path):
    return graph.load(programs.write_json(tmp_path / "<b>.json", programs.attention()))


def test_names_are_escaped_and_nothing_is_loaded(module):
    page = fit_page(graph.fit(module, 100_000))
    assert "&lt;b&gt;.json" in page and "<b>.json" not in page
    assert "<script" not in page and "http" not in page.replace("http-equiv", "")


def test_a_program_where_nothing_fits_has_a_page(module):
    page = fit_page(graph.fit(module, 10))
    assert "none" in page and "largest sizes" in page


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
def test_the_page_shows_curves_frontier_and_tables(module, tmp_path):
    found = graph.fit(module, 100_000, ["b", "s"])
    path = tmp_path / "fit.html"
    path.write_text(fit_page(found))
    with Browser() as page:
        page.open(path)
        assert page.errors == []
        titles = page.run("[...document.querySelectorAll('figcaption')].map(x => x.textContent)")
        assert titles == ["Peak memory by batch", "Peak memory by seq", "Largest seq by batch"]
        points = page.run("document.querySelectorAll('svg')[2].querySelectorAll('circle').length")
        assert points == len(found.frontier)
        words = page.run("document.querySelector('svg circle title').textContent")
        value, nbytes = found.curves[0]["points"][0]
        assert words == f"batch = {value}: {text.bytes_text(nbytes)}"
        top = "document.querySelectorAll('svg')[1].querySelector('{}').getBoundingClientRect().top"
        # The last point of the second curve is past the memory, the first of it is not.
        limit, end, begin = (
            page.run(top.format(x)) for x in (".limit", "circle:last-of-type", "circle")
        )
        assert end < limit < begin
        assert len(page.run("[...document.querySelectorAll('table')].map(x => x.rows.length)")) == 2
