"""`load` and `GraphModule`: real runs, fake runs, weights only when needed, inputs checked."""

import io
import pathlib

import numpy as np
import pytest

import dispatch
from dispatch import graph
from dispatch.graph import archive
from dispatch.graph.errors import MissingOperatorsError, ModelFileError
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "models" / "gpt2.pt2"


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) - 2


@pytest.fixture
def add_relu(tmp_path):
    return graph.load(programs.write_json(tmp_path / "add_relu.json", programs.add_relu()))


def test_a_real_run_computes(add_relu):
    x, y = floats(2, 3), floats(2, 3)
    (out,) = [add_relu(dispatch.from_numpy(x), y)[0]]
    assert (out.numpy() == np.maximum(x + y, 0) * 2).all()


def test_weights_are_used(tmp_path):
    module = graph.load(programs.linear_archive(tmp_path / "m.pt2"))
    assert list(module.state_dict) == ["w"]
    (out,) = module(floats(2, 3))
    assert (out.numpy() == floats(2, 3) @ np.arange(12, dtype=np.float32).reshape(3, 4)).all()


def test_load_state_dict_replaces_weights_or_changes_nothing(tmp_path):
    module = graph.load(programs.linear_archive(tmp_path / "m.pt2"))
    module(floats(2, 3))
    with pytest.raises(RuntimeError, match=r"w: expected float32 \[3, 4\]"):
        module.load_state_dict({"w": floats(4, 3)})
    with pytest.raises(RuntimeError, match="missing weights"):
        module.load_state_dict({})
    zeros = {"w": np.zeros((3, 4), np.float32), "other": floats(1)}
    with pytest.raises(RuntimeError, match=r"missing weights \[\], unknown \['other'\]"):
        module.load_state_dict(zeros)
    assert module.state_dict["w"].numpy()[2, 3] == 11
    module.load_state_dict(zeros, strict=False)
    assert not module(floats(2, 3))[0].numpy().any()


def test_a_program_without_data_says_so(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "m.json", programs.linear()))
    with pytest.raises(RuntimeError, match=r"m\.json: no data for 1 weights \(w"):
        module(floats(2, 3))
    assert module.run().to_json()["outputs"][0]["shape"] == [2, 4]
    module.fill_missing_weights()
    assert module(floats(2, 3))[0].numpy().any()


class CountingFile(io.BufferedReader):
    total = 0

    def read(self, *args):
        data = super().read(*args)
        CountingFile.total += len(data)
        return data


def test_a_fake_run_reads_no_weight(tmp_path, monkeypatch):
    path = programs.linear_archive(tmp_path / "m.pt2", data=bytes(1 << 22))

    def counting(path, *_, **__):
        return CountingFile(io.FileIO(path))

    monkeypatch.setattr(archive, "open", counting, raising=False)
    CountingFile.total = 0
    module = graph.load(path)
    module.run(device="cuda").to_json()
    assert 0 < CountingFile.total < 1 << 18
    module(floats(2, 3))
    assert CountingFile.total > 1 << 22


def test_a_second_fake_run_hits_the_cache(add_relu):
    assert add_relu.run().to_json()["cache"]["misses"] == 3
    assert add_relu.run().to_json()["cache"] == {"hits": 3, "misses": 0, "bypasses": {}}


def test_device_moves_everything(tmp_path):
    module = graph.load(programs.linear_archive(tmp_path / "m.pt2", tied=True))
    report = module.run(device="cuda:1").to_json()
    assert report["device"] == "cuda:1"
    assert report["inputs"][0]["device"] == "cuda:1"
    assert report["calls"][0]["outputs"][0]["device"] == "cuda:1"
    assert module.run().to_json()["calls"][0]["outputs"][0]["device"] == "cpu"


def test_a_real_run_is_on_the_cpu(add_relu):
    with pytest.raises(RuntimeError, match="on the cpu"):
        add_relu.run(fake=False, device="cuda")


def test_a_mode_on_top_sees_each_call(add_relu):
    class Names(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    seen = []
    with Names():
        add_relu(floats(2, 3), floats(2, 3))
    assert seen == ["aten.add.Tensor", "aten.relu.default", "aten.mul.Tensor"]


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ((), r"expected 2 inputs \(x, y\), got 0"),
        ((floats(2, 3),), "got 1"),
        ((floats(2, 3), floats(2, 4)), "input y: dimension 1 is 4, expected 3"),
        (
            (floats(2, 3), floats(6)),
            r"input y: expected float32 with 2 dimensions, got float32 \[6\]",
        ),
        ((floats(2, 3), floats(2, 3).astype(np.int32)), "input y: expected float32"),
        ((floats(2, 3), 1.0), "input y: expected a tensor, got float"),
    ],
)
def test_inputs_that_do_not_fit(add_relu, inputs, problem):
    with pytest.raises(RuntimeError, match=problem):
        add_relu(*inputs)


