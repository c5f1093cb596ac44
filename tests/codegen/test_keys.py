"""Keys: the numbers and sets that follow from dispatch_keys.yaml are PyTorch's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch.codegen.keys import read_keys
from dispatch.codegen.source import SourceError
from tests.codegen.helpers import KEYS, RECORDED, SCHEMAS

REFERENCE = RECORDED / "reference" / "dispatch_keys.json"


def _names(raw: int) -> set[str]:
    return {key.name for key in KEYS.runtime if KEYS.contains(raw, key)}


@pytest.mark.parametrize(
    ("name", "value", "raw"),
    [
        ("Undefined", 0, 0),
        ("Dense", 1, 0x10000),
        ("CPU", 49, 0x10001),
        ("Meta", 64, 0x18000),
        ("AutogradCPU", 134, 0x1000000001),
        ("ADInplaceOrView", 19, 1 << 34),
        ("PythonDispatcher", 46, 1 << 61),
        ("Autograd", 150, 0),
        ("CompositeExplicitAutogradNonFunctional", 155, 0),
        ("StartOfDenseBackends", 48, 0x10000),
        ("EndOfDenseBackends", 64, 0x18000),
    ],
)
def test_keys_have_their_numbers_and_sets(name: str, value: int, raw: int) -> None:
    assert KEYS.values[name] == value
    assert KEYS.raw(name) == raw


def test_a_table_has_an_entry_for_each_runtime_key() -> None:
    assert len(KEYS.runtime) == 137
    assert [key.place for key in KEYS.runtime] == list(range(137))
    assert KEYS.runtime[0].name == "Undefined"
    assert KEYS.runtime[-1].name == "PythonDispatcher"


def test_an_alias_covers_its_keys() -> None:
    cpu, other = KEYS.runtime[KEYS.index_of["CPU"]], KEYS.runtime[KEYS.index_of["AutogradOther"]]
    assert KEYS.in_alias(cpu, "CompositeExplicitAutograd")
    assert not KEYS.in_alias(cpu, "Autograd")
    assert KEYS.in_alias(other, "Autograd")
    assert not KEYS.in_alias(KEYS.runtime[0], "CompositeImplicitAutograd")


@pytest.mark.skipif(not REFERENCE.is_file(), reason="the recorded keys are not there")
def test_keys_are_the_recorded_ones() -> None:
    recorded = json.loads(REFERENCE.read_text())
    hidden = set(recorded["not_in_python_enum"])
    members = [(entry["name"], entry["value"]) for entry in recorded["enum"]]
    assert list(KEYS.python_members()) == members
    assert {name: KEYS.raw(name) for name in recorded["raw_repr"]} == recorded["raw_repr"]
    for alias, names in recorded["alias_keys"].items():
        assert _names(KEYS.aliases[alias]) - hidden == set(names) - hidden
    fallbacks = {name: name in KEYS.backend_fallbacks() for name in recorded["backend_fallback"]}
    assert fallbacks == recorded["backend_fallback"]


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    path = tmp_path / "dispatch_keys.yaml"
    path.write_text("backends: []\n")
    with pytest.raises(SourceError, match=r"dispatch_keys.yaml:1: expected a key 'func"):
        read_keys(path)


def test_a_set_of_an_unknown_key_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "dispatch_keys.yaml"
    path.write_text(
        "backends: [{name: CPU}]\nsets: {}\npython_enum: {}\n"
        "functionalities: [{name: Dense, per_backend: ''}]\n"
        "alias_keys: [{name: A, covers: {functionalities: [Nope]}}]\n"
    )
    with pytest.raises(SourceError, match="'Nope', which is not defined"):
        read_keys(path)


def _with_entry(tmp_path: Path, entry: str) -> Path:
    """The project's keys and one more, below PreDispatch."""
    text = (SCHEMAS / "dispatch_keys.yaml").read_text()
    above = "- {name: PreDispatch, fallback: kernel}\n"
    assert text.count(above) == 1
    path = tmp_path / "dispatch_keys.yaml"
    path.write_text(text.replace(above, f"{above}{entry}\n"))
    return path


def test_a_key_is_one_entry(tmp_path: Path) -> None:
    keys = read_keys(_with_entry(tmp_path, "- {name: Audit, fallback: fallthrough}"))
    assert keys.values["Audit"] == keys.values["PythonDispatcher"] - 1 == 46
    assert keys.values["CPU"] == KEYS.values["CPU"] + 1
    assert keys.backend_fallbacks()["Audit"] is True
    members = [name for name, _ in keys.python_members()]
    assert [name for name in members if name != "Audit"] == [n for n, _ in KEYS.python_members()]
    assert "Audit" in members


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("- {name: Audit, fallback: nothing}", "Audit: fallback: expected kernel or fallthrough"),
        ("- {name: Audit, thread: include}", "Audit: unknown key 'thread'"),
        ("- {name: A}\n- {name: B}\n- {name: C}", "a key set has room for 48"),
    ],
)
def test_a_wrong_entry_is_an_error(tmp_path: Path, entry: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_keys(_with_entry(tmp_path, entry))


def _names(raw: int) -> set[str]:
    return {key.name for key in KEYS.runtime if KEYS.contains(raw, key)}


@pytest.mark.parametrize(
    ("key", "within", "without"),
    [
        ("AutogradCPU", {"CPU"}, {"CUDA", "SparseCPU", "Undefined"}),
        ("AutogradCUDA", {"CUDA"}, {"CPU"}),
        ("AutogradMTIA", set(), {"MTIA"}),  # PyTorch's switch leaves it out
        (
            "AutogradOther",
            {"FPGA", "Vulkan", "QuantizedCPU", "SparseCPU", "SparseCsrCUDA", "MkldnnCPU"},
            {"CPU", "CUDA", "NestedTensorCPU", "HIP", "MTIA"},
        ),
        ("AutogradNestedTensor", {"NestedTensorCPU", "NestedTensorMeta"}, {"CPU", "SparseCPU"}),
        ("CPU", set(), {"CPU"}),
        ("Python", set(), {"CPU"}),
    ],
)
def test_backends_that_an_autograd_key_redispatches_to(key, within, without) -> None:
    found = _names(KEYS.redispatch_set(KEYS.runtime[KEYS.index_of[key]]))
    assert within <= found and not without & found
    assert found or not within


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("CPU", {"CPU", "ADInplaceOrView", "AutogradCPU", "AutocastCPU"}),
        ("CUDA", {"CUDA", "ADInplaceOrView", "AutogradCUDA", "AutocastCUDA"}),
        ("Meta", {"Meta", "ADInplaceOrView", "AutogradMeta"}),
        ("FPGA", {"FPGA", "ADInplaceOrView", "AutogradOther"}),
    ],
)
def test_keys_of_a_tensor_of_a_device(key, names) -> None:
    raw = 0
    for name in names:
        raw |= KEYS.raw(name)
    assert KEYS.tensor_set(key) == raw
    assert KEYS.tensor_set(None) == 0


def test_a_table_of_keys_is_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "dispatch_keys.yaml"
    path.write_text("- 3\n")
    with pytest.raises(SourceError, match="expected a mapping with backends, functionalities"):
        read_keys(path)
