"""Raw storages -> tensors: a model's parameters, buffers and constants.

`resolve_weights` reads the configs of an archive and checks every entry against its record's size,
without reading a record. `WeightStore` reads records when a tensor is asked for, each once. Several
names may stand on one record (tied weights, views); they share memory. A record of no bytes under a
tensor with elements means "no data": only the metadata is there.
"""

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

import dispatch
from dispatch._C.generated.type_names import DTYPE_BYTES, EXPORTED_DTYPES, EXPORTED_LAYOUTS
from dispatch.graph.archive import Archive, JsonFile
from dispatch.graph.errors import ModelFileError, plain
from dispatch.graph.expr import hint_of
from dispatch.graph.program import (
    Device,
    PayloadMeta,
    TensorMeta,
    read_payload_config,
)
from dispatch.graph.tensors import storage_over, tensor_on

__all__ = [
    "TensorSpec",
    "Weight",
    "WeightStore",
    "device_name",
    "resolve_weights",
    "spec_of",
]

_FOLDERS = {"weights": "data/weights/", "constants": "data/constants/"}
_MAX_DIMS = 64
_MAX_BYTES = 1 << 62


class TensorSpec(NamedTuple):
    """Concrete metadata of a tensor: strides and offset in elements, dtype by name."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: str
    device: str

    @property
    def numel(self) -> int:
        return math.prod(self.sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements (not of the storage)."""
        return self.numel * DTYPE_BYTES[self.dtype]

    @property
    def storage_elements(self) -> int:
        """Elements that the storage must have."""
        if 0 in self.sizes:
            return 0
        steps = zip(self.sizes, self.strides, strict=True)
        return self.offset + 1 + sum((size - 1) * stride for size, stride in steps)

    @property
    def storage_bytes(self) -> int:
        return self.storage_elements * DTYPE_BYTES[self.dtype]


class Weight(NamedTuple):
    """A tensor of the model: where its bytes are (`record` None: metadata only)."""

    spec: TensorSpec
    record: str | None
    record_bytes: int
    is_param: bool


def spec_of(meta: TensorMeta, path: str, place: str) -> TensorSpec:
    """The metadata with symbols replaced by their recorded values; raises on what no tensor can
    have."""
    sizes = tuple(_recorded(value, path, f"{place}.sizes") for value in meta.sizes)
    strides = tuple(_recorded(value, path, f"{place}.strides") for value in meta.strides)
    offset = _recorded(meta.storage_offset, path, f"{place}.storage_offset")
    if len(sizes) != len(strides) or len(sizes) > _MAX_DIMS:
        problem = f"{len(sizes)} sizes and {len(strides)} strides"
        raise ModelFileError(path, place, problem)
    if EXPORTED_LAYOUTS[meta.layout] != "strided":
        problem = f"layout {EXPORTED_LAYOUTS[meta.layout]}: only strided is read"
        raise ModelFileError(path, place, problem)
    device = device_name(meta.device)
    if device is None:
        raise ModelFileError(path, f"{place}.device", f"no device {meta.device.type[:40]!a}")
    spec = TensorSpec(sizes, strides, offset, EXPORTED_DTYPES[meta.dtype], device)
    if spec.nbytes > _MAX_BYTES or spec.storage_bytes > _MAX_BYTES:
        raise ModelFileError(path, place, f"a tensor of {spec.storage_bytes} bytes")
    return spec


@lru_cache(maxsize=256)
def device_name(recorded: Device) -> str | None:
    """`cpu`, `cuda:1`: the device's own text; None when there is no such device."""
    index = recorded.index
    text = recorded.type if index is None else f"{recorded.type}:{index}"
    try:
        return str(dispatch.device(text)) if index is None or 0 <= index < 128 else None
    except (RuntimeError, TypeError, ValueError):
        return None


def _recorded(value: Any, path: str, place: str) -> int:
    number = hint_of(value)
    if number is None:
        raise ModelFileError(path, place, "a size that depends on data, without a recorded value")
    if isinstance(number, float) or not 0 <= number < 1 << 63:
        raise ModelFileError(path, place, f"{number} cannot be a size, stride or offset")
    return int(number)


