"""The higher-order operators that are built in, under the names of `torch._higher_order_ops`.

Each module has one: the operator (`dispatch.ops.higher_order.cond`), what serves it without a mode,
on fake tensors and under functionalization, and the function that users call, which checks and
flattens. There is no tracing here: functions run, they are not looked into. Above everything that
serves operators; loaded when one of the names is first asked for.
"""

from dispatch._higher_order_ops.associative_scan import associative_scan
from dispatch._higher_order_ops.auto_functionalize import (
    auto_functionalized,
    auto_functionalized_v2,
)
from dispatch._higher_order_ops.cond import cond
from dispatch._higher_order_ops.effects import with_effects
from dispatch._higher_order_ops.invoke_subgraph import invoke_subgraph
from dispatch._higher_order_ops.map import map
from dispatch._higher_order_ops.out_dtype import out_dtype
from dispatch._higher_order_ops.print import print
from dispatch._higher_order_ops.scan import scan
from dispatch._higher_order_ops.while_loop import while_loop
from dispatch._higher_order_ops.wrappers import hints_wrapper, strict_mode

__all__ = ["associative_scan", "auto_functionalized", "auto_functionalized_v2", "cond",
           "hints_wrapper", "invoke_subgraph", "map", "out_dtype", "print", "scan", "strict_mode",
           "while_loop", "with_effects"]  # fmt: skip
