"""The types of tensors: dtypes, devices, layouts and memory formats of `schemas/types.yaml`.

`TypeTable` is that file, checked: every list in the order of its numbers, sets of dtypes as masks.
`generate` writes it down as C, Cython, Python and stubs. (The types of arguments are in `types`.)
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .output import c_string, wrapped
from .source import Mapping, SourceError, load

__all__ = ["Device", "TypeTable", "read_types"]

_KINDS = ("bool", "unsigned", "signed", "floating", "complex", "quantized", "bits")
_PROMOTES = ("any", "floating")
_FIELDS = {
    "dtypes": frozenset({
        "code", "name", "size", "abbr", "kind", "aliases", "negative", "promotes", "complex",
        "numpy", "tensor", "method", "dlpack", "exported", "safetensors", "limits",
    }),
    "devices": frozenset(("code", "name", "key", "string")),
    "layouts": frozenset(("code", "name", "aliases", "exported")),
    "memory_formats": frozenset(("code", "name", "aliases", "exported")),
}  # fmt: skip
_MAX_DTYPES = 63  # bits of a mask; the last one stays clear, for the code of no dtype


class Device(NamedTuple):
    """A device type; `key` is the name of its tensors' dispatch key, None without tensors."""

    name: str
    key: str | None
    entry: Mapping


class TypeTable:
    """All types, by number; `view()` is the context of the templates."""

    def __init__(self, data: Mapping) -> None:
        self.dtypes = _by_code(data, "dtypes")
        self.layouts = _by_code(data, "layouts")
        self.memory_formats = _by_code(data, "memory_formats")
        devices = _by_code(data, "devices")
        self.devices = [Device(entry["name"], entry.get("key"), entry) for entry in devices]
        for entry in self.dtypes:
            _check_dtype(entry, self.codes)
        if len(self.dtypes) > _MAX_DTYPES:
            raise data.error(f"dtypes: a mask has room for {_MAX_DTYPES}", "dtypes")
        self.sets: dict[str, int] = {}
        for name, members in data["sets"].items():
            self.sets[name] = self._mask(data["sets"], name, members)

    @cached_property
    def codes(self) -> dict[str, int]:
        """The number of each dtype by name."""
        return {entry["name"]: entry["code"] for entry in self.dtypes}

    def _mask(self, source: Mapping, name: str, members: list[str]) -> int:
        mask = 0
        for member in members:
            if member not in self.sets and member not in self.codes:
                raise source.error(f"expected dtypes and sets above, got {member!r}", name, name)
            mask |= self.sets[member] if member in self.sets else 1 << self.codes[member]
        return mask

    def masks(self) -> Iterator[tuple[str, int]]:
        """The name behind DTYPES_ and the mask of every set: named, of a kind, of a promotion."""
        yield from self.sets.items()
        for kind in _KINDS:
            yield f"KIND_{kind}", self._mask_of("kind", kind)
        for promotes in _PROMOTES:
            yield f"PROMOTES_{promotes}", self._mask_of("promotes", promotes)
        yield "NEVER_NEGATIVE", self._mask_of("negative", False)

    def _mask_of(self, field: str, value: object) -> int:
        return sum(1 << e["code"] for e in self.dtypes if field in e and e[field] == value)

    def view(self) -> dict[str, Any]:
        """The context of `types.h.j2`, `types.pxd.j2` and `types.pyi.j2`."""
        return {
            "enums": [
                _enum("ST", self.dtypes, str),
                _enum("DEV", [device.entry for device in self.devices], str.upper),
                _enum("LAYOUT", self.layouts, lambda name: name.lstrip("_")),
                _enum("MF", self.memory_formats, lambda name: name.removesuffix("_format")),
            ],
            "masks": [{"name": name, "raw": f"0x{mask:012X}"} for name, mask in self.masks()],
            "dtypes": [self._record(entry) for entry in self.dtypes],
            "limits": [_limits(entry) for entry in self.dtypes if "limits" in entry],
            "devices": [
                {"name": device.name, "is_string": int(device.entry.get("string", True))}
                for device in self.devices
            ],
            "named": [
                {"array": "LAYOUTS", "rows": [_named(entry) for entry in self.layouts]},
                {"array": "MEMORY_FORMATS", "rows": [_named(e) for e in self.memory_formats]},
            ],
            "constants": [
                *_constants("dtype", self.dtypes),
                *_constants("layout", self.layouts),
                *_constants("memory_format", self.memory_formats),
            ],
        }

    def _record(self, entry: Mapping) -> dict[str, Any]:
        numbers = (
            entry["size"],
            self.codes[entry["complex"]] if "complex" in entry else -1,
            entry.get("dlpack", -1),
        )
        texts = (
            c_string(entry["name"]),
            c_string(" ".join(entry.get("aliases", []))),
            c_string(entry["abbr"]),
            c_string(entry.get("numpy")),
        )
        return {"row": ", ".join((*texts, *map(str, numbers)))}

    def set_view(self) -> list[dict[str, Any]]:
        """The context of `dtype_sets.py.j2`."""
        found = []
        for name, mask in self.sets.items():
            members = (f"dtypes.{e['name']}" for e in self.dtypes if mask >> e["code"] & 1)
            found.append({"name": name, "dtypes": wrapped(members, 4, 4)})
        return found

    def names_view(self) -> list[dict[str, Any]]:
        """The context of `type_names.py.j2`."""
        dtypes, layouts, formats = self.dtypes, self.layouts, self.memory_formats
        return [
            _table("EXPORTED_DTYPES", "Their numbers in exported programs.", dtypes, "exported"),
            _table("EXPORTED_LAYOUTS", "Those of layouts.", layouts, "exported"),
            _table("EXPORTED_MEMORY_FORMATS", "Those of formats.", formats, "exported"),
            _table("SAFETENSORS_DTYPES", "Words in safetensors files.", dtypes, "safetensors"),
            _table("DTYPE_BYTES", "Bytes of an element.", dtypes, "name", "size"),
            _table("DTYPE_CODES", "Their numbers in c10.", dtypes, "name", "code"),
            _table("TENSOR_TYPES", "The old names of tensors' types.", dtypes, "tensor"),
            _table("DTYPE_METHODS", "Methods of Tensor that convert.", dtypes, "method"),
        ]


