"""What calls leave behind: `python -m tests.fuzz.leaks [--seed S] [--rounds N] [--only REGEX]`.

Each recorded call of `tests/conformance`, right or nearly right (`near`), is made again and again:
as it is, by its packet, under a mode, on fake tensors, with arguments that ask user code which
raises. When the call has been made a few times, more of them may leave no block of Python's, and no
memory of malloc's. Most calls of a nearly right kind end in an error, so that this holds the error
paths too. Children and their limits are those of `operators`.
"""

import contextlib
import ctypes
import gc
import random
import sys
from collections.abc import Callable
from typing import Any

from dispatch import OpOverload, Tensor
from dispatch.fake import FakeTensorMode
from dispatch.modes import TorchDispatchMode
from tests.fuzz import operators
from tests.fuzz.near import Near, command
from tests.fuzz.operators import Call, Failure

__all__ = ["attempt", "grown"]

_WARM, _CALLS = 4, 12
_TIMES = 5  # what grows once and then no more is a cache


class _Counts(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [(f"f{i}", ctypes.c_size_t) for i in range(7)] + [
        ("uordblks", ctypes.c_size_t),
        ("fordblks", ctypes.c_size_t),
        ("keepcost", ctypes.c_size_t),
    ]

    uordblks: int
    f4: int


def _counter() -> Callable[[], int]:
    """Bytes that malloc has given out, of its own memory and of whole maps."""
    try:
        mallinfo = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return lambda: 0
    mallinfo.restype = _Counts

    def count() -> int:
        counts = mallinfo()
        return int(counts.uordblks + counts.f4)

    return count


_malloced = _counter()


def grown(call: Callable[[], Any]) -> str | None:
    """What more calls leave behind, if each of them leaves something."""

    def repeat(times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(Exception):
                call()
        gc.collect()

    repeat(_WARM)
    left = (0, 0)
    for _ in range(_TIMES):
        before = sys.getallocatedblocks(), _malloced()
        repeat(_CALLS)
        left = sys.getallocatedblocks() - before[0], _malloced() - before[1]
        if left[0] < _CALLS * 3 // 4 and left[1] < 16 * _CALLS:
            return None
    return f"{left[0]} blocks and {left[1]} bytes left by {_CALLS} calls"


class _Pass(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class _Raises:
    """A number that refuses to say which."""

    def __index__(self) -> int:
        raise RuntimeError("no")

    __int__ = __float__ = __bool__ = __len__ = __complex__ = __index__


def _refusing(rng: random.Random, args: list[Any]) -> list[Any]:
    """The arguments with one that raises, maybe within a list."""
    if not args:
        return args
    at = rng.randrange(len(args))
    value = args[at]
    inner = [*value[:-1], _Raises()] if isinstance(value, list) else _Raises()
    return [*args[:at], inner, *args[at + 1 :]]


def _fake(mode: FakeTensorMode, value: Any) -> Any:
    if isinstance(value, list):
        return [_fake(mode, item) for item in value]
    return mode.from_tensor(value) if isinstance(value, Tensor) else value


class _Repeated:
    """An operator that is called again and again. Stands for the operator in `operators`."""

    def __init__(self, op: OpOverload, cases: list[dict[str, Any]]) -> None:
        self.op, self.cases = op, cases
        self._name, self.namespace = op._name, op.namespace

    def made(self, rng: random.Random) -> Call:
        near = Near(rng, rng.choice(self.cases), wrong=rng.choice((0, 1, 1)))
        return [rng, near.args, near.kwargs], {}

    def __call__(self, rng: random.Random, args: list[Any], kwargs: dict[str, Any]) -> None:
        op, packet = self.op, self.op._overloadpacket
        gc.freeze()  # so that a collection looks at what is new
        fakes = FakeTensorMode()
        fake_args, fake_kwargs = args, kwargs
        with contextlib.suppress(Exception):  # of what cannot be faked
            fake_args = _fake(fakes, args)
            fake_kwargs = {name: _fake(fakes, value) for name, value in kwargs.items()}
        refusing = _refusing(rng, args)

        def moded() -> None:
            with _Pass():
                op(*args, **kwargs)

        def faked() -> None:
            with fakes:
                op(*fake_args, **fake_kwargs)

        ways: dict[str, Callable[[], Any]] = {
            "overload": lambda: op(*args, **kwargs),
            "packet": lambda: packet(*args, **kwargs),
            "mode": moded,
            "fake": faked,
            "refusing": lambda: packet(*refusing, **kwargs),
        }
        for name, call in ways.items():
            left = grown(call)
            if left is not None:
                raise AssertionError(f"{name}: {left}")


def attempt(calls: dict[OpOverload, list[dict[str, Any]]], seed: str, rounds: int) -> list[Failure]:
    """So many calls of each overload, in child processes."""
    repeated: Any = [_Repeated(op, cases) for op, cases in calls.items()]
    return operators.attempt(repeated, seed, rounds, make=lambda op, rng: op.made(rng))  # type: ignore[attr-defined]


def main() -> int:
    return command("leaks", __doc__, attempt, rounds=1)


if __name__ == "__main__":
    sys.exit(main())
