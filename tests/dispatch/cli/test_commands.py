"""`dispatch.cli`: what each command prints, and one line with exit code 2 for a user's mistake."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import dispatch
from dispatch import cli
from dispatch.cli import inspect
from tests.dispatch.graph import programs
from tests.dispatch.graph.test_module import EXAMPLE, floats


def invoke(*args):
    return CliRunner().invoke(cli.main, [str(a) for a in args])


@pytest.fixture
def add_relu(tmp_path):
    return programs.write_json(tmp_path / "add_relu.json", programs.add_relu())


def test_inspect_shows_head_operators_and_totals():
    result = invoke("inspect", EXAMPLE)
    assert result.exit_code == 0, result.output
    for text in (
        "gpt2.pt2",
        "31,616 (126.5 kB)",
        "int64[2, 16]",
        "float32[2, 16, 128]",
        "aten::linear",
        "aten::matmul",
        "peak memory",
        "FLOPs",
        "hits",
        "not the model's time",
        "GPT2Block",
        "28 parameters",
    ):
        assert text in result.output


def test_inspect_lists_every_call(add_relu):
    result = invoke("inspect", add_relu, "--ops", "--device", "cuda")
    assert result.exit_code == 0, result.output
    assert "1  act  aten::relu  float32[2, 3] strides [3, 1]" in result.output
    assert "fake on cuda" in result.output


def test_inspect_writes_the_report(add_relu, tmp_path):
    target = tmp_path / "report.json"
    assert invoke("inspect", add_relu, "--json", target).exit_code == 0
    assert json.loads(target.read_text())["calls"][2]["op"] == "aten::mul.Tensor"


def test_inspect_shows_the_tree_of_modules():
    result = invoke("inspect", EXAMPLE, "--modules", "--depth", 4)
    assert result.exit_code == 0, result.output
    assert "GPT2Block" in result.output and "GPT2Attention" not in result.output
    assert "aten::addmm" not in result.output.partition("modules")[2]
    assert "GPT2Attention" in invoke("inspect", EXAMPLE, "--modules").output


def test_inspect_shows_what_is_alive_during_a_call():
    result = invoke("inspect", EXAMPLE, "--alive", 3)
    assert "alive during call 3" in result.output
    assert "m.transformer.wte.weight" in result.output
    result = invoke("inspect", EXAMPLE, "--alive", 128)
    assert result.exit_code == 2
    assert "no call 128: it has 128" in result.output


def test_checks_that_hold_and_checks_that_fail(tmp_path):
    summary = tmp_path / "summary.md"
    args = ("inspect", EXAMPLE, "--assert", "calls == 128", "--markdown", summary)
    assert invoke(*args).exit_code == 0
    result = invoke(*args, "--assert", "peak_bytes < 100kB")
    assert result.exit_code == 1
    assert "failed: peak_bytes < 100kB: peak_bytes is 198,656" in result.output
    assert "FAILED" in summary.read_text()
    result = invoke("inspect", EXAMPLE, "--assert", "peak < 1")
    assert result.exit_code == 2 and result.output.count("\n") == 1


def test_a_folder_of_models_is_a_table(tmp_path, add_relu):
    programs.linear_archive(tmp_path / "linear.pt2")
    (tmp_path / "broken.json").write_text("{}")
    (tmp_path / "notes.txt").write_text("not looked at")
    result = invoke("inspect", tmp_path, "--assert", "peak_bytes < 100")
    assert result.exit_code == 1
    for words in ("add_relu.json", "linear.pt2", "broken.json: JSON, but no exported program"):
        assert words in result.output
    assert "failed: linear.pt2: peak_bytes < 100" in result.output
    found = json.loads(invoke("inspect", tmp_path, "--json", "-").output)
    assert [r["model"] for r in found["models"]] == ["add_relu.json", "linear.pt2"]
    assert list(found["errors"]) == ["broken.json"]


def test_a_folder_has_a_summary_too(tmp_path, add_relu):
    """Rows for models, and below them what failed and what could not be read."""
    (tmp_path / "broken.json").write_text("{}")
    result = invoke("inspect", tmp_path, "--markdown", "-", "--assert", "calls < 1")
    lines = result.output.splitlines()
    assert lines[2] == (
        "| model | parameters | weights | peak memory | activations | FLOPs | calls |"
    )
    assert lines[4].startswith(r"| add\_relu.json | 0 | 0 B |")
    below = [line for line in lines if line.startswith("- ")]
    assert any(line.startswith(r"- add\_relu.json: calls &lt; 1: ") for line in below)
    assert any("no exported program" in line for line in below) and result.exit_code == 1


def test_a_folder_has_a_page_too(tmp_path, add_relu):
    """With what failed, one line for a reason; tables of one model's calls are refused."""
    for name in "abcd":
        (tmp_path / f"{name}.json").write_text("{}")
    page = tmp_path / "page.html"
    result = invoke("inspect", tmp_path, "--html", page, "--assert", "calls < 1")
    assert result.exit_code == 1
    reason = "a.json, b.json, c.json and 1 more: JSON, but no exported program"
    assert result.output.count("no exported program") == 1 and reason in result.output
    text = page.read_text()
    assert f"<title>{tmp_path.name}</title>" in text and f"<li>{reason}" in text
    assert "<li>add_relu.json: calls &lt; 1: " in text and '<a href="#add_relu.json"' in text
    for option in (["--ops"], ["--modules"], ["--depth", "0"], ["--alive", "0"], ["--inputs", "x"]):
        result = invoke("inspect", tmp_path, *option)
        assert result.exit_code == 2 and f"a folder: {option[0]} takes a file" in result.output


