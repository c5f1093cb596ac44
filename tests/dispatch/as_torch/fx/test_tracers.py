"""Tracers' settings, and what copies and code of traced modules keep."""

import copy
import importlib.util
import pickle
import subprocess
import sys

import pytest

import dispatch
from dispatch.as_torch import fx
from dispatch.as_torch.fx.code import CodeGen
from dispatch.as_torch.fx.traceback import NodeSource, NodeSourceAction
from dispatch.as_torch.fx.tracer import PHWithMeta
from dispatch.as_torch.nn import modules
from dispatch.as_torch.nn.parameter import Parameter


class Doubled(modules.Module):
    def forward(self, x):
        return dispatch.relu(x) * 2


class _Noting(fx.Tracer):
    record_stack_traces = True


def test_stack_traces_begin_at_forward_and_end_in_the_program():
    nodes = {n.op: n.stack_trace for n in _Noting().trace(Doubled()).nodes}
    assert nodes["placeholder"] is None and nodes["output"] is None
    first, line = nodes["call_function"].splitlines()
    assert first.endswith("in forward") and __file__ in first
    assert line.strip() == "return dispatch.relu(x) * 2"
    assert all(n.stack_trace is None for n in _Noting().trace(lambda x: x + 1).nodes)


class _Functional(fx.Tracer):
    check_mutable_operations = True


@pytest.mark.parametrize(
    "program",
    [lambda x: dispatch.sigmoid(x, out=x), lambda x: dispatch.relu_(x)],
)
def test_calls_that_write_are_refused_on_request(program):
    assert len(fx.Tracer().trace(program).nodes) == 3
    with pytest.raises(RuntimeError, match="mutable operation aten::"):
        _Functional().trace(program)


def test_tracers_have_copies():
    tracer = fx.Tracer()
    graph = tracer.trace(lambda x: x + 1)
    again = copy.deepcopy(tracer)
    assert str(again.graph) == str(graph) and again.graph is not graph
    assert again._autowrap_search == tracer._autowrap_search


def test_names_are_no_keywords():
    graph = fx.Graph()
    names = ("for", "torch", "None", "sum", "x")
    made = [graph.placeholder(name).name for name in names]
    assert made == ["for_1", "torch_1", "none", "sum_1", "x"]
    assert graph.create_node("placeholder", "y", name="class").name == "class_1"


def test_copies_are_called_graph_modules():
    module = fx.symbolic_trace(Doubled())
    copies = (copy.deepcopy(module), copy.copy(module), pickle.loads(pickle.dumps(module)))
    assert type(module).__name__ == "Doubled"
    assert [type(one).__name__ for one in copies] == ["GraphModule"] * 3


def test_code_says_where_the_program_is():
    code = fx.symbolic_trace(Doubled()).forward.__code__
    assert code.co_filename.startswith("<eval_with_key>.")
    assert __file__ in code.co_filename and code.co_filename.endswith(" in forward")


def test_generators_of_programs_need_not_know_later_arguments():
    class Listed(CodeGen):
        def generate_output(self, output_args):
            return f"return [{output_args!r}]"

    module = fx.symbolic_trace(lambda x: x + 1)
    module.graph.set_codegen(Listed())
    module.recompile()
    assert module(1) == [2]


def test_replicas_share_values_and_have_no_parameters():
    module = modules.Linear(2, 2)
    replica = module._replicate_for_data_parallel()
    assert not list(replica.parameters()) and len(list(module.parameters())) == 2
    assert fx.symbolic_trace(lambda x: x + 1)._replicate_for_data_parallel()(1) == 2


