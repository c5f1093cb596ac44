"""`dispatch.ops`: namespaces, which hold packets; each is made at first use (torch._ops)."""

import contextlib
import ctypes
import importlib
import os
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dispatch._C.naming import full_name
from dispatch._C.overload import (
    OpOverload,
    OpOverloadPacket,
    _find_overload,
    _find_packet,
    _instance_first,
    _refresh_packet as _look_again,
)
from dispatch._ops.higher_order import HigherOrderOperator, _higher_order_ops, find_operator

if TYPE_CHECKING:
    from dispatch._C.generated.ops_aten import AtenOps
    from dispatch._C.generated.ops_prims import PrimsOps

__all__ = ["dl_open_guard", "find_overload", "ops", "refresh"]

_SET_GLOBAL_FLAGS = hasattr(sys, "getdlopenflags") and hasattr(sys, "setdlopenflags")


@contextlib.contextmanager
def dl_open_guard() -> Iterator[None]:
    """In the block, symbols of the shared libraries that are opened are visible to later ones."""
    if not _SET_GLOBAL_FLAGS:
        yield
        return
    flags = sys.getdlopenflags()
    sys.setdlopenflags(flags | ctypes.RTLD_GLOBAL)
    try:
        yield
    finally:
        sys.setdlopenflags(flags)


class _HigherOrderNamespace(types.ModuleType):
    """`dispatch.ops.higher_order`."""

    __file__ = "dispatch.ops"

    def __init__(self) -> None:
        super().__init__("dispatch.ops.higher_order")
        self._dir: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """Names of the operators that were asked for."""
        return iter(self._dir)

    def __getattr__(self, name: str) -> HigherOrderOperator:
        op = find_operator(name)
        if op is None:
            raise AttributeError(f"'{self.__name__}' has no operator '{name}'")
        setattr(self, name, op)
        self._dir.append(name)
        return op

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *_higher_order_ops})


@_instance_first
class _OpNamespace(types.ModuleType):
    """The operators of one namespace: `dispatch.ops.aten`."""

    def __init__(self, name: str) -> None:
        super().__init__(full_name("ops." + name))
        self.__file__ = full_name("ops")
        self.name = name
        self._dir: list[str] = []

    def __getattr__(self, op_name: str) -> OpOverloadPacket:
        if op_name in ("__origin__", "__self__"):
            raise AttributeError(f"Invalid attribute '{op_name}' for '_OpNamespace' '{self.name}'")
        packet = None if op_name == "__path__" else _find_packet(f"{self.name}::{op_name}")
        if packet is None:
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{op_name}'"
            )
        self.__dict__[op_name] = packet
        self._dir.append(op_name)
        return packet

    def __iter__(self) -> Iterator[str]:
        """Names of the operators that were asked for."""
        return iter(self._dir)

    def __dir__(self) -> list[str]:
        from dispatch._C.inspection import _dispatch_get_all_op_names

        prefix = self.name + "::"
        names = (n[len(prefix) :] for n in _dispatch_get_all_op_names() if n.startswith(prefix))
        return sorted({*super().__dir__(), *(n.partition(".")[0] for n in names)})


@_instance_first
class _Ops(types.ModuleType):
    """`dispatch.ops`: namespaces by name, operators by name in each, overloads by name in those."""

    __file__ = "_ops.py"
    aten: "AtenOps"
    prims: "PrimsOps"
    higher_order: _HigherOrderNamespace
    loaded_libraries: set[str]

    def __init__(self) -> None:
        super().__init__("dispatch.ops")
        self.loaded_libraries = set()
        self.higher_order = _HigherOrderNamespace()
        self._dir: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__path__":
            raise AttributeError(f"module 'dispatch.ops' has no attribute {name!r}")
        made = _OpNamespace(name)
        self.__dict__[name] = made
        self._dir.append(name)
        return made

    def __iter__(self) -> Iterator[str]:
        """Names of the namespaces that were asked for."""
        return iter(self._dir)

    def import_module(self, module: str) -> None:
        """Import a module for the operators that it registers."""
        importlib.import_module(module)

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Open a shared library, which registers operators as it is loaded.

        A Cython module that registers when it is initialised (what `dispatch.build.extensions`
        makes) is imported from its file; any other library runs its own constructors.
        `loaded_libraries` has the real paths of what was loaded.

        Raises:
            OSError: it cannot be loaded; the cause says why.
        """
        resolved = os.path.realpath(path)
        if resolved in self.loaded_libraries:
            return
        with dl_open_guard():
            try:
                _initialise(resolved, ctypes.CDLL(resolved))
            except Exception as error:
                raise OSError(f"Could not load this library: {resolved}") from error
        self.loaded_libraries.add(resolved)


def _initialise(path: str, library: ctypes.CDLL) -> None:
    """Import a shared library that is an extension module, unless it is imported already."""
    import importlib.util  # for libraries alone

    name = os.path.basename(path).partition(".")[0]
    files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
    if not hasattr(library, f"PyInit_{name}") or path in map(_real_path, files):
        return
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no extension module of this Python")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _real_path(file: object) -> str | None:
    return os.path.realpath(file) if isinstance(file, str) else None


ops: _Ops = _Ops()


def find_overload(name: str) -> OpOverload | None:
    """The overload called `namespace::name.overload`; None when there is none."""
    base, _, overload = name.partition(".")
    return _find_overload(base, overload)


def refresh(name: str) -> None:
    """After a change to the overloads of `namespace::name`: packets look again."""
    _look_again(name)
    if _find_packet(name) is None:
        namespace, _, op_name = name.partition("::")
        holder = ops.__dict__.get(namespace)
        if holder is not None and holder.__dict__.pop(op_name, None) is not None:
            holder._dir.remove(op_name)
