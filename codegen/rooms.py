"""Where kernels live: from a key and `module.function` to a module, and whether it is Cython.

The room follows from the key (Meta -> `kernels/meta`, Composite* -> `kernels/composite`, every
other key -> `kernels/cpu`); `module` is a path in it, `family.module` or `family` alone. A
*family* has the same name in every room: a folder, or a module where one is enough. A function
that the `.pxd` of its module declares is an unboxed kernel; any other is a Python function. A body
whose last parameter there is `const int64_t* handed` gets what the shape function worked out.
`composite.family.module.function` names one of the composite room under any key.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .source import ErrorMaker

__all__ = ["KernelRef", "Rooms", "room_of"]

_DECLARED = re.compile(r"^cdef\s[^#(]*?(\w+)\s*\(([^)]*)", re.MULTILINE)
_HANDED = re.compile(r"const int64_t\s?\*\s?handed\s*$")
# of a header of formulas: FN(name)(...), and macros that define one by their first argument
_DEFINED = re.compile(r"\bFN\((\w+)\)\s*\(|^[A-Z][A-Z_]*\((\w+)[,)]", re.MULTILINE)
_BESIDE = re.compile(r'^#include "(\w+\.h)"', re.MULTILINE)
_OWN = "dispatch"
_LONGEST_REFERENCE = 200  # it becomes a path
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*[.:][A-Za-z_]\w*")


class KernelRef(NamedTuple):
    """A function: `module` is the full dotted name of where it is."""

    module: str
    function: str
    is_cython: bool
    takes_handed: bool = False

    @property
    def family(self) -> str:
        """The first name below the room; empty for a function that is in no room."""
        parts = self._below_kernels
        return parts[1] if len(parts) > 1 else ""

    @property
    def text(self) -> str:
        """`package.module:function`."""
        return f"{self.module}:{self.function}"

    @property
    def alias(self) -> str:
        """The name that an emitted module cimports the module under: room, family, module."""
        return "_".join(self._below_kernels) or self.module.rpartition(".")[2]

    @property
    def _below_kernels(self) -> list[str]:
        _, found, path = self.module.partition(".kernels.")
        return path.split(".") if found else []


class Rooms:
    """The kernel rooms of the package `name`, whose folder is `folder`.

    `emitted` is the dotted name of the folder of emitted modules.
    """

    def __init__(self, folder: Path, name: str, emitted: str = "") -> None:
        self.folder = folder
        self.name = name
        self.emitted = emitted or f"{name}.{'_C.' if name == _OWN else ''}generated"
        self._declared: dict[Path, dict[str, bool]] = {}
        self._defined: dict[Path, frozenset[str]] = {}

    def kernel(self, error: ErrorMaker, key: str, text: str, place: str) -> KernelRef:
        """The kernel that `text` names for `key`; `place` is the YAML key it stands under.

        `error` makes the error for a mistake in the operator's entry.
        """
        if len(text) > _LONGEST_REFERENCE or not _REFERENCE.fullmatch(text):
            shown = text[:_LONGEST_REFERENCE]
            raise error(f"{place}: expected 'module.function', got {shown!r}", place)
        if ":" in text:
            module, _, function = text.partition(":")
            return KernelRef(module, function, False)
        room = room_of(key)
        if text.startswith("composite."):
            room, _, text = text.partition(".")
        module, _, function = text.rpartition(".")
        found = self._functions_of(room, module)
        path = f"{self.name}.kernels.{room}.{module}"
        return KernelRef(path, function, function in found, found.get(function, False))

    def defined_in(self, header: str) -> frozenset[str]:
        """The functions of a header of formulas and of those beside it that it includes."""
        path = self.folder / header
        if path not in self._defined:
            text = path.read_text() if path.is_file() else ""
            beside = (path.with_name(name) for name in _BESIDE.findall(text))
            text = "\n".join([text, *(other.read_text() for other in beside if other.is_file())])
            names = (a or b for a, b in _DEFINED.findall(text))
            self._defined[path] = frozenset(names)
        return self._defined[path]

    def _functions_of(self, room: str, module: str) -> dict[str, bool]:
        """Those that a module's `.pxd` declares, and whether each takes what was handed over."""
        path = self.folder / "kernels" / room / f"{module.replace('.', '/')}.pxd"
        if path not in self._declared:
            text = path.read_text() if path.is_file() else ""
            self._declared[path] = {
                name: _HANDED.search(parameters) is not None
                for name, parameters in _DECLARED.findall(text)
            }
        return self._declared[path]


def room_of(key: str) -> str:
    """The room that the kernels of a key live in."""
    if key == "Meta":
        return "meta"
    return "composite" if key.startswith("Composite") else "cpu"
