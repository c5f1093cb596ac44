"""One fault at a time in a copy of the tree: compile what it touches, run the tests, put it back.

Only the modules concerned are compiled, without optimisation: a wrong condition is wrong at any
level. The shared objects of the sound tree are kept aside, so putting back costs nothing.
"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy

from dispatch.build.compiling import DIRECTIVES
from dispatch.build.finding import MACROS
from tests.mutants.catalog import ROOT, Fault

__all__ = ["ALL", "Outcome", "Tree", "new_tree"]

# Tests of the build itself and of what runs for minutes say nothing about a fault.
LEFT_OUT = ("tests/stress", "tests/fuzz", "tests/mutants", "tests/test_examples.py",
            "tests/test_docs.py", "tests/codegen/test_crossing.py", "tests/dispatch/test_stubs.py",
            "tests/dispatch/build")  # fmt: skip
ALL = ("tests",)
_NEAR_SECONDS = 200
_REST_SECONDS = 1800
_ADDRESS_SPACE = 16 << 30
_COPIED = ("codegen", "schemas", "dispatch", "tests", "benchmarks", "examples", "docs")
_SO = str(sysconfig.get_config_var("EXT_SUFFIX"))


class Outcome(NamedTuple):
    """`killed`, `survived` (every test passed) or `broken` (it does not compile); by what."""

    verdict: str
    by: str


class Tree:
    """A copy of the work tree, built, in which one fault after the other is tried."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "HYPOTHESIS_SEED": "0"}
        self.environment.pop("PYTHONPATH", None)

    def check_sound(self, tests: Sequence[str]) -> None:
        """RuntimeError when tests fail without any fault: they would kill whatever came."""
        failed = self._pytest(tests, _REST_SECONDS)
        if failed is not None:
            raise RuntimeError(f"without a fault: {failed}")

    def attempt(self, fault: Fault, near: bool) -> Outcome:
        """Try one fault: the nearest tests, then, unless `near`, the others."""
        source = self.folder / fault.file
        sound = source.read_text()
        touched = (fault.file, *fault.rebuild)
        compiled = [file for file in touched if _is_compiled(self.folder / file)]
        kept = {path: path.read_bytes() for path in map(self._shared_object, compiled)}
        _replace(source, fault.applied(self.folder).encode())
        try:
            for file in compiled:
                error = self._compile(file)
                if error:
                    return Outcome("broken", error)
            return self._tested(fault, near)
        finally:
            _replace(source, sound.encode())
            for path, data in kept.items():
                _replace(path, data)

    def _tested(self, fault: Fault, near: bool) -> Outcome:
        failed = self._pytest(fault.tests, _NEAR_SECONDS)
        if failed is None and not near:
            failed = self._pytest(ALL, _REST_SECONDS)
        return Outcome("survived", "") if failed is None else Outcome("killed", failed)

    def _pytest(self, arguments: Sequence[str], seconds: int) -> str | None:
        """Which test failed first; None when all passed."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "--tb=no",
                   "-p", "no:cacheprovider", *(f"--ignore={path}" for path in LEFT_OUT),
                   *arguments]  # fmt: skip
        status, text = self._run(command, seconds)
        if status == 0:
            return None
        if status < 0:
            return f"signal {signal.Signals(-status).name} in {arguments[0]}"
        failures = [line for line in text.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if failures:
            return failures[0].partition(" - ")[0]
        return (text.strip().splitlines() or [f"status {status}"])[-1]

    def _run(self, command: Sequence[str], seconds: int) -> tuple[int, str]:
        """Status (negative: the signal) and output; a command that takes too long is ended."""
        run = subprocess.Popen(command, cwd=self.folder, env=self.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               stdin=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=_limit_memory)  # fmt: skip
        try:
            text, _ = run.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, ""
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.communicate()
        return run.returncode, text

    def _shared_object(self, file: str) -> Path:
        path = self.folder / file
        return path.with_name(path.stem + _SO)

    def _compile(self, file: str) -> str | None:
        """Make the shared object of one module; when that fails, the compiler's last line."""
        # the generator is a room of the package, which finds it through a link
        source = f"dispatch/{file}" if file.startswith("codegen/") else file
        target = self._shared_object(file)
        c_file = target.with_suffix(".c")
        directives = dict(DIRECTIVES[Path(file).suffix])
        level = directives.pop("language_level")
        settings = [word for item in directives.items() for word in ("-X", "{}={}".format(*item))]
        include = ("dispatch/_C/generated", "dispatch/_C", str(Path(file).parent),
                   "dispatch/kernels/cpu", sysconfig.get_path("include"),
                   numpy.get_include())  # fmt: skip
        c_compiler = ["ccache", "cc"] if shutil.which("ccache") else ["cc"]
        steps = [
            [sys.executable, "-m", "cython", f"-{level}", *settings, "-o", str(c_file), source],
            [*c_compiler, "-shared", "-fPIC", "-O0", "-g0", "-w", "-fno-strict-aliasing",
             "-fvisibility=hidden", *(f"-D{name}={value}" for name, value in MACROS),
             *(f"-I{folder}" for folder in include), str(c_file), "-o", f"{target}.new"],
        ]  # fmt: skip
        for step in steps:
            status, text = self._run(step, _NEAR_SECONDS)
            if status:
                c_file.unlink(missing_ok=True)
                return (text.strip().splitlines() or [f"status {status}"])[-1]
        c_file.unlink()
        os.replace(f"{target}.new", target)
        return None


def new_tree(folder: Path) -> Tree:
    """A fresh copy of the work tree, which must be built, at `folder`."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    ignored = shutil.ignore_patterns("__pycache__", ".hypothesis")
    for name in _COPIED:
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
    return Tree(folder)


def _is_compiled(path: Path) -> bool:
    return path.suffix == ".pyx" or (path.suffix == ".py" and path.with_suffix(".pxd").exists())


def _replace(path: Path, data: bytes) -> None:
    """Write a new file under the name: a process that has the old one mapped keeps it."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(data)
    if path.exists():
        shutil.copymode(path, beside)
    os.replace(beside, path)


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
