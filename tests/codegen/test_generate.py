"""The emitted files: what they are, when they are written, and that they are right."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dispatch.codegen.__main__ import main
from dispatch.codegen.generate import Job, generate
from dispatch.codegen.keys import read_keys
from dispatch.codegen.model import read_functions
from dispatch.codegen.resolve import row_of
from dispatch.codegen.rooms import Rooms
from tests.codegen.helpers import ATEN_SCHEMAS, KEYS, ROOT, SCHEMAS, TAGS, job_for, make_package

SAMPLE = Path(__file__).parent / "sample"


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A copy of the sample package, to generate in."""
    shutil.copytree(SAMPLE / "schemas", tmp_path / "schemas")
    shutil.copytree(SAMPLE / "mylib", tmp_path / "mylib")
    return tmp_path


def _files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def test_the_sample_is_emitted_to_the_letter(sample: Path) -> None:
    """UPDATE_SAMPLE=1 in the environment rewrites the expected files instead."""
    generate(job_for(sample))
    emitted = _files(sample / "mylib" / "generated")
    if os.environ.get("UPDATE_SAMPLE"):
        shutil.rmtree(SAMPLE / "expected")
        (SAMPLE / "expected").mkdir()
        for name, text in emitted.items():
            (SAMPLE / "expected" / f"{name}.txt").write_text(text)
    # .txt, or every tool that walks the tree would take them for sources
    expected = {name[:-4]: text for name, text in _files(SAMPLE / "expected").items()}
    assert sorted(emitted) == sorted(expected)
    for name, text in emitted.items():
        assert text == expected[name], name


def test_the_same_input_gives_the_same_bytes(sample: Path) -> None:
    generate(job_for(sample))
    first = _files(sample / "mylib" / "generated")
    shutil.rmtree(sample / "mylib" / "generated")
    generate(job_for(sample))
    assert _files(sample / "mylib" / "generated") == first


def test_emitted_files_name_their_input_and_no_place_of_this_machine(sample: Path) -> None:
    generate(job_for(sample))
    for name, text in _files(sample / "mylib" / "generated").items():
        head = "\n".join(text.splitlines()[:3])
        assert "schemas/native_functions.yaml" in head, name
        assert "dispatch-codegen --package mylib" in head, name
        assert str(sample) not in text, name
        assert not re.search(r"0x[0-9a-f]{9,}>", text), name


def test_emitted_files_name_every_file_of_operators(sample: Path) -> None:
    (sample / "schemas" / "more_functions.yaml").write_text("- func: mylib::g() -> ()\n")
    generate(job_for(sample))
    head = _files(sample / "mylib" / "generated")["ops.h"]
    assert "schemas/{native,more}_functions.yaml" in head


def test_unchanged_files_keep_their_time_stamps(sample: Path) -> None:
    generate(job_for(sample))
    folder = sample / "mylib" / "generated"
    for path in folder.iterdir():
        os.utime(path, ns=(1, 1))
    yaml = sample / "schemas" / "native_functions.yaml"
    yaml.write_text(yaml.read_text().replace('style="short"', 'style="long"'))
    output = generate(job_for(sample))
    touched = {path.name for path in folder.iterdir() if path.stat().st_mtime_ns != 1}
    assert touched == {"ops.h", "ops_mylib.pyi"}
    assert set(output.stale) == touched


def test_files_of_what_is_gone_are_removed(sample: Path) -> None:
    generate(job_for(sample))
    make_package(sample, "- func: mylib::f(Tensor x) -> Tensor\n  dispatch: {CPU: a.f}\n")
    generate(job_for(sample))
    names = set(_files(sample / "mylib" / "generated"))
    assert names == {"op_ids.h", "operators.pyx", "ops.h", "ops_mylib.pyi"}


def test_compiled_modules_stay_and_only_emitted_files_are_removed(sample: Path) -> None:
    """A build in place leaves its modules beside the emitted files, under the same stems."""
    emitted = set(generate(job_for(sample)).written)
    folder = sample / "mylib" / "generated"
    stems = ("adapters_0", "kernels_blending", "formulas_old")
    compiled = {f"{stem}{end}" for stem in stems for end in (".cpython-311-linux.so", ".so", ".c")}
    stale = {f"formulas_old{end}" for end in (".pyx", ".pxd", ".h", "_loops.h")}
    stale |= {"adapters_99.pyx", "adapters_99.pxd", "kernels_old.pyx", "ops_old.pyi"}
    for name in compiled | stale:
        (folder / name).write_text("")
    assert set(generate(job_for(sample)._replace(check=True)).stale) == stale
    assert set(generate(job_for(sample)).stale) == stale
    assert set(_files(folder)) == emitted | compiled
    assert generate(job_for(sample)._replace(check=True)).stale == []