def test_diff_says_what_changed_by_its_exit_code(tmp_path, add_relu):
    same = invoke("diff", add_relu, add_relu)
    assert same.exit_code == 0
    assert "no difference" in same.output
    content = programs.add_relu()
    content["graph_module"]["graph"]["nodes"][1]["target"] = "torch.ops.aten.tanh.default"
    other = programs.write_json(tmp_path / "other.json", content)
    result = invoke("diff", add_relu, other, "--markdown", tmp_path / "d.md")
    assert result.exit_code == 1
    assert "aten::tanh" in result.output
    assert "aten::tanh" in (tmp_path / "d.md").read_text()
    assert json.loads(invoke("diff", add_relu, other, "--json", "-").output)["equal"] is False
    assert invoke("diff", add_relu, tmp_path / "none").exit_code == 2


def test_diff_takes_reports_that_were_saved(tmp_path, add_relu):
    saved, packed = tmp_path / "before.json", tmp_path / "before.json.gz"
    invoke("inspect", add_relu, "--json", saved)
    packed.write_bytes(gzip.compress(json.dumps(json.loads(saved.read_text()), indent=1).encode()))
    for a, b in ((saved, add_relu), (add_relu, packed), (saved, packed)):
        assert invoke("diff", a, b).exit_code == 0
    report = json.loads(saved.read_text())
    report["calls"].pop()
    report["peak_bytes"] += 1
    saved.write_text(json.dumps(report))
    result = invoke("diff", saved, add_relu)
    assert result.exit_code == 1
    assert "peak memory" in result.output and "calls that only one has" in result.output


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda report: report.update(peak_bytes="4*s0"), "peak_bytes: sizes are open"),
        (lambda report: report.pop("modules"), "modules: expected a list"),
        (lambda report: report["calls"][0].pop("op"), "calls[0].op: is not there"),
    ],
)
def test_diff_says_what_a_saved_report_lacks(tmp_path, add_relu, change, text):
    saved = tmp_path / "before.json"
    invoke("inspect", add_relu, "--json", saved)
    report = json.loads(saved.read_text())
    change(report)
    saved.write_text(json.dumps(report))
    result = invoke("diff", add_relu, saved)
    assert result.exit_code == 2 and text in result.output
    saved.write_text(json.dumps(report)[:-9])
    assert "a report that is not whole" in invoke("diff", saved, add_relu).output


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_name_that_the_terminal_has_no_letters_for(tmp_path, encoding):
    path = programs.write_json(tmp_path / "модель\u2603.json", programs.add_relu())
    settings = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for args in (("inspect", path), ("inspect", path, "--markdown", "-"), ("inspect", f"{path}?")):
        result = subprocess.run(
            [sys.executable, "-m", "dispatch", *map(str, args)],
            capture_output=True, timeout=60, check=False, env=os.environ | settings,
        )  # fmt: skip
        assert b"Traceback" not in result.stderr
        assert b"2603" in result.stdout + result.stderr or "\u2603".encode() in (
            result.stdout + result.stderr
        )


