"""`torch.fx`: what the recorded programs of `tests/differential` do not show."""

import operator
import subprocess
import sys
import textwrap
from collections import OrderedDict, namedtuple
from pathlib import Path

import pytest

import dispatch
from dispatch import pytree
from dispatch.as_torch import fx
from dispatch.as_torch.fx.flat import (
    SUPPORTED_NODES,
    register_pytree_flatten_spec,
    tree_flatten_spec,
)  # fmt: skip
from dispatch.as_torch.fx.module import _imports
from dispatch.as_torch.fx.node import is_impure
from dispatch.as_torch.fx.proxy import TraceError
from dispatch.as_torch.nn import modules

aten = dispatch.ops.aten


def said(folder: Path, text: str) -> str:
    program = folder / "program.py"
    program.write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "dispatch.as_torch", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_code_names_what_pytorch_s_does(tmp_path):
    """Functions of the package by their places there, others as globals."""
    assert said(
        tmp_path,
        """
        import torch
        from torch import fx
        fx.wrap("len")
        @fx.wrap
        def mine(x): return x + 1
        F = torch.nn.functional
        def f(x):
            y = F.linear(F.relu(x), x) + torch.fft.fft(x).real
            return mine(torch.einsum("ij->j", y)) * len(x) + torch.split(x, 1)[0]
        m = fx.symbolic_trace(f)
        print(m.code.strip())
        print(m(torch.ones(2, 2)).tolist(), type(m).__mro__[1].__module__)
        """,
    ) == textwrap.dedent("""\
        torch.fx._symbolic_trace.wrap("__main___mine")
        torch.fx._symbolic_trace.wrap("len")

        def forward(self, x):
            relu = torch.nn.functional.relu(x, inplace = False)
            linear = torch._C._nn.linear(relu, x);  relu = None
            fft_fft = torch._C._fft.fft_fft(x)
            getattr_1 = fft_fft.real;  fft_fft = None
            add = linear + getattr_1;  linear = getattr_1 = None
            einsum = torch.functional.einsum('ij->j', add);  add = None
            mine = __main___mine(einsum);  einsum = None
            len_1 = len(x)
            mul = mine * len_1;  mine = len_1 = None
            split = torch.functional.split(x, 1, dim = 0);  x = None
            getitem = split[0];  split = None
            add_1 = mul + getitem;  mul = getitem = None
            return add_1
        [[19.0, 11.0]] torch.fx.graph_module""")


def test_a_name_is_wrapped_at_the_top_of_a_module_only():
    with pytest.raises(NotImplementedError, match="top level"):
        fx.wrap("len")
    with pytest.raises(RuntimeError, match=r"torch\.fx\.wrap"):
        fx.wrap(3)


class _Checking(fx.Tracer):
    trace_asserts = True


def test_asserts_are_traced_on_request():
    names = {}  # not here: pytest changes what it finds in tests
    exec("def checked(x):\n    assert x.shape[0] == 2\n    return x + 1", names)
    checked = names["checked"]
    with pytest.raises(TraceError):
        fx.symbolic_trace(checked)
    module = fx.GraphModule({}, _Checking().trace(checked))
    assert module(dispatch.ones(2)).tolist() == [2, 2]
    with pytest.raises(AssertionError, match="Assertion failed"):
        module(dispatch.ones(3))
    with pytest.raises(TraceError):
        _Checking().trace(lambda x: 1 if x.sum() else 2)


def test_a_failed_trace_leaves_modules_as_they_were():
    call, attribute = modules.Module.__call__, modules.Module.__getattr__
    with pytest.raises(TraceError):
        fx.symbolic_trace(lambda x: bool(x))
    assert modules.Module.__call__ is call and modules.Module.__getattr__ is attribute


def test_a_tracer_inside_a_tracer_ends_first():
    inner = []

    def outside(x):
        inner.append(fx.symbolic_trace(lambda y: y * 2))
        return modules.ReLU()(x)

    class Whole(fx.Tracer):
        def path_of_module(self, mod):
            return "relu"

    graph = Whole().trace(outside)
    assert [n.op for n in graph.nodes] == ["placeholder", "call_module", "output"]
    assert [n.name for n in inner[0].graph.nodes] == ["y", "mul", "output"]


class Pair(metaclass=fx.ProxyableClassMeta):
    def __init__(self, a, b):
        self.a, self.b = a, b


Named = namedtuple("Named", ["a", "b"])


def test_objects_of_marked_classes_are_calls_and_constants():
    kept = Pair(1, 2)

    def makes(x):
        return Pair(x, 3), kept, Named(x, 1)

    module = fx.symbolic_trace(makes)
    pair, constant, named = module(5)
    assert (pair.a, pair.b, constant, named) == (5, 3, kept, Named(5, 1))
    assert Pair(1, 2).a == 1


@pytest.mark.parametrize(
    ("target", "args", "expected"),
    [
        (aten.add_.Tensor, (), True),
        (aten.add.Tensor, (), False),
        (aten.add, (), False),
        (aten.rand.default, (), True),
        (aten._assert_scalar.default, (), True),
        (dispatch.rand, (), True),
        (dispatch.relu, (), False),
        (dispatch._assert, (), True),
        (operator.setitem, (), True),
        (operator.getitem, (), False),
        (dispatch.ops.higher_order.cond, (), False),
        (dispatch.ops.higher_order.auto_functionalized, (aten.add_.Tensor,), False),
        (dispatch.ops.higher_order.auto_functionalized, (operator.setitem,), True),
    ],
)
def test_calls_that_do_more_than_compute_stay(target, args, expected):
    assert is_impure(target, args) is expected