def test_check_writes_nothing_and_names_what_differs(sample: Path, capsys) -> None:
    folder = sample / "mylib" / "generated"
    command = ["--schemas", str(sample / "schemas"), "--out", str(folder), "--package", "mylib"]
    assert main([*command, "--check"]) == 1
    assert not folder.exists()
    assert f"differs: {folder / 'ops.h'}" in capsys.readouterr().err
    assert main(command) == 0
    assert main([*command, "--check"]) == 0
    assert capsys.readouterr().out.startswith("nothing differs: ")
    (folder / "op_ids.h").write_text("")
    (folder / "kernels_old.pyx").write_text("")
    assert main([*command, "--check"]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines == [f"differs: {folder / name}" for name in ("op_ids.h", "kernels_old.pyx")]
    assert (folder / "kernels_old.pyx").exists()


def test_a_mistake_ends_the_command_with_its_place(tmp_path: Path, capsys) -> None:
    path = make_package(tmp_path, "- func: f(int x=a) -> ()\n")
    out = tmp_path / "mylib" / "generated"
    status = main(["--schemas", str(path.parent), "--out", str(out), "--package", "mylib"])
    assert status == 2
    assert capsys.readouterr().err.startswith(f"{path}:1: f: expected a default")
    assert not out.exists()


def test_a_body_in_cython_needs_a_shape_function_in_cython(sample: Path) -> None:
    (sample / "mylib" / "kernels" / "meta" / "blending.pxd").unlink()
    with pytest.raises(Exception, match=r"blend.out: a body in Cython .* needs a shape function"):
        generate(job_for(sample))


# ---- the tables, read back by a C compiler


_READ_BACK = """
#include "ops.h"
#include <stdio.h>
int main(void) {
    for (unsigned i = 0; i < EMITTED.n_ops; i++) {
        const emitted_op* op = &EMITTED.ops[i];
        printf("%s %d %d %d %d |", op->schema, op->n_args, op->n_pos, op->n_rets, op->row);
        for (int a = 0; a < op->n_args; a++)
            printf(" %s", EMITTED.arg_names[EMITTED.args[op->first_arg + a].name]);
        printf(" |");
        for (int k = 0; k < op->n_kernels; k++)
            printf(" %d:%d", EMITTED.kernels[op->first_kernel + k].key,
                   EMITTED.kernels[op->first_kernel + k].kind == KK_FALLTHROUGH);
        printf(" |");
        for (unsigned r = 0; r < EMITTED.n_runtime; r++)
            printf(" %d", EMITTED.rows[op->row * EMITTED.n_runtime + r]);
        printf(" | %llx\\n", (unsigned long long)EMITTED.row_hard[op->row]);
    }
    return 0;
}
"""


def _read_back(folder: Path) -> list[list[str]]:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "read_back.c").write_text(_READ_BACK)
    core = ROOT / "dispatch" / "_C"
    include = ["-I", str(core), "-I", str(core / "generated")]
    program = folder / "read_back"
    subprocess.run(
        [compiler, "-Wall", "-Werror", *include, "read_back.c", "-o", str(program)],
        cwd=folder,
        check=True,
    )
    output = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return [[part.strip() for part in line.rsplit("|", 4)] for line in output.splitlines()]


def _generate_all(folder: Path) -> None:
    """The project's own files, below a folder that has its kernels."""
    (folder / "dispatch").mkdir()
    (folder / "dispatch" / "kernels").symlink_to(ROOT / "dispatch" / "kernels")
    generate(Job(SCHEMAS, folder / "dispatch" / "_C" / "generated"))


def test_the_projects_tables_hold_every_operator_and_its_row(tmp_path: Path) -> None:
    """Every emitted row is computed again from the operator's registrations."""
    _generate_all(tmp_path)
    keys = read_keys(SCHEMAS / "dispatch_keys.yaml")
    rooms = Rooms(ROOT / "dispatch", "dispatch")
    package = read_functions(SCHEMAS / "native_functions.yaml", keys, TAGS, rooms)
    lines = _read_back(tmp_path / "dispatch" / "_C" / "generated")
    assert len(lines) == len(package.functions)
    for f, (head, names, kernels, row, hard) in zip(package.functions, lines, strict=True):
        schema, *numbers, _ = head.rsplit(" ", 4)
        positional = [a for a in f.schema.arguments if not a.kwarg_only]
        assert schema == str(f.schema)
        assert [int(n) for n in numbers] == [
            len(f.schema.arguments),
            len(positional),
            len(f.schema.returns),
        ]
        assert names.split() == [a.name for a in f.schema.arguments]
        registered = [tuple(map(int, k.split(":"))) for k in kernels.split()]
        codes = {keys.name_of[value]: i for i, (value, _) in enumerate(registered)}
        skipped = frozenset(keys.name_of[value] for value, skips in registered if skips)
        wanted = row_of(keys, codes, skipped)
        assert tuple(map(int, row.split())) == wanted.entries
        assert int(hard, 16) == wanted.hard