def test_files_have_a_name_in_utf8_whatever_the_locale(tmp_path):
    path = programs.write_json(tmp_path / "mod\u00e8le.json", programs.add_relu())
    settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    for option, written in (("--markdown", "x.md"), ("--html", "x.html"), ("--json", "x.json")):
        subprocess.run(
            [sys.executable, "-m", "dispatch", "inspect", path, option, tmp_path / written],
            capture_output=True, timeout=60, check=True, env=os.environ | settings,
        )  # fmt: skip
    assert "mod\u00e8le" in (tmp_path / "x.md").read_text(encoding="utf-8")
    assert "mod\u00e8le" in (tmp_path / "x.html").read_text(encoding="utf-8")
    report = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert report["model"] == "mod\u00e8le.json"


def test_inspect_writes_a_page(add_relu, tmp_path):
    target = tmp_path / "report.html"
    assert invoke("inspect", add_relu, "--html", target).exit_code == 0
    assert "aten::mul.Tensor" in target.read_text()


def test_a_number_that_overflows_is_a_users_mistake(tmp_path):
    content = programs.add_relu()
    huge = [("a", programs.as_int(2**62)), ("b", programs.as_int(2**62))]
    output = {"as_sym_int": {"as_name": "s"}}
    graph = content["graph_module"]["graph"]
    graph["nodes"].insert(0, programs.node("_operator.mul", huge, [output], "s"))
    graph["sym_int_values"]["s"] = programs.as_int(1)
    result = invoke("inspect", programs.write_json(tmp_path / "m.json", content))
    assert result.exit_code == 2
    assert "m.json" in result.output and "Traceback" not in result.output


def test_inspect_runs_for_real_with_given_inputs(add_relu, tmp_path):
    arrays = tmp_path / "inputs.npz"
    np.savez(arrays, in_0=floats(2, 3), in_1=floats(2, 3), out_0=floats(1))
    result = invoke("inspect", add_relu, "--cpu", "--inputs", arrays)
    assert result.exit_code == 0, result.output
    assert "computed on cpu" in result.output
    assert "time" in result.output


def test_inspect_makes_up_weights_only_when_told(tmp_path):
    path = programs.write_json(tmp_path / "m.json", programs.linear())
    result = invoke("inspect", path, "--cpu")
    assert result.exit_code == 2
    assert "no data for 1 weights (w): --random-weights makes them up" in result.output
    result = invoke("inspect", path, "--cpu", "--random-weights")
    assert result.exit_code == 0
    assert "1 weight and 1 input: random values" in result.output


def test_an_operator_that_nobody_registered_is_reported(tmp_path):
    content = programs.add_relu()
    content["graph_module"]["graph"]["nodes"][0]["target"] = "torch.ops.graphtest.absent.default"
    path = programs.write_json(tmp_path / "m.json", content)
    result = invoke("inspect", path)
    assert result.exit_code == 0
    assert "graphtest::absent: outputs as the file records them" in result.output
    assert invoke("inspect", path, "--assert", "unregistered == 0").exit_code == 1
    result = invoke("inspect", path, "--cpu")
    assert result.exit_code == 2
    assert "1 operator not registered: graphtest::absent" in result.output


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: path.write_bytes(b"PK\x03\x04 broken"), "not a zip archive"),
        (lambda path: path.write_text('{"graph_module": 1}'), "graph_module: expected an object"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(tmp_path, make, text):
    path = tmp_path / "model.pt2"
    make(path)
    result = invoke("inspect", path)
    assert result.exit_code == 2
    assert result.output.startswith("Error: ")
    assert str(path) in result.output
    assert text in result.output
    assert result.output.count("\n") == 1


def test_a_strangers_text_is_shown_without_markup_or_control_characters(tmp_path):
    content = json.dumps(programs.add_relu()).replace('"act"', r'"[red]\u001b[2Jact"')
    path = tmp_path / "m.json"
    path.write_text(content)
    result = invoke("inspect", path, "--ops")
    assert result.exit_code == 0, result.output
    assert "[red]\ufffd[2Jact" in result.output
    assert "\x1b" not in result.output


def run(*args, **kwargs):
    """The command in a process of its own: real handles, and an end to every wait."""
    command = [sys.executable, "-m", "dispatch", *map(str, args)]
    settings = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 60, **kwargs}
    return subprocess.run(command, text=True, check=False, **settings)


