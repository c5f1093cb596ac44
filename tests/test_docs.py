"""Documents and doc strings say what happens: examples are run, links and paths lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import dispatch
from tests.walkthrough import FOLLOWED, Command, apply, steps

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted((ROOT / "docs").rglob("*.md"))
TUTORIALS = [path for path in DOCUMENTS if path.parent.name == "tutorials"]
PAGES = ("README.md", "CONTRIBUTING.md", "examples/package/README.md")
TEXTS = [*DOCUMENTS, *(ROOT / name for name in PAGES)]
FOLDERS = "schemas|codegen|dispatch|docs|examples|tests|benchmarks"


def name_of(path):
    return str(path.relative_to(ROOT))


DOC_STRING = re.compile(r'"""(.*?)"""', re.DOTALL)
WITH_EXAMPLES = [
    path
    for path in sorted((ROOT / "dispatch").rglob("*.py*"))
    if path.suffix in (".py", ".pyx")
    and any(">>> " in s for s in DOC_STRING.findall(path.read_text()))
]
WITH_COMMANDS = [
    path for path in DOCUMENTS if "```console" in path.read_text() and name_of(path) not in FOLLOWED
]


def run_examples(path):
    """In a process of its own, as for its reader: a document names devices and operators."""
    flags = ["-o", "ELLIPSIS", "-o", "NORMALIZE_WHITESPACE"]
    command = [sys.executable, "-m", "doctest", *flags, str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_examples_print_what_stands_below_them(path):
    run_examples(path)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=name_of)
def test_examples_of_doc_strings(path, tmp_path):
    """They may use the names of the package and of the module, and `dispatch`."""
    module = name_of(path.with_suffix("")).replace("/", ".")
    lines = ["import dispatch", "from importlib import import_module"]
    for name in (module.rpartition(".")[0], module):
        lines.append(f"globals().update(vars(import_module({name!r})))")
    found = [text for text in DOC_STRING.findall(path.read_text()) if ">>> " in text]
    page = tmp_path / "examples.md"
    page.write_text("\n\n".join([*(f">>> {line}" for line in lines), *found]) + "\n")
    run_examples(page)


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=name_of)
def test_commands_print_what_stands_below_them(path):
    """In the tree itself, so they change nothing; what changes files is followed in a copy."""
    text = path.read_text()
    assert all(isinstance(step, Command) for step in steps(text))
    apply(ROOT, text)


@pytest.mark.parametrize("path", TUTORIALS, ids=name_of)
def test_tutorials_are_run(path):
    """Every block of code is an example, a command, or a step that is followed."""
    text = path.read_text()
    assert name_of(path) in FOLLOWED or re.search(r"^ +>>> ", text, re.MULTILINE)
    assert not re.search(r"^```(?!console|\w+ \w+=|$)", text, re.MULTILINE)


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
    names = {str(path.relative_to(ROOT / "docs")) for path in DOCUMENTS} - {"README.md"}
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
