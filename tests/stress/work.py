"""What a thread does over and over, checking what it sees; one call of a job is a few operators."""

import itertools
import random
from collections.abc import Callable
from typing import Any

import dispatch
from dispatch import FakeTensorMode, Library, ops
from dispatch._C import (
    DispatchKey,
    _DisableTorchDispatch,
    _dispatch_tls_local_exclude_set,
    _dispatch_tls_local_include_set,
    _ExcludeDispatchKeyGuard,
    _IncludeDispatchKeyGuard,
)
from dispatch.modes import TorchDispatchMode, _get_current_dispatch_mode_stack

__all__ = ["FAKE_CALLS", "check_fake_call", "own_jobs", "shared_jobs"]

A = ops.aten
_names = itertools.count()
Job = Callable[[random.Random], None]


class Count(TorchDispatchMode):
    """Counts the calls that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen += 1
        return func(*args, **(kwargs or {}))


class Tagged(dispatch.Tensor):
    """A subclass that passes its calls on, below itself."""

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        with _DisableTorchDispatch():
            return func(*args, **(kwargs or {})).as_subclass(cls)


def modes(rng: random.Random) -> None:
    """Nested modes see the calls of this thread, each once."""
    x = dispatch.ones(2)
    depth, calls = rng.randrange(1, 5), rng.randrange(1, 5)
    stack = [Count() for _ in range(depth)]
    for mode in stack:
        mode.__enter__()
    assert _get_current_dispatch_mode_stack() == stack
    for _ in range(calls):
        A.add.Tensor(x, 1)
    for mode in reversed(stack):
        mode.__exit__(None, None, None)
    assert [m.seen for m in stack] == [calls] * depth
    assert _get_current_dispatch_mode_stack() == []


def guards(rng: random.Random) -> None:
    """Key sets change for this thread alone, and come back."""
    before = _dispatch_tls_local_include_set(), _dispatch_tls_local_exclude_set()
    key = rng.choice((DispatchKey.AutocastCPU, DispatchKey.AutocastCUDA, DispatchKey.Negative))
    with _IncludeDispatchKeyGuard(key), _ExcludeDispatchKeyGuard(dispatch.DispatchKeySet(key)):
        assert _dispatch_tls_local_include_set().has(key)
        assert _dispatch_tls_local_exclude_set().has(key)
        assert A.neg.default(dispatch.ones(1)).tolist() == [-1.0]
    assert (_dispatch_tls_local_include_set(), _dispatch_tls_local_exclude_set()) == before


def libraries(rng: random.Random) -> None:
    """What a thread registers is there at once, and gone with its library."""
    name = f"stress_{next(_names)}"
    value = rng.random()
    lib = Library(name, "DEF")
    lib.define("f(Tensor x, float y=0.5) -> Tensor")
    lib.impl("f", lambda x, y=0.5: x * y + value, "CPU")
    op = getattr(ops, name).f
    assert abs(op(dispatch.ones(1)).item() - (0.5 + value)) < 1e-6
    lib.impl("f", lambda x, y=0.5: x, "Autograd")
    x = dispatch.ones(1)
    assert op(x) is x
    lib._destroy()
    try:
        op(x)
    except (RuntimeError, NotImplementedError):
        pass
    else:
        raise AssertionError(f"{name}::f can be called after its library was destroyed")


def subclasses(rng: random.Random) -> None:
    """A subclass stays one through its operators."""
    x = dispatch.ones(2).as_subclass(Tagged)
    y = A.mul.Tensor(x, rng.randrange(5))
    assert type(y) is Tagged and y.shape == (2,)


def errors(rng: random.Random) -> None:
    """Failing calls under a mode leave the stack as it was."""
    x = dispatch.ones(2, 3)
    with Count() as mode:
        try:
            A.mm.default(x, x)
        except RuntimeError:
            pass
        else:
            raise AssertionError("mm took sizes that do not fit")
    assert mode.seen == 1 and _get_current_dispatch_mode_stack() == []


def fakes(rng: random.Random) -> None:
    """A fake mode of one's own."""
    with FakeTensorMode() as mode:
        n = rng.randrange(1, 50)
        y = A.add.Tensor(dispatch.empty(n, device="cuda"), 1)
        assert y.shape == (n,) and y.fake_mode is mode and y.device.type == "cuda"


