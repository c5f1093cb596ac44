"""The floors of the house, and who imports whom: read from the sources, nothing is imported.

A room stands on a floor; a module may import its own floor and those below, and no modules may
form a circle. Every arrow counts: `import` and `cimport`, `.py`, `.pyx` and `.pxd` (a module is
the three of one stem), inside functions, under `TYPE_CHECKING`, and `import_module("literal")`.
What a package's `__init__` does when Python loads it on the way to a module does not count; what
somebody takes from it does.

`python -m tests.floors` prints the arrows that go up and the circles; `tests/test_floors.py` holds
that there are none. A new room, or a new module of `_C`, gets its row in `HOUSE`.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["EXCEPTIONS", "HOUSE", "Arrow", "arrows", "circles", "floor_of", "modules", "offences",
           "unknown", "upward"]  # fmt: skip

ROOT = Path(__file__).resolve().parents[1]

# `_C` is flat on disk, so its six floors are spelled out, module by module.
_CORE = {
    "types": "advice changes derivatives dtypes emitted enums errors foreign generated.dtype_sets "
    "generated.type_names generated.types keys markup naming python python_api references "
    "returned stack tags",
    "state": "default_device device_events grad_mode guards pre_dispatch tls",
    "tensor": "arrays disabled dlpack expressed function_handlers geometry read_only size slots "
    "storage symbolic tensor versions",
    "call": "conversion derived dispatcher generator native_functor operator placement "
    "plain_arguments refusals schema_info steady structured unboxing values",
    "callee": "fallbacks mode python_dispatcher python_kernel torch_function wrapper",
    "face": "_functorch _nn _variable_functions function inspection jit named_results overload "
    "prefixed registration signature_order",
}

# From the ground up. A room is a module or a package with all that is in it; of two names that
# fit a module, the longer one decides. `graph` stands above the package because it uses its public
# names, as any program of a user.
HOUSE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("codegen", ("codegen",)),
    *((f"_C {floor}", tuple(f"dispatch._C.{module}" for module in row.split()))
      for floor, row in _CORE.items()),
    ("_C", ("dispatch._C",)),
    ("pytree", ("dispatch.pytree", "dispatch.types", "dispatch.return_types")),
    ("symbolic", ("dispatch.symbolic",)),
    ("modes", ("dispatch.modes",)),
    ("registry", ("dispatch.registry",)),
    ("ops", ("dispatch._ops",)),
    ("kernels", ("dispatch.kernels",)),
    ("kernels.meta", ("dispatch.kernels.meta",)),
    ("kernels.cpu", ("dispatch.kernels.cpu",)),
    ("kernels.composite", ("dispatch.kernels.composite",)),
    ("generated", ("dispatch._C.generated",)),
    ("tensor", ("dispatch.tensor",)),
    ("fake", ("dispatch.fake",)),
    ("functional", ("dispatch.functional",)),
    ("higher-order operators", ("dispatch._higher_order_ops",)),
    ("library", ("dispatch.library", "dispatch._custom_ops")),
    ("tools", ("dispatch.tools", "dispatch.device_trace")),
    ("operator modules", ("dispatch.fft", "dispatch.linalg", "dispatch.special")),
    ("build", ("dispatch.build",)),
    ("forks", ("dispatch.collection", "dispatch.forks")),
    ("package", ("dispatch",)),
    ("graph", ("dispatch.graph",)),
    ("as_torch", ("dispatch.as_torch",)),
    ("cli", ("dispatch.cli", "dispatch.__main__")),
)  # fmt: skip

# (who, whom): why this arrow may stand although it goes up.
EXCEPTIONS: dict[tuple[str, str], str] = {}


class Arrow(NamedTuple):
    """`who` imports `whom` in `file` at `line`."""

    who: str
    whom: str
    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.who} -> {self.whom}   {self.file}:{self.line}"


_FLOOR = {room: floor for floor, (_, rooms) in enumerate(HOUSE) for room in rooms}


def floor_of(module: str) -> int:
    """The floor of a module: that of the longest room that holds it; LookupError without one."""
    if module.startswith("dispatch._C.") and module.count(".") == 2 and module not in _FLOOR:
        raise LookupError(module)
    room = module
    while room not in _FLOOR:
        room, _, last = room.rpartition(".")
        if not room or (room == "dispatch" and last):
            raise LookupError(module)
    return _FLOOR[room]


def modules(root: Path = ROOT) -> dict[str, list[Path]]:
    """Every module with its files. What the build emits counts where it is there."""
    found: dict[str, list[Path]] = {}
    for top in ("codegen", "dispatch"):
        for file in sorted((root / top).rglob("*.p*")):
            parts = file.relative_to(root).parts
            if file.suffix in (".py", ".pyx", ".pxd") and parts[:2] != ("dispatch", "codegen"):
                parts = (*parts[:-1], file.stem) if file.stem != "__init__" else parts[:-1]
                found.setdefault(".".join(parts), []).append(file)
    return found


# Texts that may hold the word import: triple-quoted ones and comments go, lines stay.
_SILENT = re.compile(
    r"""(?P<long>(\"{3}|'{3})(?:\\.|[^\\])*?\2) | (?P<comment>\#[^\n]*)
      | (?P<short>"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL,
)
_FROM = re.compile(r"(?:^|[;:])[ \t]*from[ \t]+([\w.]+)[ \t]+c?import[ \t]+"
                   r"(\([^)]*\)|(?:[^\n\\;]|\\\n)+)", re.MULTILINE)  # fmt: skip
_IMPORT = re.compile(r"(?:^|[;:])[ \t]*c?import[ \t]+((?:[^\n\\;(]|\\\n)+)$", re.MULTILINE)
_LITERAL = re.compile(r"(?:\bimport_module|\b__import__)\(\s*[\"']([\w.]+)[\"']")


def _without_texts(source: str) -> str:
    def blank(match: re.Match[str]) -> str:
        return match["short"] or "\n" * match[0].count("\n")

    return _SILENT.sub(blank, source)


def _names(text: str) -> list[str]:
    """`(a, b as c)` -> a, b."""
    plain = re.sub(r"[()\\\n]", " ", text)
    return [part.split()[0] for part in plain.split(",") if part.strip()]


def _imports(source: str, package: str) -> Iterator[tuple[str, str, int]]:
    """(module, name taken from it or "", line) of all imports of a text in `package`."""
    text = _without_texts(source)
    for match in _FROM.finditer(text):
        base = match[1]
        dots = len(base) - len(base.lstrip("."))
        if dots:
            parts = package.split(".")
            base = ".".join([*parts[: len(parts) - dots + 1], *filter(None, [base[dots:]])])
        line = text.count("\n", 0, match.start(1)) + 1
        for name in _names(match[2]):
            yield base, name, line
    for pattern in (_IMPORT, _LITERAL):
        for match in pattern.finditer(text):
            for name in _names(match[1]):
                yield name, "", text.count("\n", 0, match.start(1)) + 1


def arrows(root: Path = ROOT) -> list[Arrow]:
    """Every arrow between two modules of the house, once, with the first place of it."""
    known = modules(root)
    found: dict[tuple[str, str], Arrow] = {}
    for who, files in known.items():
        for file in files:
            package = who if file.stem == "__init__" else who.rpartition(".")[0]
            for base, name, line in _imports(file.read_text(), package):
                base = re.sub(r"^dispatch\.codegen\b", "codegen", base)
                whom = f"{base}.{name}" if f"{base}.{name}" in known else base
                if whom in known and whom != who:
                    place = file.relative_to(root).as_posix()
                    found.setdefault((who, whom), Arrow(who, whom, place, line))
    return sorted(found.values())


def upward(found: Iterable[Arrow]) -> list[Arrow]:
    """The arrows from a floor to one above it, exceptions left out."""
    return [
        arrow
        for arrow in found
        if floor_of(arrow.who) < floor_of(arrow.whom)
        and (arrow.who, arrow.whom) not in EXCEPTIONS
    ]


def unknown(root: Path = ROOT) -> list[str]:
    """Modules without a floor."""
    missing = []
    for module in modules(root):
        try:
            floor_of(module)
        except LookupError:
            missing.append(module)
    return missing


def circles(found: Iterable[Arrow]) -> list[list[str]]:
    """Sets of modules each of which reaches all others of its set (Tarjan), largest first."""
    after: dict[str, list[str]] = {}
    for arrow in found:
        after.setdefault(arrow.who, []).append(arrow.whom)
        after.setdefault(arrow.whom, [])
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    rings: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in after[node]:
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            ring = sorted(stack[at:])
            del stack[at:]
            if len(ring) > 1:
                rings.append(ring)

    for node in after:
        if node not in index:
            visit(node)
    return sorted(rings, key=len, reverse=True)


def offences(found: list[Arrow]) -> dict[str, list[str]]:
    """What is wrong with the house, by rooms ("lower -> upper", "circle in room"): its arrows."""
    wrong: dict[str, list[str]] = {}
    up = upward(found)
    for arrow in up:
        rooms = (HOUSE[floor_of(arrow.who)][0], HOUSE[floor_of(arrow.whom)][0])
        wrong.setdefault(" -> ".join(rooms), []).append(str(arrow))
    level = [arrow for arrow in found if arrow not in up]
    for ring in circles(level):
        rows = wrong.setdefault(f"circle in {HOUSE[floor_of(ring[0])][0]}", [])
        rows += [str(arrow) for arrow in level if {arrow.who, arrow.whom} <= {*ring}]
    return wrong


def main() -> int:
    """Print what is wrong with the house; 1 if anything is."""
    found = arrows()
    print(f"{len(modules())} modules, {len(found)} arrows")
    if strangers := unknown():
        print(f"without a floor (each needs a row in HOUSE): {', '.join(strangers)}")
        return 1
    wrong = offences(found)
    for name, rows in wrong.items():
        print("\n  ".join([name, *rows]))
    for ring in circles(found):
        print(f"a circle of {len(ring)} modules: {' '.join(ring)}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
