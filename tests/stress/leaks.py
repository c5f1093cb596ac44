"""Memory after many calls of each path: blocks that Python holds, and what the process has."""

import gc
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

import dispatch
from dispatch import FakeTensorMode, Library, ops
from dispatch._C import (
    _after_autograd_keyset,
    _dispatch_call_boxed,
    _dispatch_find_schema_or_throw,
    _dispatch_keys,
)
from dispatch.modes import TorchDispatchMode, TorchFunctionMode

__all__ = ["Path", "grown", "paths"]

A = ops.aten


class Path(NamedTuple):
    """What to repeat, what is entered around it all, and what share of the calls it is worth."""

    call: Callable[[], Any]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    share: float = 1.0


class Pass(TorchDispatchMode):
    """Calls what it sees."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class PassFunctions(TorchFunctionMode):
    """Calls what it sees."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class First(dispatch.Tensor):
    """Operators give their first argument."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return args[0]


def _fails(call: Callable[[], Any]) -> Callable[[], None]:
    def attempt() -> None:
        try:
            call()
        except (RuntimeError, TypeError, NotImplementedError):
            return
        raise AssertionError("the call was to fail")

    return attempt


def _enter(mode: TorchDispatchMode) -> None:
    with mode:
        pass


def _refuse(x: Any) -> Any:
    raise RuntimeError("no")


def _python_kernels() -> Iterator[tuple[str, Path]]:
    lib = Library("leaks", "DEF")
    for name in ("one", "fails", "upper"):
        lib.define(name + "(Tensor x) -> Tensor")
    lib.define("lists(Tensor[] xs, Tensor?[] ys, *, str s='a') -> Tensor[]")
    lib.define("three(Tensor x) -> (Tensor, int, Tensor?)")
    lib.impl("one", lambda x: x, "CPU")
    lib.impl("fails", _refuse, "CPU")
    lib.impl("lists", lambda xs, ys, s="a": xs, "CPU")
    lib.impl("three", lambda x: (x, 1, None), "CPU")
    lib.impl("upper", lambda x: x, "CPU")
    lib.impl("upper", lambda ks, x: upper.redispatch(ks & _after_autograd_keyset, x), "Autograd",
             with_keyset=True)  # fmt: skip
    upper, leaks, x = ops.leaks.upper.default, ops.leaks, dispatch.ones(2)
    yield "python kernel", Path(lambda: leaks.one.default(x))
    yield "python kernel, lists", Path(lambda: leaks.lists.default([x, x], [None, x], s="b"))
    yield "python kernel, three results", Path(lambda: leaks.three.default(x))
    yield "python kernel that raises", Path(_fails(lambda: leaks.fails.default(x)))
    yield "python autograd kernel", Path(lambda: upper(x))

    def define() -> None:
        own = Library("leaks_more", "FRAGMENT")
        own.define("f(Tensor x, int n=1) -> Tensor")
        own.impl("f", lambda x, n=1: x, "CPU")
        ops.leaks_more.f(x)
        own._destroy()

    yield "define, call, destroy", Path(define, share=0.02)
    held.append(lib)


held: list[object] = []


def paths() -> Iterator[tuple[str, Path]]:
    """Name and statement of every path."""
    x, y = dispatch.ones(2, 3), dispatch.ones(2, 3)
    s = dispatch.ones(2, 3).as_subclass(First)
    grad = dispatch.ones(2, requires_grad=True)
    keys, add = _dispatch_keys(x), A.add.Tensor
    handle = _dispatch_find_schema_or_throw("aten::add", "Tensor")
    yield "overload", Path(lambda: add(x, y))
    yield "packet", Path(lambda: A.add(x, 1.5))
    yield "function", Path(lambda: dispatch.add(x, y, alpha=2))
    yield "method", Path(lambda: x.add(y))
    yield "operator", Path(lambda: x + 1)
    yield "in place", Path(lambda: A.add_.Tensor(x, 0))
    yield "out", Path(lambda: A.add.out(x, y, out=y))
    yield "view", Path(lambda: A.view.default(x, [3, 2]))
    yield "list of views", Path(lambda: A.split.Tensor(x, 1))
    yield "requires grad", Path(lambda: A.mul.Tensor(grad, 2))
    yield "redispatch", Path(lambda: add.redispatch(keys, x, y))
    yield "boxed call", Path(lambda: _dispatch_call_boxed(handle, x, y))
    yield "mismatch", Path(_fails(lambda: add(x, "no")), share=0.2)
    yield "kernel that raises", Path(_fails(lambda: A.mm.default(x, y)), share=0.2)
    yield "mode", Path(lambda: add(x, y), Pass)
    yield "entering a mode", Path(lambda: _enter(Pass()), share=0.5)
    yield "function mode", Path(lambda: dispatch.add(x, y), PassFunctions)
    yield "subclass", Path(lambda: add(s, y))
    yield "as_subclass", Path(lambda: x.as_subclass(First))
    yield "attributes of a subclass", Path(lambda: setattr(x.as_subclass(First), "a", []))
    yield "key sets", Path(lambda: (keys | keys) - keys)
    yield from _python_kernels()
    yield from _fakes()


def _fakes() -> Iterator[tuple[str, Path]]:
    mode, fresh = FakeTensorMode(), FakeTensorMode(cache=False)
    fakes = {m: (m.from_tensor(dispatch.ones(2, 3)), m.from_tensor(dispatch.ones(2, 3)))
             for m in (mode, fresh)}  # fmt: skip
    x, y = fakes[mode]
    u, v = fakes[fresh]
    one = mode.from_tensor(dispatch.ones(1))
    yield "fake tensors made and dropped", Path(lambda: dispatch.empty(2, 3), lambda: mode)
    yield "fake hit", Path(lambda: A.add.Tensor(x, y), lambda: mode)
    yield "fake hit, views", Path(lambda: A.split.Tensor(x, 1), lambda: mode)
    yield "fake hit, in-place view", Path(lambda: A.t_.default(one.view(1, 1)), lambda: mode)
    yield "fake, no cache", Path(lambda: A.add.Tensor(u, v), lambda: fresh)
    yield "fake constants", Path(lambda: dispatch.tensor(1.5) * 2, lambda: mode, 0.2)
    yield "fake, refused", Path(_fails(lambda: A.mm.default(x, y)), lambda: mode, 0.2)
    yield "from_tensor, new", Path(lambda: mode.from_tensor(dispatch.ones(1)), share=0.5)
    yield "entering a fake mode", Path(lambda: _enter(FakeTensorMode()), share=0.2)
    sizes = iter(range(1, 1 << 40))
    small = FakeTensorMode(cache=dispatch.fake.DispatchCache(max_entries=128))
    yield (
        "fake misses, full cache",
        Path(lambda: A.relu.default(dispatch.empty(next(sizes))), lambda: small, 0.2),
    )


def grown(path: Path, calls: int) -> tuple[int, int]:
    """(memory blocks, KiB of resident memory at its peak) that `calls` calls leave behind."""
    with path.around():
        for _ in range(max(200, calls // 20)):
            path.call()
        gc.collect()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        before = sys.getallocatedblocks()
        for _ in range(calls):
            path.call()
        gc.collect()
        blocks = sys.getallocatedblocks() - before
    return blocks, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
