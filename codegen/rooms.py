"""Where kernels live: from a key and `module.function` to a module, and whether it is Cython.

The room follows from the key (Meta -> `kernels/meta`, Composite* -> `kernels/composite`, every
other key -> `kernels/cpu`); `module` is a path in it, `family.module` or `family` alone. A
*family* has the same name in every room: a folder, or a module where one is enough. A function
that the `.pxd` of its module declares is an unboxed kernel; any other is a Python function.
`composite.family.module.function` names one of the composite room under any key.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .source import ErrorMaker

__all__ = ["KernelRef", "Rooms", "room_of"]

_DECLARED = re.compile(r"^cdef\s[^#(]*?(\w+)\s*\(", re.MULTILINE)
# of a header of formulas: FN(name)(...), and macros that define one by their first argument
_DEFINED = re.compile(r"\bFN\((\w+)\)\s*\(|^[A-Z][A-Z_]*\((\w+)[,)]", re.MULTILINE)
_OWN = "dispatch"
_LONGEST_REFERENCE = 200  # it becomes a path
_REFERENCE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*[.:][A-Za-z_]\w*")


class KernelRef(NamedTuple):
    """A function: `module` is the full dotted name of where it is."""

    module: str
    function: str
    is_cython: bool

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
        self._found: dict[Path, frozenset[str]] = {}

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
        is_cython = function in self._declared(room, module)
        return KernelRef(f"{self.name}.kernels.{room}.{module}", function, is_cython)

    def defined_in(self, header: str) -> frozenset[str]:
        """The functions that a header of formulas defines; none if it is not there."""
        path = self.folder / header
        if path not in self._found:
            text = path.read_text() if path.is_file() else ""
            names = (a or b for a, b in _DEFINED.findall(text))
            self._found[path] = frozenset(names)
        return self._found[path]

    def _declared(self, room: str, module: str) -> frozenset[str]:
        path = self.folder / "kernels" / room / f"{module.replace('.', '/')}.pxd"
        if path not in self._found:
            text = path.read_text() if path.is_file() else ""
            self._found[path] = frozenset(_DECLARED.findall(text))
        return self._found[path]


def room_of(key: str) -> str:
    """The room that the kernels of a key live in."""
    if key == "Meta":
        return "meta"
    return "composite" if key.startswith("Composite") else "cpu"
