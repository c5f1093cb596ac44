"""Key resolution: which registration serves which entry, and the row that a call reads."""

from __future__ import annotations

import gzip
import json

import pytest

from dispatch.codegen.resolve import ROW_AMBIGUOUS, ROW_FALLBACK, ROW_FALLTHROUGH, resolve, row_of
from tests.codegen.helpers import KEYS, RECORDED

TABLES = RECORDED / "golden" / "dispatch_tables.json.gz"


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
    ],
)
def test_a_rule_decides_the_entry(registered, key, served_by, how) -> None:
    assert _entry(registered, key) == (served_by, how)


@pytest.mark.skipif(not TABLES.is_file(), reason="the recorded tables are not there")
def test_entries_are_the_recorded_ones() -> None:
    """361 sets of registrations, as PyTorch resolved them."""
    fallbacks = KEYS.backend_fallbacks()
    for case in json.loads(gzip.decompress(TABLES.read_bytes()))["cases"]:
        given = {r["key"]: r["fallthrough"] for r in case["registrations"] if "error" not in r}
        found = {}
        entries = resolve(KEYS, frozenset(given))
        for key, entry in zip(KEYS.runtime, entries, strict=True):
            if entry.how != "missing":
                skipped = given[entry.key] if entry.key else fallbacks.get(key.name, False)
                found[key.name] = entry.how, skipped and not entry.how.startswith("ambiguous")
        wanted = {k: (v["how"], v["fallthrough"]) for k, v in case["computed_table"].items()}
        assert found == wanted, case["registrations"]


def test_a_row_has_kernel_numbers_and_codes() -> None:
    row = row_of(KEYS, {"SparseCPU": 0, "CompositeImplicitAutograd": 1, "Python": ROW_FALLTHROUGH})
    codes = {key.name: code for key, code in zip(KEYS.runtime, row.entries, strict=True)}
    assert codes["SparseCPU"] == 0
    assert codes["CPU"] == codes["AutogradCPU"] == 1
    assert codes["AutogradOther"] == ROW_AMBIGUOUS
    assert codes["Python"] == ROW_FALLTHROUGH
    assert codes["BackendSelect"] == ROW_FALLBACK


def test_hard_bits_are_the_functionalities_that_a_call_may_not_skip() -> None:
    row = row_of(KEYS, {"CPU": 0, "Python": ROW_FALLTHROUGH, "ADInplaceOrView": 1})
    assert row.hard == KEYS.raw("Dense") | KEYS.raw("ADInplaceOrView")
