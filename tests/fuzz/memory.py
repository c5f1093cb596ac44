"""Random programs over storages and views: `python -m tests.fuzz.memory [--seconds S] [--seed S]`.

A program has a few tensors (fresh, over numpy's arrays, over DLPack's capsules, over misaligned
buffers, on meta) and does forty things to them: views, `set_`, `resize_`, `as_strided`, `out=`,
`.data =`, resizing storages, with numbers at the edges of 64 bits among the sound ones. After every
step each tensor's span lies within the bytes that its storage has, no number is negative, and a
call that was refused has changed nothing; then all that is small enough is written and read, for a
build with sanitizers (`make sanitize`) to look at. The same seed makes the same programs.
"""

import argparse
import random
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

import dispatch
from dispatch import ops
from dispatch._C.arrays import _new_strided
from dispatch._C.structured import check_written
from dispatch._C.tensor import Tensor
from dispatch._C.wrapper import share_storage

__all__ = ["Program", "attempt"]

STEPS = 40
SMALL = 1 << 14  # elements that a step computes with
REFUSED = (RuntimeError, IndexError, TypeError, ValueError, MemoryError, BufferError)
EDGES = (-1, -2, -(2**63), 2**40, 2**60, 2**61, 2**62 - 2, 2**62, 2**63 - 1)
DTYPES = tuple(
    getattr(dispatch, name)
    for name in ("float32", "float64", "int64", "uint8", "int16", "bool", "complex64", "bfloat16")
)
A = ops.aten


