"""Try an installed wheel: `python -I smoke.py MODEL`, from any folder but the repository."""

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import dispatch

HOME = Path(dispatch.__file__).parent
SCRIPTS = Path(sys.executable).parent


def run(*command: str | Path) -> str:
    """The standard output of a command that must succeed."""
    return subprocess.run([*map(str, command)], check=True, capture_output=True, text=True).stdout


def check_files() -> None:
    """The wheel holds what out-of-tree packages build from, and no package called codegen."""
    assert HOME.is_relative_to(sys.prefix), HOME
    assert importlib.util.find_spec("codegen") is None
    for name in ("_C/keys.pxd", "_C/tensor.pxd", "_C/emitted.h", "py.typed", "__init__.pyi",
                 "_C/tensor.pyi", "_C/generated/ops_aten.pyi",
                 "codegen/schema.py", "schemas/native_functions.yaml"):  # fmt: skip
        assert (HOME / name).is_file(), name
    for pattern in ("codegen/templates/*.j2", "**/*.pyi"):
        assert any(HOME.glob(pattern)), pattern


def check_calls() -> None:
    """An operator computes, and computes a shape."""
    a = dispatch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert dispatch.ops.aten.add.Tensor(a, a, alpha=2).tolist() == [[3.0, 6.0], [9.0, 12.0]]
    with dispatch.FakeTensorMode():
        assert dispatch.empty(2, 3, device="cuda").t().shape == (3, 2)


def check_scripts(model: str) -> None:
    """Both installed scripts run; without the extra, generating says what is missing."""
    assert "add" in run(SCRIPTS / "dispatch", "ops", "aten::add")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        run(SCRIPTS / "dispatch", "inspect", model, "--json", report)
        assert '"calls"' in report.read_text()
    generator = subprocess.run(
        [SCRIPTS / "dispatch-codegen", "--schemas", HOME / "schemas", "--out", "emitted"],
        capture_output=True,
        text=True,
    )
    assert generator.returncode != 0 and "[build]" in generator.stderr, generator


check_files()
check_calls()
check_scripts(sys.argv[1])
print(f"installed wheel works: dispatch {dispatch.__version__} in {HOME}")
