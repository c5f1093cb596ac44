"""Estimated times: what a device can do, what calls move, and the sums of both."""

import pytest

from dispatch import graph
from dispatch.graph.hardware import hardware, hardware_names
from tests.dispatch.graph import programs
from tests.dispatch.graph.programs import as_int, meta, node, tensor
from tests.dispatch.graph.test_module import EXAMPLE

SLOW = "title: a slow one\nmemory: 1kB\nbandwidth: 1e9\nflops: {float32: 2e9, float16: 4e9}\n"
SLOW_TOML = 'memory = "1 kB"\nbandwidth = 1e9\n[flops]\nfloat32 = 2e9\nfloat16 = 4e9\n'


def run(tmp_path, nodes, outputs, values, inputs=("x", "y")):
    body = programs.graph(list(inputs), outputs, nodes, values)
    specs = [programs.user_input(name) for name in inputs]
    content = programs.program(body, specs, [programs.user_output(o) for o in outputs])
    return graph.load(programs.write_json(tmp_path / "m.json", content)).run()


@pytest.fixture
def slow(tmp_path):
    path = tmp_path / "slow.toml"
    path.write_text(SLOW_TOML)
    return hardware(path)


@pytest.mark.parametrize("name", hardware_names())
def test_devices_are_whole_and_faster_with_smaller_types(name):
    device = hardware(name.upper())
    assert device.name == name and device.title
    assert 1e10 < device.memory < 1e13 and 1e11 < device.bandwidth < 1e13
    peaks = [device.flops[d] for d in ("float64", "float32", "float16", "bfloat16", "int8")]
    assert peaks == sorted(peaks) and device.peak("bfloat16") == device.flops["bfloat16"]
    assert device.peak("complex64") == device.peak(None) == max(device.flops.values())


def test_the_names_that_are_promised():
    assert hardware_names() == ("h100", "a100", "l4", "mi300x", "cpu")
    assert hardware("h100").bandwidth == 3.35e12 and hardware("a100").flops["bfloat16"] == 312e12


def test_files_describe_devices(tmp_path, slow):
    pytest.importorskip("yaml")
    path = tmp_path / "slow.yaml"
    path.write_text(SLOW)
    device = hardware(path)
    assert device.title == "a slow one" and device[2:] == slow[2:]
    assert hardware(device) is device and slow.memory == 1000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("memory = 1", "expected the keys memory, bandwidth, flops"),
        ("memory = 1\nbandwidth = 1\nflops = 3", "flops: expected numbers by dtype"),
        ("memory = 1\nbandwidth = 1\n[flops]", "flops: expected numbers by dtype"),
        ("memory = 1\nbandwidth = 1\n[flops]\nfloat31 = 1", "flops: no dtype 'float31'"),
        (SLOW_TOML.replace("1e9", "0"), "bandwidth: expected a number above zero"),
        (SLOW_TOML.replace("1e9", "nan"), "bandwidth: expected a number above zero"),
        (SLOW_TOML.replace("1e9", "true"), "bandwidth: expected a number above zero"),
        (SLOW_TOML.replace("1 kB", "1 kX"), "memory: expected an amount like 80GB"),
        ("memory =", "Invalid"),
        ("x" * (1 << 21), "too long"),
    ],
)
def test_a_file_that_describes_none(tmp_path, content, problem):
    path = tmp_path / "device.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=problem):
        hardware(path)


def test_an_unknown_name_is_answered_with_those_that_there_are(tmp_path):
    with pytest.raises(ValueError, match=r"no hardware 'h1000': there is h100, a100, l4, mi300x"):
        hardware("h1000")
    with pytest.raises(FileNotFoundError):
        hardware(tmp_path / "none.toml")