def test_nodes_know_what_they_were_made_of():
    first = fx.symbolic_trace(Doubled())
    for node in first.graph.nodes:
        node.meta["custom"] = {"part": node.name, "long": "x" * 50}
    second = fx.Transformer(fx.Transformer(first).transform()).transform()
    relu = next(n for n in second.graph.nodes if n.name == "relu")
    (source,) = relu.meta["from_node"]
    (earlier,) = source.from_node
    assert (source.name, earlier.name, earlier.graph_id) == ("relu", "relu", id(first.graph))
    assert source.action == [NodeSourceAction.CREATE] and "relu" in source.target
    again = NodeSource._from_dict(source.to_dict())
    assert again == source and hash(again) == hash(source) and repr(again).count("\n") == 2
    assert NodeSource(None) != source and NodeSource._from_dict(None) is None
    shown = f"# Annotation: {{'part': 'relu', 'long': '{'x' * 40}...'}} No stacktrace"
    assert shown in second.print_readable(print_output=False)


def test_calls_of_modules_have_named_arguments():
    module = fx.symbolic_trace(modules.Sequential(modules.Linear(2, 2)))
    x, call, _ = module.graph.nodes
    assert call.normalized_arguments(module, None, None, True) == ((), {"input": x})
    assert x.normalized_arguments(module) is None


def test_code_names_the_check_of_none(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import torch\n"
        "f = lambda x, y=None: x + 1 if y is None else x\n"
        "print(torch.fx.symbolic_trace(f, concrete_args={'y': None}).code)\n"
    )
    command = [sys.executable, "-m", "dispatch.as_torch", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "torch.fx._symbolic_trace._assert_is_none(y_1, " in done.stdout


def test_readable_code_shows_what_is_asked_for():
    module = fx.symbolic_trace(lambda x, y: x + y)
    for node in module.graph.nodes:
        node.meta["part"] = node.name
    text = module.print_readable(False, additional_meta=["part", "other"], expanded_def=True)
    assert "# part: add # No stacktrace" in text
    assert "        self,\n        x,\n        y,\n    ):" in text


def test_modules_that_stand_twice_are_given_twice_on_request():
    relu = modules.ReLU()
    both = modules.Sequential(relu, relu)
    assert len(list(both.modules())) == 2
    assert len(list(both.modules(remove_duplicate=False))) == 3
    assert both.compile() is None


def test_placeholders_of_concrete_arguments_give_their_nodes_what_is_set_on_them():
    marked = PHWithMeta("first")
    marked.op = "its own"
    graph = fx.Tracer().trace(lambda x: x["a"] + x["b"], {"x": {"a": marked, "b": fx.PH}})
    first, second = graph.find_nodes(op="placeholder")
    assert first.ph_key == "first" and first.op == "placeholder"
    assert not hasattr(second, "ph_key")


@pytest.mark.parametrize(("values", "problem"), [([1], "missing"), ([1, 2, 3], "extra")])
def test_a_list_of_another_length_stays_whole(values, problem):
    module = fx.symbolic_trace(lambda x, y: x + y)
    kept = list(values)
    with pytest.raises(RuntimeError, match=f"{problem} arguments.* 2 placeholders"):
        fx.Interpreter(module).boxed_run(values)
    assert values == kept


class Mixed(modules.Module):
    def __init__(self):
        super().__init__()
        self.seq = modules.Sequential(modules.Linear(2, 2), Doubled())
        self.scale = Parameter(dispatch.ones(2), requires_grad=False)
        self.register_buffer("kept", dispatch.ones(2))
        self.register_buffer("not_kept", dispatch.ones(2), persistent=False)
        setattr(self, "0", dispatch.ones(2))

    def forward(self, x):
        return self.seq(x) * self.scale + self.kept + self.not_kept + getattr(self, "0")


def test_a_folder_has_the_module_as_a_class(tmp_path):
    traced = fx.symbolic_trace(Mixed())
    traced.to_folder(tmp_path / "written", "Foo")
    (tmp_path / "written").rename(tmp_path / "moved")
    spec = importlib.util.spec_from_file_location("moved", tmp_path / "moved" / "__init__.py")
    package = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "moved", package)
        patch.delitem(sys.modules, "moved.module", raising=False)
        spec.loader.exec_module(package)
        found = package.Foo()
        sys.modules.pop("moved.module")
    x = dispatch.randn(3, 2)
    assert found(x).equal(traced(x)) and found.state_dict().keys() == traced.state_dict().keys()
    assert not found.scale.requires_grad
