"""A few broken copies of a model end in an error that names the file; `make fuzz` tries many."""

import random

import pytest

from tests.dispatch.graph.test_module import EXAMPLE
from tests.fuzz.mutations import mutated
from tests.fuzz.trial import attempt


@pytest.mark.parametrize("seed", range(3))
def test_a_broken_archive_is_an_error_that_names_it(tmp_path, seed):
    path = tmp_path / "stranger.pt2"
    kinds = set()
    for i in range(12):
        what, data = mutated(random.Random(f"{seed} {i}"), EXAMPLE.read_bytes())
        path.write_bytes(data)
        outcome = attempt(path)
        kinds.add(outcome.kind)
        assert outcome.kind in ("fine", "error"), (what, outcome)
        assert outcome.kind == "fine" or outcome.named(path), (what, outcome)
    assert "error" in kinds


def test_the_same_seed_breaks_a_file_in_the_same_way():
    first, second = (mutated(random.Random("7"), EXAMPLE.read_bytes()) for _ in range(2))
    assert first == second