def test_a_call_takes_the_longer_of_computing_and_moving(tmp_path, slow):
    """mm of 4x8 and 8x16: 1024 FLOPs (512 ns), 896 bytes (896 ns); relu: 512 bytes."""
    nodes = [
        node("aten.mm.default", [("self", tensor("x")), ("mat2", tensor("y"))], ["m"]),
        node("aten.relu.default", [("self", tensor("m"))], ["r"]),
    ]
    values = {"x": meta([4, 8]), "y": meta([8, 16]), "m": meta([4, 16]), "r": meta([4, 16])}
    report = run(tmp_path, nodes, ["r"], values)
    found = report.roofline(slow)
    assert [c["moved_bytes"] for c in report.calls] == [896, 512]
    assert [c["ns"] for c in found["by_call"]] == pytest.approx([896, 512])
    assert found["ns"] == pytest.approx(1408) and found["memory_bound_share"] == 1
    assert found["utilisation"] == pytest.approx(512 / 1408)
    assert [(r["op"], r["calls"], r["ns"]) for r in found["operators"]] == [
        ("aten::mm", 1, pytest.approx(896)), ("aten::relu", 1, pytest.approx(512)),
    ]  # fmt: skip
    quick = slow._replace(bandwidth=8e9)
    found = report.roofline(quick)
    assert [c["ns"] for c in found["by_call"]] == pytest.approx([512, 64])
    assert [c["memory_bound"] for c in found["by_call"]] == [False, True]
    assert found["memory_bound_share"] == pytest.approx(64 / 576)
    assert report.peak_bytes == 1152
    assert report.roofline(quick._replace(memory=1152.0))["fits"]
    assert not report.roofline(quick._replace(memory=1151.0))["fits"]


def test_half_precision_has_a_peak_of_its_own(tmp_path, slow):
    half = {n: meta(s, dtype=6) for n, s in (("x", [4, 8]), ("y", [8, 16]), ("m", [4, 16]))}
    nodes = [node("aten.mm.default", [("self", tensor("x")), ("mat2", tensor("y"))], ["m"])]
    found = run(tmp_path, nodes, ["m"], half).roofline(slow._replace(bandwidth=1e15))
    assert found["ns"] == pytest.approx(256)


def test_what_calls_move(tmp_path):
    """Views nothing; a look-up what comes out; a repeated element once; a write what is given."""
    zero, one = as_int(0), {"as_ints": [0]}
    nodes = [
        node("aten.t.default", [("self", tensor("x"))], ["view"]),
        node("aten.embedding.default", [("weight", tensor("x")), ("indices", tensor("i"))], ["e"]),
        node("aten.expand.default",
             [("self", tensor("i")), ("size", {"as_ints": [100, 2]})], ["wide"]),
        node("aten.sum.dim_IntList", [("self", tensor("wide")), ("dim", one)], ["s"]),
        node("aten.add.Tensor", [("self", tensor("i")), ("other", tensor("i"))], ["twice"]),
        node("aten.index_select.default",
             [("self", tensor("x")), ("dim", zero), ("index", tensor("i"))], ["rows"]),
        node("aten.empty_like.default", [("self", tensor("x"))], ["none"]),
        node("aten.index_copy_.default",
             [("self", tensor("none")), ("dim", zero), ("index", tensor("i")),
              ("source", tensor("rows"))], ["put"]),
        node("aten.copy_.default", [("self", tensor("put")), ("src", tensor("x"))], ["copied"]),
    ]  # fmt: skip
    names = {"x": [50, 4], "e": [2, 4], "view": [4, 50], "rows": [2, 4], "none": [50, 4],
             "put": [50, 4], "copied": [50, 4]}  # fmt: skip
    values = {n: meta(s) for n, s in names.items()}
    values |= {n: meta([2], dtype=5) for n in ("i", "s", "twice")}
    values["wide"] = meta([100, 2], dtype=5, strides=[0, 1])
    report = run(tmp_path, nodes, ["copied", "e", "s", "twice", "view"], values, ("x", "i"))
    moved = [call["moved_bytes"] for call in report.calls]
    assert moved == [0, 32 + 16 + 32, 0, 16 + 16, 16 + 16, 32 + 16 + 32, 0, 16 + 32 + 48, 1600]


def test_sums_of_modules_and_operators_are_the_whole():
    report = graph.load(EXAMPLE).run()
    found = report.roofline("l4")
    assert found["how"].startswith("estimate of a lower bound")
    assert sum(row["ns"] for row in found["operators"]) == pytest.approx(found["ns"])
    rows = {row["path"]: row for row in found["modules"]}
    assert list(rows) == [row["path"] for row in report.modules]
    assert rows[""]["ns"] == pytest.approx(found["ns"]) and rows[""]["flops"] == report.flops
    layers = [row for path, row in rows.items() if path.startswith("m.transformer.h.")
              and path.count(".") == 3]  # fmt: skip
    assert len(layers) == 2
    assert sum(r["ns"] for r in layers) == pytest.approx(rows["m.transformer.h"]["ns"])
