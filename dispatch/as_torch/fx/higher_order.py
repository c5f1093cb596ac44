"""`make_fx` of operators that take functions: each becomes a graph of its own.

Source of the semantics: the rules for `ProxyTorchDispatchMode` in `torch/_higher_order_ops`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from dispatch import HigherOrderOperator, pytree
from dispatch._higher_order_ops.auto_functionalize import auto_functionalized
from dispatch._higher_order_ops.cond import cond_op
from dispatch._higher_order_ops.effects import with_effects
from dispatch._higher_order_ops.invoke_subgraph import invoke_subgraph
from dispatch._higher_order_ops.map import map_impl
from dispatch._higher_order_ops.out_dtype import out_dtype
from dispatch._higher_order_ops.print import print as print_op
from dispatch._higher_order_ops.rules import first_rows, inside_a_function
from dispatch._higher_order_ops.scan import scan_op
from dispatch._higher_order_ops.while_loop import unknown_number, while_loop_op
from dispatch._higher_order_ops.wrappers import hints_wrapper, strict_mode_op
from dispatch.as_torch.fx.proxies import (
    ProxyTorchDispatchMode,
    PythonKeyTracer,
    _keyed,
    _traceable,
    dispatch_trace,
    track_tensor_tree,
)
from dispatch.as_torch.fx.tracer import PH

__all__: list[str] = []

Mode = ProxyTorchDispatchMode


def _as_graph(
    mode: Mode, prefix: str, function: Callable[..., Any], given: Iterable[Any], between: str = "_"
) -> Any:
    """What a function does, as a module that the root of the trace has under a free name."""
    given = tuple(given)
    tracer = PythonKeyTracer()
    tracer.outer = mode.tracer
    inner = ProxyTorchDispatchMode(
        tracer, mode.tracing_mode, decomposition_table=mode.decomposition_table,
        _error_on_data_dependent_ops=mode._error_on_data_dependent_ops,
    )  # fmt: skip
    with inner:
        run = _keyed(_traceable(function, len(given)), given, tracer)
        made = dispatch_trace(run, tracer, tuple(PH for _ in given))
    root, number = mode.tracer.root, 0
    while hasattr(root, f"{prefix}{between}{number}"):
        number += 1
    root.add_module(f"{prefix}{between}{number}", made)
    return made


def _call(mode: Mode, op: HigherOrderOperator, args: Any, kwargs: Any, shown: Any = None) -> Any:
    """Write the call, with graphs where functions are (`shown`), and run it."""
    found = op(*args, **kwargs)  # the mode is off
    given = (args if shown is None else shown, kwargs)
    given, named = pytree.tree_map(mode.tracer.unwrap_proxy, given)
    proxy = mode.tracer.create_proxy("call_function", op, given, named, name=op.__name__)
    return track_tensor_tree(found, proxy, constant=None, tracer=mode.tracer)


@cond_op.py_impl(ProxyTorchDispatchMode)
def _cond(mode: Mode, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
    """A condition and two graphs."""
    yes = _as_graph(mode, "true_graph", true_fn, operands)
    no = _as_graph(mode, "false_graph", false_fn, operands)
    args = (pred, true_fn, false_fn, operands)
    return _call(mode, cond_op, args, {}, (pred, yes, no, operands))


@while_loop_op.py_impl(ProxyTorchDispatchMode)
def _while_loop(
    mode: Mode, cond_fn: Any, body_fn: Any, carried_inputs: Any, additional_inputs: Any = ()
) -> Any:
    """Two graphs of what is carried and of what stays."""
    with inside_a_function():
        carried = tuple(map(unknown_number, carried_inputs))
    if any(type(value) is int for value in carried):
        problem = "while_loop carries a number, which rounds change"
        raise RuntimeError(f"{problem}: tracing_mode has to be 'fake' or 'symbolic'")
    given = (*carried, *additional_inputs)
    holds = _as_graph(mode, "while_loop_cond_graph", cond_fn, given)
    body = _as_graph(mode, "while_loop_body_graph", body_fn, given)
    rest = tuple(additional_inputs)
    shown = (holds, body, tuple(carried_inputs), rest)
    return _call(mode, while_loop_op, (cond_fn, body_fn, carried, rest), {}, shown)


@map_impl.py_impl(ProxyTorchDispatchMode)
def _map(mode: Mode, f: Any, xs: Any, pos_args: Any) -> Any:
    """A graph of the first rows and of what is the same for all."""
    graph = _as_graph(mode, "body_graph", f, (*first_rows(tuple(xs)), *pos_args))
    return _call(mode, map_impl, (f, xs, pos_args), {}, (graph, xs, pos_args))


@scan_op.py_impl(ProxyTorchDispatchMode)
def _scan(mode: Mode, combine_fn: Any, init: Any, xs: Any, additional_inputs: Any = ()) -> Any:
    """A graph of what is carried, the first rows, and what is the same for all."""
    given = (*init, *first_rows(tuple(xs)), *additional_inputs)
    graph = _as_graph(mode, "scan_combine_graph", combine_fn, given)
    rest = (init, xs, additional_inputs)
    return _call(mode, scan_op, (combine_fn, *rest), {}, (graph, *rest))


@print_op.py_impl(ProxyTorchDispatchMode)
def _print(mode: Mode, *args: Any, **kwargs: Any) -> None:
    """A node; nothing is printed while tracing."""
    given, named = pytree.tree_map(mode.tracer.unwrap_proxy, (args, kwargs))
    mode.tracer.create_proxy("call_function", print_op, given, named, name="print")


@invoke_subgraph.py_impl(ProxyTorchDispatchMode)
def _invoke_subgraph(mode: Mode, subgraph: Any, identifier: Any, *operands: Any) -> Any:
    """The function as a graph; calls of one function share it by name."""
    graph = _as_graph(mode, "repeated_subgraph", subgraph, operands, "")
    shown = (graph, identifier, *operands)
    return _call(mode, invoke_subgraph, (subgraph, identifier, *operands), {}, shown)


@strict_mode_op.py_impl(ProxyTorchDispatchMode)
def _strict_mode(mode: Mode, callable: Any, operands: Any) -> Any:
    """The function as a graph."""
    graph = _as_graph(mode, "strict_graph", callable, operands)
    return _call(mode, strict_mode_op, (callable, operands), {}, (graph, operands))


@hints_wrapper.py_impl(ProxyTorchDispatchMode)
def _hints_wrapper(mode: Mode, body_fn: Any, args: Any, kwargs: Any, hints: Any) -> Any:
    """The function as a graph; the hints stay with the call."""
    graph = _as_graph(mode, "hints_wrapper_body_graph", body_fn, args)
    given = {"hints": hints}
    return _call(mode, hints_wrapper, (body_fn, args, kwargs), given, (graph, args, {}))


def _serve(op: HigherOrderOperator) -> None:
    """A node for each call of an operator that takes operators, numbers and tensors."""

    @op.py_impl(ProxyTorchDispatchMode)
    def rule(mode: Mode, *args: Any, **kwargs: Any) -> Any:
        return _call(mode, op, args, kwargs)


for _op in (auto_functionalized, with_effects, out_dtype):
    _serve(_op)
