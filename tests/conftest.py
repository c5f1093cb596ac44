"""Fixtures for all tests: dispatch state as it was, libraries that go away, objects counted."""

import gc
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dispatch._C import advice
from dispatch.library import Library
from tests.dispatch._C.conftest import thread_state


class _All(set[str]):
    """Every name: what is told once in a process was told, whichever test comes first."""

    def __contains__(self, name: object) -> bool:
        return True


advice._told = _All()


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings that come once are given as in a new process."""
    monkeypatch.setattr(advice, "_told", set())


@pytest.fixture
def same_state_after() -> Iterator[None]:
    """The test leaves the thread's key sets, guards and mode stacks as it found them."""
    before = thread_state()
    yield
    assert thread_state() == before


@pytest.fixture
def library() -> Iterator[Callable[..., Library]]:
    """`library(ns, kind="FRAGMENT", key="")`: a Library that is destroyed after the test."""
    made: list[Library] = []

    def make(ns: str, kind: str = "FRAGMENT", dispatch_key: str = "") -> Library:
        made.append(Library(ns, kind, dispatch_key))
        return made[-1]

    yield make
    for lib in reversed(made):
        lib._destroy()


@pytest.fixture
def grown_blocks() -> Callable[..., int]:
    """`grown_blocks(call)`: memory blocks that 1,000 calls leave behind (a leak: 1,000 or more)."""

    def count(call: Callable[[], Any], calls: int = 1000) -> int:
        for _ in range(50):
            call()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(calls):
            call()
        gc.collect()
        return sys.getallocatedblocks() - before

    return count