def test_random_calls_may_go_and_marked_ones_stay():
    assert not is_impure(aten.rand.default, impure_random=False)

    def told(x):
        return x

    assert not is_impure(told)
    assert fx.has_side_effect(told) is told and is_impure(told)


def test_modules_say_whether_they_stay():
    class Impure(modules.Module):
        _is_impure = True

    root = modules.Sequential(modules.ReLU(), Impure())
    graph = fx.Graph()
    x = graph.placeholder("x")
    calls = [graph.call_module(name, (x,)) for name in ("0", "1")]
    graph.output(x)
    with pytest.raises(AssertionError, match="no module"):
        calls[0].is_impure()
    module = fx.GraphModule(root, graph)
    assert module.graph.eliminate_dead_code()
    assert [n.target for n in module.graph.find_nodes(op="call_module")] == ["1"]
    assert module.graph.eliminate_dead_code(lambda node: node.op != "call_module")
    assert len(module.graph.nodes) == 2


def test_questions_for_sizes_have_their_values():
    graph = fx.Graph()
    x = graph.placeholder("x")
    x.meta["val"] = dispatch.ones(4, 6)[1:, ::2]
    size, stride = graph.create_size_node(x, 1), graph.create_stride_node(x, 0)
    offset = graph.create_storage_offset_node(x)
    assert [n.meta["val"] for n in (size, stride, offset)] == [3, 6, 6]
    assert size.target is aten.sym_size.int and offset.args == (x,)
    assert graph.create_size_node(graph.placeholder("y"), 0).meta == {}


def test_what_the_owner_lacks_is_warned_of():
    module = fx.symbolic_trace(modules.Sequential(modules.Linear(1, 1)))
    with pytest.warns(UserWarning, match="underlying reference.*no attribute 'w'"):
        module.graph.get_attr("w")
    with pytest.warns(UserWarning, match=r"no module '0\.x'"):
        module.graph.call_module("0.x")
    module.graph.get_attr("0.weight")
    gone = module.graph.call_function(dispatch.relu, (1,))
    module.graph.erase_node(gone)
    with pytest.warns(UserWarning, match="already erased"):
        module.graph.erase_node(gone)


def test_an_order_survives_many_insertions():
    graph = fx.Graph()
    first, last = graph.placeholder("a"), graph.placeholder("z")
    made = [first]
    for _ in range(100):
        with graph.inserting_before(last):
            made.append(graph.call_function(dispatch.relu, (first,)))
    for node in reversed(made[1:]):
        first.append(node)
    assert [*made, last] == list(graph.nodes) == sorted(graph.nodes)


def test_an_error_points_at_the_line(capfd):
    def fails(x):
        return x.view(7)

    module = fx.symbolic_trace(fails)
    with pytest.raises(RuntimeError):
        module(dispatch.ones(2))
    shown = capfd.readouterr().err
    assert "line 5 of the traced Module's generated forward function" in shown
    assert "view = x.view(7)" in shown and "<--- HERE" in shown


def test_a_table_shows_each_node(capsys):
    fx.symbolic_trace(lambda x: x + 1).graph.print_tabular()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["opcode", "name", "target", "args", "kwargs"]
    assert [line.split()[0] for line in lines[1:]] == ["placeholder", "call_function", "output"]


def test_nests_are_flattened_where_the_traced_one_has_leaves():
    spec = pytree.tree_flatten(({"a": 1, "b": [2, 3]}, OrderedDict(z=4)))[1]
    given = ({"b": [20, 30, 40], "a": 10, "c": 5}, {"z": 50})
    assert tree_flatten_spec(given, spec) == [10, 20, 30, 50]
    for wrong, kind in [
        (({"b": [1, 2]}, {"z": 1}), KeyError),
        (({"a": 1, "b": [2, 3]}, {}), KeyError),
        (({"a": 1, "b": [2]}, {"z": 1}), IndexError),
    ]:
        with pytest.raises(kind):
            tree_flatten_spec(wrong, spec)


def test_named_tuples_and_registered_classes_are_flattened_by_their_places():
    pair = namedtuple("pair", "x y")
    spec = pytree.tree_flatten((pair(1, [2]), 3))[1]
    register_pytree_flatten_spec(tuple, lambda found, spec: list(found)[: spec.num_children])
    try:
        assert tree_flatten_spec(((5, [6, 7]), 8, 9), spec) == [5, 6, 8]
    finally:
        register_pytree_flatten_spec(tuple, SUPPORTED_NODES[list])


def test_pickles_bring_the_names_of_their_code():
    module = fx.symbolic_trace(lambda x: textwrap.dedent(x) if isinstance(x, str) else x + 1)
    lines = _imports(module.graph.python_code("self").globals).splitlines()
    assert "import dispatch" in lines and "from math import inf" in lines
    assert "import dispatch.as_torch.fx.flat as fx_pytree" in lines


def test_a_graph_module_of_a_graph_module():
    inner = fx.symbolic_trace(lambda x: x + 1)
    outer = fx.symbolic_trace(modules.Sequential(modules.ReLU(), inner))
    assert outer(dispatch.tensor([-1.0, 1.0])).tolist() == [1, 2]
    assert [n.op for n in outer.graph.nodes] == [
        "placeholder", "call_module", "call_function", "output",
    ]  # fmt: skip
    root = {"sub": inner}
    graph = fx.Graph()
    graph.output(graph.call_module("sub", (graph.placeholder("x"),)))
    module = fx.GraphModule(root, graph)
    assert module(1) == 2 and "class sub(dispatch.nn.Module):" in module.print_readable(False)
