"""The reference: every public name has a text, and no text breaks a page."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import dispatch
from docs.site import names, pages

ROOT = Path(__file__).parent.parent


def test_every_public_name_says_something():
    """A field of a compiled class gets its text in `docs/site/fields.py`, all else a doc string."""
    assert names.missing() == []


def test_names_without_text_are_found(monkeypatch):
    def silent():
        pass

    monkeypatch.setattr(dispatch, "silent", silent, raising=False)
    silent.__module__ = "dispatch"
    assert names.missing() == ["dispatch.silent"]


def test_fields_are_fields_of_public_classes():
    classes = {
        row.value.__name__: row.value
        for module in names.MODULES
        for row in names.names(module)
        if row.kind == "class"
    }
    for field in names.FIELDS:
        owner, _, name = field.partition(".")
        assert name in dict(names.members(classes[owner])), field


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *b* `c_` d_", ["", "a \\*b\\* ``c_``\\ d\\_"]),
        ("Words:\n\n    >>> 1", ["", "Words:", "", ".. code-block:: text", "", "   >>> 1"]),
        (
            "Args:\n    x: one\n      and more\n    y: two\nRaises: TypeError",
            ["", "**Args**", "", "- x: one and more", "- y: two", "", "**Raises** TypeError"],
        ),
        ("So::", ["", "So:"]),
    ],
)
def test_doc_strings_become_pages(text, expected):
    assert list(pages.rst(text)) == expected


def test_signatures_are_shown_as_far_as_they_can_be_written():
    def f(a, b=3, *, c=object(), d=dispatch.float32):
        pass

    assert pages.split_signature("f", f, "Text.") == (
        "(a, b=3, *, c=..., d=dispatch.float32)",
        "Text.",
    )
    assert pages.split_signature("g", 3, "g(x, y) -> int\n\nText.") == ("(x, y)", "Text.")


@pytest.mark.skipif(not importlib.util.find_spec("sphinx"), reason="needs the extra docs")
def test_the_site_is_built_without_a_warning(tmp_path, monkeypatch):
    """Of the smaller modules: all of it takes minutes."""
    monkeypatch.setattr(pages, "MODULES", ("dispatch.pytree", "dispatch.tools", "dispatch.fft"))
    monkeypatch.setattr(pages, "operator_pages", lambda: {"operators-a": "Operators\n=========\n"})
    pages.write(tmp_path / "pages")
    command = ["-q", "-W", "-b", "html", "-c", ROOT / "docs" / "site", tmp_path / "pages"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *command, tmp_path / "html"],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "tree_map" in (tmp_path / "html" / "dispatch.pytree.html").read_text()
