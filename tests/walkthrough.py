"""Documents that are followed word for word: their blocks are applied in a copy of the tree.

A fenced block says after its language what is to be done with it, and nothing else is done:

    write=PATH     the block is a new file
    append=PATH    the block is added to the end of a file
    insert=PATH    the block's first line stands in a file, once; the others are put below it

In a `console` block each line that starts with `$ ` is run, in the copy's root unless `in=FOLDER`
says where; the lines below it are what it prints (`...` for what does not matter; no line: anything
will do). Blocks without such a word are for reading only.

The copy has the compiled modules and the `build/` of the tree: `make build` compiles what the
document changes, and does not optimize it. `tests/test_examples.py` follows the documents of
`FOLLOWED`.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["FOLLOWED", "LONG", "Command", "Edit", "apply", "copy_of_the_tree", "steps"]

ROOT = Path(__file__).resolve().parents[1]
FOLLOWED = (
    "docs/adding-an-operator.md",
    "docs/adding-a-key.md",
    "docs/tutorials/operators-from-yaml.md",
    "examples/package/README.md",
)
# A new key changes what nearly every module is compiled from, which takes minutes: followed in CI.
LONG = frozenset({"docs/adding-a-key.md"})
_BLOCK = re.compile(r"^```(\w+)(?: (\w+)=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LEFT_BEHIND = (".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "wheel",
                "sdist", "lib.*", "bdist.*")  # fmt: skip
_SEEN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Edit(NamedTuple):
    """A block that changes a file: `kind` is write, append or insert."""

    kind: str
    path: str
    text: str


class Command(NamedTuple):
    """A line to run in `folder`, and what it prints; "" where that does not matter."""

    line: str
    printed: str
    folder: str


def steps(document: str) -> Iterator[Edit | Command]:
    """What a document tells its reader to do, in order. ValueError for a word that is none."""
    for language, word, value, text in _BLOCK.findall(document):
        if language == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                line, _, printed = part.partition("\n")
                yield Command(line, printed, value if word == "in" else ".")
        elif word in ("write", "append", "insert"):
            yield Edit(word, value, text)
        elif word:
            raise ValueError(f"{word}={value}: expected write, append, insert, or in for a console")


def copy_of_the_tree(folder: Path) -> Path:
    """The repository as it is, with what was built from it; `folder/bin` has a quick compiler."""
    gcc = folder / "bin" / "gcc"
    gcc.parent.mkdir()
    path = shlex.quote(os.environ["PATH"])  # ccache looks for the next gcc: not this one
    gcc.write_text(f"#!/bin/bash\nPATH={path}\nexec {shutil.which('gcc')} \"${{@/#-O[12]/-O0}}\"\n")
    gcc.chmod(0o755)
    leave = shutil.ignore_patterns(*_LEFT_BEHIND)
    return Path(shutil.copytree(ROOT, folder / "clone", symlinks=True, ignore=leave))


def _edit(root: Path, edit: Edit) -> None:
    path = root / edit.path
    if edit.kind == "write":
        assert not path.exists(), f"{edit.path} is there already"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.text)
        return
    before = path.read_text()
    if edit.kind == "append":
        path.write_text(before + edit.text)
        return
    first, _, rest = edit.text.partition("\n")
    assert before.count(f"{first}\n") == 1, f"{edit.path}: not once in it: {first}"
    path.write_text(before.replace(f"{first}\n", f"{first}\n{rest}"))


def _run(root: Path, command: Command) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "PYTHON"))}
    first = [str(Path(sys.executable).parent), str(root.parent / "bin")]
    environment["PATH"] = os.pathsep.join([*first, os.environ["PATH"]])
    environment["VIRTUAL_ENV"] = sys.prefix
    done = subprocess.run(
        command.line, shell=True, cwd=root / command.folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    assert done.returncode == 0, f"$ {command.line}\n{done.stdout[-5000:]}"
    fits = doctest.OutputChecker().check_output(command.printed, done.stdout, _SEEN)
    assert not command.printed or fits, f"$ {command.line}\n{done.stdout[-5000:]}"


def apply(root: Path, document: str) -> None:
    """Follow a document in the tree at `root`. AssertionError where that goes otherwise."""
    for step in steps(document):
        if isinstance(step, Edit):
            _edit(root, step)
        else:
            _run(root, step)
