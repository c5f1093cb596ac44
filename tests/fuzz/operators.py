"""Random calls of every overload of the package: wrong sizes, dtypes and numbers, no crash.

`python -m tests.fuzz.operators [--seed S] [--rounds N] [--seconds N] [--only REGEX]` makes up to N
calls of each overload, from its schema's types alone, in child processes with limited memory. An
exception is fine, unless its type says that it is a mistake of ours (`_MISTAKES`); a child that
dies by a signal, or hangs in a call, is a failure. The next child goes on behind the overload that
ended it. The same seed makes the same calls; with --seconds, overloads are taken in random order
until the time is over.
"""

import argparse
import faulthandler
import math
import os
import random
import re
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dispatch
from dispatch import OpOverload, Tensor
from dispatch._C.inspection import _dispatch_get_all_op_names
from dispatch._ops.namespaces import find_overload
from tests.fuzz.trial import limit_memory

__all__ = ["Failure", "attempt", "overloads", "told"]

Call = tuple[list[Any], dict[str, Any]]
Make = Callable[[OpOverload, random.Random], Call]
_ADDRESS_SPACE = 2 << 30  # what costs more than this is refused at once
_SECONDS = 20  # of one call
_LEFT_OUT = ("from_file", "_test_", "_print", "manual", "seed")
# What a number asks for is then what they cost: pieces, polynomials of a degree.
_COSTLY = re.compile(r"split|chunk|combinations|polynomial|unbind")
_MISTAKES = (SystemError, AssertionError, NameError, KeyError, AttributeError, UnicodeError)
_REFUSED = {"prims": AssertionError}  # what a namespace refuses arguments with, as PyTorch's does
_ASSERTED = "must have at least 2 dimensions"  # so do its shape functions of square matrices
_SHAPES = (
    (), (0,), (1,), (2,), (3,), (5,), (2, 3), (3, 3), (0, 3), (3, 0), (1, 1), (2, 2, 3), (2, 4),
    (1, 2, 4, 4), (2, 3, 5, 5), (1, 1, 2, 3, 3), (4, 4), (16,), (33,), (1, 3, 6),
)  # fmt: skip
_NAMES = "float32 float64 int64 int32 uint8 bool float16 bfloat16 complex64 complex128 int8 int16"
_DTYPES = tuple(getattr(dispatch, name) for name in _NAMES.split())  # the first three are usual
_INTS = (-2, -1, 0, 1, 2, 3, 4, 5, 7)
_LARGE = (2**31, -(2**31), 2**62, -(2**63), 2**63 - 1, 1000)
_FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, math.nan, math.inf, -math.inf, 1e30, 3)
_TELLS = re.compile("File|ERROR:|error:|#[0-5] ")  # lines of a report that say where
_WORDS = (
    "mean", "sum", "none", "reflect", "bilinear", "amax", "prod", "L", "", "tanh", "trunc",
    "linear", "left", "ij",
)  # fmt: skip


class Failure(NamedTuple):
    """An overload that ended its process: the round, how, and where in Python."""

    operator: str
    number: int
    reason: str
    trace: list[str]


def overloads(pattern: str = "") -> list[OpOverload]:
    """Every overload whose name fits, by name."""
    names = (name for name in sorted(_dispatch_get_all_op_names()) if re.search(pattern, name))
    kept = (name for name in names if not any(part in name for part in _LEFT_OUT))
    return [op for op in map(find_overload, kept) if op is not None and op.namespace != "prim"]


