"""`page`: the report's page in a real Chromium: clicks, keys, search, themes, widths, contrast."""

import json

import pytest

from dispatch import graph
from dispatch.graph.html import html_page
from tests.browser import CHROMIUM, Browser
from tests.dispatch.graph.test_module import EXAMPLE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
SHOWN = "document.getElementById('shown').textContent"
ALIVE = "document.getElementById('alive-title').textContent"
CHOSEN = "document.querySelector('.row.chosen span').textContent"


@pytest.fixture(scope="module")
def browser():
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("page") / "gpt2.html"
    made.write_text(graph.load(EXAMPLE).run().to_html())
    return made


@pytest.fixture
def page(browser, path):
    browser.open(path)
    yield browser
    assert browser.errors == []


def many_calls(count):
    """A report with that many calls, each alive for a while."""
    report = graph.load(EXAMPLE).run().to_json()
    calls = [
        {**report["calls"][i % 128], "index": i, "node": f"n{i}", "during_bytes": 1000 + i % 97}
        for i in range(count)
    ]
    rows = [
        {**report["storages"][-1], "name": f"n{i}", "bytes": 10 + i % 7, "made": i,
         "last_used": i + 1, "freed": min(count, i + 50)}
        for i in range(count)
    ]  # fmt: skip
    weights = [r for r in report["storages"] if r["made"] < 0]
    for row in weights:
        row["freed"] = count
    return {**report, "calls": calls, "storages": weights + rows, "peak_index": count // 2}


def test_it_opens_at_the_peak(page):
    assert page.run(ALIVE).startswith("At the peak, call 69: 199 kB in 36 storages")
    assert page.run("document.querySelector('.peak-text').textContent") == "peak 199 kB, call 69"
    assert page.run(SHOWN).startswith("128 of 128")
    assert page.run("document.querySelectorAll('#chart path').length") == 3
    first = "document.querySelector('#alive tbody td').textContent"
    assert page.run(first) == "m.transformer.wte.weight"


def test_an_estimate_takes_the_place_of_times(browser, tmp_path):
    """With `--hardware`: a column, a figure of the modules, and what memory bounds."""
    report = graph.load(EXAMPLE).run()
    path = tmp_path / "estimate.html"
    path.write_text(html_page({**report.to_json(), "roofline": report.roofline("l4")}))
    browser.open(path)
    heads = browser.run("[...document.querySelectorAll('#names button')].map(x => x.textContent)")
    assert "estimated time" in heads
    last = "document.querySelector('#metric option:last-of-type').textContent"
    assert browser.run(last) == "estimated time"
    assert "estimated time" in browser.run("document.querySelector('#operators thead').textContent")
    assert "bound by memory" in browser.run("document.getElementById('chosen').textContent")
    assert browser.errors == []


def test_expressions_stand_in_the_list(browser, tmp_path):
    freed = graph.load(EXAMPLE).free({"input_ids:0": "batch", "input_ids:1": "seq"})
    path = tmp_path / "symbolic.html"
    path.write_text(freed.run(symbolic=True).to_html())
    browser.open(path)
    assert "[batch, seq, 128]" in browser.run("document.getElementById('data').textContent")
    assert "4*batch*seq**2" in browser.run("document.getElementById('facts').textContent")
    assert browser.errors == []


def test_bands_are_switched_off(page):
    page.click("#band-parameter")
    assert page.run("document.querySelectorAll('#chart path').length") == 2
    text = page.run("document.querySelector('.peak-text').textContent")
    assert text == "peak 199 kB, call 69 (126 kB not drawn)"
    cells = "[...document.querySelectorAll('#alive tbody td:nth-child(2)')]"
    assert set(page.run(f"{cells}.map(c => c.textContent.trim())")) == {"activation", "input"}


def test_a_click_in_the_chart_chooses_a_call_and_links_lead_on(page):
    x, y = page.run(
        "(() => { svg.scrollIntoView({block: 'center'}); const b = svg.getBoundingClientRect(); "
        "return [b.x + x_of(20.5), b.y + 100]; })()"
    )
    page.mouse("mouseMoved", x, y)
    assert "call" not in page.run("chart_tip.style.display")
    assert page.run("chart_tip.textContent").startswith("20  ")
    page.mouse("mousePressed", x, y)
    page.mouse("mouseReleased", x, y)
    page.settle()
    assert page.run(ALIVE).startswith("During, call 20:")
    assert page.run(CHOSEN) == "20"
    assert page.run("location.hash") == "#call-20"
    link = "document.querySelector('#alive tbody td:nth-child(6) button.link')"
    target = page.run(f"{link}.textContent").split()[0]
    page.run(f"{link}.click()")
    assert page.run(ALIVE).startswith(f"During, call {target}:")
    page.click("#to-peak")
    assert page.run(ALIVE).startswith("At the peak, call 69")


def test_a_drag_zooms_and_a_button_goes_back(page):
    left, right, y = page.run(
        "(() => { svg.scrollIntoView({block: 'center'}); const b = svg.getBoundingClientRect(); "
        "return [b.x + x_of(60), b.x + x_of(80), b.y + 100]; })()"
    )
    page.mouse("mousePressed", left, y)
    page.mouse("mouseMoved", right, y, buttons=1)
    page.mouse("mouseReleased", right, y)
    page.settle()
    assert page.run("[Math.round(from), Math.round(to)]") == [60, 80]
    page.click("#zoom-all")
    assert page.run("[from, to]") == [0, 128]
    page.click("#zoom-in")
    assert page.run("to - from") == 64


def test_the_chart_is_used_by_keyboard(page):
    page.run("chart.focus()")
    page.key("Home", "ArrowRight", "ArrowRight")
    assert page.run("chart.getAttribute('aria-valuenow')") == "2"
    assert page.run("chart.getAttribute('aria-valuetext')").startswith("call 2, ")
    page.key("Enter")
    assert page.run(ALIVE).startswith("During, call 2:")
    page.key("+")
    assert page.run("to - from < 128")
    page.key("0")
    assert page.run("to - from") == 128


def test_search_by_words_operator_and_module(page):
    for text, count in (
        ("gelu nothing", 0),
        ("op:aten::addmm", 8),
        ("in:m.transformer.h.0.mlp", 15),
    ):
        page.run(
            f"(() => {{ const s = $('search'); s.value = {json.dumps(text)}; "
            "s.dispatchEvent(new Event('input')); })()"
        )
        assert page.run(SHOWN).startswith(f"{count} of 128"), text
        assert page.run("document.querySelectorAll('.row').length") == min(count, 15)


def test_a_long_list_is_shown_when_asked_for(browser, tmp_path):
    made = tmp_path / "many.html"
    made.write_text(html_page(many_calls(300)))
    browser.open(made)
    browser.click(
        "#band-parameter"
    )  # weights beside which activations are a hairline are not drawn
    browser.run("choose_call(100)")
    rows = "document.querySelectorAll('#alive tbody tr').length"
    assert browser.run(rows) == 60
    whole = int(browser.run("$('more-alive').textContent").removeprefix("Show all "))
    browser.click("#more-alive")
    assert browser.run(rows) == whole > 60
    assert browser.run("$('more-alive').hidden")
    assert browser.errors == []


def test_columns_sort_both_ways(page):
    first = "document.querySelector('#operators tbody td').textContent"
    assert page.run(first) == "aten::mul.Tensor"
    page.click("#operators th button")
    assert page.run(first) == "aten::__and__.Tensor"
    assert (
        page.run("document.querySelector('#operators th').getAttribute('aria-sort')") == "ascending"
    )
    page.click("#operators th button")
    assert page.run(first) == "aten::zeros"
    page.click("#names span:nth-child(7) button")
    values = page.run("found.slice(0, 128).map(i => calls[i][NEW])")
    assert values == sorted(values, reverse=True)


def test_modules_sort_within_their_parents(page):
    page.run("modules.forEach((_, m) => unfolded.add(m))")
    page.click("#modules th:nth-child(4) button")
    page.click("#modules th:nth-child(4) button")
    rows = "[...$('modules').tBodies[0].querySelectorAll('button[title]')].map(b => b.title)"
    wanted = """(function below(m) {
        const inner = [...children[m]].sort((a, b) => modules[a][BYTES] - modules[b][BYTES]);
        return [path_name(m), ...inner.flatMap(below)];
    })(0)"""
    assert page.run(rows) == page.run(wanted)
    assert page.run("document.querySelector('#modules [aria-sort]').textContent")[:3] == "new"


def test_the_peaks_text_ends_within_the_chart(browser, tmp_path):
    report = many_calls(10_000)
    (tmp_path / "long.html").write_text(
        html_page({**report, "peak_index": 6, "peak_bytes": 123_456_789_000})
    )
    for width in (360, 900):
        browser.open(tmp_path / "long.html", width)
        ends = "document.querySelector('.peak-text').getBoundingClientRect().right"
        assert browser.run(ends) <= browser.run("svg.getBoundingClientRect().right")


def test_the_list_of_what_is_alive_can_be_passed_over(page):
    link = "document.querySelector('.skip')"
    assert page.run(f"{link}.getBoundingClientRect().right") < 0
    page.click("#chart")
    while not page.run(f"document.activeElement === {link}"):
        page.key("Tab")
    assert page.run(f"{link}.getBoundingClientRect().left") >= 0
    page.key("Enter")
    page.key("Tab")
    assert page.run("$('alive').contains(document.activeElement)") is False
    assert page.run("document.activeElement.id") in ("more-alive", "metric")


def test_an_operator_leads_to_its_calls(page):
    page.click("#operators tbody tr:nth-child(3) button.link")
    assert page.run("$('search').value") == "op:aten::addmm"
    assert page.run(SHOWN).startswith("8 of 128")


def test_modules_are_opened_by_mouse_and_keyboard(page):
    box = "document.querySelector('g[aria-label^=\"m.transformer.h.0,\"]')"
    for shape in ("flame", "treemap"):
        page.run(f"$('shape').value = '{shape}'; $('shape').dispatchEvent(new Event('change'))")
        page.run(f"{box}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
        assert page.run("$('module-path').textContent") == "m.transformer.h.0"
        assert page.run("$('module-facts').textContent").startswith("m.transformer.h.0")
        page.click("#module-up")
        assert page.run("$('module-path').textContent") == "m.transformer.h"
        page.run("choose_module(0)")
    page.run("$('shape').value = 'flame'; draw_boxes(); focus_opened()")
    page.key("ArrowDown", "ArrowDown", "Enter")
    assert page.run("$('module-path').textContent") == "m.transformer"
    page.key("Escape", "Escape")
    assert page.run("$('module-path').textContent") == "(model)"


@pytest.mark.parametrize("metric", range(5))
def test_a_pictures_boxes_lie_within_and_add_up(page, metric):
    """No box is wider than the picture; a row of the flame adds up to no more than its width."""
    page.run(f"metric = METRICS[{metric}]; draw_boxes()")
    boxes = page.run(
        "[...document.querySelectorAll('#boxes rect')].map(r => ['x', 'y', 'width', 'height']"
        ".map(k => Number(r.getAttribute(k))))"
    )
    width = page.run("box_svg.clientWidth")
    assert len(boxes) > 3
    assert all(x >= 0 and x + w <= width + 1 for x, _, w, _ in boxes)
    for row in {y for _, y, _, _ in boxes}:
        assert sum(w for _, y, w, _ in boxes if y == row) <= width + 1
    page.run("$('shape').value = 'treemap'; draw_boxes()")
    high = page.run("box_svg.clientHeight")
    assert page.run("document.querySelectorAll('#boxes rect').length") > 3
    assert page.run(
        "[...document.querySelectorAll('#boxes rect')].every(r => "
        f"r.y.baseVal.value + r.height.baseVal.value <= {high} + 1 && "
        f"r.x.baseVal.value + r.width.baseVal.value <= {width} + 1)"
    )


def test_the_tree_unfolds(page):
    rows = "document.querySelectorAll('#modules tbody tr').length"
    before = page.run(rows)
    page.run("document.querySelector('#modules button[aria-expanded=false]').click()")
    assert page.run(rows) > before


def test_the_list_of_calls_is_used_by_keyboard(page):
    page.run("list.focus()")
    page.key("End", "ArrowUp", "Enter")
    assert page.run(ALIVE).startswith("During, call 126:")
    assert page.run("list.getAttribute('aria-activedescendant')") == "row-126"
    assert page.run("document.getElementById('row-126').getAttribute('aria-selected')") == "true"


def test_the_address_names_a_call(browser, path):
    browser.open(path)
    browser.run("location.hash = '#call-7'")
    browser.settle()
    assert browser.run(ALIVE).startswith("During, call 7:")


LUMINANCE = """(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  function back(e) {
    for (; e; e = e.parentElement) {
      if (e.tagName === 'g') return numbers(getComputedStyle(e.querySelector('rect')).fill);
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  }
  const found = [];
  for (const e of document.querySelectorAll('body *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    if (!own || !e.getClientRects().length || e.closest('script, style, :disabled')) continue;
    const style = getComputedStyle(e);
    const color = numbers(e instanceof SVGElement ? style.fill : style.color);
    const pair = [light(color), light(back(e))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) found.push([e.textContent.slice(0, 30), contrast]);
  }
  return found;
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_every_text_has_contrast_and_nothing_sticks_out(browser, path, width, dark):
    browser.open(path, width, dark=dark)
    assert browser.run("getComputedStyle(document.body).backgroundColor") == (
        "rgb(20, 24, 30)" if dark else "rgb(255, 255, 255)"
    )
    assert browser.run(LUMINANCE) == []
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert browser.run("list.scrollWidth <= list.clientWidth")
    assert browser.errors == []


def test_a_button_overrides_the_systems_theme(page):
    colors = [page.run("getComputedStyle(document.body).backgroundColor")]
    for _ in range(2):
        page.click("#theme")
        colors.append(page.run("getComputedStyle(document.body).backgroundColor"))
    assert colors == ["rgb(255, 255, 255)", "rgb(255, 255, 255)", "rgb(20, 24, 30)"]
    assert page.run(LUMINANCE) == []


def test_on_a_phone_the_operators_numbers_are_on_the_screen(browser, path):
    browser.open(path, 360)
    assert browser.run(
        "[...document.querySelectorAll('#operators tbody td')]"
        ".filter(c => c.getClientRects().length)"
        ".every(c => c.getBoundingClientRect().right <= innerWidth)"
    )
    assert browser.run("document.querySelector('.row').children.length") == 9


def test_what_is_alive_fits_a_desktop_and_long_names_are_cut(browser, tmp_path):
    report = many_calls(128)
    for call in report["calls"]:
        call["node"] = "_native_batch_norm_legit_no_training_" + call["node"]
    path = tmp_path / "long.html"
    path.write_text(html_page(report))
    browser.open(path, 1600)
    around = "document.getElementById('alive').parentElement"
    assert browser.run(f"{around}.scrollWidth <= {around}.clientWidth")
    link = "document.querySelector('#alive td.place button.link')"
    assert browser.run(f"{link}.title === {link}.textContent")


@pytest.mark.parametrize("width", [390, 820])
def test_a_path_is_cut_at_its_beginning(browser, tmp_path, width):
    """Names of layers differ at the end; a short one stands at the left."""
    report = graph.load(EXAMPLE).run().to_json()
    long, short = report["storages"][:2]
    long["name"], short["name"] = "m." + "transformer." * 9 + "h.11.weight", "x"
    path = tmp_path / "paths.html"
    path.write_text(html_page(report))
    browser.open(path, width)
    edges = (
        "(text => { const cell = [...document.querySelectorAll('#alive td.path')]"
        ".find(c => c.textContent === text), [a, b] = [cell, cell.firstChild]"
        ".map(x => x.getBoundingClientRect()); return [b.left - a.left, a.right - b.right]; })"
    )
    left, right = browser.run(f"{edges}({long['name']!r})")
    assert left < 0 <= right
    left, right = browser.run(f"{edges}('x')")
    assert 0 <= left < 12 < right


def test_columns_say_what_they_are_of_and_none_is_empty(browser, page, tmp_path):
    def heads(name):
        return browser.run(f"[...document.querySelectorAll('#{name} th')].map(x => x.textContent)")

    assert "share of new" in heads("operators")
    assert "source" not in heads("modules")
    report = graph.load(EXAMPLE).run().to_json()
    report["modules"][1]["source"] = "model.py:7"
    path = tmp_path / "sourced.html"
    path.write_text(html_page(report))
    browser.open(path)
    assert "source" in heads("modules")


@pytest.mark.parametrize("width", [720, 900, 1024])
def test_on_a_tablet_every_column_is_on_the_screen(browser, tmp_path, width):
    report = graph.load(EXAMPLE).run()
    path = tmp_path / "estimate.html"
    path.write_text(html_page({**report.to_json(), "roofline": report.roofline("l4")}))
    browser.open(path, width)
    sticking_out = (
        "['alive', 'modules', 'operators'].filter(n => { const around = "
        "document.getElementById(n).parentElement; "
        "return around.scrollWidth > around.clientWidth; })"
    )
    assert browser.run(sticking_out) == []


BANDS = """['parameter', 'buffer', 'input', 'activation'].filter(name => {
  const style = getComputedStyle(document.documentElement);
  const [a, b] = ["--" + name, "--back"].map(key => {
    const text = style.getPropertyValue(key).trim();
    const [red, green, blue] = [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16) / 255)
      .map(x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  });
  return !((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) >= 3);
})"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_band_stands_out_from_the_ground(browser, path, dark):
    browser.open(path, 1280, dark=dark)
    assert browser.run(BANDS) == []


def test_a_buttons_text_is_one_line_on_a_phone(browser, tmp_path):
    report = graph.load(EXAMPLE).run().to_json()
    path = tmp_path / "long.html"
    path.write_text(html_page({**report, "model": "a_model_of_a_long_name.aten.pt2"}))
    browser.open(path, 360)
    assert browser.run("document.getElementById('theme').clientHeight < 40")


@pytest.mark.parametrize("width", [820, 1100])
@pytest.mark.parametrize("hardware", [None, "l4"], ids=["activations", "estimated time"])
def test_no_head_of_the_calls_is_cut(browser, tmp_path, width, hardware):
    """The last one neither, when the arrow of the order stands beside it."""
    report = graph.load(EXAMPLE).run()
    found = {**report.to_json(), **({"roofline": report.roofline(hardware)} if hardware else {})}
    path = tmp_path / "heads.html"
    path.write_text(html_page(found))
    browser.open(path, width)
    browser.click("#names > span:last-child button")
    assert browser.run(
        "[...document.querySelectorAll('#names > span')].filter(c => c.scrollWidth > c.clientWidth)"
        ".map(c => c.textContent)"
    ) == []
    assert browser.errors == []


def test_everything_focusable_has_a_name(page):
    nameless = (
        "[...document.querySelectorAll('button, input, select, [tabindex]')].filter(e => !("
        "e.textContent.trim() || e.getAttribute('aria-label') || e.labels && e.labels.length || "
        "e.getAttribute('aria-labelledby'))).map(e => e.outerHTML)"
    )
    assert page.run(nameless) == []


def test_a_print_has_the_list_and_no_controls(page):
    page.send("Emulation.setEmulatedMedia", media="print")
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run("document.querySelectorAll('.row').length") == 128
    assert page.run("getComputedStyle($('zoom-in')).display") == "none"
    page.resize(800)
    assert page.run("document.documentElement.scrollWidth") <= 800
    page.send("Emulation.setEmulatedMedia", media="")
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("document.querySelectorAll('.row').length") < 128


def test_ten_thousand_calls_are_all_reachable_and_few_in_the_page(browser, tmp_path):
    made = tmp_path / "many.html"
    made.write_text(html_page(many_calls(10_000)))
    browser.open(made)
    assert browser.run(SHOWN).startswith("10,000 of 10,000")
    assert browser.run("document.querySelectorAll('*').length") < 6000
    browser.run("list.scrollTop = list.scrollHeight")
    browser.settle()
    assert (
        browser.run("[...document.querySelectorAll('.row')].at(-1).children[1].textContent")
        == "n9999"
    )
    assert browser.run(
        "Math.max(...[...document.querySelectorAll('#chart path')]"
        ".map(p => p.getAttribute('d').length)) < 120000"
    )
    browser.run("zoom(5000, 5010)")
    browser.settle()
    assert browser.run("columns_of().length") == 10
    browser.run("choose_call(4)")
    browser.settle()
    assert browser.run("from <= 4 && 4 < to")
    assert browser.errors == []


def test_no_calls_and_no_modules_are_a_page_too(browser, tmp_path):
    report = graph.load(EXAMPLE).run().to_json()
    empty = {
        **report,
        "calls": [],
        "operators": [],
        "storages": [],
        "modules": report["modules"][:1],
    }
    empty |= {"alive_at_peak": [], "advice": [], "peak_index": -1, "peak_bytes": 0}
    made = tmp_path / "empty.html"
    made.write_text(html_page(empty))
    browser.open(made)
    assert browser.errors == []
    assert browser.run("$('modules-section').hidden")


def test_a_real_runs_page_has_times(browser, tmp_path):
    made = tmp_path / "real.html"
    made.write_text(graph.load(EXAMPLE).run(fake=False).to_html())
    browser.open(made)
    assert browser.run("METRICS.at(-1)[0]") == "time"
    browser.run("metric = METRICS.at(-1); draw_boxes()")
    assert browser.run("document.querySelectorAll('#boxes rect').length") > 5
    times = browser.run("totals.map(t => t.ns)")
    assert sum(times) == browser.run("modules[0][M_NS]") > 0
    heads = browser.run("[...document.querySelectorAll('#operators th')].map(h => h.textContent)")
    assert heads[-2:] == ["time", "share of time"]
    assert (
        browser.run("document.querySelectorAll('#operators th')[6].getAttribute('aria-sort')")
        == "descending"
    )
    assert browser.errors == []


def test_a_strangers_names_are_not_run(browser, tmp_path):
    report = graph.load(EXAMPLE).run().to_json()
    nasty = "<img src=x onerror=console.error(1)>"
    report = json.loads(json.dumps(report).replace("mul_2", nasty).replace("GPT2Block", nasty))
    made = tmp_path / "nasty.html"
    made.write_text(html_page(report))
    browser.open(made)
    browser.run("choose_call(69)")
    browser.run("metric = METRICS[1]; draw_boxes()")
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.errors == []
