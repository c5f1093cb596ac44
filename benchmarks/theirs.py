"""PyTorch's side of the table, run by a Python that has torch; nothing else here imports it.

A model is the exported program's own graph module, called with fake inputs and parameters
under a `FakeTensorMode` with its cache on, as `dispatch.graph` runs it.
"""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch._export.serde import serialize
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from .rows import Row, model_files, nothing

__all__ = ["NAME", "rows"]

NAME = f"torch {torch.__version__}"
torch.set_num_threads(1)


def _add(x: object, y: object, **context: Any) -> Row:
    return Row("op(x, y)", {"op": torch.ops.aten.add.Tensor, "x": x, "y": y}, **context)


def _yardstick() -> Row:
    return Row("nothing()", {"nothing": nothing})


def _plain_add() -> Row:
    return _add(torch.ones(2, 3), torch.ones(2, 3))


def _python_kernel() -> Row:
    library = torch.library.Library("bench", "DEF")
    library.define("same(Tensor x) -> Tensor")
    library.impl("same", lambda x: x, "CPU")
    names = {"op": torch.ops.bench.same.default, "x": torch.ones(2, 3), "library": library}
    return Row("op(x)", names)


def _view() -> Row:
    names = {"op": torch.ops.aten.view.default, "x": torch.ones(2, 3), "size": [3, 2]}
    return Row("op(x, size)", names)


class PassThrough(TorchDispatchMode):
    """A mode that calls what it sees."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _mode() -> Row:
    return _add(torch.ones(2, 3), torch.ones(2, 3), context=PassThrough)


class Same(torch.Tensor):
    """A subclass whose operators return their first argument."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return args[0]


def _subclass() -> Row:
    return _add(torch.ones(2, 3).as_subclass(Same), torch.ones(2, 3))


def _fake_add(cache: bool = True) -> Row:
    mode = FakeTensorMode()
    mode.cache_enabled = cache
    x, y = (mode.from_tensor(torch.ones(2, 3)) for _ in range(2))
    return _add(x, y, context=lambda: mode)


def _graph_module(path: Path) -> torch.fx.GraphModule:
    """The graph of an exported program's JSON, without weights."""
    program = serialize._bytes_to_dataclass(
        serialize.schema.ExportedProgram, gzip.decompress(path.read_bytes())
    )
    reader = serialize.GraphModuleDeserializer()
    parts = reader.deserialize(program.graph_module, {}, {}, None, symbol_name_to_range={})
    return parts.graph_module


def _model(path: Path) -> Row:
    module = _graph_module(path)
    values = [node.meta["val"] for node in module.graph.nodes if node.op == "placeholder"]
    mode = FakeTensorMode()
    with mode:
        inputs = [torch.empty_strided(v.shape, v.stride(), dtype=v.dtype) for v in values]
    return Row("module(*inputs)", {"module": module, "inputs": inputs}, lambda: mode)


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
        "fake_add_uncached": partial(_fake_add, cache=False),
        **{name: partial(_model, path) for name, path in model_files(models).items()},
    }
