"""Passes as objects, and what runs several in order (torch.fx.passes.infra, and pass_manager).

A pass gives a `PassResult`; those of the older `OlderPassManager` give what the next one takes.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from dispatch.as_torch.fx.module import GraphModule

__all__ = [
    "PassBase", "PassManager", "PassResult", "_topological_sort_passes", "pass_result_wrapper",
    "this_before_that_pass_constraint",
]  # fmt: skip

Pass = Callable[..., Any]


class PassResult(NamedTuple):
    """The module that a pass gives, and whether it differs."""

    graph_module: Any
    modified: bool


class PassBase(ABC):
    """A pass: `call` does it, `requires` and `ensures` check the module before and after."""

    def __call__(self, graph_module: GraphModule) -> PassResult | None:
        self.requires(graph_module)
        result = self.call(graph_module)
        self.ensures(graph_module)
        return result

    @abstractmethod
    def call(self, graph_module: GraphModule) -> PassResult | None:
        """Do it."""

    def requires(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise unless the pass can run."""

    def ensures(self, graph_module: GraphModule) -> None:  # noqa: B027
        """Raise unless the pass did what it should."""


def pass_result_wrapper(fn: Pass | None) -> Any:
    """A function that gives a module, or changes the one that it gets, as a pass; None is none."""
    if fn is None:
        return None

    @wraps(fn)
    def wrapped(gm: Any) -> PassResult:
        result = fn(gm)
        if isinstance(result, PassResult):
            return result
        return PassResult(gm if result is None else result, True)

    wrapped.__name__ = name_of(fn)
    return wrapped


def name_of(one: Pass) -> str:
    """What a pass is called."""
    return one.__name__ if inspect.isfunction(one) else type(one).__name__


# ---- orders


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Callable[[Pass, Pass], bool]:
    """Says of two passes in a row whether `that` does not run before `this`."""
    return lambda a, b: a != that or b != this


def check_order(constraint: Callable[[Pass, Pass], bool], passes: list[Pass]) -> None:
    """RuntimeError unless the passes run in an order that the constraint takes."""
    for i, one in enumerate(passes):
        for j, other in enumerate(passes[i + 1 :]):
            if not constraint(one, other):
                found = f"Expected {one} before {other} but found {one} at index {i}"
                found += f" and {other} at index {j} in pass list."
                raise RuntimeError(f"pass schedule constraint violated. {found}")


def _topological_sort_passes(passes: list[Pass], constraints: list[Any]) -> list[Pass]:
    """The passes in an order that all constraints take."""
    if not constraints:
        return passes
    before: dict[Pass, list[Pass]] = {
        one: [
            other
            for other in passes
            if one != other
            for takes in constraints
            if not takes(one, other)
        ]
        for one in passes
    }
    found: list[Pass] = []
    ready = [one for one in passes if not before[one]]
    while ready:
        done = ready.pop(0)
        found.append(done)
        for one, waits in before.items():
            if done in waits:
                waits[:] = [other for other in waits if other != done]
                if not waits:
                    ready.append(one)
    left = [one for one in passes if one not in found]
    if left:
        raise RuntimeError(f"Circular dependency detected within the following passes: {left}")
    return found


class OrderedPasses:
    """Passes, and constraints of two in a row, which are checked when either has changed."""

    def __init__(self, passes: list[Pass] | None, constraints: list[Any] | None) -> None:
        self.passes, self.constraints = passes or [], constraints or []
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Run this one too, at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Callable[[Pass, Pass], bool]) -> None:
        """Take only an order that this takes too."""
        self.constraints.append(constraint)
        self._validated = False

    def _check_order(self) -> None:
        """RuntimeError unless the order is one that all constraints take."""
        if not self._validated:
            for constraint in self.constraints:
                check_order(constraint, self.passes)
            self._validated = True


class PassManager(OrderedPasses):
    """Runs passes one after the other (torch.fx.passes.infra.pass_manager.PassManager).

    Args:
        passes: each gives a `PassResult`.
        constraints: functions of two passes in a row: whether they may run so.
        steps: how often all of them run at most; until none changes anything.
        run_checks_after_each_pass: `check` runs after each, and not only before the first.
        suppress_check_failures: not looked at.
    """

    def __init__(
        self, passes: list[Pass] | None = None, constraints: list[Any] | None = None,
        steps: int | None = None, run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(passes, constraints)
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures

    def validate_constraints(self) -> None:
        """RuntimeError unless the order is one that all constraints take."""
        self._check_order()

    def solve_constraints(self) -> None:
        """Bring the passes into an order that all constraints take; RuntimeError if none is."""
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Any], None]) -> None:
        """Let `check` run on the module.

        Raises:
            TypeError: it does not take one argument.
        """
        if len(inspect.signature(check).parameters) != 1:
            problem = "check function should only take in one variable, a module"
            raise TypeError(f"PassManager {problem}")
        setattr(self, "check", check)  # noqa: B010

    def check(self, module: Any) -> None:
        """Raise unless the module is as it should be."""

    def __call__(self, module: Any) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        ever = False
        for _ in range(self.steps):
            changed = False
            for i, one in enumerate(self.passes):
                module, modified = self._run(one, module, self.passes[:i])
                changed = changed or modified
            ever = ever or changed
            if not changed:
                break
        return PassResult(module, ever)

    def _run(self, one: Pass, module: Any, before: list[Pass]) -> tuple[Any, bool]:
        name = name_of(one)
        try:
            result = one(module)
            if not hasattr(result, "graph_module"):
                raise TypeError(f"pass {name} gives no PassResult: use pass_result_wrapper")
            module = result.graph_module
            if isinstance(module, GraphModule):
                module.recompile()
            if self.run_checks_after_each_pass:
                self.check(module)
        except Exception as error:
            names = [name_of(earlier) for earlier in before]
            text = f"An error occurred when running the '{name}' pass after the following passes: "
            raise Exception(f"{text}{names}") from error
        return module, result.modified


class GraphTransformObserver:
    """Runs one pass on a module; PyTorch's writes pictures too, where its settings ask for it.

    Args:
        gm: the module.
        passname, subsystem, log_url: what the pass is called, and who would be told of it.
    """

    def __init__(
        self, gm: GraphModule, passname: str, subsystem: str | None = None,
        log_url: str | None = None,
    ) -> None:  # fmt: skip
        self.gm, self.passname, self.subsystem, self.log_url = gm, passname, subsystem, log_url

    def apply_gm_pass(self, pass_fn: Pass) -> Any:
        """What the pass gives for the module."""
        return pass_fn(self.gm)

    def apply_graph_pass(self, pass_fn: Pass) -> Any:
        """What the pass gives for its graph."""
        return pass_fn(self.gm.graph)

    def __enter__(self) -> "GraphTransformObserver":
        return self

    def __exit__(self, *error: object) -> None:
        return
