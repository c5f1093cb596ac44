"""Keys and key sets: names, numbers, sets and questions, against the schema's rules and recordings.

The schema is expanded here a second time, in a few lines of Python, so that generator and core are
both held to `schemas/dispatch_keys.yaml`; recorded facts are compared too where they are at hand.
"""

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, strategies as st

from dispatch._C import keys as core
from dispatch._C.keys import DispatchKey, DispatchKeySet

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = yaml.safe_load((ROOT / "schemas" / "dispatch_keys.yaml").read_text())
DEVICES = yaml.safe_load((ROOT / "schemas" / "types.yaml").read_text())["devices"]
RECORDED = ROOT.parent / "shared" / "reference" / "dispatch_keys.json"

BACKENDS = [backend["name"] for backend in SCHEMA["backends"]]
FUNCTIONALITIES = SCHEMA["functionalities"]
PER_BACKEND = {f["name"]: f["per_backend"] for f in FUNCTIONALITIES if "per_backend" in f}
BACKEND_BITS = (1 << len(BACKENDS)) - 1
ALL_BITS = (1 << (16 + len(FUNCTIONALITIES))) - 1
FUNCTIONALITY_BIT = {f["name"]: 1 << (15 + i) for i, f in enumerate(FUNCTIONALITIES, 1)}


def expand_numbers() -> dict[str, int]:
    """Enum value by name, markers and second names included."""
    numbers = {"Undefined": 0} | {f["name"]: i for i, f in enumerate(FUNCTIONALITIES, 1)}
    number = len(FUNCTIONALITIES) + 2
    for functionality, prefix in PER_BACKEND.items():
        numbers[f"StartOf{functionality}Backends"] = number
        numbers |= {prefix + name: number + 1 + i for i, name in enumerate(BACKENDS)}
        number += len(BACKENDS) + 1
        numbers[f"EndOf{functionality}Backends"] = number - 1
    return numbers | {alias["name"]: number + i for i, alias in enumerate(SCHEMA["alias_keys"])}


def key_of(name: str) -> DispatchKey:
    """The key by number: some names are not for registrations."""
    return DispatchKey(NUMBERS[name])


def runtime_names() -> list[str]:
    """Runtime keys, lowest priority first, without Undefined."""
    return [
        name
        for f in FUNCTIONALITIES
        for name in (
            [f["per_backend"] + b for b in BACKENDS] if "per_backend" in f else [f["name"]]
        )
    ]


def raw_of_name(name: str) -> int:
    """Bits of a runtime key."""
    for functionality, prefix in PER_BACKEND.items():
        backend = name.removeprefix(prefix)
        if name == prefix + backend and backend in BACKENDS:
            return FUNCTIONALITY_BIT[functionality] | 1 << BACKENDS.index(backend)
    return FUNCTIONALITY_BIT[name]


def raw_of_spec(spec: dict) -> int:
    """Bits of a set spec of the schema."""
    backends = spec.get("backends", [])
    chosen = BACKENDS if backends == "all" else backends
    raw = sum(1 << BACKENDS.index(b) for b in chosen if b not in spec.get("without_backends", []))
    return raw | sum(FUNCTIONALITY_BIT[name] for name in spec["functionalities"])


NUMBERS = expand_numbers()
RUNTIME = runtime_names()
KEYS = st.sampled_from(RUNTIME)
RAW = st.integers(0, ALL_BITS)


def members(keys: DispatchKeySet) -> list[str]:
    """Names in a set, read off its repr."""
    inside = repr(keys).removeprefix("DispatchKeySet(").removesuffix(")")
    return inside.split(", ") if inside else []


# --- DispatchKey


def test_members_follow_the_order_of_the_schema():
    expected = list(SCHEMA["python_enum"]["first"])
    for functionality in SCHEMA["python_enum"]["then_per_backend"]:
        expected += [functionality, f"StartOf{functionality}Backends"]
        expected += [PER_BACKEND[functionality] + backend for backend in BACKENDS]
        expected.append(f"EndOf{functionality}Backends")
    assert list(DispatchKey.__members__) == expected


