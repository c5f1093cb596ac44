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