class State(NamedTuple):
    """What a refused call must leave alone."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: object
    storage: int
    nbytes: int


def state_of(t: Tensor) -> State:
    s = t.untyped_storage()
    return State(
        tuple(t.shape), tuple(t.stride()), t.storage_offset(), t.dtype, id(s), s.nbytes()
    )


class Program:
    """One program: its tensors, and what was done to them."""

    def __init__(self, seed: str) -> None:
        self.rng = random.Random(seed)
        self.log: list[str] = []
        self.largest: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self.tensors = [dispatch.ones(6), dispatch.arange(12).view(3, 4), self.borrowed()]

    # -- numbers

    def number(self, most: int = 6) -> int:
        return self.rng.choice(EDGES) if self.rng.random() < 0.15 else self.rng.randrange(most)

    def numbers(self, n: int | None = None, most: int = 6) -> list[int]:
        n = self.rng.randrange(4) if n is None else n
        return [self.number(most) for _ in range(n)]

    def geometry(self) -> tuple[list[int], list[int], int]:
        sizes = self.numbers()
        return sizes, self.numbers(len(sizes)), self.number(20)

    # -- tensors

    def pick(self, small: bool = False) -> Tensor:
        """Any; or one with bytes that is computed in no time."""
        found = [t for t in self.tensors if not small or (t.is_cpu and t.numel() <= SMALL)]
        return self.rng.choice(found) if found else dispatch.ones(3)

    def borrowed(self) -> Tensor:
        """Memory of numpy's, sometimes strided, sometimes at an odd address."""
        dtype = self.rng.choice((np.float32, np.int64, np.uint8, np.complex64))
        itemsize = np.dtype(dtype).itemsize
        n = self.rng.randrange(1, 9)
        array = np.frombuffer(bytearray(n * itemsize + 1), dtype, n, self.rng.randrange(2))
        return dispatch.from_numpy(array[:: self.rng.choice((1, 1, 2))])

    def made(self) -> Tensor:
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            return self.borrowed()
        if kind == 1:
            return dispatch.from_dlpack(np.ones((2, rng.randrange(4)), np.float32))
        if kind == 2:
            return dispatch.empty(self.numbers(), device="meta")
        if kind == 3:
            sizes = self.numbers()
            return dispatch.empty_strided(sizes, self.numbers(len(sizes)))
        return A.zeros.default(self.numbers(), dtype=rng.choice(DTYPES))

    # -- one step each: what it says of itself, and what it does

    def view(self) -> Any:
        t, n = self.pick(), self.number
        return self.rng.choice((
            lambda: A.slice.Tensor(t, n(), n(), n(), n()),
            lambda: A.select.int(t, n(), n()),
            lambda: A.diagonal.default(t, n(), 0, 1),
            lambda: A.unsqueeze.default(t, n()),
            lambda: A.expand.default(t, self.numbers(t.dim() + self.rng.randrange(2))),
            lambda: A.t.default(t),
            lambda: A.unfold.default(t, n(), n(), n()),
            lambda: A.narrow.default(t, n(), n(), n()),
            lambda: A.view.default(t, self.numbers()),
            lambda: A._unsafe_view.default(t, self.numbers()),
            lambda: A.detach.default(t),
            lambda: A.squeeze.default(t),
        ))()  # fmt: skip

    def view_of_dtype(self) -> Any:
        t = self.pick()
        return self.rng.choice((
            lambda: A.view.dtype(t, self.rng.choice(DTYPES)),
            lambda: A.view_as_real.default(t),
            lambda: A.view_as_complex.default(t),
        ))()  # fmt: skip

    def strided(self) -> Any:
        t, (sizes, strides, offset) = self.pick(), self.geometry()
        return self.rng.choice((
            lambda: A.as_strided.default(t, sizes, strides, offset),
            lambda: A.as_strided.default(t, sizes, strides),
            lambda: A.as_strided_.default(t, sizes, strides, offset),
            lambda: A._reshape_alias.default(t, sizes, strides),
            lambda: _new_strided(t.untyped_storage(), t.dtype, sizes, strides, offset),
            lambda: A.new_empty_strided.default(t, sizes, strides),
        ))()  # fmt: skip

    def set(self) -> Any:
        t, other, (sizes, strides, offset) = self.pick(), self.pick(), self.geometry()
        storage = other.untyped_storage()
        return self.rng.choice((
            lambda: A.set_.source_Storage_storage_offset(t, storage, offset, sizes, strides),
            lambda: A.set_.source_Storage(t, storage),
            lambda: A.set_.source_Tensor(t, other),
            lambda: A.set_.default(t),
            lambda: setattr(t, "data", other),
            lambda: share_storage(t, other),
        ))()  # fmt: skip

    def resize(self) -> Any:
        t = self.pick()
        return self.rng.choice((
            lambda: A.resize_.default(t, self.numbers(most=9)),
            lambda: t.untyped_storage().resize_(self.number(200)),
            lambda: A.squeeze_.default(t),
            lambda: A.unsqueeze_.default(t, self.number()),
            lambda: A.t_.default(t),
        ))()  # fmt: skip

    def out(self) -> Any:
        a, b, out = self.pick(small=True), self.pick(small=True), self.pick(small=True)
        index = self.pick(small=True)
        return self.rng.choice((
            lambda: A.add.out(a, b, out=out),
            lambda: A.mul.out(a, dispatch.ones(3, 3), out=out),
            lambda: A.sin.out(a, out=out),
            lambda: A.cat.out([a, b], 0, out=out),
            lambda: A.mm.out(a, b, out=out),
            lambda: A.sum.IntList_out(a, [0], out=out),
            lambda: A.sort.values(a, 0, values=out, indices=index),
            lambda: A.topk.values(a, 2, values=out, indices=index),
            lambda: A.max.dim_max(a, 0, max=out, max_values=index),
            lambda: A.arange.start_out(0, self.rng.choice((3, 50, 2**40, 2**62)), out=out),
            lambda: A.masked_select.out(a, A.ge.Scalar(a, 1), out=out),
            lambda: A.index_select.out(a, 0, dispatch.tensor([0, 1]), out=out),
            lambda: check_written(out, a, b),
        ))()  # fmt: skip

    def write(self) -> Any:
        a, b = self.pick(small=True), self.pick(small=True)
        return self.rng.choice((
            lambda: A.add_.Tensor(a, b),
            lambda: A.copy_.default(a, b),
            lambda: A.fill_.Scalar(a, 2),
            lambda: A.zero_.default(a),
            lambda: a.numpy().fill(1),
            lambda: bytes(memoryview(a)),
            lambda: a.untyped_storage().tolist(),
            lambda: A.clone.default(a),
            lambda: dispatch.from_numpy(a.numpy()),
            lambda: dispatch.from_dlpack(a),
        ))()  # fmt: skip

    # -- the invariant

    def step(self) -> None:
        kinds: tuple[Callable[[], Any], ...] = (
            self.made, self.view, self.view, self.view_of_dtype, self.strided, self.set,
            self.resize, self.out, self.write,
        )  # fmt: skip
        kind = self.rng.choice(kinds)
        before = [state_of(t) for t in self.tensors]
        try:
            result = kind()
        except (*REFUSED, AssertionError) as error:  # t_ of three dimensions on meta is one
            self.log.append(f"{kind.__name__}: {type(error).__name__}: {str(error)[:120]}")
            if kind != self.out or "not resizable" in str(error):  # a body may refuse values
                for old, t in zip(before, self.tensors, strict=True):
                    assert state_of(t) == old, f"refused, and changed: {old} -> {state_of(t)}"
            return
        self.log.append(f"{kind.__name__}: {result if result is None else type(result).__name__}")
        if isinstance(result, Tensor) and all(result is not t for t in self.tensors):
            self.tensors.append(result)
        if len(self.tensors) > 10:
            del self.tensors[self.rng.randrange(len(self.tensors))]

    def check(self) -> None:
        for t in self.tensors:
            s = state_of(t)
            storage = t.untyped_storage()
            room = self.largest[storage] = max(s.nbytes, self.largest.get(storage, 0))
            assert min((0, *s.sizes, *s.strides, s.offset, s.nbytes)) == 0, f"negative: {s}"
            if t.numel() and t.device.type == "cpu":
                steps = zip(s.sizes, s.strides, strict=True)
                last = s.offset + sum((n - 1) * step for n, step in steps)
                assert (last + 1) * t.element_size() <= room, f"beyond {room} bytes: {s}"

    def touch(self) -> None:
        """Write and read what is small: the sanitizers look at the addresses."""
        for t in self.tensors:
            if t.device.type == "cpu" and t.numel() <= SMALL:
                try:
                    A.fill_.Scalar(t, 1)
                    A.add.Tensor(A.clone.default(t), 1)
                    A._local_scalar_dense.default(A.as_strided.default(t, [], []))
                except REFUSED as error:  # of a storage that is smaller than it was, or empty
                    self.log.append(f"touch: {error}")

    def run(self) -> None:
        try:
            self.check()
            for _ in range(STEPS):
                self.step()
                self.check()
                self.touch()
        except AssertionError as error:
            error.args = ("\n".join([str(error), *self.log]),)
            raise


def attempt(seed: str, programs: int) -> str | None:
    """Run so many programs in a child process: None, or what went wrong and in which one."""
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-m", "tests.fuzz.memory", "--child", seed,
         "--programs", str(programs)],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if done.returncode == 0:
        return None
    last = done.stdout.splitlines()[-1:]
    return f"{last} ended with {done.returncode}\n{done.stderr[-6000:]}"


def _run_all(seed: str, programs: int) -> None:
    warnings.simplefilter("ignore")
    for i in range(programs):
        print(f"{seed} {i}", flush=True)
        Program(f"{seed} {i}").run()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.memory", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--programs", type=int, default=300, help="of one process")
    parser.add_argument("--child", help="run the programs of this seed here")
    args = parser.parse_args()
    if args.child is not None:
        _run_all(args.child, args.programs)
        return 0
    end = time.monotonic() + args.seconds
    batches = failed = 0
    while time.monotonic() < end:
        problem = attempt(f"{args.seed} {batches}", args.programs)
        batches += 1
        if problem is not None:
            failed += 1
            print(problem, flush=True)
    print(f"{batches * args.programs} programs, {failed} of {batches} processes failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
