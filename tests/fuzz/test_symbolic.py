"""Some random calls of `dispatch.symbolic`; `python -m tests.fuzz.symbolic` makes many."""

from tests.fuzz.api import attempt
from tests.fuzz.symbolic import SymbolicArguments, symbolic_targets


def test_no_call_of_symbolic_numbers_ends_the_process():
    everything = symbolic_targets()
    assert len(everything) > 300
    for seed in range(8):
        assert attempt(f"suite {seed}", everything, SymbolicArguments) is None
