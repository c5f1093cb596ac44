"""Counted operations, by module and as a table."""

import dispatch
from dispatch.tools.flops import FlopCounterMode


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


def test_the_registry_has_formulas_that_programs_call():
    from dispatch.tools.flops import conv_flop_count, flop_registry, mm_flop, sdpa_flop_count

    a, b = dispatch.ones(2, 3), dispatch.ones(3, 4)
    assert flop_registry[dispatch.ops.aten.mm](a, b, out_val=a @ b) == mm_flop(a, b) == 48
    assert dispatch.ops.aten.add not in flop_registry
    assert conv_flop_count([1, 3, 8, 8], [4, 3, 3, 3], [1, 4, 6, 6]) == 7776
    assert conv_flop_count([1, 3, 8, 8], [3, 4, 3, 3], [1, 4, 10, 10], True) == 13824
    assert sdpa_flop_count((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 6)) == 600


def test_small_counts_are_whole_numbers():
    with FlopCounterMode(display=False) as counter:
        dispatch.mm(dispatch.ones(4, 5), dispatch.ones(5, 6))
    assert [line.split()[-2] for line in counter.get_table().splitlines()[2:]] == ["240", "240"]