def dynamic():
    """x.view(s*3) for x of (s, 3); s from 2 to 64."""
    sym = {"as_sym_int": {"as_name": "s"}}
    size = programs.symbol("s0", 4)
    nodes = [
        node("aten.sym_size.int", [("self", tensor("x")), ("dim", as_int(0))], [sym], name="s"),
        node("_operator.mul", [("a", sym), ("b", as_int(3))], [{"as_sym_int": {"as_name": "m"}}]),
        node(
            "aten.view.default",
            [("self", tensor("x")), ("size", {"as_sym_ints": [{"as_name": "m"}]})],
            ["v"],
        ),
        node("aten.relu.default", [("self", tensor("y"))], ["r"]),
    ]
    values = {"x": meta([size, 3]), "y": meta([size])}
    body = programs.graph(["x", "y"], ["v", "r"], nodes, values, s=size, m=size)
    specs = [programs.user_input("x"), programs.user_input("y")]
    outputs = [programs.user_output("v"), programs.user_output("r")]
    return programs.program(body, specs, outputs, s0=(2, 64))


def test_symbols_take_the_recorded_sizes_or_those_of_the_inputs(tmp_path):
    module = graph.load(programs.write_json(tmp_path / "dyn.json", dynamic()))
    assert [o["shape"] for o in module.run().to_json()["outputs"]] == [[12], [4]]
    report = module.run(floats(7, 3), floats(7)).to_json()
    assert [o["shape"] for o in report["outputs"]] == [[21], [7]]
    view, _ = module(floats(5, 3), floats(5))
    assert tuple(view.shape) == (15,)
    with pytest.raises(RuntimeError, match="input y: dimension 0 is 6, expected 7"):
        module(floats(7, 3), floats(6))
    with pytest.raises(RuntimeError, match="input x: dimension 0 is 65, expected 2 to 64"):
        module(floats(65, 3), floats(65))


def mutating():
    """count += x.sum(0); x *= 2; returns x * 2 + count."""
    values = {n: meta([3] if n in ("b", "s", "c") else [2, 3]) for n in "xbscmo"}
    nodes = [
        node("aten.sum.dim_IntList", [("self", tensor("x")), ("dim", {"as_ints": [0]})], ["s"]),
        node("aten.add.Tensor", [("self", tensor("b")), ("other", tensor("s"))], ["c"]),
        node("aten.mul.Tensor", [("self", tensor("x")), ("other", as_int(2))], ["m"]),
        node("aten.add.Tensor", [("self", tensor("m")), ("other", tensor("c"))], ["o"]),
    ]
    body = programs.graph(["b", "x"], ["c", "m", "o"], nodes, values)
    buffer = {"buffer": {"arg": {"name": "b"}, "buffer_name": "count", "persistent": True}}
    outputs = [
        {"buffer_mutation": {"arg": {"name": "c"}, "buffer_name": "count"}},
        {"user_input_mutation": {"arg": {"name": "m"}, "user_input_name": "x"}},
        programs.user_output("o"),
    ]
    return programs.program(body, [buffer, programs.user_input("x")], outputs)


def test_mutations_are_written_back(tmp_path):
    weights = {"count": programs.payload("r", meta([3]), is_param=False)}
    path = programs.write_archive(tmp_path / "m.pt2", mutating(), weights, {"r": bytes(12)})
    module = graph.load(path)
    x = dispatch.from_numpy(np.ones((2, 3), np.float32))
    (out,) = module(x)
    assert (out.numpy() == 4).all()
    assert (x.numpy() == 2).all()
    assert (module.state_dict["count"].numpy() == 2).all()
    module.run(x)
    assert (x.numpy() == 2).all()
    assert (module.state_dict["count"].numpy() == 2).all()


def saved_training(path):
    raw = np.array([1, 2, 3], np.float32).tobytes()
    weights = {"layer.w": programs.payload("r", meta([3]))}
    return programs.write_archive(path, programs.training(), weights, {"r": raw})


def test_a_training_step_adds_to_gradients_and_returns_the_loss(tmp_path):
    module = graph.load(saved_training(tmp_path / "m.pt2"))
    x = dispatch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    (loss,) = module(x)
    assert loss.item() == 34.0
    weight = module.state_dict["layer.w"]
    assert weight.grad.tolist() == [3.0, 5.0, 7.0]
    assert x.grad.tolist() == [[1.0, 2.0, 3.0]] * 2
    kept = weight.grad
    module(x)
    assert weight.grad.tolist() == [6.0, 10.0, 14.0]
    assert kept.tolist() == [3.0, 5.0, 7.0]


