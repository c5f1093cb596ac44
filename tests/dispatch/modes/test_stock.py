"""The stock modes: what they count and when they raise."""

import pytest

import dispatch
from dispatch import modes, ops
from dispatch.modes.flops import FlopCounterMode
from dispatch.modes.memory import MemoryTrackerMode
from dispatch.modes.schema_check import SchemaCheckMode


def test_flops_are_counted_by_module():
    a = dispatch.ones(4, 5)
    with FlopCounterMode(display=False) as counter:
        with counter.module("net"):
            with counter.module("first"):
                a @ dispatch.ones(5, 6)
            a @ dispatch.ones(5, 6)
        a @ dispatch.ones(5, 1)
    counts = counter.get_flop_counts()
    assert {name: sum(n.values()) for name, n in counts.items()} == {
        "Global": 520, "net": 480, "net.first": 240,
    }  # fmt: skip
    table = counter.get_table(depth=1)
    assert "net" in table and "net.first" not in table
    assert "net.first" in counter.get_table(depth=2)


def test_modules_are_told_by_their_hooks():
    class Handle:
        def __init__(self, hooks, hook):
            self.hooks, self.hook = hooks, hook
            hooks.append(hook)

        def remove(self):
            self.hooks.remove(self.hook)

    class Linear:
        def __init__(self, *children):
            self.before, self.after, self.children = [], [], children

        def named_children(self):
            return [(str(i), child) for i, child in enumerate(self.children)]

        def register_forward_pre_hook(self, hook):
            return Handle(self.before, hook)

        def register_forward_hook(self, hook):
            return Handle(self.after, hook)

        def __call__(self, x):
            for hook in self.before:
                hook(self, x)
            for child in self.children:
                x = child(x)
            x = x @ dispatch.ones(2, 2)
            for hook in self.after:
                hook(self, x, x)
            return x

    net = Linear(Linear(), Linear())
    with FlopCounterMode(net, display=False) as counter:
        net(dispatch.ones(2, 2))
    found = {name: sum(n.values()) for name, n in counter.get_flop_counts().items()}
    assert found == {"Global": 48, "Linear": 48, "Linear.0": 16, "Linear.1": 16}
    assert net.before == net.after == net.children[0].before == []


def test_a_table_is_printed_at_the_end(capsys):
    with FlopCounterMode():
        dispatch.ones(2, 2) @ dispatch.ones(2, 2)
    assert "aten.mm" in capsys.readouterr().out


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


def test_schema_checks_accept_the_operators_here():
    x = dispatch.ones(2, 3)
    with SchemaCheckMode() as check:
        x.add_(1).t().reshape(-1).sum()
        dispatch.cat([x, x])
        dispatch.add(x, x, out=dispatch.empty(2, 3))
    assert ("aten::add_", "input") in check.mutated
    assert ("aten::t", "input", "output_0") in check.aliasing


@pytest.mark.parametrize(
    ("returns", "body", "text"),
    [
        ("Tensor", lambda a: a.add_(1).clone(), "mutated"),
        ("Tensor", lambda a: a.view(-1), "alias"),
        ("(Tensor, Tensor)", lambda a: (a.clone(),) * 2, "alias"),
    ],
)
def test_schema_checks_name_the_operator(returns, body, text):
    lib = dispatch.Library("checked_by_mode", "DEF")
    lib.define(f"f(Tensor a) -> {returns}")
    lib.impl("f", body, "CompositeExplicitAutograd")
    with SchemaCheckMode(), pytest.raises(RuntimeError, match=rf"checked_by_mode::f.*{text}"):
        ops.checked_by_mode.f(dispatch.ones(2))
    lib._destroy()


def test_captured_logs_number_tensors():
    x = dispatch.ones(2)
    with modes.capture_logs_with_logging_tensor_mode() as lines:
        y = x + 1
        y.neg()
    assert lines == [
        "$1: f32[2] = dispatch._ops.aten.add.Tensor($0, 1)",
        "$2: f32[2] = dispatch._ops.aten.neg.default($1)",
    ]


def test_logging_leaves_the_logger_as_it_was():
    import logging

    logger = logging.getLogger("LoggingTensor")
    before = logger.level, logger.propagate, list(logger.handlers)
    with pytest.raises(ValueError), modes.capture_logs():
        raise ValueError
    assert (logger.level, logger.propagate, list(logger.handlers)) == before


def test_stock_modes_are_found_in_the_package():
    for name in ("FlopCounterMode", "LoggingTensorMode", "MemoryTrackerMode", "SchemaCheckMode"):
        assert getattr(modes, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = modes.no_such_mode
