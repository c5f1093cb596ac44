"""`--import`: operators that a model needs and the user has."""

import sys

import pytest

from dispatch import graph
from dispatch.graph.imports import import_operators
from dispatch.graph.sweep import plan_sweep, read_vary, run_sweep
from tests.dispatch.cli.test_commands import invoke
from tests.dispatch.graph import programs

TWICE = """
from dispatch import Tensor
from dispatch.library import custom_op

@custom_op("cli_imports::{name}", mutates_args=())
def {name}(x: Tensor) -> Tensor:
    return x * 2

{name}.register_fake(lambda x: x.new_empty(x.shape))
"""


def model_of(path, name):
    """A program that calls cli_imports::NAME on float32[b, 4]."""
    values = {n: programs.meta([programs.symbol("b", 2), 4]) for n in ("x", "y")}
    call = programs.node(f"cli_imports.{name}.default", [("x", programs.tensor("x"))], ["y"])
    body = programs.graph(["x"], ["y"], [call], values)
    content = programs.program(
        body, [programs.user_input("x")], [programs.user_output("y")], b=(1, None)
    )
    return programs.write_json(path, content)


@pytest.fixture(autouse=True)
def modules():
    """What is imported is forgotten."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("dispatch-import:") or name == "from_module":
            del sys.modules[name]


@pytest.fixture
def written(tmp_path):
    def write(name, text=None):
        file = tmp_path / f"{name}.py"
        file.write_text(TWICE.format(name=name) if text is None else text)
        return file, model_of(tmp_path / f"{name}.json", name)

    return write


def test_a_file_brings_the_operators_that_a_model_needs(written):
    file, model = written("from_file")
    assert invoke("inspect", model, "--cpu").exit_code == 2
    for _ in range(2):  # the second time it is there
        result = invoke("inspect", model, "--cpu", "--import", file)
        assert result.exit_code == 0, result.output
        assert "cli_imports::from_file" in result.output
    assert invoke("ops", "cli_imports::from_file", "--import", file).exit_code == 0
    report = graph.load(model).run(sizes={"b": 5}).to_json()
    assert report["calls"][0]["outputs"][0]["shape"] == [5, 4]


def test_a_module_is_imported_by_its_name(written, tmp_path, monkeypatch):
    file, _ = written("from_module")
    monkeypatch.syspath_prepend(str(tmp_path))
    result = invoke("table", "cli_imports::from_module", "--import", "from_module")
    assert result.exit_code == 0, result.output
    assert sys.modules["from_module"].__file__ == str(file)


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_of_a_sweep_import_it_too(written, jobs):
    file, model = written(f"swept_{jobs}")
    tasks = plan_sweep([str(model)], read_vary(["b=1:64"]), imports=[str(file)])
    rows = [row for found in run_sweep(tasks, jobs) for row in found]
    assert len(tasks) == 2 and len(rows) == 64
    assert {row["error"] for row in rows} == {None}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nraise KeyError('seen')\n", "line 2: KeyError: 'seen'"),
        ("x = (\n", "line 1: '(' was never closed"),
        ("raise SystemExit(0)\n", "line 1: SystemExit: 0"),
        ("import no_such_module_of_ours\n", "line 1: ModuleNotFoundError: No module named"),
    ],
)
def test_what_it_raises_is_one_line_that_says_where(written, text, told):
    file, model = written("broken", text)
    for _ in range(2):  # not half imported
        result = invoke("inspect", model, "--import", file)
        assert result.exit_code == 2
        assert told in result.output and len(result.output.splitlines()) == 1


def test_what_is_not_there_is_one_line(tmp_path, written):
    _, model = written("absent", "")
    missing = tmp_path / "missing.py"
    result = invoke("fit", model, "--memory", "1GB", "--import", missing)
    assert result.exit_code == 2 and f"{missing}: No such file" in result.output
    result = invoke("inspect", model, "--import", "no_such_module_of_ours")
    assert result.exit_code == 2 and "--import no_such_module_of_ours: " in result.output


def test_a_file_runs_once_whatever_its_path_is_called(written, monkeypatch, tmp_path):
    file, _ = written("once", "import builtins\nbuiltins.runs.append(1)\n")
    monkeypatch.setattr("builtins.runs", runs := [], raising=False)
    monkeypatch.chdir(tmp_path)
    import_operators(str(file))
    import_operators("once.py")
    assert runs == [1]
