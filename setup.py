"""The build: generate, find the compiled modules, compile them.

What is declared stands in `pyproject.toml`; how modules are found and compiled in
`dispatch/build/`, which packages of others use too. Importing `dispatch` itself needs the
modules that are about to be compiled, so its place is taken here by a bare package with the
same path and no code: `dispatch.build` and `dispatch.codegen` import as they always do, the
generator always from its source, because a module compiled earlier may be older than that.
"""

import importlib
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from setuptools import setup

ROOT = Path(__file__).resolve().parent


def _bare_package(name: str) -> ModuleType:
    """A package that imports submodules from its folder and runs no `__init__`."""
    package = ModuleType(name)
    package.__path__ = [str(ROOT / name)]
    return package


def _source_only(folder: str) -> FileFinder:
    """A path hook for the generator's folder that does not see compiled modules."""
    if Path(folder) != ROOT / "dispatch" / "codegen":
        raise ImportError
    return FileFinder(folder, (SourceFileLoader, SOURCE_SUFFIXES))


sys.path_hooks.insert(0, _source_only)
sys.modules["dispatch"] = _bare_package("dispatch")
build = importlib.import_module("dispatch.build")

setup(
    ext_modules=build.extensions("dispatch/schemas", "dispatch"),
    cmdclass={"build_ext": build.BuildExt},
)
