"""`program`: the exported program's records, every kind of argument, errors with their place."""

import json

import pytest

from dispatch.graph.errors import ModelFileError
from dispatch.graph.program import Argument, read_payload_config, read_program
from tests.dispatch.graph import programs


def encode(content):
    return json.dumps(content).encode()


def test_records_are_read_field_by_field():
    program = read_program(encode(programs.add_relu()), "f")
    graph = program.graph_module.graph
    assert [n.target for n in graph.nodes] == [
        "torch.ops.aten.add.Tensor",
        "torch.ops.aten.relu.default",
        "torch.ops.aten.mul.Tensor",
    ]
    assert graph.nodes[2].inputs[1].arg == ("as_int", 2)
    assert [s.value for s in graph.tensor_values["x"].sizes] == [2, 3]
    assert program.graph_module.signature.input_specs[0].tag == "user_input"
    assert program.schema_version.major == 8


def test_records_cannot_be_changed():
    program = read_program(encode(programs.add_relu()), "f")
    with pytest.raises(AttributeError):
        program.graph_module.graph.nodes[0].target = "other"


EXAMPLES = {
    "as_none": True,
    "as_tensor": {"name": "x"},
    "as_tensors": [{"name": "x"}],
    "as_int": 1,
    "as_ints": [1, -1],
    "as_float": "NaN",
    "as_floats": [0.5, 2],
    "as_string": "tanh",
    "as_strings": ["a"],
    "as_sym_int": {"as_name": "s"},
    "as_sym_ints": [{"as_int": -1}, {"as_name": "s"}],
    "as_scalar_type": 7,
    "as_memory_format": 4,
    "as_layout": 7,
    "as_device": {"type": "cuda", "index": 1},
    "as_bool": False,
    "as_bools": [True],
    "as_sym_bool": {"as_bool": True},
    "as_sym_bools": [{"as_name": "b"}],
    "as_graph": {"name": "g", "graph": programs.graph([], [], [], {})},
    "as_optional_tensors": [{"as_none": True}, {"as_tensor": {"name": "x"}}],
    "as_custom_obj": {"name": "o", "class_fqn": "c"},
    "as_operator": "torch.ops.aten.add.Tensor",
    "as_sym_float": {"as_float": 1.5},
    "as_sym_floats": [{"as_name": "f"}],
    "as_optional_tensor": {"as_none": True},
    "as_complex": {"real": 1.0, "imag": 2.0},
    "as_nested_tensors": [[{"name": "x"}]],
    "as_int_lists": [[1], []],
    "as_string_to_argument": {"k": {"as_int": 1}},
    "as_float_lists": [[1.5]],
}


@pytest.mark.parametrize("tag", sorted(Argument.TAGS))
def test_every_kind_of_argument_is_read(tag):
    content = programs.add_relu()
    node = content["graph_module"]["graph"]["nodes"][0]
    node["inputs"][1]["arg"] = {tag: EXAMPLES[tag]}
    argument = read_program(encode(content), "f").graph_module.graph.nodes[0].inputs[1].arg
    assert argument.tag == tag


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (("nodes", 1, "inputs", 0, "arg"), {"as_tensor": {"name": 3}}, "nodes[1].inputs[0].arg"),
        (("nodes", 1, "inputs", 0, "arg"), {}, "nodes[1].inputs[0].arg"),
        (("nodes", 1, "inputs", 0, "arg"), {"as_mystery": 1}, "nodes[1].inputs[0].arg"),
        (("nodes", 2, "outputs"), 5, "nodes[2].outputs"),
        (("tensor_values", "x", "dtype"), 99, "tensor_values.x.dtype"),
        (("tensor_values", "x", "sizes"), [{"as_int": "2"}], "tensor_values.x.sizes[0].as_int"),
        (("tensor_values", "x"), None, "tensor_values.x"),
    ],
)
def test_an_error_names_the_place(path, value, place):
    content = programs.add_relu()
    target = content["graph_module"]["graph"]
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    with pytest.raises(ModelFileError) as caught:
        read_program(encode(content), "model.pt2", "models/model.json")
    text = f"model.pt2: models/model.json: graph_module.graph.{place}"
    assert str(caught.value).startswith(text)


def test_payload_config():
    content = {"config": {"w": programs.payload("weight_0", programs.meta([3, 4]))}}
    payload = read_payload_config(encode(content), "f")["w"]
    assert payload.path_name == "weight_0"
    assert payload.is_param
    assert payload.tensor_meta.layout == 7
