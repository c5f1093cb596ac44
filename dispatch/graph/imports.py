"""What registers the operators that a model needs and this package does not have: a module by its
name, or a file.

`dispatch inspect --import ops.py` comes here, and so does each worker of a sweep, which is another
process. A file is run once, as a module of its own that stays, for its `Library` objects do; what
it raises is a `RuntimeError` that says where.
"""

import importlib
import importlib.util
import os
import sys
import traceback

from dispatch.graph.errors import plain

__all__ = ["import_operators"]


def import_operators(name: str) -> None:
    """Import the module `name`, or run the file `name`, which ends in `.py`.

    `OSError`: there is no such file. `RuntimeError`: there is no such module, or it raised.
    """
    try:
        if name.endswith(".py"):
            _run_file(os.path.realpath(name))
        else:
            importlib.import_module(name)
    except (OSError, KeyboardInterrupt):
        raise
    except BaseException as error:  # SystemExit too: a script is no module
        raise RuntimeError(f"--import {plain(name)}: {_told(error, name)}") from error


def _run_file(path: str) -> None:
    key = f"dispatch-import:{path}"
    if key in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None and spec.loader is not None  # as the name ends so
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[key]
        raise


def _told(error: BaseException, name: str) -> str:
    """The error and, where it was raised in the module's own lines, the last of these."""
    if isinstance(error, SyntaxError):
        return plain(f"line {error.lineno}: {error.msg}")
    end = os.path.basename(name) if name.endswith(".py") else f"{name.rpartition('.')[2]}.py"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if os.path.basename(frame.filename) == end]
    where = f"line {lines[-1]}: " if lines else ""
    return plain(f"{where}{type(error).__name__}: {error}")
