"""Calls and tables as PyTorch recorded them; all that was recorded, when it is at hand."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.replay import find_overload, replay_fake, replay_table
from tests.conformance.select_cases import DATA, fake_cases

pytestmark = [
    pytest.mark.usefixtures("same_state_after"),
    pytest.mark.filterwarnings("ignore"),  # resized outputs warn, as in PyTorch
]

RECORDINGS = Path(__file__).parents[3] / "shared" / "golden"
needs_recordings = pytest.mark.skipif(
    not (RECORDINGS / "operators").is_dir(), reason="the recordings are not beside the repository"
)


def carried_calls() -> list[dict[str, Any]]:
    with gzip.open(DATA / "fake.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


def carried_tables() -> list[dict[str, Any]]:
    with gzip.open(DATA / "tables.json.gz", "rt") as file:
        return json.load(file)


@pytest.mark.parametrize("case", carried_calls(), ids=lambda c: f"{c['overload']}-{c['id'][:6]}")
def test_fake_call_as_recorded(case):
    assert find_overload(case["overload"]) is not None
    assert replay_fake(case) == ""


@pytest.mark.parametrize("case", carried_tables(), ids=lambda c: str(c["id"]))
def test_table_as_recorded(case):
    assert replay_table(case) == ""


@needs_recordings
def test_all_recorded_fake_calls():
    failed: Counter[str] = Counter()
    first: dict[str, str] = {}
    n = 0
    for case in fake_cases(RECORDINGS):
        n += 1
        wrong = replay_fake(case)
        if wrong:
            failed[case["overload"]] += 1
            first.setdefault(case["overload"], f"{case['id'][:10]} {wrong}")
    assert n > 1000
    assert not failed, "\n".join(f"{name}: {failed[name]}, first {first[name]}" for name in failed)


@needs_recordings
def test_all_recorded_tables():
    with gzip.open(RECORDINGS / "dispatch_tables.json.gz", "rt") as file:
        cases = json.load(file)["cases"]
    assert [(c["id"], wrong) for c in cases if (wrong := replay_table(c))] == []


def test_replay_notices_what_differs():
    case = next(c for c in carried_calls() if "outs" in c["fake"] and c["fake"]["outs"])
    for key, value in (("dtype", "bool8"), ("shape", [99]), ("offset", 77), ("is", 5)):
        outs = [case["fake"]["outs"][0] | {key: value}, *case["fake"]["outs"][1:]]
        assert replay_fake(case | {"fake": case["fake"] | {"outs": outs}}) != ""
