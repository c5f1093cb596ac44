"""Modules that stand for PyTorch's: they look names up in this package's modules, by the table.

A `Stand` has nothing of its own but what a program sets on it; what a source has too is set there
as well, so that programs patch what they believe to patch. `find` answers without touching
`sys.modules`, so that programs can be read (`report`) without installing anything. `refused` makes
what can be imported and not used; `Finder` and `Missing` are what `install` puts around the other
finders of imports.
"""

import difflib
import importlib
import importlib.abc
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, NoReturn

from dispatch._C import dtypes, naming
from dispatch._C.generator import Generator
from dispatch.as_torch.aliases import CALLED, HIDDEN, HOMES, LATE_HOMES, MODULES, NAMES
from dispatch.as_torch.refusals import GAPS, REFUSED

__all__ = [
    "Finder",
    "Missing",
    "Stand",
    "claim",
    "claim_homes",
    "find",
    "gap",
    "is_module",
    "is_refused",
    "nearest",
    "refused",
    "stand_for",
]

PAGE = "docs/porting.md"
_HEAPTYPE = 1 << 9
_LASTING = (ModuleType, dtypes.dtype, dtypes.layout, dtypes.memory_format, Generator)
_stands: dict[str, "Stand"] = {}
# The module that each source is named after: the first whose first source it is.
_OWNERS = {s[0]: m for m, s in reversed(MODULES.items()) if s[0] != "dispatch"}
_parents = {
    module[:end]
    for module in (*MODULES, *REFUSED)
    for end in (at for at, letter in enumerate(module) if letter == ".")
}


def is_module(name: str) -> bool:
    """Whether something here stands for the module `name`."""
    return name in MODULES or name in _parents


class Stand(ModuleType):
    """Stands for one module of PyTorch: `torch.utils._pytree` is `dispatch.pytree`."""

    def __init__(self, name: str) -> None:
        sources = ", ".join(MODULES.get(name, ())) or "a module over others"
        super().__init__(name, f"Stands for {name}: {sources} (dispatch.as_torch).")
        self.__path__: list[str] = []
        # The module's own, not the class's, which would be asked for names that are there as well.
        self.__dict__["__getattr__"] = self._find

    def _find(self, name: str) -> Any:
        found = find(self.__name__, name)
        if isinstance(found, Stand):
            claim(found.__name__)
        else:
            _claim_home(found, self.__name__, name)
        is_number = self.__name__ == "torch" and type(found) is float  # torch.inf
        if is_number or callable(found) or isinstance(found, _LASTING):
            self.__dict__[name] = found  # other values may be bound anew where they come from
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Stand) and _is_called(self.__name__, name):
            return  # an import binds the module that it has loaded
        source = self._source_of(name)
        if source is None:
            super().__setattr__(name, value)
        else:
            self.__dict__.pop(name, None)
            setattr(source, name, value)

    def __delattr__(self, name: str) -> None:
        source = self._source_of(name)
        if source is None:
            super().__delattr__(name)
        else:
            self.__dict__.pop(name, None)
            delattr(source, name)

    def _source_of(self, name: str) -> ModuleType | None:
        """The source that has this name, or had it before it was deleted here."""
        known: dict[str, ModuleType] = self.__dict__.setdefault("_known_sources", {})
        if name not in known and not name.startswith("__"):
            found = (source for source in _sources(self.__name__) if name in vars(source))
            source = next(found, None)
            if source is None:
                return None
            known[name] = source
        return known.get(name)

    def __dir__(self) -> list[str]:
        return names_of(self.__name__)


def stand_for(name: str) -> Stand:
    """The one stand for a module that `is_module`."""
    if name not in _stands:
        _stands[name] = Stand(name)
    return _stands[name]


def _sources(module: str) -> list[ModuleType]:
    found = []
    for source in MODULES.get(module, ()):
        try:
            found.append(importlib.import_module(source))
        except ModuleNotFoundError as missing:  # a room that is not built here
            if missing.name != source:
                raise
    return found


def find(module: str, name: str) -> Any:
    """What `module.name` is here; AttributeError with what is nearest if nothing stands for it."""
    whole = f"{module}.{name}"
    if name == "__all__":
        return _public_names(module)
    if whole in NAMES:
        place, _, attribute = NAMES[whole].rpartition(".")
        return getattr(importlib.import_module(place), attribute)
    if whole in REFUSED:
        return refused(whole)
    if is_module(whole) and not _is_called(module, name):
        return stand_for(whole)
    for source in _sources(module):
        if _shows(source, name):
            found = getattr(source, name, _NOTHING)
            if found is not _NOTHING and type(found) is not ModuleType:
                return found
    if name.startswith("__") and name.endswith("__"):
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise AttributeError(missing_text(whole), name=name)


_NOTHING = object()


def _is_called(module: str, name: str) -> bool:
    """Whether `module.name`, which is a module too, is a function for those who ask the package."""
    if module not in CALLED:
        return False
    found = (vars(source).get(name) for source in _sources(module))
    return f"{module}.{name}" in REFUSED or any(callable(one) for one in found)


def _shows(source: ModuleType, name: str) -> bool:
    """Whether a program may find `name` in this source, if it is there."""
    if source.__name__ == "dispatch" and (name in HIDDEN or name in _of_networks()):
        return False
    return not name.startswith("__")


@cache
def _of_networks() -> frozenset[str]:
    return frozenset(dir(importlib.import_module("dispatch._C._nn")))