def resolve_weights(archive: Archive | JsonFile) -> dict[str, Weight]:
    """All weights and constants of an archive by state-dict name; empty for a JSON file."""
    found: dict[str, Weight] = {}
    if isinstance(archive, JsonFile):
        return found
    _check_byte_order(archive)
    for kind, folder in _FOLDERS.items():
        member = f"{folder}{archive.name_in_package}_{kind}_config.json"
        if archive.has(member):
            config = read_payload_config(archive.read_json(member), archive.path, member)
            for name, payload in config.items():
                found[name] = _resolve(archive, folder, payload, f"{member}: config.{name[:80]}")
    return found


def _check_byte_order(archive: Archive) -> None:
    if archive.has("byteorder"):
        order = archive.read_json("byteorder").strip()[:40]
        if order != b"little":
            raise ModelFileError(archive.path, "byteorder", f"{order!r}: only little is read")


def _resolve(archive: Archive, folder: str, payload: PayloadMeta, place: str) -> Weight:
    if payload.use_pickle:
        raise ModelFileError(archive.path, place, "a pickled value, which is never unpickled here")
    if payload.tensor_meta is None:
        raise ModelFileError(archive.path, place, "no tensor_meta")
    spec = spec_of(payload.tensor_meta, archive.path, f"{place}.tensor_meta")
    record = folder + payload.path_name
    nbytes = archive.size(record)
    if nbytes == 0 and spec.numel > 0:
        return Weight(spec, None, 0, payload.is_param)
    if spec.storage_bytes > nbytes:
        problem = f"{record} has {nbytes} bytes, the tensor needs {spec.storage_bytes}"
        raise ModelFileError(archive.path, place, problem)
    return Weight(spec, record, nbytes, payload.is_param)


class WeightStore(Mapping[str, Any]):
    """State-dict name -> tensor. A record is read at the first access to a tensor on it.

    A name without data gives a tensor on the meta device until `assign` gives it one.
    """

    def __init__(self, archive: Archive | JsonFile, weights: Mapping[str, Weight]) -> None:
        self._archive = archive
        self._weights = weights
        self._storages: dict[str, Any] = {}
        self._tensors: dict[str, Any] = {}

    def __iter__(self) -> Any:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __getitem__(self, name: str) -> Any:
        if name not in self._tensors:
            weight = self._weights[name]
            if weight.record is None:
                return self._meta_tensor(weight.spec)
            self._read([weight.record])
            self._tensors[name] = self._make(weight)
        return self._tensors[name]

    def _meta_tensor(self, spec: TensorSpec) -> Any:
        dtype = getattr(dispatch, spec.dtype)
        return dispatch.empty_strided(spec.sizes, spec.strides, dtype=dtype, device="meta")

    def _make(self, weight: Weight) -> Any:
        spec = weight.spec
        storage = self._storages[weight.record or ""]
        return tensor_on(
            storage, getattr(dispatch, spec.dtype), spec.sizes, spec.strides, spec.offset
        )

    def _read(self, records: Iterable[str]) -> None:
        """Read what is not there yet, in one opening of the file. Memory of our own: a file that is
        mapped and then cut short by someone else would end the process."""
        wanted = [r for r in dict.fromkeys(records) if r not in self._storages]
        if not wanted or not isinstance(self._archive, Archive):
            return
        arrays = {r: np.empty(self._archive.size(r), np.uint8) for r in wanted}
        self._archive.read_into({r: a.data for r, a in arrays.items()})
        self._storages.update({r: storage_over(a) for r, a in arrays.items()})

    def without_data(self) -> list[str]:
        """Names that have metadata only."""
        return [n for n, w in self._weights.items() if w.record is None and n not in self._tensors]

    def load(self) -> None:
        """Read all records at once."""
        self._read(
            w.record for n, w in self._weights.items() if w.record and n not in self._tensors
        )

    def check(self, name: str, tensor: Any) -> None:
        """Raise `RuntimeError` unless `tensor` has the recorded shape and dtype of `name`."""
        spec = self._weights[name].spec
        dtype = str(tensor.dtype).rpartition(".")[2]
        if tuple(tensor.shape) != spec.sizes or dtype != spec.dtype:
            given = f"{dtype} {list(tensor.shape)}"
            expected = f"{spec.dtype} {list(spec.sizes)}"
            raise RuntimeError(f"{plain(name)}: expected {expected}, got {given}")

    def assign(self, name: str, tensor: Any) -> None:
        """Let `name` be `tensor`."""
        self.check(name, tensor)
        self._tensors[name] = tensor
