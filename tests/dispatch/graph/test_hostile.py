"""Files from strangers: whatever is changed in them, loading ends in a module or in an error that
names the file."""

import copy
import json
import pathlib
import random
import zipfile

import pytest

from dispatch import graph
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_module import EXAMPLE

ALLOWED = (RuntimeError, OSError)


def changed(rng, data):
    """A copy with one to four random changes: bytes flipped, cut out, repeated, or the end lost."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(5)
        if kind == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del data[at : at + rng.randint(1, 40)]
        elif kind == 2:
            data[at:at] = data[at : at + rng.randint(1, 40)]
        elif kind == 3:
            data[at : at + 4] = rng.randbytes(4)
        elif rng.random() < 0.2:
            del data[at:]
    return bytes(data)


def load_and_run(path):
    """None when it went well, else the error; anything but the errors allowed fails the test."""
    try:
        graph.load(path).run().to_json()
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("seed", range(4))
def test_changed_archives(tmp_path, seed):
    rng, original = random.Random(seed), EXAMPLE.read_bytes()
    path = tmp_path / "stranger.pt2"
    for _ in range(25):
        path.write_bytes(changed(rng, original))
        error = load_and_run(path)
        assert error is None or isinstance(error, ALLOWED), repr(error)
        assert error is None or "stranger.pt2" in str(error)


def mutate(rng, value):
    """The JSON value with one place in it replaced by something else."""
    choices = [None, True, -1, 0, 2**62, 2**63 - 1, 1e308, "", "x", [], {}, [[]], "NaN", 99999]
    steps, here = [], value
    while isinstance(here, dict | list) and here and rng.random() < 0.93:
        key = rng.choice(list(here)) if isinstance(here, dict) else rng.randrange(len(here))
        steps.append((here, key))
        here = here[key]
    if not steps:
        return
    parent, key = steps[-1]
    if rng.random() < 0.3:
        del parent[key]
    else:
        parent[key] = rng.choice(choices)


@pytest.mark.parametrize("make", [programs.add_relu, programs.linear], ids=["add_relu", "linear"])
def test_changed_values(tmp_path, make):
    rng, text = random.Random(0), json.dumps(make())
    named = failed = 0
    for _ in range(300):
        content = json.loads(text)
        mutate(rng, content)
        error = load_and_run(programs.write_json(tmp_path / "stranger.json", content))
        if error is not None:
            failed += 1
            named += "stranger.json" in str(error)
    assert failed > 100
    assert named == failed


def test_paths_in_member_names_are_only_names(tmp_path):
    content = programs.linear()
    weights = {"w": programs.payload("../../../../etc/hostname", programs.meta([3, 4]))}
    path = programs.write_archive(tmp_path / "m.pt2", content, weights, {"../../x": bytes(48)})
    with pytest.raises(RuntimeError, match="no such record"):
        graph.load(path)
    assert list(pathlib.Path(tmp_path).iterdir()) == [path]


def test_members_on_the_same_bytes_are_refused(tmp_path):
    """Many names on one stored record would claim many times the file's size."""
    path = programs.linear_archive(tmp_path / "m.pt2", data=bytes(100_000))
    with zipfile.ZipFile(path, "a") as archive:
        for i in range(20):
            info = copy.copy(archive.getinfo("saved/data/weights/weight_0"))
            info.filename = f"saved/data/weights/weight_{i + 1}"
            archive.filelist.append(info)
        archive.writestr("saved/more", b"")
    with pytest.raises(RuntimeError, match="overlap"):
        graph.load(path)


@pytest.mark.parametrize("size", [2**61, 2**62, 2**42])
def test_a_tensor_larger_than_any_memory_is_refused(tmp_path, size):
    content = programs.add_relu()
    body = content["graph_module"]["graph"]
    ones = programs.node("aten.ones.default", [("size", {"as_ints": [size]})], ["large"])
    body["nodes"].insert(0, ones)
    body["tensor_values"]["large"] = programs.meta([size])
    module = graph.load(programs.write_json(tmp_path / "stranger.json", content))
    with pytest.raises((RuntimeError, MemoryError), match=r"stranger\.json"):
        module(*module.random_inputs())


@pytest.mark.parametrize(
    "text",
    [
        "((((s", "Symbol('nobody', integer=True)", "FloorDiv(Integer(4), Integer(0))",
        "Mod(Symbol('b', integer=True), Integer(0))", "Pow(Integer(0), Integer(-1))",
        "Pow(Integer(10), Integer(1000))",
    ],
)  # fmt: skip
def test_symbolic_runs_name_the_place_of_a_size_that_has_no_value(tmp_path, text):
    content = programs.attention()
    size = {"as_expr": {"expr_str": text, "hint": {"as_int": 2}}}
    values = content["graph_module"]["graph"]["tensor_values"]
    name = next(n for n, m in values.items() if any("as_expr" in s for s in m["sizes"]))
    values[name]["strides"][0] = size
    module = graph.load(programs.write_json(tmp_path / "stranger.json", content))
    with pytest.raises(RuntimeError, match=rf"stranger\.json: .*tensor_values\.{name}: "):
        module.run(symbolic=True)


def texts_of_errors(path, module):
    """All that goes wrong with the module at `path`, as text."""
    found = []
    for attempt in (
        module.run,
        lambda: module(1),
        lambda: module.run(1),
        lambda: module.run(fake=False),
        lambda: module.load_state_dict({}),
        lambda: module(*module.random_inputs()),
    ):
        try:
            attempt()
        except Exception as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("old", ["sum", "x", "p_w", "w", "self", "out", "aten.mm.default", "aten"])
@pytest.mark.parametrize("make", [programs.add_relu, programs.linear])
def test_control_characters_of_a_file_are_escaped_in_errors(tmp_path, make, old):
    evil = "\x1b[2J\u202e\r\x00"
    text = json.dumps(make()).replace(f'"{old}"', json.dumps(f"{old}{evil}"))
    text = text.replace(f".{old}.", f".{old}{evil}.")
    path = tmp_path / f"m{chr(27)}[2J.json"
    path.write_text(text)
    try:
        found = texts_of_errors(path, graph.load(path))
    except Exception as error:
        found = [str(error)]
    assert found
    for text in found:
        assert text.replace("\n", " ").isprintable(), repr(text)


def test_a_kernels_error_quotes_the_file_with_escapes(tmp_path):
    content = programs.add_relu()
    nodes = content["graph_module"]["graph"]["nodes"]
    equation = {"as_string": "\x1b[2J->\x1b"}
    operands = {"as_tensors": [{"name": "sum"}]}
    nodes[1]["target"] = "torch.ops.aten.einsum.default"
    nodes[1]["inputs"] = [
        {"name": n, "arg": a, "kind": 1} for n, a in (("equation", equation), ("tensors", operands))
    ]
    path = programs.write_json(tmp_path / "m.json", content)
    with pytest.raises(Exception, match="act") as error:
        graph.load(path).run()
    assert "\x1b" not in str(error.value)


def test_inputs_that_no_memory_holds_are_an_error_that_names_them(tmp_path):
    content = programs.add_relu()
    for name in ("x", "y"):
        content["graph_module"]["graph"]["tensor_values"][name] = programs.meta([1 << 30, 1 << 29])
    path = programs.write_json(tmp_path / "m.json", content)
    with pytest.raises(RuntimeError, match=r"m.json: x: no memory for a float32 tensor of \[1073"):
        graph.load(path).random_inputs()
