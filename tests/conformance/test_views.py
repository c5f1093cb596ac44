"""Views, and outputs whose strides follow their argument, as PyTorch made them on random geometry.

`record_views` explains the records; each is replayed eagerly, views with fake tensors too.
"""

import gzip
import json
from typing import Any

import numpy as np
import pytest

import dispatch
from dispatch import FakeTensorMode, ops
from tests.conformance.record_views import BASE, DATA, VIEWS

pytestmark = pytest.mark.usefixtures("same_state_after")

CASES = json.loads(gzip.decompress((DATA / "views.json.gz").read_bytes()))
NAMES = sorted({case[0] for case in CASES})


def called(name: str, base: dispatch.Tensor, geometry: list[Any], args: list[Any]) -> Any:
    """The outputs of the operator, or the name of the error's type."""
    packet, _, overload = name.partition(".")
    op = getattr(getattr(ops.aten, packet), overload)
    x = ops.aten.as_strided.default(base, *geometry)
    try:
        result = op(x, *args)
    except Exception as error:
        return type(error).__name__
    return list(result) if isinstance(result, (list, tuple)) else [result]


def geometries(outputs: Any) -> Any:
    if isinstance(outputs, str):
        return outputs
    return [[list(t.shape), list(t.stride()), t.storage_offset()] for t in outputs]


def cases_of(name: str) -> list[list[Any]]:
    return [case[1:] for case in CASES if case[0] == name]


@pytest.mark.parametrize("name", NAMES)
def test_eager_geometry_is_the_recorded_one(name):
    for *geometry, args, want, _ in cases_of(name):
        outputs = called(name, dispatch.arange(float(BASE)), geometry, args)
        assert geometries(outputs) == want, (geometry, args)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_fake_geometry_is_the_recorded_one(name):
    with FakeTensorMode():
        base = dispatch.empty(BASE)
        for *geometry, args, _, want in cases_of(name):
            for _ in range(2 if want else 0):  # the second answer is the cache's
                assert geometries(called(name, base, geometry, args)) == want, (geometry, args)


@pytest.mark.parametrize("name", sorted(VIEWS))
def test_views_show_the_elements_of_their_base(name):
    """A view's values are those at the places that its recorded geometry names."""
    values = np.arange(float(BASE), dtype=np.float32)
    for *geometry, args, want, _ in cases_of(name):
        base = dispatch.arange(float(BASE))
        outputs = called(name, base, geometry, args)
        if isinstance(outputs, str):
            continue
        for t, (sizes, strides, offset) in zip(outputs, want, strict=True):
            if t.untyped_storage() is base.untyped_storage():
                steps = [4 * s for s in strides]
                seen = np.lib.stride_tricks.as_strided(values[offset:], sizes, steps)
                assert np.array_equal(t.numpy(), seen), (geometry, args)