def own_jobs() -> list[Job]:
    """Jobs that share nothing but the dispatcher."""
    return [modes, guards, libraries, subclasses, errors, fakes]


def shared_jobs() -> tuple[list[Job], Library]:
    """Jobs on one operator: some call it, some replace its kernel, some take it away."""
    keep = Library("stress_shared", "DEF")
    keep.define("f(Tensor x) -> Tensor")
    keep.impl("f", lambda x: x + 0, "CPU")

    def call(rng: random.Random) -> None:
        got = ops.stress_shared.f(dispatch.ones(1)).item()
        assert got == int(got) and 1 <= got < 100

    def replace(rng: random.Random) -> None:
        n = rng.randrange(99)
        lib = Library("stress_shared", "IMPL")
        lib.impl("f", lambda x: x + n, "CPU")
        call(rng)
        lib._destroy()

    def define(rng: random.Random) -> None:
        """`g` comes and goes; who calls it meanwhile gets a result or an error, never a crash."""
        try:
            lib = Library("stress_shared", "FRAGMENT")
            lib.define("g(Tensor x) -> Tensor")
        except RuntimeError:
            lib._destroy()  # another thread has it
            return
        lib.impl("g", lambda x: x, "CPU")
        lib._destroy()

    def call_what_goes(rng: random.Random) -> None:
        x = dispatch.ones(1)
        try:
            assert ops.stress_shared.g(x) is x
        except (AttributeError, RuntimeError, NotImplementedError):
            return

    return [call, replace, define, call_what_goes], keep


def _empty(*sizes: int, **options: Any) -> dispatch.Tensor:
    return dispatch.empty(*sizes, **options)


# Calls under a fake mode, over a size.
FAKE_CALLS: list[Callable[[int], Any]] = [
    lambda n: A.add.Tensor(_empty(n, 3), _empty(3)),
    lambda n: A.add_.Tensor(_empty(n, 3), 1),
    lambda n: A.mul.Tensor(_empty(n, 3, dtype=dispatch.int64), 2.5),
    lambda n: A.mm.default(_empty(n, 3, device="cuda"), _empty(3, n, device="cuda")),
    lambda n: A.view.default(_empty(n, 4), [n * 2, 2]),
    lambda n: A.transpose.int(_empty(n, 3), 0, 1),
    lambda n: A.t_.default(_empty(n, 3)),
    lambda n: A.unsqueeze_.default(_empty(n), 0),
    lambda n: A.split.Tensor(_empty(2 * n, 2), n),
    lambda n: A.unbind.int(_empty(3, n)),
    lambda n: A.max.dim(_empty(n, 5), 1),
    lambda n: A.sum.dim_IntList(_empty(n, 5), [0], True),
    lambda n: A.cat.default([_empty(n, 2), _empty(3, 2)]),
    lambda n: A.convolution.default(
        _empty(1, 3, n + 2, 8), _empty(4, 3, 3, 3), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1
    ),
    lambda n: A.native_layer_norm.default(_empty(n, 6), [6], _empty(6), _empty(6), 1e-5),
    lambda n: A.index.Tensor(_empty(n, 4), [_empty(2, dtype=dispatch.int64)]),
    lambda n: A._to_copy.default(_empty(n), dtype=dispatch.float16),
]


def _described(result: Any) -> Any:
    if isinstance(result, (tuple, list)):
        return [_described(r) for r in result]
    return (
        result.dtype,
        tuple(result.shape),
        tuple(result.stride()),
        result.storage_offset(),
        str(result.device),
    )


def check_fake_call(rng: random.Random, expected: dict[tuple[int, int], Any]) -> None:
    """One of the calls; its metadata must be what the first run of it gave."""
    which, n = rng.randrange(len(FAKE_CALLS)), rng.randrange(1, 12)
    got = _described(FAKE_CALLS[which](n))
    want = expected.setdefault((which, n), got)
    assert got == want, f"call {which} of size {n}: {got}, expected {want}"