COMMANDS = {
    "inspect": lambda model: ("inspect", model, "--ops"),
    "--json -": lambda model: ("inspect", model, "--json", "-"),
    "ops": lambda model: ("ops",),
    "table": lambda model: ("table", "aten::add.Tensor"),
    "keys": lambda model: ("keys",),
    "help": lambda model: ("--help",),
    "help of a command": lambda model: ("ops", "--help"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_disk_is_one_line(add_relu, name):
    with open("/dev/full", "w") as full:
        result = run(*COMMANDS[name](add_relu), stdout=full)
    assert result.stderr == "Error: standard output: No space left on device\n"
    assert result.returncode == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_a_pipe_that_nobody_reads_is_no_error(add_relu, name):
    reader, writer = os.pipe()
    os.close(reader)
    result = run(*COMMANDS[name](add_relu), stdout=writer)
    os.close(writer)
    assert "Error" not in result.stderr and "Traceback" not in result.stderr
    assert result.returncode == 128 + signal.SIGPIPE


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize(
    ("target", "words"), [("/dev/full", "No space left"), ("folder", "Is a directory")]
)
def test_a_report_that_cannot_be_written_is_one_line(tmp_path, add_relu, option, target, words):
    (tmp_path / "folder").mkdir()
    target = tmp_path / target  # an absolute one stays what it is
    result = run("inspect", add_relu, option, target)
    assert result.returncode == 2
    assert result.stderr.startswith(f"Error: {target}: {words}")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_no_report_is_written_over_another_or_over_what_is_read(tmp_path, add_relu):
    before, arrays = add_relu.read_text(), tmp_path / "in.npz"
    np.savez(arrays, floats(2, 3), floats(2, 3))
    both = tmp_path / "both"
    for args, words in (
        (("--json", both, "--html", both), "--html would write over --json"),
        (("--json", add_relu), "--json would write over MODEL"),
        (("--inputs", arrays, "--html", arrays), "--html would write over --inputs"),
    ):
        result = invoke("inspect", add_relu, *args)
        assert result.exit_code == 2
        assert words in result.output and result.output.count("\n") == 1
    assert add_relu.read_text() == before
    assert not both.exists()


def test_a_report_goes_to_standard_output_alone(add_relu):
    result = invoke("inspect", add_relu, "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.output)["calls"][2]["op"] == "aten::mul.Tensor"
    page = invoke("inspect", add_relu, "--html", "-").output
    assert page.lower().startswith("<!doctype html>")
    assert "aten::mul.Tensor" in page


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
@pytest.mark.parametrize("model", ["json", "pt2"])
def test_a_model_comes_through_a_pipe(tmp_path, add_relu, name, model):
    path = add_relu if model == "json" else programs.linear_archive(tmp_path / "linear.pt2")
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        result = run("inspect", name, "--json", "-", "--cpu", stdin=cat.stdout)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["mode"] == "cpu"


def test_a_model_comes_from_a_file_that_is_standard_input(add_relu):
    with add_relu.open() as file:
        result = run("inspect", "-", stdin=file)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("option", ["MODEL", "--inputs"])
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (os.mkfifo, "not a file, but a pipe or a device"),
        (lambda path: path.symlink_to("/dev/null"), "not a file, but a pipe or a device"),
        (lambda path: path.mkdir(), "Is a directory"),
        (pathlib.Path.touch, ""),
        (lambda path: path.write_bytes(b"PK\x05\x06" + bytes(18)), ""),
    ],
    ids=["pipe", "device", "folder", "empty", "empty archive"],
)
def test_what_is_no_file_is_one_line_at_once(tmp_path, add_relu, option, make, words):
    path = tmp_path / "stranger"
    make(path)
    args = (path,) if option == "MODEL" else (add_relu, "--inputs", path)
    result = run("inspect", *args)
    assert result.returncode == 2
    assert result.stderr.startswith(f"Error: {path}: {words}")
    assert result.stderr.count("\n") == 1


def test_an_endless_pipe_is_refused_at_its_head():
    with subprocess.Popen(["yes"], stdout=subprocess.PIPE) as yes:
        result = run("inspect", "-", stdin=yes.stdout)
        yes.kill()
    assert result.returncode == 2
    assert result.stderr.startswith("Error: /dev/stdin: neither a .pt2 archive")


def test_a_files_name_is_shown_without_control_characters(tmp_path):
    result = run("inspect", tmp_path / "a\x1b[2J\u202e.pt2")
    assert result.returncode == 2
    assert "\x1b" not in result.stderr and "\u202e" not in result.stderr


def test_progress_appears_on_long_runs_only(monkeypatch, capsys):
    with inspect._late_progress(100) as advance:
        advance(50)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(inspect, "_PROGRESS_AFTER_SECONDS", -1)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    with inspect._late_progress(100) as advance:
        advance(50)
    assert "50/100" in capsys.readouterr().err


def test_ops_lists_by_part_or_glob():
    assert "aten::add.Tensor\n" in invoke("ops").output
    assert invoke("ops", "aten::add.T*").output == "aten::add.Tensor\n"
    assert set(invoke("ops", "relu").output.split()) >= {"aten::relu", "aten::relu_"}
    result = invoke("ops", "no_such_thing")
    assert result.exit_code == 2
    assert "no operator matches" in result.output


@pytest.mark.parametrize("name", ["aten::add.Tensor", "aten.add.Tensor", "add.Tensor"])
def test_table_gives_key_kernel_and_reason(name):
    result = invoke("table", name)
    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.output.splitlines()]
    assert next(line for line in lines if line[0] == "CPU")[-1] == "kernel"


