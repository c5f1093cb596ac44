"""PyTorch's side of the table, run by a Python that has torch; nothing else here imports it.

A model is the exported program's own graph module, called with fake inputs and parameters
under a `FakeTensorMode` with its cache on, as `dispatch.graph` runs it.
"""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import torch
from torch._dynamo.source import ConstantSource
from torch._export.serde import serialize
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext
from torch.utils._python_dispatch import TorchDispatchMode

from . import calls, symbolic
from .rows import Row, model_files

__all__ = ["API", "NAME", "rows", "set_threads"]

NAME = f"torch {torch.__version__}"


def set_threads(n: int) -> None:
    """How many threads a kernel may use."""
    torch.set_num_threads(n)


def _fake_mode(cache: bool, env: ShapeEnv | None = None) -> FakeTensorMode:
    mode = FakeTensorMode(shape_env=env)
    mode.cache_enabled = cache
    return mode


API = SimpleNamespace(
    T=torch,
    ops=torch.ops,
    Library=torch.library.Library,
    TorchDispatchMode=TorchDispatchMode,
    DispatchKey=torch._C.DispatchKey,
    DispatchKeySet=torch._C.DispatchKeySet,
    below_autograd=torch._C._after_autograd_keyset,
    symbolic=lambda: SimpleNamespace(
        ConstantSource=ConstantSource,
        DimDynamic=DimDynamic,
        ShapeEnv=ShapeEnv,
        StatelessSymbolicContext=StatelessSymbolicContext,
    ),
    fake_mode=_fake_mode,
)


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
    found = {name: partial(_model, path) for name, path in model_files(models).items()}
    return calls.rows(API) | symbolic.rows(API) | found
