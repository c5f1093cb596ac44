"""YAML that nobody should write ends in `path:line: error`, in bounded memory."""

from __future__ import annotations

import resource

import pytest

from dispatch.codegen.__main__ import main
from dispatch.codegen.generate import generate
from dispatch.codegen.source import SourceError, load
from tests.codegen.helpers import job_for, make_package

DIGITS = "9" * 10_000
GOOD = "func: f(Tensor x) -> Tensor"
BOMB = "".join(f"- &x{i} [{', '.join([f'*x{i - 1}'] * 9 if i else 'a')}]\n" for i in range(12))

HOSTILE = {
    "half a character": (b"- func: a\n- func: f\xe2\x82", 2, "not UTF-8"),
    "another encoding": ("- func: a\n".encode("utf-16"), 1, "not UTF-8"),
    "a control character": (f"- {GOOD}\n- func: f\x01\n", 2, r"U\+0001"),
    "an escaped control character": (f'- {GOOD}\n- func: "f\\x1b"\n', 2, r"U\+001B"),
    "deep lists": ("- func: " + "[" * 200_000, 1, "levels of nesting|nesting depth"),  # libyaml's
    "deep mappings": ("- func: " + "{a: " * 50_000, 1, "levels of nesting"),
    "deep blocks": ("".join(" " * i + "- \n" for i in range(500)), 33, "levels of nesting"),
    "a list in itself": ("- &a\n  - *a\n", 2, "no complete value"),
    "a mapping in itself": (f"- &a\n  {GOOD}\n  dispatch: *a\n", 3, "no complete value"),
    "an unknown alias": ("- *a\n", 1, "no complete value"),
    "a bomb of aliases": (BOMB, 6, "aliases stand for more"),
    "a list as a key": ("- [a]: b\n", 1, "key must be a scalar"),
    "two documents": ("- a\n---\n- b\n", 2, "single document"),
    "a long number": (f"- func: {DIGITS}\n", 1, "10000 characters"),
    "a long number of sixties": ("- func: " + ":".join("1" * 100_000) + "\n", 1, "characters"),
    "a date that is none": ("- func: 2001-99-99\n", 1, "is no value"),
    "a tag that does not fit": ("- func: !!bool abc\n", 1, "is no value"),
    "a tag of Python's": ("- func: !!python/name:os.system x\n", 1, "not valid YAML"),
    "a long default": (f"- func: f(int x={DIGITS}) -> Tensor\n", 1, "a default"),
    "a default of 65 bits": (f"- func: f(int x={1 << 63}) -> Tensor\n", 1, "64 bits"),
    "a long list size": (f"- func: f(int[{DIGITS}] x) -> Tensor\n", 1, "a list of at most"),
    "a default of many": ("- func: f(int[999999999] x=1) -> Tensor\n", 1, "a list of at most"),
    "a deep type": (f"- func: f(int{'[]' * 50_000} x) -> Tensor\n", 1, "levels of types"),
    "deep results": ("- func: f() -> " + "(" * 50_000 + "\n", 1, "levels of types"),
    "many arguments": (
        f"- func: f({', '.join(f'int x{i}' for i in range(20_000))}) -> ()\n",
        1,
        "no more than 1024 arguments",
    ),
    "a long module": (f"- {GOOD}\n  dispatch: {{CPU: {'a.' * 9000}b}}\n", 2, "module.function"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_an_error_with_path_and_line(tmp_path, name):
    text, line, message = HOSTILE[name]
    path = make_package(tmp_path, "")
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(SourceError, match=message) as caught:
        generate(job_for(tmp_path))
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert len(str(caught.value)) < 1000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 << 10  # KiB


def test_the_command_prints_one_line(tmp_path, capsys):
    path = make_package(tmp_path, "")
    path.write_bytes(b"- func: \xff\n")
    out = tmp_path / "mylib" / "generated"
    given = ["--schemas", str(path.parent), "--out", str(out), "--package", "mylib"]
    assert main(given) == 2
    assert capsys.readouterr().err == f"{path}:1: not UTF-8: byte 0xff\n"


def test_aliases_stand_for_values(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("- &a {x: [1, &s two]}\n- *a\n- *s\n- &s 3.5\n- *s\n")
    first, second, *rest = load(path)
    assert first == second == {"x": [1, "two"]}
    assert rest == ["two", 3.5, 3.5]
    assert first.line == 1


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# nothing\n", None),
        ("\ufeffa: 1\n", {"a": 1}),
        ("a: 1\r\nb: [true, null, 0x10]\r\n", {"a": 1, "b": [True, None, 16]}),
        ("'1'\n", "1"),
        ("!!str 1\n", "1"),
        ("- |\n  two\n  lines\n", ["two\nlines\n"]),
        ("{}\n", {}),
    ],
)
def test_what_is_loaded(tmp_path, text, value):
    path = tmp_path / "a.yaml"
    path.write_text(text, newline="")
    assert load(path) == value