def test_members_have_the_numbers_of_the_schema():
    assert {n: int(k) for n, k in DispatchKey.__members__.items()}.items() <= NUMBERS.items()
    assert [int(k) for k in (DispatchKey.CPU, DispatchKey.Autograd)] == [49, 150]


@pytest.mark.parametrize("name", list(DispatchKey.__members__))
def test_member_is_an_attribute_and_a_singleton(name):
    key = getattr(DispatchKey, name)
    assert key is DispatchKey.__members__[name]
    assert key is core._dispatch_key_parse(key)
    assert key == DispatchKey(key.value)
    assert hash(key) == hash(DispatchKey(key.value)) == key.value


def test_end_marker_is_a_second_name_of_the_last_backend():
    assert DispatchKey.EndOfDenseBackends is DispatchKey.Meta
    assert DispatchKey.EndOfDenseBackends.name == "Meta"


def test_key_prints_like_an_enum_member():
    assert repr(DispatchKey.CPU) == "<DispatchKey.CPU: 49>"
    assert str(DispatchKey.CPU) == "DispatchKey.CPU"
    assert (DispatchKey.CPU.name, DispatchKey.CPU.value) == ("CPU", 49)
    assert repr(DispatchKey(300)) == "<DispatchKey.???: 300>"


def test_some_keys_have_a_number_but_no_attribute():
    hidden = [f["name"] for f in FUNCTIONALITIES if not f.get("python", True)]
    assert len(hidden) == 16
    for name in hidden:
        assert not hasattr(DispatchKey, name)
        assert name not in DispatchKey.__members__
        assert core._dispatch_key_name(DispatchKey(NUMBERS[name])) == name


def test_key_equals_only_keys():
    assert DispatchKey.CPU != 49
    assert DispatchKey.CPU != "CPU"
    assert DispatchKey.CPU != DispatchKey.CUDA
    assert DispatchKey(49) == DispatchKey(DispatchKey.CPU)


def test_keys_are_not_ordered_and_the_class_is_not_iterable():
    with pytest.raises(TypeError):
        _ = DispatchKey.CPU < DispatchKey.CUDA
    with pytest.raises(TypeError):
        iter(DispatchKey)


def test_key_serves_as_an_index():
    assert list(range(60))[DispatchKey.CPU] == 49


@pytest.mark.parametrize("value", [-1, 1 << 16, "CPU", 49.0, None])
def test_key_of_no_number_is_a_type_error(value):
    with pytest.raises(TypeError, match="DispatchKey"):
        DispatchKey(value)


def test_key_survives_pickling_and_copying_as_the_same_object():
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(DispatchKey.CPU, protocol)) is DispatchKey.CPU
    assert copy.copy(DispatchKey.CPU) is copy.deepcopy(DispatchKey.CPU) is DispatchKey.CPU


def test_members_and_attributes_cannot_be_changed():
    DispatchKey.__members__["CPU"] = DispatchKey.CUDA
    assert DispatchKey.__members__["CPU"] is DispatchKey.CPU
    with pytest.raises(TypeError):
        DispatchKey.CPU = DispatchKey.CUDA
    with pytest.raises(AttributeError):
        DispatchKey.CPU.value = 3


# --- DispatchKeySet


@pytest.mark.parametrize("name", RUNTIME)
def test_one_key_set_has_the_bits_of_its_key(name):
    keys = DispatchKeySet(DispatchKey(NUMBERS[name]))
    assert keys.raw_repr() == raw_of_name(name)
    assert members(keys) == [name]
    assert keys.highestPriorityTypeId() == DispatchKey(NUMBERS[name])


def test_alias_keys_and_undefined_have_no_bits():
    for name in ["Undefined", *(alias["name"] for alias in SCHEMA["alias_keys"])]:
        assert DispatchKeySet(name).raw_repr() == 0
    assert repr(DispatchKeySet("Undefined")) == "DispatchKeySet()"


def test_functionality_and_its_marker_are_its_bit():
    assert DispatchKeySet(DispatchKey.Sparse).raw_repr() == FUNCTIONALITY_BIT["Sparse"]
    assert DispatchKeySet(DispatchKey.StartOfSparseBackends) == DispatchKeySet("Sparse")
    assert DispatchKeySet("Sparse").highestPriorityTypeId() == DispatchKey.StartOfSparseBackends


