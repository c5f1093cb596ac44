"""What `import dispatch` loads: the core, and tables that say where the rest is."""

import subprocess
import sys

import pytest


def loaded_by(code: str) -> set[str]:
    command = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def plain() -> set[str]:
    return loaded_by("import dispatch")


ROOMS = ("codegen", "fake", "graph", "kernels", "symbolic", "pytree", "tensor.arrays", "cli")


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_are_loaded_when_they_are_asked_for(plain: set[str], room: str) -> None:
    assert "dispatch" in plain
    assert f"dispatch.{room}" not in plain


@pytest.mark.parametrize("module", ["click", "dataclasses", "rich", "sympy"])
def test_what_only_some_rooms_need_is_not_loaded(plain: set[str], module: str) -> None:
    assert module not in plain


@pytest.mark.parametrize("on", [True, False])
def test_without_the_interpreters_lock_the_import_is_refused(on: bool) -> None:
    code = f"import sys; sys._is_gil_enabled = lambda: {on}; import dispatch"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == on
    assert on or "ImportError: dispatch needs the interpreter's lock" in done.stderr


def test_fake_tensors_are_found_without_an_import() -> None:
    assert "dispatch.fake.mode" in loaded_by("import dispatch\ndispatch.FakeTensorMode()")
    assert "dispatch.fake.mode" in loaded_by("import dispatch\ndispatch.fake.FakeTensor")
