"""A tracer that reads sources: `assert` becomes a call (torch.fx.experimental.rewriter)."""

import ast
import copy
import functools
import inspect
from types import FunctionType
from typing import Any

from dispatch._C import naming
from dispatch.as_torch.fx.graph import Graph
from dispatch.as_torch.fx.proxy import Proxy
from dispatch.as_torch.fx.tracer import Tracer
from dispatch.as_torch.nn.modules.module import Module

__all__ = ["AST_Rewriter", "RewritingTracer", "annotate"]


def annotate(val: Any, type: Any) -> Any:
    """`val`, whose node has this type from now on if it is a proxy (torch.fx.annotate).

    Raises:
        RuntimeError: the node has one already.
    """
    if isinstance(val, Proxy):
        if val.node.type:
            problem = f"it has the type {val.node.type} already"
            raise RuntimeError(f"annotate: {val.node} cannot have the type {type}: {problem}")
        val.node.type = type
    return val


class AST_Rewriter(ast.NodeTransformer):
    """Functions with `torch._assert(...)` for `assert`, and `annotate(...)` for annotations."""

    def rewrite(self, fn: FunctionType) -> FunctionType:
        """A function like `fn`, made of its changed source.

        Raises:
            OSError: its source is not there.
        """
        tree = ast.fix_missing_locations(self.visit(ast.parse(_outdented(fn))))
        names = dict(fn.__globals__)
        exec(compile(tree, "", "exec"), names)
        made = names[fn.__name__]
        result: Any = FunctionType(
            made.__code__, fn.__globals__, made.__name__, made.__defaults__, made.__closure__
        )
        functools.update_wrapper(result, made)
        result.__kwdefaults__ = copy.copy(made.__kwdefaults__)
        found: FunctionType = result
        return found

    def visit_Assert(self, node: ast.Assert) -> ast.Expr:
        """A call that stands for an `assert`."""
        call: Any = ast.parse(f"{naming.package_name()}._assert()", mode="eval").body
        call.args = [node.test, node.msg or ast.Constant(value="")]
        return ast.copy_location(ast.Expr(value=call), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        """A call that notes the type of a variable."""
        function = ast.Name(id="annotate", ctx=ast.Load())
        given: list[Any] = [node.value, node.annotation]
        return ast.Assign(targets=[node.target], value=ast.Call(function, given, []))


def _outdented(fn: FunctionType) -> str:
    """The source of a function as if it stood outside of all others; texts that go over several
    lines may begin anywhere."""
    lines, _ = inspect.getsourcelines(fn)
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return "".join(line.removeprefix(indent) for line in lines)


class RewritingTracer(Tracer):
    """Traces a program whose source is changed first, so that asserts are nodes."""

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """As `Tracer.trace`."""
        return super().trace(_rewritten(root), concrete_args)


def _rewritten(root: Any) -> Any:
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)

    class RewrittenModule(Module):
        def __init__(self, module: Module) -> None:
            super().__init__()
            for name, value in module.__dict__.items():
                self.__dict__[name] = copy.copy(value)

    kind: Any = RewrittenModule
    kind.forward = AST_Rewriter().rewrite(type(root).forward)  # type: ignore[arg-type]
    return kind(root)
