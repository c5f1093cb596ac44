"""A fork beside other threads: what is imported late is imported before it.

Kernels and rare functions are imported when they are first called. A thread that is in the middle
of such an import holds the module's lock; a child that is forked then has the lock and not the
thread, and waits for ever when it comes to the same module. So the first fork of a process with
several threads imports everything that a call may want, in the parent, where waiting for the other
thread ends.
"""

import _thread
import importlib
import os
from collections.abc import Iterable

__all__ = ["import_before_forks"]

# What no call reaches, tools that a program imports by name. Some of them import `logging`, which
# prepares forks itself, and what joins while one is prepared is not asked before it, only after.
_ASIDE = frozenset(
    ("__main__", "_custom_ops", "as_torch", "build", "codegen", "device_trace", "graph", "library",
     "tools")
)  # fmt: skip


def import_before_forks(package: str, path: Iterable[str]) -> None:
    """From now on, a fork in a process with threads first imports the modules of `package`."""
    pending = [path]

    def before() -> None:
        if pending and _thread._count() > 0:
            _import_all(package, path)
            pending.clear()

    os.register_at_fork(before=before)


def _import_all(package: str, path: Iterable[str]) -> None:
    import pkgutil  # no other use at import

    for found in pkgutil.iter_modules(path):
        if found.name not in _ASIDE and not found.name.startswith("cli"):
            name = f"{package}.{found.name}"
            _import_all(name, getattr(importlib.import_module(name), "__path__", ()))
