"""Our side of the table. Each row has its counterpart of the same name in `theirs`."""

import importlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dispatch
from dispatch import FakeTensorMode, Library, TorchDispatchMode, ops
from dispatch._C import DispatchKey, DispatchKeySet, _after_autograd_keyset
from dispatch.graph import load

from . import calls, symbolic
from .rows import Row, model_files

__all__ = ["API", "NAME", "rows", "set_threads"]

NAME = f"dispatch {dispatch.__version__}"
API = SimpleNamespace(
    T=dispatch,
    ops=ops,
    Library=Library,
    TorchDispatchMode=TorchDispatchMode,
    DispatchKey=DispatchKey,
    DispatchKeySet=DispatchKeySet,
    below_autograd=_after_autograd_keyset,
    symbolic=lambda: importlib.import_module("dispatch.symbolic"),  # others do without
    fake_mode=lambda cache, env=None: FakeTensorMode(cache=cache, shape_env=env),
)


def set_threads(n: int) -> None:
    """How many threads a kernel may use; those of BLAS are set by the process that starts this."""
    if hasattr(dispatch, "set_num_threads"):
        dispatch.set_num_threads(n)


def _model(path: Path) -> Row:
    return Row("run(fake=True)", {"run": load(path).run})


def rows(models: Path | None) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up."""
    found = {name: partial(_model, path) for name, path in model_files(models).items()}
    return calls.rows(API) | symbolic.rows(API) | found