def test_functionalities_and_backends_combine():
    keys = DispatchKeySet("CPU") | DispatchKeySet("SparseCUDA")
    assert members(keys) == ["CPU", "CUDA", "SparseCPU", "SparseCUDA"]


@given(RAW, RAW)
def test_set_operations_are_bit_operations(a, b):
    left, right = DispatchKeySet.from_raw_repr(a), DispatchKeySet.from_raw_repr(b)
    assert (left | right).raw_repr() == a | b
    assert (left & right).raw_repr() == a & b
    assert (left - right).raw_repr() == a & ~(b & ~BACKEND_BITS)
    assert (left == right) == (a == b)
    assert (left != right) == (a != b)
    assert (left.raw_repr(), right.raw_repr()) == (a, b)


@given(RAW, RAW, RAW)
def test_union_and_intersection_form_a_lattice(a, b, c):
    x, y, z = (DispatchKeySet.from_raw_repr(raw) for raw in (a, b, c))
    assert x | y == y | x
    assert (x | y) | z == x | (y | z)
    assert x & (y | z) == (x & y) | (x & z)
    assert x | (x & y) == x


@given(RAW, KEYS)
def test_add_and_remove_one_key(raw, name):
    key = DispatchKey(NUMBERS[name])
    keys = DispatchKeySet.from_raw_repr(raw)
    assert keys.add(key) == keys | DispatchKeySet(key)
    assert keys.add(key).has(key)
    assert keys.remove(key) == keys - DispatchKeySet(key)
    assert not keys.remove(key).has(key)
    assert keys.remove(key).raw_repr() & BACKEND_BITS == raw & BACKEND_BITS


@given(RAW, KEYS)
def test_has_agrees_with_the_listed_members(raw, name):
    keys = DispatchKeySet.from_raw_repr(raw)
    assert keys.has(DispatchKey(NUMBERS[name])) == (name in members(keys))


@given(RAW)
def test_members_are_listed_by_rising_priority(raw):
    keys = DispatchKeySet.from_raw_repr(raw)
    names = members(keys)
    assert names == [n for n in RUNTIME if raw_of_name(n) & raw == raw_of_name(n)]
    if names and raw & BACKEND_BITS:
        assert keys.highestPriorityTypeId() == DispatchKey(NUMBERS[names[-1]])


@given(RAW)
def test_set_round_trips(raw):
    keys = DispatchKeySet.from_raw_repr(raw)
    assert pickle.loads(pickle.dumps(keys)) == copy.deepcopy(keys) == keys
    assert keys.__getstate__() == (raw,)
    assert str(keys) == repr(keys) == core._dispatch_keyset_to_string(keys)


def test_set_takes_names_and_nothing_else():
    assert DispatchKeySet("CPU") == DispatchKeySet(DispatchKey.CPU)
    with pytest.raises(RuntimeError, match="NoSuchKey"):
        DispatchKeySet("NoSuchKey")
    for wrong in (49, None, [DispatchKey.CPU], 1.5):
        with pytest.raises(TypeError):
            DispatchKeySet(wrong)
    with pytest.raises(TypeError):
        DispatchKeySet()


@pytest.mark.parametrize("raw", [-1, 1 << 64, 1.0, "x", None])
def test_set_of_no_raw_value_is_a_type_error(raw):
    with pytest.raises(TypeError, match="from_raw_repr"):
        DispatchKeySet.from_raw_repr(raw)


def test_set_combines_with_sets_only():
    keys = DispatchKeySet("CPU")
    for combine in (keys.__or__, keys.__and__, keys.__sub__, keys.__eq__, keys.__ne__):
        with pytest.raises(TypeError):
            combine(DispatchKey.CPU)
    with pytest.raises(TypeError):
        _ = keys | 1
    with pytest.raises(TypeError):
        _ = 1 - keys
    with pytest.raises(TypeError):
        hash(keys)


