"""Our side of the table. Each row has its counterpart of the same name in `theirs`."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dispatch
from dispatch import FakeTensorMode, Library, Tensor, TorchDispatchMode, ops
from dispatch.graph import load

from .rows import Row, model_files, nothing

__all__ = ["NAME", "rows"]

NAME = f"dispatch {dispatch.__version__}"


def _add(x: object, y: object, **context: Any) -> Row:
    return Row("op(x, y)", {"op": ops.aten.add.Tensor, "x": x, "y": y}, **context)


def _yardstick() -> Row:
    return Row("nothing()", {"nothing": nothing})


def _plain_add() -> Row:
    return _add(dispatch.ones(2, 3), dispatch.ones(2, 3))


def _python_kernel() -> Row:
    library = Library("bench", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x, "CPU")
    names = {"op": ops.bench.same.default, "x": dispatch.ones(2, 3), "library": library}
    return Row("op(x)", names)


def _view() -> Row:
    names = {"op": ops.aten.view.default, "x": dispatch.ones(2, 3), "size": [3, 2]}
    return Row("op(x, size)", names)


class PassThrough(TorchDispatchMode):
    """A mode that calls what it sees."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _mode() -> Row:
    return _add(dispatch.ones(2, 3), dispatch.ones(2, 3), context=PassThrough)


class Same(Tensor):
    """A subclass whose operators return their first argument."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return args[0]


def _subclass() -> Row:
    return _add(dispatch.ones(2, 3).as_subclass(Same), dispatch.ones(2, 3))


def _fake_add(**settings: Any) -> Row:
    mode = FakeTensorMode(**settings)
    x, y = (mode.from_tensor(dispatch.ones(2, 3)) for _ in range(2))
    return _add(x, y, context=lambda: mode)


def _model(path: Path) -> Row:
    return Row("run(fake=True)", {"run": load(path).run})


def rows(models: Path | None) -> dict[str, Callable[[], Row]]:
    """Name -> what sets the row up."""
    return {
        "yardstick": _yardstick,
        "add": _plain_add,
        "python_kernel": _python_kernel,
        "view": _view,
        "mode": _mode,
        "subclass": _subclass,
        "fake_add": _fake_add,
        "fake_add_uncached": partial(_fake_add, cache=None),
        **{name: partial(_model, path) for name, path in model_files(models).items()},
    }
