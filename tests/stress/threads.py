"""Eight threads for a while: their own modes, guards and libraries, one operator, one fake mode."""

import random
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager

from dispatch import _C, FakeTensorMode, Library, ops
from dispatch.fake import DispatchCache
from tests.stress.work import FAKE_CALLS, Job, check_fake_call, own_jobs, shared_jobs

__all__ = ["SCENARIOS", "run_threads"]

THREADS = 8


def run_threads(seconds: float, body: Callable[[int, random.Random], str]) -> Counter[str]:
    """Run `body(number of the thread, its random numbers)` in all threads until the time is up.

    Returns how often each name that it returned came; the first error of any thread is raised.
    """
    end = time.monotonic() + seconds
    counts: Counter[str] = Counter()
    errors: list[str] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        rng = random.Random(number)
        mine: Counter[str] = Counter()
        try:
            while time.monotonic() < end and not errors:
                mine[body(number, rng)] += 1
        except BaseException:
            errors.append(traceback.format_exc())
        with lock:
            counts.update(mine)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds + 60)
    assert not any(t.is_alive() for t in threads), "a thread hangs"
    if errors:
        raise AssertionError(errors[0])
    _C._dispatch_check_all_invariants()
    return counts


def _pick(jobs: list[Job], rng: random.Random) -> str:
    job = rng.choice(jobs)
    job(rng)
    return job.__name__


def own_state(seconds: float) -> Counter[str]:
    """Modes, guards, libraries, subclasses and fake modes of each thread's own."""
    jobs = own_jobs()
    return run_threads(seconds, lambda _, rng: _pick(jobs, rng))


def one_operator(seconds: float) -> Counter[str]:
    """An operator that is called, replaced and taken away by all."""
    jobs, keep = shared_jobs()
    counts = run_threads(seconds, lambda _, rng: _pick(jobs, rng))
    assert _C._dispatch_dump("stress_shared::f").count("CPU:") == 1, "a registration was left"
    keep._destroy()
    return counts


def registrations(seconds: float) -> Counter[str]:
    """All threads define operators in one namespace; none may be lost."""
    made: list[tuple[Library, str]] = []

    def body(number: int, rng: random.Random) -> str:
        name = f"f{number}_{rng.getrandbits(60)}"
        lib = Library("stress_many", "FRAGMENT")
        lib.define(name + "(Tensor x) -> Tensor")
        lib.impl(name, lambda x: x, "CPU")
        made.append((lib, name))
        if len(made) > 40_000:
            time.sleep(0.01)
        return "defined"

    counts = run_threads(seconds, body)
    names = set(_C._dispatch_get_all_op_names())
    lost = [name for _, name in made if f"stress_many::{name}" not in names]
    assert not lost, f"{len(lost)} registrations were lost"
    for lib, name in made:
        assert getattr(ops.stress_many, name).default.name() == f"stress_many::{name}"
        lib._destroy()
    return counts


def _fake(seconds: float, mode_of: Callable[[int], AbstractContextManager[object]]) -> Counter[str]:
    expected: dict[tuple[int, int], object] = {}
    with FakeTensorMode(cache=False):
        rng = random.Random(0)
        for _ in range(len(FAKE_CALLS) * 200):
            check_fake_call(rng, expected)

    def body(number: int, rng: random.Random) -> str:
        with mode_of(number):
            for _ in range(20):
                check_fake_call(rng, expected)
        return "20 fake calls"

    return run_threads(seconds, body)


def one_fake_mode(seconds: float) -> Counter[str]:
    """One mode in all threads, each hit checked against a fresh run."""
    mode = FakeTensorMode(cache=DispatchCache(max_entries=64))
    mode.cache_crosscheck_enabled = True
    return _fake(seconds, lambda _: mode)


def eight_fake_modes(seconds: float) -> Counter[str]:
    """A mode for each thread, some with a cache in common, each hit checked."""
    shared = DispatchCache(max_entries=64)
    modes = [FakeTensorMode(cache=shared if n % 2 else True) for n in range(THREADS)]
    for mode in modes:
        mode.cache_crosscheck_enabled = True
    return _fake(seconds, lambda n: modes[n])


SCENARIOS: dict[str, tuple[Callable[[float], Counter[str]], float]] = {
    "own_state": (own_state, 30),
    "one_operator": (one_operator, 30),
    "registrations": (registrations, 10),
    "one_fake_mode": (one_fake_mode, 60),
    "eight_fake_modes": (eight_fake_modes, 60),
}
