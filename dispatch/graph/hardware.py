"""Devices by name: `hardware("h100")`, or one that a file describes (`.toml`, `.yaml`).

`hardware.toml` beside this module has the figures and their sources. A user's file has the same
keys for one device: `memory` (bytes), `bandwidth` (bytes a second), `flops` (by dtype, a second),
and perhaps a `title`; numbers may have a unit (`80GB`). YAML needs PyYAML, which this package does
not.
"""

import math
import os
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

from dispatch._C.generated.type_names import DTYPE_BYTES
from dispatch.graph.checks import read_amount
from dispatch.graph.errors import plain

__all__ = ["Hardware", "hardware", "hardware_names"]

_SUFFIXES = (".toml", ".yaml", ".yml")
_MAX_BYTES = 1 << 20  # of a user's file
_KEYS = ("memory", "bandwidth", "flops")


class Hardware(NamedTuple):
    """What a device can do at best. `memory` in bytes, `bandwidth` in bytes a second, `flops` a
    second by dtype."""

    name: str
    title: str
    memory: float
    bandwidth: float
    flops: Mapping[str, float]

    def peak(self, dtype: str | None) -> float:
        """Operations a second with this dtype; with one that is not listed the most of any, so
        that a time is never estimated too long."""
        return self.flops.get(dtype or "") or max(self.flops.values())


def _known() -> dict[str, Any]:
    return tomllib.loads(files("dispatch.graph").joinpath("hardware.toml").read_text("utf-8"))


def hardware_names() -> tuple[str, ...]:
    """The devices that have a name."""
    return tuple(_known())


def hardware(name: "str | os.PathLike[str] | Hardware") -> Hardware:
    """The device of that name, or the one that a file describes.

    Raises `ValueError` for an unknown name or a file that is none, `OSError` where there is none.
    """
    if isinstance(name, Hardware):
        return name
    text = os.fspath(name)
    known = _known()
    if text.lower() in known:
        return _checked(text.lower(), known[text.lower()])
    if not text.lower().endswith(_SUFFIXES):
        names = ", ".join(known)
        raise ValueError(f"no hardware {plain(text)!r}: there is {names}, or a file (.yaml, .toml)")
    return _checked(text, _read(text))


def _read(path: str) -> Any:
    with open(path, "rb") as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise ValueError(f"{plain(path)}: no description of a device: too long")
    try:
        text = content.decode()
        if path.lower().endswith(".toml"):
            return tomllib.loads(text)
        return _yaml(text)
    except ImportError:
        problem = "reading YAML needs PyYAML (pip install pyyaml); .toml needs nothing"
        raise ValueError(f"{plain(path)}: {problem}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{plain(path)}: {plain(str(error))}") from None


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from None


def _checked(name: str, data: Any) -> Hardware:
    if not isinstance(data, Mapping) or any(key not in data for key in _KEYS):
        raise ValueError(f"{plain(name)}: expected the keys {', '.join(_KEYS)}")
    flops = data["flops"]
    if not isinstance(flops, Mapping) or not flops:
        raise ValueError(f"{plain(name)}: flops: expected numbers by dtype")
    for dtype in flops:
        if dtype not in DTYPE_BYTES:
            raise ValueError(f"{plain(name)}: flops: no dtype {plain(str(dtype))!r}")
    peaks = {dtype: _number(name, f"flops.{dtype}", value) for dtype, value in flops.items()}
    memory, bandwidth = (_number(name, key, data[key]) for key in _KEYS[:2])
    return Hardware(name, str(data.get("title", name)), memory, bandwidth, peaks)


def _number(name: str, key: str, value: Any) -> float:
    """A number above zero, or the text of one, perhaps with a unit."""
    number = math.nan
    if isinstance(value, str):
        number = read_amount(value, f"{plain(name)}: {key}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
    if not 0 < number < math.inf:
        raise ValueError(f"{plain(name)}: {key}: expected a number above zero")
    return number
