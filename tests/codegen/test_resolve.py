"""Key resolution: which registration serves which entry, and the row that a call reads."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from dispatch._C import _dispatch_table
from dispatch.codegen.resolve import ROW_AMBIGUOUS, ROW_FALLBACK, resolve, row_of
from tests.codegen.helpers import KEYS, RECORDED

ALL_TABLES = RECORDED / "golden" / "dispatch_tables.json.gz"
CARRIED_TABLES = Path(__file__).parent.parent / "conformance" / "data" / "tables.json.gz"


def _entry(registered: str, key: str) -> tuple[str | None, str]:
    return tuple(resolve(KEYS, frozenset(registered.split()))[KEYS.index_of[key]])


@pytest.mark.parametrize(
    ("registered", "key", "served_by", "how"),
    [
        ("CPU CompositeExplicitAutograd", "CPU", "CPU", "kernel"),
        (
            "CPU CompositeExplicitAutograd",
            "CUDA",
            "CompositeExplicitAutograd",
            "default backend kernel",
        ),
        (
            "CompositeExplicitAutograd",
            "Undefined",
            "CompositeExplicitAutograd",
            "default backend kernel",
        ),
        ("CompositeExplicitAutograd", "AutogradCPU", None, "backend fallback"),
        (
            "CompositeExplicitAutogradNonFunctional CompositeExplicitAutograd",
            "CPU",
            "CompositeExplicitAutogradNonFunctional",
            "default backend kernel",
        ),
        (
            "CompositeExplicitAutogradNonFunctional CompositeExplicitAutograd",
            "SparseCPU",
            "CompositeExplicitAutograd",
            "default backend kernel",
        ),
        ("CompositeImplicitAutograd", "CPU", "CompositeImplicitAutograd", "math kernel"),
        ("CompositeImplicitAutograd", "AutogradCPU", "CompositeImplicitAutograd", "math kernel"),
        ("CompositeImplicitAutograd", "Undefined", "CompositeImplicitAutograd", "math kernel"),
        ("CPU CompositeImplicitAutograd", "AutogradCPU", None, "backend fallback"),
        (
            "CPU CompositeImplicitAutograd",
            "AutogradCUDA",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        ("SparseCPU CompositeImplicitAutograd", "AutogradOther", None, "ambiguous autogradother"),
        (
            "CompositeImplicitAutogradNestedTensor CompositeImplicitAutograd",
            "NestedTensorCPU",
            "CompositeImplicitAutogradNestedTensor",
            "nested kernel",
        ),
        ("CPU Autograd", "AutogradCPU", "Autograd", "autograd kernel"),
        ("CPU Autograd", "CUDA", None, "missing"),
        (
            "FuncTorchBatchedDecomposition",
            "FuncTorchBatched",
            "FuncTorchBatchedDecomposition",
            "batched kernel",
        ),
        ("CPU", "BackendSelect", None, "backend fallback"),
        ("", "CPU", None, "missing"),
        # a registration for the key itself comes before all aliases
        ("AutogradCPU Autograd CompositeImplicitAutograd", "AutogradCPU", "AutogradCPU", "kernel"),
        ("Undefined CompositeImplicitAutograd", "Undefined", "Undefined", "kernel"),
        ("CPU CompositeImplicitAutograd", "CPU", "CPU", "kernel"),
        # explicit before implicit; and it counts as a kernel of every backend
        (
            "CompositeExplicitAutograd CompositeImplicitAutograd",
            "CUDA",
            "CompositeExplicitAutograd",
            "default backend kernel",
        ),
        (
            "CompositeExplicitAutograd CompositeImplicitAutograd",
            "AutogradCUDA",
            None,
            "backend fallback",
        ),
        (
            "CompositeExplicitAutograd CompositeImplicitAutograd Autograd",
            "AutogradCUDA",
            "Autograd",
            "autograd kernel",
        ),
        (
            "CompositeExplicitAutogradNonFunctional",
            "Undefined",
            "CompositeExplicitAutogradNonFunctional",
            "default backend kernel",
        ),
        ("CompositeExplicitAutogradNonFunctional", "SparseCPU", None, "missing"),
        ("CompositeExplicitAutogradNonFunctional", "AutogradCPU", None, "backend fallback"),
        # the non-functional kernels of backends are no reason to leave a decomposition's autograd
        (
            "CompositeExplicitAutogradNonFunctional CompositeImplicitAutograd",
            "AutogradCPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        # a decomposition serves an autograd key unless a backend below that very key has a kernel
        (
            "SparseCPU CompositeImplicitAutograd",
            "AutogradCPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        (
            "SparseCUDA CompositeImplicitAutograd",
            "AutogradCPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        (
            "MTIA CompositeImplicitAutograd",
            "AutogradMTIA",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        ("Meta CompositeImplicitAutograd", "AutogradMeta", None, "backend fallback"),
        (
            "Meta CompositeImplicitAutograd",
            "AutogradOther",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        ("PrivateUse1 CompositeImplicitAutograd", "AutogradPrivateUse1", None, "backend fallback"),
        ("CPU CompositeImplicitAutograd Autograd", "AutogradCPU", "Autograd", "autograd kernel"),
        (
            "CPU CompositeImplicitAutograd Autograd",
            "AutogradCUDA",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        (
            "AutogradCPU CompositeImplicitAutograd",
            "CPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        # AutogradOther serves many backends at once: a kernel of one makes a decomposition doubtful
        ("FPGA CompositeImplicitAutograd", "AutogradOther", None, "ambiguous autogradother"),
        (
            "FPGA CompositeImplicitAutograd CompositeExplicitAutograd",
            "AutogradOther",
            None,
            "ambiguous autogradother",
        ),
        (
            "FPGA CompositeImplicitAutograd AutogradOther",
            "AutogradOther",
            "AutogradOther",
            "kernel",
        ),
        (
            "CPU CompositeImplicitAutograd",
            "AutogradOther",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        ("FPGA", "AutogradOther", None, "backend fallback"),
        ("FPGA Autograd", "AutogradOther", "Autograd", "autograd kernel"),
        (
            "FPGA CompositeImplicitAutograd",
            "AutogradCPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        # nested tensors
        (
            "CompositeImplicitAutogradNestedTensor",
            "AutogradNestedTensor",
            "CompositeImplicitAutogradNestedTensor",
            "nested kernel",
        ),
        ("CompositeImplicitAutogradNestedTensor", "CPU", None, "missing"),
        (
            "CompositeImplicitAutograd",
            "NestedTensorCPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        (
            "CompositeExplicitAutograd CompositeImplicitAutogradNestedTensor",
            "AutogradNestedTensor",
            "CompositeImplicitAutogradNestedTensor",
            "nested kernel",
        ),
        # batching
        ("FuncTorchBatchedDecomposition", "CPU", None, "missing"),
        (
            "FuncTorchBatchedDecomposition CompositeImplicitAutograd",
            "CPU",
            "CompositeImplicitAutograd",
            "math kernel",
        ),
        ("CompositeImplicitAutograd", "FuncTorchBatched", None, "backend fallback"),
        # keys that no alias stands for
        ("CompositeImplicitAutograd CompositeExplicitAutograd", "Python", None, "backend fallback"),
        ("CompositeImplicitAutograd Autograd", "Tracer", None, "backend fallback"),
        ("CompositeExplicitAutograd", "Conjugate", None, "backend fallback"),
        ("Autograd", "ADInplaceOrView", None, "backend fallback"),
        ("Autograd", "Undefined", None, "missing"),
    ],
)
def test_a_rule_decides_the_entry(registered, key, served_by, how) -> None:
    assert _entry(registered, key) == (served_by, how)


def check_tables(cases: list[dict[str, Any]]) -> None:
    """Sets of registrations, as PyTorch resolved them."""
    fallbacks = KEYS.backend_fallbacks()
    for case in cases:
        given = {r["key"]: r["fallthrough"] for r in case["registrations"] if "error" not in r}
        found = {}
        entries = resolve(KEYS, frozenset(given))
        for key, entry in zip(KEYS.runtime, entries, strict=True):
            if entry.how != "missing":
                skipped = given[entry.key] if entry.key else fallbacks.get(key.name, False)
                found[key.name] = entry.how, skipped and not entry.how.startswith("ambiguous")
        wanted = {k: (v["how"], v["fallthrough"]) for k, v in case["computed_table"].items()}
        assert found == wanted, case["registrations"]


def test_entries_are_the_recorded_ones() -> None:
    cases = json.loads(gzip.decompress(CARRIED_TABLES.read_bytes()))
    assert len(cases) > 40
    check_tables(cases)


@pytest.mark.skipif(not ALL_TABLES.is_file(), reason="the recorded tables are not there")
def test_entries_are_all_the_recorded_ones() -> None:
    check_tables(json.loads(gzip.decompress(ALL_TABLES.read_bytes()))["cases"])


CHOSEN = [
    *("CPU", "FPGA", "SparseCPU", "NestedTensorCPU", "Meta", "AutogradCPU", "AutogradOther"),
    *("FuncTorchBatched", "Autograd", "CompositeImplicitAutograd", "CompositeExplicitAutograd"),
    *("CompositeImplicitAutogradNestedTensor", "CompositeExplicitAutogradNonFunctional"),
    "FuncTorchBatchedDecomposition",
]


@pytest.mark.parametrize("pair", [*itertools.combinations(CHOSEN, 2)], ids="-".join)
def test_the_core_resolves_as_the_generator_does(library, pair) -> None:
    """The same rules are written twice: here for emitted rows, in `_C/operator` at run time."""
    fallbacks = KEYS.backend_fallbacks()
    for third in ("CompositeImplicitAutograd", "CPU", "Python"):
        registered = dict.fromkeys((*pair, third))
        lib = library("resolve_twice", "DEF")
        lib.define("f(Tensor x) -> Tensor")
        for key in registered:
            lib.impl("f", lambda x: x, key)
        core = {key: (how, skip) for key, _, how, skip in _dispatch_table("resolve_twice::f")}
        lib._destroy()
        found = {}
        entries = resolve(KEYS, frozenset(registered))
        for key, entry in zip(KEYS.runtime, entries, strict=True):
            if entry.how != "missing":
                fallback = entry.how == "backend fallback"
                found[key.name] = entry.how, fallback and fallbacks.get(key.name, False)
        assert core == found, registered


def test_a_row_has_kernel_numbers_and_codes() -> None:
    kernels = {"SparseCPU": 0, "CompositeImplicitAutograd": 1, "Python": 2}
    row = row_of(KEYS, kernels, skipped=frozenset({"Python"}))
    codes = {key.name: code for key, code in zip(KEYS.runtime, row.entries, strict=True)}
    assert codes["SparseCPU"] == 0
    assert codes["CPU"] == codes["AutogradCPU"] == 1
    assert codes["AutogradOther"] == ROW_AMBIGUOUS
    assert codes["Python"] == 2
    assert codes["BackendSelect"] == ROW_FALLBACK


def test_a_registration_of_the_table_serves_by_its_number() -> None:
    """Numbers are those of the registration that serves, not of the key."""
    kernels = {"CompositeExplicitAutograd": 3, "Autograd": 5, "CPU": 4}
    row = row_of(KEYS, kernels, skipped=frozenset({"CPU"}))
    codes = {key.name: code for key, code in zip(KEYS.runtime, row.entries, strict=True)}
    assert (codes["CUDA"], codes["AutogradCUDA"], codes["CPU"]) == (3, 5, 4)
    assert codes["Undefined"] == 3
    assert len(row.entries) == len(KEYS.runtime)


def test_ambiguous_entries_may_not_be_skipped() -> None:
    skipped = frozenset({"CompositeImplicitAutograd"})
    row = row_of(KEYS, {"FPGA": 0, "CompositeImplicitAutograd": 1}, skipped)
    assert row.entries[KEYS.index_of["AutogradOther"]] == ROW_AMBIGUOUS
    assert row.hard == KEYS.raw("FPGA") | KEYS.raw("AutogradOther")


def test_hard_bits_are_the_functionalities_that_a_call_may_not_skip() -> None:
    kernels = {"CPU": 0, "Python": 2, "ADInplaceOrView": 1}
    row = row_of(KEYS, kernels, skipped=frozenset({"Python"}))
    assert row.hard == KEYS.raw("Dense") | KEYS.raw("ADInplaceOrView")
