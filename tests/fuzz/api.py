"""Calls of everything that can be called, with arguments that nobody should pass: no crash.

`python -m tests.fuzz.api [--n N] [--seed S]` makes N trials; each is a child process that calls
functions and methods of the package (public or underscored), makes instances of its classes without
`__init__`, reads, sets and deletes attributes, does with objects what the language can, and passes
what changes under the callee: arguments that clear the list they came in, destroy the library that
runs, push modes. Exceptions are fine; a child that dies by a signal, or hangs, is a failure. The
same seed makes the same calls.
"""

import argparse
import contextlib
import copy
import faulthandler
import importlib
import math
import operator
import os
import pickle
import pkgutil
import random
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dispatch
from tests.fuzz.arguments import Arguments
from tests.fuzz.trial import limit_memory

__all__ = ["Failure", "Target", "attempt", "targets"]

# What is no room of a call: commands and generators, and bodies of kernels, whose callers check.
_NOT_CALLED = ("cli", "as_torch", "codegen", "build", "kernels", "__main__", "_C.generated")
_CALLS = 60  # of one trial
_SECONDS = 20
_ADDRESS_SPACE = 8 << 30
# What ends or stops the process, writes files or waits, and means to.
_LEFT_OUT = frozenset(("exit", "main", "breakpoint", "set_trace", "save", "load", "fork", "input"))


class Failure(NamedTuple):
    """A trial that died: its seed, how, and the calls that led there (the last one did it)."""

    seed: str
    reason: str
    calls: list[str]
    trace: list[str]


class Target(NamedTuple):
    name: str
    value: Any


def _rooms(names: Sequence[str]) -> list[Any]:
    found = []
    for name in names:
        with contextlib.suppress(ImportError):  # of something optional
            found.append(importlib.import_module(name))
    return found


def _every_room() -> list[str]:
    left_out = tuple(f"dispatch.{name}" for name in _NOT_CALLED)
    found = pkgutil.walk_packages(dispatch.__path__, "dispatch.", onerror=lambda _: None)
    return ["dispatch", *(m.name for m in found if not m.name.startswith(left_out))]


def targets(rooms: Sequence[str] | None = None) -> list[Target]:
    """Every callable of the rooms (None: of all) by name, once."""
    found: dict[int, Target] = {}
    for room in _rooms(_every_room() if rooms is None else rooms):
        for name, value in sorted(vars(room).items()):
            origin = getattr(value, "__module__", None) or room.__name__
            if not callable(value) or name in _LEFT_OUT or name.startswith("__"):
                continue
            if not str(origin).startswith("dispatch"):
                continue
            found.setdefault(id(value), Target(f"{room.__name__}.{name}", value))
    return list(found.values())


