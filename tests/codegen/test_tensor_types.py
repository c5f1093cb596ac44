"""The table of types: what follows from it, and mistakes in it with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

import dispatch
from dispatch._C import dtypes
from dispatch._C.generated import dtype_sets, type_names
from dispatch.codegen.defaults import NAMED_CONSTANTS
from dispatch.codegen.source import SourceError
from dispatch.codegen.tensor_types import read_types
from tests.codegen.helpers import SCHEMAS

TYPES = read_types(SCHEMAS / "types.yaml")
SMALL = """\
dtypes:
- {code: 0, name: f4, size: 1, abbr: f4, kind: floating}
- {code: 1, name: f8, size: 1, abbr: f8, kind: floating, aliases: [eight]}
sets: {ALL: [f4, f8], MORE: [ALL]}
devices: [{code: 0, name: cpu, key: CPU}]
layouts: [{code: 0, name: strided}]
memory_formats: [{code: 0, name: contiguous_format}]
"""


def test_dtypes_are_those_of_the_table() -> None:
    for entry in TYPES.dtypes:
        made = getattr(dtypes, entry["name"])
        assert (made.name, made.itemsize, made.abbr) == (
            entry["name"],
            entry["size"],
            entry["abbr"],
        )
        assert all(getattr(dispatch, alias) is made for alias in entry.get("aliases", []))
        assert made.is_floating_point == (entry["kind"] == "floating")
        assert made.is_complex == (entry["kind"] == "complex")


def test_sets_are_the_same_in_python_and_as_masks() -> None:
    for name, mask in TYPES.sets.items():
        names = {entry["name"] for entry in TYPES.dtypes if mask >> entry["code"] & 1}
        assert {each.name for each in getattr(dtype_sets, name)} == names


def test_words_of_the_schema_language_have_the_numbers_of_the_table() -> None:
    numbers = {
        name: entry["code"]
        for entry in [*TYPES.dtypes, *TYPES.layouts, *TYPES.memory_formats]
        for name in (entry["name"], *entry.get("aliases", []))
    }
    own = {"Mean", "Sum"}
    assert {w: n for w, n in NAMED_CONSTANTS.items() if w not in own}.items() <= numbers.items()


def test_every_dtype_of_a_file_exists() -> None:
    for table in (type_names.EXPORTED_DTYPES, type_names.SAFETENSORS_DTYPES):
        assert all(isinstance(getattr(dtypes, name), dtypes.dtype) for name in table.values())


@pytest.mark.parametrize(
    ("wrong", "right", "line", "message"),
    [
        ("code: 1, name: f8", "code: 7, name: f8", 3, "f8: expected code 1, one more than above"),
        ("aliases: [eight]", "aliases: [f4]", 3, "expected different names, got 'f4' twice"),
        ("aliases: [eight]", "complex: c16", 3, "complex: 'c16' is no dtype"),
        ("kind: floating, a", "kind: float, a", 3, "kind: expected one of bool"),
        ("aliases: [eight]", "alias: eight", 3, "unknown key 'alias'"),
        ("size: 1, abbr: f8", "size: one, abbr: f8", 3, "expected 'size', a number of bytes, and"),
        ("size: 1, abbr: f8", "size: 1", 3, "expected 'size', a number of bytes, and 'abbr'"),
        ("MORE: [ALL]", "MORE: [SOME]", 4, "MORE: expected dtypes and sets above, got 'SOME'"),
        ("layouts:", "formats:", 1, "expected a key 'layouts'"),
    ],
)
def test_a_mistake_is_reported_with_its_line(
    tmp_path: Path, wrong: str, right: str, line: int, message: str
) -> None:
    path = tmp_path / "types.yaml"
    assert SMALL.count(wrong) == 1
    path.write_text(SMALL.replace(wrong, right))
    with pytest.raises(SourceError) as raised:
        read_types(path)
    assert f"types.yaml:{line}: " in str(raised.value)
    assert message in str(raised.value)


def test_a_table_is_a_mapping_and_no_longer_than_a_mask(tmp_path: Path) -> None:
    path = tmp_path / "types.yaml"
    path.write_text("- 3\n")
    with pytest.raises(SourceError, match="expected a mapping with dtypes, sets, devices"):
        read_types(path)
    more = [
        f"- {{code: {i}, name: d{i}, size: 1, abbr: d{i}, kind: floating}}\n" for i in range(2, 64)
    ]
    path.write_text(SMALL.replace("sets:", "".join(more[:-1]) + "sets:"))
    assert len(read_types(path).dtypes) == 63
    path.write_text(SMALL.replace("sets:", "".join(more) + "sets:"))
    with pytest.raises(SourceError, match="dtypes: a mask has room for 63"):
        read_types(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"types\.yaml:1: cannot be read: No such file"):
        read_types(tmp_path / "types.yaml")


def test_a_set_may_be_made_of_sets(tmp_path: Path) -> None:
    path = tmp_path / "types.yaml"
    path.write_text(SMALL)
    assert read_types(path).sets == {"ALL": 3, "MORE": 3}
