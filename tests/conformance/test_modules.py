"""Modules under `as_torch` are PyTorch's: text, state, drawn weights, results."""

import gzip
import json
import math
from types import SimpleNamespace

import pytest

import dispatch
from dispatch.as_torch.nn import modules, utils
from dispatch.as_torch.nn.utils import parametrizations, prune
from tests.conformance.record_modules import CASES, DATA, record

NN = SimpleNamespace(**{name: getattr(modules, name) for name in modules.__all__}, utils=utils)
PARTS = parametrizations, prune  # of `utils`, by their names
RECORDED = json.loads(gzip.decompress((DATA / "modules.json.gz").read_bytes()))


def near(found, wanted):
    """Whether numbers agree to five digits, and all else exactly."""
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(near(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(map(near, found, wanted))
    if isinstance(wanted, float):
        same = math.isclose(found, wanted, rel_tol=1e-5, abs_tol=2e-4)
        return same or (math.isnan(found) and math.isnan(wanted))
    return found == wanted


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_a_module_is_what_it_is_in_pytorch(case):
    found, wanted = record(case, NN, dispatch), RECORDED[case]
    found["text"] = found["text"].replace("dispatch.", "torch.")
    assert found["text"] == wanted["text"]
    assert near(found, wanted), (found, wanted)


def test_every_module_has_a_case():
    named = {name for name in modules.__all__ if f"{name}(" in CASES or f"{name}." in CASES}
    classes = {name for name in modules.__all__ if not name.startswith("register_")}
    assert named == classes - {"Module", "LazyModuleMixin", "RNNCellBase"}