class _Trial:
    """The calls of one child; each is written to `log` before it is made."""

    def __init__(self, seed: str, log: int, arguments: type[Arguments]) -> None:
        self.rng = random.Random(seed)
        self.log = log
        self.arguments = arguments(self.rng)
        self.made: list[Any] = []

    def _note(self, text: str) -> None:
        os.write(self.log, (text[:300].replace("\n", " ") + "\n").encode(errors="replace"))

    def _guarded(self, note: str, call: Callable[[], Any]) -> None:
        self._note(note)
        try:
            value = call()
        except (SystemExit, KeyboardInterrupt, Exception):
            return
        if (
            str(getattr(type(value), "__module__", "")).startswith("dispatch")
            and len(self.made) < 40
        ):
            self.made.append(value)
            self.arguments.offer(value)

    def _call(self, name: str, function: Any) -> None:
        args, kwargs = self.arguments.given(function)
        self._guarded(
            f"{name}(*{_shown(args)}, **{_shown(kwargs)})", lambda: function(*args, **kwargs)
        )

    def _explore(self, name: str, value: Any) -> None:
        """Attributes and methods of an object: read, call, set, delete."""
        names = [n for n in dir(type(value)) if n not in _LEFT_OUT and n not in _UNSAFE]
        for attribute in self.rng.sample(names, min(len(names), 6)):
            at = f"{name}.{attribute}"
            kind = self.rng.randrange(8)
            if kind == 0:
                new = self.arguments.any()
                self._guarded(
                    f"{at} = {_shown(new)}", lambda a=attribute, n=new: setattr(value, a, n)
                )
            elif kind == 1:
                self._guarded(f"del {at}", lambda a=attribute: delattr(value, a))
            else:
                self._note(f"get {at}")
                try:
                    member = getattr(value, attribute)
                except Exception:
                    continue
                if callable(member) and not isinstance(member, type):
                    self._call(at, member)

    def run(self, all_targets: list[Target]) -> None:
        for _ in range(_CALLS):
            with contextlib.suppress(Exception):  # modes that earlier calls left meddle here too
                self._step(all_targets)

    def _step(self, all_targets: list[Target]) -> None:
        kind = self.rng.randrange(12)
        target = self.rng.choice(all_targets)
        if kind >= 10:
            self._operate()
        elif kind < 4:
            self._call(target.name, target.value)
        elif kind < 6 and isinstance(target.value, type):
            self._blank(target)
        elif kind < 8 and self.made:
            value = self.rng.choice(self.made)
            self._explore(f"<{type(value).__name__}>", value)
        elif kind < 9:
            value = self.arguments.known()
            self._explore(f"known {type(value).__name__}", value)
        else:
            self._operator()

    def _operate(self) -> None:
        """What the language does with an object of ours, wherever among the operands it stands."""
        name, function, count = self.rng.choice(_LANGUAGE)
        if self.made and self.rng.random() < 0.5:
            ours = self.rng.choice(self.made)
        else:
            ours = self.arguments.known()
        operands = [self.arguments.any() for _ in range(count - 1)]
        if count == 3 and self.rng.random() < 0.5:  # two of one type, which is not ours
            operands = [self.arguments.number(), self.arguments.number()]
        operands.insert(self.rng.randrange(count), ours)
        self._guarded(f"{name}(*{_shown(operands)})", lambda: function(*operands))

    def _blank(self, target: Target) -> None:
        """An instance that `__init__` never saw."""
        self._note(f"{target.name}.__new__")
        try:
            value = target.value.__new__(target.value)
        except Exception:
            return
        self.made.append(value)
        for _ in range(3):
            self._explore(f"blank {target.name}", value)

    def _operator(self) -> None:
        op = self.arguments.operator()
        args, kwargs = self.arguments.for_schema(op)
        self._call_operator(op, args, kwargs)

    def _call_operator(self, op: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        note = f"{op}(*{_shown(args)}, **{_shown(kwargs)})"
        kind = self.rng.randrange(4)
        if kind == 0:
            keys = self.arguments.key_set()
            self._guarded(f"redispatch {keys} {note}", lambda: op.redispatch(keys, *args, **kwargs))
        elif kind == 1:
            guard = self.arguments.guard()
            self._guarded(f"{type(guard).__name__} {note}", lambda: _under(guard, op, args, kwargs))
        else:
            self._guarded(note, lambda: op(*args, **kwargs))


def _within(value: Any) -> None:
    with value:
        pass


def _in_place(value: Any, at: Any, new: Any) -> None:
    value[at] += new


# (name, function, operands) of what is not reached by an attribute's name.
_LANGUAGE: tuple[tuple[str, Callable[..., Any], int], ...] = (
    *((f, getattr(operator, f), 2) for f in (
        "add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "lshift", "rshift", "and_",
        "or_", "xor", "pow", "lt", "le", "eq", "ne", "gt", "ge", "iadd", "isub", "imul", "itruediv",
        "ifloordiv", "imod", "imatmul", "ilshift", "irshift", "iand", "ior", "ixor", "ipow",
        "contains", "getitem", "delitem", "concat", "iconcat", "countOf", "indexOf",
    )),
    *((f, getattr(operator, f), 1) for f in (
        "neg", "pos", "invert", "abs", "index", "truth", "not_", "length_hint",
    )),
    *((f.__name__, f, 1) for f in (
        len, hash, int, float, complex, bool, bytes, str, repr, list, tuple, dict, set, iter, next,
        reversed, sum, max, sorted, dir, vars, memoryview, slice, range, round, ascii, callable,
        math.floor, math.ceil, math.trunc, copy.copy, copy.deepcopy, _within,
    )),
    *((f.__name__, f, 2) for f in (divmod, round, isinstance, issubclass, format, zip, map)),
    ("pow", pow, 3), ("setitem", operator.setitem, 3), ("x[i] +=", _in_place, 3),
    ("slice", slice, 3),
    ("pickle", lambda value: pickle.loads(pickle.dumps(value)), 1),
    ("subclass", lambda value: type("Sub", (type(value),), {})(), 1),
    ("subclass", lambda a, b: type("Sub", (type(a), type(b)), {})(), 2),
    ("class", lambda value, other: setattr(value, "__class__", type(other)), 2),
)  # fmt: skip


# Attributes of every object that say nothing of ours, or that end the process.
_UNSAFE = frozenset(dir(object)) - {
    "__init__",
    "__repr__",
    "__eq__",
    "__hash__",
    "__str__",
    "__reduce__",
}


def _under(guard: Any, op: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    with guard:
        return op(*args, **kwargs)


def _shown(value: Any) -> str:
    """Types and small numbers: the reprs of strange arguments are trials of their own."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_shown(v)}" for k, v in value.items()) + "}"
    if type(value) in (list, tuple):
        return "[" + ", ".join(_shown(v) for v in list(value)[:6]) + "]"
    if value is None or type(value) in (int, float, bool, str, bytes):
        return repr(value)[:40]
    return f"<{value.__name__ if isinstance(value, type) else type(value).__name__}>"


def _child(
    seed: str, log: int, all_targets: list[Target], folder: str, arguments: type[Arguments]
) -> None:
    limit_memory(_ADDRESS_SPACE)
    os.chdir(folder)  # whatever they write
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(null, descriptor)
    sys.unraisablehook = lambda _: None
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(_SECONDS)
    warnings.simplefilter("ignore")
    _Trial(seed, log, arguments).run(all_targets)


def attempt(
    seed: str, all_targets: list[Target], arguments: type[Arguments] = Arguments
) -> Failure | None:
    """One trial in a child process, over what `arguments` gives; None when the child lived."""
    with (tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log,
          tempfile.TemporaryFile() as trace):  # fmt: skip
        child = os.fork()
        if not child:
            try:
                faulthandler.enable(trace)
                _child(seed, log.fileno(), all_targets, folder, arguments)
                os._exit(0)
            except BaseException as error:  # a mistake of ours
                os.write(log.fileno(), f"the trial: {type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if not status:
            return None
        log.seek(0)
        calls = log.read().decode().splitlines()
        trace.seek(0)
        frames = [line.strip() for line in trace.read().decode().splitlines() if "File" in line]
    inner = [line for line in frames if __file__ not in line and "runpy" not in line][:4]
    reason = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "ended"
    return Failure(seed, reason, calls, inner)


def command(prog: str, doc: str | None, n: int, all_targets: list[Target], *kind: Any) -> int:
    """The command line of the fuzzers of calls: trials by number, and what failed in them."""
    parser = argparse.ArgumentParser(prog=prog, description=doc)
    parser.add_argument("--n", type=int, default=n)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="one trial, by its number; prints its calls")
    options = parser.parse_args()
    numbers = [options.only] if options.only else range(options.n)
    failures = 0
    for i in numbers:
        failure = attempt(f"{options.seed} {i}", all_targets, *kind)
        if failure is None:
            continue
        failures += 1
        shown = failure.calls if options.only else failure.calls[-2:]
        print(f"{i}: {failure.reason}", *shown, *failure.trace, sep="\n    ", flush=True)
    print(f"{'failed' if failures else 'passed'}: {len(all_targets)} callables, "
          f"{len(numbers)} trials, {failures} failures")  # fmt: skip
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(command("python -m tests.fuzz.api", __doc__, 500, targets()))
