"""What is compiled: the generator is run, then each source that is a module becomes an extension.

Called by a `setup.py` as `dispatch.build.extensions`. Sources are found by rule, not listed: every
`.pyx` of the package, emitted ones included, and each `.py` with a `.pxd` of its name.
"""

import os
import shlex
from glob import glob
from pathlib import Path

import numpy
from setuptools import Extension

from ..codegen.__main__ import main as generate

__all__ = ["extensions"]

C_FLAGS = ["-O2", "-g0", "-fno-strict-aliasing", "-fwrapv", "-fvisibility=hidden",
           "-Wall", "-Wno-unused-function", "-Wno-cpp"]  # fmt: skip
# Of the emitted loops: nobody reads errno or traps, sums are as written.
LOOP_FLAGS = ["-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
# Of modules with a header of loops of their name: GCC forgets this where a function has clones.
HEADER_FLAGS = ["-fno-math-errno"]
# Of rooms that a small call passes once or not at all: a third off the compiler's time.
GLUE_FLAGS = ["-O1"]
GLUE = ("codegen", "functional", "kernels/composite", "kernels/meta", "library", "symbolic")
MACROS: list[tuple[str, str | None]] = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")]

_DISPATCH = Path(__file__).parent.parent
_OURS = "dispatch"


def extensions(schemas: str | os.PathLike[str], package: str) -> list[Extension]:
    """Emit what `schemas` describe into `package` and return its extension modules.

    `schemas` is a folder of YAML files as `dispatch-codegen --schemas` takes it; `package` is
    the dotted name of a package below the current folder (where `setup.py` is), or below `src`
    there. Every `.pyx` in it becomes a module, emitted ones included, and so does a `.py` with a
    `.pxd` of its name beside it. A mistake in a schema ends the build with file, line and operator.
    """
    root, inner = Path(), Path(*package.split("."))
    if not inner.is_dir() and Path("src", inner).is_dir():
        root = Path("src")
    folder = root / inner
    if not folder.is_dir():
        raise FileNotFoundError(f"no package folder {str(folder)!r} in {os.getcwd()!r}")
    out = folder / "_C" / "generated" if package == _OURS else folder / "generated"
    status = generate(["--schemas", str(schemas), "--out", str(out), "--package", package])
    if status:
        raise SystemExit(status)
    return [_extension(path, root, out) for path in _sources(folder)]


def _sources(folder: Path) -> list[Path]:
    """What is compiled. (`Path.glob` would not enter `dispatch/codegen`, a link.)"""
    found = (Path(path) for path in glob(f"{folder}/**/*.py*", recursive=True))
    return sorted(path for path in found if _is_compiled(path))


def _is_compiled(path: Path) -> bool:
    return path.suffix == ".pyx" or (
        path.suffix == ".py" and path.stem != "__init__" and path.with_suffix(".pxd").exists()
    )


def _extension(path: Path, root: Path, emitted: Path) -> Extension:
    core = _DISPATCH / "_C"
    core = Path(os.path.relpath(core)) if core.is_relative_to(Path.cwd()) else core
    flags = list(C_FLAGS)
    if path.stem.startswith("formulas_"):
        flags += LOOP_FLAGS
    elif path.with_suffix(".h").exists():
        flags += HEADER_FLAGS
    elif any(path.is_relative_to(core.parent / room) for room in GLUE):
        flags += GLUE_FLAGS
    # The package's own `ops.h` before that of dispatch; a header of loops stands beside its module.
    folders = (emitted, core, core / "generated", path.parent, core.parent / "kernels" / "cpu")
    include = dict.fromkeys((*map(str, folders), numpy.get_include()))
    return Extension(
        ".".join(path.relative_to(root).with_suffix("").parts),
        [str(path)],
        include_dirs=list(include),
        define_macros=MACROS,
        extra_compile_args=flags + shlex.split(os.environ.get("CFLAGS", "")),  # the user's win
    )
