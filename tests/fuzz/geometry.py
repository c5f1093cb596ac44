"""Tensors that other threads change: `python -m tests.fuzz.geometry [--seconds S] [--only REGEX]`.

Each statement of `benchmarks.large` runs again and again while other threads give its tensors other
sizes, strides and storages, and free what they had. What a kernel computes then is anything, and it
may refuse; it must not read or write memory that is not the tensor's. Loops of many elements give
up the interpreter's lock, and whatever a kernel reads of a tensor after that is another thread's
choice. Each statement has a child of its own, which fails by a signal, a time-out or a SystemError.
Freed memory is unmapped at once (`MALLOC_MMAP_THRESHOLD_`), so that most stale addresses are found.
"""

import argparse
import os
import random
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import dispatch
from benchmarks import large
from dispatch import Tensor

__all__ = ["attempt", "statements"]

_ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "4096", "MALLOC_TOP_PAD_": "0"}
_TIME_LIMIT = 60  # seconds beyond those of the trial
_API = SimpleNamespace(T=dispatch, ops=dispatch.ops)
# What the table of benchmarks leaves out.
_MORE = [
    "x.normal_()",
    "x.uniform_()",
    "x.log_normal_()",
    "x.cauchy_()",
    "x.exponential_()",
    "d.normal_()",
    "h.normal_()",
    "x.bernoulli_(p)",
    "k.random_(0, 9)",
    "x[x > 0]",
    "x[m]",
    "x[rows_]",
    "x[rows_, rows_]",
    "x.index_put_((rows_,), y)",
    "x.masked_fill_(m, 1)",
    "x.fill_(1)",
    "x.zero_()",
    "x.copy_(y)",
    "x.copy_(y.t())",
    "x.to(T.float64)",
    "x.clone()",
    "x.tolist()",
    "x.numpy()",
    "T.equal(x, y)",
    "x.sum(0, out=row)",
    "aten.multinomial(p, 3)",
    "aten.dropout(x, 0.5, True)",
    "aten.bernoulli(p)",
    "aten.poisson(p)",
    "aten.randn_like(x)",
    "x.untyped_storage().tolist()",
    "aten.linalg_lstsq(s, s)",
    "aten.masked_scatter(x, m, y)",
    "repr(x)",
    "x.mul_(2)",
    "x.t_()",
]


def statements(pattern: str = "") -> list[str]:
    """Those of `benchmarks.large` that fit, but for what takes seconds."""
    texts = _MORE + [text for texts in large.FAMILIES.values() for text in texts]
    return [text for text in texts if re.search(pattern, text)]


def _shrink(x: Tensor, like: Tensor) -> None:
    x.resize_(3)


def _grow(x: Tensor, like: Tensor) -> None:
    x.resize_(2 * like.numel() + 100)


def _leave(x: Tensor, like: Tensor) -> None:
    x.set_()


def _swap(x: Tensor, like: Tensor) -> None:
    x.data = like[:1].clone() if like.dim() else like.clone()


def _narrow(x: Tensor, like: Tensor) -> None:
    x.as_strided_((2,), (1,))


def _deepen(x: Tensor, like: Tensor) -> None:
    x.as_strided_((1,) * 9 + (min(x.numel(), 40_000),), (1,) * 10)  # broadcasts: not too far


def _turn(x: Tensor, like: Tensor) -> None:
    x.transpose_(0, -1)


def _refill(x: Tensor, like: Tensor) -> None:
    storage = x.untyped_storage()
    storage.resize_(0)
    storage.resize_(2 * like.untyped_storage().nbytes() + 4096)


def _falsify(x: Tensor, like: Tensor) -> None:
    """Other values: indices that lie outside, masks with more elements."""
    x.fill_(1 if x.dtype is dispatch.bool else 120 if x.element_size() < 4 else 10**9)


_MOVES: list[Callable[[Tensor, Tensor], None]] = [
    _shrink,
    _grow,
    _leave,
    _swap,
    _narrow,
    _deepen,
    _turn,
    _refill,
    _falsify,
    _falsify,
]


def _tensors(values: Any) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list):
            yield from _tensors(value)


def _disturb(rng: random.Random, found: list[tuple[Tensor, Tensor]], end: float) -> None:
    while found and time.monotonic() < end:
        x, like = rng.choice(found)
        try:
            rng.choice(_MOVES)(x, like)
            if rng.random() < 0.7:
                time.sleep(rng.choice((0, 0, 1e-5, 1e-4)))
            x.data = like.clone()
        except SystemError:
            raise
        except Exception:
            continue


def _trial(statement: str, seed: int, seconds: float) -> None:
    signal.alarm(int(seconds) + _TIME_LIMIT)
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    row = large._row(_API, statement)
    code = compile(statement, statement, "eval")
    found = [(x, x.clone()) for x in _tensors(row.names.values())]
    end = time.monotonic() + seconds
    rng = random.Random(f"{seed} {statement}")
    others = [
        threading.Thread(target=_disturb, args=(random.Random(rng.random()), found, end))
        for _ in range(2)
    ]
    for thread in others:
        thread.start()
    while time.monotonic() < end:
        try:
            eval(code, dict(row.names))
        except SystemError:
            raise
        except Exception:
            continue
    for thread in others:
        thread.join()


def attempt(statement: str, seed: int = 0, seconds: float = 0.5) -> str | None:
    """How the process of one statement ended, if it did not end well."""
    child = os.fork()
    if not child:
        status = 1
        try:
            _trial(statement, seed, seconds)
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return None if not status else f"status {os.WEXITSTATUS(status)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.geometry", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each statement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="statements that this fits")
    options = parser.parse_args()
    if _ENVIRONMENT.items() - os.environ.items():
        os.environ.update(_ENVIRONMENT)
        os.execv(sys.executable, [sys.executable, "-m", "tests.fuzz.geometry", *sys.argv[1:]])
    chosen = statements(options.only)
    failed = 0
    for statement in chosen:
        problem = attempt(statement, options.seed, options.seconds)
        if problem is not None:
            failed += 1
            print(f"{problem}: {statement}", flush=True)
    print(f"{len(chosen)} statements, {failed} ended badly")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
