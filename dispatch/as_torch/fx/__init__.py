"""Programs as graphs of nodes, and tracers that make them (torch.fx).

`Graph` and `Node` hold a program, `GraphModule` runs it as Python code made of it, `Tracer` and
`symbolic_trace` make one by running a program on proxies, `Interpreter` and `Transformer` run one
node by node; `proxies` has `make_fx`, which traces at the dispatcher.
"""

from dispatch.as_torch.fx import higher_order  # noqa: F401  (rules of make_fx)
from dispatch.as_torch.fx.code import CodeGen, PythonCode
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.interpreter import Interpreter, Transformer
from dispatch.as_torch.fx.module import GraphModule
from dispatch.as_torch.fx.node import Node, has_side_effect, map_arg
from dispatch.as_torch.fx.patterns import replace_pattern
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.fx.tracer import (
    PH,
    ProxyableClassMeta,
    Tracer,
    _assert_is_none,  # noqa: F401  (code names it)
    symbolic_trace,
    wrap,
)  # fmt: skip

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "PythonCode",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]  # fmt: skip