def test_set_is_no_container():
    for ask in (iter, len):
        with pytest.raises(TypeError):
            ask(DispatchKeySet("CPU"))


def test_sets_do_not_leak():
    """A free list serves short-lived sets; the count of live blocks does not grow with use."""
    a, b = DispatchKeySet("CPU"), DispatchKeySet("AutogradCPU")

    def use(times):
        for _ in range(times):
            _ = (a | b) & a - b
        return sys.getallocatedblocks()

    use(1000)
    assert abs(use(20000) - use(20000)) < 100


# --- names

# What PyTorch's parser has no name for.
NAMELESS = {
    functionality + backend
    for functionality, backends in {
        "Quantized": "HIP XLA MPS IPU HPU VE Lazy MTIA MAIA PrivateUse2 PrivateUse3 Meta",
        "Sparse": "XLA IPU HPU Lazy MTIA MAIA PrivateUse2 PrivateUse3",
        "SparseCsr": "XLA IPU HPU Lazy MTIA MAIA PrivateUse2 PrivateUse3",
        "NestedTensor": "HIP XLA MPS IPU VE Lazy MTIA MAIA PrivateUse2 PrivateUse3",
        "Autograd": "HIP VE MTIA MAIA",
    }.items()
    for backend in backends.split()
}


@pytest.mark.parametrize(
    "name", [*RUNTIME, *PER_BACKEND, *(a["name"] for a in SCHEMA["alias_keys"])]
)
def test_names_parse_to_their_numbers(name):
    if name in NAMELESS:
        assert core._parse_dispatch_key(name) is None
        with pytest.raises(RuntimeError):
            core._dispatch_key_parse(name)
        return
    assert int(core._dispatch_key_parse(name)) == NUMBERS[name]
    assert int(core._parse_dispatch_key(name)) == NUMBERS[name]
    assert core._dispatch_key_name(name) == name


@pytest.mark.parametrize("name", ["", "cpu", "CPUx", "StartOfDenseBackends", "EndOfDenseBackends"])
def test_other_names_do_not_parse(name):
    assert core._parse_dispatch_key(name) is None
    with pytest.raises(RuntimeError, match="could not parse"):
        core._dispatch_key_parse(name)


def test_parsing_something_else_is_a_type_error():
    for parse in (core._parse_dispatch_key, core._dispatch_key_parse, core._dispatch_key_name):
        with pytest.raises(TypeError):
            parse(3)


@pytest.mark.parametrize(
    "device", [d for d in DEVICES if "key" in d and d.get("string", True)]
)
def test_key_for_device(device):
    assert core._dispatch_key_for_device(device["name"]) == device["key"]


@pytest.mark.parametrize("device", ["metal", "mkldnn", "opengl", "cuda:1", "nope", ""])
def test_no_key_for_device(device):
    with pytest.raises(RuntimeError, match="_dispatch_key_for_device"):
        core._dispatch_key_for_device(device)


def test_key_for_something_that_is_no_device_name():
    with pytest.raises(TypeError):
        core._dispatch_key_for_device(DispatchKey.CPU)


RENAME = """
from dispatch._C import keys as core
from dispatch._C.keys import DispatchKey, DispatchKeySet
def refused(name):
    try: core._rename_privateuse1_backend(name)
    except RuntimeError: return True
assert core._get_privateuse1_backend_name() == "privateuseone"
assert refused("cuda") and refused("") and refused(3)
assert core._get_privateuse1_backend_name() == "privateuseone"
core._rename_privateuse1_backend("npu")
core._rename_privateuse1_backend("npu")
assert refused("other")
assert core._get_privateuse1_backend_name() == "npu"
assert core._dispatch_key_parse("NPU") is DispatchKey.PrivateUse1
assert core._dispatch_key_parse("AutogradNPU") is DispatchKey.AutogradPrivateUse1
assert core._dispatch_key_parse("SparsePrivateUse1") is DispatchKey.SparsePrivateUse1
assert core._parse_dispatch_key("npu") is None and core._parse_dispatch_key("AutogradNpu") is None
assert str(DispatchKeySet("NPU")) == "DispatchKeySet(PrivateUse1)"
assert core._dispatch_key_for_device("npu") == "PrivateUse1"
assert core._dispatch_key_for_device("privateuseone") == "PrivateUse1"
"""


