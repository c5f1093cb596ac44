"""Blocks as decorators."""

import contextlib

import pytest

from dispatch.as_torch.contexts import (
    _DecoratorContextManager,
    _NoParamDecoratorContextManager,
    context_decorator,
)

events = []


class Block(_NoParamDecoratorContextManager):
    def __enter__(self):
        events.append("in")

    def __exit__(self, *error):
        events.append("out")


@pytest.fixture(autouse=True)
def none_yet():
    events.clear()


def test_each_call_runs_in_a_block_of_its_own():
    @Block
    def plain():
        events.append("run")

    @Block()
    def other():
        plain()

    other()
    assert events == ["in", "in", "run", "out", "out"]


def test_a_generator_is_in_the_block_while_it_runs():
    @Block
    def numbers():
        try:
            got = yield 1
        except KeyError:
            got = "caught"
        yield got

    running = numbers()
    assert next(running) == 1 and events == ["in", "out"]
    assert running.throw(KeyError()) == "caught" and events == ["in", "out"] * 2
    running.close()
    assert events == ["in", "out"] * 3


def test_what_cannot_be_decorated_is_told():
    with pytest.raises(RuntimeError, match="Cannot decorate classes"):
        context_decorator(lambda: Block(), Block)
    both = Block()
    with pytest.raises(AssertionError, match="both callable and a context manager"):
        context_decorator(both, print)
    with pytest.raises(NotImplementedError, match="__enter__"):
        _DecoratorContextManager().__enter__()


def test_a_context_manager_may_be_entered_again_or_made():
    inside = []
    again = contextlib.ExitStack()
    assert context_decorator(again, lambda: 3)() == 3
    made = context_decorator(lambda: contextlib.nullcontext(inside.append(1)), lambda: 4)
    assert (made(), made(), inside) == (4, 4, [1, 1])
