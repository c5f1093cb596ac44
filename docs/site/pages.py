"""Pages of the reference, as reStructuredText: `python -m docs.site.pages FOLDER`.

Modules and their public names from doc strings and signatures (`names`), operators from schemas and
registrations (`dispatch._ops.describe`), a page for each letter. Doc strings are plain words with
code in backticks, examples with `>>>`, and sections such as `Args:`: what would be markup otherwise
is escaped, so that no text can break a page.
"""

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import dispatch
from docs.site.names import MODULES, Name, members, names, text_of

SECTIONS = ("Args", "Example", "Raises", "Returns", "Yields", "Memory", "Kernels", "Tags",
            "Called as", "Other overloads", "See also")  # fmt: skip
_SECTION = re.compile(rf"({'|'.join(SECTIONS)}):(?: (.*))?$")


# ---- texts


def inline(text: str) -> str:
    """Words with code in backticks; every other sign stands for itself."""
    parts = re.split(r"`+([^`]+)`+", text)
    shown = []
    for i, part in enumerate(parts):
        if i % 2:
            shown.append(f" ``{part.strip()}``\\ " if part.strip() else "")
        else:
            shown.append(re.sub(r"([\\*_|`<>\[\]])", r"\\\1", part))
    whole = re.sub(r" +", " ", "".join(shown)).replace("\\  ", "\\ ").strip()
    whole = re.sub(r"::$", ":", whole)
    return re.sub(r"^([-+•.:#\d]|\(\w)", r"\\\1", whole)


def rst(text: str) -> Iterator[str]:
    """Lines for one doc string."""
    for block in re.split(r"\n\s*\n", inspect.cleandoc(text)):
        lines = block.split("\n")
        while lines:
            section = _SECTION.match(lines[0].strip())
            if section:
                lines = lines[1:]
                rest = f" {inline(section[2])}" if section[2] else ""
                yield from ("", f"**{section[1]}**{rest}")
                taken = list(_indented(lines))
                lines = lines[len(taken) :]
                yield from _items(taken)
            elif any(line.lstrip().startswith(">>>") for line in lines) or lines[0][:1] == " ":
                yield from _literal(lines)
                lines = []
            else:
                taken = []
                while lines and not _SECTION.match(lines[0].strip()):
                    taken.append(lines.pop(0).strip())
                yield from ("", inline(" ".join(taken)))