def _by_code(data: Mapping, part: str) -> list[Mapping]:
    """The entries of a list, checked: their fields, their names, numbers without a gap."""
    entries: list[Mapping] = data[part]
    seen: set[str] = set()
    for place, entry in enumerate(entries):
        name = entry.get("name", "")
        if not isinstance(name, str) or not name.isidentifier():
            raise entry.error(f"{part}: expected a name, got {name!r}", "name")
        entry.check_keys(_FIELDS[part], name)
        if entry.get("code") != place:
            message = f"expected code {place}, one more than above, got {entry.get('code')!r}"
            raise entry.error(message, "code", name)
        for each in (name, *entry.get("aliases", [])):
            if each in seen:
                raise entry.error(f"expected different names, got {each!r} twice", "name", name)
            seen.add(each)
    return entries


def _check_dtype(entry: Mapping, codes: dict[str, int]) -> None:
    name = entry["name"]
    if not isinstance(entry.get("size"), int) or not isinstance(entry.get("abbr"), str):
        raise entry.error("expected 'size', a number of bytes, and 'abbr', a name", "size", name)
    for field, allowed in (("kind", _KINDS), ("promotes", (None, *_PROMOTES))):
        if entry.get(field) not in allowed:
            words = ", ".join(filter(None, allowed))
            got = entry.get(field)
            raise entry.error(f"{field}: expected one of {words}, got {got!r}", field, name)
    if entry.get("complex", name) not in codes:
        raise entry.error(f"complex: {entry['complex']!r} is no dtype", "complex", name)


def _enum(prefix: str, entries: list[Mapping], spelled: Any) -> dict[str, Any]:
    return {
        "prefix": prefix,
        "count": len(entries),
        "members": [f"{prefix}_{spelled(entry['name'])}" for entry in entries],
    }


def _limits(entry: Mapping) -> dict[str, Any]:
    limits = entry["limits"]
    numbers = [limits[field] for field in ("eps", "normal", "max", "min", "digits")]
    return {"name": entry["name"], "row": ", ".join(map(repr, numbers))}


def _named(entry: Mapping) -> str:
    return f"{c_string(entry['name'])}, {c_string(' '.join(entry.get('aliases', [])))}"


def _constants(type_: str, entries: list[Mapping]) -> Iterator[dict[str, str]]:
    for entry in entries:
        for name in (entry["name"], *entry.get("aliases", [])):
            yield {"name": name, "type": type_}


def _table(
    name: str, about: str, entries: list[Mapping], key: str, value: str = "name"
) -> dict[str, Any]:
    """A dict from one field to another, over the entries that have both."""
    found = sorted((entry[key], entry[value]) for entry in entries if key in entry)
    items = (f"{_literal(a)}: {_literal(b)}" for a, b in found)
    types = ", ".join(type(each).__name__ for each in found[0])
    return {"name": name, "about": about, "types": types, "rows": wrapped(items, 4, 4)}


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def read_types(path: Path) -> TypeTable:
    """The type table of a `types.yaml`."""
    data = load(path)
    if not isinstance(data, Mapping):
        raise SourceError("expected a mapping with dtypes, sets, devices, ...", path, 1)
    for part in ("dtypes", "sets", "devices", "layouts", "memory_formats"):
        if part not in data:
            raise data.error(f"expected a key {part!r}")
    return TypeTable(data)
