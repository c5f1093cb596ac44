"""The stress programs themselves, for a moment: `make stress` gives them minutes."""

import pytest

from tests.stress.leaks import grown, paths
from tests.stress.threads import SCENARIOS

pytestmark = pytest.mark.usefixtures("same_state_after")


@pytest.mark.parametrize("name", SCENARIOS)
def test_threads_keep_apart(name):
    scenario, _ = SCENARIOS[name]
    assert sum(scenario(0.3).values()) > 0


def test_calls_leave_nothing_behind():
    calls = 600
    held = {name: grown(path, calls)[0] for name, path in paths()}
    assert not {name: blocks for name, blocks in held.items() if blocks > calls // 3}