def _indented(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if not line.startswith("    "):
            return
        yield line


def _items(lines: list[str]) -> Iterator[str]:
    """`name: what` on lines of their own, going on further in."""
    if any(line.lstrip().startswith(">>>") for line in lines):
        yield from _literal(lines)
        return
    items: list[str] = []
    for line in lines:
        if items and line.startswith("      "):
            items[-1] += " " + line.strip()
        else:
            items.append(line.strip())
    if items:
        yield ""
    yield from (f"- {inline(item)}" for item in items)


def _literal(lines: list[str]) -> Iterator[str]:
    yield from ("", ".. code-block:: text", "")
    yield from ("   " + line for line in inspect.cleandoc("\n".join(lines)).split("\n"))


def within(lines: Iterator[str], by: int = 3) -> Iterator[str]:
    return (" " * by + line if line else "" for line in lines)


# ---- signatures


def split_signature(name: str, value: Any, text: str) -> tuple[str, str]:
    """(the arguments in brackets, the text without a first line that repeats them)."""
    first, _, rest = text.partition("\n")
    written = re.match(rf"(?:\w+\.)*{re.escape(name)}(\(.*\))(?: -> .*)?$", first.strip())
    if written:
        text = rest.strip("\n")
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return (_sound(written[1]) if written else "(...)"), text
    parameters = [
        p.replace(annotation=p.empty, default=_Shown(p.default)) if p.default is not p.empty
        else p.replace(annotation=p.empty)
        for p in signature.parameters.values()
    ]  # fmt: skip
    bare = signature.replace(parameters=parameters, return_annotation=signature.empty)
    return _sound(str(bare)), text


class _Shown:
    """A default as it is written, or dots for what cannot be."""

    def __init__(self, value: Any) -> None:
        self.text = getattr(value, "__name__", None) or repr(value)

    def __repr__(self) -> str:
        try:
            ast.parse(self.text, mode="eval")
        except SyntaxError:
            return "..."
        return self.text if len(self.text) < 60 else "..."


def _sound(arguments: str) -> str:
    try:
        ast.parse(f"def f{arguments}: pass")
    except SyntaxError:
        return "(...)"
    return arguments


# ---- pages


def title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def entry(kind: str, full: str, value: Any, text: str) -> Iterator[str]:
    arguments = ""
    if kind in ("function", "class", "method"):
        arguments, text = split_signature(full.rpartition(".")[2], value, text)
    yield from (f".. py:{kind}:: {full}{arguments}", "")
    yield from within(rst(text))
    yield ""


def module_page(module: str) -> str:
    found = importlib.import_module(module)
    lines = [*title(module, "="), *rst(found.__doc__ or ""), ""]
    rows = names(module)
    operators = [row for row in rows if row.kind == "operator"]
    for row in rows:
        if row.kind != "operator":
            lines += name_entry(row)
    if operators:
        shown = ", ".join(f"``{row.name}``" for row in operators)
        lines += [*title("Operators", "-"), "Functions that call operators: :doc:`operators`.", "",
                  shown, ""]  # fmt: skip
    return "\n".join(lines)


def name_entry(row: Name) -> list[str]:
    kind = {"function": "function", "class": "class"}.get(row.kind, "data")
    lines = list(entry(kind, f"{row.module}.{row.name}", row.value, row.text))
    home = getattr(row.value, "__module__", None)
    if isinstance(home, str) and home.startswith("dispatch") and home != row.module:
        lines += [f"   Defined in ``{home}``.", ""]
    if row.kind == "class":
        for name, value in members(row.value):
            what = "method" if inspect.isroutine(value) else "attribute"
            text = text_of(row.value, name, value)
            lines += within(iter(list(entry(what, name, value, text))))
    return lines


def operator_pages() -> dict[str, str]:
    """By first letter; the operators that are in place or private beside their like."""
    stems = {name.partition(".")[0] for name in dispatch._C._dispatch_get_all_op_names()}
    names_ = sorted(n for n in stems if n.startswith("aten::"))

    def letter(name: str) -> str:
        return name.removeprefix("aten::").lstrip("_")[0].lower()

    pages = {}
    for first, group in groupby(sorted(names_, key=lambda n: (letter(n), n)), letter):
        lines = title(f"Operators: {first}", "=")
        for name in group:
            packet = getattr(dispatch.ops.aten, name.removeprefix("aten::"))
            schemas, _, details = packet.__doc__.partition("\n\n")
            arguments = split_signature(packet.__name__, packet, "")[0]
            lines += [f".. py:function:: dispatch.ops.aten.{packet.__name__}{arguments}", ""]
            lines += [*within(_literal(schemas.split("\n"))), *within(rst(details)), ""]
        pages[f"operators-{first}"] = "\n".join(lines)
    return pages


def write(folder: Path) -> None:
    """All pages, into an empty or an older folder."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {module: module_page(module) for module in MODULES}
    operators = operator_pages()
    tree = [".. toctree::", "   :maxdepth: 1", ""]
    pages["operators"] = "\n".join(
        [*title("Operators", "="), "Schemas, arguments, kernels and relatives, by first letter.",
         "", *tree, *(f"   {name}" for name in operators), ""]
    )  # fmt: skip
    pages["index"] = "\n".join(
        [*title(f"dispatch {dispatch.__version__}", "="), *rst(dispatch.__doc__ or ""), "", *tree,
         *(f"   {name}" for name in (*MODULES, "operators")), ""]
    )  # fmt: skip
    for name, text in (pages | operators).items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
