"""Saved reports: what a comparison reads has the type that it takes, or an error names it."""

import json

import pytest

from dispatch.graph.diff import compare
from dispatch.graph.errors import ModelFileError
from dispatch.graph.saved import read_report

TENSOR = {"shape": [2, 3], "dtype": "float32", "stride": [3, 1], "device": "cpu"}
REPORT = {
    "model": "m.pt2",
    "parameters": 2,
    "parameter_bytes": 8,
    "peak_bytes": 24,
    "flops": 6,
    "calls": [{"op": "aten::add", "outputs": [TENSOR, None], "module": None, "new_bytes": 24}],
    "modules": [
        {"path": "", "class": None, "parameters": 2, "bytes": 8, "flops": 6, "calls": 1},
    ],
    "storages": [{"name": "w", "kind": "parameter", "dtype": "float32", "shape": [2]}],
    "inputs": [TENSOR],
    "outputs": [TENSOR, None],
}


def _read(tmp_path, report):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(report))
    return read_report(path)


def test_a_report_is_read_as_it_was_written(tmp_path):
    assert _read(tmp_path, REPORT) == REPORT


def test_an_output_that_is_no_tensor_is_compared():
    other = json.loads(json.dumps(REPORT))
    other["outputs"] = [None, TENSOR]
    rows = compare(REPORT, other).signature
    assert rows == [
        ("outputs 0", "float32[2, 3] strides [3, 1] on cpu", "None"),
        ("outputs 1", "None", "float32[2, 3] strides [3, 1] on cpu"),
    ]


TYPED = (
    "calls[0].op",
    "calls[0].outputs",
    "calls[0].module",
    "calls[0].new_bytes",
    "modules[0].path",
    "modules[0].class",
    "modules[0].flops",
    "storages[0].name",
    "storages[0].kind",
)
SHOWN = ("calls[0].outputs[0].shape", "calls[0].outputs[0].dtype", "inputs[0].device")


def _row_of(report, place):
    """The row that a place is in, and its key."""
    *way, last = place.replace("]", "").replace("[", ".").split(".")
    for step in way:
        report = report[int(step)] if step.isdecimal() else report[step]
    return report, last


@pytest.mark.parametrize("place", [*TYPED, *SHOWN])
def test_a_part_that_is_missing_is_named(tmp_path, place):
    report = json.loads(json.dumps(REPORT))
    row, key = _row_of(report, place)
    del row[key]
    with pytest.raises(ModelFileError) as error:
        _read(tmp_path, report)
    assert f"{place}: is not there" in str(error.value)


@pytest.mark.parametrize("place", TYPED)
@pytest.mark.parametrize("value", [1.5, {}, 2**63])
def test_a_part_of_another_type_is_named(tmp_path, place, value):
    report = json.loads(json.dumps(REPORT))
    row, key = _row_of(report, place)
    row[key] = value
    with pytest.raises(ModelFileError) as error:
        _read(tmp_path, report)
    assert f"{place}: expected" in str(error.value)


@pytest.mark.parametrize("place", SHOWN)
def test_what_is_only_shown_may_be_anything(tmp_path, place):
    report = json.loads(json.dumps(REPORT))
    row, key = _row_of(report, place)
    row[key] = {"a": [None]}
    assert compare(_read(tmp_path, report), REPORT).tables()


@pytest.mark.parametrize("key", ["parameters", "flops", "calls", "modules", "model"])
@pytest.mark.parametrize("value", [None, 1.5, 10**400])
def test_a_key_of_another_type_is_named(tmp_path, key, value):
    with pytest.raises(ModelFileError, match=key):
        _read(tmp_path, {**REPORT, key: value})