def test_gradients_are_memory_of_their_own_kind_named_after_what_they_are_of(tmp_path):
    report = graph.load(saved_training(tmp_path / "m.pt2")).run().to_json()
    rows = {row["name"]: row for row in report["storages"] if row["kind"] == "gradient"}
    found = [(name, row["bytes"], row["module"], row["freed"]) for name, row in rows.items()]
    assert found == [("layer.w.grad", 12, "layer", 5), ("x.grad", 24, "", 5)]
    assert len(report["outputs"]) == 1
    assert "gradients 36 B" in str(graph.load(tmp_path / "m.pt2").run())


def test_a_gradient_of_nothing_is_refused(tmp_path):
    content = programs.training()
    specs = content["graph_module"]["signature"]["output_specs"]
    specs[1]["gradient_to_parameter"]["parameter_name"] = "other"
    with pytest.raises(ModelFileError, match="no input 'other' to give a gradient to"):
        graph.load(programs.write_json(tmp_path / "m.json", content))


def test_the_output_tree_is_the_exported_one(tmp_path):
    content = programs.add_relu()
    signature = content["graph_module"]["module_call_graph"][0]["signature"]
    leaf = '{"type": null, "context": null, "children_spec": []}'
    signature["out_spec"] = (
        '[1, {"type": "builtins.dict", "context": "[\\"y\\"]", "children_spec": [' + leaf + "]}]"
    )
    module = graph.load(programs.write_json(tmp_path / "m.json", content))
    assert list(module(floats(2, 3), floats(2, 3))) == ["y"]


def test_constants_may_be_given_or_left_out(tmp_path):
    content = programs.add_relu()
    body = content["graph_module"]["graph"]
    body["inputs"].append(as_int(5))
    specs = content["graph_module"]["signature"]["input_specs"]
    specs.append({"constant_input": {"name": "n", "value": as_int(5)}})
    module = graph.load(programs.write_json(tmp_path / "m.json", content))
    x = floats(2, 3)
    assert (module(x, x)[0].numpy() == module(x, x, 5)[0].numpy()).all()
    with pytest.raises(RuntimeError, match="input n: expected 5, got 6"):
        module(x, x, 6)


def test_missing_operators_are_reported_together_before_anything_runs(tmp_path):
    content = programs.add_relu()
    nodes = content["graph_module"]["graph"]["nodes"]
    nodes[1]["target"] = "torch.ops.graphtest.absent.default"
    nodes[2]["target"] = "torch.ops.graphtest.absent_too.default"
    module = graph.load(programs.write_json(tmp_path / "m.json", content))
    assert module.missing_operators == ("graphtest::absent", "graphtest::absent_too")
    with pytest.raises(MissingOperatorsError) as caught:
        module.run(fake=False)
    assert caught.value.names == module.missing_operators
    assert "m.json: 2 operators not registered" in str(caught.value)
    assert isinstance(caught.value, NotImplementedError)


def change(content, *path):
    *steps, last, value = path
    for step in steps:
        content = content[step]
    content[last] = value


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        (("signature", "input_specs", []), "0 specs for the graph's 2 inputs"),
        (("signature", "output_specs", []), "0 specs for the graph's 1 outputs"),
        (("graph", "tensor_values", {}), "'p_w' has no entry in graph.tensor_values"),
        (
            ("signature", "input_specs", 0, programs.parameter("x", "w")),
            "'x' is not what the graph takes",
        ),
        (
            ("signature", "input_specs", 0, programs.parameter("p_w", "v")),
            "no weight or constant 'v'",
        ),
        (("graph", "tensor_values", "p_w", meta([3, 5])), "but the weight 'w' is float32 [3, 4]"),
        (
            ("signature", "input_specs", 0, {"token": {"arg": {"name": "p_w"}}}),
            "not supported",
        ),
    ],
)
def test_a_program_that_contradicts_itself(tmp_path, path, problem):
    content = programs.linear()
    change(content["graph_module"], *path)
    weights = {"w": programs.payload("r", meta([3, 4]))}
    saved = programs.write_archive(tmp_path / "m.pt2", content, weights, {"r": bytes(48)})
    with pytest.raises(ModelFileError) as caught:
        graph.load(saved)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{saved}: models/model.json: graph_module.")


@pytest.mark.skipif(
    not dispatch._C._dispatch_has_computed_kernel_for_dispatch_key("aten::embedding", "CPU"),
    reason="the CPU kernels that the example needs are not there yet",
)
def test_the_example_gives_what_was_recorded():
    """The recorded outputs are PyTorch 2.13's."""
    with np.load(EXAMPLE.with_suffix(".npz")) as recorded:
        inputs = [recorded[name] for name in recorded.files if name.startswith("in_")]
        expected = recorded["out_0"]
    module = graph.load(EXAMPLE)
    out = module(*inputs)
    leaf = out[0] if isinstance(out, tuple) else out
    np.testing.assert_allclose(leaf.numpy(), expected, rtol=1e-4, atol=1e-5)
