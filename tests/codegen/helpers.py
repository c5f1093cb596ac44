"""Small packages to generate from: a folder with YAML, rooms and kernels, made for one test."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import dedent

from dispatch.codegen.generate import Job
from dispatch.codegen.keys import KeyTable, read_keys
from dispatch.codegen.model import Package, read_functions
from dispatch.codegen.rooms import Rooms

__all__ = [
    "ATEN_SCHEMAS",
    "KEYS",
    "RECORDED",
    "ROOT",
    "SCHEMAS",
    "TAGS",
    "job_for",
    "make_package",
    "read_package",
]

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = ROOT / "schemas"
TAGS = SCHEMAS / "tags.yaml"
# What was recorded from PyTorch lies outside the repository; without it some tests are skipped.
RECORDED = Path(os.environ.get("DISPATCH_RECORDED", ROOT.parent / "shared"))
ATEN_SCHEMAS = RECORDED / "reference" / "aten_schemas.json.gz"
KEYS: KeyTable = read_keys(SCHEMAS / "dispatch_keys.yaml")


def make_package(folder: Path, yaml: str, **declarations: str) -> Path:
    """Write `schemas/native_functions.yaml` and `mylib/kernels/ROOM/MODULE.pxd` below `folder`.

    `declarations` maps ROOM_MODULE to the text of a `.pxd`. The result is the path of the YAML.
    """
    path = folder / "schemas" / "native_functions.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(yaml))
    for name, text in declarations.items():
        room, _, module = name.partition("_")
        pxd = folder / "mylib" / "kernels" / room / f"{module}.pxd"
        pxd.parent.mkdir(parents=True, exist_ok=True)
        pxd.write_text(dedent(text))
    return path


def read_package(folder: Path, yaml: str, **declarations: str) -> Package:
    """The model of such a package."""
    path = make_package(folder, yaml, **declarations)
    return read_functions(path, KEYS, TAGS, Rooms(folder / "mylib", "mylib"))


def job_for(folder: Path, check: bool = False) -> Job:
    """A run of the generator over such a package."""
    return Job(folder / "schemas", folder / "mylib" / "generated", "mylib", check)