def test_renamed_backend_parses_and_prints_as_before():
    """In a process of its own, because the name stays."""
    subprocess.run([sys.executable, "-c", RENAME], check=True, cwd=ROOT, timeout=60)


# --- questions


def test_full_sets():
    assert core._dispatch_num_backends() == len(BACKENDS) == 16
    assert core._dispatch_keyset_full().raw_repr() == ALL_BITS
    assert members(core._dispatch_keyset_full()) == RUNTIME


@given(KEYS)
def test_full_after_is_what_lies_below_and_the_python_dispatcher(name):
    functionality = core._to_functionality_key(DispatchKey(NUMBERS[name])).value
    raw = (1 << (15 + functionality)) - 1 | FUNCTIONALITY_BIT["PythonDispatcher"]
    assert core._dispatch_keyset_full_after(DispatchKey(NUMBERS[name])).raw_repr() == raw


def test_named_sets():
    sets = SCHEMA["sets"]
    assert core._dispatch_autogradother_backends.raw_repr() == raw_of_spec(
        sets["autogradother_backends"]
    )
    assert core._additional_keys_to_prop_for_wrapper_tensors.raw_repr() == raw_of_spec(
        sets["additional_keys_to_prop_for_wrapper_tensors"]
    )
    assert core._after_autograd_keyset == core._dispatch_keyset_full_after("AutogradOther")
    assert core._after_ADInplaceOrView_keyset == core._dispatch_keyset_full_after("ADInplaceOrView")
    assert not core._after_autograd_keyset.has("AutogradCPU")


@pytest.mark.parametrize("alias", SCHEMA["alias_keys"], ids=lambda alias: alias["name"])
def test_alias_key_covers_what_the_schema_says(alias):
    covered = raw_of_spec(alias["covers"])
    assert core._dispatch_is_alias_key(alias["name"])
    for name in RUNTIME:
        raw = raw_of_name(name)
        assert core._dispatch_is_included_in_alias(key_of(name), alias["name"]) == (
            covered & raw == raw
        )
    assert core._dispatch_is_included_in_alias(alias["name"], alias["name"])
    assert not core._dispatch_is_included_in_alias("Undefined", alias["name"])


def test_runtime_key_covers_itself_alone():
    assert not core._dispatch_is_alias_key("CPU")
    assert core._dispatch_is_included_in_alias("CPU", "CPU")
    assert not core._dispatch_is_included_in_alias("CPU", "CUDA")
    with pytest.raises(RuntimeError, match="Undefined"):
        core._dispatch_is_included_in_alias("CPU", "Undefined")


def test_backend_keys_below_autograd_keys():
    below = core._dispatch_get_backend_keyset_from_autograd
    for backend in SCHEMA["backends"]:
        expected = [backend["name"]] if backend.get("redispatch", True) else []
        assert members(below(key_of("Autograd" + backend["name"]))) == expected
    assert below("AutogradOther") == core._dispatch_autogradother_backends
    nested = raw_of_spec(SCHEMA["sets"]["nested_tensor_backends"])
    assert below("AutogradNestedTensor").raw_repr() == nested
    assert below("CPU").raw_repr() == below("Autograd").raw_repr() == 0


def test_functionality_of_a_key_and_back():
    for functionality, prefix in PER_BACKEND.items():
        backend_keys = core._functionality_to_backend_keys(functionality)
        assert [key.name for key in backend_keys] == [prefix + backend for backend in BACKENDS]
        assert {core._to_functionality_key(key).name for key in backend_keys} == {functionality}
    assert core._functionality_to_backend_keys("Python") == [DispatchKey.Python]
    assert core._to_functionality_key("Python") is DispatchKey.Python
    assert core._to_functionality_key("Autograd") is DispatchKey.Undefined


# --- recorded facts


@pytest.fixture(scope="module")
def recorded():
    if not RECORDED.exists():
        pytest.skip("no recorded facts about keys here")
    return json.loads(RECORDED.read_text())


