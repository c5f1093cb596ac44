"""No garbage is collected while the package loads, and the collector is afterwards as it was."""

import gc
import subprocess
import sys

import pytest

from dispatch.collection import Pause


@pytest.fixture(autouse=True)
def collector_as_it_was():
    collects = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if collects else gc.disable)()


@pytest.mark.parametrize("collects", [True, False])
def test_the_collector_is_off_in_the_block_and_then_as_before(collects):
    (gc.enable if collects else gc.disable)()
    with pytest.raises(KeyError), Pause():
        assert not gc.isenabled()
        raise KeyError
    assert gc.isenabled() is collects


def test_what_was_made_in_the_block_is_old():
    gc.enable()
    with Pause():
        made = [[] for _ in range(5000)]
    old = {id(o) for o in gc.get_objects(generation=2)}
    assert all(id(o) in old for o in made) and gc.get_freeze_count() == 0


def test_what_the_program_froze_stays_frozen():
    gc.enable()
    gc.freeze()
    frozen = gc.get_freeze_count()
    with Pause():
        made = [[] for _ in range(1000)]
    assert gc.get_freeze_count() >= frozen - 100 and len(made) == 1000


def test_an_import_collects_hardly_anything():
    program = """
import gc
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
import dispatch
assert gc.isenabled() and len(seen) < 8, seen
"""
    subprocess.run([sys.executable, "-c", program], check=True)
