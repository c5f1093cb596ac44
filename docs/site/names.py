"""The public names of the package, and what each says of itself: what the reference is made of.

`MODULES` lists the modules that programs import names from; a module's names are its `__all__`, or
else what `dir` shows without an underscore. `missing()` finds names without text: a test holds that
there are none. Nothing here needs the tools that the site is built with.
"""

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from dispatch._C.function import OpFunction
from docs.site.fields import FIELDS

__all__ = ["MODULES", "Name", "members", "missing", "names", "text_of"]

MODULES = (
    "dispatch", "dispatch._C", "dispatch._ops", "dispatch.as_torch", "dispatch.build",
    "dispatch.device_trace", "dispatch.fake", "dispatch.fft", "dispatch.functional",
    "dispatch.graph", "dispatch.library", "dispatch.linalg", "dispatch.modes", "dispatch.pytree",
    "dispatch.return_types", "dispatch.special", "dispatch.symbolic", "dispatch.tools",
    "dispatch.types",
)  # fmt: skip


class Name(NamedTuple):
    """`module.name` is `value`; `kind` is class, function, operator, module, type or value."""

    module: str
    name: str
    value: Any
    kind: str

    @property
    def text(self) -> str:
        """Its doc string; of a value that has none of its own what is written below it."""
        if self.kind == "value":
            return f"{type(self.value).__name__}: `{_short(self.value)}`"
        own = inspect.getdoc(self.value)
        return own or (inspect.getdoc(type(self.value)) or "" if self.kind == "module" else "")


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def names(module: str) -> list[Name]:
    """Everything public in a module, sorted."""
    found = importlib.import_module(module)
    listed = getattr(found, "__all__", None) or [n for n in dir(found) if not n.startswith("_")]
    if module == "dispatch._C":  # where programs use names with an underscore too
        listed = [n for n in dir(found) if not n.startswith("__") and callable(getattr(found, n))]
    rows = []
    for name in sorted(set(listed)):
        value = getattr(found, name)
        kind = _kind(value)
        foreign = kind in ("class", "function") and _is_foreign(value)
        hidden = kind == "module" and name not in getattr(found, "__all__", ())
        if not foreign and not hidden:
            rows.append(Name(module, name, value, kind))
    return rows


def _is_foreign(value: Any) -> bool:
    """Whether somebody else wrote it: what a module imports for itself."""
    home = getattr(value, "__module__", None)
    return isinstance(home, str) and home.partition(".")[0] not in ("dispatch", "builtins")


def _kind(value: Any) -> str:
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, OpFunction):
        return "operator"
    if isinstance(value, type):
        return "class"
    if type(value).__module__.partition(".")[0] == "typing" or "GenericAlias" in str(type(value)):
        return "value"
    return "function" if callable(value) and not isinstance(value, type) else "value"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class of this package defines itself."""
    if not (cls.__module__ or "").startswith("dispatch") or issubclass(cls, tuple):
        return
    for name, value in sorted(vars(cls).items()):
        if name.startswith("_") or isinstance(value, (OpFunction, type)):
            continue
        if isinstance(value, (staticmethod, classmethod)):
            value = value.__func__
        is_field = isinstance(value, property) or inspect.isgetsetdescriptor(value)
        if is_field or inspect.isroutine(value):
            yield name, value


def text_of(cls: type, name: str, value: Any) -> str:
    """The text of a member: its own, or that of a field, which compiled classes give none."""
    own = inspect.getdoc(value)
    return own or FIELDS.get(f"{cls.__name__}.{name}", "")


def missing() -> list[str]:
    """Public names, and public methods of public classes, that say nothing."""
    found = []
    seen: set[int] = set()
    for module in MODULES:
        if not inspect.getdoc(importlib.import_module(module)):
            found.append(module)
        for row in names(module):
            if not row.text.strip() or row.text == inspect.getdoc(object):
                found.append(f"{module}.{row.name}")
            if row.kind == "class" and id(row.value) not in seen:
                seen.add(id(row.value))
                found += [
                    f"{module}.{row.name}.{name}"
                    for name, value in members(row.value)
                    if not text_of(row.value, name, value)
                ]
    return found


if __name__ == "__main__":
    print("\n".join(missing()))
