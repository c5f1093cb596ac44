"""Live and peak bytes, by category."""

import dispatch
from dispatch.tools.memory import MemoryTrackerMode


def test_memory_counts_storages_once_until_they_die():
    x = dispatch.ones(1024)
    with MemoryTrackerMode() as memory:
        memory.track(x)
        assert memory.live_bytes == 4096
        y = x + 1
        view = y.view(32, 32)
        assert memory.live_bytes == 8192
        del y
        assert memory.live_bytes == 8192
        del view
        assert memory.live_bytes == 4096
    assert memory.peak_bytes == 8192
    assert memory.peak_snapshot.by_category == {"input": 4096, "result": 4096}
    assert memory.peak_snapshot.by_device == {"cpu": 8192}
    assert memory.high_water["aten::add.Tensor"] == 8192
    assert [record.allocated for record in memory.records] == [4096, 0]


def test_memory_by_category_and_after_a_reset():
    with MemoryTrackerMode() as memory:
        with memory.category("weights"):
            w = dispatch.ones(256)
        kept = w.neg()
        assert memory.snapshot().by_category == {"weights": 1024, "result": 1024}
        (kept + w).sum()
        assert memory.peak_bytes > 2048
        memory.reset_peak()
        assert memory.peak_bytes == memory.live_bytes == 2048 and memory.records == []


def test_a_storage_that_shrinks_or_grows_is_counted_as_it_is_now():
    x = dispatch.ones(1024)[:4]
    with MemoryTrackerMode() as memory:
        memory.track(x)
        assert memory.live_bytes == 4096
        x.untyped_storage().resize_(1024)
        x.add_(1)
        assert memory.live_bytes == 1024
        assert memory.records[-1].allocated == 0
        assert memory.snapshot().by_category == {"input": 1024}
        x.untyped_storage().resize_(2048)
        x.add_(1)
        assert memory.live_bytes == 2048
    assert memory.peak_bytes == 4096


def test_what_an_operator_makes_larger_in_place_is_its_allocation():
    with MemoryTrackerMode() as memory:
        x = dispatch.empty(2)
        x.resize_(256)
        assert memory.records[-1].allocated == 1024 - 8
        assert memory.live_bytes == 1024
        assert memory.high_water["aten::resize_"] == 1024


def test_the_innermost_category_counts_and_inputs_are_their_own():
    x = dispatch.ones(64)
    with MemoryTrackerMode() as memory:
        with memory.category("outer"):
            a = x + 1
            with memory.category("inner"):
                b = x + 2
            c = x + 3
        assert memory.snapshot().by_category == {"input": 256, "outer": 512, "inner": 256}
        assert memory.snapshot().live == memory.live_bytes == 1024
        del a, b, c
        assert memory.snapshot().by_category == {"input": 256}
        assert memory.peak_snapshot.live == 1024


def test_the_peak_is_exact_and_an_operator_that_frees_makes_nothing(library):
    lib = library("tracked", "DEF")
    lib.define("shrink(Tensor(a!) x) -> ()")
    lib.impl("shrink", lambda x: x.untyped_storage().resize_(16) and None, "CPU")
    with MemoryTrackerMode() as memory:
        a = dispatch.ones(1)
        assert memory.peak_bytes == 4
        b = a + 1
        assert memory.peak_bytes == memory.live_bytes == 8
        assert memory.peak_snapshot.live == 8
        c = dispatch.ones(8)[:4]
        assert memory.peak_bytes == 40
        dispatch.ops.tracked.shrink(c)
        assert memory.records[-1].allocated == 0
        assert (memory.live_bytes, memory.peak_bytes) == (24, 40)
        del a, b, c
        assert (memory.live_bytes, memory.peak_bytes) == (0, 40)
