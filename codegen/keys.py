"""Dispatch keys: the numbers, sets and tables that follow from `schemas/dispatch_keys.yaml`.

`KeyTable` is what `generate` writes to `keys.h` and what `resolve` computes with. A set is
PyTorch's 64-bit value: bit i < 16 is backend i, bit 15 + v functionality v; a runtime key is an
entry of a dispatch table, numbered upwards from Undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from .source import Mapping, SourceError, load

__all__ = ["Functionality", "KeyTable", "RuntimeKey", "read_keys"]

_FIELDS = frozenset(("name", "per_backend", "python", "fallback", "threads"))
_THREADS = ("include", "exclude")
_MAX_FUNCTIONALITIES = 48  # of 64 bits, 16 are the backends'


class Functionality(NamedTuple):
    """One functionality; `prefix` is None unless it has a key for each backend."""

    value: int
    name: str
    prefix: str | None
    in_python: bool
    fallback: str | None
    threads: str | None

    @property
    def bit(self) -> int:
        """Its bit in a key set."""
        return 1 << (15 + self.value)

    @property
    def is_plain_member(self) -> bool:
        """Whether DispatchKey has it, and not a key for each backend."""
        return self.in_python and self.prefix is None


class RuntimeKey(NamedTuple):
    """The entry `place` of a dispatch table; `raw` is the set that holds just this key."""

    place: int
    name: str
    value: int
    functionality: int
    backend: int
    raw: int


class KeyTable:
    """All keys: by name, by number, by table index; sets as 64-bit values."""

    def __init__(self, data: Mapping) -> None:
        self._data = data
        self.backends: list[str] = [b["name"] for b in data["backends"]]
        self.functionalities = [
            _functionality(value, entry) for value, entry in enumerate(data["functionalities"], 1)
        ]
        if len(self.functionalities) > _MAX_FUNCTIONALITIES:
            raise data.error(f"a key set has room for {_MAX_FUNCTIONALITIES}", "functionalities")
        self.end_of_functionalities = len(self.functionalities) + 1
        self.values: dict[str, int] = {"Undefined": 0}
        self.runtime: list[RuntimeKey] = [RuntimeKey(0, "Undefined", 0, 0, 0, 0)]
        self._raw: dict[str, int] = {"Undefined": 0}
        self._number_keys()
        self._functionality_bits = {f.name: f.bit for f in self.functionalities}
        self.aliases: dict[str, int] = {}
        for value, entry in enumerate(data["alias_keys"], self.n_values):
            self.values[entry["name"]] = value
            self.aliases[entry["name"]] = self.set_of(entry["covers"])
        self.index_of = {key.name: key.place for key in self.runtime}

    def _number_keys(self) -> None:
        value = self.end_of_functionalities + 1
        for f in self.functionalities:
            self.values[f.name] = f.value
            self._raw[f.name] = f.bit
            if f.prefix is None:
                self._add_runtime(f.name, f.value, f, 0, f.bit)
                continue
            self.values[f"StartOf{f.name}Backends"] = value
            self._raw[f"StartOf{f.name}Backends"] = f.bit
            for i, backend in enumerate(self.backends):
                value += 1
                self._add_runtime(f.prefix + backend, value, f, i, f.bit | 1 << i)
            self.values[f"EndOf{f.name}Backends"] = value
            self._raw[f"EndOf{f.name}Backends"] = f.bit | 1 << (len(self.backends) - 1)
            value += 1

    def _add_runtime(self, name: str, value: int, f: Functionality, backend: int, raw: int) -> None:
        self.values[name] = value
        self._raw[name] = raw
        self.runtime.append(RuntimeKey(len(self.runtime), name, value, f.value, backend, raw))

    @property
    def n_values(self) -> int:
        """Enum values run from 0 to this - 1."""
        return max(self.values.values()) + 1

    @cached_property
    def name_of(self) -> dict[int, str]:
        """Canonical name by enum value (an `EndOf` marker is only a second name)."""
        return {v: name for name, v in self.values.items() if not name.startswith("EndOf")}

    def set_of(self, spec: dict[str, Any]) -> int:
        """The raw set that a set spec of the file describes."""
        raw = 0
        for name in spec["functionalities"]:
            raw |= self._functionality_bits[name]
        backends = spec.get("backends", [])
        without = spec.get("without_backends", [])
        for i, name in enumerate(self.backends):
            if (backends == "all" or name in backends) and name not in without:
                raw |= 1 << i
        return raw

    def named_set(self, name: str) -> int:
        """One of the sets under `sets:`."""
        return self.set_of(self._data["sets"][name])

    def raw(self, name: str) -> int:
        """The raw value of `DispatchKeySet(name)`: 0 for alias keys."""
        return self._raw.get(name, 0)

    def contains(self, raw: int, key: RuntimeKey) -> bool:
        """Whether the set `raw` has the runtime key (both its bits, for a per-backend key)."""
        return key.raw != 0 and raw & key.raw == key.raw

    def in_alias(self, key: RuntimeKey, alias: str) -> bool:
        """Whether a registration under `alias` stands for `key`."""
        return self.contains(self.aliases[alias], key)

    def autograd_backends(self, key: RuntimeKey) -> int:
        """The raw set of backends that an autograd runtime key stands above (0 for others)."""
        if key.name == "AutogradOther":
            return self.named_set("autogradother_backends")
        if key.name == "AutogradNestedTensor":
            return self.named_set("nested_tensor_backends")
        if key.functionality == self.values["AutogradFunctionality"]:
            return self.raw(self.backends[key.backend])
        return 0

    def redispatch_set(self, key: RuntimeKey) -> int:
        """What `_dispatch_get_backend_keyset_from_autograd` answers for an autograd key."""
        per_backend = key.functionality == self.values["AutogradFunctionality"]
        if per_backend and not self._data["backends"][key.backend].get("redispatch", True):
            return 0
        return self.autograd_backends(key)

    def backend_fallbacks(self) -> dict[str, bool]:
        """Keys with a fallback in a fresh dispatcher; True: the fallback is a fallthrough."""
        found = {f.name: f.fallback == "fallthrough" for f in self.functionalities if f.fallback}
        prefixes = {f.name: f.prefix for f in self.functionalities}
        for backend in self._data["backends"]:
            for name in backend.get("fallbacks", []):
                found[f"{prefixes[name]}{backend['name']}"] = False
        return found

    def thread_default(self, what: str) -> int:
        """The raw set of keys that a new thread includes (or excludes) for every call."""
        return sum(f.bit for f in self.functionalities if f.threads == what)

    def tensor_set(self, key: str | None) -> int:
        """The raw key set of strided tensors of a device with this key; None: it has none."""
        if key is None:
            return 0
        raw = self.raw(key) | self.raw("ADInplaceOrView")
        if key not in self.backends:
            return raw | self.raw("AutogradOther")
        backend = self._data["backends"][self.backends.index(key)]
        return raw | self.raw(backend["autograd"]) | self.raw(backend.get("autocast", "Undefined"))

    def python_members(self) -> Iterator[tuple[str, int]]:
        """`DispatchKey.__members__` in order."""
        enum = self._data["python_enum"]
        prefixes = {f.name: f.prefix for f in self.functionalities}
        first = dict.fromkeys(enum["first"])
        first |= dict.fromkeys(f.name for f in self.functionalities if f.is_plain_member)
        for name in first | dict.fromkeys(self.aliases):
            yield name, self.values[name]
        for name in enum["then_per_backend"]:
            keys = [f"{prefixes[name]}{backend}" for backend in self.backends]
            for member in [name, f"StartOf{name}Backends", *keys, f"EndOf{name}Backends"]:
                yield member, self.values[member]


def _functionality(value: int, entry: Mapping) -> Functionality:
    name = entry["name"]
    entry.check_keys(_FIELDS, name)
    for field, words in (("fallback", ("kernel", "fallthrough")), ("threads", _THREADS)):
        if entry.get(field) not in (None, *words):
            message = f"{field}: expected {' or '.join(words)}, got {entry[field]!r}"
            raise entry.error(message, field, name)
    return Functionality(
        value=value,
        name=name,
        prefix=entry.get("per_backend"),
        in_python=entry.get("python", True),
        fallback=entry.get("fallback"),
        threads=entry.get("threads"),
    )


def read_keys(path: Path) -> KeyTable:
    """The key table of a `dispatch_keys.yaml`."""
    data = load(path)
    if not isinstance(data, Mapping):
        raise SourceError("expected a mapping with backends, functionalities, ...", path, 1)
    needed = ("backends", "functionalities", "alias_keys", "python_enum", "sets")
    for key in needed:
        if key not in data:
            raise data.error(f"expected a key {key!r}")
    try:
        return KeyTable(data)
    except KeyError as error:
        raise data.error(f"names {error}, which is not defined") from error
