"""`folder`: the table of a folder's models, and the page that has them all."""

import json
import re

import pytest

from dispatch import graph
from dispatch.graph.folder import folder_page, folder_table
from tests.browser import CHROMIUM, Browser
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_module import EXAMPLE

STRANGE = "a b/'<i>\".json"
NAMES = "[...document.querySelectorAll('#models tbody a')].map(a => a.textContent)"
in_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    small = programs.write_json(folder / "small.json", programs.add_relu())
    found = {"gpt2.pt2": graph.load(EXAMPLE), STRANGE: graph.load(small)}
    return {name: {**module.run().to_json(), "model": name} for name, module in found.items()}


@pytest.fixture(scope="module")
def path(reports, tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "folder.html"
    made.write_text(folder_page("all of <them>", reports, ["bad.json: no <b>model</b>"]))
    return made


@pytest.fixture(scope="module")
def started():
    with Browser() as browser:
        yield browser


@pytest.fixture
def browser(started, path):
    started.open(path)
    yield started
    assert started.errors == []
    started.open(path)
    started.run("sessionStorage.clear()")


def test_the_table_has_what_is_there_at_the_peak_without_weights(reports):
    table = folder_table(reports)
    assert table.columns == ("model", "parameters", "weights", "peak memory", "activations",
                             "FLOPs", "time, at least", "calls")  # fmt: skip
    assert table.rows[0] == ["gpt2.pt2", "31.62 k", "126.5 kB", "198.7 kB", "71.7 kB", "1.97 M",
                             "", "128"]  # fmt: skip
    assert "time, at least" not in table.within(200).columns
    assert table.within(40).columns == ("model", "parameters", "peak memory", "FLOPs")


def test_the_page_is_a_table_without_javascript(path):
    text = path.read_text()
    assert "<h1>all of &lt;them&gt;</h1>" in text and "no &lt;b&gt;model&lt;/b&gt;" in text
    assert '<td class="" data-value="198656">198.7 kB</td>' in text
    assert text.count('<script type="application/json" data-model=') == 2
    assert "https:" not in text and "src=" not in text
    shares = re.findall(r'band-(\w+)" style="width:([\d.]+)%', text.split("</tbody>")[0])
    gpt2 = shares[: next(i for i, (kind, _) in enumerate(shares) if kind == "activation") + 1]
    assert gpt2 == [("parameter", "63.66"), ("input", "0.26"), ("activation", "36.08")]


def test_an_estimate_is_a_column(reports):
    module = graph.load(EXAMPLE).run()
    with_estimate = {**reports["gpt2.pt2"], "roofline": module.roofline("l4")}
    text = folder_page("both", {**reports, "gpt2.pt2": with_estimate}, [])
    assert "time, at least" in text and 'data-value="None"' in text and "Problems" not in text
    assert "time, at least" not in folder_page("both", reports, [])


@in_browser
def test_models_are_sorted_and_searched(browser):
    assert browser.run(NAMES) == [STRANGE, "gpt2.pt2"]
    browser.click("#models th:nth-child(4) button")
    assert browser.run(NAMES) == ["gpt2.pt2", STRANGE]
    sorted_by = "document.querySelector('#models [aria-sort]')"
    assert browser.run(f"{sorted_by}.textContent") == "peak memory"
    assert browser.run(f"{sorted_by}.getAttribute('aria-sort')") == "descending"
    browser.click("#models th:nth-child(4) button")
    assert browser.run(NAMES) == [STRANGE, "gpt2.pt2"]
    browser.run("document.getElementById('search-models').focus()")
    browser.key("g", "p", "t")
    assert browser.run(NAMES) == ["gpt2.pt2"]
    shown = "document.getElementById('models-shown').textContent"
    assert browser.run(shown) == "1 of 2 models"


@in_browser
@pytest.mark.parametrize("name", ["gpt2.pt2", STRANGE], ids=["plain", "strange"])
def test_a_row_leads_to_the_models_page_and_back(browser, reports, name):
    """Its figures, its own title, calls in the address; the list again by the link on top."""
    assert browser.run("document.getElementById('report').getClientRects().length") == 0
    k = sorted(reports).index(name) + 1
    browser.click(f"#models tbody tr:nth-child({k}) td:nth-child(4)")
    browser.wait("document.getElementById('data') !== null")
    assert browser.run("[document.title, document.querySelector('h1').textContent]") == [name] * 2
    assert browser.run("document.getElementById('index').getClientRects().length") == 0
    facts = "document.getElementById('facts').textContent"
    assert "fake on cpu" in browser.run(facts)
    calls = len(reports[name]["calls"])
    shown = "document.getElementById('shown').textContent"
    assert browser.run(shown).startswith(f"{calls} of {calls}")
    browser.run("choose_call(1)")
    at = browser.run("location.hash")
    assert at.endswith("/call-1")
    browser.run("window.mine = 1; location.reload()")
    chosen = "document.querySelector('.row.chosen span')?.textContent === '1'"
    browser.wait(f"window.mine === undefined && {chosen}")
    browser.click("#up")
    browser.wait("document.getElementById('data') === null")
    assert browser.run(NAMES) == [STRANGE, "gpt2.pt2"]
    assert browser.run("document.title") == "all of <them>"


@in_browser
def test_another_call_in_the_address_is_no_other_model(browser, path):
    browser.run("window.mine = 1; location.hash = '#gpt2.pt2/call-7'")
    browser.wait("document.getElementById('data') !== null && window.mine === undefined")
    assert browser.run("chosen.call") == 7
    browser.run("window.mine = 1; location.hash = '#gpt2.pt2/call-8'")
    browser.settle()
    assert browser.run("[window.mine, chosen.call]") == [1, 8]


@in_browser
def test_the_theme_stays_from_page_to_page(browser):
    for _ in range(2):
        browser.click("#theme")
    browser.run("location.hash = '#gpt2.pt2'")
    browser.wait("document.getElementById('data') !== null")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    assert browser.run("document.getElementById('theme').textContent") == "Theme: dark"


@in_browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 820, 1440])
def test_nothing_sticks_out_and_every_text_has_contrast(browser, path, width, dark):
    from tests.dispatch.graph.test_page import LUMINANCE

    browser.open(path, width, dark=dark)
    assert browser.run(LUMINANCE) == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run(
        "[...document.querySelectorAll('#models td, #models th')].filter(c => c.getClientRects()"
        ".length).every(c => c.getBoundingClientRect().right <= innerWidth)"
    )


def test_data_of_all_models_can_be_read(path, reports):
    found = re.findall(r'data-model="([^"]*)">(.*?)</script>', path.read_text())
    assert [name for name, _ in found] == ["gpt2.pt2", "a%20b%2F&#x27;%3Ci%3E%22.json"]
    assert [json.loads(text)["model"] for _, text in found] == list(reports)
