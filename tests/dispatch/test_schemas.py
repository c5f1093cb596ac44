"""Every operator that PyTorch 2.13 has exists, with its schema, its tags and its mutability.

The list was recorded from PyTorch and lies outside the repository (`tests/codegen/helpers.py` says
where); without it there is nothing to compare with.
"""

import gzip
import json

import pytest

from dispatch import ops
from dispatch.codegen.parser import parse_schema
from tests.codegen.helpers import ATEN_SCHEMAS

pytestmark = pytest.mark.skipif(
    not ATEN_SCHEMAS.is_file(), reason="the whole ATen list is not there"
)


@pytest.fixture(scope="module")
def recorded():
    """Qualified name -> what was recorded of the operator."""
    entries = json.loads(gzip.decompress(ATEN_SCHEMAS.read_bytes()))
    return {entry["schema"].partition("(")[0]: entry for entry in entries}


def find(name):
    namespace, _, rest = name.partition("::")
    packet, _, overload = rest.partition(".")
    return getattr(getattr(getattr(ops, namespace), packet), overload or "default")


def exists(name):
    try:
        return find(name) is not None
    except AttributeError:
        return False


def test_every_operator_exists(recorded):
    assert len(recorded) == 3236
    assert [name for name in recorded if not exists(name)] == []


def test_schemas_print_and_compare_as_recorded(recorded):
    found = {name: find(name)._schema for name in recorded if exists(name)}
    wrong = [s for n, s in found.items() if str(s) != recorded[n]["schema"]]
    assert wrong == []
    assert all(s == parse_schema(recorded[n]["schema"]) for n, s in found.items())
    assert all(s.is_mutable == recorded[n]["is_mutable"] for n, s in found.items())


def test_tags_are_those_recorded(recorded):
    found = {name: {tag.name for tag in find(name).tags} for name in recorded if exists(name)}
    assert {n: tags for n, tags in found.items() if tags != set(recorded[n]["tags"])} == {}
