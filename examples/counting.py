"""How many operations a small network takes, and how much memory, without running it for real."""

import dispatch
from dispatch import FakeTensorMode
from dispatch.modes import FlopCounterMode, MemoryTrackerMode


def network(x, layers, counter):
    for i, weight in enumerate(layers):
        with counter.module(f"layer{i}"):
            x = (x @ weight).relu()
    return x


if __name__ == "__main__":
    with FakeTensorMode():
        x = dispatch.ones(4096, 8192)
        layers = [dispatch.empty(8192, 8192) for _ in range(3)]
        with FlopCounterMode(display=False) as counter, MemoryTrackerMode() as memory:
            memory.track(layers, category="weights")
            y = network(x, layers, counter)
    print(counter.get_table(depth=1))
    print(f"peak: {memory.peak_bytes / 2**20:.0f} MiB, {memory.peak_snapshot.by_category}")
