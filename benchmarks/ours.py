"""Our side of the table. Each row has its counterpart of the same name in `theirs`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import dispatch
from dispatch import FakeTensorMode, Library, TorchDispatchMode, ops
from dispatch._C import DispatchKey, DispatchKeySet, _after_autograd_keyset
from dispatch.graph import load

from . import calls
from .rows import Row, model_files

__all__ = ["NAME", "rows"]

NAME = f"dispatch {dispatch.__version__}"
_API = SimpleNamespace(
    T=dispatch,
    ops=ops,
    Library=Library,
    TorchDispatchMode=TorchDispatchMode,
    DispatchKey=DispatchKey,
    DispatchKeySet=DispatchKeySet,
    below_autograd=_after_autograd_keyset,
    fake_mode=lambda cache: FakeTensorMode(cache=cache),
)


def _model(path: Path) -> Row:
    return Row("run(fake=True)", {"run": load(path).run})


def rows(models: Path | None) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up."""
    found = {name: partial(_model, path) for name, path in model_files(models).items()}
    return calls.rows(_API) | found