def test_the_keys_header_compiles_and_indexes_every_key(tmp_path: Path) -> None:
    _generate_all(tmp_path)
    folder = tmp_path / "dispatch" / "_C" / "generated"
    (folder / "ops.h").write_text(
        '#include "keys.h"\n#include <stdio.h>\n#define main unused\n'
        "int keys(void) { for (int i = 0; i < DK_NUM_RUNTIME; i++) {\n"
        "  int v = DK_VALUE_BY_INDEX[i];\n"
        '  printf("%s %d %d %llx\\n", DK_NAME_BY_VALUE[v], v, DK_INDEX_BY_VALUE[v],\n'
        "         (unsigned long long)KS_BY_VALUE[v]); } return 0; }\n"
    )
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    (folder / "k.c").write_text(
        '#include "ops.h"\n#undef main\nint main(void) { return keys(); }\n'
    )
    subprocess.run([compiler, "-Wall", "k.c", "-o", "k"], cwd=folder, check=True)
    lines = subprocess.run(
        [str(folder / "k")], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert lines == [f"{k.name} {k.value} {k.place} {k.raw:x}" for k in KEYS.runtime]


@pytest.mark.skipif(not ATEN_SCHEMAS.is_file(), reason="the whole ATen list is not there")
def test_the_whole_aten_list_shares_its_rows(tmp_path: Path) -> None:
    """The mechanism is sized for all of it: thousands of operators, a few dozen rows."""
    with gzip.open(ATEN_SCHEMAS) as stream:
        entries = json.load(stream)
    lines = []
    for entry in entries:
        aliases = [name for name in entry["composite"] if name != "Autograd"] or ["CPU", "Meta"]
        kernels = ", ".join(f"{name}: all.f" for name in aliases)
        lines.append(f"- func: {json.dumps(entry['schema'])}\n  dispatch: {{{kernels}}}\n")
    make_package(tmp_path, "".join(lines))
    generate(job_for(tmp_path))
    folder = tmp_path / "mylib" / "generated"
    back = _read_back(folder)
    assert {line[0].rsplit(" ", 4)[0] for line in back} == {e["schema"] for e in entries}
    assert len({line[3] for line in back}) < 50


# ---- stubs


def test_a_stub_keeps_overloads_apart_and_names_types_privately(tmp_path: Path) -> None:
    path = make_package(
        tmp_path,
        """\
        - func: f.Tensor(Tensor self, float from=0., int[]? dims=None) -> (Tensor, int)
        - func: f.int(Tensor self, SymInt[2] n, *, Device? device=None) -> Tensor[]
        """,
    )
    generate(Job(path.parent, tmp_path / "mylib" / "generated", "mylib"))
    stub = (tmp_path / "mylib" / "generated" / "ops_aten.pyi").read_text()
    assert "class Packet_f(_OpOverloadPacket):" in stub
    results = "Tensor: _OpOverload[_tuple[_Tensor, _int]]\n    int: _OpOverload[_list[_Tensor]]\n"
    assert f"    {results}    @_overload\n" in stub
    assert "from_: _float = 0.0" in stub
    assert "dims: _Sequence[_int] | None = None" in stub
    assert "-> _tuple[_Tensor, _int]: ..." in stub
    assert "n: _int | _Sequence[_int]" in stub
    assert "-> _list[_Tensor]: ..." in stub


def test_an_out_variant_is_an_argument_of_the_function(tmp_path: Path) -> None:
    _generate_all(tmp_path)
    folder = tmp_path / "dispatch" / "_C" / "generated"
    functions = (folder / "functions.pyi").read_text()
    methods = (folder / "tensor_methods.pyi").read_text()
    assert "def relu(input: _Tensor, *, out: _Tensor | None = None) -> _Tensor: ..." in functions
    assert "    def relu_(self) -> _Tensor: ..." in methods
    inverse = "def inv(A: _Tensor, *, out: _Tensor | None = None) -> _Tensor: ..."
    assert inverse in (folder / "functions_linalg.pyi").read_text()
    # One name has one declaration: type checkers do not agree which of two counts.
    assert "def einsum(" not in functions
    for name in ("functions.pyi", "functions_fft.pyi", "tensor_methods.pyi", "ops_aten.pyi"):
        compile((folder / name).read_text(), name, "exec")
