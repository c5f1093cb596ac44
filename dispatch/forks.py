"""A fork beside other threads: what is imported late is imported before it.

Kernels and rare functions are imported when they are first called. A thread that is in the middle
of such an import holds the module's lock; a child that is forked then has the lock and not the
thread, and waits for ever when it comes to the same module. So the first fork of a process with
several threads imports everything that a call may want, in the parent, where waiting for the other
thread ends.
"""

import importlib
import os
import pkgutil
import threading
from collections.abc import Iterable

__all__ = ["import_before_forks"]

# What no call reaches, tools that a program imports by name. Two of them import `logging`, which
# prepares forks itself, and what joins while one is prepared is not asked before it, only after.
_ASIDE = frozenset(
    ("__main__", "as_torch", "build", "cli", "cli_files", "codegen", "device_trace", "graph",
     "library", "tools")
)  # fmt: skip


def import_before_forks(package: str, path: Iterable[str]) -> None:
    """From now on, a fork in a process with threads first imports the modules of `package`."""
    pending = [package]

    def before() -> None:
        if pending and threading.active_count() > 1:
            for room in pkgutil.iter_modules(path):
                if room.name not in _ASIDE:
                    _import_all(f"{package}.{room.name}")
            pending.clear()

    os.register_at_fork(before=before)


def _import_all(name: str) -> None:
    module = importlib.import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ())):
        _import_all(f"{name}.{found.name}")
