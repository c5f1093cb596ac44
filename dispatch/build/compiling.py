"""`BuildExt`: cythonize, compile and link side by side, and again only what changed.

It compares contents, never times, so a fresh checkout or a regenerated file with the same bytes
costs nothing: each module has a stamp (`stamps`) for its C file and one for its object. Objects
come from ccache where that is installed and `CC` says nothing else.
"""

import fcntl
import gc
import logging
import multiprocessing
import os
import re
import shlex
import shutil
import sysconfig
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TextIO

import Cython
import numpy
from Cython.Build.Dependencies import create_dependency_tree
from Cython.Compiler.Errors import CompileError as CompilerError
from Cython.Compiler.Main import compile_single
from Cython.Compiler.Options import CompilationOptions
from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError, PlatformError

from .progress import Progress
from .stamps import Stamp, digest, file_digest, toolchain

__all__ = ["BuildExt"]

# By suffix: a .py means what Python means by it, negative indices and floor division included.
DIRECTIVES: dict[str, dict[str, object]] = {
    ".py": {"language_level": 3, "embedsignature": True},
    ".pyx": {
        "language_level": 3,
        "boundscheck": True,  # a list may be a user's, or change meanwhile; loops go over pointers
        "wraparound": False,
        "cdivision": True,
        "initializedcheck": False,
        "embedsignature": True,
        "always_allow_keywords": True,
        "auto_pickle": False,  # what it makes reads NULL and writes any state
    },
}
# Trees of syntax hold themselves: looked through as often as Python does, a third of Cython's time.
RARE_COLLECTIONS = (300_000, 2, 2)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+cimport[ \t]+(\([^)]*\)|[^\n#]+)", re.MULTILINE)

_CYTHON = Path(Cython.__file__).parent
_PYTHON_INCLUDE = sysconfig.get_path("include")


class BuildExt(build_ext):
    """`build_ext` that cythonizes and compiles side by side, and only what changed."""

    _cython: ProcessPoolExecutor
    _progress: Progress

    def run(self) -> None:
        """Build, and put into place what could be built, also when some could not.

        One build at a time in a folder: two would link what the other has half written.
        """
        inplace = self.inplace
        Path(self.build_temp).mkdir(parents=True, exist_ok=True)
        with Path(self.build_temp, ".lock").open("w") as lock:
            self._wait_for(lock)
            try:
                super().run()
            except CompileError:
                if inplace:
                    self.copy_extensions_to_source()
                raise

    def _wait_for(self, lock: TextIO) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.announce("another build is at work here: this one waits", level=logging.WARNING)
            fcntl.flock(lock, fcntl.LOCK_EX)

    def build_extensions(self) -> None:
        """Build every extension, the largest first; report all that fail, then stop."""
        self.check_extensions_list(self.extensions)
        _check_tools(self.compiler.compiler_so[0])
        ccache = shutil.which("ccache")
        if ccache and "CC" not in os.environ:
            self.compiler.compiler_so = [ccache, *self.compiler.compiler_so]
        self._progress = Progress({ext.name: _source_size(ext) for ext in self.extensions})
        jobs = self.parallel if isinstance(self.parallel, int) else len(os.sched_getaffinity(0))
        context = multiprocessing.get_context("fork")
        workers = ProcessPoolExecutor(jobs, context, gc.set_threshold, RARE_COLLECTIONS)
        with workers as self._cython, ThreadPoolExecutor(jobs) as pool:
            self._cython.submit(os.getpid).result()  # forks the workers before any thread runs
            by_size = sorted(self.extensions, key=_source_size, reverse=True)
            runs = {ext.name: pool.submit(self.build_extension, ext) for ext in by_size}
        self._progress.close()
        self._raise_failures(runs)

    def _raise_failures(self, runs: Mapping[str, Future[None]]) -> None:
        failed = {name: run.exception() for name, run in runs.items() if run.exception()}
        for name, error in sorted(failed.items()):
            self.announce(f"error: {name}: {error}", level=logging.ERROR)
        if failed:
            self.extensions = [ext for ext in self.extensions if ext.name not in failed]
            raise CompileError(f"{len(failed)} of {len(runs)} modules: {', '.join(sorted(failed))}")

    def build_extension(self, ext: Extension) -> None:
        """Bring one module up to date: `.pyx` -> `.c` -> `.o` -> shared object."""
        c_file = Path(self.build_temp, ext.sources[0]).with_suffix(".c")
        self._cythonize(ext, c_file)
        self._compile(ext, c_file)
        self._link(ext, c_file.with_suffix(".o"))
        self._progress.end(ext.name)

    def _cythonize(self, ext: Extension, c_file: Path) -> None:
        """Make the C file unless the `.pyx` and all `.pxd` files below it are as they were."""
        stamp = Stamp(c_file.with_suffix(".c.json"))
        used = sorted(_dependencies(ext.sources[0]))
        inputs = digest(
            [toolchain(["Cython"]), ext.name, repr(_directives(ext.sources[0]))]
            + [f"{path} {file_digest(Path(path))}" for path in used if not _is_cythons(path)]
        )
        if stamp.is_current(inputs) and not self.force:
            return
        stamp.drop()
        self._progress.start("cythonizing", ext.name)
        self._cython.submit(_cythonize, ext.name, ext.sources[0], self.build_temp).result()
        stamp.write(inputs, [c_file])

    def _compile(self, ext: Extension, c_file: Path) -> None:
        """Make the object unless the C file and all headers of ours are as they were."""
        made = c_file.with_suffix(".o")
        stamp = Stamp(c_file.with_suffix(".o.json"))
        if stamp.is_current(_c_inputs(ext, c_file)) and not self.force:
            return
        stamp.drop()
        self._progress.start("compiling", ext.name)
        started = time.time()
        system = (f"-isystem{folder}" for folder in (numpy.get_include(), _PYTHON_INCLUDE))
        self.compiler.compile(
            [str(c_file)],
            macros=ext.define_macros,
            include_dirs=ext.include_dirs,
            debug=self.debug,
            extra_postargs=[*ext.extra_compile_args, *system, "-MMD"],
            depends=ext.depends,
        )
        if all(path.stat().st_mtime < started for path in _c_files(c_file)):
            stamp.write(_c_inputs(ext, c_file), [made])

    def _link(self, ext: Extension, made: Path) -> None:
        target = Path(self.get_ext_fullpath(ext.name))
        if target.exists() and target.stat().st_mtime_ns >= made.stat().st_mtime_ns:
            return
        scratch = target.with_name(f".{target.name}.new")  # a linker that is killed leaves half
        self.compiler.link_shared_object(
            [str(made), *ext.extra_objects],
            str(scratch),
            libraries=self.get_libraries(ext),
            library_dirs=ext.library_dirs,
            runtime_library_dirs=ext.runtime_library_dirs,
            extra_postargs=ext.extra_link_args,
            export_symbols=self.get_export_symbols(ext),
            debug=self.debug,
            build_temp=self.build_temp,
        )
        scratch.replace(target)


def _check_tools(compiler: str) -> None:
    """What a machine may lack is said before anything is made, with what to install."""
    if shutil.which(compiler) is None:
        raise PlatformError(
            f"this package is compiled, and there is no C compiler {compiler!r} here. Install one: "
            "apt install build-essential (Debian, Ubuntu), dnf install gcc (Fedora), "
            "xcode-select --install (macOS); CC=... names another"
        )
    folders = dict.fromkeys((_PYTHON_INCLUDE, sysconfig.get_path("platinclude")))
    if not any(Path(folder, "Python.h").exists() for folder in folders):
        version = sysconfig.get_python_version()
        raise PlatformError(
            f"this package is compiled, and Python's headers are missing: no Python.h in "
            f"{' or '.join(folders)}. Install them: apt install python{version}-dev (Debian, "
            f"Ubuntu), dnf install python{version}-devel (Fedora)"
        )


def _cythonize(name: str, source: str, build_dir: str) -> None:
    """In a worker: one `.pyx` to `build_dir/<its path>.c`.

    `Cython.Build.cythonize` would look for what each module depends on once more.
    """
    made = Path(build_dir, source).with_suffix(".c")
    made.parent.mkdir(parents=True, exist_ok=True)
    scratch = made.with_name(f".{made.name}.new")
    options = CompilationOptions(
        compiler_directives=_directives(source), include_path=["."], output_file=str(scratch)
    )
    if compile_single(source, options, name).num_errors:
        raise CompilerError(None, source)
    scratch.replace(made)


def _dependencies(source: str) -> set[str]:
    """The `.pyx` and all `.pxd` files below it."""
    used: set[str] = set()
    waiting = {source}
    while waiting:
        used |= waiting
        waiting = {path for found in map(_used_by, waiting) for path in found} - used
    return used


@cache
def _used_by(path: str) -> frozenset[str]:
    """What a file itself includes and takes from: looked up once a build, as in Cython's own tree.

    That tree takes the names of `from a cimport b, c` from the wrong places, and so overlooks
    modules that are taken out of a package: `a/b.pxd`, `a/b/__init__.pxd`.
    """
    tree = create_dependency_tree()
    beside = Path(path).with_suffix(".pxd")
    folder = os.path.dirname(path)
    names = {*tree.cimports(path), *_taken(path)}
    found = {pxd for name in names if (pxd := _pxd(name, folder)) is not None}
    return frozenset({*found, *tree.included_files(path), *([str(beside)] * beside.exists())})


@cache
def _pxd(module: str, folder: str) -> str | None:
    """The `.pxd` of a module as a file in `folder` names it; what is inside of a file is none."""
    outer = module.rpartition(".")[0]
    if outer.strip("."):
        around = _pxd(outer, folder)
        if around is not None and Path(around).stem != "__init__":
            return None
    return create_dependency_tree().find_pxd(module, os.path.join(folder, "__init__.pyx"))


def _taken(path: str) -> Iterator[str]:
    """What the names of `from a cimport b, c as d` are if they are modules: a.b, a.c."""
    for package, names in _FROM.findall(Path(path).read_text("utf-8", "replace")):
        for name in re.sub(r"#.*|[()\\]", " ", names).split(","):
            if name.strip():
                yield f"{package if package.endswith('.') else package + '.'}{name.split()[0]}"


def _directives(source: str) -> dict[str, object]:
    return DIRECTIVES[Path(source).suffix]


def _c_files(c_file: Path) -> list[Path]:
    """What the object was compiled from, system headers left out, as the compiler noted it."""
    noted = c_file.with_suffix(".d")
    if not noted.exists():
        return [c_file]
    words = shlex.split(noted.read_text().replace("\\\n", ""))
    return [Path(word) for word in words[1:]]


def _c_inputs(ext: Extension, c_file: Path) -> str:
    flags = repr((ext.extra_compile_args, ext.define_macros))
    files = [f"{path} {file_digest(path)}" for path in _c_files(c_file)]
    return digest([toolchain(["numpy"]), flags, *files])


def _is_cythons(path: str) -> bool:
    return Path(path).is_relative_to(_CYTHON)


def _source_size(ext: Extension) -> int:
    return os.path.getsize(ext.sources[0])