def test_table_of_a_name_with_overloads_says_which_one_it_is():
    result = invoke("table", "sub")
    assert "This is aten::sub; other overloads are aten::sub." in result.output
    assert "aten::sub.Tensor" in result.output
    assert "This is" not in invoke("table", "aten.sub.Tensor").output


def test_every_command_has_a_line_that_is_whole():
    lines = invoke("--help").output.partition("Commands:\n")[2].splitlines()
    assert len(lines) == 7 and all(line.endswith(".") and "..." not in line for line in lines)


def test_table_of_an_unknown_operator():
    result = invoke("table", "aten::no_such_op")
    assert result.exit_code == 2
    assert "no operator 'aten::no_such_op'" in result.output


def test_keys_are_listed_with_values_and_aliases():
    lines = [line.split() for line in invoke("keys").output.splitlines()]
    assert [str(dispatch.DispatchKey.CPU.value), "CPU"] in [line[:2] for line in lines]
    assert next(line for line in lines if "CompositeImplicitAutograd" in line)[-1] == "alias"


def test_python_m_dispatch(add_relu):
    command = [sys.executable, "-m", "dispatch", "inspect", str(add_relu)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert "aten::mul.Tensor" in result.stdout


def completed(*words):
    """What bash is offered for the last word."""
    settings = {"_DISPATCH_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(words)}
    result = subprocess.run(
        [sys.executable, "-m", "dispatch"], capture_output=True, text=True, timeout=60, check=True,
        env=os.environ | settings | {"COMP_CWORD": str(len(words) - 1)},
    )  # fmt: skip
    return [line.partition(",")[2] for line in result.stdout.splitlines()]


def test_a_shell_completes_commands_options_and_operators():
    assert completed("dispatch", "in") == ["inspect"]
    assert "--markdown" in completed("dispatch", "inspect", "--m")
    assert completed("dispatch", "table", "aten.add.T") == ["aten.add.Tensor"]
    assert "aten.relu_" in completed("dispatch", "table", "relu")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_for_the_command(shell):
    if shell == "bash" and not shutil.which(shell):  # whose version click asks for
        pytest.skip("needs bash")
    result = subprocess.run(
        [sys.executable, "-m", "dispatch"], capture_output=True, text=True, timeout=60, check=True,
        env=os.environ | {"_DISPATCH_COMPLETE": f"{shell}_source"},
    )  # fmt: skip
    assert "_DISPATCH_COMPLETE" in result.stdout and "python" not in result.stdout
