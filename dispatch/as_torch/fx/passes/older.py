"""The older manager of passes, which are functions from one thing to the next.

Source of the semantics: `torch/fx/passes/pass_manager.py`.
"""

import logging
from collections.abc import Callable
from functools import wraps
from inspect import unwrap
from typing import Any

from dispatch.as_torch.fx.passes.managers import (
    OrderedPasses,
    Pass,
    this_before_that_pass_constraint,
)

__all__ = [
    "PassManager", "inplace_wrapper", "log_hook", "loop_pass",
    "these_before_those_pass_constraint", "this_before_that_pass_constraint",
]  # fmt: skip

_logger = logging.getLogger(__name__)


def inplace_wrapper(fn: Pass) -> Pass:
    """A function that changes what it gets, as one that gives it."""

    @wraps(fn)
    def wrapped(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped


def log_hook(fn: Pass, level: int = logging.INFO) -> Pass:
    """A pass that logs what it gives."""

    @wraps(fn)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        result = fn(*args, **kwargs)
        _logger.log(level, "Ran pass %s\t Return value: %s", fn, result)
        return result

    return wrapped


def loop_pass(
    base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None
) -> Pass:
    """A pass that runs `n_iter` times, or while `predicate` holds of what it gave.

    Raises:
        AssertionError: both are given, or none.
        RuntimeError: `n_iter` is not positive; when it runs.
    """
    if (n_iter is None) == (predicate is None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def looping(source: Any) -> Any:
        if predicate is not None:
            while predicate(source):
                source = base_pass(source)
            return source
        if n_iter is None or n_iter <= 0:
            raise RuntimeError(f"loop_pass: n_iter must be positive, got {n_iter}")
        for _ in range(n_iter):
            source = base_pass(source)
        return source

    return looping


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Callable[[Pass, Pass], bool]:
    """As `this_before_that_pass_constraint`, of passes that may be wrapped."""
    return lambda a, b: unwrap(a) != those or unwrap(b) != these


class PassManager(OrderedPasses):
    """Runs functions one after the other, each on what the one before gave.

    Args:
        passes: the functions.
        constraints: functions of two passes in a row: whether they may run so.
    """

    def __init__(
        self, passes: list[Pass] | None = None, constraints: list[Any] | None = None
    ) -> None:
        super().__init__(passes, constraints)

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> "PassManager":
        """One for these passes."""
        return PassManager(passes)

    def remove_pass(self, _passes: list[str]) -> None:
        """Run those of these names no more."""
        if _passes is not None:
            self.passes = [one for one in self.passes if one.__name__ not in _passes]
            self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Run another one in the place of those that are called as `_target` is."""
        name = _target.__name__
        self.passes = [_replacement if p.__name__ == name else p for p in self.passes]
        self._validated = False

    def validate(self) -> None:
        """RuntimeError unless the order is one that all constraints take."""
        self._check_order()

    def __call__(self, source: Any) -> Any:
        self.validate()
        for one in self.passes:
            source = one(source)
        return source
