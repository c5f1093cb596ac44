"""The documents say what happens: their examples are run, their links and paths lead somewhere."""

import doctest
import re
from pathlib import Path

import pytest

import dispatch

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [*DOCUMENTS, ROOT / "README.md", ROOT / "examples" / "package" / "README.md"]
FOLDERS = "schemas|codegen|dispatch|docs|examples|tests|benchmarks"


def name_of(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_examples_print_what_stands_below_them(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.testfile(str(path), module_relative=False, optionflags=flags).failed == 0


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_links_lead_to_files(path):
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_paths_are_in_the_tree(path):
    for named in re.findall(rf"`((?:{FOLDERS})/[\w./-]*)`", path.read_text()):
        assert (ROOT / named).exists() or "generated" in named, named


def test_index_lists_every_document():
    index = (ROOT / "docs" / "README.md").read_text()
    names = {path.name for path in DOCUMENTS} - {"README.md"}
    assert {name for name in names if f"]({name})" not in index} == set()


def test_the_table_of_fallbacks_is_whole():
    text = (ROOT / "docs" / "fallbacks.md").read_text()
    rows = re.findall(r"^\| ([A-Z][\w, ]+) \|", text, re.MULTILINE)
    listed = {name for row in rows for name in row.split(", ")}
    has_one = dispatch._C._dispatch_has_backend_fallback
    members = dispatch.DispatchKey.__members__
    names = {name for name in members if not name.startswith(("StartOf", "EndOf"))}
    names.remove("AutogradFunctionality")  # stands for its backends' keys
    assert {name for name in names if has_one(members[name])} == listed & names
    assert all(has_one(members[name]) for name in listed & names)
