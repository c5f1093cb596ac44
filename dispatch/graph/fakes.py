"""Tensors that runs are made with: fake ones from metadata, with symbols or without, weights that
share a record, random values.

`module` calls these under the fake mode that a run uses; nothing here reads a weight.
"""

from typing import Any

import numpy as np

import dispatch
from dispatch._C.generated.type_names import DTYPE_BYTES
from dispatch.graph.cases import Symbols
from dispatch.graph.expr import symbolic_value
from dispatch.graph.program import TensorMeta
from dispatch.graph.weights import TensorSpec, Weight

__all__ = ["fake_tensor", "fake_weight", "in_symbols", "random_tensor"]


def fake_tensor(spec: TensorSpec, device: str | None) -> Any:
    """A new tensor with this metadata, under the fake mode that is on."""
    dtype = getattr(dispatch, spec.dtype)
    place = device or spec.device
    if spec.offset == 0:
        return dispatch.empty_strided(spec.sizes, spec.strides, dtype=dtype, device=place)
    base = dispatch.empty_strided((spec.storage_elements,), (1,), dtype=dtype, device=place)
    return dispatch.as_strided(base, spec.sizes, spec.strides, spec.offset)

def in_symbols(spec: TensorSpec, meta: TensorMeta, symbols: Symbols | None) -> TensorSpec:
    """The metadata with symbols where the file has them."""
    if symbols is None:
        return spec
    known = symbols.numbers
    return spec._replace(
        sizes=tuple(symbolic_value(s, known) for s in meta.sizes),
        strides=tuple(symbolic_value(s, known) for s in meta.strides),
        offset=symbolic_value(meta.storage_offset, known),
    )

def fake_weight(weight: Weight, device: str | None, shared: dict[str, Any]) -> Any:
    """A fake weight; those on one record share a storage."""
    spec = weight.spec
    if weight.record is None:
        return fake_tensor(spec, device)
    key = f"{weight.record} {spec.dtype}"
    if key not in shared:
        shared[key] = _fake_storage(weight, device, shared)
    return dispatch.as_strided(shared[key], spec.sizes, spec.strides, spec.offset)

def _fake_storage(weight: Weight, device: str | None, shared: dict[str, Any]) -> Any:
    """All elements of a record in one row: of the dtype, over the storage that the record's other
    dtypes share."""
    record = weight.record or ""
    if record not in shared:
        size = (weight.record_bytes,)
        place = device or weight.spec.device
        shared[record] = dispatch.empty_strided(size, (1,), dtype=dispatch.uint8, device=place)
    item = DTYPE_BYTES[weight.spec.dtype]
    whole = dispatch.as_strided(shared[record], (weight.record_bytes // item * item,), (1,), 0)
    return dispatch.ops.aten.view.dtype(whole, getattr(dispatch, weight.spec.dtype))

def random_tensor(spec: TensorSpec, rng: np.random.Generator, scale: float) -> Any:
    dtype = getattr(dispatch, spec.dtype)
    if dtype.is_floating_point or dtype.is_complex:
        values = rng.standard_normal(spec.sizes, np.float32) * np.float32(scale)
        return dispatch.from_numpy(np.abs(values) if scale < 1 else values).to(dtype)
    return dispatch.from_numpy(rng.integers(0, 2, spec.sizes)).to(dtype)