def test_recorded_enum(recorded):
    ours = [{"name": n, "value": k.value} for n, k in DispatchKey.__members__.items()]
    assert ours == recorded["enum"]
    hidden = [f["name"] for f in FUNCTIONALITIES if not f.get("python", True)]
    assert sorted(hidden) == sorted(recorded["not_in_python_enum"])


def test_recorded_raw_values(recorded):
    ours = {
        name: DispatchKeySet(DispatchKey(NUMBERS[name])).raw_repr() for name in recorded["raw_repr"]
    }
    assert ours == recorded["raw_repr"]
    assert core._dispatch_keyset_full().raw_repr() == recorded["keyset_full_raw_repr"]
    assert core._dispatch_num_backends() == recorded["num_backends"]


def test_recorded_sets(recorded):
    assert members(core._dispatch_keyset_full()) == recorded["keyset_full"]
    assert members(core._dispatch_autogradother_backends) == recorded["autogradother_backends"]
    assert members(core._after_autograd_keyset) == recorded["after_autograd_keyset"]
    assert members(core._after_ADInplaceOrView_keyset) == recorded["after_ADInplaceOrView_keyset"]
    additional = core._additional_keys_to_prop_for_wrapper_tensors
    assert members(additional) == recorded["additional_keys_to_prop_for_wrapper_tensors"]


def test_recorded_answers_by_key(recorded):
    assert {
        name: members(core._dispatch_keyset_full_after(key_of(name)))
        for name in recorded["full_after"]
    } == recorded["full_after"]
    assert {
        name: core._to_functionality_key(key_of(name)).name
        for name in recorded["to_functionality_key"]
    } == recorded["to_functionality_key"]
    assert {
        name: [key.name for key in core._functionality_to_backend_keys(key_of(name))]
        for name in recorded["functionality_to_backend_keys"]
    } == recorded["functionality_to_backend_keys"]
    assert {
        name: members(core._dispatch_get_backend_keyset_from_autograd(key_of(name)))
        for name in recorded["backend_keyset_from_autograd"]
    } == recorded["backend_keyset_from_autograd"]


def test_recorded_alias_members(recorded):
    asked = recorded["to_functionality_key"]
    for alias, covered in recorded["alias_keys"].items():
        ours = [name for name in asked if core._dispatch_is_included_in_alias(key_of(name), alias)]
        assert sorted(ours) == sorted(covered)


def test_recorded_keys_for_devices(recorded):
    for device, key in recorded["key_for_device"].items():
        if key.startswith("error: "):
            with pytest.raises(RuntimeError):
                core._dispatch_key_for_device(device)
        else:
            assert core._dispatch_key_for_device(device) == key


def test_recorded_fallbacks(recorded):
    """The schema's list of fallbacks, of which the core's dispatcher makes its array."""
    ours = {f["name"]: f["fallback"] for f in FUNCTIONALITIES if "fallback" in f}
    for backend in SCHEMA["backends"]:
        for name in backend.get("fallbacks", []):
            ours[PER_BACKEND[name] + backend["name"]] = "kernel"
    assert {k: k in ours for k in recorded["backend_fallback"]} == recorded["backend_fallback"]
    table = recorded["default_table_for_CompositeExplicitAutograd"]
    for name, how in table.items():
        if name != "Meta" and how != "default backend kernel":
            kind = "fallthrough" if how.startswith("fallthrough") else "kernel"
            assert ours[name] == kind


def test_below_the_number_behind_all_functionalities_are_all_of_them():
    """As PyTorch, whose EndOfFunctionalityKeys has no name in Python."""
    end = DispatchKey(len(FUNCTIONALITIES) + 1)
    assert core._dispatch_keyset_full_after(end).raw_repr() == ALL_BITS


def test_a_marker_is_called_by_its_functionality_without_a_backend():
    named = [core._dispatch_key_name(getattr(DispatchKey, f"StartOf{name}Backends"))
             for name in ("Dense", "Quantized", "AutogradFunctionality")]  # fmt: skip
    assert named == ["Undefined", "QuantizedUndefined", "AutogradUndefined"]
