"""Programs are read, not run: which names of PyTorch they use, and which of them are missing here.

The source's imports say which local names are PyTorch's; every chain of attributes on one of these
is looked up in the table as `import torch` would. What a program does with values (methods of
tensors) is not seen.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from dispatch.as_torch.aliases import MODULES
from dispatch.as_torch.modules import PAGE, find, gap, is_module, is_refused, nearest

__all__ = ["Report", "Use", "read", "report", "table"]


class Use(NamedTuple):
    """`name` is used in `file` at `line`."""

    name: str
    file: str
    line: int


class Report(NamedTuple):
    """What programs use of PyTorch (`used`), and what of that is not here (`missing`)."""

    used: tuple[Use, ...]
    missing: tuple[Use, ...]

    def __str__(self) -> str:
        names = {use.name for use in self.used}
        lacking: dict[str, list[Use]] = {}
        for use in self.missing:
            lacking.setdefault(use.name, []).append(use)
        lines = [f"{len(names)} names of torch are used, {len(lacking)} are not here"]
        for name, uses in sorted(lacking.items()):
            near, why = nearest(name), gap(name)
            hints = [text for text in (why, near and f"nearest: {near}") if text]
            lines.append(f"{name}" + (f"   ({'; '.join(hints)})" if hints else ""))
            lines += [f"    {use.file}:{use.line}" for use in uses]
        if lacking:
            lines.append(f"See {PAGE}")
        return "\n".join(lines)


def report(*files: str | Path) -> Report:
    """Read programs, folders with all that is in them, and list the names that are missing here.

    Raises OSError for a file that cannot be read, and SyntaxError for one that is no Python.
    """
    used = [use for file in _programs(files) for use in read(Path(file))]
    known: dict[str, bool] = {}
    for use in used:
        if use.name not in known:
            known[use.name] = is_here(use.name)
    return Report(tuple(used), tuple(use for use in used if not known[use.name]))


def _programs(files: Sequence[str | Path]) -> Iterator[Path]:
    for file in map(Path, files):
        yield from sorted(file.rglob("*.py")) if file.is_dir() else (file,)


def is_here(name: str) -> bool:
    """Whether `torch.a.b.c` is found, or is an operator that the program may define itself."""
    parts = name.split(".")
    module = parts[0]
    at = 1
    while at < len(parts) and is_module(f"{module}.{parts[at]}"):
        module = f"{module}.{parts[at]}"
        at += 1
    found: Any = None
    for step, part in enumerate(parts[at:]):
        if name.startswith("torch.ops.") and parts[2] not in ("aten", "prims", "prim"):
            return True
        try:
            found = getattr(found, part) if step else find(module, part)
        except AttributeError:
            return False
        if is_refused(found):
            return False
        if not _is_fixed(found):
            return True
    return True


def _is_fixed(found: Any) -> bool:
    """Whether all attributes of `found` are known before the program runs."""
    return isinstance(found, type | ModuleType)


def read(file: Path) -> list[Use]:
    """The longest chains `torch.a.b` in a source, in its order; `as` names are written out."""
    tree = ast.parse(file.read_bytes(), str(file))
    reader = _Reader(str(file))
    reader.visit(tree)
    return sorted(reader.uses, key=lambda use: use.line)


class _Reader(ast.NodeVisitor):
    def __init__(self, file: str) -> None:
        self.file = file
        self.names: dict[str, str] = {}  # local name -> torch.a.b
        self.uses: list[Use] = []

    def use(self, name: str, node: ast.AST) -> None:
        self.uses.append(Use(name, self.file, getattr(node, "lineno", 0)))

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name == "torch" or alias.name.startswith("torch."):
                self.use(alias.name, node)
                local = alias.asname or "torch"
                self.names[local] = alias.name if alias.asname else "torch"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or (module != "torch" and not module.startswith("torch.")):
            return
        for alias in node.names:
            if alias.name == "*":
                self.use(module, node)
                continue
            self.use(f"{module}.{alias.name}", node)
            self.names[alias.asname or alias.name] = f"{module}.{alias.name}"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain: list[str] = []
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.names:
            self.use(".".join((self.names[inner.id], *reversed(chain))), node)
        else:
            self.visit(inner)


def table() -> str:
    """The table of aliases as Markdown, for `docs/porting.md`."""
    lines = ["| PyTorch | here |", "|---|---|"]
    for module, sources in MODULES.items():
        lines.append(f"| `{module}` | {', '.join(f'`{source}`' for source in sources)} |")
    return "\n".join(lines)