def _is_room(source: ModuleType, name: str) -> bool:
    """Whether it is a module, loaded or not; those stand under PyTorch's names only."""
    if name in vars(source):
        return type(vars(source)[name]) is ModuleType
    return name in getattr(source, "_ROOMS", ())


def _public_names(module: str) -> list[str]:
    """What `import *` takes: what each source says, or its names without an underscore."""
    found: dict[str, None] = {}
    for source in _sources(module):
        own = vars(source).get("__all__")
        if own is None:
            there = (n for n in dir(source) if _shows(source, n) and not n.startswith("_"))
            own = [n for n in there if not _is_room(source, n)]
        found |= dict.fromkeys(own)
    return list(found)


def names_of(module: str) -> list[str]:
    """The public and private names that `module` has here."""
    found: set[str] = set()
    for source in _sources(module):
        found.update(
            there for there in dir(source) if _shows(source, there) and not _is_room(source, there)
        )
    start = module + "."
    for other in (*NAMES, *REFUSED, *MODULES, *_parents):
        if other.startswith(start):
            found.add(other[len(start) :].partition(".")[0])
    return sorted(found)


# ---- what is missing


def gap(name: str) -> str | None:
    """Why the part of PyTorch that `name` belongs to is not here, if the table says so."""
    while name:
        if name in GAPS:
            return GAPS[name]
        name = name.rpartition(".")[0]
    return None


def nearest(name: str) -> str | None:
    """The name here that is most like `name`: the same one elsewhere, else one alike near it."""
    module, _, last = name.rpartition(".")
    for other in MODULES:
        if other != module and last in names_of(other):
            return f"{other}.{last}"
    while module and not is_module(module):
        module = module.rpartition(".")[0]
    if not module or gap(name):
        return None
    close = difflib.get_close_matches(last, names_of(module), 1, 0.75)
    return f"{module}.{close[0]}" if close else None


def missing_text(name: str) -> str:
    """What a program is told that uses `name`."""
    why, near = gap(name), nearest(name)
    return (
        f"{name} is not here: the package `dispatch` stands for torch"
        + (f", and {why}" if why else "")
        + (f". Nearest: {near}" if near else "")
        + f". See {PAGE}"
    )


@cache
def refused(name: str) -> type:
    """What stands for a function or class that programs import, and only some of them use.

    Always a class, so that a program may derive from it, or ask `isinstance`, which says no. Its
    `refused` is True; making one, or one of a class derived from it, is a NotImplementedError.
    """

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        """NotImplementedError: this is not here."""
        raise NotImplementedError(missing_text(name))

    module, _, last = name.rpartition(".")
    text = f"{name}, which is not here: it cannot be called, and none can be made."
    own = {"__init__": __init__, "__module__": module, "__doc__": text, "refused": True}
    return type(last, (), own)


def is_refused(found: Any) -> bool:
    """Whether this is one of them, or derives from one."""
    return isinstance(found, type) and getattr(found, "refused", False) is True


# ---- imports


def _is_of_torch(module: str) -> bool:
    """Whether it is of a package that PyTorch installs."""
    return module.partition(".")[0] in ("torch", "functorch")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of the table, before any other finder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "torch" and not (_is_of_torch(fullname) and is_module(fullname)):
            return None
        return ModuleSpec(fullname, self, origin="dispatch.as_torch", is_package=True)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return stand_for(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        claim(module.__name__)


class Missing(importlib.abc.MetaPathFinder):
    """Says what is missing, after all other finders: a program may bring modules of its own."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> None:
        if _is_of_torch(fullname):
            refuse(fullname)


def refuse(name: str) -> NoReturn:
    # Without `name=`: for its own name `from torch.x import name` would drop the text.
    raise ModuleNotFoundError(missing_text(name))


# ---- what things say of themselves


def claim_homes() -> None:
    """Name the classes of `HOMES`."""
    for module, names in HOMES.items():
        for name in names.split():
            _rename(find(module, name), module, name)


def _claim_home(found: Any, module: str, name: str) -> None:
    """Name what was found at `module.name`, and its module where that was imported late."""
    home = getattr(found, "__module__", None)
    if isinstance(home, str) and home.startswith("dispatch."):
        if home in _OWNERS:
            claim(_OWNERS[home])
        _rename(found, module, name)


def claim(module: str) -> None:
    """Name what `module` has after it, once: reprs and pickles show it."""
    for source in _sources(module):
        if source.__name__ != "dispatch":
            for name, found in list(vars(source).items()):
                if _is_of(found, source.__name__):
                    _rename(found, module, name)


def _is_of(found: Any, source: str) -> bool:
    """Whether it is from this source, or a room in it; others are named where they are from."""
    home = getattr(found, "__module__", None)
    return isinstance(home, str) and (home == source or home.startswith(source + "."))


def _rename(found: Any, module: str, name: str) -> None:
    home = getattr(found, "__module__", None)
    if not isinstance(home, str) or home.partition(".")[0] != "dispatch":
        return
    if getattr(found, "__name__", None) != name:
        return
    module = LATE_HOMES.get(name, _OWNERS.get(home, module))
    if isinstance(found, type) and not found.__flags__ & _HEAPTYPE:
        naming.name_type(found, f"{module}.{name}")
    else:
        try:
            found.__module__ = module
        except (AttributeError, TypeError):
            return  # computed: it asks `naming`