class _Values:
    """Random values by the schema's types."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.large = True

    def call(self, op: OpOverload) -> tuple[list[Any], dict[str, Any]]:
        """The arguments of one call; some of those with defaults are left out."""
        self.large = _COSTLY.search(op._name) is None
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        open_ = True  # whether more may be given by place
        for argument in op._schema.arguments:
            if argument.has_default_value() and self.rng.random() < 0.5:
                open_ = False
                continue
            value = self.value(str(argument.type))
            if argument.kwarg_only or not open_:
                kwargs[argument.name] = value
            else:
                args.append(value)
        return args, kwargs

    def value(self, kind: str) -> Any:
        if kind.startswith("Optional["):
            return None if self.rng.random() < 0.5 else self.value(kind[9:-1])
        if kind.startswith("List["):
            return [self.value(kind[5:-1]) for _ in range(self.rng.choice((0, 1, 1, 2, 2, 3, 4)))]
        make = _MAKERS.get(kind)
        return None if make is None else make(self)

    def integer(self) -> int:
        return self.rng.choice(_LARGE if self.rng.random() < 0.08 and self.large else _INTS)

    def number(self) -> Any:
        return self.rng.choice((self.integer(), self.rng.choice(_FLOATS), True, 1j))

    def tensor(self) -> Tensor:
        """A small tensor, at times a view: expanded, transposed, with gaps, or empty."""
        shape = self.rng.choice(_SHAPES)
        dtype = self.rng.choice(_DTYPES[:3] if self.rng.random() < 0.7 else _DTYPES)
        kind = self.rng.random()
        if kind < 0.1:
            shape = self.rng.choice(((4,), (3, 3), (2, 3, 4, 4)))
            return dispatch.ones(1).to(dtype).expand(shape)
        made = self._filled(shape, dtype) if kind < 0.85 else dispatch.zeros(shape, dtype=dtype)
        if len(shape) > 1 and self.rng.random() < 0.25:
            made = made.transpose(0, -1)
        if shape and self.rng.random() < 0.1:
            made = made[::2]
        return made.narrow(0, 0, 0) if shape and self.rng.random() < 0.05 else made

    def _filled(self, shape: tuple[int, ...], dtype: dispatch.dtype) -> Tensor:
        n = math.prod(shape)
        if dtype.is_floating_point or dtype.is_complex:
            values: list[Any] = [self.rng.gauss(0, 1) for _ in range(n)]
        else:
            values = [self.rng.choice((-1, 0, 1, 2, 3, 7, 100, -100)) for _ in range(n)]
            values = [value % 2 for value in values] if dtype is dispatch.bool else values
        return dispatch.tensor(values, dtype=dispatch.float64).reshape(shape).to(dtype)


_MAKERS = {
    "Tensor": _Values.tensor,
    **dict.fromkeys(("int", "SymInt"), _Values.integer),
    **dict.fromkeys(("float", "SymFloat"), lambda v: v.rng.choice(_FLOATS)),
    **dict.fromkeys(("number", "Scalar"), _Values.number),
    **dict.fromkeys(("bool", "SymBool"), lambda v: v.rng.random() < 0.5),
    "str": lambda v: v.rng.choice(_WORDS),
    "ScalarType": lambda v: v.rng.choice(_DTYPES),
    "Device": lambda v: v.rng.choice(("cpu", "meta")),
    "Layout": lambda v: dispatch.strided,
    "MemoryFormat": lambda v: v.rng.choice(
        (dispatch.contiguous_format, dispatch.preserve_format, dispatch.channels_last)
    ),
    "Storage": lambda v: dispatch.ones(4).untyped_storage(),
}


def _random(op: OpOverload, rng: random.Random) -> Call:
    return _Values(rng).call(op)


def _use(result: Any) -> None:
    """Read what came back: a result may point to where nothing is."""
    for value in result if isinstance(result, (list, tuple)) else (result,):
        if isinstance(value, Tensor) and value.numel() < 1000 and value.device.type == "cpu":
            value.clone()


def _calls(op: OpOverload, make: Make, seed: str, rounds: int, state: int) -> None:
    for number in range(rounds):
        os.pwrite(state, f"{op._name} {number}".ljust(200).encode(), 0)
        args, kwargs = make(op, random.Random(f"{seed} {op._name} {number}"))
        signal.alarm(_SECONDS)
        try:
            _use(op(*args, **kwargs))
        except _REFUSED.get(op.namespace, ()):
            pass
        except _MISTAKES as error:
            text = str(error).replace("\n", " ")[:200]
            if not (isinstance(error, AssertionError) and _ASSERTED in text):
                os.write(state, f"{op._name} {number} {type(error).__name__}: {text}\n".encode())
        except Exception:
            pass
        signal.alarm(0)


def _child(
    ops: Sequence[OpOverload],
    make: Make,
    seed: str,
    rounds: int,
    end: float,
    state: int,
    trace: int,
) -> None:
    limit_memory(_ADDRESS_SPACE)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor, to in enumerate((null, null, trace)):  # a sanitizer reports to the last
        os.dup2(to, descriptor)
    faulthandler.enable(2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    os.lseek(state, 200, os.SEEK_SET)
    for op in ops:
        if time.monotonic() > end:
            break
        _calls(op, make, seed, rounds, state)
    os.pwrite(state, b"done".ljust(200), 0)


def attempt(
    ops: Sequence[OpOverload],
    seed: str,
    rounds: int,
    end: float = math.inf,
    make: Make = _random,
) -> list[Failure]:
    """Call each in turn until `end`, with what `make` gives; who dies is followed by the next."""
    failures: list[Failure] = []
    while ops:
        with tempfile.TemporaryFile() as state, tempfile.TemporaryFile() as trace:
            child = os.fork()
            if not child:
                try:
                    _child(ops, make, seed, rounds, end, state.fileno(), trace.fileno())
                finally:
                    os._exit(0)
            _, status = os.waitpid(child, 0)
            state.seek(0)
            text = state.read().decode()
            trace.seek(0)
            lines = trace.read().decode(errors="replace").splitlines()
            frames = [line.strip() for line in lines if _TELLS.search(line)]
        for line in text[200:].splitlines():
            name, number, reason = line.split(" ", 2)
            failures.append(Failure(name, int(number), reason, []))
        at = text[:200].split()
        if at == ["done"]:
            break
        name, number = at
        reason = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "ended"
        inner = [frame for frame in frames if __file__ not in frame][:8]
        failures.append(Failure(name, int(number), reason, inner))
        ops = ops[[op._name for op in ops].index(name) + 1 :]
    return failures


def told(overloads: int, failures: list[Failure]) -> int:
    """Print what failed; the exit status."""
    for failure in failures:
        print(f"{failure.operator} {failure.number}: {failure.reason}", *failure.trace, sep="\n  ")
    print(f"{'failed' if failures else 'passed'}: {overloads} overloads, {len(failures)} failures")
    return int(bool(failures))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.operators", description=__doc__)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=math.inf)
    parser.add_argument("--only", default="", help="a regular expression of names")
    options = parser.parse_args()
    ops = overloads(options.only)
    if options.seconds < math.inf:
        random.Random(options.seed).shuffle(ops)
    end = time.monotonic() + options.seconds
    failures = attempt(ops, options.seed, options.rounds, end)
    return told(len(ops), failures)


if __name__ == "__main__":
    sys.exit(main())
