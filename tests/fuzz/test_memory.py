"""Some random programs over storages and views; `make fuzz` and `make sanitize` run many."""

import pytest

import dispatch
from tests.fuzz.memory import Program, attempt


def test_programs_stay_within_their_memory():
    assert attempt("suite", 150) is None


@pytest.mark.filterwarnings("ignore:.*was resized")
def test_the_same_seed_makes_the_same_program():
    first, second = Program("7"), Program("7")
    first.run()
    second.run()
    assert first.log == second.log and any("RuntimeError" in line for line in first.log)


def test_a_span_beyond_its_storage_is_found():
    """What a check cannot find it does not check: the storage's largest size is made too small."""
    program = Program("7")
    program.check()
    program.tensors = [dispatch.ones(4).as_strided((4,), (1,))]
    program.tensors[0].untyped_storage().resize_(4)
    with pytest.raises(AssertionError, match="beyond 4 bytes"):
        program.check()
