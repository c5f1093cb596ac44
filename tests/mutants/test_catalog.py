"""The list of faults fits the sources, and says what it should."""

import pytest

from tests.mutants.__main__ import ALLOWED
from tests.mutants.catalog import ROOT, CatalogError, read_catalog, read_file

FAULTS = read_catalog()


@pytest.mark.parametrize("file", sorted({fault.file for fault in FAULTS}))
def test_the_old_text_of_every_fault_stands_in_its_file_once(file):
    for fault in FAULTS:
        if fault.file == file:
            assert fault.applied() != (ROOT / file).read_text()


def test_the_list_is_long_and_excuses_few():
    rooms = {fault.file.split("/")[fault.file.startswith("dispatch/")] for fault in FAULTS}
    assert rooms >= {"_C", "fake", "codegen", "functional", "library", "graph", "kernels"}
    assert len(FAULTS) >= 150
    excused = [fault for fault in FAULTS if fault.survives is not None]
    assert len(excused) <= ALLOWED * len(FAULTS)
    assert all(fault.survives for fault in excused)


def test_a_fault_in_a_header_names_what_to_compile():
    for fault in FAULTS:
        compiled = fault.file.endswith((".py", ".pyx"))
        assert compiled or fault.rebuild, f"{fault}: nothing would be compiled"


def test_named_tests_and_modules_exist():
    for fault in FAULTS:
        for path in (*fault.tests, *fault.rebuild):
            assert (ROOT / path).exists(), f"{fault}: {path}"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a", "mapping"),
        ("f.py: {tests: [], faults: [{breaks: x, old: a}]}", "new"),
        ("f.py: {tests: [], faults: [{breaks: x, old: a, new: b, odd: c}]}", "odd"),
        ("f.py: {tests: [], faults: [{breaks: x, old: 1, new: b}]}", "expected text"),
        ("f.py: {tests: [], faults: [{breaks: x, old: a, new: a}]}", "the same"),
        ("f.py: {tests: [], faults: []}\nf.py: {tests: [], faults: []}", "f.py"),
    ],
)
def test_a_wrong_entry_is_named(tmp_path, text, problem):
    path = tmp_path / "odd.yaml"
    path.write_text(text)
    with pytest.raises(CatalogError, match=problem):
        read_file(path)


def test_text_that_is_not_there_once_is_an_error(tmp_path):
    (tmp_path / "f.py").write_text("a = 1\nb = 1\n")
    path = tmp_path / "odd.yaml"
    for old, count in (("1", 2), ("c", 0)):
        path.write_text(f"f.py: {{tests: [], faults: [{{breaks: x, old: '{old}', new: z}}]}}")
        with pytest.raises(CatalogError, match=f"{count} times"):
            read_file(path)[0].applied(tmp_path)
    path.write_text("g.py: {tests: [], faults: [{breaks: x, old: a, new: z}]}")
    with pytest.raises(CatalogError, match=r"g\.py"):
        read_file(path)[0].applied(tmp_path)


def test_the_same_fault_twice_is_an_error(tmp_path):
    one = "f.py: {tests: [], faults: [{breaks: x, old: a, new: z}]}"
    (tmp_path / "a.yaml").write_text(one)
    (tmp_path / "b.yaml").write_text(one)
    with pytest.raises(CatalogError, match="the same as"):
        read_catalog(tmp_path)
